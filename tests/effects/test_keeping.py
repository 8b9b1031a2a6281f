"""What is not in a file's bytes outlives their replacement: whose it is, and who may use it."""

from __future__ import annotations

import errno
import os
import stat
import struct
from pathlib import Path

import pytest

from effects.staging import DISKS, AtOnce, digest_of_text, sealed, staged
from toolstile.effects.keeping import keep

LIST = "system.posix_acl_access"
DEFAULT = "system.posix_acl_default"
NOBODY = 0xFFFFFFFF
everywhere = pytest.mark.parametrize("effects", DISKS, indirect=True)

pytestmark = pytest.mark.skipif(
    not hasattr(os, "setxattr"), reason="this system's Python knows no attributes of files"
)


def access_list(user: int, mask: int = 6) -> bytes:
    """rw for the owner and for one more user, nothing for the group and others."""
    entries = [
        (1, 6, NOBODY),
        (2, 6, user),
        (4, 0, NOBODY),
        (0x10, mask, NOBODY),
        (0x20, 0, NOBODY),
    ]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def given(path: Path, name: str, value: bytes) -> None:
    """Set an attribute, where the disk has any."""
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            pytest.skip("the disk of the temporary folder has no such attributes")
        raise


@everywhere
def test_an_access_list_and_notes_stay(effects: AtOnce, work: Path) -> None:
    """The list is the old one, so that its mask does not become the group's own right; taking the
    change back leaves them, too."""
    target = work / "a"
    target.write_text("old", encoding="utf-8")
    given(target, "user.note", b"mine")
    given(target, LIST, access_list(1234))
    manifest = sealed(
        effects, staged(effects, target, base=digest_of_text(effects, "old"), mode=0o660)
    )
    assert effects.commit(manifest) == ()
    assert target.read_text(encoding="utf-8") == "new"
    assert os.getxattr(target, LIST) == access_list(1234)
    assert os.getxattr(target, "user.note") == b"mine"
    assert stat.S_IMODE(target.stat().st_mode) == 0o660


def test_a_mode_that_was_shown_narrows_the_list(effects: AtOnce, work: Path) -> None:
    """A change to 0600 takes the right of those whom the list names, as chmod does."""
    target = work / "a"
    target.write_text("old", encoding="utf-8")
    given(target, LIST, access_list(1234))
    manifest = sealed(
        effects, staged(effects, target, base=digest_of_text(effects, "old"), mode=0o600)
    )
    assert effects.commit(manifest) == ()
    assert os.getxattr(target, LIST) == access_list(1234, mask=0)


def test_a_folder_gives_its_list_to_new_files_only(effects: AtOnce, work: Path) -> None:
    """A file that had no list has none after its change, although its folder would give it one."""
    target = work / "a"
    target.write_text("old", encoding="utf-8")
    given(work, DEFAULT, access_list(1234))
    base = digest_of_text(effects, "old")
    manifest = sealed(
        effects, staged(effects, target, base=base), staged(effects, work / "b", mode=0o660)
    )
    assert effects.commit(manifest) == ()
    assert LIST not in os.listxattr(target)
    assert LIST in os.listxattr(work / "b")


@everywhere
def test_owner_and_group_stay(effects: AtOnce, work: Path) -> None:
    """Where root commits, the file is still its user's."""
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    target = work / "a"
    target.write_text("old", encoding="utf-8")
    os.chown(target, 1234, 2345)
    manifest = sealed(effects, staged(effects, target, base=digest_of_text(effects, "old")))
    assert effects.commit(manifest) == ()
    assert (target.stat().st_uid, target.stat().st_gid) == (1234, 2345)


def test_an_owner_that_cannot_be_kept_stops_the_change(work: Path) -> None:
    """Who may write in a folder may replace somebody else's file and not give it back to them."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a file of another user's")
    (work / "old").touch()
    os.chown(work / "old", 1234, 2345)
    with (work / "old").open("rb") as old, (work / "new").open("wb") as new:
        os.seteuid(1000)
        try:
            with pytest.raises(OSError, match="owner and group cannot be kept"):
                keep(old.fileno(), new.fileno())
        finally:
            os.seteuid(0)
        keep(old.fileno(), new.fileno())
    assert (work / "new").stat().st_uid == 1234
