"""Toolstile: the gate that every tool call of an AI agent passes through."""

from __future__ import annotations

import typing as _typing

from toolstile.authoring import (
    EditPath,
    Host,
    InvokeResult,
    Program,
    ReadPath,
    Tool,
    ToolContext,
    Url,
    WritePath,
    tool,
)
from toolstile.errors import (
    CallFailed,
    ConflictError,
    DefinitionError,
    LicenceError,
    NotWaiting,
    SchemaValidationError,
    SettingsError,
    StoreUnavailable,
    ToolError,
    ToolstileError,
    UnknownToolError,
)
from toolstile.model.call import Caller
from toolstile.model.definition import Constraints, ToolDefinition
from toolstile.model.issue import Issue
from toolstile.model.result import ToolResult
from toolstile.model.vocabulary import Status
from toolstile.registry.registry import Registered, Registry
from toolstile.schema.adopt import Adopted, adopt
from toolstile.schema.compiled import Checked
from toolstile.schema.defining import define
from toolstile.schema.faces.cath import from_cath, to_cath
from toolstile.schema.faces.face import Face
from toolstile.schema.faces.lex import to_parameter_list

if _typing.TYPE_CHECKING:
    from toolstile.app import Runtime

__all__ = [
    "Adopted",
    "CallFailed",
    "Caller",
    "Checked",
    "ConflictError",
    "Constraints",
    "DefinitionError",
    "EditPath",
    "Face",
    "Host",
    "InvokeResult",
    "Issue",
    "LicenceError",
    "NotWaiting",
    "Program",
    "ReadPath",
    "Registered",
    "Registry",
    "Runtime",
    "SchemaValidationError",
    "SettingsError",
    "Status",
    "StoreUnavailable",
    "Tool",
    "ToolContext",
    "ToolDefinition",
    "ToolError",
    "ToolResult",
    "ToolstileError",
    "UnknownToolError",
    "Url",
    "WritePath",
    "adopt",
    "define",
    "from_cath",
    "to_cath",
    "to_parameter_list",
    "tool",
]


def __getattr__(name: str) -> _typing.Any:
    # Whoever only declares or checks tools does not pay for an event loop (33 ms of import).
    if name == "Runtime":
        from toolstile.app import Runtime  # noqa: PLC0415 - as said

        return Runtime
    raise AttributeError(f"module 'toolstile' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
