"""The engine asked about one place of a schema, or one keyword of it, at a time.

Only the engine says what fits. Its own lists of errors are made whole before the first can be
read, each with a copy of the value it is about: a kilobyte of arguments can take gigabytes. A yes
or no takes nothing, so what is wrong is found by asking (`failing`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import msgspec

from toolstile.model.canonical import canonical
from toolstile.model.json import JsonValue
from toolstile.schema.engine import (
    ITEMS_FIT,
    NO_ITEM_FITS,
    Fits,
    alone,
    compile_places,
    engine_schema,
    matcher,
)
from toolstile.schema.extensions import Extensions
from toolstile.schema.keywords import Role, type_names
from toolstile.schema.places import Place, Places

# What describes each member or item, whatever its name or number.
EACH = ("items", "additionalProperties", "contains", "propertyNames")
# With one of these, a schema may take a member that it does not name.
TAKE_ANY_NAME = ("additionalProperties", "patternProperties", "unevaluatedProperties")


class Layout(msgspec.Struct, frozen=True, eq=False):
    """The places below one place, by what they describe."""

    properties: dict[str, Place]
    patterns: tuple[tuple[Fits, Place], ...]
    others: Place | None
    names: Place | None
    prefix: tuple[Place, ...]
    items: Place | None
    contains: Place | None


class Judge:
    """The verdicts on one schema. What is compiled is kept: for each place that was asked about."""

    def __init__(self, places: Places, extensions: Extensions) -> None:
        self.places = places
        self._extensions = extensions
        self._holds: dict[tuple[str, str], Fits] = {}
        self._layouts: dict[str, Layout] = {}
        self._declared: dict[str, dict[str, Any]] = {}
        self._weights: dict[str, int] = {}
        self._takes_any_name: dict[str, bool] = {}

    def at(self, json_pointer: str, value: JsonValue) -> bool:
        """Does a value fit the place at this JSON Pointer?"""
        return self._asked({json_pointer: value})

    def fits(self, place: Place, value: JsonValue) -> bool:
        """Does a value fit a place?"""
        return self._asked({place.pointer: value})

    def items_fit(self, place: Place, items: list[Any]) -> bool:
        """Do all of these fit a place that describes items?"""
        return self._asked({ITEMS_FIT + place.pointer: items})

    def no_item_fits(self, place: Place, items: list[Any]) -> bool:
        """Does none of these fit a place that describes items?"""
        return self._asked({NO_ITEM_FITS + place.pointer: items})

    def branches_fit(self, place: Place, keyword: str, value: JsonValue) -> bool:
        """Does a value fit all branches under `allOf`, or some branch under `anyOf` or `oneOf`?"""
        return self._asked({f"{keyword} {place.pointer}": value})

    @cached_property
    def _asked(self) -> Fits:
        whole = engine_schema(self.places.by_pointer[""].schema, {})
        return compile_places(whole, self.places, self._extensions).is_valid

    def holds(self, place: Place, keyword: str, value: JsonValue) -> bool:
        """Does a value satisfy one keyword of a place, one without subschemas?"""
        holds = self._holds.get((place.pointer, keyword))
        if holds is None:
            holds = self._alone(keyword, place.rules[keyword])
            self._holds[place.pointer, keyword] = holds
        return holds(value)

    def _alone(self, keyword: str, rule: Any) -> Fits:
        return alone(canonical({keyword: rule}), self._extensions)

    def layout(self, place: Place) -> Layout:
        """What stands below a place."""
        if place.pointer not in self._layouts:
            self._layouts[place.pointer] = self._laid_out(place)
        return self._layouts[place.pointer]

    def _laid_out(self, place: Place) -> Layout:
        below: dict[str, list[Place]] = {}
        for child in self.places.children(place, Role.VALUE, Role.TEST):
            below.setdefault(child.keyword, []).append(child)
        one = {keyword: children[0] for keyword, children in below.items()}
        return Layout(
            properties={child.name: child for child in below.get("properties", ())},
            patterns=tuple(
                (matcher(child.name), child) for child in below.get("patternProperties", ())
            ),
            others=one.get("additionalProperties"),
            names=one.get("propertyNames"),
            prefix=tuple(below.get("prefixItems", ())),
            items=one.get("items"),
            contains=one.get("contains"),
        )

    def declared(self, place: Place) -> dict[str, Any]:
        """The properties declared for the object that a place describes, in every branch."""
        if place.pointer not in self._declared:
            self._declared[place.pointer] = self._gathered(place)
        return self._declared[place.pointer]

    def _gathered(self, place: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        whole: Place | None = place
        while whole is not None:
            for other in self.places.reach(whole):
                for name, declared in other.rules.get("properties", {}).items():
                    found.setdefault(name, declared)
            whole = whole.parent if whole.role is Role.BRANCH else None
        return found

    def types(self, place: Place, name: str) -> tuple[str, ...]:
        """The types of a declared property."""
        declared = self.declared(place).get(name)
        return type_names(declared) if isinstance(declared, dict) else ()

    def weight(self, place: Place) -> int:
        """How many places describe the value that a place describes."""
        if place.pointer not in self._weights:
            reach = self.places.reach(place)
            tests = sum(len(self.places.children(each, Role.TEST)) for each in reach)
            self._weights[place.pointer] = len(reach) + tests
        return self._weights[place.pointer]

    def heaviest(self, place: Place) -> int:
        """The most places that describe one value, of all values in the one a place describes."""
        return self._heaviest[place.pointer]

    @cached_property
    def _heaviest(self) -> dict[str, int]:
        above: dict[str, list[Place]] = {}
        for place in self.places:
            below = self.places.children(place, Role.VALUE, Role.BRANCH, Role.TEST)
            for each in (*below, *self.places.targets(place)):
                above.setdefault(each.pointer, []).append(place)
        found: dict[str, int] = {}
        loads = {place: self._load(place) for place in self.places}
        # The heaviest come first, so that each place is met once: from the heaviest below it.
        for place in sorted(loads, key=loads.__getitem__, reverse=True):
            queue = [place]
            for each in queue:  # grows on the way
                if each.pointer not in found:
                    found[each.pointer] = loads[place]
                    queue += above.get(each.pointer, ())
        return found

    def _load(self, place: Place) -> int:
        """How many places describe the value of a place, or each member of it, if they are more."""
        known = self.places.by_pointer
        below = [f"{p.pointer}/{word}" for p in self.places.reach(place) for word in EACH]
        members = sum(self.weight(known[pointer]) for pointer in below if pointer in known)
        return max(self.weight(place), members)

    def takes_any_name(self, place: Place) -> bool:
        """True where a branch of a place may take members that it does not name."""
        if place.pointer not in self._takes_any_name:
            branches = self.places.reach(place)[1:]
            known = any(b.rules.get(word) for b in branches for word in TAKE_ANY_NAME)
            self._takes_any_name[place.pointer] = known
        return self._takes_any_name[place.pointer]
