"""Where a schema fills in a default or writes 5.0 as 5: the plans that `filling` carries out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from toolstile.model.canonical import canonical
from toolstile.model.json import JsonObject
from toolstile.schema.engine import Fits, matcher
from toolstile.schema.keywords import Role, asserts, type_names
from toolstile.schema.places import Place, Places
from toolstile.schema.telling import told_apart

# With one of these beside a default, filling it in may turn a valid value into an invalid one.
INTERACTING = frozenset(
    "minProperties maxProperties dependentRequired dependentSchemas propertyNames not if anyOf "
    "oneOf enum const uniqueItems contains unevaluatedProperties patternProperties "
    "$dynamicRef".split()
)
# What says nothing itself of a value's members, and so nothing against what a reference fills in.
_SILENT = frozenset(("$ref", "allOf", "$defs", "$id", "$anchor", "$dynamicAnchor", "type"))


def interacts(places: Places, keywords: frozenset[str] = frozenset()) -> bool:
    """True where a default may not go with something else that describes the same value. Nobody
    knows what strange `keywords` say about it."""
    wary = INTERACTING | keywords
    return any(wary & place.rules.keys() or _describes_twice(place.rules) for place in places)


def _describes_twice(rules: JsonObject) -> bool:
    """True where `allOf` or a reference is not all that is said about a value."""
    elsewhere = len(rules.get("allOf", ())) + ("$ref" in rules)
    here = any(asserts(name) and name not in _SILENT for name in rules)
    return elsewhere > 1 or (elsewhere == 1 and here)


@dataclass(slots=True, eq=False, kw_only=True)
class Plan:
    """What may be filled in or become an integer at one place. Not changed once built."""

    integer: bool = False
    integers: tuple[str, ...] = ()
    defaults: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    members: dict[str, Plan] = field(default_factory=dict)
    declared: frozenset[str] = frozenset()
    others: Plan | None = None
    prefix: list[Plan | None] = field(default_factory=list)
    items: Plan | None = None
    patterns: list[tuple[Fits, Plan | None]] = field(default_factory=list)
    also: list[Plan] = field(default_factory=list)
    depending: list[tuple[str, Plan]] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    forks: bool = False
    fills: bool = True
    ends: bool = True


Options: TypeAlias = list[tuple[str | None, Plan | None]]
"""Alternatives, each with the JSON Pointer of what a value has to fit; None says that it does."""


@dataclass(slots=True, eq=False)
class Choice:
    """Alternatives, of which a value gets the first that it fits. Where a property tells objects
    apart, `told` has the one that each of its texts means: a value that fits at all fits that."""

    options: Options
    told_by: str = ""
    told: dict[str, Plan | None] = field(default_factory=dict)


def has_only_integers(plan: Plan) -> bool:
    """True where a value of this plan is done after its own integer members."""
    return plan.ends and not plan.defaults


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
        self._unfinished: list[tuple[Plan, Place]] = []
        self.filling = self._above({p.pointer for p in places if self._declares_default(p)})
        self.useful = self._above({p.pointer for p in places if self._is_integer(p)}) | self.filling

    def at(self, json_pointer: str) -> Plan | None:
        """The plan of the place at this JSON Pointer; None where there is nothing to do, ever."""
        plan = self._plan(self.places.by_pointer[json_pointer])
        while self._unfinished:  # not recursive: references may lead on for thousands of places
            self._finish(*self._unfinished.pop())
        return plan

    def _above(self, useful: set[str]) -> set[str]:
        """These places, and all that describe what they describe or something around it."""
        found = set(useful)
        queue = list(useful)
        while queue:
            for pointer in self._around.get(queue.pop(), ()):
                if pointer not in found:
                    found.add(pointer)
                    queue.append(pointer)
        return found

    @cached_property
    def _around(self) -> dict[str, list[str]]:
        """Whose neighbour each place is."""
        around: dict[str, list[str]] = {}
        for place in self.places:
            for other in self._neighbours(place):
                around.setdefault(other.pointer, []).append(place.pointer)
        return around

    def _neighbours(self, place: Place) -> Iterator[Place]:
        yield from self.places.children(place, Role.VALUE, Role.BRANCH)
        yield from self._references(place)

    def _references(self, place: Place) -> Iterator[Place]:
        if "$ref" in place.rules:
            yield from self.places.target(place, "$ref")
        if "$dynamicRef" in place.rules:
            yield from self._dynamic(place)

    def _also(self, place: Place) -> list[Place]:
        """What describes every value that a place describes: `allOf` and references."""
        branches = self.places.children(place, Role.BRANCH)
        every = [branch for branch in branches if branch.keyword == "allOf"]
        return [each for each in (*every, *self._references(place)) if each.pointer in self.useful]

    def _dynamic(self, place: Place) -> list[Place]:
        """Where a dynamic reference leads. Of several places the whole schema's own is the first
        on every way; without one, which it is depends on the way, and nothing is done there."""
        targets = self.places.target(place, "$dynamicRef")
        if len(targets) == 1:
            return targets
        whole = self.places.by_pointer[""]
        return [target for target in targets if target.base == whole.base]

    def _is_integer(self, place: Place) -> bool:
        types = type_names(place.rules)
        return self.integers and "integer" in types and "number" not in types

    def _declares_default(self, place: Place) -> bool:
        return self.defaults and any(
            child.keyword == "properties" and "default" in child.rules
            for child in self.places.children(place, Role.VALUE)
        )

    def _plan(self, place: Place) -> Plan | None:
        """The plan of a place, which may not be finished: a recursive schema has a recursive plan,
        and a long one would not go onto the stack."""
        if place.pointer not in self.useful:
            return None
        place = self._meant(place)
        plan = self.built.get(place.pointer)
        if plan is None:
            declared = frozenset(place.rules.get("properties", ()))
            integer = self._is_integer(place)
            fills = place.pointer in self.filling
            plan = self.built[place.pointer] = Plan(integer=integer, declared=declared, fills=fills)
            self._unfinished.append((plan, place))
        return plan

    def _meant(self, place: Place) -> Place:
        """The place itself; of `{"$ref": ...}` with nothing to do beside it, what that leads to."""
        for _ in range(len(self.places.by_pointer)):
            if self._is_integer(place) or self._declares_default(place):
                break
            also = self._also(place)
            if len(also) != 1 or len(self._useful_neighbours(place)) != 1:
                break
            place = also[0]
        return place

    def _useful_neighbours(self, place: Place) -> list[Place]:
        return [each for each in self._neighbours(place) if each.pointer in self.useful]

    def _is_only_integer(self, place: Place) -> bool:
        """True where nothing is done with a value but to write it as an integer."""
        place = self._meant(place)
        if not self._is_integer(place) or self._declares_default(place):
            return False
        return not self._useful_neighbours(place)

    def _finish(self, plan: Plan, place: Place) -> None:
        for child in self.places.children(place, Role.VALUE):
            self._attach(plan, child)
        plan.also = [below for each in self._also(place) if (below := self._plan(each))]
        alternatives: dict[str, Options] = {}
        for child in self.places.children(place, Role.BRANCH):
            below = self._plan(child)
            if child.keyword in ("anyOf", "oneOf"):
                alternatives.setdefault(child.keyword, []).append((child.pointer, below))
            elif child.keyword == "then" and "if" in place.rules:
                alternatives.setdefault("if", []).insert(0, (f"{place.pointer}/if", below))
            elif child.keyword == "else" and "if" in place.rules:
                first: Options = [(f"{place.pointer}/if", None)]
                alternatives.setdefault("if", first).append((None, below))
            elif child.keyword == "dependentSchemas":
                integers = self._integers(child)
                plan.depending += [(child.name, integers)] if integers else []
        plan.choices = [
            self._choice(place, keyword, options)
            for keyword, options in alternatives.items()
            if any(plan for _, plan in options)
        ]
        plan.forks = bool(plan.also or plan.choices or plan.depending)
        beyond = plan.members or plan.others or plan.patterns or plan.items or plan.prefix
        plan.ends = not (plan.forks or beyond)

    def _choice(self, place: Place, keyword: str, options: Options) -> Choice:
        branches = [p for p in self.places.children(place, Role.BRANCH) if p.keyword == keyword]
        if keyword == "if" or len(branches) != len(options):
            return Choice(options)
        name, told = told_apart(self.places, branches)
        return Choice(options, name, {text: options[index][1] for text, index in told.items()})

    def _integers(self, place: Place) -> Plan | None:
        """The plan of a place that fills nothing in."""
        if not self.defaults:
            return self._plan(place)
        if self._without_defaults is None:
            self._without_defaults = Planner(self.places, integers=self.integers, defaults=False)
        return self._without_defaults.at(place.pointer)

    def _attach(self, plan: Plan, child: Place) -> None:
        if child.keyword == "properties":
            self._attach_property(plan, child)
        elif child.keyword == "prefixItems":
            plan.prefix.append(self._plan(child))
        elif child.keyword == "patternProperties":
            plan.patterns.append((matcher(child.name), self._plan(child)))
        elif child.keyword == "items" or self._is_all_that_is_left(child, _ITEMS):
            plan.items = self._plan(child)
        elif child.keyword == "additionalProperties":
            plan.others = self._plan(child)
        elif self._is_all_that_is_left(child, _NAMES):
            plan.others = self._plan(child)
            plan.declared |= self._declared_with(child.parent)

    def _attach_property(self, plan: Plan, child: Place) -> None:
        name = child.name
        if self.defaults and "default" in child.rules:
            default = child.rules["default"]
            plan.defaults[name] = default
            plan.sizes[name] = len(canonical({name: default}))
        if child.pointer in self.useful and self._is_only_integer(child):
            plan.integers += (name,)
        elif (below := self._plan(child)) is not None:
            plan.members[name] = below

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
