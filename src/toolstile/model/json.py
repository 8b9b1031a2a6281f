"""JSON as an immutable value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeAlias

# Recursive JSON types make every reader cast; `Any` documented as "a JSON value" reads better
# and the boundaries (schema/parse, freeze) are what guarantees it.
JsonValue: TypeAlias = Any
JsonObject: TypeAlias = Mapping[str, Any]


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError(f"{type(self).__name__} cannot be changed; thaw() gives a copy that can")


class FrozenDict(dict[str, Any]):
    """A dict that refuses change; equal to, and encoded like, a plain dict."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (FrozenDict, (dict(self),))


class FrozenList(list[Any]):
    """A list that refuses change; equal to, and encoded like, a plain list."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = _refuse
    remove = reverse = sort = _refuse

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenList:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (FrozenList, (list(self),))


def freeze(value: JsonValue) -> JsonValue:
    """The same JSON value in containers that nobody can change."""
    if isinstance(value, Mapping):
        return FrozenDict({key: freeze(member) for key, member in value.items()})
    if isinstance(value, (list, tuple)):
        return FrozenList([freeze(item) for item in value])
    return value


def thaw(value: JsonValue) -> JsonValue:
    """A deep copy in plain, changeable dicts and lists."""
    if isinstance(value, Mapping):
        return {key: thaw(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [thaw(item) for item in value]
    return value


def type_name(value: JsonValue) -> str:
    """The JSON Schema name of a value's type (1.0 is a number; whether it may stand for an
    integer is the schema's business)."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def describe(value: JsonValue) -> str:
    """What a value is, never what it says: safe in messages, logs and reports."""
    kind = type_name(value)
    if kind == "string":
        return f"string ({len(value)} characters)"
    if kind == "array":
        return f"array ({len(value)} items)"
    if kind == "object":
        return f"object ({len(value)} members)"
    return kind
