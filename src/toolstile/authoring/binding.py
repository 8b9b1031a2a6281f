"""Between JSON and a function: arguments to the types of its signature, its result to JSON.

Arguments are already valid, filled in, and with their resources resolved; binding only changes
their form. It is strict all the same: what does not have the form is refused, never converted.
"""

from __future__ import annotations

import inspect
import typing
from collections import abc
from collections.abc import Callable, Mapping
from datetime import date, datetime
from enum import Enum
from functools import lru_cache
from typing import Any, Literal, TypeAlias
from uuid import UUID

import msgspec

from toolstile.authoring.context import ToolContext
from toolstile.errors import ToolError
from toolstile.model.issue import pointer
from toolstile.model.json import JsonObject, JsonValue
from toolstile.schema.closing import Root, close
from toolstile.schema.compiled import CompiledSchema, compiled
from toolstile.schema.python.annotated import whole_schema
from toolstile.schema.python.hints import (
    HintError,
    Names,
    alternatives,
    hints_of,
    is_alias,
    is_union,
    mark_of,
    names_of,
    unwrap,
)
from toolstile.schema.python.infer import is_passed, result_hint
from toolstile.schema.python.members import Direction, Member, is_record, members_of, tag_of
from toolstile.schema.python.typed import LISTS, MAPPINGS, schema_of
from toolstile.schema.python.values import as_json, is_model

Handles: TypeAlias = Callable[[str, str, type], object]
"""Makes the handle of a resource: the argument's JSON Pointer, its resolved text, the type."""

Path: TypeAlias = tuple[str | int, ...]

PASSED: tuple[type, ...] = (ToolContext,)

_TEXTS = (datetime, date, UUID)
_MADE: Mapping[Any, Callable[[list[Any]], Any]] = {
    **dict.fromkeys(LISTS, list),
    **dict.fromkeys((set, abc.MutableSet), set),
    tuple: tuple,
}


def bind(
    function: Callable[..., Any], arguments: JsonObject, handles: Handles, context: ToolContext
) -> dict[str, Any]:
    """The keyword arguments to call `function` with.

    Raises:
        ToolError: INVALID_ARGUMENT, where an argument does not have the form of its type.
    """
    hints, passed = _signature(function)
    reader = _Reader(handles, names_of(function))
    bound = {
        name: reader.read(value, hints.get(name, Any), (name,))
        for name, value in arguments.items()
        if name not in passed
    }
    return bound | dict.fromkeys(passed, context)


@lru_cache(maxsize=256)
def _signature(function: Callable[..., Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The types of a function's parameters, and the names of those that the runtime gives."""
    try:
        hints = hints_of(function, names_of(function))
    except HintError:  # only a tool whose schema was written by hand gets so far
        return {}, ()
    names = inspect.signature(function).parameters
    return hints, tuple(name for name in names if is_passed(hints.get(name), PASSED))


def unbind(value: object) -> JsonValue:
    """The JSON of what a tool returned.

    Raises:
        TypeError: something in it has no JSON, and which type that is.
    """
    return as_json(value)


def typed_result(function: Callable[..., Any], output: JsonValue) -> Any:
    """A tool's JSON output in the form of its return type; as it is where none is written.

    Raises:
        ToolError: INVALID_ARGUMENT, where it does not have that form.
    """
    hints, _ = _signature(function)
    _, hint = result_hint(hints.get("return"))
    if hint is None:
        return output
    return _Reader(lambda _, text, kind: kind(text), names_of(function)).read(output, hint, ())


def _refused(at: Path, expected: str) -> ToolError:
    where = pointer(*at) or "the value"
    return ToolError("INVALID_ARGUMENT", f"{where} is not {expected}")


class _Reader:
    """Reads the arguments of one call."""

    def __init__(self, handles: Handles, names: Names) -> None:
        self.handles = handles
        self.names = names
        self._members: dict[Any, dict[str, Member]] = {}
        self._schemas: dict[int, tuple[Any, CompiledSchema]] = {}

    def read(self, value: JsonValue, hint: Any, at: Path) -> Any:
        """The value in the form of its type."""
        core, extras = unwrap(hint)
        as_it_is = core is Any or core is object or whole_schema(extras) is not None
        if as_it_is and mark_of(core) is None:  # whoever writes a schema out gets its JSON
            return value
        if core is None or core is type(None):
            return self._exact(value, type(None), at)
        if mark_of(core) is not None:
            return self.handles(pointer(*at), self._exact(value, str, at), core)
        origin = typing.get_origin(core)
        if origin is Literal:
            return self._choice(value, typing.get_args(core), at)
        if is_union(core):
            return self._union(value, core, at)
        if is_alias(core):
            return self.read(value, core.__value__, at)
        if is_record(core):
            return self._record(value, core, at)
        if is_model(core):
            return self._model(value, core, at)
        return self._plain(value, core, origin, at)

    def _plain(self, value: JsonValue, core: Any, origin: Any, at: Path) -> Any:
        if origin is not None:
            return self._container(value, origin, typing.get_args(core), at)
        if core is float and type(value) is int:
            return float(value)
        if core in _TEXTS:
            return self._text(value, core, at)
        if isinstance(core, type) and issubclass(core, Enum):
            return self._choice(value, tuple(core), at)
        return self._exact(value, core, at) if isinstance(core, type) else value

    def _exact(self, value: JsonValue, kind: type, at: Path) -> Any:
        if type(value) is not kind and not (kind in (dict, list) and isinstance(value, kind)):
            raise _refused(at, f"of type {kind.__name__}")
        return value

    def _text(self, value: JsonValue, kind: type, at: Path) -> Any:
        try:
            return msgspec.convert(self._exact(value, str, at), kind, strict=True)
        except msgspec.ValidationError:
            raise _refused(at, f"a {kind.__name__} that Python can hold") from None

    def _choice(self, value: JsonValue, choices: tuple[Any, ...], at: Path) -> Any:
        for choice in choices:
            plain = choice.value if isinstance(choice, Enum) else choice
            if plain == value and isinstance(plain, bool) == isinstance(value, bool):
                return choice
        raise _refused(at, "one of the allowed values")

    def _union(self, value: JsonValue, core: Any, at: Path) -> Any:
        members = alternatives(core)
        if value is None and len(members) < len(typing.get_args(core)):
            return None
        if len(members) == 1:
            return self.read(value, members[0], at)
        if type(value) is float:  # an integer fits 1.0 as well
            members = (*sorted(members, key=lambda member: unwrap(member)[0] is not float),)
        for member in members:  # the first that fits, as where defaults are filled in
            if self._fits(value, member):
                is_integer = type(value) is float and unwrap(member)[0] is int
                return self.read(int(value) if is_integer else value, member, at)
        raise _refused(at, "one of the allowed alternatives")

    def _fits(self, value: JsonValue, member: Any) -> bool:
        if id(member) not in self._schemas:  # kept with the type, so that its id stays its own
            schema = close(schema_of(member, Direction.INPUT, self.names), Root.OUTPUT)
            self._schemas[id(member)] = (member, compiled(schema))
        return self._schemas[id(member)][1].is_valid(value)

    def _container(self, value: JsonValue, origin: Any, inner: tuple[Any, ...], at: Path) -> Any:
        if origin in MAPPINGS:
            members = self._exact(value, dict, at)
            return {key: self.read(each, inner[1], (*at, key)) for key, each in members.items()}
        items = self._exact(value, list, at)
        counted = origin is tuple and inner[-1:] != (...,)
        if counted and len(items) != len(inner):
            raise _refused(at, f"an array of {len(inner)} items")
        hints = inner if counted else inner[:1] * len(items)
        pairs = enumerate(zip(items, hints, strict=True))
        read = [self.read(each, hint, (*at, index)) for index, (each, hint) in pairs]
        return _MADE.get(origin, frozenset)(read)

    def _record(self, value: JsonValue, kind: Any, at: Path) -> Any:
        members = dict(self._exact(value, dict, at))
        tag = tag_of(kind)
        if tag is not None:
            members.pop(tag[0], None)
        known = self._known(kind)
        missing = [key for key, each in known.items() if each.required and key not in members]
        if missing or members.keys() - known.keys():
            raise _refused(at, f"a {kind.__name__} with exactly its members")
        read = {
            known[key].name: self.read(each, known[key].hint, (*at, key))
            for key, each in members.items()
        }
        return read if typing.is_typeddict(kind) else kind(**read)

    def _known(self, kind: Any) -> dict[str, Member]:
        if kind not in self._members:
            found = members_of(kind, Direction.INPUT, self.names)
            self._members[kind] = {each.key: each for each in found}
        return self._members[kind]

    def _model(self, value: JsonValue, kind: Any, at: Path) -> Any:
        try:
            return kind.model_validate_json(msgspec.json.encode(value), strict=True)
        except ValueError as error:  # pydantic's ValidationError is one; its text has the values
            raise _refused(at, f"a valid {kind.__name__} ({type(error).__name__})") from None
