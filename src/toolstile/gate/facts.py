"""Everything a decision rests on. What is not in here cannot have influenced it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from toolstile.model.capability import Capability
from toolstile.model.decision import Approval, NamedResource
from toolstile.model.vocabulary import Enforcer, IsolationLevel, LicenceTier, SideEffect


class Rights(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller has now, beside any call."""

    grants: tuple[Capability, ...] = ()
    permissions: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of one call. `effects` are the declared side effects, all of them if unknown."""

    tool: str
    version: str
    category: str
    license_tier: LicenceTier
    effects: frozenset[SideEffect]
    effects_known: bool
    idempotent: bool = False
    requires_confirmation: bool = False
    required_permissions: tuple[str, ...] = ()
    required_capabilities: tuple[Capability, ...] = ()
    resources: tuple[NamedResource, ...] = ()
    # `coarse`: kinds of rights that no argument narrows down. `unused`: kinds whose argument is
    # optional and was left out, so that this call takes nothing of them.
    coarse: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    isolation: IsolationLevel = IsolationLevel.STANDARD
    enforced_by: Mapping[str, Enforcer] = msgspec.field(default_factory=dict)
    grants: tuple[Capability, ...] = ()
    # Places that no tool may name, whatever is granted.
    masked: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    tier: LicenceTier = LicenceTier.ENTERPRISE
    preview: bool = False
    approval: Approval | None = None
    approved_digests: tuple[str, ...] = ()
    call_digest: str = ""
    fingerprint: str = ""
    policy_digest: str = "built-in"
    now: str = ""
