"""All commands, put together."""

from __future__ import annotations

import logging
import sys
from importlib import metadata
from typing import Annotated

import typer

from toolstile.surfaces.cli import calls, project, tools
from toolstile.surfaces.cli.invocation import command

app = typer.Typer(
    name="toolstile",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


class Readable(logging.Formatter):
    """The log keeps each entry on one line; a person at a terminal reads a traceback in many."""

    def format(self, record: logging.LogRecord) -> str:
        """The entry, its escaped line ends made into line ends."""
        return super().format(record).replace("\\n", "\n  ")


@app.callback(invoke_without_command=True)
def main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
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
    """Run the command line; Ctrl-C ends it without a traceback."""
    # What matters is said by the commands themselves; of the log only errors are shown.
    handler = logging.StreamHandler()
    handler.setFormatter(Readable("toolstile: %(message)s"))
    logging.basicConfig(level=logging.ERROR, handlers=[handler])
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain again while closing stdout.
        sys.stderr.close()
        sys.exit(141)
