"""What a verdict is: each outcome appears exactly where something does what its name says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest

from toolstile.conformance import (
    AdapterTarget,
    Case,
    Refused,
    Scorecard,
    SuiteTool,
    Unsupported,
    load_suite,
    run,
)
from toolstile.conformance.adapters import TargetError, from_check, named
from toolstile.conformance.attempt import MAX_DETAIL, Attempt, Fate, Outcome, judged, same
from toolstile.conformance.badge import badge

SUITE = load_suite()
Body = Callable[[dict[str, Any]], Any]


def score(adapter: Callable[[SuiteTool, Body], Any], *ids: str) -> Scorecard:
    """An adapter's card."""
    return asyncio.run(run(AdapterTarget(adapter, "tried"), SUITE.only(ids=ids)))


def outcomes(adapter: Callable[[SuiteTool, Body], Any], *ids: str) -> dict[str, Outcome]:
    """An adapter's outcomes by case."""
    return {result.case.id: result.outcome for result in score(adapter, *ids).results}


def lax(tool: SuiteTool, body: Body) -> Callable[[str], Any]:
    """Reads, and runs."""
    return lambda text: body(json.loads(text))


def closed(tool: SuiteTool, body: Body) -> Callable[[str], Any]:
    """Refuses everything."""

    def call(text: str) -> Any:
        raise Refused("no")

    return call


def rounding(tool: SuiteTool, body: Body) -> Callable[[str], Any]:
    """Reads each integer as a double."""
    return lambda text: body(json.loads(text, parse_int=lambda digits: int(float(digits))))


def late(tool: SuiteTool, body: Body) -> Callable[[str], Any]:
    """Refuses after the tool has run."""

    def call(text: str) -> Any:
        body(json.loads(text))
        raise Refused("after the event")

    return call


def poor(tool: SuiteTool, body: Body) -> Callable[[str], Any]:
    """Knows one tool, and of that no duplicate."""
    if tool.name != "pay_bill":
        raise Unsupported("only bills")

    async def call(text: str) -> Any:
        if text.count('"amount"') > 1:
            raise Unsupported("never seen")
        return body(json.loads(text))

    return call


def test_reading_alone_lets_nearly_everything_through() -> None:
    """`json.loads` stops what it cannot read; what it reads runs, and nothing else goes wrong."""
    card = score(lax)
    found = {result.outcome for result in card.results}
    # Bytes that are no text cannot be put where text is taken.
    assert found == {Outcome.RIGHT, Outcome.LET_THROUGH, Outcome.NOT_APPLICABLE}
    assert all(result.outcome is Outcome.RIGHT for result in card.results if result.case.accept)
    assert card.right < card.of / 2
    idle = [r.case.id for r in card.results if r.outcome is Outcome.NOT_APPLICABLE]
    assert set(idle) < {case.id for case in SUITE if case.raw}
    assert card.of == sum(not case.format for case in SUITE) - len(idle)


def test_refusing_everything_is_no_way_to_a_good_score() -> None:
    """What is refused rightly counts; each well-formed call that is turned away is wrong."""
    card = score(closed)
    expected = {True: Outcome.TURNED_AWAY, False: Outcome.RIGHT}
    put = [each for each in card.results if each.outcome is not Outcome.NOT_APPLICABLE]
    assert all(result.outcome is expected[result.case.accept] for result in put)
    assert 0 < card.right < card.of


def test_a_rounded_integer_is_an_altered_one() -> None:
    """The tool ran, with another number than was sent; where nothing is rounded it ran rightly."""
    assert outcomes(rounding, "two-to-53-plus-one", "two-to-53", "byte-255-with-point") == {
        "two-to-53-plus-one": Outcome.ALTERED,
        "two-to-53": Outcome.RIGHT,
        "byte-255-with-point": Outcome.RIGHT,
    }


def test_a_refusal_after_the_run_comes_too_late() -> None:
    """A tool that has run has run, whatever is said of it afterwards."""
    assert outcomes(late, "duplicate-name") == {"duplicate-name": Outcome.LET_THROUGH}


def test_what_a_framework_cannot_express_is_no_failure() -> None:
    """Said of a tool or of a call, it is not applicable and not counted."""
    card = score(poor, "duplicate-name", "string-for-integer", "no-white-space")
    found = {result.case.id: result.outcome for result in card.results}
    assert found == {
        "duplicate-name": Outcome.NOT_APPLICABLE,
        "string-for-integer": Outcome.NOT_APPLICABLE,
        "no-white-space": Outcome.RIGHT,
    }
    assert (card.right, card.of, card.wrong) == (1, 1, ())


def test_what_exists_only_as_text_is_not_put_where_values_are_taken() -> None:
    """An adapter marked `parsed_only` is spared raw arguments; other cases are put to it."""

    def given_values(tool: SuiteTool, body: Body) -> Callable[[str], Any]:
        return lax(tool, body)

    given_values.parsed_only = True  # type: ignore[attr-defined]
    ids = ("duplicate-name", "string-for-integer", "output-nan")
    found = outcomes(given_values, *ids)
    assert found["duplicate-name"] is Outcome.NOT_APPLICABLE
    assert found["string-for-integer"] is found["output-nan"] is Outcome.LET_THROUGH
    assert outcomes(lax, *ids)["duplicate-name"] is Outcome.LET_THROUGH


def test_a_function_that_checks_is_an_adapter() -> None:
    """It is given schema and text; what it raises is a refusal, what is no object is one too, and
    outputs are not asked of it."""

    def check(schema: dict[str, Any], text: str) -> Any:
        assert schema["type"] == "object"
        return json.loads(text)

    assert outcomes(from_check(check), "plain-transfer", "nan", "array-root", "output-exact") == {
        "array-root": Outcome.RIGHT,
        "nan": Outcome.LET_THROUGH,
        "plain-transfer": Outcome.RIGHT,
        "output-exact": Outcome.NOT_APPLICABLE,
    }


def test_formats_are_a_line_of_their_own() -> None:
    """They stand beside the score: refusing everything costs nothing more for them."""
    card = score(closed, "format-leap-day", "format-no-leap-day", "plain-transfer")
    assert [(line.group, line.right, line.of) for line in card.lines] == [
        ("coercion", 0, 1),
        ("formats", 1, 2),
    ]
    assert (card.right, card.of) == (0, 1)
    assert [result.case.id for result in card.wrong] == ["plain-transfer", "format-leap-day"]


# --- the verdict ----------------------------------------------------------------------------------

CASE = Case(
    id="a", group="g", tool="t", text=b"", accept=True, received=({"n": 1},), why="w", harm="h"
)
REFUSE = msgspec.structs.replace(CASE, accept=False, received=())
RAN = Attempt(fate=Fate.RAN, got=({"n": 1.0},))
VERDICTS = [
    (CASE, RAN, Outcome.RIGHT),
    (CASE, Attempt(fate=Fate.RAN, got=({"n": 2},)), Outcome.ALTERED),
    (CASE, Attempt(fate=Fate.RAN), Outcome.ALTERED),
    (CASE, Attempt(fate=Fate.REFUSED), Outcome.TURNED_AWAY),
    (REFUSE, Attempt(fate=Fate.REFUSED), Outcome.RIGHT),
    (REFUSE, RAN, Outcome.LET_THROUGH),
    (CASE, Attempt(fate=Fate.CRASHED), Outcome.CRASHED),
    (REFUSE, Attempt(fate=Fate.CRASHED), Outcome.CRASHED),
    (REFUSE, Attempt(fate=Fate.UNSUPPORTED), Outcome.NOT_APPLICABLE),
]


@pytest.mark.parametrize(("case", "attempt", "outcome"), VERDICTS)
def test_a_verdict_follows_from_case_and_attempt(
    case: Case, attempt: Attempt, outcome: Outcome
) -> None:
    """Every pair of what was expected and what happened has one verdict."""
    assert judged(case, attempt).outcome is outcome


def test_a_foreign_message_is_kept_in_part() -> None:
    """As much as shows which check spoke."""
    assert len(judged(CASE, Attempt(fate=Fate.REFUSED, detail="x" * 9_999)).detail) == MAX_DETAIL


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (10, 10.0, True),
        (2**53 + 1, float(2**53), False),
        (0, -0.0, True),
        (True, 1, False),
        (False, 0, False),
        (True, True, True),
        (None, None, True),
        (None, 0, False),
        ("1", 1, False),
        ("é", "e\u0301", False),
        ([1, 2], (1, 2), True),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({"a": 1, "b": [True]}, {"b": [True], "a": 1.0}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({}, [], False),
    ],
)
def test_values_are_the_same_as_json_schema_has_it(one: Any, other: Any, *, expected: bool) -> None:
    """Numbers by value, whatever their type in Python; true is none; order counts in arrays."""
    assert same(one, other) is same(other, one) is expected


# --- the badge ------------------------------------------------------------------------------------


@pytest.mark.parametrize("subject", ["malformed calls", "<a href='x'>&\"</a>"])
def test_a_badge_is_well_formed_whatever_it_is_about(subject: str) -> None:
    """The picture can be read as XML, and says its subject and the score."""
    root = ET.fromstring(badge(3, 4, subject))
    said = [element.text for element in root.iter() if element.text and element.text.strip()]
    assert said == [f"{subject}: 3 of 4", subject, "3 of 4"]
    assert root.get("aria-label") == f"{subject}: 3 of 4"


@pytest.mark.parametrize(("right", "of"), [(10, 10), (9, 10), (8, 10), (0, 0)])
def test_a_badge_that_is_not_full_has_another_colour(right: int, of: int) -> None:
    """Only a full score of at least one case is green."""
    assert ("#2c7a3f" in badge(right, of)) is (right == of > 0)


# --- what is named --------------------------------------------------------------------------------


def test_a_function_is_found_in_a_file_and_in_a_module(tmp_path: Any) -> None:
    """A file may have the name of a module of Python's: it takes nothing's place."""
    file = tmp_path / "json.py"
    file.write_text(
        "class Made:\n    @staticmethod\n    def adapter(tool, body): ...\n", encoding="utf-8"
    )
    assert named(f"{file}:Made.adapter").__name__ == "adapter"
    assert named("json:loads") is json.loads


@pytest.mark.parametrize(
    "where", ["json", "json:", ":loads", "json:nothing", "json:__name__", "no_such:x", "none.py:x"]
)
def test_what_cannot_be_found_is_told(where: str) -> None:
    """A mistake in naming is one message, whatever the mistake."""
    with pytest.raises(TargetError):
        named(where)
