"""A call: what was asked, by whom, and what identifies it."""

from __future__ import annotations

import os
import threading
import time
from typing import Any
from uuid import UUID

import msgspec

from toolstile.model.canonical import digest
from toolstile.model.json import JsonObject

LOCAL_TENANT = "local"
MAX_IDENTIFIER = 64


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks. Names only: rights, tier and permissions come from settings and keys, never
    from the caller. Each name is 1 to 64 visible characters."""

    agent: str | None = None
    user: str | None = None
    session: str | None = None
    conversation: str | None = None
    tenant: str = LOCAL_TENANT

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None:
                check_identifier(name, value)

    @property
    def principal(self) -> str:
        """The agent and user as one text; two different callers never share it."""
        # Names hold no control characters, so the separator cannot be forged.
        return f"{self.agent or ''}\x1f{self.user or ''}"


def check_identifier(name: str, value: Any) -> str:
    """The identifier itself. Raises ValueError unless it is 1 to 64 visible characters."""
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_IDENTIFIER:
        raise ValueError(f"{name} must be text of 1 to {MAX_IDENTIFIER} characters")
    if not value.isprintable() or value != value.strip():
        raise ValueError(f"{name} must consist of visible characters")
    text: str = value
    return text


class CallKey(msgspec.Struct, frozen=True):
    """What makes two requests the same call (soundness S1: the principal belongs to it)."""

    tenant: str
    principal: str
    session: str
    call_id: str


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One request, parsed: `arguments` are the caller's JSON, not yet checked or filled in."""

    tool: str
    arguments: JsonObject
    caller: Caller
    execution_id: str
    version: str | None = None
    call_id: str | None = None
    correlation_id: str | None = None
    timeout: float | None = None
    isolation: str | None = None
    preview: bool = False

    @property
    def key(self) -> CallKey:
        """The call's identity; without a call id of its own each execution is one."""
        caller = self.caller
        call_id = self.call_id or self.execution_id
        return CallKey(caller.tenant, caller.principal, caller.session or "", call_id)

    @property
    def request_digest(self) -> str:
        """Digest of what was asked: name, *asked* version and canonical arguments.

        Not the resolved version: `^1` may mean another tool after an upgrade, and a repeated
        request must still find its first result.
        """
        return digest({"tool": self.tool, "version": self.version, "arguments": self.arguments})


class _Clock:
    """The last identifier made in this process."""

    lock = threading.Lock()
    last = 0


def uuid7() -> str:
    """A UUIDv7 (RFC 9562): sortable by time, increasing within this process."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = milliseconds << 80 | random & ((1 << 80) - 1)
    value = value & ~(0xF << 76) | 7 << 76
    value = value & ~(0x3 << 62) | 2 << 62
    with _Clock.lock:
        # Counting on within one millisecond keeps the order; bit 62 and above stay as they are
        # because 2^62 identifiers do not fit into a millisecond.
        value = _Clock.last = max(value, _Clock.last + 1)
    return str(UUID(int=value))
