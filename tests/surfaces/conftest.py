"""What all tests of the command line need."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _own_variables_are_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the tests' own corpora lie is said in variables that a command would warn of."""
    for name in ("TOOLSTILE_CORPORA", "TOOLSTILE_SEEDS"):
        monkeypatch.delenv(name, raising=False)
