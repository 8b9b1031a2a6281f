"""What schemas may say (ACODE FR-022 to FR-035): each type and constraint, enforced as meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolstile.model.json import thaw
from toolstile.schema import check_schema, compile_arguments
from toolstile.schema.compiled import CompiledSchema, compiled
from toolstile.schema.defining import inspect
from toolstile.schema.extensions import Extensions
from toolstile.schema.formats import FORMATS
from toolstile.schema.vocabularies import vocabulary_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def argument(schema: Mapping[str, Any], **also: Any) -> dict[str, Any]:
    """A schema of one argument `v`."""
    return {"type": "object", "properties": {"v": schema}, **also}


# One row per type or constraint: the schema of an argument, what fits it, what does not.
MEANINGS: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
    "object": (
        {"type": "object", "properties": {"a": {"type": "string"}}},
        [{}, {"a": ""}],
        [{"a": 1}, {"b": ""}, [], "{}", None],
    ),
    "array": ({"type": "array", "items": True}, [[], [1, "a", None]], [{}, "[]", None]),
    "string": ({"type": "string"}, ["", "é", "1"], [1, None, ["a"], True]),
    "number": ({"type": "number"}, [1, 1.5, -2e9], ["1", True, None]),
    "integer": ({"type": "integer"}, [0, -3, 5.0, 2**63 - 1], [1.5, "1", True, None]),
    "boolean": ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
    "null": ({"type": ["string", "null"]}, [None, ""], [0, False]),
    "enum": ({"type": "string", "enum": ["a", "b"]}, ["a", "b"], ["c", "A", "", 1]),
    "const": ({"const": 1}, [1, 1.0], [2, "1", True]),
    "pattern": ({"type": "string", "pattern": "^[a-z]+$"}, ["abc"], ["", "A", "a\n", "a1"]),
    "minimum": ({"type": "number", "minimum": 0}, [0, 0.1], [-0.1, -1]),
    "maximum": ({"type": "number", "maximum": 100}, [100, -5], [100.1, 101]),
    "exclusive": (
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        [0.5],
        [0, 1],
    ),
    "multipleOf": ({"type": "integer", "multipleOf": 3}, [0, 9], [1, 10]),
    "length": ({"type": "string", "minLength": 1, "maxLength": 3}, ["a", "𝒜𝒜𝒜"], ["", "abcd"]),
    "nested": (
        argument(argument({"type": "integer"}, required=["v"]), required=["v"]),
        [{"v": {"v": 1}}],
        [{}, {"v": {}}, {"v": {"v": "1"}}, {"v": {"v": 1, "w": 1}}],
    ),
    "items": ({"type": "array", "items": {"type": "string"}}, [[], ["a"]], [["a", 1], [None]]),
    "items_number": (
        {"type": "array", "items": True, "minItems": 1, "maxItems": 2, "uniqueItems": True},
        [[1], [1, 2]],
        [[], [1, 2, 3], [1, 1]],
    ),
    "prefixItems": (
        {"type": "array", "prefixItems": [{"type": "string"}], "items": False},
        [["a"], []],
        [[1], ["a", "b"]],
    ),
    "anyOf": ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, ["a", 1], [1.5, None]),
    "format": ({"type": "string", "format": "date"}, ["2026-01-31"], ["2026-02-30", "today"]),
}


@pytest.mark.parametrize("name", MEANINGS)
def test_each_word_means_what_the_standard_says(name: str) -> None:
    """What fits is taken and what does not is refused, at the argument itself or within it."""
    schema, fits, others = MEANINGS[name]
    assert check_schema(argument(schema)) == ()
    arguments = compile_arguments(argument(schema))
    for value in fits:
        assert arguments.check({"v": value}).ok, value
    for value in others:
        checked = arguments.check({"v": value})
        assert not checked.ok, value
        assert all(issue.path.startswith("/v") for issue in checked.issues)


def test_the_dialect_is_2020_12() -> None:
    """2020-12 may be named or left out; any other dialect, and a remote one, is refused."""
    assert check_schema({"$schema": DIALECT, **argument({"type": "string"})}) == ()
    for other in ("http://json-schema.org/draft-07/schema#", DIALECT + "x", "2020-12"):
        (issue,) = check_schema({"$schema": other, **argument({"type": "string"})})
        assert (issue.path, issue.error_code) == ("/$schema", "ACODE-TSR-006")


# How a property may say its type; and what says none.
TYPED: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": ["string", "null"]},
    {"enum": ["a", 1]},
    {"const": None},
    {"anyOf": [{"type": "string"}, {"const": 1}]},
    {"$ref": "#/$defs/text"},
    {"allOf": [{"minLength": 1}, {"type": "string"}]},
]
UNTYPED: list[dict[str, Any]] = [
    {},
    {"description": "anything"},
    {"minLength": 1},
    {"anyOf": [{"type": "string"}, {"minLength": 1}]},
    {"not": {"type": "string"}},
    {"$ref": "#/$defs/silent"},
]
DEFS: dict[str, Any] = {"text": {"type": "string"}, "silent": {"minLength": 1}}


@pytest.mark.parametrize("schema", TYPED)
def test_every_property_says_its_type(schema: dict[str, Any]) -> None:
    """By type, enum, const, or alternatives and references that all do."""
    assert check_schema(argument(schema, **{"$defs": DEFS})) == ()


@pytest.mark.parametrize("schema", UNTYPED)
def test_a_property_without_type_is_refused(schema: dict[str, Any]) -> None:
    """A property of which nobody says the type would take anything."""
    (issue,) = check_schema(argument(schema, **{"$defs": DEFS}))
    assert (issue.path, issue.code, issue.error_code) == ("/properties/v", "type", "ACODE-TSR-006")


def test_required_names_what_is_declared() -> None:
    """Absent means none; a name that is no property is refused, one that is must be there."""
    text = {"type": "string"}
    assert compile_arguments(argument(text)).check("{}").ok
    (issue,) = check_schema(argument(text, required=["w"]))
    assert (issue.path, issue.code) == ("/required", "required")
    assert check_schema(argument(text, required=["v"])) == ()
    assert not compile_arguments(argument(text, required=["v"])).check("{}").ok


MISSPELT = {
    "requierd": "required",
    "minlength": "minLength",
    "additionalproperties": "additionalProperties",
    "definitions": "$defs",
    "nullable": "type: [",
    "x-note": None,
}


@pytest.mark.parametrize(("keyword", "hint"), MISSPELT.items())
def test_a_misspelt_keyword_is_refused_with_its_spelling(keyword: str, hint: str | None) -> None:
    """A keyword that nobody enforces looks like a check; a note says by its name that it is one."""
    issues = check_schema(argument({"type": "string", keyword: ["v"]}))
    if hint is None:
        assert issues == ()
        return
    (issue,) = issues
    assert (issue.path, issue.code) == (f"/properties/v/{keyword}", "unknown_keyword")
    assert hint in (issue.hint or "")


@pytest.mark.parametrize(
    "reference",
    ["https://example.org/s.json", "other.json", "file:///etc/passwd", "#/$defs/nothing"],
)
def test_a_reference_stays_inside_its_schema(reference: str) -> None:
    """Nothing is fetched: a reference that leaves the schema, or leads nowhere, is refused."""
    (issue,) = check_schema(argument({"$ref": reference}))
    assert (issue.path, issue.code) == ("/properties/v/$ref", "$ref")


VOCABULARIES: dict[str, list[dict[str, Any]]] = {
    "basic": [
        {"type": ["string", "null"]},
        {"enum": [1]},
        {"const": 1},
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
        {"type": "number", "minimum": 0, "multipleOf": 2},
        {"type": "string", "pattern": "^a", "maxLength": 9},
        {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
    ],
    "advanced": [
        {"anyOf": [{"type": "string"}]},
        {"oneOf": [{"type": "string"}]},
        {"allOf": [{"type": "string"}]},
        {"type": "string", "not": {"const": "a"}},
        {"type": "array", "items": True, "contains": {"type": "string"}},
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {"type": "object", "patternProperties": {"^a": {"type": "string"}}},
        {"type": "object", "additionalProperties": True, "propertyNames": {"maxLength": 3}},
        {"$ref": "#/$defs/text"},
    ],
    "full": [{"type": "string", "format": "uuid"}],
}
LADDER = [(vocabulary, schema) for vocabulary, all_ in VOCABULARIES.items() for schema in all_]


@pytest.mark.parametrize(("vocabulary", "schema"), LADDER)
def test_each_keyword_belongs_to_a_licence_vocabulary(
    vocabulary: str, schema: dict[str, Any]
) -> None:
    """Basic is the contract's list, `format` is full, everything else is advanced."""
    assert vocabulary_of(argument(schema)) == vocabulary
    assert vocabulary_of({}) == "basic"


def test_a_schema_is_testable_alone() -> None:
    """A schema is checked, closed, compiled and tried without a registry or a runtime."""
    schema = argument({"type": "string"}, required=["v"])
    assert check_schema(schema) == ()
    assert compile_arguments(schema).check('{"v": "a"}').value == {"v": "a"}
    assert inspect({"name": "t", "description": "d", "parameters": schema}).definition is not None
    assert thaw(schema) == schema


def layered(layers: int) -> dict[str, Any]:
    """A tree whose nodes stand below that many alternatives, each with a property of its own."""
    node: dict[str, Any] = {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}}
    for layer in range(layers):
        own = {f"x{layer}": {"type": "string"}}
        node = {"type": "object", "properties": own, "anyOf": [node]}
    top = {"child": {"$ref": "#/$defs/node"}}
    return {"type": "object", "properties": top, "$defs": {"node": node}}


def types_in_a_ring(count: int) -> dict[str, Any]:
    """As many types, each with a member of the next or text."""
    nodes = {
        f"n{n}": {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {"child": {"$ref": f"#/$defs/n{(n + 1) % count}"}},
                },
            ]
        }
        for n in range(count)
    }
    return {"type": "object", "properties": {"child": {"$ref": "#/$defs/n0"}}, "$defs": nodes}


@pytest.mark.parametrize(
    ("schema", "fits", "refused"),
    [
        (layered(1), 60, None),
        (layered(2), 8, 30),
        (layered(14), 2, 8),
        (types_in_a_ring(2), 60, None),
        (types_in_a_ring(10), 15, 40),
    ],
)
def test_alternatives_in_layers_bound_the_depth(
    schema: dict[str, Any], fits: int, refused: int | None
) -> None:
    """Where each level of a value would be looked at again and again, it has few levels: without
    the bound these take minutes. (The run ends a test that hangs.)"""
    arguments = compile_arguments(schema)
    assert arguments.check('{"child":' * fits + "{}" + "}" * fits).ok
    assert not arguments.check('{"child":' * fits + "1" + "}" * fits).ok
    if refused is not None:
        (issue,) = arguments.check('{"child":' * refused + "{}" + "}" * refused).issues
        assert issue.code == "too_deep"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_asserted_and_has_examples(name: str) -> None:
    """What is shown as an example of a format has it, and other text has not."""
    schema = {"type": "string", "format": name}
    assert all(compiled(schema).is_valid(text) for text in FORMATS[name])
    arguments = compile_arguments({"type": "object", "properties": {"a": schema}})
    misfits = {"uri-reference": "\\", "iri-reference": "\\", "uri-template": "{", "regex": "["}
    (issue,) = arguments.check({"a": misfits.get(name, "-1 x")}).issues
    assert FORMATS[name][0] in (issue.hint or "")


def leaves(*_given: object) -> bool:
    """An extension that wants to end the program."""
    raise SystemExit


FAILING = Extensions(
    formats={"number": lambda text: float(text) > 0, "leaves": leaves},
    keywords={"divides": lambda value, instance: instance % value == 0, "left": leaves},
)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "format": "number"},
        {"type": "string", "format": "leaves"},
        {"type": "string", "divides": 0},
        {"type": "string", "left": True},
    ],
    ids=str,
)
def test_what_an_extension_raises_means_that_it_does_not_fit(
    schema: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """Formats and keywords alike, wherever they come from; the log tells which, not of what."""
    schema_of_one = {"type": "object", "properties": {"a": schema}, "additionalProperties": False}
    checked = CompiledSchema(schema_of_one, FAILING).check({"a": "a secret"})
    assert [issue.path for issue in checked.issues] == ["/a"]
    failing = schema.get("format") or next(name for name in schema if name != "type")
    assert f"Extension failed. name={failing}" in caplog.text
    assert "a secret" not in caplog.text
    assert CompiledSchema({"type": "integer", "divides": 3}, FAILING).is_valid(9)
