"""`check_tool`: a class that keeps AGN-005 passes every line, and each breach fails its own."""

# ruff: noqa: D101, D103 - the name of each wrong class or answer says what is wrong with it

from __future__ import annotations

import asyncio
import importlib
import itertools
import json
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from toolstile.authoring import InvokeResult, ToolContext
from toolstile.testing import check_tool

USAGE = """testing_repeat - Usage Guide

Primary purpose:
- Repeat a message a few times, to see whether tools work.

Rules:
- Use it when a tool has to be tried.
- Do not use it to write text for people.
- Precedence: not applicable.
- Idempotency: repeating a call changes nothing.
- Limits: at most 9 repetitions; no paging.
- Performance: cheap, safe to call often.

Arguments:
- message: the text to repeat.
- count: how often; default 1.

Error codes:
- TOOL_FAILED: an argument is missing or of the wrong type.

Good usage:
- testing_repeat({"message": "hello", "count": 2})

Bad usage:
- testing_repeat({"count": 2})
"""


class Repeat:
    name: ClassVar[str] = "testing_repeat"
    usage: ClassVar[str] = USAGE
    determinism: ClassVar[str] = "pure"
    output_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {
            "reply": {"type": "string"},
            "sessionId": {"type": ["string", "null"]},
            "conversation_id": {"type": ["string", "null"]},
        },
        "required": ["reply"],
    }

    @staticmethod
    def schema() -> dict[str, Any]:
        return {
            "type": "function",
            "name": "testing_repeat",
            "description": "Repeat a message.",
            "parameters": {
                "type": "object",
                "properties": {
                    "message": {"type": "string", "description": "The text to repeat"},
                    "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 1},
                },
                "required": ["message"],
            },
        }

    async def execute(self, arguments_json: str, context: ToolContext) -> InvokeResult:
        await asyncio.sleep(0)
        if context.cancelled:
            return InvokeResult.ok('{"reply": "cancelled"}')
        try:
            arguments = json.loads(arguments_json)
            reply = "".join([arguments["message"]] * (arguments.get("count") or 1))
        except (ValueError, KeyError, TypeError, AttributeError):
            context.log("error", "[testing_repeat__Exception]", ("kind", "arguments"))
            return InvokeResult.error("Give a message, and perhaps a count.")
        ids = {"sessionId": context.ids.session, "conversation_id": context.ids.conversation}
        return InvokeResult.ok(json.dumps({"reply": reply, **ids}))


Execute = Callable[[Any, str, ToolContext], Any]


def breaking(change: Callable[[str, ToolContext, InvokeResult], Any]) -> type:
    """A class that keeps the contract but for what `change` makes of its answers."""

    class Breaking(Repeat):
        async def execute(self, arguments_json: str, context: ToolContext) -> InvokeResult:
            answer = await super().execute(arguments_json, context)
            found: InvokeResult = change(arguments_json, context, answer)
            return found

    return Breaking


def raises(text: str, context: ToolContext, answer: InvokeResult) -> Any:
    json.loads(text)
    return answer


def leaves(text: str, context: ToolContext, answer: InvokeResult) -> Any:
    raise SystemExit


def wrong_session(text: str, context: ToolContext, answer: InvokeResult) -> Any:
    return InvokeResult.ok('{"reply": "", "sessionId": "other"}') if answer.successful else answer


def not_json(text: str, context: ToolContext, answer: InvokeResult) -> Any:
    return InvokeResult.ok("{'reply': 1}") if answer.successful else answer


def not_stable(text: str, context: ToolContext, answer: InvokeResult) -> Any:
    reply = json.dumps({"reply": str(random.random())})
    return InvokeResult.ok(reply) if answer.successful else answer


def lenient(text: str, context: ToolContext, answer: InvokeResult) -> Any:
    return answer if answer.successful else InvokeResult.ok('{"reply": "whatever"}')


def other_output(text: str, context: ToolContext, answer: InvokeResult) -> Any:
    return InvokeResult.ok('{"answer": 1}') if answer.successful else answer


def never(text: str, context: ToolContext, answer: InvokeResult) -> Any:
    return InvokeResult.error("no")


def logs_numbers(text: str, context: ToolContext, answer: InvokeResult) -> Any:
    context.log("info", "counted", ("count", 1))  # type: ignore[arg-type] # that is the point
    return answer


def silent_failure(text: str, context: ToolContext, answer: InvokeResult) -> Any:
    return answer if answer.successful else InvokeResult(successful=False)


def result_beside(text: str, context: ToolContext, answer: InvokeResult) -> Any:
    errors = ({"message": "no"},)
    return (
        answer if answer.successful else InvokeResult(successful=False, result="{}", errors=errors)
    )


def fails_when_cancelled(text: str, context: ToolContext, answer: InvokeResult) -> Any:
    return InvokeResult.error("cancelled") if context.cancelled else answer


class EmptyUsage(Repeat):
    usage: ClassVar[str] = "Use it."


class NoUsage(Repeat):
    usage: ClassVar[str] = ""


class Careless(Repeat):
    @staticmethod
    def schema() -> dict[str, Any]:
        written = Repeat.schema()
        del written["parameters"]["required"]
        return written

    async def execute(self, arguments_json: str, context: ToolContext) -> InvokeResult:
        return InvokeResult.ok(json.dumps({"reply": "whatever"}))


class Restless(Repeat):
    numbers = itertools.count()

    @staticmethod
    def schema() -> dict[str, Any]:
        written = Repeat.schema()
        written["parameters"]["properties"]["count"]["maximum"] = 9 + next(Restless.numbers)
        return written


BREACHES: list[tuple[type, str, str]] = [
    (NoUsage, "contract", "usage"),
    (EmptyUsage, "usage", "does not speak of"),
    (breaking(raises), "never_raises", "JSONDecodeError"),
    (breaking(leaves), "never_raises", "SystemExit"),
    (breaking(lambda *_: {"reply": 1}), "never_raises", "dict"),
    (breaking(wrong_session), "identifiers", "sessionId"),
    (breaking(not_json), "stable_json", "strict JSON"),
    (breaking(not_stable), "stable_json", "another form"),
    (Restless, "schema", "second time"),
    (breaking(lenient), "schema", "without a required argument"),
    (Careless, "schema", "no JSON object"),
    (breaking(other_output), "schema", "output schema"),
    (breaking(never), "schema", "none of 100"),
    (breaking(logs_numbers), "logging", "pairs of text"),
    (breaking(silent_failure), "errors", "no message"),
    (breaking(result_beside), "errors", "result beside"),
    (breaking(fails_when_cancelled), "cancellation", "section 8"),
]


def test_a_class_that_keeps_the_contract() -> None:
    """Every line of section 12 is kept, and the report says on how many calls that rests."""
    report = check_tool(Repeat)
    assert report.ok, str(report)
    assert len(report.criteria) == 10
    assert "calls" in str(report)


@pytest.mark.parametrize(("cls", "name", "words"), BREACHES)
def test_each_breach_fails_its_own_line(cls: type, name: str, words: str) -> None:
    """What breaks one line is reported there, with what was seen."""
    report = check_tool(cls)
    (criterion,) = (each for each in report.criteria if each.name == name)
    assert not criterion.ok
    assert words in criterion.why
    assert not report.ok


class Writing(Repeat):
    side_effects: ClassVar[list[str]] = ["fs_write"]
    seen: ClassVar[list[str]] = []

    async def execute(self, arguments_json: str, context: ToolContext) -> InvokeResult:
        Writing.seen.append(arguments_json)
        return await super().execute(arguments_json, context)


def test_what_writes_is_not_run_with_made_up_arguments() -> None:
    """A tool with write effects runs with malformed text and the arguments it was given only."""
    given = {"message": "safe"}
    assert not check_tool(Writing).ok
    assert all("message" not in text for text in Writing.seen)
    report = check_tool(Writing, arguments=[given])
    assert report.ok, str(report)
    assert {text for text in Writing.seen if "message" in text} == {json.dumps(given)}


def test_a_class_that_hangs() -> None:
    """A class that blocks the loop is reported in bounded time."""
    release = threading.Event()

    def hangs(text: str, context: ToolContext, answer: InvokeResult) -> Any:
        release.wait()
        return answer

    report = check_tool(breaking(hangs), seconds=0.5)
    release.set()
    why = {criterion.name: criterion.why for criterion in report.criteria}
    assert "did not end in time" in why["never_raises"]


UNORDERED = """
from tests_of_testing import Repeat
class Unordered(Repeat):
    @staticmethod
    def schema():
        written = Repeat.schema()
        tones = {"low", "high", "loud", "soft", "sweet", "sour"}
        written["parameters"]["properties"]["tone"] = {"type": "string", "enum": list(tones)}
        return written
"""


def test_a_schema_that_depends_on_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A schema that hashes decide is found out by fresh processes; a steady one is not accused."""
    (tmp_path / "tests_of_testing.py").write_bytes(Path(__file__).read_bytes())
    (tmp_path / "unordered_tool.py").write_text(UNORDERED, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "src")
    unordered = importlib.import_module("unordered_tool").Unordered
    lines = {each.name: each for each in check_tool(unordered).criteria}
    assert lines["schema"].why == "a fresh process gives another schema"
    assert check_tool(importlib.import_module("tests_of_testing").Repeat).ok


def test_inside_a_running_loop() -> None:
    """It can be used in an async test as well."""

    async def test() -> bool:
        await asyncio.sleep(0)
        return check_tool(Repeat).ok

    assert asyncio.run(test())


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trying a tool writes no files of its own."""
    monkeypatch.chdir(tmp_path)
    assert check_tool(Repeat).ok
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - the names are the point
