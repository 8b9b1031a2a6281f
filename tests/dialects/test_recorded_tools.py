"""Recorded tools in every dialect: what the providers' own types and decoders say of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from corpora import ROOT

sys.path.insert(0, str(Path(__file__).parents[1]))
from suites import decoding, exports
from suites.published_types import CHECKS
from toolstile import define
from toolstile.dialects import DIALECTS, export

pytestmark = pytest.mark.required

TOOL = {
    "name": "find",
    "description": "Find files.",
    "parameters": {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 9}, "deep": {"type": "boolean"}},
        "required": ["name"],
    },
}


@pytest.fixture(scope="module")
def tallies() -> dict[str, exports.Tally]:
    """All recorded tools and calls, in every dialect."""
    return exports.score(ROOT)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_recorded_tools_and_calls_pass(tallies: dict[str, exports.Tally], dialect: str) -> None:
    """Every tool is one by the client's types; every valid call has a form and comes back."""
    tally = tallies[dialect]
    assert tally.counts["tools"] > 1_000
    assert tally.counts["calls"] > 2_000
    assert tally.wrong == []


def test_the_corpora_reach_what_is_rewritten(tallies: dict[str, exports.Tally]) -> None:
    """The control: in strict dialects most calls really take another form."""
    assert tallies["openai-responses-strict"].counts["in another form"] > 500
    assert tallies["anthropic-strict"].counts["in another form"] > 20
    assert tallies["gemini"].counts["with losses"] > 10


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "ollama"])
def test_a_wrong_document_is_refused_by_the_published_type(dialect: str) -> None:
    """The control: the types notice a key that they do not know."""
    document = dict(export(define(TOOL), dialect).document)
    CHECKS[dialect](document)
    with pytest.raises((ValidationError, AssertionError)):
        CHECKS[dialect]({**document, "no_such_key": 1})


def test_what_is_exported_for_vllm_can_be_decoded() -> None:
    """At least nine tools of ten are decodable; then valid calls are taken and invalid refused."""
    total = decoding.score(ROOT)
    assert total.counts["decodable"] >= 0.9 * total.counts["tools"] > 1_000
    assert total.counts["valid"] > 2_000
    assert total.counts["invalid"] > 5_000
    assert [line for line in total.wrong if not line.startswith("not decodable")] == []


def test_the_decoder_holds_to_the_schema() -> None:
    """The control: it refuses what the schema refuses, and the same call in another order."""
    decoder = decoding.Decoder(export(define(TOOL), "vllm"))
    assert not decoder.fault
    assert decoder.takes('{"name":"a","deep":true}')
    assert not decoder.takes('{"deep":true,"name":"a"}')
    assert not decoder.takes('{"name":"0123456789"}')
    assert not decoder.takes('{"name":"a","depth":1}')
