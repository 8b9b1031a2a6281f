"""Hostile tools, callers and moments against the whole line, with real processes and stores."""

from __future__ import annotations

import asyncio
import json
import math
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from runtime import attack_tools
from runtime.watching import until_claimed
from toolstile.app import Runtime
from toolstile.authoring.portable import SourceFinder, SourceLoader
from toolstile.effects.files import FileEffects
from toolstile.errors import NotWaiting, StoreUnavailable
from toolstile.model.call import Caller, CallKey, uuid7
from toolstile.model.capability import granted
from toolstile.model.decision import Approval
from toolstile.model.effect import Conflict, Manifest
from toolstile.model.record import CallRecord, CallState
from toolstile.model.result import ToolResult
from toolstile.model.vocabulary import EffectsState, Status
from toolstile.registry.registry import Registry
from toolstile.runtime import approvals
from toolstile.runtime.executor import Executor
from toolstile.runtime.fingerprint import fingerprint
from toolstile.runtime.records import decoded
from toolstile.runtime.request import Request
from toolstile.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio
ME = Caller(user="me")


@pytest.fixture
def registry() -> Registry:
    """The hostile tools."""
    made = Registry()
    for each in attack_tools.ALL:
        made.register(each)
    return made


async def call(line: Executor, tool: str, arguments: Any, **about: Any) -> ToolResult:
    """One call; its result must survive the JSON round trip exactly."""
    result = await line.call(Request(tool=tool, arguments=arguments, **about))
    assert ToolResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result
    return result


def names(folder: Path) -> list[str]:
    """What lies in a folder; nothing where there is none."""
    return sorted(os.listdir(folder)) if folder.exists() else []  # noqa: PTH208 - names


def stages(line: Executor) -> Path:
    """Where the line's runs stage their writes."""
    assert isinstance(line.effects, FileEffects)
    return line.effects._directory


def open_files() -> int:
    """How many descriptors this process has."""
    return len(names(Path("/proc/self/fd")))


def has_children() -> bool:
    """Is there a child of this process, running or a zombie?"""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def lives(process: str) -> bool:
    """Does a process run? A zombie that nobody has collected does not."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return stat.split()[2] != "Z"


def wait_for(true: Callable[[], bool]) -> None:
    """Wait for another process to do something, at most 20 seconds."""
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


# --- what a child may say -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "length"),
    [
        ("garbage", None),
        ("[]", None),
        ("{}", None),
        ('{"call": 1}', 2**32 - 1),
        ('{"outcome": 5}', None),
        ('{"outcome": {"ending": "splendid"}}', None),
        ('{"outcome": {"ending": "value", "staged": 1}}', None),
        ('{"outcome": {"ending": "unfit"}}', None),
        ('{"outcome": {"ending": "timeout"}}', None),
        ('{"outcome": {"ending": "cancelled"}}', None),
        ('{"outcome": {"ending": "violation"}}', None),
        ("{" + '"a":{' * 5000, None),
    ],
)
async def test_no_forged_message_is_more_than_a_crash(
    line: Executor, body: str, length: int | None
) -> None:
    """How a run was stopped is for the host to say; a tool that ran cannot say it did not."""
    result = await call(line, "frame", {"body": body, "length": length})
    assert (result.status, result.error_code) == (Status.FAILED, "OUTCOME_UNKNOWN")


async def test_an_honest_message_is_believed(line: Executor) -> None:
    """The control for the forged ones; where it ran and by which means the host says itself."""
    body = '{"outcome": {"ending": "value", "value": "v", "sandbox_id": "vm", "mechanism": ["vm"]}}'
    result = await call(line, "frame", {"body": body})
    assert result.output == "v"
    assert result.metadata.sandbox_id is None
    assert result.metadata.isolation is not None
    assert "vm" not in result.metadata.isolation.mechanism


@pytest.mark.parametrize(
    "code",
    [
        "RECORD_UNAVAILABLE",
        "REQUIRES_CONFIRMATION",
        "CALL_IN_FLIGHT",
        "TIMEOUT",
        "",
        "a\nb",
        "X" * 99,
    ],
)
async def test_a_tool_cannot_speak_for_its_host(line: Executor, code: str) -> None:
    """Codes that say what the host knows are not for tools; their own are."""
    assert (await call(line, "coded", {"code": code})).error_code == "TOOL_ERROR"
    assert (await call(line, "coded", {"code": "MINE"})).error_code == "MINE"


@pytest.mark.parametrize("levels", [100, 900, 100_000])
async def test_a_deep_value_ends_its_own_call_only(line: Executor, levels: int) -> None:
    """Whatever it is answered, the call ends, is recorded, and the next one works."""
    result = await call(line, "deep", {"levels": levels})
    assert result.status in (Status.SUCCESS, Status.FAILED, Status.OUTPUT_VALIDATION_FAILED)
    assert await line.store.get("local", result.metadata.execution_id) is not None
    assert (await call(line, "coded", {"code": "MINE"})).error_code == "MINE"


@pytest.mark.parametrize(
    "entry",
    [
        {"path": "/etc/x", "file": "000000", "base": None},
        {"path": "{work}/../x", "file": "000000", "base": None},
        {"path": "{work}/other", "file": "000000", "base": None},
        {"path": "{work}/a\u0000", "file": "000000", "base": None},
        {"path": "relative", "file": "000000", "base": None},
        {"path": "{work}/a", "file": "../../state/toolstile.db", "base": None},
        {"path": "{work}/a", "file": "..", "base": None},
        {"path": "{work}/a", "file": "000000", "base": None},
    ],
)
async def test_a_forged_list_of_writes_changes_nothing(
    line: Executor, work: Path, entry: dict[str, Any]
) -> None:
    """Paths that were not named, names that lead out of the stage, files that are not there."""
    entry = {**entry, "path": entry["path"].replace("{work}", str(work))}
    result = await call(line, "forge", {"path": "a", "staged": json.dumps([entry])})
    assert result.status in (Status.FAILED, Status.SECURITY_VIOLATION)
    assert names(work) == []
    assert "x" not in names(Path("/etc"))


async def test_a_linked_stage_file_gives_nothing_away(
    line: Executor, work: Path, tmp_path: Path
) -> None:
    """The diff, the result and the target show nothing of the file behind the link."""
    secret = tmp_path / "shadow"
    secret.write_text("root:secret", encoding="utf-8")
    secret.chmod(0o640)
    result = await call(line, "linked", {"path": "a", "to": str(secret)})
    assert result.status is Status.FAILED
    assert "root:secret" not in json.dumps(result.to_dict())
    assert secret.stat().st_mode & 0o777 == 0o640
    assert names(work) == []


async def test_a_stage_altered_after_sealing_is_never_applied(line: Executor, work: Path) -> None:
    """A process that outlived its run rewrites the staged file: the approval finds a conflict."""
    waits = await call(line, "altered", {"path": "a", "seconds": 1.0})
    assert waits.status is Status.REQUIRES_CONFIRMATION
    (file,) = (stages(line) / waits.metadata.execution_id).iterdir()
    wait_for(lambda: file.read_text(encoding="utf-8") == "evil")
    done = await approvals.approve(line, waits.metadata.execution_id, ME)
    assert done.error_code == "EFFECT_CONFLICT"
    assert names(work) == []


async def test_staged_files_are_not_confused(line: Executor, work: Path) -> None:
    """A file that is staged after another was forgotten does not take a third one's place."""
    waits = await call(line, "twice", {"first": "1", "second": "2", "third": "3"})
    done = await approvals.approve(line, waits.metadata.execution_id, ME)
    assert done.status is Status.SUCCESS
    found = {name: (work / name).read_text(encoding="utf-8") for name in names(work)}
    assert found == {"2": "two", "3": "three"}


async def test_a_flood_of_questions_fills_no_memory(line: Executor) -> None:
    """A child that reads no answers is made to wait, and its call ends in time."""
    before = _peak_kib()
    result = await call(line, "flood", {"seconds": 4.0}, timeout=3.0)
    assert result.status in (Status.TIMEOUT, Status.FAILED)
    assert _peak_kib() - before < 16 * 1024


def _peak_kib() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0])


@pytest.mark.parametrize("how", ["half", "deep", "endless", "raised", "told", "whole"])
async def test_what_cannot_be_sent_is_the_tools_failure(
    line: Executor, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    """Half a surrogate pair or digits without end, wherever they stand, end in a failed call that
    says so in the log: its process has not died, and nothing about it is unknown."""
    result = await call(line, "unsendable", {"how": how})
    if how == "whole":
        assert result.output == "fine"
    else:
        assert (result.status, result.error_code) == (Status.FAILED, "TOOL_EXCEPTION")
        assert result.metadata.execution_id in caplog.text


async def test_a_tool_hears_that_its_caller_has_given_up(line: Executor, tmp_path: Path) -> None:
    """A tool that only asks whether it is cancelled, and nothing else of its host, ends early."""
    begun, heard = tmp_path / "begun", tmp_path / "heard"
    arguments = {"begun": str(begun), "heard": str(heard)}
    request = Request(tool="listens", arguments=arguments, execution_id=(identity := uuid7()))
    task = asyncio.ensure_future(line.call(request))
    await asyncio.to_thread(wait_for, begun.exists)
    assert line.cancel("local", identity)
    assert (await task).status is Status.CANCELLED
    assert heard.exists()


@pytest.mark.parametrize(("seconds", "code"), [(0.0, None), (20.0, "LIMIT_CPU")])
async def test_a_tool_that_uses_up_its_processor_time_is_told_so(
    line: Executor, seconds: float, code: str | None
) -> None:
    """The kernel ends it, and the result names the bound to raise; who uses less is answered."""
    result = await call(line, "spins", {"seconds": seconds})
    assert result.error_code == code
    assert result.status is (Status.RESOURCE_LIMIT_EXCEEDED if code else Status.SUCCESS)


# --- what a child is given, and what it leaves ----------------------------------------------


async def test_a_child_is_given_nothing_of_the_hosts(
    line: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No environment, no open file, no directory of the host reaches it."""
    monkeypatch.setenv("API_KEY", "secret")
    descriptor = os.open(__file__, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    result = await call(line, "inventory", {})
    os.close(descriptor)
    given = json.loads(result.output)
    assert set(given["environment"]) <= {"PATH", "LANG", "LC_CTYPE", "PYTHONDONTWRITEBYTECODE"}
    assert set(given["descriptors"]) <= {"/dev/null", "socket"}
    assert given["place"] == "/"


async def test_many_calls_leave_nothing_behind(line: Executor) -> None:
    """No descriptor, no process, no stage stays after forty calls."""
    await call(line, "inventory", {})
    before = open_files()
    for _ in range(10):
        await asyncio.gather(*(call(line, "inventory", {}) for _ in range(4)))
    await asyncio.sleep(0)
    assert open_files() <= before
    assert names(stages(line)) == []
    assert not has_children()


async def test_processes_of_the_childs_group_end_with_it(line: Executor, tmp_path: Path) -> None:
    """A timeout ends what the tool started, too; what left the group by setsid lives on, which
    only the kernel's confinement can prevent."""
    pid_file = tmp_path / "pid"
    program = f"import os,time; open({str(pid_file)!r},'w').write(str(os.getpid())); time.sleep(60)"
    result = await call(line, "children", {"program": program}, timeout=2.0)
    assert result.status is Status.TIMEOUT
    if pid_file.exists():
        wait_for(lambda: not lives(pid_file.read_text(encoding="ascii")))


# --- what a caller may say ------------------------------------------------------------------


@pytest.mark.parametrize(
    "about",
    [
        {"timeout": 0},
        {"timeout": -1.0},
        {"timeout": math.nan},
        {"timeout": math.inf},
        {"timeout": 1e300},
        {"timeout": "5"},
        {"timeout": True},
        {"isolation": "none"},
        {"isolation": "paranoid"},
        {"isolation": 5},
        {"version": "\ud800"},
        {"version": "^" * 5000},
        {"version": 5},
        {"call_id": ""},
        {"call_id": "\ud800"},
        {"call_id": "a\x1fb"},
        {"call_id": "a\u202eb"},
        {"call_id": 5},
        {"call_id": "x" * 10_000_000},
        {"correlation_id": "\ud800"},
        {"execution_id": "../../../../tmp/x"},
        {"execution_id": ".."},
        {"execution_id": ""},
        {"execution_id": "018F0000-0000-7000-8000-000000000001"},
        {"preview": "yes"},
    ],
)
async def test_what_is_said_about_a_call_is_checked(line: Executor, about: dict[str, Any]) -> None:
    """Anything but its one form is refused before anything runs; the refusal can be recorded."""
    result = await call(line, "inventory", {}, **about)
    assert (result.status, result.error_code) == (Status.VALIDATION_ERROR, "INVALID_REQUEST")
    assert await line.store.get("local", result.metadata.execution_id) is not None


@pytest.mark.parametrize("version", ["^^1", "1..2", ">", "x" * 64])
async def test_a_malformed_range_finds_no_tool(line: Executor, version: str) -> None:
    """It is the caller's fault and said so: no error of ours, and nothing runs."""
    result = await call(line, "inventory", {}, version=version)
    assert result.status in (Status.TOOL_NOT_FOUND, Status.VALIDATION_ERROR)


@pytest.mark.parametrize("name", ["", "\ud800", "x" * 1_000_000, "a\nb", "\u202einventory"])
async def test_any_tool_name_can_be_refused(line: Executor, name: str) -> None:
    """A model's invented name is answered and recorded, whatever it is made of."""
    result = await call(line, name, {})
    assert result.status in (Status.TOOL_NOT_FOUND, Status.VALIDATION_ERROR)
    assert len(json.dumps(result.to_dict())) < 10_000


@pytest.mark.parametrize("level", ["strict", "restricted"])
async def test_isolation_is_reached_or_nothing_runs(line: Executor, level: str) -> None:
    """A plain process is no strict sandbox, whoever asked for one."""
    result = await call(line, "inventory", {}, isolation=level)
    assert (result.status, result.output) == (Status.SANDBOX_ERROR, None)
    result = await call(line, "strict", {})
    assert (result.status, result.effects_state) == (Status.SANDBOX_ERROR, EffectsState.NONE)
    assert (await call(line, "inventory", {}, isolation="standard")).is_success


@pytest.mark.parametrize("name", ["a\x1fb", "a\u202eb", "\ud800", "", " a", "x" * 65, "a\u200bb"])
def test_no_caller_has_an_invisible_name(name: str) -> None:
    """Separators, reading directions and invisible letters cannot forge a principal."""
    for field in ("agent", "user", "session", "tenant"):
        with pytest.raises(ValueError, match="must"):
            Caller(**{field: name})
    assert Caller(agent="a").principal != Caller(user="a").principal


async def test_an_execution_id_is_used_once(line: Executor, work: Path) -> None:
    """Another call under the id of a waiting one neither runs nor touches it."""
    waits = await call(line, "save", {"path": "a", "text": "x"})
    taken = waits.metadata.execution_id
    result = await call(line, "inventory", {}, execution_id=taken, call_id="another")
    assert result.error_code == "CALL_KEY_REUSED"
    await call(line, "inventory", "{", execution_id=taken, caller=Caller(agent="mallory"))
    done = await approvals.approve(line, taken, ME)
    assert done.status is Status.SUCCESS
    assert (work / "a").read_text(encoding="utf-8") == "x"


# --- approvals ------------------------------------------------------------------------------


def _marks(witness: Path) -> int:
    return len(witness.read_bytes()) if witness.exists() else 0


def _opened(line: Executor) -> None:
    """Let the asked tool have its rights: nobody enforces them here."""
    grants = (*line.setting.grants, granted("net_write", ["any"]))
    line.setting = replace(
        line.setting, grants=grants, unenforced_accepted_at_own_risk=frozenset(("net_write",))
    )


async def test_a_yes_is_for_one_execution(line: Executor, tmp_path: Path) -> None:
    """The very approval object of one call does not let its twin run, nor itself again."""
    _opened(line)
    witness = tmp_path / "witness"
    first = await call(line, "asks", {"witness": str(witness)})
    second = await call(line, "asks", {"witness": str(witness)})
    assert first.error_code == second.error_code == "REQUIRES_CONFIRMATION"
    seen = await approvals.waiting(line, "local", first.metadata.execution_id)
    approval = Approval(
        execution_id=first.metadata.execution_id,
        digest=seen.digest,
        tenant="local",
        principal=Caller().principal,
        approver="me",
        expires_at="9999-01-01T00:00:00.000Z",
    )
    stolen = Request(
        tool="asks",
        arguments={"witness": str(witness)},
        execution_id=second.metadata.execution_id,
        call_id=second.metadata.call_id,
        approval=approval,
    )
    for forged in (
        stolen,
        replace(stolen, execution_id=uuid7()),
        replace(stolen, execution_id=None, call_id="new"),
        replace(stolen, approval=replace(approval, tenant="other")),
        replace(stolen, caller=Caller(agent="mallory")),
    ):
        result = await line.call(forged)
        assert result.error_code == "APPROVAL_MISMATCH"
    assert _marks(witness) == 0
    fitting = replace(stolen, execution_id=first.metadata.execution_id)
    assert (await line.call(fitting)).is_success
    assert (await line.call(fitting)).error_code == "CALL_IN_FLIGHT"
    assert _marks(witness) == 1


async def test_an_expired_yes_is_none(line: Executor, tmp_path: Path) -> None:
    """After its expiry nothing runs, and the call still waits for a fresh answer."""
    _opened(line)
    witness = tmp_path / "witness"
    waits = await call(line, "asks", {"witness": str(witness)})
    identity = waits.metadata.execution_id
    approval = Approval(
        execution_id=identity,
        digest=(await approvals.waiting(line, "local", identity)).digest,
        tenant="local",
        principal=Caller().principal,
        approver="me",
        expires_at="2020-01-01T00:00:00.000Z",
    )
    request = Request(
        tool="asks",
        arguments={"witness": str(witness)},
        execution_id=identity,
        approval=approval,
    )
    assert (await line.call(request)).error_code == "APPROVAL_MISMATCH"
    assert _marks(witness) == 0
    assert (await approvals.approve(line, identity, ME)).is_success
    assert _marks(witness) == 1


async def test_a_refused_answer_leaves_the_call_waiting(line: Executor, work: Path) -> None:
    """A yes to something else, another tenant's yes, a missing tool: the call waits on."""
    waits = await call(line, "save", {"path": "a", "text": "x"}, call_id="c")
    identity = waits.metadata.execution_id
    wrong = "sha256:" + "0" * 64
    refused = await approvals.approve(line, identity, ME, seen=wrong)
    assert refused.error_code == "APPROVAL_MISMATCH"
    with pytest.raises(NotWaiting):
        await approvals.approve(line, identity, Caller(tenant="other"))
    setting = line.setting
    line.setting = replace(setting, find=Registry().callable_tool)
    assert (await approvals.approve(line, identity, ME)).status is Status.TOOL_NOT_FOUND
    line.setting = replace(setting, grants=(*setting.grants, granted("net_read", ["any"])))
    assert (await approvals.approve(line, identity, ME)).error_code == "APPROVAL_MISMATCH"
    line.setting = setting
    again = await call(line, "save", {"path": "a", "text": "x"}, call_id="c")
    assert (again.status, again.replayed) == (Status.REQUIRES_CONFIRMATION, True)
    assert (await approvals.approve(line, identity, ME)).is_success
    assert (work / "a").exists()


async def test_yes_and_no_at_once(line: Executor, tmp_path: Path) -> None:
    """Of many answers to one call at once exactly one counts."""
    _opened(line)
    for round_ in range(10):
        witness = tmp_path / f"w{round_}"
        waits = await call(line, "asks", {"witness": str(witness)})
        identity = waits.metadata.execution_id
        tasks = [asyncio.ensure_future(approvals.approve(line, identity, ME)) for _ in range(3)]
        await asyncio.sleep(0)
        try:
            await approvals.deny(line, identity, ME)
            denied = True
        except NotWaiting:
            denied = False
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        ran = [a for a in answers if isinstance(a, ToolResult) and a.is_success]
        assert len(ran) == _marks(witness) == (0 if denied else 1)


RACER = """
import asyncio, json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from crash import crash_tools
from crash.crash_driver import executor
from toolstile.model.call import Caller
from toolstile.runtime import approvals
from toolstile.errors import NotWaiting
line = asyncio.run(executor(Path(sys.argv[2])))
print("ready", flush=True)
for waiting in sys.stdin:
    try:
        done = asyncio.run(approvals.approve(line, waiting.strip(), Caller(user="me")))
        print(done.error_code or "SUCCESS", flush=True)
    except NotWaiting:
        print("NOT_WAITING", flush=True)
"""


def _line_of(racer: subprocess.Popen[str]) -> str:
    assert racer.stdout is not None
    return racer.stdout.readline().strip()


def test_two_processes_approve_at_once(tmp_path: Path) -> None:
    """Fifty rounds of two processes that both say yes to one call: one execution each."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from crash.crash_driver import executor  # noqa: PLC0415 - found by the path above

    (tmp_path / "work").mkdir()
    line = asyncio.run(executor(tmp_path))
    arguments = [sys.executable, "-c", RACER, str(Path(__file__).parents[1]), str(tmp_path)]
    racers = [
        subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        for _ in range(2)
    ]
    try:
        assert {_line_of(racer) for racer in racers} == {"ready"}
        for round_ in range(50):
            request = Request(tool="note", arguments={"path": f"n{round_}", "text": "x"})
            waits = asyncio.run(line.call(request))
            for racer in racers:
                assert racer.stdin is not None
                racer.stdin.write(waits.metadata.execution_id + "\n")
                racer.stdin.flush()
            said = sorted(_line_of(racer) for racer in racers)
            assert said.count("SUCCESS") == 1, said
            assert set(said) <= {"SUCCESS", "NOT_WAITING", "CALL_IN_FLIGHT"}
    finally:
        for racer in racers:
            racer.communicate()
        asyncio.run(line.store.close())


# --- when the store fails -------------------------------------------------------------------


def _locked(path: Path) -> sqlite3.Connection:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return other


async def test_without_a_record_nothing_runs(line: Executor, tmp_path: Path) -> None:
    """A locked or closed store at the claim: nothing runs, and the result says so."""
    if not isinstance(line.store, SqliteStore):
        pytest.skip("memory is never locked")
    _opened(line)
    line.store._connection.execute("PRAGMA busy_timeout = 50")
    witness = tmp_path / "witness"
    other = _locked(tmp_path / "state" / "toolstile.db")
    result = await call(line, "asks", {"witness": str(witness)})
    assert result.error_code == "RECORD_UNAVAILABLE"
    result = await call(line, "inventory", {})
    assert (result.error_code, result.effects_state) == ("RECORD_UNAVAILABLE", EffectsState.NONE)
    assert not names(stages(line))
    other.execute("ROLLBACK")
    assert (await call(line, "inventory", {})).is_success


async def test_a_result_that_cannot_be_stored_is_not_called_a_success(
    line: Executor, tmp_path: Path
) -> None:
    """It ran, nobody recorded how it ended: unknown, and the same call id does not run again. As
    soon as the store takes anything again it has the end, which is what is answered then."""
    if not isinstance(line.store, SqliteStore):
        pytest.skip("memory is never locked")
    line.store._connection.execute("PRAGMA busy_timeout = 50")
    arguments, identity = {"program": ""}, uuid7()
    task = asyncio.ensure_future(
        call(line, "children", arguments, timeout=1.0, call_id="c", execution_id=identity)
    )
    await until_claimed(line, identity)
    other = _locked(tmp_path / "state" / "toolstile.db")
    result = await task
    assert result.error_code == "OUTCOME_UNKNOWN"
    assert result.effects_state is EffectsState.UNKNOWN
    refused = await call(line, "children", {"program": ""}, timeout=1.0, call_id="c")
    assert refused.error_code in ("CALL_IN_FLIGHT", "RECORD_UNAVAILABLE")
    other.execute("ROLLBACK")
    again = await call(line, "children", {"program": ""}, timeout=1.0, call_id="c")
    assert (again.status, again.replayed) == (Status.TIMEOUT, True)
    assert again.metadata.execution_id == result.metadata.execution_id
    assert names(stages(line)) == []


async def test_a_call_that_was_taken_over_is_no_success(line: Executor, tmp_path: Path) -> None:
    """The lease file is deleted by hand while its owner lives: whoever recovers has the last
    word, and the slow owner does not contradict the record."""
    if not isinstance(line.store, SqliteStore):
        pytest.skip("memory is never taken over")
    arguments, identity = {"body": '{"outcome":{"ending":"value"}}'}, uuid7()
    task = asyncio.ensure_future(call(line, "frame", arguments, execution_id=identity))
    await until_claimed(line, identity)
    for lease in (tmp_path / "state" / "toolstile.db.leases").iterdir():
        lease.unlink()
    other = SqliteStore(tmp_path / "state" / "toolstile.db")
    (taken,) = await other.abandoned()
    result = await task
    assert result.error_code == "OUTCOME_UNKNOWN"
    stored = await other.get("local", result.metadata.execution_id)
    assert stored is not None
    assert (stored.state, stored.owner) == (CallState.RUNNING, taken.owner)
    await other.close()


# --- code, doors and tasks ------------------------------------------------------------------


def test_a_changed_package_is_another_tool(tmp_path: Path) -> None:
    """Importing a module runs its packages first, so they belong to what was approved."""
    package = tmp_path / "pack" / "inner"
    package.mkdir(parents=True)
    for file in (tmp_path / "pack" / "__init__.py", package / "__init__.py", package / "mod.py"):
        file.write_text("", encoding="utf-8")
    definition = msgspec.structs.replace(
        attack_tools.save.definition, source={"python": "pack.inner.mod:save"}
    )
    seen = {fingerprint(definition, None, [str(tmp_path)]).digest}
    for name in ("pack/__init__.py", "pack/inner/__init__.py", "pack/inner/mod.py"):
        (tmp_path / name).write_text("import os\n", encoding="utf-8")
        seen.add(fingerprint(definition, None, [str(tmp_path)]).digest)
    assert len(seen) == 4


async def test_a_cancelled_task_leaves_an_ended_call(line: Executor) -> None:
    """Cancelled at any turn of the event loop: whoever waited is told so at once, and the call
    has come to an end that is recorded; no stage and no descriptor stays."""
    await call(line, "inventory", {})
    before = open_files()
    ended: list[Status] = []
    for turns in (*range(1, 12), 20, 40, 80, 160, 320):
        request = Request(tool="inventory", arguments={}, execution_id=(identity := uuid7()))
        task = asyncio.ensure_future(line.call(request))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        record = await line.store.get("local", identity)
        assert record is not None
        assert record.state is CallState.DONE
        ended.append(Status(record.status))
    assert set(ended) == {Status.CANCELLED}
    assert open_files() <= before
    assert names(stages(line)) == []


async def test_closing_waits_for_every_call(line: Executor) -> None:
    """A line that is closed stops what runs; when it is closed everything is recorded."""
    tasks = [asyncio.ensure_future(call(line, "children", {"program": ""})) for _ in range(3)]
    for _ in range(50):
        await asyncio.sleep(0)
    await line.close()
    assert all(task.done() for task in tasks)
    stored = await line.store.history("local")
    assert [record.state for record in stored] == [CallState.DONE] * 3


def _runtime(folder: Path, **more: Any) -> Runtime:
    (folder / "work").mkdir(exist_ok=True)
    settings = {"store": "memory:", **more}
    return Runtime(tools=[attack_tools.coded], settings=settings)


def test_a_door_that_does_not_open_leaves_no_thread(tmp_path: Path) -> None:
    """Bad settings, a running loop, a door never entered: no thread and no loop stays."""
    before = threading.active_count()
    with pytest.raises(Exception, match="store"), _runtime(tmp_path, store="tape:").blocking():
        pass
    door = _runtime(tmp_path).blocking()

    async def inside() -> None:
        with pytest.raises(RuntimeError, match="event loop"):
            door.__enter__()

    asyncio.run(inside())
    with pytest.raises(RuntimeError, match="with"):
        door.call("coded", {"code": "MINE"})
    assert threading.active_count() == before


async def test_two_runtimes_in_one_process(tmp_path: Path) -> None:
    """Each has a lease of its own, and neither takes the other for dead."""
    settings = {"store": f"sqlite:///{tmp_path / 'shared.db'}"}
    tools = [attack_tools.coded]
    async with Runtime(tools, settings=settings) as one, Runtime(tools, settings=settings) as two:
        results = await asyncio.gather(
            *(rt.call("coded", {"code": "MINE"}) for rt in (one, two, one, two))
        )
        assert [r.error_code for r in results] == ["MINE"] * 4
        assert len(await one.results.history()) == 4


async def test_a_failed_commit_does_not_block_the_store(tmp_path: Path) -> None:
    """After an error in the middle of a transaction the next one begins afresh."""
    store = SqliteStore(tmp_path / "toolstile.db")
    store._connection.execute("PRAGMA max_page_count = 20")
    big = _record(store, b"x" * (1 << 20))
    with pytest.raises(StoreUnavailable):
        await store.claim(big)
    assert await store.claim(_record(store, b"small")) is None
    await store.close()


async def test_a_record_of_ten_megabytes_is_kept(tmp_path: Path) -> None:
    """Large outputs are stored whole."""
    store = SqliteStore(tmp_path / "toolstile.db")
    record = _record(store, os.urandom(10 << 20))
    assert await store.claim(record) is None
    assert await store.get("local", record.execution_id) == record
    await store.close()


def _record(store: SqliteStore, output: bytes) -> CallRecord:
    return CallRecord(
        execution_id=(identity := uuid7()),
        key=CallKey("local", "a", "s", identity),
        state=CallState.RUNNING,
        request_digest="",
        request=b"{}",
        tool="t",
        output=output,
        owner=store.owner,
        epoch=store.epoch,
    )


FINDER = """
import sys
from importlib.util import spec_from_file_location
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "elsewhere_tools":
            return spec_from_file_location(name, {file!r})
sys.meta_path.append(Finder)
"""


def test_a_module_that_only_a_finder_knows_has_a_fingerprint(tmp_path: Path) -> None:
    """Editable installs bring finders of their own: the file they name is covered, and loaded from
    its source, as that of any other module is."""
    file = tmp_path / "elsewhere_tools.py"
    file.write_text("def f(): return 1\n", encoding="utf-8")
    definition = msgspec.structs.replace(
        attack_tools.save.definition, source={"python": "elsewhere_tools:f"}
    )
    before = list(sys.meta_path)
    exec(FINDER.format(file=str(file)), {})
    try:
        first = fingerprint(definition, None, [])
        file.write_text("def f(): return 2\n", encoding="utf-8")
        assert first.strength == "weak"
        assert fingerprint(definition, None, []).digest != first.digest
        found = SourceFinder("elsewhere_tools").find_spec("elsewhere_tools", None)
        assert found is not None
        assert isinstance(found.loader, SourceLoader)
    finally:
        sys.meta_path[:] = before


async def test_a_keyword_that_two_could_mean_is_refused(tmp_path: Path) -> None:
    """A tool's parameter called like a keyword about the call is given in a mapping; where the
    tool has none of that name, the keyword is about the call."""
    async with Runtime(
        [attack_tools.clash, attack_tools.coded], settings={"store": "memory:"}
    ) as rt:
        with pytest.raises(TypeError, match="'timeout' is a parameter of clash"):
            await rt.call("clash", timeout=3)
        assert (await rt.call("clash", {"timeout": 3})).value == 3
        assert (await rt.call("coded", code="MINE", timeout=20)).error_code == "MINE"


async def test_a_value_that_its_own_class_refuses_stays_plain(tmp_path: Path) -> None:
    """A call that has succeeded never raises, even if the author's class does so on this side."""
    async with Runtime([attack_tools.picky], settings={"store": "memory:"}) as rt:
        os.environ["PICKY"] = "1"
        try:
            result = await rt.call("picky", {})
        finally:
            del os.environ["PICKY"]
        assert (result.ok, result.value) == (True, {"number": 1})


class _Slow(FileEffects):
    """File effects whose commit waits, in its thread, until it is let go."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.begun, self.let_go = threading.Event(), threading.Event()

    async def commit(self, manifest: Manifest) -> tuple[Conflict, ...]:
        await self._in_thread(self._wait)
        return await super().commit(manifest)

    def _wait(self) -> None:
        self.begun.set()
        assert self.let_go.wait(20)


async def test_nothing_denies_a_change_past_its_commit_point(
    line: Executor, work: Path, tmp_path: Path
) -> None:
    """Whatever is cancelled while a decided change is made, the record never says that it was not:
    the caller may go any time, and a loop that ends leaves it to recovery."""
    waits = await call(line, "save", {"path": "a", "text": "x"})
    line.effects = slow = _Slow(tmp_path / "staging")
    approving = asyncio.ensure_future(approvals.approve(line, waits.metadata.execution_id, ME))
    await asyncio.to_thread(slow.begun.wait, 20)
    approving.cancel()
    (walking,) = line._walking.values()
    walking.cancel()  # as `asyncio.run` does with all tasks when it ends
    await asyncio.gather(approving, return_exceptions=True)
    stored = await line.store.get("local", waits.metadata.execution_id)
    assert stored is not None
    assert stored.state is CallState.COMMITTING
    slow.let_go.set()
    slow.close()
    line.effects = FileEffects(tmp_path / "staging")
    await line.recover(stored)
    done = await line.store.get("local", waits.metadata.execution_id)
    assert done is not None
    assert decoded(done).effects_state is EffectsState.COMMITTED
    assert (work / "a").read_text(encoding="utf-8") == "x"


async def test_a_denial_is_told_whoever_waits_for_it(line: Executor, work: Path) -> None:
    """A caller that goes away in the middle of its no leaves no stage, and observers hear of it."""
    told: list[str] = []
    line.observers = (lambda event: told.append(event.type),)
    waits = await call(line, "save", {"path": "a", "text": "x"})
    denying = asyncio.ensure_future(approvals.deny(line, waits.metadata.execution_id, ME))
    for _ in range(4):
        await asyncio.sleep(0)
    denying.cancel()
    await asyncio.gather(denying, return_exceptions=True)
    stored = await line.store.get("local", waits.metadata.execution_id)
    assert stored is not None
    ended = stored.state is CallState.DONE
    assert told == ["ConfirmationRequested", *(["ToolCompleted"] if ended else [])]
    assert (names(stages(line)) == []) is ended


async def test_a_call_that_recovery_could_not_end_is_ended_when_asked_for(
    line: Executor, tmp_path: Path
) -> None:
    """Taken over from the dead and not ended, because the store failed then: whoever sends the
    call again finds it ended, and not in flight for ever."""
    if not isinstance(line.store, SqliteStore):
        pytest.skip("memory is never taken over")
    first = await call(line, "inventory", {}, call_id="k")
    stored = await line.store.get("local", first.metadata.execution_id)
    assert stored is not None
    left = replace(stored, state=CallState.RUNNING, result=b"")
    assert await line.store.advance(left, CallState.DONE)
    again = await call(line, "inventory", {}, call_id="k")
    assert (again.error_code, again.replayed) == ("OUTCOME_UNKNOWN", True)


async def test_one_call_that_cannot_be_recovered_hinders_no_other(
    line: Executor, tmp_path: Path
) -> None:
    """A record that this version does not understand is left as it is, with a line in the log."""
    first = await call(line, "inventory", {}, call_id="k")
    stored = await line.store.get("local", first.metadata.execution_id)
    assert stored is not None
    strange = replace(stored, state=CallState.RUNNING, side_effects=("gpu_use",))
    sound = replace(stored, state=CallState.RUNNING)
    await line.store.advance(sound, CallState.DONE)
    await line.recover(strange, sound)
    ended = await line.store.get("local", first.metadata.execution_id)
    assert ended is not None
    assert ended.state is CallState.DONE


async def test_a_staged_file_has_a_largest_size(line: Executor, work: Path) -> None:
    """One that pretends to be of terabytes is refused at once, and keeps nobody waiting."""
    result = await call(line, "sparse", {"path": "a"})
    assert (result.error_code, result.effects_state) == ("LIMIT_DISK", EffectsState.DISCARDED)
    assert not (work / "a").exists()
