"""From a function's signature to schemas: what its author wrote, and nothing guessed.

Types and defaults come from the signature, words from the docstring, everything else from
`Annotated`. What has no schema is refused with what to write instead: a parameter that takes
anything cannot be checked, and an unchecked argument is what this library exists to prevent.
"""

from __future__ import annotations

import inspect
import typing
from collections import abc
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter
from types import GenericAlias
from typing import Any, NoReturn

import msgspec

from toolstile.model.issue import Issue, pointer
from toolstile.model.json import JsonObject
from toolstile.model.vocabulary import ResultType
from toolstile.schema.issue import fault
from toolstile.schema.python.annotated import Schema
from toolstile.schema.python.docstrings import read_docstring
from toolstile.schema.python.hints import (
    HintError,
    Names,
    alternatives,
    hints_of,
    is_union,
    unwrap,
)
from toolstile.schema.python.members import Direction
from toolstile.schema.python.typed import TypeReader, json_default, with_definitions

STREAMS = (abc.Iterator, abc.Generator, abc.AsyncIterator, abc.AsyncGenerator)
AWAITED = (abc.Awaitable, abc.Coroutine)
BYTES = (bytes, bytearray, memoryview)

_SPREAD = {
    Parameter.VAR_POSITIONAL: ("*{0} takes any number of arguments", "take a list"),
    Parameter.VAR_KEYWORD: ("**{0} takes any argument", "name each, or take a TypedDict"),
    Parameter.POSITIONAL_ONLY: ("'{0}' cannot be given by name", "leave out the '/'"),
}


class Inferred(msgspec.Struct, frozen=True, kw_only=True):
    """What a signature says. With `issues`, the schemas are stand-ins where the issues are."""

    description: str
    parameters: JsonObject
    output_schema: JsonObject | None = None
    result_type: ResultType = ResultType.OBJECT
    issues: tuple[Issue, ...] = ()


def infer(
    function: Callable[..., Any], names: Names | None = None, passed: tuple[type, ...] = ()
) -> Inferred:
    """The schemas of a function's arguments and result, and its description.

    `names` are local names that its annotations may use. Parameters of the types in `passed` are
    given by the runtime and are no arguments.
    """
    description = read_docstring(inspect.getdoc(function)).summary
    try:
        hints = hints_of(function, names or {})
    except HintError as error:
        issue = fault("/parameters", "hint", error.message, error.hint)
        nothing: Schema = {"type": "object", "properties": {}, "additionalProperties": False}
        return Inferred(description=description, parameters=nothing, issues=(issue,))
    arguments = _Arguments(hints, names or {}, passed)
    parameters = arguments.schema(function)
    result_type, result = result_hint(hints.get("return"))
    output, issues = _output(result, names or {})
    return Inferred(
        description=description,
        parameters=parameters,
        output_schema=output,
        result_type=result_type or result_type_of(output),
        issues=(*arguments.issues, *issues),
    )


def is_passed(hint: Any, passed: tuple[type, ...]) -> bool:
    """True for a parameter that the runtime gives: of one of these types, or perhaps None."""
    core, _ = unwrap(hint)
    if is_union(core):
        return any(is_passed(member, passed) for member in alternatives(core))
    return isinstance(core, type) and any(kind in core.__mro__ for kind in passed)


class _Arguments:
    """The parameters of one function on their way to a schema."""

    def __init__(self, hints: dict[str, Any], names: Names, passed: tuple[type, ...]) -> None:
        self.hints = hints
        self.passed = passed
        self.reader = TypeReader(Direction.INPUT, names)

    @property
    def issues(self) -> list[Issue]:
        """What was found so far."""
        return self.reader.issues

    def schema(self, function: Callable[..., Any]) -> Schema:
        """The object that holds all arguments."""
        told = read_docstring(inspect.getdoc(function)).parameters
        properties: dict[str, Schema] = {}
        required = []
        for parameter in self._exposed(function):
            name = parameter.name
            properties[name] = self._property(parameter, told.get(name, ""))
            if parameter.default is Parameter.empty:
                required.append(name)
        made: Schema = {"type": "object", "properties": properties, "required": required}
        return with_definitions(made | {"additionalProperties": False}, self.reader)

    def _exposed(self, function: Callable[..., Any]) -> Iterator[Parameter]:
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind in _SPREAD:
                reason, hint = _SPREAD[parameter.kind]
                self._refuse(parameter.name, reason.format(parameter.name), hint)
            elif not is_passed(self.hints.get(parameter.name), self.passed):
                yield parameter

    def _property(self, parameter: Parameter, text: str) -> Schema:
        name = parameter.name
        if name not in self.hints:
            self._refuse(name, f"'{name}' has no type", _untyped_hint(name))
            return {"type": "string"}
        before = len(self.issues)
        schema = self.reader.schema(self.hints[name], ("parameters", "properties", name), text)
        if parameter.default is not Parameter.empty and len(self.issues) == before:
            try:
                schema["default"] = json_default(lambda: parameter.default)
            except HintError as error:
                self._refuse(name, error.message, error.hint)
        return schema

    def _refuse(self, name: str, reason: str, hint: str) -> None:
        self.issues.append(fault(pointer("parameters", "properties", name), "hint", reason, hint))


def _untyped_hint(name: str) -> str:
    if name in ("self", "cls"):
        return "a tool is a function or a staticmethod"
    return f"annotate it, such as {name}: str"


def result_hint(hint: Any) -> tuple[ResultType | None, Any]:
    """The kind of output, where the hint alone decides it, and the type to check it by."""
    core, _ = unwrap(hint)
    origin = typing.get_origin(core)
    if origin in AWAITED:
        return result_hint((Any, *typing.get_args(core))[-1])
    if origin in STREAMS:
        item = (*typing.get_args(core), Any)[0]
        # Of chunks of bytes the output is their concatenation, of other values their list.
        return ResultType.STREAM, None if unwrap(item)[0] in BYTES else GenericAlias(list, item)
    if core in BYTES:
        return ResultType.BINARY, None
    return None, None if core is NoReturn else hint


def _output(hint: Any, names: Names) -> tuple[Schema | None, list[Issue]]:
    core, extras = unwrap(hint)
    if hint is None:
        return None, []
    if core is dict and not extras:  # of a whole output this says enough: some object
        return {"type": "object"}, []
    reader = TypeReader(Direction.OUTPUT, names)
    return with_definitions(reader.schema(hint, ("output_schema",)), reader), reader.issues


def result_type_of(output: Any, otherwise: ResultType = ResultType.OBJECT) -> ResultType:
    """The kind of output that a schema describes."""
    said = output.get("type") if isinstance(output, Mapping) else None
    return ResultType(said) if said in ("array", "string", "object") else otherwise
