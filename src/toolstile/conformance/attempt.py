"""What became of one case on one target, and whether that is right."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from toolstile.conformance.suite import Case
from toolstile.model.json import JsonValue

# As much of a foreign message as is kept: enough to see which check spoke.
MAX_DETAIL = 200


class Refused(Exception):
    """Raised by an adapter where a framework has refused a call, or has told the model of an error
    in place of an output."""


class Unsupported(Exception):
    """Raised by an adapter for a tool or case that its framework cannot express; no failure."""


class Fate(StrEnum):
    """What a target did with a call."""

    RAN = "ran"
    REFUSED = "refused"
    CRASHED = "crashed"  # and what served the tool is gone
    UNSUPPORTED = "unsupported"


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a target. `got` is what its tool got, or the caller, in a list of none or one."""

    fate: Fate
    got: tuple[JsonValue, ...] = ()
    detail: str = ""


class Outcome(StrEnum):
    """The verdict on an attempt."""

    RIGHT = "right"
    LET_THROUGH = "let through"  # what is malformed ran, or a wrong output was handed on
    TURNED_AWAY = "turned away"  # what is well-formed was refused
    ALTERED = "altered"  # it ran with another value than was sent
    CRASHED = "crashed"
    NOT_APPLICABLE = "not applicable"


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One case and how a target did on it."""

    case: Case
    outcome: Outcome
    detail: str = ""


def judged(case: Case, attempt: Attempt) -> Result:
    """The verdict of the standard on what a target did."""
    return Result(case=case, outcome=_outcome(case, attempt), detail=attempt.detail[:MAX_DETAIL])


def _outcome(case: Case, attempt: Attempt) -> Outcome:
    match attempt.fate:
        case Fate.UNSUPPORTED:
            return Outcome.NOT_APPLICABLE
        case Fate.CRASHED:
            return Outcome.CRASHED
        case Fate.REFUSED:
            return Outcome.TURNED_AWAY if case.accept else Outcome.RIGHT
    if not case.accept:
        return Outcome.LET_THROUGH
    right = any(same(got, value) for got in attempt.got for value in case.received)
    return Outcome.RIGHT if right else Outcome.ALTERED


def same(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are equal as JSON Schema has it: 10 is 10.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one == other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other
