"""Checking arguments, side by side: ratios of CPU time in one process, in random order.

    goal  parse + checks + validate <= 1.0 x pydantic strict, <= 3 x orjson parse (small <= 4 x)
    goal  compile <= 0.3 ms, definition check < 5 ms, <= 50 KB per typical schema after use

Trust the ratios, not the microseconds: the machine may be busy.
"""

from __future__ import annotations

import gc
import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time_ns
from typing import Any

import orjson
import pydantic
from payloads import CASES

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from corpora import ROOT as CORPORA
from corpora import records
from toolstile import adopt
from toolstile.model.canonical import canonical
from toolstile.schema.closing import close
from toolstile.schema.compiled import CompiledSchema
from toolstile.schema.defining import inspect

ROUNDS = 15
REPEATS = {"small": 4000, "medium": 800, "large": 12}


def medians(contenders: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median microseconds per call of each, interleaved in random order."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        order = list(contenders)
        random.shuffle(order)
        for name in order:
            contender = contenders[name]
            gc.disable()
            started = process_time_ns()
            for _ in range(repeats):
                contender()
            times[name].append((process_time_ns() - started) / repeats / 1000)
            gc.enable()
    return {name: sorted(each)[ROUNDS // 2] for name, each in times.items()}


def documents() -> Iterator[tuple[str, bytes, dict[str, Any], Any]]:
    """Each case as providers send it (compact), and with the spaces that `json.dumps` writes."""
    for name, (schema, raw, model) in CASES.items():
        yield name, raw, schema, model
        yield f"{name} spaced", json.dumps(json.loads(raw)).encode(), schema, model


def check_ratios() -> None:
    """Ours against orjson's parse and pydantic's strict validation of the same documents."""
    heads = ("ours us", "x orjson", "x pydantic", "invalid x valid")
    print(f"{'arguments':<14}" + "".join(f"{head:>16}" for head in heads))
    for name, raw, schema, model in documents():
        ours = CompiledSchema(close(schema)).check
        theirs = pydantic.TypeAdapter(model).validate_json
        bad = re.sub(rb'"(id|limit)":( ?)\d+', rb'"\1":\2"x"', raw, count=1)
        assert ours(raw).ok
        assert not ours(bad).ok
        theirs(raw)
        found = medians(
            {
                "ours": lambda ours=ours, raw=raw: ours(raw),
                "invalid": lambda ours=ours, bad=bad: ours(bad),
                "orjson": lambda raw=raw: orjson.loads(raw),
                "pydantic": lambda theirs=theirs, raw=raw: theirs(raw),
            },
            REPEATS[name.split()[0]],
        )
        ratios = (found["ours"] / found["orjson"], found["ours"] / found["pydantic"])
        worse = found["invalid"] / found["ours"]
        figures = (found["ours"], *ratios, worse)
        print(f"{name:<14}" + "".join(f"{figure:>16.2f}" for figure in figures))


def compile_times() -> None:
    """Making a schema ready, and reading a whole definition."""
    print(f"\n{'schema':<10}{'compile ms':>12}{'definition check ms':>21}")
    for name, (schema, _, _) in CASES.items():
        closed = close(schema)
        document = {"name": "tool", "description": "A tool", "parameters": schema}
        found = medians(
            {
                "compile": lambda closed=closed: CompiledSchema(closed),
                "define": lambda document=document: inspect(document),
            },
            20,
        )
        print(f"{name:<10}{found['compile'] / 1000:>12.3f}{found['define'] / 1000:>21.3f}")


def memory() -> None:
    """Proportional set size per compiled schema that has been used, valid and invalid."""
    print(f"\n{'schema':<10}{'KB each, used':>15}{'canonical bytes':>17}")
    for name, (schema, raw, _) in CASES.items():
        closed = close(schema)
        count = 300
        before = _pss_kb()
        kept = [CompiledSchema(closed) for _ in range(count)]
        for each in kept:
            assert each.check(raw).ok
        print(f"{name:<10}{(_pss_kb() - before) / count:>15.1f}{len(canonical(closed)):>17,}")
        del kept


def typical() -> None:
    """Compile time and memory in use over 600 recorded tools of the corpora."""
    chosen = [
        record for file in sorted(CORPORA.glob("*/toolcalls.jsonl.gz")) for record in records(file)
    ]
    random.Random(1).shuffle(chosen)
    tools = [(adopt(record["tool"]).definition, record) for record in chosen[:600]]
    for definition, _ in tools:
        definition.parameters_json  # noqa: B018 - made here, not while measuring
    before = _pss_kb()
    kept, times = [], []
    for definition, _ in tools:
        started = process_time_ns()
        kept.append(CompiledSchema(definition.parameters))
        times.append((process_time_ns() - started) / 1e6)
    for compiled, (_, record) in zip(kept, tools, strict=True):
        for call in [*record["valid_calls"][:3], *record["invalid_calls"][:3]]:
            compiled.check(json.dumps(call.get("arguments", {})))
    print(f"{'corpus':<10}{(_pss_kb() - before) / len(tools):>15.1f}")
    times.sort()
    print(f"corpus     compile ms: median {times[300]:.3f}, 95 % {times[570]:.3f}")


def _pss_kb() -> int:
    gc.collect()
    for line in Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise RuntimeError("no Pss in smaps_rollup: this needs Linux")


if __name__ == "__main__":
    check_ratios()
    compile_times()
    if sys.platform == "linux":
        memory()
        typical()
