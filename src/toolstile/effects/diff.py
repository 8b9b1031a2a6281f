"""What a change would do, for people: a unified diff where that can be read, else one line."""

from __future__ import annotations

import difflib
from collections import Counter
from pathlib import Path

from toolstile.effects.regular import opened
from toolstile.model.effect import Change

# A diff is for reading; what is longer is summarised by size and digest.
MAX_DIFF_BYTES = 256 * 1024
# Pairs of equal lines that are compared. Ordinary files of 5,000 lines have about as many as
# lines; texts made to be slow have millions, and would hold the whole process up for hours.
MAX_PAIRS = 50_000


def diff(stage: Path, change: Change) -> str:
    """What this change would do. Nothing is followed or waited for in showing it."""
    before = _text(Path(change.path)) if change.base is not None else ""
    after = _text(stage / change.staged) if change.staged is not None else ""
    mode = _mode(change)
    if before is None or after is None or _pairs(before, after) > MAX_PAIRS:
        return f"{mode}{change.type.value} {change.path} ({change.base} -> {change.new})"
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        fromfile=change.path if change.base is not None else "/dev/null",
        tofile=change.path if change.new is not None else "/dev/null",
    )
    return mode + "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _mode(change: Change) -> str:
    """The line that says who will be able to read, write or run it, where that is news."""
    if change.new is None:
        return ""
    new = f"{change.mode:04o}"
    if change.base is None:
        return "" if change.mode == 0o644 else f"mode {new} {change.path}\n"
    if change.base_mode is None:
        return ""
    old = f"{change.base_mode:04o}"
    return "" if old == new else f"mode {old} -> {new} {change.path}\n"


def _pairs(before: str, after: str) -> int:
    ours, theirs = Counter(before.splitlines()), Counter(after.splitlines())
    return sum(number * theirs[line] for line, number in ours.items())


def _text(path: Path) -> str | None:
    """A file's text; None where it is long, no text, or no file."""
    try:
        with opened(path) as file:
            data = file.read(MAX_DIFF_BYTES + 1)
        return None if len(data) > MAX_DIFF_BYTES else data.decode("utf-8")
    except (UnicodeDecodeError, OSError):
        return None
