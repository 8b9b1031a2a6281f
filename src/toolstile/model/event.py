"""Facts that were recorded, for whoever observes (contract section 9)."""

from __future__ import annotations

from typing import Any

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One fact: `type` in the seeds' words, `fields` in snake_case."""

    type: str
    tenant: str
    event_id: str
    sequence: int
    timestamp: str
    fields: dict[str, Any] = msgspec.field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The event as one JSON object."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document
