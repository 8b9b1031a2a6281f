"""Where issues stand and in which order, and that they are found however much is wrong."""

from __future__ import annotations

import inspect
import json
import sys
from typing import Any

import pytest

from toolstile.model.issue import Issue
from toolstile.schema import compile_arguments, failing
from toolstile.schema.explain import MAX_COUNTED, MAX_ISSUES, MAX_LEVELS, explain
from toolstile.schema.failing import MAX_CAUSES
from toolstile.schema.judging import Judge


def told(parameters: dict[str, Any], sent: Any) -> list[tuple[str, str]]:
    """Path and code of every issue, the outermost only."""
    return [(issue.path, issue.code) for issue in compile_arguments(parameters).check(sent).issues]


def members(**properties: Any) -> dict[str, Any]:
    """An object with these properties."""
    return {"type": "object", "properties": properties}


TEXT = {"type": "string"}
CLOSED: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    ({"type": "object"}, ""),
    (members(), ""),
    (members(o={"type": "object", "additionalProperties": False}), "/o"),
    (members(o={"$ref": "#/$defs/o"}) | {"$defs": {"o": members()}}, "/o"),
]


@pytest.mark.parametrize(("parameters", "at"), CLOSED)
def test_an_unknown_member_is_told_at_its_place(parameters: dict[str, Any], at: str) -> None:
    """Each by itself, also where the object declares nothing at all."""
    sent: Any = {"x": 1, "y": 2}
    found = told(parameters, {"o": sent} if at else sent)
    assert [path for path, _ in found] == [f"{at}/x", f"{at}/y"]
    assert {code for _, code in found} <= {"additionalProperties", "unevaluatedProperties"}


def test_a_name_may_be_empty() -> None:
    """A member whose name is "" is a step of the pointer like any other."""
    parameters = members(a=members(**{"": members(b={"type": "integer"})}))
    assert told(parameters, {"a": {"": {"b": "x"}}}) == [("/a//b", "type")]


def test_items_come_in_the_order_of_their_numbers() -> None:
    """The third item is told before the eleventh."""
    parameters = members(a={"type": "array", "items": TEXT})
    assert [path for path, _ in told(parameters, {"a": [1] * 12})] == [f"/a/{n}" for n in range(12)]


MANY = 3_000
ALTERNATIVES = [{**members(**{f"p{n}": TEXT}), "required": [f"p{n}"]} for n in range(200)]
NAMES = {"type": "object", "additionalProperties": True}
CONDITIONS = [{"if": {"required": [f"a{n}"]}, "then": {"required": ["b"]}} for n in range(300)]
REQUIRED = {
    **members(**{f"p{n}": TEXT for n in range(900)}),
    "required": [f"p{n}" for n in range(900)],
}
LARGE: dict[str, tuple[dict[str, Any], Any, tuple[str, str]]] = {
    "missing": ({"type": "array", "items": REQUIRED}, [{}] * 100, ("/v/0/p0", "required")),
    "missing beside much": (
        {**NAMES, "required": ["b", "c"], "properties": {"b": TEXT, "c": TEXT}},
        {"a": ["x" * 1_000] * 900},
        ("/v/b", "required"),
    ),
    "depending": (
        {**NAMES, "dependentRequired": {"a": ["b"]}, "properties": {"b": TEXT}},
        {"a": [1] * MANY},
        ("/v/b", "dependentRequired"),
    ),
    "unknown": (
        members(b=TEXT),
        {f"a{n}": 1 for n in range(MANY)},
        ("/v/a0", "additionalProperties"),
    ),
    "names": (
        {**NAMES, "propertyNames": {"anyOf": [{"pattern": f"^a{n}"} for n in range(90)]}},
        {f"q{n}": 1 for n in range(70_000)},
        ("/v/q0", "propertyNames"),
    ),
    "alternatives": (
        {"type": "array", "items": {"anyOf": ALTERNATIVES}},
        [{"z": 1}] * MANY,
        ("/v/0", "anyOf"),
    ),
    "one of": (
        {"type": "array", "items": {"oneOf": ALTERNATIVES}},
        [{"z": 1}] * MANY,
        ("/v/0", "oneOf"),
    ),
    "alternatives of much": (
        {
            "anyOf": [
                {**members(a={"type": "array", "items": {"type": "integer"}}), "required": ["a"]}
            ]
            * 20
        },
        {"a": [1] * 50_000 + ["x"]},
        ("/v", "anyOf"),
    ),
    "conditions": (
        {"type": "array", "items": {**NAMES, "properties": {"b": TEXT}, "allOf": CONDITIONS}},
        [{"a1": 1}] * MANY,
        ("/v/0/b", "required"),
    ),
    "the last": ({"type": "array", "items": TEXT}, [*["x"] * MANY, 1], (f"/v/{MANY}", "type")),
    "contained": (
        {"type": "array", "items": TEXT, "contains": {"const": "b"}},
        ["x"] * MANY,
        ("/v", "contains"),
    ),
}


@pytest.mark.parametrize("case", LARGE)
def test_what_is_wrong_with_much_is_told_as_with_little(case: str) -> None:
    """The path of the property that is missing or too many, and the keyword that failed. (The
    engine's own lists of errors take up to ten gigabytes here: the run would end.)"""
    schema, value, first = LARGE[case]
    checked = compile_arguments(members(v=schema)).check(json.dumps({"v": value}))
    assert (checked.issues[0].path, checked.issues[0].code) == first
    assert checked.issues[0].hint


def test_no_more_than_a_thousand_are_counted() -> None:
    """`errors_total` is exact up to there."""
    check = compile_arguments(members(v={"type": "array", "items": TEXT})).check
    for count, total in ((MAX_ISSUES + 1, MAX_ISSUES + 1), (MAX_COUNTED + 1, MAX_COUNTED)):
        checked = check({"v": [1] * count})
        assert (len(checked.issues), checked.errors_total) == (MAX_ISSUES, total)


def test_what_cannot_be_searched_is_refused_all_the_same() -> None:
    """Where looking takes longer than there is time for, one issue says so."""
    branch = {**members(a={"type": "array", "items": {"type": "integer"}}), "required": ["a"]}
    check = compile_arguments({"anyOf": [branch] * 900}).check
    (issue,) = check({"a": [*range(100_000), "x"]}).issues
    assert (issue.path, issue.code) == ("", "too_large")
    assert check({"a": [1]}).ok


def test_a_branch_that_takes_any_name_is_not_what_is_wrong() -> None:
    """Where a property of an open branch is wrong, its other names are not told as unknown."""
    open_branch = {**members(a={"type": "integer"}), "additionalProperties": True}
    parameters = {"type": "object", "allOf": [open_branch]}
    assert told(parameters, {"a": "x", "b": 1}) == [("/a", "type")]


def test_items_of_a_branch_that_failed_are_not_too_many() -> None:
    """What the branch would have taken is no fault of its own; what nobody takes is."""
    pair = {"prefixItems": [{"type": "integer"}, TEXT]}
    for branches in ({"allOf": [pair]}, {"anyOf": [pair]}):
        parameters = members(v={"type": "array", **branches, "unevaluatedItems": False})
        assert "unevaluatedItems" not in {code for _, code in told(parameters, {"v": ["x", "y"]})}
        assert told(parameters, {"v": [1, "y", 2]}) == [("/v", "unevaluatedItems")]


def nested(alternatives: int) -> dict[str, Any]:
    """Lists of themselves, under so many unions, one within the other."""
    node: dict[str, Any] = {"type": "array", "items": {"$ref": "#/$defs/N"}}
    for _ in range(alternatives):
        node = {"anyOf": [{"type": "integer"}, node]}
    return {**members(v={"$ref": "#/$defs/N"}), "$defs": {"N": node}}


def levels(issues: tuple[Issue, ...]) -> int:
    """How many levels of causes stand below these issues."""
    return max((1 + levels(issue.causes) for issue in issues if issue.causes), default=0)


def together(issues: tuple[Issue, ...]) -> int:
    """How many issues these are with all their causes."""
    return sum(1 + together(issue.causes) for issue in issues)


@pytest.mark.parametrize("alternatives", [1, 3, 8])
@pytest.mark.parametrize("frames", [0, 400])
def test_alternatives_within_alternatives_are_told_to_a_depth(
    alternatives: int, frames: int
) -> None:
    """However deep they stand in each other, and whatever calls; at most three levels down."""
    check = compile_arguments(nested(alternatives)).check
    value: Any = "x"
    for _ in range(62):
        value = [value]

    def called(more: int) -> tuple[Issue, ...]:
        return called(more - 1) if more else check({"v": value}).issues

    issues = called(frames)
    assert [(issue.path, issue.code) for issue in issues] == [("/v", "anyOf")]
    assert 0 < levels(issues) <= MAX_LEVELS


def test_causes_are_bounded_all_together() -> None:
    """A tree with ten thousand wrong leaves is told in a few hundred issues."""
    value: Any = "x"
    for _ in range(4):
        value = [value] * 10
    checked = compile_arguments(nested(1)).check({"v": value})
    assert 32 < together(checked.issues) <= MAX_ISSUES + MAX_CAUSES


def test_where_the_stack_ends_the_refusal_stands() -> None:
    """A caller that left too few frames to search in gets one issue, and never an exception."""
    judge = compile_arguments(nested(1)).judge()
    value: Any = "x"
    for _ in range(60):
        value = [value]
    assert explain(judge, {"v": value}).issues[0].code == "anyOf"
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(len(inspect.stack(0)) + 60)
        (issue,) = explain(judge, {"v": value}).issues
    finally:
        sys.setrecursionlimit(limit)
    assert issue.code == "too_large"


def test_two_references_beside_each_other_both_bind() -> None:
    """`$ref` and `$dynamicRef` in one place are no alternatives: what either refuses is told."""
    parameters = {
        **members(a={"$ref": "#/$defs/A", "$dynamicRef": "#b"}),
        "$defs": {
            "A": {"type": "string", "maxLength": 2},
            "B": {"$dynamicAnchor": "b", "type": "string", "pattern": "^x"},
        },
    }
    assert told(parameters, {"a": 1}) == [("/a", "type")]
    assert told(parameters, {"a": "xyz"}) == [("/a", "maxLength")]
    assert told(parameters, {"a": "yyy"}) == [("/a", "maxLength"), ("/a", "pattern")]


HEAVY = {"anyOf": [*({"type": "integer", "multipleOf": n + 2} for n in range(400)), TEXT]}


def in_a_chain(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema at the end of many references."""
    for _ in range(25):
        schema = {"allOf": [schema]}
    return schema


def test_what_is_below_counts_as_work() -> None:
    """A question is as dear as the most that describes any one value in what is asked about."""
    lists = {"type": "array", "items": HEAVY}
    judge: Judge = compile_arguments(members(v=in_a_chain(lists), w=TEXT)).judge()
    known = judge.places.by_pointer
    assert judge.heaviest(known["/properties/v"]) == judge.heaviest(known[""]) == 402
    assert judge.heaviest(known["/properties/w"]) == 1
    both: Judge = compile_arguments(members(v={"anyOf": [lists, lists]})).judge()
    assert both.heaviest(both.places.by_pointer["/properties/v"]) == 804


def test_what_is_too_dear_to_ask_is_looked_into() -> None:
    """The first items are wrong: there is no need to ask 25 times about all of them."""
    parameters = members(v=in_a_chain({"type": "array", "items": HEAVY}))
    sent = {"v": [1] * 100_000}
    assert told(parameters, sent)[0] == ("/v/0", "anyOf")


def test_where_work_runs_out_an_echo_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are all wrong in a way that only echoes: the first is told, however many."""
    branch = {**members(a={"type": "integer"}, b={"type": "integer"}), "required": ["b"]}
    row = {**members(c=TEXT), "anyOf": [branch, {"minProperties": 1}]}
    parameters = members(v={"type": "array", "items": row})
    few = told(parameters, {"v": [{"a": 1}] * 3})
    assert few == [("/v/0/a", "unevaluatedProperties")]
    monkeypatch.setattr(failing, "WORK", 10_000)
    assert told(parameters, {"v": [{"a": 1}] * 1_000}) == few
