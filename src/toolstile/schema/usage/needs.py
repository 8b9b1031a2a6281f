"""Which arguments a usage text calls required, and which optional."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from toolstile.schema.usage.headings import long_form
from toolstile.schema.usage.schema import FAR, NAME, ONE_NAME, Argument, Arguments, is_plain

_START = re.compile(
    r"^(?:[({\[][^()]*[)}\]])?\W*(?:always )?(required|mandatory|optional)\b"
    r"(?! (?:if|when|unless|for|only|in|by|with|as|on|to|at|but only)\b)",
    re.IGNORECASE,
)
_MARK = re.compile(
    r"[(\[{|,;.\u2013—-]\s*(?:always )?(required|mandatory|optional)"
    r"(?=\s*(?:$|[)\]}|,;.:\u2013—]|but\b|string|integer|number|boolean|array|object))",
    re.IGNORECASE,
)
_OMIT = re.compile(
    r"\b(?:may|can) be (?:omitted|left out)\b|\bneed not be (?:given|set|passed)\b"
    r"|\b(?:is|are) not (?:required|mandatory)\b|^\W*not required\b"
)
_GIVE = re.compile(
    r"\bmust (?:always )?be (?:given|supplied|provided|passed|present|set)\b|\bnot optional\b"
    r"|\b(?:must|can|may) not be (?:omitted|left out)\b"
)
_CONDITION = re.compile(r"\b(?:if|when|unless|otherwise|except|only|with|without)\b")
_NEEDS = {"required": "required", "mandatory": "required", "optional": "optional"}


def marked(text: str) -> set[str]:
    """What a description says of its own argument: required, optional, or nothing."""
    words = long_form(text.lower())
    claimed = {_NEEDS[found[1]] for found in (_START.match(words), *_MARK.finditer(words)) if found}
    for sentence in re.split(r"[.;]\s", words):
        if not _CONDITION.search(sentence):
            claimed |= {"optional"} if _OMIT.search(sentence) else set()
            claimed |= {"required"} if _GIVE.search(sentence) else set()
    return claimed


_IS_NEEDED = re.compile(
    r"(?:\b(?:is|are)\s+|\()(?:both |all |always |also |strictly )*(?P<no>not )?"
    r"(?P<word>required|mandatory|optional)\b(?! (?:if|when|unless|for|only|by|to|in|on|as|with)\b)"
    r"|\b(?:may|can) (?:also )?be (?P<out>omitted|left out)\b(?! (?:if|when|unless)\b)"
)
_NEEDED_BEFORE = re.compile(
    r"\b(?P<word>required|mandatory|optional) (?:(?:arguments?|parameters?|fields?) )?"
    rf"(?:(?:is|are) )?(?=`|\"|{NAME})"
)
_NEED_NOT = re.compile(
    r"\b(?:do not have to|need not|no need to|not necessary to) (?:give|pass|set|supply|provide) "
    r"(?:the |an? )?"
)
_ALL = re.compile(
    r"\b(?:all|every|both) (?:of )?(?:the )?(?:arguments?|parameters?|fields?) (?:is|are) "
    r"(required|mandatory|optional)\b"
)
_TOKEN = re.compile(rf"{ONE_NAME}|[^\w\s]")
_BETWEEN = frozenset((",", "/", "&", "and", "or", "both"))
_AFTER_NAMES = frozenset(
    ("argument", "arguments", "parameter", "parameters", "field", "fields", "both", "all", "also")
)


def stated(text: str, arguments: Arguments) -> Iterator[tuple[Argument, str]]:
    """The arguments that a text calls required or optional by name, and which of the two."""
    words = _SHORTENED.sub(" not", text)
    for found in _IS_NEEDED.finditer(words):
        optional = found["out"] or (found["word"] == "optional") != bool(found["no"])
        before = words[max(0, found.start() - FAR) : found.start()]
        for argument in _named_last(before, arguments):
            yield argument, "optional" if optional else "required"
    for found in _NEEDED_BEFORE.finditer(words):
        after = words[found.end() : found.end() + FAR]
        for argument in _named_first(after, arguments):
            yield argument, _NEEDS[found["word"]]
    for found in _NEED_NOT.finditer(words):
        for argument in _named_first(words[found.end() : found.end() + FAR], arguments):
            yield argument, "optional"
    for found in islice(_ALL.finditer(words.lower()), 1):
        for argument in arguments.top.values():
            yield argument, _NEEDS[found[1]]


_SHORTENED = re.compile(r"n't\b")


def _named_last(text: str, arguments: Arguments) -> list[Argument]:
    """The arguments listed at the end of a piece of text: "..., `a` and `b`"."""
    tokens = _TOKEN.findall(text)
    while tokens and tokens[-1] in _AFTER_NAMES:
        tokens.pop()
    found: list[Argument] = []
    for position in range(len(tokens) - 1, -1, -1):
        token = tokens[position]
        argument = arguments.find(token.strip("`\"'"))
        if argument is not None:
            before = tokens[position - 1] if position else "."
            if not (is_plain(token) and before not in _BETWEEN and before[:1].isalnum()):
                found.append(argument)
        elif token not in _BETWEEN:
            break
    return found


def _named_first(text: str, arguments: Arguments) -> list[Argument]:
    found: list[Argument] = []
    for token in _TOKEN.findall(text):
        argument = arguments.find(token.strip("`\"'"))
        if argument is not None and not (is_plain(token) and not found):
            found.append(argument)
        elif token not in _BETWEEN:
            break
    return found
