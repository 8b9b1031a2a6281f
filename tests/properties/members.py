"""Objects, made of parts that each bring their own members and their own keywords."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from properties import pools
from properties.joins import aimed_at, logical
from properties.pools import Json, Schema
from properties.shapes import (
    Break,
    Make,
    Pen,
    Recipe,
    Shape,
    from_pool,
    number,
    some,
    text,
    through,
    types_of,
)

OPENNESS = ("additionalProperties", "unevaluatedProperties")
JOINED = ("properties", "patternProperties", "dependentRequired", "dependentSchemas")


def an_object(pen: Pen, depth: int, focus: str) -> Shape:
    """A nested object."""
    outer, pen.names = pen.names, pen.fresh()
    shape = assembled(pen, declared(pen, depth, focus), depth, focus)
    pen.names = outer
    return shape


def assembled(pen: Pen, first: Shape, depth: int, focus: str) -> Shape:
    """An object of one part, perhaps others, and a word on all other members."""
    parts = [first]
    if "properties" not in first.schema or pen.maybe(0.2):
        parts.append(declared(pen, depth, ""))
    if pen.maybe(0.2):
        parts.append(pen.rng.choice(ANY_PART)(pen, depth - 1, ""))
    parts.append(closing(pen, focus, inward=any(part.inward for part in parts)))
    return joined(parts)


def joined(parts: list[Shape]) -> Shape:
    """One object of parts that share no member; a value is broken in one part only."""
    schema: Schema = {"type": "object"}
    for part in parts:
        _add(schema, part.schema)

    def whole(index: int, own: Json) -> Json:
        made = [own if i == index else part.fit() for i, part in enumerate(parts)]
        return {name: value for members in made for name, value in members.items()}

    misses = [
        miss
        for index, part in enumerate(parts)
        for miss in through(partial(whole, index), part.breaks)
    ]
    return Shape(schema=schema, fit=lambda: whole(-1, None), breaks=misses)


def _add(schema: Schema, more: Schema) -> None:
    """Say `more` in `schema` too; what cannot be said twice goes into `allOf`."""
    rest = {k: v for k, v in more.items() if k not in (*JOINED, "required", "allOf")}
    if rest.keys() & schema.keys():
        schema["allOf"] = [*schema.get("allOf", ()), rest]
    else:
        schema |= rest
    for keyword in JOINED:
        if keyword in more:
            schema[keyword] = {**schema.get(keyword, {}), **more[keyword]}
    for keyword in ("required", "allOf"):
        if keyword in more:
            schema[keyword] = [*schema.get(keyword, ()), *more[keyword]]


# --- parts --------------------------------------------------------------------------------------


def declared(pen: Pen, depth: int, focus: str) -> Shape:
    """One to three properties, some required; the first turns around the focus."""
    first = focus if focus in pen.recipes else ""
    count = pen.rng.randint(1, 3)
    shapes = {next(pen.names): pen.value(depth - 1, "" if i else first) for i in range(count)}
    required = [name for name in shapes if pen.maybe(0.5)]
    if focus == "required" and not required:
        required = list(shapes)
    schema: Schema = {"properties": {name: shape.schema for name, shape in shapes.items()}}
    if required:
        schema["required"] = required

    def without(missing: str) -> Json:
        kept = [n for n in shapes if n != missing and (n in required or pen.maybe(0.8))]
        return {name: shapes[name].fit() for name in kept}

    def with_bad(name: str, bad: Json) -> Json:
        return {**without(name), name: bad}

    misses: list[Break] = [("required", partial(without, name)) for name in required]
    for name, shape in shapes.items():
        misses += through(partial(with_bad, name), shape.breaks)
    return Shape(schema=schema, fit=lambda: without(""), breaks=misses)


def by_pattern(pen: Pen, depth: int, _: str) -> Shape:
    """Members whose names follow a pattern, perhaps two."""
    shape = pen.value(depth - 1)
    pattern, names = pen.rng.choice((("^p_[a-z]$", ("p_a", "p_b")), ("^[0-9]{2,}$", ("10", "007"))))
    patterns = {pattern: shape.schema}
    if pen.maybe(0.3):
        types = sorted(types_of(shape.schema))
        patterns["_a$"] = {"type": types, "items": True, "additionalProperties": True}

    def member(value: Json) -> Json:
        return {pen.rng.choice(names): value}

    return Shape(
        schema={"patternProperties": patterns},
        fit=lambda: member(shape.fit()) if pen.maybe(0.8) else {},
        breaks=through(member, shape.breaks, "patternProperties"),
    )


def dependent_names(pen: Pen, _: int, __: str) -> Shape:
    """A member that needs another."""
    a, b = next(pen.names), next(pen.names)
    properties = {a: {"type": "boolean"}, b: {"type": "boolean"}}
    fits: list[Json] = [{}, {b: True}, {a: True, b: False}, {a: False, b: True}]
    miss = ("dependentRequired", lambda: {a: pen.maybe(0.5)})
    schema = {"properties": properties, "dependentRequired": {a: [b]}}
    return from_pool(pen, schema, fits, miss)


def dependent_schemas(pen: Pen, _: int, __: str) -> Shape:
    """A member in whose presence another is allowed, and perhaps needed."""
    a, b = next(pen.names), next(pen.names)
    shape = number(pen, 0, "minimum")
    then: Schema = {"properties": {b: shape.schema}}
    misses: list[Break] = [("unevaluatedProperties", lambda: {b: shape.fit()})]
    misses += through(lambda bad: {a: True, b: bad}, shape.breaks, "dependentSchemas")
    if pen.maybe(0.5):
        then["required"] = [b]
        misses += [("dependentSchemas", lambda: {a: True})] * 3
    return Shape(
        schema={"properties": {a: {"type": "boolean"}}, "dependentSchemas": {a: then}},
        fit=lambda: {a: False, b: shape.fit()} if pen.maybe(0.7) else {},
        breaks=misses,
        inward=True,
    )


def reasoned_members(pen: Pen, _: int, focus: str) -> Shape:
    """Two members whose presence, or value, is under a combinator."""
    a, b = next(pen.names), next(pen.names)
    is_on = {"properties": {a: {"const": "on"}}, "required": [a]}

    def world(on: bool, present: bool) -> Json:
        first = {a: "on"} if on else pen.rng.choice(({}, {a: "off"}))
        return {**first, **({b: 1} if present else {})}

    shape = logical(pen, focus, is_on, {"required": [b]}, world)
    properties = {a: {"enum": ["on", "off"]}, b: {"type": "integer"}}
    return replace(shape, schema={"properties": properties, **shape.schema})


def tagged(pen: Pen, _: int, focus: str) -> Shape:
    """A union told apart by a constant: what one variant declares is unevaluated in the other."""
    tag, x, y = next(pen.names), next(pen.names), next(pen.names)
    shapes = {x: number(pen, 0, ""), y: text(pen, 0, "")}
    variants = [
        {"properties": {tag: {"const": name}, name: shape.schema}, "required": [tag, name]}
        for name, shape in shapes.items()
    ]
    keyword = focus if focus in ("if", "then", "else", "anyOf") else "oneOf"
    if keyword in ("if", "then", "else"):
        is_x = {"properties": {tag: {"const": x}}, "required": [tag]}
        schema: Schema = {"if": is_x, "then": variants[0], "else": variants[1]}
    else:
        schema = {keyword: variants}

    def fit() -> Json:
        name = pen.rng.choice((x, y))
        return {tag: name, name: shapes[name].fit()}

    misses: list[Break] = [
        ("unevaluatedProperties", lambda: {tag: x, x: shapes[x].fit(), y: shapes[y].fit()}),
        (keyword, lambda: {tag: x, y: shapes[y].fit()}),
        *through(lambda bad: {tag: x, x: bad}, shapes[x].breaks, keyword),
        *through(lambda bad: {tag: y, y: bad}, shapes[y].breaks, keyword),
    ]
    return Shape(schema=schema, fit=fit, breaks=misses, inward=True)


def based(pen: Pen, depth: int, focus: str) -> Shape:
    """Members declared elsewhere: in a definition, or in a branch of `allOf`."""
    part = declared(pen, depth, "")
    if focus == "allOf":
        return replace(
            part, schema={"allOf": [part.schema]}, breaks=aimed_at("allOf", part), inward=True
        )
    schema = {"$ref": pen.define(part.schema)}
    return replace(part, schema=schema, breaks=aimed_at("$ref", part), inward=True)


def closing(pen: Pen, focus: str, *, inward: bool) -> Shape:
    """What becomes of all other members: nothing, anything, or something of a shape."""
    keyword = "unevaluatedProperties" if inward else pen.rng.choice(OPENNESS)
    if focus in OPENNESS and not inward:
        keyword = focus
    kinds = ("false", "false", "schema") if focus in OPENNESS else ("false", "schema", "true")
    kind = pen.rng.choice(("false", "false", *kinds))
    shape = pen.value(0)

    def extra(value: Json) -> Json:
        return {pen.rng.choice(pools.EXTRAS): value}

    def fit() -> Json:
        made: Make = shape.fit if kind == "schema" else partial(some, pen)
        return extra(made()) if kind != "false" and pen.maybe(0.4) else {}

    if kind == "true":  # in a branch's place too: `additionalProperties: true` evaluates all
        return Shape(schema={pen.rng.choice(OPENNESS): True}, fit=fit)
    if kind == "schema":
        misses = through(extra, shape.breaks, keyword)
        return Shape(schema={keyword: shape.schema}, fit=fit, breaks=misses)
    return Shape(schema={keyword: False}, fit=fit, breaks=[(keyword, lambda: extra(some(pen)))])


# --- dictionaries -------------------------------------------------------------------------------


def mapping(pen: Pen, depth: int, focus: str) -> Shape:
    """An object without declared names: names, values and their count have rules."""
    named, good, bad = pen.rng.choice(pools.NAMED)
    value = pen.value(depth - 1)
    low = pen.rng.randint(1, 2)
    high = low + pen.rng.randint(0, 2)
    rules = {"propertyNames": named, "minProperties": low, "maxProperties": high}
    kept = {keyword: rule for keyword, rule in rules.items() if keyword == focus or pen.maybe(0.6)}

    def some_of(size: int, names: tuple[str, ...] = good) -> Json:
        return {name: value.fit() for name in pen.rng.sample(names, size)}

    makes: dict[str, Make] = {
        "propertyNames": lambda: {**some_of(high - 1), **some_of(1, bad)},
        "minProperties": partial(some_of, low - 1),
        "maxProperties": partial(some_of, high + 1),
    }
    misses = [(keyword, makes[keyword]) for keyword in kept]
    keyword = pen.rng.choice(OPENNESS)
    misses += through(
        lambda item: {**some_of(high - 1), pen.rng.choice(good): item}, value.breaks, keyword
    )
    return Shape(
        schema={"type": "object", **kept, keyword: value.schema},
        fit=lambda: some_of(pen.rng.randint(low, high)),
        breaks=misses,
    )


PARTS: dict[str, tuple[Recipe, ...]] = {
    "required": (declared,),
    "additionalProperties": (declared,),
    "unevaluatedProperties": (tagged, based, dependent_schemas, declared),
    "patternProperties": (by_pattern,),
    "dependentRequired": (dependent_names,),
    "dependentSchemas": (dependent_schemas,),
    "$ref": (based,),
    "allOf": (reasoned_members, based),
    "not": (reasoned_members,),
    **dict.fromkeys(("anyOf", "oneOf", "if", "then", "else"), (reasoned_members, tagged)),
}
ANY_PART = tuple(dict.fromkeys(part for parts in PARTS.values() for part in parts))
