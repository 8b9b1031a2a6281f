"""Usage text, the guidance that a model reads before it calls a tool (AGN 7.2): linted, and made
for tools that have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from toolstile.model.issue import Issue
from toolstile.schema.issue import fault
from toolstile.schema.usage_claims import contradictions
from toolstile.schema.usage_forbidden import forbidden, visible
from toolstile.schema.usage_schema import NAME, Argument, Arguments, is_plain, read_arguments
from toolstile.schema.usage_text import Unit, read_usage
from toolstile.schema.usage_topics import says_something, uncovered

MAX_BYTES = 16 * 1024
MAX_ISSUES = 32
ADVICE = frozenset(("usage_unclear",))  # every other code is an error: the text is refused

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
    """Everything wrong with the usage text of a tool, at most 32 issues; never raises.

    Codes in `ADVICE` ask for better English, all others break the contract.
    """
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

_LEFT_OVER = re.compile(
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
    if _LEFT_OVER.search(text):
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


# --- usage text for tools that have none

_READING = frozenset(("net_read", "fs_read", "db_read", "none"))
_SIMPLE = re.compile(r"[A-Za-z0-9_][\w.+-]{0,63}")
_MOST_VALUES = 12
_LONGEST_DESCRIPTION = 600
_LONGEST_REMARK = 240
_ERRORS = """\
Error codes:
- ACODE_TSR_003: a required argument is missing.
- ACODE_TSR_004: an argument has the wrong type.
- ACODE_TSR_005: an argument breaks another rule of the schema.
- TIMEOUT: the call took too long; it may have had effects."""


def generate_usage(
    name: str, description: str, parameters: Mapping[str, Any], side_effects: Sequence[str]
) -> str:
    """Usage text in AGN's layout for a tool that has none, made from its definition alone.

    Nothing of the descriptions that the linter would refuse gets in; where the whole is too long,
    the arguments are described less and less. `side_effects` empty means that they are unknown.
    """
    purpose = _sayable(description, name, _LONGEST_DESCRIPTION) or f"Runs {_called(name)}."
    arguments = read_arguments(parameters)
    listings = (
        _described(parameters, arguments, name),
        _listed(arguments),
        _listed(arguments, required=True),
        _enumerated(arguments),
    )
    attempts = ((purpose, listing) for listing in listings)
    for said, listing in (*attempts, (f"Runs {_called(name)}.", _enumerated(arguments))):
        text = _guide(name, said, listing, side_effects)
        if all(issue.code in ADVICE for issue in lint_usage(text, name, parameters)):
            break
    return text


def _guide(name: str, purpose: str, listing: str, side_effects: Sequence[str]) -> str:
    tool = _called(name)
    return f"""\
{tool} — Usage Guide (generated from the definition)

Primary purpose:
- {purpose}

When to use:
- The task needs just that, and every required argument is known.

When not to use:
- To guess: where a required argument is unknown, find it out first.

Rules:
- Precedence: not applicable, only the arguments of a call count.
- Idempotency: {_repeated(side_effects)}
- Paging and limits: a result beyond the size limit is cut and marked as truncated.
- Performance: not stated; call it once for each need.

Arguments:
{listing}

{_ERRORS}

Good usage:
- One call of {tool} with exactly the arguments above, their values taken from the task.

Bad usage:
- Arguments that are not listed above, or made-up values.
"""


def _called(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z][\w.-]{0,127}", name, re.ASCII) else "this tool"


def _repeated(side_effects: Sequence[str]) -> str:
    kinds = sorted(kind for kind in set(side_effects) if re.fullmatch(r"[a-z_]{1,32}", kind))
    if not kinds:
        return "its effects are not stated; take each call to have effects of its own."
    if set(kinds) <= _READING:
        return "it only reads; a repeated call changes nothing."
    return f"not stated; a repeated call may repeat its effects ({', '.join(kinds)})."


def _sayable(text: str, name: str, longest: int) -> str:
    """The first sentences of a description, as far as they are fit to be said."""
    plain = " ".join(_UNPRINTABLE.sub(" ", visible(text[: 4 * longest])).split())
    sentences: list[str] = []
    for sentence in re.split(r"(?<=[.!?])\s", plain):
        if len(" ".join((*sentences, sentence))) > longest:
            break
        if not any(forbidden(sentence, name)) and not _LEFT_OVER.search(sentence):
            sentences.append(sentence)
    return " ".join(sentences).strip("-*#>|`: ")


_UNPRINTABLE = re.compile(r"[^\S ]|[\x00-\x1f\x7f-\x9f\ud800-\udfff]|[`*|]")


def _described(parameters: Mapping[str, Any], arguments: Arguments, name: str) -> str:
    """A line for each argument, with what its description says unless that is contradicted."""
    properties = parameters.get("properties")
    lines = []
    for argument in _required_first(arguments):
        rules = properties.get(argument.name) if isinstance(properties, Mapping) else None
        words = rules.get("description") if isinstance(rules, Mapping) else None
        remark = _sayable(words, name, _LONGEST_REMARK) if isinstance(words, str) else ""
        facts = _facts(argument)
        joint = " " if facts.endswith(".") else ": "
        line = f"{facts}{joint}{remark}" if remark else facts
        said = read_usage(f"Arguments:\n{line}", arguments.names)
        fits = not any(contradictions(said, name, arguments))
        lines.append(line if fits else facts)
    return "\n".join(lines) or "- none"


def _listed(arguments: Arguments, *, required: bool = False) -> str:
    shown = [each for each in _required_first(arguments) if each.required or not required]
    return "\n".join(map(_facts, shown)) or ("- all are optional" if arguments.top else "- none")


def _enumerated(arguments: Arguments) -> str:
    required = [_spelt(each.name) for each in _required_first(arguments) if each.required]
    return f"- {', '.join(required)}" if required else _listed(arguments, required=True)


def _required_first(arguments: Arguments) -> list[Argument]:
    return sorted(arguments.top.values(), key=lambda argument: not argument.required)


def _facts(argument: Argument) -> str:
    """An argument's line: its name, types, need, values and default."""
    need = "required" if argument.required else "optional"
    types = " or ".join(sorted(argument.types))
    notes = [_values_of(argument), _default_of(argument)]
    head = f"- {_spelt(argument.name)} ({types}, {need})" if types else ""
    head = head or f"- {_spelt(argument.name)} ({need})"
    return " ".join(filter(None, (f"{head}:" if any(notes) else head, *notes)))


def _spelt(name: str) -> str:
    return name if re.fullmatch(NAME, name, re.ASCII) else f"`{name}`"


def _values_of(argument: Argument) -> str:
    values = argument.values or ()
    texts = [value for value in values if isinstance(value, str) and _SIMPLE.fullmatch(value)]
    if not 0 < len(texts) == len(values) <= _MOST_VALUES:
        return ""
    return "one of " + ", ".join(f'"{text}"' for text in texts) + "."


def _default_of(argument: Argument) -> str:
    default = argument.default
    if isinstance(default, str) and _SIMPLE.fullmatch(default):
        return f'Default "{default}".'
    if isinstance(default, bool):
        return f"Default {str(default).lower()}."
    return f"Default {default}." if isinstance(default, int) and abs(default) < 10**15 else ""
