"""What a running tool may ask of its host, and what the host knows of the run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

from toolstile.errors import ToolError
from toolstile.model.call import Call

log = logging.getLogger("toolstile.tool")

MAX_LINE = 8 * 1024
MAX_PAIRS = 64  # of one line
MAX_TAG = 128
MAX_VALUE = 1024
MAX_LINES = 10_000  # of one run; what it logs beyond is dropped
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class CallHost:
    """Answers the host calls of one run."""

    def __init__(self, call: Call, given_up: asyncio.Event) -> None:
        self._call = call
        self._given_up = given_up
        self._lines = 0

    async def gave_up(self) -> None:
        """Returns when the caller has given up."""
        await self._given_up.wait()

    async def call(self, name: str, arguments: Any) -> Any:
        """Answer one request of the tool. Raises ToolError for requests there are not."""
        if name == "log" and isinstance(arguments, dict):
            return self._log(arguments)
        if name == "progress" and isinstance(arguments, dict):
            return None  # nobody listens yet: streaming comes with the durable line
        raise ToolError("UNKNOWN_HOST_CALL", "the host does not offer this")

    def _log(self, arguments: dict[str, Any]) -> None:
        self._lines += 1
        if self._lines > MAX_LINES:
            return
        level = _LEVELS.get(str(arguments.get("level")), 20)
        message = _plain(arguments.get("message"))
        said = "".join(f" {key}={value}" for key, value in _pairs(arguments.get("pairs")))
        tag = _plain(arguments.get("tag"))[:MAX_TAG] or self._call.tool
        log.log(level, "[%s] execution=%s %s%s", tag, self._call.execution_id, message, said)


def _pairs(pairs: Any) -> Iterator[tuple[str, str]]:
    """AGN's custom events: key and value, in order, duplicates and all."""
    for pair in pairs[:MAX_PAIRS] if isinstance(pairs, list) else ():
        if isinstance(pair, list) and len(pair) == 2:
            key, value = pair
            yield _plain(key)[:MAX_TAG], _plain(value)[:MAX_VALUE]


def _plain(said: Any) -> str:
    """The tool's text is data: on one line, and never a format string."""
    return "" if said is None else str(said)[:MAX_LINE].encode("unicode_escape").decode()
