"""The context of unit tests: it keeps what a tool says, and holds it to the same bounds."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from toolstile.authoring import Ids, LocalContext, ToolContext
from toolstile.authoring.context import MAX_METRICS
from toolstile.errors import ToolError


def work(ctx: ToolContext) -> None:
    """Say something of everything."""
    ctx.log("info", "begun", ("key", "a"), ("key", "b"), tag="work", more="c")
    ctx.progress(0.5, "half")
    ctx.metric("rows", 3)
    ctx.metric("rows", 4)


def test_what_a_tool_says_is_kept() -> None:
    """Lines keep their pairs in order, repeated keys too; a metric given again is replaced."""
    context = LocalContext()
    work(context)
    (line,) = context.lines
    assert line.pairs == (("key", "a"), ("key", "b"), ("more", "c"))
    assert (line.level, line.message, line.tag) == ("info", "begun", "work")
    assert context.steps == [(0.5, "half")]
    assert context.metrics == {"rows": 4}


def test_who_and_when() -> None:
    """Names and time are what the test sets; the time is otherwise the real one."""
    moment = datetime(2020, 1, 2, tzinfo=UTC)
    context = LocalContext(ids=Ids(execution="e", session="s"), now=lambda: moment)
    assert (context.ids.session, context.ids.tenant) == ("s", "local")
    assert context.clock() == moment
    assert LocalContext().clock().tzinfo is UTC
    assert not LocalContext().cancelled


def test_bounds() -> None:
    """Unknown levels, progress beyond the whole and a 33rd metric are refused."""
    context = LocalContext()
    with pytest.raises(ValueError, match="level"):
        context.log("loud", "x")
    for fraction in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="between 0 and 1"):
            context.progress(fraction)
    for index in range(MAX_METRICS):
        context.metric(f"m{index}", index)
    context.metric("m0", 5)
    with pytest.raises(ValueError, match="at most 32"):
        context.metric("one more", 1)


def test_other_tools() -> None:
    """Calls go to the functions that the test gives, and to nothing else."""
    context = LocalContext(tools={"double": lambda number: number * 2})
    assert context.call("double", {"number": 2}) == 4
    with pytest.raises(ToolError) as caught:
        context.call("treble", {})
    assert caught.value.code == "TOOL_NOT_FOUND"


def test_files(tmp_path: Path) -> None:
    """Files are the real ones."""
    path = str(tmp_path / "a")
    LocalContext().files.write(path).write_text("x")
    assert LocalContext().files.read(path).read_text() == "x"
