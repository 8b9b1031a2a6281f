"""Who is alive: every executor holds a lock on a file of its own (soundness S14).

A process that ends, however it ends, loses its locks. So "its lease can be taken" is the only
proof of death that is ever accepted; clocks and process numbers are none.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from pathlib import Path

_OWNER = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Lease:
    """A lock file held for the life of an executor; its name is the executor's."""

    def __init__(self, directory: Path, owner: str) -> None:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.owner = owner
        self._path = directory / owner
        while (descriptor := _locked(self._path)) is None:
            pass  # somebody was sweeping, and took the new file for a dead one's
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lease up; to be called once everything of this executor is finished."""
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def _locked(path: Path) -> int | None:
    """The locked file of this name; None where it is another's to sweep."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.stat().st_ino == os.fstat(descriptor).st_ino:
            return descriptor
    os.close(descriptor)
    return None


def sweep(directory: Path) -> None:
    """Remove the files of the dead: an absent one says the same. What has not the name of a lease
    is somebody else's."""
    for path in filter(_is_lease, directory.iterdir()):
        with contextlib.suppress(OSError):  # alive, or somebody else is sweeping
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                remove(path, descriptor)
            finally:
                os.close(descriptor)


def remove(path: Path, descriptor: int) -> None:
    """Remove the lease that was opened, if it can be taken. Another sweeper may have removed it
    first, and its owner made it again since: what has its name then is alive. Raises OSError."""
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if path.stat().st_ino == os.fstat(descriptor).st_ino:
        path.unlink()


def _is_lease(path: Path) -> bool:
    return _OWNER.fullmatch(path.name) is not None


def is_dead(directory: Path, owner: str) -> bool:
    """True where the owner's lease can be taken, or its file is gone."""
    try:
        descriptor = os.open(directory / owner, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
