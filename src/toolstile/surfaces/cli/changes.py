"""What commands change, as functions from state to state."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from toolstile.model.definition import ToolDefinition
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
    taken = {(tool["name"], tool["version"]) for tool in new}
    kept = [tool for tool in state.tools if (tool["name"], tool.get("version")) not in taken]
    return replace(state, tools=(*kept, *new))


def removed(state: State, name: str) -> State:
    """Every added version of a tool taken out."""
    return replace(state, tools=tuple(tool for tool in state.tools if tool["name"] != name))
