"""A call as it is stored: one row, one state machine.

(nothing) ─claim→ running ─finish→ done
                  running ─hold──→ held ─approve→ committing ─finish→ done
                  running ─decide→ committing         held ─deny→ done
(nothing) ─ask──→ asked ─approve→ running             asked ─deny→ done
(nothing) ─note─→ refused

asked       waits for a person before it runs; nothing has happened
running     claimed: the intent is durable, the tool may have started
held        has run; its effects wait, sealed, for a person
committing  the commit point: before it effects are thrown away, after it they roll forward
done        has its result, for ever
refused     ended before it claimed anything; occupies no key
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from toolstile.model.call import CallKey


class CallState(StrEnum):
    """The states of a call; see the module's drawing."""

    ASKED = "asked"
    RUNNING = "running"
    HELD = "held"
    COMMITTING = "committing"
    DONE = "done"
    REFUSED = "refused"


WAITING = (CallState.ASKED, CallState.HELD)
"""A person is to answer: no executor works on the call."""

UNFINISHED = (CallState.RUNNING, CallState.COMMITTING)
"""An executor works on the call. If it is gone, recovery brings the call to its end."""


class CallRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One call. What callers control is bytes (soundness S3): no text of theirs can make a
    database refuse the row. `output` is withheld until the effects are committed. `owner` and
    `epoch` name the executor that may still write the row."""

    execution_id: str
    key: CallKey
    state: CallState
    request_digest: str
    request: bytes
    tool: str
    version: str | None = None
    side_effects: tuple[str, ...] | None = None  # as declared; None: it is not said
    definition: str = ""
    fingerprint: str = ""
    decision: bytes = b""
    manifest: bytes = b""
    output: bytes = b""
    result: bytes = b""
    status: int = 0
    owner: str = ""
    epoch: int = 0
    created_at: str = ""
    finished_at: str = ""
