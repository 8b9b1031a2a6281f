"""All commands, put together."""

from __future__ import annotations

import logging
import re
import sys
from importlib import metadata
from typing import Annotated

import typer

from toolstile.surfaces.cli import calls, confirming, conforming, console, exporting, project, tools
from toolstile.surfaces.cli.helping import Group, Mistake
from toolstile.surfaces.cli.invocation import (
    FAILED,
    GONE,
    OK,
    TOOL_LOG,
    USAGE,
    ConfigOption,
    FrozenOption,
    JsonOption,
    Shared,
    TenantOption,
    command,
)

EXECUTION = re.compile(r" execution=[0-9a-f-]{36}")

app = typer.Typer(
    name="toolstile",
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


class Readable(logging.Formatter):
    """The log keeps each entry on one line; a person at a terminal reads a traceback in many. And
    what a tool says is about the one call of this command line, whose id says nothing then."""

    def format(self, record: logging.LogRecord) -> str:
        """The entry, its escaped line ends made into line ends."""
        text = super().format(record).replace("\\n", "\n  ")
        said = record.name == TOOL_LOG and record.levelno < logging.ERROR
        return EXECUTION.sub("", text, count=1) if said else text


@app.callback(invoke_without_command=True)
def main(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
    tenant: TenantOption = None,
    frozen: FrozenOption = False,
) -> None:
    """The gate that every tool call of an AI agent passes through."""
    ctx.obj = Shared(as_json=as_json, config=config, tenant=tenant, frozen=frozen)
    if version:
        found = metadata.version("toolstile")
        if as_json:
            console.document({"version": found})
        else:
            console.say(f"toolstile {found}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        ctx.fail("there is no command")


app.add_typer(tools.app, name="tools")
app.add_typer(confirming.app, name="confirm")
command(app)(calls.call)
command(app)(exporting.export)
command(app)(conforming.conformance)
command(app)(project.init)
command(app)(project.doctor)


def run() -> None:
    """Run the command line; whatever happens ends it with a code and without a traceback."""
    console.open_streams()
    # What matters is said by the commands themselves; of the log only errors are shown.
    handler = logging.StreamHandler()
    handler.setFormatter(Readable("toolstile: %(message)s"))
    logging.basicConfig(level=logging.ERROR, handlers=[handler])
    # A tool's warnings are meant for whoever calls it; `call --verbose` shows all that it says.
    logging.getLogger(TOOL_LOG).setLevel(logging.WARNING)
    try:
        code = _ended(as_json="--json" in sys.argv)
        sys.stdout.flush()  # here, where somebody can still be told that it failed
    except OSError as error:
        console.silence()
        gone = isinstance(error, BrokenPipeError)  # whoever read our output
        if not gone:
            console.tell(f"toolstile: the answer could not be written: {error.strerror}")
        code = GONE if gone else FAILED
    sys.exit(code)


def _ended(*, as_json: bool) -> int:
    """The exit code. A mistake in the command line is told by Typer to people, and to programs as
    the one document that they read."""
    try:
        return app(standalone_mode=not as_json) or OK
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else FAILED
    except Mistake as mistake:
        said = mistake.format_message()  # type: ignore[attr-defined]
        console.failure("USAGE", said, "`--help` says what can be written", as_json=True)
        return USAGE
