"""The suite on every path of every peer, and on Toolstile: `python peers/table.py`.

Writes the table into docs/conformance.md; with --check it compares. Each path is run in a process
of its own, so that one which crashes or hangs takes no other down.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from toolstile.conformance import Scorecard, load_suite, run
from toolstile.conformance.adapters import AdapterTarget, Target
from toolstile.conformance.attempt import Outcome, Result
from toolstile.conformance.mcp import McpTarget
from toolstile.conformance.ours import LineTarget

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "conformance.md"
BEGIN, END = "<!-- peers: begin -->\n", "<!-- peers: end -->"
MEASURED = "Measured on "
SECONDS = 600
OURS = "toolstile"

# The servers that run as programs, with the peer whose promise is theirs.
SERVERS = {
    "mcp_low.py": ("peer_mcp", "The low-level `Server` as a program over stdio; default settings."),
    "mcp_high.py": ("peer_mcp", "`MCPServer.tool()` as a program over stdio; default settings."),
    "mcp_fast.py": ("peer_fastmcp", "`FastMCP().tool` as a program over stdio; default settings."),
    "mcp_fast.py --strict": (
        "peer_fastmcp",
        "`FastMCP(strict_input_validation=True).tool` as a program over stdio.",
    ),
}
HEADINGS = (
    *("Peer", "Settings", "Refused rightly", "Let in rightly", "Outputs", "Not applicable"),
    "Formats (apart)",
)


@dataclass(frozen=True)
class Row:
    """One path and how it did."""

    peer: str
    settings: str
    cells: tuple[str, ...]

    def __str__(self) -> str:
        return "| " + " | ".join((self.peer, self.settings, *self.cells)) + " |"


def main() -> int:
    """Measure everything, then write or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the page, write nothing")
    parser.add_argument("--only", metavar="TEXT", default="", help="only paths with it; print only")
    parser.add_argument("--path", help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.path:
        options.into.write_text(json.dumps(figures(options.path)), encoding="utf-8")
        return 0
    names = [name for name in (OURS, *paths(), *SERVERS) if options.only in name]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = list(pool.map(measured, names))
    text = table(sorted(rows, key=lambda row: (row.peer.lower(), row.settings)))
    print(text)
    if options.only:
        return 0
    return compare(text) if options.check else write(text)


def peers() -> list[str]:
    """The modules that hold a peer each."""
    return sorted(path.stem for path in HERE.glob("peer_*.py"))


def paths() -> Iterator[str]:
    """Every path, as `module:name`. Not imported: only the process that runs one is to load it."""
    for module in peers():
        for line in (HERE / f"{module}.py").read_text(encoding="utf-8").splitlines():
            if line.startswith("PATHS = ("):
                names = line.removeprefix("PATHS = (").removesuffix(")").split(",")
                yield from (f"{module}:{name.strip()}" for name in names if name.strip())


def measured(name: str) -> Row:
    """Run one path in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        into = Path(place, "figures.json")
        command = (sys.executable, str(Path(__file__)), "--path", name, "--into", str(into))
        try:
            ended = subprocess.run(
                command, timeout=SECONDS, capture_output=True, encoding="utf-8", check=False
            )
        except subprocess.TimeoutExpired:
            raise SystemExit(f"{name} did not end within {SECONDS} seconds") from None
        if ended.returncode != 0:
            raise SystemExit(f"{name} ended with {ended.returncode}:\n{ended.stderr[-2000:]}")
        said = json.loads(into.read_text(encoding="utf-8"))
    print(f"{name}: {said['cells']}", file=sys.stderr)
    return Row(peer=said["peer"], settings=said["settings"], cells=tuple(said["cells"]))


def figures(name: str) -> dict[str, Any]:
    """Run one path here; what a row says of it."""
    with tempfile.TemporaryDirectory() as place:
        peer, settings, target = target_of(name, Path(place))
        card = asyncio.run(run(target, load_suite()))
    return {"peer": peer, "settings": settings, "cells": cells(card)}


def target_of(name: str, place: Path) -> tuple[str, str, Target]:
    """A path's peer and version, its settings and itself."""
    if name == OURS:
        target = LineTarget("declared", load_suite())
        return "Toolstile, this checkout", "Definitions in settings; default settings.", target
    if name in SERVERS:
        module, settings = SERVERS[name]
        tools = place / "tools.json"
        listed = [tool.to_mcp() for tool in load_suite().tools.values()]
        tools.write_text(json.dumps(listed), encoding="utf-8")
        program, *options = name.split()
        command = [sys.executable, str(HERE / program), str(tools), *options]
        return called(module), settings, McpTarget(" ".join(f"'{word}'" for word in command))
    module, _, path = name.partition(":")
    adapter = getattr(import_module(module), path)
    settings = adapter.__doc__.partition("\n")[0]
    return called(module), settings, AdapterTarget(adapter, name)


def called(module: str) -> str:
    """A peer with its version."""
    peer = import_module(module).PEER
    return f"{peer['name']} {version(peer['package'])}"


def cells(card: Scorecard) -> list[str]:
    """The figures of a row."""
    counted = [result for result in card.results if not result.case.format]
    arguments = [result for result in counted if not result.case.about_output]
    return [
        share([result for result in arguments if not result.case.accept]),
        share([result for result in arguments if result.case.accept]),
        share([result for result in counted if result.case.about_output]),
        str(sum(result.outcome is Outcome.NOT_APPLICABLE for result in counted)),
        share([result for result in card.results if result.case.format]),
    ]


def share(results: list[Result]) -> str:
    """How many of those that could be put ended rightly."""
    put = [result for result in results if result.outcome is not Outcome.NOT_APPLICABLE]
    right = sum(result.outcome is Outcome.RIGHT for result in put)
    return f"{right} of {len(put)}" if put else "none"


def table(rows: list[Row]) -> str:
    """What stands in the page between the marks."""
    suite = load_suite()
    counted = sum(not case.format for case in suite)
    lines = [
        f"{MEASURED}{datetime.now(UTC).date()}, with {counted} cases that count.",
        "",
        f"| {' | '.join(HEADINGS)} |",
        f"|{'---|' * len(HEADINGS)}",
        *map(str, rows),
        "",
        "What each says of itself:",
        "",
        *(promise(import_module(module).PEER) for module in peers()),
    ]
    return "\n".join(lines) + "\n"


def promise(peer: dict[str, str]) -> str:
    """What a peer promises, and where it says so."""
    return f"- **{peer['name']}.** {peer['promise']} ({peer['source']})"


def split(page: str) -> tuple[str, str, str]:
    """The page before the marks, between them and after them."""
    before, begun, rest = page.partition(BEGIN)
    within, ended, after = rest.partition(END)
    if not (begun and ended):
        raise SystemExit(f"{PAGE.name} has no marks for the table")
    return before + begun, within, ended + after


def write(text: str) -> int:
    """Put the table into the page."""
    before, _, after = split(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(before + text + after, encoding="utf-8")
    return 0


def compare(text: str) -> int:
    """Say which lines of the page's table are not those measured; its date may be another."""
    _, within, _ = split(PAGE.read_text(encoding="utf-8"))
    told, found = undated(within), undated(text)
    differing = [line for line in found if line not in told]
    differing += [f"(gone) {line}" for line in told if line not in found]
    print("\n".join(("The page differs:", *differing)) if differing else "The page is right.")
    return 1 if differing else 0


def undated(text: str) -> list[str]:
    """The lines without the one that has the date."""
    return [line for line in text.splitlines() if line and not line.startswith(MEASURED)]


if __name__ == "__main__":
    raise SystemExit(main())
