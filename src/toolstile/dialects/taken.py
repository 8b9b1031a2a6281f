"""Which places of a schema a dialect takes as they are.

What it takes is left as its author wrote it; only the rest is written anew.
"""

from __future__ import annotations

from toolstile.dialects.dialect import Dialect
from toolstile.schema.keywords import Role, asserts, type_names
from toolstile.schema.places import Place, Places
from toolstile.schema.recursion import LOOKS_AGAIN

COMBINING = frozenset(
    """anyOf oneOf allOf not if then else enum const $ref $dynamicRef dependentSchemas
    dependentRequired""".split()
)
# Without one of these, a schema says nothing of types.
TYPING = frozenset(("type", "$ref", "anyOf"))
# What references are found by; what is copied is found by a name on the shelf instead.
ADDRESSES = frozenset(("$id", "$anchor", "$dynamicAnchor"))


def taken(places: Places, dialect: Dialect, *, whole: bool = False) -> frozenset[str]:
    """The pointers of the places that are taken with everything below and referred to. Where
    `$dynamicRef` leads depends on the way there, so it is taken only with the schema as a whole."""
    refused = {
        place.pointer
        for place in places
        if not _by_itself(place, dialect) or ("$dynamicRef" in place.rules and not whole)
    }
    if not dialect.recursive:
        refused |= endless(places)
    leading = {place.pointer: _leads_to(places, place) for place in places}
    while True:
        more = {at for at, below in leading.items() if at not in refused and below & refused}
        if not more:
            return frozenset(leading.keys() - refused)
        refused |= more


def _leads_to(places: Places, place: Place) -> set[str]:
    """What a place is taken with. On a shelf nothing is enforced; whoever refers to it looks
    there."""
    below = places.children(place, Role.VALUE, Role.BRANCH, Role.TEST)
    return {each.pointer for each in (*below, *places.targets(place))}


def _by_itself(place: Place, dialect: Dialect) -> bool:
    rules = place.rules
    if isinstance(place.schema, bool):
        return _takes_boolean(place, dialect)
    return (
        all(
            dialect.takes(name, value) and dialect.joins(name, rules)
            for name, value in rules.items()
            if asserts(name) and name != "$defs"
        )
        and (dialect.free_values or bool(TYPING & rules.keys()))
        and not (dialect.bare_references and "$ref" in rules and len(rules) > 1)
        and all(dialect.member_name.fullmatch(name) for name in rules.get("properties", ()))
        and _has_taken_types(place, dialect)
        and _is_complete(place, dialect)
        and _is_taken_object(place, dialect)
    )


def _takes_boolean(place: Place, dialect: Dialect) -> bool:
    closes = place.keyword in (*LOOKS_AGAIN, "additionalProperties", "items")
    return closes if place.schema is False else dialect.free_values


def _has_taken_types(place: Place, dialect: Dialect) -> bool:
    types = set(type_names(place.rules))
    return dialect.mixed_types or len(types) < 2 or not types & {"object", "array"}


def _is_complete(place: Place, dialect: Dialect) -> bool:
    """Whether what must be listed is listed, if only to say that there is none."""
    types = type_names(place.rules)
    wants_properties = "object" in types and "properties" not in place.rules
    wants_items = "array" in types and "items" not in place.rules
    return not (dialect.complete and (wants_properties or wants_items))


def _is_taken_object(place: Place, dialect: Dialect) -> bool:
    rules = place.rules
    if not ("object" in type_names(rules) or "properties" in rules):
        return True
    if dialect.closed and rules.get("additionalProperties") is not False:
        return False
    if dialect.all_required:
        return set(rules.get("required", ())) == set(rules.get("properties", ()))
    return True


def endless(places: Places) -> set[str]:
    """The places that a reference comes back to, and those that refer to them."""
    found: set[str] = set()
    for place in places:
        for target in places.targets(place):
            if place.pointer in _reached(places, target):
                found |= {place.pointer, target.pointer}
    return found


def _reached(places: Places, start: Place) -> set[str]:
    seen = {start.pointer}
    queue = [start]
    while queue:
        place = queue.pop()
        for below in (*places.children(place, *Role), *places.targets(place)):
            if below.pointer not in seen:
                seen.add(below.pointer)
                queue.append(below)
    return seen


def height(places: Places, place: Place) -> int:
    """How many levels of objects and arrays a place describes; references count for none."""
    below = [height(places, child) for child in places.children(place, Role.VALUE, Role.BRANCH)]
    is_level = bool({"object", "array"} & set(type_names(place.rules)))
    return is_level + max(below, default=0)
