"""A tool that logs, counts, ends early and fails with words; and its tests, without a runtime."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolstile import ReadPath, ToolContext, ToolError, tool
from toolstile.authoring import LocalContext


@tool
def longest_line(path: ReadPath, ctx: ToolContext) -> str:
    """Find the longest line of a text file."""
    if not path.exists():
        raise ToolError("NO_SUCH_NOTE", "there is no such file; list the folder first")
    lines = path.read_text().splitlines()
    longest = ""
    for number, line in enumerate(lines):
        if ctx.cancelled:
            break
        longest = max(longest, line, key=len)
        ctx.progress((number + 1) / len(lines))
    ctx.metric("lines", len(lines))
    ctx.log("info", "looked at a file", lines=str(len(lines)))
    return longest


def test_it_finds_the_longest_line(tmp_path: Path) -> None:
    """A decorated function is still a function; a plain path stands for the handle."""
    file = tmp_path / "notes.txt"
    file.write_text("one\nthree\ntwo\n", encoding="utf-8")
    ctx = LocalContext()
    assert longest_line(ReadPath(str(file)), ctx) == "three"
    assert ctx.metrics == {"lines": 3}
    assert ctx.lines[0].message == "looked at a file"


def test_it_says_what_is_missing(tmp_path: Path) -> None:
    """Its own code, and words that the model may act on."""
    with pytest.raises(ToolError, match="NO_SUCH_NOTE"):
        longest_line(ReadPath(str(tmp_path / "none.txt")), LocalContext())


def test_its_arguments_are_checked() -> None:
    """What a model may send wrong needs no process, and no file."""
    assert longest_line.check('{"path": 1}').issues[0].message.startswith("Type mismatch")


if __name__ == "__main__":
    raise SystemExit(pytest.main(["-q", "-p", "no:cacheprovider", __file__]))
