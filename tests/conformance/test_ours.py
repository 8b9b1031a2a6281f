"""The suite on this very gate: everything by checking alone, slices of it by every way in.

`./dev nox -s conformance` puts every case to every way.
"""

from __future__ import annotations

import asyncio

import pytest

from toolstile import define
from toolstile.conformance import Case, Scorecard, Suite, load_suite, run
from toolstile.conformance.attempt import Outcome, same
from toolstile.conformance.ours import COMMAND_LINE, WAYS, CommandTarget, our_targets
from toolstile.conformance.suite import Group
from toolstile.schema.compiled import arguments_of

SUITE = load_suite()
ARGUMENTS = [group for group in SUITE.groups if group.name != "outputs"]


def every(step: int, suite: Suite = SUITE) -> Suite:
    """Each so-manieth case, beginning in another place in each group."""
    ids = tuple(
        case.id
        for number, group in enumerate(suite.groups)
        for case in group.cases[number % step :: step]
    )
    return suite.only(ids=ids)


def score(way: str, part: Suite) -> Scorecard:
    """A part of the suite by one way in."""
    (target,) = our_targets((way,), part)
    return asyncio.run(run(target, part))


def is_right(case: Case) -> bool:
    """What checking alone says of a case about arguments."""
    tool = SUITE.tools[case.tool]
    document = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    checked = arguments_of(define(document)).check(case.text)
    if not (checked.ok and case.accept):
        return checked.ok is case.accept
    return any(same(checked.value, value) for value in case.received)


@pytest.mark.required
@pytest.mark.parametrize("group", ARGUMENTS, ids=lambda group: str(group.name))
def test_checking_alone_answers_every_case_about_arguments(group: Group) -> None:
    """Each of them, formats too: refused, or let in with the value that was sent."""
    assert [case.id for case in group.cases if not is_right(case)] == []


@pytest.mark.required
def test_a_function_returns_nothing_that_its_schema_refuses() -> None:
    """Every case about outputs goes down the whole line."""
    card = score("function", SUITE.only(groups=("outputs",)))
    assert [result.case.id for result in card.wrong] == []
    assert card.of == len(SUITE.only(groups=("outputs",)))


@pytest.mark.required
def test_a_function_is_run_with_what_was_sent() -> None:
    """A slice of all other groups, from the model's bytes to the output."""
    part = every(6, SUITE.only(groups=tuple(group.name for group in ARGUMENTS)))
    card = score("function", part)
    assert [result.case.id for result in card.wrong] == []
    assert len(card.results) == len(part) > 80


@pytest.mark.required
@pytest.mark.parametrize("way", [way for way in WAYS if way != "function"])
def test_every_other_way_in_answers_alike(way: str) -> None:
    """Classes, definitions in settings and adopted ones: another slice for each."""
    card = score(way, every(30))
    assert [result.case.id for result in card.wrong] == []
    assert {result.outcome for result in card.results} <= {Outcome.RIGHT, Outcome.NOT_APPLICABLE}
    assert card.right > 15


@pytest.mark.required
def test_the_command_line_answers_alike() -> None:
    """`toolstile call` reads the same bytes from its input."""
    card = score(COMMAND_LINE, every(80))
    assert [result.case.id for result in card.wrong] == []
    assert card.right == len(card.results) > 5


def test_a_class_says_itself_that_null_stands_for_nothing() -> None:
    """What its published schema takes otherwise than the suite's is not put to it."""
    part = SUITE.only(ids=("null-for-default", "default-sent-itself"))
    outcomes = {r.case.id: r.outcome for r in score("class", part).results}
    assert outcomes == {
        "null-for-default": Outcome.NOT_APPLICABLE,
        "default-sent-itself": Outcome.RIGHT,
    }


def test_a_project_is_thrown_away() -> None:
    """Nothing is left of the folder that the tools were written into."""
    target = CommandTarget(SUITE)
    asyncio.run(target.open())
    folder = target._folder
    assert (folder / ".agent" / "config.yml").is_file()
    asyncio.run(target.close())
    assert not folder.exists()
