"""Tools as classes, as AGN-005 describes them.

    class PingPong:
        name: ClassVar[str] = "ping_pong"
        usage: ClassVar[str] = "ping_pong - Usage Guide ..."

        @staticmethod
        def schema() -> dict[str, Any]: ...

        async def execute(self, arguments_json: str, context: ToolContext) -> InvokeResult: ...

Every other field of a definition may stand beside `name` and `usage`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Self

import msgspec

from toolstile.authoring.context import ToolContext
from toolstile.authoring.declaring import FIELDS, declare
from toolstile.authoring.tool import Tool
from toolstile.errors import ToolError
from toolstile.model.definition import OUTPUT_RANGE
from toolstile.model.issue import Issue
from toolstile.model.json import JsonObject, JsonValue, thaw
from toolstile.schema.issue import fault
from toolstile.schema.keywords import type_names
from toolstile.schema.parse import ParseFault, ParseLimits, parse
from toolstile.schema.python.typed import nullable_form

TOOL_FAILED = "TOOL_FAILED"

_OUTPUT_LIMITS = ParseLimits(bytes=OUTPUT_RANGE[1])
_FUNCTION_FIELDS = ("type", "name", "description", "parameters", "strict")


class InvokeResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a class tool answers: JSON text, or why there is none."""

    successful: bool
    result: str | None = None
    errors: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def ok(cls, result: str) -> Self:
        """A success; `result` is JSON text."""
        return cls(successful=True, result=result)

    @classmethod
    def error(cls, message: str, code: str = TOOL_FAILED) -> Self:
        """A failure that the model may read and act on."""
        return cls(successful=False, errors=({"code": code, "message": message},))


def from_class(cls: type) -> Tool:
    """The tool that a class describes.

    Raises:
        DefinitionError: with every fault of the class and of its definition.
    """
    issues = list(_face_faults(cls))
    fields = {name: getattr(cls, name) for name in FIELDS if hasattr(cls, name)}
    written = _written_schema(cls, issues)
    for name in ("description", "parameters"):
        if name in written:
            fields[name] = written[name]
    if isinstance(fields.get("parameters"), Mapping):
        fields["parameters"] = with_null_for_default(fields["parameters"])
    if written and written.get("name") != fields.get("name"):
        hint = "write the same name in both places"
        issues.append(fault("/name", "name", "schema() and the class give different names", hint))
    return declare(cls, fields, issues)


def _face_faults(cls: type) -> Iterator[Issue]:
    for name in ("name", "usage"):
        text = getattr(cls, name, None)
        if not isinstance(text, str) or not text.strip():
            hint = f"write {name}: ClassVar[str] = ... in the class"
            yield fault(f"/{name}", "required", f"a class tool needs a '{name}'", hint)
    if not isinstance(inspect.getattr_static(cls, "schema", None), staticmethod):
        hint = "write @staticmethod def schema() -> dict[str, Any]"
        yield fault("/parameters", "schema", "a class tool needs a static 'schema'", hint)
    execute = inspect.getattr_static(cls, "execute", None)
    names = list(inspect.signature(execute).parameters) if inspect.isfunction(execute) else []
    if not inspect.iscoroutinefunction(execute) or len(names) != 3:
        hint = "write async def execute(self, arguments_json, context) -> InvokeResult"
        yield fault("/source", "execute", "a class tool needs an async 'execute'", hint)


def _written_schema(cls: type, issues: list[Issue]) -> dict[str, Any]:
    """What `schema()` gives: OpenAI's form of a function."""
    if any(issue.code == "schema" for issue in issues):
        return {}
    try:
        written = cls.schema()  # type: ignore[attr-defined]
    except Exception as error:  # noqa: BLE001 - it is the author's code
        reason = f"schema() raised {type(error).__name__}"
        issues.append(fault("/parameters", "schema", reason, "return a plain dict"))
        return {}
    if not isinstance(written, Mapping):
        hint = "return {'type': 'function', 'name': ..., 'description': ..., 'parameters': ...}"
        issues.append(fault("/parameters", "schema", "schema() does not return a mapping", hint))
        return {}
    for name in written.keys() - set(_FUNCTION_FIELDS):
        hint = f"only these count: {', '.join(_FUNCTION_FIELDS)}"
        issues.append(fault("/parameters", "unknown_field", f"schema() has '{name!s:.64}'", hint))
    return dict(written)


def with_null_for_default(parameters: JsonObject) -> dict[str, Any]:
    """The schema with optional members that take null, too, which then means their default."""
    made: dict[str, Any] = thaw(parameters)
    properties, required = made.get("properties"), made.get("required", ())
    if isinstance(properties, dict):
        for name, schema in properties.items():
            if name not in required and isinstance(schema, dict):
                properties[name] = _optional(schema)
    return made


def _optional(schema: dict[str, Any]) -> dict[str, Any]:
    if any("null" in type_names(branch) for branch in (schema, *schema.get("anyOf", ()))):
        return schema
    if "type" in schema and not {"const", "anyOf", "oneOf", "allOf", "$ref"} & schema.keys():
        return nullable_form(schema)
    outside = {name: schema.pop(name) for name in ("description", "default") if name in schema}
    return nullable_form(schema) | outside


async def run_class(cls: type, arguments: JsonObject, context: ToolContext) -> JsonValue:
    """Run a class tool; its output as JSON.

    Raises:
        ToolError: the tool answered with an error, or with text that is no JSON.
    """
    text = msgspec.json.encode(arguments).decode()
    answer = await cls().execute(text, context)
    if not isinstance(answer, InvokeResult):
        raise TypeError(f"execute returned {type(answer).__name__}, not an InvokeResult")
    if not answer.successful:
        first = answer.errors[0] if answer.errors else {}
        message = first.get("message", "the tool gave no reason")
        raise ToolError(str(first.get("code", TOOL_FAILED)), str(message))
    try:
        return parse(answer.result or "", _OUTPUT_LIMITS)
    except ParseFault:
        hint = "the tool answered with text that is not strict JSON"
        raise ToolError("MALFORMED_OUTPUT", hint) from None
