"""A schema as places that refer to each other: pointers, references, in-place reach.

Built once per definition. A *place* is a subschema with its JSON Pointer. In JSON Schema several
places may describe one and the same value: a schema, its `allOf`/`anyOf`/... branches and the
targets of its `$ref`. That set is the place's *reach*; closing and the rules are decided on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import msgspec

from toolstile.model.issue import last_step, pointer
from toolstile.model.json import JsonObject, JsonValue
from toolstile.schema.keywords import Part, Role, parts

# One value may be described by at most this many places at once (a doubled $ref fourteen levels
# deep is 16,384 of them, and half a second of validation: security.md, section M).
MAX_REACH = 1_000

# Where a schema without `$id` lies, for resolving relative references; nothing is ever fetched.
REFERENCES = ("$ref", "$dynamicRef")
REFERRING = frozenset(REFERENCES)
NOWHERE = "http://schema.invalid/"

# Longest chain of places for one value: each may cost a frame in whatever walks a schema.
MAX_CHAIN = 32

# All reaches of a schema together. A thousand properties that refer to unions of twenty.
MAX_WORK = 20_000

# Validation work that references may multiply before their values are called too deep.
MAX_GROWTH = 1_024
# The same with what is looked at again for `unevaluatedProperties`. The engine remembers most of
# it, though not all: 20 levels through ten types take a million looks, and 0.7 s.
MAX_REPEATED = 65_536


class Place(msgspec.Struct, frozen=True, eq=False):
    """A subschema and where it stands. `role` is its relation to `parent`; `base` the address of
    the resource it belongs to (schemas with an `$id` are resources of their own)."""

    pointer: str
    schema: Any
    role: Role
    keyword: str
    parent: Place | None
    base: str = NOWHERE

    @property
    def rules(self) -> JsonObject:
        """The schema's keywords; none for the boolean schemas."""
        return self.schema if isinstance(self.schema, dict) else {}

    @property
    def name(self) -> str:
        """The member of its keyword that the place is: a property's name, a pattern."""
        return last_step(self.pointer)

    @property
    def level(self) -> int:
        """How deep the place stands in its schema; the schema itself is level 1."""
        return 1 if self.parent is None else 1 + self.parent.level

    @property
    def tested(self) -> bool:
        """True inside a test (`not`, `if`, ...): closing would change what the test means."""
        place: Place | None = self
        while place is not None:
            if place.role is Role.TEST:
                return True
            place = place.parent
        return False

    @property
    def is_under_a_pattern(self) -> bool:
        """True within `patternProperties`, whose keys the engine gets in its own words."""
        place: Place | None = self
        while place is not None:
            if place.keyword == "patternProperties":
                return True
            place = place.parent
        return False


def walk(schema: JsonValue) -> Iterator[Place]:
    """Every place of a schema, parents before children, in the order they are written."""
    stack = [Place("", schema, Role.VALUE, "", None, _address(schema, NOWHERE))]
    while stack:
        place = stack.pop()
        yield place
        below = [_part(place, part) for part in parts(place.rules)]
        below.reverse()
        stack += below


def _part(place: Place, part: Part) -> Place:
    below = place.pointer + pointer(*part.steps)
    base = _address(part.schema, place.base)
    return Place(below, part.schema, part.role, part.keyword, place, base)


def _address(schema: JsonValue, base: str) -> str:
    """The address of the resource a schema belongs to."""
    named = schema.get("$id") if isinstance(schema, dict) else None
    return _resolved(base, named) if isinstance(named, str) else base


def _resolved(base: str, reference: str) -> str:
    try:
        return urldefrag(urljoin(base, reference)).url
    except ValueError:  # no address at all; nothing will be found there
        return reference


class Places:
    """All places of one schema, and the references between them."""

    def __init__(self, schema: JsonObject) -> None:
        self.by_pointer = {place.pointer: place for place in walk(schema)}
        self._resources: dict[str, Place] = {}
        self._anchors: dict[tuple[str, str], Place] = {}
        self._dynamic: dict[str, list[Place]] = {}
        # Names of which no two places may lay claim: the engine would choose one of them for us.
        self.claimed_twice: list[tuple[Place, str]] = []
        for place in self.by_pointer.values():
            self._enter(place)
        self._children: dict[str, list[Place]] = {}
        self._by_role: dict[tuple[str, tuple[Role, ...]], list[Place]] = {}
        for place in self.by_pointer.values():
            if place.parent is not None:
                self._children.setdefault(place.parent.pointer, []).append(place)

    def _enter(self, place: Place) -> None:
        if place.parent is None or "$id" in place.rules:
            first = self._resources.setdefault(place.base, place)
            if first is not place:
                self.claimed_twice.append((place, "$id"))
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = place.rules.get(keyword)
            if not isinstance(name, str):
                continue
            first = self._anchors.setdefault((place.base, name), place)
            if first is not place:
                self.claimed_twice.append((place, keyword))
        name = place.rules.get("$dynamicAnchor")
        if isinstance(name, str):
            self._dynamic.setdefault(name, []).append(place)

    def __iter__(self) -> Iterator[Place]:
        return iter(self.by_pointer.values())

    def targets(self, place: Place) -> list[Place]:
        """Where a place's references lead; more than one place only for `$dynamicRef`."""
        found: list[Place] = []
        if "$ref" in place.rules:
            found += self.target(place, "$ref")
        if "$dynamicRef" in place.rules:
            found += self.target(place, "$dynamicRef")
        return found

    def target(self, place: Place, keyword: str) -> list[Place]:
        """Where one reference leads, within this schema only; empty if nowhere."""
        reference = place.rules[keyword]
        address, _, fragment = reference.partition("#")
        base = _resolved(place.base, address) if address else place.base
        resource = self._resources.get(base)
        # The engine takes "." for what has no address of its own.
        if address and base == NOWHERE:
            return []
        fragment = unquote(fragment)
        if resource is None:
            return []
        if fragment and not fragment.startswith("/"):
            found = self._anchors.get((base, fragment))
        else:
            found = self.by_pointer.get(resource.pointer + fragment)
        if found is None or found.is_under_a_pattern:
            return []
        if keyword == "$dynamicRef" and found.rules.get("$dynamicAnchor") == fragment:
            return self._dynamic[fragment]  # whichever comes first on the way: any of them
        return [found]

    def is_leaf(self, place: Place) -> bool:
        """True where a place has no subschema and refers to none."""
        return place.pointer not in self._children and not REFERRING & place.rules.keys()

    def children(self, place: Place, *roles: Role) -> list[Place]:
        """The direct subschemas of `place` that stand to it in one of `roles`: to be read only."""
        found = self._by_role.get((place.pointer, roles))
        if found is None:
            below = self._children.get(place.pointer, ())
            found = self._by_role[place.pointer, roles] = [p for p in below if p.role in roles]
        return found

    def branches(self, place: Place) -> list[Place]:
        """The places that describe the same value as `place`, one step away."""
        return [*self.children(place, Role.BRANCH), *self.targets(place)]

    def reach(self, place: Place) -> list[Place]:
        """`place` and every place that may describe the same value, each once."""
        seen = {place.pointer: place}
        queue = [place]
        while queue:
            for branch in self.branches(queue.pop()):
                if branch.pointer not in seen:
                    seen[branch.pointer] = branch
                    queue.append(branch)
        return list(seen.values())

    def same_value(self, place: Place) -> list[Place]:
        """Like `branches`, with the tests that look at the same value (`not`, `if`)."""
        tests = [p for p in self.children(place, Role.TEST) if p.keyword in ("not", "if")]
        return self.branches(place) + tests
