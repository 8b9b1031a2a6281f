"""Adoption: what comes in, what is changed on the way, and that no change makes a call valid."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema.validators import validator_for  # type: ignore[import-untyped]

from properties import generator
from properties.reference import compile_judge
from toolstile.errors import DefinitionError
from toolstile.schema.adopt import Adopted, adopt
from toolstile.schema.compiled import arguments_of

Json = Any
D4 = "http://json-schema.org/draft-04/schema#"
D7 = "http://json-schema.org/draft-07/schema#"
D7S = "https://json-schema.org/draft-07/schema"
D20 = "https://json-schema.org/draft/2020-12/schema"
D19 = "https://json-schema.org/draft/2019-09/schema"


def props(properties: dict[str, Json], **rules: Json) -> dict[str, Json]:
    """An object with these properties."""
    return {"type": "object", "properties": properties, **rules}


def foreign(schema: Json) -> Adopted:
    """The tool of a stranger, adopted."""
    return adopt({"name": "foreign", "description": "A tool.", "inputSchema": schema})


def accepts(schema: Json, *calls: Json) -> list[bool]:
    """Which of these calls the adopted tool takes."""
    arguments = arguments_of(foreign(schema).definition)
    return [
        arguments.check(call if isinstance(call, str) else json.dumps(call)).ok for call in calls
    ]


def refusals(schema: Json) -> list[tuple[str, str]]:
    """Why it is not adopted."""
    with pytest.raises(DefinitionError) as refused:
        foreign(schema)
    assert all(issue.hint for issue in refused.value.issues)
    return [(issue.path, issue.code) for issue in refused.value.issues]


# Schema, calls that it takes, calls that it refuses, and the codes of what was changed besides
# closing.
TEXT = {"type": "string"}
ADOPTED: dict[str, tuple[Json, list[Json], list[Json], set[str]]] = {
    "nothing declared": ({"type": "object"}, [{}], [{"a": 1}], set()),
    "a dialect alone": ({"$schema": D7}, [{}], [{"a": 1}, "text"], {"draft"}),
    "the https spelling": (
        {"$schema": D7S, **props({"a": TEXT})},
        [{"a": "x"}],
        [{"b": 1}],
        {"draft"},
    ),
    "definitions": (
        props({"a": {"$ref": "#/definitions/A"}}, definitions={"A": TEXT}),
        [{"a": "x"}],
        [{"a": 1}],
        {"draft"},
    ),
    "a list of items": (
        props({"a": {"type": "array", "items": [TEXT], "additionalItems": False}}),
        [{"a": ["x"]}, {"a": []}],
        [{"a": ["x", 1]}, {"a": [1]}],
        {"draft"},
    ),
    "an empty list of items": (
        {"$schema": D7, **props({"a": {"type": "array", "items": []}})},
        [{"a": [1]}],
        [{"a": 1}],
        {"draft", "items"},
    ),
    "a bound that says it is exclusive": (
        {
            "$schema": D4,
            **props({"a": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}}),
        },
        [{"a": 1}],
        [{"a": 0}],
        {"draft"},
    ),
    "dependencies": (
        props({"a": TEXT, "b": TEXT}, dependencies={"a": ["b"]}),
        [{"a": "x", "b": "y"}, {"b": "y"}],
        [{"a": "x"}],
        {"draft"},
    ),
    "properties that say they are required": (
        props({"a": {**TEXT, "required": True}, "b": {**TEXT, "required": False}}),
        [{"a": "x"}],
        [{}, {"b": "x"}],
        {"draft"},
    ),
    "words beside a draft-07 reference": (
        {"$schema": D7, **props({"a": {"$ref": "#/definitions/A", "maxLength": 1}})}
        | {"definitions": {"A": TEXT}},
        [{"a": "long"}],
        [{"a": 1}],
        {"draft"},
    ),
    "the whole again, in the words of 2019": (
        {"$schema": D19, **props({"c": {"type": "array", "items": {"$recursiveRef": "#"}}})},
        [{"c": [{"c": []}]}],
        [{"c": [1]}],
        {"draft"},
    ),
    "a list of items, and none unevaluated": (
        {"$schema": D19}
        | props({"a": {"type": "array", "items": [TEXT], "unevaluatedItems": False}}),
        [{"a": ["x"]}],
        [{"a": ["x", 1]}],
        {"draft"},
    ),
    "prefixItems before there were any": (
        {"$schema": D7, **props({"a": {"type": "array", "prefixItems": [True], "items": TEXT}})},
        [{"a": ["x"]}],
        [{"a": [1]}],
        {"draft"},
    ),
    "minContains before there was any": (
        {"$schema": D7}
        | props({"a": {"type": "array", "items": True, "contains": TEXT, "minContains": 0}}),
        [{"a": ["x"]}],
        [{"a": []}],
        {"draft"},
    ),
    "words of later drafts in a test": (
        {"$schema": "http://json-schema.org/draft-06/schema#"}
        | props({"a": {**TEXT, "not": {"maxLength": 3, "if": True, "then": {"minLength": 2}}}})
        | {"not": {"required": ["z"], "dependentRequired": {"a": ["z"]}}},
        [{"a": "long"}],
        [{"a": "x"}, {"a": "xx"}],
        {"draft"},
    ),
    "a word of earlier drafts in a test": (
        {"$schema": D19}
        | props({"a": TEXT, "b": TEXT})
        | {"not": {"required": ["a"], "dependencies": {"a": ["b"]}}},
        [{"b": "x"}],
        [{"a": "x"}, {"a": "x", "b": "y"}],
        {"draft"},
    ),
    "unknown words": (
        props({"a": {**TEXT, "nullable": True, "format": "color"}}),
        [{"a": "x"}],
        [{"a": None}],
        {"unknown_keyword", "format"},
    ),
    "a free-form object and list": (
        props({"a": {"type": "object"}, "b": {"type": "array"}}),
        [{"a": {"z": 1}, "b": [1, "x"]}],
        [{"a": []}],
        {"additionalProperties", "items"},
    ),
    "no type at all": (
        props({"a": {}, "b": True}),
        [{"a": None, "b": [1]}],
        [{"c": 1}],
        {"type", "items"},
    ),
    "required and not declared": (
        props({"a": TEXT}, required=["a", "z"]),
        [{"a": "x", "z": 5}],
        [{"a": "x"}],
        {"required"},
    ),
    "required, not declared, and told by the others": (
        props({}, additionalProperties=TEXT, required=["z"]),
        [{"z": "x"}],
        [{"z": 5}, {}],
        set(),
    ),
    "a required property with a default": (
        props({"a": {**TEXT, "default": "x"}}, required=["a"]),
        [{"a": "y"}],
        [{}],
        {"default"},
    ),
    "a default that does not fit": (
        props({"a": {"type": "integer", "default": "one"}}),
        [{}, {"a": 1}],
        [{"a": "one"}],
        {"default"},
    ),
    "an enum value that cannot be": (
        props({"a": {**TEXT, "enum": ["x", None, "x"]}}),
        [{"a": "x"}],
        [{"a": None}],
        {"enum"},
    ),
    "bounds beyond 64 bits": (
        props({"a": {"type": "integer", "minimum": -(2**63), "maximum": 2**64 - 1}}),
        [{"a": 2**63 - 1}],
        ['{"a": 9223372036854775808}'],
        {"minimum", "maximum"},
    ),
    "a least number beyond 64 bits": (
        props({"a": {"type": "number", "minimum": 2**63 + 1}, "b": {"type": "integer"}}),
        [{"a": 1e19}],
        [{"a": 2**63 - 1}, {"a": 0}, '{"a": 9.223372036854775808e18}'],
        {"minimum"},
    ),
    "a largest number beyond 64 bits": (
        props({"a": {"type": "number", "maximum": -(2**64)}}),
        [{"a": -1.8446744073709552e19}, {"a": -1e300}],
        [{"a": -(2**63 - 1)}, {"a": 0}],
        {"maximum"},
    ),
    "a bound beyond 64 bits in a test": (
        props({"a": {"type": "number", "not": {"maximum": 2**64 - 1}}}),
        [{"a": 1.8446744073709552e19}],
        [{"a": 1e19}, {"a": 0}],
        {"maximum"},
    ),
    "an exclusive bound beyond 64 bits": (
        props({"a": {"type": "number", "exclusiveMaximum": 2**64 - 1}}),
        [{"a": 1.844674407370955e19}],
        [{"a": 1.8446744073709552e19}],
        {"exclusiveMaximum"},
    ),
    "lengths beyond 64 bits": (
        props({"a": {**TEXT, "maxLength": 2**64}, "minimum": {**TEXT, "minLength": 2**64}}),
        [{"a": "x"}],
        [{"minimum": "x"}],
        {"maxLength", "minLength"},
    ),
    "leading lookaheads": (
        props({"a": {**TEXT, "pattern": r"^(?!\.)(?!.*\.\.)(?=.{3,8}$)[a-z.]+$"}}),
        [{"a": "a.b"}, {"a": "abc"}],
        [{"a": ".ab"}, {"a": "a..b"}, {"a": "ab"}, {"a": "abcdefghi"}, {"a": "A.b"}],
        {"pattern"},
    ),
    "the same name twice": (
        props({"a": TEXT}, required=["a", "a"]),
        [{"a": "x"}],
        [{}],
        {"required"},
    ),
    "texts that are none": (
        props({"a": {**TEXT, "description": None, "examples": "x"}}),
        [{"a": "x"}],
        [{"a": 1}],
        {"description", "examples"},
    ),
    "annotations that are none": (
        props({"a": {**TEXT, "deprecated": "yes", "readOnly": "no", "$comment": 1}}),
        [{"a": "x"}],
        [{"a": 1}],
        {"deprecated", "readOnly", "$comment"},
    ),
    "names that nothing refers to": (
        {"$id": "http://x.example/y#", "$schema": D7}
        | props({"a": {**TEXT, "$id": "#/properties/a"}, "b": {"$ref": "#/definitions/B"}})
        | {"definitions": {"B": {**TEXT, "$id": "#b"}}},
        [{"a": "x", "b": "y"}],
        [{"a": 1}, {"b": 1}],
        {"$id", "draft"},
    ),
    "a property that names a draft again": (
        {"$schema": D7, **props({"a": {**TEXT, "$schema": D7}})},
        [{"a": "x"}],
        [{"a": 1}],
        {"draft"},
    ),
    "the newest draft, whichever it is": (
        {"$schema": "http://json-schema.org/schema#"}
        | props({"a": {"type": "array", "items": [TEXT], "additionalItems": False}}),
        [{"a": ["x"]}],
        [{"a": ["x", 1]}],
        {"draft"},
    ),
    "an empty name of a draft": (
        {"$schema": "", **props({"a": TEXT})},
        [{}],
        [{"b": 1}],
        {"draft"},
    ),
    "a list of one type": ({"type": ["object"]}, [{}], [{"a": 1}], set()),
    "a mark": (
        props({"a": {**TEXT, "x-toolstile": {"reads": "path"}}}),
        [{"a": "x"}],
        [{"a": 1}],
        {"x-toolstile"},
    ),
    "alternatives that are counted": (
        props(
            {
                "v": {
                    "oneOf": [
                        {"type": "array", "items": props({"x": {"type": "integer"}})},
                        {"type": "array", "items": props({"y": {"type": "integer"}})},
                    ]
                }
            }
        ),
        [{"v": [{"x": "not one"}]}],
        [{"v": [{"x": 1}]}, {"v": []}],
        {"additionalProperties"},
    ),
    "alternatives told apart by a tag": (
        props(
            {
                "v": {
                    "oneOf": [
                        props({"k": {"const": k}, "o": props({k: TEXT})}, required=["k"])
                        for k in ("a", "b")
                    ]
                }
            }
        ),
        [{"v": {"k": "a", "o": {"a": "x"}}}],
        [{"v": {"k": "a", "o": {"b": "x"}}}],
        set(),
    ),
}
CLOSING = {"additionalProperties", "unevaluatedProperties"}


@pytest.mark.parametrize("case", ADOPTED)
def test_a_foreign_schema_is_adopted_as_meant(case: str) -> None:
    """It takes and refuses what it should, and every change is listed with its place."""
    schema, good, bad, codes = ADOPTED[case]
    assert accepts(schema, *good, *bad) == [True] * len(good) + [False] * len(bad)
    changes = foreign(schema).changes
    assert {change.code for change in changes} - CLOSING == codes - CLOSING
    assert all(change.path.startswith("/parameters") and change.text for change in changes)


def test_only_bounds_are_bounds() -> None:
    """A member called "minimum" of a default, constant or example is a value, and is left alone."""
    values = {"default": {"minimum": 2**64}, "type": "object"}
    assert ("/inputSchema/properties/a/default/minimum", "number_range") in refusals(
        props({"a": values})
    )
    assert ("/inputSchema/properties/a/maximum", "number_range") in refusals(
        props({"a": {"type": "number", "maximum": 10**400}})
    )


@pytest.mark.parametrize("case", ADOPTED)
def test_what_was_adopted_is_adopted_as_it_is(case: str) -> None:
    """The adopted form needs no further change."""
    schema = foreign(ADOPTED[case][0]).definition.to_dict()["parameters"]
    assert foreign(schema).definition.parameters == schema
    assert foreign(schema).changes == ()


@pytest.mark.parametrize("case", ADOPTED)
def test_no_change_makes_a_call_valid(case: str) -> None:
    """What the stranger's own draft refuses is refused, by an independent judge's word."""
    schema, good, bad, _ = ADOPTED[case]
    if case == "properties that say they are required":
        pytest.skip("draft 3 is spoken by no judge here; the table says what is meant")
    named = schema.get("$schema", "").replace(D7S, D7).replace("org/schema", "org/draft-07/schema")
    judge = validator_for({"$schema": named or (D7 if "draft" in ADOPTED[case][3] else D20)})
    for call in (*good, *bad, {}, {"a": None}, {"a": 1}, {"a": "x"}, {"q": 1}):
        if isinstance(call, dict) and accepts(schema, call) == [True]:
            assert judge(schema).is_valid(call), call


@pytest.mark.parametrize(
    ("schema", "refused"),
    [
        (True, ("/parameters", "type")),
        ({"type": "string"}, ("/parameters/type", "type")),
        (
            {"$schema": "http://json-schema.org/draft-03/schema#"},
            ("/parameters/$schema", "$schema"),
        ),
        (props({"a": {"type": "dict"}}), ("/parameters/properties/a/type", "type")),
        (
            props({"a": {**TEXT, "pattern": "(a)\\1"}}),
            ("/parameters/properties/a/pattern", "pattern"),
        ),
        (
            props({"a": {**TEXT, "pattern": "a(?=b)"}}),
            ("/parameters/properties/a/pattern", "pattern"),
        ),
        (props({"a": {"$ref": "https://x.example/s"}}), ("/parameters/properties/a/$ref", "$ref")),
        (
            props({}, additionalProperties=False, required=["z"]),
            ("/parameters/required", "required"),
        ),
        (
            props({"a": {"type": "integer", "enum": ["1", "2"]}}),
            ("/parameters/properties/a/enum/0", "enum"),
        ),
        ({"type": "object", "properties": []}, ("/parameters/properties", "properties")),
        (props({}, required=None), ("/parameters/required", "required")),
        (
            props({"a": {**TEXT, "$id": "#a"}, "b": {"$ref": "#a"}}),
            ("/parameters/properties/a/$id", "$id"),
        ),
        (
            {"$schema": D20, **props({"a": {**TEXT, "$schema": D7}})},
            ("/parameters/properties/a/$schema", "$schema"),
        ),
        (props({}, required=[1]), ("/parameters/required", "required")),
        (props({"a": {**TEXT, "format": ["x"]}}), ("/parameters/properties/a/format", "format")),
        (props({}, dependencies={}, dependentRequired=5), None),
        ({"$schema": D7, "definitions": {}, **props({}), "$defs": 5}, None),
        (props({"a": {**TEXT, "const": float("nan")}}), None),
        ({1: 2}, None),
    ],
    ids=repr,
)
def test_what_cannot_be_adopted_is_refused_with_its_place(
    schema: Json, refused: tuple[str, str] | None
) -> None:
    """Never a crash, never a changed meaning: a DefinitionError that points at it."""
    found = refusals(schema)
    assert found
    assert refused is None or refused in found


def test_parameters_in_an_unknown_form_are_not_passed_over() -> None:
    """A tool whose parameters stand elsewhere would be a tool without any."""
    tool = {"name": "t", "description": "A tool.", "inputs": {"a": {"type": "string"}}}
    with pytest.raises(DefinitionError) as refused:
        adopt(tool)
    assert [(issue.path, issue.code) for issue in refused.value.issues] == [
        ("/inputs", "unknown_field")
    ]
    told = adopt({"name": "t", "description": "A tool.", "inputSchema": {}, "inputs": {}}).changes
    assert ("/inputs", "unknown_field") in [(change.path, change.code) for change in told]


def test_objects_may_be_left_open() -> None:
    """Asked for, what did not say that it is closed stays open, the outermost too."""
    schema = props({"a": props({"b": TEXT})})
    tool = {"name": "t", "description": "A tool.", "inputSchema": schema}
    arguments = arguments_of(adopt(tool, open_objects=True).definition)
    assert arguments.check({"c": 1, "a": {"d": 1}}).ok
    assert accepts(schema, {"c": 1}, {"a": {"d": 1}}) == [False, False]


def stripped(schema: Json, dice: Random) -> Json:
    """The schema as a careless author leaves it: here and there nobody said what else is taken."""
    if isinstance(schema, list):
        return [stripped(each, dice) for each in schema]
    if not isinstance(schema, dict):
        return schema
    silent = ("additionalProperties", "unevaluatedProperties", "items", "type")
    return {
        name: stripped(value, dice)
        for name, value in schema.items()
        if name not in silent or isinstance(value, dict) or dice.random() < 0.5
    }


@given(st.integers(0, 10**6), st.integers(0, 500))
def test_adoption_never_loosens(seed: int, index: int) -> None:
    """Whatever the schema, and however much of it was left unsaid."""
    case = generator.case(seed, index, 30)
    schema = {**stripped(case.schema, Random(seed)), "type": "object"}
    try:
        arguments = arguments_of(foreign(schema).definition)
        judge = compile_judge(schema)
    except (DefinitionError, ValueError):
        return
    for document in case.documents:
        if arguments.check(document).ok:
            assert judge(document).valid, document


def test_a_bound_beyond_64_bits_is_the_double_that_it_says() -> None:
    """What is just within it, and what is it, are told apart as before; so are defaults."""
    property_ = {"type": "number", "exclusiveMaximum": 2**63, "default": 1e20}
    written = {"type": "object", "properties": {"a": {**property_, "exclusiveMaximum": 2.0**70}}}
    tool = {"name": "t", "description": "d", "parameters": written}
    checked = arguments_of(adopt(tool).definition).check(b"{}")
    assert (checked.value, type(checked.value["a"])) == ({"a": 1e20}, float)
    del property_["default"]
    tool["parameters"] = {"type": "object", "properties": {"a": property_}}
    bounded = arguments_of(adopt(tool).definition)
    assert bounded.check({"a": 2.0**62}).ok
    assert not bounded.check({"a": 2.0**63}).ok


@pytest.mark.parametrize("reference", [[], {}, 1, None, True])
def test_a_reference_that_is_no_text_is_refused_with_its_place(reference: Json) -> None:
    """Whatever stands there, at the root or below."""
    for schema, at in (({}, ""), (props({"a": {}}), "/properties/a")):
        place = schema["properties"]["a"] if at else schema
        place["$ref"] = reference
        with pytest.raises(DefinitionError) as refused:
            foreign(schema)
        assert [issue.path for issue in refused.value.issues] == [f"/parameters{at}/$ref"]


def doubled(times: int) -> Json:
    """A list that holds another twice, so many times: small in memory, and endless to copy."""
    value: Json = "s"
    for _ in range(times):
        value = [value, value]
    return value


def test_what_is_endless_to_copy_is_refused_before() -> None:
    """Parts that are shared count as often as they are met, in all fields together."""
    wide = [[["s"] * 1_000] * 1_000] * 1_000
    for schema in (doubled(40), {"enum": doubled(40)}, wide):
        with pytest.raises(DefinitionError) as refused:
            foreign(schema)
        assert [(i.path, i.code) for i in refused.value.issues] == [("/inputSchema", "too_deep")]
    tool = {"name": "t", "description": "d"} | {f"x{n}": doubled(18) for n in range(1_000)}
    with pytest.raises(DefinitionError) as refused:
        adopt(tool)
    assert [issue.path for issue in refused.value.issues] == ["/x1"]
