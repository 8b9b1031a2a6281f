"""The characters that a pattern cannot tell apart, as symbols.

`^[a-z]+@[a-z.]+$` has four: the letters, `@`, `.` and all the rest. Work on a pattern then takes
four steps where characters would take a million.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, combinations, pairwise
from operator import xor

import msgspec

from toolstile.schema.pattern.syntax import LAST, WORD, Chars, PatternRefused

MAX_PROPERTIES = 8
"""Any subset of them may hold for a character: 256 combinations to try."""
MAX_PAIRS = 50_000
"""Pairs of symbol and class; hundreds of overlapping classes would take seconds."""

_ASCII_END = 0x80
_CATEGORIES = frozenset(
    "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn".split()
)


class Alphabet(msgspec.Struct, frozen=True, kw_only=True):
    """The symbols of a pattern, numbered from 0."""

    numbers: dict[Chars, int]
    """The classes of the pattern, numbered from 0 too."""
    members: tuple[tuple[int, ...], ...]
    """Which symbols each class contains."""
    word: tuple[bool, ...]
    """Whether each symbol is a word character; told only where the pattern asks."""


def alphabet(classes: Iterable[Chars], *, words: bool) -> Alphabet:
    """The symbols that these classes tell apart; word characters too if `words` are asked for.

    Raises:
        PatternRefused: there are too many classes or properties to work with.
    """
    distinct = list(dict.fromkeys(classes))
    names = sorted({name[2:] for chars in distinct for name in chars.properties})
    if len(names) > MAX_PROPERTIES:
        reason = f"more than {MAX_PROPERTIES} different Unicode properties"
        raise PatternRefused(reason, 0, "use fewer, or general ones such as \\p{L}")
    word_bit = 1 << len(distinct) if words else 0
    negated = sum(1 << number for number, chars in enumerate(distinct) if chars.negated)
    masks = _masks(distinct, word_bit)
    held = {kind: _held(distinct, kind) for kind in _kinds(names, _CATEGORIES)}
    _refuse_many(len(masks) * len(held))
    kinds = {categories: _kinds(names, categories) for _, categories in masks}
    signatures = {
        (mask | held[kind]) ^ negated for mask, categories in masks for kind in kinds[categories]
    }
    return Alphabet(
        numbers={chars: number for number, chars in enumerate(distinct)},
        members=_members(len(distinct), signatures),
        word=tuple(bool(signature & word_bit) for signature in signatures),
    )


def _masks(classes: Sequence[Chars], word_bit: int) -> set[tuple[int, frozenset[str]]]:
    """Which classes share a range of characters, as bits, and the categories found in there."""
    toggles: dict[int, int] = defaultdict(int, {0: 0, _ASCII_END: 0, LAST + 1: 0})
    members = [(1 << number, chars.ranges) for number, chars in enumerate(classes)]
    for bit, ranges in [*members, (word_bit, WORD)]:
        for low, high in ranges:
            toggles[low] ^= bit
            toggles[high + 1] ^= bit
    points = sorted(toggles)
    masks = accumulate((toggles[point] for point in points[:-1]), xor)
    return {
        (mask, _categories(low, high))
        for mask, (low, high) in zip(masks, pairwise(points), strict=True)
    }


def _categories(low: int, high: int) -> frozenset[str]:
    # Beyond ASCII the tables of Python and the engine may be of different age.
    if low >= _ASCII_END:
        return _CATEGORIES
    return frozenset(unicodedata.category(chr(point)) for point in range(low, high))


def _kinds(names: Sequence[str], categories: Collection[str]) -> set[frozenset[str]]:
    """Which properties may hold together for a character of one of these general categories."""
    known = [name for name in names if name.startswith("{gc=")]
    free = [name for name in names if name not in known]
    some = [frozenset(part) for n in range(len(free) + 1) for part in combinations(free, n)]
    sure = {frozenset(name for name in known if _within(category, name)) for category in categories}
    return {one | other for one in sure for other in some}


def _within(category: str, name: str) -> bool:
    wanted = name.removeprefix("{gc=").removesuffix("}")
    return category in ("Lu", "Ll", "Lt") if wanted == "LC" else category.startswith(wanted)


def _held(classes: Sequence[Chars], kind: frozenset[str]) -> int:
    """The classes, as bits, that a character with just these properties is in."""
    return sum(
        1 << number
        for number, chars in enumerate(classes)
        if any((name[2:] in kind) == name.startswith(r"\p") for name in chars.properties)
    )


def _members(classes: int, signatures: Collection[int]) -> tuple[tuple[int, ...], ...]:
    _refuse_many(sum(signature.bit_count() for signature in signatures))
    members: list[list[int]] = [[] for _ in range(classes + 1)]  # the last for word characters
    for number, signature in enumerate(signatures):
        for bit in _bits(signature):
            members[bit].append(number)
    return tuple(map(tuple, members[:classes]))


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _refuse_many(pairs: int) -> None:
    if pairs > MAX_PAIRS:
        raise PatternRefused("too many different character classes", 0, "use fewer, wider classes")
