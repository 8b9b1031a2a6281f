"""An adapter: the conformance suite on a gate of one's own, `json.loads` and a validator."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import jsonschema_rs

from toolstile.conformance import AdapterTarget, Refused, Scorecard, SuiteTool, load_suite, run


def adapter(tool: SuiteTool, body: Callable[[dict[str, Any]], Any]) -> Callable[[str], Any]:
    """Make the tool, and say how it is called with a model's text."""
    takes = jsonschema_rs.Draft202012Validator(dict(tool.parameters))
    gives = jsonschema_rs.Draft202012Validator(dict(tool.returns or {}))

    def call(text: str) -> Any:
        arguments = json.loads(text)
        if not takes.is_valid(arguments):
            raise Refused("the arguments do not fit")
        output = body(arguments)  # what the author's function would do
        if not gives.is_valid(output):
            raise Refused("the output does not fit")
        return output

    return call


def measured() -> Scorecard:
    """Put every case to it."""
    return asyncio.run(run(AdapterTarget(adapter, "json.loads and a validator"), load_suite()))


if __name__ == "__main__":
    card = measured()
    for line in card.lines:
        print(f"{line.title}: {line.right} of {line.of}")

    wrong = {result.case.id: result.outcome for result in card.wrong}
    # The validator keeps to the standard; what json.loads has repaired before, it never sees.
    assert wrong["duplicate-name"] == "let through", "a name twice: the last one wins"
    assert "string-for-integer" not in wrong, "nothing is converted"
    assert card.right < card.of
