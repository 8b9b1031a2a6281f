"""The two changes made to arguments: defaults, and 5.0 that becomes 5 where an integer stands."""

from __future__ import annotations

from typing import Any

import pytest

from toolstile.model.json import freeze
from toolstile.schema import check_schema, compile_arguments
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


def listed(item: dict[str, Any], **defs: Any) -> dict[str, Any]:
    """Arguments with a list `l` of such items."""
    return {**members(l={"type": "array", "items": item}), "$defs": defs}


def defaulted(count: int) -> dict[str, Any]:
    """An object with so many members that have a default."""
    return members(**{f"p{n}": {**INTEGER, "default": n} for n in range(count)})


def test_any_number_of_rows_is_filled_in() -> None:
    """What is filled into what was sent grows with it, without a bound of its own."""
    rows = compile_arguments(listed(defaulted(1))).check({"l": [{}] * 20_000})
    assert rows.unwrap() == {"l": [{"p0": 0}] * 20_000}


def test_a_few_bytes_do_not_become_many() -> None:
    """Where defaults would add more than 4 MiB, the limit is told as what it is."""
    (issue,) = compile_arguments(listed(defaulted(400))).check({"l": [{}] * 2_000}).issues
    assert (issue.code, issue.path) == ("too_large", "")
    assert "add more than 4,194,304 bytes" in issue.message


def test_arguments_that_leave_out_everything_are_tried() -> None:
    """A schema whose own defaults are more than any call may have is refused, at its properties;
    each of them may be small."""
    inner = {f"q{n}": {"$ref": "#/$defs/P", "default": {}} for n in range(40)}
    few = {**members(**inner), "$defs": {"P": defaulted(40)}}
    assert check_schema(few) == ()
    assert len(compile_arguments(few).check({}).unwrap()["q39"]) == 40
    long = members(p={"type": "string", "default": "x" * 15_000})  # some, though not 300 of them
    (issue,) = check_schema(
        {
            **members(**{f"q{n}": {"$ref": "#/$defs/P", "default": {}} for n in range(300)}),
            "$defs": {"P": long},
        }
    )
    assert (issue.path, issue.code) == ("/properties", "properties")


def in_a_row(count: int, last: dict[str, Any]) -> dict[str, Any]:
    """So many definitions, each of them a list of the next."""
    defs: dict[str, Any] = {
        f"D{n}": {"type": "array", "items": {"$ref": f"#/$defs/D{n + 1}"}} for n in range(count)
    }
    return {**members(r={"$ref": "#/$defs/D0"}, i=INTEGER), "$defs": defs | {f"D{count}": last}}


@pytest.mark.parametrize("last", [INTEGER, defaulted(1)])
def test_references_may_lead_on_for_long(last: dict[str, Any]) -> None:
    """Three thousand references in a row are more than Python's stack takes, and no trouble."""
    schema = in_a_row(3_000, last)
    assert check_schema(schema) == ()
    assert repr(compile_arguments(schema).check({"r": [[]], "i": 1.0}).unwrap()["i"]) == "1"


def test_alternatives_nest_at_every_level() -> None:
    """Twenty alternatives within each other, at each of 60 levels."""
    nested: dict[str, Any] = {"type": "array", "items": {"$ref": "#/$defs/N"}}
    for _ in range(20):
        nested = {"anyOf": [INTEGER, nested]}
    sent: Any = 1.0
    for _ in range(60):
        sent = [sent]
    schema = {**members(r={"$ref": "#/$defs/N"}), "$defs": {"N": nested}}
    filled = compile_arguments(schema).check({"r": sent}).unwrap()
    assert repr(filled["r"]) == "[" * 60 + "1" + "]" * 60


OPEN = {"type": "object", "additionalProperties": True}
BESIDE = {**OPEN, "properties": {"a": {"type": "integer", "minimum": 5}}}


@pytest.mark.parametrize(("default", "filled"), [(1, {}), (6, {"a": 6})])
@pytest.mark.parametrize("way", ["allOf", "$ref"])
def test_what_is_filled_in_fits_all_that_describes_it(
    way: str, default: int, filled: dict[str, Any]
) -> None:
    """A default is left out where another description of the same object refuses it."""
    first = {**OPEN, "properties": {"a": {"type": "integer", "default": default}}}
    ways = {
        "allOf": {**OPEN, "allOf": [first, BESIDE]},
        "$ref": {**BESIDE, "$ref": "#/$defs/A", "$defs": {"A": first}},
    }
    assert compile_arguments(ways[way]).check({}).unwrap() == filled


def dynamic(**whole: Any) -> dict[str, Any]:
    """A list whose items are what the dynamic anchor `n` means: one of two definitions, or the
    schema's own."""
    integers = {"$dynamicAnchor": "n", **members(n=INTEGER, a={**INTEGER, "default": 1})}
    numbers = {"$dynamicAnchor": "n", **members(n=NUMBER, b={**INTEGER, "default": 1})}
    items = {"type": "array", "items": {"$dynamicRef": "#n"}}
    first = {"$id": "http://x/list", **items, "$defs": {"d": integers}}
    second = {"$id": "http://x/other", "$ref": "http://x/list", "$defs": {"d": numbers}}
    schema = members(l={"$ref": "http://x/other"}, **whole.pop("properties", {}))
    return {**schema, **whole, "$defs": {"first": first, "second": second}}


def test_nothing_is_done_where_a_dynamic_reference_may_lead_anywhere() -> None:
    """Which definition is meant depends on the way there: none of them is filled in. The schema's
    own is the first on every way."""
    filled = compile_arguments(dynamic()).check({"l": [{"n": 5.0}]}).unwrap()
    assert repr(filled) == "{'l': [{'n': 5.0}]}"
    own = dynamic(**{"$dynamicAnchor": "n", "properties": {"n": INTEGER}})
    assert repr(compile_arguments(own).check({"l": [{"n": 5.0}]}).unwrap()) == "{'l': [{'n': 5}]}"


def test_a_rounded_integer_is_told_as_one() -> None:
    """It lies within 64 bits; a smaller one would be no better. What lies beyond is told so."""
    check = compile_arguments(members(i=INTEGER)).check
    (rounded,) = check({"i": 1.152921504606847e18}).issues
    assert (rounded.path, rounded.code) == ("/i", "number_range")
    assert "a double would round to an integer" in rounded.message
    (beyond,) = check({"i": 1e30}).issues
    assert "integers lie within" in beyond.message


KINDS: dict[str, Any] = {
    "circle": members(kind={"const": "circle"}, r=INTEGER),
    "square": members(kind={"enum": ["square", "box"]}, r=NUMBER, a={**INTEGER, "default": 1}),
}


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize("referred", [False, True])
def test_a_property_may_tell_alternatives_apart(keyword: str, referred: bool) -> None:
    """What its text means is what is filled in, behind references and beside null too; an object
    that leaves it out gets the first that fits."""
    kinds = [{"$ref": f"#/$defs/{name}"} for name in KINDS] if referred else list(KINDS.values())
    check = compile_arguments(listed({keyword: [*kinds, {"type": "null"}]}, **KINDS)).check
    sent = [{"kind": "circle", "r": 5.0}, {"kind": "box", "r": 5.0}, None]
    filled = [{"kind": "circle", "r": 5}, {"kind": "box", "r": 5.0, "a": 1}, None]
    assert repr(check({"l": sent}).unwrap()["l"]) == repr(filled)
    if keyword == "anyOf":
        assert repr(check({"l": [{"r": 5.0}]}).unwrap()["l"]) == "[{'r': 5}]"


def test_a_text_that_two_alternatives_take_tells_nothing() -> None:
    """The first that fits is used, as ever; and where one of them takes any text."""
    either = {"anyOf": [members(kind={"const": "x"}, r=each) for each in (TEXT, INTEGER)]}
    assert written(either, {"kind": "x", "r": 5.0}) == "{'kind': 'x', 'r': 5}"
    any_text = {"anyOf": [members(kind={"const": "x"}, r=TEXT), members(kind=TEXT, r=INTEGER)]}
    assert written(any_text, {"kind": "x", "r": 5.0}) == "{'kind': 'x', 'r': 5}"


def test_a_long_default_may_stand_within_another() -> None:
    """A text of 20 KB in the one place that wants it; rows by the thousand in a default too."""
    long = members(p={"type": "string", "default": "x" * 20_000})
    assert check_schema(members(options={**long, "default": {}})) == ()
    rows = {**listed(defaulted(1))["properties"]["l"], "default": [{}] * 5_000}
    assert check_schema(members(rows=rows)) == ()
