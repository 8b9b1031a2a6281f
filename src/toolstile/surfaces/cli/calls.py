"""`toolstile call` and `confirm`: the line from a terminal, with a person at hand."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
import typer

from toolstile.app import Runtime
from toolstile.errors import NotWaiting
from toolstile.model.call import Caller
from toolstile.model.record import CallState
from toolstile.model.vocabulary import Status
from toolstile.runtime.approvals import Seen
from toolstile.runtime.outcome import Result
from toolstile.surfaces.cli import completing, console
from toolstile.surfaces.cli.completing import Reference
from toolstile.surfaces.cli.invocation import (
    DENIED,
    FAILED,
    FLAG,
    OK,
    UNAVAILABLE,
    USAGE,
    WAITS,
    Fail,
    Invocation,
    command,
    read_input,
)

confirm = typer.Typer(no_args_is_help=True, help="Answer calls that wait for a person.")

EXITS = {
    Status.SUCCESS: OK,
    Status.CANCELLED: 130,
    Status.REQUIRES_CONFIRMATION: WAITS,
    Status.PERMISSION_DENIED: DENIED,
    Status.LICENSE_REQUIRED: DENIED,
    Status.SECURITY_VIOLATION: DENIED,
}
SAID = ("version", "preview", "call_id", "isolation", "timeout")
UNRECORDED = ("RECORD_UNAVAILABLE", "OUTCOME_SPOOLED")

Execution = Annotated[str, typer.Argument(metavar="EXECUTION", help="The call's execution id.")]


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What is said about a call, beside the tool and its arguments."""

    version: Annotated[str | None, typer.Option(help="A version or range.")] = None
    preview: Annotated[
        bool, typer.Option("--preview", metavar=FLAG, help="Show changes, make none.")
    ] = False
    yes: Annotated[bool, typer.Option("--yes", metavar=FLAG, help="Confirm without asking.")] = (
        False
    )
    session: Annotated[str | None, typer.Option(help="The session it belongs to.")] = None
    call_id: Annotated[str | None, typer.Option(help="The same id never runs twice.")] = None
    agent: Annotated[str | None, typer.Option(help="The agent that asks.")] = None
    user: Annotated[str | None, typer.Option(help="The user that asks.")] = None
    isolation: Annotated[
        str | None,
        typer.Option(
            help="At least this; may only raise it.", autocompletion=completing.isolation_levels
        ),
    ] = None
    timeout: Annotated[float | None, typer.Option(min=0.001, help="Seconds; may only shorten.")] = (
        None
    )


def call(
    cli: Invocation,
    name: Reference,
    arguments: Annotated[str | None, typer.Argument(help="JSON, @FILE, or - for stdin.")] = None,
    about: About = About(),  # noqa: B008 - frozen
) -> int:
    """Call a tool, through every check."""
    raw = read_input(arguments)
    said = {key: getattr(about, key) for key in SAID}
    who = _caller(cli, agent=about.agent, user=about.user, session=about.session)

    async def talk(runtime: Runtime) -> Result[Any]:
        result = await runtime.as_(**who).call(name, raw, **said)
        waits = result.status is Status.REQUIRES_CONFIRMATION
        if not waits:
            return result
        # What is approved is what was shown, so it is looked up once.
        seen = await runtime.confirmation(result.execution_id)
        if not cli.as_json and seen.diff is not None:
            console.tell(seen.diff)
        agreed = about.yes or (None if about.preview else _agrees(cli, seen))
        if about.preview or agreed is None:
            return result
        by = Caller(**who)
        if not agreed:
            return await runtime.deny(result.execution_id, by=by)
        return await runtime.approve(result.execution_id, by=by, digest=seen.digest)

    return _report(cli, _with_runtime(cli, talk))


def _caller(cli: Invocation, **names: str | None) -> dict[str, Any]:
    given = {key: value for key, value in names.items() if value is not None}
    try:
        Caller(tenant=cli.settings.tenant, **given)
    except ValueError as error:
        raise Fail(USAGE, "USAGE", str(error), "choose another name") from error
    return {"tenant": cli.settings.tenant, **given}


def _with_runtime(cli: Invocation, talk: Any) -> Any:
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
        for line in (*_looked_at(seen), seen.result.error_message or ""):
            console.tell(line)
    try:
        return typer.confirm(
            "Run this call?" if seen.diff is None else "Apply these changes?",
            default=False,
            err=True,
        )
    except typer.Abort:
        console.tell("")
        return None


def _report(cli: Invocation, result: Result[Any]) -> int:
    if cli.as_json:
        console.document(result.to_dict())
    elif result.ok:
        console.say(result.output if isinstance(result.output, str) else result.output_json)
    else:
        console.tell(f"{result.status.word}: {result.error_message}")
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


@command(confirm, "list")
def list_waiting(cli: Invocation) -> int:
    """List the calls that wait for an answer."""

    async def talk(runtime: Runtime) -> tuple[Result[Any], ...]:
        return await runtime.confirmations()

    waiting = _with_runtime(cli, talk)
    if cli.as_json:
        console.document({"items": [result.to_dict() for result in waiting], "next": None})
        return OK
    rows = [(r.execution_id, r.record.input.tool, r.metadata.started_at) for r in waiting]
    console.table("Waiting for an answer", ("Execution", "Tool", "Since"), rows)
    if not rows:
        console.tell("nothing waits for an answer")
    return OK


@command(confirm)
def approve(
    cli: Invocation,
    execution: Execution,
    user: Annotated[str | None, typer.Option(help="Who approves.")] = None,
    digest: Annotated[str | None, typer.Option(help="Of what you saw; else refused.")] = None,
) -> int:
    """Let a waiting call go on: the shown changes are made, or the call is run."""
    who = _caller(cli, user=user)

    async def talk(runtime: Runtime) -> Result[Any]:
        return await runtime.approve(execution, by=Caller(**who), digest=digest)

    return _report(cli, _answered(cli, talk))


@command(confirm)
def deny(
    cli: Invocation,
    execution: Execution,
    note: Annotated[str, typer.Option(help="Why; the model is told.")] = "",
) -> int:
    """End a waiting call with a no; nothing of it happens."""
    who = _caller(cli)

    async def talk(runtime: Runtime) -> Result[Any]:
        return await runtime.deny(execution, by=Caller(**who), note=note)

    result = _answered(cli, talk)
    if cli.as_json:
        console.document(result.to_dict())
    else:
        console.tell(f"{execution} is denied: {result.error_message}")
    return OK


@command(confirm)
def show(cli: Invocation, execution: Execution) -> int:
    """Show what an answer would be about: arguments, resources, changes, digest."""

    async def talk(runtime: Runtime) -> Any:
        return await runtime.confirmation(execution)

    seen = _answered(cli, talk)
    if cli.as_json:
        document = {"execution_id": execution, "digest": seen.digest, "diff": seen.diff}
        console.document(document | {"call": seen.result.to_dict()})
        return OK
    for line in _looked_at(seen):
        console.say(line)
    console.say(f"Digest: {seen.digest}")
    if seen.diff:
        console.say(seen.diff)
    return OK


def _looked_at(seen: Seen) -> Iterator[str]:
    """What a person looks at before they answer, but for the diff."""
    call = seen.result.input
    yield f"Tool: {call.tool}"
    yield f"Arguments: {json.dumps(call.arguments, ensure_ascii=False)}"
    has_run = seen.state is CallState.HELD
    yield f"State: {'has run; its changes wait' if has_run else 'has not run'}"
    for resource in seen.result.decision.resources if seen.result.decision else ():
        yield f"{resource.access}: {resource.value}"


def _answered(cli: Invocation, talk: Any) -> Any:
    try:
        return _with_runtime(cli, talk)
    except NotWaiting as error:
        hint = "`toolstile confirm list` shows those that do"
        raise Fail(FAILED, "NOT_WAITING", str(error), hint) from error
