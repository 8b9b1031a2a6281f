"""Where the public test material lies."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(
    os.environ.get("TOOLSTILE_CORPORA", Path(__file__).parents[2] / "shared" / "corpora")
).resolve()


def corpus(*parts: str) -> Path:
    """A file or folder of the corpora; where there is none the test is skipped and says so."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"corpus {'/'.join(parts)} is not here (set TOOLSTILE_CORPORA)")
    return path


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a .jsonl or .jsonl.gz file."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
