"""The public test material: `tests/public`, or another folder of that shape."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(os.environ.get("TOOLSTILE_CORPORA", Path(__file__).parent / "public")).resolve()


def corpus(*parts: str) -> Path:
    """A file or folder of the corpora. Raises FileNotFoundError: no test goes without."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(f"{path}: TOOLSTILE_CORPORA is to name a folder like tests/public")
    return path


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a .jsonl or .jsonl.gz file."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
