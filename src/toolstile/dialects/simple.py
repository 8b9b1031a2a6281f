"""The keywords whose value is no schema, read from several places and said as one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from toolstile.dialects.account import MAX_SHOWN
from toolstile.model.canonical import MAX_INTEGER
from toolstile.model.json import JsonValue
from toolstile.schema.contain.conjunction import DISJOINT
from toolstile.schema.places import Place

NUMBERS = frozenset(("integer", "fraction"))


class Simple(msgspec.Struct, frozen=True):
    """Which types a keyword speaks of, and how two of its values are said as one; None where they
    cannot be."""

    types: frozenset[str]
    joined: Callable[[Any, Any], Any]


def _multiple(one: float, other: float) -> float | None:
    if not (isinstance(one, int) and isinstance(other, int)):
        return None
    both = math.lcm(one, other)
    return both if both <= MAX_INTEGER else None


def _either(one: bool, other: bool) -> bool:
    return one or other


def _nothing(one: JsonValue, other: JsonValue) -> None:
    return None


_STRING, _ARRAY, _OBJECT = (frozenset((name,)) for name in ("string", "array", "object"))

SIMPLE: Mapping[str, Simple] = {
    "minimum": Simple(NUMBERS, max),
    "exclusiveMinimum": Simple(NUMBERS, max),
    "maximum": Simple(NUMBERS, min),
    "exclusiveMaximum": Simple(NUMBERS, min),
    "multipleOf": Simple(NUMBERS, _multiple),
    "pattern": Simple(_STRING, _nothing),
    "format": Simple(_STRING, _nothing),
    "minLength": Simple(_STRING, max),
    "maxLength": Simple(_STRING, min),
    "minItems": Simple(_ARRAY, max),
    "maxItems": Simple(_ARRAY, min),
    "uniqueItems": Simple(_ARRAY, _either),
    "minProperties": Simple(_OBJECT, max),
    "maxProperties": Simple(_OBJECT, min),
}


class Joined(msgspec.Struct, frozen=True):
    """One keyword of several places: its value, the places it stands for, and the others."""

    keyword: str
    value: JsonValue
    said: tuple[Place, ...]
    unsaid: tuple[Place, ...] = ()


def joined(parts: tuple[Place, ...]) -> Iterator[Joined]:
    """The simple keywords of the parts, in the order of the table."""
    for keyword, simple in SIMPLE.items():
        having = [part for part in parts if keyword in part.rules]
        if not having:
            continue
        value, said, unsaid = having[0].rules[keyword], having[:1], []
        for part in having[1:]:
            other = part.rules[keyword]
            both = value if other == value else simple.joined(value, other)
            if both is None:
                unsaid.append(part)
            else:
                value = both
                said.append(part)
        yield Joined(keyword, value, tuple(said), tuple(unsaid))


def inclusive(keyword: str, value: Any, types: frozenset[str]) -> tuple[str, JsonValue]:
    """An exclusive bound of integers as an inclusive one; everything else as it is."""
    if not keyword.startswith("exclusive") or types & NUMBERS != {"integer"}:
        return keyword, value
    if abs(value) >= MAX_INTEGER:
        return keyword, value
    if keyword == "exclusiveMinimum":
        return "minimum", math.floor(value) + 1
    return "maximum", math.ceil(value) - 1


def note(keyword: str, value: JsonValue) -> str | None:
    """A constraint for a description; None where it is too long to be read there."""
    text = json.dumps(value, ensure_ascii=False)
    return f"{keyword}: {text}" if len(text) <= MAX_SHOWN else None


def names_of_types(types: frozenset[str]) -> list[str]:
    """The DISJOINT types by their names in JSON Schema."""
    named = ("number" if name == "fraction" else name for name in DISJOINT if name in types)
    found = list(named)
    return [name for name in found if name != "integer" or "number" not in found]


def said_types(types: frozenset[str]) -> str | list[str]:
    """The value of `type`."""
    names = names_of_types(types)
    return names[0] if len(names) == 1 else names


def kinds_of(types: frozenset[str]) -> frozenset[str]:
    """The DISJOINT types where integers and fractions are both numbers."""
    return frozenset("number" if name in NUMBERS else name for name in types)


def scalar_kinds(types: frozenset[str]) -> bool:
    """Whether no object and no array is among the types."""
    return not types & {"object", "array"}
