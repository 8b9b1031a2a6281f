"""What a project has set, as values; every one of them has a default.

No file, no rights: without settings nothing is granted and everything that can run is confined.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from toolstile.model.call import LOCAL_TENANT
from toolstile.model.capability import Capability, CapabilityKind
from toolstile.model.issue import Issue
from toolstile.model.json import freeze, thaw
from toolstile.model.vocabulary import IsolationLevel

# The contract's (section 6): no rate, and bounds that only a runaway program reaches.
DEFAULT_CONCURRENT = 1_024
DEFAULT_QUEUED = 10_000

DEFAULT = "default"
UNENFORCED = "capabilities_accepted_although_nobody_enforces_them"


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent may use of the project's tools and rights; None = as the project."""

    tools: tuple[str, ...] | None = None
    grants: tuple[Capability, ...] | None = None
    permissions: tuple[str, ...] | None = None


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """The tools of a project. `custom` are definitions as written, not yet checked: one that is
    wrong is left out, and takes no other down."""

    custom: tuple[Mapping[str, Any], ...] = ()
    disabled: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    pins: Mapping[str, str] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "custom", tuple(freeze(list(self.custom))))
        msgspec.structs.force_setattr(self, "pins", freeze(self.pins))


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """An MCP server: a program to start or a URL to speak to. `env` maps names to values, which
    may be `secret:NAME`."""

    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    url: str | None = None
    isolation: IsolationLevel = IsolationLevel.STRICT
    pin: bool = True

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "env", freeze(self.env))


class Licence(msgspec.Struct, frozen=True, kw_only=True):
    """Who issues licences, and the one held: itself, or `file:PATH`."""

    issuer_key: str | None = None
    token: str | None = None


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How many calls at a time and a minute; None = no rate."""

    calls_per_minute: int | None = None
    concurrent: int = DEFAULT_CONCURRENT
    queued: int = DEFAULT_QUEUED


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long results are kept; None = as the tier has it."""

    days: int | None = None


class Secrets(msgspec.Struct, frozen=True, kw_only=True, rename={"source": "from"}):
    """Where the values of secrets come from."""

    source: str = "env"


class Features(msgspec.Struct, frozen=True, kw_only=True):
    """LEX's feature gates."""

    definitions: bool = True
    results: bool = True


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a project has set. `permissions` None = those that go with the grants; `policy`
    None = the built-in one, a Path = a file, text = Cedar itself.

    `project` is where relative paths begin; `state` is where the program keeps its own files, and
    is made, for this user alone, by whoever needs it first (`places.make_private`).
    """

    project: Path
    state: Path
    tenant: str = LOCAL_TENANT
    store: str = "sqlite"
    grants: tuple[Capability, ...] = ()
    permissions: tuple[str, ...] | None = None
    agents: Mapping[str, Agent] = msgspec.field(default_factory=dict)
    policy: Path | str | None = None
    tools: Tools = Tools()
    mcp_servers: Mapping[str, McpServer] = msgspec.field(default_factory=dict)
    licence: Licence = Licence()
    limits: Limits = Limits()
    retention: Retention = Retention()
    secrets: Secrets = Secrets()
    features: Features = Features()
    unenforced_accepted: frozenset[CapabilityKind] = frozenset()
    origins: Mapping[str, str] = msgspec.field(default_factory=dict)
    warnings: tuple[Issue, ...] = ()

    def __post_init__(self) -> None:
        for name in ("agents", "mcp_servers", "origins"):
            msgspec.structs.force_setattr(self, name, freeze(getattr(self, name)))

    def origin(self, pointer: str) -> str:
        """Where the value at a JSON Pointer came from: "default", "file .agent/config.yml:12",
        "environment TOOLSTILE_STORE" or "argument"."""
        return origin_of(self.origins, pointer)

    def to_dict(self) -> dict[str, Any]:
        """The form of the configuration file; loading it gives these settings again.

        It may hold secrets (a password in `store`), so it is not for logs.
        """
        written: dict[str, Any] = {
            "tenant": self.tenant,
            "store": self.store,
            "grants": _grants(self.grants),
            "permissions": self.permissions,
            "agents": {name: _agent(agent) for name, agent in self.agents.items()},
            "policy": None if self.policy is None else os.fspath(self.policy),
            "tools": _section(self.tools),
            "mcp_servers": {name: _server(each) for name, each in self.mcp_servers.items()},
            "licence": _section(self.licence),
            "limits": _section(self.limits),
            "retention": _section(self.retention),
            "secrets": _section(self.secrets),
            "features": _section(self.features),
            UNENFORCED: sorted(kind.value for kind in self.unenforced_accepted),
        }
        return _without_none(written)


def origin_of(origins: Mapping[str, str], pointer: str) -> str:
    """The origin of a value or of the nearest thing that holds it."""
    while pointer not in origins and pointer:
        pointer = pointer.rpartition("/")[0]
    return origins.get(pointer, DEFAULT)


def _without_none(members: Mapping[str, Any]) -> dict[str, Any]:
    """Absent is written as absent: in a file, null would be a mistake."""
    return {name: thaw(value) for name, value in members.items() if value is not None}


def _section(section: msgspec.Struct) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.to_builtins(section)
    return _without_none(written)


def _grants(grants: tuple[Capability, ...]) -> dict[str, Any]:
    return {grant.kind.value: list(grant.scope) for grant in grants}


def _agent(agent: Agent) -> dict[str, Any]:
    grants = None if agent.grants is None else _grants(agent.grants)
    return _without_none({"tools": agent.tools, "grants": grants, "permissions": agent.permissions})


def _server(server: McpServer) -> dict[str, Any]:
    return _section(server) | {"isolation": server.isolation.word}
