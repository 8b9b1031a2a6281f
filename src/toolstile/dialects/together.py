"""All places that describe one value, read together.

A value is described by its place, by what that refers to and by its `allOf`; these hold without
conditions and are the *parts*. Others hold only if something else does (`anyOf`, `then`, ...): what
these declare must stay possible, and no more can be said of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

import msgspec

from toolstile.model.canonical import canonical
from toolstile.schema.contain.conjunction import matches, types_of
from toolstile.schema.keywords import Role
from toolstile.schema.places import Place, Places

ALTERNATIVES = ("anyOf", "oneOf")
# Beside these, no names or items are evaluated elsewhere.
LEFTOVERS = ("additionalProperties", "unevaluatedProperties")


def flat(places: Places, starts: Iterable[Place]) -> tuple[Place, ...]:
    """The parts: the places, what they refer to and their `allOf`, each once."""
    found: dict[str, Place] = {}
    queue = list(starts)[::-1]
    while queue:
        place = queue.pop()
        if place.pointer not in found:
            found[place.pointer] = place
            below = [p for p in places.children(place, Role.BRANCH) if p.keyword == "allOf"]
            queue += [*referred(places, place), *below][::-1]
    return tuple(found.values())


def referred(places: Places, place: Place) -> list[Place]:
    """Where a place's references lead, as far as they lead to one place only."""
    found = places.target(place, "$ref") if "$ref" in place.rules else []
    if "$dynamicRef" in place.rules:
        dynamic = places.target(place, "$dynamicRef")
        found = [*found, *dynamic] if len(dynamic) == 1 else found
    return found


def conditional(
    places: Places, parts: Iterable[Place], without: frozenset[str]
) -> tuple[Place, ...]:
    """The places that describe the same value only under conditions, but for `without`."""
    seen = {part.pointer for part in parts} | without
    queue = deque(parts)
    found: list[Place] = []
    while queue:
        place = queue.popleft()
        tests = [p for p in places.children(place, Role.TEST) if p.keyword == "if"]
        for branch in (*places.branches(place), *tests):
            if branch.pointer not in seen:
                seen.add(branch.pointer)
                found.append(branch)
                queue.append(branch)
    return tuple(found)


def groups(places: Places, part: Place) -> Iterator[tuple[str, list[Place]]]:
    """The alternatives of one part: `anyOf` or `oneOf`, with its branches."""
    for keyword in ALTERNATIVES:
        branches = [p for p in places.children(part, Role.BRANCH) if p.keyword == keyword]
        if branches:
            yield keyword, branches


def declared(places: Places, place: Place, name: str) -> list[Place]:
    """What one place says of a member, by its name or by a pattern."""
    own = [p for p in places.children(place, Role.VALUE) if p.name == name]
    found = [p for p in own if p.keyword == "properties"]
    if "patternProperties" in place.rules:
        found += [p for p in patterned(places, place) if matches(p.name, name)]
    return found


def patterned(places: Places, place: Place) -> list[Place]:
    """The schemas of members whose names match a pattern."""
    return [p for p in places.children(place, Role.VALUE) if p.keyword == "patternProperties"]


def only(places: Places, place: Place, keyword: str) -> Place | None:
    """The one subschema under a keyword."""
    return next((p for p in places.children(place, Role.VALUE) if p.keyword == keyword), None)


def types(places: Places, branch: Place) -> frozenset[str]:
    """The DISJOINT types that a branch leaves."""
    found = types_of({})
    for part in flat(places, [branch]):
        found &= types_of(part.rules) if part.schema is not False else frozenset()
    return found


class Apart(msgspec.Struct, frozen=True):
    """How alternatives are told apart: all by their types, but for objects, which have a `tag`: a
    member that each of them holds to values of its own."""

    tag: str | None = None


def apart(places: Places, branches: list[Place]) -> Apart | None:
    """How at most one of these can fit; None where several may."""
    by_type = [types(places, branch) for branch in branches]
    if _disjoint(by_type):
        return Apart()
    objects = [b for b, kinds in zip(branches, by_type, strict=True) if kinds == {"object"}]
    others = [kinds for kinds in by_type if kinds != {"object"}]
    if not objects or not _disjoint([frozenset(("object",)), *others]):
        return None
    tags = [_tags(places, branch) for branch in objects]
    for name in sorted(set.intersection(*map(set, tags))):
        if _disjoint([tag[name] for tag in tags]):
            return Apart(name)
    return None


def _disjoint(sets: list[frozenset[str]] | list[frozenset[bytes]]) -> bool:
    return len(frozenset().union(*sets)) == sum(map(len, sets))


def _tags(places: Places, branch: Place) -> dict[str, frozenset[bytes]]:
    """The members that a branch demands of an object and holds to listed values."""
    found: dict[str, frozenset[bytes]] = {}
    parts = flat(places, [branch])
    demanded = {name for part in parts for name in part.rules.get("required", ())}
    for part in parts:
        for member in places.children(part, Role.VALUE):
            if member.keyword == "properties" and member.name in demanded:
                values = _values(places, member)
                if values is not None:
                    found[member.name] = values
    return found


def tag_values(places: Places, branch: Place, tag: str) -> frozenset[bytes]:
    """The values of a tag with which a branch is meant, as canonical JSON."""
    return _tags(places, branch)[tag]


def _values(places: Places, member: Place) -> frozenset[bytes] | None:
    for part in flat(places, [member]):
        if "const" in part.rules:
            return frozenset((canonical(part.rules["const"]),))
        if "enum" in part.rules:
            return frozenset(map(canonical, part.rules["enum"]))
    return None
