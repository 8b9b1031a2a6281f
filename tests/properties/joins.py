"""Shapes that look at one value more than once: combinators and references."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from properties.pools import EXACT, Json, Schema
from properties.shapes import (
    Break,
    Make,
    Pen,
    Shape,
    either,
    formatted,
    kinds,
    number,
    patterned,
    some,
    text,
    through,
    types_of,
)

World = Callable[[bool, bool], Json]
Truth = tuple[Callable[[Schema, Schema], Schema], Callable[[bool, bool], bool]]

# How each keyword joins two conditions, and when the whole holds.
TRUTHS: dict[str, tuple[Truth, ...]] = {
    "allOf": ((lambda a, b: {"allOf": [a, b]}, lambda x, y: x and y),),
    "anyOf": ((lambda a, b: {"anyOf": [a, b]}, lambda x, y: x or y),),
    "oneOf": ((lambda a, b: {"oneOf": [a, b]}, lambda x, y: x != y),),
    "not": (
        (lambda a, _: {"not": a}, lambda x, _: not x),
        (lambda a, b: {"not": {"allOf": [a, b]}}, lambda x, y: not (x and y)),
        (lambda a, b: {"not": {"anyOf": [a, {"not": b}]}}, lambda x, y: y and not x),
    ),
    "if": ((lambda a, b: {"if": a, "then": b, "else": {"not": b}}, lambda x, y: x == y),),
    "then": ((lambda a, b: {"if": a, "then": b}, lambda x, y: y or not x),),
    "else": ((lambda a, b: {"if": a, "else": b}, lambda x, y: x or y),),
}


def logical(pen: Pen, focus: str, a: Schema, b: Schema, world: World) -> Shape:
    """Two conditions, joined; `world` makes a value of which they are true or false."""
    keyword = focus if focus in TRUTHS else pen.rng.choice(tuple(TRUTHS))
    build, holds = pen.rng.choice(TRUTHS[keyword])
    states = tuple(itertools.product((True, False), repeat=2))
    fits = [state for state in states if holds(*state)]
    misses = [state for state in states if not holds(*state)]
    return Shape(
        schema=build(a, b),
        fit=lambda: world(*pen.rng.choice(fits)),
        breaks=((keyword, lambda: world(*pen.rng.choice(misses))),),
    )


def reasoned(pen: Pen, _: int, focus: str) -> Shape:
    """An integer, a string or an array under a combinator."""
    base, a, b, world = pen.rng.choice((_integers, _texts, _arrays))(pen)
    shape = logical(pen, focus, a, b, world)
    return replace(shape, schema={**base, **shape.schema})


def _integers(pen: Pen) -> tuple[Schema, Schema, Schema, World]:
    step, pivot = pen.rng.randint(2, 9), pen.rng.choice((0, 10, -7, EXACT + 1))

    def world(multiple: bool, large: bool) -> int:
        steps = pivot // step + (1 if large else -1) * pen.rng.randint(1, 5)
        return steps * step + (0 if multiple else pen.rng.randint(1, step - 1))

    return {"type": "integer"}, {"multipleOf": step}, {"minimum": pivot}, world


def _texts(pen: Pen) -> tuple[Schema, Schema, Schema, World]:
    size = pen.rng.randint(2, 4)

    def world(begins: bool, long: bool) -> str:
        length = size + pen.rng.randint(0, 2) if long else pen.rng.randint(1, size - 1)
        return ("x" if begins else "y") + "😀" * (length - 1)

    return {"type": "string"}, {"pattern": "^x"}, {"minLength": size}, world


def _arrays(pen: Pen) -> tuple[Schema, Schema, Schema, World]:
    def world(zero: bool, long: bool) -> list[int]:
        items = [pen.rng.randint(1, 9) for _ in range(3 if long else pen.rng.randint(1, 2))]
        if zero:
            items[pen.rng.randrange(len(items))] = 0
        return items

    base = {"type": "array", "items": {"type": "integer"}}
    return base, {"contains": {"const": 0}}, {"minItems": 3}, world


def blended(pen: Pen, depth: int, focus: str) -> Shape:
    """One of two shapes."""
    left, right = pen.value(depth - 1), pen.rng.choice((number, text, kinds))(pen, 0, "")
    apart = not types_of(left.schema) & types_of(right.schema)
    keyword = "oneOf" if focus == "oneOf" and apart else "anyOf"
    return Shape(
        schema=either(pen, left.schema, right.schema, keyword=keyword),
        fit=lambda: pen.rng.choice((left, right)).fit(),
        breaks=aimed_at(keyword, left, right),
    )


def aimed_at(keyword: str, *shapes: Shape) -> list[Break]:
    """The breaks of some shapes, as breaks of the keyword that holds them."""
    return [(keyword, make) for shape in shapes for _, make in shape.breaks]


def excluded(pen: Pen, depth: int, _: str) -> Shape:
    """Any shape without one of its values."""
    shape = pen.value(depth - 1)
    if {"not", "enum", "const"} & shape.schema.keys():  # a listed value must fit what is beside it
        return shape
    hole = shape.fit()
    schema = {**shape.schema, "not": pen.rng.choice(({"const": hole}, {"enum": [hole]}))}

    def fit() -> Json:
        tries = (shape.fit() for _ in range(5))
        return next((value for value in tries if value != hole), hole)

    return Shape(schema=schema, fit=fit, breaks=(*shape.breaks, ("not", lambda: hole)))


def scattered(pen: Pen, _: int, __: str) -> Shape:
    """A scalar whose keywords are spread over `allOf`."""
    shape = pen.rng.choice((number, text, patterned, formatted))(pen, 0, "")
    branches = [{keyword: value} for keyword, value in shape.schema.items()]
    schema = {"type": shape.schema["type"], "allOf": branches}
    return replace(shape, schema=schema, breaks=aimed_at("allOf", shape))


def referred(pen: Pen, depth: int, _: str) -> Shape:
    """A shape behind a reference."""
    shape = pen.value(depth - 1)
    schema: Schema = {"$ref": pen.define(shape.schema)}
    if "object" in types_of(shape.schema):
        schema["unevaluatedProperties"] = pen.maybe(0.5)
    return replace(shape, schema=schema, breaks=aimed_at("$ref", shape))


def tree(pen: Pen, _: int, __: str) -> Shape:
    """A recursive definition: nodes in a chain, or in lists."""
    value = pen.value(0)
    again: Schema = {"$ref": pen.define({"type": "object"}), "unevaluatedProperties": False}
    nodes = {"type": "array", "items": again, "maxItems": 2}
    properties = {"value": value.schema, "next": again, "nodes": nodes}
    definition = list(pen.defs.values())[-1]
    definition |= {"properties": properties, "required": ["value"]}

    def grown(leaf: Json) -> Json:
        for _ in range(pen.rng.randint(0, 3)):
            node = {"value": value.fit()}
            leaf = {**node, **pen.rng.choice(({"next": leaf}, {"nodes": [leaf, node]}))}
        return leaf

    leaves: list[Break] = [
        ("$ref", dict),
        ("unevaluatedProperties", lambda: {"value": value.fit(), "other": some(pen)}),
        *through(lambda bad: {"value": bad}, value.breaks, "$ref"),
    ]
    return Shape(
        schema=again, fit=lambda: grown({"value": value.fit()}), breaks=through(grown, leaves)
    )


def whole(pen: Pen, _: int, __: str) -> Shape:
    """A list of what the root describes; one level of it, for the judge's sake."""
    here = pen.rng.choice(("#", "#", ""))  # RFC 3986 4.4: both are this document
    item = {"$ref": here, "unevaluatedProperties": pen.maybe(0.5)}

    def inner(pick: Callable[[Shape], Json]) -> list[Json]:
        root, pen.root = pen.root, None
        made = [pick(root)] if root else []
        pen.root = root
        return made

    def broken(root: Shape) -> Json:
        return pen.rng.choice(root.breaks)[1]() if root.breaks else None

    return Shape(
        schema={"type": "array", "items": item},
        fit=lambda: inner(lambda root: root.fit()) if pen.maybe(0.4) else [],
        breaks=[("$ref", partial(inner, broken))],
    )


def leftover(pen: Pen, _: int, __: str) -> Shape:
    """`unevaluatedItems` beside branches that look at one item, or at two."""
    first, second = number(pen, 0, ""), text(pen, 0, "")
    one = {"prefixItems": [first.schema]}
    two = {"prefixItems": [first.schema, second.schema]}
    looks: tuple[Callable[[], Schema], ...] = (
        lambda: {"anyOf": [one, two]},
        lambda: {"allOf": [one, {"anyOf": [two, {"maxItems": 1}]}]},
        lambda: {"if": {"minItems": 2}, "then": two, "else": one},
        lambda: {"$ref": pen.define(two)},
    )
    pair: Make = lambda: [first.fit(), second.fit()]  # noqa: E731
    misses: list[Break] = [
        ("unevaluatedItems", lambda: [*pair(), some(pen)]),
        ("unevaluatedItems", lambda: [first.fit(), None]),
        *through(lambda bad: [bad, second.fit()], first.breaks, "prefixItems"),
    ]
    return Shape(
        schema={"type": "array", **pen.rng.choice(looks)(), "unevaluatedItems": False},
        fit=lambda: pair()[: pen.rng.choice((1, 2, 2))],
        breaks=misses,
    )
