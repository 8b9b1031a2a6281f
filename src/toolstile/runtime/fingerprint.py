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

from toolstile.authoring.portable import find_spec, fresh_spec
from toolstile.model.canonical import digest
from toolstile.model.definition import ToolDefinition


class Fingerprint(msgspec.Struct, frozen=True, kw_only=True):
    """Definition digest + implementation digest. `strength` says how much of the code it covers:
    strong = all of it; weak = its own file and those of its packages, not what these import, and
    not what is changed between the decision and the run; none = nothing known."""

    definition: str
    implementation: str | None
    strength: str

    @property
    def digest(self) -> str:
        """Both in one."""
        return digest(msgspec.to_builtins(self))


def fingerprint(
    definition: ToolDefinition,
    script: str | None,
    import_path: Iterable[str],
    bound: str | None = None,
) -> Fingerprint:
    """The fingerprint of a tool, read from its files as they are now. `bound` is where its body
    stands, if that is not for its definition to say."""
    source: dict[str, Any] = dict(definition.source or ({"python": bound} if bound else {}))
    files = [Path(script)] if script else []
    if not files and "python" in source:
        files = module_files(source["python"].partition(":")[0], import_path)
    elif "wasm" in source:
        pinned = f"sha256:{source['wasm']['sha256']}"
        return Fingerprint(definition=definition.digest, implementation=pinned, strength="strong")
    implementation = _digest_of(files)
    if bound and implementation:  # two functions of one file are two bodies
        implementation = digest([bound, implementation])
    strength = "weak" if implementation else "none"
    return Fingerprint(
        definition=definition.digest, implementation=implementation, strength=strength
    )


def module_files(module: str, import_path: Iterable[str]) -> list[Path]:
    """The files that importing a module runs: those of its packages, outermost first, and its
    own; none where it cannot be found. Nothing is imported: not even parent packages."""
    search = list(import_path)
    found: list[Path] = []
    name = ""
    for part in module.split("."):
        top, name = not name, f"{name}.{part}" if name else part
        spec = PathFinder.find_spec(name, search) or find_spec(name, None if top else search)
        if spec is None:
            return []
        found += [Path(spec.origin)] if spec.origin else []  # a namespace package has no file
        search = list(spec.submodule_search_locations or ())
    return found


def is_findable(module: str, import_path: Iterable[str]) -> bool:
    """Would a fresh process find this module? Installed packages may bring finders of their own,
    which know of files that are nowhere on the path."""
    return bool(module_files(module, import_path)) or fresh_spec(module) is not None


def _digest_of(files: list[Path]) -> str | None:
    if not files or not all(file.is_file() for file in files):
        return None
    return digest([_file_digest(file) for file in files])


def _file_digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
