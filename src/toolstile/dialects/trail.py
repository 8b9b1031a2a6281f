"""Where the writer stands, and what it writes."""

from __future__ import annotations

from typing import Any

import msgspec

from toolstile.dialects.codec import Codec

Group = tuple[str, str]
"""A group of alternatives: the pointer of its place, and its keyword."""


class Trail(msgspec.Struct, frozen=True, kw_only=True):
    """The way to the place that is being written.

    `shelved`: this place is written onto the shelf, so it is not to refer there. `opened`:
    references that have been written out on the way, to notice the one that comes back. The rest is
    about the value at hand: references written out for it, groups of which a branch has been
    chosen, branches that then cannot hold, places whose description has been said above, types that
    it is held to, ways in which it is described.
    """

    depth: int = 0
    root: bool = False
    shelved: bool = False
    opened: frozenset[str] = frozenset()
    here: frozenset[str] = frozenset()
    chosen: frozenset[Group] = frozenset()
    barred: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()
    types: frozenset[str] | None = None
    ways: int = 1

    def below(self, levels: int = 1) -> Trail:
        """The way to a member or an item, so many levels of containers further down."""
        return Trail(depth=self.depth + levels, opened=self.opened | self.here)

    def but(self, **changes: Any) -> Trail:
        """The same with other fields."""
        return msgspec.structs.replace(self, **changes)


class Said(msgspec.Struct, frozen=True):
    """A schema in the dialect, and how values get into its form."""

    schema: Any
    codec: Codec = None

    @property
    def impossible(self) -> bool:
        """True where no value fits."""
        return self.schema is False


NOTHING = Said(False)
