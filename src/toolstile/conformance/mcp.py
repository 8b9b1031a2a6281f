"""An MCP server as a target: it lists the suite's tools and answers with what they got.

A tool without an output schema gives back its arguments; one with an output schema has one
parameter, `json`, and gives the value of that text. `toolstile conformance --tools` prints the
definitions that a server is to list. Both protocols are spoken: the one that begins with
`initialize` (2025-11-25) and the one in which every request stands alone (2026-07-28).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

from toolstile.conformance.adapters import TargetError
from toolstile.conformance.attempt import Attempt, Fate
from toolstile.conformance.suite import Case, SuiteTool
from toolstile.conformance.wire import Gone, HttpWire, Silent, StdioWire, Wire
from toolstile.model.json import JsonValue

LEGACY, MODERN = "2025-11-25", "2026-07-28"
META = "io.modelcontextprotocol/"
CLIENT = {"name": "toolstile-conformance", "version": "1"}
RESULT = "result"  # the member in which servers put what is no object
MAX_PAGES = 100
# For one answer. An echo takes milliseconds; this is for a server that loads much before it greets.
SECONDS = 20.0
# A server that says nothing to so many calls in a row would say nothing to hundreds.
MAX_SILENT = 3


class McpTarget:
    """A server, by its command or its address."""

    at_once = 1

    def __init__(self, where: str, seconds: float = SECONDS) -> None:
        self.name = f"mcp {where}"
        is_address = where.startswith(("http://", "https://"))
        self._wire: Wire = (HttpWire if is_address else StdioWire)(where, seconds)
        self._numbers = count(1)
        self._modern = False
        self._is_open = False
        self._silent = 0
        self._listed: frozenset[str] = frozenset()

    async def open(self) -> None:
        """Greet the server, by the older custom first, and see what it lists."""
        try:
            await self._greet()
            self._listed = frozenset([name async for name in self._tools()])
        except Gone as gone:
            raise TargetError(f"{self.name} cannot be asked for its tools: {gone}") from gone
        self._is_open = True

    async def attempt(self, tool: SuiteTool, case: Case) -> Attempt:
        """Make one call with the arguments as they stand; a server that is gone is begun anew,
        once."""
        if not self._is_open:
            await self.open()
        if tool.name not in self._listed:
            return Attempt(fate=Fate.UNSUPPORTED, detail="the server does not list the tool")
        if self._wire.one_line and (b"\n" in case.text or b"\r" in case.text):
            return Attempt(fate=Fate.UNSUPPORTED, detail="a message is one line on this wire")
        try:
            answer = await self._call(tool.name, case.text)
        except Gone as gone:
            return await self._lost(gone)
        self._silent = 0
        return _attempt(answer, tool)

    async def close(self) -> None:
        """End the server, if it was started here."""
        self._is_open = False
        await self._wire.close()

    async def _lost(self, gone: Gone) -> Attempt:
        await self.close()
        self._silent = self._silent + 1 if isinstance(gone, Silent) else 0
        if self._silent == MAX_SILENT:
            raise TargetError(f"{self.name} gave no answer to {MAX_SILENT} calls in a row")
        return Attempt(fate=Fate.CRASHED, detail=str(gone))

    # --- the protocol --------------------------------------------------------------------------

    async def _greet(self) -> None:
        self._modern = False
        hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT}
        answer = await self._ask("initialize", hello)
        if not answer:
            raise Gone("no answer to its greeting")
        self._modern = "error" in answer
        if not self._modern:
            done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await self._wire.tell(json.dumps(done).encode(), self._headers("", ""))

    async def _tools(self) -> AsyncIterator[str]:
        """The names of the tools that it lists."""
        cursor: dict[str, Any] = {}
        for _ in range(MAX_PAGES):
            answer = await self._ask("tools/list", cursor)
            page = answer.get("result")
            if not isinstance(page, dict) or not isinstance(page.get("tools"), list):
                raise Gone(f"no list of tools; {_message_of(answer)}"[:400])
            for tool in page["tools"]:
                if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                    yield tool["name"]
            if not page.get("nextCursor"):
                return
            cursor = {"cursor": page["nextCursor"]}

    async def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": self._with(params)}
        return await self._wire.ask(number, json.dumps(message).encode(), self._headers(method, ""))

    async def _call(self, name: str, text: bytes) -> dict[str, Any]:
        """`tools/call`, with the arguments' bytes put into the message unread."""
        number = next(self._numbers)
        params = json.dumps(self._with({"name": name}))
        head = f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params[:-1]}'
        message = head.encode() + b',"arguments":' + text + b"}}"
        return await self._wire.ask(number, message, self._headers("tools/call", name))

    def _with(self, params: dict[str, Any]) -> dict[str, Any]:
        if not self._modern:
            return params
        meta = {
            f"{META}protocolVersion": MODERN,
            f"{META}clientCapabilities": {},
            f"{META}clientInfo": CLIENT,
        }
        return {**params, "_meta": meta}

    def _headers(self, method: str, name: str) -> dict[str, str]:
        if not self._modern:
            return {"MCP-Protocol-Version": LEGACY}
        named = {"Mcp-Name": name} if name else {}
        return {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **named}


def _attempt(answer: dict[str, Any], tool: SuiteTool) -> Attempt:
    """What an answer says of the call."""
    result = answer.get("result")
    if not isinstance(result, dict):
        return Attempt(fate=Fate.REFUSED, detail=_message_of(answer))
    if result.get("isError"):
        return Attempt(fate=Fate.REFUSED, detail=_text(result))
    return Attempt(fate=Fate.RAN, got=(_given(result, tool),))


def _message_of(answer: dict[str, Any]) -> str:
    error = answer.get("error")
    return str(error.get("message")) if isinstance(error, dict) else "no answer"


def _given(result: dict[str, Any], tool: SuiteTool) -> JsonValue:
    """What the caller is given: structured content first, else its text."""
    structured: JsonValue = result.get("structuredContent")
    if structured is None:
        return _value_of(_text(result))
    schema = tool.returns or tool.parameters
    if isinstance(structured, dict) and structured.keys() == {RESULT}:
        is_wrapped = RESULT not in schema.get("properties", {})
        return structured[RESULT] if is_wrapped else structured
    return structured


def _value_of(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _text(result: dict[str, Any]) -> str:
    parts = result.get("content")
    if not isinstance(parts, list):
        return ""
    return " ".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
