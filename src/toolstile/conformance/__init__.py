"""A public suite of malformed calls, for this gate and for any other.

`adapters.py` says what an adapter looks like; `docs/conformance.md` shows one.
"""

from __future__ import annotations

from toolstile.conformance.adapters import AdapterTarget
from toolstile.conformance.attempt import Refused, Unsupported
from toolstile.conformance.scorecard import Scorecard, run
from toolstile.conformance.suite import Case, Suite, SuiteTool, load_suite

__all__ = [
    "AdapterTarget",
    "Case",
    "Refused",
    "Scorecard",
    "Suite",
    "SuiteTool",
    "Unsupported",
    "load_suite",
    "run",
]
