"""The compiler: a tool's closed schema, place by place, in the words of a dialect.

What the dialect takes as it is, is copied. Elsewhere everything that describes a value is read
together (`together.py`) and written anew with the keywords that the dialect has (`alternatives.py`,
`describing.py`). What is written may be looser than the tool's own schema, and then the account
says so; it is never stricter: every argument that fits the tool has a form that fits the export.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from itertools import count
from typing import Any

from toolstile.dialects.account import Account, Wanted
from toolstile.dialects.alternatives import (
    SHELF,
    Undecided,
    fork,
    form_kinds,
    one_of_several,
    referred_names,
)
from toolstile.dialects.codec import Codec, Shelved
from toolstile.dialects.describing import cut, describe
from toolstile.dialects.dialect import Dialect
from toolstile.dialects.members import ENTRIES, WRAPPING
from toolstile.dialects.remarks import remarked, remarks
from toolstile.dialects.taken import (
    ADDRESSES,
    COMBINING,
    counts_members,
    endless,
    heights,
    leading,
    taken,
    weights,
)
from toolstile.dialects.together import LEFTOVERS, flat, referred
from toolstile.dialects.trail import NOTHING, Said, Trail
from toolstile.model.json import JsonObject, JsonValue, thaw
from toolstile.schema.judging import Judge
from toolstile.schema.keywords import KEYWORDS, Role, Shape, asserts, type_names
from toolstile.schema.places import Place, Places, walk

# How much longer a schema may get: so many times its own length, and some for small ones.
GROWTH, FOR_SMALL_ONES = 4, 500
NAMING = ("properties", "required")
SHELF_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class TooLarge(Exception):
    """The schema would get too long in this dialect, or has no form that tells all values apart."""


class Writer:
    """Writes one schema in one dialect. `prefix` is where the schema stands in the definition,
    `owner` the tool's name."""

    def __init__(
        self, schema: JsonObject, dialect: Dialect, judge: Judge, *, prefix: str, owner: str
    ) -> None:
        self.dialect = dialect
        self.places = Places(schema)
        names = (n for p in self.places for w in NAMING for n in p.rules.get(w, ()))
        self.rewrites = dialect.rewrites(names)
        self.counts = counts_members(self.places)
        self._prefix = prefix
        self._owner = owner
        self._judge = judge
        self._taken = taken(self.places, dialect)
        self._endless = endless(leading(self.places))
        self._heights = heights(self.places)
        self._weights = weights(self.places)
        # Targets whose form is of another type than they are, and which are written out for it.
        self._unfit: set[str] = set()
        self._begin()

    def _begin(self) -> None:
        self.account = Account(self._prefix)
        self.shelf: dict[str, Any] = {}
        self.codecs: dict[str, Codec] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._waiting: deque[tuple[str, Place, Place]] = deque()
        self._assumed: list[tuple[str, frozenset[str]]] = []
        self._left = FOR_SMALL_ONES + GROWTH * sum(self._weights.values())

    def document(self) -> Said:
        """The whole schema, with the shelf that it refers to.

        Raises:
            TooLarge: it would get too long.
        """
        root = self.places.by_pointer[""]
        if self._stays_whole():
            return Said(self._copied(root, whole=True))
        said = self._written(root)
        while unfit := self._disappointed():
            if unfit <= self._unfit:  # written out as they may be, they still are not told apart
                raise TooLarge
            self._unfit |= unfit
            self._begin()
            said = self._written(root)
        if said.impossible:
            return self._impossible(root)
        schema = {"type": "object", **said.schema}
        used = self._used(schema)
        if used:
            schema["$defs"] = {name: self.shelf[name] for name in sorted(used)}
        return Said(schema, said.codec)

    def _written(self, root: Place) -> Said:
        said = self.value((root,), Trail(root=True))
        while self._waiting:
            self._shelve(*self._waiting.popleft())
        return said

    def _impossible(self, root: Place) -> Said:
        """Arguments that nothing fits: an empty object is more than nothing, and said so."""
        wanted = Wanted((root,))
        wanted.settle(self.account)
        schema: dict[str, Any] = {"type": "object", "properties": {}}
        if self.dialect.closed:
            schema |= {"required": [], "additionalProperties": False}
        return Said(schema)

    def assume(self, name: str, kinds: frozenset[str]) -> None:
        """Rely on it that what stands on the shelf under a name has forms of these types."""
        self._assumed.append((name, kinds))

    def _disappointed(self) -> set[str]:
        """The targets of which something else was assumed than stands on the shelf."""
        targets = {name: target for (target, _), name in self._names.items()}
        return {
            targets[name]
            for name, kinds in self._assumed
            if not self._kinds(name, frozenset()) <= kinds
        }

    def _kinds(self, name: str, seen: frozenset[str]) -> frozenset[str]:
        """The types of the forms of what stands on the shelf."""
        if name in seen:
            return frozenset()
        schema = self.shelf[name]
        found = form_kinds(schema, frozenset())
        for each in referred_names(schema):
            found |= self._kinds(each, seen | {name})
        return found

    def _used(self, schema: Any) -> set[str]:
        """What a schema finds on the shelf; some of it may be left of what was not used after
        all."""
        found: set[str] = set()
        queue = [schema]
        while queue:
            references = (p.rules["$ref"] for p in walk(queue.pop()) if "$ref" in p.rules)
            names = {reference.removeprefix(SHELF) for reference in references} - found
            queue += [self.shelf[name] for name in names]
            found |= names
        return found

    def value(self, starts: tuple[Place, ...], trail: Trail) -> Said:
        """What these places together say of a value."""
        only = starts[0] if len(starts) == 1 else None
        if only is not None and self._copies(only, trail):
            return Said(self._copied(only))
        parts = flat(self.places, starts)
        if only is not None and self._refers(only, parts, trail):
            return self._reference(only, trail)
        self._spend(parts)
        if any(part.schema is False for part in parts):
            return NOTHING
        opened = {target.pointer for part in parts for target in referred(self.places, part)}
        if opened & trail.opened or self._is_too_deep(parts, trail):
            return cut(self, parts, trail)
        trail = trail.but(here=trail.here | opened)
        at = fork(self, parts, trail)
        if at is None:
            return describe(self, parts, trail)
        try:
            return one_of_several(self, starts, parts, at, trail)
        except Undecided:
            return cut(self, parts, trail)

    def _spend(self, parts: Iterable[Place]) -> None:
        self._left -= sum(self._weights.get(part.pointer, 1) for part in parts)
        if self._left < 0:
            raise TooLarge

    def fits(self, place: Place, value: JsonValue) -> bool:
        """Whether a value fits a place of the tool's own schema."""
        return self._judge.at(place.pointer, value)

    def _is_too_deep(self, parts: tuple[Place, ...], trail: Trail) -> bool:
        types = {name for part in parts for name in type_names(part.rules)}
        if not types & {"object", "array"}:
            return False
        around = max(map(self._scaffolding, parts)) if "object" in types else 0
        return trail.depth + 1 + around > self.dialect.max_depth

    def _scaffolding(self, part: Place) -> int:
        """How many levels more the members of an object may get in this dialect."""
        rules = part.rules
        said = [rules[word] for word in LEFTOVERS if word in rules]
        is_open = "object" in type_names(rules) and said != [False]
        if self.dialect.closed and (is_open or "patternProperties" in rules):
            return ENTRIES
        optional = rules.get("properties", {}).keys() - set(rules.get("required", ()))
        return WRAPPING if self.dialect.all_required and optional else 0

    def _stays_whole(self) -> bool:
        """Whether the schema is copied with its shelf: where `$dynamicRef` leads depends on all."""
        dynamic = any("$dynamicRef" in place.rules for place in self.places)
        if not dynamic or self.dialect.plain_root:
            return False
        return "" in taken(self.places, self.dialect, whole=True)

    # --- copies ------------------------------------------------------------------------------

    def copied(self, place: Place) -> Any:
        """A place as it is, but for annotations; None where the dialect does not take it so."""
        return self._copied(place) if place.pointer in self._taken else None

    def _copies(self, place: Place, trail: Trail) -> bool:
        if place.pointer not in self._taken or place.pointer in trail.told or trail.types:
            return False
        if trail.root and self.dialect.plain_root and COMBINING & place.rules.keys():
            return False
        return trail.depth + self._heights[place.pointer] <= self.dialect.max_depth

    def _copied(self, place: Place, *, whole: bool = False) -> Any:
        self._spend((place,))
        if not isinstance(place.schema, dict):
            return place.schema
        made: dict[str, Any] = {}
        for name, value in place.rules.items():
            keyword = KEYWORDS.get(name)
            if whole and name in ("$ref", *ADDRESSES):
                made[name] = value
            elif name == "$ref":
                made[name] = f"{SHELF}{self._shelved(place, 'copied')}"
            elif name in ADDRESSES:
                continue
            elif not asserts(name):
                made |= {name: thaw(value)} if self.dialect.says(name) else {}
            elif keyword is None or keyword.role is None:
                made[name] = thaw(value)
            elif whole or keyword.role is not Role.SHELF:
                made[name] = self._copied_below(place, name, keyword.shape, whole=whole)
        return made

    def _copied_below(self, place: Place, name: str, shape: Shape, *, whole: bool) -> Any:
        below = [c for c in self.places.children(place, *Role) if c.keyword == name]
        if shape is Shape.SCHEMAS_BY_NAME:
            return {child.name: self._copied(child, whole=whole) for child in below}
        copies = [self._copied(child, whole=whole) for child in below]
        return copies if shape is Shape.SCHEMAS else copies[0]

    # --- references --------------------------------------------------------------------------

    def _refers(self, place: Place, parts: tuple[Place, ...], trail: Trail) -> bool:
        """Whether a place does no more than refer to another, in a dialect that has references.
        Closing what it refers to is no more: that stands on the shelf closed."""
        asserted = {name for name in place.rules if asserts(name)} - {"$defs"}
        closed = place.rules.get("unevaluatedProperties") is False
        return (
            self.dialect.takes("$ref", "")
            and asserted - ({"unevaluatedProperties"} if closed else set()) == {"$ref"}
            and trail.types is None
            and not (trail.shelved or (trail.root and self.dialect.plain_root))
            and not self._unfit & {part.pointer for part in parts}
            and (self.dialect.recursive or not self._endless & {part.pointer for part in parts})
        )

    def _reference(self, place: Place, trail: Trail) -> Said:
        closed = "unevaluatedProperties" in place.rules
        name = self._shelved(place, "closed" if closed else "open")
        schema: dict[str, Any] = {"$ref": f"{SHELF}{name}"}
        told = remarks(self.dialect, (place,), trail)
        if told and self.dialect.bare_references:
            schema = {"anyOf": [schema]}
        return Said(remarked(told, schema, Shelved(name)), Shelved(name))

    def _shelved(self, place: Place, manner: str) -> str:
        """The name under which what a place refers to stands on the shelf: as the place closes it,
        or copied as it is. It is written later, because it may refer to others without end."""
        (target,) = self.places.target(place, "$ref")
        key = (target.pointer, manner)
        if key not in self._names:
            name = self._names[key] = self._shelf_name(target)
            self._waiting.append((name, target if manner == "copied" else place, target))
        return self._names[key]

    def _shelve(self, name: str, start: Place, target: Place) -> None:
        told = frozenset() if start is target else frozenset((start.pointer,))
        said = self.value((start,), Trail(shelved=start is not target, told=told))
        if said.impossible:  # null is more than nothing: looser, and said so
            self.account.lose(target, "type", "no value fits here")
            said = Said({"type": "null"})
        self.shelf[name], self.codecs[name] = said.schema, said.codec

    def _shelf_name(self, target: Place) -> str:
        own = target.keyword == "$defs" and SHELF_NAME.fullmatch(target.name)
        like = target.name if own else "part"
        like = f"{self._owner}.{like}" if self.dialect.own_shelf else like
        numbered = (like if number == 1 else f"{like}_{number}" for number in count(1))
        used = set(self._names.values())
        return next(name for name in numbered if name not in used)
