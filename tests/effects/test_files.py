"""The stage is written by a stranger's process: nothing in it is believed, and nothing outside the
manifest changes."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from effects.staging import DISKS, ID, AtOnce, digest_of_text, sealed, staged
from toolstile.model.job import Ending, Outcome, StagedFile

everywhere = pytest.mark.parametrize("effects", DISKS, indirect=True)
SECRET = "root:$6$secret"


@everywhere
def test_what_was_staged_is_applied_twice_as_once(effects: AtOnce, work: Path) -> None:
    """The control: an honest file arrives whole with its mode; a second commit changes nothing."""
    target = work / "a.txt"
    manifest = sealed(effects, staged(effects, target, mode=0o640))
    assert "+new" in effects.diff(manifest)
    assert effects.commit(manifest) == ()
    assert target.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert effects.commit(manifest) == ()
    assert [entry.name for entry in work.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "/etc/passwd", "a/b", "missing", "\0", "x" * 300]
)
def test_only_a_plain_name_in_the_stage_is_believed(effects: AtOnce, work: Path, name: str) -> None:
    """Any other name is refused, and neither the stage nor what lies around it is touched."""
    stage = effects.open(ID)
    before = (stage.stat().st_mode, stage.parent.stat().st_mode)
    with pytest.raises((ValueError, OSError)):
        sealed(effects, StagedFile(path=str(work / "a"), file=name, base=None))
    assert (stage.stat().st_mode, stage.parent.stat().st_mode) == before


def _link(secret: Path, file: Path) -> None:
    file.symlink_to(secret)


def _hard_link(secret: Path, file: Path) -> None:
    os.link(secret, file)


def _fifo(secret: Path, file: Path) -> None:
    os.mkfifo(file)


def _directory(secret: Path, file: Path) -> None:
    file.mkdir()


@pytest.mark.parametrize("make", [_link, _hard_link, _fifo, _directory])
def test_a_staged_thing_that_is_no_file_of_the_run_is_refused(
    effects: AtOnce, work: Path, tmp_path: Path, make: Callable[[Path, Path], None]
) -> None:
    """Links to other people's files, pipes and directories: refused at once, and not touched."""
    secret = tmp_path / "shadow"
    secret.write_text(SECRET, encoding="utf-8")
    secret.chmod(0o600)
    make(secret, effects.open(ID) / "000000")
    refused: list[bool] = []

    def seal() -> None:
        with pytest.raises((ValueError, OSError)):
            sealed(effects, StagedFile(path=str(work / "a"), file="000000", base=None))
        refused.append(True)

    thread = threading.Thread(target=seal, daemon=True)
    thread.start()
    thread.join(timeout=5)
    assert refused, "sealing waits for a pipe, or accepted what it was given"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_a_stage_that_became_a_link_is_refused(effects: AtOnce, work: Path, tmp_path: Path) -> None:
    """The run may have put a link in the place of its stage."""
    stage = effects.open(ID)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "000000").write_text(SECRET, encoding="utf-8")
    stage.rmdir()
    stage.symlink_to(elsewhere)
    with pytest.raises((ValueError, OSError)):
        sealed(effects, StagedFile(path=str(work / "a"), file="000000", base=None))


def test_one_path_is_staged_once(effects: AtOnce, work: Path) -> None:
    """A forged list that names a path twice is refused: its diff would not be what happens."""
    first, second = staged(effects, work / "a"), staged(effects, work / "a", "other")
    with pytest.raises(ValueError, match="twice"):
        sealed(effects, first, second)


@pytest.mark.parametrize("base", ["other", "", "sha256:", "sha256:" + "g" * 64])
def test_a_base_is_a_digest(effects: AtOnce, work: Path, base: str) -> None:
    """What is no digest could stand for "whatever lies there"."""
    (work / "a").symlink_to("/etc/hostname")
    with pytest.raises(ValueError, match="base"):
        sealed(effects, staged(effects, work / "a", base=base))


@pytest.mark.parametrize("how", ["rewritten", "replaced", "linked", "removed"])
def test_what_changed_after_sealing_is_never_applied(
    effects: AtOnce, work: Path, tmp_path: Path, how: str
) -> None:
    """A process that outlived its run alters the stage: the commit refuses, nothing changes."""
    target = work / "a"
    manifest = sealed(effects, staged(effects, work / "first"), staged(effects, target))
    file = effects.effects._stage(ID) / "000001"
    (tmp_path / "shadow").write_text(SECRET, encoding="utf-8")
    if how == "rewritten":
        file.chmod(0o600)
        file.write_text("evil", encoding="utf-8")
    else:
        file.unlink()
    if how == "replaced":
        file.write_text("evil", encoding="utf-8")
    if how == "linked":
        file.symlink_to(tmp_path / "shadow")
    assert SECRET not in effects.diff(manifest)
    assert effects.commit(manifest) == (str(target),)
    assert list(work.iterdir()) == []


def test_a_link_planted_beside_the_target_is_not_followed(
    effects: AtOnce, work: Path, tmp_path: Path
) -> None:
    """The run knows its own id and so the temporary names: links there lead nowhere."""
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    names = [f".a.{ID}.toolstile", f".{ID}-0.toolstile", f".{ID}.0.toolstile"]
    for name in names:
        (work / name).symlink_to(victim)
    manifest = sealed(effects, staged(effects, work / "a"))
    effects.commit(manifest)
    assert victim.read_text(encoding="utf-8") == "mine"
    assert not (work / "a").is_symlink()


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127, "a\nb", "-rf", " ", ".hidden"])
def test_any_name_a_disk_takes_can_be_written(effects: AtOnce, work: Path, name: str) -> None:
    """The temporary name does not depend on the target's, so 255 bytes are no obstacle."""
    manifest = sealed(effects, staged(effects, work / name))
    assert effects.commit(manifest) == ()
    assert (work / name).read_text(encoding="utf-8") == "new"
    assert len(list(work.iterdir())) == 1


@everywhere
def test_a_parent_that_vanished_stops_everything(effects: AtOnce, work: Path) -> None:
    """One path cannot be written: it is named, and the others are not written either."""
    gone = work / "gone"
    gone.mkdir()
    manifest = sealed(effects, staged(effects, work / "a"), staged(effects, gone / "b"))
    gone.rmdir()
    assert effects.commit(manifest) == (str(gone / "b"),)
    assert list(work.iterdir()) == []


def test_a_parent_that_became_a_link_is_a_conflict(
    effects: AtOnce, work: Path, tmp_path: Path
) -> None:
    """Beneath a link lies another directory than the one that was decided on."""
    folder = work / "folder"
    folder.mkdir()
    manifest = sealed(effects, staged(effects, folder / "a"))
    outside = tmp_path / "outside"
    outside.mkdir()
    folder.rmdir()
    folder.symlink_to(outside)
    assert effects.commit(manifest) == (str(folder / "a"),)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("make", [_link, _fifo, _directory])
def test_a_target_that_became_something_else_is_a_conflict(
    effects: AtOnce, work: Path, tmp_path: Path, make: Callable[[Path, Path], None]
) -> None:
    """A link, pipe or directory in the place of the file is neither followed nor replaced, and
    its diff shows nothing of what lies behind it."""
    (tmp_path / "shadow").write_text(SECRET, encoding="utf-8")
    base = digest_of_text(effects, "old")
    manifest = sealed(effects, staged(effects, work / "a", base=base))
    make(tmp_path / "shadow", work / "a")
    assert SECRET not in effects.diff(manifest)
    assert effects.commit(manifest) == (str(work / "a"),)
    assert len(list(work.iterdir())) == 1


@everywhere
def test_the_other_name_of_a_hard_link_keeps_its_content(effects: AtOnce, work: Path) -> None:
    """A file is replaced and never written through: its other names are other files after it."""
    (work / "a").write_text("old", encoding="utf-8")
    os.link(work / "a", work / "b")
    base = digest_of_text(effects, "old")
    manifest = sealed(effects, staged(effects, work / "a", base=base))
    assert effects.commit(manifest) == ()
    assert (work / "a").read_text(encoding="utf-8") == "new"
    assert (work / "b").read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o1777, 0o104777, -1])
def test_no_commit_makes_a_setuid_file(effects: AtOnce, work: Path, mode: int) -> None:
    """Only the nine permission bits of a staged mode are taken."""
    manifest = sealed(effects, staged(effects, work / "a", mode=mode))
    assert effects.commit(manifest) == ()
    assert not (work / "a").stat().st_mode & (stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX)


@everywhere
def test_a_mode_is_shown_and_applied(effects: AtOnce, work: Path) -> None:
    """Making a file executable is a change that a person must see, even if it is the only one."""
    target = work / "a"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o644)
    base = digest_of_text(effects, "old")
    manifest = sealed(effects, staged(effects, target, "old", base=base, mode=0o755))
    assert "0644" in effects.diff(manifest)
    assert "0755" in effects.diff(manifest)
    assert effects.commit(manifest) == ()
    assert stat.S_IMODE(target.stat().st_mode) == 0o755


@everywhere
def test_two_manifests_for_one_path_cannot_both_win(effects: AtOnce, work: Path) -> None:
    """The second finds neither its base nor its own content."""
    other = "018f0000-0000-7000-8000-000000000002"
    first = sealed(effects, staged(effects, work / "a"))
    stage = effects.open(other)
    (stage / "000000").write_text("second", encoding="utf-8")
    outcome = Outcome(
        ending=Ending.VALUE,
        staged=(StagedFile(path=str(work / "a"), file="000000", base=None),),
    )
    second = effects.seal(other, outcome)
    assert effects.commit(first) == ()
    assert effects.commit(second) == (str(work / "a"),)
    assert (work / "a").read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("effects", ["all", "links only", "neither"], indirect=True)
@pytest.mark.parametrize("kind", ["modified", "created", "deleted"])
def test_an_edit_in_the_middle_of_a_commit_stands(effects: AtOnce, work: Path, kind: str) -> None:
    """Whoever saves a file while a commit is at work keeps what they saved: it is found before it
    is replaced, or after that put back; then no file is changed at all."""
    old = digest_of_text(effects, "old")
    conflicts = 0
    for _ in range(8):
        for each in work.iterdir():
            each.unlink()
        paths = [work / f"{number:02d}" for number in range(12)]
        for path in paths if kind != "created" else ():
            path.write_text("old", encoding="utf-8")
        base = None if kind == "created" else old
        changes = [staged(effects, path, base=base) for path in paths]
        if kind == "deleted":
            changes = [replace(change, file=None) for change in changes]
        manifest = sealed(effects, *changes)
        editor = threading.Thread(target=_edit_once_begun, args=(work, paths[-1]))
        editor.start()
        found = effects.commit(manifest)
        (work / ".begun").touch()
        editor.join()
        assert paths[-1].read_text(encoding="utf-8") == "mine"
        if found:
            conflicts += 1
            assert found == (str(paths[-1]),)
            assert [path.exists() for path in paths[:-1]] == [kind != "created"] * 11
            assert {path.read_text("utf-8") for path in paths[:-1] if path.exists()} <= {"old"}
        assert sorted(work.iterdir()) == sorted({*filter(Path.exists, paths), work / ".begun"})
        effects.discard(ID)
    assert conflicts, "no edit came in the middle, so this proves nothing"


def _edit_once_begun(work: Path, path: Path) -> None:
    """Save a file as editors do, as soon as the commit has put something beside the targets."""
    mine = work.parent / "mine"
    mine.write_text("mine", encoding="utf-8")
    while not any(each.name.startswith(".") for each in work.iterdir()):
        pass
    mine.rename(path)


@everywhere
def test_what_a_crash_left_of_somebody_elses_is_kept(effects: AtOnce, work: Path) -> None:
    """Killed between replacing a file and looking at what stood there: if that is neither the base
    nor ours, recovery changes nothing and leaves it where it lies."""
    (work / "a").write_text("old", encoding="utf-8")
    manifest = sealed(effects, staged(effects, work / "a", base=digest_of_text(effects, "old")))
    (work / "a").write_text("new", encoding="utf-8")
    displaced = work / f".{ID}-0.toolstile"
    displaced.write_text("mine", encoding="utf-8")
    assert effects.commit(manifest) == (str(work / "a"),)
    assert displaced.read_text(encoding="utf-8") == "mine"
    displaced.write_text("old", encoding="utf-8")
    assert effects.commit(manifest) == ()
    assert [entry.name for entry in work.iterdir()] == ["a"]


@everywhere
def test_a_crash_between_link_and_unlink_leaves_nothing(effects: AtOnce, work: Path) -> None:
    """Recovery commits again and clears the temporary name away."""
    manifest = sealed(effects, staged(effects, work / "a"))
    assert effects.commit(manifest) == ()
    os.link(work / "a", work / f".{ID}-0.toolstile")
    assert effects.commit(manifest) == ()
    assert [entry.name for entry in work.iterdir()] == ["a"]


def test_a_full_disk_changes_nothing(effects: AtOnce) -> None:
    """Everything is written beside its target before the first file is replaced."""
    small = Path("/dev/shm") / f"toolstile-{os.getpid()}"
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount a small disk")
    small.mkdir()
    if os.system(f"mount -t tmpfs -o size=1m tmpfs {small} 2>/dev/null") != 0:
        small.rmdir()
        pytest.skip("no small disk can be mounted here")
    try:
        manifest = sealed(
            effects,
            staged(effects, small / "a", "x"),
            staged(effects, small / "b", "y" * (2 << 20)),
        )
        assert effects.commit(manifest) == (str(small / "b"),)
        assert list(small.iterdir()) == []
    finally:
        os.system(f"umount {small}")
        small.rmdir()


def test_a_hostile_text_cannot_hold_up_its_diff(effects: AtOnce, work: Path) -> None:
    """Texts on which comparing takes hours are summarised instead."""
    pick = random.Random(1)  # a fixed seed: the same texts every time
    alphabet = [chr(33 + n) for n in range(60)] + [chr(0x100 + n) for n in range(60)]
    before, after = ("".join(f"{pick.choice(alphabet)}\n" for _ in range(20_000)) for _ in "ab")
    target = work / "a"
    target.write_text(before, encoding="utf-8")
    base = digest_of_text(effects, before)
    manifest = sealed(effects, staged(effects, target, after, base=base))
    began = time.monotonic()
    shown: list[str] = []
    thread = threading.Thread(target=lambda: shown.append(effects.diff(manifest)), daemon=True)
    thread.start()
    thread.join(timeout=20)
    assert shown, f"no diff after {time.monotonic() - began:.0f} s"
    assert "modified" in shown[0]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (b"", b"\xff" * 256, "created {path} (binary: new, 256 bytes)"),
        (b"old\n", b"\xff" * 256, "modified {path} (binary: 4 → 256 bytes)"),
        (b"a" * 300_000, b"a" * 300_001, "(too large to show: 300,000 → 300,001 bytes)"),
        (b"\xff\xff", b"", "deleted {path} (binary: 2 bytes)"),
        (b"old\n", b"a" * 262_144, "-old\n+aaa"),
    ],
)
def test_what_is_not_shown_says_why_and_how_large_it_is(
    effects: AtOnce, work: Path, before: bytes, after: bytes, said: str
) -> None:
    """An approver learns why there is no diff, and what the sizes are."""
    target = work / "a"
    base = None
    if before:
        target.write_bytes(before)
        base = "sha256:" + hashlib.sha256(before).hexdigest()
    change = staged(effects, target, base=base)
    assert change.file is not None
    (effects.effects._stage(ID) / change.file).write_bytes(after)
    change = change if after else replace(change, file=None)
    assert said.format(path=target) in effects.diff(sealed(effects, change))
