"""Whether a definition as given can be walked at all, before anything copies it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from types import NoneType
from typing import Any

from toolstile.model.issue import Issue, pointer
from toolstile.model.json import describe
from toolstile.schema.issue import fault

# Far beyond any definition that is within its bounds: what is more is not copied.
MAX_NESTING = 150
MAX_VALUES = 1_000_000


def unreadable(document: Any) -> Iterator[Issue]:
    """Why a document cannot even be copied: it is none, or a part of it comes to no end."""
    if not isinstance(document, Mapping):
        hint = "write {name: ..., description: ..., ...}"
        yield fault("", "type", f"a definition must be an object, not {_kind(document)}", hint)
        return
    for field, value in document.items():
        path = pointer(str(field))
        if _is_endless(value):
            reason = f"it nests deeper than {MAX_NESTING} levels, or has too many values"
            yield fault(path, "too_deep", reason, "write a flatter and smaller value")


def _kind(value: Any) -> str:
    return describe(value) if isinstance(value, (str, int, float, list, NoneType)) else "this"


def _is_endless(value: Any) -> bool:
    """True where a value is too deep or too large to be walked; parts that are shared count as
    often as they are met, so that one that refers to itself is both."""
    level, left = [value], MAX_VALUES
    for _ in range(MAX_NESTING):
        level = [
            member
            for each in level
            if isinstance(each, (Mapping, list, tuple))
            for member in islice(each.values() if isinstance(each, Mapping) else each, left + 1)
        ]
        left -= len(level)
        if not level or left < 0:
            return bool(level)
    return True
