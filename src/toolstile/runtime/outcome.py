"""What callers hold in Python: a result with the value in its own type, and a staged call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from toolstile.authoring import InvokeResult
from toolstile.errors import CallFailed
from toolstile.model.decision import Decision
from toolstile.model.effect import Effect
from toolstile.model.issue import Issue
from toolstile.model.result import Metadata, ToolResult
from toolstile.model.vocabulary import EffectsState, Status
from toolstile.runtime.shown import for_model

T = TypeVar("T")

if TYPE_CHECKING:
    from toolstile.runtime.approvals import Seen


class Result(Generic[T]):
    """A ToolResult with its value typed as the tool's function returns it. There is no value where
    the call failed, or its output is only a preview (`metadata.output_truncated`)."""

    def __init__(self, record: ToolResult, value: T | None) -> None:
        self.record = record
        self.value = value

    def __repr__(self) -> str:
        return f"<Result {self.record.input.tool} {self.status.word} {self.execution_id}>"

    @property
    def ok(self) -> bool:
        """True for SUCCESS only."""
        return self.record.is_success

    @property
    def execution_id(self) -> str:
        """The call's own name, for looking it up, approving and undoing it."""
        return self.record.metadata.execution_id

    @property
    def status(self) -> Status:
        """How the call ended."""
        return self.record.status

    @property
    def output(self) -> Any:
        """The output as JSON values."""
        return self.record.output

    @property
    def output_json(self) -> str:
        """The output as JSON text."""
        return json.dumps(self.record.output, ensure_ascii=False)

    @property
    def decision(self) -> Decision | None:
        """Why it was allowed, asked about or denied."""
        return self.record.decision

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What it changed."""
        return self.record.effects

    @property
    def effects_state(self) -> EffectsState:
        """What became of its effects."""
        return self.record.effects_state

    @property
    def issues(self) -> tuple[Issue, ...]:
        """What was wrong with the arguments or the output."""
        return self.record.issues

    @property
    def metadata(self) -> Metadata:
        """When, where and for whom it ran."""
        return self.record.metadata

    @property
    def error_code(self) -> str | None:
        """A stable code; None on success."""
        return self.record.error_code

    @property
    def error_message(self) -> str | None:
        """What went wrong and what to do; None on success."""
        return self.record.error_message

    @property
    def replayed(self) -> bool:
        """True where this very call had been made before: nothing ran again."""
        return self.record.replayed

    def raise_for_status(self) -> Self:
        """The result itself. Raises CallFailed unless the call succeeded."""
        if not self.ok:
            raise CallFailed(self.record)
        return self

    def for_model(self) -> InvokeResult:
        """What to send back to the model."""
        return for_model(self.record)

    def to_dict(self) -> dict[str, Any]:
        """The one ToolResult JSON."""
        return self.record.to_dict()


class Staged(Generic[T]):
    """A call that has run without changing anything: look at it, then commit or discard.

    As a context manager it discards what was not committed.
    """

    __blocking__ = True  # the blocking door wraps it

    def __init__(self, runtime: Any, result: Result[T], seen: Seen | None) -> None:
        self._runtime = runtime
        self._seen = seen
        self.result = result

    def diff(self) -> str:
        """What committing would change; empty where that is nothing."""
        return (self._seen.diff or "") if self._seen else ""

    async def commit(self, by: Any = None) -> Result[T]:
        """Apply exactly what `diff` showed."""
        if self._seen is None:
            return self.result
        seen, self._seen = self._seen, None
        result: Result[T] = await self._runtime.approve(
            seen.execution_id, by=by, digest=seen.digest
        )
        return result

    async def discard(self) -> None:
        """Throw the changes away."""
        if self._seen is not None:
            seen, self._seen = self._seen, None
            await self._runtime.deny(seen.execution_id, note="discarded")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.discard()
