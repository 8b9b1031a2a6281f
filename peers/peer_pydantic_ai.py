"""PydanticAI: an agent whose model is a function that calls the tool with the text."""

from __future__ import annotations

from typing import Any

from outputs import refuse_output_schema
from pydantic_ai import Agent
from pydantic_ai import Tool as AgentTool
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from signatures import Body, Call, Tool, function, typed

from toolstile.conformance import Refused, Unsupported

PEER = {
    "name": "PydanticAI",
    "package": "pydantic-ai-slim",
    "promise": (
        "'When a tool is executed, its arguments (provided by the LLM) are first validated against "
        "the function's signature using Pydantic.' Of Tool.from_schema: 'Schema validation of the "
        "arguments is skipped, but a custom `args_validator` will still run if provided.' The "
        "return schema is one that may be sent to the model; nothing is said of checking it."
    ),
    "source": (
        "docs/tools.md, Tool Execution and Retries, as of pull request 1578; pydantic_ai/tools.py, "
        "Tool.from_schema and Tool.include_return_schema"
    ),
}


@typed
def decorated(tool: Tool, body: Body) -> Call:
    """`Tool(function)` on a typed function; no retries, otherwise default settings."""
    return called(made(tool, body, strict=False), tool)


@typed
def decorated_strict(tool: Tool, body: Body) -> Call:
    """`Tool(function)` on a function whose scalars all are `Field(strict=True)`."""
    return called(made(tool, body, strict=True), tool)


def raw_schema(tool: Tool, body: Body) -> Call:
    """`Tool.from_schema` with the JSON Schema; no retries, otherwise default settings."""
    refuse_output_schema(tool)

    def run(**arguments: Any) -> Any:
        return body(arguments)

    return called(AgentTool.from_schema(run, tool.name, tool.description, tool.parameters), tool)


PATHS = (decorated, decorated_strict, raw_schema)


def made(tool: Tool, body: Body, *, strict: bool) -> AgentTool[None]:
    """The typed function as a tool, its return annotation included."""
    typed_function = function(tool, body, strict=strict)
    try:
        return AgentTool(
            typed_function,
            name=tool.name,
            description=tool.description,
            include_return_schema=tool.returns is not None,
        )
    except UserError as error:
        raise Unsupported(str(error)) from error


def called(tool_made: AgentTool[None], tool: Tool) -> Call:
    """How an agent calls the tool, from the text."""

    async def call(text: str) -> Any:
        def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            part = TextPart("done") if len(messages) > 1 else ToolCallPart(tool.name, text)
            return ModelResponse(parts=[part])

        # No retries: a refused call ends the run with an error, where it would be sent back.
        agent = Agent(FunctionModel(answer), tools=[tool_made], retries=0)
        return returned((await agent.run("call it")).all_messages())

    return call


def returned(messages: list[ModelMessage]) -> Any:
    """What the model is given as the result of its call."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, RetryPromptPart):
                raise Refused(str(part.content))
            if isinstance(part, ToolReturnPart):
                return part.content
    raise Refused("there was no result")
