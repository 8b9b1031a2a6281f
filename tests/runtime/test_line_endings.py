"""How calls end, and what is said of them: effects, records, observers, codes, typed values."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest
from msgspec.structs import replace

from runtime import rights_tools
from runtime.test_line_rights import ME, call, given
from toolstile.app import Runtime
from toolstile.effects.files import FileEffects
from toolstile.errors import NotWaiting
from toolstile.model.call import Call, Caller, uuid7
from toolstile.model.decision import Decision
from toolstile.model.event import Event
from toolstile.model.record import CallRecord, CallState
from toolstile.model.vocabulary import EffectsState, Status, Verdict
from toolstile.registry.registry import Registry
from toolstile.runtime import approvals
from toolstile.runtime.executor import Executor
from toolstile.runtime.normalize import normalise
from toolstile.runtime.request import stored
from toolstile.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


@pytest.fixture
def registry() -> Registry:
    """The tools of rights_tools."""
    made = Registry()
    for tool in rights_tools.ALL:
        made.register(tool)
    return made


# --- what would change ------------------------------------------------------------------------


async def test_an_empty_file_is_a_change(line: Executor, work: Path) -> None:
    """Making and removing files without a byte is held and counted, and done only after a yes; so
    is any other change."""
    (work / "lock").touch()
    for tool, arguments in (
        ("save", {"path": "__init__.py", "text": ""}),
        ("remove", {"path": "lock"}),
        ("save", {"path": "a", "text": "x"}),
    ):
        waits = await call(line, tool, arguments)
        assert waits.effects_state is EffectsState.NONE
        assert "1 file would change" in (waits.error_message or "")
        identity = waits.metadata.execution_id
        done = await approvals.approve(line, identity, ME)
        assert done.effects_state is EffectsState.COMMITTED
    assert sorted(os.listdir(work)) == ["__init__.py", "a"]  # noqa: PTH208 - names


# --- what became of the effects ---------------------------------------------------------------


async def test_what_was_sent_is_not_called_undone(
    line: Executor, work: Path, tmp_path: Path
) -> None:
    """A tool that sends and writes: when its write is in conflict, what it sent is unknown and not
    discarded. Without a conflict, and where nothing is written, a success has had its effects."""
    given(line, "net_write")
    for witness, code, state in (
        ("late", "EFFECT_CONFLICT", EffectsState.UNKNOWN),
        ("well", None, EffectsState.COMMITTED),
    ):
        arguments = {"path": f"{witness}.txt", "witness": str(tmp_path / witness)}
        waits = await call(line, "send_and_save", arguments)
        done = await approvals.approve(line, waits.metadata.execution_id, ME)
        assert (done.error_code, done.effects_state) == (code, state)
        assert (tmp_path / witness).exists()
    waits = await call(line, "send", {"witness": str(tmp_path / "sent")})
    done = await approvals.approve(line, waits.metadata.execution_id, ME)
    assert (done.status, done.effects_state) == (Status.SUCCESS, EffectsState.COMMITTED)


async def test_a_failure_says_what_may_have_happened(
    line: Executor, work: Path, tmp_path: Path
) -> None:
    """Unknown where the tool writes without a handle, discarded where it writes through one, none
    where it only reads; and the person who asks finds the call in the log by its id."""
    given(line, "fs_write")
    arguments = {"witness": str(tmp_path / "witness"), "how": "raise"}
    waits = await call(line, "coarse_write", arguments)
    coarse = await approvals.approve(line, waits.metadata.execution_id, ME)
    assert coarse.effects_state is EffectsState.UNKNOWN
    assert "may have had effects" in (coarse.error_message or "")
    staged = await call(line, "remove", {"path": "missing"})
    assert (staged.error_code, staged.effects_state) == ("FILE_NOT_FOUND", EffectsState.DISCARDED)
    reading = await call(line, "plain_read", {"path": "missing"})
    assert (reading.error_code, reading.effects_state) == ("TOOL_EXCEPTION", EffectsState.NONE)
    said = f"plain_read failed to process arguments. Execution: {reading.metadata.execution_id}."
    assert reading.error_message == said


# --- records ----------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["1e20", "1e19", "-3e20", "1152921504606846976", "0.1", "1e300"])
async def test_no_number_costs_an_approval_its_commit(
    line: Executor, work: Path, number: str
) -> None:
    """RFC 8785 writes large doubles in digits, like integers; read again they are the same number
    with the same digest, so what was approved is committed."""
    waits = await call(line, "large_number", {"path": "a", "number": number})
    done = await approvals.approve(line, waits.metadata.execution_id, ME)
    assert (done.status, float(done.output)) == (Status.SUCCESS, float(number))
    assert done.digest == normalise(float(number), 1000).digest
    assert (work / "a").read_text(encoding="utf-8") == "x"


async def test_a_lock_of_a_moment_leaves_no_call_in_flight(
    line: Executor, work: Path, tmp_path: Path
) -> None:
    """The store refuses the commit point and works again at the end: the call has an end, nothing
    was written, and the same id is answered from the record."""
    if not isinstance(line.store, SqliteStore):
        pytest.skip("memory is never locked")
    given(line, "net_write")
    line.store._connection.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(tmp_path / "state" / "toolstile.db", isolation_level=None)
    arguments = {"path": "a", "witness": str(tmp_path / "w")}
    waits = await call(line, "send_and_save", arguments, call_id="k")
    line.effects = _LockedAfterSealing(tmp_path / "staging", other)
    task = asyncio.ensure_future(approvals.approve(line, waits.metadata.execution_id, ME))
    done = await task
    stored = await line.store.get("local", waits.metadata.execution_id)
    assert stored is not None
    assert stored.state is CallState.DONE
    assert (done.error_code, done.effects_state) == ("OUTCOME_UNKNOWN", EffectsState.UNKNOWN)
    assert not (work / "a").exists()
    assert (await call(line, "send_and_save", arguments, call_id="k")).replayed


class _LockedAfterSealing(FileEffects):
    """File effects of a moment at which somebody else holds the database for a second."""

    def __init__(self, directory: Path, other: sqlite3.Connection) -> None:
        super().__init__(directory)
        self._other = other

    async def seal(self, execution_id: str, outcome: Any) -> Any:
        manifest = await super().seal(execution_id, outcome)
        self._other.execute("BEGIN IMMEDIATE")
        # Given up when the line has tried once: its log of that is the next thing to happen.
        logging.getLogger("toolstile").addFilter(self._release)
        return manifest

    def _release(self, record: logging.LogRecord) -> bool:
        if self._other.in_transaction:
            self._other.execute("ROLLBACK")
            logging.getLogger("toolstile").removeFilter(self._release)
        return True


async def test_a_refused_call_keeps_no_execution_id(line: Executor, work: Path) -> None:
    """Repaired, the call may be made under the id that its caller has chosen; then it is taken."""
    (work / "a").write_text("text", encoding="utf-8")
    chosen = uuid7()
    refused = await call(line, "read", {"paht": "a"}, execution_id=chosen)
    assert refused.status is Status.VALIDATION_ERROR
    assert await line.store.get("local", chosen) is not None
    repaired = await call(line, "read", {"path": "a"}, execution_id=chosen)
    assert repaired.output == "text"
    stored = await line.store.get("local", chosen)
    assert stored is not None
    assert stored.state is CallState.DONE
    taken = await call(line, "read", {"path": "a"}, execution_id=chosen, call_id="another")
    assert taken.error_code == "CALL_KEY_REUSED"
    assert taken.metadata.execution_id != chosen


async def test_a_function_that_is_not_there_is_named(line: Executor) -> None:
    """A definition whose module holds no such function is told so, and no traceback is needed."""
    registry = Registry()
    source = {"python": "runtime.rights_tools:no_such_function"}
    registry.register(
        {"name": "lost", "description": "Lost.", "source": source, "side_effects": ["none"]}
    )
    line.setting = replace(line.setting, find=registry.callable_tool)
    result = await call(line, "lost", {})
    assert (result.error_code, result.effects_state) == ("TOOL_NOT_LOADED", EffectsState.NONE)
    assert "no_such_function" in (result.error_message or "")


# --- observers --------------------------------------------------------------------------------


async def test_not_even_an_exit_of_an_observer_ends_a_call(line: Executor) -> None:
    """What an observer raises to leave stays its own; the next one is told all the same."""
    told: list[Event] = []

    def exits(_: Event) -> NoReturn:
        raise SystemExit(3)

    def gives_up(_: Event) -> NoReturn:
        raise asyncio.CancelledError

    line.observers = (exits, gives_up, told.append)
    result = await call(line, "coded", {"code": "MINE"})
    assert result.error_code == "MINE"
    assert len(told) == 1


async def test_a_no_is_told(line: Executor, work: Path) -> None:
    """Waiting and its end are two events, a person's no among them; a yes is told as well."""
    told: list[Event] = []
    line.observers = (told.append,)
    for answer in ("no", "yes"):
        waits = await call(line, "save", {"path": answer, "text": "x"})
        if answer == "no":
            await approvals.deny(line, waits.metadata.execution_id, ME)
        else:
            await approvals.approve(line, waits.metadata.execution_id, ME)
    assert len({event.event_id for event in told}) == len(told)
    assert [event.sequence for event in told] == [1, 2, 3, 4]
    asked, ended = "ConfirmationRequested", "ToolCompleted"
    assert [event.type for event in told] == [asked, ended, asked, ended]
    assert [event.fields["status"] for event in told] == [
        "requires_confirmation",
        "permission_denied",
        "requires_confirmation",
        "success",
    ]


# --- codes and checks -------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["ACODE_TSR_002", "LIMIT_MEMORY", "LIMIT_CPU", "TOOL_EXCEPTION"])
async def test_a_tools_code_is_none_of_the_lines(line: Executor, code: str) -> None:
    """A tool that fails cannot say that its arguments were wrong, or that it was limited."""
    assert (await call(line, "coded", {"code": code})).error_code == "TOOL_ERROR"
    assert (await call(line, "coded", {"code": "LIMITED"})).error_code == "LIMITED"


@pytest.mark.parametrize("version", ["bogus!!", "^^1", "1..2", ">", "x" * 64, "1 2"])
async def test_what_is_no_range_is_said_to_be_none(line: Executor, version: str) -> None:
    """It is the request that is wrong, not the tool's name; a range that nothing is in finds
    nothing, and `latest` finds the tool."""
    result = await call(line, "coded", {"code": "MINE"}, version=version)
    assert (result.status, result.error_code) == (Status.VALIDATION_ERROR, "INVALID_REQUEST")
    none = await call(line, "coded", {"code": "MINE"}, version=">=99")
    assert none.status is Status.TOOL_NOT_FOUND
    found = await call(line, "coded", {"code": "MINE"}, version="latest")
    assert found.error_code != "INVALID_REQUEST"


async def test_a_call_may_name_its_range_with_the_tool(line: Executor) -> None:
    """`name@range` is name and range: the call that is stored has each in its place. A range that
    is none is the request's fault, and so is one that is said twice."""
    same = await call(line, "coded@*", {"code": "MINE"})
    assert (same.error_code, same.input.tool) == ("MINE", "coded")
    none = await call(line, "coded@>=99", {"code": "MINE"})
    assert none.status is Status.TOOL_NOT_FOUND
    assert (none.input.tool, none.input.version) == ("coded", ">=99")
    for wrong in ({"tool": "coded@^^1"}, {"tool": "coded@"}, {"tool": "coded@*", "version": "*"}):
        refused = await call(line, wrong.pop("tool"), {"code": "MINE"}, **wrong)
        assert refused.error_code == "INVALID_REQUEST"


async def test_the_lines_own_checks_are_counted_and_logged(
    line: Executor, registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """A call's arguments are counted like those of `registry.check`: by tool, outcome and code,
    with a warning where they do not fit that holds nothing of them."""
    line.setting = replace(line.setting, checking=registry.metered)
    await call(line, "coded", {"code": "MINE"})
    await call(line, "coded", {"code": 5})
    name = "tools.registry.validations"
    readings = registry.readings
    assert readings.total(name, tool="coded", outcome="valid") == 1
    assert readings.total(name, tool="coded", outcome="invalid", code="ACODE-TSR-004") == 1
    assert readings.timers["tools.registry.validation.duration"].count == 2
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert any("name=coded codes=ACODE-TSR-004" in warning for warning in warnings)


# --- in a runtime ----------------------------------------------------------------------------


def _runtime(folder: Path, **more: Any) -> Runtime:
    (folder / "work").mkdir(exist_ok=True)
    grants = {"fs_read": [str(folder / "work")], "fs_write": [str(folder / "work")]}
    settings = {"store": "memory:", "grants": grants}
    return Runtime(rights_tools.ALL, settings=settings, **more)


async def test_a_cut_output_has_no_value(tmp_path: Path) -> None:
    """Of a list that is too long the output is a preview, as text, which nobody may take for the
    list: there is no value then. A short one has its type."""
    async with _runtime(tmp_path) as rt:
        short = await rt.call(rights_tools.long_list, items=2)
        assert short.value == ["\\", "\\"]
        long = await rt.call(rights_tools.long_list, items=900)
        assert long.ok
        assert long.metadata.output_truncated
        assert isinstance(long.output, str)
        assert long.value is None


async def test_a_callers_preview_is_of_its_own_tenant(tmp_path: Path) -> None:
    """Previewed, looked at and committed as one tenant; another cannot answer for it."""
    async with _runtime(tmp_path) as rt:
        target = tmp_path / "work" / "a"
        staged = await rt.as_(tenant="acme").preview("save", {"path": str(target), "text": "x"})
        assert "+x" in staged.diff()
        with pytest.raises(NotWaiting):
            await rt.approve(staged.result.execution_id, by=Caller(tenant="local"))
        assert (await staged.commit()).ok
        again = {"path": str(target), "text": "y"}
        async with await rt.as_(tenant="acme").preview("save", again):
            pass
        assert target.read_text(encoding="utf-8") == "x"


async def test_a_runtime_tells_its_observers(tmp_path: Path) -> None:
    """Those given to it hear of every call; and its own .agent is masked, whatever is granted."""
    told: list[Event] = []
    (tmp_path / ".agent").mkdir()
    config = tmp_path / ".agent" / "config.yml"
    config.write_text("store: 'memory:'\ngrants: {fs_read: ['.']}\n", encoding="utf-8")
    (tmp_path / "a").write_text("text", encoding="utf-8")
    async with Runtime(rights_tools.ALL, settings=config, observers=(told.append,)) as rt:
        assert (await rt.call("read", path="a")).value == "text"
        denied = await rt.call("read", path=".agent/config.yml")
        assert "masked" in (denied.error_message or "")
        assert rt.registry.readings.total("tools.registry.validations", tool="read") == 2
    assert [event.fields["status"] for event in told] == ["success", "permission_denied"]


async def test_what_is_recovered_is_told(tmp_path: Path) -> None:
    """A call that its executor left running is ended when a runtime opens the store, and that is
    an ending like any other; the next runtime finds nothing to end."""
    database = tmp_path / "calls.db"
    store = SqliteStore(database)
    left = Call(tool="coded", arguments={}, caller=Caller(), execution_id=uuid7())
    record = CallRecord(
        execution_id=left.execution_id,
        key=left.key,
        state=CallState.RUNNING,
        request_digest=left.request_digest,
        request=stored(left),
        tool="coded",
        decision=msgspec.json.encode(Decision(verdict=Verdict.ALLOW, reasons=())),
        owner=store.owner,
        epoch=store.epoch,
    )
    assert await store.claim(record) is None
    await store.close()
    told: list[Event] = []
    settings = {"store": f"sqlite:///{database}"}
    for _ in range(2):
        async with Runtime(rights_tools.ALL, settings=settings, observers=(told.append,)):
            pass
    assert [event.fields["execution_id"] for event in told] == [left.execution_id]
