"""`toolstile call`: the line from a terminal, with a person at hand."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
from collections.abc import Awaitable, Iterator
from typing import Annotated, Any, TypeVar

import msgspec
import typer

from toolstile.app import Runtime
from toolstile.errors import NotWaiting
from toolstile.model.call import Caller, uuid7
from toolstile.model.record import CallState
from toolstile.model.vocabulary import EffectsState, Status
from toolstile.runtime.approvals import Seen
from toolstile.runtime.outcome import Result
from toolstile.surfaces.cli import completing, console
from toolstile.surfaces.cli.completing import Reference
from toolstile.surfaces.cli.invocation import (
    DENIED,
    FAILED,
    INTERRUPTED,
    OK,
    TOOL_LOG,
    UNAVAILABLE,
    USAGE,
    WAITS,
    Fail,
    Invocation,
    read_arguments,
)

EXITS = {
    Status.SUCCESS: OK,
    Status.CANCELLED: INTERRUPTED,
    Status.REQUIRES_CONFIRMATION: WAITS,
    Status.PERMISSION_DENIED: DENIED,
    Status.LICENSE_REQUIRED: DENIED,
    Status.SECURITY_VIOLATION: DENIED,
}
Answer = TypeVar("Answer")

SAID = ("version", "preview", "call_id", "isolation", "timeout")
UNRECORDED = ("RECORD_UNAVAILABLE", "OUTCOME_SPOOLED")
BECAME = {
    EffectsState.NONE: "it has changed nothing",
    EffectsState.DISCARDED: "what it would have changed was thrown away",
    EffectsState.COMMITTED: "its changes were made",
    EffectsState.UNKNOWN: "what it changed is not known: look before you repeat it",
}


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What is said about a call, beside the tool and its arguments."""

    version: Annotated[
        str | None, typer.Option(metavar="RANGE", help="A version or range; as NAME@RANGE.")
    ] = None
    preview: Annotated[bool, typer.Option("--preview", help="Show changes, make none.")] = False
    yes: Annotated[bool, typer.Option("--yes", help="Confirm without asking.")] = False
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show what the tool logs, on stderr.")
    ] = False
    session: Annotated[
        str | None, typer.Option(metavar="SESSION", help="The session it belongs to.")
    ] = None
    call_id: Annotated[
        str | None, typer.Option(metavar="ID", help="The same id never runs twice.")
    ] = None
    agent: Annotated[str | None, typer.Option(metavar="AGENT", help="The agent that asks.")] = None
    user: Annotated[str | None, typer.Option(metavar="USER", help="The user that asks.")] = None
    isolation: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL",
            help="At least this; may only raise it.",
            autocompletion=completing.isolation_levels,
        ),
    ] = None
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0.001, help="May only shorten its time.")
    ] = None


def call(
    cli: Invocation,
    name: Reference,
    arguments: Annotated[
        str | None, typer.Argument(metavar="ARGUMENTS", help="JSON, @FILE, or - for stdin.")
    ] = None,
    about: About = About(),  # noqa: B008 - frozen
) -> int:
    """Call a tool, through every check."""
    if about.preview and about.yes:
        hint = "--preview changes nothing, so there is nothing to say yes to: leave one out"
        raise Fail(USAGE, "USAGE", "--preview and --yes exclude each other", hint)
    if about.verbose:
        logging.getLogger(TOOL_LOG).setLevel(logging.DEBUG)
    raw = read_arguments("call", name, arguments)
    said = {key: getattr(about, key) for key in SAID} | {"execution_id": uuid7()}
    who = caller_of(cli, agent=about.agent, user=about.user, session=about.session)

    async def talk(runtime: Runtime) -> Result[Any]:
        called = runtime.as_(**who).call(name, raw, **said)
        result = await ended(runtime, said["execution_id"], called)
        if result.status is not Status.REQUIRES_CONFIRMATION:
            return result
        asked = _asked(cli, runtime, result, about, Caller(**who))
        return await ended(runtime, result.execution_id, asked)

    return report(cli, with_runtime(cli, talk))


async def ended(runtime: Runtime, execution: str, work: Awaitable[Answer]) -> Answer:
    """What work on a call comes to. Raises Fail where it was interrupted, with what became of the
    call, and where somebody else has answered it meanwhile."""
    try:
        return await work
    except asyncio.CancelledError:
        raise await _interrupted(runtime, execution) from None
    except NotWaiting:
        raise await _not_waiting(runtime, execution) from None


async def _asked(
    cli: Invocation, runtime: Runtime, result: Result[Any], about: About, by: Caller
) -> Result[Any]:
    # What is approved is what was shown, so it is looked up once.
    seen = await runtime.confirmation(result.execution_id)
    if not cli.as_json and seen.diff is not None:
        console.tell(seen.diff)
    agreed = about.yes or (None if about.preview else _agrees(cli, seen))
    if about.preview or agreed is None:
        return result
    if not agreed:
        return await runtime.deny(result.execution_id, by=by)
    return await runtime.approve(result.execution_id, by=by, digest=seen.digest)


async def _interrupted(runtime: Runtime, execution: str) -> Fail:
    """What became of a call that its caller gave up; the line has brought it to its end."""
    found = await runtime.results.get(execution)
    became = "it had not begun" if found is None else BECAME[found.effects_state]
    return Fail(INTERRUPTED, "CANCELLED", f"the call was cancelled; {became}")


async def _not_waiting(runtime: Runtime, execution: str) -> Fail:
    """Why a call cannot be answered: there is none, or it has been, and how it went."""
    hint = "`toolstile confirm list` shows those that do"
    found = await runtime.results.get(execution)
    if found is None:
        message = f"no call {execution[:64]} waits for an answer"
        return Fail(FAILED, "NOT_WAITING", message, hint)
    reasons = found.decision.reasons if found.decision else ()
    how = [reason.text for reason in reasons if reason.source == "confirmation"]
    code = found.error_code or found.status.name
    answered = f"it has been answered ({how[-1]}) and" if how else "it"
    message = f"call {execution} does not wait: {answered} ended in {code}"
    return Fail(FAILED, "NOT_WAITING", message, hint)


def caller_of(cli: Invocation, **names: str | None) -> dict[str, Any]:
    """Who acts here, by the names of `Runtime.as_`. Raises Fail for a name that cannot be."""
    given = {key: value for key, value in names.items() if value is not None}
    try:
        Caller(tenant=cli.settings.tenant, **given)
    except ValueError as error:
        raise Fail(USAGE, "USAGE", str(error), "choose another name") from error
    return {"tenant": cli.settings.tenant, **given}


def with_runtime(cli: Invocation, talk: Any) -> Any:
    """What `talk` gives back, which is handed an open runtime."""

    async def run() -> Any:
        async with cli.runtime() as runtime:
            return await talk(runtime)

    return asyncio.run(run())


def _agrees(cli: Invocation, seen: Seen) -> bool | None:
    """Ask the person at the terminal, who sees what they decide on. None without an answer, as
    where there is no terminal: then the call waits on."""
    if cli.as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    if seen.diff is None:
        for line in (*looked_at(seen), seen.result.error_message or ""):
            console.tell(line)
    # The event loop would keep Ctrl-C for itself until the question has been answered.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return typer.confirm(
            "Run this call?" if seen.diff is None else "Apply these changes?",
            default=False,
            err=True,
        )
    except typer.Abort:
        console.tell("")
        return None
    finally:
        signal.signal(signal.SIGINT, before)


def looked_at(seen: Seen) -> Iterator[str]:
    """What a person looks at before they answer, but for the diff."""
    call = seen.result.input
    yield f"Tool: {call.tool}"
    yield f"Arguments: {json.dumps(call.arguments, ensure_ascii=False)}"
    has_run = seen.state is CallState.HELD
    yield f"State: {'has run; its changes wait' if has_run else 'has not run'}"
    for resource in seen.result.decision.resources if seen.result.decision else ():
        yield f"{resource.access}: {resource.value}"


def report(cli: Invocation, result: Result[Any]) -> int:
    """Say how a call ended; gives back the exit code."""
    if cli.as_json:
        console.document(result.to_dict())
    elif result.ok:
        console.say(result.output if isinstance(result.output, str) else result.output_json)
        for effect in result.effects:
            console.tell(f"{effect.type}: {effect.resource}")
    else:
        # A denial begins with the word that the status has said.
        message = (result.error_message or "").removeprefix("denied: ")
        console.tell(f"{result.status.word}: {message} [{result.error_code}]")
        _tell_issues(result)
    if result.error_code in UNRECORDED:
        return UNAVAILABLE
    return EXITS.get(result.status, FAILED)


def _tell_issues(result: Result[Any]) -> None:
    """Places and repairs; a message that has been said is not said again."""
    for issue in result.issues:
        said = issue.message == result.error_message
        if issue.path or not said:
            console.tell(f"  {issue.path or '(whole)'}{'' if said else f': {issue.message}'}")
        if issue.hint:
            console.tell(f"    {issue.hint}")
