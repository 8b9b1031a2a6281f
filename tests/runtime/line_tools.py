"""Tools for the tests of the line: importable by a fresh process."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from toolstile import ReadPath, ToolContext, ToolError, WritePath, tool


@dataclass
class Count:
    """How many words."""

    words: int


@tool
def word_count(path: ReadPath, min_length: int = 1) -> Count:
    """Count the words of a text file."""
    return Count(words=sum(len(word) >= min_length for word in path.read_text().split()))


@tool
def save(path: WritePath, text: str) -> int:
    """Write a text file."""
    return path.write_text(text)


@tool
def remove(path: WritePath) -> bool:
    """Delete a file."""
    path.unlink()
    return True


@tool
async def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool
def misbehave(how: str) -> str:
    """Fail in one of the ways that tools fail."""
    if how == "error":
        raise ToolError("NOT_TODAY", "come back tomorrow")
    if how == "exit":
        os._exit(3)
    if how == "hang":
        time.sleep(60)
    if how == "print":
        print("noise on stdout")
        return "quiet"
    raise RuntimeError("internal detail that no model may see")


@tool(side_effects=["fs_write"], capabilities={"fs_write": []})
def scribble(target: str) -> str:
    """Write beside the guarded way, to a path that no argument names."""
    return target


@tool(output_schema={"type": "object", "properties": {"n": {"type": "integer"}}})
def wrong_output() -> dict[str, str]:
    """Break its own output schema."""
    return {"n": "three"}


@tool
def report(ctx: ToolContext, steps: int) -> str:
    """Use the context: log, progress, metrics, ids."""
    for step in range(steps):
        ctx.progress(step / steps, "on the way")
        ctx.log("info", "a step", number=str(step))
    ctx.metric("steps", steps)
    return ctx.ids.session or "no session"


ALL = (word_count, save, remove, add, misbehave, scribble, wrong_output, report)
