"""FastMCP: a decorated function, in the default setting and with strict input validation.

It takes parsed arguments: in MCP it is the host that reads the model's text. Here the host is
Python's own `json.loads`, and what exists only as text is not put to it. `mcp_fast.py` is the same
as a program over stdio.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.tools import Tool as FastTool
from outputs import from_text
from peer_mcp import unwrapped
from signatures import Body, Call, Tool, function, parsed_only, typed

from toolstile.conformance import Refused, Unsupported

PEER = {
    "name": "FastMCP",
    "package": "fastmcp",
    "promise": (
        "'If True, tool inputs are strictly validated against the input JSON schema. For example, "
        'providing the string "10" to an integer field will raise an error. If False, compatible '
        "inputs will be coerced to match the schema, which can increase compatibility.'"
    ),
    "source": "fastmcp/settings.py, strict_input_validation (the default is False)",
}


@parsed_only
@typed
def decorated(tool: Tool, body: Body) -> Call:
    """`FastMCP().tool` on a typed function; default settings."""
    return called(server(tool, function(tool, body), strict=False), tool)


@parsed_only
@typed
def decorated_strict(tool: Tool, body: Body) -> Call:
    """`FastMCP(strict_input_validation=True).tool` on the same function."""
    return called(server(tool, function(tool, body), strict=True), tool)


PATHS = (decorated, decorated_strict)


def called(served: FastMCP, tool: Tool) -> Call:
    """How a host calls the tool, from the text."""

    async def call(text: str) -> Any:
        async with Client(served) as client:
            result = await client.call_tool_mcp(tool.name, json.loads(text))
        if result.is_error:
            raise Refused(" ".join(getattr(part, "text", "") for part in result.content))
        if tool.returns is None:
            return from_text(getattr(result.content[0], "text", "")) if result.content else None
        return unwrapped(result.structured_content, tool.returns)

    return call


def server(tool: Tool, made: Callable[..., Any], *, strict: bool) -> FastMCP:
    """A server with one function as its tool."""
    served = FastMCP("peer", strict_input_validation=strict)
    add(served, tool.name, tool.description, made)
    return served


def add(served: FastMCP, name: str, description: str, made: Callable[..., Any]) -> None:
    """Register a function; unsupported if FastMCP makes no tool of it."""
    try:
        served.add_tool(FastTool.from_function(made, name=name, description=description))
    except (TypeError, ValueError) as error:
        raise Unsupported(str(error)) from error
