"""The requirements of the seeds, read from the tables in requirements/.

A table is Markdown, so that it reads well anywhere:

    - **FR-018, AC-019** What the requirement has become, in a sentence.
      - registry/test_registering_requirements.py::test_what_is_not_well_formed_is_refused
      - gap: work 02: what is not met, and who carries it

Each id is a row. The lines below it are tests (of this folder, without their parameters) or the
gap. tests/test_requirements.py holds the tables to the seeds and to the tests that there are,
tests/break_behaviours.py breaks what they promise and sees whether the tests notice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent
FOLDER = TESTS / "requirements"

_HEAD = re.compile(r"- \*\*([A-Z][A-Z0-9., -]*)\*\* (.+)")
_TEST = re.compile(r"  - ([\w/]+\.py::\w+)")
_GAP = re.compile(r"  - gap: (.+)")
_MORE = re.compile(r" {2,}([^ -].*)")


class Row(NamedTuple):
    """One requirement: what it asks as the contract resolves it, what shows it, what is missing."""

    id: str
    source: str
    behaviour: str
    tests: tuple[str, ...]
    gap: str | None


class Malformed(ValueError):
    """A line of a table that means nothing."""


def rows() -> tuple[Row, ...]:
    """Every row of every table."""
    return tuple(
        row for path in sorted(FOLDER.glob("*.md")) for row in read(path.read_text("utf-8"))
    )


def read(text: str) -> Iterator[Row]:
    """The rows of one table.

    Raises:
        Malformed: a line is neither a heading, an entry, a test, a gap nor the rest of a sentence.
    """
    source, entry = "", _Entry()
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            yield from entry.rows(source)
            entry, source = _Entry(), line.strip("# ")
        elif head := _HEAD.fullmatch(line):
            yield from entry.rows(source)
            entry = _Entry(head[1].split(", "), head[2])
        elif entry.ids and not entry.take(line):
            raise Malformed(f"line {number}: {line}")
    yield from entry.rows(source)


class _Entry:
    """What one entry of a table has said so far."""

    def __init__(self, ids: list[str] | None = None, behaviour: str = "") -> None:
        self.ids = ids or []
        self.behaviour = behaviour
        self.tests: list[str] = []
        self.gap: str | None = None

    def take(self, line: str) -> bool:
        """Add a line below the first one; False if it means nothing there."""
        if test := _TEST.fullmatch(line):
            self.tests.append(test[1])
        elif (gap := _GAP.fullmatch(line)) and self.gap is None:
            self.gap = gap[1]
        elif not (more := _MORE.fullmatch(line)):
            return not line
        elif self.gap is not None:
            self.gap += f" {more[1]}"
        elif self.tests:
            return False
        else:
            self.behaviour += f" {more[1]}"
        return True

    def rows(self, source: str) -> Iterator[Row]:
        """A row for each id."""
        for id_ in self.ids:
            yield Row(id_, source, self.behaviour, tuple(self.tests), self.gap)


# Test files that no row names, each with what it is there for instead.
EXTRA: dict[str, str] = {
    "authoring/test_binding.py": "between JSON and a function's types: our own promise to authors",
    "authoring/test_context.py": "what a running tool may ask: AGN's context, rows of a later work",
    "authoring/test_handles.py": "files opened as decided on, not as named: our own promise",
    "conformance/test_cli_conformance.py": "the suite at the command line: contract section 7",
    "conformance/test_data.py": "every case follows from a standard, by a judge of its own",
    "conformance/test_mcp_target.py": "the suite on MCP servers, however these behave",
    "conformance/test_ours.py": "this gate answers every case, by every way in",
    "conformance/test_outcomes.py": "what a verdict rests on: our own promise",
    "dialects/test_attacks.py": "no call becomes another one on its way: our own promise",
    "dialects/test_exam.py": "no constraint is neither said nor reported: our own promise",
    "dialects/test_forms.py": "what each dialect makes of a schema: contract section 4",
    "dialects/test_recorded_tools.py": "what providers' own types and decoders say of our exports",
    "effects/test_keeping.py": "a replaced file stays its owner's: our own promise",
    "effects/test_disks.py": "no disk loses what somebody saved: our own promise",
    "runtime/test_closing.py": "no tool outlives its host: our own promise",
    "runtime/test_line_endings.py": "what is said of a call that has ended: our own promise",
    "runtime/test_line_rights.py": "who may see and change what: our own promise",
    "crash/test_each_step.py": "a call that dies has its effect at most once: our own promise",
    "effects/test_files.py": "what was staged is not believed, and committed once: our own promise",
    "model/test_hosts.py": "one spelling of a host, which grants rest on",
    "model/test_paths.py": "one spelling of a path, which grants rest on",
    "properties/test_differential.py": "the schema layer against an independent judge",
    "registry/test_search.py": "search that forgives a slip: contract section 2",
    "schema/test_adopt.py": "foreign definitions: no change makes a call valid, each is listed",
    "schema/test_documents.py": "documents made from a schema, for trying tools",
    "sources/test_safe_yaml.py": "YAML without surprises, beneath configuration and definitions",
    "store/test_stores.py": "records, keys and recovery: rows of a later work",
    "suites/test_recipes.py": "hostile schemas and documents of the corpora: everything is bounded",
    "surfaces/test_cli_export.py": "`toolstile export`: contract section 7",
    "surfaces/test_cli_hostile.py": "bad input and bad surroundings: contract section 7",
    "surfaces/test_cli_newcomers.py": "what newcomers write at the command line, and its answer",
    "surfaces/test_cli_strangers.py": "what a stranger tries first, and what it is told",
    "test_docs.py": "every code, key and example of the documentation is the program's own",
    "test_packaging.py": "what is installed and locked",
    "test_required.py": "which tests may be skipped",
    "test_requirements.py": "holds these tables to the seeds and to the tests",
    "test_settings.py": "grants, places and limits of a project: contract section 6",
    "test_settings_state.py": "state.yml under many writers: contract section 6",
    "test_sizes.py": "how small the pieces are",
    "test_testing.py": "AGN's check of a tool class: rows of a later work",
}
