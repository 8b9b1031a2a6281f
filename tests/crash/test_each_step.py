"""A call may die at any step: nothing acknowledged is lost, nothing happens twice, nothing unknown
is called known."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DRIVER = Path(__file__).with_name("crash_driver.py")

# Every function that carries a step of the line, and the two that make effects durable.
STEPS = (
    "parse_request",
    "_replay",
    "_find",
    "_check_input",
    "_name_resources",
    "_decide",
    "_claim",
    "_run",
    "_check_output",
    "_normalise",
    "_hold",
    "_commit",
    "_record",
    "tell",
)
# The steps that wait: for the store, or for the child.
WAITING = ("_replay", "_claim", "_run", "_record")
POINTS = [
    *((step, when) for step in STEPS for when in ("call", "return")),
    *((step, "wait") for step in WAITING),
]


def drive(folder: Path, mode: str, point: str = "", when: str = "") -> tuple[int, dict[str, Any]]:
    """Run the driver; its exit code, and what it printed by kind."""
    command = [sys.executable, str(DRIVER), str(folder), mode, point, when]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)
    said: dict[str, Any] = {}
    for line in ended.stdout.splitlines():
        said.update(json.loads(line))
    return ended.returncode, said


def prepared(folder: Path) -> Path:
    """An empty project folder."""
    (folder / "work").mkdir()
    return folder


def marks(folder: Path) -> int:
    """How often the tool's effect happened."""
    witness = folder / "witness"
    return witness.read_bytes().count(b"x") if witness.exists() else 0


@pytest.mark.parametrize(("point", "when"), POINTS)
def test_a_call_that_dies_has_its_effect_at_most_once(
    tmp_path: Path, point: str, when: str
) -> None:
    """Killed at this point, then sent again: one effect at most, and an honest answer."""
    folder = prepared(tmp_path)
    code, said = drive(folder, "stamp", point, when)
    assert code == -9, "the kill did not happen, so this would prove nothing"
    assert "answered" not in said
    before = marks(folder)
    code, said = drive(folder, "stamp")
    assert code == 0
    answer = said["answered"]
    assert marks(folder) <= 1
    if answer["status"] == "success":
        assert marks(folder) == 1
        assert answer["output"] == "stamped"
    else:
        # It was claimed and may have run: never run again, and said to be unknown.
        assert answer["error_code"] == "OUTCOME_UNKNOWN"
        assert marks(folder) == before
    _, again = drive(folder, "stamp")
    assert again["answered"]["replayed"]
    assert again["answered"]["output"] == answer["output"]


def test_without_a_crash_the_driver_succeeds_once(tmp_path: Path) -> None:
    """The control: no kill, one effect, and the same answer when sent again."""
    folder = prepared(tmp_path)
    code, said = drive(folder, "stamp")
    assert (code, said["answered"]["status"], marks(folder)) == (0, "success", 1)
    _, again = drive(folder, "stamp")
    assert again["answered"]["replayed"]
    assert marks(folder) == 1


@pytest.mark.parametrize(
    ("point", "when"),
    [
        ("parse_request", "return"),
        ("_decide", "return"),
        ("_claim", "call"),
        ("_claim", "wait"),
        ("_claim", "return"),
        ("commit", "call"),
        ("commit", "wait"),
        ("put", "call"),
        ("exchange", "return"),
        ("put", "return"),
        ("commit", "return"),
        ("_record", "call"),
        ("_finish", "return"),
    ],
)
def test_an_approved_change_is_whole_or_absent(tmp_path: Path, point: str, when: str) -> None:
    """Killed while an approval is carried out: before the commit point nothing has changed and
    the call still waits; after it, recovery finishes the change."""
    folder = prepared(tmp_path)
    target = folder / "work" / "note.txt"
    target.write_text("old\n", encoding="utf-8")
    _, said = drive(folder, "note")
    pending = said["answered"]
    assert pending["error_code"] == "REQUIRES_CONFIRMATION"
    assert target.read_text(encoding="utf-8") == "old\n"
    waiting = pending["metadata"]["execution_id"]
    (folder / "waiting").write_text(waiting, encoding="utf-8")
    code, _ = drive(folder, "approve", point, when)
    assert code == -9, "the kill did not happen, so this would prove nothing"
    assert target.read_text(encoding="utf-8") in ("old\n", "new\n")
    _, said = drive(folder, "note")  # recovers, and sends the first call again
    answer = said["answered"]
    if answer["status"] == "success":
        assert target.read_text(encoding="utf-8") == "new\n"
        assert answer["effects_state"] == "committed"
    else:
        assert answer["error_code"] == "REQUIRES_CONFIRMATION"
        assert target.read_text(encoding="utf-8") == "old\n"
        code, said = drive(folder, "approve")
        assert said["answered"]["status"] == "success"
        assert target.read_text(encoding="utf-8") == "new\n"
    assert not list((folder / "work").glob(".*toolstile"))
