"""What exactly would run: the definition and the code behind it (soundness S7).

A definition's digest says nothing about the code it names. The fingerprint covers both; it is part
of what is approved, so a file edited after the approval is another tool.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import msgspec

from toolstile.model.canonical import digest
from toolstile.model.definition import ToolDefinition


class Fingerprint(msgspec.Struct, frozen=True, kw_only=True):
    """Definition digest + implementation digest. `strength` says how much of the code it covers:
    strong = all of it; weak = its own file, not what that imports; none = nothing known."""

    definition: str
    implementation: str | None
    strength: str

    @property
    def digest(self) -> str:
        """Both in one."""
        return digest(msgspec.to_builtins(self))


def fingerprint(
    definition: ToolDefinition, script: str | None, import_path: Iterable[str]
) -> Fingerprint:
    """The fingerprint of a tool, read from its files as they are now."""
    source: dict[str, Any] = dict(definition.source or {})
    file = Path(script) if script else None
    if file is None and "python" in source:
        file = module_file(source["python"].partition(":")[0], import_path)
    elif "wasm" in source:
        pinned = f"sha256:{source['wasm']['sha256']}"
        return Fingerprint(definition=definition.digest, implementation=pinned, strength="strong")
    implementation = _file_digest(file)
    strength = "weak" if implementation else "none"
    return Fingerprint(
        definition=definition.digest, implementation=implementation, strength=strength
    )


def module_file(module: str, import_path: Iterable[str]) -> Path | None:
    """The file a module would be loaded from. Nothing is imported: not even parent packages."""
    search: list[str] | None = list(import_path)
    spec = None
    name = ""
    for part in module.split("."):
        name = f"{name}.{part}" if name else part
        spec = PathFinder.find_spec(name, search)
        if spec is None:
            return None
        search = list(spec.submodule_search_locations or ())
    return Path(spec.origin) if spec is not None and spec.origin else None


def _file_digest(file: Path | None) -> str | None:
    if file is None or not file.is_file():
        return None
    with file.open("rb") as opened:
        return "sha256:" + hashlib.file_digest(opened, "sha256").hexdigest()
