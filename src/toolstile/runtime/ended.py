"""Leaving the line early: with a status, a code, and the repair."""

from __future__ import annotations

from collections.abc import Sequence

from toolstile.model.issue import Issue
from toolstile.model.record import CallRecord
from toolstile.model.vocabulary import EffectsState, Status


class Ended(Exception):
    """A call ends here. Not an error: the executor turns it into the call's result."""

    def __init__(
        self,
        status: Status,
        code: str,
        message: str,
        *,
        issues: Sequence[Issue] = (),
        effects_state: EffectsState = EffectsState.NONE,
        earlier: CallRecord | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.issues = tuple(issues)
        self.effects_state = effects_state
        self.earlier = earlier

    @classmethod
    def validation(cls, message: str, hint: str) -> Ended:
        """A fault of the request itself, outside its arguments."""
        return cls(Status.VALIDATION_ERROR, "INVALID_REQUEST", f"{message} ({hint})")


def invalid(issues: Sequence[Issue]) -> Ended:
    """Arguments that do not fit; the first issue names the code."""
    first = issues[0]
    message = first.message if len(issues) == 1 else f"{first.message} (and {len(issues) - 1} more)"
    return Ended(
        Status.VALIDATION_ERROR, first.error_code.replace("-", "_"), message, issues=issues
    )
