"""The ToolContext of a real run: what a tool asks goes to its host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from toolstile.authoring.context import MAX_METRICS, Ids, Pair
from toolstile.authoring.handles import ReadPath, WritePath

Ask = Callable[[str, Any], Any]
"""Ask the host: name and arguments. Raises ToolError for what it refuses."""


class NoFiles:
    """Files beyond the named arguments: not offered by a plain child process, which could not
    keep a tool within its grant."""

    def read(self, path: str) -> ReadPath:
        """Refused. Raises PermissionError."""
        raise PermissionError("take a ReadPath parameter: only files that arguments name are open")

    def write(self, path: str) -> WritePath:
        """Refused. Raises PermissionError."""
        raise PermissionError("take a WritePath parameter: only files that arguments name are open")


class RunContext:
    """Implements authoring's ToolContext inside a sandbox."""

    def __init__(self, ids: Ids, ask: Ask, cancelled: Callable[[], bool]) -> None:
        self.ids = ids
        self.files = NoFiles()
        self.metrics: dict[str, float] = {}
        self._ask = ask
        self._cancelled = cancelled

    @property
    def cancelled(self) -> bool:
        """Has the caller given up?"""
        return self._cancelled()

    def clock(self) -> datetime:
        """The time now, in UTC."""
        return datetime.now(UTC)

    def log(self, level: str, message: str, *pairs: Pair, tag: str = "", **named: str) -> None:
        """Write a line to the host's log."""
        line = {"level": level, "message": message, "tag": tag, "pairs": [*pairs, *named.items()]}
        self._ask("log", line)

    def progress(self, fraction: float, message: str = "") -> None:
        """Tell how far the call is, from 0 to 1."""
        if not 0 <= fraction <= 1:
            raise ValueError("progress lies between 0 and 1")
        self._ask("progress", {"fraction": fraction, "message": message})

    def metric(self, name: str, number: float) -> None:
        """Report a number of this run."""
        if name not in self.metrics and len(self.metrics) == MAX_METRICS:
            raise ValueError(f"a run reports at most {MAX_METRICS} metrics")
        self.metrics[name] = float(number)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call another tool. Raises ToolError where the host does not offer it."""
        return self._ask("call", {"name": name, "arguments": dict(arguments)})
