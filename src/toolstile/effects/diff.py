"""What a change would do, for people: a unified diff where that can be read, else one line."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from pathlib import Path

from toolstile.effects.regular import opened
from toolstile.model.effect import Change

# A diff is for reading; what is longer is summarised.
MAX_DIFF_BYTES = 256 * 1024
# Pairs of equal lines that are compared. Ordinary files of 5,000 lines have about as many as
# lines; texts made to be slow have millions, and would hold the whole process up for hours.
MAX_PAIRS = 50_000


def diff(stage: Path, change: Change) -> str:
    """What this change would do. Nothing is followed or waited for in showing it."""
    before = _Side(Path(change.path) if change.base is not None else None)
    after = _Side(stage / change.staged if change.staged is not None else None)
    mode = _mode(change)
    if change.append:
        if before.reason and not after.reason:
            added = "".join(f"+{line}\n" for line in after.text.splitlines())
            return f"{mode}{change.type.value} {change.path} (added to its end)\n{added}"
        after = _joined(before, after)
    reason = before.reason or after.reason
    if not reason and _pairs(before.text, after.text) > MAX_PAIRS:
        reason = "too much alike in too many places to be compared"
    if reason:
        return f"{mode}{change.type.value} {change.path} ({reason}: {_sizes(before, after)})"
    lines = difflib.unified_diff(
        before.text.splitlines(keepends=True),
        after.text.splitlines(keepends=True),
        fromfile=change.path if change.base is not None else "/dev/null",
        tofile=change.path if change.new is not None else "/dev/null",
    )
    return mode + "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


class _Side:
    """A file before or after its change: its text, or the reason why that is not shown."""

    def __init__(self, path: Path | None) -> None:
        self.text = self.reason = ""
        self.size: int | None = None
        if path is None:
            return
        try:
            with opened(path) as file:
                self.size = os.fstat(file.fileno()).st_size
                data = file.read(MAX_DIFF_BYTES + 1)
            self.text = data.decode("utf-8")
        except UnicodeDecodeError:
            self.reason = "binary"
        except OSError:
            self.reason = "cannot be read"
        if self.size is not None and self.size > MAX_DIFF_BYTES:
            self.reason = "too large to show"


def _joined(before: _Side, tail: _Side) -> _Side:
    whole = _Side(None)
    whole.text, whole.reason = before.text + tail.text, tail.reason
    whole.size = (before.size or 0) + (tail.size or 0)
    return whole


def _sizes(before: _Side, after: _Side) -> str:
    if before.size is None:
        return "new" if after.size is None else f"new, {after.size:,} bytes"
    if after.size is None:
        return f"{before.size:,} bytes"
    return f"{before.size:,} → {after.size:,} bytes"


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
