"""Microsoft Agent Framework: its function invocation around a client that calls with the text."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from agent_framework import (
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
)
from outputs import from_text, refuse_output_schema
from signatures import Body, Call, Tool, function, model, taking, typed

from toolstile.conformance import Refused

PEER = {
    "name": "Microsoft Agent Framework",
    "package": "agent-framework-core",
    "promise": (
        "'Inferred and Pydantic input models provide recursive runtime validation. Caller-supplied "
        "JSON schema mappings are passed through to providers and receive only the lightweight "
        "checks documented on `input_model`; they are not an authorization or security boundary.'"
    ),
    "source": "agent_framework/_tools.py, FunctionTool",
}


@typed
def decorated(tool: Tool, body: Body) -> Call:
    """`FunctionTool(func=...)` on a typed function; default settings."""
    refuse_output_schema(tool)
    return called(made(tool, func=function(tool, body)))


@typed
def decorated_strict(tool: Tool, body: Body) -> Call:
    """`FunctionTool(func=...)` on a function whose scalars all are `Field(strict=True)`."""
    refuse_output_schema(tool)
    return called(made(tool, func=function(tool, body, strict=True)))


@typed
def closed_model(tool: Tool, body: Body) -> Call:
    """`FunctionTool(input_model=Model)`, a pydantic model that is closed where the schema is."""
    refuse_output_schema(tool)
    closed = model(tool)
    return called(made(tool, func=taking(body, closed), input_model=closed))


def raw_schema(tool: Tool, body: Body) -> Call:
    """`FunctionTool(input_model=schema)` with the JSON Schema; default settings."""
    refuse_output_schema(tool)

    def run(**arguments: Any) -> Any:
        return body(arguments)

    return called(made(tool, func=run, input_model=tool.parameters))


PATHS = (decorated, decorated_strict, closed_model, raw_schema)


def made(tool: Tool, **options: Any) -> FunctionTool:
    """The tool of the framework."""
    return FunctionTool(name=tool.name, description=tool.description, **options)


def called(made_tool: FunctionTool) -> Call:
    """How the framework calls the tool, from the text."""

    async def call(text: str) -> Any:
        response = await Calling(made_tool.name, text).get_response(
            [Message(role="user", contents=["call it"])], options={"tools": [made_tool]}
        )
        return returned(response)

    return call


def returned(response: ChatResponse) -> Any:
    """What the model is given as the result of its call."""
    for message in response.messages:
        for content in message.contents:
            if content.type == "function_result":
                if content.exception is not None:
                    raise Refused(str(content.exception))
                return from_text(str(content.result))
    raise Refused("there was no result")


class Calling(FunctionInvocationLayer, BaseChatClient):
    """A client whose model calls one tool, then says that it is done."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__()
        self.answers = [
            Content.from_function_call(call_id="call", name=name, arguments=text),
            Content.from_text("done"),
        ]

    def _inner_get_response(self, **kwargs: Any) -> Awaitable[ChatResponse]:
        async def answer() -> ChatResponse:
            message = Message(role="assistant", contents=[self.answers.pop(0)])
            return ChatResponse(messages=[message])

        return answer()
