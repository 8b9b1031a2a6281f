"""`toolstile export`, as programs and people use it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from toolstile.dialects import DIALECTS

NOTES = Path(__file__).parents[2] / "examples" / "notes"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one tool."""
    shutil.copytree(NOTES, tmp_path, dirs_exist_ok=True)
    assert run(tmp_path, "init").returncode == 0
    assert run(tmp_path, "tools", "add", "notes.yml").returncode == 0
    return tmp_path


def run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line, in a process of its own."""
    command = [sys.executable, "-m", "toolstile", *words]
    return subprocess.run(command, cwd=project, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_prints_one_document(project: Path, dialect: str) -> None:
    """Standard output is what the provider is sent, and nothing else."""
    ended = run(project, "export", "save_note", "--to", dialect)
    assert ended.returncode == 0
    document = json.loads(ended.stdout)
    assert document.get("function", document)["name"] == "save_note"


def test_all_tools_are_a_list(project: Path) -> None:
    """--all prints a list, of one tool too; a disabled tool is not in it."""
    assert len(json.loads(run(project, "export", "--all", "--to", "mcp").stdout)) == 1
    run(project, "tools", "disable", "save_note")
    assert json.loads(run(project, "export", "--all", "--to", "mcp").stdout) == []


def test_the_report_says_what_is_enforced_only_here(project: Path) -> None:
    """People get it beside the document, programs as one document."""
    ended = run(project, "export", "save_note", "--to", "anthropic-strict", "--report")
    assert "/parameters/properties/text: maxLength 10000" in ended.stderr
    assert json.loads(ended.stdout)["strict"] is True
    ended = run(project, "export", "save_note", "--to", "anthropic-strict", "--report", "--json")
    report: dict[str, Any] = json.loads(ended.stdout)
    assert report["holds"] is True
    assert report["tools"][0]["losses"][0]["keyword"] == "maxLength"
    assert report["tools"][0]["document"]["name"] == "save_note"


def test_a_hint_says_that_there_is_a_report(project: Path) -> None:
    """Without --report one line tells how many constraints are not said."""
    ended = run(project, "export", "save_note", "--to", "openai-chat-strict")
    assert "1 constraint is not said here" in ended.stderr
    assert run(project, "export", "save_note", "--to", "mcp").stderr == ""


@pytest.mark.parametrize(
    "words",
    [
        ("save_note", "--to", "openia"),
        ("save_note",),
        ("--to", "mcp"),
        ("save_note", "--all", "--to", "mcp"),
        ("save_note@@", "--to", "mcp"),
    ],
)
def test_mistakes_are_told_with_their_repair(project: Path, words: tuple[str, ...]) -> None:
    """Exit code 2, a hint, and under --json one document."""
    ended = run(project, "export", *words, "--json")
    error = json.loads(ended.stdout)["error"]
    assert (ended.returncode, error["code"]) == (2, "USAGE")
    assert error["hint"]


def test_an_unknown_tool_is_told(project: Path) -> None:
    """As everywhere: exit code 1 and ACODE's code."""
    ended = run(project, "export", "no_such_tool", "--to", "mcp", "--json")
    assert ended.returncode == 1
    assert json.loads(ended.stdout)["error"]["code"] == "ACODE_TSR_001"
