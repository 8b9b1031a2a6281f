"""The hostile recipes of the corpora, expanded: each is refused or kept exactly, and bounded.

No clock is read here: what is not bounded takes minutes, and the run ends a test that hangs.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from corpora import corpus, records
from toolstile.schema import check_schema, compile_arguments
from toolstile.schema.compiled import Checked
from toolstile.schema.parse import DEFAULT_LIMITS, ParseFault, parse

pytestmark = pytest.mark.required


def recipe(name: str) -> dict[str, Any]:
    """The recipe of this name."""
    found = {row["id"]: row for row in records(corpus("hostile", "resource-recipes.jsonl"))}
    assert len(found) == 7, "a new recipe wants a test of its own"
    return found[name]


def as_argument(schema: dict[str, Any]) -> dict[str, Any]:
    """Parameters of which `v` is what the recipe describes."""
    return {"type": "object", "properties": {"v": schema}}


def checked(schema: dict[str, Any], value: Any) -> Checked:
    """What a call with this `v` is told."""
    parameters = as_argument(schema)
    assert check_schema(parameters) == ()
    return compile_arguments(parameters).check(json.dumps({"v": value}))


def refusal(text: str) -> str:
    """The code with which a text is refused."""
    with pytest.raises(ParseFault) as refused:
        parse(text)
    return refused.value.issue.code


def test_huge_integers_are_refused() -> None:
    """However many digits: never rounded, never converted in quadratic time."""
    for digits in recipe("huge-int-N")["N"]:
        assert refusal("1" * digits) == "number_range"
    assert parse("1" * 18) == int("1" * 18)


def test_long_strings_are_measured_before_they_are_parsed() -> None:
    """Within the limit they are read, beyond it nothing is."""
    within, beyond = recipe("long-string-N")["N"]
    assert within < DEFAULT_LIMITS.bytes < beyond
    assert parse('"' + "x" * within + '"') == "x" * within
    assert refusal("x" * beyond) == "too_large"


def test_keys_chosen_to_collide_cost_nothing() -> None:
    """Keys that are integers modulo the hash's prime, as text; text has keyed hashes."""
    assert recipe("hash-collision-ints")
    keys = {str(i * (2**61 - 1)): i for i in range(200_000)}
    assert parse(json.dumps(keys)) == keys


def test_a_schema_reads_no_file() -> None:
    """A reference to a file is refused when the definition is."""
    (issue,) = check_schema(as_argument(recipe("ref-remote-file")["schema"]))
    assert (issue.path, issue.error_code) == ("/properties/v/$ref", "ACODE-TSR-006")


def test_recursion_is_as_deep_as_a_document_may_be() -> None:
    """A schema of itself takes what the parser takes, and no deeper."""
    row = recipe("ref-self-deep")
    assert check_schema(row["schema"]) == ()
    arguments = compile_arguments(row["schema"])
    assert arguments.check('{"c":' * 63 + "{}" + "}" * 63).ok
    for depth in row["N"]:
        (issue,) = arguments.check('{"c":' * depth + "{}" + "}" * depth).issues
        assert issue.code == "too_deep"


def test_many_different_items_are_compared_quickly() -> None:
    """`uniqueItems` over 50,000 objects; one that is there twice is found."""
    row = recipe("unique-items-N")
    item = {"type": "object", "properties": {"a": {"type": "integer"}}}
    schema = {**row["schema"], "items": item}
    for count in row["N"]:
        items = [{"a": number} for number in range(count)]
        assert checked(schema, items).ok
        (issue,) = checked(schema, [*items, {"a": count - 1}]).issues
        assert (issue.path, issue.code) == ("/v", "uniqueItems")


def test_a_tiny_step_divides_a_huge_number() -> None:
    """`multipleOf` is decimal: nothing overflows, and the answer is exact. A step that no tool has,
    and that takes long to divide by, is refused where it is written."""
    row = recipe("multiple-of-float")
    (refused,) = check_schema(as_argument({"type": "number", **row["schema"]}))
    assert (refused.path, refused.code) == ("/properties/v/multipleOf", "multipleOf")
    schema = {"type": "number", "multipleOf": 1e-30}
    assert checked(schema, row["instance"]).ok
    (issue,) = checked(schema, 1e-31).issues
    assert (issue.path, issue.code) == ("/v", "multipleOf")
