"""The gate's answer, with all its reasons: CATH's proof."""

from __future__ import annotations

from typing import Any

import msgspec

from toolstile.model.vocabulary import Enforcer, Verdict


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """One ground of a decision. `source` is licence, permission, capability, policy, limit or
    confirmation; `effect` the verdict it speaks for."""

    source: str
    id: str
    effect: Verdict
    text: str


class NamedResource(msgspec.Struct, frozen=True, kw_only=True):
    """A resource that an argument names, after resolution. `argument` is its JSON Pointer."""

    access: str
    value: str
    argument: str
    kind: str


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """One change of `.agent/config.yml` that would change the answer: put the items `add`, written
    as YAML, into what stands at `key`. A `remark` is for what a person has to fill in."""

    key: tuple[str, ...]
    add: tuple[str, ...]
    remark: str = ""

    def __str__(self) -> str:
        *above, last = self.key
        within = f" under `{'.'.join(above)}:`" if above else ""
        remark = f" ({self.remark})" if self.remark else ""
        return f"`{', '.join(self.add)}` to `{last}:`{within}{remark}"


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict and reasons; the same facts always give the same Decision.

    Only `gate/decide.py` makes one that allows. That is a rule for readers, kept by a test: in
    one process nothing stops code from building any value (soundness S8).
    """

    verdict: Verdict
    reasons: tuple[Reason, ...]
    missing: tuple[str, ...] = ()
    repair: tuple[Repair, ...] = ()
    resources: tuple[NamedResource, ...] = ()
    enforced_by: dict[str, Enforcer] = msgspec.field(default_factory=dict)
    policy_digest: str = ""
    call_digest: str = ""
    fingerprint: str = ""
    tier: str = "enterprise"
    grants: tuple[str, ...] = ()
    issued_at: str = ""
    expires_at: str | None = None

    @property
    def allows(self) -> bool:
        """True where the tool may start: at once, or staged."""
        return self.verdict in (Verdict.ALLOW, Verdict.STAGE)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form of the contract."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """A person's yes: bound to one digest, one caller, single use, and expiring.

    It is an *input* of the gate: it re-enters the line at step 0 with the stored request.
    """

    execution_id: str
    digest: str
    tenant: str
    principal: str
    approver: str
    expires_at: str
    note: str = ""
