"""The MCP SDK's low-level server over stdio: `python mcp_low.py TOOLS.json`."""

from __future__ import annotations

import anyio
import mcp_types
from mcp.server.stdio import stdio_server
from peer_mcp import definition, low_level
from served import tools


async def main() -> None:
    """Serve until the input ends."""
    served = {tool.name: tool for tool in tools()}
    published: list[mcp_types.Tool] = [definition(tool) for tool in served.values()]
    server = low_level(published, lambda name: served[name].body)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
