"""The exam of the dialects: generated schemas in every dialect, and what becomes of documents.

    python exam.py --cases 20000

For every schema that the generator makes, every dialect and every document:

- a document that fits the tool has a form that fits the export, and comes back as it was;
- one that does not fit, and that the export would let through, breaks a keyword that is reported
  as lost, by the judge's word: no constraint is neither said nor reported.

The judge (`properties/reference.py`) and the generator know nothing of the product.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from properties.generator import case
from properties.reference import Verdict, compile_judge
from suites.exports import schema_of, taking
from toolstile.dialects import DIALECTS, Export, export
from toolstile.errors import SchemaValidationError
from toolstile.model.canonical import canonical
from toolstile.model.definition import ToolDefinition
from toolstile.model.json import thaw
from toolstile.schema import check_schema, close
from toolstile.schema.compiled import arguments_of
from toolstile.schema.engine import Fits

CASES_PER_BLOCK = 50
MAX_KEPT = 3
# A verdict names the keyword on the way to what is wrong; a loss below it is a loss of this one.
LEADING = frozenset(
    """anyOf oneOf allOf not if then else contains unevaluatedProperties unevaluatedItems
    additionalProperties patternProperties dependentSchemas $ref""".split()
)

Lost = Callable[[Export], set[str]]


class Judged(NamedTuple):
    """The judge of a tool's own schema, and what an export of it reports as lost."""

    judge: Callable[[bytes], Verdict]
    lost: set[str]


class Exam(msgspec.Struct):
    """What a part of the exam showed."""

    counts: Counter[str] = msgspec.field(default_factory=Counter)
    wrong: list[str] = msgspec.field(default_factory=list)

    def note(self, what: str, index: int, dialect: str, detail: object) -> None:
        """Count something that is wrong, and keep the first few of its kind."""
        self.counts[what] += 1
        if self.counts[what] <= MAX_KEPT:
            self.wrong.append(f"{what}: case {index}, {dialect}: {detail}"[:1_000])

    def add(self, other: Exam) -> None:
        """Take another part in."""
        self.counts.update(other.counts)
        self.wrong += other.wrong


def lost(exported: Export) -> set[str]:
    """The keywords that are reported as lost, and those that lead to one that is."""
    found = {loss.keyword for loss in exported.losses}
    whole = json.dumps(thaw(exported.definition.parameters)).encode()
    for loss in exported.losses:
        steps = loss.path.split("/")
        found |= LEADING.intersection(steps)
        # What refers to it stands elsewhere, and by whatever keyword.
        found |= LEADING if "$defs" in steps or b'"$ref": "#"' in whole else set()
    return found


def examine(seed: int, indices: Iterable[int], lost: Lost = lost) -> Exam:
    """Put some cases to every dialect; `lost` says which keywords an export reports as lost."""
    exam = Exam()
    for index in indices:
        made = case(seed, index)
        if check_schema(made.schema):
            continue
        definition = ToolDefinition(
            name="tool", description="A tool.", parameters=close(made.schema)
        )
        judge = compile_judge(made.schema)
        for dialect in DIALECTS:
            exported = export(definition, dialect)
            exam.counts["exports"] += 1
            takes = taking(schema_of(exported))
            for document in made.documents:
                problem = tried(exam, exported, takes, document, Judged(judge, lost(exported)))
                if problem is not None:
                    exam.note(problem, index, dialect, document.decode())
    return exam


def tried(exam: Exam, exported: Export, takes: Fits, document: bytes, judged: Judged) -> str | None:
    """What is wrong with one document's way through one export; None if nothing is."""
    own = arguments_of(exported.definition).check(document)
    value = json.loads(document)
    if own.ok:
        exam.counts["fitting"] += 1
        sent = exported.to_provider(value)
        back = exported.check(json.dumps(sent))
        if not takes(sent):
            return "cannot be said"
        alike = back.ok and canonical(back.value) == canonical(own.value)
        return None if alike else "comes back otherwise"
    if not isinstance(value, dict):
        return None
    try:
        sent = exported.to_provider(value)
    except SchemaValidationError:  # no JSON of ours, whatever is asked for: an integer too large
        return None
    exam.counts["missing"] += 1
    if not takes(sent):
        exam.counts["held back"] += 1
        return None
    return None if is_reported(exported, judged, sent) else "neither said nor reported"


def is_reported(exported: Export, judged: Judged, sent: Any) -> bool:
    """Whether what is wrong with something that the export lets through is among its losses."""
    read = exported.check(json.dumps(sent))
    if read.ok or read.issues[0].code == "dialect":
        return True  # in this form it is another call, or none
    verdict = judged.judge(json.dumps(exported.from_provider(sent)).encode())
    return bool(verdict.keywords & judged.lost)


def block(seed: int, number: int) -> Exam:
    """One block of cases."""
    first = number * CASES_PER_BLOCK
    return examine(seed, range(first, first + CASES_PER_BLOCK))


def main() -> None:
    """Run the exam on two processes and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began, total = time.monotonic(), Exam()
    with ProcessPoolExecutor(2) as pool:
        blocks = range(-(-options.cases // CASES_PER_BLOCK))
        for part in pool.map(partial(block, options.seed), blocks):
            total.add(part)
            done = total.counts["exports"]
            print(f"\r{done:>9,} exports", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for what, count in sorted(total.counts.items()):
        print(f"{what:<28}{count:>12,}")
    print(*total.wrong[:20], sep="\n", end="\n" if total.wrong else "")
    print(
        f"{'DISAGREEMENT' if total.wrong else 'no disagreement'}, {time.monotonic() - began:,.0f} s"
    )
    sys.exit(bool(total.wrong))


if __name__ == "__main__":
    main()
