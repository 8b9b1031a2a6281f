"""The characters that a pattern cannot tell apart, as symbols.

`^[a-z]+@[a-z.]+$` has four: the letters, `@`, `.` and all the rest. Work on a pattern then takes
four steps where characters would take a million.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from operator import xor

import msgspec

from toolstile.schema.pattern_syntax import WORD, Chars, PatternRefused

MAX_PROPERTIES = 6
"""Any subset of them may hold for a character: 64 combinations to try."""
MAX_MEMBERSHIPS = 50_000
"""Pairs of symbol and class; thousands of different classes would take seconds."""


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
    masks, held = _masks(distinct, word_bit), _held(distinct, names)
    signatures = {(mask | more) ^ negated for mask in masks for more in held}
    return Alphabet(
        numbers={chars: number for number, chars in enumerate(distinct)},
        members=_members(len(distinct), signatures),
        word=tuple(bool(signature & word_bit) for signature in signatures),
    )


def _masks(classes: Sequence[Chars], word_bit: int) -> set[int]:
    """Which sets of classes share a character, each set as bits."""
    toggles: dict[int, int] = defaultdict(int)
    members = [(1 << number, chars.ranges) for number, chars in enumerate(classes)]
    for bit, ranges in [*members, (word_bit, WORD)]:
        for low, high in ranges:
            toggles[low] ^= bit
            toggles[high + 1] ^= bit
    return {0, *accumulate((toggles[point] for point in sorted(toggles)), xor)}


def _held(classes: Sequence[Chars], names: Sequence[str]) -> set[int]:
    """Which sets of classes a character may be in for its properties."""
    held = set()
    for choice in range(1 << len(names)):
        true = {rf"\{'pP'[not choice >> n & 1]}{name}" for n, name in enumerate(names)}
        bits = (1 << number for number, chars in enumerate(classes) if true & {*chars.properties})
        held.add(sum(bits))
    return held


def _members(classes: int, signatures: Collection[int]) -> tuple[tuple[int, ...], ...]:
    if sum(signature.bit_count() for signature in signatures) > MAX_MEMBERSHIPS:
        raise PatternRefused("too many different character classes", 0, "use fewer, wider classes")
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
