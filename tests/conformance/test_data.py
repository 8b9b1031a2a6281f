"""The cases as data: each says one thing, and others than its authors agree on what it says."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from properties.reference import compile_judge
from toolstile import define
from toolstile.conformance import Case, SuiteTool, load_suite
from toolstile.conformance.attempt import same
from toolstile.conformance.suite import OUTPUT

SUITE = load_suite()
CASES = list(SUITE)
# Of the JSON kind alone: what is refused for its text, not for its value.
REFUSED_AS_TEXT = 60


class NotStrict(ValueError):
    """A reader that is strict says no."""


def document_of(case: Case) -> bytes:
    """The text that the case is about: the arguments, or the output that is asked for."""
    output: str = json.loads(case.text)[OUTPUT] if case.about_output else ""
    return output.encode() if case.about_output else case.text


def schema_of(case: Case) -> dict[str, Any]:
    """The published schema that decides."""
    tool = SUITE.tools[case.tool]
    schema: Any = tool.returns if case.about_output else tool.parameters
    return dict(schema)


def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, unless a name stands twice."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise NotStrict("a name stands twice")
    return dict(pairs)


def refuse_word(word: str) -> Any:
    """NaN and its like."""
    raise NotStrict(word)


def strictly(document: bytes) -> Any:
    """Read as RFC 8259 and RFC 7493 have it, in Python's own words and none of the product's."""
    text = document.decode()
    try:
        value = json.loads(
            text, object_pairs_hook=members, parse_constant=refuse_word, parse_float=Decimal
        )
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except RecursionError as error:
        raise NotStrict("too deep") from error
    return value


def is_accepted(case: Case) -> bool:
    """What a strict reader and the judge of another house say."""
    document = document_of(case)
    try:
        strictly(document)
    except ValueError:
        return False
    return compile_judge(schema_of(case))(document).valid


@pytest.mark.required
def test_there_are_enough_cases_and_each_has_its_own_name() -> None:
    """Two hundred at the least; no id twice, no group empty."""
    assert len(CASES) >= 200
    assert len({case.id for case in CASES}) == len(CASES) == len(SUITE)
    assert all(group.cases and group.title and group.about for group in SUITE.groups)


@pytest.mark.required
def test_every_case_says_why_and_what_harm_it_does() -> None:
    """A case without a reason is an opinion."""
    assert [case.id for case in CASES if not (case.why.strip() and case.harm.strip())] == []


@pytest.mark.parametrize("tool", SUITE.tools.values(), ids=lambda tool: str(tool.name))
def test_every_tool_is_one_that_can_be_defined(tool: SuiteTool) -> None:
    """The gate takes each definition as it stands; one that it refused would measure nothing."""
    document = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    returned = {} if tool.returns is None else {"output_schema": tool.returns}
    assert define({**document, **returned}).name == tool.name


@pytest.mark.required
def test_every_tool_is_called_well_and_badly() -> None:
    """A tool that refuses everything, or nothing, is seen by each of its tools."""
    for name in SUITE.tools:
        own = {case.accept for case in CASES if case.tool == name}
        assert own == {True, False}, name


@pytest.mark.required
def test_a_case_has_values_to_be_received_exactly_if_it_is_accepted() -> None:
    """Nothing is received of what is refused."""
    assert [case.id for case in CASES if bool(case.received) is not case.accept] == []


@pytest.mark.required
@pytest.mark.parametrize("group", SUITE.groups, ids=lambda group: str(group.name))
def test_the_judge_agrees_with_every_expectation(group: Any) -> None:
    """A strict reader and an independent validator come to the same verdict, raw or not.
    Formats are left out: the standard leaves them open."""
    assert [c.id for c in group.cases if not c.format and is_accepted(c) is not c.accept] == []


@pytest.mark.required
def test_what_may_be_received_is_what_was_sent_or_has_a_default_beside_it() -> None:
    """The values to be received are listed by hand here and there: one of them is what was sent."""
    for case in CASES:
        if case.accept:
            sent = msgspec.json.decode(document_of(case))
            assert any(same(sent, value) for value in case.received), case.id


def test_the_judge_can_disagree() -> None:
    """The positive control: the other expectation is found wrong, of a text and of a value."""
    cases = {case.id: case for case in CASES}
    for name in ("duplicate-name", "string-for-integer", "plain-transfer", "output-nan"):
        case = cases[name]
        assert is_accepted(case) is case.accept
        assert is_accepted(case) is not msgspec.structs.replace(case, accept=not case.accept).accept


def test_raw_means_that_the_text_matters() -> None:
    """Most raw cases that are refused are refused by the reader alone."""
    refused = [case for case in CASES if case.raw and not case.accept]
    as_text = []
    for case in refused:
        try:
            strictly(document_of(case))
        except ValueError:
            as_text.append(case.id)
    assert len(as_text) >= REFUSED_AS_TEXT


def test_a_part_of_the_suite_is_a_suite() -> None:
    """Groups and cases can be chosen; what nobody chose is not there."""
    part = SUITE.only(groups=("numbers",))
    assert [group.name for group in part.groups] == ["numbers"]
    assert [case.id for case in SUITE.only(ids=("nan", "byte-255"))] == ["nan", "byte-255"]
    assert len(SUITE.only()) == len(SUITE)
