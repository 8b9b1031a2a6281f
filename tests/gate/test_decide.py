"""The gate: pure, explained, and never more permissive for having less to go on."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolstile
from toolstile.gate import decide as decide_module
from toolstile.gate.decide import decide
from toolstile.gate.facts import Facts
from toolstile.model.capability import Capability, CapabilityKind, declared, granted
from toolstile.model.decision import Approval, NamedResource, Repair
from toolstile.model.vocabulary import Enforcer, LicenceTier, SideEffect, Verdict
from toolstile.settings import values

NOW = "2026-01-01T00:00:00.000Z"
LATER = "2026-01-01T00:01:00.000Z"
EARLIER = "2025-12-31T23:59:59.000Z"


def facts(**given_facts: Any) -> Facts:
    """Facts that are allowed, changed by what is given."""
    plain: dict[str, Any] = {
        "tool": "read",
        "version": "1.0.0",
        "category": "file_system",
        "license_tier": LicenceTier.CORE,
        "effects": frozenset(),
        "effects_known": True,
        "now": NOW,
    }
    return Facts(**(plain | given_facts))


def reading(path: str) -> dict[str, Any]:
    """Facts of a tool that reads one named file."""
    resource = NamedResource(access="reads", value=path, argument="/path", kind="fs_read")
    return {
        "effects": frozenset({SideEffect.FS_READ}),
        "required_capabilities": (declared("fs_read", []),),
        "enforced_by": {"fs_read": Enforcer.HANDLE},
        "resources": (resource,),
    }


WRITES = frozenset({SideEffect.FS_WRITE})
STAGED: dict[str, Any] = {"effects": WRITES, "enforced_by": {"fs_write": Enforcer.HANDLE}}
# A right that this call could have taken and does not: only who enforces it is decided on.
UNUSED: dict[str, Any] = {
    "required_capabilities": (declared("net_read", []),),
    "unused": ("net_read",),
}
MASKED: dict[str, Any] = {"masked": ("/data/.agent",), "grants": (granted("fs_read", ["any"]),)}


@pytest.mark.parametrize(
    ("given_facts", "verdict"),
    [
        ({}, Verdict.ALLOW),
        ({"effects_known": False}, Verdict.ASK),
        ({"requires_confirmation": True}, Verdict.ASK),
        ({"requires_confirmation": True, **STAGED}, Verdict.ASK),
        ({"preview": True}, Verdict.STAGE),
        (STAGED, Verdict.STAGE),
        ({"effects": WRITES}, Verdict.ASK),
        ({"effects": WRITES, "enforced_by": {"fs_write": Enforcer.ACCEPTED}}, Verdict.ASK),
        ({"effects": frozenset({SideEffect.NET_READ})}, Verdict.ALLOW),
        ({"effects": frozenset({SideEffect.NET_WRITE})}, Verdict.ASK),
        ({"effects": frozenset({SideEffect.DB_WRITE})}, Verdict.ASK),
        ({"effects": frozenset({SideEffect.PROCESS_SPAWN})}, Verdict.ASK),
        ({"effects": WRITES | {SideEffect.NET_WRITE}}, Verdict.ASK),
        ({"effects": frozenset({SideEffect.NET_READ}), "preview": True}, Verdict.ASK),
        ({"license_tier": LicenceTier.TEAMS, "tier": LicenceTier.CORE}, Verdict.DENY),
        ({"required_permissions": ("tool.filesystem.read",)}, Verdict.DENY),
        (
            {
                "required_permissions": ("tool.filesystem.read",),
                "permissions": ("tool.filesystem.*",),
            },
            Verdict.ALLOW,
        ),
        ({**reading("/data/a")}, Verdict.DENY),
        ({**reading("/data/a"), "grants": (granted("fs_read", ["/data"]),)}, Verdict.ALLOW),
        ({**reading("/data-evil/a"), "grants": (granted("fs_read", ["/data"]),)}, Verdict.DENY),
        ({**reading("/data/a"), "grants": (granted("fs_write", ["/data"]),)}, Verdict.DENY),
        ({**reading("/data/a"), "grants": (granted("fs_read", []),)}, Verdict.DENY),
        ({**reading("/data/a"), "grants": (granted("fs_read", ["any"]),)}, Verdict.ALLOW),
        (
            {
                **reading("/data/a"),
                "required_capabilities": (declared("fs_read", ["/other"]),),
                "grants": (granted("fs_read", ["any"]),),
            },
            Verdict.DENY,
        ),
        ({**reading("/data/.agent"), **MASKED}, Verdict.DENY),
        ({**reading("/data/.agent/config.yml"), **MASKED}, Verdict.DENY),
        ({**reading("/data/.agents"), **MASKED}, Verdict.ALLOW),
        ({**reading("/data"), **MASKED}, Verdict.ALLOW),
        (
            {"required_capabilities": (declared("net_read", []),)},
            Verdict.DENY,
        ),
        ({**UNUSED, "enforced_by": {"net_read": Enforcer.KERNEL}}, Verdict.ALLOW),
        ({**UNUSED, "enforced_by": {"net_read": Enforcer.HANDLE}}, Verdict.ALLOW),
        ({**UNUSED, "enforced_by": {"net_read": Enforcer.ACCEPTED}}, Verdict.ALLOW),
        ({**UNUSED, "enforced_by": {"net_read": Enforcer.NOBODY}}, Verdict.DENY),
        ({**UNUSED, "enforced_by": {"net_read": "kernle"}}, Verdict.DENY),
        ({**UNUSED, "enforced_by": {"net_write": Enforcer.KERNEL}}, Verdict.DENY),
        (UNUSED, Verdict.DENY),
    ],
)
def test_the_verdicts(given_facts: dict[str, Any], verdict: Verdict) -> None:
    """The built-in policy and the checks before it, as a table."""
    assert decide(facts(**given_facts)).verdict is verdict


def test_the_named_setting_is_there() -> None:
    """What a denial names to accept what nobody enforces is what the settings read."""
    assert decide_module.UNENFORCED == values.UNENFORCED


def approval(digest: str = "sha256:call", expires: str = LATER) -> Approval:
    """A yes to one digest."""
    return Approval(
        execution_id="e",
        digest=digest,
        tenant="local",
        principal="",
        approver="me",
        expires_at=expires,
    )


@pytest.mark.parametrize(
    ("given_facts", "verdict"),
    [
        ({"approval": approval()}, Verdict.ALLOW),
        ({"approval": approval("sha256:other")}, Verdict.ASK),
        ({"approval": approval(expires=EARLIER)}, Verdict.ASK),
        ({"approval": approval(expires=NOW)}, Verdict.ASK),
        ({"approval": None}, Verdict.ASK),
    ],
)
def test_only_a_fitting_approval_turns_asking_into_allowing(
    given_facts: dict[str, Any], verdict: Verdict
) -> None:
    """Another digest, or an expired one, changes nothing."""
    asked = facts(effects_known=False, approved_digests=("sha256:call",), **given_facts)
    assert decide(asked).verdict is verdict


def test_an_approval_never_overrules_a_denial() -> None:
    """A person's yes cannot grant what the operator has not."""
    denied = facts(**reading("/etc/passwd"), approval=approval(), approved_digests=("sha256:call",))
    assert decide(denied).verdict is Verdict.DENY


def test_a_denial_carries_its_repair() -> None:
    """What is missing, and the lines that would grant it."""
    decision = decide(facts(**reading("/data/a"), required_permissions=("tool.filesystem.read",)))
    assert decision.missing == ("fs_read: /data/a",)
    assert decision.repair == (
        Repair(key=("grants", "fs_read"), add=('"/data/a"',)),
        Repair(key=("permissions",), add=('"tool.filesystem.read"',)),
    )
    assert [str(repair) for repair in decision.repair] == [
        '`"/data/a"` to `fs_read:` under `grants:`',
        '`"tool.filesystem.read"` to `permissions:`',
    ]
    assert {reason.source for reason in decision.reasons} == {"permission", "capability"}


kinds = st.sampled_from(list(CapabilityKind))
grants = st.lists(
    st.sampled_from(
        [
            granted("fs_read", ["/data"]),
            granted("fs_read", ["any"]),
            granted("fs_write", ["/data"]),
            granted("net_read", ["example.org"]),
            granted("secret", ["gh"]),
        ]
    ),
    unique=True,
)
needs = st.lists(
    st.sampled_from(
        [
            declared("fs_read", []),
            declared("fs_read", ["/data/x"]),
            declared("fs_write", []),
            declared("net_read", []),
            declared("secret", ["gh"]),
        ]
    ),
    unique=True,
)
any_facts = st.builds(
    facts,
    effects=st.frozensets(st.sampled_from([e for e in SideEffect if e is not SideEffect.NONE])),
    effects_known=st.booleans(),
    requires_confirmation=st.booleans(),
    preview=st.booleans(),
    grants=grants.map(tuple),
    required_capabilities=needs.map(tuple),
    required_permissions=st.lists(
        st.sampled_from(["tool.filesystem.read", "tool.network.fetch"]), unique=True
    ).map(tuple),
    permissions=st.lists(
        st.sampled_from(["tool.filesystem.*", "tool.network.fetch"]), unique=True
    ).map(tuple),
    tier=st.sampled_from(list(LicenceTier)),
    license_tier=st.sampled_from(list(LicenceTier)),
    enforced_by=st.dictionaries(
        st.sampled_from(["fs_read", "fs_write", "net_read", "secret"]),
        st.sampled_from(list(Enforcer)),
    ),
    approval=st.sampled_from([None, approval(), approval("sha256:other")]),
    approved_digests=st.sampled_from([(), ("sha256:call",)]),
)
STRICTNESS = (Verdict.ALLOW, Verdict.STAGE, Verdict.ASK, Verdict.DENY)


@given(any_facts)
def test_the_same_facts_give_the_same_decision(some: Facts) -> None:
    """Nothing but the facts goes in: decided again from their JSON, the answer is equal."""
    again = msgspec.json.decode(msgspec.json.encode(some), type=Facts)
    assert decide(some) == decide(again)
    assert decide(some).reasons


@given(any_facts, st.data())
def test_less_is_never_more(some: Facts, data: st.DataObject) -> None:
    """Taking away a grant, a permission, the approval or the enforcer never allows more."""
    smaller = data.draw(
        st.sampled_from(
            [
                msgspec.structs.replace(some, grants=some.grants[1:]),
                msgspec.structs.replace(some, permissions=some.permissions[1:]),
                msgspec.structs.replace(some, approval=None),
                msgspec.structs.replace(
                    some, enforced_by={**some.enforced_by, "secret": Enforcer.NOBODY}
                ),
                msgspec.structs.replace(some, enforced_by={}),
                msgspec.structs.replace(some, effects_known=False),
                msgspec.structs.replace(some, tier=LicenceTier.CORE),
            ]
        )
    )
    before, after = decide(some).verdict, decide(smaller).verdict
    assert STRICTNESS.index(after) >= STRICTNESS.index(before)


def test_nothing_else_makes_an_allowing_decision() -> None:
    """Outside gate/decide.py no code builds a Decision (soundness S8)."""
    root = Path(toolstile.__file__).parent
    makers = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Decision"
    }
    assert makers == {"gate/decide.py"}


def test_capabilities_are_values() -> None:
    """A decision does not change the facts it is given."""
    some = facts(**reading("/data/a"), grants=(granted("fs_read", ["/data"]),))
    before = msgspec.json.encode(some)
    decide(some)
    assert msgspec.json.encode(some) == before
    assert isinstance(some.grants[0], Capability)
