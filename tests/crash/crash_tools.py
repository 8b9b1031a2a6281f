"""Tools whose effects can be counted from outside."""

from __future__ import annotations

import os

from toolstile import WritePath, tool


@tool(side_effects=["none"])
def stamp(witness: str) -> str:
    """Leave one durable mark: a line in a file that the test reads."""
    descriptor = os.open(witness, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, b"x\n")
    os.fsync(descriptor)
    os.close(descriptor)
    return "stamped"


@tool
def note(path: WritePath, text: str) -> int:
    """Write a note, which is staged first."""
    return path.write_text(text)
