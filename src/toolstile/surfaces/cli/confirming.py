"""`toolstile confirm`: a person's answers to calls that wait."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from toolstile.app import Runtime
from toolstile.model.call import Caller
from toolstile.runtime.outcome import Result
from toolstile.surfaces.cli import console
from toolstile.surfaces.cli.calls import caller_of, ended, looked_at, report, with_runtime
from toolstile.surfaces.cli.helping import Group
from toolstile.surfaces.cli.invocation import OK, USAGE, Fail, Invocation, command

app = typer.Typer(cls=Group, no_args_is_help=True, help="Answer calls that wait for a person.")

# Whole ids are unwieldy to type. They begin with the time, so shorter beginnings name whole hours.
SHORTEST, WHOLE = 8, 36

Execution = Annotated[
    str,
    typer.Argument(
        metavar="EXECUTION", help=f"The call's execution id, or its first {SHORTEST} or more."
    ),
]
Ask = Callable[[Runtime, str], Awaitable[Any]]


@command(app, "list")
def list_waiting(cli: Invocation) -> int:
    """List the calls that wait for an answer."""

    async def talk(runtime: Runtime) -> tuple[Result[Any], ...]:
        return await runtime.confirmations()

    waiting = with_runtime(cli, talk)
    if cli.as_json:
        console.document({"items": [result.to_dict() for result in waiting], "next": None})
        return OK
    rows = [(r.execution_id, r.record.input.tool, r.metadata.started_at) for r in waiting]
    console.table("Waiting for an answer", ("Execution", "Tool", "Since"), rows)
    if not rows:
        console.tell("nothing waits for an answer")
    return OK


@command(app)
def approve(
    cli: Invocation,
    execution: Execution,
    user: Annotated[str | None, typer.Option(metavar="USER", help="Who approves.")] = None,
    digest: Annotated[
        str | None, typer.Option(metavar="DIGEST", help="Of what you saw; else refused.")
    ] = None,
) -> int:
    """Let a waiting call go on: the shown changes are made, or the call is run."""
    who = caller_of(cli, user=user)

    async def ask(runtime: Runtime, whole: str) -> Result[Any]:
        return await runtime.approve(whole, by=Caller(**who), digest=digest)

    return report(cli, _answered(cli, execution, ask))


@command(app)
def deny(
    cli: Invocation,
    execution: Execution,
    note: Annotated[str, typer.Option(metavar="TEXT", help="Why; the model is told.")] = "",
) -> int:
    """End a waiting call with a no; nothing of it happens."""
    who = caller_of(cli)

    async def ask(runtime: Runtime, whole: str) -> Result[Any]:
        return await runtime.deny(whole, by=Caller(**who), note=note)

    result = _answered(cli, execution, ask)
    if cli.as_json:
        console.document(result.to_dict())
    else:
        console.tell(f"{result.execution_id} is denied: {result.error_message}")
    return OK


@command(app)
def show(cli: Invocation, execution: Execution) -> int:
    """Show what an answer would be about: arguments, resources, changes, digest."""

    async def ask(runtime: Runtime, whole: str) -> Any:
        return await runtime.confirmation(whole)

    seen = _answered(cli, execution, ask)
    if cli.as_json:
        document = {"execution_id": seen.execution_id, "digest": seen.digest, "diff": seen.diff}
        console.document(document | {"call": seen.result.to_dict()})
        return OK
    for line in looked_at(seen):
        console.say(line)
    console.say(f"Digest: {seen.digest}")
    if seen.diff:
        console.say(seen.diff)
    return OK


def _answered(cli: Invocation, execution: str, ask: Ask) -> Any:
    async def talk(runtime: Runtime) -> Any:
        whole = await _whole(runtime, execution)
        return await ended(runtime, whole, ask(runtime, whole))

    return with_runtime(cli, talk)


async def _whole(runtime: Runtime, beginning: str) -> str:
    """The one waiting call whose id begins so; what fits none may be the id of one that has
    ended, and goes on as it is. Raises Fail where several fit."""
    if not SHORTEST <= len(beginning) < WHOLE:
        return beginning
    waiting = [result.execution_id for result in await runtime.confirmations()]
    fitting = [each for each in waiting if each.startswith(beginning)]
    if len(fitting) > 1:
        hint = f"write more of one of: {', '.join(fitting)}"
        raise Fail(USAGE, "USAGE", f"{len(fitting)} waiting calls begin with {beginning}", hint)
    return fitting[0] if fitting else beginning
