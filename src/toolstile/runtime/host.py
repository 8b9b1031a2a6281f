"""What a running tool may ask of its host, and what the host knows of the run."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from toolstile.errors import ToolError
from toolstile.model.call import Call

log = logging.getLogger("toolstile.tool")

MAX_LINE = 8 * 1024
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
        # The tool's text is data: bounded, on one line, and never a format string.
        message = str(arguments.get("message", ""))[:MAX_LINE].encode("unicode_escape").decode()
        log.log(level, "[%s] execution=%s %s", self._call.tool, self._call.execution_id, message)
