"""All commands, put together."""

from __future__ import annotations

import logging
import sys
from importlib import metadata
from typing import Annotated

import typer

from toolstile.surfaces.cli import calls, console, project, tools
from toolstile.surfaces.cli.invocation import FAILED, FLAG, GONE, OK, USAGE, command

app = typer.Typer(
    name="toolstile",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


# What Typer raises for a command line that it cannot take; it gives no name to it.
Mistake: type[Exception] = typer.BadParameter.__mro__[2]


class Readable(logging.Formatter):
    """The log keeps each entry on one line; a person at a terminal reads a traceback in many."""

    def format(self, record: logging.LogRecord) -> str:
        """The entry, its escaped line ends made into line ends."""
        return super().format(record).replace("\\n", "\n  ")


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[
        bool, typer.Option("--version", metavar=FLAG, help="Print the version.")
    ] = False,
) -> None:
    """The gate that every tool call of an AI agent passes through."""
    if version:
        sys.stdout.write(f"toolstile {metadata.version('toolstile')}\n")
        raise typer.Exit


app.add_typer(tools.app, name="tools")
app.add_typer(calls.confirm, name="confirm")
command(app)(calls.call)
command(app)(project.init)
command(app)(project.doctor)


def run() -> None:
    """Run the command line; whatever happens ends it with a code and without a traceback."""
    console.open_streams()
    # What matters is said by the commands themselves; of the log only errors are shown.
    handler = logging.StreamHandler()
    handler.setFormatter(Readable("toolstile: %(message)s"))
    logging.basicConfig(level=logging.ERROR, handlers=[handler])
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
