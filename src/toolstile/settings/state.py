"""`.agent/state.yml`: what commands change. The user's own file is never written to.

Every change reads, changes and replaces the file under one lock, which lies in the state directory
where no tool can hold it. Readers take no lock: they see the old file or the new one, both whole.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from toolstile.errors import SettingsError
from toolstile.model.canonical import canonical
from toolstile.model.json import freeze, thaw
from toolstile.settings.files import parse_yaml, read_bytes, replace, write_yaml
from toolstile.settings.places import (
    AGENT_DIRECTORY,
    exists,
    make_private,
    project_of,
    refuse,
    state_directory,
)
from toolstile.settings.reading import (
    Reading,
    SettingsFaults,
    custom,
    pins,
    section,
    tool_names,
)
from toolstile.settings.values import Tools

HEAD = "# Written by commands such as `toolstile tools disable`; config.yml is the file to edit.\n"
LOCK = "state.lock"
PATIENCE = 30.0  # seconds; a change takes milliseconds, an hour on a dead disk helps nobody


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What commands changed. `tools` are added definitions as written, not yet checked."""

    enabled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    pins: Mapping[str, str] = msgspec.field(default_factory=dict)
    tools: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "pins", freeze(self.pins))
        msgspec.structs.force_setattr(self, "tools", tuple(freeze(list(self.tools))))

    def applied_to(self, tools: Tools) -> Tools:
        """The tools as the configuration has them, with these changes; the later word holds."""
        disabled = [name for name in tools.disabled if name not in self.enabled]
        return Tools(
            custom=tools.custom + self.tools,
            disabled=tuple(dict.fromkeys([*disabled, *self.disabled])),
            providers=tools.providers,
            extensions=tools.extensions,
            pins={**tools.pins, **self.pins},
        )


_STATE = section(
    State, {"enabled": tool_names, "disabled": tool_names, "pins": pins, "tools": custom}
)


def read_state(path: Path) -> State:
    """What commands changed so far; nothing, where there is no such file.

    Raises:
        SettingsError: the file cannot be read, or says what no command writes.
    """
    shown = f"{AGENT_DIRECTORY}/{path.name}"
    return _parsed(read_bytes(path, shown), shown) if exists(path) else State()


def write_state(path: Path, state: State, directory: Path | None = None) -> None:
    """Replace what commands changed, the whole of it; a part of it is for `change_state`.
    `directory` is the project's state directory, `Settings.state`.

    Raises:
        SettingsError: it cannot be written, or could not be read again.
    """
    with _locked(directory or state_directory(project_of(path), os.environ)):
        _write(path, state)


def change_state(
    path: Path, change: Callable[[State], State], directory: Path | None = None
) -> State:
    """Change what commands changed, from what it is now; whoever else does waits.

    Raises:
        SettingsError: the file cannot be read or written; nothing is changed.
    """
    with _locked(directory or state_directory(project_of(path), os.environ)):
        state = change(read_state(path))
        _write(path, state)
    return state


def _parsed(data: bytes, shown: str) -> State:
    document, origins = parse_yaml(data, shown)
    faults = SettingsFaults(origins)
    state: State = _STATE(Reading(faults=faults, project="/"), "", document)
    for name in sorted(set(state.enabled) & set(state.disabled)):
        reason = f"'{name[:64]}' is both enabled and disabled"
        faults.note("/enabled", "disagrees", reason, "drop one of them")
    if faults.issues:
        raise SettingsError(shown, sorted(faults.issues, key=lambda issue: issue.path))
    return state


def _write(path: Path, state: State) -> None:
    shown = f"{AGENT_DIRECTORY}/{path.name}"
    document = thaw(msgspec.structs.asdict(state))
    try:
        canonical(document)
    except ValueError:
        refuse(shown, "a definition holds what JSON cannot say", "use JSON values only")
    data = HEAD.encode() + write_yaml(document)
    if _parsed(data, shown) != state:
        refuse(shown, "it would not be read as it was meant", "please report this")
    try:
        path.parent.mkdir(exist_ok=True)
        replace(path, data)
    except OSError as error:
        refuse(shown, f"it cannot be written: {error.strerror}", "see that .agent is writable")


@contextmanager
def _locked(directory: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the one lock of a project's state file; a process that ends gives it back."""
    lock = make_private(directory) / LOCK
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(lock, flags, 0o600)
    try:
        _wait(descriptor, time.monotonic() + patience)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                refuse(LOCK, "another command has held it too long", "see what hangs, and end it")
            time.sleep(0.005)
        else:
            return
