"""For the tests of those who write tools: `check_tool` tries a class against AGN-005.

def test_ping_pong() -> None:
    report = check_tool(PingPong)
    assert report.ok, report
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import msgspec

from toolstile.authoring.class_face import InvokeResult, from_class
from toolstile.authoring.context import Ids, LocalContext
from toolstile.authoring.portable import portability, reference
from toolstile.authoring.tool import Tool
from toolstile.errors import DefinitionError
from toolstile.model.canonical import canonical
from toolstile.model.json import JsonObject, JsonValue, type_name
from toolstile.model.vocabulary import Determinism
from toolstile.schema.compiled import compiled
from toolstile.schema.documents import fitting, missing
from toolstile.schema.parse import ParseFault, parse
from toolstile.schema.usage.lint import ADVICE, lint_usage

# seed-rows.md, row 43.
SAMPLES = 100
CALL_SECONDS = 5.0
ALL_SECONDS = 60.0
FRESH_SECONDS = 30.0
HASH_SEEDS = ("0", "1")

IDS = Ids(execution="execution-1", session="session-1", conversation="conversation-1")

# What a model may send in place of arguments (AGN-005 section 3.1).
MALFORMED = ("", " ", "null", "[]", "0", '"text"', "{", '{"', "{}{}", "\x00", "NaN")

_SCHEMA_AGAIN = """
import sys
sys.path[:] = {path!r}
from toolstile.authoring import load
from toolstile.model.canonical import canonical
print("\\n" + canonical(load({where!r}, {script!r}).schema()).hex())
"""


class Criterion(msgspec.Struct, frozen=True):
    """One line of AGN-005 section 12: kept or not, and why."""

    name: str
    ok: bool
    why: str


class Report(msgspec.Struct, frozen=True):
    """How a class does on every line of AGN-005 section 12."""

    tool: str
    criteria: tuple[Criterion, ...]

    @property
    def ok(self) -> bool:
        """True where every line is kept."""
        return all(criterion.ok for criterion in self.criteria)

    def __str__(self) -> str:
        lines = (f"  {'ok' if c.ok else 'NO':3} {c.name}: {c.why}" for c in self.criteria)
        return "\n".join((self.tool, *lines))


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the class: what went in, and what came of it."""

    text: str
    fits: bool
    answer: Any = None
    raised: str = ""
    context: LocalContext

    @property
    def succeeded(self) -> bool:
        """True for a success in the form that the contract asks for."""
        return isinstance(self.answer, InvokeResult) and self.answer.successful

    @property
    def values(self) -> tuple[JsonValue, ...]:
        """The JSON that came out: one value, or none where it is no strict JSON text."""
        try:
            return (parse(self.answer.result or ""),)
        except ParseFault:
            return ()


Found: TypeAlias = tuple[bool, str]


def check_tool(
    cls: type, *, arguments: Iterable[JsonObject] = (), seconds: float = ALL_SECONDS
) -> Report:
    """Try a class tool against AGN-005 section 12; it never raises for what the class does.

    The class is run here, in this process and without a sandbox: with malformed text, and with
    some 200 made-up arguments. A tool that declares write effects is not run with made-up ones:
    give it `arguments` that are safe to use. Give some, too, where its schema is hard to guess.
    After `seconds` the class is taken to hang.
    """
    try:
        tool = from_class(cls)
    except DefinitionError as error:
        name = str(getattr(cls, "name", cls.__name__))
        why = "; ".join(f"{issue.path}: {issue.message}" for issue in error.issues)
        unknown = "not checked: the definition is refused"
        rest = tuple(Criterion(name, False, unknown) for name in list(_CRITERIA)[1:])
        return Report(name, (Criterion("contract", False, why), *rest))
    trial = _Trial(cls, tool)
    trial.run(arguments, seconds)
    criteria = (Criterion(name, *check(trial)) for name, check in _CRITERIA.items())
    return Report(tool.name, tuple(criteria))


class _Trial:
    """All runs of one class."""

    def __init__(self, cls: type, tool: Tool) -> None:
        self.cls = cls
        self.tool = tool
        self.runs: list[Run] = []
        self.repeated: list[tuple[Run, Run]] = []
        self.cancelled: list[Run] = []
        self.ended = False

    @property
    def all(self) -> list[Run]:
        """Every run, the repeated and the cancelled ones included."""
        return [*self.runs, *(second for _, second in self.repeated), *self.cancelled]

    @property
    def successes(self) -> list[Run]:
        """The runs that succeeded with arguments that fit."""
        return [run for run in self.runs if run.fits and run.succeeded]

    def run(self, given: Iterable[JsonObject], seconds: float) -> None:
        """Run the class in a thread: the caller may have a loop, and the class may hang."""
        inputs = [*self._inputs(given), *((text, False) for text in MALFORMED)]
        runs = self._runs(inputs, time.monotonic() + seconds / 2)
        work = threading.Thread(target=asyncio.run, args=(runs,), daemon=True)
        work.start()
        work.join(seconds)
        self.ended = not work.is_alive()

    async def _runs(self, inputs: list[tuple[str, bool]], stop: float) -> None:
        for text, fits in inputs:
            if time.monotonic() < stop:
                self.runs.append(await self._call(text, fits=fits))
        for run in self.successes[:5]:
            self.repeated.append((run, await self._call(run.text, fits=True)))
            self.cancelled.append(await self._call(run.text, fits=True, cancelled=True))

    def _inputs(self, given: Iterable[JsonObject]) -> Iterator[tuple[str, bool]]:
        """Arguments as text, and whether they fit."""
        schema = self.tool.definition.parameters
        yield from ((json.dumps(each), self.tool.check(each).ok) for each in given)
        if not any(effect.writes for effect in self.tool.definition.effects):
            yield from ((json.dumps(each), True) for each in fitting(schema, SAMPLES))
            yield from ((json.dumps(each), False) for each in missing(schema, SAMPLES))

    async def _call(self, text: str, *, fits: bool, cancelled: bool = False) -> Run:
        context = LocalContext(ids=IDS, cancelled=cancelled)
        answer, raised = None, ""
        try:
            async with asyncio.timeout(CALL_SECONDS):
                answer = await self.cls().execute(text, context)
        except BaseException as error:  # noqa: BLE001 - a stranger's code: what it raises is found
            raised = type(error).__name__
        return Run(text=text, fits=fits, answer=answer, raised=raised, context=context)


# --- the lines of section 12 -------------------------------------------------------------------


def _contract(trial: _Trial) -> Found:
    return True, "the class has all its parts, and its definition is accepted"


def _usage(trial: _Trial) -> Found:
    definition = trial.tool.definition
    issues = lint_usage(definition.usage or "", definition.name, definition.parameters)
    errors = [issue.message for issue in issues if issue.code not in ADVICE]
    return not errors, "; ".join(errors) or "the guidance says all that a model must know"


def _never_raises(trial: _Trial) -> Found:
    if not trial.ended:
        return False, "its calls did not end in time: it hangs, or blocks the loop"
    raised = sorted({run.raised for run in trial.all if run.raised})
    if raised:
        count = sum(1 for run in trial.all if run.raised)
        return False, f"{count} of {len(trial.all)} calls raised: {', '.join(raised)}"
    strange = {type(run.answer).__name__ for run in trial.all} - {InvokeResult.__name__}
    if strange:
        return False, f"it answered with {', '.join(sorted(strange))}, not with an InvokeResult"
    return True, f"{len(trial.all)} calls, malformed ones among them, none raised"


def _identifiers(trial: _Trial) -> Found:
    """Every envelope carries the ids (contract section 4); what the tool repeats must be true."""
    wanted = {"session": IDS.session, "conversation": IDS.conversation}
    for run in trial.successes:
        said = [value.items() for value in run.values if isinstance(value, dict)]
        for name, value in (pair for pairs in said for pair in pairs):
            expected = wanted.get(name.lower().replace("_", "").removesuffix("id"))
            if expected is not None and value != expected:
                return False, f"its output's '{name}' is not the {name} of the call"
    return True, "every result's envelope carries them; the output says nothing else"


def _stable_json(trial: _Trial) -> Found:
    if not all(run.values for run in trial.successes):
        return False, "a result is not strict JSON text"
    exact = trial.tool.definition.determinism in (Determinism.PURE, Determinism.DETERMINISTIC)
    for first, second in trial.repeated:
        if not second.succeeded:
            return False, "a call that succeeded did not succeed again"
        before, after = ((run.values if exact else _shape(run.values)) for run in (first, second))
        if before != after:
            return False, "the same call gave an output of another form"
    return True, f"{len(trial.repeated)} calls were repeated and gave the same form"


def _schema(trial: _Trial) -> Found:
    differing = _differs_elsewhere(trial.cls, trial.tool.file)
    if differing:
        return False, differing
    if not trial.successes:
        tried = sum(1 for run in trial.runs if run.fits)
        return False, f"none of {tried} fitting arguments succeeded; give arguments= that do"
    required = trial.tool.definition.parameters.get("required", ())
    if required and any(run.succeeded for run in trial.runs if _lacks(run.text, required)):
        return False, "a call without a required argument succeeded"
    if any(run.succeeded for run in trial.runs if _is_malformed(run.text)):
        return False, "a call with text that is no JSON object succeeded"
    output = trial.tool.definition.output_schema
    values = [value for run in trial.successes for value in run.values]
    if isinstance(output, dict) and not all(map(compiled(output).is_valid, values)):
        return False, "an output does not fit the output schema"
    return True, f"the same in every process; {len(trial.successes)} fitting arguments succeeded"


def _logging(trial: _Trial) -> Found:
    lines = (line for run in trial.all for line in run.context.lines)
    pairs: list[Any] = [pair for line in lines for pair in line.pairs]
    for pair in pairs:
        is_pair = isinstance(pair, tuple) and len(pair) == 2
        if not is_pair or not all(isinstance(part, str) for part in pair):
            return False, "it logs something else than pairs of text: (key, value)"
    return True, f"{len(pairs)} pairs were logged, all of text"


def _errors(trial: _Trial) -> Found:
    failed = [
        run.answer
        for run in trial.all
        if isinstance(run.answer, InvokeResult) and not run.succeeded
    ]
    for answer in failed:
        said = [error.get("message") for error in answer.errors if isinstance(error, dict)]
        if answer.result is not None or not said or not all(isinstance(m, str) and m for m in said):
            return False, "a failure has no message, or a result beside it"
    return True, f"{len(failed)} failures, each with a message for the model"


def _discoverable(trial: _Trial) -> Found:
    return True, "name, usage and schema are found on the class, without an instance"


def _cancellation(trial: _Trial) -> Found:
    if any(run.raised or not run.succeeded for run in trial.cancelled):
        return False, "a cancelled call must end with a success that says so (section 8)"
    return True, f"{len(trial.cancelled)} cancelled calls ended with a success"


_CRITERIA: dict[str, Callable[[_Trial], Found]] = {
    "contract": _contract,
    "usage": _usage,
    "never_raises": _never_raises,
    "identifiers": _identifiers,
    "stable_json": _stable_json,
    "schema": _schema,
    "logging": _logging,
    "errors": _errors,
    "discoverable": _discoverable,
    "cancellation": _cancellation,
}


def _shape(value: JsonValue) -> Any:
    """What kind of JSON a value is: the members of objects, and the types of everything."""
    if isinstance(value, dict):
        return {name: _shape(member) for name, member in value.items()}
    if isinstance(value, tuple):
        return [_shape(each) for each in value]
    return type_name(value)


def _lacks(text: str, required: Iterable[str]) -> bool:
    try:
        value = parse(text)
    except ParseFault:
        return True
    return not isinstance(value, dict) or any(name not in value for name in required)


def _is_malformed(text: str) -> bool:
    try:
        return not isinstance(parse(text), dict)
    except ParseFault:
        return True


def _differs_elsewhere(cls: Any, script: str | None) -> str:
    """Why the schema is not the same again, here and in fresh processes; empty if it is."""
    here = canonical(cls.schema()).hex()
    if canonical(cls.schema()).hex() != here:
        return "schema() gives another schema the second time"
    if portability(cls) is not None:
        return ""  # no other process could run it either
    program = _SCHEMA_AGAIN.format(path=sys.path, where=reference(cls), script=script)
    for seed in HASH_SEEDS:
        if _fresh(program, seed) != here:
            return "a fresh process gives another schema"
    return ""


def _fresh(program: str, seed: str) -> str:
    """The last line that a fresh process prints; empty if it does not come to that."""
    try:
        done = subprocess.run(  # noqa: S603 - this Python, and a program that stands above
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=FRESH_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.rpartition("\n")[0].rpartition("\n")[2]
