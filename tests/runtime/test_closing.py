"""However a host ends, no tool of its goes on behind its back."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from runtime import attack_tools
from toolstile.app import Runtime, staging_of
from toolstile.model.vocabulary import EffectsState, Status
from toolstile.settings import load_settings

HERE = Path(__file__)


def wait_for(seen: Callable[[], bool]) -> None:
    """Wait until it is so, ten seconds at most."""
    end = time.monotonic() + 10
    while not seen():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def lives(pid_file: Path) -> bool:
    """Is the process there, and no zombie?"""
    status = Path("/proc", pid_file.read_text(encoding="ascii"), "stat")
    return status.exists() and status.read_text(encoding="ascii").rpartition(")")[2][1] != "Z"


def opened(folder: Path, **more: Any) -> Runtime:
    """A runtime over the folder's store."""
    settings = {"store": f"sqlite:///{folder / 'calls.db'}", **more}
    return Runtime(tools=[attack_tools.waits, attack_tools.hogs], settings=settings)


def interrupted(pid_file: Path) -> None:
    """Press Ctrl-C once the tool runs."""

    def press() -> None:
        wait_for(pid_file.exists)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()


def test_an_interrupt_ends_the_tool_and_is_recorded(tmp_path: Path) -> None:
    """Ctrl-C at the blocking door: its tool is gone when the door is closed, and the call has
    ended as cancelled, not as one that somebody has to clear up after."""
    pid_file = tmp_path / "pid"
    interrupted(pid_file)
    with pytest.raises(KeyboardInterrupt), opened(tmp_path).blocking() as rt:
        rt.call("waits", {"pid_file": str(pid_file)})
    assert not lives(pid_file)
    with opened(tmp_path).blocking() as rt:
        (call,) = rt.results.history()
    assert (call.status, call.error_code) == (Status.CANCELLED, "CANCELLED")


def test_closing_a_runtime_ends_what_still_runs(tmp_path: Path) -> None:
    """A call that nobody has waited for is stopped, recorded and answered when its door closes."""
    pid_file = tmp_path / "pid"

    async def leave_early() -> tuple[Status, EffectsState]:
        async with opened(tmp_path) as rt:
            call = asyncio.ensure_future(rt.call("waits", {"pid_file": str(pid_file)}))
            await asyncio.to_thread(wait_for, pid_file.exists)
        assert not lives(pid_file)
        result = await call
        async with opened(tmp_path) as rt:
            (stored,) = await rt.results.history()
        assert stored.status is result.status
        return result.status, result.effects_state

    assert asyncio.run(leave_early()) == (Status.CANCELLED, EffectsState.NONE)


def hosted(folder: Path, tool: str) -> tuple[subprocess.Popen[bytes], Path]:
    """Another process in which a call of this tool runs, and the file that names the tool's."""
    pid_file = folder / "pid"
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    command = [sys.executable, str(HERE), str(folder), tool, str(pid_file)]
    host = subprocess.Popen(command, env=environment)
    wait_for(pid_file.exists)
    assert lives(pid_file)
    return host, pid_file


@pytest.mark.parametrize("tool", ["waits", "hogs"])
def test_a_killed_host_takes_its_tools_with_it(tmp_path: Path, tool: str) -> None:
    """Nobody keeps the deadline of a tool whose host was killed, so it ends at once: the one that
    sleeps, and the one that lets no other thread of its process run."""
    host, pid_file = hosted(tmp_path, tool)
    host.kill()
    host.wait()
    wait_for(lambda: not lives(pid_file))


def test_the_crash_of_another_is_noticed_by_whoever_asks(tmp_path: Path) -> None:
    """A runtime that was open all the time answers a call that its own caller sends again: it is
    running while it is, and of unknown outcome or none once its host is dead."""
    with opened(tmp_path).blocking() as rt:
        host, pid_file = hosted(tmp_path, "waits")
        again = partial(rt.call, "waits", {"pid_file": str(pid_file)}, call_id="k")
        assert again().error_code == "CALL_IN_FLIGHT"
        host.kill()
        host.wait()
        ended = again()
        assert (ended.error_code, ended.replayed) == ("OUTCOME_UNKNOWN", True)
        assert ended.effects_state is EffectsState.NONE
        assert ended.record.input.version == "0.0.0+unversioned"
        assert not ended.metadata.effects_complete


def test_another_project_recovers_what_was_decided(tmp_path: Path) -> None:
    """Two projects that share a store share what its calls have staged, so whichever recovers a
    decided change can apply it."""
    store = f"sqlite:///{tmp_path / 'calls.db'}"
    places = {staging_of(load_settings({"store": store}, start=tmp_path / n)) for n in ("a", "b")}
    assert places == {Path(os.path.realpath(tmp_path)) / "calls.db.staging"}
    own = load_settings({}, start=tmp_path / "a")
    assert staging_of(own) == own.state / "toolstile.db.staging"


def test_nobody_waits_at_a_closed_door(tmp_path: Path) -> None:
    """Threads that call while the door is closed are answered or refused, and none hangs."""
    for _ in range(5):
        door = opened(tmp_path, store="memory:").blocking()
        ended: list[str] = []
        start = threading.Barrier(5)

        def knock(rt: Any, start: threading.Barrier, ended: list[str]) -> None:
            start.wait()
            try:
                while True:
                    ended.append(rt.call("no_such_tool", {}).status.word)
            except RuntimeError as error:
                ended.append(str(error))

        with door as rt:
            threads = [
                threading.Thread(target=knock, args=(rt, start, ended), daemon=True)
                for _ in range(4)
            ]
            for thread in threads:
                thread.start()
            start.wait()
        for thread in threads:
            thread.join(timeout=10)
            assert not thread.is_alive()
        assert sum("closed" in each for each in ended) == 4


def test_a_closed_runtime_runs_nothing(tmp_path: Path) -> None:
    """What is kept of it after its door is closed refuses, whatever the store."""
    witness = tmp_path / "pid"

    async def too_late() -> str | None:
        async with opened(tmp_path, store="memory:") as rt:
            me = rt.as_(agent="me")
            with pytest.raises(RuntimeError, match="open already"):
                await rt.__aenter__()
        result = await me.call("waits", {"pid_file": str(witness)})
        return result.error_code

    assert asyncio.run(too_late()) == "RECORD_UNAVAILABLE"
    assert not witness.exists()


if __name__ == "__main__":
    with opened(Path(sys.argv[1])).blocking() as runtime:
        runtime.call(sys.argv[2], {"pid_file": sys.argv[3]}, call_id="k")
