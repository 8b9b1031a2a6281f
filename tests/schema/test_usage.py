"""Usage texts: what a model must be told before it calls a tool, and must never be told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpora import corpus, records
from toolstile.model.issue import SCHEMA_INVALID, Issue
from toolstile.schema.usage.generate import generate_usage
from toolstile.schema.usage.lint import ADVICE, MAX_BYTES, MAX_ISSUES, lint_usage

DATA = Path(__file__).parent / "data" / "usage.yaml"
TOPICS = "purpose when when_not arguments precedence idempotency limits performance errors good bad"
CODES = {f"usage_missing_{topic}" for topic in TOPICS.split()} | {
    f"usage_{code}"
    for code in (
        "empty too_large contradiction secret environment internals hidden_unicode "
        "control_character unclear"
    ).split()
}


class Case(NamedTuple):
    """A usage text of the fixture, and the codes it must be given."""

    id: str
    tool: str
    text: str
    codes: frozenset[str]


class Fixture(NamedTuple):
    """What `data/usage.yaml` says."""

    tools: dict[str, dict[str, Any]]
    tokens: dict[str, str]
    good: list[Case]
    bad: list[Case]


def fixture() -> Fixture:
    """The fixture with its cases written out."""
    document = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    tokens = {name: "".join(pieces) for name, pieces in document["tokens"].items()}
    bases = {entry["id"]: entry for entry in document["good"]}
    good = [written_out(entry, bases, tokens) for entry in document["good"]]
    bad = [written_out(entry, bases, tokens) for entry in document["bad"]]
    return Fixture(document["tools"], tokens, good, bad)


def written_out(
    entry: dict[str, Any], bases: dict[str, dict[str, Any]], tokens: dict[str, str]
) -> Case:
    """A case whose text is taken from another one, changed as it says, tokens filled in."""
    base = bases.get(entry.get("from", ""), entry)
    text: str = base["text"]
    for old, new in entry.get("replace", ()):
        assert old in text, f"{entry['id']} replaces what {base['id']} does not say"
        text = text.replace(old, new)
    text += entry.get("append", "") * entry.get("times", 1)
    for name, value in tokens.items():
        text = text.replace(f"⟦{name}⟧", value)
    tool = entry.get("tool", base["tool"])
    return Case(entry["id"], tool, text, frozenset(entry.get("codes", ())))


FIXTURE = fixture()
READ_FILE = FIXTURE.tools["read_file"]
SOUND = next(case.text for case in FIXTURE.good if case.id == "agn-layout")


def lint(case: Case) -> tuple[Issue, ...]:
    """The issues of a case."""
    return lint_usage(case.text, case.tool, FIXTURE.tools[case.tool])


def errors(text: str, name: str, parameters: dict[str, Any]) -> list[Issue]:
    """The issues for which a text is refused."""
    return [issue for issue in lint_usage(text, name, parameters) if issue.code not in ADVICE]


# --- The fixture, both ways


@pytest.mark.parametrize("case", FIXTURE.good, ids=lambda case: case.id)
def test_a_good_text_has_no_issue(case: Case) -> None:
    """However it is laid out and worded, a text that says everything is accepted."""
    assert lint(case) == ()


@pytest.mark.parametrize("case", FIXTURE.bad, ids=lambda case: case.id)
def test_a_bad_text_has_exactly_its_issues(case: Case) -> None:
    """What is wrong is found, and nothing else is called wrong beside it."""
    assert {issue.code for issue in lint(case)} == case.codes


def test_the_fixture_speaks_of_everything() -> None:
    """There are enough texts of both kinds, and every code has one that earns it."""
    ids = [case.id for case in (*FIXTURE.good, *FIXTURE.bad)]
    assert len(ids) == len(set(ids))
    assert len(FIXTURE.good) >= 30
    assert len(FIXTURE.bad) >= 60
    assert set().union(*(case.codes for case in FIXTURE.bad)) == CODES


def test_an_issue_says_where_and_what_to_do_but_never_the_secret() -> None:
    """Every issue has the contract's form, and none repeats a token of the text."""
    for case in FIXTURE.bad:
        issues = lint(case)
        assert issues == tuple(dict.fromkeys(issues))[:MAX_ISSUES]
        for issue in issues:
            assert (issue.path, issue.error_code) == ("/usage", SCHEMA_INVALID)
            assert issue.hint
            said = f"{issue.message} {issue.hint}"
            assert not any(token in said for token in (*FIXTURE.tokens.values(), "hunter2"))


# --- Bounds


def test_sixteen_kibibytes_are_the_limit() -> None:
    """A text may fill the limit to the byte; one more byte is too many, whatever it says."""
    full = SOUND + "\n" * (MAX_BYTES - len(SOUND.encode()))
    assert lint_usage(full, "read_file", READ_FILE) == ()
    assert [issue.code for issue in lint_usage(full + "\n", "read_file", READ_FILE)] == [
        "usage_too_large"
    ]


def test_at_most_32_issues_are_listed() -> None:
    """A text full of faults is not answered with a longer one."""
    lines = "".join(f"- no_such_argument_{number}: x\n" for number in range(300))
    assert len(lint_usage(f"Arguments:\n{lines}", "read_file", READ_FILE)) == MAX_ISSUES


def test_a_thousand_required_arguments_are_looked_for_in_bounded_time() -> None:
    """The largest schema and the largest text together take a second or two, not minutes."""
    names = [f"argument_{number}" for number in range(1000)]
    parameters = {"properties": {name: {"type": "string"} for name in names}, "required": names}
    text = "Arguments:\n" + "\n".join(f"- {name}: x" for name in names)[: MAX_BYTES - 100]
    began = time.perf_counter()
    lint_usage(text, "many", parameters)
    assert time.perf_counter() - began < 15


HOSTILE = (
    "a a_ a. a- A __ . , \" ' ` ( { [ | # * < \\ 1 1, a, a: `a`, - a | sk- eyJ password password= "
    '10. a.internal localhost: /home/ \\\\a :// a://b: read_file( read_file({ {"a": [[ '
    '"arguments":{ ﷺ ａ \u0430 😀 é default: one_of'
).split()  # fmt: skip
HOSTILE_LINES = (
    "- a: b\n", "# a\n", "a\n---\n", "| a | b |\n|---|---|\n", "```\n", "\n", " ", "\t", "x. ",
    "use it ", "not ", "is required ", "default: `x` ", "one of a, ", "path and ", "`path`, ",
    "implemented in ", "by the ", "see the ", "what do ", "and and ", "known which ", "Bearer ",
    "results come ", "twice ", "a.internal", "e.g. ", "; Aa: ", "\r\n", "-----BEGIN ", "required ",
)  # fmt: skip


@pytest.mark.parametrize("piece", [*HOSTILE, *HOSTILE_LINES], ids=repr)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    """16 KiB of one repeated piece take well under a second; quadratic patterns took six."""
    text = (piece * MAX_BYTES)[:MAX_BYTES].encode()[:MAX_BYTES].decode(errors="ignore")
    began = time.perf_counter()
    lint_usage(text, "read_file", READ_FILE)
    assert time.perf_counter() - began < 3


# --- Whatever comes

ANY_TEXT = st.text(st.characters(), max_size=300)
SOME_TEXT = st.lists(
    st.one_of(
        st.sampled_from([line for case in FIXTURE.good for line in case.text.splitlines(True)]),
        st.sampled_from([*HOSTILE, *HOSTILE_LINES]),
        st.text(max_size=12),
    ),
    max_size=30,
).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "type properties required enum default items $ref anyOf path $defs".split()
            )
            | st.text(max_size=6),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
PARAMETERS = st.sampled_from(list(FIXTURE.tools.values())) | st.dictionaries(
    st.sampled_from("properties required $defs additionalProperties allOf type".split()),
    JSON,
    max_size=4,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ANY_TEXT | SOME_TEXT, st.text(max_size=12), PARAMETERS)
def test_linting_never_raises(text: str, name: str, parameters: dict[str, Any]) -> None:
    """Any text against any schema, sound or not, is answered with issues; twice with the same."""
    issues = lint_usage(text, name, parameters)
    assert issues == lint_usage(text, name, parameters)
    assert all(issue.path == "/usage" and issue.code in CODES for issue in issues)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(FIXTURE.good), st.data())
def test_a_secret_is_found_wherever_it_stands(case: Case, data: st.DataObject) -> None:
    """No layout, heading or example hides a token from the linter."""
    lines = case.text.splitlines()
    lines.insert(
        data.draw(st.integers(0, len(lines))),
        f"{data.draw(st.sampled_from(['- ', '# ', '| ', '> ', '', '`', '<!-- ']))}"
        f"{data.draw(st.sampled_from(sorted(FIXTURE.tokens.values())))}",
    )
    issues = lint_usage("\n".join(lines), case.tool, FIXTURE.tools[case.tool])
    assert "usage_secret" in {issue.code for issue in issues}


SEEDED = """
import json, sys
from toolstile.schema.usage.lint import lint_usage
for text, name, parameters in json.load(sys.stdin):
    print(lint_usage(text, name, parameters))
"""


def test_issues_are_the_same_in_every_process() -> None:
    """Neither the order of sets nor anything else that a process draws at its start matters."""
    cases = [[c.text, c.tool, FIXTURE.tools[c.tool]] for c in FIXTURE.bad if c.text.isprintable()]
    cases += [[c.text, c.tool, FIXTURE.tools[c.tool]] for c in FIXTURE.bad[30:60]]
    runs = [
        subprocess.run(
            [sys.executable, "-c", SEEDED],
            input=json.dumps(cases),
            capture_output=True,
            check=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert "usage_contradiction" in runs[0]


# --- Generated texts


@pytest.mark.parametrize("source", ["bfcl", "mcp-servers", "agentdojo", "tau2"])
def test_generated_texts_of_real_tools_pass(source: str) -> None:
    """A real tool that has no usage text gets one that breaks no rule."""
    effects: tuple[list[str], ...] = (["net_read"], ["fs_write", "net_write"], [], ["none"])
    tools = islice(records(corpus(source, "toolcalls.jsonl.gz")), 0, 999, 3)
    for number, record in enumerate(tools):
        tool = record["tool"]
        name, parameters = tool["name"], tool["parameters"]
        text = generate_usage(name, tool["description"], parameters, effects[number % 4])
        assert errors(text, name, parameters) == [], name
        assert "generated" in text.splitlines()[0]


@pytest.mark.parametrize("case", FIXTURE.bad, ids=lambda case: case.id)
def test_a_bad_description_does_not_spoil_a_generated_text(case: Case) -> None:
    """Secrets, internals and hidden characters of a description stay out of the text made of it."""
    parameters = {
        "type": "object",
        "properties": {"path": {"type": "string", "description": case.text}},
        "required": ["path"],
    }
    text = generate_usage("fetch_it", case.text, parameters, ["net_read"])
    assert errors(text, "fetch_it", parameters) == []
    assert not any(token in text for token in (*FIXTURE.tokens.values(), "hunter2"))


NAMES = st.from_regex(r"[A-Za-z_$][A-Za-z0-9_$.-]{0,20}", fullmatch=True)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    NAMES,
    ANY_TEXT | SOME_TEXT,
    st.dictionaries(NAMES, st.tuples(st.booleans(), ANY_TEXT | SOME_TEXT), max_size=5),
    st.lists(st.sampled_from(["fs_read", "net_write", "db_read", "none"]), max_size=2),
)
def test_a_generated_text_passes_whatever_is_described(
    name: str, description: str, members: dict[str, tuple[bool, str]], effects: list[str]
) -> None:
    """Hostile descriptions and names that read like headings end in a text without errors."""
    parameters = {
        "type": "object",
        "properties": {
            member: {"type": "string", "description": words}
            for member, (_, words) in members.items()
        },
        "required": [member for member, (required, _) in members.items() if required],
    }
    text = generate_usage(name, description, parameters, effects)
    assert errors(text, name, parameters) == []
    assert text == generate_usage(name, description, parameters, effects)


@pytest.mark.parametrize("count", [0, 1, 30, 300, 900])
def test_a_generated_text_names_every_required_argument_within_the_limit(count: int) -> None:
    """The more arguments there are, the less is said of each, but all required ones are named."""
    names = [f"field_{number}" for number in range(count)]
    parameters = {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": "It counts. " * 9} for name in names
        },
        "required": names,
    }
    text = generate_usage("record_all", "Records fields.", parameters, [])
    assert errors(text, "record_all", parameters) == []
    assert len(text.encode()) <= MAX_BYTES
    assert all(name in text for name in names)


@pytest.mark.parametrize(
    ("side_effects", "words"),
    [
        (["fs_read"], "it only reads"),
        (["none"], "it only reads"),
        (["net_read", "db_read"], "it only reads"),
        (["fs_write"], "may repeat its effects (fs_write)"),
        (["net_write", "fs_read"], "may repeat its effects (fs_read, net_write)"),
        ([], "its effects are not stated"),
    ],
)
def test_a_generated_text_promises_no_more_than_the_effects_do(
    side_effects: list[str], words: str
) -> None:
    """Only a tool that is known to read is said to be repeatable; unknown effects are all."""
    text = generate_usage("read_it", "Reads it.", {}, side_effects)
    assert words in text
    assert ("only reads" in text) == (words == "it only reads")


def test_a_contradicting_remark_is_left_out_and_the_others_stay() -> None:
    """A description that disagrees with its own schema is not repeated to a model."""
    parameters = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Optional. The city."},
            "unit": {"type": "string", "enum": ["c", "f"], "description": "One of c, k."},
            "days": {"type": "integer", "default": 3, "description": "How many days."},
        },
        "required": ["city"],
    }
    text = generate_usage("forecast", "Tells the weather.", parameters, ["net_read"])
    assert "- city (string, required)\n" in text
    assert '- unit (string, optional): one of "c", "f".\n' in text
    assert "- days (integer, optional): Default 3. How many days.\n" in text
