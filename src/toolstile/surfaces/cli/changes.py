"""What commands change, as functions from state to state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from toolstile.model.definition import UNVERSIONED, ToolDefinition
from toolstile.settings import State


def switched(state: State, name: str, *, disabled: bool) -> State:
    """The tool disabled, or enabled, whatever the configuration says of it."""
    rest = {
        "enabled": tuple(other for other in state.enabled if other != name),
        "disabled": tuple(other for other in state.disabled if other != name),
    }
    word = "disabled" if disabled else "enabled"
    return replace(state, **rest | {word: (*rest[word], name)})


def pinned(state: State, name: str, version: str | None) -> State:
    """The tool pinned to a range; None undoes it."""
    pins = {other: held for other, held in state.pins.items() if other != name}
    return replace(state, pins=pins if version is None else {**pins, name: version})


def added(state: State, definitions: Iterable[ToolDefinition]) -> State:
    """More definitions; one that is there already, in this version, is not there twice."""
    new = [definition.to_dict() for definition in definitions]
    taken = {_named(tool) for tool in new}
    kept = [tool for tool in state.tools if _named(tool) not in taken]
    return replace(state, tools=(*kept, *new))


def removed(state: State, name: str, version: str | None, *, last: bool) -> State:
    """An added version of a tool taken out, or every one. What was said of the tool goes with its
    `last`: else it would stay for ever, and hold for whatever is added under that name one day."""
    kept = tuple(tool for tool in state.tools if not _is_meant(tool, name, version))
    state = replace(state, tools=kept)
    if not last:
        return state
    return replace(
        pinned(state, name, None),
        enabled=tuple(other for other in state.enabled if other != name),
        disabled=tuple(other for other in state.disabled if other != name),
    )


def versions_added(state: State, name: str, version: str | None = None) -> list[str]:
    """The versions of a tool that commands have added, sound or not; or the one, if it is there."""
    meant = [_named(tool) for tool in state.tools if _is_meant(tool, name, version)]
    return [held or UNVERSIONED for _, held in meant]


def _is_meant(tool: Any, name: str, version: str | None) -> bool:
    found, held = _named(tool)
    return found == name and version in (None, held or UNVERSIONED)


def _named(tool: Any) -> tuple[Any, Any]:
    """Name and version; whatever somebody has written into the file is left as it is."""
    if not isinstance(tool, Mapping) or not isinstance(tool.get("name"), str):
        return None, None
    version = tool.get("version")
    return tool["name"], version if isinstance(version, str | None) else repr(version)
