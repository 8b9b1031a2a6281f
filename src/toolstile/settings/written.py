"""What was written, before it is read: one mapping, put together from a file, the environment and
arguments, and for each value where it came from."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from toolstile.model.issue import pointer
from toolstile.settings.files import parse_yaml, read_bytes
from toolstile.settings.places import (
    AGENT_DIRECTORY,
    find_configs,
    is_ours,
    project_of,
    real,
    refuse,
)
from toolstile.settings.reading import MEMBERS, SettingsFaults

ARGUMENT = "argument"
ENVIRONMENT = "environment"
PREFIX = "TOOLSTILE_"

# TOOLSTILE_STORE sets store, TOOLSTILE_LIMITS_CONCURRENT sets concurrent of limits.
VARIABLES: Mapping[str, tuple[str, ...]] = {
    PREFIX + "_".join(parts).upper(): parts
    for parts in (
        ("tenant",),
        ("store",),
        ("policy",),
        *((section, member) for section, members in MEMBERS.items() for member in members),
    )
}
_NUMBERS = ("limits", "retention")

EXPLICITLY = "name the file explicitly if you trust it"


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What was written: `where`, for messages; the project it is about; the file, if it was one.
    `origins` tells by JSON Pointer where each value of `document` came from."""

    where: str
    project: Path
    document: dict[str, Any]
    origins: dict[str, str]
    file: Path | None = None


def written(
    source: Path | Mapping[str, Any] | None, environ: Mapping[str, str], start: Path
) -> Written:
    """What a file or mapping says; nothing, where there is no file.

    Raises:
        SettingsError: the file cannot be read or is no YAML.
    """
    if isinstance(source, Mapping):
        document, origins = {str(key): value for key, value in source.items()}, {"": ARGUMENT}
        return _unfiled("the given mapping", start, document, origins)
    file = _found(start, environ) if source is None else source.absolute()
    if file is None:
        return _unfiled("the environment and arguments", start, {}, {})
    project = project_of(file)
    shown = _shown(file, project)
    document, origins = parse_yaml(read_bytes(file, shown), shown)
    return Written(where=shown, project=project, document=document, origins=origins, file=file)


def _unfiled(where: str, start: Path, document: dict[str, Any], origins: dict[str, str]) -> Written:
    return Written(where=where, project=Path(real(start)), document=document, origins=origins)


def _found(start: Path, environ: Mapping[str, str]) -> Path | None:
    file = next(find_configs(start, environ), None)
    if file is not None and not is_ours(file, start):
        reason = "it belongs to another user, who could grant tools whatever they like"
        refuse(str(file), reason, EXPLICITLY)
    return file


def _shown(file: Path, project: Path) -> str:
    """How a file is called in messages: as seen from the project."""
    inside = f"{AGENT_DIRECTORY}/{file.name}"
    return inside if file == project / inside else str(file)


# --- layers -----------------------------------------------------------------------------------


def add_environment(at: Written, environ: Mapping[str, str], faults: SettingsFaults) -> None:
    """Let variables override what the file says, and warn of those that mean nothing."""
    for name in sorted(environ):
        if name in VARIABLES:
            _put(at, VARIABLES[name], environ[name], f"{ENVIRONMENT} {name}")
        elif name.startswith(PREFIX):
            near = difflib.get_close_matches(name[:64], VARIABLES, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(VARIABLES)}"
            reason = f"the variable {name[:64]!r} means nothing here"
            faults.warn("", "unknown_variable", reason, hint)


def _put(at: Written, parts: tuple[str, ...], text: str, origin: str) -> None:
    value = _number(text) if parts[0] in _NUMBERS else text
    if len(parts) > 1:
        section = at.document.get(parts[0], {})
        if not isinstance(section, Mapping):
            return  # the file is at fault, which reading it tells
        value = {**section, parts[1]: value}
    at.document[parts[0]] = value
    at.origins[pointer(*parts)] = origin


def _number(value: str) -> Any:
    """Digits as the number they say; anything else as it is, for the reader to refuse."""
    return int(value) if value.isascii() and value.isdecimal() and len(value) <= 12 else value


def add_arguments(at: Written, overrides: Mapping[str, Any]) -> None:
    """Let arguments override everything, each the whole of its key; None = not given."""
    for key, value in overrides.items():
        if value is not None:
            place = pointer(key)
            for other in [each for each in at.origins if each.startswith(f"{place}/")]:
                del at.origins[other]
            at.origins[place] = ARGUMENT
            at.document[key] = value
