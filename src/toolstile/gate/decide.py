"""The one maker of allowing Decisions: facts in, Decision out; nothing read, nothing spent.

    1  licence      the tool's tier is within the caller's
    2  permissions  every required permission is granted
    3  capabilities what the call needs (named resources, else the declared bound) is granted
    4  enforcement  for every right somebody enforces its bounds
    5  policy       built in: permit what is granted; stage file writes; ask for the rest
    6  approval     a person's yes turns ask or stage into allow, for exactly what they saw

Each step may deny, none may skip another, and all of them speak: a Decision keeps every reason,
for yes and for no. What nobody permits is denied.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolstile.gate.facts import Facts
from toolstile.model.capability import (
    Capability,
    CapabilityKind,
    grant_line,
    missing,
    permission_matches,
)
from toolstile.model.decision import Approval, Decision, Reason
from toolstile.model.vocabulary import SideEffect, Verdict

# Effects that can be held back until a person has seen them.
STAGEABLE = frozenset((SideEffect.FS_READ, SideEffect.FS_WRITE))
# Effects that leave the machine or cannot be held back: a person is asked before.
ASKED = frozenset((SideEffect.NET_WRITE, SideEffect.DB_WRITE, SideEffect.PROCESS_SPAWN))

# A denial outweighs a question, a question outweighs staging, staging outweighs permission.
_WEIGHT = (Verdict.ALLOW, Verdict.STAGE, Verdict.ASK, Verdict.DENY)


def decide(facts: Facts) -> Decision:
    """The Decision that follows from the facts; the same facts always give the same one."""
    lacking = missing(_needs(facts), facts.grants)
    reasons = [
        *_licence(facts),
        *_permissions(facts),
        *_capabilities(facts, lacking),
        *_enforcement(facts),
        *_policy(facts),
    ]
    verdict = max((r.effect for r in reasons), key=_WEIGHT.index, default=Verdict.DENY)
    approval = _fitting_approval(facts)
    if verdict in (Verdict.ASK, Verdict.STAGE) and approval is not None:
        verdict = Verdict.ALLOW
        reasons.append(_approved(approval))
    return Decision(
        verdict=verdict,
        reasons=tuple(reasons),
        missing=tuple(str(capability) for capability in lacking),
        repair=tuple(_repairs(facts, lacking)),
        resources=facts.resources,
        enforced_by=dict(facts.enforced_by),
        policy_digest=facts.policy_digest,
        call_digest=facts.call_digest,
        fingerprint=facts.fingerprint,
        tier=facts.tier.word,
        grants=tuple(str(grant) for grant in facts.grants),
        issued_at=facts.now,
    )


def _licence(facts: Facts) -> Iterator[Reason]:
    if facts.license_tier > facts.tier:
        needed = facts.license_tier.word
        text = f"the tool needs licence tier '{needed}'"
        yield Reason(source="licence", id=needed, effect=Verdict.DENY, text=text)


def _permissions(facts: Facts) -> Iterator[Reason]:
    for permission in facts.required_permissions:
        if not any(permission_matches(held, permission) for held in facts.permissions):
            text = f"permission {permission} is not granted"
            yield Reason(source="permission", id=permission, effect=Verdict.DENY, text=text)


def _needs(facts: Facts) -> list[Capability]:
    """What this call takes: the resources it names; the declared bound where it names none."""
    named = [
        Capability(kind=CapabilityKind(resource.kind), scope=(resource.value,))
        for resource in facts.resources
    ]
    kinds = {capability.kind for capability in named}
    return named + [c for c in facts.required_capabilities if c.kind not in kinds]


def _capabilities(facts: Facts, lacking: tuple[Capability, ...]) -> Iterator[Reason]:
    for capability in lacking:
        text = f"not granted: {capability}"
        kind = capability.kind.value
        yield Reason(source="capability", id=kind, effect=Verdict.DENY, text=text)
    for resource in facts.resources:
        if not _within_bound(facts, resource.kind, resource.value):
            text = f"{resource.access} {resource.value} is beyond what the tool declares"
            yield Reason(source="capability", id=resource.kind, effect=Verdict.DENY, text=text)


def _within_bound(facts: Facts, kind: str, value: str) -> bool:
    """Declared [] or ["*"] bounds nothing by itself; a declared scope is an upper bound."""
    need = Capability(kind=CapabilityKind(kind), scope=(value,))
    bounds = [c for c in facts.required_capabilities if c.kind.value == kind]
    if any(bound.whatever for bound in bounds):
        return True
    return not missing([need], bounds)


def _enforcement(facts: Facts) -> Iterator[Reason]:
    for kind, who in sorted(facts.enforced_by.items()):
        if who == "nobody":
            text = f"nobody would enforce the bounds of {kind} at level {facts.isolation.word}"
            yield Reason(source="capability", id=kind, effect=Verdict.DENY, text=text)


def _policy(facts: Facts) -> Iterator[Reason]:
    yield _reason("granted", Verdict.ALLOW, "permitted: the grants cover what the call takes")
    if facts.requires_confirmation:
        yield _reason("confirm", _held(facts), "the tool asks to be confirmed")
    if not facts.effects_known:
        yield _reason("unknown", Verdict.ASK, "the tool does not say what it does")
        return
    asked = sorted(facts.effects & ASKED)
    if asked:
        yield _reason("effects", Verdict.ASK, f"the tool may have effects: {', '.join(asked)}")
    elif SideEffect.FS_WRITE in facts.effects:
        yield _reason("writes", _held(facts), "file writes are shown before they happen")
    elif facts.preview:
        yield _reason("preview", _held(facts), "a preview was asked for")


def _held(facts: Facts) -> Verdict:
    """Staging where every effect can be held back, else a question before the run."""
    return Verdict.STAGE if facts.effects <= STAGEABLE else Verdict.ASK


def _reason(identifier: str, effect: Verdict, text: str) -> Reason:
    return Reason(source="policy", id=f"built-in:{identifier}", effect=effect, text=text)


def _fitting_approval(facts: Facts) -> Approval | None:
    """A person's yes to exactly this, which has not expired."""
    approval = facts.approval
    if approval is None or approval.digest not in facts.approved_digests:
        return None
    return approval if facts.now < approval.expires_at else None


def _approved(approval: Approval) -> Reason:
    text = f"approved by {approval.approver}"
    return Reason(source="confirmation", id=approval.digest, effect=Verdict.ALLOW, text=text)


def _repairs(facts: Facts, lacking: tuple[Capability, ...]) -> Iterator[str]:
    for capability in lacking:
        yield grant_line(capability)
    for permission in facts.required_permissions:
        if not any(permission_matches(held, permission) for held in facts.permissions):
            yield f'permissions: ["{permission}"]'
