"""The other side of a sandbox: a fresh interpreter that runs one job and ends.

`python -I -m toolstile.sandbox.child FD HOST`: one job comes in over the socket FD, one outcome
goes back; in between the tool may ask its host, the process HOST. The tool's code is imported here
and nowhere else.
"""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import logging
import os
import queue
import resource
import signal
import socket
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec

from toolstile.authoring import portable
from toolstile.authoring.binding import bind, unbind
from toolstile.authoring.class_face import run_class
from toolstile.authoring.context import Ids
from toolstile.authoring.handles import ReadPath, Url, WritePath
from toolstile.errors import ToolError
from toolstile.model import paths
from toolstile.model.job import Ending, Handle, Job, Outcome
from toolstile.sandbox import frames
from toolstile.sandbox.context import RunContext
from toolstile.sandbox.opening import beneath
from toolstile.sandbox.stage import FileStage

MAX_DETAIL = 16 * 1024
MAX_OPEN_FILES = 256
MAX_PIECE = 1 << 20
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main(arguments: list[str]) -> int:
    """Run the one job that comes over the socket."""
    _end_with(int(arguments[1]))
    channel = Channel(socket.socket(fileno=int(arguments[0])))
    first = frames.read(cast("BinaryIO", channel))
    if first is None:
        return 1
    job = msgspec.convert(first, Job)
    line = HostLine(channel)
    outcome = run(job, line)
    line.finish(outcome)
    return 0


def _end_with(host: int) -> None:
    """Have the kernel end this process when the host's thread that started it ends. The thread
    that listens to the host does as much for the whole group, but never gets to it while a tool
    keeps the interpreter to itself, as a regular expression without end does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != host:  # it was faster
            os._exit(1)


class Channel:
    """The socket as a stream without a buffer: a thread that waits in it holds no lock which the
    interpreter would want while ending."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self.write = connected.sendall

    def read(self, size: int) -> bytes:
        """So many bytes; fewer at the end."""
        found = bytearray()
        while len(found) < size:
            piece = self._socket.recv(min(size - len(found), MAX_PIECE))
            if not piece:
                break
            found += piece
        return bytes(found)


class HostLine:
    """The child's end of the conversation: asks, and hears of a cancellation and of the end."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._asking = threading.Lock()
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue(maxsize=1)
        self.cancelled = False
        threading.Thread(target=self._listen, name="toolstile-host", daemon=True).start()

    def call(self, name: str, arguments: Any) -> Any:
        """Ask the host. Raises ToolError for what it refuses."""
        with self._asking:
            self._channel.write(frames.encode({"call": name, "arguments": arguments}))
            answer = self._answers.get()
        if "code" in answer:
            raise ToolError(answer["code"], answer["message"])
        return answer.get("answer")

    def finish(self, outcome: Outcome) -> None:
        """Send the outcome; nothing follows."""
        try:
            frame = frames.encode({"outcome": outcome})
        except frames.BrokenFrame:
            large = Outcome(ending=Ending.LIMIT, code="LIMIT_OUTPUT", message="output over 100 MB")
            frame = frames.encode({"outcome": large})
        except (ValueError, ArithmeticError) as error:  # half a surrogate pair, digits without end
            detail = f"what the tool gave cannot be sent: {type(error).__name__}"
            _say(self, detail)
            frame = frames.encode({"outcome": Outcome(ending=Ending.EXCEPTION, detail=detail)})
        self._channel.write(frame)

    def _listen(self) -> None:
        """Until the host is gone: one that was killed ends nobody and keeps no deadline, so this
        process and its group end then; nobody is left to answer to."""
        try:
            while (message := frames.read(cast("BinaryIO", self._channel))) is not None:
                if message.get("cancel"):
                    self.cancelled = True
                else:
                    self._answers.put(message)
        finally:
            os.killpg(0, signal.SIGKILL)


def run(job: Job, line: HostLine) -> Outcome:
    """The outcome of the job: whatever the tool does, exactly one."""
    _limit(job)
    stage = FileStage(Path(job.stage))
    context = RunContext(_ids(job), line.call, lambda: line.cancelled)
    try:
        function = load(job)
        value = _value(function, job, stage, context)
    except ToolError as error:
        return Outcome(ending=Ending.ERROR, code=error.code, message=error.message)
    except portable.NotThere as error:
        return Outcome(ending=Ending.ERROR, code="TOOL_NOT_LOADED", message=str(error))
    except MemoryError:
        return Outcome(ending=Ending.LIMIT, code="LIMIT_MEMORY", message="out of memory")
    except BaseException as error:  # noqa: BLE001 - a stranger's code: anything at all may come out of it
        detail = "".join(traceback.format_exception(error))[-MAX_DETAIL:]
        detail = detail.encode(errors="backslashreplace").decode()  # half a pair could not be sent
        _say(line, detail)
        return Outcome(ending=Ending.EXCEPTION, detail=detail)
    return Outcome(
        ending=Ending.VALUE,
        value=value,
        staged=stage.staged,
        execution_metrics=context.metrics,
    )


def load(job: Job) -> Any:
    """The tool's function or class, imported here, after the limits are set."""
    sys.path[:] = [*job.import_path]
    where = job.source["python"]
    sys.meta_path.insert(0, portable.SourceFinder(where.partition(":")[0]))
    return portable.load(where, job.script)


def _ids(job: Job) -> Ids:
    return Ids(**{name: value for name, value in job.ids.items() if value is not None})


def _value(function: Any, job: Job, stage: FileStage, context: RunContext) -> Any:
    resolved = {handle.argument: handle for handle in job.handles}
    made: set[str] = set()

    def handle(pointer: str, text: str, kind: type[Any]) -> Any:
        # What was decided on, not what the argument said; where nothing was, nothing is handed out.
        if pointer not in resolved:
            raise ToolError("NOT_DECIDED", f"the argument {pointer} was not decided on")
        made.add(pointer)
        if issubclass(kind, ReadPath):
            return _path(kind, resolved[pointer], job, stage)
        # A URL is more than the host that was decided on, so it stays as it was written.
        return kind(text if kind is Url else resolved[pointer].value)

    arguments = decided(job)
    if isinstance(function, type):
        _check_staged(job, made)
        result = run_class(function, arguments, context)
    else:
        bound = bind(function, arguments, handle, context)
        _check_staged(job, made)
        result = function(**bound)
    if inspect.isawaitable(result):
        result = asyncio.run(_awaited(result))
    return unbind(result)


def decided(job: Job) -> Any:
    """The arguments, with the files and programs in them that were decided on in the place of the
    names that led there: a function that takes plain text is given no other."""
    arguments = job.arguments
    for handle in job.handles:
        if handle.access in ("reads", "writes", "runs"):
            *way, last = map(_unescaped, handle.argument.split("/")[1:])
            holder = arguments
            for name in way:
                holder = holder[int(name) if isinstance(holder, list) else name]
            holder[int(last) if isinstance(holder, list) else last] = handle.value
    return arguments


def _unescaped(name: str) -> str:
    return name.replace("~1", "/").replace("~0", "~")


def _check_staged(job: Job, made: set[str]) -> None:
    """Who is given a plain name writes at once, and nobody has agreed to that yet."""
    read = {handle.argument for handle in job.handles if handle.access == "reads"}
    for handle in job.handles:
        if job.staged and handle.access == "writes" and handle.argument not in made:
            kind = "an EditPath" if handle.argument in read else "a WritePath"
            reason = f"the argument {handle.argument} names a file to be written: take {kind}"
            raise ToolError("NOT_A_HANDLE", reason)


def _path(kind: type[Any], handle: Handle, job: Job, stage: FileStage) -> Any:
    made = kind(handle.value, beneath(handle.value, job.masked), stage)
    if not issubclass(kind, WritePath):
        return made
    # Writing is no right to read; the same file may be named for both.
    reads = (other.value for other in job.handles if other.access == "reads")
    blind = not any(paths.beneath(handle.value, value) for value in reads)
    return msgspec.structs.replace(made, blind=blind)


async def _awaited(result: Any) -> Any:
    return await result


def _limit(job: Job) -> None:
    """Bounds that the kernel keeps even for a plain process."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)
    if job.max_memory is not None:
        _lower(resource.RLIMIT_AS, job.max_memory + _address_space())
    if job.max_cpu is not None:
        # A second between the two: at the first the signal says which limit it was.
        seconds = max(1, round(job.max_cpu))
        _lower(resource.RLIMIT_CPU, seconds, seconds + 1)


def _lower(kind: int, value: int, last: int | None = None) -> None:
    _, hard = resource.getrlimit(kind)
    wanted = (value, value if last is None else last)
    bounds = [each if hard == resource.RLIM_INFINITY else min(each, hard) for each in wanted]
    resource.setrlimit(kind, (bounds[0], bounds[1]))


def _address_space() -> int:
    """What this interpreter has mapped already: the bound is for what the tool adds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def _say(line: HostLine, detail: str) -> None:
    line.call("log", {"level": "error", "message": detail})


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the host's to answer
    logging.disable(logging.CRITICAL)
    sys.exit(main(sys.argv[1:]))
