"""`anyOf` and `oneOf` in a dialect that has a word for alternatives.

Where values get another form, alternatives are kept only if the form tells which one is meant: by
its type, or by a member that each of them holds to values of its own. Anything else would have to
be guessed on the way back. Such alternatives are read as one description instead (`describing.py`),
and that one of them must fit is reported as lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from toolstile.dialects.account import LEADING
from toolstile.dialects.codec import Choice, Codec, Tagged
from toolstile.dialects.remarks import remarked, remarks
from toolstile.dialects.simple import kinds_of, scalar_kinds
from toolstile.dialects.together import Apart, apart, groups, tag_values, types
from toolstile.dialects.trail import NOTHING, Group, Said, Trail
from toolstile.dialects.values import Values
from toolstile.model.canonical import canonical, from_canonical
from toolstile.schema.contain.conjunction import DISJOINT
from toolstile.schema.keywords import asserts, type_names
from toolstile.schema.places import Place

# As many ways as one value may be described in, all its groups of alternatives taken together.
MAX_WAYS = 32

SHELF = "#/$defs/"
KINDS = frozenset(("null", "boolean", "number", "string", "array", "object"))


class Fork(msgspec.Struct, frozen=True, eq=False):
    """Where a value is one of several: the place that says so, the word, the branches, and how
    they are told apart, if they are."""

    part: Place
    keyword: str
    branches: list[Place]
    how: Apart | None

    @property
    def group(self) -> Group:
        """What tells this fork from others."""
        return (self.part.pointer, self.keyword)

    @property
    def alone(self) -> bool:
        """Whether at most one branch can hold."""
        return self.how is not None or self.keyword == "oneOf"


class Undecided(Exception):
    """Two alternatives have forms of one type, so nothing tells which one is meant."""


def fork(values: Values, parts: tuple[Place, ...], trail: Trail) -> Fork | None:
    """The first group of alternatives of which no branch has been chosen yet, where the dialect
    can tell them apart."""
    if not values.dialect.takes("anyOf", []) or (trail.root and values.dialect.plain_root):
        return None
    for part in parts:
        for keyword, branches in groups(values.places, part):
            if (part.pointer, keyword) in trail.chosen or trail.ways * len(branches) > MAX_WAYS:
                continue
            found = Fork(part, keyword, branches, apart(values.places, branches))
            if not values.rewrites or _keeps_its_form(values, parts, found):
                return found
    return None


def _keeps_its_form(values: Values, parts: tuple[Place, ...], at: Fork) -> bool:
    """Whether the form of a value tells which branch is meant, or is its own in any of them."""
    possible = frozenset(DISJOINT)
    for part in parts:
        possible &= types(values.places, part)
    kinds = [possible & types(values.places, branch) for branch in at.branches]
    if all(scalar_kinds(each) for each in kinds):
        return True
    if at.how is None:
        return False
    tag = at.how.tag
    return tag is None or values.dialect.member_name.fullmatch(tag) is not None


def one_of_several(
    values: Values, starts: tuple[Place, ...], parts: tuple[Place, ...], at: Fork, trail: Trail
) -> Said:
    """The value as its alternatives: each with all that holds beside them.

    Raises:
        Undecided: their forms turn out to be alike.
    """
    if at.keyword == "oneOf" and at.how is None:
        text = "said as anyOf: that only one alternative fits is enforced only here"
        values.account.lose(at.part, at.keyword, text)
    chosen = trail.but(
        chosen=trail.chosen | {at.group},
        told=trail.told | {each.pointer for each in parts},
        ways=trail.ways * len(at.branches),
    )
    beside = starts if any(map(partial(_asserts_more, chosen.chosen), parts)) else ()
    options: list[tuple[Place, Said]] = []
    for branch in at.branches:
        others = {other.pointer for other in at.branches if at.alone and other is not branch}
        said = values.value((*beside, branch), chosen.but(barred=trail.barred | others))
        if not said.impossible:
            options.append((branch, said))
    if not options:
        return NOTHING
    told = remarks(values.dialect, parts, trail)
    distinct = list({canonical(said.schema): said.schema for _, said in options}.values())
    schema = distinct[0] if len(distinct) == 1 and not told else {"anyOf": distinct}
    codec = _codec(values, at, options)
    return Said(remarked(told, schema, codec) if told else schema, codec)


def _codec(values: Values, at: Fork, options: list[tuple[Place, Said]]) -> Codec:
    tag = at.how.tag if at.how is not None else None
    if tag is None:
        return choice(values, [(kinds_of(types(values.places, b)), said) for b, said in options])
    objects = [(b, said) for b, said in options if types(values.places, b) == {"object"}]
    others = [(kinds_of(types(values.places, b)), said) for b, said in options]
    by_tag = _tagged(values, tag, objects)
    rest = [(kinds, said) for kinds, said in others if kinds != {"object"}]
    if by_tag is None and all(said.codec is None for _, said in rest):
        return None
    form = Said({"type": "object"}, by_tag)
    return choice(values, [(frozenset(("object",)), form), *rest])


def _tagged(values: Values, tag: str, objects: list[tuple[Place, Said]]) -> Codec:
    """The codec of objects that a member tells apart; it must have kept its name and form."""
    if all(said.codec is None for _, said in objects):
        return None
    only_objects = frozenset(("object",))
    for _, said in objects:
        if form_kinds(said.schema, only_objects) != only_objects:
            raise Undecided
        for name in referred_names(said.schema):
            values.assume(name, only_objects)
    codecs: dict[str, Codec] = {}
    for branch, said in objects:
        for value in tag_values(values.places, branch, tag):
            if isinstance(from_canonical(value), (dict, list)):
                raise Undecided
            codecs[value.decode()] = said.codec
    return Tagged(tag, codecs)


def choice(values: Values, options: Sequence[tuple[frozenset[str], Said]]) -> Codec:
    """The codec of a value of several types, each with its own form.

    Raises:
        Undecided: two of them have forms of one type, and not the same codec.
    """
    if all(said.codec is None for _, said in options):
        return None
    own: dict[str, Codec] = {}
    sent: dict[str, Codec] = {}
    for kinds, said in options:
        _enter(own, kinds, said.codec)
        for name in referred_names(said.schema):
            values.assume(name, kinds)
        _enter(sent, form_kinds(said.schema, kinds), said.codec)
    return Choice(own, sent)


def _enter(table: dict[str, Codec], kinds: Iterable[str], codec: Codec) -> None:
    for kind in kinds:
        if kind in table and table[kind] != codec:
            raise Undecided
        table[kind] = codec


def form_kinds(schema: Any, referred: frozenset[str]) -> frozenset[str]:
    """The types of what fits a written schema; what it refers to has the types that are said."""
    if not isinstance(schema, Mapping):
        return KINDS
    if "$ref" in schema:
        return referred
    if "anyOf" in schema:
        return frozenset().union(*(form_kinds(each, referred) for each in schema["anyOf"]))
    named = type_names(schema)
    return frozenset("number" if n == "integer" else n for n in named) if named else KINDS


def referred_names(schema: Any) -> Iterator[str]:
    """The names on the shelf of which a written schema has the types."""
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            yield schema["$ref"].removeprefix(SHELF)
        for each in schema.get("anyOf", ()):
            yield from referred_names(each)


def alternative_types(values: Values, part: Place, trail: Trail) -> frozenset[str]:
    """The types that the alternatives of a place leave, where none of them has been chosen."""
    allowed = frozenset(DISJOINT)
    for keyword, branches in groups(values.places, part):
        if (part.pointer, keyword) not in trail.chosen:
            allowed &= frozenset().union(*(types(values.places, each) for each in branches))
    return allowed


def _asserts_more(chosen: frozenset[Group], part: Place) -> bool:
    """Whether a place asserts more than that some branch fits."""
    told_apart = {keyword for at, keyword in chosen if at == part.pointer}
    return any(asserts(name) for name in part.rules.keys() - LEADING - told_apart)
