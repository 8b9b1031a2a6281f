"""One process that makes a call and may die on the way: `crash_driver.py FOLDER MODE POINT WHEN`.

MODE is stamp, note or approve. POINT is a function of the line ("" = do not die), WHEN is "call"
(before it), "return" (after it) or "wait" (while it waits for the disk or a child). The process
kills itself with SIGKILL from a profile hook, so the product knows nothing of it. What was
acknowledged is printed, flushed, before the end.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from crash import crash_tools
from toolstile.effects.files import FileEffects
from toolstile.model.call import Caller
from toolstile.model.capability import granted
from toolstile.registry.registry import Registry
from toolstile.runtime import approvals
from toolstile.runtime.executor import Executor
from toolstile.runtime.request import Request
from toolstile.runtime.setting import Setting
from toolstile.sandbox.process import ChildProcess
from toolstile.store.sqlite import SqliteStore

CALL_ID = "the-one-call"


def arm(point: str, when: str) -> None:
    """Die at the given moment, once the recovery of earlier crashes is over."""

    def watch(frame: FrameType, event: str, given: Any) -> None:
        # A coroutine that waits leaves its frame, too; what it hands up then is no result.
        now = "wait" if event == "return" and asyncio.isfuture(given) else event
        if now == when and frame.f_code.co_name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    if point:
        threading.setprofile(watch)  # files are written in threads that start later
        sys.setprofile(watch)


async def executor(folder: Path) -> Executor:
    """A whole line over the folder's store."""
    registry = Registry()
    for tool in (crash_tools.stamp, crash_tools.note):
        registry.register(tool)
    work = str(folder / "work")
    grants = (granted("fs_write", [work]), granted("fs_read", [work]))
    setting = Setting(find=registry.callable_tool, base=work, grants=grants)
    effects = FileEffects(folder / "staging")
    store = SqliteStore(folder / "state" / "toolstile.db")
    line = Executor(setting, store, ChildProcess(), effects)
    await line.recover()
    return line


async def main(folder: Path, mode: str, point: str, when: str) -> None:
    """Recover, then make the call; print what it was answered."""
    line = await executor(folder)
    if mode == "approve":
        waiting = (folder / "waiting").read_text(encoding="utf-8")
        arm(point, when)
        result = await approvals.approve(line, waiting, Caller(user="tester"))
    else:
        arguments = {"witness": str(folder / "witness")}
        if mode == "note":
            arguments = {"path": "note.txt", "text": "new\n"}
        arm(point, when)
        result = await line.call(Request(tool=mode, arguments=arguments, call_id=CALL_ID))
    sys.setprofile(None)
    print(json.dumps({"answered": result.to_dict()}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:5]))
