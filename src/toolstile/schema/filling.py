"""The only two changes ever made to arguments (contract section 1, "Arguments").

After validation: a missing optional property that declares a `default` gets it, and 5.0 given
where the schema says integer becomes 5. A *plan* lists the places where either can happen, so a
schema without any costs nothing. Of alternatives (`anyOf`, `oneOf`, `then`/`else`) the first that
fits is used; `dependentSchemas` fill nothing in: whether they hold would depend on what others do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from toolstile.model.canonical import MAX_INTEGER
from toolstile.model.json import JsonValue, thaw
from toolstile.schema.engine import Fits, holds_float, matcher
from toolstile.schema.keywords import Role, type_names
from toolstile.schema.places import Place, Places

# With one of these beside a default, filling it in may turn a valid value into an invalid one.
INTERACTING = frozenset(
    "minProperties maxProperties dependentRequired dependentSchemas propertyNames not if anyOf "
    "oneOf enum const uniqueItems contains unevaluatedProperties patternProperties".split()
)

FitsAt = Callable[[str, JsonValue], bool]
"""Does a value fit the place at this JSON Pointer?"""


# What one filling may add. A default may want defaults of its own, each of those two more.
MAX_FILLED = 1_000


class FillingTooDeep(ValueError):
    """The defaults of a schema lead on without end, or deeper than there is room for."""


class _Work:
    """One filling: who is asked what fits, and what is left to spend."""

    __slots__ = ("filled", "fits")

    def __init__(self, fits: FitsAt) -> None:
        self.fits = fits
        self.filled = 0


class IntegerOutOfRange(ValueError):
    """A float stands where an integer is wanted and is none that 64 bits hold exactly."""

    def __init__(self) -> None:
        super().__init__("integer out of range")
        self.path: tuple[str | int, ...] = ()


@dataclass(slots=True, eq=False, kw_only=True)
class Plan:
    """What may be filled in or become an integer at one place. Not changed once built."""

    integer: bool = False
    integers: tuple[str, ...] = ()
    defaults: dict[str, Any] = field(default_factory=dict)
    members: dict[str, Plan] = field(default_factory=dict)
    declared: frozenset[str] = frozenset()
    others: Plan | None = None
    prefix: list[Plan | None] = field(default_factory=list)
    items: Plan | None = None
    patterns: list[tuple[Fits, Plan | None]] = field(default_factory=list)
    also: list[Plan] = field(default_factory=list)
    depending: list[tuple[str, Plan]] = field(default_factory=list)
    choices: list[list[tuple[str | None, Plan | None]]] = field(default_factory=list)
    forks: bool = False
    fills: bool = True


_INTEGER = Plan(integer=True)


def has_defaults(places: Places) -> bool:
    """True where some property declares a default."""
    return any(place.keyword == "properties" and "default" in place.rules for place in places)


def plan_for(
    places: Places, *, integers: bool = True, defaults: bool = True, at: str = ""
) -> Plan | None:
    """The plan of a schema, or of a place in it; None where there is nothing to do, ever. Without
    `integers`, the plan for values in which every integer is written as one; without `defaults`,
    the plan that fills nothing in."""
    return Planner(places, integers=integers, defaults=defaults).at(at)


class Planner:
    """Makes the plans of the places of one schema; see `plan_for`."""

    def __init__(self, places: Places, *, integers: bool, defaults: bool) -> None:
        self.places = places
        self.integers = integers
        self.defaults = defaults
        self._without_defaults: Planner | None = None
        self.built: dict[str, Plan] = {}
        self.filling = self._above({p.pointer for p in places if self._declares_default(p)})
        self.useful = self._above({p.pointer for p in places if self._is_integer(p)}) | self.filling

    def at(self, json_pointer: str) -> Plan | None:
        """The plan of the place at this JSON Pointer; None where there is nothing to do, ever."""
        return self._plan(self.places.by_pointer[json_pointer])

    def _above(self, useful: set[str]) -> set[str]:
        """These places, and all that describe what they describe or something around it."""
        if not useful:
            return useful
        below = {
            place.pointer: {p.pointer for p in self._neighbours(place)} for place in self.places
        }
        grown = True
        while grown:
            more = {p for p, reached in below.items() if p not in useful and reached & useful}
            useful |= more
            grown = bool(more)
        return useful

    def _neighbours(self, place: Place) -> Iterator[Place]:
        yield from self.places.children(place, Role.VALUE, Role.BRANCH)
        yield from self.places.targets(place)

    def _is_integer(self, place: Place) -> bool:
        types = type_names(place.rules)
        return self.integers and "integer" in types and "number" not in types

    def _declares_default(self, place: Place) -> bool:
        return self.defaults and any(
            child.keyword == "properties" and "default" in child.rules
            for child in self.places.children(place, Role.VALUE)
        )

    def _plan(self, place: Place) -> Plan | None:
        if place.pointer not in self.useful:
            return None
        if place.pointer not in self.built:  # a recursive schema has a recursive plan
            declared = frozenset(place.rules.get("properties", ()))
            integer = self._is_integer(place)
            fills = place.pointer in self.filling
            plan = Plan(integer=integer, declared=declared, fills=fills)
            self.built[place.pointer] = plan
            self._fill(plan, place)
            if len(plan.also) == 1 and _only_refers(plan):
                self.built[place.pointer] = plan.also[0]  # `{"$ref": ...}` and nothing beside it
        return self.built[place.pointer]

    def _fill(self, plan: Plan, place: Place) -> None:
        alternatives: dict[str, list[tuple[str | None, Plan | None]]] = {}
        for child in self._neighbours(place):
            below = self._plan(child)
            if child.parent is not place or child.keyword == "allOf":  # a reference, or allOf
                plan.also += [below] if below else []
            elif child.keyword in ("anyOf", "oneOf"):
                alternatives.setdefault(child.keyword, []).append((child.pointer, below))
            elif child.keyword == "then" and "if" in place.rules:
                alternatives.setdefault("if", []).insert(0, (f"{place.pointer}/if", below))
            elif child.keyword == "else" and "if" in place.rules:
                first: list[tuple[str | None, Plan | None]] = [(f"{place.pointer}/if", None)]
                alternatives.setdefault("if", first).append((None, below))
            elif child.keyword == "dependentSchemas":
                integers = self._integers(child)
                plan.depending += [(child.name, integers)] if integers else []
            elif child.role is Role.VALUE:
                self._attach(plan, child, below)
        plan.choices = [options for options in alternatives.values() if any(p for _, p in options)]
        plan.forks = bool(plan.also or plan.choices or plan.depending)

    def _integers(self, place: Place) -> Plan | None:
        """The plan of a place that fills nothing in."""
        if not self.defaults:
            return self._plan(place)
        if self._without_defaults is None:
            self._without_defaults = Planner(self.places, integers=self.integers, defaults=False)
        return self._without_defaults.at(place.pointer)

    def _attach(self, plan: Plan, child: Place, below: Plan | None) -> None:
        if child.keyword == "properties":
            name = child.name
            if self.defaults and "default" in child.rules:
                plan.defaults[name] = child.rules["default"]
            if below is not None and _is_only_integer(below):
                plan.integers += (name,)
            elif below is not None:
                plan.members[name] = below
        elif child.keyword == "prefixItems":
            plan.prefix.append(below)
        elif child.keyword == "patternProperties":
            plan.patterns.append((matcher(child.name), below))
        elif child.keyword == "items" or self._is_all_that_is_left(child, _ITEMS):
            plan.items = below
        elif child.keyword == "additionalProperties":
            plan.others = below
        elif self._is_all_that_is_left(child, _NAMES):
            plan.others = below
            plan.declared |= self._declared_with(child.parent)

    def _declared_with(self, place: Place | None) -> frozenset[str]:
        """The properties that the branches of a place declare."""
        reach = self.places.reach(place)[1:] if place else []
        return frozenset(name for each in reach for name in each.rules.get("properties", ()))

    def _is_all_that_is_left(self, child: Place, rivals: frozenset[str]) -> bool:
        """True for an `unevaluated...` that takes what its own place does not describe. What
        branches describe as well, but for their properties, is left as it was sent."""
        if child.parent is None or child.keyword not in rivals:
            return False
        others = self.places.reach(child.parent)[1:]
        return not any(rivals & other.rules.keys() for other in others)


_ITEMS = frozenset(("items", "prefixItems", "contains", "unevaluatedItems"))
_NAMES = frozenset(("patternProperties", "additionalProperties", "unevaluatedProperties"))


def _only_refers(plan: Plan) -> bool:
    own = plan.integer or plan.integers or plan.defaults or plan.members or plan.others
    return not (own or plan.choices or plan.items or plan.prefix or plan.patterns or plan.depending)


def _is_only_integer(plan: Plan) -> bool:
    return plan.integer and not plan.integers and _has_only_integers(plan)


def _has_only_integers(plan: Plan) -> bool:
    """True where a value of this plan is done after its own integer members."""
    nothing_else = not (plan.members or plan.defaults or plan.others or plan.patterns)
    return nothing_else and not (plan.forks or plan.items or plan.prefix)


def fill(plan: Plan, value: JsonValue, fits: FitsAt) -> JsonValue:
    """`value` with its defaults and integers in place; containers are changed where they stand.

    Raises:
        IntegerOutOfRange: an integral float is too large for an integer.
        FillingTooDeep: the defaults call for each other without end.
    """
    try:
        return _filled(plan, value, _Work(fits))
    except RecursionError:  # a default that wants itself; or a chain of references at each level
        raise FillingTooDeep from None


def _filled(plan: Plan, value: JsonValue, work: _Work) -> JsonValue:
    kind = type(value)
    if kind is float and plan.integer:
        return _integer(value)
    if plan.forks and (plan.fills or kind is float or holds_float(value)):
        value = _fill_forks(plan, value, work)
    if kind is dict:
        _fill_members(plan, value, work)
    elif kind is list and (plan.items is not None or plan.prefix):
        _fill_items(plan, value, work)
    return value


def _integer(value: float) -> float | int:
    if not value.is_integer():  # one alternative of several: it did not ask for an integer
        return value
    # 6.860837914335011e16 names ...110 and is ...112 as a double: an integer that nobody sent.
    if abs(value) > MAX_INTEGER or Decimal(repr(value)) != int(value):
        raise IntegerOutOfRange
    return int(value)


def _fill_forks(plan: Plan, value: JsonValue, work: _Work) -> JsonValue:
    """The other descriptions of this very value: all of `also`, of each choice what fits first."""
    for other in plan.also:
        value = _filled(other, value, work)
    for options in plan.choices:
        chosen = next((p for at, p in options if at is None or work.fits(at, value)), None)
        if chosen is not None:
            value = _filled(chosen, value, work)
    for name, other in plan.depending:
        if type(value) is dict and name in value:
            _filled(other, value, work)
    return value


def _fill_members(plan: Plan, value: dict[str, Any], work: _Work) -> None:
    for name, default in plan.defaults.items():
        if name not in value:
            work.filled += 1
            if work.filled > MAX_FILLED:
                raise FillingTooDeep
            value[name] = thaw(default)
    for name in plan.integers:
        if type(value.get(name)) is float:
            _fill_at(_INTEGER, value, name, work)
    for name in plan.members:
        if name in value:
            _fill_at(plan.members[name], value, name, work)
    if plan.patterns:
        _fill_matching(plan, value, work)
    elif plan.others is not None:
        for name in value.keys() - plan.declared:
            _fill_at(plan.others, value, name, work)


def _fill_matching(plan: Plan, value: dict[str, Any], work: _Work) -> None:
    for name in value:
        matched = [below for matches, below in plan.patterns if matches(name)]
        if not matched and name not in plan.declared:
            matched = [plan.others]
        for below in matched:
            if below is not None:
                _fill_at(below, value, name, work)


def _fill_items(plan: Plan, value: list[Any], work: _Work) -> None:
    for index, below in enumerate(plan.prefix[: len(value)]):
        if below is not None:
            _fill_at(below, value, index, work)
    if plan.items is None:
        return
    rows: Sequence[int] = range(len(plan.prefix), len(value))
    if plan.items.integers and _has_only_integers(plan.items):
        # Tables are the large arguments; without this short cut they cost three times as much.
        rows = _rows_with_floats(value, rows, plan.items.integers)
    for index in rows:
        _fill_at(plan.items, value, index, work)


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


def _fill_at(plan: Plan, container: Any, step: Any, work: _Work) -> None:
    """One member or item; a fault learns its path on the way out, where there is one."""
    before = container[step]
    try:
        after = _filled(plan, before, work)
    except IntegerOutOfRange as error:
        error.path = (step, *error.path)
        raise
    if after is not before:
        container[step] = after
