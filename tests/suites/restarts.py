"""Schemas are byte-identical in every process: `restarts.py [TIMES]`.

Each restart has its own PYTHONHASHSEED and prints one digest over everything that is derived:
schemas inferred from signatures, definitions adopted from the corpora, their closed forms, their
exports in every dialect, what a search answers.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

sys.path.insert(0, str(Path(__file__).parents[1]))
from corpora import ROOT as CORPORA
from corpora import records
from toolstile import Registry, adopt, tool
from toolstile.dialects import DIALECTS, export
from toolstile.model.canonical import digest


class Colour(Enum):
    """An enumeration in a signature."""

    RED = "red"
    BLUE = "blue"


@dataclass
class Node:
    """A recursive type in a signature."""

    name: str
    tags: set[str]
    children: list[Node]


def everything() -> str:
    """One digest over all that must not depend on the process."""

    @tool(isolation="none", trusted=True)
    def paint(
        colour: Colour,
        node: Node,
        how: Literal["fast", "slow"] | None = None,
        extra: Annotated[dict[str, int], "Numbers by name"] = {},  # noqa: B006 - never changed
    ) -> list[Node]:
        """Paint a tree."""
        return [node] if how or extra or colour is Colour.RED else []

    registry = Registry()
    found = [paint.definition.digest]
    for file in sorted(CORPORA.glob("*/toolcalls.jsonl.gz")):
        for number, record in enumerate(records(file)):
            if number % 10 == 0:
                adopted = adopt(record["tool"])
                found.append(adopted.definition.digest)
                found.append(str(adopted.changes))
                found += [export(adopted.definition, dialect).digest for dialect in DIALECTS]
                if adopted.definition.name not in registry:
                    registry.register(adopted.definition)
    found += [f"{hit.name} {hit.score}" for hit in registry.search("find a file or user", 50)]
    return digest(found)


def restart(seed: int) -> str:
    """The digest of a fresh process with this hash seed."""
    env = os.environ | {"PYTHONHASHSEED": str(seed)}
    command = [sys.executable, __file__, "--one"]
    ended = subprocess.run(command, env=env, capture_output=True, encoding="utf-8", check=True)
    return ended.stdout.strip()


def digests(times: int) -> set[str]:
    """All different digests of that many restarts."""
    dice = random.Random()
    return {restart(dice.randrange(2**32)) for _ in range(times)}


if __name__ == "__main__":
    if sys.argv[1:] == ["--one"]:
        print(everything())
    else:
        times = int(sys.argv[1]) if len(sys.argv) > 1 else 100
        different = digests(times)
        print(json.dumps({"restarts": times, "different": len(different)}))
        sys.exit(len(different) != 1)
