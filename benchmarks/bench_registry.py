"""The registry at 1,000 and 100,000 tools, interleaved.

goal  look-up at 100,000 <= 1.5 x that at 1,000; registering at 100,000 <= 1 ms
goal  listing O(1); search <= 10 ms
"""

from __future__ import annotations

import gc
import random
import sys
from time import perf_counter_ns, process_time_ns
from typing import Any

import msgspec

from toolstile.authoring import Tool
from toolstile.registry.registry import Registry, _search_entry
from toolstile.registry.snapshot import Entry
from toolstile.schema.defining import define

VERBS = "read write list find send fetch make drop copy move open close check count sort".split()
NOUNS = "file table queue mail user order invoice ticket image page row key note event".split()


def filled(size: int) -> Registry:
    """A registry of that many tools. The snapshot is built straight from one definition, as
    checking 100,000 definitions is not what is measured here."""
    registry = Registry()
    model = define(document("tool"))
    snapshot = registry.snapshot
    for number in range(size):
        verb, noun = VERBS[number % len(VERBS)], NOUNS[number // 7 % len(NOUNS)]
        definition = msgspec.structs.replace(model, name=f"{verb}_{noun}_{number}")
        entry = Entry(name=definition.name, versions=(Tool(definition=definition),))
        snapshot = snapshot.put(entry)
        registry._search.add(_search_entry(definition))  # noqa: SLF001
    registry._snapshot = snapshot  # noqa: SLF001
    return registry


def document(name: str) -> dict[str, Any]:
    """A small definition."""
    properties = {"path": {"type": "string", "description": "Where"}}
    parameters = {"type": "object", "properties": properties, "required": ["path"]}
    return {
        "name": name,
        "description": "Does a thing",
        "version": "1.0.0",
        "parameters": parameters,
    }


def median_us(action: Any, repeats: int, rounds: int = 11) -> float:
    """Median CPU microseconds per call."""
    times = []
    for _ in range(rounds):
        gc.disable()
        started = process_time_ns()
        for _ in range(repeats):
            action()
        times.append((process_time_ns() - started) / repeats / 1000)
        gc.enable()
    return sorted(times)[rounds // 2]


def main(large: int) -> None:
    """Print the table."""
    registries = {size: filled(size) for size in (1_000, large)}
    heads = ("tools", "look-up us", "check us", "list again us", "search ms", "register ms")
    print("".join(f"{head:>15}" for head in heads))
    for size, registry in registries.items():
        names = [entry.name for entry in random.sample(registry.snapshot.sorted, 500)]
        picks = iter(names * 100_000)
        registry.all()
        registry.search("read invoice")
        look_up = median_us(lambda registry=registry, picks=picks: registry.get(next(picks)), 2000)
        raw = b'{"path":"x"}'
        check = median_us(
            lambda registry=registry, picks=picks, raw=raw: registry.check(next(picks), raw), 500
        )
        listing = median_us(registry.all, 2000)
        search = median_us(lambda registry=registry: registry.search("raed invoice"), 5) / 1000
        fresh = iter(range(10_000_000))
        ready = [define(document(f"new_tool_{size}_{next(fresh)}")) for _ in range(200)]
        started = perf_counter_ns()
        for definition in ready:
            registry.register(definition)
        register = (perf_counter_ns() - started) / len(ready) / 1e6
        figures = (look_up, check, listing, search, register)
        print(f"{size:>15,}" + "".join(f"{figure:>15.3f}" for figure in figures))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
