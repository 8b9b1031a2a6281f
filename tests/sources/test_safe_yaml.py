"""YAML is read as JSON or refused: no implicit types, no objects, no bombs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora import corpus, records
from toolstile.sources.safe_yaml import (
    MAX_BYTES,
    MAX_DEPTH,
    YamlFault,
    load_yaml,
    load_yaml_with_positions,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only a comment\n", None),
        ("a: 1\nb: [x, 'y']\n", {"a": 1, "b": ["x", "y"]}),
        ("country: no\non: yes\n", {"country": "no", "on": "yes"}),
        (
            "v: 1_000\nt: 12:30:45\nd: 2026-01-31\n",
            {"v": "1_000", "t": "12:30:45", "d": "2026-01-31"},
        ),
        ("a: ~\nb: null\nc:\n", {"a": None, "b": None, "c": None}),
        ("a: true\nb: False\nc: 'true'\n", {"a": True, "b": False, "c": "true"}),
        ("a: 0x1F\nb: 0o17\nc: 017\n", {"a": 31, "b": 15, "c": 17}),
        ("a: 1.5\nb: .5\nc: 1e3\nd: -2.\n", {"a": 1.5, "b": 0.5, "c": 1000.0, "d": -2.0}),
        ("a: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
        ("a: !!str 1\n", {"a": "1"}),
        ("a: &anchored 1\n", {"a": 1}),
        (f"a: {2**63 - 1}\n", {"a": 2**63 - 1}),
        ('a: "\\U0001f600"\n', {"a": "\U0001f600"}),
    ],
)
def test_what_plain_yaml_means(text: str, value: Any) -> None:
    """The core schema of YAML 1.2, and nothing of 1.1."""
    loaded = load_yaml(text)
    assert loaded == value
    assert json.dumps(loaded) == json.dumps(value)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a: 1\na: 2\n", "duplicate_key", 2),
        ("a: 1\n---\na: 2\n", "invalid_yaml", 2),
        ("a: &x [1]\nb: *x\n", "invalid_yaml", 2),
        ("a: &a\n  child: *a\n", "invalid_yaml", 2),
        ("base: &b {x: 1}\nc:\n  <<: *b\n", "invalid_yaml", 3),
        ("1: one\n", "invalid_yaml", 1),
        ("? [a]\n: 1\n", "invalid_yaml", 1),
        ("a: !!python/object/apply:os.system ['true']\n", "invalid_yaml", 1),
        ("a: !custom 1\n", "invalid_yaml", 1),
        ("a: .nan\n", "invalid_yaml", 1),
        ("a: -.inf\n", "invalid_yaml", 1),
        ("a: 1e999\n", "number_range", 1),
        (f"a: {2**63}\n", "number_range", 1),
        ("a: [1, 2\n", "invalid_yaml", 2),
        ("a:\n\t- 1\n", "invalid_yaml", 2),
        ('a: "\\ud800"\n', "invalid_yaml", 1),
        ("a: \x07\n", "invalid_yaml", 1),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "too_deep", 1),
        ("x" * (MAX_BYTES + 1), "too_large", 1),
    ],
)
def test_what_is_refused_says_where(text: str, code: str, line: int) -> None:
    """Each with its code, its line, and a repair."""
    with pytest.raises(YamlFault) as caught:
        load_yaml(text)
    issue = caught.value.issue
    assert issue.code == code
    assert f"line {line}," in issue.message
    assert issue.hint


def test_bytes_that_are_no_utf8_are_refused() -> None:
    """And UTF-8 bytes are read."""
    assert load_yaml("a: é".encode()) == {"a": "é"}
    with pytest.raises(YamlFault, match="UTF-8"):
        load_yaml(b"a: 1\nb: \xff\n")


def test_every_value_has_its_place() -> None:
    """Pointers lead to lines, so that a fault in a definition can be found in its file."""
    _, places = load_yaml_with_positions("tools:\n  custom:\n    - name: x\n      version: 1\n")
    assert places["/tools/custom/0/name"] == (3, 13)
    assert places["/tools/custom/0/version"].line == 4


def test_the_hostile_corpus_is_refused_or_plain() -> None:
    """Bombs, loops, doubled keys and several documents are refused; Norway stays a word."""
    verdicts = {}
    for record in records(corpus("hostile", "yaml-hostile.jsonl")):
        try:
            verdicts[record["id"]] = load_yaml(record["text"])
        except YamlFault:
            verdicts[record["id"]] = "refused"
    norway = verdicts.pop("yaml/norway")
    assert norway == {"country": "no", "on": 1, "v": "1_000", "t": "12:30:45"}
    assert set(verdicts.values()) == {"refused"}


# JSON writes characters beyond U+FFFF as two escapes, which libyaml does not take.
texts = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=20,
)


@given(values)
def test_json_is_yaml(value: Any) -> None:
    """A JSON document loads to the value that JSON says it is."""
    assert load_yaml(json.dumps(value)) == value
