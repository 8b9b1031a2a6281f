"""FastMCP over stdio: `python mcp_fast.py TOOLS.json`, and `--strict` behind it."""

from __future__ import annotations

import sys

from fastmcp import FastMCP
from peer_fastmcp import add
from served import Served, register_all
from signatures import function


def main() -> None:
    """Serve until the input ends."""
    server = FastMCP("peer", strict_input_validation="--strict" in sys.argv)

    def register(tool: Served) -> None:
        add(server, tool.name, tool.description, function(tool, tool.body))

    register_all(register)
    server.run("stdio", show_banner=False, log_level="CRITICAL")


if __name__ == "__main__":
    main()
