"""Leading lookaheads, which schemas can say without them.

Generators write `^(?!B)(?=A)C` for "C, not beginning like B, beginning like A" (zod's `email()`
does). All three look at the same place, the start, so each can be a pattern of its own.
"""

from __future__ import annotations

import msgspec

_OPENERS = {"(?=": True, "(?!": False}


class Leading(msgspec.Struct, frozen=True):
    """A pattern taken apart: what must match, and what must not."""

    pattern: str
    must: tuple[str, ...]
    must_not: tuple[str, ...]


def without_lookahead(pattern: str) -> Leading | None:
    """The parts of a pattern that begins with lookaheads; None for every other pattern."""
    if not pattern.startswith("^") or _has_alternatives(pattern):
        return None  # in `^a|b` the anchor is not that of the whole
    rest = pattern[1:]
    found: dict[bool, list[str]] = {True: [], False: []}
    while rest[:3] in _OPENERS:
        end = _closing(rest)
        if end is None:
            return None
        found[_OPENERS[rest[:3]]].append(f"^(?:{rest[3:end]})")
        rest = rest[end + 1 :]
    if not found[True] and not found[False]:
        return None
    return Leading(f"^{rest}", tuple(found[True]), tuple(found[False]))


def _has_alternatives(pattern: str) -> bool:
    return any(depth == 0 and character == "|" for _, character, depth in _outside_classes(pattern))


def _closing(pattern: str) -> int | None:
    """Where the group that the pattern begins with ends."""
    for index, character, depth in _outside_classes(pattern):
        if character == ")" and depth == 0:
            return index
    return None


def _outside_classes(pattern: str) -> list[tuple[int, str, int]]:
    """The characters that are neither escaped nor in a class, with the depth of groups behind
    them."""
    found: list[tuple[int, str, int]] = []
    depth, index, in_class = 0, 0, False
    while index < len(pattern):
        character = pattern[index]
        if character == "\\":
            index += 2
            continue
        if in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        else:
            depth += (character == "(") - (character == ")")
            found.append((index, character, depth))
        index += 1
    return found
