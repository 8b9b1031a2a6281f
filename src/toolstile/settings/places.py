"""Where things lie: the configuration, the program's own state, and what no tool may be granted.

State (database, keys, staging) is kept out of every project, in $XDG_STATE_HOME/toolstile, so that
no grant of a project reaches it. `.agent/` lies in the project and is masked from every tool.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

import msgspec

from toolstile.errors import SettingsError
from toolstile.model import paths
from toolstile.model.issue import Issue

SETTINGS_INVALID = "SETTINGS_INVALID"

AGENT_DIRECTORY = ".agent"
CONFIG_FILE = "config.yml"
STATE_FILE = "state.yml"

_UNPLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def refuse(where: str, reason: str, hint: str, code: str = "file") -> NoReturn:
    """Refuse a whole file or place. Raises SettingsError, always."""
    message = f"{where}: {reason}"
    issue = Issue(path="", code=code, error_code=SETTINGS_INVALID, message=message, hint=hint)
    raise SettingsError(where, (issue,))


def real(path: str | Path) -> str:
    """The path without links, `..` and double slashes; POSIX lets two leading ones stand."""
    return "/" + os.path.realpath(path).lstrip("/")


# --- finding ----------------------------------------------------------------------------------


def find_configs(start: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    """Every .agent/config.yml in `start` and its parents, nearest first, home the last looked at.

    Raises:
        SettingsError: one cannot be looked at.
    """
    here, last = Path(real(start)), Path(real(home(environ)))
    for directory in (here, *here.parents):
        config = directory / AGENT_DIRECTORY / CONFIG_FILE
        if exists(config):
            yield config
        if directory == last:
            return


def exists(path: Path) -> bool:
    """Unlike Path.exists, true of a dangling link, and no answer where there is none to be had:
    what cannot be looked at must not be taken for absent. Raises SettingsError."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        refuse(str(path), f"it cannot be looked at: {error.strerror}", "make it readable")
    return True


def is_ours(config: Path, start: Path) -> bool:
    """Whether a file that was found may be obeyed: it belongs to this user, to root, or to the
    owner of the working directory. Anybody may put a .agent into /tmp, and whoever works below it
    would obey them; git calls this "dubious ownership" (CVE-2022-24765)."""
    trusted = {0, os.geteuid(), *_owners(start)}
    return _owners(config.parent) | _owners(config) <= trusted


def _owners(path: Path) -> set[int]:
    """Whose a path is, and whose that to which it leads, if it is a link."""
    try:
        return {path.lstat().st_uid, path.stat().st_uid}
    except OSError:  # gone, or leading nowhere: reading it will say so
        return set()


def home(environ: Mapping[str, str]) -> str:
    """The home directory; the root, for users who have none."""
    written = environ.get("HOME", "")
    if written.startswith("/"):
        return written
    try:
        return str(Path("~").expanduser())
    except RuntimeError:
        return "/"


def project_of(file: Path) -> Path:
    """The directory that a configuration file is about: the one that holds .agent."""
    directory = file.absolute().parent
    return Path(real(directory.parent if directory.name == AGENT_DIRECTORY else directory))


# --- the program's own state --------------------------------------------------------------------


def state_root(environ: Mapping[str, str]) -> Path:
    """Where the state of all projects lies. A relative path is ignored, as the XDG Base Directory
    Specification asks."""
    written = environ.get("XDG_STATE_HOME", "")
    parent = written if written.startswith("/") else f"{home(environ)}/.local/state"
    return Path(real(parent)) / "toolstile"


def state_directory(project: Path, environ: Mapping[str, str]) -> Path:
    """Where the state of one project lies: its name, and a digest since names are not unique."""
    path = real(project)
    name = _UNPLAIN.sub("_", Path(path).name)[:64] or "root"
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
    return state_root(environ) / f"{name}-{digest}"


def make_private(directory: Path) -> Path:
    """Make a directory that is this user's alone, or see that it is; gives it back.

    Raises:
        SettingsError: it is somebody else's, no directory, or others could have written to it.
    """
    try:
        for each in (directory.parent, directory):
            each.mkdir(parents=True, exist_ok=True, mode=0o700)
        _check_above(directory.parent)
        found = directory.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            reason = "it is not a directory of this user"
            refuse(str(directory), reason, "move it away, or set XDG_STATE_HOME")
        if found.st_mode & _WRITABLE_BY_OTHERS:
            reason = "others can write to it, so nothing in it can be trusted"
            refuse(str(directory), reason, "look at what is in it, then chmod 700")
        if found.st_mode & _OPEN_TO_OTHERS:  # readable only: what is in it is still ours
            directory.chmod(0o700)
    except OSError as error:
        reason = f"it cannot be made: {error.strerror}"
        refuse(str(directory), reason, "make it writable, or set XDG_STATE_HOME")
    return directory


def _check_above(directory: Path) -> None:
    """Whoever may rename what lies here could put another in the place of ours; in a sticky
    directory, such as /tmp, only its owner may."""
    found = directory.stat()
    open_to_others = found.st_mode & _WRITABLE_BY_OTHERS and not found.st_mode & stat.S_ISVTX
    if open_to_others or found.st_uid not in (0, os.geteuid()):
        reason = "others could put a directory of theirs in the place of one that lies here"
        where = "XDG_STATE_HOME, or the path of the store"
        refuse(str(directory), reason, f"chmod 700 it if it is yours, or change the place: {where}")


# What lies beside a store: where runs put what they would write, and who is alive.
STAGING, LEASES = "staging", "leases"


def place_beside(file: Path, kind: str) -> Path:
    """A directory that belongs to a store, by the one name that its file has. It is named after
    the file: whatever else lies there is somebody else's."""
    whole = Path(real(file))
    return whole.with_name(f"{whole.name}.{kind}")


# --- what no tool may be granted ----------------------------------------------------------------


class Guarded(msgspec.Struct, frozen=True):
    """A place that no grant may reach. A masked one is hidden from tools by the sandbox, so what
    holds it may be granted; it and what lies in it may not. `hint` says what to grant instead."""

    what: str
    path: str
    masked: bool = False
    hint: str = "grant a directory that has nothing to do with it"

    def reached_by(self, path: str) -> str | None:
        """Why a grant of `path` is refused; None if it does not reach this place."""
        if lies_in(path, self.path):
            return f"it lies in {self.what}, {self.path}"
        if not self.masked and lies_in(self.path, path):
            return f"it contains {self.what}, {self.path}"
        return None


def lies_in(path: str, directory: str) -> bool:
    """Whether a real path is `directory` or lies in it, by name or, as a bind mount or a volume
    that ignores letter case would have it, by what the file system says is the same."""
    if paths.beneath(path, directory):
        return True
    sought = _identity(directory)
    return sought is not None and sought in map(_identity, _upwards(path))


def _upwards(path: str) -> Iterator[str]:
    yield path
    yield from paths.ancestors(path)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = Path(path).stat()
    except OSError:  # what does not exist, or cannot be reached, is known by its name alone
        return None
    return found.st_dev, found.st_ino
