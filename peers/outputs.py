"""What a peer hands on of a tool's output, read back for comparing."""

from __future__ import annotations

import json
from typing import Any

from signatures import Tool

from toolstile.conformance import Unsupported


def from_text(text: str) -> Any:
    """The value where a peer hands on JSON text, the text itself where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def to_text(value: Any) -> str:
    """What a tool returns whose framework takes text: JSON, or the text as it is."""
    return value if isinstance(value, str) else json.dumps(value)


def refuse_output_schema(tool: Tool) -> None:
    """Say that this path has no place for an output schema."""
    if tool.returns is not None:
        raise Unsupported("there is no output schema on this path")
