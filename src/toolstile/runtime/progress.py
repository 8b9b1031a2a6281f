"""How far one call has come: the only thing on the line that changes, and only one call's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from toolstile.authoring import Tool
from toolstile.errors import StoreUnavailable
from toolstile.model.call import Call, uuid7
from toolstile.model.decision import Decision, NamedResource
from toolstile.model.definition import ToolDefinition
from toolstile.model.effect import Manifest
from toolstile.model.job import Outcome
from toolstile.model.record import CallRecord, CallState
from toolstile.model.vocabulary import EffectsState, IsolationLevel, Status
from toolstile.runtime.ended import Ended
from toolstile.runtime.fingerprint import Fingerprint
from toolstile.runtime.normalize import Output
from toolstile.runtime.request import Request, is_execution_id

Step = Literal["call", "tool", "arguments", "decision", "record", "outcome", "output"]


class Progress:
    """Filled in step by step by the executor. Reading what no step has set yet is a bug, and
    raises AttributeError."""

    call: Call
    tool: Tool
    arguments: Mapping[str, Any]
    fingerprint: Fingerprint
    decision: Decision
    record: CallRecord
    outcome: Outcome
    output: Output
    manifest: Manifest

    def __init__(self, request: Request) -> None:
        self.request = request
        given = request.execution_id
        # It names a directory and a row, so one that is not ours is never used, not even to refuse.
        self.execution_id = given if given and is_execution_id(given) else uuid7()
        self.started_at = now()
        self._clock = time.monotonic()
        self.earlier: CallRecord | None = None
        self.resources: tuple[NamedResource, ...] = ()
        self.ended: Ended | None = None
        self.started = False
        self.given_up = asyncio.Event()
        self._pending: Ended | None = None
        self.effects_state = EffectsState.NONE

    def has(self, name: Step) -> bool:
        """Has the line come so far that this is set?"""
        return name in self.__dict__

    @property
    def definition(self) -> ToolDefinition:
        """The resolved tool's definition."""
        return self.tool.definition

    @property
    def level(self) -> IsolationLevel:
        """The isolation to run at: the tool's own, or higher where the caller asks for it."""
        asked = self.request.isolation
        needed = self.definition.constraints.required_isolation
        return needed if asked is None else max(needed, IsolationLevel.of(asked))

    @property
    def resumed(self) -> bool:
        """True where an approved, held call goes on after its run."""
        return self.earlier is not None and self.earlier.state is CallState.HELD

    @property
    def happened(self) -> bool:
        """True where the tool may have run, or its changes been made, in this walk of the line."""
        return self.started or (self.resumed and self.has("record"))

    @property
    def duration_ms(self) -> float:
        """Milliseconds since the request came in."""
        return round((time.monotonic() - self._clock) * 1000, 3)

    @property
    def earlier_record(self) -> CallRecord:
        """The stored call that an approval goes on with."""
        if self.earlier is None:
            raise AttributeError("no earlier record")
        return self.earlier

    def wait(self, ended: Ended) -> Ended:
        """The call now waits for a person; what it says is stored with it."""
        self.ended = self._pending = ended
        return ended

    @property
    def waiting(self) -> bool:
        """True where the call ended because it waits for a person."""
        return self.ended is not None and self.ended is self._pending

    def unrecorded(self, error: StoreUnavailable) -> Progress:
        """The same call, whose result could not be stored."""
        happened = self.happened
        # OUTCOME_SPOOLED would say that the result waits in a spool; there is none yet.
        code = "OUTCOME_UNKNOWN" if happened else "RECORD_UNAVAILABLE"
        self.ended = Ended(
            Status.FAILED,
            code,
            f"{'it ran, but its result is lost: ' if happened else 'nothing was run: '}{error}",
            effects_state=EffectsState.UNKNOWN if happened else EffectsState.NONE,
        )
        return self


def now() -> str:
    """The time as we write it."""
    return written(datetime.now(UTC))


def written(moment: datetime) -> str:
    """A time in UTC as RFC 3339, to the millisecond: texts that sort as the times do."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
