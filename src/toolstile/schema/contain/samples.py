"""Small values for a schema, always the same ones: the smallest, and what varies at each place.

Values are built from what places say together (`Conjunction`), and so mostly fit; whether one does
is for the validator to say. Beside the places described, others may be *near*: then values at the
edges of what those take are built as well, which is where two schemas differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from toolstile.model.canonical import canonical
from toolstile.model.json import JsonObject, JsonValue
from toolstile.schema.contain.beside import Beside
from toolstile.schema.contain.conjunction import OTHERS, Conjunction, disjoint_type, of_type
from toolstile.schema.contain.scalars import fractions, integers, strings, texts
from toolstile.schema.places import Place

MAX_SAMPLES = 2_000
MAX_DEPTH = 8
# For a value inside another one: its variations add up in the outer one.
MAX_NESTED = 48
# Members and items that are made only to reach a count.
MAX_COUNT = 300
# Containers made in one run, small or large: what bounds its time.
MAX_MADE = 40_000

_TYPES = ("boolean", "integer", "fraction", "string", "array", "object", "null")


class Sampler:
    """Builds values for the places of one document."""

    def __init__(self, places: Beside) -> None:
        self.places = places
        self.nothing = Conjunction(places, ())
        self._made: dict[tuple[Any, ...], tuple[JsonValue, ...]] = {}
        self._left = MAX_MADE

    def values(
        self,
        said: Conjunction,
        near: Conjunction | None = None,
        depth: int = MAX_DEPTH,
        limit: int = MAX_NESTED,
    ) -> tuple[JsonValue, ...]:
        """Values that should fit what is said; containers are shared and must not be changed."""
        near = near or self.nothing
        key = (said.key, near.key, depth, limit)
        if key not in self._made:
            self._made[key] = tuple(islice(self._distinct(said, near, depth), limit))
        return self._made[key]

    def nearer(self, said: Conjunction) -> Conjunction:
        """All that places, their branches and tests say, each for itself: what lies near."""
        ways = [way.place for part in said.parts for way in self.places.reached(part)]
        tests = [inner for place in ways for inner in self.places.at(place, "not")]
        tests = [way.place for test in tests for way in self.places.reached(test)]
        return Conjunction(self.places, (*ways, *tests))

    def fresh_names(self, said: Conjunction, count: int = 2) -> Iterator[str]:
        """Names that are declared nowhere, as far as members may have them."""
        described = said.children("propertyNames")
        names: Iterable[JsonValue] = ("extra", *(f"extra_{n}" for n in range(2, count + 1)))
        if described:
            names = self.values(Conjunction(self.places, (*described, of_type("string"))))
        for name in islice(names, count):
            free = isinstance(name, str) and name not in said.names
            if free and not said.member(name).impossible:
                yield name

    def may_make(self, size: int) -> bool:
        """True while there is work left for one more container of this size."""
        self._left -= 1 + size // 8
        return self._left > 0

    def _distinct(self, said: Conjunction, near: Conjunction, depth: int) -> Iterator[JsonValue]:
        seen = set()
        for case in cases(self.places, said):
            for value in self._of_case(case, near, depth):
                text = canonical(value)
                if text not in seen:
                    seen.add(text)
                    yield value

    def _of_case(self, said: Conjunction, near: Conjunction, depth: int) -> Iterator[JsonValue]:
        if said.values is not None:
            yield from said.values
            return
        made = [self._of_type(name, said, near, depth) for name in _TYPES if name in said.types]
        yield from _by_turns([*made, iter(_listed(said, near))])

    def _of_type(
        self, name: str, said: Conjunction, near: Conjunction, depth: int
    ) -> Iterator[JsonValue]:
        if name in _SCALARS:
            return iter(_SCALARS[name](said, near))
        if depth == 0:
            return iter(())
        container = Arrays if name == "array" else Objects
        return container(self, said, near, depth - 1).values()


def _listed(said: Conjunction, near: Conjunction) -> list[JsonValue]:
    """Values named by what lies near, of the right type."""
    values = [value for values in near.rule("enum") for value in values[:8]]
    values += near.rule("const")
    return [value for value in values if disjoint_type(value) in said.types]


def _by_turns(sources: list[Iterator[JsonValue]]) -> Iterator[JsonValue]:
    """The first value of each, then the second of each, and so on."""
    while sources:
        going = []
        for source in sources:
            for value in islice(source, 1):
                yield value
                going.append(source)
        sources = going


def cases(places: Beside, said: Conjunction) -> Iterator[Conjunction]:
    """What is said with one branch chosen of each alternative: the first, then each other one."""
    yield _settled(said)
    for group in said.alternatives[:16]:
        for branch in group[1:64]:
            yield _settled(said.plus(branch))
    for part in said.parts:
        for branch in places.optional_branches(part):
            if branch.keyword in ("then", "dependentSchemas"):
                yield _settled(said.plus(*places.conditions(branch)))
        yield from (_settled(said.plus(branch)) for branch in places.at(part, "else"))


def _settled(said: Conjunction) -> Conjunction:
    for _ in range(16):
        groups = said.alternatives
        if not groups:
            break
        possible = [b for b in groups[0] if not said.plus(b).impossible]
        said = said.plus(*(possible or groups[0])[:1])
    return said


_SCALARS: dict[str, Callable[[Conjunction, Conjunction], Iterable[JsonValue]]] = {
    "boolean": lambda said, near: (True, False),
    "null": lambda said, near: (None,),
    "integer": integers,
    "fraction": fractions,
    "string": strings,
}


class Arrays:
    """Arrays: the smallest, one variation of each item at a time, the lengths taken."""

    def __init__(self, sampler: Sampler, said: Conjunction, near: Conjunction, depth: int) -> None:
        self.sampler, self.said, self.near, self.depth = sampler, said, near, depth
        self.items: dict[int, tuple[JsonValue, ...]] = {}
        self.least, self.end = said.at_least("minItems"), said.at_most("maxItems")
        self.most = MAX_COUNT if self.end is None else min(self.end, MAX_COUNT)
        self.unique = any(said.rule("uniqueItems"))

    def values(self) -> Iterator[list[JsonValue]]:
        """The arrays, the smallest first."""
        if self.least > self.most:
            return
        smallest = self._of_length(self.least)
        if smallest is None:
            return
        yield smallest
        for length in sorted(self._lengths()):
            longer = self._of_length(length)
            if longer is not None and self.sampler.may_make(length):
                yield longer
        yield from self._doubled()
        yield from self._varied(smallest)

    def _items(self, index: int) -> tuple[JsonValue, ...]:
        index = index if index < max(self.said.prefix, self.near.prefix) else OTHERS
        if index not in self.items:
            sought = self.near.children("contains")
            near = self.sampler.nearer(self.near.item(index).plus(*sought))
            self.items[index] = self.sampler.values(self.said.item(index), near, self.depth)
        return self.items[index]

    def _of_length(self, length: int) -> list[JsonValue] | None:
        """An array whose items differ if they can; None where there is none so long."""
        contained = [self._contained(place) for place in self.said.children("contains")]
        made: list[JsonValue] = [value for values in contained for value in values][: self.most]
        for index in range(len(made), length):
            values = self._items(index)
            if not values:
                return None
            made.append(values[index % len(values)] if self.unique else values[0])
        return made

    def _contained(self, place: Place, which: int = 0) -> list[JsonValue]:
        count = max((int(n) for n in self.said.rule("minContains")), default=1)
        values = self.sampler.values(self.said.rest.plus(place), None, self.depth)
        return [v for v in values[which : which + 1] for _ in range(min(count, self.most))]

    def _varied(self, smallest: list[JsonValue]) -> Iterator[list[JsonValue]]:
        """One item after the other varied; one more where `contains` needs those there are."""
        for place in self.said.children("contains"):
            yield from (self._contained(place, which) for which in range(MAX_NESTED))
        needed = len(self._of_length(0) or ())
        last = max(len(smallest), self.said.prefix, self.near.prefix, needed + 1)
        for index in range(min(last, self.most)):
            start = self._of_length(max(index, self.least))
            for value in self._items(index) if start is not None else ():
                if start is not None and self.sampler.may_make(len(start)):
                    yield [*start[:index], value, *start[index + 1 :]]

    def _lengths(self) -> set[int]:
        found = {self.least + 1, self.least + 2, self.said.prefix}
        found |= set() if self.end is None else {self.end, self.end - 1}
        found |= {int(end) - 1 for end in self.near.rule("minItems")}
        found |= {int(end) + 1 for end in self.near.rule("maxItems")}
        found |= {self.near.prefix + 1}
        return {n for n in found if self.least < n <= self.most and n <= MAX_COUNT}

    def _doubled(self) -> Iterator[list[JsonValue]]:
        if self.least <= 2 <= self.most:
            yield from ([value, value] for value in self._items(0)[:3])


class Objects:
    """Objects: the smallest, the fullest, each member there or not, varied one at a time."""

    def __init__(self, sampler: Sampler, said: Conjunction, near: Conjunction, depth: int) -> None:
        self.sampler, self.said, self.near, self.depth = sampler, said, near, depth
        self.members: dict[str, tuple[JsonValue, ...]] = {}
        names = dict.fromkeys((*said.names, *sorted(said.required), *near.names))
        self.names = [name for name in names if not said.member(name).impossible]
        most = said.at_most("maxProperties")
        self.most = MAX_COUNT if most is None else min(most, MAX_COUNT)

    def values(self) -> Iterator[dict[str, JsonValue]]:
        """The objects, the smallest first."""
        smallest = self._with({}, self.said.required)
        if smallest is None:
            return
        smallest = self._grown(smallest, self.said.at_least("minProperties"))
        yield smallest
        fullest = dict(smallest)
        for name in self.names:
            fullest = self._with(fullest, (name,)) or fullest
        yield fullest
        for count in self._counts():
            yield self._grown(smallest, count)
        yield from self._others(smallest)
        yield from self._varied(smallest)
        yield from self._thinned(fullest)

    def _member(self, name: str) -> tuple[JsonValue, ...]:
        if name not in self.members:
            near = self.sampler.nearer(self.near.member(name))
            self.members[name] = self.sampler.values(self.said.member(name), near, self.depth)
        return self.members[name]

    def _with(self, base: JsonObject, names: Iterable[str]) -> dict[str, JsonValue] | None:
        """The object with these members too, and what they demand; None if one has no value."""
        made = dict(base)
        waiting = sorted(names)
        while waiting:
            name = waiting.pop(0)
            if name not in made:
                values = self._member(name)
                if not values:
                    return None
                made[name] = values[0]
                waiting += [
                    n for table in self.said.rule("dependentRequired") for n in table.get(name, ())
                ]
        return made

    def _varied(self, smallest: JsonObject) -> Iterator[dict[str, JsonValue]]:
        """The first value of every member, then the second of each, and so on."""
        bases = [(name, self._with(smallest, (name,))) for name in self.names]
        for index in range(MAX_NESTED):
            for name, base in bases:
                values = self._member(name)
                if base is not None and index < len(values) and self.sampler.may_make(len(base)):
                    yield {**base, name: values[index]}

    def _thinned(self, fullest: JsonObject) -> Iterator[dict[str, JsonValue]]:
        for name in fullest:
            if name not in self.said.required and self.sampler.may_make(len(fullest)):
                yield {other: value for other, value in fullest.items() if other != name}

    def _others(self, smallest: JsonObject) -> Iterator[dict[str, JsonValue]]:
        """Members that are declared by pattern, or not at all."""
        names = [name for pattern in self.said.patterns for name in texts(pattern)[:3]]
        for name in (*names, *self._fresh(6)):
            yield from ({**smallest, name: value} for value in self._member(name)[:4])

    def _counts(self) -> list[int]:
        ends = [int(end) + 1 for end in self.near.rule("maxProperties")]
        ends += [int(end) - 1 for end in self.near.rule("minProperties")]
        return sorted({end for end in ends if 0 < end <= self.most})

    def _grown(self, base: dict[str, JsonValue], count: int) -> dict[str, JsonValue]:
        """The object with more members until there are so many, or no more to be had."""
        made = base
        for name in (*self.names, *self._fresh(min(count, self.most))):
            if len(made) >= min(count, self.most):
                break
            made = self._with(made, (name,)) or made
        return made

    def _fresh(self, count: int) -> Iterator[str]:
        fresh = self.sampler.fresh_names(self.said, max(count, 2))
        return (name for name in fresh if name not in self.names)
