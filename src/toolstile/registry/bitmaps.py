"""Sets of tools as large integers, and scores of all tools added at once.

A set of tools is an integer whose bit n stands for tool n. The scores of all tools are a list of
such integers ("planes"): bit n of plane k is bit k of the score of tool n. To add a number to the
scores of a set is then a handful of operations on large integers, and the best tools are read off
from the highest plane downwards. Known from databases as bit-sliced indexing (O'Neil & Quass,
"Improved query performance with variant indexes", SIGMOD 1997).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence

LEVELS = 16
# A sparse posting is level and tool in 32 bits.
_TOOL_BITS = 28
_TOOL = (1 << _TOOL_BITS) - 1
# Where a bitmap (one bit a tool) takes no more room than 32 bits a posting.
_DENSE_SHARE = 32
_DENSE_LEAST = 64


class Postings:
    """The tools that hold one word, each at one level of importance.

    A rare word is a sorted array, a common one a bitmap for each level.
    """

    __slots__ = ("_dense", "_sparse", "count")

    def __init__(self) -> None:
        self.count = 0
        self._sparse = array("I")
        self._dense: dict[int, int] | None = None

    def add(self, tool: int, level: int, tools: int) -> None:
        """File a tool that is not yet here; `tools` is how many there are in all."""
        self.count += 1
        if self._dense is not None:
            self._dense[level] = self._dense.get(level, 0) | 1 << tool
            return
        insort(self._sparse, level << _TOOL_BITS | tool)
        if self.count > max(_DENSE_LEAST, tools // _DENSE_SHARE):
            self._dense = dict(self.levels())
            self._sparse = array("I")

    def discard(self, tool: int, level: int) -> None:
        """Take out a tool that is here at that level."""
        self.count -= 1
        if self._dense is not None:
            self._dense[level] ^= 1 << tool
            return
        del self._sparse[bisect_left(self._sparse, level << _TOOL_BITS | tool)]

    def levels(self) -> Iterable[tuple[int, int]]:
        """Level and set of the tools at that level."""
        return self._sparse_levels() if self._dense is None else self._dense.items()

    def _sparse_levels(self) -> Iterator[tuple[int, int]]:
        start = 0
        while start < len(self._sparse):
            level = self._sparse[start] >> _TOOL_BITS
            end = bisect_left(self._sparse, level + 1 << _TOOL_BITS, start)
            yield level, bitmap([packed & _TOOL for packed in self._sparse[start:end]])
            start = end


def bitmap(tools: Sequence[int]) -> int:
    """The set of the given tools, which come in ascending order."""
    if len(tools) <= 4:
        return sum(1 << tool for tool in tools)
    field = bytearray((tools[-1] >> 3) + 1)
    for tool in tools:
        field[tool >> 3] |= 1 << (tool & 7)
    return int.from_bytes(field, "little")


def members(tools: int) -> Iterator[int]:
    """The tools of a set in ascending order."""
    digits = bin(tools)[:1:-1]
    at = digits.find("1")
    while at >= 0:
        yield at
        at = digits.find("1", at + 1)


class Scores:
    """The score of every tool, as planes."""

    def __init__(self) -> None:
        self._planes: list[int] = []

    def add(self, sets: Iterable[tuple[int, int]]) -> int:
        """Add to each tool the highest value whose set holds it; returns all tools that got one."""
        planes: list[int] = []
        seen = 0
        for value, tools in sorted(sets, reverse=True):
            fresh = tools & ~seen
            seen |= fresh
            planes.extend([0] * (value.bit_length() - len(planes)))
            for bit in range(value.bit_length()):
                if fresh and value >> bit & 1:
                    planes[bit] |= fresh
        self._carry_in(planes)
        return seen

    def _carry_in(self, planes: list[int]) -> None:
        """Binary addition, a digit of all scores at a time."""
        width = max(len(planes), len(self._planes)) + 1
        planes.extend([0] * (width - len(planes)))
        self._planes.extend([0] * (width - len(self._planes)))
        carry = 0
        for bit, added in enumerate(planes):
            had = self._planes[bit]
            differ = had ^ added
            self._planes[bit] = differ ^ carry
            carry = had & added | carry & differ
        while not self._planes[-1] and len(self._planes) > 1:
            self._planes.pop()

    def best(self, wanted: int) -> tuple[int, int, int]:
        """Tools surely among the wanted best, those tied for the rest, and how many these are."""
        tied = 0
        for plane in self._planes:
            tied |= plane
        surely = 0
        for plane in reversed(self._planes):
            higher = tied & plane
            count = higher.bit_count()
            if count >= wanted:
                tied = higher
            else:
                surely |= higher
                wanted -= count
                tied ^= higher
        return surely, tied, wanted

    def of(self, tools: Iterable[int]) -> dict[int, int]:
        """The scores of a few tools."""
        fields = [as_bytes(plane) for plane in self._planes]
        return {
            tool: sum(holds(field, tool) << bit for bit, field in enumerate(fields))
            for tool in tools
        }


def as_bytes(tools: int) -> bytes:
    """A set in the form that `holds` reads: one test of a large integer would copy all of it."""
    return tools.to_bytes((tools.bit_length() + 7) // 8, "little")


def holds(field: bytes, tool: int) -> int:
    """1 if the set holds the tool, else 0."""
    return field[tool >> 3] >> (tool & 7) & 1 if tool >> 3 < len(field) else 0
