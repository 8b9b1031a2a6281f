"""Issues in the contract's words: about schemas here, about values from the engine's errors."""

from __future__ import annotations

from toolstile.model.issue import SCHEMA_INVALID, Issue


def fault(
    path: str,
    code: str,
    reason: str,
    hint: str,
    expected: str | None = None,
    actual: str | None = None,
) -> Issue:
    """An issue about a schema: ACODE-TSR-006 with the seed's words in front."""
    return Issue(
        path=path,
        code=code,
        error_code=SCHEMA_INVALID,
        message=f"Schema is invalid: {reason}",
        expected=expected,
        actual=actual,
        hint=hint,
    )
