"""The straight line. Every call of every surface goes through `Executor.call`, and only there.

| # | step | here | ends early with |
|---|---|---|---|
| 0 | receive | the surface | |
| 1 | parse | `parse_request` | VALIDATION_ERROR |
| 2 | replay? | `_replay` | the stored result, if its rights are still held; in flight |
| 3 | find | `_find` | TOOL_NOT_FOUND |
| 4 | check input | `_check_input` | VALIDATION_ERROR |
| 5 | name resources | `name_resources` | PERMISSION_DENIED |
| 6 | decide | `_decide` | NO_IMPLEMENTATION, PERMISSION_DENIED, REQUIRES_CONFIRMATION, ... |
| 7 | claim, record intent | `_claim` | in flight; no record, no run |
| 8 | run | `_run` | TIMEOUT, CANCELLED, FAILED, ... |
| 9 | check output | `_check_output` | OUTPUT_VALIDATION_FAILED |
| 10 | normalise, seal effects | `_normalise` | |
| 11 | hold, if staged and unapproved | `_hold` | REQUIRES_CONFIRMATION |
| 12 | commit effects | `_commit` | EFFECT_CONFLICT |
| 13 | record | `_record` | |
| 14 | tell | `tell` | never stops or fails a call |

A call never raises for what a tool, a model or a policy does. Whatever goes wrong in our own code
denies: it is recorded as FAILED, and if the tool may have run its effects are called unknown.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolstile.authoring import Tool
from toolstile.errors import StoreUnavailable, UnknownToolError
from toolstile.gate.decide import decide
from toolstile.model.call import uuid7
from toolstile.model.decision import Decision, NamedResource
from toolstile.model.effect import Manifest
from toolstile.model.event import Event
from toolstile.model.job import Ending, Outcome
from toolstile.model.record import UNFINISHED, CallRecord, CallState
from toolstile.model.result import ToolResult
from toolstile.model.vocabulary import EffectsState, Verdict
from toolstile.runtime import endings, events, records
from toolstile.runtime.ended import Ended, invalid
from toolstile.runtime.host import CallHost
from toolstile.runtime.normalize import Output, normalise
from toolstile.runtime.ports import Effects, Sandbox, Store
from toolstile.runtime.progress import Progress
from toolstile.runtime.recovery import recover
from toolstile.runtime.request import Request, parse_request
from toolstile.runtime.resources import beyond, name_resources
from toolstile.runtime.setting import Setting, facts_of, job_of, unrunnable
from toolstile.runtime.whole import whole
from toolstile.schema.compiled import arguments_of, compiled
from toolstile.schema.parse import check_value

log = logging.getLogger("toolstile")

# How many ends of calls wait in memory for a store that takes nothing; older ones are for recovery.
MAX_LATE = 64

Observer = Callable[[Event], None]
"""Is told what happened. What it raises is logged and changes nothing."""


class Executor:
    """Walks the line; holds the ports, and of calls only which are on the line, and results that
    the store has not taken yet."""

    def __init__(
        self,
        setting: Setting,
        store: Store,
        sandbox: Sandbox,
        effects: Effects,
        observers: Iterable[Observer] = (),
    ) -> None:
        self.setting = setting
        self.store = store
        self.sandbox = sandbox
        self.effects = effects
        self.observers = tuple(observers)
        self._sequence = itertools.count(1)
        self._walking: dict[Progress, asyncio.Task[ToolResult]] = {}
        self._closed = False
        self._recovering = asyncio.Lock()
        self._late: deque[tuple[CallRecord, CallState]] = deque(maxlen=MAX_LATE)

    async def call(self, request: Request) -> ToolResult:
        """The result of one call, recorded and told before it is returned.

        Whoever stops waiting for it has given it up. It still goes to its end, where that is
        recorded: between two steps of the line nothing is ever lost.
        """
        at = Progress(request)
        line = self._walking[at] = asyncio.create_task(self._walk(at))
        line.add_done_callback(lambda _: self._walking.pop(at))
        try:
            return await asyncio.shield(line)
        except asyncio.CancelledError:
            at.given_up.set()
            await whole(line)
            raise

    async def _walk(self, at: Progress) -> ToolResult:
        try:
            at.call = parse_request(at.request, at.execution_id)  # 1  parse
            at.earlier = await self._replay(at)  # 2  replay?
            at.tool = self._find(at)  # 3  find
            at.arguments = self._check_input(at)  # 4  check input
            at.resources = self._name_resources(at)  # 5  name resources
            at.decision = await self._decide(at)  # 6  decide
            at.record = await self._claim(at)  # 7  claim, intent
            at.outcome = await self._run(at)  # 8  run
            value = self._check_output(at)  # 9  check output
            at.output, at.manifest = await self._normalise(at, value)  # 10 normalise
            await self._hold(at)  # 11 hold
            at.effects_state = await self._commit(at)  # 12 commit effects
        except Ended as ended:
            at.ended = ended
        except asyncio.CancelledError:  # the event loop itself is being closed
            if at.has("record") and at.record.state is CallState.COMMITTING:
                raise  # past the commit point there is one way on, and recovery takes it
            at.ended = endings.cancelled(at)
            self.tell(await self._record(at))
            raise
        except Exception as error:  # law 2: an error of ours denies; the log says which it was
            log.exception("[TLS-RUN] The call failed in toolstile. execution=%s", at.execution_id)
            at.ended = endings.broken(at, error)
        result = await self._record(at)  # 13 record
        self.tell(result)  # 14 tell
        return result

    async def end(self, waiting: CallRecord, result: ToolResult) -> bool:
        """Steps 13 and 14 for a call that waits, and will not go on: a person said no. False
        where it has been answered elsewhere."""
        return await whole(self._end(waiting, result))

    async def _end(self, waiting: CallRecord, result: ToolResult) -> bool:
        if not await self.store.advance(records.ended(waiting, result), waiting.state):
            return False
        self.tell(result)
        await self.effects.discard(waiting.execution_id)
        return True

    def tell(self, result: ToolResult) -> None:
        """Step 14: how a call ended, or that it waits. No observer can stop or fail it."""
        event = events.told(result, next(self._sequence))
        for observer in self.observers:
            try:
                observer(event)
            except (Exception, asyncio.CancelledError, SystemExit):  # a stranger's end is not ours
                log.exception("[TLS-OBS] An observer failed and was passed over")

    def cancel(self, tenant: str, execution_id: str) -> bool:
        """Ask a running call of a tenant to stop; True if it was running here."""
        asked = [
            at
            for at in self._walking
            if (at.request.caller.tenant, at.execution_id) == (tenant, execution_id)
        ]
        for at in asked:
            at.given_up.set()
        return bool(asked)

    async def close(self) -> None:
        """Stop the calls that still run, and wait until each is recorded: whoever closes the store
        before that would leave their processes running and their ends unknown."""
        self._closed = True
        for at in self._walking:
            at.given_up.set()
        if self._walking:
            await asyncio.wait(self._walking.values())
        await self._catch_up()

    async def recover(self, *ours: CallRecord) -> None:
        """Bring to an end what executors that are gone have left, and tell of it; and calls of
        ours that an earlier attempt at this took over and could not end."""
        async with self._recovering:
            for record in (*ours, *await self.store.abandoned()):
                result = await recover(record, self.store, self.effects)
                if result is not None:
                    self.tell(result)

    # --- the steps, in the order of the line -----------------------------------------------

    async def _replay(self, at: Progress) -> CallRecord | None:
        if self._closed:
            raise StoreUnavailable("the runtime is closed", "open another")
        await self._catch_up()
        earlier = await self.store.find(at.call.key)
        if earlier is not None and earlier.state in UNFINISHED and not self._walks(earlier, at):
            await self.recover(*((earlier,) if earlier.owner == self.store.owner else ()))
            earlier = await self.store.find(at.call.key)
        if at.request.approval is not None:
            return records.approvable(earlier, at)
        if earlier is None:
            return None
        raise records.already_there(earlier, at.call, self.setting.rights)

    def _find(self, at: Progress) -> Tool:
        try:
            return self.setting.find(at.call.tool, at.call.version)
        except UnknownToolError as error:
            raise endings.unknown_tool(error) from error

    def _check_input(self, at: Progress) -> Mapping[str, Any]:
        # A copy: filling in defaults must not change the request that is digested and stored.
        given = check_value(at.call.arguments)
        schema = arguments_of(at.definition, self.setting.extensions)
        checked = self.setting.checking(at.definition, lambda: schema.check_parsed(given))
        if not checked.ok:
            raise invalid(checked.issues)
        arguments: Mapping[str, Any] = checked.value
        return arguments

    def _name_resources(self, at: Progress) -> tuple[NamedResource, ...]:
        setting = self.setting
        return name_resources(at.definition, at.arguments, setting.base, setting.masked)

    async def _decide(self, at: Progress) -> Decision:
        missing = unrunnable(at.tool, self.setting)  # first: nobody is asked about the impossible
        if missing is not None and not at.resumed:
            raise endings.no_implementation(missing)
        at.fingerprint = self.setting.fingerprint(at.tool)
        at.decision = decision = decide(facts_of(at, self.setting))
        if decision.verdict is Verdict.DENY:
            raise endings.denied(decision, self.setting.written_in)
        if at.request.approval is not None and decision.verdict is not Verdict.ALLOW:
            raise endings.mismatch()
        if decision.verdict is Verdict.ASK:
            ended = at.wait(endings.asked(decision, at.execution_id))
            await self._take_key(at, records.asked(at, self.store, endings.result(at)))
            raise ended
        return decision

    async def _claim(self, at: Progress) -> CallRecord:
        record = records.running(at, self.store)
        if at.earlier is None:
            await self._take_key(at, record)
        elif at.resumed:  # the person has seen the changes: claiming is the commit point
            record = records.committing(at, record)
            await self._advance(at, record, CallState.HELD)
        else:
            await self._advance(at, record, CallState.ASKED)
        return record

    async def _run(self, at: Progress) -> Outcome:
        if at.resumed:
            return records.held_outcome(at.earlier_record)
        if at.given_up.is_set():
            raise endings.cancelled(at)
        stage = await self.effects.open(at.execution_id)
        at.started = True
        return await self.sandbox.run(
            job_of(at, self.setting, stage), CallHost(at.call, at.given_up)
        )

    def _check_output(self, at: Progress) -> Any:
        if at.outcome.ending is not Ending.VALUE:
            raise endings.failed(at)
        schema = at.definition.output_schema
        extensions = self.setting.extensions
        issues = compiled(schema, extensions).issues(at.outcome.value) if schema else ()
        if issues:
            raise endings.bad_output(issues, at)
        return at.outcome.value

    async def _normalise(self, at: Progress, value: Any) -> tuple[Output, Manifest]:
        try:
            output = normalise(value, at.definition.constraints.max_output_size)
        except (ValueError, RecursionError) as error:
            raise endings.unstorable(error, at) from error
        if at.resumed:
            return output, records.manifest_of(at.earlier_record)
        try:
            manifest = await self.effects.seal(at.execution_id, at.outcome)
        except (ValueError, OverflowError) as error:
            raise endings.unsealable(error, at) from error
        forbidden = beyond(at.decision, manifest)
        if forbidden:
            raise endings.violation(forbidden, at)
        return output, manifest

    async def _hold(self, at: Progress) -> None:
        # Where nothing would be changed there is nothing to agree to.
        if at.decision.verdict is not Verdict.STAGE or not at.manifest.changes:
            return
        ended = at.wait(endings.held(at))
        await self._advance(at, records.held(at, endings.result(at)), CallState.RUNNING)
        raise ended

    async def _commit(self, at: Progress) -> EffectsState:
        if not at.manifest.changes:
            return endings.succeeded(at)
        if not at.resumed:
            # This row is the commit point: from here on recovery only rolls forward.
            record = records.committing(at, at.record)
            await self._advance(at, record, CallState.RUNNING)
            at.record = record  # not before: what could not be stored is not the call's state
        conflicts = await self.effects.commit(at.manifest)
        if conflicts:
            raise endings.conflict(conflicts, at)
        return endings.succeeded(at)

    async def _record(self, at: Progress) -> ToolResult:
        if at.ended is not None and at.ended.earlier is not None:
            return records.replayed(at.ended.earlier)
        result = endings.result(at)
        try:
            if not at.waiting:
                await self._finish(at, result)
        except StoreUnavailable as error:
            log.exception("[TLS-RES] The result is not stored. execution=%s", at.execution_id)
            return endings.result(at.unrecorded(error))
        return result

    # --- keys and states -------------------------------------------------------------------

    def _walks(self, record: CallRecord, but: Progress) -> bool:
        """Is this call on its way here?"""
        others = (at for at in self._walking if at is not but)
        return any(at.execution_id == record.execution_id for at in others)

    async def _take_key(self, at: Progress, record: CallRecord) -> None:
        holder = await self.store.claim(record) if at.earlier is None else None
        if holder is None:
            return
        if holder.key != record.key:
            at.execution_id = uuid7()  # the other is another call's, and perhaps another tenant's
            raise endings.id_taken()
        raise records.already_there(holder, at.call, self.setting.rights)

    async def _advance(self, at: Progress, record: CallRecord, expected: CallState) -> None:
        if not await self.store.advance(record, expected):
            raise endings.taken(at.execution_id)

    async def _finish(self, at: Progress, result: ToolResult) -> None:
        if not at.has("record"):
            await self.store.note(records.finished(at, result, CallState.REFUSED, self.store))
            return
        record = records.finished(at, result, CallState.DONE, self.store)
        try:
            stored = await self.store.advance(record, at.record.state)
        except StoreUnavailable:
            self._late.append((record, at.record.state))
            raise
        if not stored:
            raise StoreUnavailable("another executor took the call over", "look up its result")
        await self.effects.discard(at.execution_id)

    async def _catch_up(self) -> None:
        """Record how calls ended while nothing could be: until then they would pass for running,
        and whoever sends one again would wait for a result that nobody brings."""
        while self._late:
            record, expected = self._late.popleft()
            try:
                await self.store.advance(record, expected)
            except StoreUnavailable:
                self._late.appendleft((record, expected))
                return
            await self.effects.discard(record.execution_id)
