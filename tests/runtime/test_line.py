"""The straight line, step by step, with real processes and stores."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from runtime.watching import until_claimed
from toolstile.errors import NotWaiting
from toolstile.model.call import Caller
from toolstile.model.event import Event
from toolstile.model.result import ToolResult
from toolstile.model.vocabulary import EffectsState, Status, Verdict
from toolstile.registry.registry import Registry
from toolstile.runtime import approvals
from toolstile.runtime.executor import Executor
from toolstile.runtime.request import Request

pytestmark = pytest.mark.anyio


async def call(line: Executor, tool: str, arguments: Any, **about: Any) -> ToolResult:
    """One call; its result must survive the JSON round trip exactly."""
    result = await line.call(Request(tool=tool, arguments=arguments, **about))
    assert ToolResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result
    return result


async def test_a_granted_call_runs_and_is_recorded(line: Executor, work: Path) -> None:
    """The plain good case: output, digest, decision, record."""
    (work / "a.txt").write_text("one two three", encoding="utf-8")
    result = await call(line, "word_count", '{"path": "a.txt"}')
    assert (result.status, result.output) == (Status.SUCCESS, {"words": 3})
    assert result.digest is not None
    assert result.decision is not None
    assert result.decision.verdict is Verdict.ALLOW
    assert result.input.arguments == {"path": "a.txt", "min_length": 1}
    stored = await line.store.get("local", result.metadata.execution_id)
    assert stored is not None
    assert stored.state == "done"


@pytest.mark.parametrize(
    ("tool", "arguments", "status", "code"),
    [
        ("word_count", '{"path": "a"', Status.VALIDATION_ERROR, "ACODE_TSR_002"),
        ("word_count", '{"path": "a", "path": "b"}', Status.VALIDATION_ERROR, "ACODE_TSR_002"),
        ("word_count", '{"path": NaN}', Status.VALIDATION_ERROR, "ACODE_TSR_002"),
        ("word_count", "{}", Status.VALIDATION_ERROR, "ACODE_TSR_003"),
        ("word_count", '{"path": 1}', Status.VALIDATION_ERROR, "ACODE_TSR_004"),
        ("word_count", '{"path": "a", "x": 1}', Status.VALIDATION_ERROR, "ACODE_TSR_005"),
        ("add", '{"a": "1"}', Status.VALIDATION_ERROR, "ACODE_TSR_004"),
        ("add", '{"a": 9223372036854775808}', Status.VALIDATION_ERROR, "ACODE_TSR_005"),
        ("ad", "{}", Status.TOOL_NOT_FOUND, "ACODE_TSR_001"),
        ("word_count", '{"path": "/etc/passwd"}', Status.PERMISSION_DENIED, "PERMISSION_DENIED"),
        ("word_count", '{"path": "../secret"}', Status.PERMISSION_DENIED, "PERMISSION_DENIED"),
        ("word_count", '{"path": "a\\u0000"}', Status.PERMISSION_DENIED, "PERMISSION_DENIED"),
        ("scribble", '{"target": "x"}', Status.PERMISSION_DENIED, "PERMISSION_DENIED"),
    ],
)
async def test_what_is_refused_is_recorded_and_says_why(
    line: Executor, tool: str, arguments: str, status: Status, code: str
) -> None:
    """Every early ending has its status and code, is stored, and occupies no key."""
    result = await call(line, tool, arguments, call_id="k")
    assert (result.status, result.error_code) == (status, code)
    assert result.error_message
    assert await line.store.get("local", result.metadata.execution_id) is not None
    repaired = await call(line, "add", {"a": 1}, call_id="k")
    assert repaired.output == 2


async def test_a_denial_names_the_line_that_grants_it(line: Executor) -> None:
    """Every refusal carries its repair."""
    result = await call(line, "word_count", {"path": "/etc/passwd"})
    assert result.decision is not None
    assert result.decision.missing == ("fs_read: /etc/passwd",)
    assert '`"/etc/passwd"` to `fs_read:` under `grants:`' in (result.error_message or "")


async def test_a_link_out_of_the_grant_is_decided_on_its_target(
    line: Executor, work: Path, tmp_path: Path
) -> None:
    """A symbolic link inside the grant does not lead out of it; one that stays inside is fine."""
    (tmp_path / "secret").write_text("s", encoding="utf-8")
    (work / "inside.txt").write_text("one", encoding="utf-8")
    (work / "out").symlink_to(tmp_path / "secret")
    (work / "in").symlink_to(work / "inside.txt")
    assert (await call(line, "word_count", {"path": "out"})).status is Status.PERMISSION_DENIED
    assert (await call(line, "word_count", {"path": "in"})).output == {"words": 1}


@pytest.mark.parametrize(
    ("how", "status", "code"),
    [
        ("error", Status.FAILED, "NOT_TODAY"),
        ("raise", Status.FAILED, "TOOL_EXCEPTION"),
        ("exit", Status.FAILED, "OUTCOME_UNKNOWN"),
        ("print", Status.SUCCESS, None),
    ],
)
async def test_a_tool_may_fail_as_it_likes(
    line: Executor, how: str, status: Status, code: str | None
) -> None:
    """What a tool does is told apart, and its internals never reach the model."""
    result = await call(line, "misbehave", {"how": how})
    assert (result.status, result.error_code) == (status, code)
    assert "internal detail" not in json.dumps(result.to_dict())


async def test_a_hanging_tool_is_stopped_at_the_callers_deadline(line: Executor) -> None:
    """A caller may shorten the deadline; nothing of the child is left."""
    result = await call(line, "misbehave", {"how": "hang"}, timeout=0.5)
    assert result.status is Status.TIMEOUT
    assert result.metadata.duration_ms < 30_000


async def test_a_running_call_can_be_cancelled(line: Executor) -> None:
    """`cancel` stops it, for its own tenant only, and the result says cancelled."""
    task = asyncio.create_task(
        line.call(Request(tool="misbehave", arguments={"how": "hang"}, execution_id=_uuid()))
    )
    await until_claimed(line, _uuid())
    assert not line.cancel("other", _uuid())
    assert line.cancel("local", _uuid())
    result = await task
    assert result.status is Status.CANCELLED
    assert not line.cancel("local", _uuid())


def _uuid() -> str:
    return "018f0000-0000-7000-8000-000000000001"


async def test_an_output_that_breaks_its_schema_is_refused(line: Executor) -> None:
    """Outputs are validated as strictly as arguments."""
    result = await call(line, "wrong_output", {})
    assert result.status is Status.OUTPUT_VALIDATION_FAILED
    assert result.issues[0].path == "/n"
    assert result.output is None


async def test_the_same_call_id_runs_once(line: Executor, work: Path) -> None:
    """Replay answers from the record; another request under the key is refused; other principals
    and sessions have keys of their own."""
    (work / "a.txt").write_text("one", encoding="utf-8")
    first = await call(line, "word_count", {"path": "a.txt"}, call_id="c")
    (work / "a.txt").write_text("one two", encoding="utf-8")
    again = await call(line, "word_count", '{ "path":"a.txt" }', call_id="c")
    assert again.replayed
    assert again.output == first.output == {"words": 1}
    other = await call(line, "word_count", {"path": "b.txt"}, call_id="c")
    assert other.error_code == "CALL_KEY_REUSED"
    stranger = Caller(agent="somebody else")
    theirs = await call(line, "word_count", {"path": "a.txt"}, call_id="c", caller=stranger)
    assert not theirs.replayed
    assert theirs.output == {"words": 2}


async def test_twins_have_one_effect(line: Executor, work: Path) -> None:
    """Of two equal calls at once one runs; the other is told that it is in flight, or replays."""
    (work / "a.txt").write_text("one", encoding="utf-8")
    twins = [call(line, "word_count", {"path": "a.txt"}, call_id="t") for _ in range(8)]
    results = await asyncio.gather(*twins)
    ran = [r for r in results if r.status is Status.SUCCESS and not r.replayed]
    assert len(ran) == 1
    codes = {r.error_code for r in results if r.status is not Status.SUCCESS}
    assert codes <= {"CALL_IN_FLIGHT"}


async def test_writes_are_staged_shown_and_committed_on_approval(
    line: Executor, work: Path
) -> None:
    """The person sees the real diff; approval makes exactly that; the output waits for it."""
    target = work / "n.txt"
    target.write_text("old\n", encoding="utf-8")
    waits = await call(line, "save", {"path": "n.txt", "text": "new\n"})
    assert waits.status is Status.REQUIRES_CONFIRMATION
    assert waits.output is None
    seen = await approvals.waiting(line, "local", waits.metadata.execution_id)
    assert "-old\n+new" in (seen.diff or "")
    assert target.read_text(encoding="utf-8") == "old\n"
    done = await approvals.approve(line, waits.metadata.execution_id, Caller(user="me"))
    assert (done.status, done.output) == (Status.SUCCESS, 4)
    assert done.effects_state is EffectsState.COMMITTED
    assert [effect.resource for effect in done.effects] == [str(target)]
    assert target.read_text(encoding="utf-8") == "new\n"


async def test_an_approved_call_tells_of_the_run_that_it_had(line: Executor, work: Path) -> None:
    """After the yes the result still says where it ran and what that took; and who said what."""
    waits = await call(line, "save", {"path": "n.txt", "text": "x"})
    done = await approvals.approve(line, waits.metadata.execution_id, Caller(user="ann"), "fine")
    assert done.metadata.resource_metrics == waits.metadata.resource_metrics
    assert done.metadata.isolation == waits.metadata.isolation
    assert done.metadata.resource_metrics is not None
    assert done.metadata.resource_metrics.wall_ms > 0
    assert done.decision is not None
    assert done.decision.reasons[-1].text == "approved by ann: fine"


async def test_a_no_says_whose_it_is(line: Executor, work: Path) -> None:
    """The Decision after a no is a denial that names the person and what they said."""
    waits = await call(line, "save", {"path": "n.txt", "text": "x"})
    asked = await approvals.waiting(line, "local", waits.metadata.execution_id)
    no = await approvals.deny(line, waits.metadata.execution_id, Caller(user="bob"), "not today")
    assert no.decision is not None
    assert no.decision.verdict is Verdict.DENY
    reason = no.decision.reasons[-1]
    assert (reason.text, reason.id) == ("denied by bob: not today", asked.digest)


async def test_an_answer_is_good_once(line: Executor, work: Path) -> None:
    """After yes or no the call waits no more."""
    waits = await call(line, "save", {"path": "n.txt", "text": "x"})
    execution_id = waits.metadata.execution_id
    await approvals.approve(line, execution_id, Caller(user="me"))
    with pytest.raises(NotWaiting):
        await approvals.approve(line, execution_id, Caller(user="me"))
    with pytest.raises(NotWaiting):
        await approvals.deny(line, execution_id, Caller(user="me"))


async def test_a_no_throws_the_changes_away(line: Executor, work: Path) -> None:
    """Denied: nothing written, nothing left in the stage, and the caller is told."""
    waits = await call(line, "save", {"path": "n.txt", "text": "x"}, call_id="d")
    await approvals.deny(line, waits.metadata.execution_id, Caller(user="me"), "not today")
    assert not (work / "n.txt").exists()
    again = await call(line, "save", {"path": "n.txt", "text": "x"}, call_id="d")
    assert again.error_code == "CONFIRMATION_DENIED"


async def test_writing_what_is_there_already_changes_nothing(line: Executor, work: Path) -> None:
    """Nothing would be changed, so there is nothing to agree to; other text is asked about."""
    target = work / "n.txt"
    target.write_text("same", encoding="utf-8")
    before = target.stat()
    done = await call(line, "save", {"path": "n.txt", "text": "same"})
    assert (done.status, done.output, done.effects) == (Status.SUCCESS, 4, ())
    assert done.effects_state is EffectsState.NONE
    after = target.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    other = await call(line, "save", {"path": "n.txt", "text": "Same"})
    assert other.status is Status.REQUIRES_CONFIRMATION


async def test_a_deletion_is_staged_too(line: Executor, work: Path) -> None:
    """Removing a file waits for approval like writing one."""
    (work / "n.txt").write_text("x", encoding="utf-8")
    waits = await call(line, "remove", {"path": "n.txt"})
    assert (work / "n.txt").exists()
    done = await approvals.approve(line, waits.metadata.execution_id, Caller(user="me"))
    assert done.status is Status.SUCCESS
    assert not (work / "n.txt").exists()


async def test_what_somebody_else_changed_is_never_overwritten(line: Executor, work: Path) -> None:
    """An edit between run and approval is a conflict, and the edit stays."""
    target = work / "n.txt"
    target.write_text("old", encoding="utf-8")
    waits = await call(line, "save", {"path": "n.txt", "text": "new"})
    target.write_text("edited by a person", encoding="utf-8")
    done = await approvals.approve(line, waits.metadata.execution_id, Caller(user="me"))
    assert done.error_code == "EFFECT_CONFLICT"
    assert target.read_text(encoding="utf-8") == "edited by a person"


async def test_an_approval_of_something_else_is_refused(line: Executor, work: Path) -> None:
    """The digest of what the person saw must be that of what would happen."""
    waits = await call(line, "save", {"path": "n.txt", "text": "x"})
    seen = "sha256:" + "0" * 64
    done = await approvals.approve(line, waits.metadata.execution_id, Caller(user="me"), seen=seen)
    assert done.error_code == "APPROVAL_MISMATCH"
    assert not (work / "n.txt").exists()


async def test_changed_code_is_another_tool(line: Executor, work: Path, registry: Registry) -> None:
    """Rights or code changed between run and approval: the old yes does not fit."""
    waits = await call(line, "save", {"path": "n.txt", "text": "x"})
    source = Path(__file__).with_name("line_tools.py")
    times = source.stat()
    text = source.read_text(encoding="utf-8")
    try:
        source.write_text(text + "\n# edited\n", encoding="utf-8")
        done = await approvals.approve(line, waits.metadata.execution_id, Caller(user="me"))
    finally:
        source.write_text(text, encoding="utf-8")
        os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert done.error_code == "APPROVAL_MISMATCH"
    assert not (work / "n.txt").exists()


async def test_a_preview_changes_nothing(line: Executor, work: Path) -> None:
    """Asked for a preview, what would change files waits; what changes nothing is done."""
    arguments = {"path": "n.txt", "text": "hello"}
    waits = await call(line, "save", arguments, preview=True)
    assert waits.status is Status.REQUIRES_CONFIRMATION
    assert waits.output is None
    (work / "a.txt").write_text("one", encoding="utf-8")
    done = await call(line, "word_count", {"path": "a.txt"}, preview=True)
    assert (done.status, done.preview) == (Status.SUCCESS, True)
    assert done.output is not None


async def test_the_context_reaches_the_tool(
    line: Executor, caplog: pytest.LogCaptureFixture
) -> None:
    """Log, progress, metrics and ids work across the process border."""
    caplog.set_level(logging.INFO, logger="toolstile.tool")
    result = await call(line, "report", {"steps": 3}, caller=Caller(session="s1"))
    assert result.output == "s1"
    assert result.metadata.execution_metrics == {"steps": 3.0}
    assert sum("a step" in record.getMessage() for record in caplog.records) == 3


async def test_an_observer_cannot_harm_a_call(line: Executor) -> None:
    """A failing observer is passed over, and the others are still told."""
    told: list[Event] = []

    def broken(event: Event) -> None:
        raise RuntimeError(event.type)

    line.observers = (broken, told.append)
    result = await call(line, "add", {"a": 1})
    assert result.is_success
    assert [event.type for event in told] == ["ToolCompleted"]


async def test_refused_calls_reach_the_observers_too(line: Executor) -> None:
    """Every ending passes the last two steps."""
    told: list[Event] = []
    line.observers = (told.append,)
    await call(line, "nothing_like_it", {})
    await call(line, "add", "{")
    assert [event.fields["status"] for event in told] == ["tool_not_found", "validation_error"]
