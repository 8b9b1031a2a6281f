"""Tools that somebody wrote down: mappings from a configuration file to definitions.

A pure translation: nothing is imported, opened or run, whatever a `source` names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from toolstile.model.definition import ToolDefinition
from toolstile.model.issue import Issue
from toolstile.model.json import describe
from toolstile.schema.defining import STANDARD, Inspection, Vocabulary, inspect
from toolstile.schema.issue import fault
from toolstile.schema.trust import trust_faults

# Deeper than any definition may nest (a schema may have 32 levels), and far from where Python
# itself gives up.
MAX_DEPTH = 100
SHOWN = 3  # issues in a reason of one line; all of them are in `.issues`

_TRUST = "write standard or stricter, or register the tool from Python as trusted"


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Something that could not be loaded: its name, its place in the list, and why."""

    name: str
    index: int
    issues: tuple[Issue, ...]

    @property
    def reason(self) -> str:
        """Why, on one line."""
        more = len(self.issues) - SHOWN
        texts = [
            f"{issue.path or '(whole)'}: {issue.message} ({issue.hint})"
            for issue in self.issues[:SHOWN]
        ]
        return "; ".join([*texts, f"and {more} more"] if more > 0 else texts)


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """What a list of mappings came to. `tools` keeps the order of the list."""

    tools: tuple[ToolDefinition, ...]
    failures: tuple[Failure, ...] = ()


def declared_tools(mappings: Iterable[Any], vocabulary: Vocabulary = STANDARD) -> Declared:
    """The definitions of those that are sound, and why each of the others is not."""
    tools: list[ToolDefinition] = []
    failures: list[Failure] = []
    for index, document in enumerate(mappings):
        read = read_declared(document, vocabulary)
        if read.definition is None:
            failures.append(Failure(name=name_of(document), index=index, issues=read.issues))
        else:
            tools.append(read.definition)
    return Declared(tools=tuple(tools), failures=tuple(failures))


def read_declared(document: Any, vocabulary: Vocabulary = STANDARD) -> Inspection:
    """What one definition in a file comes to: its faults where it may not be registered."""
    shape = shape_fault(document)
    if shape is not None:
        return Inspection(None, (shape,))
    inspected = inspect(document, vocabulary)
    issues = (*inspected.issues, *trust_faults(inspected, _TRUST))
    return Inspection(None if issues else inspected.definition, issues, inspected.warnings)


def shape_fault(document: Any) -> Issue | None:
    """What would keep a definition from being read at all."""
    if not isinstance(document, Mapping):
        what = describe(document) if _is_json(document) else type(document).__name__
        reason = f"a definition must be a mapping, not {what}"
        return fault("", "type", reason, "write {name: ..., description: ...}")
    if not _is_json(document):
        reason = f"it holds what JSON cannot say, or more than {MAX_DEPTH} levels"
        return fault("", "invalid_json", reason, "use strings, numbers, true, false, null")
    return None


def _is_json(value: Any, depth: int = 0) -> bool:
    if depth > MAX_DEPTH:
        return False
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_json(value[key], depth + 1) for key in value)
    if isinstance(value, (list, tuple)):
        return all(_is_json(item, depth + 1) for item in value)
    return value is None or isinstance(value, (str, int, float))


def name_of(document: Any) -> str:
    """A name to report a failure under; the name itself may be what is wrong."""
    written = document.get("name") if isinstance(document, Mapping) else None
    shown = isinstance(written, str) and written.strip() and written.isprintable()
    return str(written)[:64] if shown else "(unnamed)"
