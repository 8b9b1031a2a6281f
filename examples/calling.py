"""A call from a program: what it is given, what it answers, and what is kept of it."""

from __future__ import annotations

import asyncio

from toolstile import Runtime, tool


@tool
def repeat(text: str, times: int = 2) -> list[str]:
    """Say a text a few times."""
    return [text] * times


async def main() -> None:
    """Call it in the three ways there are, and look at the results."""
    async with Runtime(tools=[repeat], store="memory:") as rt:
        result = await rt.call(repeat, text="hello")  # keywords
        result = await rt.call("repeat", {"text": "hello"})  # a mapping
        result = await rt.call("repeat", '{"text": "hello", "times": 3}')  # a model's raw JSON
        print(result.ok, result.value, result.status.word, result.execution_id)

        # One caller of several; its calls are recorded under these names.
        me = rt.as_(agent="reviewer", session="s1")
        first = await me.call("repeat", {"text": "a"}, call_id="turn-1", timeout=10)
        again = await me.call("repeat", {"text": "a"}, call_id="turn-1", timeout=10)
        print(first.replayed, again.replayed, again.metadata.agent_id)

        refused = await rt.call("repeat", {"text": 1})  # never an exception
        print(refused.status.word, refused.error_code, refused.issues[0].path)

        kept = await rt.results.get(first.execution_id)
        print(kept.output if kept else None, len(await rt.results.history(limit=10)))


if __name__ == "__main__":
    asyncio.run(main())
