"""Arguments named in running text, and example calls, held against the schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from toolstile.schema.usage.headings import long_form
from toolstile.schema.usage.schema import QUOTED_NAME, Arguments
from toolstile.schema.usage.values import has_wrong

_SPOKEN_OF = re.compile(
    rf"\b(?:argument|parameter) (?P<after>{QUOTED_NAME})"
    rf"|(?P<before>{QUOTED_NAME}) (?:argument|parameter)\b"
    r"|\bthe (?P<plain>[a-z]\w*_\w+|[a-z]+[A-Z]\w*) (?:argument|parameter)\b"
)
_COMPOUND = re.compile(r"\b[a-z]+_\w+\b")  # another tool may be meant, and its argument
_DENIES = re.compile(r"\b(?:no|not|never|without|unknown|instead|unlike|neither|nor)\b")
_KEYWORD = re.compile(r"(?:^|,)\s*([A-Za-z_]\w*)\s*=(?!=)\s*(\"[^\"]*\"|'[^']*'|[^,\s]*)")
_MOST_CALLS = 32


_CALLED_BAD = re.compile(r"[❌✗✘]|\b(?:bad|wrong)\b", re.IGNORECASE)


def speaks_of_unknown(text: str, arguments: Arguments) -> bool:
    """True for "the `x` argument" where there is no such argument and none is denied."""
    if denies(text) or not arguments.closed:
        return False
    others = {word for word in _COMPOUND.findall(text) if not arguments.knows(word)}
    spoken = (
        found["after"] or found["before"] or found["plain"] for found in _SPOKEN_OF.finditer(text)
    )
    names = {word.strip("`\"'") for word in spoken}
    return any(not arguments.knows(name) and not others - {name} for name in names)


def denies(text: str) -> bool:
    """True for a sentence that says what is not so."""
    return _DENIES.search(long_form(text.lower())) is not None


def misfits(text: str, name: str, arguments: Arguments) -> Iterator[str]:
    """What is wrong with the example calls of a sentence that does not call them bad."""
    if denies(text) or _CALLED_BAD.search(text):
        return
    start = re.compile(rf"(?<![\w.]){re.escape(name)}\s*\(\s*|[\"']arguments[\"']\s*:\s*(?={{)")
    for found in islice(start.finditer(text), _MOST_CALLS):
        example = _example(text, found.end())
        if example is not None:
            yield from _unlike(example, arguments)


def _example(text: str, start: int) -> dict[str, Any] | None:
    """The arguments of a written call; None where it is not spelt out."""
    if text[start : start + 1] == "{":
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None
    inside = text[start:].split(")", 1)[0]
    if "..." in inside or "…" in inside or ")" not in text[start:]:
        return None
    words = {found[1]: found[2] for found in _KEYWORD.finditer(inside)}
    return {name: word[1:-1] if word[:1] in "\"'" else None for name, word in words.items()} or None


def _unlike(example: dict[str, Any], arguments: Arguments) -> Iterator[str]:
    needed = {name for name, argument in arguments.top.items() if argument.required}
    if (arguments.closed and example.keys() - arguments.top.keys()) or needed - example.keys():
        yield "shows a call with arguments unlike the schema's"
    for name, value in example.items():
        given = value if isinstance(value, list) else [value]
        words = [each for each in given if isinstance(each, str)]
        if has_wrong(words, arguments.top.get(name)):
            yield "shows a call with a value that the schema does not allow"
