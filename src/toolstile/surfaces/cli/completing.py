"""What the shell is offered where a name is to be typed. A key press is no place for messages."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from toolstile.app import load_tools
from toolstile.dialects import DIALECTS
from toolstile.errors import ToolstileError
from toolstile.model.vocabulary import Category, IsolationLevel
from toolstile.settings import load_settings
from toolstile.surfaces.cli.definitions import TEMPLATES


def tool_names(incomplete: str) -> list[str]:
    """The project's tools; none where its settings are wrong, which every command says."""
    logging.disable(logging.CRITICAL)
    try:
        registry = load_tools(load_settings()).registry
    except ToolstileError:
        return []
    return _begun(incomplete, [entry.name for entry in registry.snapshot])


def categories(incomplete: str) -> list[str]:
    """The eight categories."""
    return _begun(incomplete, [category.word for category in Category])


def isolation_levels(incomplete: str) -> list[str]:
    """The levels that a caller may ask for."""
    return _begun(incomplete, [level.word for level in IsolationLevel if level.value])


def dialects(incomplete: str) -> list[str]:
    """The providers' dialects."""
    return _begun(incomplete, list(DIALECTS))


def kinds(incomplete: str) -> list[str]:
    """The kinds of tool that `tools new` can begin."""
    return _begun(incomplete, list(TEMPLATES))


Reference = Annotated[
    str,
    typer.Argument(metavar="NAME[@RANGE]", help="A tool, or a version.", autocompletion=tool_names),
]
Version = Annotated[
    str,
    typer.Argument(
        metavar="NAME[@VERSION]", help="A tool, or one version of it.", autocompletion=tool_names
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A tool.", autocompletion=tool_names)]


def _begun(incomplete: str, words: list[str]) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]
