"""OpenAI Agents SDK: its runner, with a model that calls the tool with the text."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    Runner,
    ToolCallOutputItem,
    Usage,
    function_tool,
    set_tracing_disabled,
)
from agents.exceptions import ModelBehaviorError, UserError
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from outputs import to_text
from signatures import Body, Call, Tool, function, typed

from toolstile.conformance import Refused, Unsupported

PEER = {
    "name": "OpenAI Agents SDK",
    "package": "openai-agents",
    "promise": (
        "'Whether the JSON schema is in strict mode. We **strongly** recommend setting this to "
        "True, as it increases the likelihood of correct JSON input.' Of a FunctionTool of one's "
        "own: it gets 'the arguments from the LLM, as a JSON string'. `output_type`: 'Optional "
        "Python output type used to generate and validate a strict output schema.'"
    ),
    "source": "agents/tool.py, FunctionTool and function_tool",
}

set_tracing_disabled(disabled=True)


@typed
def decorated(tool: Tool, body: Body) -> Call:
    """`function_tool`, strict mode (the default); failures are raised, not put into words."""
    return called(made(tool, function(tool, body), strict_mode=True), tool)


@typed
def decorated_open(tool: Tool, body: Body) -> Call:
    """`function_tool(strict_mode=False)`; failures are raised, not put into words."""
    return called(made(tool, function(tool, body), strict_mode=False), tool)


@typed
def decorated_strict(tool: Tool, body: Body) -> Call:
    """`function_tool`, strict mode, on a function whose scalars all are `Field(strict=True)`."""
    return called(made(tool, function(tool, body, strict=True), strict_mode=True), tool)


def raw_schema(tool: Tool, body: Body) -> Call:
    """`FunctionTool` with the JSON Schema, not in strict mode; reads the text as its MCP bridge.

    Such a tool is given the text by design. What it does with it here is what the SDK does itself
    before it hands the arguments of a model to an MCP server (`MCPUtil.invoke_mcp_tool`).
    """
    if tool.returns is not None and tool.returns.get("type") != "object":
        raise Unsupported("an output schema must be of an object")

    async def invoke(context: Any, text: str) -> Any:
        arguments = json.loads(text) if text else {}
        if not isinstance(arguments, dict):
            raise ModelBehaviorError("expected a JSON object")
        return to_text(body(arguments))

    try:
        raw = FunctionTool(
            name=tool.name,
            description=tool.description,
            params_json_schema=tool.parameters,
            on_invoke_tool=invoke,
            strict_json_schema=False,
            output_json_schema=tool.returns,
        )
    except UserError as error:
        raise Unsupported(str(error)) from error
    return called(raw, tool)


PATHS = (decorated, decorated_open, decorated_strict, raw_schema)


def made(tool: Tool, typed_function: Any, *, strict_mode: bool) -> FunctionTool:
    """The function as a tool; unsupported if the SDK has no strict schema for it."""
    output = None if tool.returns is None else typed_function.__annotations__["return"]
    try:
        return function_tool(
            typed_function,
            name_override=tool.name,
            description_override=tool.description,
            strict_mode=strict_mode,
            failure_error_function=None,
            output_type=output,
        )
    except UserError as error:
        raise Unsupported(str(error)) from error


def called(made_tool: FunctionTool, tool: Tool) -> Call:
    """How the runner calls the tool, from the text."""

    async def call(text: str) -> Any:
        agent = Agent(name="peer", model=Calling(tool.name, text), tools=[made_tool])
        result = await Runner.run(agent, "call it")
        for item in result.new_items:
            if isinstance(item, ToolCallOutputItem):
                return from_output(item.output)
        raise Refused("there was no result")

    return call


def from_output(output: Any) -> Any:
    """What the tool gave, as data."""
    if hasattr(output, "model_dump"):
        return output.model_dump(mode="json")
    if not isinstance(output, str):
        return output
    try:
        return json.loads(output)
    except ValueError:
        return output


class Calling(Model):
    """A model that calls one tool, then says that it is done."""

    def __init__(self, name: str, text: str) -> None:
        self.answers: list[Any] = [
            ResponseFunctionToolCall(
                arguments=text, call_id="call", name=name, type="function_call"
            ),
            ResponseOutputMessage(
                id="message",
                content=[ResponseOutputText(annotations=[], text="done", type="output_text")],
                role="assistant",
                status="completed",
                type="message",
            ),
        ]

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        """The next answer."""
        return ModelResponse(output=[self.answers.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """Not asked for."""
        raise NotImplementedError
