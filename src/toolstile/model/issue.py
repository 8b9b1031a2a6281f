"""One finding about a document: where, what, and how to repair it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from toolstile.errors import UnknownToolError

UNKNOWN_TOOL = "ACODE-TSR-001"
INVALID_JSON = "ACODE-TSR-002"
REQUIRED_MISSING = "ACODE-TSR-003"
TYPE_MISMATCH = "ACODE-TSR-004"
CONSTRAINT_VIOLATION = "ACODE-TSR-005"
SCHEMA_INVALID = "ACODE-TSR-006"
COMPILATION_FAILED = "ACODE-TSR-008"


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong at one place of a document.

    `path` is a JSON Pointer to the offending value (for a missing or an additional property: to
    that property; "" for the whole). `code` is the JSON Schema keyword that failed or one of our
    own words. No field ever carries argument or output text: `actual` describes, it never quotes.
    """

    path: str
    code: str
    error_code: str
    message: str
    expected: str | None = None
    actual: str | None = None
    hint: str | None = None
    causes: tuple[Issue, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON form of the contract; `causes` appears only where there are any."""
        document: dict[str, Any] = {
            "path": self.path,
            "code": self.code,
            "error_code": self.error_code,
            "message": self.message,
            "expected": self.expected,
            "actual": self.actual,
            "hint": self.hint,
        }
        if self.causes:
            document["causes"] = [cause.to_dict() for cause in self.causes]
        return document


def unknown_tool(error: UnknownToolError) -> Issue:
    """The issue of a name that no tool answers to."""
    near = ", ".join(error.suggestions)
    return Issue(
        path="",
        code="unknown_tool",
        error_code=UNKNOWN_TOOL,
        message=str(error),
        hint=f"use {near}, if that is meant" if near else "`toolstile tools list` shows them all",
    )


def pointer(*parts: str | int) -> str:
    """JSON Pointer (RFC 6901) of the given member names and indices."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


# Names in a document are its sender's choice; a longer pointer ends at the container that fits.
MAX_POINTER = 1_024


def bounded_pointer(parts: Iterable[str | int]) -> str:
    """The same, as far as it stays within MAX_POINTER."""
    path = ""
    for part in parts:
        longer = path + pointer(part)
        if len(longer) > MAX_POINTER:
            break
        path = longer
    return path


def steps(json_pointer: str) -> list[str]:
    """The names and indices of a JSON Pointer."""
    return [_unescaped(part) for part in json_pointer.split("/")[1:]]


def last_step(json_pointer: str) -> str:
    """The last of them; empty for the whole document."""
    return _unescaped(json_pointer.rpartition("/")[2])


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")
