"""The MCP SDK for Python: its high-level server and its low-level one, each behind its client.

Both take parsed arguments: in MCP it is the host that reads the model's text. Here the host is
Python's own `json.loads`, and what exists only as text is not put to them. The client is connected
in memory; `mcp_high.py` and `mcp_low.py` are the same as programs over stdio.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import mcp_types
from mcp.client import Client
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.mcpserver.exceptions import InvalidSignature
from outputs import from_text, to_text
from signatures import Body, Call, Tool, function, parsed_only, typed

from toolstile.conformance import Refused, Unsupported

PEER = {
    "name": "MCP SDK for Python",
    "package": "mcp",
    "promise": (
        "The high-level server: a call raises ToolError 'If the arguments fail validation against "
        "the input schema', and the result is validated against the model of the return "
        "annotation. The low-level server promises none; the client checks structured content "
        "against the output schema."
    ),
    "source": (
        "mcp/server/mcpserver/tools/base.py, Tool.run; mcp/server/mcpserver/utilities/"
        "func_metadata.py, FuncMetadata; mcp/client/session.py, validate_tool_result"
    ),
}


@parsed_only
@typed
def decorated(tool: Tool, body: Body) -> Call:
    """`MCPServer.tool()` on a typed function; default settings."""
    return called(high_level(tool, function(tool, body)), tool)


@parsed_only
@typed
def decorated_strict(tool: Tool, body: Body) -> Call:
    """`MCPServer.tool()` on a function whose scalars all are `Field(strict=True)`."""
    return called(high_level(tool, function(tool, body, strict=True)), tool)


@parsed_only
def raw_schema(tool: Tool, body: Body) -> Call:
    """The low-level `Server` with the schemas as they are; default settings."""
    return called(low_level([definition(tool)], lambda name: body), tool)


PATHS = (decorated, decorated_strict, raw_schema)


def called(server: Any, tool: Tool) -> Call:
    """How a host calls the tool, from the text."""

    async def call(text: str) -> Any:
        async with Client(server) as client:
            result = await client.call_tool(tool.name, json.loads(text))
        return given(result, tool)

    return call


def given(result: mcp_types.CallToolResult, tool: Tool) -> Any:
    """What the host is given: structured content first."""
    if result.is_error:
        raise Refused(" ".join(getattr(part, "text", "") for part in result.content))
    if result.structured_content is None:
        return from_text(getattr(result.content[0], "text", "")) if result.content else None
    return unwrapped(result.structured_content, tool.returns)


def unwrapped(value: Any, returns: Mapping[str, Any] | None) -> Any:
    """The value that MCPServer and FastMCP wrap as `{"result": ...}` where it is no object."""
    wrapped = returns is not None and returns.get("type") != "object" and isinstance(value, dict)
    return value["result"] if wrapped and list(value) == ["result"] else value


def high_level(tool: Tool, made: Callable[..., Any]) -> MCPServer:
    """A server with one function as its tool."""
    server = MCPServer("peer")
    add(server, tool.name, tool.description, made, structured=tool.returns is not None)
    return server


def add(
    server: MCPServer, name: str, description: str, made: Callable[..., Any], *, structured: bool
) -> None:
    """Register a function, as the decorator does; unsupported if the SDK says so."""
    try:
        server.tool(name, description=description, structured_output=structured)(made)
    except InvalidSignature as error:
        raise Unsupported(str(error)) from error


def definition(tool: Tool) -> mcp_types.Tool:
    """The tool as MCP publishes it."""
    return mcp_types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.parameters,
        output_schema=tool.returns,
    )


def low_level(tools: list[mcp_types.Tool], body_of: Callable[[str], Body]) -> Server[Any]:
    """A server that publishes these schemas and hands the arguments on.

    An exception in a handler would become a bare "internal error", so a failing body becomes a
    result that says so, as the SDK's documentation shows.
    """
    structured = {tool.name for tool in tools if tool.output_schema is not None}

    async def list_tools(context: Any, params: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=tools)

    async def call_tool(
        context: Any, params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        try:
            value = body_of(params.name)(params.arguments or {})
        except Exception as error:  # noqa: BLE001 - whatever the body raises is its result
            return mcp_types.CallToolResult(content=[text(repr(error))], is_error=True)
        return mcp_types.CallToolResult(
            content=[text(to_text(value))],
            structured_content=value if params.name in structured else None,
        )

    return Server("peer", on_list_tools=list_tools, on_call_tool=call_tool)


def text(words: str) -> mcp_types.TextContent:
    """A block of text."""
    return mcp_types.TextContent(type="text", text=words)
