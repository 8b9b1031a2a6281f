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

from toolstile.schema.parse import parse

ROUNDS = 25
ROUND_NS = 4_000_000

SMALL = {"path": "/srv/data/report.txt", "limit": 50, "recursive": True}
MEDIUM = {
    "ticket": "OPS-48213",
    "title": "Disk nearly full on db-3",
    "body": "The /var volume reached 91 % at 03:14 UTC. " * 6,
    "score": 0.83,
    "count": 7,
    "notify": True,
    "due": None,
    "tags": ["disk", "db-3", "on-call", "prod"],
    "assignee": {"id": 4711, "email": "ada@example.org", "name": "Ada"},
    "watchers": [{"id": n, "role": role} for n, role in enumerate(("viewer", "editor", "owner"))],
    "filter": {"field": "host", "op": "in", "value": ["db-3", "db-4"]},
    "attachments": [
        {"name": "df.txt", "size": 912, "sha256": "ab" * 32},
        {"name": "dmesg.txt", "size": 20211, "sha256": "0f" * 32},
    ],
    "labels": {"team": "storage", "env": "prod"},
}
LARGE = {
    "rows": [
        {"id": n, "name": f"item {n}", "price": n * 1.25, "ok": n % 2 == 0, "kind": "abc"[n % 3]}
        for n in range(1000)
    ]
}
POINTS = {"points": [[n, n + 1] for n in range(100)]}
ACCENTED = {"name": "Zoë Müller", "note": "déjà vu, 50 €, 😀 " * 8, "ids": [1, 2, 3]}


def documents() -> Iterator[tuple[str, bytes]]:
    """Each shape of arguments, as models and their clients write them."""
    for name, value in (("small", SMALL), ("medium", MEDIUM), ("large", LARGE)):
        yield f"{name}, compact", orjson.dumps(value)
        yield f"{name}, json.dumps", json.dumps(value).encode()
    yield "medium, indented", json.dumps(MEDIUM, indent=2).encode()
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
