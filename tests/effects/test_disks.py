"""Disks differ in what they can do in one step; what somebody may lose does not differ."""

from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from effects.staging import DISKS, ID, AtOnce, digest_of_text, meddled, sealed, staged
from toolstile.effects.renames import Renames

DYING = Path(__file__).with_name("dying.py")
everywhere = pytest.mark.parametrize("disk", DISKS)


def once(begun: Callable[[], bool], meddle: Callable[[], None]) -> Callable[[], None]:
    """Do something as soon as something else has begun, and never again."""
    done: list[bool] = []

    def check() -> None:
        if not done and begun():
            done.append(True)
            meddle()

    return check


def written(paths: list[Path], kind: str) -> None:
    """What the run found."""
    for path in paths if kind != "created" else ():
        path.write_text("old", encoding="utf-8")


def applied(path: Path, kind: str) -> bool:
    """Has the change of this file been made?"""
    if kind == "deleted":
        return not path.exists()
    return path.exists() and path.read_text(encoding="utf-8") == "new"


def saved(path: Path, text: str = "mine") -> None:
    """Save a file as editors do: another one takes its name."""
    beside = path.parent.parent / "saved"
    beside.write_text(text, encoding="utf-8")
    beside.rename(path)


@everywhere
@pytest.mark.parametrize("kind", ["modified", "created"])
@pytest.mark.parametrize("others", ["modified", "created", "deleted"])
def test_a_conflict_takes_back_what_was_done_before_it(
    tmp_path: Path, work: Path, disk: str, kind: str, others: str
) -> None:
    """Somebody saves the last file when the first ones are replaced, made or removed: theirs
    stands, the first ones are as they were, and nothing lies beside them."""
    first, last = [work / "a", work / "b"], work / "z"
    written(first, others)
    written([last], kind)
    meddle = once(lambda: applied(first[1], others), lambda: saved(last))
    effects = AtOnce(tmp_path / "staging", meddled(DISKS[disk], meddle))
    old = digest_of_text(effects, "old")
    changes = [
        replace(made, file=None) if each == "deleted" else made
        for path, each in ((first[0], others), (first[1], others), (last, kind))
        for made in [staged(effects, path, base=None if each == "created" else old)]
    ]
    assert effects.commit(sealed(effects, *changes)) == (str(last),)
    assert last.read_text(encoding="utf-8") == "mine"
    kept = [] if others == "created" else first
    assert sorted(work.iterdir()) == [*kept, last]
    assert {path.read_text(encoding="utf-8") for path in kept} <= {"old"}


@everywhere
@pytest.mark.parametrize("kind", ["modified", "created", "deleted"])
def test_what_cannot_be_put_back_is_named_and_its_old_content_kept(
    tmp_path: Path, work: Path, disk: str, kind: str
) -> None:
    """Somebody saves a file again that was replaced already, and then another one: both are as
    they saved them, both are named, and the message leads to what the first one was."""
    first, last = work / "a", work / "z"
    written([first], kind)
    written([last], "modified")

    def save() -> None:
        saved(first, "mine too")
        saved(last)

    meddle = once(lambda: applied(first, kind), save)
    effects = AtOnce(tmp_path / "staging", meddled(DISKS[disk], meddle))
    old = digest_of_text(effects, "old")
    change = staged(effects, first, base=None if kind == "created" else old)
    change = replace(change, file=None) if kind == "deleted" else change
    found = effects.conflicts(sealed(effects, change, staged(effects, last, base=old)))
    assert {path: each.changed for path, each in found.items()} == {
        str(first): True,
        str(last): False,
    }
    assert first.read_text(encoding="utf-8") == "mine too"
    assert last.read_text(encoding="utf-8") == "mine"
    kept = {path for path in work.iterdir() if path not in (first, last)}
    assert [path.read_text(encoding="utf-8") for path in kept] == ["old"] * (kind != "created")
    assert all(str(path) in found[str(first)].reason for path in kept)


def test_a_conflict_says_why(effects: AtOnce, work: Path, tmp_path: Path) -> None:
    """Each path has its own reason: a change, a missing or another folder, an altered stage."""
    for name in ("gone", "moved"):
        (work / name).mkdir()
    paths = [work / "changed", work / "gone" / "a", work / "moved" / "a"]
    manifest = sealed(effects, *(staged(effects, path) for path in paths))
    (work / "changed").write_text("mine", encoding="utf-8")
    (work / "gone").rmdir()
    (work / "moved").rmdir()
    (work / "moved").symlink_to(tmp_path)
    found = effects.conflicts(manifest)
    assert [found[str(path)].reason for path in paths] == [
        "changed since the diff was made",
        "its folder is not there",
        "its folder is not the one that was decided on",
    ]
    effects.discard(ID)
    manifest = sealed(effects, staged(effects, work / "new"))
    effects.discard(ID)
    (reason,) = [each.reason for each in effects.conflicts(manifest).values()]
    assert reason == "it cannot be written: what was staged for it has been altered"


@everywhere
@pytest.mark.parametrize("when", ["before", "meanwhile"])
@pytest.mark.parametrize("kind", ["modified", "deleted"])
def test_who_makes_a_file_private_has_changed_it(
    tmp_path: Path, work: Path, disk: str, when: str, kind: str
) -> None:
    """A file whose mode was changed since the diff was made is in conflict, and keeps that mode:
    before the commit, and while it is at work."""
    first, last = work / "a", work / "z"
    written([first, last], kind)
    meddle = once(lambda: when == "meanwhile", lambda: last.chmod(0o600))
    effects = AtOnce(tmp_path / "staging", meddled(DISKS[disk], meddle))
    old = digest_of_text(effects, "old")
    change = staged(effects, last, base=old)
    change = replace(change, file=None) if kind == "deleted" else change
    manifest = sealed(effects, staged(effects, first, base=old), change)
    if when == "before":
        last.chmod(0o600)
    assert effects.commit(manifest) == (str(last),)
    assert stat.S_IMODE(last.stat().st_mode) == 0o600
    assert [path.read_text(encoding="utf-8") for path in (first, last)] == ["old", "old"]


@pytest.mark.parametrize(("text", "mode"), [(None, 0o644), ("old", None)])
def test_a_base_has_a_mode(effects: AtOnce, work: Path, text: str | None, mode: int | None) -> None:
    """A run that leaves it out would have any mode pass for the one that was found."""
    base = None if text is None else digest_of_text(effects, text)
    with pytest.raises(ValueError, match="mode"):
        sealed(effects, staged(effects, work / "a", base=base, base_mode=mode))


@pytest.mark.parametrize("effects", DISKS, indirect=True)
def test_what_is_added_goes_to_the_end_of_what_is_there(effects: AtOnce, work: Path) -> None:
    """Also where that has changed since the run, for nobody had seen a diff then; committing twice
    adds once, and nothing of the old content has been in the stage."""
    target = work / "a"
    target.write_text("old", encoding="utf-8")
    change = staged(effects, target, "+", base=digest_of_text(effects, "old"), append=True)
    target.write_text("other", encoding="utf-8")
    target.chmod(0o640)
    manifest = sealed(effects, change)
    assert "+other+" in effects.diff(manifest)
    assert effects.commit(manifest) == ()
    assert effects.commit(manifest) == ()
    assert target.read_text(encoding="utf-8") == "other+"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [path.name for path in work.iterdir()] == ["a"]


def test_nothing_is_added_to_what_is_gone(effects: AtOnce, work: Path) -> None:
    """A file that was removed since the run is in conflict; a forged addition is refused."""
    target = work / "a"
    target.write_text("old", encoding="utf-8")
    change = staged(effects, target, "+", base=digest_of_text(effects, "old"), append=True)
    target.unlink()
    assert effects.commit(sealed(effects, change)) == (str(target),)
    for forged in (replace(change, file=None), replace(change, base=None, base_mode=None)):
        with pytest.raises(ValueError, match="added"):
            sealed(effects, forged)


@everywhere
def test_a_commit_that_died_is_brought_to_its_end(tmp_path: Path, disk: str) -> None:
    """Killed before any of its steps and made again, it has changed every file and left nothing."""
    command = [sys.executable, str(DYING), str(tmp_path), disk]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=True)
    (deaths,) = ended.stdout.splitlines()
    assert int(deaths.removeprefix("deaths: ")) > 8


def test_a_disk_without_permissions_takes_new_files(tmp_path: Path, work: Path) -> None:
    """A new file has the permissions that the disk gives; one that is to have others is refused."""
    effects = AtOnce(tmp_path / "staging", Renames(set_mode=lambda _, __: False))
    manifest = sealed(effects, staged(effects, work / "a"))
    assert effects.commit(manifest) == ()
    assert effects.commit(manifest) == ()
    assert (work / "a").read_text(encoding="utf-8") == "new"
    effects.discard(ID)
    private = sealed(effects, staged(effects, work / "b", mode=0o600))
    (reason,) = [each.reason for each in effects.conflicts(private).values()]
    assert reason == "it cannot be written: its permissions cannot be set"
    assert list(work.iterdir()) == [work / "a"]
