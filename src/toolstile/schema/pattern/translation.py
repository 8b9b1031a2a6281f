r"""ECMA-262 patterns in the words of the engine that runs them, jsonschema-rs on Rust's `regex`.

The two dialects look alike and differ in corners: what `.`, `\s`, `\w` and `\b` mean, set
operations and nesting in classes, inline flags, escapes. So a pattern is read by our own parser
and written anew from its tree, with nothing left for the engine to interpret. Patterns that the
engine could not match in linear time, or only slowly, or only with much memory are refused.
"""

from __future__ import annotations

import re
from functools import lru_cache

import jsonschema_rs

from toolstile.schema.pattern.cost import CACHE_BYTES, refuse_costly
from toolstile.schema.pattern.syntax import (
    Chars,
    Choice,
    Edge,
    Node,
    PatternRefused,
    Repeat,
    Sequence,
    complement,
    parse,
)

__all__ = ["ENGINE_OPTIONS", "PatternRefused", "translate"]

SIZE_LIMIT = 512 * 1024
"""The engine's bound on one compiled pattern. `^.{1,255}$` takes 350 KB of it, a UUID's 3 KB."""

ENGINE_OPTIONS = jsonschema_rs.RegexOptions(size_limit=SIZE_LIMIT, dfa_size_limit=CACHE_BYTES)

_EDGES = {"^": "^", "$": "$", "b": r"(?-u:\b)", "B": r"(?-u:\B)"}
_SIGNS = {(0, None): "*", (1, None): "+", (0, 1): "?"}
_PRINTABLE = frozenset(map(chr, range(0x20, 0x7F)))
_SPECIAL = frozenset(r"\.+*?()|[]{}^$")
_SPECIAL_IN_CLASSES = frozenset(r"\[]^-&~")
_SCRIPT = re.compile(r"\\[pP]\{[A-Za-z_]+=[A-Za-z_]+\}")


@lru_cache(maxsize=1024)  # tools share patterns, and both the lint and the compiler ask
def translate(pattern: str) -> str:
    """An ECMA-262 pattern as the engine takes it, matching the same strings.

    Raises:
        PatternRefused: it is not ECMA-262, or cannot be held to linear time, 50 ms for 1 MB, and
            the memory allowed.
    """
    tree = parse(pattern)
    translated = _written(tree)
    if not _compiles(translated):
        raise _refusal(pattern)
    refuse_costly(tree)
    return translated


def _compiles(translated: str) -> bool:
    try:
        jsonschema_rs.Draft202012Validator(
            {"pattern": translated}, offline=True, pattern_options=ENGINE_OPTIONS
        )
    except jsonschema_rs.ValidationError:
        return False
    return True


def _refusal(pattern: str) -> PatternRefused:
    for script in _SCRIPT.finditer(pattern):
        if not _compiles(script[0]):
            return PatternRefused("an unknown script", script.start(), r"such as \p{Script=Greek}")
    size = f"the compiled pattern is larger than {SIZE_LIMIT // 1024} KiB"
    return PatternRefused(size, 0, "use minLength and maxLength in place of {m,n}")


def _written(tree: Node) -> str:
    match tree:
        case Sequence(items=(Edge(kind="^"), Choice() as words, Edge(kind="$"))):
            # In this very form the engine compares words, and compiles nothing.
            return f"^({_written(words)})$"
        case Sequence(items=items):
            return "".join(
                _unit(item) if isinstance(item, Choice) else _written(item) for item in items
            )
        case Choice(options=options):
            return "|".join(_written(option) for option in options)
        case Repeat(item=item, low=low, high=high):
            return _unit(item) + _quantifier(low, high)
        case Edge(kind=kind):
            return _EDGES[kind]
        case Chars():
            return _characters(tree)


def _unit(node: Node) -> str:
    return _characters(node) if isinstance(node, Chars) else f"(?:{_written(node)})"


def _quantifier(low: int, high: int | None) -> str:
    if (low, high) in _SIGNS:
        return _SIGNS[low, high]
    if low == high:
        return f"{{{low}}}"
    return f"{{{low},{'' if high is None else high}}}"


def _characters(chars: Chars) -> str:
    match chars:
        case Chars(ranges=((low, high),), properties=()) if low == high:
            return _escaped(low, _SPECIAL)
    ranges, negated = chars.ranges, chars.negated
    if not chars.properties:
        others = complement(ranges)
        if not ranges or 0 < len(others) < len(ranges):
            ranges, negated = others, True
    return f"[{'^' * negated}{''.join(map(_range, ranges))}{''.join(chars.properties)}]"


def _range(bounds: tuple[int, int]) -> str:
    return "-".join(_escaped(point, _SPECIAL_IN_CLASSES) for point in dict.fromkeys(bounds))


def _escaped(point: int, special: frozenset[str]) -> str:
    character = chr(point)
    if character in special:
        return f"\\{character}"
    return character if character in _PRINTABLE else rf"\x{{{point:X}}}"
