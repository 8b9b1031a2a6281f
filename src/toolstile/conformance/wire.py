"""Raw messages to an MCP server: what a client library would never send is what is to be tried.

The official client parses arguments before it sends them, so a duplicate name or `1e400` never
leaves it. Here a message is bytes. Nothing is waited for or read without an end: a server may hang,
and may print for ever.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import shlex
import signal
import socket
from contextlib import suppress
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

from toolstile.conformance.adapters import TargetError
from toolstile.schema.parse import ParseFault, parse

# What is no JSON need not be answered. If it is, then not long after the ping that follows it.
LATE = 0.5
# From the end of its input until a server is killed.
GRACE = 1.0
# A longer answer is none; the longest of the suite's own has 0.1 MB, given twice and escaped.
MAX_ANSWER = 4 * 1024 * 1024
CHUNK = 64 * 1024
LAST_WORDS = 500


class Gone(Exception):
    """The server has ended, or what it answers cannot be read."""


class Silent(Gone):
    """The server gives no answer in time."""


class Wire(Protocol):
    """Carries one message and brings its answer back."""

    one_line: bool

    async def ask(self, number: int, message: bytes, headers: dict[str, str]) -> dict[str, Any]:
        """The answer to a request with this id; {} where there is none. Raises Gone."""

    async def tell(self, message: bytes, headers: dict[str, str]) -> None:
        """Send a notification. Raises Gone."""

    async def close(self) -> None:
        """End what was begun; the next message begins anew."""


class StdioWire:
    """A server as a child process: a message a line."""

    one_line = True

    def __init__(self, command: str, seconds: float) -> None:
        self._command = _words(command)
        self._seconds = seconds
        self._child: _Child | None = None

    async def ask(self, number: int, message: bytes, headers: dict[str, str]) -> dict[str, Any]:
        """Send a request, and a ping after it: it shows when no answer is going to come, and that
        the server has outlived its answer."""
        ping = f"ping-{number}"
        pinging = json.dumps({"jsonrpc": "2.0", "id": ping, "method": "ping"}).encode()
        child = await self._running()
        try:
            async with asyncio.timeout(self._seconds):
                await child.write(message + b"\n" + pinging + b"\n")
                return await _answer(child, number, ping, is_due=_is_json(message))
        except TimeoutError as error:
            raise Silent(f"no answer within {self._seconds:g} seconds") from error
        except (OSError, ValueError) as error:
            raise Gone(await child.last_words()) from error

    async def tell(self, message: bytes, headers: dict[str, str]) -> None:
        """Send a notification."""
        child = await self._running()
        try:
            async with asyncio.timeout(self._seconds):
                await child.write(message + b"\n")
        except TimeoutError as error:
            raise Silent("it takes no message") from error
        except OSError as error:
            raise Gone(await child.last_words()) from error

    async def close(self) -> None:
        """End the server."""
        child, self._child = self._child, None
        if child is not None:
            await child.end()

    async def _running(self) -> _Child:
        if self._child is None:
            self._child = await _start(self._command)
        return self._child


async def _answer(child: _Child, number: int, ping: str, *, is_due: bool) -> dict[str, Any]:
    """The answer to a request. A server may answer the ping first: a call takes longer."""
    answers: dict[Any, dict[str, Any]] = {}

    async def until(wanted: Any) -> None:
        while wanted not in answers:
            answer = read_message(await child.line())
            if answer.get("id") in (number, ping):
                answers[answer["id"]] = answer

    await until(ping)
    if is_due:
        await until(number)
    with suppress(TimeoutError):
        async with asyncio.timeout(LATE):
            await until(number)
    return answers.get(number, {})


def _is_json(message: bytes) -> bool:
    try:
        parse(message)
    except ParseFault:
        return False
    return True


class _Child:
    """A process and its three streams."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        # All three were asked for, so all three are there.
        self._input = cast("asyncio.StreamWriter", process.stdin)
        self._output = cast("asyncio.StreamReader", process.stdout)
        self._errors = cast("asyncio.StreamReader", process.stderr)
        self._said = b""
        self._listening = asyncio.create_task(self._listen())

    async def write(self, lines: bytes) -> None:
        """Raises OSError where the process reads no more."""
        self._input.write(lines)
        await self._input.drain()

    async def line(self) -> bytes:
        """The next line. Raises OSError at the end, ValueError where a line is too long."""
        line = await self._output.readline()
        if not line:
            raise ConnectionResetError
        return line

    async def last_words(self) -> str:
        """The last line that it wrote beside its answers, for a message about its end."""
        await asyncio.wait({self._listening}, timeout=LATE)
        lines = self._said.decode(errors="replace").split("\n")
        words = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"it has ended: {words}" if words else "it has ended"

    async def end(self) -> None:
        """Let it end by the end of its input, and kill what does not, with what it has started."""
        self._input.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), GRACE)
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        # What it printed and nobody has read would keep its end from being seen.
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                while await self._output.read(CHUNK):
                    pass
                await self._process.wait()
                await self._listening
        self._listening.cancel()

    async def _listen(self) -> None:
        """Of what it says beside its answers the end is kept; the rest must not fill a pipe."""
        while said := await self._errors.read(CHUNK):
            self._said = (self._said + said)[-LAST_WORDS:]


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise TargetError(f"the command of the server cannot be read: {error}") from error
    if not words:
        raise TargetError("the command of the server is empty")
    return words


async def _start(command: list[str]) -> _Child:
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=MAX_ANSWER,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise TargetError(f"cannot start {command[0][:200]}: {reason}") from error
    return _Child(process)


class HttpWire:
    """A server at an address: streamable HTTP, a connection for each message."""

    one_line = False

    def __init__(self, address: str, seconds: float) -> None:
        self._url = urlsplit(address)
        self._seconds = seconds
        self._session: dict[str, str] = {}
        self._socket: socket.socket | None = None

    async def ask(self, number: int, message: bytes, headers: dict[str, str]) -> dict[str, Any]:
        """Send a request."""
        try:
            async with asyncio.timeout(self._seconds):
                return await asyncio.to_thread(self._post, number, message, headers)
        except TimeoutError as error:
            raise Silent(f"no answer within {self._seconds:g} seconds") from error
        except (OSError, http.client.HTTPException) as error:
            raise Gone(f"it does not answer: {type(error).__name__}") from error
        finally:
            self._hang_up()

    async def tell(self, message: bytes, headers: dict[str, str]) -> None:
        """Send a notification."""
        await self.ask(0, message, headers)

    async def close(self) -> None:
        """Forget the session."""
        self._session = {}

    def _hang_up(self) -> None:
        """End the connection, and so the thread that may still wait for it."""
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket = None

    def _post(self, number: int, message: bytes, headers: dict[str, str]) -> dict[str, Any]:
        is_secret = self._url.scheme == "https"
        kind = http.client.HTTPSConnection if is_secret else http.client.HTTPConnection
        connection = kind(self._url.netloc, timeout=self._seconds)
        accepted = "application/json, text/event-stream"
        own = {"Content-Type": "application/json", "Accept": accepted, **self._session}
        path = (self._url.path or "/") + (f"?{self._url.query}" if self._url.query else "")
        try:
            connection.connect()
            self._socket = connection.sock
            connection.request("POST", path, message, {**own, **headers})
            with connection.getresponse() as response:
                if session := response.headers.get("Mcp-Session-Id"):
                    self._session = {"Mcp-Session-Id": session}
                return _of_http(response, number)
        finally:
            connection.close()


def _of_http(response: http.client.HTTPResponse, number: int) -> dict[str, Any]:
    """The message in a response; a refusal without one is an error of its own."""
    streamed = response.headers.get("Content-Type", "").startswith("text/event-stream")
    body = b""
    while len(body) <= MAX_ANSWER and (chunk := response.read1(CHUNK)):
        body += chunk
        # A server may keep a stream open behind the answer.
        if streamed and (answer := _of_events(body, number)):
            return answer
    answer = {} if streamed else read_message(body)
    if response.status >= 400 and "error" not in answer:
        return {"error": {"code": response.status, "message": f"HTTP {response.status}"}}
    return answer


def _of_events(body: bytes, number: int) -> dict[str, Any]:
    whole = body.rpartition(b"\n")[0]
    data = (line[5:] for line in whole.splitlines() if line.startswith(b"data:"))
    answers = (answer for line in data if (answer := read_message(line)).get("id") == number)
    return next(answers, {})


def read_message(line: bytes) -> dict[str, Any]:
    """The object of a message; {} for what is none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
