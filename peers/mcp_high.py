"""The MCP SDK's high-level server over stdio: `python mcp_high.py TOOLS.json`."""

from __future__ import annotations

from mcp.server import MCPServer
from peer_mcp import add
from served import Served, register_all
from signatures import function


def main() -> None:
    """Serve until the input ends."""
    server = MCPServer("peer", log_level="CRITICAL")

    def register(tool: Served) -> None:
        made = function(tool, tool.body)
        add(server, tool.name, tool.description, made, structured=tool.returns is not None)

    register_all(register)
    server.run("stdio")


if __name__ == "__main__":
    main()
