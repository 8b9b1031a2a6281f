"""`anyOf` and `oneOf` in a dialect that has a word for alternatives."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from toolstile.dialects.account import LEADING
from toolstile.dialects.codec import Choice, Codec
from toolstile.dialects.remarks import remarks
from toolstile.dialects.together import exclusive, groups
from toolstile.dialects.trail import NOTHING, Group, Said, Trail
from toolstile.dialects.values import Values
from toolstile.model.canonical import canonical
from toolstile.schema.keywords import asserts
from toolstile.schema.places import Place

# As many branches as are told apart where each repeats what stands beside them.
MAX_BRANCHES = 32


class Fork(msgspec.Struct, frozen=True, eq=False):
    """Where a value is one of several: the place that says so, the word, the branches."""

    part: Place
    keyword: str
    branches: list[Place]

    @property
    def group(self) -> Group:
        """What tells this fork from others."""
        return (self.part.pointer, self.keyword)


def fork(values: Values, parts: tuple[Place, ...], trail: Trail) -> Fork | None:
    """The first group of alternatives of which no branch has been chosen yet, where the dialect
    can tell them apart."""
    if not values.dialect.takes("anyOf", []) or (trail.root and values.dialect.plain_root):
        return None
    for part in parts:
        for keyword, branches in groups(values.places, part):
            found = Fork(part, keyword, branches)
            if found.group not in trail.chosen and len(branches) <= MAX_BRANCHES:
                return found
    return None


def one_of_several(
    values: Values, starts: tuple[Place, ...], parts: tuple[Place, ...], at: Fork, trail: Trail
) -> Said:
    """The value as its alternatives: each with all that holds beside them."""
    at_most_one = exclusive(values.places, at.branches)
    if at.keyword == "oneOf" and not at_most_one:
        text = "said as anyOf: that only one alternative fits is enforced only here"
        values.account.lose(at.part, at.keyword, text)
    chosen = trail.but(
        chosen=trail.chosen | {at.group},
        told=trail.told | {each.pointer for each in parts},
    )
    beside = starts if any(map(partial(_asserts_more, chosen.chosen), parts)) else ()
    options: list[tuple[Place, Said]] = []
    for branch in at.branches:
        alone = at_most_one or at.keyword == "oneOf"
        others = {other.pointer for other in at.branches if alone and other is not branch}
        said = values.value((*beside, branch), chosen.but(barred=trail.barred | others))
        if not said.impossible:
            options.append((branch, said))
    return _joined(options, remarks(values.dialect, parts, trail))


def _joined(options: list[tuple[Place, Said]], told: dict[str, Any]) -> Said:
    if not options:
        return NOTHING
    codec = choice(options)
    distinct = list({canonical(said.schema): said.schema for _, said in options}.values())
    if len(distinct) == 1 and not told:
        return Said(distinct[0], codec)
    return Said({**told, "anyOf": distinct}, codec)


def choice(options: list[tuple[Place, Said]]) -> Codec:
    """The codec of a value that is described in one of several ways."""
    if all(said.codec is None for _, said in options):
        return None
    return Choice(tuple((place.pointer, said.codec) for place, said in options))


def _asserts_more(chosen: frozenset[Group], part: Place) -> bool:
    """Whether a place asserts more than that some branch fits."""
    told_apart = {keyword for at, keyword in chosen if at == part.pointer}
    return any(asserts(name) for name in part.rules.keys() - LEADING - told_apart)
