"""The only two changes ever made to arguments (contract section 1, "Arguments").

After validation: a missing optional property that declares a `default` gets it, and 5.0 given
where the schema says integer becomes 5. A plan (`planning`) lists the places where either can
happen, so a schema without any costs nothing. Of alternatives (`anyOf`, `oneOf`, `then`/`else`) the
first that fits is used; `dependentSchemas` fill nothing in: whether they hold would depend on what
others do.

What is left to do stands in a list: a chain of references at each of 64 levels is longer than
Python's stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, repeat
from typing import Any, TypeAlias

import msgspec

from toolstile.model.canonical import MAX_INTEGER
from toolstile.model.json import JsonValue, thaw
from toolstile.schema.engine import holds_float
from toolstile.schema.planning import Choice, Plan, has_only_integers

FitsAt = Callable[[str, JsonValue], bool]
"""Does a value fit the place at this JSON Pointer?"""

# What one filling may add, in bytes of JSON. It is far beyond what the longest list of rows takes
# that can be sent; a default may want defaults of its own, each of those two more.
MAX_FILLED = 4 * 1024 * 1024

# How deep a value may nest with its defaults: 64 levels of it are what can be sent.
MAX_LEVELS = 128


class Unfillable(ValueError):
    """The defaults of a schema do not all go into a value."""


class FillingTooDeep(Unfillable):
    """The defaults of a schema lead on without end, or deeper than a value may nest."""


class FillingTooLarge(Unfillable):
    """The defaults that a value wants are larger than what may be added to it."""


class IntegerOutOfRange(ValueError):
    """A float stands where an integer is wanted and is none that 64 bits hold exactly. It is
    `rounded` where it lies within them, and its digits name another integer than the double is."""

    def __init__(self, path: tuple[str | int, ...], *, rounded: bool) -> None:
        super().__init__("integer out of range")
        self.path = path
        self.rounded = rounded


class Spot(msgspec.Struct, frozen=True):
    """Where a value stands: a member or an item of a container, which stands somewhere too."""

    container: Any
    step: Any
    outer: Spot | None
    level: int

    @property
    def path(self) -> tuple[str | int, ...]:
        """The steps that lead here from the value as a whole."""
        steps: list[str | int] = []
        spot = self
        while spot.outer is not None:
            steps.append(spot.step)
            spot = spot.outer
        return tuple(reversed(steps))


_TOP = Spot(None, None, None, 0)


class _Work:
    """One filling: who is asked what fits, how much may still be added, what is left to do, last
    things first."""

    __slots__ = ("fits", "left", "room")

    def __init__(self, fits: FitsAt, room: int) -> None:
        self.fits = fits
        self.room = room
        self.left: list[_Task] = []


_Task: TypeAlias = tuple[Callable[[Any, Spot, _Work], None], Any, Spot]


def fill(plan: Plan, value: JsonValue, fits: FitsAt, room: int = MAX_FILLED) -> JsonValue:
    """`value` with its defaults and integers in place; containers are changed where they stand.
    There is `room` for so many bytes of defaults.

    Raises:
        IntegerOutOfRange: an integral float is too large for an integer.
        FillingTooDeep: the defaults call for each other without end.
        FillingTooLarge: the defaults are more than there is room for.
    """
    work = _Work(fits, room)
    if plan.ends and type(value) is dict:
        _fill_own(plan, value, work, _TOP)
        return value
    whole = [value]
    _fill_at(plan, Spot(whole, 0, None, 0), work)
    while work.left:
        fills, what, spot = work.left.pop()
        fills(what, spot, work)
    return whole[0]


def _fill_at(plan: Plan, spot: Spot, work: _Work) -> None:
    value = spot.container[spot.step]
    kind = type(value)
    if kind is float and plan.integer:
        spot.container[spot.step] = _integer(value, spot)
    elif kind is not float and kind is not dict and kind is not list:
        return  # nothing could become of it
    elif plan.forks and (plan.fills or kind is float or holds_float(value)):
        # The other descriptions of this very value come first: all of `also`, of each choice what
        # fits first.
        if kind is not float:
            work.left.append((_fill_within, plan, spot))
        if plan.depending:
            work.left += [(_depend, each, spot) for each in reversed(plan.depending)]
        if plan.choices:
            work.left += [(_choose, each, spot) for each in reversed(plan.choices)]
        if plan.also:
            work.left += [(_fill_at, each, spot) for each in reversed(plan.also)]
    else:
        _fill_within(plan, spot, work)


def _integer(value: float, spot: Spot, *steps: str | int) -> float | int:
    if not value.is_integer():  # one alternative of several: it did not ask for an integer
        return value
    if abs(value) > MAX_INTEGER:
        raise IntegerOutOfRange((*spot.path, *steps), rounded=False)
    # 6.860837914335011e16 names ...110 and is ...112 as a double: an integer that nobody sent.
    if Decimal(repr(value)) != int(value):
        raise IntegerOutOfRange((*spot.path, *steps), rounded=True)
    return int(value)


def _choose(choice: Choice, spot: Spot, work: _Work) -> None:
    value = spot.container[spot.step]
    if choice.told_by and type(value) is dict and type(value.get(choice.told_by)) is str:
        # Asking costs more than all the rest: a hundred alternatives for each of a table's rows.
        chosen = choice.told.get(value[choice.told_by])
    else:
        chosen = next((p for at, p in choice.options if at is None or work.fits(at, value)), None)
    if chosen is not None:
        _fill_at(chosen, spot, work)


def _depend(depending: tuple[str, Plan], spot: Spot, work: _Work) -> None:
    name, plan = depending
    value = spot.container[spot.step]
    if type(value) is dict and name in value:
        _fill_at(plan, spot, work)


def _fill_within(plan: Plan, spot: Spot, work: _Work) -> None:
    """The members or items of a value. What goes on below them is left for later."""
    value = spot.container[spot.step]
    kind = type(value)
    if kind is dict:
        _fill_own(plan, value, work, spot)
    if plan.ends or (kind is not dict and kind is not list):
        return
    if spot.level >= MAX_LEVELS:
        raise FillingTooDeep
    below = _items(plan, value) if kind is list else _unnamed(plan, value)
    if below is not None:
        work.left.append((_fill_each, below, spot))
    if kind is dict and plan.members:
        work.left += [
            (_fill_at, member, Spot(value, name, spot, spot.level + 1))
            for name, member in plan.members.items()
            if name in value and not _is_done(member, value, name, spot, work)
        ]


def _fill_own(
    plan: Plan, value: dict[str, Any], work: _Work, spot: Spot, *steps: str | int
) -> None:
    """The defaults and integers of a value, so many steps from a spot."""
    for name, default in plan.defaults.items():
        if name not in value:
            work.room -= plan.sizes[name]
            value[name] = thaw(default)
    if work.room < 0:
        raise FillingTooLarge
    for name in plan.integers:
        if type(value.get(name)) is float:
            value[name] = _integer(value[name], spot, *steps, name)


_Below: TypeAlias = Iterator[tuple[Plan, Any]]
"""Plans, each with the step to the member or item that it is for."""


def _fill_each(below: _Below, spot: Spot, work: _Work) -> None:
    value, level, left = spot.container[spot.step], spot.level + 1, work.left
    before = len(left)
    for plan, step in below:
        if not _is_done(plan, value, step, spot, work):
            _fill_at(plan, Spot(value, step, spot, level), work)
            if len(left) > before:  # to be done before the next one
                left.insert(before, (_fill_each, below, spot))
                return


def _is_done(plan: Plan, container: Any, step: Any, spot: Spot, work: _Work) -> bool:
    """A member or item that nothing goes on below: most are, and are done at once."""
    value = container[step]
    kind = type(value)
    if kind is float:
        if plan.integer:
            container[step] = _integer(value, spot, step)
        return plan.integer or not plan.forks
    if kind is dict and plan.ends:
        _fill_own(plan, value, work, spot, step)
    return plan.ends or not (kind is dict or kind is list)


def _unnamed(plan: Plan, value: dict[str, Any]) -> _Below | None:
    if plan.patterns:
        return _matching(plan, value)
    if plan.others is not None:
        return zip(repeat(plan.others), value.keys() - plan.declared)
    return None


def _matching(plan: Plan, value: dict[str, Any]) -> _Below:
    for name in value:
        matched = [below for matches, below in plan.patterns if matches(name)]
        if not matched and name not in plan.declared:
            matched = [plan.others]
        for below in matched:
            if below is not None:
                yield below, name


def _items(plan: Plan, value: list[Any]) -> _Below | None:
    first = [(each, at) for at, each in enumerate(plan.prefix[: len(value)]) if each is not None]
    if plan.items is None:
        return iter(first) if first else None
    rows: Sequence[int] = range(len(plan.prefix), len(value))
    if plan.items.integers and has_only_integers(plan.items):
        # Tables are the large arguments; without this short cut they cost three times as much.
        rows = _rows_with_floats(value, rows, plan.items.integers)
    if not (first or rows):
        return None
    return chain(first, zip(repeat(plan.items), rows))


def _rows_with_floats(
    value: list[Any], rows: Sequence[int], names: tuple[str, ...]
) -> Sequence[int]:
    if len(names) == 1:
        (name,) = names
        return [
            index
            for index in rows
            if type(value[index]) is dict and type(value[index].get(name)) is float
        ]
    return [
        index
        for index in rows
        if type(value[index]) is dict
        and any(type(value[index].get(name)) is float for name in names)
    ]
