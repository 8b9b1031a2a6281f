"""What a disk can do with two names of one directory, each in one step, and with permissions.

Where two names can change places, what stood in the place of a file can be looked at after it has
been replaced, and put back if it was not what it was to be; nothing that looks first and replaces
then can say as much. Not every disk can: network disks often cannot exchange names, and FAT knows
no second name of a file. So each way says whether it is there, and whoever uses them has another.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import lru_cache

import msgspec

_LINUX = {"exchange": 2, "new": 1}  # RENAME_EXCHANGE, RENAME_NOREPLACE
_MACOS = {"exchange": 2, "new": 4}  # RENAME_SWAP, RENAME_EXCL
_MISSING = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
# EPERM, too: it is what Linux says of a disk without links, and of files one may not link to.
_NO_LINKS = (*_MISSING, errno.EPERM, errno.EMLINK)

Step = Callable[[int, str, str], bool]
"""Does something with two names of an open directory; False where this system or disk cannot, and
then nothing is changed. Raises OSError where it can and did not."""


def exchange(directory: int, one: str, other: str) -> bool:
    """Let two names change places. Raises FileNotFoundError where one of them is not there."""
    return _renamed("exchange", directory, one, other)


def move(directory: int, one: str, other: str) -> bool:
    """Give a file another name, if that is free. Raises FileExistsError where it is not."""
    return _renamed("new", directory, one, other)


def link(directory: int, one: str, other: str) -> bool:
    """Give a file a second name, if that is free. Raises FileExistsError where it is not."""
    try:
        os.link(one, other, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    except OSError as error:
        if error.errno in _NO_LINKS:
            return False
        raise
    return True


def set_mode(descriptor: int, mode: int) -> bool:
    """Set the permissions of an open file that is ours; False where the disk keeps none: FAT
    gives all files those of its mounting."""
    try:
        os.fchmod(descriptor, mode)
    except PermissionError:
        return False
    return True


class Renames(msgspec.Struct, frozen=True):
    """The steps that a disk may have or not; what is given in their place can do less."""

    exchange: Step = exchange
    move: Step = move
    link: Step = link
    set_mode: Callable[[int, int], bool] = set_mode


OF_THE_DISK = Renames()


def _renamed(how: str, directory: int, one: str, other: str) -> bool:
    rename = _rename()
    if rename is None:
        return False
    number = rename(how, directory, os.fsencode(one), os.fsencode(other))
    if number in _MISSING:
        return False
    if number:
        raise OSError(number, os.strerror(number), other)
    return True


@lru_cache(maxsize=1)
def _rename() -> Callable[[str, int, bytes, bytes], int] | None:
    """The C library's call; Python has none. It gives the error's number."""
    import ctypes  # noqa: PLC0415 - 5 ms, and only who commits a change needs it

    library = ctypes.CDLL(None, use_errno=True)
    call, flags = getattr(library, "renameat2", None), _LINUX
    if call is None:
        call, flags = getattr(library, "renameatx_np", None), _MACOS
    if call is None:
        return None

    def rename(how: str, directory: int, one: bytes, other: bytes) -> int:
        failed = call(directory, one, directory, other, ctypes.c_uint(flags[how]))
        return ctypes.get_errno() if failed else 0

    return rename
