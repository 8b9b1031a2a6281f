"""Level none, at which a tool runs in the host's own process: for trusted code only (LEX 4.7)."""

from __future__ import annotations

from toolstile.model.issue import Issue
from toolstile.model.vocabulary import IsolationLevel
from toolstile.schema.defining import Inspection
from toolstile.schema.issue import fault


def trust_faults(inspected: Inspection, hint: str) -> tuple[Issue, ...]:
    """What is wrong where nobody vouches for the code; `hint` says what its author may do.

    Only code that the host's author hands over can be trusted so far; a file that somebody edits
    cannot.
    """
    if inspected.isolation is not IsolationLevel.NONE:
        return ()
    reason = "level none lets a tool do whatever this process can: it is for trusted code only"
    return (fault("/constraints/required_isolation", "isolation", reason, hint),)
