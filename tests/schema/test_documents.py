"""Documents made from a schema: each does what it was made for, and the same every time."""

from __future__ import annotations

from typing import Any

import pytest

from toolstile.schema import close
from toolstile.schema.compiled import compiled
from toolstile.schema.documents import fitting, missing

NODE = {"type": "object", "properties": {"below": {"$ref": "#/$defs/node"}}}
VALUES: list[dict[str, Any]] = [
    {"type": "integer", "minimum": 3, "maximum": 9, "multipleOf": 3},
    {"type": "number", "exclusiveMinimum": -1, "exclusiveMaximum": 1},
    {"type": "integer", "maximum": -5},
    {"type": "number", "minimum": 0, "maximum": 1e308, "multipleOf": 1e-5},
    {"type": ["string", "null"], "minLength": 2, "maxLength": 3},
    {"type": "string", "format": "date-time"},
    {"type": "string", "pattern": "^x+$", "examples": ["xx"]},
    {"enum": ["a", 1, None]},
    {"const": {"a": 1}},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 5},
    {"type": "array", "prefixItems": [{"type": "integer"}], "items": False, "minItems": 1},
    {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 6},
    {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "string"}}]},
    {"allOf": [{"type": "integer"}, {"minimum": 5}]},
    {"$ref": "#/$defs/node"},
]


def arguments(value: dict[str, Any]) -> Any:
    """A closed schema with one required and one optional member of this kind."""
    return close(
        {
            "type": "object",
            "properties": {"value": value, "more": value},
            "required": ["value"],
            "$defs": {"node": NODE},
        }
    )


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_documents_fit_or_miss(value: dict[str, Any]) -> None:
    """As many documents as asked for are made: one kind fits the schema, the other does not."""
    schema = arguments(value)
    check = compiled(schema)
    good, bad = list(fitting(schema, 50)), list(missing(schema, 50))
    assert (len(good), len(bad)) == (50, 50)
    assert all(check.is_valid(document) for document in good)
    assert not any(check.is_valid(document) for document in bad)
    assert any("more" not in document for document in good)


def test_the_same_every_time() -> None:
    """A seed gives its documents again; another seed gives others."""
    schema = arguments({"type": "integer"})
    assert list(fitting(schema, 20)) == list(fitting(schema, 20))
    assert list(missing(schema, 20)) == list(missing(schema, 20))
    assert list(fitting(schema, 20)) != list(fitting(schema, 20, seed=1))


@pytest.mark.parametrize(
    "value",
    [
        {"type": "string", "pattern": "^[0-9]{40}$"},
        {"type": "string", "minLength": 10**12},
        {"type": "number", "minimum": 1e308, "multipleOf": 1e-300, "maximum": 1e-300},
        {"type": "array", "items": {"type": "null"}, "minItems": 10**12},
        {"type": "object", "additionalProperties": {"type": "null"}, "minProperties": 10**12},
    ],
    ids=str,
)
def test_what_is_hard_to_hit_ends(value: dict[str, Any]) -> None:
    """Where no document can be found, none is given, in bounded time and space."""
    assert list(fitting(arguments(value), 2)) == []
