"""A slice of the exam of the dialects; `nox -s dialects` sits the whole of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from properties.generator import case
from suites.exam import examine
from suites.exports import schema_of
from toolstile.dialects import DIALECTS, export
from toolstile.dialects.account import LEADING, Loss
from toolstile.model.definition import ToolDefinition
from toolstile.model.json import thaw
from toolstile.schema import check_schema, close
from toolstile.schema.closing import at
from toolstile.schema.compiled import compiled
from toolstile.schema.keywords import asserts
from toolstile.schema.places import Place, Places

CASES = 250
# What these hold is looked at by its own places.
HOLDING = LEADING | frozenset(
    """properties patternProperties additionalProperties unevaluatedProperties items prefixItems
    unevaluatedItems anyOf oneOf if then else dependentSchemas type minContains
    maxContains""".split()
)


def definition(schema: Any) -> ToolDefinition:
    """A tool with these parameters."""
    return ToolDefinition(name="tool", description="A tool.", parameters=schema)


def test_generated_schemas_are_said_or_reported() -> None:
    """What fits has a form and comes back; what does not is held back, or its loss is told."""
    exam = examine(3, range(CASES))
    assert exam.wrong == []
    assert exam.counts["exports"] > CASES * 8
    assert exam.counts["fitting"] > 10_000
    assert exam.counts["held back"] > 10_000


def test_the_exam_notices_a_loss_that_is_not_reported() -> None:
    """The control: if nothing were reported, hundreds of documents would be let through unsaid."""
    exam = examine(3, range(20), lost=lambda exported: set())
    assert exam.counts["neither said nor reported"] > 100


def covered(places: Places, place: Place, losses: tuple[Loss, ...]) -> bool:
    """Whether something that the place stands in, or is referred to from, is reported as lost as a
    whole."""
    lost = {(loss.path.removeprefix("/parameters"), loss.keyword) for loss in losses}
    queue, seen = [place], {place.pointer}
    while queue:
        each = queue.pop()
        parent = each.parent
        if parent and {(parent.pointer, word) for word in (each.keyword, "if")} & lost:
            return True
        referring = [p for p in places if any(t is each for t in places.targets(p))]
        above = [p for p in (parent, *referring) if p is not None and p.pointer not in seen]
        seen |= {p.pointer for p in above}
        queue += [p for p in above if p.pointer or p in referring]
    return False


def deletions(places: Places) -> Iterator[tuple[Place, str, Any]]:
    """Each constraint of a schema, and the schema without it."""
    schema = places.by_pointer[""].schema
    for place in places:
        for keyword in place.rules:
            if keyword not in HOLDING and asserts(keyword) and not place.tested:
                less = thaw(schema)
                del at(less, place.pointer)[keyword]
                yield place, keyword, less


@pytest.mark.parametrize("dialect", DIALECTS)
def test_deleting_a_constraint_shows(dialect: str) -> None:
    """A constraint that leaves no trace, neither in the document nor in the report, asserts nothing
    that the others do not."""
    shown = silent = 0
    for index in range(60):
        made = case(5, index)
        if check_schema(made.schema):
            continue
        schema = close(made.schema)
        places = Places(schema)
        whole = export(definition(schema), dialect)
        for place, keyword, less in deletions(places):
            after = export(definition(less), dialect)
            if (after.json, after.losses) != (whole.json, whole.losses):
                shown += 1
            elif not covered(places, place, whole.losses):
                silent += 1
                before, then = compiled(schema), compiled(close(less))
                verdicts = [(before.check(d).ok, then.check(d).ok) for d in made.documents]
                assert all(one == other for one, other in verdicts), (index, place, keyword)
    assert shown > 200
    assert silent < shown / 50


def test_a_second_export_is_the_same() -> None:
    """The same definition gives the same bytes, whatever was exported in between."""
    for index in range(20):
        made = case(9, index)
        if check_schema(made.schema):
            continue
        tool = definition(close(made.schema))
        first = [export(tool, dialect).json for dialect in DIALECTS]
        assert [export(tool, dialect).json for dialect in DIALECTS] == first
        assert all(schema_of(export(tool, dialect)) for dialect in DIALECTS)
