"""What commands change: one file, replaced whole, in which no change of two is ever lost."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolstile.errors import SettingsError
from toolstile.settings import State, Tools, change_state, read_state, write_state
from toolstile.settings.state import LOCK, _locked

FULL = State(
    enabled=("read_file",),
    disabled=("write_file",),
    pins={"http_fetch": "^1.2"},
    tools=({"name": "word_count", "description": "Count words"},),
)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state file of a project; the project's state directory is out of the way, too."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "project").mkdir()
    return tmp_path / "project" / ".agent" / "state.yml"


def test_what_is_written_is_read(path: Path) -> None:
    """Every field comes back as it was; without a file nothing was changed."""
    assert read_state(path) == State()
    write_state(path, FULL)
    assert read_state(path) == FULL
    write_state(path, State())
    assert read_state(path) == State()


def test_a_change_begins_with_what_is_there(path: Path) -> None:
    """A command changes its part and leaves the others as they are."""
    write_state(path, FULL)
    changed = change_state(path, lambda s: State(disabled=(*s.disabled, "a"), pins=s.pins))
    assert changed == read_state(path) == State(disabled=("write_file", "a"), pins=FULL.pins)


def test_the_file_is_for_its_user_alone(path: Path) -> None:
    """Nobody else can read or write it, nor hold the lock; the user's own file is not touched."""
    path.parent.mkdir()
    config = path.with_name("config.yml")
    config.write_text("tenant: mine  # with a comment", encoding="utf-8")
    before = config.stat()
    write_state(path, FULL)
    (lock,) = Path(os.environ["XDG_STATE_HOME"]).rglob(LOCK)
    for private in (path, lock):
        assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert stat.S_IMODE(lock.parent.stat().st_mode) == 0o700
    assert (config.stat().st_mtime_ns, config.read_bytes()) == (
        before.st_mtime_ns,
        b"tenant: mine  # with a comment",
    )
    assert sorted(each.name for each in path.parent.iterdir()) == ["config.yml", "state.yml"]


def test_a_link_is_replaced_not_followed(path: Path, tmp_path: Path) -> None:
    """Whoever puts a link in the place of the file does not choose what is overwritten."""
    path.parent.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("", encoding="utf-8")
    path.symlink_to(victim)
    write_state(path, FULL)
    assert not path.is_symlink()
    assert victim.read_bytes() == b""


# What stands in the file, and where the fault is.
REFUSED = {
    "enabeld: [a]": "/enabeld",
    "tenant: local": "/tenant",
    "disabled: a": "/disabled",
    "disabled: [A]": "/disabled/0",
    "pins: [a]": "/pins",
    "pins: {a: later}": "/pins/a",
    "tools: {name: a}": "/tools",
    "{enabled: [a], disabled: [a]}": "/enabled",
    "- a": "",
    "enabled: [": "",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_no_command_writes_is_refused(path: Path, text: str) -> None:
    """A file that somebody edited wrongly is an error with its line, and is not written over."""
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        change_state(path, lambda state: state)
    assert [issue.path for issue in caught.value.issues] == [REFUSED[text]]
    assert ".agent/state.yml" in caught.value.issues[0].message
    assert path.read_text(encoding="utf-8") == text
    write_state(path, FULL)  # the whole of it may be replaced
    assert read_state(path) == FULL


@pytest.mark.parametrize(
    "state",
    [
        State(enabled=("a",), disabled=("a",)),
        State(disabled=("A",)),
        State(pins={"a": "later"}),
        State(tools=({"name": float("nan")},)),
        State(tools=({"name": 2**70},)),
        State(tools=({"name": "\ud800"},)),
        State(tools=({"name": "x" * (1 << 20)},)),
        State(tools=({"name": object()},)),
        State(tools=({1: "a"},)),  # type: ignore[dict-item]
    ],
)
def test_what_could_not_be_read_again_is_not_written(path: Path, state: State) -> None:
    """A change that would make the file unreadable is refused, and the old one stands."""
    write_state(path, FULL)
    with pytest.raises(SettingsError):
        write_state(path, state)
    assert read_state(path) == FULL
    assert [each.name for each in path.parent.iterdir()] == ["state.yml"]


def test_a_change_that_raises_changes_nothing(path: Path) -> None:
    """The lock is free again, and the file as it was."""
    write_state(path, FULL)
    with pytest.raises(ZeroDivisionError):
        change_state(path, lambda _: State(disabled=(str(1 // 0),)))
    assert change_state(path, lambda state: state) == FULL


def test_a_place_that_cannot_be_written_is_said(path: Path) -> None:
    """Where .agent is a file, the command fails with words and nothing is left behind."""
    path.parent.write_text("", encoding="utf-8")
    with pytest.raises(SettingsError):
        write_state(path, FULL)
    assert [each.name for each in path.parent.parent.iterdir()] == [".agent"]


def test_a_folder_in_the_place_of_the_file_is_said(path: Path) -> None:
    """What cannot be replaced is left, and no half-written file lies beside it."""
    (path / "x").mkdir(parents=True)
    with pytest.raises(SettingsError, match="cannot be written"):
        write_state(path, FULL)
    assert [each.name for each in path.parent.iterdir()] == ["state.yml"]


def test_whoever_waits_too_long_is_told(tmp_path: Path) -> None:
    """A command that hangs with the lock does not hang the others for ever."""
    with (
        _locked(tmp_path / "private"),
        pytest.raises(SettingsError, match="held it too long"),
        _locked(tmp_path / "private", patience=0.02),
    ):
        pass
    with _locked(tmp_path / "private", patience=0.02):
        pass


def disable(path: Path, number: int) -> None:
    """What a command does."""
    change_state(path, lambda s: State(disabled=(*s.disabled, f"tool_{number}"), pins=s.pins))


COMMANDS = """
import sys
from pathlib import Path
from toolstile.settings import State, change_state
for n in range(int(sys.argv[2]), int(sys.argv[3])):
    change_state(Path(sys.argv[1]), lambda s: State(disabled=(*s.disabled, f"tool_{n}")))
"""


def test_a_hundred_writers_lose_nothing(path: Path) -> None:
    """Threads and processes change the file at once; every change is there, and readers see only
    whole files."""
    processes = [
        subprocess.Popen([sys.executable, "-c", COMMANDS, str(path), str(n), str(n + 5)])
        for n in range(0, 20, 5)
    ]
    with ThreadPoolExecutor(80) as threads:
        writers = [threads.submit(disable, path, n) for n in range(20, 100)]
        seen = [read_state(path) for _ in range(50)]
        for writer in writers:
            writer.result()
    assert [process.wait() for process in processes] == [0] * 4
    assert sorted(read_state(path).disabled) == sorted(f"tool_{n}" for n in range(100))
    lengths = [len(state.disabled) for state in seen]
    assert lengths == sorted(lengths)


def test_a_writer_that_is_killed_leaves_a_whole_file(path: Path) -> None:
    """Whenever a process dies, the file is the old one or the new one, and the lock is free."""
    write_state(path, FULL)
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from toolstile.settings import State, write_state\n"
        "print('ready', flush=True)\n"
        "for number in range(10**6):\n"
        "    write_state(Path(sys.argv[1]), State(disabled=('a',) * (number % 2)))\n"
    )
    for lines in range(3):
        command = [sys.executable, "-c", program, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            for _ in range(40 * lines):  # a while, measured in reads
                read_state(path)
            process.kill()
        assert read_state(path) in (FULL, State(), State(disabled=("a",)))
        assert change_state(path, lambda _: FULL) == FULL


def test_the_later_word_holds() -> None:
    """What commands changed overrides the configuration; what they did not stays."""
    tools = Tools(
        custom=({"name": "a"},),
        disabled=("read_file", "write_file", "http_fetch"),
        providers=("acme",),
        pins={"http_fetch": "^1.0", "a": "^1"},
    )
    assert FULL.applied_to(tools) == Tools(
        custom=({"name": "a"}, *FULL.tools),
        disabled=("write_file", "http_fetch"),
        providers=("acme",),
        pins={"http_fetch": "^1.2", "a": "^1"},
    )
    assert State().applied_to(tools) == tools


name = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
names = st.lists(name, max_size=4, unique=True).map(tuple)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
states = st.builds(
    State,
    disabled=names,
    pins=st.dictionaries(name, st.sampled_from(["^1", "1.2.3", ">=1,<2", "latest"]), max_size=3),
    tools=st.lists(st.dictionaries(st.text(max_size=6), json_values), max_size=2).map(tuple),
)


@given(states)
def test_every_state_survives_the_file(
    tmp_path_factory: pytest.TempPathFactory, state: Any
) -> None:
    """Whatever texts and numbers a definition holds, YAML gives back the same ones."""
    folder = tmp_path_factory.mktemp("project")
    file = folder / ".agent" / "state.yml"
    write_state(file, state, folder / "state")
    assert read_state(file) == state
