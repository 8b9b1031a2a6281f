"""The user scenarios of ACODE that need a whole runtime: start it, call a tool, be refused."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from runtime import rights_tools
from toolstile import Runtime, Status
from toolstile.model.result import ToolResult

PROVIDER = '''
import time
from toolstile import ToolContext, tool

@tool(version="1.4.0")
def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()

def whisper(text):
    return text.lower()

calls = 0

@tool
def how_often() -> int:
    """Say how often this process has been asked."""
    global calls
    calls += 1
    return calls

@tool(side_effects=["none"])
def leave_mark(where: str, times: int) -> int:
    """Leave a mark that shows that it ran."""
    with open(where, "a", encoding="utf-8") as file:
        return file.write("x" * times)

@tool(timeout=1)
def sleep() -> None:
    """Take longer than allowed."""
    time.sleep(5)

@tool(constraints={"max_output_size": 1000})
def talk(characters: int) -> str:
    """Say a lot."""
    return "a" * characters

@tool
def who(ctx: ToolContext) -> list[str | None]:
    """Say for whom it runs."""
    ids = ctx.ids
    return [ids.agent, ids.user, ids.session, ids.conversation, ids.tenant, ids.execution]

tools = [shout]
more = [how_often, leave_mark, sleep, talk, who]
'''
WHISPER = {
    "name": "whisper",
    "description": "Say it softly",
    "version": "2.0.0",
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
    "side_effects": ["none"],
    "source": {"python": "scenario_package:whisper"},
}
BROKEN = {"name": "Broken", "description": "Broken", "parameters": {"typ": "object"}}


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """A project with a provider and two declared tools, one of them broken; not yet started."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "scenario_package", raising=False)
    (tmp_path / "scenario_package.py").write_text(PROVIDER, encoding="utf-8")
    info = tmp_path / "scenario_package-1.0.dist-info"
    info.mkdir()
    about = "Metadata-Version: 2.1\nName: scenario_package\nVersion: 1.0\n"
    (info / "METADATA").write_text(about, encoding="utf-8")
    points = "[toolstile.tools]\nscenario = scenario_package:tools\nmore = scenario_package:more\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    tools = {"providers": ["scenario"], "custom": [WHISPER, BROKEN]}
    return Runtime(settings={"store": "memory:", "tools": tools})


@pytest.fixture
def more(runtime: Runtime) -> Runtime:
    """The same package's other provider."""
    return Runtime(settings={"store": "memory:", "tools": {"providers": ["more"]}})


def call(runtime: Runtime, tool: str, arguments: Any) -> ToolResult:
    """One call of a started runtime."""
    with runtime.blocking() as rt:
        result: ToolResult = rt.call(tool, arguments).record
    return result


def test_starting_registers_and_logs_all_tools(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    """Scenario 1: providers and declared tools are there once it has started, each with a line."""
    caplog.set_level(logging.INFO, logger="toolstile.registry")
    with runtime.blocking():
        names = [definition.name for definition in runtime.registry.all()]
    assert names == ["shout", "whisper"]
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert [line for line in said if line.startswith("Tool registered")] == [
        "Tool registered. name=shout version=1.4.0",
        "Tool registered. name=whisper version=2.0.0",
    ]


def test_a_tool_that_is_left_out_is_named(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    """Scenario 7: a broken definition is said with its place, and nothing else fails with it."""
    caplog.set_level(logging.ERROR)
    with runtime.blocking():
        assert "shout" in runtime.registry
    (record,) = caplog.records
    assert record.getMessage().startswith("[TLS-DEF] Left out. name=Broken reason=/name: ")
    assert "/parameters/typ: Schema is invalid: unknown keyword 'typ'" in record.getMessage()


@pytest.mark.parametrize(("tool", "output"), [("shout", "AHA"), ("whisper", "aha")])
def test_a_tool_with_valid_arguments_is_run(runtime: Runtime, tool: str, output: str) -> None:
    """Scenarios 3 and 6: a provider's tool and one of the configuration are called alike."""
    result = call(runtime, tool, '{"text": "Aha"}')
    assert (result.status, result.output) == (Status.SUCCESS, output)


REFUSED: list[tuple[str, str, Status, str, str, str]] = [
    ("shout", "{}", Status.VALIDATION_ERROR, "ACODE_TSR_003", "/text", "string"),
    ("shout", '{"text": 1}', Status.VALIDATION_ERROR, "ACODE_TSR_004", "/text", "string"),
    ("whisper", '{"text": 1}', Status.VALIDATION_ERROR, "ACODE_TSR_004", "/text", "string"),
    ("shuot", '{"text": "x"}', Status.TOOL_NOT_FOUND, "ACODE_TSR_001", "", ""),
]


@pytest.mark.parametrize(("tool", "sent", "status", "code", "path", "expected"), REFUSED)
def test_a_call_that_does_not_fit_is_answered_with_its_code(
    runtime: Runtime, tool: str, sent: str, status: Status, code: str, path: str, expected: str
) -> None:
    """Scenarios 4, 5 and 8: the field, the expected type and the code are in the answer."""
    result = call(runtime, tool, sent)
    assert (result.status, result.error_code) == (status, code)
    (issue,) = result.issues
    assert (issue.path, issue.expected or "") == (path, expected)
    assert issue.error_code.replace("-", "_") == code


def test_a_pin_that_no_version_fits_lets_none_run(runtime: Runtime) -> None:
    """What is pinned to versions that are not there is not called at another one; a pin that fits
    is kept, and one for a tool that is not there hinders nothing."""
    tools = {"providers": ["scenario"], "custom": [WHISPER]}
    pins = {"whisper": "^3", "shout": "^1", "nobody": "^1"}
    pinned = Runtime(settings={"store": "memory:", "tools": {**tools, "pins": pins}})
    assert call(pinned, "whisper", {"text": "Aha"}).status is Status.TOOL_NOT_FOUND
    assert call(pinned, "shout", {"text": "Aha"}).output == "AHA"


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"settings": {"store": "memory:"}}, "In what this Runtime is given, add"),
        (
            {"store": "memory:", "grants": {"fs_read": ["work"]}},
            "In what this Runtime is given, add",
        ),
        ({"store": "memory:"}, "In .agent/config.yml, add"),
    ],
)
def test_a_repair_is_where_it_would_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], where: str
) -> None:
    """Rights that a program gives override the file's, so there is where one is added."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    with Runtime([rights_tools.read], **given).blocking() as rt:
        refused = rt.call("read", path="/etc/hostname")
    assert where in refused.error_message


def test_a_tool_keeps_nothing_between_calls(more: Runtime) -> None:
    """Each call has a fresh process: what the first one changed is not there for the second."""
    with more.blocking() as rt:
        assert [rt.call("how_often").output for _ in range(3)] == [1, 1, 1]


def test_a_tool_is_told_for_whom_it_runs(more: Runtime) -> None:
    """The caller's names and the call's own reach the tool, each in its place; absent is null."""
    with more.blocking() as rt:
        mine = rt.as_(agent="a", user="u", session="s", conversation="c").call("who")
        nobodys = rt.call("who")
    assert mine.output == ["a", "u", "s", "c", "local", mine.execution_id]
    assert nobodys.output == [None, None, None, None, "local", nobodys.execution_id]


def test_nothing_runs_with_arguments_that_do_not_fit(more: Runtime, tmp_path: Path) -> None:
    """Input is checked before the run: a refused call leaves no mark, a sound one does."""
    mark = tmp_path / "mark"
    for times in ("1", 1.5, None):
        refused = call(more, "leave_mark", {"where": str(mark), "times": times})
        assert refused.status is Status.VALIDATION_ERROR
    assert not mark.exists()
    assert call(more, "leave_mark", {"where": str(mark), "times": 1}).output == 1
    assert mark.read_text(encoding="utf-8") == "x"


def test_a_run_ends_at_its_own_deadline(more: Runtime) -> None:
    """`max_execution_time` of the definition is kept, although the caller asks for longer."""
    with more.blocking() as rt:
        result = rt.call("sleep", {}, timeout=500).record
    assert (result.status, result.error_code) == (Status.TIMEOUT, "TIMEOUT")
    assert 1_000 <= result.metadata.duration_ms < 30_000


def test_an_output_that_is_too_large_is_cut(more: Runtime) -> None:
    """Up to `max_output_size` it is whole; above, a success with at most 95 % of it, and said."""
    whole = call(more, "talk", {"characters": 998})  # and two quotation marks
    assert (len(whole.output), whole.metadata.output_truncated) == (998, False)
    cut = call(more, "talk", {"characters": 999})
    assert (cut.status, cut.metadata.output_truncated) == (Status.SUCCESS, True)
    assert 0 < len(cut.output) <= 950
