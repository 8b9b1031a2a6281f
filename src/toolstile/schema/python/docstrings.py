"""What a docstring says to a model: its first paragraph, and a text for each parameter.

Google's, NumPy's and Sphinx's ways of writing are read. Nothing is guessed: a text counts only
where it stands under one of their headings.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping

import msgspec

# A docstring is written by hand; what is longer was generated, and its head will do.
MAX_CHARACTERS = 64 * 1024

_HEADING = re.compile(
    r"(?:args|arguments|params|parameters|keyword args|keyword arguments|other parameters|"
    r"attributes)\s*:?",
    re.IGNORECASE,
)
_ANY_HEADING = re.compile(r"[A-Z][A-Za-z]*(?: [A-Za-z]+)?:")
_RULE = re.compile(r"-{3,}\s*")
_SPHINX = re.compile(
    r":(?:param|parameter|arg|argument|key|keyword|ivar|var)\s+(?:[^:\n]*\s)?\*{0,2}(\w+)\s*:(.*)"
)
_GOOGLE = re.compile(r"\*{0,2}(\w+)\s*(?:\(.*\))?\s*:(?:\s+(.*)|$)")
_NUMPY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")


class Docstring(msgspec.Struct, frozen=True):
    """A docstring, read: `summary` is its first paragraph on one line."""

    summary: str = ""
    parameters: Mapping[str, str] = msgspec.field(default_factory=dict)


def read_docstring(text: str | None) -> Docstring:
    """The parts of a docstring that a model is shown; empty where there is none."""
    lines = inspect.cleandoc((text or "")[:MAX_CHARACTERS]).splitlines()
    parameters = dict(_sphinx(lines))
    for start, numpy in _sections(lines):
        body = lines[start:]
        parameters |= dict(_numpy(body) if numpy else _google(body))
    described = {name: words.strip() for name, words in parameters.items() if words.strip()}
    return Docstring(_summary(lines), described)


def _summary(lines: list[str]) -> str:
    paragraph: list[str] = []
    for index, line in enumerate(lines):
        ends = not line.strip() or _SPHINX.match(line) or _begins_section(lines, index)
        if ends and paragraph:
            break
        if not ends:
            paragraph.append(line.strip())
    return " ".join(paragraph)


def _begins_section(lines: list[str], index: int) -> bool:
    follows = lines[index + 1] if index + 1 < len(lines) else ""
    underlined = bool(_RULE.fullmatch(follows.strip()))
    return underlined or bool(_ANY_HEADING.fullmatch(lines[index].rstrip()))


def _sections(lines: list[str]) -> Iterator[tuple[int, bool]]:
    """Where the lists of parameters begin, and whether they are underlined as NumPy's are."""
    for index, line in enumerate(lines):
        if _HEADING.fullmatch(line.strip()) and not line.startswith(" "):
            underlined = index + 1 < len(lines) and _RULE.fullmatch(lines[index + 1].strip())
            if underlined or line.rstrip().endswith(":"):
                yield index + (2 if underlined else 1), bool(underlined)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _google(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Indented entries `name (type): text`, their text going on further in."""
    level = next((_indent(line) for line in lines if line.strip()), 0)
    name, words = "", list[str]()
    for line in lines:
        if line.strip() and (_indent(line) < level or level == 0):
            break
        entry = _GOOGLE.fullmatch(line.strip()) if _indent(line) == level else None
        if entry:
            yield name, " ".join(words)
            name, words = entry[1], [entry[2] or ""]
        elif line.strip():
            words.append(line.strip())
    yield name, " ".join(words)


def _numpy(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Entries `name : type` at the margin, their text indented below."""
    names, words = "", list[str]()
    for index, line in enumerate(lines):
        if line.strip() and not line.startswith(" "):
            yield from _shared(names, words)
            names, words = "", []
            entry = _NUMPY.fullmatch(line.rstrip())
            if entry is None or _begins_section(lines, index):
                return
            names = entry[1]
        elif line.strip():
            words.append(line.strip())
    yield from _shared(names, words)


def _shared(names: str, words: list[str]) -> Iterator[tuple[str, str]]:
    for name in names.split(","):
        yield name.strip().lstrip("*"), " ".join(words)


def _sphinx(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Fields `:param type name: text`, their text going on further in."""
    name, words = "", list[str]()
    for line in lines:
        entry = _SPHINX.fullmatch(line.strip())
        if entry or not line.startswith(" "):
            yield name, " ".join(words)
            name, words = (entry[1], [entry[2].strip()]) if entry else ("", [])
        elif line.strip():
            words.append(line.strip())
    yield name, " ".join(words)
