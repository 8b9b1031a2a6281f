"""Schemas of the strict profile, and documents that fit them or miss them by one thing.

Every case follows from `(seed, index)` alone, and turns around one *focus* keyword, so that rare
keywords are met as often as common ones. Openness is always written out: wherever an object may
stand as a value, its schema says `additionalProperties` or `unevaluatedProperties`; only branches
of the same value, and definitions, leave it to whoever uses them. So a product that closes
objects by itself has nothing to close, and the standard alone says what is valid.

Nothing of the product is imported here, nor any validator.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

import msgspec

from properties import joins, members, shapes
from properties.members import PARTS
from properties.pools import EXACT, Json, Schema
from properties.shapes import Pen, Recipe, Shape, lookalikes

FOCI = (
    *("type", "enum", "const", "required", "additionalProperties", "unevaluatedProperties"),
    *("patternProperties", "propertyNames", "minProperties", "maxProperties"),
    *("dependentRequired", "dependentSchemas", "prefixItems", "items", "unevaluatedItems"),
    *("contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems"),
    *("minLength", "maxLength", "pattern", "format", "minimum", "maximum"),
    *("exclusiveMinimum", "exclusiveMaximum", "multipleOf", "$ref"),
    *("allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
)
KEYWORDS = (*FOCI, "properties")

_SCALARS: tuple[Recipe, ...] = (
    *(shapes.kinds, shapes.chosen, shapes.text, shapes.number, shapes.number),
    *(shapes.patterned, shapes.formatted),
)
_HOLDERS: tuple[Recipe, ...] = (
    *(shapes.listing, shapes.tuples, shapes.containing, members.an_object, members.mapping),
    *(joins.blended, joins.excluded, joins.referred, joins.tree, joins.leftover),
    *(joins.reasoned, joins.whole),
)
RECIPES: dict[str, tuple[Recipe, ...]] = {
    "": _SCALARS,
    "*": _HOLDERS,
    "type": (shapes.kinds,),
    **dict.fromkeys(("enum", "const"), (shapes.chosen,)),
    **dict.fromkeys(("minLength", "maxLength"), (shapes.text,)),
    "pattern": (shapes.patterned,),
    "format": (shapes.formatted,),
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), (shapes.number,)),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), (shapes.number,)),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems"), (shapes.listing,)),
    "items": (shapes.listing, shapes.tuples),
    "prefixItems": (shapes.tuples, joins.leftover),
    "unevaluatedItems": (shapes.tuples, shapes.containing, joins.leftover),
    **dict.fromkeys(("contains", "minContains", "maxContains"), (shapes.containing,)),
    **dict.fromkeys(("propertyNames", "minProperties", "maxProperties"), (members.mapping,)),
    "$ref": (joins.referred, joins.tree, joins.whole),
    "allOf": (joins.reasoned, joins.scattered),
    "anyOf": (joins.reasoned, joins.blended),
    "oneOf": (joins.reasoned, joins.blended),
    "not": (joins.reasoned, joins.excluded),
    **dict.fromkeys(("if", "then", "else"), (joins.reasoned,)),
}


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One schema, and documents for it as bytes."""

    index: int
    focus: str
    schema: Schema
    documents: tuple[bytes, ...]


def case(seed: int, index: int, documents: int = 20) -> Case:
    """The `index`-th schema of a seed, with that many documents."""
    pen = Pen(Random(f"{seed}/{index}"), RECIPES)
    focus = FOCI[index % len(FOCI)]
    shape = pen.root = _root(pen, focus)
    schema = {**shape.schema, "$defs": pen.defs} if pen.defs else shape.schema
    made = tuple(spell(pen.rng, _value(pen, shape, focus)) for _ in range(documents))
    return Case(index=index, focus=focus, schema=schema, documents=made)


def _root(pen: Pen, focus: str) -> Shape:
    depth = pen.rng.choice((2, 2, 2, 3))
    if members.mapping in RECIPES.get(focus, ()) and pen.maybe(0.5):
        return members.mapping(pen, depth, focus)
    inside = focus in RECIPES and (focus not in PARTS or pen.maybe(0.5))
    recipe = members.declared if inside else pen.rng.choice(PARTS[focus])
    return members.assembled(pen, recipe(pen, depth, focus), depth, focus)


def _value(pen: Pen, shape: Shape, focus: str) -> Json:
    """Two in five fit; of the others most are broken on purpose, some altered blindly."""
    chance = pen.rng.random()
    if chance < 0.4 or not shape.breaks:
        return shape.fit()
    if chance > 0.92:
        return altered(pen.rng, shape.fit())
    aimed = [make for keyword, make in shape.breaks if keyword == focus]
    if aimed and pen.maybe(0.8):
        return pen.rng.choice(aimed)()
    return pen.rng.choice(shape.breaks)[1]()


# --- blind mutations ----------------------------------------------------------------------------


def altered(rng: Random, value: Json) -> Json:
    """`value` with one node, anywhere in it, turned into something close."""
    places = list(_places(value, ()))
    return _replaced(rng, value, rng.choice(places))


Path = tuple[Any, ...]  # names and indices


def _places(value: Json, path: Path) -> Iterator[Path]:
    yield path
    steps: Iterable[Any] = ()
    if isinstance(value, (dict, list)):
        steps = value if isinstance(value, dict) else range(len(value))
    for step in steps:
        yield from _places(value[step], (*path, step))


def _replaced(rng: Random, value: Json, path: Path) -> Json:
    if not path:
        return rng.choice([*lookalikes(value), *_neighbours(rng, value)])
    copy = value.copy()
    copy[path[0]] = _replaced(rng, value[path[0]], path[1:])
    return copy


def _neighbours(rng: Random, value: Json) -> list[Json]:
    """Values of the same type, one edit away."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [value + 1, value - 1, -value] if abs(value) < EXACT else [value - 1, value // 2]
    if isinstance(value, str):
        at = rng.randrange(len(value) + 1)
        edited = value[:at] + rng.choice("*/:-.,0") + value[at + 1 :]
        return [edited, value + "\n", value[1:], value.swapcase(), value + "😀", " " + value]
    if isinstance(value, list):
        return [[*value, *value[:1]], value[1:], value[::-1], [value], [*value, None]]
    if isinstance(value, dict):
        gone = rng.choice([*value, ""])
        rest = {name: member for name, member in value.items() if name != gone}
        return [rest, {**rest, gone.upper(): value.get(gone)}, {**value, "extra": 1}]
    return [None]


# --- spelling -----------------------------------------------------------------------------------


def spell(rng: Random, value: Json) -> bytes:
    """One of the many ways to write a value as JSON; every one means the same."""
    style = rng.random()
    if style < 0.3:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    if style < 0.45:
        return json.dumps(value, indent=rng.choice((None, 1, "\t"))).encode()
    return _spelt(rng, value, rng.choice(("", "", " ", "\r\n\t"))).encode()


def _spelt(rng: Random, value: Json, space: str) -> str:
    if isinstance(value, dict):
        names = rng.sample(list(value), len(value))
        inner = [f"{_text(rng, n)}{space}:{space}{_spelt(rng, value[n], space)}" for n in names]
        return f"{space}{{{space}{f',{space}'.join(inner)}}}{space}"
    if isinstance(value, list):
        return f"[{space}{f'{space},'.join(_spelt(rng, item, space) for item in value)}{space}]"
    if isinstance(value, str):
        return _text(rng, value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return rng.choice(_number(value))
    return json.dumps(value)


def _text(rng: Random, value: str) -> str:
    if rng.random() < 0.5:
        return json.dumps(value, ensure_ascii=rng.random() < 0.5)
    return '"' + "".join(rng.choice(_letter(letter)) for letter in value) + '"'


def _letter(letter: str) -> list[str]:
    units = letter.encode("utf-16-be")
    escaped = "".join(f"\\u{units[i]:02x}{units[i + 1]:02X}" for i in range(0, len(units), 2))
    return [
        json.dumps(letter, ensure_ascii=False)[1:-1],
        escaped,
        r"\/" if letter == "/" else escaped,
    ]


def _number(value: float) -> list[str]:
    """Spellings of a number; integers that no float holds have only one."""
    written = json.dumps(value)
    if isinstance(value, int):
        if abs(value) >= EXACT:
            return [written]
        scaled = [f"{value // 100}E+2"] if value % 100 == 0 else [f"{written}0e-1"]
        return [written, written, f"{written}.0", f"{written}e0", f"{written}.00", *scaled]
    if "e" in written:
        return [written, written.replace("e", "E")]
    before, after = written.split(".")
    shifted = f"{before}{after}".lstrip("-0") or "0"
    sign = "-" if value < 0 else ""
    return [written, f"{written}0", f"{written}e0", f"{sign}{shifted}e-{len(after)}"]
