"""What a running tool may ask of whoever runs it: a parameter of type `ToolContext` is given it.

    async def index(folder: ReadPath, ctx: ToolContext) -> int: ...

The runtime implements it over calls to the host; `LocalContext` does for unit tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

import msgspec

from toolstile.authoring.handles import ReadPath, WritePath
from toolstile.errors import ToolError

# seed-rows.md, row 58. A tool that counts more than this wants its numbers in its output.
MAX_METRICS = 32
LEVELS = ("debug", "info", "warning", "error")

Pair: TypeAlias = tuple[str, str]


class Ids(msgspec.Struct, frozen=True, kw_only=True):
    """For whom a call runs, and which call it is."""

    execution: str
    session: str | None = None
    conversation: str | None = None
    agent: str | None = None
    user: str | None = None
    tenant: str = "local"


class Files(Protocol):
    """Files that no argument names, beneath what was granted. Knows nothing of how it is kept."""

    def read(self, path: str) -> ReadPath:
        """A handle to read. Raises PermissionError where nothing was granted."""

    def write(self, path: str) -> WritePath:
        """A handle to write. Raises PermissionError where nothing was granted."""


class ToolContext(Protocol):
    """One call, seen from inside the tool. Knows nothing of policy, storage or other calls."""

    @property
    def ids(self) -> Ids:
        """The names of this call and its caller."""

    @property
    def cancelled(self) -> bool:
        """Has the caller given up? A tool that takes long asks, and ends early."""

    @property
    def files(self) -> Files:
        """The way to files that no argument names."""

    def clock(self) -> datetime:
        """The time now, in UTC."""

    def log(self, level: str, message: str, *pairs: Pair, tag: str = "", **named: str) -> None:
        """Write a line to the log: debug, info, warning or error.

        Pairs keep their order and may repeat a key; named ones come after them.
        """

    def progress(self, fraction: float, message: str = "") -> None:
        """Tell how far the call is, from 0 to 1."""

    def metric(self, name: str, number: float) -> None:
        """Report a number of this run, at most 32 of them; a name given again is replaced."""

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call another tool, with the rights that both have, and get its output.

        A sync tool waits for it; an async tool awaits what this returns.

        Raises:
            ToolError: the call did not succeed.
        """


class LogLine(msgspec.Struct, frozen=True):
    """What a tool wrote to its log."""

    level: str
    message: str
    pairs: tuple[Pair, ...] = ()
    tag: str = ""


class LocalFiles(msgspec.Struct, frozen=True):
    """The real files, for unit tests."""

    def read(self, path: str) -> ReadPath:
        """A handle to the real file."""
        return ReadPath(path)

    def write(self, path: str) -> WritePath:
        """A handle to the real file."""
        return WritePath(path)


def _now() -> datetime:
    return datetime.now(UTC)


class LocalContext:
    """A context without a runtime, for unit tests: it keeps what the tool says in plain lists.

    `tools` are the other tools by name, each a function of its arguments. Set `cancelled` to see
    how a tool ends early, and `now` to fix its clock.
    """

    def __init__(
        self,
        *,
        ids: Ids = Ids(execution="local"),  # noqa: B008 - it cannot change
        cancelled: bool = False,
        files: Files = LocalFiles(),  # noqa: B008 - it cannot change
        now: Callable[[], datetime] = _now,
        tools: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
    ) -> None:
        self.ids = ids
        self.cancelled = cancelled
        self.files = files
        self.now = now
        self.tools = tools
        self.lines: list[LogLine] = []
        self.steps: list[tuple[float, str]] = []
        self.metrics: dict[str, float] = {}

    def clock(self) -> datetime:
        """The time of `now`."""
        return self.now()

    def log(self, level: str, message: str, *pairs: Pair, tag: str = "", **named: str) -> None:
        """Keep a line. Raises ValueError for a level that is none."""
        if level not in LEVELS:
            raise ValueError(f"a level is one of: {', '.join(LEVELS)}")
        self.lines.append(LogLine(level, message, (*pairs, *named.items()), tag))

    def progress(self, fraction: float, message: str = "") -> None:
        """Keep a step. Raises ValueError for less than 0 or more than 1."""
        if not 0 <= fraction <= 1:
            raise ValueError("progress lies between 0 and 1")
        self.steps.append((fraction, message))

    def metric(self, name: str, number: float) -> None:
        """Keep a number. Raises ValueError for the 33rd name."""
        if name not in self.metrics and len(self.metrics) == MAX_METRICS:
            raise ValueError(f"a run reports at most {MAX_METRICS} metrics")
        self.metrics[name] = number

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """What the function of this name in `tools` returns."""
        if name not in self.tools:
            raise ToolError("TOOL_NOT_FOUND", f"this context has no tool '{name[:64]}'")
        return self.tools[name](**arguments)
