"""Closing: what a schema does not name, it does not take (contract section 1, "Closed").

An object with declared properties gets `additionalProperties: false` unless it says otherwise.
Where several places describe one value (combinators, `$ref`), each knows only its own properties,
so the outermost object is closed by `unevaluatedProperties: false` and its branches stay as they
are. Tests (`not`, `if`, `contains`, `propertyNames`) are never closed, and what a test refers to
must already say what it takes. What is closed is spelt in one way. Closing twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

from toolstile.model.issue import Issue, steps
from toolstile.model.json import JsonObject, freeze, thaw
from toolstile.schema.issue import fault
from toolstile.schema.keywords import Role
from toolstile.schema.places import Place, Places

DECLARES = ("properties", "patternProperties")
SAYS_OTHERWISE = frozenset(("additionalProperties", "unevaluatedProperties"))


class Root(Enum):
    """What the outermost schema stands for: it decides what an empty one means."""

    ARGUMENTS = "arguments"  # nothing declared: no parameters, {} only
    OUTPUT = "output"  # nothing declared: any value of its type


def close(schema: JsonObject, root: Root = Root.ARGUMENTS) -> JsonObject:
    """The closed form of a schema that passed `lint`; frozen."""
    places = Places(schema)
    closed = thaw(schema)
    closed.pop("$schema", None)
    if root is Root.ARGUMENTS:
        closed.setdefault("type", "object")
    for place in places:
        rules = at(closed, place.pointer)
        keyword = closing_keyword(places, place, root)
        if keyword is not None:
            rules[keyword] = False
        if isinstance(rules, dict) and "required" in rules:
            _spell_required(rules)
    if root is Root.ARGUMENTS:
        closed.setdefault("properties", {})
    frozen: JsonObject = freeze(closed)
    return frozen


def _spell_required(rules: dict[str, Any]) -> None:
    """One meaning, one spelling, and so one digest: the names in order, and nothing for none."""
    rules["required"] = sorted(rules["required"])
    if not rules["required"]:
        del rules["required"]


def closing_keyword(places: Places, place: Place, root: Root = Root.ARGUMENTS) -> str | None:
    """The keyword that closing adds at a place; None where it adds nothing."""
    if place.role is not Role.VALUE or place.tested or not isinstance(place.schema, dict):
        return None
    if SAYS_OTHERWISE & place.rules.keys():
        return None
    if not place.pointer and root is Root.ARGUMENTS and not _concerns_objects(places, place):
        return "additionalProperties"
    if not _concerns_objects(places, place):
        return None
    return "unevaluatedProperties" if places.branches(place) else "additionalProperties"


def _concerns_objects(places: Places, place: Place) -> bool:
    """True where properties are declared for this value, by itself or through branches."""
    return any(
        name in other.rules for other in places.reach(place) for name in (*DECLARES, "required")
    )


def split_faults(places: Places) -> Iterator[Issue]:
    """References from a test to a schema that closing would change: their meaning would split."""
    for place in places:
        if not place.tested:
            continue
        for target in places.targets(place):
            if _would_change(places, target):
                reason = "a schema used as a test must say itself what its objects take"
                hint = "write 'additionalProperties' into every object of the schema referred to"
                yield fault(place.pointer, "$ref", reason, hint)


def _would_change(places: Places, target: Place) -> bool:
    inside = (p for p in places if p.pointer.startswith(f"{target.pointer}/"))
    return any(closing_keyword(places, place) is not None for place in inside)


def at(document: Any, json_pointer: str) -> Any:
    """The value at a JSON Pointer that is known to lead somewhere."""
    for name in steps(json_pointer):
        document = document[int(name) if isinstance(document, list) else name]
    return document
