"""What tells alternatives apart: a property that has other texts in each (`"kind": "circle"`)."""

from __future__ import annotations

from typing import Any

from toolstile.schema.keywords import type_names
from toolstile.schema.places import MAX_CHAIN, Place, Places


def told_apart(places: Places, branches: list[Place]) -> tuple[str, dict[str, int]]:
    """The name of a property of which every text means one branch at most, and which one that is,
    by its index; "" where no property is of this kind. It says which branch an object with such a
    text could fit, and not that it fits."""
    texts = {
        index: found
        for index, branch in enumerate(branches)
        if (found := _texts(places, branch)) is not None
    }
    for name in next(iter(texts.values()), {}):
        told: dict[str, int] = {}
        for index, found in texts.items():
            listed = found.get(name, ())
            if not listed or not told.keys().isdisjoint(listed):
                break
            told.update(dict.fromkeys(listed, index))
        else:
            return name, told
    return "", {}


def _texts(places: Places, branch: Place) -> dict[str, list[str]] | None:
    """The properties that may only be one of some texts; None for what takes no object at all."""
    found: dict[str, list[str]] = {}
    for _ in range(MAX_CHAIN):
        types = type_names(branch.rules)
        if types and "object" not in types:
            return None
        for name, rules in branch.rules.get("properties", {}).items():
            listed = _listed(rules)
            if listed and all(isinstance(text, str) for text in listed):
                found.setdefault(name, listed)
        targets = places.target(branch, "$ref") if "$ref" in branch.rules else []
        if not targets:
            break
        branch = targets[0]
    return found


def _listed(rules: Any) -> list[Any]:
    if not isinstance(rules, dict):
        return []
    return [rules["const"]] if "const" in rules else list(rules.get("enum", ()))
