"""What was tried against the dialects, and must hold: each once gave another call, a crash or a
constraint lost in silence."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from suites.exports import schema_of, taking
from toolstile import define
from toolstile.dialects import DIALECTS, Export, export
from toolstile.errors import SchemaValidationError
from toolstile.model.canonical import canonical
from toolstile.schema.compiled import arguments_of
from toolstile.schema.defining import STANDARD
from toolstile.schema.extensions import Extensions

TEXT = {"type": "string"}
OPEN = {"type": "object", "properties": {}, "additionalProperties": True}
NULLABLE = {"type": ["string", "null"], "default": None}
OPENAI, ANTHROPIC = "openai-responses-strict", "anthropic-strict"


def of(properties: dict[str, Any], *required: str, **keywords: Any) -> dict[str, Any]:
    """An object's schema."""
    return {"type": "object", "properties": properties, "required": list(required), **keywords}


def exported(parameters: dict[str, Any], dialect: str) -> Export:
    """A tool with these parameters in a dialect."""
    return export(define({"name": "tool", "description": "A.", "parameters": parameters}), dialect)


def tagged(value: str, **properties: Any) -> dict[str, Any]:
    """An alternative that its `kind` tells apart."""
    return of({"kind": {"const": value}, **properties}, "kind")


def referring(name: str, schema: dict[str, Any], **others: Any) -> dict[str, Any]:
    """Parameters with one member that refers to this schema."""
    return {**of({"root": {"$ref": f"#/$defs/{name}"}}, "root"), "$defs": {name: schema, **others}}


NODE = {"oneOf": [tagged(each, x=TEXT, next={"$ref": "#/$defs/n"}) for each in "ab"]}
ITEMS = {"type": "array", "items": {"type": "integer"}}
for _ in range(12):
    ITEMS = {"type": "array", "items": ITEMS}

LISTED = {"e": {"enum": [[1], None]}}

# Schemas, each with calls that fit it: every one has a form of its own and comes back.
CALLS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "branches that only demand": (
        of({"o": of({"k": TEXT, "z": TEXT}, anyOf=[{"required": ["k"]}, {"required": ["z"]}])}),
        [{"o": {"z": "1"}}, {"o": {"k": "1"}}, {"o": {"k": "1", "z": "2"}}, {}],
    ),
    "branches that demand what may be null": (
        of({"o": of({"k": NULLABLE, "z": TEXT}, anyOf=[{"required": ["k"]}, {"required": ["z"]}])}),
        [{"o": {"z": "1"}}, {"o": {"k": None, "z": "1"}}, {"o": {"k": None}}],
    ),
    "a listed value beside its text": (
        of({"a": {"anyOf": [{"enum": [[1]]}, TEXT]}}, "a"),
        [{"a": "[1]"}, {"a": [1]}, {"a": '"[1]"'}],
    ),
    "null beside nothing": (
        of({"o": {"anyOf": [of({"a": TEXT}), of({"a": {"type": "null"}}, "a")]}}, "o"),
        [{"o": {}}, {"o": {"a": None}}, {"o": {"a": "x"}}],
    ),
    "a tree beside its text": (
        referring("n", of({"child": {"anyOf": [TEXT, {"$ref": "#/$defs/n"}]}})),
        [
            {"root": {"child": {"child": {}}}},
            {"root": {"child": '{"child":{}}'}},
            {"root": {"child": {"child": "{}"}}},
        ],
    ),
    "a member that two branches declare": (
        {
            **of({"k": TEXT}, "k"),
            "oneOf": [
                {"properties": {"k": {"const": "x"}, "a": {"enum": [[1], None]}}},
                {"properties": {"k": {"const": "y"}, "a": TEXT}},
            ],
        },
        [{"k": "y", "a": "[1]"}, {"k": "x", "a": [1]}, {"k": "x", "a": None}, {"k": "x"}],
    ),
    "a name that only a condition declares": (
        of(
            {
                "o": {
                    **of({"m": TEXT}, additionalProperties=True),
                    "if": {"properties": {"kind": {"const": "x"}}, "required": ["kind"]},
                    "then": {"properties": {"a": TEXT}, "required": ["m"]},
                }
            }
        ),
        [{"o": {"kind": "z"}}, {"o": {"a": 5}}, {"o": {"a": None}}, {"o": {}}],
    ),
    "an open branch beside one that declares": (
        of({"o": {"anyOf": [OPEN, of({"a b": {"minimum": 1, "type": "integer"}}, "a b")]}}),
        [{"o": {"a b": 0}}, {"o": {"a b": 1}}, {"o": {"a_b": 1}}],
    ),
    "more levels than a provider takes, referred to": (
        referring("d", ITEMS),
        [{"root": [[[[[[[[[[[[[7]]]]]]]]]]]]]}],
    ),
    "null where members are counted": (
        of({"o": of({"a": NULLABLE}, minProperties=1)}),
        [{"o": {"a": None}}, {"o": {"a": "x"}}, {}],
    ),
    "null where a member is wanted beside it": (
        of({"o": of({"a": NULLABLE, "c": TEXT}, dependentRequired={"c": ["a"]})}),
        [{"o": {"a": None, "c": "1"}}, {"o": {}}],
    ),
    "a default in a pattern": (
        of({"o": of({"a": NULLABLE}, patternProperties={"^a": {"default": None, **NULLABLE}})}),
        [{"o": {}}, {"o": {"a": None}}, {"o": {"ab": None}}],
    ),
    "names asked about beside items": (
        of({"a": {"type": "array", "items": of({"a b": TEXT}), "contains": {"required": ["a b"]}}}),
        [{"a": [{"a b": "x"}]}, {"a": [{"a b": "x"}, {}]}],
    ),
    "forbidden, demanded and unknown names": (
        of({"o": of({"a": False, "b c": TEXT}, "x", additionalProperties=True)}),
        [{"o": {"x": 1}}, {"o": {"x": None, "b c": "1"}}],
    ),
    "listed lists that are referred to, beside a string": (
        {**of({"v": {"anyOf": [TEXT, {"$ref": "#/$defs/e"}]}}, "v"), "$defs": LISTED},
        [{"v": [1]}, {"v": "[1]"}, {"v": None}, {"v": "null"}],
    ),
    "listed lists that are referred to, for any name": (
        {**of({}, "zz", additionalProperties={"$ref": "#/$defs/e"}), "$defs": LISTED},
        [{"zz": [1]}, {"zz": None}, {"zz": None, "y": [1]}],
    ),
    "null in items that are compared": (
        of({"l": {"type": "array", "items": of({"a": NULLABLE}), "uniqueItems": True}}),
        [{"l": [{"a": None}]}, {"l": [{}]}],
    ),
    "null that a condition asks about from outside": (
        {
            **of({"o": of({"a": NULLABLE}), "k": TEXT}),
            "if": {"required": ["k"]},
            "then": {"properties": {"o": of({"a": {"type": ["string", "null"]}}, "a")}},
        },
        [{"o": {"a": None}, "k": "1"}, {"o": {}}],
    ),
    "a demanded name of its own beside patterns": (
        of({"o": of({}, "a b", patternProperties={"^a_": {"type": "integer"}, "^a b$": {**TEXT}})}),
        [{"o": {"a b": "x"}}, {"o": {"a b": "x", "a_b": 1}}],
    ),
    "tagged objects, and null": (
        of({"a": {"anyOf": [tagged("a", x=TEXT), tagged("b", y=OPEN), {"type": "null"}]}}),
        [{"a": {"kind": "a"}}, {"a": {"kind": "b", "y": {"entries": 1}}}, {"a": None}, {}],
    ),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", CALLS)
def test_each_call_has_a_form_of_its_own(name: str, dialect: str) -> None:
    """It fits what is exported, comes back as it was, and no other call has the same form."""
    parameters, calls = CALLS[name]
    made = exported(parameters, dialect)
    takes = taking(schema_of(made))
    forms: dict[bytes, bytes] = {}
    for call in calls:
        own = arguments_of(made.definition).check(call)
        assert own.ok, own.issues
        sent = made.to_provider(call)
        assert takes(sent), sent
        back = made.check(json.dumps(sent))
        assert back.ok, back.issues
        assert canonical(back.value) == canonical(own.value)
        assert forms.setdefault(canonical(sent), canonical(own.value)) == canonical(own.value)


def test_what_does_not_fit_the_document_is_not_taken_for_another_call() -> None:
    """A form that no alternative has is refused, though it would fit the tool as it stands."""
    maps = exported(of({"b": {"anyOf": [OPEN, TEXT]}}), OPENAI)
    assert maps.check('{"b":"x"}').ok
    assert not maps.check('{"b":{"entries":"junk"}}').ok
    assert not maps.check('{"b":{"x":1}}').ok
    data = {"a": {"type": "array", "items": True}, "b": {"type": "array", "items": TEXT}}
    kinds = [tagged(kind, data=schema) for kind, schema in data.items()]
    told = exported(of({"o": {"oneOf": kinds}}, "o"), OPENAI)
    assert told.check('{"o":{"kind":"a","data":["[1]"]}}').value == {
        "o": {"kind": "a", "data": [[1]]}
    }
    assert told.check('{"o":{"kind":"b","data":["[1]"]}}').value == {
        "o": {"kind": "b", "data": ["[1]"]}
    }
    assert not told.check('{"o":{"kind":"c","data":null}}').ok


def seconds(work: Any) -> float:
    """How long it takes, at the best of two tries."""
    took = []
    for _ in range(2):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took)


def test_reading_alternatives_takes_no_longer_for_each_level() -> None:
    """Twice as deep takes about twice as long, not four times for each level."""
    made = exported(referring("n", NODE), OPENAI)

    def chain(length: int) -> str:
        value: Any = None
        for _ in range(length):
            value = {"kind": "b", "x": None, "next": value}
        return json.dumps({"root": value})

    short, long = chain(10), chain(40)
    assert seconds(lambda: made.check(long)) < 40 * seconds(lambda: made.check(short))


def linked(count: int, *, arrays: bool) -> dict[str, Any]:
    """A chain of references."""

    def link(number: int) -> dict[str, Any]:
        target = {"$ref": f"#/$defs/d{number + 1}"}
        return {"type": "array", "items": target} if arrays else of({"x": target})

    others = {f"d{number}": link(number) for number in range(1, count)}
    return referring("d0", link(0), **others, **{f"d{count}": TEXT})


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("arrays", [False, True])
def test_long_chains_of_references_are_exported(dialect: str, *, arrays: bool) -> None:
    """As many references as a schema may hold in a row end no export."""
    assert len(exported(linked(600, arrays=arrays), dialect).json) < 200_000


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_export_grows_within_bounds(dialect: str) -> None:
    """Alternatives of alternatives and references to everything do not multiply without end."""
    lengths = [{"anyOf": [{"minLength": n}, {"maxLength": 99 + n}]} for n in range(14)]
    product = exported(of({"a": {"type": "string", "allOf": lengths}}), dialect)
    assert len(product.json) < 10_000
    names = [f"d{number}" for number in range(20)]
    every = {name: of({other: {"$ref": f"#/$defs/{other}"} for other in names}) for name in names}
    mesh = exported({**of({"r": {"$ref": "#/$defs/d0"}}), "$defs": every}, dialect)
    assert len(mesh.json) < 200_000
    assert mesh.check(json.dumps(mesh.to_provider({"r": {"d3": {}}}))).value == {"r": {"d3": {}}}


@pytest.mark.parametrize(
    "more",
    [{"allOf": [False]}, {"anyOf": [False]}, {"anyOf": [TEXT]}, {"allOf": [{"type": "string"}]}],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_tool_that_cannot_be_called_is_exported(dialect: str, more: dict[str, Any]) -> None:
    """Nothing fits it; what says so is reported, and no call gets through."""
    made = exported({"type": "object", **more}, dialect)
    assert schema_of(made)["type"] == "object"
    assert not made.check("{}").ok


def test_names_that_may_not_be_there_are_told_in_one_order() -> None:
    """All of them, as they stand in the schema."""
    made = exported(of({"o": of({"b": False, "a": False}, additionalProperties=True)}), OPENAI)
    assert "b, a" in made.losses[0].text


def test_listed_values_are_looked_up() -> None:
    """A hundred times the items take about a hundred times as long, however many are listed."""
    listed = [*(f"v{number}" for number in range(400)), [1]]
    made = exported(of({"a": {"type": "array", "items": {"enum": listed}}}, "a"), OPENAI)
    few, many = (json.dumps({"a": ['"v1"'] * count}) for count in (20, 2_000))
    assert made.check(few).ok
    assert seconds(lambda: made.check(many)) < 1_000 * seconds(lambda: made.check(few))


def test_multiples_that_are_too_large_to_join_are_reported() -> None:
    """Their common multiple is no number that anybody could write."""
    factors = [{"multipleOf": 2**50 + n} for n in range(1, 200, 2)]
    made = exported(of({"a": {"type": "integer", "allOf": factors}}), OPENAI)
    assert len(made.losses) > 90


def test_formats_of_packages_are_enforced_only_here() -> None:
    """A tool that was defined with them is exported with them, and the loss is told."""
    extensions = Extensions(formats={"even": lambda text: len(text) % 2 == 0})
    vocabulary = msgspec.structs.replace(STANDARD, extensions=extensions)
    document = {"name": "tool", "description": "A.", "parameters": of({"a": TEXT})}
    document["parameters"]["properties"]["a"] = {"type": "string", "format": "even"}  # type: ignore[index]
    for dialect in DIALECTS:
        made = export(define(document, vocabulary), dialect, extensions)
        assert ("/parameters/properties/a", "format") in [(x.path, x.keyword) for x in made.losses]
        assert made.check(json.dumps(made.to_provider({"a": "ab"}))).ok
        assert not made.check(json.dumps(made.to_provider({"a": "abc"}))).ok


def nested(levels: int) -> dict[str, Any]:
    """An object in an object, so many times."""
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "value", [nested(100_000), {1: 2}, {"a": {1}}, {"a": b"x"}, {"a": {"\ud800": 1}}, {"a": 10**99}]
)
@pytest.mark.parametrize("dialect", [OPENAI, "openai-chat"])
def test_values_that_are_no_json_are_refused(dialect: str, value: Any) -> None:
    """Both ways, whether or not anything is rewritten."""
    made = exported(of({"m": OPEN}), dialect)
    assert not made.check(value).ok
    with pytest.raises(SchemaValidationError):
        made.to_provider(value)


def test_arguments_without_a_form_are_told_as_such() -> None:
    """What the tool would not take has no form where a member tells alternatives apart."""
    kinds = [tagged("a", x=TEXT), tagged("b", y=OPEN)]
    made = exported(of({"o": {"oneOf": kinds}}, "o"), OPENAI)
    assert made.to_provider({"o": {"kind": "a"}}) == {"o": {"kind": "a", "x": None}}
    with pytest.raises(SchemaValidationError):
        made.to_provider({"o": {"kind": "c"}})


def test_forms_may_nest_deeper_than_arguments() -> None:
    """A map in a map takes three levels for one; what fits the tool still comes back."""
    maps = {"type": "object", "additionalProperties": {"$ref": "#/$defs/m"}}
    made = exported(referring("m", maps), OPENAI)
    value = {"root": nested(40)}
    assert made.check(json.dumps(made.to_provider(value))).value == value


LOST: dict[str, tuple[dict[str, Any], str]] = {
    "a forbidden name": (of({"o": of({"a": False}, additionalProperties=True)}), "properties"),
    "two types at once": (
        of({"o": of({"a": {"allOf": [TEXT, {"type": "integer"}]}}, additionalProperties=True)}),
        "properties",
    ),
    "a forbidden name that must be there": (of({"zz": False}, "zz"), "required"),
}


@pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC, "gemini", "ollama", "vllm"])
@pytest.mark.parametrize("name", LOST)
def test_what_cannot_be_said_is_reported(name: str, dialect: str) -> None:
    """That something may not be there is a constraint like any other."""
    parameters, keyword = LOST[name]
    made = exported(parameters, dialect)
    assert keyword in {loss.keyword for loss in made.losses}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_root_is_an_object_without_combinators(dialect: str) -> None:
    """Whatever else is said of the arguments: everything but an object fails the request."""
    for more in (
        {"const": {"a": "x"}},
        {"enum": [{"a": "x"}, {"a": "y"}]},
        {"not": {"required": ["b"]}},
        {"dependentRequired": {"a": ["b"]}},
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    ):
        schema = schema_of(exported({**of({"a": TEXT, "b": TEXT}), **more}, dialect))
        assert schema["type"] == "object"
        if DIALECTS[dialect].plain_root:
            assert not {"not", "enum", "const", "anyOf", "dependentRequired"} & schema.keys()


def test_comments_and_marks_are_nobody_elses() -> None:
    """What is meant for those who maintain a schema stays here."""
    noted = {**TEXT, "$comment": "SECRET", "x-classification": "secret"}
    for dialect in DIALECTS:
        made = exported({**of({"a": noted}), "$comment": "SECRET"}, dialect)
        assert b"SECRET" not in made.json
        assert b"x-" not in made.json
