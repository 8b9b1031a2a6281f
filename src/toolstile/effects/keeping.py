"""What stays of a file whose content is replaced: its owner, its group, who else may use it.

A file is replaced by another one, so what does not lie in its bytes would be lost, and rights
would change unseen: the bits of a group are the mask of an access list where there is one, and
the group's own where there is none. What cannot be kept stops the change.
"""

from __future__ import annotations

import errno
import os

_LIST = "system.posix_acl_access"
# Notes of people and programs. The kernel's own (`security.`, `trusted.`) say what a file may do,
# and that is not for us to hand on.
_NOTES = "user."
_NONE = (errno.ENODATA, errno.ENOTSUP)


def keep(old: int, new: int) -> None:
    """Give an open file the owner, group, access list and notes of another. Its mode is to be set
    after that.

    Raises:
        OSError: one of them cannot be given.
    """
    _keep_owner(old, new)
    if hasattr(os, "listxattr"):  # Linux; elsewhere Python knows none of them
        _keep_attributes(old, new)


def _keep_owner(old: int, new: int) -> None:
    was, made = os.fstat(old), os.fstat(new)
    if (was.st_uid, was.st_gid) == (made.st_uid, made.st_gid):
        return
    try:
        os.fchown(new, was.st_uid, was.st_gid)
    except OSError as error:
        raise OSError(error.errno, "its owner and group cannot be kept") from error


def _keep_attributes(old: int, new: int) -> None:
    try:
        names = os.listxattr(old)
    except OSError as error:
        if error.errno not in _NONE:
            raise
        names = []
    try:
        for name in names:
            if name == _LIST or name.startswith(_NOTES):
                os.setxattr(new, name, os.getxattr(old, name))
    except OSError as error:
        what = "access list" if name == _LIST else "attributes"
        raise OSError(error.errno, f"its {what} cannot be kept: {error.strerror}") from error
    if _LIST not in names:
        _drop_list(new)


def _drop_list(new: int) -> None:
    """A new file has the list that its directory gives, which the old one need not have had."""
    try:
        os.removexattr(new, _LIST)
    except OSError as error:
        if error.errno not in _NONE:
            raise
