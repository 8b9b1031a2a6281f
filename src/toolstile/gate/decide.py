"""The one maker of allowing Decisions: facts in, Decision out; nothing read, nothing spent.

    1  licence      the tool's tier is within the caller's
    2  permissions  every required permission is granted
    3  capabilities what the call needs (named resources, else the declared bound) is granted, and
                    nothing it names lies where no tool may look
    4  enforcement  for every right somebody enforces its bounds
    5  policy       built in: permit what is granted; stage file writes; ask for the rest
    6  approval     a person's yes turns ask or stage into allow, for exactly what they saw

Each step may deny, none may skip another, and all of them speak: a Decision keeps every reason,
for yes and for no. Holding rights permits nothing by itself: what no policy permits is denied, and
a right counts as enforced only where a known enforcer is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from toolstile.gate.facts import Facts, Rights
from toolstile.model import paths
from toolstile.model.capability import (
    Capability,
    CapabilityKind,
    missing,
    permission_matches,
    quoted,
)
from toolstile.model.decision import Approval, Decision, NamedResource, Reason, Repair
from toolstile.model.vocabulary import Enforcer, SideEffect, Verdict

# Effects that can be held back until a person has seen them.
STAGEABLE = frozenset((SideEffect.FS_READ, SideEffect.FS_WRITE))
# Effects that leave the machine or cannot be held back: a person is asked before.
ASKED = frozenset((SideEffect.NET_WRITE, SideEffect.DB_WRITE, SideEffect.PROCESS_SPAWN))

_ENFORCERS = (Enforcer.KERNEL, Enforcer.HANDLE, Enforcer.ACCEPTED)

# The setting by which an operator lets tools have what nobody bounds (docs/settings.md).
UNENFORCED = "capabilities_accepted_although_nobody_enforces_them"

# A denial outweighs a question, a question outweighs staging, staging outweighs permission.
_WEIGHT = (Verdict.ALLOW, Verdict.STAGE, Verdict.ASK, Verdict.DENY)


def decide(facts: Facts) -> Decision:
    """The Decision that follows from the facts; the same facts always give the same one."""
    lacking = missing(_needs(facts), facts.grants)
    reasons = [
        *_licence(facts),
        *_permissions(facts),
        *_capabilities(facts, lacking),
        *_masked(facts),
        *_enforcement(facts),
    ]
    covered = all(reason.effect is not Verdict.DENY for reason in reasons)
    reasons += _policy(facts, covered=covered)
    verdict = _verdict(reasons)
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


def _verdict(reasons: Sequence[Reason]) -> Verdict:
    """The heaviest of the reasons; deny where none of them is a policy that permits."""
    if not any(r.source == "policy" and r.effect is Verdict.ALLOW for r in reasons):
        return Verdict.DENY
    return max((reason.effect for reason in reasons), key=_WEIGHT.index)


def _licence(facts: Facts) -> Iterator[Reason]:
    if facts.license_tier > facts.tier:
        needed = facts.license_tier.word
        text = f"the tool needs licence tier '{needed}'"
        yield Reason(source="licence", id=needed, effect=Verdict.DENY, text=text)


def _permissions(facts: Facts) -> Iterator[Reason]:
    for permission in facts.required_permissions:
        if _holds(facts.permissions, permission):
            text, effect = f"permission {permission} is granted", Verdict.ALLOW
        else:
            text, effect = f"permission {permission} is not granted", Verdict.DENY
        yield Reason(source="permission", id=permission, effect=effect, text=text)


def _holds(permissions: tuple[str, ...], needed: str) -> bool:
    return any(permission_matches(held, needed) for held in permissions)


def _needs(facts: Facts) -> list[Capability]:
    """What this call takes: the resources it names; the declared bound where it names none, and
    nothing where it could have named one and did not."""
    named = _named(facts.resources)
    kinds = {*(capability.kind.value for capability in named), *facts.unused}
    return named + [c for c in facts.required_capabilities if c.kind.value not in kinds]


def _named(resources: tuple[NamedResource, ...]) -> list[Capability]:
    return [
        Capability(kind=CapabilityKind(resource.kind), scope=(resource.value,))
        for resource in resources
    ]


def _capabilities(facts: Facts, lacking: tuple[Capability, ...]) -> Iterator[Reason]:
    for capability in lacking:
        text = f"not granted: {capability}"
        kind = capability.kind.value
        yield Reason(source="capability", id=kind, effect=Verdict.DENY, text=text)
    for resource in facts.resources:
        if not _within_bound(facts, resource.kind, resource.value):
            text = f"{resource.access} {resource.value} is beyond what the tool declares"
            yield Reason(source="capability", id=resource.kind, effect=Verdict.DENY, text=text)
    for kind in facts.coarse:
        text = f"coarse: no argument says what {kind} is for, so it is all that is granted"
        yield Reason(source="capability", id=kind, effect=Verdict.ALLOW, text=text)


def _masked(facts: Facts) -> Iterator[Reason]:
    for resource in facts.resources:
        if is_masked(resource.value, facts.masked):
            text = f"{resource.access} {resource.value}: this place is masked from every tool"
            yield Reason(source="capability", id=resource.kind, effect=Verdict.DENY, text=text)


def is_masked(value: str, masked: tuple[str, ...]) -> bool:
    """Is this path one of the places that no tool may name, or in one? No host and no name is."""
    return value.startswith("/") and any(paths.beneath(value, place) for place in masked)


def _within_bound(facts: Facts, kind: str, value: str) -> bool:
    """Declared [] or ["*"] bounds nothing by itself; a declared scope is an upper bound."""
    need = Capability(kind=CapabilityKind(kind), scope=(value,))
    bounds = [c for c in facts.required_capabilities if c.kind.value == kind]
    if any(bound.whatever for bound in bounds):
        return True
    return not missing([need], bounds)


def _enforcement(facts: Facts) -> Iterator[Reason]:
    for kind in _unenforced(facts):
        text = f"nobody would enforce the bounds of {kind} at level {facts.isolation.word}"
        yield Reason(source="capability", id=kind, effect=Verdict.DENY, text=text)


def _unenforced(facts: Facts) -> list[str]:
    """The declared kinds of rights that nobody is known to enforce: not being named is no."""
    kinds = {capability.kind.value for capability in facts.required_capabilities}
    return sorted(kind for kind in kinds if facts.enforced_by.get(kind) not in _ENFORCERS)


def _policy(facts: Facts, *, covered: bool) -> Iterator[Reason]:
    if covered:
        yield _reason("granted", Verdict.ALLOW, "permitted: the grants cover what the call takes")
    if facts.requires_confirmation:
        yield _reason("confirm", Verdict.ASK, "the tool asks to be confirmed")
    if not facts.effects_known:
        repair = "write `side_effects: [none]` if it has none"
        yield _reason(
            "unknown", Verdict.ASK, f"the tool does not say what effects it has ({repair})"
        )
        return
    asked = sorted(facts.effects & ASKED)
    if asked:
        yield _reason("effects", Verdict.ASK, f"the tool may have effects: {', '.join(asked)}")
    elif SideEffect.FS_WRITE in facts.effects:
        held = _held(facts)
        by_itself = "it writes files by itself, so its writes cannot be held back and shown"
        shown = "file writes are shown before they happen"
        yield _reason("writes", held, shown if held is Verdict.STAGE else by_itself)
    elif facts.preview:
        yield _reason("preview", _held(facts), "a preview was asked for")


def _held(facts: Facts) -> Verdict:
    """Staging where every effect can be held back, else a question before the run. Only writes
    through the handles of named files can be: whatever else is written has happened by then."""
    writes = SideEffect.FS_WRITE in facts.effects
    by_handle = not writes or facts.enforced_by.get("fs_write") is Enforcer.HANDLE
    return Verdict.STAGE if by_handle and facts.effects <= STAGEABLE else Verdict.ASK


def _reason(identifier: str, effect: Verdict, text: str) -> Reason:
    return Reason(source="policy", id=f"built-in:{identifier}", effect=effect, text=text)


def _fitting_approval(facts: Facts) -> Approval | None:
    """A person's yes to exactly this, which has not expired."""
    approval = facts.approval
    if approval is None or approval.digest not in facts.approved_digests:
        return None
    return approval if facts.now < approval.expires_at else None


def _approved(approval: Approval) -> Reason:
    text = _said("approved", approval.approver, approval.note)
    return Reason(source="confirmation", id=approval.digest, effect=Verdict.ALLOW, text=text)


def denied(decision: Decision, question: str, by: str, note: str) -> Decision:
    """The Decision after a person's no to what the digest `question` stands for."""
    text = _said("denied", by, note)
    reason = Reason(source="confirmation", id=question, effect=Verdict.DENY, text=text)
    reasons = (*decision.reasons, reason)
    return msgspec.structs.replace(decision, verdict=Verdict.DENY, reasons=reasons)


def _said(what: str, by: str, note: str) -> str:
    return f"{what} by {by}" + (f": {note}" if note else "")


def _repairs(facts: Facts, lacking: tuple[Capability, ...]) -> Iterator[Repair]:
    """The changes that would change the answer; none for what no change can."""
    for capability in lacking:
        if not any(is_masked(item, facts.masked) for item in capability.scope):
            yield _granting(capability)
    for permission in facts.required_permissions:
        if not _holds(facts.permissions, permission):
            yield Repair(key=("permissions",), add=(quoted(permission),))
    unenforced = _unenforced(facts)
    if unenforced:
        yield Repair(key=(UNENFORCED,), add=tuple(unenforced))


def _granting(capability: Capability) -> Repair:
    kind = capability.kind.value
    if capability.whatever:
        remark = "name in the list what the tool may have"
        return Repair(key=("grants",), add=(f"{kind}: []",), remark=remark)
    return Repair(key=("grants", kind), add=tuple(map(quoted, capability.scope)))


# --- reading what is stored ------------------------------------------------------------------


def lost(stored: Decision, rights: Rights) -> tuple[str, ...]:
    """What a call of long ago was decided on and its caller no longer has: the stored result may
    be shown only where that is nothing (soundness S1). It may outlive its tool, so the tool is
    not asked."""
    named = [c for c in _named(stored.resources) if not is_masked(c.scope[0], rights.masked)]
    gone = [str(each) for each in missing(named, rights.grants)]
    gone += [r.value for r in stored.resources if is_masked(r.value, rights.masked)]
    held = {grant.kind.value for grant in rights.grants}
    for reason in stored.reasons:
        if reason.source == "permission" and not _holds(rights.permissions, reason.id):
            gone.append(reason.id)
        if reason.source == "capability" and reason.id not in held:
            gone.append(reason.id)
    return tuple(dict.fromkeys(gone))
