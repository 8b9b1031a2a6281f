"""Failures become issues that a model can act on.

A failure says what is not satisfied and where in the schema; this module adds the contract's
words, what was expected, and a repair. It never quotes the arguments: `actual` says what kind of
value was there, hints quote the *schema* only.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from toolstile.model.issue import (
    CONSTRAINT_VIOLATION,
    REQUIRED_MISSING,
    TYPE_MISMATCH,
    Issue,
    bounded_pointer,
)
from toolstile.model.json import JsonValue, describe
from toolstile.schema.failing import Failure, Walk
from toolstile.schema.formats import FORMATS
from toolstile.schema.judging import Judge
from toolstile.schema.keywords import Role, type_names
from toolstile.schema.places import Place

# More teach a model nothing; `errors_total` says how many there are (contract section 3).
MAX_ISSUES = 32
# Failures that are counted. Who has so many will not learn more from how many more.
MAX_COUNTED = 1_000
MAX_NAME = 64
MAX_SHOWN = 200
# Levels of causes: alternatives within alternatives would else be told down to the last of a
# document, each from within the one above it.
MAX_LEVELS = 3
# Words that are compared with a misspelt one, those of its length first: 0.3 ms.
MAX_CANDIDATES = 64
# In the units of a walk's work: 0.3 ms, and 20 us.
SUGGESTING = 3_000
TELLING = 200

UNEXPECTED = ("additionalProperties", "unevaluatedProperties")


class Explained(msgspec.Struct, frozen=True):
    """The first issues by place, and how many there are: at most `MAX_COUNTED` are looked for."""

    issues: tuple[Issue, ...]
    total: int


class _Words(msgspec.Struct, frozen=True):
    """What explaining needs. Brief ones look for no word that was meant, and in no alternative for
    its causes: both take longer than everything else. `level` counts the causes that lead here."""

    walk: Walk
    brief: bool = False
    level: int = 0

    @property
    def judge(self) -> Judge:
        return self.walk.judge


def explain(judge: Judge, value: JsonValue) -> Explained:
    """What is wrong with a value that does not fit the judge's schema."""
    walk = Walk(judge)
    try:
        return _explained(walk, value)
    except RecursionError:  # the caller's own frames may have left no room for as many more
        return Explained((_too_much(walk.reached),), 1)


def _explained(walk: Walk, value: JsonValue) -> Explained:
    root = walk.judge.places.by_pointer[""]
    found = list(islice(walk.failures(root, value), MAX_COUNTED))
    if not found and walk.left < 0 and walk.echo is None:
        return Explained((_too_much(walk.reached),), 1)
    if not found:
        # Every failure was the echo of another: say the first one after all. Or a dynamic
        # reference led elsewhere than the walk.
        echo = walk.echo or Failure(root, "$dynamicRef", (), value)
        return Explained(tuple(_constraint(echo, _Words(walk))), 1)
    issues = _issues(found, _Words(walk))
    return Explained(tuple(issues[:MAX_ISSUES]), len(issues))


def _too_much(path: tuple[str | int, ...]) -> Issue:
    return Issue(
        path=bounded_pointer(path),
        code="too_large",
        error_code=CONSTRAINT_VIOLATION,
        message="Constraint violation: does not fit, and is too large to say where",
        hint="send a smaller document, or look at the schema",
    )


def _issues(failures: list[Failure], full: _Words) -> list[Issue]:
    """The distinct issues of failures, by place; the first of them with all there is to say."""
    issues: dict[tuple[Any, ...], Issue] = {}
    walk, short = full.walk, _Words(full.walk, brief=True)
    for failure in sorted(failures, key=lambda each: (each.path, _code(each))):
        words = full if len(issues) < MAX_ISSUES else short
        walk.left -= TELLING
        handler = _HANDLERS.get(failure.keyword, _constraint)
        for issue in handler(failure, words):
            issues.setdefault((failure.path, issue.code, issue.expected), issue)
    return list(issues.values())


def _code(failure: Failure) -> str:
    return failure.keyword or failure.place.keyword or "false"


def _nearest(word: Any, known: Iterable[str], words: _Words) -> str | None:
    """The known word that was meant, if one is near."""
    if words.brief or not isinstance(word, str) or words.walk.left < SUGGESTING:
        return None
    words.walk.left -= SUGGESTING
    word = word[:MAX_NAME]
    alike = sorted(known, key=lambda each: abs(len(each) - len(word)))[:MAX_CANDIDATES]
    return next(iter(difflib.get_close_matches(word, alike, n=1, cutoff=0.6)), None)


def _violation(failure: Failure, details: str, **fields: Any) -> Issue:
    # Names that the sender chose make no path of any length: it ends at the container that still
    # fits, as the parser's do.
    fields.setdefault("path", bounded_pointer(failure.path))
    fields.setdefault("code", failure.keyword)
    fields.setdefault("actual", describe(failure.value))
    message = f"Constraint violation: {details}"
    return Issue(error_code=CONSTRAINT_VIOLATION, message=message, **fields)


def _required(failure: Failure, words: _Words) -> Iterator[Issue]:
    declared = words.judge.declared(failure.place).get(failure.name, {})
    types = " or ".join(type_names(declared)) or None if isinstance(declared, dict) else None
    shown = _shown_name(failure.name)
    hint = f"add '{shown}'" + (f" ({types})" if types else "")
    description = declared.get("description") if isinstance(declared, dict) else None
    if isinstance(description, str) and description:
        hint += f": {description[:MAX_SHOWN]}"
    yield Issue(
        path=bounded_pointer(failure.path),
        code=failure.keyword,
        error_code=REQUIRED_MISSING,
        message=f"Required field '{shown}' missing",
        expected=types,
        hint=hint,
    )


def _type(failure: Failure, words: _Words) -> Iterator[Issue]:
    types = type_names(failure.place.rules)
    expected = " or ".join(types)
    got = describe(failure.value)
    yield Issue(
        path=bounded_pointer(failure.path),
        code="type",
        error_code=TYPE_MISMATCH,
        message=f"Type mismatch: expected {expected}, got {got.split(' (')[0]}",
        expected=expected,
        actual=got,
        hint=_type_hint(types, failure.value),
    )


def _type_hint(types: Sequence[str], value: Any) -> str:
    if isinstance(value, str) and {"integer", "number"} & set(types):
        return "write the number without quotes"
    if isinstance(value, str) and "boolean" in types:
        return "write true or false without quotes"
    if value is None:
        return "leave the field out instead of sending null, if it is optional"
    if isinstance(value, str) and {"object", "array"} & set(types):
        return f"send the {' or '.join(types)} itself, not a string that holds its JSON"
    return f"send a value of type {' or '.join(types)}"


def _unexpected(failure: Failure, words: _Words) -> Iterator[Issue]:
    known = words.judge.declared(failure.place)
    if failure.name in known:  # an echo, of which there was nothing better to say
        yield from _constraint(failure, words)
        return
    shown = _shown_name(failure.name)
    near = _nearest(failure.name, known, words)
    if near:
        hint = f"did you mean '{near}'?"
    elif known:
        hint = f"remove it; allowed here: {_shortened(', '.join(sorted(known)))}"
    else:
        hint = "remove it; nothing is allowed here"
    yield _violation(
        failure,
        f"unknown property '{shown}'",
        expected="no such property",
        actual="additional property",
        hint=hint,
    )


def _choice(failure: Failure, words: _Words) -> Iterator[Issue]:
    rule = failure.place.rules[failure.keyword]
    options = [rule] if failure.keyword == "const" else list(rule)
    # Each takes at least one character of those that are shown.
    expected = _shortened(", ".join(_json(option) for option in options[:MAX_SHOWN]))
    texts = (option for option in options if isinstance(option, str))
    near = _nearest(failure.value, texts, words)
    hint = f"did you mean {_json(near)}?" if near else f"use one of: {expected}"
    yield _violation(failure, f"must be one of: {expected}", expected=expected, hint=hint)


_BOUNDS = {
    "minimum": "at least {0}",
    "maximum": "at most {0}",
    "exclusiveMinimum": "more than {0}",
    "exclusiveMaximum": "less than {0}",
    "minLength": "at least {0} characters",
    "maxLength": "at most {0} characters",
    "minItems": "at least {0} items",
    "maxItems": "at most {0} items",
    "minProperties": "at least {0} members",
    "maxProperties": "at most {0} members",
    "multipleOf": "a multiple of {0}",
}


def _bound(failure: Failure, words: _Words) -> Iterator[Issue]:
    expected = _BOUNDS[failure.keyword].format(_json(failure.place.rules[failure.keyword]))
    yield _violation(failure, f"must be {expected}", expected=expected, hint=f"send {expected}")


def _pattern(failure: Failure, words: _Words) -> Iterator[Issue]:
    expected = _shortened(f"text matching {failure.place.rules['pattern']}")
    yield _violation(failure, f"must be {expected}", expected=expected, hint=f"send {expected}")


def _format(failure: Failure, words: _Words) -> Iterator[Issue]:
    name = failure.place.rules["format"]
    hint = f"send text in format '{name}'"
    if name in FORMATS:  # and not one of an extension
        hint = f"like {FORMATS[name][0]}{_FORMAT_REMARKS.get(name, '')}"
    yield _violation(failure, f"must be in format '{name}'", expected=name, hint=hint)


# What an example does not show by itself.
_FORMAT_REMARKS = {"date-time": ", with the offset", "uri": ", with the scheme"}


def _unique(failure: Failure, words: _Words) -> Iterator[Issue]:
    yield _violation(
        failure, "items must be distinct", expected="distinct items", hint="remove the duplicates"
    )


def _contains(failure: Failure, words: _Words) -> Iterator[Issue]:
    rules = failure.place.rules
    lowest, highest = rules.get("minContains", 1), rules.get("maxContains")
    expected = f"at least {lowest} items that fit 'contains'"
    if highest is not None:
        expected += f", at most {highest}"
    yield _violation(failure, f"must hold {expected}", expected=expected, hint=f"send {expected}")


def _property_name(failure: Failure, words: _Words) -> Iterator[Issue]:
    # A name has no place in the document: what is wrong with it stands on the name itself.
    test = words.judge.layout(failure.place).names
    causes = [] if test is None else _branch(test, failure.name, (), _Words(words.walk, brief=True))
    expected = causes[0].expected if causes else None
    yield _violation(
        failure,
        f"property name '{_shown_name(failure.name)}' is not allowed here",
        expected=expected,
        actual="property name",
        hint=f"property names must be {expected}" if expected else "rename or remove it",
    )


def _forbidden(failure: Failure, words: _Words) -> Iterator[Issue]:
    yield _violation(
        failure,
        "no value is allowed here",
        code=_code(failure),
        expected="nothing",
        hint="remove it",
    )


def _unexpected_items(failure: Failure, words: _Words) -> Iterator[Issue]:
    yield _violation(
        failure, "more items than the schema describes", hint="remove the items that are too many"
    )


def _excluded(failure: Failure, words: _Words) -> Iterator[Issue]:
    hint = "send a value that does not fit the schema under 'not'"
    yield _violation(failure, "must not fit the excluded schema", hint=hint)


def _combinator(failure: Failure, words: _Words) -> Iterator[Issue]:
    if failure.fitting:
        hint = "leave out what makes more than one alternative fit"
        details = f"must fit exactly one alternative, fits {failure.fitting}"
        yield _violation(failure, details, expected="exactly one alternative", hint=hint)
        return
    branches = [
        branch
        for branch in words.judge.places.children(failure.place, Role.BRANCH)
        if branch.keyword == failure.keyword
    ]
    causes = () if words.brief else _causes(failure, branches, words)
    nearest = causes[0].hint if causes else None
    yield _violation(
        failure,
        f"fits none of the {len(branches)} alternatives",
        expected=f"one of {len(branches)} alternatives",
        hint=f"closest alternative: {nearest}" if nearest else "see the schema's alternatives",
        causes=causes[:MAX_ISSUES],
    )


def _causes(failure: Failure, branches: list[Place], words: _Words) -> tuple[Issue, ...]:
    """What is wrong with a value by the closest of its alternatives, where there is work left to
    look through all of them."""
    walk = words.walk
    if words.level >= MAX_LEVELS or walk.causes <= 0:
        return ()
    short = _Words(walk, brief=True)
    told = {branch: _branch(branch, failure.value, failure.path, short) for branch in branches}
    if walk.left <= 0:
        return ()
    nearest = _closest(told, failure.path)
    if nearest is None:
        return ()
    deeper = _Words(walk, level=words.level + 1)
    return tuple(_branch(nearest, failure.value, failure.path, deeper))


def _branch(
    place: Place, value: JsonValue, path: tuple[str | int, ...], words: _Words
) -> list[Issue]:
    """The issues of a value by one alternative."""
    walk = words.walk
    most = MAX_ISSUES if words.brief else min(MAX_ISSUES, walk.causes)
    found = list(islice(walk.failures(place, value, path), most))
    if not found and walk.echo is not None:
        found = [walk.echo]
    if not words.brief:
        walk.causes -= len(found)
    return _issues(found, words)


def _closest(branches: dict[Place, list[Issue]], path: tuple[str | int, ...]) -> Place | None:
    """The alternative that the author most likely meant for the value at `path`: the right kind of
    value first, then the right tag, then the fewest faults."""
    here = bounded_pointer(path)

    def distance(branch: Place) -> tuple[int, int]:
        issues = branches[branch]
        wrong_kind = any(issue.code == "type" and issue.path == here for issue in issues)
        return (2 if wrong_kind else int(any(map(is_tag, issues))), len(issues))

    def is_tag(issue: Issue) -> bool:
        """Alternatives are told apart by the value itself, or by a constant in one member of it."""
        depth = issue.path.removeprefix(here).count("/")
        return issue.code in ("const", "enum") and depth <= 1

    return min((branch for branch in branches if branches[branch]), key=distance, default=None)


def _constraint(failure: Failure, words: _Words) -> Iterator[Issue]:
    code = _code(failure)
    yield _violation(
        failure, f"'{code}' is not satisfied", code=code, hint=f"see '{code}' in the schema"
    )


def _shown_name(name: str) -> str:
    """A property name fit for a message: bounded, without control characters."""
    cut = name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}…"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in cut)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


_HANDLERS: dict[str, Callable[[Failure, _Words], Iterator[Issue]]] = {
    "": _forbidden,
    "required": _required,
    "dependentRequired": _required,
    "type": _type,
    **dict.fromkeys(UNEXPECTED, _unexpected),
    "enum": _choice,
    "const": _choice,
    "pattern": _pattern,
    "format": _format,
    "uniqueItems": _unique,
    **dict.fromkeys(("contains", "minContains", "maxContains"), _contains),
    "propertyNames": _property_name,
    "unevaluatedItems": _unexpected_items,
    **dict.fromkeys(("anyOf", "oneOf"), _combinator),
    "not": _excluded,
    **dict.fromkeys(_BOUNDS, _bound),
}
