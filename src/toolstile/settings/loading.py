"""Loading settings: a file or mapping, then the environment, then arguments; each overrides what
came before it, and whatever is wrong with any of them is told at once."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from toolstile.errors import Finding, SettingsError
from toolstile.model.capability import CapabilityKind
from toolstile.model.issue import Issue, pointer
from toolstile.schema import fields
from toolstile.settings.places import (
    AGENT_DIRECTORY,
    CONFIG_FILE,
    find_configs,
    is_ours,
    lies_in,
    refuse,
    state_directory,
)
from toolstile.settings.reading import FIELDS, MEMBERS, READERS, TOOLS, Reading, SettingsFaults
from toolstile.settings.rights import DATABASE, RIGHTS, guarded_places
from toolstile.settings.values import DEFAULT, Settings, origin_of
from toolstile.settings.written import (
    ARGUMENT,
    ENVIRONMENT,
    EXPLICITLY,
    Written,
    add_arguments,
    add_environment,
    written,
)

log = logging.getLogger("toolstile.settings")

MAX_DEPTH = 64  # levels of a mapping given by the program; a file's are bounded where it is read

NOTHING: Mapping[str, Any] = {}


def load_settings(
    source: Path | Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    start: Path | None = None,
    overrides: Mapping[str, Any] = NOTHING,
) -> Settings:
    """The settings of a project. Without a source, the nearest .agent/config.yml from `start` (the
    working directory) upwards; without one, defaults.

    Raises:
        SettingsError: with every fault, each with its file and line, or variable.
    """
    start = start or _working_directory()
    at = written(source, environ, start)
    faults = SettingsFaults(at.origins)
    add_environment(at, environ, faults)
    add_arguments(at, overrides)
    settings = _read(at, environ, faults)
    if faults.issues:
        raise SettingsError(
            _blamed(at, faults.issues), sorted(faults.issues, key=lambda issue: issue.path)
        )
    if source is None:
        _check_planted(settings, environ, start)
    _log(settings)
    return settings


def _blamed(at: Written, issues: Iterable[Issue]) -> str:
    """What the message names as being wrong: a fault of the arguments alone is not the file's."""
    if at.origins.get("") == ARGUMENT:  # a mapping has its own name
        return at.where
    origins = {origin_of(at.origins, issue.path).partition(" ")[0] for issue in issues}
    named = {ARGUMENT: "the arguments", ENVIRONMENT: "the environment"}
    return named.get(origins.pop(), at.where) if len(origins) == 1 else at.where


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except OSError:
        refuse("the working directory", "it is gone", "change to one that is there")


def _check_planted(settings: Settings, environ: Mapping[str, str], start: Path) -> None:
    """A tool of a project above, which may write here, could have written a file that gives its
    like all rights to whoever starts here next."""
    agent = str(settings.project / AGENT_DIRECTORY)
    for outer in islice(find_configs(start, environ), 1, None):
        if is_ours(outer, start):  # else it governs nobody, for it is refused
            given = load_settings(outer, environ=environ)
            if any(lies_in(agent, directory) for directory in _writable(given)):
                reason = f"it lies where {outer} lets tools write, so a tool may have written it"
                refuse(f"{agent}/{CONFIG_FILE}", reason, EXPLICITLY)


def _writable(settings: Settings) -> Iterator[str]:
    agents = (grant for agent in settings.agents.values() for grant in agent.grants or ())
    for grant in (*settings.grants, *agents):
        if grant.kind is CapabilityKind.FS_WRITE:
            yield from grant.scope


def _read(at: Written, environ: Mapping[str, str], faults: SettingsFaults) -> Settings:
    document = plain(faults, "", at.document)
    fields.unknown_keys(faults, "", document, (*READERS, *RIGHTS))
    state = state_directory(at.project, environ)
    reading = Reading(faults=faults, project=str(at.project))
    found = _all(READERS, reading, document)
    settings = Settings(project=at.project, state=state, **found)
    reading = msgspec.structs.replace(
        reading,
        guarded=guarded_places(at.project, state.parent, _files(settings, at.file)),
        provided=bool(settings.tools.providers),
    )
    return msgspec.structs.replace(
        settings,
        **_all(RIGHTS, reading, document),
        origins=at.origins | dict.fromkeys(_defaults(document), DEFAULT),
        warnings=tuple(faults.warnings),
    )


def _all(readers: Mapping[str, Any], reading: Reading, document: dict[str, Any]) -> dict[str, Any]:
    return {
        FIELDS.get(key, key): read(reading, pointer(key), document[key])
        for key, read in readers.items()
        if key in document
    }


def plain(faults: SettingsFaults, path: str, value: Any, depth: int = 0) -> Any:
    """What a program hands over, as if it had been read from a file."""
    if depth > MAX_DEPTH:
        refuse("the given mapping", f"it has more than {MAX_DEPTH} levels", "write it flatter")
    if isinstance(value, Mapping):
        return {
            str(key): plain(faults, path + pointer(str(key)), member, depth + 1)
            for key, member in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [plain(faults, f"{path}/{i}", item, depth + 1) for i, item in enumerate(value)]
    if isinstance(value, Path):
        return str(value)
    if value is None or isinstance(value, (str, int, float)):
        return value
    reason = f"a {type(value).__name__} cannot stand in settings"
    faults.note(path, "type", reason, "use text, numbers, true, false, lists and mappings")
    return None


def _files(settings: Settings, file: Path | None) -> dict[str, Path]:
    """Our own files, by what they are called in messages."""
    found = {} if file is None else {"this configuration file": file}
    if isinstance(settings.policy, Path):
        found["the policy file"] = settings.policy
    if database := store_file(settings):
        found[DATABASE] = database
    if (settings.licence.token or "").startswith("file:"):
        found["the licence"] = Path(str(settings.licence.token).removeprefix("file:"))
    return found


def store_file(settings: Settings) -> Path | None:
    """The database that the settings name, if they name a file."""
    path = settings.store.removeprefix("sqlite:///")
    return Path(path) if path != settings.store else None


def _defaults(document: Mapping[str, Any]) -> list[str]:
    """The pointers of what nobody has set."""
    sections = {**MEMBERS, "tools": TOOLS}
    return [pointer(key) for key in (*READERS, *RIGHTS) if key not in document] + [
        pointer(key, member)
        for key, members in sections.items()
        for member in members
        if isinstance(document.get(key), dict) and member not in document[key]
    ]


def _log(settings: Settings) -> None:
    for warning in settings.warnings:
        log.warning("[TLS-SET] %s (%s)", warning.message, warning.hint)
    if settings.unenforced_accepted:
        kinds = ",".join(sorted(settings.unenforced_accepted))
        log.warning("[TLS-SET] Rights are given although nobody enforces them. kinds=%s", kinds)


class SettingsFile:
    """A configuration file that is read again and again; one that breaks changes nothing.

    Raises:
        SettingsError: it is wrong from the beginning, so there is nothing to keep.
    """

    def __init__(
        self,
        path: Path,
        *,
        environ: Mapping[str, str] = os.environ,
        overrides: Mapping[str, Any] = NOTHING,
    ) -> None:
        self._path = path
        self._environ = environ
        self._overrides = overrides
        self.settings = self._load()
        self.issues: tuple[Finding, ...] = ()

    def reload(self) -> Settings:
        """The settings of the file as it is now; the last good ones where it is wrong, with the
        reasons in `issues`."""
        try:
            self.settings, self.issues = self._load(), ()
        except SettingsError as error:
            self.issues = error.issues
            said = "[TLS-SET] The last good settings stay in force. %s"
            log.error(said, error)  # noqa: TRY400 - a traceback adds nothing to the issues
        return self.settings

    def _load(self) -> Settings:
        return load_settings(self._path, environ=self._environ, overrides=self._overrides)
