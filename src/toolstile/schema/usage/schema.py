"""The arguments of a parameters schema, as far as a usage text can contradict them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from toolstile.model.canonical import MAX_INTEGER

_SUBSCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_MOST_PLACES = 4096  # a schema of 256 KiB holds fewer that matter


NAME = r"[A-Za-z_$](?:[\w$.\-]{0,62}[\w$])?"
QUOTED_NAME = rf"[`\"']{NAME}[`\"']"
ONE_NAME = rf"[`\"']?{NAME}[`\"']?"
FAR = 200  # characters looked at on one side of a statement


def is_plain(name: str) -> bool:
    """True for a name that might just as well be an English word."""
    return name.isalpha() and name[1:].islower()


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """What a text may say of one property; `values` is None where the schema leaves them open."""

    name: str
    required: bool
    types: frozenset[str]
    values: tuple[Any, ...] | None
    written: frozenset[str] = frozenset()
    default: Any = msgspec.UNSET
    members: frozenset[str] | None = None


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """All arguments of a tool: the outermost by name, those within objects too."""

    top: Mapping[str, Argument]
    nested: Mapping[str, tuple[Argument, ...]]
    values: frozenset[str]
    closed: bool

    @property
    def names(self) -> frozenset[str]:
        """Every argument's name, at any depth."""
        return frozenset((*self.top, *self.nested))

    def find(self, name: str) -> Argument | None:
        """The argument of that name; None where there is none, or several that differ."""
        if name in self.top:
            return self.top[name]
        inner = self.nested.get(name, ())
        return inner[0] if inner and all(other == inner[0] for other in inner) else None

    def knows(self, name: str) -> bool:
        """True for a name that stands anywhere in the schema; its first letter may be a capital."""
        names = (name, name[:1].lower() + name[1:])
        return any(each in self.top or each in self.nested for each in names)


def read_arguments(parameters: Mapping[str, Any]) -> Arguments:
    """The arguments of a schema, sound or not: what cannot be read is taken as open."""
    top: dict[str, Argument] = {}
    nested: dict[str, list[Argument]] = {}
    for depth, schema in _places(parameters):
        required = _names(schema.get("required"))
        for name, rules in _mapping(schema.get("properties")).items():
            argument = _argument(str(name), rules, str(name) in required, parameters)
            if depth == 0:
                top[argument.name] = argument
            else:
                nested.setdefault(argument.name, []).append(argument)
    return Arguments(
        top=top,
        nested={name: tuple(found) for name, found in nested.items()},
        values=frozenset(value for argument in top.values() for value in argument.written),
        closed=_is_closed(parameters),
    )


def _places(parameters: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Every object schema with its depth; breadth first and bounded."""
    waiting: list[tuple[int, Any]] = [(0, parameters)]
    for depth, schema in waiting:
        if not isinstance(schema, Mapping):
            continue
        yield depth, schema
        children = [schema[key] for key in _SUBSCHEMAS if key in schema]
        children += [each for key in _LISTS for each in _sequence(schema.get(key))]
        children += [each for key in _MAPS for each in _mapping(schema.get(key)).values()]
        room = _MOST_PLACES - len(waiting)
        waiting.extend((depth + 1, child) for child in children[: max(room, 0)])


def _argument(name: str, rules: Any, required: bool, root: Mapping[str, Any]) -> Argument:
    schema = _resolved(rules, root)
    items = _resolved(schema.get("items"), root)
    open_ended = any(key in schema for key in ("anyOf", "oneOf", "allOf", "$ref", "not"))
    types = _names(schema.get("type"))
    members = _mapping(schema.get("properties"))
    closed = schema.get("additionalProperties", False) is False and not open_ended
    values = None if open_ended else _values(items if types == {"array"} else schema)
    return Argument(
        name=name,
        required=required,
        types=frozenset() if open_ended else types,
        values=values,
        written=frozenset(map(_written, values or ())),
        default=schema.get("default", msgspec.UNSET),
        members=frozenset(map(str, members)) if members and closed else None,
    )


def _values(schema: Mapping[str, Any]) -> tuple[Any, ...] | None:
    if isinstance(schema.get("enum"), (list, tuple)):
        return tuple(schema["enum"])
    return (schema["const"],) if "const" in schema else None


def _written(value: Any) -> str:
    """A value as one would write it; nothing for those that nobody writes into a text."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return str(value) if isinstance(value, (int, float)) and abs(value) <= MAX_INTEGER else ""


def _resolved(rules: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema itself, or what its local reference (one step) points at, with its own words."""
    schema = _mapping(rules)
    reference = schema.get("$ref")
    match = re.fullmatch(r"#/(\$defs|definitions)/([^/]+)", str(reference)) if reference else None
    if match is None:
        return schema
    target = _mapping(_mapping(root.get(match[1])).get(match[2]))
    return {**target, **{key: value for key, value in schema.items() if key != "$ref"}}


def _is_closed(schema: Mapping[str, Any]) -> bool:
    return (
        schema.get("additionalProperties", False) is False
        and schema.get("unevaluatedProperties", False) is False
        and "patternProperties" not in schema
        and "$ref" not in schema
    )


def _names(value: Any) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset((value,))
    return frozenset(each for each in _sequence(value) if isinstance(each, str))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []
