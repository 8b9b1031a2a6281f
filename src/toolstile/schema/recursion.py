"""How much work a schema can cause: in-place loops, expansion, and recursive growth.

Three ways in which a small schema makes validation explode, each bounded here:

1. a reference that leads back to itself without entering a member or an item (`{"$ref": "#"}`);
2. branches that double at every step (`allOf: [a, a]`, a: `allOf: [b, b]`, ...);
3. a recursive schema that looks at one member through several branches: every level of the
   *arguments* multiplies the work. Real schemas do this (unions told apart by a constant), so the
   schema is accepted and the depth of its arguments is bounded instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from toolstile.schema.keywords import Role
from toolstile.schema.places import MAX_GROWTH, MAX_REACH, REFERENCES, Place, Places

Edges = Mapping[str, Counter[tuple[str, str]]]


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
        return None
    edges = {place.pointer: _edges(places, place) for place in places}
    cycles = _cycles({a: [b for b, _ in e] for a, e in edges.items()})
    growth = max((m for group in cycles for m in _multiplicities(edges, group)), default=1)
    if growth < 2:
        return None
    depth = 1
    while growth ** (depth + 1) <= MAX_GROWTH:
        depth += 1
    return depth


def _edges(places: Places, place: Place) -> Counter[tuple[str, str]]:
    """(child place, label) → how often a validation of `place` looks at it. The label says which
    member or item is looked at; two looks under one label may fall on the same value."""
    found: Counter[tuple[str, str]] = Counter()
    for same in _visits(places, place):
        for child in places.children(same, Role.VALUE, Role.TEST):
            if child.keyword not in ("not", "if", "propertyNames"):
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
    return "member"


def _multiplicities(edges: Edges, group: set[str]) -> Iterator[int]:
    """How many looks one value inside a cycle may get from one look at its parent."""
    for place in group:
        looks: Counter[str] = Counter()
        for (child, label), count in edges[place].items():
            if child in group:  # a child outside the cycle cannot multiply for ever
                looks[label] += count
        anywhere = looks.pop("member", 0)
        yield max([anywhere, *(count + anywhere for count in looks.values())])


def _cycles(graph: Mapping[str, Sequence[str]]) -> list[set[str]]:
    """Strongly connected groups that contain a cycle (Tarjan's algorithm, without recursion)."""
    found: list[set[str]] = []
    numbers: dict[str, int] = {}  # in the order of discovery
    lowest: dict[str, int] = {}  # the first node on the path that leads back from here
    path: list[str] = []
    on_path: set[str] = set()
    for start in graph:
        stack = [(start, iter(graph[start]))] if start not in numbers else []
        while stack:
            node, rest = stack[-1]
            if node not in numbers:
                numbers[node] = lowest[node] = len(numbers)
                path.append(node)
                on_path.add(node)
            following = next((n for n in rest if n not in numbers or n in on_path), None)
            if following is None:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == numbers[node]:
                    group = set(path[path.index(node) :])
                    del path[-len(group) :]
                    on_path -= group
                    if len(group) > 1 or node in graph[node]:
                        found.append(group)
            elif following in numbers:
                lowest[node] = min(lowest[node], numbers[following])
            else:
                stack.append((following, iter(graph[following])))
    return found
