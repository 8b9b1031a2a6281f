"""What authors of tools use: `@tool`, handles, the context, and the class face."""

from __future__ import annotations

from toolstile.authoring.binding import bind, typed_result, unbind
from toolstile.authoring.class_face import InvokeResult, from_class, run_class
from toolstile.authoring.context import Ids, LocalContext, ToolContext
from toolstile.authoring.decorator import ToolFunction, tool
from toolstile.authoring.handles import EditPath, Host, Program, ReadPath, Stage, Url, WritePath
from toolstile.authoring.portable import NOT_PORTABLE, load, portability, reference, script_of
from toolstile.authoring.tool import Tool
from toolstile.errors import ToolError

__all__ = [
    "NOT_PORTABLE",
    "EditPath",
    "Host",
    "Ids",
    "InvokeResult",
    "LocalContext",
    "Program",
    "ReadPath",
    "Stage",
    "Tool",
    "ToolContext",
    "ToolError",
    "ToolFunction",
    "Url",
    "WritePath",
    "bind",
    "from_class",
    "load",
    "portability",
    "reference",
    "run_class",
    "script_of",
    "tool",
    "typed_result",
    "unbind",
]
