"""A tool as a class: its own schema, raw JSON in, an InvokeResult out."""

from __future__ import annotations

import asyncio
import json
from typing import Any, ClassVar

from toolstile import InvokeResult, Runtime, ToolContext


class Echo:
    """Says again what it was told."""

    name: ClassVar[str] = "echo"
    usage: ClassVar[str] = """\
echo - Usage Guide

PURPOSE: Say a text again, a few times.

PARAMETERS:
- text (string, required): What to say.
- times (integer or null, optional, default: 1): How often to say it, at most 3 times.

WHEN TO USE: To see that tools answer at all.

RETURNS: An object whose member `said` is a list of texts.

ERROR CASES: None of its own.

EXAMPLE: {"text": "hello", "times": 2}
"""

    @staticmethod
    def schema() -> dict[str, Any]:
        """The tool as a model sees it; optional properties may be null, which means absent."""
        properties = {
            "text": {"type": "string", "description": "What to say."},
            "times": {
                "type": ["integer", "null"],
                "description": "How often, at most 3 times.",
                "minimum": 1,
                "maximum": 3,
                "default": 1,
            },
        }
        return {
            "type": "function",
            "name": "echo",
            "description": "Say a text again, a few times.",
            "parameters": {"type": "object", "properties": properties, "required": ["text"]},
        }

    async def execute(self, arguments_json: str, context: ToolContext) -> InvokeResult:
        """Answer with JSON text; never raise for what the arguments say."""
        given = json.loads(arguments_json)
        return InvokeResult.ok(json.dumps({"said": [given["text"]] * (given["times"] or 1)}))


async def main() -> None:
    """Call it as an agent's loop would."""
    # In memory: a call id never runs twice, so in a lasting store a second start of this program
    # would print the results of the first.
    async with Runtime(tools=[Echo], store="memory:") as rt:
        agent = rt.as_(agent="me", session="s1")
        for turn, arguments in enumerate(('{"text": "hello", "times": 2}', '{"times": 9}')):
            result = await agent.call("echo", arguments, call_id=f"turn-{turn}")
            reply = result.for_model()
            print(reply.result if reply.successful else reply.errors)


if __name__ == "__main__":
    asyncio.run(main())
