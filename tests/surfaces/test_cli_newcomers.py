"""What newcomers wrote at the command line, and what they are answered now."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from toolstile.surfaces.cli import console
from toolstile.surfaces.cli.commands import app

EXAMPLES = Path(__file__).parents[2] / "examples"
ARGUMENTS = '{"path": "workspace/n.txt", "text": "hello"}'
TALKING = """
import time
from pathlib import Path

from toolstile import ToolContext, WritePath


def talk(ctx: ToolContext, path: WritePath, seconds: float):
    ctx.log("info", "a remark")
    ctx.log("warning", "a warning")
    path.write_text("x")
    Path(__file__).with_name("running").touch()
    time.sleep(seconds)
"""
TALK = """
name: talk
description: Say something and take time.
parameters:
  type: object
  properties: {path: {type: string, x-toolstile: {writes: path}}, seconds: {type: number}}
  required: [path, seconds]
source: {python: "talking:talk"}
"""

Run = Callable[..., Result]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project as README.md begins one, with the example's tool in it."""
    folder = tmp_path / "notes"
    shutil.copytree(EXAMPLES / "notes", folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder)
    for words in (("init",), ("tools", "add", "notes.yml")):
        assert CliRunner().invoke(app, words).exit_code == 0
    return folder


@pytest.fixture
def run(project: Path) -> Run:
    """Run the command line in the project."""
    return lambda *words, stdin="": CliRunner().invoke(app, words, input=stdin)


def program(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command as its user starts it, in the working directory."""
    return subprocess.run(
        [sys.executable, "-m", "toolstile", *words],
        check=False,
        capture_output=True,
        encoding="utf-8",
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
    )


def waiting(run: Run) -> str:
    """The id of a call that waits for an answer."""
    assert run("call", "save_note", ARGUMENTS).exit_code == 4
    execution: str = run("confirm", "list").stdout.split("\t")[0]
    return execution


@pytest.mark.parametrize(
    "words",
    [
        ("call", "save_note", "path=x"),
        ("call", "save_note", "path=x", "text=y"),
        ("call", "save_note", "--path", "x"),
        ("call", "save_note"),
        ("call", "@file.json"),
        ("tools", "validate", "save_note", "path=x"),
    ],
)
def test_arguments_written_otherwise_are_shown_how(project: Path, words: tuple[str, ...]) -> None:
    """As other programs take them, or not at all: a usage error with an example."""
    ended = program(*words)
    assert ended.returncode == 2
    told = ended.stderr.replace("│", " ")  # of a box around it
    assert "arguments are one JSON object: toolstile" in " ".join(told.split())


def test_arguments_that_begin_as_json_go_to_the_parser(run: Run) -> None:
    """Whose error says the line and the column; an empty stdin that was asked for is its, too."""
    for words in (("[1]",), ("{",), ("-",)):
        assert run("tools", "validate", "save_note", *words).exit_code == 1
    assert run("tools", "validate", "save_note", ARGUMENTS).exit_code == 0


@pytest.mark.parametrize("first", [True, False])
def test_shared_options_stand_before_or_after(run: Run, first: bool) -> None:
    """`toolstile --json tools list` is `toolstile tools list --json`; so are the other three."""

    def ordered(option: tuple[str, ...], *words: str) -> Result:
        return run(*option, *words) if first else run(*words, *option)

    assert json.loads(ordered(("--json",), "tools", "list").stdout)["total"] == 1
    assert "[FROZEN]" in ordered(("--frozen",), "tools", "disable", "save_note").stderr
    assert ordered(("--config", "missing.yml"), "tools", "list").exit_code == 2
    refused = ordered(("--tenant", ""), "tools", "list")
    assert (refused.exit_code, "--tenant: " in refused.stderr) == (2, True)
    assert "config.yml" not in refused.stderr


def test_the_version_answers_in_json(run: Run) -> None:
    """As every command does."""
    assert json.loads(run("--version", "--json").stdout)["version"]
    assert run("--json").exit_code == 2


def test_a_misspelt_variable_is_said_by_every_command(project: Path) -> None:
    """On stderr, with what was meant, for the setting does not hold."""
    said = program("tools", "list", "--json", TOOLSTILE_STROE="memory:")
    assert said.stderr.count("did you mean TOOLSTILE_STORE?") == 1
    assert json.loads(said.stdout)["total"] == 1
    assert program("tools", "list", TOOLSTILE_STORE="memory:").stderr == ""


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("state.yml", "disabled: 3\n", "/disabled: "),
        ("state.yml", "a: [\n", ".agent/state.yml"),
        ("config.yml", "grnats: {}\n", "did you mean 'grants'?"),
        ("config.yml", "store: 'postgresql://user:word@host/name'\n", "use sqlite"),
    ],
)
def test_the_doctor_outlives_what_it_is_to_find(
    run: Run, project: Path, file: str, text: str, said: str
) -> None:
    """A broken file is a finding with its repair, in words and in JSON, and costs no other."""
    (project / ".agent" / file).write_text(text, encoding="utf-8")
    seen = run("doctor")
    assert (seen.exit_code, said in seen.stdout, seen.stderr) == (7, True, "")
    assert "SETTINGS_INVALID" not in seen.stdout
    found = json.loads(run("doctor", "--json").stdout)
    assert (found["healthy"], len(found["findings"]) >= 2) == (False, True)


def test_the_doctor_needs_no_home(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no state can be kept, it says so and how to have a place."""
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/proc/none")
    seen = run("doctor")
    assert (seen.exit_code, "set XDG_STATE_HOME" in seen.stdout) == (7, True)


def test_wrong_settings_have_one_code(run: Run, project: Path) -> None:
    """At the end of the message; the repair is below it."""
    (project / ".agent" / "config.yml").write_text("grnats: {}", encoding="utf-8")
    told = run("tools", "list").stderr
    assert told.count("[SETTINGS") == told.count("[SETTINGS_INVALID]") == 1


@pytest.mark.parametrize("name", ["run", "execute", "call", "invoke"])
def test_no_tool_is_begun_that_would_be_refused(run: Run, name: str) -> None:
    """A reserved name is told at once."""
    refused = run("tools", "new", name)
    assert (refused.exit_code, "is reserved" in refused.stderr) == (2, True)


@pytest.mark.parametrize("kind", ["python", "config"])
def test_a_beginning_says_what_comes_next(run: Run, kind: str) -> None:
    """In a comment at its head."""
    assert run("tools", "new", "my_tool", "--kind", kind).stdout.startswith("# Save this ")


def test_a_python_file_is_told_how_it_is_added(run: Run, project: Path) -> None:
    """By a definition that names its function, not by an error of YAML."""
    refused = run("tools", "add", "note_tools.py")
    assert (refused.exit_code, "--kind config" in refused.stderr) == (2, True)


def test_adding_again_says_so(run: Run) -> None:
    """Nothing was added, and nothing is wrong."""
    again = run("tools", "add", "notes.yml")
    assert (again.exit_code, "is there already" in again.stderr) == (0, True)
    answer = json.loads(run("tools", "add", "notes.yml", "--json").stdout)
    assert (answer["added"], len(answer["already_there"])) == ([], 1)


def test_a_name_that_is_no_text_hinders_nobody(run: Run, project: Path) -> None:
    """Whatever somebody has written into state.yml, a tool can be added and removed beside it."""
    written = "tools: [{name: [a], description: x}, {name: b, version: 1.5}]"
    (project / ".agent" / "state.yml").write_text(written, encoding="utf-8")
    assert run("tools", "add", "notes.yml").exit_code == 0
    assert run("tools", "remove", "save_note").exit_code == 0


def test_one_version_can_be_removed(run: Run, project: Path) -> None:
    """NAME@VERSION takes out that one, NAME all; which is said."""
    text = (project / "notes.yml").read_text(encoding="utf-8")
    (project / "newer.yml").write_text(text.replace("1.0.0", "1.1.0"), encoding="utf-8")
    run("tools", "add", "newer.yml")
    assert "Other versions: 1.0.0" in run("tools", "show", "save_note").stdout
    assert "added were: 1.0.0, 1.1.0" in run("tools", "remove", "save_note@2.0.0").stderr
    assert run("tools", "remove", "save_note@1.0.0").stderr == "removed save_note@1.0.0\n"
    assert run("tools", "list").stdout.startswith("save_note\t1.1.0")
    assert run("tools", "remove", "save_note").stderr == "removed save_note@1.1.0\n"


def test_a_file_of_several_is_no_side_of_a_comparison(run: Run, project: Path) -> None:
    """It is said how many it holds."""
    two = "[{name: one, description: x}, {name: two, description: y}]"
    (project / "two.yml").write_text(two, encoding="utf-8")
    refused = run("tools", "diff", "two.yml", "notes.yml")
    assert (refused.exit_code, "holds 2 definitions" in refused.stderr) == (2, True)


def test_an_empty_category_is_said(run: Run) -> None:
    """Beside the answer, which is empty."""
    shown = run("tools", "list", "--category", "network")
    assert (shown.stdout, "no tools of category network" in shown.stderr) == ("", True)


def test_a_denial_has_its_code_and_says_it_once(run: Run) -> None:
    """docs/errors.md is keyed by the code."""
    told = run("call", "save_note", '{"path": "/etc/n", "text": "x"}').stderr
    assert told.startswith("permission_denied: not granted")
    assert told.rstrip().endswith("[PERMISSION_DENIED]")


def test_what_was_written_is_said(run: Run, project: Path) -> None:
    """On stderr, after an approval; the value alone is the answer."""
    done = run("confirm", "approve", waiting(run))
    written = project / "workspace" / "n.txt"
    assert (done.stdout, done.stderr) == ("5\n", f"created: {written}\n")


def test_the_beginning_of_an_id_names_a_call(run: Run) -> None:
    """Eight characters or more, of one call that waits; several are listed, fewer name none."""
    execution = waiting(run)
    assert "save_note" in run("confirm", "show", execution[:30]).stdout
    assert run("confirm", "show", execution[:7]).exit_code == 1
    assert run("call", "save_note", ARGUMENTS.replace("hello", "bye")).exit_code == 4
    both = run("confirm", "list").stdout.count(execution[:8])
    several = run("confirm", "show", execution[:8])
    # They begin with the time, in steps of a minute: seldom, it goes on between two calls.
    assert (several.exit_code, execution in several.stderr) == (
        (2, True) if both > 1 else (0, False)
    )
    assert run("confirm", "deny", execution).exit_code == 0


@pytest.mark.parametrize(
    ("first", "how"), [("approve", "approved by local"), ("deny", "CONFIRMATION_DENIED")]
)
@pytest.mark.parametrize("again", ["approve", "deny", "show"])
def test_an_answered_call_says_how(run: Run, first: str, how: str, again: str) -> None:
    """Whoever comes too late is told what became of it."""
    execution = waiting(run)
    assert run("confirm", first, execution).exit_code == 0
    late = run("confirm", again, execution)
    assert (late.exit_code, "[NOT_WAITING]" in late.stderr, how in late.stderr) == (1, True, True)


def test_a_preview_cannot_be_agreed_to_at_once(run: Run) -> None:
    """The two options say opposite things."""
    assert run("call", "save_note", ARGUMENTS, "--preview", "--yes").exit_code == 2


def test_a_project_within_another_is_said(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so is one in the home directory, which governs all that lies there."""
    (project / "inner").mkdir()
    monkeypatch.chdir(project / "inner")
    assert f"{project}/.agent/config.yml no longer governs" in run("init").stderr
    home = Path(os.environ["HOME"])
    home.mkdir()
    monkeypatch.chdir(home)
    assert "your home directory" in run("init").stderr


@pytest.mark.parametrize(
    "words",
    [
        ("confirm", "show", "\udcff"),
        ("confirm", "approve", "\udcff"),
        ("confirm", "deny", "x", "--note", "\udcff"),
        ("tools", "pin", "\udcff"),
        ("tools", "pin", "save_note", "\udcff"),
        ("tools", "disable", "\udcff"),
        ("tools", "enable", "\udcff"),
        ("tools", "remove", "\udcff"),
        ("tools", "new", "\udcff"),
        ("tools", "search", "a", "\udcff"),
        ("tools", "diff", "\udcff", "notes.yml"),
        ("tools", "list", "--category", "\udcff"),
        ("call", "\udcff", "{}"),
        ("call", "save_note", "{}", "--call-id", "\udcff"),
        ("--tenant", "\udcff", "tools", "list"),
    ],
)
def test_bytes_that_are_no_text_are_a_usage_error(run: Run, words: tuple[str, ...]) -> None:
    """In every command, wherever text is meant."""
    refused = run(*words)
    assert (refused.exit_code, refused.stderr.startswith("toolstile: ")) == (2, True)


def test_a_tools_words_are_heard(project: Path) -> None:
    """Its warnings always, the rest with --verbose, without the id of the one call there is."""
    (project / "talking.py").write_text(TALKING, encoding="utf-8")
    (project / "talk.yml").write_text(TALK, encoding="utf-8")
    assert program("tools", "add", "talk.yml").returncode == 0
    words = ("call", "talk", '{"path": "workspace/t", "seconds": 0}')
    heard = [line for line in program(*words).stderr.splitlines() if line.startswith("toolstile:")]
    assert heard == ["toolstile: [talk] a warning"]
    assert "toolstile: [talk] a remark\n" in program(*words, "--verbose").stderr


def test_an_interrupted_call_says_what_became_of_it(project: Path) -> None:
    """Ctrl-C while it runs: its staged write is gone, and that is said."""
    (project / "talking.py").write_text(TALKING, encoding="utf-8")
    (project / "talk.yml").write_text(TALK, encoding="utf-8")
    program("tools", "add", "talk.yml")
    words = ("call", "talk", '{"path": "workspace/t", "seconds": 60}')
    command = [sys.executable, "-m", "toolstile", *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, encoding="utf-8")
    while not (project / "running").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "cancelled; what it would have changed was thrown away [CANCELLED]" in told


def at_a_terminal(*words: str, then: Callable[[int, int], Any]) -> tuple[int, str]:
    """A command at a terminal of 60 columns, what is done when it asks, and how it ended."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (40, 60))
    command = (sys.executable, "-m", "toolstile", *words)
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower) as process:
        os.close(follower)
        said, asked = b"", False
        while True:
            try:
                said += os.read(leader, 4096)
            except OSError:  # the terminal's last writer has gone
                break
            if not asked and b"[y/N]" in said:
                asked = True
                then(leader, process.pid)
    os.close(leader)
    return process.returncode, said.decode()


def test_answered_elsewhere_meanwhile_is_no_failure_of_ours(run: Run) -> None:
    """The person reads, another one denies, and the first says yes: they are told."""

    def deny_first(leader: int, _: int) -> None:
        execution = run("confirm", "list").stdout.split("\t")[0]
        assert run("confirm", "deny", execution).exit_code == 0
        os.write(leader, b"y\n")

    code, said = at_a_terminal("call", "save_note", ARGUMENTS, then=deny_first)
    assert (code, "[NOT_WAITING]" in said, "Traceback" in said) == (1, True, False)


def test_ctrl_c_at_the_question_leaves_the_call_waiting(run: Run) -> None:
    """It is no answer, whatever is typed after it: exit 4, and the call can be answered later."""

    def interrupt(leader: int, process: int) -> None:
        os.kill(process, signal.SIGINT)
        os.write(leader, b"\n")  # it may have come just before the reading began

    code, said = at_a_terminal("call", "save_note", ARGUMENTS, then=interrupt)
    assert (code, "confirm approve" in said) == (4, True)
    assert run("confirm", "list").stdout.count("\n") == 1


def test_a_narrow_terminal_does_not_cut_an_id(run: Run) -> None:
    """Other columns give way first: an id that is cut names nothing."""
    execution = waiting(run)
    _, said = at_a_terminal("confirm", "list", then=lambda *_: None)
    assert execution in said


def test_a_table_without_rows_can_be_drawn() -> None:
    """Nothing is widest there."""
    console.table("Nothing", ("Name", "Description"), [])
