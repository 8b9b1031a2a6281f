"""A slice of `nox -s restarts`: what is derived does not depend on the process."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from suites.restarts import digests, restart


def test_every_restart_derives_the_same() -> None:
    """Five processes with random hash seeds, and one with a fixed seed, agree."""
    assert digests(5) == {restart(0)}
