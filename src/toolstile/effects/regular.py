"""Opening files that strangers made: regular ones only, never through a link, never waiting."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A descriptor that is good for going on from it, and for nothing else; macOS has none.
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def opened(path: Path | str, directory: int | None = None) -> BufferedReader:
    """A regular file, for reading. Raises OSError for anything else: a link, a pipe, a device."""
    descriptor = os.open(path, _READ, dir_fd=directory)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def digest(file: BufferedReader) -> str:
    """`sha256:` of the rest of a file."""
    return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def digests(first: BufferedReader, rest: BufferedReader) -> tuple[str, str]:
    """`sha256:` of a file, and of the file with another one at its end."""
    found = hashlib.sha256()
    made = []
    for file in (first, rest):
        while piece := file.read(1 << 20):
            found.update(piece)
        made.append(f"sha256:{found.hexdigest()}")
    return made[0], made[1]


def digest_of(path: Path | str, directory: int | None = None) -> str | None:
    """`sha256:` of a regular file's bytes, None where there is nothing; anything else has a
    digest that no file has, so that it is always a conflict."""
    try:
        with opened(path, directory) as file:
            return digest(file)
    except FileNotFoundError:
        return None
    except OSError:
        return "other"


def mode_of(name: str, directory: int) -> int | None:
    """The permissions of what has this name, None where there is nothing."""
    try:
        return stat.S_IMODE(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def straight(directory: Path) -> Iterator[int]:
    """A directory reached without any link, held: what is done through the descriptor is done in
    it, whatever its name leads to meanwhile. Raises OSError."""
    at = os.open("/", _STEP)
    *names, last = directory.parts[1:] or (".",)
    steps = [*((name, _STEP) for name in names), (last, _DIRECTORY)]
    try:
        for name, kind in steps:
            below = os.open(name, kind, dir_fd=at)
            os.close(at)
            at = below
        yield at
    finally:
        os.close(at)


def sync_directory(directory: Path) -> None:
    """Make a directory's names durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
