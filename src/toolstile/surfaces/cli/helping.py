"""How `--help` looks: one way of naming values, in capitals; nothing where none is taken."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# What Typer raises for a command line that it cannot take; it gives no name to it.
Mistake: type[Exception] = typer.BadParameter.__mro__[2]

ONE_OBJECT = 'arguments are one JSON object: toolstile {command} {name} \'{{"path": "…"}}\''


class Command(TyperCommand):
    """A command whose help says what is to be written, and not how we take it."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its arguments and options, `--help` among them."""
        return [_dressed(parameter) for parameter in super().get_params(ctx)]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """NAME, where Typer would write {NAME}."""
        pieces: list[str] = super().collect_usage_pieces(ctx)
        return [piece.replace("{", "").replace("}", "") for piece in pieces]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The words of the command line. Whoever writes `call NAME path=x y=z` or `--path x`, as
        other programs take it, is told how it is written here."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter:
            raise
        except Mistake as mistake:
            if self.name == "call":
                said = ONE_OBJECT.format(command="call", name="NAME")
                mistake.message = f"{mistake.message} ({said})"  # type: ignore[attr-defined]
            raise


class Group(TyperGroup):
    """Commands that belong together, with the same help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its own options."""
        return [_dressed(parameter) for parameter in super().get_params(ctx)]


def _dressed(parameter: Any) -> Any:
    """Its value's name, and not its type: none for a switch, none beside an argument's own name."""
    if parameter.param_type_name == "argument":
        parameter.display_type_rich = _nothing
    elif parameter.is_flag:
        parameter.metavar = ""
    return parameter


def _nothing(ctx: Any) -> None:
    """No type."""
