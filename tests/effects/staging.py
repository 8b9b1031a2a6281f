"""Stages as honest runs leave them, and disks that can do less than the one below."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Callable
from pathlib import Path

from toolstile.effects.files import FileEffects
from toolstile.effects.renames import OF_THE_DISK, Renames
from toolstile.model.effect import Conflict, Manifest
from toolstile.model.job import Ending, Outcome, StagedFile

ID = "018f0000-0000-7000-8000-000000000001"


def _cannot(directory: int, one: str, other: str) -> bool:
    return False


# What some disk is like: ext4, exFAT, NFS, and one of a server that knows nothing but renaming.
DISKS = {
    "all": OF_THE_DISK,
    "no exchange": Renames(exchange=_cannot),
    "links only": Renames(exchange=_cannot, move=_cannot),
    "no links": Renames(link=_cannot),
    "neither": Renames(exchange=_cannot, move=_cannot, link=_cannot),
}


def meddled(disk: Renames, meddle: Callable[[], None]) -> Renames:
    """A disk on which somebody does something just before each step of a commit."""

    def before(step: Callable[[int, str, str], bool]) -> Callable[[int, str, str], bool]:
        def stepped(directory: int, one: str, other: str) -> bool:
            meddle()
            return step(directory, one, other)

        return stepped

    return Renames(before(disk.exchange), before(disk.move), before(disk.link), disk.set_mode)


class AtOnce:
    """File effects whose steps are waited for, each in an event loop of its own."""

    def __init__(self, directory: Path, renames: Renames = OF_THE_DISK) -> None:
        self.effects = FileEffects(directory, renames)

    def open(self, execution_id: str) -> Path:
        """The stage of a run."""
        return Path(asyncio.run(self.effects.open(execution_id)))

    def seal(self, execution_id: str, outcome: Outcome) -> Manifest:
        """The manifest of a run."""
        return asyncio.run(self.effects.seal(execution_id, outcome))

    def conflicts(self, manifest: Manifest) -> dict[str, Conflict]:
        """What is in conflict after a commit, by its path."""
        return {each.path: each for each in asyncio.run(self.effects.commit(manifest))}

    def commit(self, manifest: Manifest) -> tuple[str, ...]:
        """The paths in conflict; all of them are as they were."""
        found = self.conflicts(manifest)
        assert not any(each.changed for each in found.values())
        return tuple(found)

    def discard(self, execution_id: str) -> None:
        """Nothing is left of the stage."""
        asyncio.run(self.effects.discard(execution_id))

    def diff(self, manifest: Manifest) -> str:
        """What committing would change."""
        return asyncio.run(self.effects.diff(manifest))


def sealed(effects: AtOnce, *staged: StagedFile) -> Manifest:
    """The manifest of a run that staged this."""
    return effects.seal(ID, Outcome(ending=Ending.VALUE, staged=staged))


def staged(effects: AtOnce, path: Path, text: str = "new", **fields: object) -> StagedFile:
    """A new file, honestly staged."""
    stage = effects.effects._stage(ID)
    if not stage.exists():
        effects.open(ID)
    name = f"{len(list(stage.iterdir())):06d}"
    (stage / name).write_text(text, encoding="utf-8")
    made: dict[str, object] = {"path": str(path), "file": name, "base": None, **fields}
    if made["base"] is not None:
        made.setdefault("base_mode", stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o644)
    return StagedFile(**made)  # type: ignore[arg-type]


def digest_of_text(effects: AtOnce, text: str) -> str:
    """The digest that a manifest gives to this text."""
    found = sealed(effects, staged(effects, Path("/x"), text)).changes[0].new
    effects.discard(ID)
    assert found is not None
    return found
