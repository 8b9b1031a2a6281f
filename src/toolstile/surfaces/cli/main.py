"""Where `toolstile` begins. The bare install has no command line and says how to get it."""

from __future__ import annotations

import sys

MISSING = (
    "toolstile: the command line is not installed.\nInstall it with: pip install 'toolstile[cli]'\n"
)


def main() -> None:
    """Run the command line."""
    try:
        import rich  # noqa: F401, PLC0415 - asked for here, so that its absence has one clear message
        import typer  # noqa: F401, PLC0415
    except ModuleNotFoundError:
        sys.stderr.write(MISSING)
        raise SystemExit(2) from None
    from toolstile.surfaces.cli.commands import run  # noqa: PLC0415 - needs typer

    run()
