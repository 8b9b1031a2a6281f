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
    left = MAX_VALUES
    for field, value in document.items():
        path = pointer(str(field))
        left -= _size(value, left)
        if left < 0:  # one is enough: each of them takes as long to find
            reason = f"it nests deeper than {MAX_NESTING} levels, or has too many values"
            yield fault(path, "too_deep", reason, "write a flatter and smaller value")
            return


def _kind(value: Any) -> str:
    return describe(value) if isinstance(value, (str, int, float, list, NoneType)) else "this"


def _size(value: Any, most: int) -> int:
    """How many values are in a value; more than `most` where it is too deep or too large to be
    walked. Parts that are shared count as often as they are met, so that one that refers to itself
    is both."""
    level, left = [value], most
    for _ in range(MAX_NESTING):
        members = (
            member
            for each in level
            if isinstance(each, (Mapping, list, tuple))
            for member in (each.values() if isinstance(each, Mapping) else each)
        )
        level = list(islice(members, left + 1))
        left -= len(level)
        if not level or left < 0:
            return most - left
    return most + 1
