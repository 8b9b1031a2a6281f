"""One value that is described in one way: as listed values, as any value, or by its types."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from toolstile.dialects.account import Wanted
from toolstile.dialects.alternatives import Undecided, alternative_types, choice
from toolstile.dialects.codec import Codec, Container, Listed, Text
from toolstile.dialects.dialect import Dialect
from toolstile.dialects.items import write_items
from toolstile.dialects.members import write_members
from toolstile.dialects.remarks import remarked, remarks
from toolstile.dialects.simple import (
    SIMPLE,
    inclusive,
    joined,
    kinds_of,
    names_of_types,
    note,
    said_types,
)
from toolstile.dialects.taken import COMBINING
from toolstile.dialects.together import conditional, groups
from toolstile.dialects.trail import NOTHING, Said, Trail
from toolstile.dialects.values import Values
from toolstile.model.json import thaw
from toolstile.schema.contain.conjunction import DISJOINT, disjoint_type, types_of
from toolstile.schema.keywords import Role, asserts, type_names
from toolstile.schema.places import Place

OF_OBJECTS = """properties required additionalProperties unevaluatedProperties patternProperties
propertyNames dependentRequired dependentSchemas"""
OF_ARRAYS = "items prefixItems unevaluatedItems contains minContains maxContains"
# What speaks of values of one type only.
KIND_WORDS = (
    *(("object", word) for word in OF_OBJECTS.split()),
    *(("array", word) for word in OF_ARRAYS.split()),
)
# Their subschemas are only asked about, so they are said as they are or not at all.
TESTS = ("not", "contains", "propertyNames", "dependentRequired")


class Scene(msgspec.Struct, frozen=True, eq=False):
    """The value to be written: who writes what is below it, what describes it, what it may be,
    and how much of that has been said."""

    values: Values
    parts: tuple[Place, ...]
    types: frozenset[str]
    trail: Trail
    wanted: Wanted


def describe(values: Values, parts: tuple[Place, ...], trail: Trail) -> Said:
    """What these parts say of a value, alternatives apart."""
    types = possible_types(values, parts, trail)
    if not types:
        return NOTHING
    scene = Scene(values, parts, types, trail, Wanted(parts))
    for part in parts:
        for keyword, _ in groups(values.places, part):
            if (part.pointer, keyword) in trail.chosen:
                scene.wanted.keep(keyword, of=(part,))
    try:
        said = _listed(scene) or _free(scene) or _by_type(scene) or _typed(scene)
    except Undecided:
        return cut(values, parts, trail)
    scene.wanted.settle(values.account)
    if said.impossible:
        return said
    told = remarks(values.dialect, parts, trail)
    return Said(remarked(told, said.schema, said.codec), said.codec)


def possible_types(values: Values, parts: tuple[Place, ...], trail: Trail) -> frozenset[str]:
    """Which types a value may have."""
    types = frozenset(DISJOINT) if trail.types is None else trail.types
    for part in parts:
        types &= types_of(part.rules) & alternative_types(values, part, trail)
    return types


def cut(values: Values, parts: tuple[Place, ...], trail: Trail) -> Said:
    """No further: a reference that came back, too many levels, or alternatives that no form could
    tell apart."""
    types = possible_types(values, parts, trail)
    if not types:
        return NOTHING
    wanted = Wanted(parts)
    told = remarks(values.dialect, parts, trail)
    codec: Codec = None
    schema = completed(values.dialect, {"type": said_types(types)})
    if values.dialect.free_values:
        wanted.keep("type")
    else:
        kinds = " or ".join(names_of_types(types))
        schema = {"type": "string", "description": f"As JSON text: {kinds}."}
        codec = Text()
        values.account.rewrite(parts[0], "text", "it is sent as its JSON text")
    wanted.settle(values.account)
    return Said(remarked(told, schema, codec), codec)


def completed(dialect: Dialect, schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that lists properties and items where the dialect wants to see them listed."""
    types = type_names(schema) if dialect.complete else ()
    if "object" in types:
        schema.setdefault("properties", {})
    if "array" in types:
        schema.setdefault("items", {})
    return schema


# --- listed, or anything ------------------------------------------------------------------------


def _listed(scene: Scene) -> Said | None:
    """The value as one of those that are listed. As each of them has been tried, all that is
    asserted beside the list is kept by it."""
    if scene.trail.root:  # arguments are an object, whatever they are listed as
        return None
    lists = [part.rules["enum"] for part in scene.parts if "enum" in part.rules]
    lists += [[part.rules["const"]] for part in scene.parts if "const" in part.rules]
    if not lists:
        return None
    values = [
        value
        for value in lists[0]
        if disjoint_type(value) in scene.types
        and all(scene.values.fits(part, value) for part in scene.parts)
    ]
    said = NOTHING if not values else _enumeration(scene, thaw(values))
    if said is not None:
        scene.wanted.keep_all()
    return said


def _enumeration(scene: Scene, values: list[Any]) -> Said | None:
    dialect = scene.values.dialect
    kinds = frozenset(map(disjoint_type, values))
    if dialect.takes("enum", values):
        return Said(completed(dialect, {"type": said_types(kinds), "enum": values}))
    if kinds == {"boolean"} and len(values) == 2:  # both of them
        return Said({"type": "boolean"})
    listed = Listed(tuple(values))
    texts = list(listed.by_text)
    if dialect.free_values or not dialect.takes("enum", texts):
        return None
    scene.values.account.rewrite(scene.parts[0], "text", "each value is sent as its JSON text")
    return Said({"type": "string", "enum": texts}, listed)


def _free(scene: Scene) -> Said | None:
    """Any value; its JSON text in a dialect that has no word for it."""
    if scene.types != frozenset(DISJOINT):
        return None
    free = scene.values.dialect.free_values
    if free and any(map(_says_something, scene.parts)):
        return None
    scene.wanted.keep("type")
    for part in scene.parts:
        for keyword in ("items", "additionalProperties"):
            if part.rules.get(keyword) is True:
                scene.wanted.keep(keyword, of=(part,))
    if free:
        return Said({})
    account = scene.values.account
    account.rewrite(scene.parts[0], "text", "any value: it is sent as its JSON text")
    return Said({"type": "string", "description": "Any value, as JSON text."}, Text())


def _says_something(part: Place) -> bool:
    return any(
        asserts(name) and name != "type" and value is not True for name, value in part.rules.items()
    )


# --- by type ------------------------------------------------------------------------------------


def _by_type(scene: Scene) -> Said | None:
    """A value of several types as one of several values of one type each, where no schema of the
    dialect describes all of them."""
    names = names_of_types(scene.types)
    others = set(names) - {"null"}
    if scene.values.dialect.mixed_types or len(others) < 2 or not {"object", "array"} & others:
        return None
    scene.wanted.keep_all()  # each of them is settled on its own
    told = scene.trail.told | {part.pointer for part in scene.parts}
    options = []
    for name in names:
        kinds = frozenset(("integer", "fraction") if name == "number" else (name,))
        trail = scene.trail.but(told=told, types=kinds & scene.types)
        said = describe(scene.values, scene.parts, trail)
        if not said.impossible:
            options.append((kinds_of(kinds), said))
    if not options:
        return NOTHING
    return Said({"anyOf": [said.schema for _, said in options]}, choice(scene.values, options))


def _typed(scene: Scene) -> Said:
    """A value by its types and what is asserted of each."""
    absent = (word for kind, word in KIND_WORDS if kind not in scene.types)
    scene.wanted.keep("type", *absent)
    schema: dict[str, Any] = {"type": said_types(scene.types), **_simple(scene)}
    conditions = conditional(scene.values.places, scene.parts, scene.trail.barred)
    members = items = Container()
    if "object" in scene.types:
        more, members = write_members(
            scene.values, scene.parts, conditions, scene.trail, scene.wanted
        )
        schema |= more
    if "array" in scene.types:
        more, items = write_items(scene.values, scene.parts, scene.trail, scene.wanted)
        schema |= more
    if schema.get("minItems", 0) > schema.get("maxItems", math.inf) and scene.types == {"array"}:
        return NOTHING
    codec = _both(members, items)
    if codec is None:
        _tests(scene, schema)
    return Said(completed(scene.values.dialect, schema), codec)


def _simple(scene: Scene) -> dict[str, Any]:
    """Bounds, patterns and formats; those that the dialect has no word for go into the words that
    the model reads."""
    dialect = scene.values.dialect
    schema: dict[str, Any] = {}
    notes = []
    for each in joined(scene.parts):
        if not SIMPLE[each.keyword].types & scene.types:  # of no value that may stand here
            scene.wanted.keep(each.keyword)
            continue
        keyword, value = each.keyword, each.value
        if not dialect.takes(keyword, value):
            keyword, value = inclusive(keyword, value, scene.types)
        stands = keyword not in schema and dialect.joins(keyword, schema)
        if stands and dialect.takes(keyword, value):
            schema[keyword] = value
            scene.wanted.keep(each.keyword, of=each.said)
            continue
        written = note(each.keyword, each.value)
        notes += [written] if written else []
        for part in each.said:
            scene.wanted.describe(part, each.keyword, described=written is not None)
    if notes:
        schema["description"] = f"({'; '.join(notes)})"
    return schema


def _tests(scene: Scene, schema: dict[str, Any]) -> None:
    """What is only asked about a value, where one place asks and the dialect has the word."""
    plain = scene.trail.root and scene.values.dialect.plain_root
    for keyword in TESTS:
        if plain and keyword in COMBINING:
            continue
        asking = [part for part in scene.parts if keyword in part.rules]
        if len(asking) != 1 or not scene.values.dialect.takes(keyword, asking[0].rules[keyword]):
            continue
        (part,) = asking
        tests = scene.values.places.children(part, Role.TEST)
        test = next((each for each in tests if each.keyword == keyword), None)
        asked = thaw(part.rules[keyword]) if test is None else scene.values.copied(test)
        if asked is None or (keyword == "contains" and not _counted(scene, part, schema)):
            continue
        schema[keyword] = asked
        scene.wanted.keep(keyword, of=asking)


def _counted(scene: Scene, part: Place, schema: dict[str, Any]) -> bool:
    """Whether `contains` can be said: the counts beside it, or at least that none is needed."""
    dialect = scene.values.dialect
    for keyword in ("minContains", "maxContains"):
        count = part.rules.get(keyword)
        if count is not None and dialect.takes(keyword, count):
            schema[keyword] = count
            scene.wanted.keep(keyword, of=(part,))
    # Without its count beside it, `contains` would demand an item.
    return part.rules.get("minContains") != 0 or "minContains" in schema


def _both(members: Container, items: Container) -> Codec:
    """The codec of a value that is an object or an array; None where neither changes anything."""
    if members == items == Container():
        return None
    return msgspec.structs.replace(members, prefix=items.prefix, items=items.items)
