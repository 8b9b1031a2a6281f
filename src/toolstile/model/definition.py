"""A tool as its author declared it (contract section 1).

`ToolDefinition` is a value: whether it may be registered is said by `toolstile.define`, which
also brings it into canonical form (closed schemas, defaults explicit). Only canonical definitions
have a meaningful digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from toolstile.model.canonical import canonical, digest
from toolstile.model.capability import Capability
from toolstile.model.json import FrozenDict, freeze, thaw
from toolstile.model.vocabulary import (
    Category,
    Determinism,
    IsolationLevel,
    LicenceTier,
    ResultType,
    SideEffect,
)

UNVERSIONED = "0.0.0+unversioned"

# LEX-DEF section 4.6: the defaults where a definition is silent, and the ranges of section 5.2.
DEFAULT_SECONDS = 60.0
DEFAULT_OUTPUT_BYTES = 10 * 1024 * 1024
SECONDS_RANGE = (1.0, 600.0)
# "1 KB" and "100 MB" may be meant decimal or binary; the wider reading refuses neither.
OUTPUT_RANGE = (1_000, 100 * 1024 * 1024)

EMPTY_PARAMETERS: Mapping[str, Any] = freeze(
    {"type": "object", "properties": {}, "additionalProperties": False}
)


class NetworkBounds(msgspec.Struct, frozen=True, kw_only=True):
    """How much a call may send and receive; None = no bound of its own."""

    max_requests: int | None = None
    max_bytes: int | None = None


class Constraints(msgspec.Struct, frozen=True, kw_only=True):
    """What one call may use: seconds, bytes, isolation."""

    max_execution_time: float = DEFAULT_SECONDS
    max_output_size: int = DEFAULT_OUTPUT_BYTES
    allow_side_effects: bool = True
    required_isolation: IsolationLevel = IsolationLevel.STANDARD
    max_memory: int | None = None
    max_cpu: float | None = None
    network: NetworkBounds | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words, every default written out."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        document["required_isolation"] = self.required_isolation.word
        return document


class ToolDefinition(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything declared about a tool. `side_effects` None = unknown: every kind for policy and
    confirmation, none for grants."""

    name: str
    description: str
    version: str | None = None
    category: Category = Category.SYSTEM
    license_tier: LicenceTier = LicenceTier.CORE
    parameters: Mapping[str, Any] = EMPTY_PARAMETERS
    output_schema: Mapping[str, Any] | None = None
    result_type: ResultType = ResultType.OBJECT
    constraints: Constraints = Constraints()
    required_permissions: tuple[str, ...] = ()
    required_capabilities: tuple[Capability, ...] = ()
    side_effects: tuple[SideEffect, ...] | None = None
    determinism: Determinism = Determinism.NON_DETERMINISTIC
    idempotent: bool = False
    requires_confirmation: bool = False
    usage: str | None = None
    normalize: str | Mapping[str, str] = "json"
    secrets: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = msgspec.field(default_factory=FrozenDict)
    source: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        # Frozen all the way down: a definition that can change under its digest is none.
        for name in ("parameters", "output_schema", "normalize", "metadata", "source"):
            force_setattr(self, name, freeze(getattr(self, name)))

    @cached_property
    def digest(self) -> str:
        """`sha256:` over the RFC 8785 bytes of the canonical form."""
        return digest(self.to_dict())

    @cached_property
    def parameters_json(self) -> bytes:
        """The parameters' RFC 8785 bytes: what compiled schemas are kept by."""
        return canonical(self.parameters)

    @property
    def exported_version(self) -> str:
        """The version as others see it; an unversioned tool has one that sorts before all."""
        return self.version or UNVERSIONED

    @property
    def effects(self) -> frozenset[SideEffect]:
        """The side effects to reckon with: all of them where they are unknown."""
        if self.side_effects is None:
            return frozenset(SideEffect) - {SideEffect.NONE}
        return frozenset(self.side_effects) - {SideEffect.NONE}

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, every field written out; `define` of it gives an equal definition."""
        effects = None if self.side_effects is None else [e.value for e in self.side_effects]
        capabilities = [{c.kind.value: list(c.scope)} for c in self.required_capabilities]
        return {
            "name": self.name,
            "description": self.description,
            "version": self.exported_version,
            "category": self.category.word,
            "license_tier": self.license_tier.word,
            "parameters": thaw(self.parameters),
            "output_schema": thaw(self.output_schema),
            "result_type": self.result_type.value,
            "constraints": self.constraints.to_dict(),
            "required_permissions": list(self.required_permissions),
            "required_capabilities": capabilities,
            "side_effects": effects,
            "determinism": self.determinism.value,
            "idempotent": self.idempotent,
            "requires_confirmation": self.requires_confirmation,
            "usage": self.usage,
            "normalize": thaw(self.normalize),
            "secrets": list(self.secrets),
            "metadata": thaw(self.metadata),
            "source": thaw(self.source),
        }
