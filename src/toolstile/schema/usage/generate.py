"""Usage text for tools that have none, made from their definition alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolstile.schema.usage.claims import contradictions
from toolstile.schema.usage.forbidden import forbidden, visible
from toolstile.schema.usage.lint import ADVICE, LEFT_OVER, lint_usage
from toolstile.schema.usage.schema import NAME, Argument, Arguments, read_arguments
from toolstile.schema.usage.text import read_usage

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
        if not any(forbidden(sentence, name)) and not LEFT_OVER.search(sentence):
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
