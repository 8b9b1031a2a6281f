"""The command line under bad input and in bad surroundings: an exit code, words, no traceback, and
for programs one JSON document."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TOOL = {"name": "slow", "description": "Wait", "version": "1.0.0", "side_effects": ["none"]}
SECONDS = {"type": "object", "properties": {"seconds": {"type": "number"}}, "required": ["seconds"]}
SOURCE = {"python": "slow_tools:slow"}
CONFIG = json.dumps({"tools": {"custom": [TOOL | {"parameters": SECONDS, "source": SOURCE}]}})
BODY = """
import time
from pathlib import Path


def slow(seconds):
    Path(__file__).with_name("running").touch()
    time.sleep(seconds)
    return "é"
"""

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Start `toolstile` in a project of its own; `shell` may change the streams around it."""
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent" / "config.yml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "slow_tools.py").write_text(BODY, encoding="utf-8")

    def begin(*words: str | bytes, shell: str = '"$@"', **environment: str) -> Any:
        command = ["sh", "-c", shell, "sh", sys.executable, "-m", "toolstile", *words]
        state = {"XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONUTF8": "0"}
        return subprocess.Popen(
            command,
            cwd=tmp_path,
            env={**os.environ, **state, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return begin


def ended(process: subprocess.Popen[bytes], given: bytes = b"") -> tuple[int, bytes, bytes]:
    """Its exit code and what it said; a traceback is never among that."""
    said, told = process.communicate(given, timeout=60)
    assert b"Traceback" not in (said or b"") + told
    return process.returncode, said, told


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["tools", "list", "--nonsense"], 2),
        (["tools", "show"], 2),
        (["tools", "search", "x", "--limit", "0"], 2),
        (["nothing"], 2),
        (["call", "slow", "{}", "--timeout", "nan"], 2),
        (["call", "slow", b'{"seconds": "\xff"}'], 1),
        (["tools", "show", b"\xff"], 2),
        (["tools", "check", b"\xff.yml"], 2),
        (["call", "slow", b"@\xff"], 2),
        (["tools", "validate", "slow", '{"seconds": 1}'], 0),
    ],
)
def test_every_answer_is_one_document(start: Start, words: list[Any], code: int) -> None:
    """Under --json a mistake in the command line, or bytes that are no text, is answered in JSON
    as everything else is."""
    exit_code, said, _ = ended(start(*words, "--json"))
    assert exit_code == code
    assert isinstance(json.loads(said), dict)


def test_a_mistake_is_told_to_people_in_words(start: Start) -> None:
    """Without --json nothing is on stdout, and the usage on stderr."""
    exit_code, said, told = ended(start("tools", "list", "--nonsense"))
    assert (exit_code, said) == (2, b"")
    assert b"nonsense" in told


@pytest.mark.parametrize("words", [["tools", "validate", "slow"], ["call", "slow", "@/dev/zero"]])
def test_endless_input_is_too_long(start: Start, words: list[str]) -> None:
    """What never ends is read as far as any parser would, and refused by it."""
    limited = 'ulimit -v 2000000; "$@" </dev/zero'
    exit_code, said, _ = ended(start(*words, "--json", shell=limited))
    assert exit_code == 1
    assert "too_large" in said.decode()


def test_an_endless_definition_is_too_long(start: Start) -> None:
    """A file of definitions is read as far as its parser would, too."""
    limited = 'ulimit -v 2000000; "$@"'
    exit_code, said, _ = ended(start("tools", "check", "/dev/zero", "--json", shell=limited))
    (report,) = json.loads(said)["definitions"]
    assert (exit_code, report["errors"][0]["code"]) == (1, "too_large")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_encoding_of_the_terminal_will_do(start: Start, encoding: str) -> None:
    """What cannot be shown is written out; a document says the same in all of them."""
    environment = {"PYTHONIOENCODING": f"{encoding}:strict"}
    words = ("tools", "validate", "slow", '{"seconds": 0}')
    exit_code, said, _ = ended(start(*words, **environment))
    assert (exit_code, said.decode(encoding).split()[-1]) == (0, "valid")
    _, said, _ = ended(start("call", "slow", '{"seconds": 0}', "--json", **environment))
    assert json.loads(said)["output"] == "é"


@pytest.mark.parametrize(
    ("shell", "code"),
    [
        ('"$@" >&-', 0),
        ('"$@" 2>&-', 0),
        ('"$@" <&-', 0),
        ('"$@" <&- >&- 2>&-', 0),
        ('"$@" >/dev/full', 1),
    ],
)
@pytest.mark.parametrize("as_json", [["--json"], []])
def test_streams_that_are_not_there(
    start: Start, shell: str, code: int, as_json: list[str]
) -> None:
    """Closed, full or left by their reader: the command does its work and says what it can."""
    exit_code, _, told = ended(start("tools", "list", *as_json, shell=shell))
    assert exit_code == code
    if code == 1:
        assert b"could not be written" in told


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_gone_is_no_failure_of_ours(start: Start, unbuffered: str) -> None:
    """Whoever has read enough ends the command with the code for that, and no word."""
    process = start("tools", "list", shell='exec "$@"', PYTHONUNBUFFERED=unbuffered)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    exit_code, _, told = ended(process)
    assert (exit_code, told) == (141, b"")


def test_an_interrupt_is_an_answer(start: Start, tmp_path: Path) -> None:
    """Ctrl-C while a tool runs: exit 130, and a program is told in its one document."""
    process = start("call", "slow", '{"seconds": 60}', "--json", shell='exec "$@"')
    while not (tmp_path / "running").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    exit_code, said, _ = ended(process)
    assert exit_code == 130
    assert json.loads(said)["error"]["code"] == "CANCELLED"


def test_of_several_who_add_one_version_one_does(start: Start, tmp_path: Path) -> None:
    """The same name and version with other contents, added at once: one is added, the others are
    told of the conflict, and what stands is what the one was told."""
    for number in range(6):
        tool = TOOL | {"name": "same", "description": f"Number {number}"}
        text = json.dumps(tool | {"parameters": SECONDS})
        (tmp_path / f"{number}.json").write_text(text, encoding="utf-8")
    processes = [start("tools", "add", f"{number}.json", "--json") for number in range(6)]
    answers = [ended(process) for process in processes]
    assert sorted(code for code, _, _ in answers) == [0, 1, 1, 1, 1, 1]
    said = [json.loads(words) for _, words, _ in answers]
    assert [one["error"]["code"] for one in said if "error" in one] == ["ACODE_TSR_007"] * 5
    (winner,) = [one["added"][0] for one in said if "added" in one]
    _, shown, _ = ended(start("tools", "show", "same", "--json"))
    assert json.loads(shown)["id"] == f"local/{winner}"


def test_what_is_removed_leaves_nothing_behind(start: Start, tmp_path: Path) -> None:
    """A pin and a switch go with the last version of a tool: the doctor has nothing to complain
    of, and whatever is added under that name later begins anew."""
    definition = TOOL | {"name": "gone", "parameters": SECONDS}
    (tmp_path / "gone.json").write_text(json.dumps(definition), encoding="utf-8")
    for words in (
        ("add", "gone.json"),
        ("pin", "gone", "=1.0.0"),
        ("disable", "gone"),
        ("remove", "gone"),
        ("add", "gone.json"),
    ):
        assert ended(start("tools", *words))[0] == 0
    _, shown, told = ended(start("tools", "show", "gone", "--json"))
    found = json.loads(shown)
    assert (found["enabled"], found["pinned"], told) == (True, None, b"")
