"""The two changes made to arguments: defaults, and 5.0 that becomes 5 where an integer stands."""

from __future__ import annotations

from typing import Any

import pytest

from toolstile.model.json import freeze
from toolstile.schema import compile_arguments
from toolstile.schema.compiled import CompiledSchema

INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
TEXT = {"type": "string"}


def members(**properties: Any) -> dict[str, Any]:
    """An object with these properties."""
    return {"type": "object", "properties": properties}


def written(schema: dict[str, Any], sent: Any) -> str:
    """How an argument is written once it was checked."""
    whole = {**members(v=schema), "$defs": {"either": {"anyOf": [INTEGER, TEXT]}}}
    checked = CompiledSchema(freeze(whole)).check({"v": sent})
    return repr(checked.unwrap()["v"])


ALONE: list[tuple[dict[str, Any], str]] = [
    (INTEGER, "5"),
    (NUMBER, "5.0"),
    ({"type": ["integer", "number"]}, "5.0"),
    ({"anyOf": [INTEGER, TEXT]}, "5"),
    ({"anyOf": [NUMBER, INTEGER]}, "5.0"),
    ({"oneOf": [{**INTEGER, "maximum": 3}, {**INTEGER, "minimum": 5}]}, "5"),
    ({"allOf": [INTEGER, {**INTEGER, "maximum": 9}]}, "5"),
    ({"if": NUMBER, "then": INTEGER}, "5"),
    ({"if": TEXT, "then": {}, "else": INTEGER}, "5"),
    ({"$ref": "#/$defs/either"}, "5"),
]


@pytest.mark.parametrize(("schema", "becomes"), ALONE)
def test_an_integer_is_written_as_one(schema: dict[str, Any], becomes: str) -> None:
    """5.0 becomes 5 where the schema says integer, also through branches and references; where it
    says number it stays."""
    assert written(schema, 5.0) == becomes
    assert written(schema, 5) == "5"


WITHIN: list[tuple[dict[str, Any], Any, str]] = [
    (
        {"patternProperties": {"^a": INTEGER, "^b": NUMBER}, "additionalProperties": INTEGER},
        {"a": 5.0, "b": 5.0, "c": 5.0},
        "{'a': 5, 'b': 5.0, 'c': 5}",
    ),
    (
        {"dependentSchemas": {"a": members(b=INTEGER)}},
        {"a": 5.0, "b": 5.0},
        "{'a': 5.0, 'b': 5}",
    ),
    ({"dependentSchemas": {"a": members(b=INTEGER)}}, {"b": 5.0}, "{'b': 5.0}"),
    (
        {"allOf": [members(a=NUMBER)], "unevaluatedProperties": INTEGER},
        {"a": 5.0, "b": 5.0},
        "{'a': 5.0, 'b': 5}",
    ),
    ({"prefixItems": [NUMBER], "unevaluatedItems": INTEGER}, [5.0, 5.0], "[5.0, 5]"),
]


@pytest.mark.parametrize(("schema", "sent", "becomes"), WITHIN)
def test_a_member_is_written_as_what_describes_it(
    schema: dict[str, Any], sent: Any, becomes: str
) -> None:
    """By the pattern that its name fits, by what another name brings in, by what is left."""
    assert written(schema, sent) == becomes


def test_integers_stay_where_defaults_are_taken_back() -> None:
    """A default that would make the whole invalid is not filled in; 5.0 becomes 5 all the same."""
    properties = members(a=INTEGER, b={"type": "string", "default": "x"})
    assert written({**properties, "maxProperties": 1}, {"a": 5.0}) == "{'a': 5}"
    assert written({**properties, "maxProperties": 2}, {"a": 5.0}) == "{'a': 5, 'b': 'x'}"


def test_a_default_stands_under_a_pattern_too() -> None:
    """The members of a map get the defaults of what describes them."""
    below = {"type": "object", "properties": {"x": {"type": "integer", "default": 3}}}
    assert written({"patternProperties": {"^a": below}}, {"a": {}, "b": {}}) == (
        "{'a': {'x': 3}, 'b': {}}"
    )


def test_an_integer_of_an_alternative_has_the_same_bounds() -> None:
    """What is no integer that 64 bits hold is refused there as anywhere."""
    check = compile_arguments(members(v={"anyOf": [INTEGER, TEXT]})).check
    (issue,) = check({"v": 1e300}).issues
    assert (issue.path, issue.code) == ("/v", "number_range")
