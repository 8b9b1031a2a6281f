"""A person's answer to a call that waits (soundness S5).

Approving does not run anything by itself: it makes an `Approval` and sends the stored request down
the line again, where everything is looked at anew.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
from msgspec.structs import replace

from toolstile.model.call import Caller
from toolstile.model.canonical import digest
from toolstile.model.decision import Approval
from toolstile.model.record import CallRecord, CallState
from toolstile.model.result import ToolResult
from toolstile.model.vocabulary import EffectsState, Status
from toolstile.runtime.executor import Executor
from toolstile.runtime.records import decoded, manifest_of
from toolstile.runtime.request import restored

# How long a yes is good for: long enough for the line to use it, too short to be kept for later.
APPROVAL_SECONDS = 60


class NotWaiting(LookupError):
    """No such call waits for an answer."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a person decides on: the call, and the diff where it has run already. `digest` is what
    the answer is bound to."""

    execution_id: str
    digest: str
    state: CallState
    result: ToolResult
    diff: str | None = None


def waiting(executor: Executor, tenant: str, execution_id: str) -> Seen:
    """A waiting call as a person should see it. Raises NotWaiting."""
    record = _record(executor, tenant, execution_id)
    manifest = manifest_of(record)
    held = record.state is CallState.HELD
    return Seen(
        execution_id=execution_id,
        digest=_digest(record),
        state=record.state,
        result=decoded(record),
        diff=executor.effects.diff(manifest) if held else None,
    )


async def approve(
    executor: Executor, execution_id: str, by: Caller, note: str = "", seen: str | None = None
) -> ToolResult:
    """Let a waiting call go on. `seen` is the digest of what the person saw; where it is given,
    anything else is refused. Raises NotWaiting."""
    record = _record(executor, by.tenant, execution_id)
    expires = datetime.now(UTC) + timedelta(seconds=APPROVAL_SECONDS)
    approval = Approval(
        execution_id=execution_id,
        digest=_digest(record) if seen is None else seen,
        tenant=by.tenant,
        principal=record.key.principal,
        approver=by.user or by.agent or "local",
        expires_at=expires.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        note=note,
    )
    return await executor.call(restored(record.request, approval))


def deny(executor: Executor, execution_id: str, by: Caller, note: str = "") -> ToolResult:
    """End a waiting call with a no; what it staged is thrown away. Raises NotWaiting."""
    record = _record(executor, by.tenant, execution_id)
    message = "a person said no" + (f": {note[:200]}" if note else "")
    held = record.state is CallState.HELD
    result = replace(
        decoded(record),
        status=Status.PERMISSION_DENIED,
        error_code="CONFIRMATION_DENIED",
        error_message=message,
        effects_state=EffectsState.DISCARDED if held else EffectsState.NONE,
    )
    if not executor.end(record, result):
        raise NotWaiting(execution_id)
    return result


def _record(executor: Executor, tenant: str, execution_id: str) -> CallRecord:
    record = executor.store.get(tenant, execution_id)
    if record is None or record.state not in (CallState.ASKED, CallState.HELD):
        raise NotWaiting(f"no call {execution_id[:64]} waits for an answer")
    return record


def _digest(record: CallRecord) -> str:
    """The manifest of a held call; of one that has not run, the digest that was decided on."""
    if record.state is CallState.HELD:
        return digest(msgspec.json.decode(record.manifest))
    decided: str = msgspec.json.decode(record.decision)["call_digest"]
    return decided
