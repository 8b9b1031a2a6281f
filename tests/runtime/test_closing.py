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
from pathlib import Path

import pytest

from runtime import attack_tools
from toolstile.app import Runtime
from toolstile.model.vocabulary import EffectsState, Status

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


def opened(folder: Path) -> Runtime:
    """A runtime over the folder's store."""
    settings = {"store": f"sqlite:///{folder / 'calls.db'}"}
    return Runtime(tools=[attack_tools.waits], settings=settings)


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


def test_a_killed_host_takes_its_tools_with_it(tmp_path: Path) -> None:
    """Nobody keeps the deadline of a tool whose host was killed, so it ends at once."""
    pid_file = tmp_path / "pid"
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    command = [sys.executable, str(HERE), str(tmp_path), str(pid_file)]
    host = subprocess.Popen(command, env=environment)
    wait_for(pid_file.exists)
    assert lives(pid_file)
    host.kill()
    host.wait()
    wait_for(lambda: not lives(pid_file))


if __name__ == "__main__":
    with opened(Path(sys.argv[1])).blocking() as runtime:
        runtime.call("waits", {"pid_file": sys.argv[2]})
