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
from collections.abc import Iterator, Mapping

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


def expansion(places: Places) -> dict[str, int]:
    """For each place the number of places visited for one value. Needs a schema without loops."""
    sizes: dict[str, int] = {}
    for start in places:
        stack = [start]
        while stack:  # not recursive: a chain of references may be longer than Python's stack
            branches = places.same_value(stack[-1])
            waiting = [branch for branch in branches if branch.pointer not in sizes]
            if waiting:
                stack += waiting
            else:
                total = 1 + sum(sizes[branch.pointer] for branch in branches)
                sizes[stack.pop().pointer] = min(total, MAX_REACH + 1)
    return sizes


def depth_limit(places: Places) -> int | None:
    """How deep arguments may nest before the work multiplies beyond bounds; None = no limit."""
    if not any(name in place.rules for place in places for name in REFERENCES):
        return None
    edges = {place.pointer: _edges(places, place) for place in places}
    growth = max(
        (
            multiplicity
            for group in _cycles({a: {b for b, _ in e} for a, e in edges.items()})
            for multiplicity in _multiplicities(edges, group)
        ),
        default=1,
    )
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


def _cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Strongly connected groups that contain a cycle (small graphs: plain reachability)."""
    reachable = {node: _reachable(graph, node) for node in graph}
    groups: list[set[str]] = []
    for node, others in reachable.items():
        if node in others and not any(node in group for group in groups):
            groups.append({n for n in others if node in reachable[n]})
    return groups


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    queue = [start]
    while queue:
        for node in graph[queue.pop()]:
            if node not in seen:
                seen.add(node)
                queue.append(node)
    return seen
