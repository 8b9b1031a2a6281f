"""The differential exam: our schema layer against the judge, on generated cases.

    python tests/properties/differential.py --documents 1000000 --seed 1 [--json]

Prints wrong accepts, wrong rejects and wrong values with shrunk reproducers; schemas that the
product refused (never scored); and for each keyword how many documents it was content with, and
how many refusals it decided. Progress goes to stderr. With `--journal FILE` finished blocks are
kept there, and a later run of the same exam goes on from them. `--subject engine` examines the
bare engine instead of the product, `--subject judge` nothing but the exam.

Exit status: 0 all agree; 1 a disagreement; 2 all agree, but the exam was too thin to say so (a
keyword below one document in a hundred either way, or more than one schema in twenty refused).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest does

from properties.generator import KEYWORDS, case
from properties.pools import Json, Schema
from properties.reference import compile_judge
from properties.shrink import shrink

DOCUMENTS_PER_SCHEMA = 20
SCHEMAS_PER_BLOCK = 100
FLOOR = 0.01  # of all documents: below, a keyword counts as not examined
MAX_REFUSED = 0.05  # of all schemas
MAX_ALIKE = 2  # findings kept of one kind about one thing; all are counted
MAX_FINDINGS = 200  # kept in all
MAX_REPRODUCERS = 20  # printed


class Answer(msgspec.Struct, frozen=True):
    """What an examined validator says of a document: accepted or not, and as which value."""

    ok: bool
    value: Json = None


class Refused(Exception):
    """The schema is not accepted; the message is what the table of refusals lists."""


Check = Callable[[bytes], Answer]
Compile = Callable[[Schema], Check]  # raises Refused


def product(schema: Schema) -> Check:
    """The product. This is the one place that knows its interface."""
    from toolstile.schema import check_schema, compile_arguments  # noqa: PLC0415

    issues = check_schema(schema)
    if issues:
        raise Refused(f"{issues[0].code}: {issues[0].message[:70]}")
    compiled = compile_arguments(schema)

    def check(document: bytes) -> Answer:
        checked = compiled.check(document)
        return Answer(checked.ok, checked.value)

    return check


def engine(schema: Schema) -> Check:
    """The engine that the product stands on, as bare as it can be used."""
    import jsonschema_rs  # noqa: PLC0415
    import orjson  # noqa: PLC0415

    try:
        validator = jsonschema_rs.Draft202012Validator(
            schema,
            offline=True,
            validate_formats=True,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except jsonschema_rs.ValidationError as error:
        raise Refused(str(error)[:70]) from error

    def check(document: bytes) -> Answer:
        value = orjson.loads(document)
        return Answer(validator.is_valid(value), value)

    return check


def itself(schema: Schema) -> Check:
    """The judge in the place of the product: shows what the exam costs and reaches."""
    judge = compile_judge(schema)
    return lambda document: Answer(judge(document).valid, json.loads(document))


SUBJECTS: dict[str, Compile] = {"product": product, "engine": engine, "judge": itself}


class Finding(msgspec.Struct, frozen=True):
    """A document on which product and judge disagree."""

    kind: str
    about: str  # what the judge's verdict rests on: those alike are likely one fault
    index: int
    schema: Schema
    document: str


class Tally(msgspec.Struct):
    """What a part of the exam showed."""

    schemas: int = 0
    documents: int = 0
    valid: int = 0
    content: Counter[str] = msgspec.field(default_factory=Counter)
    decided: Counter[str] = msgspec.field(default_factory=Counter)
    refused: Counter[str] = msgspec.field(default_factory=Counter)
    wrong: Counter[str] = msgspec.field(default_factory=Counter)
    findings: list[Finding] = msgspec.field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take another part in."""
        self.schemas += other.schemas
        self.documents += other.documents
        self.valid += other.valid
        for mine, theirs in zip(self.counters, other.counters, strict=True):
            mine.update(theirs)
        for finding in other.findings:
            self.keep(finding)

    def keep(self, finding: Finding) -> None:
        """Keep a finding, unless there are enough, or enough that are like it."""
        alike = [f for f in self.findings if (f.kind, f.about) == (finding.kind, finding.about)]
        if len(alike) < MAX_ALIKE and len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)

    @property
    def counters(self) -> tuple[Counter[str], ...]:
        """All that is counted by name."""
        return self.content, self.decided, self.refused, self.wrong


def compiled(compile_: Compile, schema: Schema) -> Check:
    """The check of a schema; if making it fails, one that fails so on every document."""
    try:
        return compile_(schema)
    except Refused:
        raise
    except Exception as error:  # noqa: BLE001 - the examined code may fail in any way at all
        failure = error

    def fail(_: bytes) -> Answer:
        raise failure

    return fail


def disagreement(check: Check, document: bytes, *, valid: bool) -> str | None:
    """What is wrong with the answer to a document of which the judge has spoken; None if nothing.

    Besides the verdict, an accepted value must be the document's: the cases have no defaults.
    """
    try:
        answer = check(document)
    except Exception as error:  # noqa: BLE001 - the examined code may fail in any way at all
        return f"crash ({type(error).__name__})"
    if answer.ok != valid:
        return "wrong accept" if answer.ok else "wrong reject"
    return "wrong value" if valid and answer.value != json.loads(document) else None


def examine(compile_: Compile, seed: int, indices: range) -> Tally:
    """Put the cases of some indices to product and judge."""
    tally = Tally()
    for index in indices:
        made = case(seed, index, DOCUMENTS_PER_SCHEMA)
        tally.schemas += 1
        try:
            check = compiled(compile_, made.schema)
        except Refused as refusal:
            tally.refused[str(refusal)] += 1
            continue
        judge = compile_judge(made.schema)
        for document in made.documents:
            verdict = judge(document)
            tally.documents += 1
            tally.valid += verdict.valid
            (tally.content if verdict.valid else tally.decided).update(verdict.keywords)
            kind = disagreement(check, document, valid=verdict.valid)
            if kind:
                about = made.focus if verdict.valid else " ".join(sorted(verdict.keywords))
                tally.wrong[kind] += 1
                tally.keep(Finding(kind, about, index, made.schema, document.decode()))
    return tally


def examine_block(subject: str, seed: int, block: int) -> Tally:
    """One block of cases; its number and the seed are all that decides them."""
    first = block * SCHEMAS_PER_BLOCK
    return examine(SUBJECTS[subject], seed, range(first, first + SCHEMAS_PER_BLOCK))


def still(compile_: Compile, kind: str, schema: Schema, document: bytes) -> bool:
    """Whether a smaller case shows the same disagreement; a nonsensical one does not."""
    try:
        check, judge = compiled(compile_, schema), compile_judge(schema)
        return disagreement(check, document, valid=judge(document).valid) == kind
    except Exception:  # noqa: BLE001 - the judge, a stranger's code, chokes on some mutilations
        return False


def reproducers(compile_: Compile, findings: list[Finding]) -> list[Finding]:
    """The smallest forms of the findings, one of those that come down to the same."""
    distinct: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        schema, document = shrink(
            finding.schema, finding.document.encode(), partial(still, compile_, finding.kind)
        )
        gist = (finding.kind, *sorted(set(_gist(schema))))
        small = msgspec.structs.replace(finding, schema=schema, document=document.decode())
        distinct.setdefault(gist, small)
        if len(distinct) == MAX_REPRODUCERS:
            break
    return list(distinct.values())


PLUMBING = (  # what only leads to the place of a fault
    *("type", "properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
    *("items", "prefixItems", "allOf", "$ref"),
)


def _gist(schema: Json) -> Iterator[str]:
    """What a shrunk schema is about: its keywords, with a format or a pattern in full."""
    if isinstance(schema, list):
        yield from (word for branch in schema for word in _gist(branch))
    if not isinstance(schema, dict):
        return
    for name, value in schema.items():
        if name in KEYWORDS and name not in PLUMBING:
            yield f"{name} {value}" if name in ("format", "pattern") else name
        yield from _gist(value)


# --- the run ------------------------------------------------------------------------------------


def run(subject: str, seed: int, blocks: int, workers: int, journal: Path | None) -> Tally:
    """All blocks, on several processes; those in the journal are not done again."""
    total, began = Tally(), time.monotonic()
    exam = f"{subject}/{seed}/{_edition()}"
    done = _read(journal, exam) if journal else {}
    for block in sorted(done.keys() & set(range(blocks))):
        total.add(done[block])
    kept = total.documents
    left = [block for block in range(blocks) if block not in done]
    with ProcessPoolExecutor(workers) as pool:
        results = pool.map(partial(examine_block, subject, seed), left)
        for block, tally in zip(left, results, strict=True):
            total.add(tally)
            if journal:
                _append(journal, exam, block, tally)
            _progress(total, kept, blocks, time.monotonic() - began)
    print(file=sys.stderr)
    return total


def _edition() -> str:
    """Names the cases and the judge: a journal of others says nothing of these."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def _read(journal: Path, exam: str) -> dict[int, Tally]:
    """The finished blocks of an exam; a line that a crash cut short is cut off."""
    if not journal.exists():
        return {}
    text = journal.read_bytes()
    end = text.rfind(b"\n") + 1
    os.truncate(journal, end)
    lines = [msgspec.json.decode(line) for line in text[:end].splitlines()]
    return {
        line["block"]: msgspec.convert(line["tally"], Tally, dec_hook=lambda kind, had: kind(had))
        for line in lines
        if line["exam"] == exam
    }


def _append(journal: Path, exam: str, block: int, tally: Tally) -> None:
    with journal.open("ab") as file:
        file.write(msgspec.json.encode({"exam": exam, "block": block, "tally": tally}) + b"\n")


def _progress(total: Tally, kept: int, blocks: int, seconds: float) -> None:
    rate = (total.documents - kept) / seconds
    share = total.schemas / (blocks * SCHEMAS_PER_BLOCK)
    wrong = total.wrong.total()
    line = f"{total.documents:>9,} documents {share:4.0%}  {rate:,.0f}/s  {wrong} disagreements"
    print(f"\r{line}", end="", file=sys.stderr, flush=True)


def thin(total: Tally) -> list[str]:
    """Why the exam says too little; nothing if it says enough."""
    reasons = [
        f"{keyword}: {counter[keyword]:,} documents {word}"
        for keyword in KEYWORDS
        for word, counter in (("satisfied", total.content), ("decided", total.decided))
        if counter[keyword] < FLOOR * total.documents
    ]
    refused = total.refused.total()
    if refused > MAX_REFUSED * total.schemas:
        reasons.append(f"{refused:,} of {total.schemas:,} schemas refused")
    return reasons


def report(total: Tally, found: list[Finding], seconds: float) -> Iterator[str]:
    """The result for people, line by line."""
    yield f"{'keyword':<24}{'satisfied':>12}{'decided':>12}"
    for keyword in sorted(KEYWORDS):
        yield f"{keyword:<24}{total.content[keyword]:>12,}{total.decided[keyword]:>12,}"
    rate = total.documents / seconds
    yield f"\n{total.schemas:,} schemas, {total.documents:,} documents ({total.valid:,} valid)"
    yield f"{seconds:,.0f} s, {rate:,.0f} documents/s"
    yield f"{total.refused.total():,} schemas refused"
    for message, count in total.refused.most_common(20):
        yield f"{count:>8,}  {message}"
    for kind, count in total.wrong.most_common():
        yield f"{count:,} documents: {kind}"
    for finding in found:
        yield f"\n{finding.kind} (schema {finding.index})"
        yield f"  schema    {json.dumps(finding.schema, ensure_ascii=False)}"
        yield f"  document  {finding.document}"
    for reason in thin(total):
        yield f"too thin: {reason}"
    yield "DISAGREEMENT" if total.wrong else "no disagreement"


def summary(total: Tally, found: list[Finding], seconds: float) -> dict[str, Any]:
    """The result for programs."""
    return {
        "schemas": total.schemas,
        "documents": total.documents,
        "valid": total.valid,
        "seconds": round(seconds, 1),
        "disagreements": dict(total.wrong),
        "reproducers": [msgspec.to_builtins(finding) for finding in found],
        "refused": dict(total.refused.most_common()),
        "keywords": {
            keyword: {"satisfied": total.content[keyword], "decided": total.decided[keyword]}
            for keyword in sorted(KEYWORDS)
        },
        "too_thin": thin(total),
    }


def main(argv: list[str] | None = None) -> int:
    """Run the exam as the command line says, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--subject", choices=sorted(SUBJECTS), default="product")
    parser.add_argument("--journal", type=Path, help="keep finished blocks here, and go on from it")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    blocks = -(-options.documents // (DOCUMENTS_PER_SCHEMA * SCHEMAS_PER_BLOCK))
    began = time.monotonic()
    total = run(options.subject, options.seed, blocks, options.workers, options.journal)
    seconds = time.monotonic() - began
    found = reproducers(SUBJECTS[options.subject], total.findings)
    if options.json:
        print(json.dumps(summary(total, found, seconds), ensure_ascii=False))
    else:
        print("\n".join(report(total, found, seconds)))
    return 1 if total.wrong else 2 if thin(total) else 0


if __name__ == "__main__":
    sys.exit(main())
