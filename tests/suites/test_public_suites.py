"""Public suites and recorded calls, whole: `nox -s suites` prints the same figures."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from corpora import ROOT, corpus

sys.path.insert(0, str(Path(__file__).parents[1]))
from suites.json_schema_suite import engine_score, wrapped_score
from suites.toolcalls import Score, files, score

pytestmark = pytest.mark.required


def test_the_engine_answers_the_required_suite() -> None:
    """(a) With our settings and patterns, lint and closing off, every required test is right."""
    counts, wrong = engine_score(corpus("json-schema-test-suite"))
    assert (wrong, counts["wrong"]) == ([], 0)
    assert counts["right"] > 500


def test_what_we_accept_of_the_suite_is_answered_right() -> None:
    """(b), (c) Nine of ten schemas are accepted, and each refusal is one of the two we promise."""
    figures = wrapped_score(corpus("json-schema-test-suite"))
    assert figures.wrong == []
    assert figures.counts["accepted"] >= 0.9 * figures.counts["groups"] > 100
    ours = ("a reference may not leave the schema", "only draft 2020-12 is supported")
    assert all(refused.endswith(ours) for refused in figures.refused)


def test_recorded_calls_are_judged_as_labelled() -> None:
    """No false accept; the false rejects are arguments that are no object; faults are where they
    are said to be."""
    corpus("bfcl", "toolcalls.jsonl.gz")
    total = score(ROOT)
    assert total.meets_its_goals, (total.counts, total.refused)
    assert total.counts["tools"] > 1_000


def test_a_wrong_label_would_be_seen() -> None:
    """The control: with the labels turned round, nearly everything is wrong."""
    from corpora import records  # noqa: PLC0415 - only here

    total = Score()
    for record in records(next(files(corpus("bfcl").parent))):
        turned = [{**c, "mutation": "none"} for c in record["valid_calls"]]
        total.add({**record, "valid_calls": [], "invalid_calls": turned})
    assert not total.meets_its_goals
    assert total.counts["false_accepts"] == total.counts["invalid"] > 0
