"""How much work a schema can cause: in-place loops, expansion, and recursive growth.

Three ways in which a small schema makes validation explode, each bounded here:

1. a reference that leads back to itself without entering a member or an item (`{"$ref": "#"}`);
2. branches that double at every step (`allOf: [a, a]`, a: `allOf: [b, b]`, ...);
3. references that look at one member through several branches: every level of the *arguments*
   multiplies the work. Real schemas do this (recursive unions told apart by a constant), so the
   schema is accepted and the depth of its arguments is bounded instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

from toolstile.schema.keywords import Role
from toolstile.schema.parse import DEFAULT_LIMITS
from toolstile.schema.places import MAX_GROWTH, MAX_REACH, REFERENCES, Place, Places

Edges: TypeAlias = Counter[tuple[str, str]]

ANY_MEMBER = "member"
NO_EDGES: Edges = Counter()


def loops(places: Places) -> list[Place]:
    """The places whose `$ref` chain comes back to them without consuming a value."""
    done: set[str] = set()
    found: list[Place] = []
    for place in places:
        if place.pointer not in done:
            _look_for_loops(places, place, done, found)
    return found


def _look_for_loops(places: Places, start: Place, done: set[str], found: list[Place]) -> None:
    path: dict[str, None] = {start.pointer: None}
    stack = [(start, iter(places.same_value(start)))]
    while stack:
        place, rest = stack[-1]
        following = next(rest, None)
        if following is None:
            done.add(place.pointer)
            path.pop(place.pointer)
            stack.pop()
        elif following.pointer in path:
            found.append(place)
        elif following.pointer not in done:
            path[following.pointer] = None
            stack.append((following, iter(places.same_value(following))))


class Expansion(NamedTuple):
    """What one value costs at a place: places visited, and how many of them in a row."""

    visits: int
    chain: int


def expansion(places: Places) -> dict[str, Expansion]:
    """The expansion of every place. Needs a schema without loops."""
    known: dict[str, Expansion] = {}
    for start in places:
        stack = [start]
        while stack:  # not recursive: a chain of references may be longer than Python's stack
            branches = places.same_value(stack[-1])
            waiting = [branch for branch in branches if branch.pointer not in known]
            if waiting:
                stack += waiting
            else:
                below = [known[branch.pointer] for branch in branches]
                visits = 1 + sum(each.visits for each in below)
                chain = 1 + max((each.chain for each in below), default=0)
                known[stack.pop().pointer] = Expansion(min(visits, MAX_REACH + 1), chain)
    return known


def depth_limit(places: Places) -> int | None:
    """How deep arguments may nest before the work multiplies beyond bounds; None = no limit."""
    if not any(name in place.rules for place in places for name in REFERENCES):
        return None  # every look is then a place of its own, and places are bounded
    edges = {
        place.pointer: _edges(places, place)
        for place in places
        if place.parent is None or place.role in (Role.VALUE, Role.TEST)
    }
    if not any(below and _multiplies(below) for below in edges.values()):
        return None
    looks = dict.fromkeys(edges, 1)  # at one value so many levels below a place, at most
    for depth in range(DEFAULT_LIMITS.depth):
        deeper = {place: _looks(below, looks) for place, below in edges.items()}
        if deeper == looks:
            return None
        if deeper[""] > MAX_GROWTH:
            return depth
        looks = deeper
    return None


def _multiplies(below: Edges) -> bool:
    """True where one value below a place may be looked at more than once."""
    labels = {label for _, label in below}
    return below.total() > 1 and (ANY_MEMBER in labels or len(labels) < below.total())


def _looks(below: Edges, looks: Mapping[str, int]) -> int:
    by_label: Counter[str] = Counter()
    for (child, label), count in below.items():
        by_label[label] += count * looks[child]
    anywhere = by_label.pop(ANY_MEMBER, 0)
    return min(max([1, anywhere, *(n + anywhere for n in by_label.values())]), MAX_GROWTH + 1)


def _edges(places: Places, place: Place) -> Edges:
    """(child place, label) → how often a validation of `place` looks at it. The label says which
    member or item is looked at; two looks under one label may fall on the same value."""
    if places.is_leaf(place):
        return NO_EDGES  # most places; a table of its own for each costs more than all the others
    found: Edges = Counter()
    for same in _visits(places, place):
        for child in places.children(same, Role.VALUE, Role.TEST):
            looks_on = isinstance(child.schema, dict)  # true and false look at nothing
            if looks_on and child.keyword not in ("not", "if", "propertyNames"):
                found[(child.pointer, _label(child))] += 1
    return found


def _visits(places: Places, place: Place) -> Iterator[Place]:
    queue = [place]
    while queue:
        place = queue.pop()
        yield place
        queue += places.same_value(place)


def _label(child: Place) -> str:
    if child.keyword == "properties":
        return "member " + child.pointer.rsplit("/", 1)[1]
    if child.keyword in ("items", "prefixItems", "unevaluatedItems", "contains"):
        return "item"
    return ANY_MEMBER
