"""A loop between a model and its tools: what the model is told of them, and of each result."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from toolstile import Runtime, tool


@tool
def add(left: int, right: int) -> int:
    """Add two numbers."""
    return left + right


def model(answers: list[Any]) -> Iterator[tuple[str, str, str]]:
    """Stands for a model: it calls wrongly, reads what was wrong, and calls again. What it is told
    comes in through `answers`."""
    yield "call-1", "add", '{"left": "1", "right": 2}'
    assert answers[-1][0]["hint"], "the repair is what it acts on"
    yield "call-2", "add", '{"left": 1, "right": 2}'


async def main() -> None:
    """Until the model calls no more tools."""
    async with Runtime(tools=[add], store="memory:") as rt:
        for definition in rt.registry.all():  # what a model is given
            print(definition.name, definition.description, dict(definition.parameters))
        me = rt.as_(agent="adder", session="s1")
        answers: list[Any] = []
        for call_id, name, arguments in model(answers):
            result = await me.call(name, arguments, call_id=call_id)
            reply = result.for_model()
            answers.append(reply.result if reply.successful else reply.errors)
            print(answers[-1])


if __name__ == "__main__":
    asyncio.run(main())
