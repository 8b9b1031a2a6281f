"""`toolstile conformance`, as programs and people use it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from toolstile.conformance import load_suite

ADAPTER = Path(__file__).parents[2] / "examples" / "conformance_adapter.py"


def told(*words: str | Path, at: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own."""
    command = (sys.executable, "-m", "toolstile", "conformance", *map(str, words))
    # Where the tests' own corpora lie is said in variables that a command would warn of.
    seen = {name: text for name, text in os.environ.items() if not name.startswith("TOOLSTILE_")}
    return subprocess.run(
        command, cwd=at, env=seen, capture_output=True, encoding="utf-8", check=False
    )


def document(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one JSON document on standard output."""
    value: dict[str, Any] = json.loads(ended.stdout)
    return value


@pytest.mark.required
def test_a_full_score_ends_with_0(tmp_path: Path) -> None:
    """People are told the score, and nothing beside it."""
    ended = told("--case", "plain-transfer", "--case", "duplicate-name", at=tmp_path)
    assert ended.returncode == 0
    assert ended.stderr == ""
    first, *rows = ended.stdout.splitlines()
    assert first == "toolstile, function: 2 of 2 as the standard says"
    assert [row.split("\t")[:2] for row in rows] == [["json", "1 of 1"], ["coercion", "1 of 1"]]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.required
def test_a_case_that_went_wrong_ends_with_7(tmp_path: Path) -> None:
    """It is told with what was expected, why, and what harm it does."""
    ended = told("--adapter", f"{ADAPTER}:adapter", "--group", "json")
    assert ended.returncode == 7
    assert "✗ duplicate-name: let through, to be refused" in ended.stdout
    assert "RFC 7493 (2.3) forbids a name that occurs twice" in ended.stdout
    assert "--verbose tells them all" in ended.stderr
    every = told("--adapter", f"{ADAPTER}:adapter", "--group", "json", "--verbose")
    assert every.stdout.count("✗") > ended.stdout.count("✗")


def test_json_is_one_document() -> None:
    """Scores, groups and what went wrong; nothing on standard error."""
    ended = told("--adapter", f"{ADAPTER}:adapter", "--group", "json", "--json")
    assert (ended.returncode, ended.stderr) == (7, "")
    (target,) = document(ended)["targets"]
    assert target["right"] + len(target["wrong"]) == target["of"]
    assert [group["group"] for group in target["groups"]] == ["json"]
    assert {"id", "expected", "outcome", "why", "harm"} <= target["wrong"][0].keys()


def test_several_ways_are_several_targets() -> None:
    """Each way in has a score of its own."""
    ended = told("--way", "function", "--way", "adopted", "--case", "plain-transfer", "--json")
    names = [target["target"] for target in document(ended)["targets"]]
    assert names == ["toolstile, function", "toolstile, adopted"]


def test_a_function_that_checks_is_put_to_the_suite(tmp_path: Path) -> None:
    """--check takes `module:NAME` and FILE.py:NAME alike."""
    (tmp_path / "mine.py").write_text(
        "import json\ndef check(schema, text):\n    return json.loads(text)\n", encoding="utf-8"
    )
    for where in ("mine:check", "mine.py:check"):
        ended = told("--check", where, "--group", "coercion", "--json", at=tmp_path)
        assert ended.returncode == 7
        assert 0 < document(ended)["targets"][0]["right"] < document(ended)["targets"][0]["of"]


def test_the_tools_are_what_a_server_lists() -> None:
    """--tools prints every tool as MCP has it, and no others."""
    listed = json.loads(told("--tools").stdout)
    assert {tool["name"] for tool in listed} == set(load_suite().tools)
    assert all(tool["inputSchema"]["type"] == "object" for tool in listed)
    assert sum("outputSchema" in tool for tool in listed) > 3


def test_the_cases_are_listed() -> None:
    """--cases prints a line for each, and as JSON all that they say; --group chooses."""
    assert len(told("--cases").stdout.splitlines()) == len(load_suite())
    (group,) = document(told("--cases", "--group", "numbers", "--json"))["groups"]
    assert {case["expected"] for case in group["cases"]} == {"accept", "refuse"}


def test_a_badge_says_the_score(tmp_path: Path) -> None:
    """A picture that can be read as XML."""
    file = tmp_path / "badge.svg"
    assert told("--case", "plain-transfer", "--badge", file).returncode == 0
    title = ET.parse(file).find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == "malformed calls: 1 of 1"


MISTAKES = [
    ("--group", "jason"),
    ("--case", "no-such-case"),
    ("--way", "sideways"),
    ("--way", "function", "--mcp", "server"),
    ("--adapter", "nothing"),
    ("--adapter", "no_such_module:x"),
    ("--check", "none.py:check"),
    ("--mcp", "/no/such/program"),
    ("--mcp", "'unclosed"),
    ("--case", "plain-transfer", "--badge", "/no/such/folder/badge.svg"),
]


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_told_with_its_repair(words: tuple[str, ...]) -> None:
    """Exit code 2 and one document, with a hint."""
    ended = told(*words, "--json")
    assert ended.returncode == 2
    error = json.loads(ended.stdout)["error"]
    assert error["code"] == "USAGE"
    assert error["message"]
    assert error["hint"]
