"""What the line knows of its surroundings: tools, rights, places. Values and pure functions."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from toolstile.authoring import Tool, reference
from toolstile.gate.facts import Facts, Rights
from toolstile.model.call import Call
from toolstile.model.canonical import digest
from toolstile.model.capability import Capability, permissions_of
from toolstile.model.definition import ToolDefinition
from toolstile.model.job import Handle, Job
from toolstile.model.record import CallState
from toolstile.model.vocabulary import Enforcer, IsolationLevel, LicenceTier, ResultType
from toolstile.runtime.fingerprint import Fingerprint, fingerprint, is_findable
from toolstile.runtime.progress import Progress, now
from toolstile.runtime.records import decided, question
from toolstile.runtime.resources import coarse, unused
from toolstile.schema.compiled import Checked
from toolstile.schema.extensions import NO_EXTENSIONS, Extensions

Find = Callable[[str, str | None], Tool]
"""The tool of a name and version range, of today's snapshot. Raises UnknownToolError."""

Checking = Callable[[ToolDefinition, Callable[[], Checked]], Checked]
"""Does the check of a tool's arguments that it is given, and counts and logs how it went."""


def unmetered(_: ToolDefinition, check: Callable[[], Checked]) -> Checked:
    """Checking where nobody counts."""
    return check()


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """The surroundings of every call of one runtime. `base` is where relative paths begin."""

    find: Find
    base: str
    checking: Checking = unmetered
    extensions: Extensions = NO_EXTENSIONS
    grants: tuple[Capability, ...] = ()
    permissions: tuple[str, ...] | None = None
    # Where rights are written, for whoever is to add one.
    written_in: str = ".agent/config.yml"
    # What no tool may name, open or list, whatever is granted: .agent and our own state.
    masked: tuple[str, ...] = ()
    tier: LicenceTier = LicenceTier.ENTERPRISE
    # Kinds of rights that the operator lets tools have although nobody enforces their bounds.
    unenforced_accepted_at_own_risk: frozenset[str] = frozenset()

    def fingerprint(self, tool: Tool) -> Fingerprint:
        """What exactly would run."""
        bound = None if tool.definition.source else _source(tool).get("python")
        return fingerprint(tool.definition, tool.file, self.import_path, bound)

    @property
    def rights(self) -> Rights:
        """What callers have."""
        permissions = self.permissions
        return Rights(
            grants=self.grants,
            permissions=permissions_of(self.grants) if permissions is None else permissions,
            masked=self.masked,
        )

    @property
    def import_path(self) -> tuple[str, ...]:
        """Where tools' modules are found: where ours are, and last the project itself, so that
        nothing in it can stand before an installed package."""
        # Absolute, because the child stands elsewhere.
        return (*map(os.path.abspath, sys.path), self.base)


def facts_of(at: Progress, setting: Setting) -> Facts:
    """Everything the decision on this call rests on."""
    definition = at.definition
    rights = setting.rights
    call_digest = _call_digest(at, setting)
    return Facts(
        tool=definition.name,
        version=definition.exported_version,
        category=definition.category.word,
        license_tier=definition.license_tier,
        effects=definition.effects,
        effects_known=definition.side_effects is not None,
        idempotent=definition.idempotent,
        requires_confirmation=definition.requires_confirmation,
        required_permissions=definition.required_permissions,
        required_capabilities=definition.required_capabilities,
        resources=at.resources,
        coarse=coarse(definition),
        unused=unused(definition, at.resources),
        isolation=at.level,
        enforced_by=_enforced_by(at, setting),
        grants=rights.grants,
        masked=rights.masked,
        permissions=rights.permissions,
        tier=setting.tier,
        preview=at.call.preview,
        approval=at.request.approval,
        approved_digests=_approvable(at, call_digest),
        call_digest=call_digest,
        fingerprint=at.fingerprint.digest,
        now=now(),
    )


def _call_digest(at: Progress, setting: Setting) -> str:
    """What an approval before the run is bound to: request, caller, rights, resources, code."""
    return digest(
        {
            "request": at.call.request_digest,
            "caller": msgspec.to_builtins(at.call.caller),
            "resources": msgspec.to_builtins(at.resources),
            "grants": [str(grant) for grant in setting.grants],
            "fingerprint": at.fingerprint.digest,
        }
    )


def _approvable(at: Progress, call_digest: str) -> tuple[str, ...]:
    """The digests that an approval of this call may name. Of a held call it is the manifest's,
    and only as long as request, rights and code are what they were when it ran."""
    if at.earlier is None or at.earlier.state is CallState.ASKED:
        return (call_digest,)
    return (question(at.earlier),) if decided(at.earlier).call_digest == call_digest else ()


def _enforced_by(at: Progress, setting: Setting) -> dict[str, Enforcer]:
    """A plain child process enforces nothing; the handles of named files do, for the author who
    uses them, which no class can: it is given JSON. Everything else is enforced by nobody until
    the sandbox ladder stands."""
    whole = coarse(at.definition)
    handled = () if isinstance(at.tool.function, type) else ("fs_read", "fs_write")
    found: dict[str, Enforcer] = {}
    for capability in at.definition.required_capabilities:
        kind = capability.kind.value
        if kind not in whole and kind in handled:
            found[kind] = Enforcer.HANDLE
        else:
            accepted = kind in setting.unenforced_accepted_at_own_risk
            found[kind] = Enforcer.ACCEPTED if accepted else Enforcer.NOBODY
    return found


def job_of(at: Progress, setting: Setting, stage: str) -> Job:
    """The job that runs this call."""
    constraints = at.definition.constraints
    seconds = constraints.max_execution_time
    if at.call.timeout is not None:  # a caller may shorten a deadline, never lengthen it
        seconds = min(seconds, at.call.timeout)
    return Job(
        execution_id=at.execution_id,
        tool=at.definition.name,
        source=_source(at.tool),
        arguments=at.arguments,
        handles=tuple(
            Handle(argument=r.argument, access=r.access, value=r.value) for r in at.resources
        ),
        staged=at.decision.enforced_by.get("fs_write") is Enforcer.HANDLE,
        masked=setting.masked,
        level=at.level,
        seconds=seconds,
        max_memory=constraints.max_memory,
        max_cpu=constraints.max_cpu,
        stage=stage,
        import_path=setting.import_path,
        script=at.tool.file,
        ids=_ids(at.call),
    )


def _source(tool: Tool) -> dict[str, Any]:
    """Where the body is found: as declared, else where the bound function stands."""
    if tool.definition.source is not None:
        return dict(tool.definition.source)
    where = reference(tool.function) if tool.function is not None else None
    return {"python": where} if where else {}


def unsupported(definition: ToolDefinition) -> str | None:
    """What this version cannot do and the tool cannot be run without; None if there is nothing."""
    kind = next(iter(definition.source or {}), "python")
    if kind != "python":
        return f"a {kind} source"
    if definition.result_type in (ResultType.BINARY, ResultType.STREAM):
        return f"result_type {definition.result_type.value}"
    if definition.normalize != "json":
        word = definition.normalize if isinstance(definition.normalize, str) else "python"
        return f"normalize {word}"
    return "secrets" if definition.secrets else None


def unrunnable(tool: Tool, setting: Setting) -> str | None:
    """Why the tool cannot be run here, in words that name what is missing; None if it can."""
    name = tool.definition.name
    feature = unsupported(tool.definition)
    if feature is not None:
        return f"{name} uses {feature}, which this version does not run."
    where = _source(tool).get("python")
    if where is None and tool.definition.constraints.required_isolation is IsolationLevel.NONE:
        return f"{name} asks for isolation none, which this version does not run: move it to a file"
    if where is None:
        return f"{name} is declared and has no body: give it a source, or registry.bind one."
    module = where.partition(":")[0]
    if tool.file is not None or is_findable(module, setting.import_path):
        return None
    return f"{name} names the module {module}, and there is none: add it here, or install it."


def _ids(call: Call) -> dict[str, str | None]:
    caller = call.caller
    return {
        "execution": call.execution_id,
        "session": caller.session,
        "conversation": caller.conversation,
        "agent": caller.agent,
        "user": caller.user,
        "tenant": caller.tenant,
    }
