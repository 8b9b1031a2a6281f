"""What enters and leaves a sandbox: plain JSON both ways, from the first day.

No closures, no shared objects: whatever runs a job may be another process or another machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from toolstile.model.json import FrozenDict
from toolstile.model.result import ResourceMetrics
from toolstile.model.vocabulary import IsolationLevel


class Handle(msgspec.Struct, frozen=True, kw_only=True):
    """A resource of a job: the argument that named it, and what it was resolved to."""

    argument: str
    access: str
    value: str


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one tool. `stage` is the directory that takes what the run writes."""

    execution_id: str
    tool: str
    source: Mapping[str, Any]
    arguments: Any
    handles: tuple[Handle, ...] = ()
    # Were its writes decided on as such that wait in the stage? Then only handles may make them.
    staged: bool = False
    # Places that no handle opens or lists, though a directory that was decided on may hold them.
    masked: tuple[str, ...] = ()
    level: IsolationLevel = IsolationLevel.STANDARD
    seconds: float = 60.0
    max_output: int = 100 * 1024 * 1024
    max_memory: int | None = None
    max_cpu: float | None = None
    stage: str
    # Where Python looks for the tool's module, and the script it stands in if it is one.
    import_path: tuple[str, ...] = ()
    script: str | None = None
    ids: Mapping[str, str | None] = msgspec.field(default_factory=FrozenDict)


class Ending(StrEnum):
    """How a run ended, told apart because different things follow."""

    VALUE = "value"
    ERROR = "error"  # the tool's author raised ToolError
    EXCEPTION = "exception"  # the tool raised anything else
    CRASH = "crash"  # the process died by itself
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    LIMIT = "limit"
    VIOLATION = "violation"
    UNFIT = "unfit"  # the sandbox could not start the job; nothing of the tool ran


class StagedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A write or removal that waits in the stage. `file` None = removal; `base` is the digest of
    what the run found at `path`, None for nothing, and `base_mode` its permissions.
    `append`: the staged content goes to the end of the file's, which the run may not have read."""

    path: str
    file: str | None
    base: str | None
    base_mode: int | None = None
    mode: int = 0o644
    append: bool = False


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a run left: raw, not yet checked. `detail` is for the log only."""

    ending: Ending
    value: Any = None
    code: str = ""
    message: str = ""
    detail: str = ""
    staged: tuple[StagedFile, ...] = ()
    metrics: ResourceMetrics = ResourceMetrics()
    execution_metrics: Mapping[str, float] = msgspec.field(default_factory=FrozenDict)
    obtained: IsolationLevel = IsolationLevel.NONE
    mechanism: tuple[str, ...] = ()
    sandbox_id: str | None = None
