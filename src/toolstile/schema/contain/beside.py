"""Two schemas in one document, so that places of both may be joined and compared.

Each is a resource with an address of its own: its references stay at home. Annotations are left
out, and what is looked at is counted, so that whatever is done here comes to an end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from toolstile.model.canonical import canonical
from toolstile.model.issue import pointer
from toolstile.model.json import JsonValue
from toolstile.schema.keywords import KEYWORDS, Role, Shape, asserts
from toolstile.schema.places import MAX_REACH, Place, Places

OLD, NEW = "old", "new"

# Places looked at in one go, of which a millisecond holds about 400. To compare schemas of 1,000
# properties, each an object of its own, takes some 40,000.
MAX_WORK = 80_000


class TooMuch(Exception):
    """More work than one comparison may cause."""


class Reached(msgspec.Struct, frozen=True, eq=False):
    """A place that may describe a value, and the places that must hold for it to count."""

    place: Place
    given: tuple[Place, ...] = ()


class Beside(Places):
    """The old and the new schema, or one schema and nothing beside it."""

    def __init__(self, old: JsonValue, new: JsonValue = True) -> None:
        self.document: dict[str, Any] = {
            "$defs": {OLD: _at_home(old, OLD), NEW: _at_home(new, NEW)}
        }
        super().__init__(self.document)
        self._reached: dict[str, tuple[Reached, ...]] = {}
        self._texts: dict[str, bytes] = {}
        self._referred: dict[str, list[Place]] = {}
        self._groups: dict[str, list[list[Place]]] = {}
        self.start()

    def start(self) -> None:
        """From here on MAX_WORK places may be looked at, then `spend` ends it."""
        self._left = MAX_WORK

    def spend(self, work: int) -> None:
        """Count places looked at.

        Raises:
            TooMuch: they are more than were allowed.
        """
        self._left -= work
        if self._left < 0:
            raise TooMuch

    def root(self, side: str) -> Place:
        """The outermost place of one of the two schemas."""
        return self.by_pointer[f"/$defs/{side}"]

    def child(self, place: Place, *steps: str | int) -> Place | None:
        """The subschema at these steps below a place, if there is one."""
        if steps[0] not in place.rules:  # most are not, and pointers are slow to build
            return None
        return self.by_pointer.get(place.pointer + pointer(*steps))

    def at(self, place: Place, *steps: str | int) -> list[Place]:
        """The same as a list: empty, or of one."""
        child = self.child(place, *steps)
        return [] if child is None else [child]

    def reached(self, place: Place) -> tuple[Reached, ...]:
        """Every way in which a place may come to describe the value of `place`."""
        if place.pointer not in self._reached:
            found: list[Reached] = []
            queue = [Reached(place)]
            while queue:
                if len(found) > MAX_REACH:
                    raise TooMuch
                self.spend(1)
                found.append(queue.pop())
                queue += self._next(found[-1])
            self._reached[place.pointer] = tuple(found)
        return self._reached[place.pointer]

    def _next(self, reached: Reached) -> Iterator[Reached]:
        place, given = reached.place, reached.given
        for target in self.targets(place):
            yield Reached(target, given)
        for branch in self.children(place, Role.BRANCH):
            yield Reached(branch, (*given, *self.conditions(branch)))
        test = self.child(place, "if")
        if test is not None:
            yield Reached(test, (*given, test))

    def groups(self, place: Place) -> list[list[Place]]:
        """The branches of `anyOf`, and those of `oneOf`."""
        if place.pointer not in self._groups:
            branches = self.children(place, Role.BRANCH)
            found = ([b for b in branches if b.keyword == word] for word in ("anyOf", "oneOf"))
            self._groups[place.pointer] = [group for group in found if group]
        return self._groups[place.pointer]

    def optional_branches(self, place: Place) -> list[Place]:
        """The branches that describe the value of `place` whenever their conditions hold."""
        tests = self.at(place, "if")
        words = ("anyOf", "oneOf", "dependentSchemas", *["then" for _ in tests])
        return [*tests, *(b for b in self.children(place, Role.BRANCH) if b.keyword in words)]

    def conditions(self, branch: Place) -> tuple[Place, ...]:
        """What must hold for a branch to describe its parent's value."""
        if branch.keyword == "allOf":
            return ()
        if branch.keyword == "dependentSchemas":
            return (requiring(branch.name), branch)
        test = None
        if branch.keyword == "then" and branch.parent is not None:
            test = self.child(branch.parent, "if")
        return (branch,) if test is None else (test, branch)

    def same(self, one: Place, other: Place) -> bool:
        """True where both say the same, word for word, in what they refer to as well."""
        seen: set[tuple[str, str]] = set()
        queue = [(one, other)]
        while queue:
            first, second = queue.pop()
            if (first.pointer, second.pointer) in seen or first is second:
                continue
            seen.add((first.pointer, second.pointer))
            self.spend(1)
            if self._text(first) != self._text(second):
                return False
            queue += zip(self._below(first), self._below(second), strict=True)
        return True

    def _text(self, place: Place) -> bytes:
        if place.pointer not in self._texts:
            addressed = isinstance(place.schema, dict) and place.keyword == "$defs"
            schema = {**place.schema, "$id": ""} if addressed else place.schema
            self._texts[place.pointer] = canonical(schema)
        return self._texts[place.pointer]

    def _below(self, place: Place) -> list[Place]:
        """Everything that a place refers to, from anywhere within it."""
        if place.pointer not in self._referred:
            found = self._referred[place.pointer] = []
            queue = [place]
            while queue:
                inner = queue.pop()
                found += self.targets(inner)
                queue += sorted(self._children.get(inner.pointer, ()), key=lambda p: p.pointer)
        return self._referred[place.pointer]


def _at_home(schema: JsonValue, side: str) -> JsonValue:
    bare = without_annotations(schema)
    return {"$id": f"http://{side}.invalid/", **bare} if isinstance(bare, dict) else bare


def without_annotations(schema: JsonValue) -> JsonValue:
    """What a schema asserts: the same schema without titles, descriptions, defaults, notes."""
    if not isinstance(schema, dict):
        return schema
    return {name: _asserted(name, value) for name, value in schema.items() if asserts(name)}


def _asserted(name: str, value: Any) -> Any:
    keyword = KEYWORDS.get(name)
    if keyword is None or keyword.role is None:
        return value
    if keyword.shape is Shape.SCHEMA:
        return without_annotations(value)
    if keyword.shape is Shape.SCHEMAS:
        return [without_annotations(member) for member in value]
    return {key: without_annotations(member) for key, member in value.items()}


def requiring(name: str) -> Place:
    """A place of no document that demands a member."""
    return Place(f"?required{pointer(name)}", {"required": [name]}, Role.BRANCH, "", None)
