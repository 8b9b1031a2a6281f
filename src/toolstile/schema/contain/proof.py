"""The engine's own answer to "does this schema take all that the other takes?".

It decides what our walk cannot (patterns beside lengths, decimals, `oneOf`, counted members), but
jsonschema-rs 0.60.3 overflows its stack on some recursive schemas and on long chains of
references, which ends the process, and needs minutes where alternatives multiply. So it is only
asked where neither can happen.
"""

from __future__ import annotations

from typing import Literal

import jsonschema_rs
import msgspec

from toolstile.model.json import JsonValue
from toolstile.schema.contain.beside import Beside, TooMuch
from toolstile.schema.engine import engine_schema
from toolstile.schema.formats import STRICTER
from toolstile.schema.keywords import Role
from toolstile.schema.pattern.translation import ENGINE_OPTIONS
from toolstile.schema.places import Place, walk

# Within these the slowest schemas we could build took 0.2 s (tests/schema/test_contain.py).
MAX_NODES = 1_500
MAX_NESTING = 64
MAX_CASES = 12

Answer = Literal["yes", "no", "unknown"]


class Size(msgspec.Struct, frozen=True):
    """What a schema comes to with its references written out: subschemas, alternatives."""

    nodes: int = 0
    cases: int = 1


def covers(places: Beside, old: JsonValue, new: JsonValue) -> Answer:
    """Whether new takes all that old takes; the two are also the sides of `places`."""
    if not all(is_tame(places, side) for side in ("old", "new")):
        return "unknown"
    try:
        answer = _canonical(new).covers(_canonical(old))
    except ValueError:  # what the engine has no canonical form for
        return "unknown"
    if answer is jsonschema_rs.canonical.Containment.YES:
        return "unknown" if _says_stricter(new) else "yes"
    return "no" if answer is jsonschema_rs.canonical.Containment.NO else "unknown"


def _says_stricter(schema: JsonValue) -> bool:
    """True where a schema uses a format that `_canonical` makes opaque. The engine takes such a
    format for one that every single value fits, so what new demands by it is lost."""
    return any(place.rules.get("format") in STRICTER for place in walk(schema))


def _canonical(schema: JsonValue) -> jsonschema_rs.CanonicalSchema:
    made = engine_schema(schema, {})
    for place in walk(made):
        if place.rules.get("format") in STRICTER:
            # We hold values to our own reading of it, so the engine must draw no conclusions.
            place.schema["format"] = f"toolstile:{place.schema['format']}"
    return jsonschema_rs.canonicalize(
        made,
        draft=jsonschema_rs.Draft202012,
        offline=True,
        validate_formats=True,
        pattern_options=ENGINE_OPTIONS,
    )


def is_tame(places: Beside, side: str) -> bool:
    """True where the engine is known to come back, and soon."""
    try:
        _Measure(places).size(places.root(side), 0)
    except TooMuch:
        return False
    return True


class _Measure:
    def __init__(self, places: Beside) -> None:
        self.places = places
        self.sizes: dict[str, Size | None] = {}

    def size(self, place: Place, nesting: int) -> Size:
        if place.pointer not in self.sizes:
            if nesting > MAX_NESTING:
                raise TooMuch
            self.sizes[place.pointer] = None
            self.sizes[place.pointer] = self._size(place, nesting + 1)
        size = self.sizes[place.pointer]
        if size is None or size.nodes > MAX_NODES or size.cases > MAX_CASES:
            raise TooMuch  # None: it is being measured, so it is recursive
        return size

    def _size(self, place: Place, nesting: int) -> Size:
        inside = self.places.children(place, Role.VALUE, Role.TEST)
        nodes = _weight(place) + sum(self.size(part, nesting).nodes for part in inside)
        same = {p.pointer: self.size(p, nesting) for p in self.places.branches(place)}
        nodes += sum(size.nodes for size in same.values())
        cases = 1
        for target in self.places.targets(place):
            cases *= same[target.pointer].cases
        for keyword in ("allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas"):
            branches = [p for p in self.places.children(place, Role.BRANCH) if p.keyword == keyword]
            cases *= _cases(keyword, [same[branch.pointer].cases for branch in branches])
        return Size(nodes, cases * 2 ** _doubling(place))


def _cases(keyword: str, branches: list[int]) -> int:
    if keyword in ("anyOf", "oneOf"):
        return sum(branches) or 1
    product = 1
    for cases in branches:
        product *= cases if keyword == "allOf" else 1 + cases
    return product


def _weight(place: Place) -> int:
    """A pattern is compared with each other one, and long lists are read more than once."""
    rules = place.rules
    patterns = len(rules.get("patternProperties", ())) + ("pattern" in rules)
    return 1 + 30 * patterns + len(rules.get("enum", ())) // 20


def _doubling(place: Place) -> int:
    """Keywords that make two cases of one."""
    rules = place.rules
    found = len(rules.get("dependentRequired", ())) + len(rules.get("patternProperties", ()))
    return found + sum(
        name in rules for name in ("not", "contains", "propertyNames", "uniqueItems")
    )
