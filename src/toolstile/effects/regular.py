"""Opening files that strangers made: regular ones only, never through a link, never waiting."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from io import BufferedReader
from pathlib import Path

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def opened(path: Path) -> BufferedReader:
    """A regular file, for reading. Raises OSError for anything else: a link, a pipe, a device."""
    descriptor = os.open(path, _READ)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def digest(file: BufferedReader) -> str:
    """`sha256:` of the rest of a file."""
    return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(path: Path) -> str | None:
    """`sha256:` of a regular file's bytes, None where there is nothing; anything else has a
    digest that no file has, so that it is always a conflict."""
    try:
        with opened(path) as file:
            return digest(file)
    except FileNotFoundError:
        return None
    except OSError:
        return "other"


def sync_directory(directory: Path) -> None:
    """Make a directory's names durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
