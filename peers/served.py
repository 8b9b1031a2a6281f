"""What the servers have in common: which tools they serve, and what those do."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from signatures import refuse

from toolstile.conformance import Unsupported


@dataclass(frozen=True)
class Served:
    """A tool of the suite, read from an MCP tool definition."""

    name: str
    description: str
    parameters: dict[str, Any]
    returns: dict[str, Any] | None

    def body(self, arguments: dict[str, Any]) -> Any:
        """The arguments as they arrived, or, for an output schema, the output that they ask for."""
        return arguments if self.returns is None else json.loads(arguments["json"])


def tools() -> list[Served]:
    """The tools of the file that the command line names."""
    definitions = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    return [
        Served(
            name=definition["name"],
            description=definition.get("description", ""),
            parameters=definition["inputSchema"],
            returns=definition.get("outputSchema"),
        )
        for definition in definitions
    ]


def register_all(register: Callable[[Served], None]) -> None:
    """Register each tool; those that cannot be expressed are left out, and so are not listed."""
    for tool in tools():
        with suppress(Unsupported):
            refuse_untold_null(tool)
            register(tool)


def refuse_untold_null(tool: Served) -> None:
    """Leave a tool out whose typed function could not tell a null that was sent from nothing.

    In a server nobody says which names the text had, and the None of such a parameter is both.
    """
    required = tool.parameters.get("required", ())
    for name, schema in tool.parameters.get("properties", {}).items():
        untold = isinstance(schema, dict) and "default" not in schema and name not in required
        refuse(untold and "null" in schema.get("type", ()), f"whether {name!r} was sent as null")
