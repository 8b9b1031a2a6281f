"""The public end of a call (contract section 3): one JSON everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from toolstile.model.decision import Decision
from toolstile.model.effect import Effect
from toolstile.model.issue import Issue
from toolstile.model.vocabulary import EffectsState, IsolationLevel, Status


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """What was called: `definition` is the digest of the resolved tool, if one was found."""

    tool: str
    version: str | None = None
    definition: str | None = None
    arguments: Any = None


class ResourceMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """What a run used."""

    wall_ms: float = 0
    cpu_ms: float = 0
    peak_memory: int = 0
    io_read: int = 0
    io_written: int = 0
    egress_requests: int = 0
    egress_bytes: int = 0
    processes: int = 0


class Isolation(msgspec.Struct, frozen=True, kw_only=True):
    """The level asked for, the level reached, and by which means."""

    requested: IsolationLevel
    obtained: IsolationLevel
    mechanism: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Levels as words."""
        return {
            "requested": self.requested.word,
            "obtained": self.obtained.word,
            "mechanism": list(self.mechanism),
        }


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """When, where and for whom a call ran."""

    execution_id: str
    started_at: str
    completed_at: str
    duration_ms: float
    output_size: int | None = None
    output_truncated: bool = False
    output_ref: str | None = None
    sandbox_id: str | None = None
    isolation: Isolation | None = None
    effects_complete: bool = False
    resource_metrics: ResourceMetrics | None = None
    execution_metrics: Mapping[str, float] = msgspec.field(default_factory=dict)
    tenant: str = "local"
    agent_id: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    conversation_id: str | None = None
    call_id: str | None = None
    batch_id: str | None = None
    batch_index: int | None = None
    correlation_id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """All fields, nulls included."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        document["isolation"] = self.isolation.to_dict() if self.isolation else None
        return document


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a call ended. `errors` in JSON is `issues` in Python."""

    input: Input
    status: Status
    metadata: Metadata
    output: Any = None
    error_code: str | None = None
    error_message: str | None = None
    issues: tuple[Issue, ...] = ()
    digest: str | None = None
    side_effects: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    effects_state: EffectsState = EffectsState.NONE
    decision: Decision | None = None
    replayed: bool = False
    preview: bool = False

    @property
    def is_success(self) -> bool:
        """True for SUCCESS only."""
        return self.status is Status.SUCCESS

    def to_dict(self) -> dict[str, Any]:
        """The one ToolResult JSON."""
        return {
            "input": msgspec.to_builtins(self.input),
            "status": self.status.word,
            "status_code": int(self.status),
            "is_success": self.is_success,
            "error_code": self.error_code,
            "error_message": self.error_message,
            "errors": [issue.to_dict() for issue in self.issues],
            "output": self.output,
            "digest": self.digest,
            "side_effects": list(self.side_effects),
            "effects": msgspec.to_builtins(self.effects),
            "effects_state": self.effects_state.value,
            "decision": self.decision.to_dict() if self.decision else None,
            "replayed": self.replayed,
            "preview": self.preview,
            "metadata": self.metadata.to_dict(),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ToolResult:
        """The inverse of `to_dict`, exactly. Raises msgspec.ValidationError on anything else."""
        metadata = dict(document["metadata"])
        isolation = metadata.pop("isolation")
        if isolation is not None:
            metadata["isolation"] = {
                "requested": int(IsolationLevel.of(isolation["requested"])),
                "obtained": int(IsolationLevel.of(isolation["obtained"])),
                "mechanism": isolation["mechanism"],
            }
        fields = {name: document[name] for name in _SAME_IN_BOTH}
        fields["issues"] = document["errors"]
        fields["status"] = document["status_code"]
        fields["metadata"] = metadata
        return msgspec.convert(fields, cls)


# Fields whose JSON name and form are what msgspec reads by itself.
_SAME_IN_BOTH = (
    "input output error_code error_message digest side_effects effects effects_state decision "
    "replayed preview"
).split()
