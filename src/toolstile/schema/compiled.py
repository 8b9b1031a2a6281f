"""A schema made ready: check a value, explain what is wrong, fill in what is missing.

Compiled schemas are kept in a bounded cache by their canonical bytes, not by the tools: a hundred
thousand tools cost their definitions, not a hundred thousand engines (50 to 100 KB each when
patterns have been used).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import jsonschema_rs
import msgspec

from toolstile.errors import SchemaValidationError
from toolstile.model.canonical import canonical, from_canonical
from toolstile.model.definition import ToolDefinition
from toolstile.model.issue import CONSTRAINT_VIOLATION, INVALID_JSON, Issue, pointer
from toolstile.model.json import JsonObject, JsonValue, describe, freeze, thaw
from toolstile.schema import recursion
from toolstile.schema.engine import (
    compile_engine,
    compile_exact,
    engine_schema,
    exact_schema,
    holds_float,
)
from toolstile.schema.explain import explain
from toolstile.schema.extensions import NO_EXTENSIONS, Extensions
from toolstile.schema.filling import (
    MAX_FILLED,
    MAX_LEVELS,
    FillingTooDeep,
    FillingTooLarge,
    IntegerOutOfRange,
    fill,
)
from toolstile.schema.judging import Judge
from toolstile.schema.keywords import KEYWORDS
from toolstile.schema.parse import NOT_PLAIN, ParseFault, check_value, parse, plain
from toolstile.schema.places import Places
from toolstile.schema.planning import Plan, has_defaults, interacts, plan_for
from toolstile.schema.strict_json import ROUNDED

# Typical schemas measure 5 to 50 KB compiled (benchmarks/bench_schema.py): at most ~50 MB.
CACHE_SIZE = 1_024
# What explains takes twice as much again, and is wanted for the few that are called wrongly.
JUDGES = 128


class Checked(msgspec.Struct, frozen=True):
    """The answer to "do these arguments fit?": the value to use, or every issue.

    `issues` holds the first 32 by place. `errors_total` says how many were found: all of them, but
    no more than a thousand, and fewer where looking for them would have taken too long.
    """

    ok: bool
    value: Any = None
    issues: tuple[Issue, ...] = ()
    errors_total: int = 0
    tool: str = ""

    def unwrap(self) -> Any:
        """The value. Raises SchemaValidationError where there are issues."""
        if not self.ok:
            raise SchemaValidationError(self.tool, self.issues)
        return self.value


class CompiledSchema:
    """One closed schema, ready to check values. Safe to share between threads.

    Raises:
        ValueError: the engine refuses the schema, or nothing here knows one of its keywords.
    """

    def __init__(self, schema: JsonObject, extensions: Extensions = NO_EXTENSIONS) -> None:
        self.schema = schema
        self._extensions = extensions
        places = Places(schema)
        _refuse_strangers(places, extensions)
        self._depth_limit = recursion.depth_limit(places)
        defaults = has_defaults(places)
        self._copies = defaults and interacts(places, frozenset(extensions.keywords))
        # The shortcut: what it takes is valid, has every integer written as one, and wants
        # nothing but the defaults of a plan.
        self._decides = False
        self._takes = self._shortcut()
        self._defaults = plan_for(places, integers=False) if defaults else None
        if self._takes is None:
            self._engine.is_valid(None)  # compiled now: what the engine refuses is refused here

    def _shortcut(self) -> Callable[[JsonValue], bool] | None:
        """A quick test whether a value fits; None where the engine by itself cannot tell."""
        if self._depth_limit is not None or self._copies:
            return None
        schema = engine_schema(self.schema, {})
        exact = exact_schema(schema)
        if exact is None:
            return None
        # Without integers both are one schema: what the shortcut does not take does not fit.
        self._decides = exact == schema
        if self._decides:
            return self._engine.is_valid
        return compile_exact(exact, self._extensions).is_valid

    # What only some values need is made when the first of them comes: most schemas never see one.

    @cached_property
    def _engine(self) -> jsonschema_rs.Validator:
        return compile_engine(engine_schema(self.schema, {}), self._extensions)

    @cached_property
    def _plan(self) -> Plan | None:
        return plan_for(Places(self.schema))

    @cached_property
    def _integers(self) -> Plan | None:
        return plan_for(Places(self.schema), defaults=False)

    @cached_property
    def _judge(self) -> Judge:
        return self.judge()

    def judge(self) -> Judge:
        """A new judge of this schema's places."""
        return Judge(Places(self.schema), self._extensions)

    def is_valid(self, value: JsonValue) -> bool:
        """Does the value fit? The value must be JSON as `parse` or `check_value` give it."""
        if self._depth_limit is not None and _deeper(value, self._depth_limit):
            return False
        return self._engine.is_valid(value)

    def check(self, arguments: bytes | str | JsonValue) -> Checked:
        """Arguments as a model sent them (raw JSON), or as a program built them (a mapping)."""
        # `parse` and `check_parsed` would say the same; most calls end here, at less cost.
        value = plain(arguments) if type(arguments) is bytes else NOT_PLAIN
        if value is NOT_PLAIN:
            try:
                is_text = isinstance(arguments, (bytes, str))
                value = parse(arguments) if is_text else check_value(arguments)
            except ParseFault as fault:
                return Checked(False, None, (fault.issue,), 1)
        takes = self._takes
        if takes is not None and takes(value):
            return (
                self._with_plan(value, self._defaults) if self._defaults else Checked(True, value)
            )
        return self._judged(value)

    def check_parsed(self, value: JsonValue) -> Checked:
        """A parsed value; it is filled in where it stands, so it must be the caller's own."""
        if self._takes is not None and self._takes(value):
            return self._with_plan(value, self._defaults)
        return self._judged(value)

    def issues(self, value: JsonValue) -> tuple[Issue, ...]:
        """Every issue of a value, for outputs: nothing is filled in."""
        return () if self.is_valid(value) else self._refused(value).issues

    def _judged(self, value: JsonValue) -> Checked:
        """The result for a value that the shortcut has not accepted."""
        if self._is_settled(value) or not self.is_valid(value):
            return self._refused(value)
        return self._with_plan(value, self._plan if holds_float(value) else self._defaults)

    def _with_plan(self, value: JsonValue, plan: Plan | None) -> Checked:
        if plan is None:
            return Checked(True, value)
        try:
            if self._copies:
                return Checked(True, self._filled(value, plan))
            return Checked(True, fill(plan, value, self._judge.at))
        except IntegerOutOfRange as error:
            return Checked(False, None, (_out_of_range(error),), 1)
        except FillingTooDeep:
            return Checked(False, None, (_filled_too_deep(),), 1)
        except FillingTooLarge:
            return Checked(False, None, (_filled_too_large(),), 1)

    def _is_settled(self, value: JsonValue) -> bool:
        """True where the shortcut's no is the answer: looking again takes as long as before, and
        only an integer that is written as a float could turn it into a yes."""
        return self._takes is not None and (self._decides or not holds_float(value))

    def _filled(self, value: JsonValue, plan: Plan) -> JsonValue:
        original = thaw(value)
        filled = fill(plan, value, self._judge.at)
        if self._engine.is_valid(filled):
            return filled
        integers = self._integers
        return original if integers is None else fill(integers, original, self._judge.at)

    def _refused(self, value: JsonValue) -> Checked:
        if self._depth_limit is not None and _deeper(value, self._depth_limit):
            return Checked(False, None, (_too_deep(self._depth_limit),), 1)
        explained = explain(_explaining(self), value)
        return Checked(False, None, explained.issues, explained.total)


def _deeper(value: JsonValue, limit: int) -> bool:
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(limit):
        level = [
            member
            for container in level
            for member in (container.values() if isinstance(container, dict) else container)
            if isinstance(member, (dict, list))
        ]
    return bool(level)


def _too_deep(limit: int) -> Issue:
    return Issue(
        path="",
        code="too_deep",
        error_code=INVALID_JSON,
        message=f"Invalid JSON in arguments: nested deeper than {limit} levels",
        expected=f"at most {limit} levels for this recursive schema",
        hint="send a flatter document",
    )


def _filled_too_deep() -> Issue:
    what = f"filled in, the schema's defaults would nest deeper than {MAX_LEVELS} levels"
    return Issue(
        path="",
        code="too_deep",
        error_code=CONSTRAINT_VIOLATION,
        message=f"Constraint violation: {what}",
        expected="arguments whose defaults come to an end",
        hint="name the members that would be filled in",
    )


def _filled_too_large() -> Issue:
    what = f"the schema's defaults would add more than {MAX_FILLED:,} bytes"
    return Issue(
        path="",
        code="too_large",
        error_code=CONSTRAINT_VIOLATION,
        message=f"Constraint violation: {what}",
        expected=f"arguments to which defaults add at most {MAX_FILLED:,} bytes",
        hint="send fewer items, or name the members that would be filled in",
    )


def _out_of_range(error: IntegerOutOfRange) -> Issue:
    what, hint = "integers lie within ±(2^63-1)", "send a smaller number"
    if error.rounded:
        what, hint = ROUNDED.what, ROUNDED.hint
    return Issue(
        path=pointer(*error.path),
        code="number_range",
        error_code=CONSTRAINT_VIOLATION,
        message=f"Constraint violation: {what}",
        expected="an integer within ±9223372036854775807",
        actual=describe(0.0),
        hint=hint,
    )


def _refuse_strangers(places: Places, extensions: Extensions) -> None:
    """The engine passes over a keyword that it does not know, and would so accept everything."""
    for place in places:
        for name in place.rules.keys() - KEYWORDS.keys() - extensions.keywords.keys():
            if not name.startswith("x-"):
                raise ValueError(f"unknown keyword '{name[:64]}'")


@lru_cache(maxsize=JUDGES)
def _explaining(schema: CompiledSchema) -> Judge:
    return schema.judge()


@lru_cache(maxsize=CACHE_SIZE)
def _compiled(canonical_schema: bytes, extensions: Extensions) -> CompiledSchema:
    return CompiledSchema(freeze(from_canonical(canonical_schema)), extensions)


def arguments_of(
    definition: ToolDefinition, extensions: Extensions = NO_EXTENSIONS
) -> CompiledSchema:
    """The compiled parameters of a canonical definition, from the cache where they are there."""
    return _compiled(definition.parameters_json, extensions)


def compiled(schema: JsonObject, extensions: Extensions = NO_EXTENSIONS) -> CompiledSchema:
    """The compiled form of a closed schema, from the cache where it is there.

    Raises:
        ValueError: the engine refuses the schema (lint finds everything else before).
    """
    return _compiled(canonical(schema), extensions)
