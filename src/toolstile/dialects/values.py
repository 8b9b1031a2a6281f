"""What those who write a part of a schema may ask of the whole: see `writer.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from toolstile.dialects.account import Account
from toolstile.dialects.dialect import Dialect
from toolstile.dialects.trail import Said, Trail
from toolstile.model.canonical import canonical
from toolstile.model.json import JsonValue
from toolstile.schema.keywords import Role
from toolstile.schema.places import Place, Places

# A place of no document that takes any value.
ANYTHING = Place("?anything", True, Role.VALUE, "", None)


class Values(Protocol):
    """Writes any value of one schema in one dialect. `rewrites` tells whether a value may get
    another form at all, `counts` whether it may matter anywhere that a member is there."""

    dialect: Dialect
    places: Places
    account: Account
    rewrites: bool
    counts: bool

    def value(self, starts: tuple[Place, ...], trail: Trail) -> Said:
        """What these places together say of a value."""

    def fits(self, place: Place, value: JsonValue) -> bool:
        """Whether a value fits a place of the tool's own schema."""

    def assume(self, name: str, kinds: frozenset[str]) -> None:
        """Rely on it that what stands on the shelf under a name has forms of these types."""

    def copied(self, place: Place) -> Any:
        """A place as it is, but for annotations; None where the dialect does not take it so."""


def union(dialect: Dialect, said: Sequence[Said]) -> Any:
    """A schema for whatever fits one of these; any value where the dialect cannot say it."""
    distinct = list({canonical(each.schema): each.schema for each in said}.values())
    if len(distinct) == 1 and distinct[0] is not True:
        return distinct[0]
    if True in distinct or not dialect.takes("anyOf", []):
        return {}
    return {"anyOf": distinct}
