"""About how many tokens a text takes, without any model's vocabulary.

Measured against o200k_base on 4,704 exports of 1,568 recorded tools: right in the middle, 98 of 100
within 8 % below and 11 % above. Texts that are not English take more than is said here.
"""

from __future__ import annotations

import re

PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9]+")
WHOLE_WORD = 8  # letters; most words up to here are one token
WORD_PART = 6
DIGITS = 3
MARKS = 4
FOREIGN = 1.5
# The rule counts a little too much on the whole.
SCALE = 0.967


def estimate(text: str) -> int:
    """The number of tokens, roughly."""
    return round(SCALE * sum(map(_tokens, PIECE.findall(text))))


def _tokens(piece: str) -> float:
    if piece[0].isdigit():
        return -(-len(piece) // DIGITS)
    if piece[0].isascii() and piece[0].isalpha():
        return 1 if len(piece) <= WHOLE_WORD else len(piece) / WORD_PART
    return max(1, len(piece) / MARKS) if piece.isascii() else len(piece) / FOREIGN
