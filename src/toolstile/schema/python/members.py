"""The members of dataclasses, msgspec Structs and TypedDicts, told alike."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, NotRequired, Required

import msgspec

from toolstile.schema.python.docstrings import read_docstring
from toolstile.schema.python.hints import HintError, Names, hints_of, origins


class Direction(Enum):
    """Which way values go: what a tool takes may leave out what has a default."""

    INPUT = "input"
    OUTPUT = "output"


class Member(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A member of a record: its name in Python, its key in JSON, and its type.

    `default` makes the value used where an optional member is left out; None: there is none.
    """

    name: str
    key: str
    hint: Any
    required: bool = True
    default: Callable[[], Any] | None = None
    description: str = ""


def is_record(kind: Any) -> bool:
    """True for the classes whose members `members_of` can tell."""
    if not isinstance(kind, type):
        return False
    return dataclasses.is_dataclass(kind) or is_struct(kind) or typing.is_typeddict(kind)


def is_struct(kind: Any) -> bool:
    """True for msgspec's Structs."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def members_of(kind: Any, direction: Direction, names: Names) -> tuple[Member, ...]:
    """The members in the order written.

    Coming out of a tool, a dataclass or Struct has all its members, so all are required.

    Raises:
        HintError: the record, or an annotation in it, cannot be said in JSON.
    """
    told = read_docstring(own_docstring(kind)).parameters
    if typing.is_typeddict(kind):
        found = _typed_dict(kind, names)
    elif is_struct(kind):
        found = _struct(kind)
    else:
        found = _dataclass(kind, direction, names)
    if direction is Direction.OUTPUT and not typing.is_typeddict(kind):
        found = (msgspec.structs.replace(each, required=True, default=None) for each in found)
    return tuple(
        msgspec.structs.replace(each, description=told.get(each.name, "")) for each in found
    )


def tag_of(kind: Any) -> tuple[str, str | int] | None:
    """The member by which a tagged Struct is told from others."""
    settings = kind.__struct_config__ if is_struct(kind) else None
    if settings is None or settings.tag_field is None:
        return None
    return settings.tag_field, settings.tag


def own_docstring(kind: Any) -> str | None:
    """The docstring that the author of a class wrote, not the one made by `dataclass`."""
    text = vars(kind).get("__doc__")
    made = isinstance(text, str) and text.startswith(f"{kind.__name__}(")
    return None if made else text


def _typed_dict(kind: Any, names: Names) -> Iterator[Member]:
    for name, hint in hints_of(kind, names).items():
        # Where annotations are strings, `__required_keys__` does not see Required in them.
        said = [origin for origin in origins(hint) if origin in (Required, NotRequired)]
        optional = NotRequired in said or (not said and name in kind.__optional_keys__)
        yield Member(name=name, key=name, hint=hint, required=not optional)


def _struct(kind: Any) -> Iterator[Member]:
    if kind.__struct_config__.array_like:
        raise HintError(f"{kind.__name__} is written as a list", "leave out array_like=True")
    try:
        fields = msgspec.structs.fields(kind)
    except NameError as error:
        hint = f"define or import '{error.name}' in the module of the Struct"
        raise HintError(f"the annotations of {kind.__name__} use an unknown name", hint) from None
    for field in fields:
        default = _default(field.default, field.default_factory, msgspec.NODEFAULT)
        yield Member(
            name=field.name,
            key=field.encode_name,
            hint=field.type,
            required=field.required,
            default=default,
        )


def _dataclass(kind: Any, direction: Direction, names: Names) -> Iterator[Member]:
    hints = hints_of(kind, names)
    if any(isinstance(hint, dataclasses.InitVar) for hint in hints.values()):
        raise HintError(f"{kind.__name__} has an InitVar", "make it a field, or the argument plain")
    for field in dataclasses.fields(kind):
        if field.init or direction is Direction.OUTPUT:
            default = _default(field.default, field.default_factory, dataclasses.MISSING)
            yield Member(
                name=field.name,
                key=field.name,
                hint=hints[field.name],
                required=default is None,
                default=default,
            )


def _default(value: Any, factory: Any, absent: Any) -> Callable[[], Any] | None:
    if factory is not absent:
        made: Callable[[], Any] = factory
        return made
    return None if value is absent else lambda: value
