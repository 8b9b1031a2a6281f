"""A fresh Python process for every job: level standard, as far as a plain child goes.

The child gets a clean environment, its limits, and one socket to the host; it imports the tool's
code itself. It is *not* confined by the kernel yet: namespaces, Landlock and seccomp come with the
sandbox ladder, behind this same port.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import resource
import signal
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from toolstile.authoring.context import MAX_METRICS
from toolstile.errors import ToolError
from toolstile.model.job import Ending, Job, Outcome
from toolstile.model.result import ResourceMetrics
from toolstile.model.vocabulary import IsolationLevel
from toolstile.sandbox import frames

# How long a child may take to end by itself once it is told to: a cooperative tool sees
# cancellation within 200 ms (seed row 7), then it is killed.
GRACE_SECONDS = 0.2
_SAID_BY_THE_CHILD = (Ending.VALUE, Ending.ERROR, Ending.EXCEPTION, Ending.LIMIT)
_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
MAX_MESSAGE = 8 * 1024
# Codes that say what the *host* did or knows (contract section 3). A tool that could use them
# would tell the model that nothing was run, or that somebody is to approve.
RESERVED_CODES = frozenset(
    """TIMEOUT CANCELLED OUTCOME_UNKNOWN APPROVAL_MISMATCH APPROVAL_EXPIRED CONFIRMATION_DENIED
    RECORD_UNAVAILABLE OUTCOME_SPOOLED CALL_IN_FLIGHT CALL_KEY_REUSED NO_POLICY NO_IMPLEMENTATION
    TOOL_NOT_PORTABLE BUILT_IN EFFECT_CONFLICT UNDO_CONFLICT NOT_REVERSIBLE REQUIRES_CONFIRMATION
    PERMISSION_DENIED LICENSE_REQUIRED SECURITY_VIOLATION SANDBOX_ERROR INVALID_REQUEST
    INTERNAL_ERROR RATE_LIMITED""".split()
)
MECHANISM = ("process", "clean environment", "rlimits")


class HostCalls(Protocol):
    """Answers a running tool's requests (the runtime's HostCalls)."""

    async def call(self, name: str, arguments: Any) -> Any:
        """Answer one request. Raises ToolError for what the tool may be told."""

    async def gave_up(self) -> None:
        """Returns when the caller has given up."""


class ChildProcess:
    """Sandbox port: one exec'd interpreter per job."""

    async def run(self, job: Job, host: HostCalls) -> Outcome:
        """The outcome of the job, whatever happens to the child."""
        if job.level > IsolationLevel.STANDARD:
            level = job.level.word
            return _unfit(f"isolation {level} is asked for, and this version reaches only standard")
        started = time.monotonic()
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            return _unstarted(error)
        with ours:
            try:
                child = await _start(theirs.fileno())
            except OSError as error:
                return _unstarted(error)
            finally:
                theirs.close()
            try:
                outcome = await _connected(job, host, ours)
            finally:
                usage = await _end(child)
        wall = (time.monotonic() - started) * 1000
        if outcome.ending is Ending.CRASH and child.returncode == -signal.SIGXCPU:
            outcome = Outcome(
                ending=Ending.LIMIT, code="LIMIT_CPU", message="out of processor time"
            )
        return _with_metrics(outcome, wall, usage)


async def _start(descriptor: int) -> asyncio.subprocess.Process:
    # A program and its arguments, never a shell; a session of its own, so that the whole group
    # can be ended.
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-B",  # which PYTHONDONTWRITEBYTECODE would say, and -I has it ignored
        "-m",
        "toolstile.sandbox.child",
        str(descriptor),
        str(os.getpid()),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=_environment(),
        pass_fds=(descriptor,),
        start_new_session=True,
        cwd="/",
    )


def _environment() -> Mapping[str, str]:
    """Nothing of the host's: no secrets, no settings, a fixed locale."""
    return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


async def _connected(job: Job, host: HostCalls, ours: socket.socket) -> Outcome:
    reader, writer = await asyncio.open_connection(sock=ours)
    try:
        return await _converse(job, host, reader, writer)
    finally:
        writer.transport.abort()  # what the child has not read by now, nobody reads


async def _converse(
    job: Job, host: HostCalls, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Outcome:
    talk = asyncio.ensure_future(_talk(job, host, reader, writer))
    watch = asyncio.ensure_future(host.gave_up())
    try:
        await asyncio.wait({talk, watch}, timeout=job.seconds, return_when="FIRST_COMPLETED")
        if talk.done():
            return talk.result()
        cancelled = watch.done()
        return await _give_up(talk, writer, cancelled=cancelled)
    finally:
        for task in (talk, watch):
            task.cancel()
        await asyncio.gather(talk, watch, return_exceptions=True)


async def _give_up(
    talk: asyncio.Future[Outcome], writer: asyncio.StreamWriter, *, cancelled: bool
) -> Outcome:
    """Tell the child to stop, give it a moment to end by itself, and say why it was stopped."""
    writer.write(frames.encode({"cancel": True}))
    await asyncio.wait({talk}, timeout=GRACE_SECONDS)
    ending = Ending.CANCELLED if cancelled else Ending.TIMEOUT
    reason = "The caller cancelled." if cancelled else "The time was up."
    return Outcome(ending=ending, message=reason)


async def _talk(
    job: Job, host: HostCalls, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> Outcome:
    try:
        writer.write(frames.encode(job))
        while True:
            # A child that asks and never reads the answers must not fill the host's memory.
            await writer.drain()
            message = await _receive(reader)
            if "outcome" in message:
                return _believable(msgspec.convert(message["outcome"], Outcome))
            writer.write(frames.encode(await _answer(host, message)))
    except (EOFError, ConnectionError):
        return _crash("The process ended without an answer.")
    except (frames.BrokenFrame, msgspec.ValidationError, TypeError, KeyError):
        # The tool shares the child with our code and may write to the socket itself.
        return _crash("The process sent something that is no answer.")


def _believable(said: Outcome) -> Outcome:
    """What a child may say of its run. How it was stopped, where it ran and what it used is for
    the host to say: a tool that has run cannot claim that nothing of it ran. Raises ValueError."""
    if said.ending not in _SAID_BY_THE_CHILD or len(said.execution_metrics) > MAX_METRICS:
        raise frames.BrokenFrame("no child says this")
    code = said.code
    if said.ending is Ending.ERROR and (not _CODE.fullmatch(code) or code in RESERVED_CODES):
        code = "TOOL_ERROR"
    return Outcome(
        ending=said.ending,
        value=said.value,
        code=code,
        message=said.message[:MAX_MESSAGE],
        staged=said.staged,
        execution_metrics=said.execution_metrics,
    )


async def _receive(reader: asyncio.StreamReader) -> dict[str, Any]:
    head = await reader.readexactly(frames.HEAD_SIZE)
    message = frames.decode(await reader.readexactly(frames.length(head)))
    if not isinstance(message, dict):
        raise frames.BrokenFrame("a message must be an object")
    return message


async def _answer(host: HostCalls, message: dict[str, Any]) -> dict[str, Any]:
    try:
        answer = await host.call(str(message["call"]), message.get("arguments"))
    except ToolError as error:
        return {"code": error.code, "message": error.message}
    return {"answer": answer}


async def _end(child: asyncio.subprocess.Process) -> resource.struct_rusage:
    """End the child's whole process group and collect it; what it used so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with contextlib.suppress(ProcessLookupError):  # it is gone already, and so is its group
        os.killpg(child.pid, signal.SIGKILL)
    await child.wait()
    return _difference(before, resource.getrusage(resource.RUSAGE_CHILDREN))


def _difference(
    before: resource.struct_rusage, after: resource.struct_rusage
) -> resource.struct_rusage:
    # Exact only while one child ends at a time; per-child accounting needs the init reaper.
    fields = [a - b for a, b in zip(after, before, strict=True)]
    fields[2] = after.ru_maxrss
    return resource.struct_rusage(fields)


def _with_metrics(outcome: Outcome, wall_ms: float, usage: resource.struct_rusage) -> Outcome:
    metrics = ResourceMetrics(
        wall_ms=round(wall_ms, 3),
        cpu_ms=round((usage.ru_utime + usage.ru_stime) * 1000, 3),
        peak_memory=usage.ru_maxrss * 1024,
        io_read=usage.ru_inblock * 512,
        io_written=usage.ru_oublock * 512,
        processes=1,
    )
    return msgspec.structs.replace(
        outcome, metrics=metrics, obtained=IsolationLevel.STANDARD, mechanism=MECHANISM
    )


def _crash(message: str) -> Outcome:
    return Outcome(ending=Ending.CRASH, message=message)


def _unstarted(error: OSError) -> Outcome:
    return _unfit(f"no process could be started: {error.strerror}")


def _unfit(message: str) -> Outcome:
    return Outcome(ending=Ending.UNFIT, message=message, obtained=IsolationLevel.NONE)
