"""The types, defaults and values that a usage text gives to arguments.

A statement is about the argument last spoken of before it, or else about `subject`, the argument
whose description it stands in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from toolstile.schema.usage.schema import FAR, NAME, QUOTED_NAME, Argument, Arguments, is_plain

_MENTION = re.compile(rf"({QUOTED_NAME})|\b({NAME})\b")


def subject_of(text: str, end: int, arguments: Arguments) -> Argument | None:
    """The argument last spoken of before a place of the text."""
    mentions = list(_MENTION.finditer(text, max(0, end - FAR), end))
    for distance, found in enumerate(reversed(mentions)):
        argument = arguments.find(found[0].strip("`\"'"))
        if argument is not None and not (is_plain(found[0]) and distance > 1):
            return argument
    return None


# --- types

_TYPE = re.compile(
    r"^[({\[](?:[^()]*?\b(?:type: ?|an? ))?\s*[\"'`]?(?:(?:required|optional),? )?"
    r"(string|str|integer|int|number|float|boolean|bool|array|list|object|dict)\b(?!\[|s\b)"
)
_JSON_TYPES = {
    "string": ("string",),
    "str": ("string",),
    "integer": ("integer", "number"),
    "int": ("integer", "number"),
    "number": ("number", "integer"),
    "float": ("number",),
    "boolean": ("boolean",),
    "bool": ("boolean",),
    "array": ("array",),
    "list": ("array",),
    "object": ("object",),
    "dict": ("object",),
}


def types_named(text: str) -> frozenset[str]:
    """The JSON types that a description gives its argument at its start; none where it does not."""
    found = _TYPE.match(text.lower())
    return frozenset(_JSON_TYPES[found[1]]) if found else frozenset()


# --- defaults

_LITERAL = (
    r"(?P<literal>`[^`\n]*`|\"[^\"\n]*\"|'[^'\n]*'"
    r"|[-+]?\d[\d,_]{0,40}(?:\.\d{1,40})?|[A-Za-z][\w.+-]{0,63}+)"
)
_DEFAULT = re.compile(
    r"\bdefault(?:s|ing)?(?: value)?(?:\s+(?:is|to|of|being|if omitted|when omitted))*\s*[:=]?\s*"
    + _LITERAL,
    re.IGNORECASE,
)
_BY_DEFAULT = re.compile(
    r"(?<![\w.+-])" + _LITERAL + r"\s+(?:by default|is the default|unless (?:told|given))\b",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"\s?(?:[kKMGT]i?B?\b|%|ms\b|[-\u2013:]\d|million|(?:if|when|unless|for|in|on)\b)"
)
_ENDS = re.compile(r"\s*(?:$|[.,;)\]}|])")
_NO_VALUE = frozenset(("", "none", "null", "empty", "nothing", "unset"))


def names_wrong_default(text: str, subject: Argument | None, arguments: Arguments) -> bool:
    """True where a default is named that the argument spoken of does not have."""
    for pattern in (_DEFAULT, _BY_DEFAULT):
        for found in pattern.finditer(text):
            argument = subject_of(text, found.start(), arguments) or subject
            if argument is not None and _is_wrong_default(found, argument):
                return True
    return False


def _is_wrong_default(found: re.Match[str], argument: Argument) -> bool:
    literal = found["literal"]
    quoted = literal[0] in "`\"'"
    word = literal.strip("`\"'").rstrip(".,")
    after = found.string[found.end("literal") :] if found.re is _DEFAULT else ""
    if _UNDECIDED.match(after) or word.lower() in _NO_VALUE:
        return False
    if argument.default is msgspec.UNSET:
        return quoted or word[-1:].isdigit() or word.lower() in ("true", "false")
    if not quoted and word[:1].isalpha():
        decided = found.re is _DEFAULT and (literal.endswith(".") or _ENDS.match(after))
        if not decided and word not in argument.written:
            return False
    return not _same(word, argument.default)


def _same(word: str, default: Any) -> bool:
    if isinstance(default, str):
        return word == default
    if isinstance(default, (dict, list)):
        return True  # too many ways to write one down
    if isinstance(default, bool) or default is None:
        return word.lower() == json.dumps(default)
    try:
        return bool(float(re.sub(r"[,_]", "", word)) == default)
    except ValueError:
        return False


# --- values

_ONE_OF = re.compile(
    r"\b(?:one of|either|any of|one or more of|(?:allowed |possible |valid )?values?(?: are|:)"
    r"|choices?:|enum:|choose (?:from|between))\s*(?:the following:?\s*)?[(\[:]?\s*",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    r"\b(?:use|pass|set (?:it )?to)\s+(?P<literal>`[^`\s]+`|\"[^\"\s]+\")", re.IGNORECASE
)
_VALUE = re.compile(r"`([^`\n]*)`|\"([^\"\n]*)\"|'([^'\n]*)'|([\w.+-]+)")
_SEPARATOR = re.compile(r"\s*(?:,\s*(?:or|and)\s+|[,|/]\s*|\s(?:or|and)\s+)")


def names_wrong_value(text: str, subject: Argument | None, arguments: Arguments) -> bool:
    """True where a value is said to be allowed that the argument spoken of does not allow."""
    wrong = False
    for found in _ONE_OF.finditer(text):
        argument = subject_of(text, found.start(), arguments) or subject
        values, sure = _listed(text, found.end())
        wrong |= sure and has_wrong(values, argument)
    if subject is not None:
        for start in _starts(text):
            values, sure = _listed(text, start)
            known = any(value in subject.written for value in values)
            wrong |= sure and known and len(values) > 1 and has_wrong(values, subject)
        chosen = [found["literal"].strip('`"') for found in _CHOSEN.finditer(text)]
        wrong |= has_wrong([v for v in chosen if not arguments.knows(v)], subject)
    return wrong


def _starts(text: str) -> Iterator[int]:
    """Where a description may begin with its values: in the parentheses, and after them."""
    found = _PAREN.match(text)
    if found is not None:
        yield 1
    yield found.end() if found is not None else 0


_PAREN = re.compile(r"[({\[][^()]*[)}\]]\s*")


def has_wrong(values: Iterable[str], argument: Argument | None) -> bool:
    """True where one of the values, as written, is none of the argument's."""
    if argument is None or argument.values is None:
        return False
    return any(value not in argument.written for value in values)


def _listed(text: str, start: int) -> tuple[list[str], bool]:
    """The values listed from a place on, and whether they are surely values."""
    values: list[str] = []
    quoted = True
    last = False
    while found := _VALUE.match(text, start):
        bare = found[4] is not None
        joint = _SEPARATOR.match(text, found.end())
        ended = _ENDS.match(text, found.end()) is not None or found[0].endswith(".")
        if bare and (not (joint or ended or last) or (values and quoted)):
            break
        values.append((found[1] or found[2] or found[3] or found[4] or "").rstrip("."))
        quoted = quoted and not bare
        if joint is None:
            break
        last = joint[0].strip(" ,") in ("or", "and")
        start = joint.end()
    return values, bool(values) and (quoted or len(values) > 1)
