"""How much work a schema can cause: in-place loops, expansion, and recursive growth.

Three ways in which a small schema makes validation explode, each bounded here:

1. a reference that leads back to itself without entering a member or an item (`{"$ref": "#"}`);
2. branches that double at every step (`allOf: [a, a]`, a: `allOf: [b, b]`, ...);
3. references that look at one member through several branches: every level of the *arguments*
   multiplies the work. Real schemas do this (recursive unions told apart by a constant), so the
   schema is accepted and the depth of its arguments is bounded instead. `unevaluatedProperties`
   and its like look at each alternative once more, to know what it has taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from toolstile.schema.keywords import Role
from toolstile.schema.parse import DEFAULT_LIMITS
from toolstile.schema.places import MAX_GROWTH, MAX_REACH, MAX_REPEATED, REFERENCES, Place, Places

Edges: TypeAlias = Counter[tuple[str, str]]

ANY_MEMBER = "member"
LOOKS_AGAIN = frozenset(("unevaluatedProperties", "unevaluatedItems"))
ALTERNATIVES = frozenset(("anyOf", "oneOf", "if"))
REMEMBERED = 2


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
    starts = [p for p in places if p.parent is None or p.role in (Role.VALUE, Role.TEST)]
    once = {place.pointer: _edges(places, _visits(places, place)) for place in starts}
    limits = [_depth_within(MAX_GROWTH, once)]
    if any(LOOKS_AGAIN & place.rules.keys() for place in places):
        again = {place.pointer: _edges(places, _visits_again(places, place)) for place in starts}
        if not _is_remembered(places, again.values()):
            both = {start: below + again[start] for start, below in once.items()}
            limits.append(_depth_within(MAX_REPEATED, both))
    return min((limit for limit in limits if limit is not None), default=None)


def _is_remembered(places: Places, again: Iterable[Edges]) -> bool:
    """True where the engine remembers what it looked at: measured for up to two types that refer
    to each other, with one layer of alternatives each. Most trees are of this kind."""
    targets = {target.pointer for place in places for target in places.targets(place)}
    return len(targets) <= REMEMBERED and all(n == 1 for below in again for n in below.values())


def _depth_within(bound: int, edges: Mapping[str, Edges]) -> int | None:
    """How deep a value may nest before one of them is looked at more often than that."""
    if not any(below and _multiplies(below) for below in edges.values()):
        return None
    looks = dict.fromkeys(edges, 1)  # at one value so many levels below a place, at most
    for depth in range(DEFAULT_LIMITS.depth):
        deeper = {place: _looks(below, looks, bound) for place, below in edges.items()}
        if deeper == looks:
            return None
        if deeper[""] > bound:
            return depth
        looks = deeper
    return None


def _multiplies(below: Edges) -> bool:
    """True where one value below a place may be looked at more than once."""
    labels = {label for _, label in below}
    return below.total() > 1 and (ANY_MEMBER in labels or len(labels) < below.total())


def _looks(below: Edges, looks: Mapping[str, int], bound: int) -> int:
    by_label: Counter[str] = Counter()
    for (child, label), count in below.items():
        by_label[label] += count * looks[child]
    anywhere = by_label.pop(ANY_MEMBER, 0)
    return min(max([1, anywhere, *(n + anywhere for n in by_label.values())]), bound + 1)


def _edges(places: Places, visited: Iterator[Place]) -> Edges:
    """(child place, label) → how often the visited places look at it. The label says which member
    or item is looked at; two looks under one label may fall on the same value."""
    found: Edges = Counter()
    for same in visited:
        if places.is_leaf(same):
            continue
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


def _visits_again(places: Places, place: Place) -> Iterator[Place]:
    """What is visited once more because something wants to know what the alternatives took."""
    for same in _visits(places, place):
        queue = [same] if LOOKS_AGAIN & same.rules.keys() else []
        while queue:
            for branch in places.same_value(queue.pop()):
                if branch.keyword in ALTERNATIVES:
                    yield from _visits(places, branch)
                queue.append(branch)


def _label(child: Place) -> str:
    if child.keyword == "properties":
        return f"{ANY_MEMBER} {child.name}"
    if child.keyword in ("items", "prefixItems", "unevaluatedItems", "contains"):
        return "item"
    return ANY_MEMBER
