"""What exact canonical bytes cost beyond the C serialiser that merely sorts, and what they save.

`rfc8785` alone is correct too. CPU time, interleaved in one process, median of the rounds.
"""

from __future__ import annotations

import gc

import orjson
import rfc8785
from bench_parse import documents, times

from toolstile.model.canonical import canonical
from toolstile.schema.parse import parse


def sorted_only(data: bytes) -> bytes:
    """What the value of a text is in sorted order, numbers and order of names as they come."""
    return orjson.dumps(orjson.loads(data), None, orjson.OPT_SORT_KEYS)


def exact(data: bytes) -> bytes:
    """The canonical bytes of a text, read by the same parser."""
    return canonical(orjson.loads(data))


def library(data: bytes) -> bytes:
    """The same by the library alone."""
    return rfc8785.dumps(orjson.loads(data))


def main() -> None:
    """Print the table."""
    print(f"{'document':24}{'x sorted C':>12}{'rfc8785 alone, x sorted C':>28}")
    gc.disable()
    for name, data in documents():
        if name.startswith("64-bit"):  # our stated departure: the library refuses them
            continue
        assert exact(data) == library(data) == canonical(parse(data))
        base, ours, theirs = times((sorted_only, exact, library), data)
        print(f"{name:24}{ours / base:>12.2f}{theirs / base:>28.1f}")


if __name__ == "__main__":
    main()
