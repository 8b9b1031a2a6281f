"""From a mapping as written to the fields of settings, all faults at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from toolstile.model import hosts, paths
from toolstile.model.call import check_identifier
from toolstile.model.capability import CapabilityKind
from toolstile.model.issue import Issue, pointer
from toolstile.model.json import describe
from toolstile.model.semver import SemverError, parse_range
from toolstile.model.vocabulary import IsolationLevel
from toolstile.schema import fields
from toolstile.schema.bodies import strings_allowing_repeats
from toolstile.schema.fields import Faults
from toolstile.settings.places import SETTINGS_INVALID, Guarded
from toolstile.settings.values import (
    DEFAULT,
    UNENFORCED,
    Features,
    Licence,
    Limits,
    McpServer,
    Retention,
    Secrets,
    Tools,
    origin_of,
)

MAX_NAMES = 10_000  # in one list of names
MAX_TEXT = 4_096
MAX_KEY = 16 * 1024  # characters of a key or token
MAX_POLICY = 1 << 20  # characters of Cedar text

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
# `on` is a boolean to YAML 1.1 and a word to 1.2 and to the environment.
_SWITCH = {"on": True, "off": False, "true": True, "false": False}
_ISOLATION = {level.word: level for level in IsolationLevel}


class SettingsFaults(Faults):
    """Faults that say in which file and line, or from which variable, the value came."""

    def __init__(self, origins: Mapping[str, str]) -> None:
        super().__init__()
        self._origins = origins

    def note(self, path: str, code: str, reason: str, hint: str, *about: str) -> None:
        """A fault: the settings are refused."""
        origin = origin_of(self._origins, path)
        message = reason if origin == DEFAULT else f"{origin}: {reason}"
        self.issues.append(_issue(path, code, message, hint, *about))

    def warn(self, path: str, code: str, reason: str, hint: str) -> None:
        """Something that the operator should know, of no one place; the settings stand."""
        self.warnings.append(_issue(path, code, reason, hint))


def _issue(
    path: str,
    code: str,
    message: str,
    hint: str,
    expected: str | None = None,
    actual: str | None = None,
) -> Issue:
    return Issue(
        path=path,
        code=code,
        error_code=SETTINGS_INVALID,
        message=message,
        expected=expected,
        actual=actual,
        hint=hint,
    )


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader needs besides the value: where faults go, where relative paths begin, what no
    grant may reach, and whether providers may bring permissions of their own."""

    faults: SettingsFaults
    project: str
    guarded: tuple[Guarded, ...] = ()
    provided: bool = False

    def absolute(self, path: str, text: str) -> str:
        """A path as written, taken from the project directory."""
        try:
            return paths.join(self.project, text)
        except paths.PathError as error:
            self.faults.note(path, "path", error.message, error.hint)
            return self.project


Read: TypeAlias = Callable[[Reading, str, Any], Any]


# --- forms ------------------------------------------------------------------------------------


def mapping(at: Reading, path: str, value: Any) -> Mapping[str, Any]:
    """A mapping; {} where it is something else."""
    if isinstance(value, dict):
        return value
    hint = "write {name: value}, or leave the key out"
    at.faults.note(path, "type", f"it must be a mapping, not {describe(value)}", hint)
    return {}


def section(kind: type[Any], members: Mapping[str, Read]) -> Read:
    """Reads a mapping with these members, each optional, as one of our values."""

    def read(at: Reading, path: str, value: Any) -> Any:
        written = mapping(at, path, value)
        fields.unknown_keys(at.faults, path, written, members)
        return kind(
            **{
                FIELDS.get(name, name): member(at, path + pointer(name), written[name])
                for name, member in members.items()
                if name in written
            }
        )

    return read


def by_name(name_of: Callable[[Reading, str, str], object], member: Read) -> Read:
    """Reads a mapping with names of the operator's own."""

    def read(at: Reading, path: str, value: Any) -> dict[str, Any]:
        found = {}
        for name, written in mapping(at, path, value).items():
            name_of(at, path + pointer(name), name)
            found[name] = member(at, path + pointer(name), written)
        return found

    return read


def text(at: Reading, path: str, value: Any, longest: int = MAX_TEXT) -> str:
    """Text that is not empty."""
    found = fields.text(at.faults, path, value, longest)
    if isinstance(value, str) and not value.strip():
        at.faults.note(path, "minLength", "it is empty", "write a value, or leave the key out")
    return found


def count(lowest: int, highest: int) -> Read:
    """Reads a whole number within bounds."""

    def read(at: Reading, path: str, value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            reason = f"it must be a whole number, not {describe(value)}"
            at.faults.note(path, "type", reason, "write digits, without quotes")
        elif not lowest <= value <= highest:
            reason = f"it must lie between {lowest:,} and {highest:,}"
            at.faults.note(path, "range", reason, "choose a value in range")
        else:
            return value
        return lowest

    return read


def switch(at: Reading, path: str, value: Any) -> bool:
    """on or off, true or false."""
    if isinstance(value, bool):
        return value
    return fields.choice(at.faults, path, value, _SWITCH, default=True)


def identifier(at: Reading, path: str, value: Any) -> str:
    """The name of a tenant or agent: 1 to 64 visible characters."""
    if not isinstance(value, str):
        at.faults.note(path, "type", f"it must be text, not {describe(value)}", "put it in quotes")
        return "?"
    try:
        return check_identifier("it", value)
    except ValueError as error:
        at.faults.note(path, "name", str(error), "write a short visible name")
        return "?"


def name_like(pattern: re.Pattern[str], hint: str) -> Callable[[Reading, str, str], str]:
    """Reads a name of one form."""

    def read(at: Reading, path: str, value: str) -> str:
        if not pattern.fullmatch(value):
            at.faults.note(path, "name", "it is no name that could be meant here", hint)
        return value

    return read


def names(pattern: re.Pattern[str], hint: str) -> Read:
    """Reads a list of distinct names of one form."""
    each = name_like(pattern, hint)

    def read(at: Reading, path: str, value: Any) -> tuple[str, ...]:
        found = fields.strings(at.faults, path, value, MAX_NAMES, MAX_TEXT)
        return tuple(each(at, f"{path}/{index}", name) for index, name in enumerate(found))

    return read


# --- single settings --------------------------------------------------------------------------


def _store(at: Reading, path: str, value: Any) -> str:
    """Never quoted in a message: the URL of a database may hold a password."""
    written = text(at, path, value)
    kind, separator, rest = written.partition("://")
    if written in ("sqlite", "memory:"):
        return written
    if kind == "sqlite" and len(rest) > 1 and rest.startswith("/"):
        return f"sqlite:///{at.absolute(path, rest[1:])}"  # three slashes, then the path
    if not (kind == "postgresql" and separator and rest):
        hint = "one of: sqlite, sqlite:///PATH, postgresql://HOST/NAME, memory:"
        at.faults.note(path, "enum", "unknown kind of store", hint)
    return written


def _policy(at: Reading, path: str, value: Any) -> Path | str:
    """A file, or Cedar text, which has a semicolon behind every policy."""
    written = text(at, path, value, MAX_POLICY)
    if ";" in written or not written:
        return written
    return Path(at.absolute(path, written))


def _key(at: Reading, path: str, value: Any) -> str:
    """A key or token itself, or `file:PATH`."""
    written = text(at, path, value, MAX_KEY)
    kind, separator, rest = written.partition(":")
    return f"file:{at.absolute(path, rest)}" if separator and kind == "file" else written


def _licence(at: Reading, path: str, value: Any) -> Licence:
    found: Licence = section(Licence, MEMBERS["licence"])(at, path, value)
    if found.token is not None and found.issuer_key is None:
        reason = "a token says nothing without the key of its issuer"
        at.faults.note(f"{path}/issuer_key", "required", reason, "add it, or drop the token")
    return found


def _secrets_from(at: Reading, path: str, value: Any) -> str:
    return fields.choice(at.faults, path, value, {"env": "env"}, "env")


def custom(at: Reading, path: str, value: Any) -> tuple[Any, ...]:
    """Definitions as written: a wrong one must not take the others, or the settings, down."""
    if not isinstance(value, list) or len(value) > MAX_NAMES:
        reason = f"it must be a list of at most {MAX_NAMES:,} definitions"
        at.faults.note(path, "type", reason, "begin each definition with '- name: ...'")
        return ()
    return tuple(value)


def _range(at: Reading, path: str, value: Any) -> str:
    written = text(at, path, value)
    try:
        parse_range(written)
    except SemverError as error:
        at.faults.note(path, "version", error.message, error.hint)
    return written


def _url(at: Reading, path: str, value: Any) -> str:
    written = text(at, path, value, hosts.MAX_URL)
    try:
        hosts.host_of_url(written)
    except hosts.HostError as error:
        at.faults.note(path, "format", error.message, error.hint)
    return written


def _arguments(at: Reading, path: str, value: Any) -> tuple[str, ...]:
    strings_allowing_repeats(at.faults, path, value)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _isolation(at: Reading, path: str, value: Any) -> IsolationLevel:
    level = fields.choice(at.faults, path, value, _ISOLATION, IsolationLevel.STRICT)
    if level is IsolationLevel.NONE:
        reason = "level none is for trusted code only, never for an MCP server"
        at.faults.note(path, "isolation", reason, "write standard or stricter")
    return level


def _server(at: Reading, path: str, value: Any) -> McpServer:
    members: dict[str, Read] = {
        "command": text,
        "args": _arguments,
        "env": by_name(name_like(_VARIABLE, "A-Z, a-z, 0-9 and _"), _value),
        "url": _url,
        "isolation": _isolation,
        "pin": switch,
    }
    found: McpServer = section(McpServer, members)(at, path, value)
    if isinstance(value, dict) and ("command" in value) == ("url" in value):
        reason = "a server is a program or an address"
        at.faults.note(path, "required", reason, "write either command or url")
    return found


def _value(at: Reading, path: str, value: Any) -> str:
    return fields.text(at.faults, path, value, MAX_TEXT)


def _kinds(at: Reading, path: str, value: Any) -> frozenset[CapabilityKind]:
    kinds = {kind.value: kind for kind in CapabilityKind}
    written = fields.strings(at.faults, path, value, len(kinds), MAX_TEXT)
    found = (
        fields.choice(at.faults, f"{path}/{index}", word, kinds, None)
        for index, word in enumerate(written)
    )
    return frozenset(kind for kind in found if kind is not None)


# --- the tables -------------------------------------------------------------------------------

# Where a key of the file is called otherwise among our values.
FIELDS = {"from": "source", UNENFORCED: "unenforced_accepted"}

tool_names = names(fields.NAME, "a tool's name: a-z, 0-9 and _, beginning with a letter")

# The sections that hold nothing but single values; the environment can set these one by one.
MEMBERS: Mapping[str, Mapping[str, Read]] = {
    "licence": {"issuer_key": _key, "token": _key},
    "limits": {
        "calls_per_minute": count(1, 1_000_000),
        "concurrent": count(1, 1_000_000),
        "queued": count(0, 1_000_000),
    },
    "retention": {"days": count(0, 36_500)},  # a hundred years
    "secrets": {"from": _secrets_from},
    "features": {"definitions": switch, "results": switch},
}

pins = by_name(name_like(fields.NAME, "a tool's name: a-z, 0-9 and _"), _range)
TOOLS: Mapping[str, Read] = {
    "custom": custom,
    "disabled": tool_names,
    "providers": names(_WORD, "the name of an entry point: letters, digits, _ . -"),
    "extensions": names(_WORD, "the name of an entry point: letters, digits, _ . -"),
    "pins": pins,
}

# Every key but those that give rights (rights.py).
READERS: Mapping[str, Read] = {
    "tenant": identifier,
    "store": _store,
    "policy": _policy,
    "tools": section(Tools, TOOLS),
    "mcp_servers": by_name(name_like(_WORD, "letters, digits, _ . -"), _server),
    "licence": _licence,
    "limits": section(Limits, MEMBERS["limits"]),
    "retention": section(Retention, MEMBERS["retention"]),
    "secrets": section(Secrets, MEMBERS["secrets"]),
    "features": section(Features, MEMBERS["features"]),
    UNENFORCED: _kinds,
}
