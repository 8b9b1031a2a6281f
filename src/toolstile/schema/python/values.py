"""Python values as JSON: the one way out, for defaults in schemas and for what tools return."""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from enum import Enum
from typing import Any
from uuid import UUID

import msgspec

from toolstile.model.canonical import canonical
from toolstile.model.json import JsonValue
from toolstile.schema.parse import DEFAULT_LIMITS
from toolstile.schema.python.hints import mark_of

# Far beyond what may leave a tool. It ends a structure that shares its parts until it is endless.
MAX_VALUES = 5_000_000


def as_json(value: object) -> JsonValue:
    """The JSON of a value: records by their members, enumerations by value, sets in order.

    Raises:
        TypeError: something in it has no JSON, and which type that is.
    """
    return _Writer().write(value, DEFAULT_LIMITS.depth)


def is_model(kind: object) -> bool:
    """True for pydantic's models; never imports pydantic, for whoever has one has imported it."""
    pydantic = sys.modules.get("pydantic")
    known = getattr(pydantic, "BaseModel", None)
    return known is not None and isinstance(kind, type) and issubclass(kind, known)


class _Writer:
    """One value on its way out, and how many more parts it may have."""

    def __init__(self) -> None:
        self.left = MAX_VALUES

    def write(self, value: Any, depth: int) -> JsonValue:
        """The JSON of a value that may be `depth` deep."""
        self.left -= 1
        if depth < 0 or self.left < 0:
            raise TypeError("a value that refers to itself, is too deep, or has too many parts")
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if isinstance(value, (list, tuple)):
            return [self.write(item, depth - 1) for item in value]
        if isinstance(value, (set, frozenset)):
            # The order of a set differs from process to process; that of its JSON does not.
            return sorted((self.write(item, depth - 1) for item in value), key=canonical)
        if is_model(kind):
            return self.write(value.model_dump(mode="json", by_alias=True), depth)
        if mark_of(kind):
            return str(value)
        for known, write in _SCALARS:
            if isinstance(value, known):
                return write(value)
        return self.members(value, depth - 1)

    def members(self, value: Any, depth: int) -> dict[str, JsonValue]:
        """The JSON object of a record or mapping."""
        made: dict[str, JsonValue] = {}
        for name, member in _members(value):
            if name in made:
                raise TypeError("two members of the same name")
            made[name] = self.write(member, depth)
        return made


def _real(value: float) -> float:
    if not math.isfinite(value):
        raise TypeError("a float that is NaN or infinite cannot be written as JSON")
    return float(value)


def _moment(value: datetime) -> str:
    if value.tzinfo is None:
        raise TypeError("a datetime without a time zone: give it one, such as datetime.UTC")
    return value.isoformat().replace("+00:00", "Z")


# In this order: an IntEnum is an int, a datetime is a date.
_SCALARS: tuple[tuple[type, Callable[[Any], JsonValue]], ...] = (
    (Enum, lambda value: as_json(value.value)),
    (bool, bool),
    (int, int),
    (float, _real),
    (str, str),
    (datetime, _moment),
    (date, date.isoformat),
    (UUID, str),
)


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """The members of a record or mapping by their JSON names."""
    kind = type(value)
    if isinstance(value, Mapping):
        yield from ((_name(name), member) for name, member in value.items())
    elif isinstance(value, msgspec.Struct):
        yield from _struct_members(value)
    elif dataclasses.is_dataclass(kind):
        yield from ((field.name, getattr(value, field.name)) for field in dataclasses.fields(kind))
    else:
        raise TypeError(
            f"a value of type {kind.__module__}.{kind.__qualname__} cannot be written as JSON"
        )


def _struct_members(value: msgspec.Struct) -> Iterator[tuple[str, Any]]:
    settings = value.__struct_config__
    if settings.tag_field is not None:
        yield settings.tag_field, settings.tag
    for name, key in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
        yield key, getattr(value, name)


def _name(name: Any) -> str:
    plain = name.value if isinstance(name, Enum) else name
    if not isinstance(plain, str):
        raise TypeError(f"a member name of type {type(name).__name__}: JSON's are strings")
    return str(plain)
