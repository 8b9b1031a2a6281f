"""Is this a schema we are willing to enforce? Every fault at once, each with its repair.

The meta-schema of 2020-12 accepts `{"requierd": ["path"]}` and enforces nothing; a remote `$ref`
makes validators open connections; `{"type": "object"}` takes anything. A definition that means
less than its author thinks is worse than a refused one, so all of these are refused here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from types import NoneType
from typing import Any
from urllib.parse import unquote

from toolstile.model.canonical import canonical
from toolstile.model.issue import Issue, pointer
from toolstile.model.json import JsonValue, describe
from toolstile.schema import recursion
from toolstile.schema.closing import split_faults
from toolstile.schema.extensions import NO_EXTENSIONS, Extensions
from toolstile.schema.formats import FORMATS
from toolstile.schema.issue import fault
from toolstile.schema.keywords import (
    DIALECT,
    KEYWORDS,
    REFUSED_KEYWORDS,
    TYPES,
    Role,
    Shape,
)
from toolstile.schema.pattern.translation import PatternRefused, translate
from toolstile.schema.places import (
    MAX_CHAIN,
    MAX_REACH,
    MAX_WORK,
    REFERENCES,
    Place,
    Places,
)
from toolstile.schema.rules import rule_faults

# Contract section 1, "Bounds".
MAX_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_PROPERTIES = 1_000
# Refusing a hostile pattern takes up to 65 ms (schema/pattern/cost.py).
MAX_PATTERNS = 100
# The engine looks text up among the values of an enum, and integers that are written as such. Any
# other value it compares with one after the other, numbers at 1.5 µs each; and in an enum that
# holds one of these, everything is compared.
MAX_VALUES = 1_000
MAX_COMPARED = 100
# Asked for one of 1e-300, the engine divides numbers of 300 digits, at 80 µs each.
LEAST_STEP, LARGEST_STEP = 1e-30, 1e30

# An absolute or relative URI without a fragment.
_ADDRESS = re.compile(r"(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+")
# Where the dialects live: the engine knows these by heart, and would not look at ours.
_DIALECTS = re.compile(r"[/@]json-schema\.org(?:[:/]|$)|json-schema\.org/draft", re.IGNORECASE)
_ANCHOR = re.compile(r"[A-Za-z_][A-Za-z0-9._-]*")

CLASSIFICATIONS = ("public", "internal", "personal", "secret")


def lint(schema: JsonValue, extensions: Extensions = NO_EXTENSIONS) -> tuple[Issue, ...]:
    """All faults of a parameter or output schema; () means that it may be closed and compiled."""
    oversized = _size_faults(schema)
    if oversized:
        return oversized
    places = Places(schema)
    if any(place.level > MAX_DEPTH for place in places):
        return (_nested(),)
    shape = [f for place in places for f in _place_faults(place, extensions)]
    if any(issue.code not in _SHAPELY for issue in shape):
        return tuple(shape)  # the later rules read the schema and assume its shape
    counted = tuple(_counted(places))
    if counted:
        return counted
    found = [*shape, *_pattern_faults(places), *_reference_faults(places)]
    if not any(issue.code in _UNBOUNDED for issue in found):
        found += [*rule_faults(places), *split_faults(places)]
    return tuple(found)


# Faults that leave a schema readable, so that everything else can be said at once.
_SHAPELY = frozenset(("unknown_keyword", "format", "x-classification", "$schema"))

# Faults after which references cannot be followed, or not in bounded time.
_UNBOUNDED = frozenset(("$ref", "loop", "too_large"))


def _size_faults(schema: JsonValue) -> tuple[Issue, ...]:
    if not isinstance(schema, dict):
        reason = f"it must be an object, not {describe(schema)}"
        return (fault("", "type", reason, "write {'type': 'object', 'properties': {...}}"),)
    if _too_deep(schema):
        return (_nested(),)
    try:
        size = len(canonical(schema))
    except ValueError as error:
        return (fault("", "invalid_json", str(error), "a schema is JSON: use only JSON values"),)
    if size > MAX_BYTES:
        reason = f"it has {size:,} bytes of at most {MAX_BYTES:,}"
        return (fault("", "too_large", reason, "split the tool, or shorten enums and texts"),)
    return ()


def _nested() -> Issue:
    reason = f"it nests deeper than {MAX_DEPTH} levels"
    return fault("", "too_deep", reason, "move inner parts to $defs and refer to them")


def _too_deep(schema: JsonValue) -> bool:
    level = [schema]
    # A level of schema is at most two of JSON: the keyword and the member. Less than that (`items`
    # is one) is counted when the schema may be walked without fear for the stack.
    for _ in range(2 * MAX_DEPTH):
        level = [m for value in level for m in _members(value) if isinstance(m, (dict, list))]
        if not level:
            return False
    return True


def _members(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _place_faults(place: Place, extensions: Extensions) -> Iterator[Issue]:
    if isinstance(place.schema, bool):
        return
    if not isinstance(place.schema, dict):
        reason = f"a schema must be an object or a boolean, not {describe(place.schema)}"
        yield fault(place.pointer, "type", reason, "write {'type': ...}")
        return
    for name, value in place.schema.items():
        path = place.pointer + pointer(name)
        if name in KEYWORDS:
            yield from _value_faults(path, name, value, place, extensions)
        elif name not in extensions.keywords and not name.startswith("x-"):
            yield _unknown_keyword(path, name, extensions)


def _unknown_keyword(path: str, name: str, extensions: Extensions) -> Issue:
    known = [*KEYWORDS, *extensions.keywords]
    # Compare without case: `minlength` and `additionalproperties` are the usual slips.
    by_lower = {keyword.lower(): keyword for keyword in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.75)
    if name in REFUSED_KEYWORDS:
        hint = REFUSED_KEYWORDS[name]
    elif near:
        hint = f"did you mean '{by_lower[near[0]]}'?"
    else:
        hint = "remove it, or name it x-... if it is only a note"
    return fault(path, "unknown_keyword", f"unknown keyword '{name[:64]}'", hint)


def _value_faults(
    path: str, name: str, value: Any, place: Place, extensions: Extensions
) -> Iterator[Issue]:
    shape = KEYWORDS[name].shape
    if not _has_shape(shape, value):
        reason = f"'{name}' must be {shape.value}"
        yield fault(path, name, reason, f"write {shape.value} here", expected=shape.value)
    elif name == "$schema" and (value.rstrip("#") != DIALECT or place.parent is not None):
        hint = f"leave it out, or write {DIALECT} at the root; adopt() translates older drafts"
        yield fault(path, name, "only draft 2020-12 is supported", hint, expected=DIALECT)
    elif name == "$id" and (not _ADDRESS.fullmatch(value) or _DIALECTS.search(unquote(place.base))):
        hint = "leave it out: references within a schema, '#/$defs/NAME', need none"
        yield fault(path, name, "this cannot be the address of a schema", hint)
    elif name in ("$anchor", "$dynamicAnchor") and not _ANCHOR.fullmatch(value):
        hint = "begin with a letter, go on with letters, digits, '-', '_' and '.'"
        yield fault(path, name, "this cannot be an anchor", hint)
    elif name == "format" and value not in FORMATS and value not in extensions.formats:
        near = difflib.get_close_matches(value, [*FORMATS, *extensions.formats], n=1)
        hint = f"did you mean '{near[0]}'?" if near else "remove it, or say it with 'pattern'"
        yield fault(path, name, "an unknown format checks nothing", hint)
    elif name == "x-classification" and value not in CLASSIFICATIONS:
        wanted = ", ".join(CLASSIFICATIONS)
        yield fault(path, name, "unknown classification", f"one of: {wanted}", expected=wanted)
    elif name == "multipleOf" and not LEAST_STEP <= value <= LARGEST_STEP:
        reason = f"it must lie between {LEAST_STEP:g} and {LARGEST_STEP:g}"
        yield fault(path, name, reason, "choose a step in range, or leave it out")


def _has_shape(shape: Shape, value: Any) -> bool:
    return _SHAPES[shape](value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_names(value: Any) -> bool:
    texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return texts and len(set(value)) == len(value)


def _is_types(value: Any) -> bool:
    if isinstance(value, str):
        return value in TYPES
    return _is_names(value) and bool(value) and all(item in TYPES for item in value)


def _is_values(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return len({canonical(item) for item in value}) == len(value)


_SHAPES: dict[Shape, Callable[[Any], bool]] = {
    Shape.ANY: lambda value: True,
    Shape.TEXT: lambda value: isinstance(value, str),
    Shape.BOOLEAN: lambda value: isinstance(value, bool),
    Shape.COUNT: lambda value: _is_number(value) and value >= 0 and value == int(value),
    Shape.NUMBER: _is_number,
    Shape.POSITIVE: lambda value: _is_number(value) and value > 0,
    Shape.NAMES: _is_names,
    Shape.NAMES_BY_NAME: lambda value: (
        isinstance(value, dict) and all(_is_names(names) for names in value.values())
    ),
    Shape.TYPES: _is_types,
    Shape.VALUES: _is_values,
    Shape.LIST: lambda value: isinstance(value, list),
    Shape.OBJECT: lambda value: isinstance(value, dict),
    # Whether a subschema is one is said at its own place, once.
    Shape.SCHEMA: lambda value: True,
    Shape.SCHEMAS: lambda value: isinstance(value, list) and bool(value),
    Shape.SCHEMAS_BY_NAME: lambda value: isinstance(value, dict),
}


def _counted(places: Places) -> Iterator[Issue]:
    yield from _enum_faults(places)
    count = sum(place.keyword in ("properties", "patternProperties") for place in places)
    if count > MAX_PROPERTIES:
        reason = f"it declares {count:,} properties of at most {MAX_PROPERTIES:,}"
        yield fault("", "too_large", reason, "split the tool")
    patterns = sum(
        ("pattern" in place.rules) + len(place.rules.get("patternProperties", ()))
        for place in places
    )
    if patterns > MAX_PATTERNS:
        reason = f"it has {patterns:,} patterns of at most {MAX_PATTERNS:,}"
        yield fault("", "too_large", reason, "share patterns through $defs, or use enums")


def _enum_faults(places: Places) -> Iterator[Issue]:
    total = 0
    hint = "write them as strings, or describe them with bounds, 'multipleOf' or 'properties'"
    for place in places:
        values = place.rules.get("enum", ())
        numbers = sum(type(value) is int for value in values)
        compared = sum(not isinstance(value, (str, int, NoneType)) for value in values)
        total += numbers + compared
        path = f"{place.pointer}/enum"
        if compared > MAX_COMPARED:
            most = f"{compared:,} of at most {MAX_COMPARED} values"
            reason = f"it lists {most} that are neither text nor integers"
            yield fault(path, "too_large", reason, hint)
        elif len(values) > MAX_VALUES and any(not _is_looked_up(value) for value in values):
            reason = (
                f"it lists {len(values):,} values of at most {MAX_VALUES:,} if not all are text"
            )
            yield fault(path, "too_large", reason, hint)
    if total > MAX_VALUES:
        reason = f"its enums list {total:,} of at most {MAX_VALUES:,} values that are not text"
        yield fault("", "too_large", reason, hint)


def _is_looked_up(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _pattern_faults(places: Places) -> Iterator[Issue]:
    for place in places:
        if "pattern" in place.rules:
            yield from _pattern_fault(f"{place.pointer}/pattern", place.rules["pattern"])
        for name in place.rules.get("patternProperties", ()):
            yield from _pattern_fault(f"{place.pointer}/patternProperties", name)


def _pattern_fault(path: str, pattern: str) -> Iterator[Issue]:
    try:
        translate(pattern)
    except PatternRefused as refused:
        reason = f"{refused.reason} (character {refused.position + 1} of the pattern)"
        yield fault(path, "pattern", reason, refused.hint)


def _reference_faults(places: Places) -> Iterator[Issue]:
    for place, keyword in places.claimed_twice:
        reason = f"'{keyword}' names a place that has this name already"
        yield fault(f"{place.pointer}/{keyword}", "$ref", reason, "give each a name of its own")
    references = [(p, name) for p in places for name in REFERENCES if name in p.rules]
    lost = [(place, name) for place, name in references if not places.target(place, name)]
    for place, name in lost:
        remote = not place.rules[name].startswith("#")
        reason = "a reference may not leave the schema" if remote else "the reference leads nowhere"
        hint = "copy the target to $defs and write '#/$defs/NAME'"
        yield fault(f"{place.pointer}/{name}", "$ref", reason, hint)
    if not lost:
        yield from _work_faults(places)


def _work_faults(places: Places) -> Iterator[Issue]:
    looping = recursion.loops(places)
    for place in looping:
        reason = "the reference comes back to itself for the same value"
        hint = "a recursive schema must enter a member or an item before it refers to itself"
        yield fault(place.pointer, "loop", reason, hint)
    if not looping:
        yield from _expansion_faults(places)


def _expansion_faults(places: Places) -> Iterator[Issue]:
    expansion = recursion.expansion(places)
    widest = max(expansion, key=lambda at: expansion[at].visits)
    deepest = max(expansion, key=lambda at: expansion[at].chain)
    work = sum(
        expansion[place.pointer].visits
        for place in places
        if isinstance(place.schema, dict) and place.role in (Role.VALUE, Role.TEST)
    )
    if expansion[widest].visits > MAX_REACH:
        reason = f"one value would be checked against more than {MAX_REACH:,} branches"
        yield fault(widest, "too_large", reason, "use an enum, or refer to fewer branches")
    elif expansion[deepest].chain > MAX_CHAIN:
        reason = f"more than {MAX_CHAIN} branches or references are chained one behind another"
        yield fault(deepest, "too_large", reason, "refer to the last one directly")
    elif work > MAX_WORK:
        reason = f"its values together would be checked against {work:,} of {MAX_WORK:,} branches"
        yield fault("", "too_large", reason, "split the tool, or refer to fewer branches")
