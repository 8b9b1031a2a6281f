"""Calls on their way through the states drawn in `model/record.py`."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from toolstile.gate.decide import lost
from toolstile.gate.facts import Rights
from toolstile.model.call import Call, CallKey
from toolstile.model.canonical import digest, from_canonical
from toolstile.model.decision import Decision
from toolstile.model.effect import Manifest
from toolstile.model.job import Ending, Outcome
from toolstile.model.record import UNFINISHED, CallRecord, CallState
from toolstile.model.result import ResourceMetrics, ToolResult
from toolstile.model.vocabulary import IsolationLevel, Status
from toolstile.runtime import endings
from toolstile.runtime.ended import Ended
from toolstile.runtime.ports import Store
from toolstile.runtime.progress import Progress, now
from toolstile.runtime.request import storable, stored


def running(at: Progress, store: Store) -> CallRecord:
    """The claim: the intent to run this call."""
    return CallRecord(
        execution_id=at.execution_id,
        key=at.call.key,
        state=CallState.RUNNING,
        request_digest=at.call.request_digest,
        request=stored(at.call),
        tool=at.definition.name,
        version=at.definition.exported_version,
        side_effects=None if at.definition.side_effects is None else endings.declared(at),
        definition=at.definition.digest,
        fingerprint=at.fingerprint.digest,
        decision=msgspec.json.encode(at.decision),
        owner=store.owner,
        epoch=store.epoch,
        created_at=at.started_at,
    )


def asked(at: Progress, store: Store, pending: ToolResult) -> CallRecord:
    """A call that waits for a person before it runs."""
    claim = running(at, store)
    return replace(claim, state=CallState.ASKED, result=encoded(pending))


def held(at: Progress, pending: ToolResult) -> CallRecord:
    """A call that has run and waits for a person before its effects happen."""
    return replace(
        at.record,
        state=CallState.HELD,
        manifest=msgspec.json.encode(at.manifest),
        output=at.output.data,
        result=encoded(pending),
    )


def committing(at: Progress, record: CallRecord) -> CallRecord:
    """The commit point, with everything that finishing needs if this process dies here."""
    resumed = at.earlier if at.resumed else None
    return replace(
        record,
        state=CallState.COMMITTING,
        manifest=resumed.manifest if resumed else msgspec.json.encode(at.manifest),
        output=resumed.output if resumed else at.output.data,
    )


def finished(at: Progress, result: ToolResult, state: CallState, store: Store) -> CallRecord:
    """The end of a call. What was refused before it was claimed has only its result."""
    if at.has("record"):
        base = at.record
    else:
        base = CallRecord(
            execution_id=at.execution_id,
            key=at.call.key if at.has("call") else _no_key(at),
            state=state,
            request_digest="",
            request=b"",
            tool=storable(at.request.tool) or "",
            owner=store.owner,
            epoch=store.epoch,
            created_at=at.started_at,
        )
    return ended(base, result, state)


def ended(record: CallRecord, result: ToolResult, state: CallState = CallState.DONE) -> CallRecord:
    """The record of a call that has come to its end."""
    return replace(
        record, state=state, result=encoded(result), status=int(result.status), finished_at=now()
    )


def _no_key(at: Progress) -> CallKey:
    call = Call(tool="", arguments={}, caller=at.request.caller, execution_id=at.execution_id)
    return call.key


def held_outcome(earlier: CallRecord) -> Outcome:
    """The outcome of a held run, as it was: it is not run again."""
    ran = decoded(earlier).metadata
    where = ran.isolation
    return Outcome(
        ending=Ending.VALUE,
        value=from_canonical(earlier.output),
        metrics=ran.resource_metrics or ResourceMetrics(),
        execution_metrics=ran.execution_metrics,
        obtained=where.obtained if where else IsolationLevel.NONE,
        mechanism=where.mechanism if where else (),
        sandbox_id=ran.sandbox_id,
    )


def question(record: CallRecord) -> str:
    """The digest that an answer to a waiting call is bound to: of what has run, the manifest; of
    what has not, the call as it was decided on."""
    if record.state is CallState.HELD:
        return digest(msgspec.json.decode(record.manifest))
    return decided(record).call_digest


def decided(record: CallRecord) -> Decision:
    """The Decision on a call that was claimed or asked about."""
    return msgspec.json.decode(record.decision, type=Decision)


def manifest_of(record: CallRecord) -> Manifest:
    """The sealed manifest of a held or committing call."""
    if not record.manifest:
        return Manifest(execution_id=record.execution_id)
    return msgspec.json.decode(record.manifest, type=Manifest)


def approvable(earlier: CallRecord | None, at: Progress) -> CallRecord:
    """The waiting call that an approval is for. Raises Ended where it is for another call, or
    this one waits no more: a yes is good for one execution, once."""
    approval = at.request.approval
    if earlier is None or approval is None or earlier.execution_id != at.execution_id:
        raise endings.mismatch()
    given = (approval.execution_id, approval.tenant, approval.principal)
    if given != (at.execution_id, earlier.key.tenant, earlier.key.principal):
        raise endings.mismatch()
    if earlier.state not in (CallState.ASKED, CallState.HELD):
        raise endings.taken(at.execution_id)
    return earlier


def already_there(earlier: CallRecord, call: Call, rights: Rights) -> Ended:
    """The answer where the key is taken: the stored result, or why there is none. Reading it is
    decided, too: rights may have been taken away since."""
    if earlier.request_digest != call.request_digest:
        return Ended(
            Status.VALIDATION_ERROR,
            "CALL_KEY_REUSED",
            "the call id was used for another request; choose a new one",
        )
    if earlier.state in UNFINISHED:
        return Ended(
            Status.FAILED,
            "CALL_IN_FLIGHT",
            "this very call is running; wait for its result instead of sending it again",
        )
    gone = lost(decided(earlier), rights)
    return endings.unreadable(gone) if gone else Ended(Status.SUCCESS, "", "", earlier=earlier)


def encoded(result: ToolResult) -> bytes:
    """A result as it is stored: the contract's JSON."""
    return msgspec.json.encode(result.to_dict())


def decoded(record: CallRecord) -> ToolResult:
    """The stored result of a call."""
    return ToolResult.from_dict(msgspec.json.decode(record.result))


def replayed(record: CallRecord) -> ToolResult:
    """The stored result, marked as such."""
    return replace(decoded(record), replayed=True)
