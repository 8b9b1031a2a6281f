"""All commands, put together."""

from __future__ import annotations

import logging
import sys

import typer

from toolstile.surfaces.cli import calls, project, tools
from toolstile.surfaces.cli.invocation import command

app = typer.Typer(
    name="toolstile",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="The gate that every tool call of an AI agent passes through.",
)
app.add_typer(tools.app, name="tools")
app.add_typer(calls.confirm, name="confirm")
command(app)(calls.call)
command(app)(project.init)
command(app)(project.doctor)


def run() -> None:
    """Run the command line; Ctrl-C ends it without a traceback."""
    # What matters is said by the commands themselves; of the log only errors are shown.
    logging.basicConfig(level=logging.ERROR, format="toolstile: %(message)s")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain again while closing stdout.
        sys.stderr.close()
        sys.exit(141)
