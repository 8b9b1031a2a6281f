"""Usage text, the guidance that a model reads before it calls a tool (AGN section 7.2), linted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from toolstile.model.issue import Issue
from toolstile.schema.issue import fault
from toolstile.schema.usage.claims import contradictions
from toolstile.schema.usage.forbidden import forbidden, visible
from toolstile.schema.usage.schema import Arguments, is_plain, read_arguments
from toolstile.schema.usage.text import Unit, read_usage
from toolstile.schema.usage.topics import says_something, uncovered

MAX_BYTES = 16 * 1024
MAX_ISSUES = 32
# A definition with one of these is refused: the text leaks a secret or deceives its reader, or it
# is not looked at further. The rest is told to the author as warnings, because an honest text may
# be read wrongly: an address in an example need not be anybody's.
REFUSED = frozenset(
    ("usage_secret", "usage_hidden_unicode", "usage_control_character", "usage_too_large")
)
# These ask for better English; all others break AGN's rules for such texts.
ADVICE = frozenset(("usage_unclear",))

_MISSING = {
    "purpose": ("what the tool is for", "add 'Primary purpose:' and a sentence"),
    "when": ("when to use the tool", "add 'When to use:' and the cases"),
    "when_not": ("when not to use the tool", "add 'When not to use:' and the cases"),
    "precedence": ("precedence", "say what wins over what, or 'Precedence: not applicable'"),
    "idempotency": ("idempotency", "say what a repeated call does, after 'Idempotency:'"),
    "limits": ("paging and limits", "say how much comes back, or 'Limits: not applicable'"),
    "performance": ("performance", "say how often to call, or 'Performance: not applicable'"),
    "errors": ("error codes", "list the codes after 'Error codes:', or say that there are none"),
    "good": ("good usage", "add 'Good usage:' and an example"),
    "bad": ("bad usage", "add 'Bad usage:' and an example"),
}


def lint_usage(text: str, name: str, parameters: Mapping[str, Any]) -> tuple[Issue, ...]:
    """Everything wrong with the usage text of a tool, at most 32 issues; never raises."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return (_issue("usage_too_large", "the usage text is longer than 16 KiB", "say less"),)
    seen = visible(text)
    if not seen.strip():
        return (_issue("usage_empty", "the usage text is empty", "say what the tool is for"),)
    arguments = read_arguments(parameters)
    units = read_usage(seen, arguments.names)
    found = (
        *_forbidden(text, name, arguments),
        *_contradictions(units, name, arguments),
        *_missing(units, name, arguments),
        *_unnamed(units, arguments),
        *_unclear(seen, units),
    )
    return tuple(dict.fromkeys(found))[:MAX_ISSUES]


def _issue(code: str, reason: str, hint: str) -> Issue:
    return fault("/usage", code, reason, hint)


def _forbidden(text: str, name: str, arguments: Arguments) -> Iterator[Issue]:
    own_words = " ".join((name, *arguments.top))
    for find in forbidden(text, own_words):
        yield _issue(find.code, f"line {find.line} of the usage text holds {find.what}", find.hint)


def _contradictions(units: Sequence[Unit], name: str, arguments: Arguments) -> Iterator[Issue]:
    hint = "make text and schema agree"
    if arguments.top:
        hint += f"; the arguments are {', '.join(name[:64] for name in sorted(arguments.top)[:8])}"
    for claim in contradictions(units, name, arguments):
        reason = f"line {claim.line} of the usage text {claim.what}"
        yield _issue("usage_contradiction", reason, hint)


def _missing(units: Sequence[Unit], name: str, arguments: Arguments) -> Iterator[Issue]:
    for topic in uncovered(units, name, arguments.names):
        what, hint = _MISSING[topic]
        yield _issue(f"usage_missing_{topic}", f"the usage text does not speak of {what}", hint)


# --- arguments that are not explained


def _unnamed(units: Sequence[Unit], arguments: Arguments) -> Iterator[Issue]:
    said = [unit for unit in units if "bad" not in unit.topics]
    listed = "\n".join(unit.text for unit in said if "arguments" in unit.topics)
    others = "\n".join(unit.text for unit in said if "arguments" not in unit.topics)
    required = [name for name, argument in arguments.top.items() if argument.required]
    missing = (name for name in required if not _is_named(name, listed, others))
    for name in islice(missing, MAX_ISSUES):
        reason = f"the usage text does not name the required argument '{name[:64]}'"
        yield _issue("usage_missing_arguments", reason, "say how to fill it in")
    explained = any("arguments" in unit.topics and says_something(unit) for unit in said) or any(
        _is_named(name, listed, others) for name in arguments.top
    )
    if arguments.top and not required and not explained:
        hint = "add 'Arguments:' and a line for each"
        yield _issue("usage_missing_arguments", "the usage text explains no argument", hint)


def _is_named(name: str, listed: str, others: str) -> bool:
    """True where the text means the argument, not an English word that is spelt like it."""
    word = re.escape(name)
    meant = (
        rf"[`\"']{word}[`\"']|(?<![\w.]){word}\s?=(?!=)|(?<!\w){word} (?:argument|parameter)\b"
        rf"|\b(?:pass|give|set|supply|provide|argument|parameter) (?:the |an? )?{word}(?!\w)"
    )
    if not is_plain(name):
        meant += rf"|(?<!\w){word}(?!\w)"
    in_list = (
        rf"(?:^|[,:(|/&]|\band\b|\bor\b)[^\S\n]*{word}"
        r"(?:[^\S\n]*(?:$|[,:;.()\[\]|/=&\u2013—→-]|\b(?:and|or|is)\b)|[^\S\n]{2})"
    )
    flags = re.IGNORECASE if name.islower() else re.NOFLAG
    return bool(
        (name in listed and re.search(f"{meant}|{in_list}", listed, flags | re.MULTILINE))
        or (name.lower() in others.lower() and re.search(meant, others, flags))
    )


# --- clear English, as far as a program can tell

LEFT_OVER = re.compile(
    r"\b(?:TODO|TBD|FIXME|XXX)\b|(?i:\blorem ipsum\b|<(?:detailed )?usage guidance>|<tool_name>)"
)
_ENGLISH = frozenset(
    "the of and to is are in for with not it that be or as this when by on".split()
)
_FOREIGN = frozenset(
    "der die das und ist nicht ein eine mit für von dem den wird le la les des et est une pour "
    "dans que qui el los las para con una por del não uma como per che il di het een van niet "
    "sich auch oder".split()
)
_MANY_FOREIGN_WORDS = 20
_LAST_LATIN = 0x24F


def _unclear(text: str, units: Sequence[Unit]) -> Iterator[Issue]:
    if LEFT_OVER.search(text):
        reason = "the usage text still holds a word of a draft or a template"
        yield _issue("usage_unclear", reason, "finish it or take it out")
    foreign = sum(len(words) for words in map(_words, units) if _is_foreign(words))
    if foreign >= _MANY_FOREIGN_WORDS:
        yield _issue("usage_unclear", "the usage text is not all English", "write it in English")


def _words(unit: Unit) -> list[str]:
    return re.findall(r"[^\W\d_]+", unit.text.lower())


def _is_foreign(words: list[str]) -> bool:
    other_script = sum(ord(word[0]) > _LAST_LATIN for word in words)
    foreign = sum(word in _FOREIGN for word in words)
    return other_script > len(words) // 2 or foreign > max(
        2, sum(word in _ENGLISH for word in words)
    )
