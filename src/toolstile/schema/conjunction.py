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
from toolstile.model.issue import pointer
from toolstile.model.json import JsonObject, JsonValue, type_name
from toolstile.schema.engine import compile_engine
from toolstile.schema.extensions import NO_EXTENSIONS
from toolstile.schema.keywords import KEYWORDS, Role, Shape, parts, type_names
from toolstile.schema.pattern import translate
from toolstile.schema.places import MAX_REACH, Place, Places

ANNOTATIONS = frozenset(
    "$schema $comment title description default examples deprecated readOnly writeOnly "
    "contentEncoding contentMediaType contentSchema".split()
)

# The types of JSON Schema made disjoint: a "number" is an integer or a fraction.
DISJOINT = ("null", "boolean", "integer", "fraction", "string", "array", "object")
_MEANINGS = {name: frozenset((name,)) for name in DISJOINT}
_MEANINGS["number"] = frozenset(("integer", "fraction"))

OTHERS = 1_000_000
"""An index beyond every `prefixItems`: that of "all other items"."""


class TooMuch(Exception):  # noqa: N818 - not an error: the question is only too large to answer
    """More work than one comparison may cause."""


class Reached(msgspec.Struct, frozen=True, eq=False):
    """A place that may describe a value, and the places that must hold for it to count."""

    place: Place
    given: tuple[Place, ...] = ()


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """Where one of the schemas stands in the common document."""

    name: str

    @property
    def pointer(self) -> str:
        """The JSON Pointer of its root there."""
        return f"/$defs/{self.name}"


OLD, NEW = Side(name="old"), Side(name="new")


class Beside(Places):
    """Two schemas in one document without annotations, so that places of both may be joined."""

    def __init__(self, old: JsonValue, new: JsonValue = True) -> None:
        sides = {"old": rebased(old, OLD), "new": rebased(new, NEW)}
        self.document: dict[str, Any] = {"$defs": sides}
        super().__init__(self.document)
        self._reached: dict[str, tuple[Reached, ...]] = {}
        self._bare: dict[str, bytes] = {}

    def root(self, side: Side) -> Place:
        """The outermost place of one of the two schemas."""
        return self.by_pointer[side.pointer]

    def child(self, place: Place, *steps: str | int) -> Place | None:
        """The subschema at these steps below a place, if there is one."""
        return self.by_pointer.get(place.pointer + pointer(*steps))

    def reached(self, place: Place) -> tuple[Reached, ...]:
        """Every way in which a place may come to describe the value of `place`."""
        if place.pointer not in self._reached:
            found: list[Reached] = []
            queue = [Reached(place)]
            while queue:
                if len(found) > MAX_REACH:
                    raise TooMuch
                found.append(queue.pop())
                queue += self._next(found[-1])
            self._reached[place.pointer] = tuple(found)
        return self._reached[place.pointer]

    def _next(self, reached: Reached) -> Iterator[Reached]:
        place = reached.place
        for branch in self.branches(place):
            yield Reached(branch, (*reached.given, *self.conditions(place, branch)))
        test = self.child(place, "if")
        if test is not None:
            yield Reached(test, (*reached.given, test))

    def conditions(self, place: Place, branch: Place) -> tuple[Place, ...]:
        """What must hold besides `place` for its branch to describe the value."""
        if branch.parent is not place or branch.keyword == "allOf":
            return ()
        if branch.keyword == "dependentSchemas":
            name = branch.pointer.rsplit("/", 1)[1].replace("~1", "/").replace("~0", "~")
            return (requiring(name), branch)
        test = self.child(place, "if") if branch.keyword == "then" else None
        return (branch,) if test is None else (test, branch)

    def same(self, one: Place, other: Place) -> bool:
        """Do both say the same, word for word? What they refer to included."""
        seen: set[tuple[str, str]] = set()
        queue = [(one, other)]
        while queue:
            first, second = queue.pop()
            if (first.pointer, second.pointer) in seen or first is second:
                continue
            seen.add((first.pointer, second.pointer))
            if self._text(first) != self._text(second):
                return False
            queue += zip(self._targets(first), self._targets(second), strict=True)
        return True

    def _text(self, place: Place) -> bytes:
        """Canonical text without the side's name in its references."""
        if place.pointer not in self._bare:
            self._bare[place.pointer] = canonical(rebased(place.schema, None))
        return self._bare[place.pointer]

    def _targets(self, place: Place) -> list[Place]:
        return [target for at in _references(place.schema) if (target := self.target(at))]


def _references(schema: JsonValue) -> Iterator[str]:
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"]
        for part in sorted(parts(schema), key=lambda part: tuple(map(str, part.steps))):
            yield from _references(part.schema)


def rebased(schema: JsonValue, side: Side | None) -> JsonValue:
    """A schema without annotations, its references and anchors at home in the common document.

    For no side the schema is one of the common document, and is made to fit either side.
    """
    if not isinstance(schema, dict):
        return schema
    return {
        name: _rebased_value(name, value, side)
        for name, value in schema.items()
        if name not in ANNOTATIONS and not name.startswith("x-")
    }


def _rebased_value(name: str, value: Any, side: Side | None) -> Any:
    keyword = KEYWORDS.get(name)
    if name in ("$ref", "$anchor"):
        return _renamed(value, side)
    if keyword is None or keyword.role is None:
        return value
    if keyword.shape is Shape.SCHEMA:
        return rebased(value, side)
    if keyword.shape is Shape.SCHEMAS:
        return [rebased(member, side) for member in value]
    return {key: rebased(member, side) for key, member in value.items()}


def _renamed(reference: str, side: Side | None) -> str:
    if side is None:
        for home in (OLD, NEW):
            reference = reference.removeprefix(f"#{home.pointer}").removeprefix(f"#{home.name}.")
        return reference
    if not reference.startswith("#"):
        return f"{side.name}.{reference}"
    inside = reference[1:]
    at_pointer = not inside or inside.startswith("/")
    return f"#{side.pointer}{inside}" if at_pointer else f"#{side.name}.{inside}"


def requiring(name: str) -> Place:
    """A place of no document that demands a member."""
    return Place(f"?required{pointer(name)}", {"required": [name]}, Role.BRANCH, "", None)


def of_type(name: str) -> Place:
    """A place of no document that demands a type, one of DISJOINT."""
    schema = {"type": "number", "not": {"multipleOf": 1}} if name == "fraction" else {"type": name}
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
        self.key = frozenset(part.pointer for part in self.parts)

    def plus(self, *others: Place) -> Conjunction:
        """This, and these places too."""
        return Conjunction(self.places, (*self.parts, *others))

    def rule(self, keyword: str) -> list[Any]:
        """What the places say under one keyword."""
        return [part.rules[keyword] for part in self.parts if keyword in part.rules]

    def children(self, *steps: str | int) -> list[Place]:
        """The subschemas at these steps, of every place that has one there."""
        found = (self.places.child(part, *steps) for part in self.parts)
        return [child for child in found if child is not None]

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
            words = {"null": [None], "boolean": [True, False]}
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
        if keyword == "maxItems" and self.item(OTHERS).impossible:
            ends.append(self.prefix)
        if keyword == "maxProperties" and self.others.impossible and not self.patterns:
            ends.append(sum(not self.member(name).impossible for name in self.names))
        return min(ends, default=None)

    # --- members ---------------------------------------------------------------------------

    @cached_property
    def required(self) -> frozenset[str]:
        """The members that must be there."""
        found = {name for names in self.rule("required") for name in names}
        waiting = list(found)
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
        additional = self.places.child(part, "additionalProperties")
        if additional is not None:
            yield additional
        unevaluated = self.places.child(part, "unevaluatedProperties")
        if unevaluated is not None and not any(
            _evaluates(self.places, way.place, name, part) for way in self.places.reached(part)
        ):
            yield unevaluated

    def matching(self, pattern: str) -> Conjunction:
        """What is said of every member whose name matches one of `patterns`."""
        return Conjunction(self.places, self.children("patternProperties", pattern))

    # --- items -----------------------------------------------------------------------------

    @cached_property
    def prefix(self) -> int:
        """How many items have a description of their own."""
        return max((len(items) for items in self.rule("prefixItems")), default=0)

    def item(self, index: int) -> Conjunction:
        """What is said of the item with this index."""
        found: list[Place] = []
        for part in self.parts:
            own = self.places.child(part, "prefixItems", index)
            own = own or self.places.child(part, "items")
            if own is None and not any(
                {"items", "prefixItems", "contains"} & way.place.rules.keys()
                or ("unevaluatedItems" in way.place.rules and way.place is not part)
                for way in self.places.reached(part)
            ):
                own = self.places.child(part, "unevaluatedItems")
            found += [] if own is None else [own]
        return Conjunction(self.places, found)

    # --- alternatives ----------------------------------------------------------------------

    @cached_property
    def alternatives(self) -> list[list[Place]]:
        """The branches of each `anyOf` and `oneOf` of which none is among the parts yet."""
        found = []
        for part in self.parts:
            for keyword in ("anyOf", "oneOf"):
                count = len(part.rules.get(keyword, ()))
                group = [self.places.child(part, keyword, index) for index in range(count)]
                branches = [branch for branch in group if branch is not None]
                if branches and not any(branch.pointer in self.key for branch in branches):
                    found.append(branches)
        return found


def _flat(places: Places, starts: Iterable[Place]) -> tuple[Place, ...]:
    found: dict[str, Place] = {}
    queue = list(starts)[::-1]
    while queue:
        place = queue.pop()
        if place.pointer not in found:
            found[place.pointer] = place
            always = (b for b in places.branches(place) if _always(place, b))
            queue += list(always)[::-1]
    return tuple(found.values())


def _always(place: Place, branch: Place) -> bool:
    """A reference and `allOf` hold whenever the place does."""
    return branch.parent is not place or branch.keyword in ("allOf", "$ref")


def declarations(places: Beside, place: Place, name: str) -> list[Place]:
    """What one place says by name or pattern about a member."""
    own = places.child(place, "properties", name)
    found = [] if own is None else [own]
    for pattern in place.rules.get("patternProperties", ()):
        if matches(pattern, name):
            child = places.child(place, "patternProperties", pattern)
            found += [] if child is None else [child]
    return found


def _evaluates(places: Beside, place: Place, name: str | None, asked: Place) -> bool:
    """May the place count a member as described? `asked` is whose leftovers are wanted."""
    rules = place.rules
    if "additionalProperties" in rules or (
        "unevaluatedProperties" in rules and place is not asked
    ):
        return True
    return name is not None and bool(declarations(places, place, name))


def types_of(rules: JsonObject) -> frozenset[str]:
    """The DISJOINT types that a single schema's `type`, `enum` and `const` leave."""
    allowed = frozenset(DISJOINT)
    if "type" in rules:
        allowed = frozenset().union(*(_MEANINGS[name] for name in type_names(rules)))
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
    """Does an ECMA-262 pattern match somewhere in the text?"""
    return _matcher(pattern).is_valid(text)
