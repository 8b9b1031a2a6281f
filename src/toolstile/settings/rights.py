"""What the operator gives: grants, permissions, agents. What they reach is looked at here.

A grant is resolved once, when the settings are loaded, so that what is compared later is a place
and not one of its names. Where the program keeps its own files nothing can be granted: a tool that
could write there would set its own rights (soundness S23).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolstile.model import paths
from toolstile.model.capability import (
    ANY,
    MAX_ITEMS,
    MAX_PERMISSION,
    PERMISSIONS,
    Capability,
    CapabilityError,
    CapabilityKind,
    granted,
    permission_pattern,
)
from toolstile.schema import fields
from toolstile.settings.places import (
    AGENT_DIRECTORY,
    LEASES,
    STAGING,
    Guarded,
    lies_in,
    place_beside,
    real,
)
from toolstile.settings.reading import (
    Read,
    Reading,
    by_name,
    identifier,
    mapping,
    section,
    tool_names,
)
from toolstile.settings.values import Agent

_FILES = (CapabilityKind.FS_READ, CapabilityKind.FS_WRITE)
_KINDS = {kind.value: kind for kind in CapabilityKind}
_MASKED_HINT = "grant a directory beside it; one that holds it may be granted, for it is masked"
_STATE_HINT = "grant one that has nothing to do with it, or set XDG_STATE_HOME to one outside"


# What our own files are called in messages.
DATABASE = "the database"
BESIDE = {STAGING: "what runs have staged", LEASES: "the locks of the database"}


def guarded_places(
    project: Path, state_root: Path, files: Mapping[str, Path]
) -> tuple[Guarded, ...]:
    """What no grant may reach: .agent, the state of all projects, and those of our own files that
    lie in neither."""
    agent = Guarded(
        "the directory .agent, which holds this configuration",
        real(project / AGENT_DIRECTORY),
        masked=True,
        hint=_MASKED_HINT,
    )
    kept = "the directory where this program keeps its own state"
    state = Guarded(kept, real(state_root), hint=_STATE_HINT)
    others = [Guarded(what, real(path)) for what, path in files.items()]
    if DATABASE in files:
        # What holds these holds the database, too, so only they themselves are left to refuse.
        beside = ((what, place_beside(files[DATABASE], kind)) for kind, what in BESIDE.items())
        others += [Guarded(what, str(path), masked=True) for what, path in beside]
    safe = (agent.path, state.path)
    outside = (
        each for each in others if not any(lies_in(each.path, directory) for directory in safe)
    )
    return agent, state, *outside


# --- readers ----------------------------------------------------------------------------------


def grants(at: Reading, path: str, value: Any) -> tuple[Capability, ...]:
    """`{fs_read: [./workspace], ...}`: a capability of each kind of which anything is given."""
    written = mapping(at, path, value)
    fields.unknown_keys(at.faults, path, written, _KINDS)
    found = [
        _grant(at, f"{path}/{word}", kind, written[word])
        for word, kind in _KINDS.items()
        if word in written
    ]
    return tuple(grant for grant in found if grant.scope)


def _grant(at: Reading, path: str, kind: CapabilityKind, value: Any) -> Capability:
    items = fields.strings(at.faults, path, value, MAX_ITEMS, paths.MAX_BYTES)
    before = len(at.faults.issues)
    scope = [
        resolved
        for index, item in enumerate(items)
        for resolved in _resolved(at, f"{path}/{index}", kind, item)
    ]
    try:
        return granted(kind, scope)
    except CapabilityError as error:
        if len(at.faults.issues) == before:  # else each item has said for itself what is wrong
            at.faults.note(path, "capability", error.message, error.hint)
        return Capability(kind=kind, scope=())


def _resolved(at: Reading, path: str, kind: CapabilityKind, item: str) -> tuple[str, ...]:
    try:
        scope = granted(kind, [item], at.project).scope
    except CapabilityError as error:
        at.faults.note(path, "capability", error.message, error.hint)
        return ()
    if scope[0].startswith("/"):  # a directory or a program, never a host or a name
        scope = (real(scope[0]),)
    if kind in _FILES:
        _check_reach(at, path, "/" if item == ANY else scope[0])
    return scope


def _check_reach(at: Reading, path: str, directory: str) -> None:
    for place in at.guarded:
        reason = place.reached_by(directory)
        if reason is not None:
            at.faults.note(path, "guarded", f"this cannot be granted: {reason}", place.hint)


def permissions(at: Reading, path: str, value: Any) -> tuple[str, ...]:
    """`["tool.filesystem.*", ...]`. Where providers are listed, which may register permissions of
    their own, an unknown one is only looked at for its form: if nobody has it, it gives nothing."""
    longest = MAX_PERMISSION
    written = fields.strings(at.faults, path, value, fields.MAX_PERMISSIONS, longest)
    for index, item in enumerate(written):
        member = item.removesuffix("*") + "x" if item.endswith(".*") else item
        try:
            permission_pattern(item, PERMISSIONS | ({member} if at.provided else set()))
        except CapabilityError as error:
            at.faults.note(f"{path}/{index}", "permission", error.message, error.hint)
    return written


RIGHTS: Mapping[str, Read] = {
    "grants": grants,
    "permissions": permissions,
    "agents": by_name(
        identifier,
        section(Agent, {"tools": tool_names, "grants": grants, "permissions": permissions}),
    ),
}
