"""What observers are told: names and numbers, never arguments or outputs."""

from __future__ import annotations

from toolstile.model.call import uuid7
from toolstile.model.event import Event
from toolstile.model.result import ToolResult
from toolstile.model.vocabulary import Status


def told(result: ToolResult, sequence: int) -> Event:
    """The event of a call that has ended, or has come to wait for a person."""
    metadata = result.metadata
    waits = result.status is Status.REQUIRES_CONFIRMATION
    return Event(
        type="ConfirmationRequested" if waits else "ToolCompleted",
        tenant=metadata.tenant,
        event_id=uuid7(),
        sequence=sequence,
        timestamp=metadata.completed_at,
        fields={
            "execution_id": metadata.execution_id,
            "tool_name": result.input.tool,
            "status": result.status.word,
            "duration_ms": metadata.duration_ms,
            "replayed": result.replayed,
        },
    )
