"""What is said of a tool: its row in the list, and all that `tools show` knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from toolstile.model.definition import ToolDefinition
from toolstile.registry.registry import Registry, ref_of
from toolstile.registry.snapshot import ALIASES, Entry
from toolstile.schema.keywords import type_names


def rows_of(registry: Registry) -> list[dict[str, Any]]:
    """A row for each tool and each alias, by name."""
    rows = [_row(entry, entry.name) for entry in registry.snapshot]
    for alias, name in ALIASES.items():
        entry = registry.snapshot.entry(name)
        if entry is not None:
            rows.append(_row(entry, alias) | {"alias_of": name})
    return sorted(rows, key=lambda row: row["name"])


def _row(entry: Entry, name: str) -> dict[str, Any]:
    definition = (entry.choose() or entry.versions[0]).definition
    return {
        "name": name,
        "version": definition.exported_version,
        "description": definition.description,
        "category": definition.category.word,
        "source": next(iter(definition.source or {}), None),
        "license_tier": definition.license_tier.word,
        "enabled": entry.enabled,
        "is_built_in": entry.built_in,
        "alias_of": None,
        "quarantined": False,
        "digest": definition.digest,
    }


def described(row: dict[str, Any]) -> str:
    """The first line of its description, and what a caller should know of it."""
    marks = [] if row["enabled"] else ["disabled"]
    marks += [f"alias of {row['alias_of']}"] if row["alias_of"] else []
    first = row["description"].strip().split("\n")[0]
    return f"{first} [{', '.join(marks)}]" if marks else first


def lines_of(registry: Registry, definition: ToolDefinition) -> Iterator[str]:
    """The seed's four lines, a line for each parameter, and what else decides about a call."""
    yield f"Name: {definition.name}"
    yield f"Version: {definition.exported_version}"
    yield f"Description: {definition.description}"
    yield "Parameters:" if definition.parameters.get("properties") else "Parameters: none"
    required = definition.parameters.get("required", ())
    for name, schema in definition.parameters.get("properties", {}).items():
        line = f"  {name} ({_kind(schema, needed=name in required)}): {_meaning(schema)}"
        yield line.removesuffix(": ")
    yield f"Rights: {', '.join(_rights(definition)) or 'none'}"
    effects = definition.side_effects
    said = "not known" if effects is None else ", ".join(sorted(each.value for each in effects))
    yield f"Side effects: {said or 'none'}"
    yield f"Asks before it runs: {'yes' if definition.requires_confirmation else 'no'}"
    yield f"Isolation: {definition.constraints.required_isolation.word}"
    yield f"Source: {_source(definition)}"
    yield from _standing(registry, definition)


def _rights(definition: ToolDefinition) -> Iterator[str]:
    for right in definition.required_capabilities:
        within = "" if right.whatever else f" within {', '.join(right.scope)}"
        yield f"{right.kind.value}{within}"


def _source(definition: ToolDefinition) -> str:
    if definition.source is None:
        return "none: it is validated, and cannot be called until a program binds it"
    return ", ".join(
        f"{kind} {where if isinstance(where, str) else json.dumps(where)}"
        for kind, where in definition.to_dict()["source"].items()
    )


def _standing(registry: Registry, definition: ToolDefinition) -> Iterator[str]:
    """What the project has set about the tool, where it has."""
    entry = registry.snapshot.entry(definition.name)
    others = [v for v in registry.versions(definition.name) if v != definition.exported_version]
    if others:
        yield f"Other versions: {', '.join(others)}"
    if entry is not None and entry.pinned:
        yield f"Pinned to: {entry.pinned}"
    if entry is not None and not entry.enabled:
        yield "Disabled: it is listed, and cannot be called"


def _kind(schema: Any, *, needed: bool) -> str:
    kind = " or ".join(type_names(schema)) if isinstance(schema, dict) else ""
    return f"{kind or 'any'}{', required' if needed else ''}"


def _meaning(schema: Any) -> str:
    """The seed's line: the description, the choices where there is none, and the default."""
    if not isinstance(schema, dict):
        return ""
    said = [schema["description"]] if "description" in schema else []
    if "enum" in schema:
        said.append("One of: " + ", ".join(str(value) for value in schema["enum"]))
    if "default" in schema:
        said.append(f"Default: {schema['default']}")
    return ". ".join(part.rstrip(".") for part in said)


def document_of(registry: Registry, definition: ToolDefinition, tenant: str) -> dict[str, Any]:
    """The definition, and what was set beside it."""
    entry = registry.snapshot.entry(definition.name)
    pin = entry.pinned if entry is not None else None
    return {
        "id": f"{tenant}/{ref_of(definition)}",
        "definition": definition.to_dict(),
        "digest": definition.digest,
        "is_built_in": entry is not None and entry.built_in,
        "license_tier": definition.license_tier.word,
        "enabled": entry is not None and entry.enabled,
        "pinned": str(pin) if pin else None,
        "versions": list(registry.versions(definition.name)),
        "source": definition.to_dict()["source"],
    }
