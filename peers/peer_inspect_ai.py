"""Inspect: the text through `parse_tool_call`, then `execute_tools`."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, execute_tools
from inspect_ai.model._call_tools import parse_tool_call
from inspect_ai.tool import ToolDef, ToolInfo, ToolParams
from outputs import from_text, refuse_output_schema, to_text
from pydantic import BaseModel, ValidationError
from signatures import Body, Call, Tool, function, refuse_lost, typed

from toolstile.conformance import Refused, Unsupported

PEER = {
    "name": "Inspect",
    "package": "inspect-ai",
    "promise": (
        "No sentence of its documentation was found; the code says 'validate the schema of the "
        "passed object' and does so by a Draft 7 validator, whose errors go to the model."
    ),
    "source": "inspect_ai/model/_call_tools.py, validate_tool_input and call_tool",
}


@typed
def decorated(tool: Tool, body: Body) -> Call:
    """`ToolDef(function)` on a typed async function; default settings.

    It reads bare type hints, and pydantic models with their limits: a tool with limits elsewhere
    is no tool there.
    """
    refuse_output_schema(tool)
    made = function(tool, lambda arguments: to_text(body(arguments)), asynchronous=True)
    refuse_lost(made, kept=(BaseModel, datetime, date, time))
    return called(ToolDef(made, name=tool.name, description=tool.description))


def raw_schema(tool: Tool, body: Body) -> Call:
    """`ToolDef` with `ToolParams` made of the JSON Schema, as its bridge to MCP does."""
    refuse_output_schema(tool)

    async def execute(**kwargs: Any) -> str:
        return to_text(body(kwargs))

    try:
        parameters = ToolParams.model_validate(tool.parameters)
    except ValidationError as error:
        raise Unsupported(f"ToolParams cannot say it: {error}") from error
    return called(ToolDef(execute, tool.name, tool.description, parameters))


PATHS = (decorated, raw_schema)


def called(made: ToolDef) -> Call:
    """How Inspect calls the tool, from the text."""
    info = ToolInfo(name=made.name, description=made.description, parameters=made.parameters)

    async def call(text: str) -> Any:
        asked = parse_tool_call("call", made.name, text, [info])
        message = ChatMessageAssistant(content="", tool_calls=[asked])
        result = (await execute_tools([message], [made])).messages[0]
        if not isinstance(result, ChatMessageTool) or result.error is not None:
            raise Refused(str(getattr(result, "error", result)))
        return from_text(result.text)

    return call
