"""Effects over a folder of their own, and the folder that they change."""

from __future__ import annotations

from pathlib import Path

import pytest

from effects.staging import DISKS, AtOnce


@pytest.fixture
def effects(tmp_path: Path, request: pytest.FixtureRequest) -> AtOnce:
    """Effects over a staging directory of their own; a test may name the disk."""
    return AtOnce(tmp_path / "staging", DISKS[getattr(request, "param", "all")])


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Where targets lie."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder
