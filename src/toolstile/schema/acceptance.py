"""From a schema as written to a schema we enforce: lint, close, compile, try its own examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from toolstile.model.canonical import MAX_INTEGER
from toolstile.model.issue import COMPILATION_FAILED, Issue
from toolstile.model.json import JsonObject, JsonValue, describe, thaw
from toolstile.schema.closing import Root, close
from toolstile.schema.engine import compile_engine, engine_schema
from toolstile.schema.extensions import NO_EXTENSIONS, Extensions
from toolstile.schema.filling import (
    MAX_FILLED,
    FillingTooDeep,
    FillingTooLarge,
    IntegerOutOfRange,
    fill,
)
from toolstile.schema.issue import fault
from toolstile.schema.judging import Judge
from toolstile.schema.keywords import type_names
from toolstile.schema.lint import lint
from toolstile.schema.places import Places, walk
from toolstile.schema.planning import Plan, Planner, has_defaults

# What may be filled into one default, in bytes of JSON: what a whole schema may hold. A schema may
# have hundreds of such defaults, and all are tried: then it is less, a thousand members or two.
MAX_INTO_DEFAULT, LEAST_INTO_DEFAULT = 256 * 1024, 16 * 1024


def check_schema(
    schema: JsonValue, root: Root = Root.ARGUMENTS, extensions: Extensions = NO_EXTENSIONS
) -> tuple[Issue, ...]:
    """Every reason to refuse a schema; () means that it can be enforced as it is meant."""
    found = [*lint(schema, extensions), *_root_faults(schema, root)]
    if found:
        return tuple(sorted(found, key=lambda issue: (issue.path, issue.code)))
    closed = close(schema, root)
    try:
        compile_engine(engine_schema(closed, {}), extensions)
    except ValueError as error:
        return (_not_compiled(error),)
    return tuple(_self_contradictions(closed, extensions))


def _root_faults(schema: JsonValue, root: Root) -> Iterator[Issue]:
    if root is Root.OUTPUT or not isinstance(schema, dict) or "type" not in schema:
        return
    if schema["type"] != "object":
        hint = "arguments are always an object: write 'type': 'object'"
        yield fault("/type", "type", "the root must be of type object", hint, expected="object")


def _not_compiled(error: ValueError) -> Issue:
    # The lint knows what the engine refuses, so this is a gap in the lint: say what it said.
    return Issue(
        path="",
        code="compilation",
        error_code=COMPILATION_FAILED,
        message=f"Schema compilation failed: {str(error)[:200]}",
        hint="simplify the schema, and please report it: the lint should have found this",
    )


def _self_contradictions(closed: JsonObject, extensions: Extensions) -> Iterator[Issue]:
    """Defaults, enum values and constants that their own schema would refuse."""
    examples = [
        example for place in walk(closed) for example in _examples(place.pointer, place.rules)
    ]
    if not examples:
        return
    places = Places(closed)
    judge, planner = Judge(places, extensions), Planner(places, integers=True, defaults=True)
    room = _room(sum(isinstance(value, (dict, list)) for *_, value in examples))
    for keyword, path, place, value in examples:
        if not judge.at(place, thaw(value)):
            reason = f"a value of '{keyword}' does not fit the schema beside it"
            hint = f"make it fit, or correct the schema; it is {describe(value)}"
            yield fault(path, keyword, reason, hint)
        elif _is_huge(value) or (keyword == "default" and isinstance(value, (dict, list))):
            yield from _unusable(planner.at(place), (keyword, path, value), judge.at, room)
    if has_defaults(places) and judge.at("", {}):
        yield from _unusable(
            planner.at(""), ("properties", "/properties", {}), judge.at, MAX_FILLED
        )


def _room(defaults: int) -> int:
    """What may be filled into each of so many defaults that others may go into."""
    return min(MAX_INTO_DEFAULT, max(LEAST_INTO_DEFAULT, MAX_FILLED // max(defaults, 1)))


def _is_huge(value: JsonValue) -> bool:
    """True where some number in a value is beyond what an integer may be."""
    if isinstance(value, (dict, list)):
        return any(map(_is_huge, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and abs(value) > MAX_INTEGER


def _unusable(
    plan: Plan | None,
    example: tuple[str, str, JsonValue],
    fits: Callable[[str, JsonValue], bool],
    room: int,
) -> Iterator[Issue]:
    """A value into which defaults are filled without end, or more than there is `room` for, or that
    has an integer beyond 64 bits: as an argument, each would be refused. `properties` stands for
    arguments that leave everything out."""
    keyword, path, value = example
    hint = "write the default out in full, or drop one of those that lead back to it"
    try:
        if plan is not None:
            fill(plan, thaw(value), fits, room)
    except FillingTooDeep:
        reason = "defaults would be filled into this one without end"
        if keyword == "default":
            yield fault(path, keyword, reason, hint)
    except FillingTooLarge:
        if keyword == "default":
            reason = f"defaults of more than {room:,} bytes would be filled in"
            yield fault(path, keyword, reason, hint)
        elif keyword == "properties":
            reason = f"defaults of more than {room:,} bytes would be filled into {{}}"
            yield fault(path, keyword, reason, "drop some of the defaults within defaults")
    except IntegerOutOfRange:
        if keyword == "properties":  # told at the default that has it
            return
        reason = f"a value of '{keyword}' has an integer beyond 64 bits, which no call may have"
        yield fault(path, keyword, reason, f"stay within ±{MAX_INTEGER}, or say 'type': 'number'")


def _examples(pointer: str, rules: JsonObject) -> Iterator[tuple[str, str, str, Any]]:
    if "default" in rules:
        yield "default", f"{pointer}/default", pointer, rules["default"]
    beside = bool(type_names(rules)) or len(rules) > 1
    if beside and "const" in rules:
        yield "const", f"{pointer}/const", pointer, rules["const"]
    for index, value in enumerate(rules.get("enum", ()) if beside else ()):
        yield "enum", f"{pointer}/enum/{index}", pointer, value
