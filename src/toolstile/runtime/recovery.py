"""After a crash: what other executors left unfinished, brought to an end (soundness S14, S18).

    running     staged writes are thrown away. Whether anything else happened nobody knows, and
                that is what the result says; nothing is run again.
    committing  the decision to apply was durable: apply the rest, then the call has succeeded.

Only calls of executors whose lease can be taken are touched, and taking them raises their epoch,
so that an executor which was only slow can no longer write them.
"""

from __future__ import annotations

import logging

import msgspec
from msgspec.structs import replace

from toolstile.model.canonical import digest_bytes, from_canonical
from toolstile.model.effect import Conflict, Manifest
from toolstile.model.record import CallRecord, CallState
from toolstile.model.result import Input, Metadata, ToolResult
from toolstile.model.vocabulary import EffectsState, SideEffect, Status, Verdict
from toolstile.runtime.endings import effects_of, reasons
from toolstile.runtime.ports import Effects, Store
from toolstile.runtime.progress import now
from toolstile.runtime.records import decided, ended, manifest_of

log = logging.getLogger("toolstile")


async def recover(record: CallRecord, store: Store, effects: Effects) -> ToolResult | None:
    """Bring one call that is ours now to its end: its result, if that was recorded here. A call
    that cannot be ended must not keep others from being recovered, nor a runtime from opening."""
    try:
        committing = record.state is CallState.COMMITTING
        result = await _rolled_forward(record, effects) if committing else _unknown(record)
        if not await store.advance(ended(record, result), record.state):
            return None
    except Exception:  # what is stored may be another version's, or spoilt
        log.exception("[TLS-RUN] A call cannot be recovered. execution=%s", record.execution_id)
        return None
    await effects.discard(record.execution_id)
    log.warning(
        "[TLS-RUN] An abandoned call was ended. execution=%s status=%s effects=%s",
        record.execution_id,
        result.error_code or result.status.word,
        result.effects_state,
    )
    return result


def _unknown(record: CallRecord) -> ToolResult:
    state = _left(record)
    unknown = state is EffectsState.UNKNOWN
    what = "whether it had effects is unknown: check first" if unknown else "nothing was changed"
    return replace(
        _result(record, Status.FAILED),
        error_code="OUTCOME_UNKNOWN",
        error_message=f"toolstile ended while the call ran; {what}",
        effects_state=state,
    )


def _left(record: CallRecord) -> EffectsState:
    """What became of the effects of a run that was cut off."""
    if decided(record).verdict is Verdict.STAGE:
        return EffectsState.DISCARDED
    said = record.side_effects
    harmless = said is not None and not any(SideEffect(word).writes for word in said)
    return EffectsState.NONE if harmless else EffectsState.UNKNOWN


async def _rolled_forward(record: CallRecord, effects: Effects) -> ToolResult:
    manifest = manifest_of(record)
    conflicts = await _not_applied(manifest, effects)
    if conflicts:
        return replace(
            _result(record, Status.FAILED),
            error_code="EFFECT_CONFLICT",
            error_message=f"not every file was written: {reasons(conflicts)}. "
            "Look at every file of the call",
            effects_state=EffectsState.UNKNOWN,
        )
    return replace(
        _result(record, Status.SUCCESS),
        output=from_canonical(record.output),
        digest=digest_bytes(record.output),
        effects_state=EffectsState.COMMITTED,
        effects=effects_of(manifest),
    )


async def _not_applied(manifest: Manifest, effects: Effects) -> tuple[Conflict, ...]:
    try:
        return await effects.commit(manifest)
    except OSError as error:
        # Some may be applied and some not. One such call must not keep the others from recovery.
        log.exception("[TLS-RUN] Effects are incomplete. execution=%s", manifest.execution_id)
        why = f"it cannot be written: {error.strerror}"
        return tuple(Conflict(path=change.path, reason=why) for change in manifest.changes)


def _result(record: CallRecord, status: Status) -> ToolResult:
    request = msgspec.json.decode(record.request)
    caller = request["caller"]
    return ToolResult(
        input=Input(
            tool=record.tool,
            version=record.version,
            definition=record.definition,
            arguments=request["arguments"],
        ),
        status=status,
        side_effects=record.side_effects or (),
        decision=decided(record),
        metadata=Metadata(
            execution_id=record.execution_id,
            started_at=record.created_at,
            completed_at=now(),
            duration_ms=0.0,
            output_size=len(record.output) if status is Status.SUCCESS else None,
            tenant=caller["tenant"],
            agent_id=caller["agent"],
            user_id=caller["user"],
            session_id=caller["session"],
            conversation_id=caller["conversation"],
            call_id=request["call_id"],
            correlation_id=request["correlation_id"],
        ),
    )
