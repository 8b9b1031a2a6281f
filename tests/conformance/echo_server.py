"""The suite's tools on the MCP SDK's low-level server, which checks nothing.

`python echo_server.py TOOLS.json` speaks stdio; with `http` behind it, HTTP on a free port, which
it prints first; with `modern`, HTTP of 2026-07-28 only, where `initialize` is no method.
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

NO_METHOD = -32601


def served() -> list[mcp_types.Tool]:
    """The tools of the file that the command line names."""
    listed = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    return [
        mcp_types.Tool(
            name=tool["name"],
            description=tool["description"],
            input_schema=tool["inputSchema"],
            output_schema=tool.get("outputSchema"),
        )
        for tool in listed
    ]


def lax(tools: list[mcp_types.Tool]) -> Server[Any]:
    """A server that gives back what it got, whatever it is."""
    structured = {tool.name for tool in tools if tool.output_schema is not None}

    async def list_tools(context: Any, params: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=tools)

    async def call_tool(
        context: Any, params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        arguments = params.arguments or {}
        is_output = params.name in structured
        value = json.loads(arguments["json"]) if is_output else arguments
        text = mcp_types.TextContent(type="text", text=json.dumps(value))
        return mcp_types.CallToolResult(
            content=[text], structured_content=value if is_output else None
        )

    return Server("lax", on_list_tools=list_tools, on_call_tool=call_tool)


async def over_stdio(server: Server[Any]) -> None:
    """Serve until the input ends."""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def over_http(server: Server[Any], *, modern: bool) -> None:
    """Serve until the process is ended."""
    app: Any = server.streamable_http_app()
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(without_initialize(app) if modern else app, log_level="critical")
    uvicorn.Server(config).run(sockets=[listening])


def without_initialize(app: Any) -> Any:
    """The same server, for which `initialize` is no method."""

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        event = await receive()
        body = event.get("body", b"")
        while event.get("more_body"):
            event = await receive()
            body += event.get("body", b"")
        if b'"method": "initialize"' in body:
            await refuse(send, json.loads(body)["id"])
            return
        given = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Any:
            return next(given, None) or await receive()

        await app(scope, again, send)

    return serve


async def refuse(send: Any, number: int) -> None:
    """Answer that there is no such method."""
    error = {"code": NO_METHOD, "message": "Method not found"}
    body = json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


if __name__ == "__main__":
    if sys.argv[2:]:
        over_http(lax(served()), modern=sys.argv[2] == "modern")
    else:
        anyio.run(over_stdio, lax(served()))
