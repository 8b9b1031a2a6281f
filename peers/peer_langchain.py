"""LangChain: the model's text through its parser of OpenAI tool calls, then the tool.

`langchain-openai` makes an `AIMessage` of the parsed calls, and `invalid_tool_calls` of those that
its parser refuses; an agent runs the former.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tools import tool as langchain_tool
from outputs import from_text, refuse_output_schema
from pydantic import BaseModel
from signatures import Body, Call, Tool, function, model, taking, typed

from toolstile.conformance import Refused

PEER = {
    "name": "LangChain",
    "package": "langchain-core",
    "promise": (
        "'Pydantic model class to validate and parse the tool's input arguments. Args schema "
        "should be either: A subclass of pydantic.BaseModel [...] A JSON schema dict'"
    ),
    "source": "langchain_core/tools/base.py, BaseTool.args_schema",
}


@typed
def decorated(tool: Tool, body: Body) -> Call:
    """`@tool` on a typed function; default settings."""
    refuse_output_schema(tool)
    made = langchain_tool(tool.name, description=tool.description)(function(tool, body))
    return called(made)


@typed
def decorated_strict(tool: Tool, body: Body) -> Call:
    """`@tool` on a function whose scalars all are `Field(strict=True)`."""
    refuse_output_schema(tool)
    strictly = function(tool, body, strict=True)
    return called(langchain_tool(tool.name, description=tool.description)(strictly))


@typed
def closed_model(tool: Tool, body: Body) -> Call:
    """`StructuredTool` with a pydantic model as `args_schema`, closed where the schema is."""
    refuse_output_schema(tool)
    closed = model(tool)
    return called(structured(tool, taking(body, closed), closed))


def raw_schema(tool: Tool, body: Body) -> Call:
    """`StructuredTool` with the JSON Schema as `args_schema`; what MCP tools become there."""
    refuse_output_schema(tool)

    def run(**arguments: Any) -> Any:
        return body(arguments)

    return called(structured(tool, run, tool.parameters))


PATHS = (decorated, decorated_strict, closed_model, raw_schema)


def structured(
    tool: Tool, run: Callable[..., Any], schema: type[BaseModel] | dict[str, Any]
) -> StructuredTool:
    """A tool whose function takes what the schema lets through."""
    return StructuredTool(
        name=tool.name, description=tool.description, args_schema=schema, func=run
    )


def called(made: BaseTool) -> Call:
    """How an agent calls the tool, from the text."""

    async def call(text: str) -> Any:
        message = answer(made.name, text)
        if message.invalid_tool_calls:
            raise Refused(str(message.invalid_tool_calls[0]["error"]))
        result = await made.ainvoke({**message.tool_calls[0], "type": "tool_call"})
        if result.status == "error":
            raise Refused(str(result.content))
        return from_text(str(result.content))

    return call


def answer(name: str, text: str) -> AIMessage:
    """The message that `langchain-openai` makes of a model's answer."""
    raw = {"id": "call", "type": "function", "function": {"name": name, "arguments": text}}
    try:
        return AIMessage(content="", tool_calls=[parse_tool_call(raw, return_id=True)])
    except Exception as error:  # noqa: BLE001 - langchain-openai catches as much
        return AIMessage(content="", invalid_tool_calls=[make_invalid_tool_call(raw, str(error))])
