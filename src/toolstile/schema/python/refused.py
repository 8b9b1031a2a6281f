"""Types that have no schema here, each with what to write instead."""

from __future__ import annotations

import typing
from collections import abc
from collections.abc import Mapping
from datetime import time, timedelta
from decimal import Decimal
from enum import Flag
from pathlib import PurePath
from typing import Any, TypeVar

from toolstile.schema.python.hints import HintError
from toolstile.schema.python.members import is_record

_SCHEMA = "name the type, or give the schema: Annotated[Any, {'type': ...}]"
_ITEMS = "say what it holds, such as {0}"

_HINTS: Mapping[Any, tuple[str, str]] = {
    Any: ("Any does not say what it takes", _SCHEMA),
    object: ("object does not say what it takes", _SCHEMA),
    dict: ("dict does not say what it takes", _ITEMS.format("dict[str, int], or a TypedDict")),
    list: ("list does not say what it takes", _ITEMS.format("list[str]")),
    set: ("set does not say what it takes", _ITEMS.format("set[str]")),
    frozenset: ("frozenset does not say what it takes", _ITEMS.format("frozenset[str]")),
    tuple: ("tuple does not say what it takes", _ITEMS.format("tuple[int, int]")),
    abc.Mapping: ("Mapping does not say what it takes", _ITEMS.format("Mapping[str, int]")),
    abc.Sequence: ("Sequence does not say what it takes", _ITEMS.format("Sequence[str]")),
    complex: ("JSON has no complex numbers", "take two numbers"),
}
_FAMILIES: tuple[tuple[tuple[type, ...], str, str], ...] = (
    (
        (bytes, bytearray, memoryview),
        "JSON has no bytes",
        "take a ReadPath or text; a tool may return bytes as its whole output",
    ),
    ((PurePath,), "a plain path is not guarded", "take a ReadPath or a WritePath"),
    ((timedelta, time), "JSON has no such span or time of day", "take seconds as a float"),
    ((Decimal,), "JSON has no Decimal", "take a str with a pattern, or a float"),
    ((Flag,), "flags can be combined, which a choice cannot say", "take a set of an Enum"),
    ((tuple,), "the members of a named tuple have no names in JSON", "use a dataclass"),
)


def refusal(hint: Any) -> HintError:
    """Why a type is refused, and what to write instead."""
    if isinstance(hint, (str, typing.ForwardRef)):
        return HintError("this annotation is still text", "write the type, not its name in quotes")
    if isinstance(hint, TypeVar):
        return HintError("a type variable has no schema", "write the concrete type")
    if isinstance(hint, abc.Hashable) and hint in _HINTS:
        return HintError(*_HINTS[hint])
    for family, reason, repair in _FAMILIES:
        if isinstance(hint, type) and issubclass(hint, family):
            return HintError(reason, repair)
    if typing.get_args(hint) and is_record(typing.get_origin(hint)):
        reason = f"{typing.get_origin(hint).__qualname__} with types in brackets has no schema"
        return HintError(reason, "write a class of its own, with these types on its members")
    name = getattr(hint, "__qualname__", None) or getattr(hint, "__name__", None) or "this type"
    repair = "use a dataclass, TypedDict, Struct or pydantic model of plain types"
    return HintError(f"{name} has no schema", repair)
