"""Two names of one directory change places in one step.

What stood in the place of a file can so be looked at after it has been replaced, and put back if
it was not what it was to be; nothing that looks first and replaces then can say as much.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import lru_cache

_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_MISSING = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def exchange(directory: int, one: str, other: str) -> bool:
    """Let two names change places; False where this system or disk cannot, and nothing is changed.

    Raises:
        OSError: it can, and did not: one of them is not there, or may not be touched.
    """
    rename = _rename()
    if rename is None:
        return False
    number = rename(directory, os.fsencode(one), os.fsencode(other))
    if number in _MISSING:
        return False
    if number:
        raise OSError(number, os.strerror(number), other)
    return True


@lru_cache(maxsize=1)
def _rename() -> Callable[[int, bytes, bytes], int] | None:
    """The C library's call; Python has none. It gives the error's number."""
    import ctypes  # noqa: PLC0415 - 5 ms, and only who commits a change needs it

    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "renameat2", None) or getattr(library, "renameatx_np", None)
    if call is None:
        return None

    def rename(directory: int, one: bytes, other: bytes) -> int:
        failed = call(directory, one, directory, other, ctypes.c_uint(_EXCHANGE))
        return ctypes.get_errno() if failed else 0

    return rename
