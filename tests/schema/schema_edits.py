"""Edits of tool schemas whose effect on callers is known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from toolstile.model.json import thaw

Schema = dict[str, Any]
Edit = Callable[[Random, Schema], bool]

# What callers of the unedited schema see, and what callers of the edited one would see if it were
# taken back. Two-sided, so that every edit is its own positive control.
NEITHER = ("compatible", "compatible")
WIDER = ("compatible", "breaking")
NARROWER = ("breaking", "compatible")
OTHER = ("breaking", "breaking")


def reachable(schema: Schema) -> Iterator[Schema]:
    """The schema and those of its members and items, as far as no combinator is in the way."""
    yield schema
    inner = list(schema.get("properties", {}).values()) if schema.get("type") == "object" else []
    inner += [schema.get("items")] if schema.get("type") == "array" else []
    for below in inner:
        if (
            isinstance(below, dict)
            and not {"anyOf", "oneOf", "allOf", "$ref", "not"} & below.keys()
        ):
            yield from reachable(below)


def pick(rng: Random, schema: Schema, *, kind: str, **has: bool) -> Schema | None:
    """A reachable schema of one type that has some keywords and lacks others."""
    found = [
        inner
        for inner in reachable(schema)
        if inner.get("type") == kind
        and all((name in inner) is there for name, there in has.items())
    ]
    return rng.choice(found) if found else None


def closed_object(rng: Random, schema: Schema) -> Schema | None:
    """A reachable object that takes only what it names."""
    found = [
        inner
        for inner in reachable(schema)
        if inner.get("type") == "object" and inner.get("additionalProperties") is False
    ]
    return rng.choice(found) if found else None


def optional_names(inner: Schema) -> list[str]:
    """The properties that may be left out."""
    return [name for name in inner.get("properties", {}) if name not in inner.get("required", ())]


def add_optional(rng: Random, schema: Schema) -> bool:
    """One more property that nobody has to give."""
    inner = closed_object(rng, schema)
    if inner is not None:
        inner["properties"] = {**inner.get("properties", {}), "added_one": {"type": "string"}}
    return inner is not None


def add_required(rng: Random, schema: Schema) -> bool:
    """One more property that everybody has to give."""
    inner = closed_object(rng, schema)
    if inner is not None:
        add_optional(rng, inner)
        inner["required"] = [*inner.get("required", ()), "added_one"]
        inner["properties"] = {**inner.get("properties", {}), "added_one": {"type": "string"}}
    return inner is not None


def remove_optional(rng: Random, schema: Schema) -> bool:
    """One optional property less."""
    inner = closed_object(rng, schema)
    names = optional_names(inner) if inner is not None else []
    if inner is not None and names:
        del inner["properties"][rng.choice(names)]
    return bool(names)


def require(rng: Random, schema: Schema) -> bool:
    """An optional property becomes required."""
    inner = closed_object(rng, schema)
    names = optional_names(inner) if inner is not None else []
    if inner is not None and names:
        inner["required"] = [*inner.get("required", ()), rng.choice(names)]
    return bool(names)


def rename(rng: Random, schema: Schema) -> bool:
    """A property under another name."""
    inner = closed_object(rng, schema)
    names = list(inner.get("properties", {})) if inner is not None else []
    if inner is None or not names:
        return False
    old = rng.choice(names)
    inner["properties"]["renamed_one"] = inner["properties"].pop(old)
    if old in inner.get("required", ()):
        inner["required"] = ["renamed_one" if name == old else name for name in inner["required"]]
    return True


def open_up(rng: Random, schema: Schema) -> bool:
    """An object takes anything beside what it names."""
    inner = closed_object(rng, schema)
    if inner is not None:
        inner["additionalProperties"] = True
    return inner is not None


def more_choices(rng: Random, schema: Schema) -> bool:
    """One more value in an enum."""
    inner = pick(rng, schema, kind="string", enum=True)
    if inner is not None:
        inner["enum"] = [*inner["enum"], "one more value"]
    return inner is not None


def fewer_choices(rng: Random, schema: Schema) -> bool:
    """One value less in an enum that has two at least."""
    inner = pick(rng, schema, kind="string", enum=True)
    if inner is None or len(inner["enum"]) < 2:
        return False
    inner["enum"] = inner["enum"][1:]
    return True


def choices_reordered(rng: Random, schema: Schema) -> bool:
    """The same values of an enum, the other way round."""
    inner = pick(rng, schema, kind="string", enum=True)
    if inner is not None:
        inner["enum"] = inner["enum"][::-1]
    return inner is not None


def nullable(rng: Random, schema: Schema) -> bool:
    """A string may be null."""
    inner = pick(rng, schema, kind="string", enum=False)
    if inner is not None:
        inner["type"] = ["string", "null"]
    return inner is not None


def retyped(rng: Random, schema: Schema) -> bool:
    """A string becomes an integer."""
    inner = pick(rng, schema, kind="string", enum=False, format=False, pattern=False)
    if inner is not None:
        inner.clear()
        inner["type"] = "integer"
    return inner is not None


def any_number(rng: Random, schema: Schema) -> bool:
    """An integer may have a fraction."""
    inner = pick(rng, schema, kind="integer", enum=False, multipleOf=False)
    if inner is None or inner.get("minimum", 0) == inner.get("maximum", 1):
        return False
    inner["type"] = "number"
    return True


def shorter(rng: Random, schema: Schema) -> bool:
    """A string without bounds gets one."""
    bare = {"enum": False, "format": False, "pattern": False, "maxLength": False}
    inner = pick(rng, schema, kind="string", minLength=False, **bare)
    if inner is not None:
        inner["maxLength"] = 40
    return inner is not None


def bounded(rng: Random, schema: Schema) -> bool:
    """A number without bounds gets one."""
    inner = pick(rng, schema, kind="integer", enum=False, minimum=False, maximum=False)
    if inner is not None:
        inner["minimum"] = 3
    return inner is not None


def patterned(rng: Random, schema: Schema) -> bool:
    """A string has to match a pattern."""
    inner = pick(rng, schema, kind="string", enum=False, format=False, pattern=False)
    if inner is not None:
        inner["pattern"] = "^[a-z]+-[0-9]{2}$"
    return inner is not None


def formatted(rng: Random, schema: Schema) -> bool:
    """A string has to be an address."""
    inner = pick(rng, schema, kind="string", enum=False, format=False, pattern=False)
    if inner is not None:
        inner["format"] = "ipv4"
    return inner is not None


def filled(rng: Random, schema: Schema) -> bool:
    """An array that may be empty may not be."""
    inner = pick(rng, schema, kind="array", minItems=False, maxItems=False)
    if inner is not None:
        inner["minItems"] = 1
    return inner is not None


def distinct(rng: Random, schema: Schema) -> bool:
    """An array may not hold the same twice."""
    inner = pick(rng, schema, kind="array", uniqueItems=False, maxItems=False)
    if inner is not None:
        inner["uniqueItems"] = True
    return inner is not None


def described(rng: Random, schema: Schema) -> bool:
    """Other words and another default: nothing that is asserted."""
    for inner in reachable(schema):
        inner["description"] = "Said in other words."
    for name in optional_names(schema):
        schema["properties"][name]["title"] = name.upper()
    return True


def moved(rng: Random, schema: Schema) -> bool:
    """A property's schema is moved to $defs and referred to."""
    inner = closed_object(rng, schema)
    names = list(inner.get("properties", {})) if inner is not None else []
    if inner is None or not names:
        return False
    name = rng.choice(names)
    schema["$defs"] = {**schema.get("$defs", {}), "moved": inner["properties"][name]}
    inner["properties"][name] = {"$ref": "#/$defs/moved"}
    return True


def rewritten(rng: Random, schema: Schema) -> bool:
    """A property's schema is written as the only branch of a combinator."""
    inner = closed_object(rng, schema)
    names = list(inner.get("properties", {})) if inner is not None else []
    if inner is None or not names:
        return False
    name = rng.choice(names)
    word = rng.choice(("allOf", "anyOf", "oneOf"))
    inner["properties"][name] = {word: [inner["properties"][name]]}
    return True


EDITS: dict[str, tuple[Edit, tuple[str, str]]] = {
    edit.__name__: (edit, effect)
    for effect, edits in (
        (NEITHER, (described, choices_reordered, moved, rewritten)),
        (WIDER, (add_optional, open_up, more_choices, nullable, any_number)),
        (NARROWER, (remove_optional, require, fewer_choices, shorter, bounded)),
        (NARROWER, (patterned, formatted, filled, distinct)),
        (OTHER, (add_required, rename, retyped)),
    )
    for edit in edits
}


def edited(rng: Random, schema: Any, edit: Edit) -> Schema | None:
    """A changed copy; None where the schema has nothing that could be edited in this way."""
    copy: Schema = thaw(schema)
    return copy if edit(rng, copy) else None
