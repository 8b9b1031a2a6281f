"""smolagents: one step of a `ToolCallingAgent` whose model calls the tool with the text."""

from __future__ import annotations

from typing import Any

from outputs import refuse_output_schema
from signatures import (
    SILENT,
    Body,
    Call,
    Tool,
    attribute,
    extra,
    function,
    refuse,
    refuse_lost,
    typed,
)
from smolagents import (  # type: ignore[import-untyped]
    ActionStep,
    LogLevel,
    ToolCallingAgent,
)
from smolagents import Tool as AgentTool
from smolagents import tool as smolagents_tool
from smolagents._function_type_hints_utils import (  # type: ignore[import-untyped]
    TypeHintParsingException,
)
from smolagents.agents import ToolOutput  # type: ignore[import-untyped]
from smolagents.models import (  # type: ignore[import-untyped]
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    Model,
)
from smolagents.tools import AUTHORIZED_TYPES  # type: ignore[import-untyped]

from toolstile.conformance import Refused, Unsupported

# All that a tool there says of its parameters beside what each of them is.
ROOT = frozenset({"type", "properties", "required", "additionalProperties"})

PEER = {
    "name": "smolagents",
    "package": "smolagents",
    "promise": (
        "'Checks that all provided arguments match the tool's expected input types and that all "
        "required arguments are present.' A code agent is told of a tool with an output schema "
        "that it 'ALWAYS returns a dictionary that strictly adheres to the following JSON schema'."
    ),
    "source": "smolagents/tools.py, validate_tool_arguments and Tool.to_code_prompt",
}


@typed
def decorated(tool: Tool, body: Body) -> Call:
    """`@tool` on a function with plain type hints and `Literal`; default settings.

    It reads bare type hints: a tool with limits, or with fields in an object, is no tool there.
    """
    refuse_output_schema(tool)
    made = function(tool, body)
    made.__annotations__.setdefault("return", Any)
    refuse_lost(made, kept=())
    try:
        return called(smolagents_tool(made))
    except (TypeHintParsingException, KeyError, TypeError, ValueError) as error:
        raise Unsupported(str(error)) from error


def raw_inputs(tool: Tool, body: Body) -> Call:
    """A `Tool` whose `inputs` are the schema's properties, as its bridge to MCP makes them.

    The same dictionaries go to the model as JSON Schema. What is not required is `nullable`.
    """
    unsaid = sorted(set(tool.parameters) - ROOT - SILENT)
    refuse(bool(unsaid), f"{unsaid} beside the parameters")
    refuse(extra(tool.parameters) != "forbid", "other parameters than those that are named")
    try:
        return called(raw_tool(tool, body))
    except (AssertionError, TypeError, ValueError) as error:
        raise Unsupported(str(error)) from error


PATHS = (decorated, raw_inputs)


def raw_tool(tool: Tool, body: Body) -> AgentTool:
    """A tool made from the schema's properties."""
    required = set(tool.parameters.get("required", ()))
    inputs = {
        name: entry(schema, optional=name not in required)
        for name, schema in tool.parameters.get("properties", {}).items()
    }
    for name in inputs:
        refuse(not attribute(name), f"{name!r} cannot be the name of a parameter")
    members = {
        "name": tool.name,
        "description": tool.description,
        "inputs": inputs,
        "output_type": "any",
        "output_schema": tool.returns,
        "skip_forward_signature_validation": True,
        "forward": lambda self, **arguments: body(arguments),
    }
    return type("RawTool", (AgentTool,), members)()


def entry(schema: Any, *, optional: bool) -> dict[str, Any]:
    """One entry of `inputs`: it needs a type and a description."""
    if not isinstance(schema, dict):
        raise Unsupported("a property that is no object")
    kinds = schema.get("type", "any")
    if not all(kind in AUTHORIZED_TYPES for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        raise Unsupported(f"the type {kinds!r}")
    said = {"description": "A value.", **schema, "type": kinds}
    return {**said, "nullable": True} if optional else said


def called(made: AgentTool) -> Call:
    """How the agent calls the tool, from the text."""

    def call(text: str) -> Any:
        model = Calling(made.name, text)
        agent = ToolCallingAgent(tools=[made], model=model, verbosity_level=LogLevel.OFF)
        output: Any = None
        for event in agent.run("call it", stream=True, max_steps=1):
            if isinstance(event, ToolOutput):
                output = event.output
            if isinstance(event, ActionStep):  # the end of the only step
                if event.error is not None:
                    raise Refused(str(event.error))
                break
        return output

    return call


class Calling(Model):  # type: ignore[misc]
    """A model that calls one tool."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__()
        self.call = ChatMessageToolCallFunction(name=name, arguments=text)

    def generate(self, *args: Any, **kwargs: Any) -> ChatMessage:
        """The call."""
        call = ChatMessageToolCall(id="call", type="function", function=self.call)
        return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=[call])
