"""Values that one schema takes and another refuses: suspicions confirmed.

Nothing leaves here that the two compiled schemas have not been asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from toolstile.model.json import JsonValue
from toolstile.schema.compiled import compiled
from toolstile.schema.contain.beside import NEW, OLD, Beside, TooMuch
from toolstile.schema.contain.conjunction import Conjunction
from toolstile.schema.contain.narrowing import Narrowing, Some, Spot
from toolstile.schema.contain.samples import MAX_SAMPLES, Sampler
from toolstile.schema.contain.scalars import texts

# Validating is a microsecond or two, building a value ten times that.
MAX_TRIES = 2_000
MAX_TRIES_EACH = 120
# How a value is put into what surrounds it: what has it already, the smallest, the fullest.
_RANKS = (0, 1, 2)

Fits = Callable[[JsonValue], bool]


class Search:
    """A search for values that fit the old side of a document and not the new one."""

    def __init__(self, places: Beside, fits_old: Fits, fits_new: Fits) -> None:
        self.places, self._fits_old, self._fits_new = places, fits_old, fits_new
        self._sampler = Sampler(places)
        self._bases: dict[frozenset[str], list[dict[str, JsonValue]]] = {}
        self._tries = MAX_TRIES
        places.start()

    def example(self, narrowing: Narrowing) -> list[JsonValue]:
        """A whole value that shows a narrowing to be real; [] if none was found."""
        candidates = (
            whole
            for value in self._values(narrowing)
            for rank in _RANKS
            for whole in self._lifted(narrowing.spot, value, rank)
        )
        return self._first(islice(candidates, MAX_TRIES_EACH))

    def anywhere(self) -> list[JsonValue]:
        """A whole value that is refused, for whatever reason; [] if none was found."""
        old, new = (Conjunction(self.places, (self.places.root(side),)) for side in (OLD, NEW))
        return self._first(
            iter(self._sampler.values(old, self._sampler.nearer(new), limit=MAX_SAMPLES))
        )

    def deep(self, depth: int) -> list[JsonValue]:
        """A whole value, so deep, that is refused; [] if none was found."""
        old = Conjunction(self.places, (self.places.root(OLD),))
        return self._first(iter(self._sampler.values(old, depth=depth, limit=4)))

    def _first(self, candidates: Iterator[JsonValue]) -> list[JsonValue]:
        try:
            for value in candidates:
                self._tries -= 1 + _size(value) // 16
                if self._tries < 0:
                    break
                if self._fits_old(value) and not self._fits_new(value):
                    return [value]
        except TooMuch:
            pass
        return []

    def _values(self, narrowing: Narrowing) -> Iterator[JsonValue]:
        """Values for the spot, of which some should be refused there."""
        yield from narrowing.refused
        old, missing = narrowing.spot.old, narrowing.without
        if missing is not None:
            for value in self._sampler.values(old):
                if isinstance(value, dict):
                    yield {name: member for name, member in value.items() if name != missing}
            return
        near = self._sampler.nearer(Conjunction(self.places, (narrowing.place,)))
        yield from self._sampler.values(old, near)

    # --- from a member to the whole -----------------------------------------------------------

    def _lifted(self, spot: Spot, value: JsonValue, rank: int) -> Iterator[JsonValue]:
        """The whole value with this one at its place, which may go by several names."""
        if spot.above is None:
            yield value
            return
        for around in self._around(spot.above, spot.step, value, rank):
            yield from self._lifted(spot.above, around, rank)

    def _around(
        self, spot: Spot, step: str | int | Some, value: JsonValue, rank: int
    ) -> Iterator[JsonValue]:
        if isinstance(step, int):
            yield from self._array(spot, step, value, rank)
            return
        objects = self._objects(spot)
        for name in (step,) if isinstance(step, str) else self._names(spot, step):
            having = [o for o in objects if name in o][:1]
            bases = (*having, *objects[:2])
            if rank < len(bases):
                yield {**bases[rank], name: value}

    def _objects(self, spot: Spot) -> list[dict[str, JsonValue]]:
        """Objects to put members into; at the outermost level such as fit."""
        if spot.old.key not in self._bases:
            made = [o for o in self._sampler.values(spot.old) if isinstance(o, dict)]
            fitting = [o for o in made if spot.above is not None or self._fits_old(o)]
            self._bases[spot.old.key] = fitting or made
        return self._bases[spot.old.key]

    def _array(self, spot: Spot, index: int, value: JsonValue, rank: int) -> Iterator[JsonValue]:
        """The value put into an array at the index, or after whatever the array must hold."""
        arrays = [a for a in self._sampler.values(spot.old) if isinstance(a, list)]
        having = [a for a in arrays if len(a) > index][:1]
        bases = [[*a[:index], value, *a[index + 1 :]] for a in having]
        bases += [[*a, value] for a in arrays[:1]]
        bases += [[*a[:index], value] for a in arrays if len(a) >= index][:1]
        yield from bases[rank : rank + 1]

    def _names(self, spot: Spot, some: Some) -> Iterator[str]:
        """Names for "any other member"."""
        if some.pattern is not None:
            yield from texts(some.pattern)[:3]
            return
        yield from self._sampler.fresh_names(spot.old)


def _size(value: JsonValue) -> int:
    """How many members and items there are, at all levels."""
    if not isinstance(value, (dict, list)):
        return 0
    inside = value.values() if isinstance(value, dict) else value
    return len(value) + sum(_size(member) for member in inside)


def validators(old: JsonValue, new: JsonValue) -> tuple[Fits, Fits]:
    """What says whether a value fits. Raises ValueError where the engine refuses a schema."""
    return _fits(old), _fits(new)


def _fits(schema: JsonValue) -> Fits:
    if isinstance(schema, bool):
        return lambda _: schema
    return compiled(schema).is_valid
