"""How calls end: every status with its code, its message and its repair."""

from __future__ import annotations

import re
from typing import Any

from toolstile.errors import StoreUnavailable, UnknownToolError
from toolstile.model import issue
from toolstile.model.decision import Decision
from toolstile.model.effect import Conflict, Effect, Manifest
from toolstile.model.issue import Issue
from toolstile.model.job import Ending
from toolstile.model.result import Input, Isolation, Metadata, ToolResult
from toolstile.model.vocabulary import EffectsState, Enforcer, SideEffect, Status, Verdict
from toolstile.runtime.ended import Ended
from toolstile.runtime.progress import Progress, now
from toolstile.runtime.request import storable

# How the endings of a run become statuses (contract section 3).
_RUN_ENDINGS: dict[Ending, tuple[Status, str]] = {
    Ending.EXCEPTION: (Status.FAILED, "TOOL_EXCEPTION"),
    Ending.CRASH: (Status.FAILED, "OUTCOME_UNKNOWN"),
    Ending.TIMEOUT: (Status.TIMEOUT, "TIMEOUT"),
    Ending.CANCELLED: (Status.CANCELLED, "CANCELLED"),
    Ending.LIMIT: (Status.RESOURCE_LIMIT_EXCEEDED, "LIMIT_MEMORY"),
    Ending.VIOLATION: (Status.SECURITY_VIOLATION, "SECURITY_VIOLATION"),
    Ending.UNFIT: (Status.SANDBOX_ERROR, "SANDBOX_ERROR"),
}
_LIMITS = ("LIMIT_MEMORY", "LIMIT_CPU", "LIMIT_OUTPUT")
# Codes that say what the line found. A tool's own failure must not pass for one of them.
_OURS = re.compile(r"ACODE_TSR_\d+|LIMIT_[A-Z]+|TOOL_EXCEPTION")
MAX_SHOWN = 10  # paths in a message; a person who approved them has seen them all
_MAY_HAVE_HAPPENED = " It may have had effects: check before repeating it."


def unknown_tool(error: UnknownToolError) -> Ended:
    """No such tool: with the names that come near."""
    issues = (issue.unknown_tool(error),)
    return Ended(Status.TOOL_NOT_FOUND, "ACODE_TSR_001", str(error), issues=issues)


def denied(decision: Decision, written_in: str) -> Ended:
    """The gate said no: what is missing, and what to write where to change that."""
    said = "; ".join(r.text for r in decision.reasons if r.effect is Verdict.DENY)
    changes = ", and ".join(map(str, decision.repair))
    repair = f" In {written_in}, add {changes}." if changes else ""
    licence = any(r.source == "licence" and r.effect is Verdict.DENY for r in decision.reasons)
    status = Status.LICENSE_REQUIRED if licence else Status.PERMISSION_DENIED
    return Ended(status, status.name, f"denied: {said}.{repair}")


def unreadable(lost: tuple[str, ...]) -> Ended:
    """The call is answered already, and its caller may no longer see what was answered."""
    return Ended(
        Status.PERMISSION_DENIED,
        "PERMISSION_DENIED",
        f"denied: the stored result rests on rights that are gone: {', '.join(lost)}. "
        "Grant them again, or call without them under a new call id.",
    )


def mismatch() -> Ended:
    """An approval that does not fit what would happen now."""
    return Ended(
        Status.PERMISSION_DENIED,
        "APPROVAL_MISMATCH",
        "the approval does not fit: request, rights, code or changes are not what was approved, "
        "or the answer came too late. Look at the call again; if it still does not fit, deny it, "
        "and make the call anew under another call id",
    )


def asked(decision: Decision, execution_id: str) -> Ended:
    """A person must agree before the call runs."""
    why = "; ".join(r.text for r in decision.reasons if r.effect is Verdict.ASK)
    message = (
        f"waits for confirmation: {why}. Approve with `toolstile confirm approve {execution_id}`."
    )
    return Ended(Status.REQUIRES_CONFIRMATION, "REQUIRES_CONFIRMATION", message)


def held(at: Progress) -> Ended:
    """A person must agree to the changes; nothing has been changed yet. What they are is for that
    person only: a tool that may write a file need not be allowed to read it, nor its model."""
    number = len(at.manifest.changes)
    files = "1 file" if number == 1 else f"{number} files"
    message = (
        f"has run without changing anything; {files} would change, and a person has to agree. "
        f"Look with `toolstile confirm show {at.execution_id}`, "
        f"approve with `toolstile confirm approve {at.execution_id}`."
    )
    return Ended(
        Status.REQUIRES_CONFIRMATION,
        "REQUIRES_CONFIRMATION",
        message,
        effects_state=EffectsState.NONE,
    )


def taken(execution_id: str) -> Ended:
    """Another executor has the call."""
    return Ended(
        Status.FAILED,
        "CALL_IN_FLIGHT",
        f"call {execution_id} was answered or taken over elsewhere; look up its result",
    )


def id_taken() -> Ended:
    """The execution id that the caller chose names another call."""
    return Ended(
        Status.VALIDATION_ERROR,
        "CALL_KEY_REUSED",
        "the execution id is that of another call; leave it out: one is made for every call",
    )


def no_implementation(message: str) -> Ended:
    """A definition without a body, or one that asks for what this version cannot do."""
    return Ended(Status.FAILED, "NO_IMPLEMENTATION", message)


def failed(at: Progress) -> Ended:
    """The run ended without a value."""
    outcome = at.outcome
    if outcome.ending is Ending.ERROR:
        code = "TOOL_ERROR" if _OURS.fullmatch(outcome.code) else outcome.code
        return Ended(Status.FAILED, code, outcome.message, effects_state=_effects(at))
    status, code = _RUN_ENDINGS[outcome.ending]
    if outcome.code in _LIMITS:
        code = outcome.code
    message = outcome.message
    if outcome.ending is Ending.EXCEPTION:
        # AGN section 4.3: no internals to the model; the detail is in the log.
        name = at.definition.name
        message = f"{name} failed to process arguments. Execution: {at.execution_id}."
    if outcome.ending is Ending.UNFIT:
        return Ended(status, code, message)
    state = _effects(at)
    if state is EffectsState.UNKNOWN:
        message += _MAY_HAVE_HAPPENED
    return Ended(status, code, message, effects_state=state)


def _effects(at: Progress) -> EffectsState:
    """After an unsuccessful run: unknown where anything may have happened at once, discarded
    where all of it was staged. Of a held call only the staged part is left to speak of."""
    if at.started and _at_once(at):
        return EffectsState.UNKNOWN
    staged = SideEffect.FS_WRITE in at.definition.effects
    return EffectsState.DISCARDED if staged and at.happened else EffectsState.NONE


def _at_once(at: Progress) -> frozenset[SideEffect]:
    """The effects that do not wait in the stage: they have happened when the run is over."""
    writes = frozenset(effect for effect in at.definition.effects if effect.writes)
    by_handle = at.decision.enforced_by.get("fs_write") is Enforcer.HANDLE
    return writes - {SideEffect.FS_WRITE} if by_handle else writes


def succeeded(at: Progress) -> EffectsState:
    """After a successful run: what the tool declares to do it has done; what a tool does that
    declares nothing, nobody knows."""
    if at.manifest.changes:
        return EffectsState.COMMITTED
    if at.definition.side_effects is None:
        return EffectsState.UNKNOWN
    return EffectsState.COMMITTED if _at_once(at) else EffectsState.NONE


def bad_output(issues: tuple[Issue, ...], at: Progress) -> Ended:
    """The tool's output breaks its own schema; what it staged is thrown away."""
    return Ended(
        Status.OUTPUT_VALIDATION_FAILED,
        issues[0].error_code.replace("-", "_"),
        f"the output does not fit the tool's schema: {issues[0].message}",
        issues=issues,
        effects_state=_effects(at),
    )


def unstorable(error: Exception, at: Progress) -> Ended:
    """The output is no JSON that can be stored and hashed."""
    return Ended(
        Status.OUTPUT_VALIDATION_FAILED,
        "ACODE_TSR_005",
        f"the output cannot be stored: {error}",
        effects_state=_effects(at),
    )


def violation(paths: list[str], at: Progress) -> Ended:
    """The run staged writes that were never granted; none of them happens."""
    state = _effects(at)
    unknown = _MAY_HAVE_HAPPENED if state is EffectsState.UNKNOWN else ""
    return Ended(
        Status.SECURITY_VIOLATION,
        "SECURITY_VIOLATION",
        f"the tool tried to write {len(paths)} path(s) that were not granted to this call; "
        f"no file was changed.{unknown}",
        # A list of writes by a tool that declares none: it is thrown away all the same.
        effects_state=EffectsState.DISCARDED if state is EffectsState.NONE else state,
    )


def unsealable(error: ValueError | OverflowError, at: Progress) -> Ended:
    """What was staged is nothing that handles stage, or too large; none of it happens."""
    large = isinstance(error, OverflowError)
    status = Status.RESOURCE_LIMIT_EXCEEDED if large else Status.SECURITY_VIOLATION
    state = _effects(at)
    unknown = _MAY_HAVE_HAPPENED if state is EffectsState.UNKNOWN else ""
    return Ended(
        status,
        "LIMIT_DISK" if large else status.name,
        f"what the tool staged is refused: {error}; no file was changed.{unknown}",
        effects_state=EffectsState.DISCARDED if state is EffectsState.NONE else state,
    )


def conflict(conflicts: tuple[Conflict, ...], at: Progress) -> Ended:
    """Somebody changed the files meanwhile, or they cannot be written; theirs is kept."""
    state = _effects(at)
    unknown = _MAY_HAVE_HAPPENED if state is EffectsState.UNKNOWN else ""
    left = any(each.changed for each in conflicts)
    done = "not every file could be put back" if left else "no file was written"
    return Ended(
        Status.FAILED,
        "EFFECT_CONFLICT",
        f"{done}: {reasons(conflicts)}. Look at them, then call the tool again.{unknown}",
        effects_state=EffectsState.UNKNOWN if left else state,
    )


def reasons(conflicts: tuple[Conflict, ...]) -> str:
    """What is in conflict, each with its reason: all that was changed, and some of the rest."""
    changed = [each for each in conflicts if each.changed]
    others = [each for each in conflicts if not each.changed]
    more = len(others) - MAX_SHOWN
    said = "; ".join(f"{each.path} ({each.reason})" for each in changed + others[:MAX_SHOWN])
    return f"{said}; and {more} more" if more > 0 else said


def cancelled(at: Progress) -> Ended:
    """The caller's task was cancelled."""
    state = _effects(at) if at.has("decision") else EffectsState.NONE
    return Ended(Status.CANCELLED, "CANCELLED", "cancelled by the caller", effects_state=state)


def broken(at: Progress, error: Exception) -> Ended:
    """Something of ours failed: nothing is allowed because of it."""
    happened = at.happened
    if isinstance(error, StoreUnavailable) and not happened:
        message = f"nothing was run: {error}"
        return Ended(Status.FAILED, "RECORD_UNAVAILABLE", message)
    state = EffectsState.UNKNOWN if happened else EffectsState.NONE
    code = "OUTCOME_UNKNOWN" if happened else "INTERNAL_ERROR"
    message = f"an error in toolstile ended the call {at.execution_id}; see the log"
    return Ended(Status.FAILED, code, message, effects_state=state)


def result(at: Progress) -> ToolResult:
    """The ToolResult of a call that has ended, well or early."""
    ended = at.ended
    succeeded = ended is None
    output = at.output if succeeded else None
    return ToolResult(
        input=_input(at),
        status=Status.SUCCESS if ended is None else ended.status,
        error_code=None if ended is None else ended.code,
        error_message=None if ended is None else ended.message,
        issues=() if ended is None else ended.issues,
        output=output.value if output else None,
        digest=output.digest if output else None,
        side_effects=declared(at),
        effects=effects_of(at.manifest) if succeeded else (),
        effects_state=at.effects_state if ended is None else ended.effects_state,
        decision=at.decision if at.has("decision") else None,
        preview=at.request.preview is True,  # whatever was written in its place
        metadata=_metadata(at),
    )


def _input(at: Progress) -> Input:
    found = at.has("tool")
    asked = at.call if at.has("call") else at.request
    arguments: Any = None
    if at.has("arguments"):
        arguments = at.arguments
    elif at.has("call"):
        arguments = at.call.arguments
    return Input(
        tool=at.definition.name if found else storable(asked.tool) or "",
        version=at.definition.exported_version if found else storable(asked.version),
        definition=at.definition.digest if found else None,
        arguments=arguments,
    )


def declared(at: Progress) -> tuple[str, ...]:
    """The side effects that the tool declares, in words."""
    effects = at.definition.side_effects if at.has("tool") else None
    return tuple(effect.value for effect in effects or ())


def effects_of(manifest: Manifest) -> tuple[Effect, ...]:
    """What a manifest that has been committed did."""
    return tuple(
        Effect(type=change.type, resource=change.path, timestamp=now())
        for change in manifest.changes
    )


def _metadata(at: Progress) -> Metadata:
    caller = at.request.caller
    outcome = at.outcome if at.has("outcome") else None
    output = at.output if at.has("output") and at.ended is None else None
    isolation = None
    if outcome is not None:
        isolation = Isolation(
            requested=at.level,
            obtained=outcome.obtained,
            mechanism=outcome.mechanism,
        )
    return Metadata(
        execution_id=at.execution_id,
        started_at=at.started_at,
        completed_at=now(),
        duration_ms=at.duration_ms,
        output_size=len(output.data) if output else None,
        output_truncated=output.truncated if output else False,
        sandbox_id=outcome.sandbox_id if outcome else None,
        isolation=isolation,
        # A plain child reports what its handles did; nobody watched the rest.
        effects_complete=outcome is None,
        resource_metrics=outcome.metrics if outcome else None,
        execution_metrics=dict(outcome.execution_metrics) if outcome else {},
        tenant=caller.tenant,
        agent_id=caller.agent,
        user_id=caller.user,
        session_id=caller.session,
        conversation_id=caller.conversation,
        call_id=storable(at.request.call_id),
        correlation_id=storable(at.request.correlation_id),
    )
