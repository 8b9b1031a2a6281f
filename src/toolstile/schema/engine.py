"""The one place that talks to the validating engine (jsonschema-rs).

The engine gets a translated schema: patterns in its own linear-time syntax, annotations dropped.
Each setting turns off something lax that the engine does by default (ecosystem.md section 4):
`offline` never fetches a reference, `validate_formats` makes formats assertions, the linear
regex engine cannot be made to backtrack, `mask` keeps values out of the engine's own messages.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import combinations
from typing import Any
from urllib.parse import quote, unquote

import jsonschema_rs
import msgspec

from toolstile.model.canonical import canonical
from toolstile.model.issue import pointer
from toolstile.model.json import JsonValue, thaw
from toolstile.schema.extensions import NO_EXTENSIONS, Extensions
from toolstile.schema.formats import STRICTER
from toolstile.schema.keywords import KEYWORDS, Role, Shape, asserts
from toolstile.schema.pattern.translation import ENGINE_OPTIONS, translate
from toolstile.schema.places import NOWHERE, REFERENCES, Place, Places

Fits = Callable[[JsonValue], bool]
"""Does a value fit?"""

log = logging.getLogger("toolstile.schema")

MASK = "[value]"

# Questions about a list, where places are asked about: before the pointer of a place.
ITEMS_FIT = "all "
NO_ITEM_FITS = "none "
# How many branches of a place are asked for together, by the keyword before its pointer.
_TOGETHER = {"allOf": "allOf", "anyOf": "anyOf", "oneOf": "anyOf"}


def engine_schema(schema: JsonValue, patterns: dict[str, str]) -> Any:
    """The schema as the engine takes it; `patterns` collects translated → original. Annotations
    say nothing to the engine, and 4 KB of descriptions per tool add up."""
    if not isinstance(schema, dict):
        return schema
    return {
        name: _engine_value(name, value, patterns)
        for name, value in schema.items()
        if asserts(name)
    }


def _engine_value(name: str, value: Any, patterns: dict[str, str]) -> Any:
    keyword = KEYWORDS.get(name)
    if name == "pattern":
        return _pattern(value, patterns)
    if name in REFERENCES:
        return _reference(value)
    if keyword is None or keyword.role is None:
        return thaw(value)  # the engine takes plain lists only
    if keyword.shape is Shape.SCHEMA:
        return engine_schema(value, patterns)
    if keyword.shape is Shape.SCHEMAS:
        return [engine_schema(member, patterns) for member in value]
    names = engine_patterns(value) if name == "patternProperties" else {}
    patterns.update((translated, original) for original, translated in names.items())
    return {names.get(key, key): engine_schema(member, patterns) for key, member in value.items()}


def engine_patterns(patterns: Iterable[str]) -> dict[str, str]:
    """Original → translated, for the keys of one `patternProperties`. What two of them have in
    common would be one key, so the second is put into a group: both hold."""
    names: dict[str, str] = {}
    for pattern in patterns:
        translated = translate(pattern)
        while translated in names.values():
            translated = f"(?:{translated})"
        names[pattern] = translated
    return names


def engine_pointer(place: Place) -> str:
    """Where a place of the schema stands in the engine schema."""
    steps: list[str] = []
    while place.parent is not None:
        step = place.pointer.removeprefix(place.parent.pointer)
        if place.keyword == "patternProperties":
            names = engine_patterns(place.parent.rules["patternProperties"])
            step = pointer("patternProperties", names[place.name])
        steps.append(step)
        place = place.parent
    return "".join(reversed(steps))


def _reference(reference: str) -> str:
    """The reference as a URI, which the engine insists on: `#/$defs/List[int]` is none. It passes
    over an empty one, which means what "#" does."""
    address, _, fragment = reference.partition("#")
    return address + "#" + quote(unquote(fragment), safe="/$~")


def _pattern(pattern: str, patterns: dict[str, str]) -> str:
    translated = translate(pattern)
    patterns[translated] = pattern
    return translated


# In draft 4, and in no later one, 5.0 is no integer. As a resource of that draft, a type can be
# referred to from a 2020-12 schema: so the engine itself tells whether integers are written as
# such, at no cost, and most documents never have to be looked through for floats.
_EXACT_DRAFT = "http://json-schema.org/draft-04/schema#"
_BESIDE_INTEGER = ("array", "boolean", "null", "object", "string")
# With one of these a schema may accept more because a part of it accepts less.
_NOT_MONOTONE = frozenset(("anyOf", "oneOf", "not", "if", "contains"))


def exact_schema(schema: Any) -> Any:
    """The engine schema with integers as they must be *written*; None where that could make it
    accept what the schema itself does not."""
    if isinstance(schema, list):
        items = [exact_schema(item) for item in schema]
        return None if None in items else items
    if not isinstance(schema, dict):
        return schema
    if _NOT_MONOTONE & schema.keys() or ("$ref" in schema and "type" in schema):
        return None
    made: dict[str, Any] = {}
    for name, value in schema.items():
        keyword = KEYWORDS.get(name)
        if name == "type" and "integer" in _names(value) and "number" not in _names(value):
            made["$ref"] = _exact_address(_names(value))
        elif keyword is None or keyword.role is None:
            made[name] = value
        else:
            below = _exact_below(keyword.shape, value)
            if below is None:
                return None
            made[name] = below
    return made


def _exact_below(shape: Shape, value: Any) -> Any:
    if shape is not Shape.SCHEMAS_BY_NAME:
        return exact_schema(value)
    members = {name: exact_schema(member) for name, member in value.items()}
    return None if None in members.values() else members


def _names(types: Any) -> tuple[str, ...]:
    return (types,) if isinstance(types, str) else tuple(types)


def _exact_address(types: tuple[str, ...]) -> str:
    return "toolstile:exact:" + "-".join(sorted(types))


@lru_cache(maxsize=4_096)
def alone(rules: bytes, extensions: Extensions) -> Fits:
    """The verdict of a few keywords by themselves, in canonical JSON. Shared by all schemas: most
    say the same, and a pattern takes 10 KB once it has been used."""
    return compile_engine(engine_schema(msgspec.json.decode(rules), {}), extensions).is_valid


def matcher(pattern: str) -> Fits:
    """Tells which names a pattern means."""
    return alone(canonical({"pattern": pattern}), NO_EXTENSIONS)


@lru_cache(maxsize=1)
def _exact_types() -> jsonschema_rs.Registry:
    """Every list of types that has `integer` and not `number`, as a resource of draft 4."""
    lists = (
        ("integer", *others)
        for count in range(len(_BESIDE_INTEGER) + 1)
        for others in combinations(_BESIDE_INTEGER, count)
    )
    return jsonschema_rs.Registry(
        [(_exact_address(types), {"$schema": _EXACT_DRAFT, "type": list(types)}) for types in lists]
    )


@lru_cache(maxsize=1)
def _without_floats() -> Fits:
    types = ["integer", *_BESIDE_INTEGER]
    everywhere = {"type": types, "items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}}
    return jsonschema_rs.Draft4Validator(everywhere, offline=True).is_valid


def holds_float(value: JsonValue) -> bool:
    """Is one of the values of which it is made a number that is not written as an integer?"""
    return not _without_floats()(value)


def compile_exact(schema: dict[str, Any], extensions: Extensions) -> jsonschema_rs.Validator:
    """A validator of an `exact_schema`."""
    return jsonschema_rs.Draft202012Validator(
        schema, registry=_exact_types(), **engine_options(extensions, schema)
    )


def compile_engine(schema: dict[str, Any], extensions: Extensions) -> jsonschema_rs.Validator:
    """A validator of an engine schema. Raises ValueError where the engine refuses it."""
    return jsonschema_rs.Draft202012Validator(schema, **engine_options(extensions, schema))


def as_resource(schema: dict[str, Any]) -> jsonschema_rs.Registry:
    """An engine schema that `compile_place` can refer to."""
    return jsonschema_rs.Registry([(NOWHERE, schema)], draft=jsonschema_rs.Draft202012)


def reference_to(place: Place) -> dict[str, str]:
    """A schema that is the one at a place of the resource."""
    return {"$ref": f"{NOWHERE}#{quote(engine_pointer(place))}"}


def compile_place(
    schema: dict[str, Any], resource: jsonschema_rs.Registry, extensions: Extensions
) -> jsonschema_rs.Validator:
    """A validator of something with a `reference_to` a resource in it."""
    return jsonschema_rs.Draft202012Validator(
        schema, registry=resource, **engine_options(extensions)
    )


def engine_options(extensions: Extensions, schema: Any = None) -> Mapping[str, Any]:
    """The one set of settings that every validator of ours is made with. Of the formats written in
    Python a schema gets those that it uses, where it is given: with any of them at hand the engine
    takes half as long again for every value, even one that no format is asked about."""
    formats = {**STRICTER, **{n: _total(n, judge) for n, judge in extensions.formats.items()}}
    if schema is not None:
        formats = {name: formats[name] for name in formats.keys() & _formats(schema)}
    return {
        "offline": True,
        "validate_formats": True,
        "ignore_unknown_formats": False,
        "pattern_options": ENGINE_OPTIONS,
        "mask": MASK,
        "formats": formats or None,
        "keywords": {n: _keyword_class(n, judge) for n, judge in extensions.keywords.items()}
        or None,
    }


def _formats(schema: Any) -> set[str]:
    """Every format that a schema names, and perhaps more: a member called "format" is as good."""
    found: set[str] = set()
    left = [schema]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            if isinstance(each.get("format"), str):
                found.add(each["format"])
            left += each.values()
        elif isinstance(each, list):
            left += each
    return found


def _total(name: str, judge: Callable[..., Any]) -> Callable[..., bool]:
    """The extension, answering "does not fit" where it would raise."""

    def fits(*given: Any) -> bool:
        try:
            return bool(judge(*given))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's callable
            # The error's text may hold the value that was checked, so only its kind is told.
            log.warning("[TLS-DEF] Extension failed. name=%s kind=%s", name, type(error).__name__)
            return False

    return fits


def _keyword_class(name: str, judge: Callable[[Any, Any], bool]) -> type[Any]:
    fits = _total(name, judge)

    class Keyword:
        def __init__(self, parent: dict[str, Any], value: Any, path: list[str | int]) -> None:
            self.value = value

        def validate(self, instance: Any) -> None:
            if not fits(self.value, instance):
                raise ValueError("does not fit")

    return Keyword


def compile_places(
    schema: dict[str, Any], places: Places, extensions: Extensions
) -> jsonschema_rs.Validator:
    """A validator for every place of an engine schema: it is asked about `{pointer: value}`, and
    with ITEMS_FIT or NO_ITEM_FITS before the pointer about a list. A validator for each place would
    hold all that the place refers to, again and again: a gigabyte for a schema of 30 KB."""
    questions: dict[str, Any] = {}
    for place in places:
        reference = _address(place)
        questions[place.pointer] = reference
        if place.keyword in ("items", "contains"):
            questions[ITEMS_FIT + place.pointer] = {"items": reference}
            questions[NO_ITEM_FITS + place.pointer] = {"items": {"not": reference}}
        for keyword in _TOGETHER.keys() & place.rules.keys():
            children = places.children(place, Role.BRANCH)
            branches = [_address(each) for each in children if each.keyword == keyword]
            questions[f"{keyword} {place.pointer}"] = {_TOGETHER[keyword]: branches}
    options = engine_options(extensions, schema)
    base = places.by_pointer[""].base
    resource = jsonschema_rs.Registry([(base, schema)], draft=jsonschema_rs.Draft202012)
    asked = {"properties": questions}
    return jsonschema_rs.Draft202012Validator(asked, registry=resource, **options)


def _address(place: Place) -> dict[str, str]:
    """A reference to a place by the resource it belongs to: where its own references start."""
    resource = place
    while resource.parent is not None and "$id" not in resource.rules:
        resource = resource.parent
    fragment = engine_pointer(place).removeprefix(engine_pointer(resource))
    return {"$ref": f"{place.base}#{quote(fragment)}"}
