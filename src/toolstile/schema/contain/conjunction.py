"""Several places that hold for one value at once, read as if they were one schema.

In JSON Schema a value is described by its place, by that place's `allOf` branches and by what its
`$ref` leads to; whoever compares schemas or builds values for them wants these read together.
What is said here of a conjunction may be too generous (a name may be called possible that is not),
never too strict.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any

import jsonschema_rs
import msgspec

from toolstile.model.canonical import canonical
from toolstile.model.json import JsonObject, JsonValue, type_name
from toolstile.schema.contain.beside import Beside
from toolstile.schema.engine import compile_engine
from toolstile.schema.extensions import NO_EXTENSIONS
from toolstile.schema.keywords import Role, type_names
from toolstile.schema.pattern.translation import translate
from toolstile.schema.places import Place

# The types of JSON Schema made disjoint: a "number" is an integer or a fraction.
DISJOINT = ("null", "boolean", "integer", "fraction", "string", "array", "object")
_MEANINGS = {name: frozenset((name,)) for name in DISJOINT}
_MEANINGS["number"] = frozenset(("integer", "fraction"))

OTHERS = 1_000_000
"""An index beyond every `prefixItems`: that of "all other items"."""


def of_type(name: str) -> Place:
    """A place of no document that demands one of the DISJOINT types."""
    schema = {"type": "number"} if name == "fraction" else {"type": name}
    return Place(f"?type/{name}", schema, Role.BRANCH, "", None)


class Bound(msgspec.Struct, frozen=True):
    """The end of a range of numbers."""

    value: int | float
    exclusive: bool = False


class Conjunction:
    """What several places say together about one value."""

    def __init__(self, places: Beside, starts: Iterable[Place]) -> None:
        self.places = places
        self.parts = _flat(places, starts)
        places.spend(1 + len(self.parts))
        self.key = frozenset(part.pointer for part in self.parts)

    def plus(self, *others: Place) -> Conjunction:
        """This, and these places too."""
        return Conjunction(self.places, (*self.parts, *others))

    def rule(self, keyword: str) -> list[Any]:
        """What the places say under one keyword."""
        return [part.rules[keyword] for part in self.parts if keyword in part.rules]

    def children(self, *steps: str | int) -> list[Place]:
        """The subschemas at these steps, of every place that has one there."""
        return [child for part in self.parts for child in self.places.at(part, *steps)]

    @cached_property
    def types(self) -> frozenset[str]:
        """Which of the DISJOINT types a value may have."""
        if any(part.schema is False for part in self.parts):
            return frozenset()
        allowed = frozenset(DISJOINT)
        for part in self.parts:
            allowed &= types_of(part.rules)
            if part.pointer == "?type/fraction":
                allowed -= {"integer"}
        return allowed

    @property
    def impossible(self) -> bool:
        """True where plainly no value fits."""
        return not self.types

    @cached_property
    def values(self) -> list[Any] | None:
        """The only values that may fit, where they are listed (or null, true and false)."""
        listed = [*self.rule("enum"), *([value] for value in self.rule("const"))]
        if listed:
            others = [{canonical(value) for value in values} for values in listed[1:]]
            return [
                value
                for value in listed[0]
                if disjoint_type(value) in self.types
                and all(canonical(value) in other for other in others)
            ]
        if self.types <= {"null", "boolean"}:
            words: dict[str, list[Any]] = {"null": [None], "boolean": [True, False]}
            return [value for name in sorted(self.types) for value in words[name]]
        return None

    # --- numbers and counts ----------------------------------------------------------------

    @cached_property
    def lower(self) -> Bound | None:
        """The lowest number; inclusive where only integers fit."""
        ends = [Bound(end) for end in self.rule("minimum")]
        ends += [Bound(end, exclusive=True) for end in self.rule("exclusiveMinimum")]
        if not ends:
            return None
        end = max(ends, key=lambda end: (end.value, end.exclusive))
        if "fraction" in self.types:
            return end
        whole = math.ceil(end.value)
        return Bound(whole + 1 if end.exclusive and whole == end.value else whole)

    @cached_property
    def upper(self) -> Bound | None:
        """The highest number; inclusive where only integers fit."""
        ends = [Bound(end) for end in self.rule("maximum")]
        ends += [Bound(end, exclusive=True) for end in self.rule("exclusiveMaximum")]
        if not ends:
            return None
        end = min(ends, key=lambda end: (end.value, not end.exclusive))
        if "fraction" in self.types:
            return end
        whole = math.floor(end.value)
        return Bound(whole - 1 if end.exclusive and whole == end.value else whole)

    def at_least(self, keyword: str) -> int:
        """The highest of a counting keyword's minimums."""
        least = int(max(self.rule(keyword), default=0))
        return max(least, len(self.required)) if keyword == "minProperties" else least

    def at_most(self, keyword: str) -> int | None:
        """The lowest of a counting keyword's maximums."""
        ends = [int(end) for end in self.rule(keyword)]
        if keyword == "maxItems" and self.rest.impossible:
            ends.append(self.prefix)
        if keyword == "maxProperties" and self.others.impossible and not self.patterns:
            ends.append(sum(not self.member(name).impossible for name in self.names))
        return min(ends, default=None)

    # --- members ---------------------------------------------------------------------------

    @cached_property
    def required(self) -> frozenset[str]:
        """The members that must be there."""
        found: set[str] = {name for names in self.rule("required") for name in names}
        waiting: list[str] = list(found)
        while waiting:
            name = waiting.pop()
            more = {n for table in self.rule("dependentRequired") for n in table.get(name, ())}
            waiting += more - found
            found |= more
        return frozenset(found)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every name that is declared for the value anywhere, in the order of the schema."""
        reached = (way.place for part in self.parts for way in self.places.reached(part))
        return tuple(dict.fromkeys(n for p in reached for n in p.rules.get("properties", ())))

    @cached_property
    def patterns(self) -> tuple[str, ...]:
        """Every pattern by which members are declared for the value anywhere."""
        reached = (way.place for part in self.parts for way in self.places.reached(part))
        found = (n for p in reached for n in p.rules.get("patternProperties", ()))
        return tuple(dict.fromkeys(found))

    def member(self, name: str) -> Conjunction:
        """What is said of the member with this name."""
        self.places.spend(len(self.parts))
        found: list[Place] = []
        for part in self.parts:
            own = declarations(self.places, part, name)
            found += own or self._leftover(part, name)
        return Conjunction(self.places, found)

    @cached_property
    def others(self) -> Conjunction:
        """What is said of members whose names are declared nowhere and match no pattern."""
        found = [place for part in self.parts for place in self._leftover(part, None)]
        return Conjunction(self.places, found)

    def _leftover(self, part: Place, name: str | None) -> Iterator[Place]:
        yield from self.places.at(part, "additionalProperties")
        unevaluated = self.places.at(part, "unevaluatedProperties")
        if unevaluated and not any(
            evaluates(self.places, way.place, name, part) for way in self.places.reached(part)
        ):
            yield from unevaluated

    def matching(self, pattern: str) -> Conjunction:
        """What is said of every member whose name matches one of `patterns`."""
        return Conjunction(self.places, self.children("patternProperties", pattern))

    # --- items -----------------------------------------------------------------------------

    @cached_property
    def prefix(self) -> int:
        """How many items have a description of their own."""
        return max((len(items) for items in self.rule("prefixItems")), default=0)

    @cached_property
    def rest(self) -> Conjunction:
        """What is said of every item behind the prefix."""
        return self.item(OTHERS)

    def item(self, index: int) -> Conjunction:
        """What is said of the item with this index."""
        self.places.spend(len(self.parts))
        found: list[Place] = []
        for part in self.parts:
            own = self.places.at(part, "prefixItems", index) or self.places.at(part, "items")
            if not own and "unevaluatedItems" in part.rules and not self._evaluates_items(part):
                own = self.places.at(part, "unevaluatedItems")
            found += own
        return Conjunction(self.places, found)

    def _evaluates_items(self, part: Place) -> bool:
        return any(
            {"items", "prefixItems", "contains"} & way.place.rules.keys()
            or ("unevaluatedItems" in way.place.rules and way.place is not part)
            for way in self.places.reached(part)
        )

    # --- alternatives ----------------------------------------------------------------------

    @cached_property
    def alternatives(self) -> list[list[Place]]:
        """The branches of each `anyOf` and `oneOf` of which none is among the parts yet."""
        groups = (group for part in self.parts for group in self.places.groups(part))
        return [g for g in groups if not any(branch.pointer in self.key for branch in g)]


def _flat(places: Beside, starts: Iterable[Place]) -> tuple[Place, ...]:
    found: dict[str, Place] = {}
    queue = list(starts)[::-1]
    while queue:
        place = queue.pop()
        if place.pointer not in found:
            found[place.pointer] = place
            branches = places.children(place, Role.BRANCH)
            always = [branch for branch in branches if branch.keyword == "allOf"]
            queue += [*places.targets(place), *always][::-1]
    return tuple(found.values())


def declarations(places: Beside, place: Place, name: str) -> list[Place]:
    """What one place says by name or pattern about a member."""
    here = name in place.rules.get("properties", ())
    found = places.at(place, "properties", name) if here else []
    for pattern in place.rules.get("patternProperties", ()):
        if matches(pattern, name):
            found += places.at(place, "patternProperties", pattern)
    return found


def evaluates(places: Beside, place: Place, name: str | None, asked: Place) -> bool:
    """True where a place may count a member as described; `asked` wants what is left over."""
    rules = place.rules
    if "additionalProperties" in rules or ("unevaluatedProperties" in rules and place is not asked):
        return True
    return name is not None and bool(declarations(places, place, name))


def types_of(rules: JsonObject) -> frozenset[str]:
    """The DISJOINT types that a single schema's `type`, `enum` and `const` leave."""
    allowed = frozenset(DISJOINT)
    if "type" in rules:
        allowed = frozenset(t for name in type_names(rules) for t in _MEANINGS[name])
    if "enum" in rules:
        allowed &= {disjoint_type(value) for value in rules["enum"]}
    if "const" in rules:
        allowed &= {disjoint_type(rules["const"])}
    return allowed


def disjoint_type(value: JsonValue) -> str:
    """Which of the DISJOINT types a value has: 1.0 is an integer."""
    if isinstance(value, float):
        return "integer" if value.is_integer() else "fraction"
    return type_name(value)


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> jsonschema_rs.Validator:
    return compile_engine({"pattern": translate(pattern)}, NO_EXTENSIONS)


def matches(pattern: str, text: str) -> bool:
    """True where an ECMA-262 pattern matches somewhere in the text."""
    return _matcher(pattern).is_valid(text)
