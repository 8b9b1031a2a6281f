"""Does a test notice when the behaviour it stands for is broken? Breaks them, one at a time.

    python tests/break_behaviours.py            5 % of the rows of requirements/, at least 8
    python tests/break_behaviours.py --all      every break of requirements/breaks.diff

Each break is applied to a copy of the checkout; the tests of its row run there, before and with
it. Exits with 1 if a row's tests pass although its behaviour is broken, or fail although it is not.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from corpora import ROOT as CORPORA
from requirements import FOLDER, TESTS, Row, rows

CHECKOUT = TESTS.parent
LEAST = 8
PATIENCE = 300  # seconds; a behaviour whose tests hang without it has been noticed
LEFT_OUT = (".*", "__pycache__", "*.pyc", "dist", "build", "node_modules")


class Break(NamedTuple):
    """A change of one file that breaks what one row promises."""

    row: str
    file: str
    old: str
    new: str


def read(text: str) -> Iterator[Break]:
    """The breaks of a text: a line with row and file, then lines to take out and to put in."""
    for block in text.strip().split("\n\n")[1:]:
        head, *lines = block.splitlines()
        row, file = head.split()
        old, new = ("\n".join(line[2:] for line in lines if line[0] == sign) for sign in "-+")
        yield Break(row, file, old, new)


BREAKS = tuple(read((FOLDER / "breaks.diff").read_text(encoding="utf-8")))


class Trial(NamedTuple):
    """What came of one break."""

    row: str
    file: str
    verdict: str
    noticed: bool
    seconds: float


class Bench:
    """A copy of the checkout in which things are broken."""

    def __init__(self, place: Path) -> None:
        self._root = place / "checkout"
        shutil.copytree(CHECKOUT, self._root, ignore=shutil.ignore_patterns(*LEFT_OUT))
        self._sound: dict[tuple[str, ...], int] = {}

    def trial(self, change: Break, row: Row) -> Trial:
        """Break a behaviour and see."""
        started = time.monotonic()
        verdict, noticed = self._judge(change, row)
        return Trial(row.id, change.file, verdict, noticed, time.monotonic() - started)

    def _judge(self, change: Break, row: Row) -> tuple[str, bool]:
        path = self._root / "src" / "toolstile" / change.file
        sound = path.read_text(encoding="utf-8")
        if change.old not in sound:
            return "stale", False
        if self._unbroken(row.tests) != 0:
            return "the tests fail without it", False
        path.write_text(sound.replace(change.old, change.new), encoding="utf-8")
        try:
            ended = self._run(row.tests)
        finally:
            path.write_text(sound, encoding="utf-8")
        verdicts = {0: "UNNOTICED", 1: "noticed"}
        return verdicts.get(ended, f"no test ran (pytest: {ended})"), ended == 1

    def _unbroken(self, tests: tuple[str, ...]) -> int:
        """The control: how the same tests end without the break."""
        if tests not in self._sound:
            self._sound[tests] = self._run(tests)
        return self._sound[tests]

    def _run(self, tests: Sequence[str]) -> int:
        """Run tests in the copy; pytest's exit code, 1 where they do not end."""
        options = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider")
        # Without bytecode: two versions of a file may have one time and one size.
        environment = os.environ | {
            "PYTHONPATH": str(self._root / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TOOLSTILE_CORPORA": str(CORPORA),
        }
        command = (sys.executable, *options, *(f"tests/{test}" for test in tests))
        try:
            ended = subprocess.run(
                command,
                cwd=self._root,
                env=environment,
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 1
        return ended.returncode


def stale() -> list[str]:
    """Breaks, chosen or not, whose row or text is no longer there: they would break nothing."""
    known = {row.id for row in rows()}
    found = []
    for change in BREAKS:
        path = CHECKOUT / "src" / "toolstile" / change.file
        times = path.read_text(encoding="utf-8").count(change.old) if path.is_file() else 0
        if times != 1 or change.row not in known:
            found.append(f"{change.row:<11} {change.file:<28} stale: its text stands {times} times")
    return found


def chosen(share: float, seed: int, known: Sequence[Row]) -> list[Break]:
    """A random share of the rows, as far as there are breaks for them."""
    number = min(len(BREAKS), max(LEAST, math.ceil(share * len(known))))
    picked = set(random.Random(seed).sample(range(len(BREAKS)), number))
    return [change for index, change in enumerate(BREAKS) if index in picked]


def main() -> int:
    """Break and report; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--share", type=float, default=0.05, help="of all rows (default: 0.05)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="repeats a choice")
    parser.add_argument("--all", action="store_true", help="every break there is")
    parser.add_argument("--row", action="append", default=[], help="only this row; may repeat")
    options = parser.parse_args()
    known = {row.id: row for row in rows()}
    changes = chosen(options.share, options.seed, list(known.values()))
    if options.all or options.row:
        changes = [each for each in BREAKS if options.all or each.row in options.row]
    print(f"{len(changes)} of {len(BREAKS)} breaks, seed {options.seed}")
    lost = stale()
    print("".join(f"{line}\n" for line in lost), end="", flush=True)
    noticed = 0
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place))
        for change in changes:
            told = bench.trial(change, known[change.row])
            noticed += told.noticed
            where = f"{told.row:<11} {told.file:<28}"
            print(f"{where} {told.seconds:6.1f} s  {told.verdict}", flush=True)
    print(f"{noticed} noticed, {len(changes) - noticed} not, {len(lost)} stale")
    return 1 if lost or noticed < len(changes) else 0


if __name__ == "__main__":
    sys.exit(main())
