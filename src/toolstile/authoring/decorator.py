"""`@tool`: a function becomes a tool and stays a function."""

from __future__ import annotations

import functools
import inspect
import sys
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter
from os import PathLike
from typing import Any, Protocol, TypeVar, Unpack, overload

from toolstile.authoring.binding import PASSED
from toolstile.authoring.declaring import ToolFields, declare
from toolstile.authoring.tool import Tool
from toolstile.errors import DefinitionError
from toolstile.model.definition import ToolDefinition
from toolstile.model.issue import Issue, pointer
from toolstile.model.json import JsonValue
from toolstile.schema.compiled import Checked
from toolstile.schema.issue import fault
from toolstile.schema.places import walk
from toolstile.schema.python.hints import (
    HintError,
    Names,
    alternatives,
    hints_of,
    is_union,
    mark_of,
    names_of,
    remember_names,
    unwrap,
)
from toolstile.schema.python.infer import infer, is_passed, result_type_of

Result_co = TypeVar("Result_co", covariant=True)
Returned = TypeVar("Returned")

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


class ToolFunction(Protocol[Result_co]):
    """A function that is also a tool. Its arguments are `Any`: a handle may be given as text."""

    __name__: str
    __qualname__: str
    definition: ToolDefinition
    tool: Tool

    def __call__(self, *args: Any, **kwargs: Any) -> Result_co:
        """Call the function, as if there were no decorator."""

    def check(self, raw: bytes | str | JsonValue) -> Checked:
        """Do these arguments fit? Never raises."""


@overload
def tool(
    function: Callable[..., Returned], /, **fields: Unpack[ToolFields]
) -> ToolFunction[Returned]: ...
@overload
def tool(
    function: None = None, /, **fields: Unpack[ToolFields]
) -> Callable[[Callable[..., Returned]], ToolFunction[Returned]]: ...
def tool(function: Any = None, /, **fields: Unpack[ToolFields]) -> Any:
    """Make a function a tool; what is not said in `fields` is read from its signature.

    Raises:
        DefinitionError: with every fault of the signature and the fields.
    """
    names = _names_around()
    if function is None:
        return lambda decorated: _decorated(decorated, fields, names)
    return _decorated(function, fields, names)


def _names_around() -> Names:
    """The local names where the decorator stands; its annotations may use them."""
    frame = sys._getframe(2)  # noqa: SLF001 - there is no public way to a caller's names
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)


def _decorated(given: Any, fields: Mapping[str, Any], names: Names) -> Any:
    function = given.__func__ if isinstance(given, staticmethod) else given
    if not inspect.isfunction(function):
        hint = "decorate a function or a staticmethod; a class goes to the registry as it is"
        issue = fault("", "type", f"{type(given).__name__} is not a function", hint)
        raise DefinitionError(str(fields.get("name"))[:64], (issue,))
    remember_names(function, names)
    made = declare(function, *_read_signature(function, fields))
    wrapped = _as_before(function)
    for name, value in (("tool", made), ("definition", made.definition), ("check", made.check)):
        setattr(wrapped, name, value)
    return staticmethod(wrapped) if isinstance(given, staticmethod) else wrapped


def _read_signature(
    function: Callable[..., Any], fields: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Issue]]:
    """The fields that the signature gives where they are not written, and its faults."""
    inferred = infer(function, names_of(function), PASSED)
    read: dict[str, Any] = {
        "name": function.__name__,
        "description": inferred.description,
        "parameters": inferred.parameters,
        "output_schema": inferred.output_schema,
        "result_type": result_type_of(fields.get("output_schema"), inferred.result_type).value,
    }
    # A schema written by hand is the author's word; the signature must only be able to take it.
    by_hand = {"parameters", "output_schema"} & fields.keys()
    issues = [issue for issue in inferred.issues if issue.path.split("/")[1] not in by_hand]
    if "parameters" in by_hand:
        issues += misfits(function, fields["parameters"])
        issues += _unmarked(inferred.parameters, fields["parameters"])
    if not inferred.description and "description" not in fields:
        hint = "write a docstring; its first paragraph is shown to the model"
        issues.append(fault("/description", "description", "the tool has no description", hint))
        read["description"] = "(missing)"
    return {**read, **fields}, issues


def misfits(function: Callable[..., Any], schema: Any) -> Iterator[Issue]:
    """Where a schema written by hand and the function's parameters are at odds."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions written in C do not tell
        return
    if not isinstance(schema, Mapping):
        return
    hints = _hints(function)
    taken = [each for each in parameters if not is_passed(hints.get(each.name), PASSED)]
    if not any(each.kind is Parameter.VAR_KEYWORD for each in taken):
        for name in schema.get("properties", {}).keys() - {each.name for each in taken}:
            path = pointer("parameters", "properties", name)
            reason = f"the function has no parameter '{name[:64]}'"
            yield fault(path, "signature", reason, "add it, or **arguments")
    for each in taken:
        needed = each.kind in _NAMED and each.default is Parameter.empty
        if needed and each.name not in schema.get("required", ()):
            reason = f"the function needs '{each.name}', which is not required"
            yield fault("/parameters/required", "signature", reason, "add it, or give it a default")


def _unmarked(inferred: Any, written: Any) -> Iterator[Issue]:
    """Handles that a schema written by hand does not mark: nobody would decide on them."""
    places = walk(written if isinstance(written, Mapping) else {})
    marks = {place.pointer: place.rules.get("x-toolstile") for place in places}
    for place in walk(inferred):
        mark = place.rules.get("x-toolstile")
        if mark is not None and marks.get(place.pointer) != mark:
            reason = "the parameter takes a handle, and its argument is not marked as one"
            hint = f"write 'x-toolstile': {dict(mark)}, or take a str"
            yield fault(f"/parameters{place.pointer}", "x-toolstile", reason, hint)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return hints_of(function, names_of(function))
    except HintError:
        return {}


def _as_before(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it was, but that a handle may be given as text: unit tests do."""
    hints = _hints(function)
    handled = {name: hint for name, hint in hints.items() if _holds_handles(hint)}
    signature = inspect.signature(function)

    def given(args: Sequence[Any], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        for name in handled.keys() & bound.arguments.keys():
            bound.arguments[name] = _lifted(bound.arguments[name], handled[name])
        return bound

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not handled:
            return function(*args, **kwargs)
        bound = given(args, kwargs)
        return function(*bound.args, **bound.kwargs)

    @functools.wraps(function)
    async def call_async(*args: Any, **kwargs: Any) -> Any:
        return await call(*args, **kwargs)

    return call_async if inspect.iscoroutinefunction(function) else call


def _holds_handles(hint: Any) -> bool:
    core, _ = unwrap(hint)
    return mark_of(core) is not None or any(map(_holds_handles, typing.get_args(core)))


def _lifted(value: Any, hint: Any) -> Any:
    """The value with the handles that its type asks for where it has text."""
    core, _ = unwrap(hint)
    if not _holds_handles(core):
        return value
    inner = typing.get_args(core)
    if mark_of(core) is not None:
        is_text = isinstance(value, (str, PathLike)) and not isinstance(value, core)
        return core(value) if is_text else value
    if is_union(core):
        held = [member for member in alternatives(core) if _holds_handles(member)]
        return _lifted(value, held[0]) if held and value is not None else value
    if isinstance(value, dict) and len(inner) == 2:
        return {key: _lifted(each, inner[1]) for key, each in value.items()}
    if isinstance(value, tuple) and inner[-1:] != (...,):
        return tuple(_lifted(each, one) for each, one in zip(value, inner, strict=True))
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(_lifted(each, inner[0]) for each in value)
    return value
