"""Numbers and strings for a schema, a few of each kind, always the same ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import islice

from toolstile.model.canonical import MAX_INTEGER
from toolstile.schema.contain.conjunction import Conjunction, matches
from toolstile.schema.formats import FORMATS
from toolstile.schema.pattern.syntax import Chars, Choice, Edge, Node, Repeat, Sequence, parse

# Beyond this a text shows nothing more. maxLength is rarely larger in schemas of tools.
MAX_TEXT = 5_000

# How the variants of one pattern differ: which option is taken, how often one repeats more.
_VARIANTS = ((0, 0), (1, 1), (2, 2), (3, 5), (4, 12), (5, 40), (6, 300))
_PREFERRED = "aA0_- .b1zZ9/@"
# For sets known by Unicode property only: letters of both cases, a digit, other scripts, signs.
_GUESSES = "aA1éλЖ漢あ٣$+ _-😀\u0301"

_PLAIN = ("", "a", "toolstile", "0", "A", " ", "é😀")


@lru_cache(maxsize=256)
def texts(pattern: str) -> tuple[str, ...]:
    """Texts that an ECMA-262 pattern matches, short ones first; none where none was found.

    Raises:
        ValueError: it is no pattern that the library takes.
    """
    tree = parse(pattern)
    made = [_text(tree, turn, more) for turn, more in _VARIANTS]
    made += [f"{made[0]}x", f"x{made[0]}", f"{made[0]} {made[0]}"]
    return tuple(t for t in dict.fromkeys(made) if len(t) <= MAX_TEXT and matches(pattern, t))


def _text(node: Node, turn: int, more: int) -> str:
    match node:
        case Chars():
            return _character(node, turn)
        case Edge():
            return ""
        case Sequence(items=items):
            return "".join(_text(item, turn, more) for item in items)
        case Choice(options=options):
            return _text(options[turn % len(options)], turn // len(options), more)
        case Repeat(item=item, low=low, high=high):
            count = low + more if high is None else min(low + more, high)
            unit = _text(item, turn, more // 4)
            return unit * min(count, MAX_TEXT // max(len(unit), 1) + 1)


def _character(chars: Chars, turn: int) -> str:
    if chars.properties or not chars.ranges:
        return _GUESSES[turn % len(_GUESSES)]
    within = [c for c in _PREFERRED if any(low <= ord(c) <= high for low, high in chars.ranges)]
    low, high = chars.ranges[turn % len(chars.ranges)]
    choices = (*within, chr(low), chr(high))
    return choices[turn % len(choices)]


# --- strings --------------------------------------------------------------------------------


def strings(said: Conjunction, near: Conjunction) -> Iterator[str]:
    """Strings of the right pattern or format, at the edges of the lengths taken."""
    yield from (text for text in _unbounded(said, near) if _is_long_enough(said, text))


def _is_long_enough(said: Conjunction, text: str) -> bool:
    most = said.at_most("maxLength")
    return said.at_least("minLength") <= len(text) <= (MAX_TEXT if most is None else most)


def _unbounded(said: Conjunction, near: Conjunction) -> Iterator[str]:
    formats = [name for name in said.rule("format") if name in FORMATS]
    for name in formats:
        yield from FORMATS[name]
    for pattern in said.rule("pattern"):
        yield from texts(pattern)
    lengths = sorted(_lengths(said, near))
    if not said.rule("pattern"):
        seeds = [text for name in formats for text in FORMATS[name]] or ["a"]
        for seed in seeds[:2]:
            yield from (stretched for n in lengths for stretched in _stretched(seed, n))
    if not formats:
        yield from _PLAIN
    for pattern in near.rule("pattern"):
        yield from texts(pattern)
        yield from (f"{text}~" for text in texts(pattern)[:2])
    for name in near.rule("format"):
        yield from FORMATS.get(name, ())


def _stretched(text: str, length: int) -> Iterator[str]:
    """The text at a length: an end repeated, whichever end may be."""
    more = length - len(text)
    if more == 0:
        yield text
    elif more > 0:
        yield text + text[-1:] * more
        yield text[:1] * more + text


def _lengths(said: Conjunction, near: Conjunction) -> set[int]:
    least = said.at_least("minLength")
    found = {least, least + 1}
    found |= {end + d for end in said.rule("maxLength") for d in (0, -1)}
    found |= {end - 1 for end in near.rule("minLength")}
    found |= {end + 1 for end in near.rule("maxLength")}
    return {int(length) for length in found if 0 <= length <= MAX_TEXT}


# --- numbers --------------------------------------------------------------------------------


def integers(said: Conjunction, near: Conjunction) -> Iterator[int]:
    """Integers at the edges of the ranges taken, small ones, and multiples."""
    for number in _numbers(said, near):
        if number.is_finite() and number == number.to_integral_value():
            whole = int(number)
            if abs(whole) <= MAX_INTEGER and _is_between(said, whole):
                yield whole


def fractions(said: Conjunction, near: Conjunction) -> Iterator[float]:
    """Numbers with a fraction, likewise."""
    for number in _numbers(said, near):
        real = float(number)
        if math.isfinite(real) and not real.is_integer() and _is_between(said, real):
            yield real


def _is_between(said: Conjunction, number: float) -> bool:
    low, high = said.lower, said.upper
    above = low is None or number > low.value or (number == low.value and not low.exclusive)
    below = high is None or number < high.value or (number == high.value and not high.exclusive)
    return above and below


_ENDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def _numbers(said: Conjunction, near: Conjunction) -> Iterator[Decimal]:
    ends = [Decimal(repr(end)) for k in _ENDS for end in (*said.rule(k), *near.rule(k))]
    points = dict.fromkeys([*map(Decimal, (0, 1, -1)), *islice(ends, 24)])
    steps = [Decimal(repr(step)) for step in said.rule("multipleOf")]
    for point in points:
        for step in steps:
            nearest = (point / step).to_integral_value() * step
            yield from (nearest, nearest + step, nearest - step, nearest + 2 * step)
            yield nearest + 3 * step
    offsets = ("0", "1", "-1", "0.5", "-0.5", "0.1", "-0.1", "7", "0.001")
    for point in points:
        yield from (point + Decimal(offset) for offset in offsets)
    yield from map(Decimal, (10, 100, 12345, 2**53 + 1, MAX_INTEGER, -MAX_INTEGER))
