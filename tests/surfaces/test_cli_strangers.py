"""What the first stranger stumbled over: each of it as a behaviour that holds now."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from toolstile import Runtime, SettingsError, tool
from toolstile.app import NOT_YET
from toolstile.surfaces.cli.commands import Readable, app

EXAMPLES = Path(__file__).parents[2] / "examples"
WRITTEN: dict[str, Any] = {
    "policy": "permit(principal, action, resource);",
    "agents": {"reviewer": {"tools": []}},
    "mcp_servers": {"git": {"command": "mcp-server-git"}},
    "licence": {"issuer_key": "key"},
    "limits": {"concurrent": 1},
    "retention": {"days": 1},
    "features": {"results": False},
}
UNGUARDED = '''
from toolstile import Runtime, tool


@tool
def same(number: int) -> int:
    """Give the number back."""
    return number


{guard}
    with Runtime(tools=[same]).blocking() as rt:
        result = rt.call(same, number=7)
        print(result.value, result.error_code, result.error_message)
'''

Run = Callable[..., Result]


@tool
def same(number: int) -> int:
    """Give the number back."""
    return number


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example's folder as a stranger copies it, with state beside it."""
    folder = tmp_path / "notes"
    shutil.copytree(EXAMPLES / "notes", folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(project: Path) -> Run:
    """Run the command line in the project."""
    return lambda *words, stdin="": CliRunner().invoke(app, words, input=stdin)


def script(folder: Path, text: str) -> str:
    """What a program of this text prints, as its user starts it."""
    program = folder / "program.py"
    program.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program)],
        check=False,
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
    )
    return done.stdout


def test_the_readme_can_be_followed(project: Path, run: Run) -> None:
    """From init to an approved change, as README.md has it, in an empty project."""
    assert run("init").exit_code == 0
    assert run("tools", "add", "notes.yml").exit_code == 0
    assert "save_note" in run("tools", "list").stdout
    refused = run("tools", "validate", "save_note", stdin='{"path": "workspace/n.txt"}')
    assert (refused.exit_code, refused.stdout.splitlines()) == (
        1,
        [
            "✗ /text: Required field 'text' missing [ACODE-TSR-003]",
            "    add 'text' (string): What to write",
        ],
    )
    written = project / "workspace" / "n.txt"
    assert run("call", "save_note", '{"path": "workspace/n.txt", "text": "hello"}').exit_code == 4
    assert not written.exists()
    execution = run("confirm", "list").stdout.split("\t")[0]
    assert run("confirm", "approve", execution).exit_code == 0
    assert written.read_text(encoding="utf-8") == "hello"
    assert run("doctor").exit_code == 0


def test_an_empty_list_says_what_to_do(run: Run) -> None:
    """Nothing to list is said beside the answer, which stays empty for pipes."""
    run("init")
    for words, said in ((("tools", "list"), "tools new"), (("confirm", "list"), "nothing waits")):
        shown = run(*words)
        assert (shown.exit_code, shown.stdout) == (0, "")
        assert said in shown.stderr


def test_what_finds_nothing_says_what_to_do(run: Run) -> None:
    """So do a search without a hit, and a file that is not there."""
    shown = run("tools", "search", "zebra")
    assert (shown.exit_code, shown.stdout) == (0, "")
    assert "toolstile tools list" in shown.stderr
    for missing in ("save_note.yml", "tools/save_note"):
        assert f"there is no file {missing}" in run("tools", "diff", missing, "notes.yml").stderr


def test_an_empty_file_holds_no_definition(project: Path, run: Run) -> None:
    """Neither does a `tools.custom` without an entry; both are said to be empty."""
    for text in ("", "tools: {custom: }"):
        (project / "empty.yml").write_text(text, encoding="utf-8")
        assert "[EMPTY]" in run("tools", "check", "empty.yml").stderr


def test_a_denial_can_be_followed_to_the_letter(project: Path, run: Run) -> None:
    """What it says to add, added where it says, into the file that `init` wrote: then it runs."""
    run("init")
    run("tools", "add", "notes.yml")
    words = ("call", "save_note", '{"path": "elsewhere.txt", "text": "hello"}')
    denied = run(*words)
    assert denied.exit_code == 3
    entry, key = re.findall(r"`([^`]+)`", denied.stderr)[:2]
    settings = project / ".agent" / "config.yml"
    written = settings.read_text(encoding="utf-8")
    settings.write_text(written.replace(f"  {key} [", f"  {key} [{entry}, "), encoding="utf-8")
    assert run(*words).exit_code == 4


def test_a_message_is_said_once(project: Path, run: Run) -> None:
    """A single issue is the headline; below it stand its place and its repair. So does the repair
    of a conflict."""
    run("tools", "add", "notes.yml")
    notes = (project / "notes.yml").read_text(encoding="utf-8")
    (project / "more.yml").write_text(notes.replace("Save a", "Save one"), encoding="utf-8")
    hint = "raise the version: a version never changes its meaning"
    head, *rest = run("tools", "add", "more.yml").stderr.splitlines()
    assert (head.endswith("means another definition [ACODE_TSR_007]"), rest) == (
        True,
        [f"  {hint}"],
    )
    refused = run("call", "save_note", '{"path": "a", "text": 1}')
    assert refused.stderr.splitlines() == [
        "validation_error: Type mismatch: expected string, got integer [ACODE_TSR_004]",
        "  /text",
        "    send a value of type string",
    ]


def every_command(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group of commands, with the words that lead to it."""
    yield words, group
    for name, inner in getattr(group, "commands", {}).items():
        yield from every_command(inner, (*words, name))


COMMANDS = dict(every_command(typer.main.get_command(app)))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_names_values_in_one_way(run: Run, words: tuple[str, ...]) -> None:
    """In capitals, where one is taken; no type of ours is shown, and everything is explained."""
    shown = run(*words, "--help").stdout
    assert not re.findall(r"<\w+>|<\w+ \w+>|[{}]|list\[", shown)
    found = COMMANDS[words].get_params(typer.Context(COMMANDS[words]))
    assert [parameter for parameter in found if parameter.name == "help"]
    for parameter in found:
        assert parameter.help
        name = parameter.metavar or ""
        assert name == name.upper()
        assert bool(name) != bool(getattr(parameter, "is_flag", False))


def test_version(run: Run) -> None:
    """--version prints the version and nothing else."""
    shown = run("--version")
    assert shown.exit_code == 0
    assert shown.stdout.startswith("toolstile ")


@pytest.mark.parametrize(
    ("words", "document"),
    [
        (("tools", "disable", "save_note"), {"name": "save_note", "enabled": False}),
        (("tools", "enable", "save_note"), {"name": "save_note", "enabled": True}),
        (("tools", "pin", "save_note", "^1"), {"name": "save_note", "pinned": "^1"}),
        (("tools", "pin", "save_note"), {"name": "save_note", "pinned": None}),
        (("tools", "remove", "save_note"), {"removed": "save_note", "versions": ["1.0.0"]}),
    ],
)
def test_changes_answer_in_json(run: Run, words: tuple[str, ...], document: Any) -> None:
    """A command that changes something prints one document under --json, and words without."""
    run("tools", "add", "notes.yml")
    changed = run(*words, "--json")
    assert (changed.exit_code, json.loads(changed.stdout)) == (0, document)
    run("tools", "add", "notes.yml")
    assert run(*words).stdout == ""


def test_adding_answers_in_json(project: Path, run: Run) -> None:
    """`tools add` prints one document under --json, whether it added something or refused."""
    added = json.loads(run("tools", "add", "notes.yml", "--json").stdout)
    assert added["added"][0].startswith("save_note@1.0.0#sha256:")
    (project / "bad.yml").write_text("name: Bad\n", encoding="utf-8")
    refused = run("tools", "add", "bad.yml", "--json")
    assert refused.exit_code == 1
    assert json.loads(refused.stdout)["error"]["code"] == "ACODE_TSR_006"


def test_pinning_to_no_range_is_a_mistake_in_the_command(run: Run) -> None:
    """A range that is none, or that no version is in, is told apart from an unknown tool."""
    run("tools", "add", "notes.yml")
    assert run("tools", "pin", "save_note", "newest").exit_code == 2
    beyond = run("tools", "pin", "save_note", "^9")
    assert (beyond.exit_code, "there are: 1.0.0" in beyond.stderr) == (1, True)
    assert run("tools", "pin", "save_note", "^1").exit_code == 0


def test_a_timeout_of_nothing_is_a_mistake_in_the_command(run: Run) -> None:
    """--timeout 0 is refused before the call, not answered with a timeout."""
    run("init")
    run("tools", "add", "notes.yml")
    arguments = '{"path": "workspace/n.txt", "text": "a"}'
    assert run("call", "save_note", arguments, "--timeout", "0").exit_code == 2
    assert run("call", "save_note", arguments, "--timeout", "30").exit_code == 4


def test_init_says_where_it_cannot_write(project: Path, run: Run) -> None:
    """A place that cannot be written is a message, not a traceback."""
    (project / ".agent").write_text("in the way", encoding="utf-8")
    refused = run("init")
    assert (refused.exit_code, "[UNWRITABLE]" in refused.stderr) == (1, True)
    (project / ".agent").unlink()
    assert run("init").exit_code == 0


def test_every_setting_of_the_table_is_tried() -> None:
    """The values below cover the settings that are not obeyed yet."""
    assert set(WRITTEN) == set(NOT_YET)


@pytest.mark.parametrize("key", NOT_YET)
def test_a_setting_that_is_not_obeyed_is_refused(tmp_path: Path, key: str) -> None:
    """A runtime does not open over a setting that it would ignore, and says which."""

    async def opened(settings: dict[str, Any]) -> bool:
        async with Runtime(settings={"store": "memory:", **settings}):
            return True

    with pytest.raises(SettingsError) as refused:
        asyncio.run(opened({key: WRITTEN[key]}))
    assert [issue.path for issue in refused.value.issues] == [f"/{key}"]
    assert asyncio.run(opened({}))


def test_the_doctor_names_settings_that_are_not_obeyed(project: Path, run: Run) -> None:
    """What keeps calls from being made is among the doctor's findings."""
    run("init")
    with (project / ".agent" / "config.yml").open("a", encoding="utf-8") as file:
        file.write("retention: {days: 3}\n")
    seen = run("doctor")
    assert (seen.exit_code, "✗ settings: /retention: " in seen.stdout) == (7, True)


def test_a_program_without_a_guard_is_told_so(tmp_path: Path) -> None:
    """A file that opens a runtime when imported does not start itself again and again."""
    told = script(tmp_path, UNGUARDED.format(guard="if True:"))
    assert "RUNTIME_IN_TOOL" in told
    assert 'if __name__ == "__main__":' in told
    assert script(tmp_path, UNGUARDED.format(guard='if __name__ == "__main__":')) == "7 None None\n"


def test_a_class_goes_to_a_runtime_as_it_is(tmp_path: Path) -> None:
    """A class tool is handed over like a function; the example does it."""
    told = script(tmp_path, (EXAMPLES / "class_tool.py").read_text(encoding="utf-8"))
    assert '{"said": ["hello", "hello"]}' in told


def test_a_runtime_that_is_not_open_says_so() -> None:
    """Calling before `async with` names the repair."""
    with pytest.raises(RuntimeError, match="async with Runtime"):
        asyncio.run(Runtime(tools=[same]).call(same, number=1))


def test_a_traceback_is_readable_at_a_terminal() -> None:
    """The log's one line is shown in many; nothing else of it changes."""
    record = logging.LogRecord("toolstile", logging.ERROR, "", 0, "first\\nsecond", None, None)
    assert Readable("%(message)s").format(record) == "first\n  second"
