"""Every requirement of the seeds has a row, every row a proof or a gap, every proof exists."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from break_behaviours import BREAKS, stale
from requirements import EXTRA, TESTS, Malformed, Row, read, rows

# The specifications themselves are not ours to publish. Where they lie beside the checkout, or in
# the folder that TOOLSTILE_SEEDS names, the rows are compared with their text.
SPECIFIED = Path(os.environ.get("TOOLSTILE_SEEDS", Path(__file__).parents[2] / "shared"))
SEEDS = SPECIFIED / "seeds"
DESIGN = SPECIFIED / "design"
AWAY = "the specifications are not here (TOOLSTILE_SEEDS names their folder)"

# What the seeds number, or can be counted in. Read again from their text where it is at hand.
NUMBERED: Mapping[str, int] = {
    "FR-": 74,
    "NFR-": 24,
    "AC-": 85,
    "US-": 8,
    "LEX-5.2.": 10,
    "LEX-8.": 8,
    "LEX-9.": 8,
    "LEX-10.": 10,
    "LEX-11.": 4,
    "LEX-12.": 5,
}
# The rows of the list of overlooked details that the ground floor carries, whole or in part.
OVERLOOKED = (
    "4 5 8 9 10 11 12 13 14 15 16 21 22 23 28 30 31 32 33 34 37 38 44 45 46 49 50 56 78 80 81 82 "
    "83 84 85 86 87 90 91 92 93 94"
).split()


def wanted() -> Iterator[str]:
    """The ids that must have a row."""
    for prefix, last in NUMBERED.items():
        width = 3 if prefix in ("FR-", "NFR-", "AC-") else 1
        yield from (f"{prefix}{number:0{width}}" for number in range(1, last + 1))
    yield from (f"SR-{number}" for number in OVERLOOKED)


def functions(path: Path) -> set[str]:
    """The tests that a file defines, read and not imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.name for node in tree.body if isinstance(node, kinds) and node.name.startswith("test")
    }


def lost(every: Iterable[Row], root: Path) -> list[str]:
    """Tests that rows name and nobody wrote."""
    named = {test for row in every for test in row.tests}
    found = []
    for test in sorted(named):
        file, _, function = test.partition("::")
        if not (root / file).is_file() or function not in functions(root / file):
            found.append(test)
    return found


def orphans(every: Iterable[Row], root: Path, extra: Mapping[str, str]) -> list[str]:
    """Test files that show nothing anybody asked for, and say no reason of their own."""
    named = {test.partition("::")[0] for row in every for test in row.tests}
    there = {path.relative_to(root).as_posix() for path in root.rglob("test_*.py")}
    return sorted(there - named - extra.keys())


def empty(every: Iterable[Row]) -> list[str]:
    """Rows with neither a test nor a gap."""
    return [row.id for row in every if not row.tests and not row.gap]


def doubled(every: Iterable[Row]) -> list[str]:
    """Ids that stand twice."""
    ids = [row.id for row in every]
    return sorted({id_ for id_ in ids if ids.count(id_) > 1})


# --- the tables -----------------------------------------------------------------------------------


def test_every_requirement_has_a_row() -> None:
    """No number of the seeds is left out."""
    assert not set(wanted()) - {row.id for row in rows()}


def test_every_test_that_is_named_exists() -> None:
    """A row cannot rest on a test that was renamed or never written."""
    assert not lost(rows(), TESTS)


def test_every_row_has_a_proof_or_says_what_is_missing() -> None:
    """A requirement is shown, or its gap is written down."""
    assert not empty(rows())


def test_every_test_file_has_a_reason() -> None:
    """A test file shows a requirement, or stands in EXTRA with what it is there for."""
    assert not orphans(rows(), TESTS, EXTRA)
    assert not [file for file in EXTRA if not (TESTS / file).is_file()]
    assert all(EXTRA.values())


def test_ids_stand_once() -> None:
    """One requirement has one row."""
    assert not doubled(rows())


# --- the numbers, where the seeds are at hand -----------------------------------------------------


def seed(number: str) -> str:
    """The text of a seed; the test is skipped where there is none."""
    found = sorted(SEEDS.glob(f"{number}_*.txt"))
    if not found:
        pytest.skip(AWAY)
    return found[0].read_text(encoding="utf-8")


def section(text: str, number: str) -> str:
    """A numbered section of LEX-DEF, without its heading."""
    return text.partition(f"\n## {number}. ")[2].partition("\n## ")[0]


def test_the_numbers_are_those_of_acode() -> None:
    """ACODE's own ids and scenarios are the ones counted here."""
    text = seed("004")
    ids = set(re.findall(r"\b(?:NFR|FR|AC)-\d+\b", text))
    ids |= {f"US-{number}" for number in re.findall(r"^### Scenario (\d+)", text, re.MULTILINE)}
    ours = tuple(prefix for prefix in NUMBERED if not prefix.startswith("LEX"))
    assert ids == {id_ for id_ in wanted() if id_.startswith(ours)}


def test_the_numbers_are_those_of_lex() -> None:
    """Rules, log lines, metrics, concerns, criteria, events and unit tests of LEX-DEF."""
    text = seed("000")
    rules = section(text, "5").partition("### 5.2")[2]
    logs, security = section(text, "8"), section(text, "9")
    concerns = security.partition("**Built-In")[0]
    cells = len(re.findall(r"^\| [A-Z]\w+ .*\|$", concerns, re.MULTILINE)) - 1
    counts = {
        "LEX-5.2.": len(re.findall(r"^- ", rules, re.MULTILINE)),
        "LEX-8.": logs.count("_logger.Log") + len(re.findall(r"^\| `tools\.", logs, re.MULTILINE)),
        "LEX-9.": cells + len(re.findall(r"^- ", security, re.MULTILINE)),
        "LEX-10.": len(re.findall(r"^\d+\. ", section(text, "10"), re.MULTILINE)),
        "LEX-11.": section(text, "11").count("public record "),
        "LEX-12.": section(text, "12").count("public void "),
    }
    assert counts == {key: value for key, value in NUMBERED.items() if key.startswith("LEX")}


def test_the_overlooked_rows_are_those_of_the_design() -> None:
    """Every row of the list that names this work has its place here."""
    path = DESIGN / "seed-rows.md"
    if not path.is_file():
        pytest.skip(AWAY)
    cells = [line.strip("| ").split(" | ") for line in path.read_text("utf-8").splitlines()]
    table = [each for each in cells if len(each) == 6 and each[0].isdigit()]
    assert [each[0] for each in table if "01" in re.findall(r"\b\d\d\b", each[4])] == OVERLOOKED


# --- the checks themselves ------------------------------------------------------------------------

TABLE = """# A seed

Prose stands before the first entry.

## A section

- **FR-1, AC-1** It does something
  that takes two lines.
  - test_a.py::test_one
  - gap: work 02: the rest
    comes later

- **FR-2** It is not there.
  - gap: work 09
"""


def test_a_table_is_read_as_it_looks() -> None:
    """An entry with two ids is two rows; sentences and gaps go on over lines."""
    first, second, third = read(TABLE)
    behaviour = "It does something that takes two lines."
    gap = "work 02: the rest comes later"
    assert first == Row("FR-1", "A section", behaviour, ("test_a.py::test_one",), gap)
    assert second == first._replace(id="AC-1")
    assert third == Row("FR-2", "A section", "It is not there.", (), "work 09")


@pytest.mark.parametrize("line", ["  - test_a.py", "  - Gap: x", "words", "- FR-3 It", "    more"])
def test_a_line_that_means_nothing_is_an_error(line: str) -> None:
    """A slip in a table does not silently drop a proof."""
    table = "- **FR-1** It.\n  - test_a.py::test_one\n"
    assert len(list(read(table))) == 1
    with pytest.raises(Malformed, match="line 3"):
        list(read(f"{table}{line}\n"))


def test_what_is_wrong_with_a_table_is_found(tmp_path: Path) -> None:
    """A lost test, an orphan, an empty row and a doubled id are each reported, and only they."""
    (tmp_path / "test_a.py").write_text("async def test_one(): ...\n", encoding="utf-8")
    (tmp_path / "test_b.py").write_text("def test_two(): ...\n", encoding="utf-8")
    good = Row("FR-1", "", "", ("test_a.py::test_one",), None)
    rest = Row("FR-2", "", "", ("test_b.py::test_two",), "gap")
    assert lost([good, rest], tmp_path) == orphans([good, rest], tmp_path, {}) == []
    assert empty([good, rest]) == doubled([good, rest]) == []
    wrong = good._replace(tests=("test_a.py::test_two", "test_c.py::test_one"))
    assert lost([wrong, rest], tmp_path) == list(wrong.tests)
    assert orphans([good], tmp_path, {}) == ["test_b.py"]
    assert orphans([good], tmp_path, {"test_b.py": "a reason"}) == []
    assert empty([good._replace(tests=())]) == ["FR-1"]
    assert doubled([good, rest, good]) == ["FR-1"]


def test_every_break_still_breaks_something() -> None:
    """The text that a break takes out stands once in the file it names, for a row that exists."""
    assert BREAKS
    assert stale() == []
