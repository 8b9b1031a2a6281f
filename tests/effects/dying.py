"""A commit that dies before each of its steps, and is made again: `dying.py FOLDER DISK`.

A process of its own for each death, forked from this one, which has no threads. Prints what is
wrong afterwards, and last how many deaths there were.
"""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path
from typing import Any

from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parents[1]))
from effects.staging import DISKS, AtOnce, digest_of_text, meddled, sealed, staged
from toolstile.model.effect import Manifest

KILLED = 9
STEPS = ("os.rename", "os.link", "os.remove", "os.chmod")


def prepared(folder: Path, effects: AtOnce) -> Manifest:
    """One change of each kind."""
    old = digest_of_text(effects, "old")
    for name in ("changed", "removed"):
        (folder / name).write_text("old", encoding="utf-8")
    return sealed(
        effects,
        staged(effects, folder / "changed", base=old),
        replace(staged(effects, folder / "removed", base=old), file=None),
        staged(effects, folder / "made"),
        staged(effects, folder / "last"),
    )


def dies(root: Path, disk: str, manifest: Manifest, step: int) -> bool:
    """Commit in a process that ends before this step; False where it has no such step."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED
    steps = itertools.count(1)

    def count(event: str = STEPS[0], _: Any = None) -> None:
        if event in STEPS and next(steps) == step:
            os._exit(KILLED)

    sys.addaudithook(count)
    AtOnce(root / "staging", meddled(DISKS[disk], count)).commit(manifest)
    os._exit(0)


def main(folder: Path, disk: str) -> None:
    """Every death, until a commit has no step left to die before."""
    for step in itertools.count(1):
        root = folder / str(step)
        work = root / "work"
        work.mkdir(parents=True)
        effects = AtOnce(root / "staging", DISKS[disk])
        manifest = prepared(work, effects)
        died = dies(root, disk, manifest, step)
        conflicts = effects.commit(manifest)
        found = {path.name: path.read_text(encoding="utf-8") for path in work.iterdir()}
        if conflicts or found != {"changed": "new", "made": "new", "last": "new"}:
            print("step", step, conflicts, found)
        if not died:
            print("deaths:", step - 1)
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
