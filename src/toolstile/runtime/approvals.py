"""A person's answer to a call that waits (soundness S5).

Approving does not run anything by itself: it makes an `Approval` and sends the stored request down
the line again, where everything is looked at anew.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
from msgspec.structs import replace

from toolstile.errors import NotWaiting
from toolstile.gate.decide import denied
from toolstile.model.call import Caller
from toolstile.model.decision import Approval
from toolstile.model.record import WAITING, CallRecord, CallState
from toolstile.model.result import ToolResult
from toolstile.model.vocabulary import EffectsState, Status
from toolstile.runtime.executor import Executor
from toolstile.runtime.progress import written
from toolstile.runtime.records import decided, decoded, manifest_of, question
from toolstile.runtime.request import is_execution_id, restored

# How long a yes is good for: long enough for the line to use it, too short to be kept for later.
APPROVAL_SECONDS = 60
# Characters of what a person may say beside their answer.
MAX_NOTE = 200


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a person decides on: the call, and the diff where it has run already. `digest` is what
    the answer is bound to."""

    execution_id: str
    digest: str
    state: CallState
    result: ToolResult
    diff: str | None = None


async def waiting(executor: Executor, tenant: str, execution_id: str) -> Seen:
    """A waiting call as a person should see it. Raises NotWaiting."""
    record = await _record(executor, tenant, execution_id)
    manifest = manifest_of(record)
    held = record.state is CallState.HELD
    return Seen(
        execution_id=execution_id,
        digest=question(record),
        state=record.state,
        result=decoded(record),
        diff=await executor.effects.diff(manifest) if held else None,
    )


async def approve(
    executor: Executor, execution_id: str, by: Caller, note: str = "", seen: str | None = None
) -> ToolResult:
    """Let a waiting call go on. `seen` is the digest of what the person saw; where it is given,
    anything else is refused. Raises NotWaiting."""
    record = await _record(executor, by.tenant, execution_id)
    expires = datetime.now(UTC) + timedelta(seconds=APPROVAL_SECONDS)
    approval = Approval(
        execution_id=execution_id,
        digest=question(record) if seen is None else seen,
        tenant=by.tenant,
        principal=record.key.principal,
        approver=_name(by),
        expires_at=written(expires),
        note=note[:MAX_NOTE],
    )
    return await executor.call(restored(record.request, approval))


async def deny(executor: Executor, execution_id: str, by: Caller, note: str = "") -> ToolResult:
    """End a waiting call with a no; what it staged is thrown away. Raises NotWaiting."""
    record = await _record(executor, by.tenant, execution_id)
    note = note[:MAX_NOTE]
    message = "a person said no" + (f": {note}" if note else "")
    held = record.state is CallState.HELD
    result = replace(
        decoded(record),
        status=Status.PERMISSION_DENIED,
        decision=denied(decided(record), question(record), _name(by), note),
        error_code="CONFIRMATION_DENIED",
        error_message=message,
        effects_state=EffectsState.DISCARDED if held else EffectsState.NONE,
    )
    if not await executor.end(record, result):
        raise NotWaiting(f"call {execution_id} has been answered elsewhere")
    return result


async def _record(executor: Executor, tenant: str, execution_id: str) -> CallRecord:
    # What is no id may not even be text that a store can look for.
    known = is_execution_id(execution_id)
    record = await executor.store.get(tenant, execution_id) if known else None
    if record is None or record.state not in WAITING:
        raise NotWaiting(f"no call {execution_id[:64]} waits for an answer")
    return record


def _name(person: Caller) -> str:
    return person.user or person.agent or "local"
