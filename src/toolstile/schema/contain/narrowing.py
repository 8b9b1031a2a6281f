"""The words in which two schemas are compared: spots, questions, narrowings.

The question is always the same: does every value that fits *old* (a conjunction of places) fit
*new* (one place)? No narrowing found is a proof that it does; a narrowing found is a suspicion,
which an example may confirm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import msgspec

from toolstile.model.json import JsonValue
from toolstile.schema.contain.beside import Beside
from toolstile.schema.contain.conjunction import Conjunction
from toolstile.schema.places import Place


class Some(msgspec.Struct, frozen=True, kw_only=True):
    """A step to any member whose name matches a pattern, or is declared nowhere."""

    pattern: str | None = None


Step: TypeAlias = str | int | Some


class Spot(msgspec.Struct, frozen=True, eq=False):
    """A value inside the value compared, and what old says of it."""

    old: Conjunction
    above: Spot | None = None
    step: Step = ""

    @property
    def path(self) -> tuple[Step, ...]:
        """The steps from the whole value to this one."""
        return () if self.above is None else (*self.above.path, self.step)

    def given(self, *places: Place) -> Spot:
        """The same value, with more known of it."""
        return Spot(self.old.plus(*places), self.above, self.step)

    def below(self, old: Conjunction, step: Step) -> Spot:
        """A member or item of the value."""
        return Spot(old, self, step)


class Narrowing(msgspec.Struct, frozen=True, eq=False):
    """One reason to suspect that a value of old does not fit new.

    `place` and `keyword` say where in new; `change` are details for people: the types or the
    name concerned, or an end of a range before and after. Where a value may be
    missing no more, `without` names the missing member of the value at the spot; `refused` are
    values there of which each is refused.
    """

    kind: str
    spot: Spot
    place: Place
    keyword: str
    change: tuple[str, ...] = ()
    without: str | None = None
    refused: tuple[JsonValue, ...] = ()

    @property
    def identity(self) -> tuple[Any, ...]:
        """Equal for what a reader would call the same narrowing."""
        return (self.kind, self.spot.path, self.place.pointer, self.keyword, self.without)


class Walk(Protocol):
    """Whoever asks the questions, and remembers the answers."""

    places: Beside

    def narrowed(self, spot: Spot, new: Place) -> list[Narrowing]:
        """What is refused at a spot; nothing, if every value there fits."""
        ...

    def takes(self, place: Place, value: object) -> bool:
        """True where a value is known to fit a place."""
        ...


class Question(msgspec.Struct, frozen=True, eq=False):
    """Whether every value at `spot` fits what `place`, one place of new, says itself."""

    walk: Walk
    spot: Spot
    place: Place

    @property
    def old(self) -> Conjunction:
        """What is known of the value."""
        return self.spot.old

    @property
    def rules(self) -> Mapping[str, Any]:
        """The keywords of the place."""
        return self.place.rules

    def child(self, *steps: str | int) -> Place:
        """A subschema that is known to be there."""
        return self.walk.places.at(self.place, *steps)[0]

    def narrowing(self, kind: str, keyword: str, *change: str) -> Narrowing:
        """The answer no, for one keyword."""
        return Narrowing(kind, self.spot, self.place, keyword, change)

    def fits(self, place: Place, *given: Place) -> bool:
        """True where every value at the spot, given more, is known to fit a place."""
        return not self.walk.narrowed(self.spot.given(*given), place)

    def below(self, old: Conjunction, step: Step, place: Place) -> list[Narrowing]:
        """What is refused of a member or item that new describes at `place`."""
        return self.walk.narrowed(self.spot.below(old, step), place)


def contained(walk: Walk, one: Place, other: Place) -> bool:
    """True where whatever fits one place is known to fit the other."""
    return not walk.narrowed(Spot(Conjunction(walk.places, (one,))), other)


def disjoint(one: Conjunction, other: Conjunction, depth: int = 2) -> bool:
    """True where plainly no value fits both: types, or a member that tells them apart."""
    shared = one.types & other.types
    if not shared:
        return True
    if one.values is not None and other.values is not None:
        return not one.plus(*other.parts).values
    if shared != {"object"} or depth == 0:
        return False
    return any(
        disjoint(one.member(name), other.member(name), depth - 1)
        for name in one.required | other.required
    )
