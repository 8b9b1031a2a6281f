"""The command line as people and programs use it: text, JSON, exit codes, messages with repairs."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from toolstile.registry.registry import Registry
from toolstile.surfaces.cli.commands import app
from toolstile.surfaces.cli.described import document_of, rows_of

CONFIG = """
grants: {fs_read: ["./workspace"], fs_write: ["./workspace"]}
tools:
  custom:
    - name: read_file
      description: Read the contents of a file
      version: "1.0.0"
      category: file_system
      parameters:
        type: object
        properties:
          path: {type: string, description: Path to the file to read, x-toolstile: {reads: path}}
          encoding: {type: string, enum: [utf-8, ascii, utf-16], default: utf-8}
        required: [path]
    - name: write_note
      description: Write a note [with brackets]
      version: "2.1.0"
      parameters:
        type: object
        properties:
          path: {type: string, x-toolstile: {writes: path}}
          text: {type: string}
        required: [path, text]
      source: {python: "note_tools:write_note"}
"""
NOTE_TOOLS = '''
from toolstile import WritePath, tool


@tool
def write_note(path: WritePath, text: str) -> int:
    """Write a note."""
    return path.write_text(text)
'''

Run = Callable[..., Result]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder, with state beside it."""
    folder = tmp_path / "project"
    (folder / ".agent").mkdir(parents=True)
    (folder / "workspace").mkdir()
    (folder / ".agent" / "config.yml").write_text(CONFIG, encoding="utf-8")
    (folder / "note_tools.py").write_text(NOTE_TOOLS, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return folder


@pytest.fixture
def run(project: Path) -> Run:
    """Run a command in the project."""

    def invoke(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(app, list(arguments), input=stdin)

    return invoke


def document(result: Result) -> Any:
    """The one JSON document on stdout."""
    return json.loads(result.stdout)


def test_list_is_tab_separated_when_piped(run: Run) -> None:
    """Name, version, description, sorted; no drawing where no terminal is."""
    result = run("tools", "list")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "read_file\t1.0.0\tRead the contents of a file",
        "write_note\t2.1.0\tWrite a note [with brackets]",
    ]


def test_list_as_json_is_the_contracts_document(run: Run) -> None:
    """Every field of the contract, and the total."""
    listed = document(run("tools", "list", "--json"))
    assert listed["total"] == 2
    assert set(listed["tools"][0]) == {
        "name",
        "version",
        "description",
        "category",
        "source",
        "license_tier",
        "enabled",
        "is_built_in",
        "alias_of",
        "quarantined",
        "digest",
    }


def test_what_is_set_beside_a_definition_is_told() -> None:
    """Is it built in, switched on, pinned, and for which tier: in the list, and beside it."""
    registry = Registry()
    about = {"name": "read_file", "description": "Read", "license_tier": "teams"}
    registry.register({**about, "version": "1.0.0"}, built_in=True)
    registry.register({"name": "mine", "description": "Mine", "version": "1.0.0"})
    registry.register({"name": "mine", "description": "Mine", "version": "1.1.0"})
    registry.pin("mine", "^1.0")
    registry.disable("mine")
    marks = ("is_built_in", "enabled", "license_tier")
    listed = {row["name"]: tuple(row[mark] for mark in marks) for row in rows_of(registry)}
    assert listed == {"read_file": (True, True, "teams"), "mine": (False, False, "core")}
    shown = {
        name: document_of(registry, registry.get(name), "acme") for name in ("read_file", "mine")
    }
    assert {name: tuple(s[mark] for mark in marks) for name, s in shown.items()} == listed
    assert [shown[name]["pinned"] for name in ("read_file", "mine")] == [None, "^1.0"]
    assert shown["mine"]["versions"] == ["1.1.0", "1.0.0"]
    assert shown["mine"]["id"].startswith("acme/mine@1.1.0#sha256:")


def test_list_by_category(run: Run) -> None:
    """One category, or the names of all where it is none."""
    assert run("tools", "list", "--category", "file_system").stdout.startswith("read_file")
    assert run("tools", "list", "--category", "network").stdout == ""
    assert run("tools", "list", "--category", "general").stdout.startswith("write_note")
    wrong = run("tools", "list", "--category", "files")
    assert wrong.exit_code == 2
    assert "file_system" in wrong.stderr


def test_show_prints_the_seeds_lines(run: Run) -> None:
    """The four lines of ACODE, a line per parameter, and what else decides about a call."""
    run("tools", "pin", "read_file", "^1")
    run("tools", "disable", "read_file")
    assert run("tools", "show", "read_file").stdout.splitlines() == [
        "Name: read_file",
        "Version: 1.0.0",
        "Description: Read the contents of a file",
        "Parameters:",
        "  path (string, required): Path to the file to read",
        "  encoding (string): One of: utf-8, ascii, utf-16. Default: utf-8",
        "Rights: fs_read",
        "Side effects: fs_read",
        "Asks before it runs: no",
        "Isolation: standard",
        "Source: none: it is validated, and cannot be called until a program binds it",
        "Pinned to: ^1",
        "Disabled: it is listed, and cannot be called",
    ]
    shown = run("tools", "show", "write_note").stdout.splitlines()
    assert "Source: python note_tools:write_note" in shown


def test_show_as_json_holds_the_definition(run: Run) -> None:
    """Definition, digest and what was set beside it."""
    shown = document(run("tools", "show", "read_file@^1", "--json"))
    assert shown["definition"]["name"] == "read_file"
    assert shown["digest"].startswith("sha256:")
    assert shown["id"] == f"local/read_file@1.0.0#{shown['digest']}"
    assert shown["versions"] == ["1.0.0"]


def test_show_gives_the_guidance_for_models(run: Run) -> None:
    """The author's text where there is one; else one made from the definition, and marked so."""
    guide = "read_file — Usage Guide\n\nPrimary purpose:\n- Read a file."
    assert "(generated from the definition)" in run("tools", "show", "read_file", "--usage").stdout
    shown = document(run("tools", "show", "read_file", "--usage", "--json"))
    assert shown["generated"]
    assert "path (string, required)" in shown["usage"]
    own = {"name": "own_guide", "description": "Read", "usage": guide, "version": "1.0.0"}
    Path("own.json").write_text(json.dumps(own), encoding="utf-8")
    assert run("tools", "add", "own.json").exit_code == 0
    assert run("tools", "show", "own_guide", "--usage").stdout.rstrip() == guide


def test_validate_says_the_seeds_sentence(run: Run) -> None:
    """Valid arguments from stdin: the sentence and exit 0."""
    result = run("tools", "validate", "read_file", stdin='{"path": "/tmp/test.txt"}')
    assert (result.exit_code, result.stdout) == (0, "✓ Arguments are valid\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("{", "ACODE-TSR-002"),
        ("{}", "ACODE-TSR-003"),
        ('{"path": 1}', "ACODE-TSR-004"),
        ('{"path": "a", "encoding": "latin"}', "ACODE-TSR-005"),
    ],
)
def test_validate_prints_issues_and_fails(run: Run, arguments: str, code: str) -> None:
    """Each kind of fault with its code, in text and in JSON."""
    result = run("tools", "validate", "read_file", arguments)
    assert result.exit_code == 1
    assert code in result.stdout
    told = document(run("tools", "validate", "read_file", arguments, "--json"))
    assert not told["valid"]
    assert told["errors"][0]["error_code"] == code
    assert told["errors_total"] == len(told["errors"])


def test_validate_gives_the_filled_value(run: Run, project: Path) -> None:
    """Defaults are in the value; arguments may come from a file."""
    (project / "a.json").write_text('{"path": "x"}', encoding="utf-8")
    told = document(run("tools", "validate", "read_file", "@a.json", "--json"))
    assert told["value"] == {"path": "x", "encoding": "utf-8"}


def test_unknown_tools_have_code_and_suggestion(run: Run) -> None:
    """The user's scenario 8, with the names that come near."""
    result = run("tools", "validate", "read_fle", "{}")
    assert result.exit_code == 1
    assert "ACODE_TSR_001" in result.stderr
    assert "read_file" in result.stderr
    error = document(run("tools", "show", "read_fle", "--json"))["error"]
    assert set(error) == {"code", "message", "hint"}


def test_check_lists_every_fault_of_a_file(run: Run, project: Path) -> None:
    """All definitions of a file, all their faults, exit 1; a sound one passes."""
    (project / "bad.yml").write_text(
        "name: Bad Name\ndescription: ''\ncategory: files\nparameters: {type: objekt}\n",
        encoding="utf-8",
    )
    result = run("tools", "check", "bad.yml")
    assert result.exit_code == 1
    for place in ("/name", "/description", "/category", "/parameters/type"):
        assert place in result.stdout
    assert run("tools", "check", ".agent/config.yml").exit_code == 0
    told = document(run("tools", "check", "bad.yml", "--json"))
    assert not told["definitions"][0]["valid"]


def test_search_forgives_a_slip(run: Run) -> None:
    """A misspelt word still finds its tool."""
    assert run("tools", "search", "raed", "file").stdout.startswith("read_file")


def test_disable_and_enable_keep_the_users_file(run: Run, project: Path) -> None:
    """What commands change goes to state.yml; config.yml stays as it is, byte for byte."""
    before = (project / ".agent" / "config.yml").read_bytes()
    assert run("tools", "disable", "read_file").exit_code == 0
    assert "[disabled]" in run("tools", "list").stdout
    refused = run("call", "read_file", '{"path": "workspace/a"}')
    assert "disabled" in refused.stderr
    assert run("tools", "enable", "read_file").exit_code == 0
    assert "[disabled]" not in run("tools", "list").stdout
    assert (project / ".agent" / "config.yml").read_bytes() == before


def test_add_pin_and_remove(run: Run, project: Path) -> None:
    """A definition of a file is added, pinned, and taken out again."""
    (project / "t.yml").write_text("name: extra\ndescription: d\nversion: 1.0.0\n", "utf-8")
    assert run("tools", "add", "t.yml").exit_code == 0
    (project / "t.yml").write_text("name: extra\ndescription: d\nversion: 1.1.0\n", "utf-8")
    assert run("tools", "add", "t.yml").exit_code == 0
    assert "extra\t1.1.0" in run("tools", "list").stdout
    assert run("tools", "pin", "extra", "~1.0").exit_code == 0
    assert "extra\t1.0.0" in run("tools", "list").stdout
    assert run("tools", "pin", "extra", "^3").exit_code == 1
    assert run("tools", "remove", "extra").exit_code == 0
    assert "extra" not in run("tools", "list").stdout
    assert run("tools", "remove", "read_file").exit_code == 1


def test_frozen_refuses_changes(run: Run, project: Path) -> None:
    """Under --frozen nothing is changed."""
    assert run("tools", "disable", "read_file", "--frozen").exit_code == 1
    assert not (project / ".agent" / "state.yml").exists()


def test_diff_says_why_with_an_example(run: Run, project: Path) -> None:
    """A breaking version is told with a counter-example, a compatible one passes."""
    old = (
        "name: t\ndescription: d\nversion: 1.0.0\n"
        "parameters: {type: object, properties: {a: {type: string}}}\n"
    )
    (project / "old.yml").write_text(old, encoding="utf-8")
    (project / "new.yml").write_text(old + "  \n".replace("  ", ""), encoding="utf-8")
    assert run("tools", "diff", "old.yml", "new.yml").exit_code == 0
    breaking = old.replace("a: {type: string}", "a: {type: integer}").replace("1.0.0", "1.1.0")
    (project / "new.yml").write_text(breaking, encoding="utf-8")
    result = run("tools", "diff", "old.yml", "new.yml")
    assert result.exit_code == 7
    assert "breaking" in result.stdout
    assert "for example" in result.stdout


@pytest.mark.parametrize("kind", ["python", "config"])
def test_what_new_prints_is_sound(run: Run, project: Path, kind: str) -> None:
    """The beginnings that are printed can be used as they are."""
    text = run("tools", "new", "my_tool", "--kind", kind).stdout
    if kind == "config":
        (project / "t.yml").write_text(text, encoding="utf-8")
        assert run("tools", "check", "t.yml").exit_code == 0
    else:
        (project / "begun.py").write_text(text, encoding="utf-8")
        program = "import begun; print(begun.my_tool.definition.name)"
        ended = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True
        )
        assert ended.stdout.strip() == "my_tool"


def test_new_refuses_a_name_that_cannot_be(run: Run) -> None:
    """With what a name may be."""
    result = run("tools", "new", "My-Tool")
    assert result.exit_code == 2
    assert "a-z" in result.stderr


def test_call_without_a_body_says_so(run: Run) -> None:
    """A declared tool without a source is listed and validated, not run."""
    result = run("call", "read_file", '{"path": "workspace/a"}', "--json")
    assert result.exit_code == 1
    assert document(result)["error_code"] == "NO_IMPLEMENTATION"


def test_a_call_may_name_a_version(run: Run) -> None:
    """NAME@RANGE, as everywhere else on the command line."""
    arguments = '{"path": "workspace/n.txt", "text": "x"}'
    assert run("call", "write_note@^2", arguments).exit_code == 4
    none = run("call", "write_note@^3", arguments)
    said = "Unknown tool: 'write_note' (no version allows '^3'; there are: 2.1.0)"
    line = f"tool_not_found: {said} [ACODE_TSR_001]"
    assert (none.exit_code, none.stderr.splitlines()[0]) == (1, line)


def test_a_caller_may_ask_for_more_isolation(run: Run) -> None:
    """--isolation is the call's: what cannot be had is not run, what is no level is refused."""
    arguments = '{"path": "workspace/n.txt", "text": "x"}'
    assert run("call", "write_note", arguments, "--isolation", "standard").exit_code == 4
    strict = run("call", "write_note", arguments, "--isolation", "strict", "--json")
    assert document(strict)["error_code"] == "SANDBOX_ERROR"
    none = run("call", "write_note", arguments, "--isolation", "steel", "--json")
    assert document(none)["error_code"] == "INVALID_REQUEST"


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("toolstile to", ["tools"]),
        ("toolstile tools show r", ["read_file"]),
        ("toolstile call ", ["read_file", "write_note"]),
        ("toolstile tools list --category f", ["file_system"]),
        ("toolstile tools new a --kind ", ["python", "config"]),
        ("toolstile call write_note --isolation s", ["standard", "strict"]),
        ("toolstile tools show x", []),
    ],
)
def test_names_are_completed(project: Path, line: str, offered: list[str]) -> None:
    """The shell is offered commands, and the names and words that stand at their places."""
    assert completed(line) == offered
    (project / ".agent" / "config.yml").write_text("grnats: {}", encoding="utf-8")
    assert completed("toolstile call ") == []


def completed(line: str) -> list[str]:
    """What bash would be offered at the end of a line; nothing may be said beside it."""
    count = str(len(line.split(" ")) - 1)
    asked = {"_TOOLSTILE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": count}
    program = [sys.executable, "-c", "from toolstile.surfaces.cli.main import main; main()"]
    program[2] = "import sys; sys.argv = ['toolstile']; " + program[2]
    ended = subprocess.run(
        program, capture_output=True, encoding="utf-8", check=True, env={**os.environ, **asked}
    )
    assert ended.stderr == ""
    return ended.stdout.split()


def test_what_may_not_be_declared_is_neither_sound_nor_added(run: Run, project: Path) -> None:
    """A file is held to all that the settings are held to: level none, and what is no mapping."""
    inside = "{name: inside, description: In here., constraints: {required_isolation: none}}"
    (project / "inside.yml").write_text(inside, encoding="utf-8")
    (project / "number.json").write_text("[3]", encoding="utf-8")
    for file, said in (("inside.yml", "level none"), ("number.json", "must be a mapping")):
        for command in ("check", "add"):
            refused = run("tools", command, file)
            assert refused.exit_code == 1
            assert said in refused.stdout
    (project / "sound.yml").write_text(inside.replace("none", "standard"), encoding="utf-8")
    assert run("tools", "add", "sound.yml").exit_code == 0


def test_what_is_unsound_by_now_can_be_removed(run: Run, project: Path) -> None:
    """A definition that was added and is left out since then is still the command's to remove."""
    written = "tools: [3, {name: inside, description: x, constraints: {required_isolation: none}}]"
    (project / ".agent" / "state.yml").write_text(written, encoding="utf-8")
    assert "✗ tool inside" in run("doctor").stdout
    assert run("tools", "remove", "inside").exit_code == 0
    assert "✗ tool inside" not in run("doctor").stdout
    assert "Unknown tool" in run("tools", "remove", "inside").stderr


def test_what_was_set_of_a_tool_goes_with_it(run: Run, project: Path) -> None:
    """A pin or a switch of a tool that is gone would be complained of for ever. Where a version of
    it stays, so does what was set; and what is left of a tool can be taken back by name."""
    file = project / "extra.yml"
    file.write_text("{name: extra, description: x, version: 1.0.0}", encoding="utf-8")
    for words in (("add", str(file)), ("pin", "extra", "^1"), ("disable", "extra")):
        assert run("tools", *words).exit_code == 0
    assert run("tools", "remove", "extra").exit_code == 0
    state = (project / ".agent" / "state.yml").read_text(encoding="utf-8")
    assert "extra" not in state
    newer = "{name: read_file, description: Read it, version: 2.0.0}"
    file.write_text(newer, encoding="utf-8")
    for words in (("add", str(file)), ("disable", "read_file"), ("remove", "read_file")):
        assert run("tools", *words).exit_code == 0
    assert "[disabled]" in run("tools", "list").stdout
    left = "{disabled: [gone], pins: {gone: ^1}}"
    (project / ".agent" / "state.yml").write_text(left, encoding="utf-8")
    assert run("doctor").exit_code == 7
    assert run("tools", "enable", "gone").exit_code == 0
    assert run("tools", "pin", "gone").exit_code == 0
    assert run("doctor").exit_code == 0
    assert run("tools", "enable", "never").exit_code == run("tools", "pin", "never").exit_code == 1


def test_adding_says_which_definition_is_at_fault(run: Run, project: Path) -> None:
    """As `tools check` does: a file may hold many."""
    two = "[{name: sound, description: x}, {name: wrong, description: ''}]"
    (project / "two.yml").write_text(two, encoding="utf-8")
    lines = run("tools", "add", "two.yml").stdout.splitlines()
    assert lines[:2] == ["✓ two.yml: sound", "✗ two.yml: wrong"]


def test_call_confirm_and_deny(run: Run, project: Path) -> None:
    """A write waits with exit 4; approving makes it, denying does not."""
    note = project / "workspace" / "n.txt"
    arguments = json.dumps({"path": "workspace/n.txt", "text": "hello\n"})
    waits = run("call", "write_note", arguments)
    assert waits.exit_code == 4
    assert "+hello" in waits.stderr
    assert not note.exists()
    waiting = document(run("confirm", "list", "--json"))["items"]
    execution = waiting[0]["metadata"]["execution_id"]
    assert f"Arguments: {arguments}" in run("confirm", "show", execution).stdout
    seen = document(run("confirm", "show", execution, "--json"))
    assert "+hello" in seen["diff"]
    done = run("confirm", "approve", execution, "--digest", seen["digest"], "--user", "me")
    assert (done.exit_code, done.stdout) == (0, "6\n")
    assert note.read_text(encoding="utf-8") == "hello\n"
    again = run("confirm", "approve", execution)
    assert again.exit_code == 1
    waits = document(run("call", "write_note", arguments.replace("hello", "bye"), "--json"))
    assert run("confirm", "deny", waits["metadata"]["execution_id"]).exit_code == 0
    assert note.read_text(encoding="utf-8") == "hello\n"


def test_call_with_yes_and_preview(run: Run, project: Path) -> None:
    """--yes confirms at once, --preview shows and changes nothing."""
    arguments = json.dumps({"path": "workspace/n.txt", "text": "hello\n"})
    assert run("call", "write_note", arguments, "--preview").exit_code == 4
    assert not (project / "workspace" / "n.txt").exists()
    assert run("call", "write_note", arguments, "--yes").exit_code == 0
    assert (project / "workspace" / "n.txt").exists()


def test_call_outside_the_grant_is_denied_with_the_repair(run: Run) -> None:
    """Exit 3 and the line that would grant it."""
    result = run("call", "write_note", '{"path": "/etc/motd", "text": "x"}')
    assert result.exit_code == 3
    assert '`"/etc/motd"` to `fs_write:` under `grants:`' in result.stderr


def test_init_writes_settings_once(run: Run, project: Path) -> None:
    """A commented file that loads; never over one that is there."""
    assert run("init").exit_code == 1
    (project / ".agent" / "config.yml").unlink()
    assert run("init").exit_code == 0
    assert run("doctor").exit_code == 0


def test_doctor_names_what_was_left_out(run: Run, project: Path) -> None:
    """A bad definition takes no other down, and the doctor says why it is missing."""
    config = project / ".agent" / "config.yml"
    assert run("doctor").exit_code == 0
    config.write_text(CONFIG + "    - name: Bad Name\n      description: x\n", encoding="utf-8")
    assert "read_file" in run("tools", "list").stdout
    told = document(run("doctor", "--json"))
    assert not told["healthy"]
    assert any(f["what"] == "tool Bad Name" for f in told["findings"])


def test_a_module_that_is_not_there_is_named(run: Run, project: Path) -> None:
    """The doctor finds it, and a call says so before it runs anything; once the module is there
    both are content."""
    module = project / "note_tools.py"
    away = module.rename(project / "note_tools.txt")
    told = document(run("doctor", "--json"))
    wrong = [finding for finding in told["findings"] if not finding["ok"]]
    assert [finding["what"] for finding in wrong] == ["tool write_note@2.1.0"]
    assert "the module note_tools" in wrong[0]["text"]
    words = ("call", "write_note", '{"path": "workspace/n.txt", "text": "x"}', "--json")
    refused = document(run(*words))
    assert (refused["error_code"], refused["error_message"]) == (
        "NO_IMPLEMENTATION",
        wrong[0]["text"],
    )
    away.rename(module)
    assert run("doctor").exit_code == 0
    assert run(*words).exit_code == 4


@pytest.mark.parametrize(
    "text",
    ["grant: {}\n", "grants: {fs_read: 1}\n", "a: [\n", "grants: {fs_read: ['*']}\n"],
)
def test_wrong_settings_are_one_clear_error(run: Run, project: Path, text: str) -> None:
    """Exit 2, the file, the line, the repair; no traceback."""
    (project / ".agent" / "config.yml").write_text(text, encoding="utf-8")
    result = run("tools", "list")
    assert result.exit_code == 2
    assert "config.yml" in result.stderr
    assert "Traceback" not in result.stderr


def test_hostile_text_cannot_drive_the_terminal(run: Run, project: Path) -> None:
    """Control characters in definitions are refused, and in file names they are shown escaped."""
    (project / "x.yml").write_text('name: t\ndescription: "a\\u001b[31m"\n', encoding="utf-8")
    result = run("tools", "check", "x.yml")
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout


def test_the_program_starts_as_a_module(project: Path) -> None:
    """`python -m toolstile` in a real process, with a real pipe."""
    command = [sys.executable, "-m", "toolstile", "tools", "validate", "read_file"]
    ended = subprocess.run(
        command,
        input='{"path": "x"}',
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=project,
    )
    assert (ended.returncode, ended.stdout) == (0, "✓ Arguments are valid\n")


def on_a_terminal(*arguments: str, typed: str = "", exit_code: int = 0) -> str:
    """What a command prints on a terminal of 100 columns, at which a person types something."""
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (40, 100))
    command = (sys.executable, "-m", "toolstile", *arguments)
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower) as process:
        os.close(follower)
        os.write(leader, typed.encode())
        said = b""
        while True:
            try:
                said += os.read(leader, 4096)
            except OSError:  # the terminal's last writer has gone
                break
    os.close(leader)
    assert process.returncode == exit_code
    return re.sub(r"\x1b\[[0-9;]*m", "", said.decode())


@pytest.mark.usefixtures("project")
def test_list_is_the_seeds_table_on_a_terminal() -> None:
    """A title, three columns and a row for each tool, in a box; brackets stay brackets."""
    title, *lines = (line.strip() for line in on_a_terminal("tools", "list").splitlines())
    cells = [re.split(r"\s*[│┃]\s*", line.strip("│┃ ")) for line in lines if line[:1] in "│┃"]
    assert title == "Registered Tools"
    assert [row[:3] for row in cells if row != [""]] == [
        ["Name", "Version", "Description"],
        ["read_file", "1.0.0", "Read the contents of a file"],
        ["write_note", "2.1.0", "Write a note [with brackets]"],
    ]


ASKED = """
name: asked
description: Asks before it runs.
parameters: {type: object, properties: {word: {type: string}}}
requires_confirmation: true
side_effects: [none]
source: {python: "note_tools:asked"}
"""


@pytest.mark.parametrize(("typed", "exit_code"), [("y\n", 0), ("n\n", 3), ("\n", 3), ("\x04", 4)])
def test_a_person_sees_what_they_are_asked_about(
    run: Run, project: Path, typed: str, exit_code: int
) -> None:
    """Before a run: the tool and its arguments, wherever these came from. Only a yes runs it, a no
    ends it, and whoever says nothing is told that it waits."""
    with (project / "note_tools.py").open("a", encoding="utf-8") as module:
        module.write("\ndef asked(word=''): return {'said': word}\n")
    (project / "asked.yml").write_text(ASKED, encoding="utf-8")
    (project / "word.json").write_text('{"word": "hello"}', encoding="utf-8")
    assert run("tools", "add", "asked.yml").exit_code == 0
    words = ("call", "asked", "@word.json")
    shown = on_a_terminal(*words, typed=typed, exit_code=exit_code)
    before, _, after = shown.partition("Run this call?")
    assert "Tool: asked" in before
    assert 'Arguments: {"word": "hello"}' in before
    assert "has not run" in before
    assert ('{"said": "hello"}' in after) == (exit_code == 0)
    assert ("confirm approve" in after) == (exit_code == 4)
    waiting = document(run("confirm", "list", "--json"))["items"]
    assert len(waiting) == (exit_code == 4)
