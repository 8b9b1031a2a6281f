"""The way of a handle to its file: what was decided on and what lies in it, whatever the names in
it have become since.

A directory that was decided on may hold links, put there by anybody. They are followed only as
long as they stay in it, and the last step is taken from directory to directory without following
any, so that what is put in the place of a name meanwhile is not opened.
"""

from __future__ import annotations

import errno
import os

from toolstile.authoring.handles import Opener
from toolstile.model import paths

# A descriptor that is good for going on from it, and for nothing else; macOS has none.
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def beneath(root: str, masked: tuple[str, ...]) -> Opener:
    """Opens `root` and what lies in it, but none of the masked places."""
    hidden = frozenset(filter(None, map(_identity, masked)))

    def opened(path: str, flags: int) -> int:
        place = _place(path)
        if not paths.beneath(place, root):
            raise PermissionError(errno.EACCES, "it leads out of what was decided on", path)
        if any(paths.beneath(place, each) for each in masked):
            raise PermissionError(errno.EACCES, "this place is masked from every tool", path)
        return _straight(place, flags, hidden)

    return opened


def _place(path: str) -> str:
    """Where a path leads, in its one spelling. A directory may hold names that no path may."""
    try:
        return paths.normalise(os.path.realpath(path))
    except paths.PathError as error:
        raise OSError(errno.EINVAL, error.message, path) from error


def _straight(place: str, flags: int, hidden: frozenset[tuple[int, int]]) -> int:
    """Open a path without links, each name from the directory before it."""
    names = paths.names(place)
    at = os.open("/", _STEP)
    try:
        for name in names[:-1]:
            below = os.open(name, _STEP, dir_fd=at)
            os.close(at)
            at = below
            _check_visible(at, hidden, place)
        found = os.open(names[-1] if names else ".", flags | os.O_NOFOLLOW, 0o666, dir_fd=at)
    finally:
        os.close(at)
    try:
        _check_visible(found, hidden, place)
    except PermissionError:
        os.close(found)
        raise
    return found


def _check_visible(descriptor: int, hidden: frozenset[tuple[int, int]], place: str) -> None:
    # By what it is and not by its name: a volume may ignore letter case, or be mounted twice.
    found = os.fstat(descriptor)
    if (found.st_dev, found.st_ino) in hidden:
        raise PermissionError(errno.EACCES, "this place is masked from every tool", place)


def _identity(place: str) -> tuple[int, int] | None:
    try:
        found = os.stat(place)  # noqa: PTH116 - as in the opening itself
    except OSError:  # what is not there hides nothing
        return None
    return found.st_dev, found.st_ino
