"""Engine errors become issues that a model can act on.

The engine says what failed and where in the schema; this module adds the contract's words, what
was expected, and a repair. It never quotes the arguments: `actual` says what kind of value was
there, hints quote the *schema* only.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jsonschema_rs
import msgspec

from toolstile.model.issue import (
    CONSTRAINT_VIOLATION,
    REQUIRED_MISSING,
    TYPE_MISMATCH,
    Issue,
    bounded_pointer,
    pointer,
    steps,
)
from toolstile.model.json import JsonObject, JsonValue, describe
from toolstile.schema.formats import FORMATS
from toolstile.schema.keywords import type_names
from toolstile.schema.places import Place, Places

# More teach a model nothing; `errors_total` says how many there are (contract section 3).
MAX_ISSUES = 32
MAX_NAME = 64
MAX_SHOWN = 200
# Words that are compared with a misspelt one, those of its length first: 0.3 ms.
MAX_CANDIDATES = 64

UNEVALUATED = "unevaluatedProperties"
TAKE_ANY_NAME = ("additionalProperties", "patternProperties", UNEVALUATED)

EngineError = jsonschema_rs.ValidationError


class Schema(msgspec.Struct, frozen=True):
    """What explaining needs: the schema's places, and patterns as their author wrote them.
    `suggests` allows the search for the word that was meant, which takes longest of all. `unfit`
    are the pointers of the values that fail some keyword besides `unevaluatedProperties`: there an
    unexpected property may be a mere consequence of the other failure."""

    places: Places
    patterns: dict[str, str]
    suggests: bool = True
    unfit: frozenset[str] = frozenset()

    def place(self, path: Sequence[str | int]) -> Place | None:
        """The place that an engine's schema path leads to."""
        return self.places.by_pointer.get(pointer(*path))


def explain(errors: Iterable[EngineError], schema: Schema) -> tuple[Issue, ...]:
    """All issues of a failed validation, sorted by place; echoes of other failures left out."""
    found = sorted(errors, key=_at)
    unfit = frozenset(_at(error) for error in found if _keyword(error) != UNEVALUATED)
    schema = msgspec.structs.replace(schema, unfit=unfit)
    silent = msgspec.structs.replace(schema, suggests=False)
    issues = {
        (issue.path, issue.code, issue.expected): issue
        for index, error in enumerate(found)
        for issue in _issues(error, schema if index < MAX_ISSUES else silent)
    }
    if found and not issues:  # every error was an echo: say the first one after all
        issues = {("", "", None): next(_constraint(found[0], schema))}
    return tuple(sorted(issues.values(), key=lambda issue: (issue.path, issue.code)))


def outline(
    failures: Iterable[tuple[str, str]], value: JsonValue, schema: Schema
) -> tuple[Issue, ...]:
    """The issues of a value of which so much is wrong that explaining all would take long: what
    failed and where, from pairs of the engine's locations (in the value, in the schema)."""
    distinct = sorted(set(failures))
    return tuple(_outlined(value, *failure, schema) for failure in distinct[:MAX_ISSUES])


def _outlined(value: Any, instance: str, location: str, schema: Schema) -> Issue:
    for step in steps(instance):
        value = value[int(step)] if isinstance(value, list) else value[step]
    *above, keyword = steps(location)
    place = schema.place(above)
    rules = place.rules if place else {}
    lacking = _lacking(value, keyword, rules)
    got, error_code, expected = describe(value), CONSTRAINT_VIOLATION, None
    message = f"Constraint violation: '{keyword}' is not satisfied"
    if lacking is not None:
        keyword, error_code = "required", REQUIRED_MISSING
        message = f"Required field '{_shown_name(lacking)}' missing"
    elif keyword == "type" and type_names(rules):
        expected, error_code = " or ".join(type_names(rules)), TYPE_MISMATCH
        message = f"Type mismatch: expected {expected}, got {got.split(' (')[0]}"
    return Issue(
        path=bounded_pointer([*steps(instance), *([] if lacking is None else [lacking])]),
        code=keyword,
        error_code=error_code,
        message=message,
        expected=expected,
        actual=got,
        hint=f"see '{keyword}' in the schema; too much is wrong to explain all of it",
    )


def _lacking(value: Any, keyword: str, rules: JsonObject) -> str | None:
    """A member that is required and missing. jsonschema-rs 0.60 looks at members in one go, and
    files what is missing under `additionalProperties`."""
    if keyword not in ("required", "additionalProperties") or not isinstance(value, dict):
        return None
    return next((name for name in rules.get("required", ()) if name not in value), None)


def _issues(error: EngineError, schema: Schema) -> Iterator[Issue]:
    handler = _HANDLERS.get(type(error.kind).__name__, _constraint)
    yield from handler(error, schema)


def _at(error: EngineError, *further: str | int) -> str:
    """Where an error stands. Names that the sender chose make no path of any length: it ends at
    the container that still fits, as the parser's do."""
    return bounded_pointer((*error.instance_path, *further))


def _nearest(word: Any, known: Iterable[str], schema: Schema) -> str | None:
    """The known word that was meant, if one is near."""
    if not schema.suggests or not isinstance(word, str):
        return None
    word = word[:MAX_NAME]
    alike = sorted(known, key=lambda each: abs(len(each) - len(word)))[:MAX_CANDIDATES]
    return next(iter(difflib.get_close_matches(word, alike, n=1, cutoff=0.6)), None)


def _kind(error: EngineError) -> Any:
    """The engine's details: a class per keyword, whose fields its stubs leave to subclasses."""
    return error.kind


def _keyword(error: EngineError) -> str:
    return str(error.schema_path[-1]) if error.schema_path else ""


def _violation(error: EngineError, details: str, **fields: Any) -> Issue:
    fields.setdefault("path", _at(error))
    fields.setdefault("code", _keyword(error))
    fields.setdefault("actual", describe(error.instance))
    message = f"Constraint violation: {details}"
    return Issue(error_code=CONSTRAINT_VIOLATION, message=message, **fields)


def _required(error: EngineError, schema: Schema) -> Iterator[Issue]:
    name = _kind(error).property
    declared = _declared(error, schema).get(name, {})
    types = " or ".join(type_names(declared)) or None if isinstance(declared, dict) else None
    shown = _shown_name(name)
    hint = f"add '{shown}'" + (f" ({types})" if types else "")
    description = declared.get("description") if isinstance(declared, dict) else None
    if isinstance(description, str) and description:
        hint += f": {description[:MAX_SHOWN]}"
    yield Issue(
        path=_at(error, name),
        code=_keyword(error),
        error_code=REQUIRED_MISSING,
        message=f"Required field '{shown}' missing",
        expected=types,
        hint=hint,
    )


def _type(error: EngineError, schema: Schema) -> Iterator[Issue]:
    place = schema.place(error.schema_path[:-1])
    types = type_names(place.rules) if place else tuple(_kind(error).types)
    expected = " or ".join(types)
    got = describe(error.instance)
    yield Issue(
        path=_at(error),
        code="type",
        error_code=TYPE_MISMATCH,
        message=f"Type mismatch: expected {expected}, got {got.split(' (')[0]}",
        expected=expected,
        actual=got,
        hint=_type_hint(types, error.instance),
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


def _unexpected(error: EngineError, schema: Schema) -> Iterator[Issue]:
    known = _declared(error, schema)
    echo = _keyword(error) == UNEVALUATED
    if echo and _at(error) in schema.unfit and _takes_any_name(error, schema):
        return  # as below: a branch that failed would take every name
    told = 0
    for name in sorted(_kind(error).unexpected):
        # A declared property counts as unevaluated when the branch that declares it failed:
        # that failure is reported by itself.
        if not (echo and name in known):
            yield _unknown_property(error, name, list(known), schema)
            told += 1
            if told == MAX_ISSUES:
                schema = msgspec.structs.replace(schema, suggests=False)


def _takes_any_name(error: EngineError, schema: Schema) -> bool:
    """True where a branch takes properties that it does not name."""
    place = schema.place(error.schema_path[:-1])
    branches = schema.places.reach(place)[1:] if place else []
    return any(b.rules.get(word) for b in branches for word in TAKE_ANY_NAME)


def _unknown_property(error: EngineError, name: str, known: list[str], schema: Schema) -> Issue:
    shown = _shown_name(name)
    near = _nearest(name, known, schema)
    if near:
        hint = f"did you mean '{near}'?"
    elif known:
        hint = f"remove it; allowed here: {_shortened(', '.join(sorted(known)))}"
    else:
        hint = "remove it; nothing is allowed here"
    return _violation(
        error,
        f"unknown property '{shown}'",
        path=_at(error, name),
        expected="no such property",
        actual="additional property",
        hint=hint,
    )


def _declared(error: EngineError, schema: Schema) -> dict[str, Any]:
    """The properties declared for the object that an error is about, in every branch."""
    place = schema.place(error.schema_path[:-1])
    found: dict[str, Any] = {}
    while place is not None:
        for other in schema.places.reach(place):
            for name, declared in other.rules.get("properties", {}).items():
                found.setdefault(name, declared)
        place = place.parent if place.role.value == "branch" else None
    return found


def _choice(error: EngineError, schema: Schema) -> Iterator[Issue]:
    kind = _kind(error)
    options = [kind.expected_value] if _keyword(error) == "const" else list(kind.options)
    expected = _shortened(", ".join(_json(option) for option in options))
    texts = [option for option in options if isinstance(option, str)]
    near = _nearest(error.instance, texts, schema)
    hint = f"did you mean {_json(near)}?" if near else f"use one of: {expected}"
    yield _violation(error, f"must be one of: {expected}", expected=expected, hint=hint)


_BOUNDS = {
    "Minimum": "at least {0}",
    "Maximum": "at most {0}",
    "ExclusiveMinimum": "more than {0}",
    "ExclusiveMaximum": "less than {0}",
    "MinLength": "at least {0} characters",
    "MaxLength": "at most {0} characters",
    "MinItems": "at least {0} items",
    "MaxItems": "at most {0} items",
    "MinProperties": "at least {0} members",
    "MaxProperties": "at most {0} members",
    "MultipleOf": "a multiple of {0}",
}


def _bound(error: EngineError, schema: Schema) -> Iterator[Issue]:
    place = schema.place(error.schema_path[:-1])
    limit = place.rules.get(_keyword(error)) if place else error.kind.value
    expected = _BOUNDS[type(error.kind).__name__].format(_json(limit))
    yield _violation(error, f"must be {expected}", expected=expected, hint=f"send {expected}")


def _pattern(error: EngineError, schema: Schema) -> Iterator[Issue]:
    written = _kind(error).pattern
    original = schema.patterns.get(written, written)
    expected = _shortened(f"text matching {original}")
    yield _violation(error, f"must be {expected}", expected=expected, hint=f"send {expected}")


def _format(error: EngineError, schema: Schema) -> Iterator[Issue]:
    name = _kind(error).format
    hint = f"send text in format '{name}'"
    if name in FORMATS:  # and not one of an extension
        hint = f"like {FORMATS[name][0]}{_FORMAT_REMARKS.get(name, '')}"
    yield _violation(error, f"must be in format '{name}'", expected=name, hint=hint)


# What an example does not show by itself.
_FORMAT_REMARKS = {"date-time": ", with the offset", "uri": ", with the scheme"}


def _unique(error: EngineError, schema: Schema) -> Iterator[Issue]:
    yield _violation(
        error, "items must be distinct", expected="distinct items", hint="remove the duplicates"
    )


def _contains(error: EngineError, schema: Schema) -> Iterator[Issue]:
    place = schema.place(error.schema_path[:-1])
    rules = place.rules if place else {}
    lowest, highest = rules.get("minContains", 1), rules.get("maxContains")
    expected = f"at least {lowest} items that fit 'contains'"
    if highest is not None:
        expected += f", at most {highest}"
    yield _violation(error, f"must hold {expected}", expected=expected, hint=f"send {expected}")


def _property_name(error: EngineError, schema: Schema) -> Iterator[Issue]:
    inner = _kind(error).error
    name = inner.instance if isinstance(inner.instance, str) else ""
    # The inner error stands on the name itself, which has no place in the document.
    cause = next(_issues(inner, schema), None)
    expected = cause.expected if cause else None
    yield _violation(
        error,
        f"property name '{_shown_name(name)}' is not allowed here",
        path=_at(error, name),
        code="propertyNames",
        expected=expected,
        actual="property name",
        hint=f"property names must be {expected}" if expected else "rename or remove it",
    )


def _forbidden(error: EngineError, schema: Schema) -> Iterator[Issue]:
    place = schema.place(error.schema_path)
    code = place.keyword if place and place.keyword else "false"
    yield _violation(
        error, "no value is allowed here", code=code, expected="nothing", hint="remove it"
    )


def _unexpected_items(error: EngineError, schema: Schema) -> Iterator[Issue]:
    yield _violation(
        error, "more items than the schema describes", hint="remove the items that are too many"
    )


def _combinator(error: EngineError, schema: Schema) -> Iterator[Issue]:
    context: list[list[EngineError]] = getattr(error.kind, "context", [])
    keyword = _keyword(error)
    if keyword == "not":
        hint = "send a value that does not fit the schema under 'not'"
        yield _violation(error, "must not fit the excluded schema", hint=hint)
        return
    if type(error.kind).__name__ == "OneOfMultipleValid":
        fitting = sum(not branch for branch in context)
        hint = "leave out what makes more than one alternative fit"
        details = f"must fit exactly one alternative, fits {fitting}"
        yield _violation(error, details, expected="exactly one alternative", hint=hint)
        return
    here = _at(error)
    causes = _closest([explain(branch, schema) for branch in context], here)
    nearest = causes[0].hint if causes else None
    yield _violation(
        error,
        f"fits none of the {len(context)} alternatives",
        expected=f"one of {len(context)} alternatives",
        hint=f"closest alternative: {nearest}" if nearest else "see the schema's alternatives",
        causes=causes[:MAX_ISSUES],
    )


def _closest(branches: list[tuple[Issue, ...]], here: str) -> tuple[Issue, ...]:
    """The alternative that the author most likely meant for the value at `here`: the right kind of
    value first, then the right tag, then the fewest faults."""

    def distance(issues: tuple[Issue, ...]) -> tuple[int, int]:
        wrong_kind = any(issue.code == "type" and issue.path == here for issue in issues)
        return (2 if wrong_kind else int(any(map(is_tag, issues))), len(issues))

    def is_tag(issue: Issue) -> bool:
        """Alternatives are told apart by the value itself, or by a constant in one member of it."""
        depth = issue.path.removeprefix(here).count("/")
        return issue.code in ("const", "enum") and depth <= 1

    return min((branch for branch in branches if branch), key=distance, default=())


def _constraint(error: EngineError, schema: Schema) -> Iterator[Issue]:
    keyword = _keyword(error)
    yield _violation(error, f"'{keyword}' is not satisfied", hint=f"see '{keyword}' in the schema")


def _shown_name(name: str) -> str:
    """A property name fit for a message: bounded, without control characters."""
    cut = name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}…"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in cut)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


_HANDLERS: dict[str, Callable[[EngineError, Schema], Iterator[Issue]]] = {
    "Required": _required,
    "Type": _type,
    "AdditionalProperties": _unexpected,
    "UnevaluatedProperties": _unexpected,
    "Enum": _choice,
    "Constant": _choice,
    "Pattern": _pattern,
    "Format": _format,
    "UniqueItems": _unique,
    "Contains": _contains,
    "PropertyNames": _property_name,
    "FalseSchema": _forbidden,
    "UnevaluatedItems": _unexpected_items,
    "AnyOf": _combinator,
    "OneOfNotValid": _combinator,
    "OneOfMultipleValid": _combinator,
    "Not": _combinator,
    **dict.fromkeys(_BOUNDS, _bound),
}
