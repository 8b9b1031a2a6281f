"""What `parse` costs beyond `orjson.loads`, which reads the same text and checks none of it.

CPU time, the two interleaved in one process, median of the rounds. Run: python bench_parse.py
"""

from __future__ import annotations

import gc
import json
import random
from collections.abc import Callable, Iterator
from time import process_time_ns

import orjson
from payloads import LARGE_VALUE, MEDIUM_VALUE, SMALL_VALUE

from toolstile.schema.parse import parse

ROUNDS = 25
ROUND_NS = 4_000_000

POINTS = {"points": [[n, n + 1] for n in range(100)]}
ACCENTED = {"name": "Zoë Müller", "note": "déjà vu, 50 €, 😀 " * 8, "ids": [1, 2, 3]}


def documents() -> Iterator[tuple[str, bytes]]:
    """Each shape of arguments, as models and their clients write them."""
    for name, value in (("small", SMALL_VALUE), ("medium", MEDIUM_VALUE), ("large", LARGE_VALUE)):
        yield f"{name}, compact", orjson.dumps(value)
        yield f"{name}, json.dumps", json.dumps(value).encode()
    yield "medium, indented", json.dumps(MEDIUM_VALUE, indent=2).encode()
    yield "100 points, compact", orjson.dumps(POINTS)
    yield "accented, UTF-8", orjson.dumps(ACCENTED)
    yield r"accented, \u-escaped", json.dumps(ACCENTED).encode()
    yield "64-bit integers", orjson.dumps({"ids": [2**60 + n for n in range(20)]})


def times(work: tuple[Callable[[bytes], object], ...], data: bytes) -> list[float]:
    """The median nanoseconds of each function on this text."""
    start = process_time_ns()
    for _ in range(20):
        work[0](data)
    count = max(1, ROUND_NS * 20 // max(1, process_time_ns() - start))
    taken: list[list[float]] = [[] for _ in work]
    for _ in range(ROUNDS):
        for which in random.sample(range(len(work)), len(work)):
            function = work[which]
            start = process_time_ns()
            for _ in range(count):
                function(data)
            taken[which].append((process_time_ns() - start) / count)
    return [sorted(each)[ROUNDS // 2] for each in taken]


def main() -> None:
    """Print the table."""
    print(f"{'document':24}{'bytes':>8}{'loads µs':>10}{'parse µs':>10}{'ratio':>7}")
    gc.disable()
    for name, data in documents():
        base, ours = times((orjson.loads, parse), data)
        row = f"{len(data):>8}{base / 1e3:>10.2f}{ours / 1e3:>10.2f}{ours / base:>7.2f}"
        print(f"{name:24}{row}")


if __name__ == "__main__":
    main()
