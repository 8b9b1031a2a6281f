"""YAML is read as JSON or refused: no implicit types, no objects, no bombs."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpora import corpus, records
from toolstile.model.issue import INVALID_JSON, MAX_POINTER, Issue, pointer
from toolstile.schema.parse import ParseFault, ParseLimits, parse
from toolstile.sources.safe_yaml import (
    DEFAULT_LIMITS,
    MAX_ALIASED,
    MAX_POINTERS,
    Position,
    YamlFault,
    load_yaml,
    load_yaml_with_positions,
)

LARGEST = 2**63 - 1
DEPTH = DEFAULT_LIMITS.depth

READ: list[tuple[str, Any]] = [
    ("", None),
    ("# only a comment\n", None),
    ("---\n", None),
    ("--- a\n...\n", "a"),
    ("\ufeffa: 1\n", {"a": 1}),
    ("a: 1\r\nb: [x, 'y']\r\n", {"a": 1, "b": ["x", "y"]}),
    # what YAML 1.1 takes for something else
    ("a: [no, No, off, on, yes, y, n]\n", {"a": ["no", "No", "off", "on", "yes", "y", "n"]}),
    ("on: 1\nno: 2\n", {"on": 1, "no": 2}),
    ("[1_000, 12:30:45, 0b1, 2026-01-31, =]", ["1_000", "12:30:45", "0b1", "2026-01-31", "="]),
    ("a: 2026-01-31T10:00:00Z\n", {"a": "2026-01-31T10:00:00Z"}),
    ("a: 1e3\nb: 017\nc: 0x1F\nd: 0o17\n", {"a": 1000.0, "b": 17, "c": 31, "d": 15}),
    ("[-0x1F, 0X1F, 0O17, 1.2.3]", ["-0x1F", "0X1F", "0O17", "1.2.3"]),
    ("[1., +.5, -2., 1E3, +7]", [1.0, 0.5, -2.0, 1000.0, 7]),
    # words and what only looks like them
    ("a: [~, null, Null, NULL, nULL, '~']\nb:\n", {"a": [None] * 4 + ["nULL", "~"], "b": None}),
    ("[true, True, TRUE, tRUE, false, 'false']", [True, True, True, "tRUE", False, "false"]),
    ('a: "1"\nb: \'null\'\n"1": c\n', {"a": "1", "b": "null", "1": "c"}),
    ("a: [nan, inf, .nano, infinity]", {"a": ["nan", "inf", ".nano", "infinity"]}),
    # tags that say what is so anyway
    ("a: !!str 1\nb: !!int '5'\nc: !!float 2\nd: !!null ''\ne: !!bool true\n",
     {"a": "1", "b": 5, "c": 2.0, "d": None, "e": True}),
    ("a: !!seq [1]\nb: !!map {c: 1}\n", {"a": [1], "b": {"c": 1}}),
    ("a: !<tag:yaml.org,2002:str> no\n", {"a": "no"}),
    # texts
    ("a: |\n  two\n  lines\nb: >\n  one\n  line\n", {"a": "two\nlines\n", "b": "one line\n"}),
    ('a: "\\x07\\u2028\\U0001f600"\n', {"a": "\x07\u2028\U0001f600"}),
    ("a: |\n  %no directive\n", {"a": "%no directive\n"}),
    ("'<<': 1\n", {"<<": 1}),
    # aliases, few
    ("a: &x {b: [1]}\nc: *x\n", {"a": {"b": [1]}, "c": {"b": [1]}}),
    ("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}),
    ("a: &anchored 1\n", {"a": 1}),
    # bounds, just within
    (f"[{LARGEST}, -{LARGEST}]", [LARGEST, -LARGEST]),
    (f"[{'0' * 999}7, 1.{'0' * 990}]", [7, 1.0]),
    # JSON that a YAML scanner stumbles over
    ('{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
    ('{\n\t"a": 1\n}', {"a": 1}),
    ('{"%s": 1}' % ("k" * 2000), {"k" * 2000: 1}),
    ('["\u2028\x7f\uffff"]', ["\u2028\x7f\uffff"]),
]  # fmt: skip

REFUSED: list[tuple[str, str, int, str]] = [
    ("a: 1\na: 2\n", "duplicate_key", 2, "/a"),
    ("x:\n  a: 1\n  'a': 2\n", "duplicate_key", 3, "/x/a"),
    ('{"a": 1, "\\u0061": 2}', "duplicate_key", 1, "/a"),
    ("a: 1\n---\na: 2\n", "invalid_yaml", 2, ""),
    ("a: 1\n...\nb: 2\n", "invalid_yaml", 3, ""),
    ("a: &a\n  child: *a\n", "invalid_yaml", 2, "/a/child"),
    ("x: &a 1\na: &a [*a]\n", "invalid_yaml", 2, "/a/0"),
    ("a: *nothing\n", "invalid_yaml", 1, "/a"),
    ("&a b: 1\n*a : 2\n", "invalid_yaml", 2, ""),
    ("base: &b {x: 1}\nc:\n  <<: *b\n", "invalid_yaml", 3, "/c"),
    ("1: one\n", "invalid_yaml", 1, ""),
    ("a:\n  true: one\n", "invalid_yaml", 2, "/a"),
    ("~: one\n", "invalid_yaml", 1, ""),
    ("? [a]\n: 1\n", "invalid_yaml", 1, ""),
    (": 1\n", "invalid_yaml", 1, ""),
    ("a: !!python/object/apply:os.system ['true']\n", "invalid_yaml", 1, "/a"),
    ("a: !custom 1\n", "invalid_yaml", 1, "/a"),
    ("a: ! 1\n", "invalid_yaml", 1, "/a"),
    ("a: !!binary aGk=\n", "invalid_yaml", 1, "/a"),
    ("a: !!timestamp 2026-01-31\n", "invalid_yaml", 1, "/a"),
    ("a: !!set {b}\n", "invalid_yaml", 1, "/a"),
    ("a: !!seq {b: 1}\n", "invalid_yaml", 1, "/a"),
    ("a: !!int one\n", "invalid_yaml", 1, "/a"),
    ("a: !!int 1.5\n", "invalid_yaml", 1, "/a"),
    ("a: !!bool 1\n", "invalid_yaml", 1, "/a"),
    ("%YAML 1.1\n---\na: no\n", "invalid_yaml", 1, ""),
    ("%TAG !! tag:example.org,2002:\n---\na: !!str b\n", "invalid_yaml", 1, ""),
    ("a: .nan\n", "invalid_yaml", 1, "/a"),
    ("a: [1, -.Inf]\n", "invalid_yaml", 1, "/a/1"),
    ("a: 1e999\n", "number_range", 1, "/a"),
    (f"a: {LARGEST + 1}\n", "number_range", 1, "/a"),
    (f"a: -{LARGEST + 1}\n", "number_range", 1, "/a"),
    ("a: 0x8000000000000000\n", "number_range", 1, "/a"),
    (f"a: {'9' * 5000}\n", "number_range", 1, "/a"),
    (f"a: 0.{'1' * 5000}\n", "number_range", 1, "/a"),
    ("a: [1, 2\n", "invalid_yaml", 2, ""),
    ("a:\n\t- 1\n", "invalid_yaml", 2, ""),
    ("a: b: c\n", "invalid_yaml", 1, ""),
    ("a: 'b\n", "invalid_yaml", 2, ""),
    ('a: "\\ud800"\n', "invalid_yaml", 1, ""),
    ("a: 1\nb: \x07\n", "invalid_yaml", 2, ""),
    ("a: \x7f\n", "invalid_yaml", 1, ""),
    ("a: 1\n\nb: x\u2028c: 2\n", "invalid_yaml", 3, ""),
    ("a: x\x85b: 2\n", "invalid_yaml", 1, ""),
    ("a: \ud800\n", "invalid_yaml", 1, ""),
    ("[" * (DEPTH + 1) + "]" * (DEPTH + 1), "too_deep", 1, "/0" * DEPTH),
    ("{a: " * (DEPTH + 1) + "}" * (DEPTH + 1), "too_deep", 1, "/a" * DEPTH),
    ("[" * 1_000_000, "too_deep", 1, "/0" * DEPTH),
    ("- " * 500_000, "too_deep", 1, "/0" * DEPTH),
    ("x" * (DEFAULT_LIMITS.bytes + 1), "too_large", 1, ""),
    ("é" * (DEFAULT_LIMITS.bytes // 2 + 1), "too_large", 1, ""),
]  # fmt: skip


def short(value: object) -> str:
    """A name for a test case, however long its text is."""
    return repr(value)[:40]


# --- What is read, and what is refused


@pytest.mark.parametrize(("text", "value"), READ, ids=short)
def test_what_plain_yaml_means(text: str, value: Any) -> None:
    """The core schema of YAML 1.2, and nothing of 1.1; text and bytes alike."""
    for loaded in (load_yaml(text), load_yaml(text.encode())):
        assert loaded == value
        assert json.dumps(loaded) == json.dumps(value)  # 1, 1.0 and true are three things


@pytest.mark.parametrize(("text", "code", "line", "path"), REFUSED, ids=short)
def test_what_is_refused_says_where(text: str, code: str, line: int, path: str) -> None:
    """Each with its code, its line, its pointer and a repair."""
    with pytest.raises(YamlFault) as caught:
        load_yaml(text)
    issue = caught.value.issue
    assert (issue.code, issue.path, issue.error_code) == (code, path, INVALID_JSON)
    assert f"line {line}, column " in str(caught.value)
    assert issue.hint


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        (b"a: 1\nb: \xff\n", "line 2"),
        ("a: 1\n".encode("utf-16"), "line 1"),
        (b"\xed\xa0\x80", "line 1"),
    ],
)
def test_bytes_that_are_no_utf8_are_refused(raw: bytes, place: str) -> None:
    """And UTF-8 bytes are read."""
    assert load_yaml("a: é".encode()) == {"a": "é"}
    with pytest.raises(YamlFault, match=f"UTF-8 at {place}"):
        load_yaml(raw)


@pytest.mark.parametrize("text", [text for text, *_ in REFUSED[:45]], ids=short)
def test_a_fault_never_repeats_the_text(text: str) -> None:
    """A file may hold a secret in the wrong place; only names show, in the pointer."""
    secret = "hunter2hunter2"
    with pytest.raises(YamlFault) as caught:
        load_yaml(f"{text}\n# {secret}\n{secret}: [{secret}\n")
    assert secret not in str(caught.value.issue)


def test_limits_can_be_narrower() -> None:
    """A caller says how much and how deep; what just fits is read."""
    limits = ParseLimits(bytes=10, depth=2)
    assert load_yaml("a: [1, 2]", limits) == {"a": [1, 2]}
    for text, code in (("a: [1, 2]  ", "too_large"), ("a: [[1]]", "too_deep")):
        with pytest.raises(YamlFault) as caught:
            load_yaml(text, limits)
        assert caught.value.issue.code == code


PURE = """
import json, sys
sys.modules["yaml._yaml"] = None
import yaml
assert not yaml.__with_libyaml__
from toolstile.sources.safe_yaml import YamlFault, load_yaml
for text in json.load(sys.stdin):
    try:
        print(json.dumps(load_yaml(text)))
    except YamlFault as fault:
        print(fault.issue.code)
"""


def test_the_pure_parser_reads_the_same() -> None:
    """Where PyYAML has no C parser, the same is read and the same refused."""
    expected = {text: json.dumps(value) for text, value in READ}
    expected |= {text: code for text, code, *_ in REFUSED}
    texts = [text for text in expected if len(text) < 100_000]
    run = subprocess.run(
        [sys.executable, "-c", PURE],
        input=json.dumps(texts),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    found = dict(zip(texts, run.stdout.splitlines(), strict=True))
    assert found == {text: expected[text] for text in texts}


# --- Bombs


def test_aliases_are_copies_and_few() -> None:
    """A thousand values may be repeated; what is repeated is not shared."""
    shared = load_yaml("a: &x [1]\nb: *x\n")
    shared["a"].append(2)
    assert shared["b"] == [1]
    most = f"a: &x [{', '.join('1' * (MAX_ALIASED - 1))}]\nb: *x\n"
    assert len(load_yaml(most)["b"]) == MAX_ALIASED - 1
    with pytest.raises(YamlFault) as caught:
        load_yaml(most + "c: &y 1\nd: *y\n")
    assert (caught.value.issue.code, caught.value.issue.path) == ("too_large", "/d")


def test_aliases_do_not_lead_deeper() -> None:
    """A repeated value counts from where its alias stands."""
    half = DEPTH // 2
    nested = "[" * half + "1" + "]" * half
    assert load_yaml(f"a: &x {nested}\nb: {'[' * (half - 1)}*x{']' * (half - 1)}\n")
    with pytest.raises(YamlFault) as caught:
        load_yaml(f"a: &x {nested}\nb: {'[' * half}*x{']' * half}\n")
    assert caught.value.issue.code == "too_deep"


BOMBS = {
    "aliases of aliases": "a0: &a0 [x, x]\n"
    + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 40)),
    "a long name over many values": "? " + "k" * 400_000 + "\n: [" + "1," * 300_000 + "1]",
    "long names over one another": "".join(f"{{{'k' * 1000}: " for _ in range(60))
    + "[" + "1," * 400_000 + "1]" + "}" * 60,
    "many directives": "".join(f"%TAG !{n}! tag:x,1:\n" for n in range(60_000)) + "--- 1",
    "a wide sequence": "[" + "1," * 520_000 + "1]",
    "a wide mapping": "".join(f"a{n}: 1\n" for n in range(90_000)),
    "one long word": "a" * 1_000_000,
    "quotes": "'" * 1_000_000,
    "colons": "a:" * 500_000,
    "anchors": "".join(f"- &a{n} 1\n" for n in range(80_000)),
    "spaces": " " * 1_000_000,
    "comments": "#\n" * 500_000,
    "lines that only break": "a: |\n" + "\n" * 1_000_000,
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_no_megabyte_takes_long(name: str) -> None:
    """Whatever a file of full size holds is read or refused in seconds, within some megabytes."""
    began = time.perf_counter()
    fault: Issue | None = None
    places: Mapping[str, Position] = {}
    try:
        _, places = load_yaml_with_positions(BOMBS[name])
    except YamlFault as refusal:
        fault = refusal.issue
    assert fault is None or len(fault.path) <= MAX_POINTER
    assert sum(map(len, places)) <= MAX_POINTERS
    assert time.perf_counter() - began < 30  # the slowest takes two seconds


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


# --- JSON is YAML

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
    max_leaves=20,
)
STYLES: list[dict[str, Any]] = [
    {},
    {"ensure_ascii": False},
    {"indent": 2},
    {"indent": "\t", "ensure_ascii": False},
    {"separators": (",", ":")},
]


@settings(max_examples=200)
@given(VALUES, st.sampled_from(STYLES))
@example({"a": "\u2028\x85\x7f\ufeff"}, STYLES[1])
@example(["\U0001f600"], STYLES[0])
@example({"": {"": ["", "#", ": ", "- ", "%", "\n---\n"]}}, STYLES[3])
def test_json_is_yaml(value: Any, style: dict[str, Any]) -> None:
    """A JSON document, however it is written, loads to the value that JSON says it is."""
    text = json.dumps(value, **style)
    loaded = load_yaml(text)
    assert loaded == value
    assert json.dumps(loaded) == json.dumps(value)


def test_json_of_the_hostile_corpus_means_the_same() -> None:
    """What strict JSON accepts is the same value in YAML, which by its nature accepts more."""
    same = 0
    for record in records(corpus("hostile", "json-parsing.jsonl.gz")):
        raw = base64.b64decode(record["bytes_b64"])
        try:
            value = parse(raw, DEFAULT_LIMITS)
        except ParseFault:
            continue
        assert load_yaml(raw) == value, record["id"]
        same += 1
    assert same > 20


# --- Places


def parts(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every part of a value with its pointer."""
    yield path, value
    if isinstance(value, (dict, list)):
        named = value.items() if isinstance(value, dict) else enumerate(value)
        for name, member in named:
            yield from parts(member, path + pointer(name))


def test_every_value_has_its_place() -> None:
    """Pointers lead to lines, so that a fault in a definition can be found in its file."""
    _, places = load_yaml_with_positions(
        "tools:\n  custom:\n    - name: x\n      version: &v 1\n    - version: *v\n      a/b: 2\n"
    )
    assert places["/tools/custom/0/name"] == (3, 13)
    assert places["/tools/custom/0/version"].line == 4
    assert places["/tools/custom/1/version"] == (5, 16)
    assert places["/tools/custom/1/a~1b"] == (6, 12)


ASCII = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=8)
PLAIN_VALUES = st.recursive(
    st.booleans() | st.integers(-LARGEST, LARGEST) | ASCII,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ASCII, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=100)
@given(PLAIN_VALUES, st.sampled_from([None, 1, 3]))
def test_a_place_is_where_the_value_begins(value: Any, indent: int | None) -> None:
    """Each part of a document has a place, and its text begins there."""
    text = json.dumps(value, indent=indent)
    _, places = load_yaml_with_positions(text)
    lines = text.split("\n")
    found = dict(parts(value))
    assert places.keys() == found.keys()
    for path, part in found.items():
        line, column = places[path]
        begins = json.dumps(part)[:1] if isinstance(part, (dict, list)) else json.dumps(part)
        assert lines[line - 1][column - 1 :].startswith(begins)


# --- Whatever comes

PIECES = [
    *"a: - ? | > & * ! !!str !!int %TAG --- ... <<: [ ] { } , ' \" # @ ` ~ null .nan 0x1".split(),
    *("1e9", "&a", "*a", "\\u0041", "\\ud800", "é", "\u2028", "\x00", "\ufeff"),
    *("\n", "\n  ", "\t", " ", "\r", "a", "b: 1\n"),
]
ANYTHING = st.one_of(
    st.text(st.characters(), max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.binary(max_size=60),
)


@settings(max_examples=500)
@given(ANYTHING)
def test_anything_is_json_or_a_fault(raw: str | bytes) -> None:
    """Only YamlFault comes out, and what is read can be written as strict JSON and read again."""
    try:
        value, places = load_yaml_with_positions(raw)
    except YamlFault:
        return
    assert "" in places or value is None
    assert parse(json.dumps(value).encode()) == value
