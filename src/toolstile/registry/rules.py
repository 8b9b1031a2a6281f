"""What may be registered beside what is there already (contract section 1, "Identity")."""

from __future__ import annotations

from toolstile.authoring import Tool
from toolstile.errors import ConflictError, LicenceError
from toolstile.model.definition import ToolDefinition
from toolstile.model.tier import TIERS, lowest_with_isolation, lowest_with_vocabulary
from toolstile.model.vocabulary import LicenceTier
from toolstile.registry.snapshot import ALIASES, Entry, version_of
from toolstile.schema.contain.containment import compare
from toolstile.schema.vocabularies import vocabulary_of


def already_registered(entry: Entry | None, definition: ToolDefinition) -> bool:
    """True where this very definition is there. Raises ConflictError where another one is."""
    for tool in entry.versions if entry is not None else ():
        if tool.definition.exported_version == definition.exported_version:
            if tool.definition.digest == definition.digest:
                return True
            if definition.version is None:
                hint = "give the definitions versions, or unregister the old one first"
            else:
                hint = "raise the version: a version never changes its meaning"
            reason = f"version {definition.exported_version} means another definition"
            raise ConflictError(definition.name, reason, hint)
    return False


def check_name(entry: Entry | None, name: str, *, built_in: bool) -> None:
    """Built-ins and aliases belong to Toolstile. Raises ConflictError."""
    if name in ALIASES:
        reason = f"the name stands for '{ALIASES[name]}'"
        raise ConflictError(name, reason, "choose another name")
    if entry is not None and entry.built_in != built_in:
        reason = "it is a built-in tool" if entry.built_in else "it is taken by a custom tool"
        raise ConflictError(name, reason, "choose another name")


def check_compatible(entry: Entry | None, new: Tool) -> None:
    """A version that breaks the callers of its neighbours must be a major step.

    Raises:
        ConflictError: it breaks them, or whether it does cannot be told.
    """
    for old in entry.versions if entry is not None else ():
        if _promises_compatibility(old, new):
            earlier, later = sorted((old, new), key=version_of)
            compared = compare(earlier.definition, later.definition)
            if compared.verdict != "compatible":
                _refuse(earlier, later, compared.verdict, [d.text for d in compared.reasons])


def _promises_compatibility(one: Tool, other: Tool) -> bool:
    first, second = version_of(one), version_of(other)
    if None in (one.definition.version, other.definition.version):
        return False  # an unversioned tool promises nothing
    if first.prerelease or second.prerelease:
        return False
    # Semver: below 1.0.0 the minor number is the major one.
    return first.major == second.major and (first.major > 0 or first.minor == second.minor)


def _refuse(earlier: Tool, later: Tool, verdict: str, reasons: list[str]) -> None:
    versions = f"{earlier.definition.version} -> {later.definition.version}"
    why = "; ".join(reasons[:3]) or "the schemas could not be compared"
    step = "breaks callers" if verdict == "breaking" else "may break callers"
    hint = "make it a major step; `toolstile tools diff OLD NEW` says more"
    raise ConflictError(later.definition.name, f"{versions} {step}: {why}", hint)


def admit(definition: ToolDefinition, tier: LicenceTier, custom_tools: int) -> None:
    """May this tier have this custom definition beside those it has? Never asked where there is
    no licence issuer.

    Raises:
        LicenceError: with the lowest tier that may.
    """
    row = TIERS[tier]
    if row.custom is not None and custom_tools >= row.custom:
        more = min(t for t, r in TIERS.items() if r.custom is None or r.custom > custom_tools)
        raise LicenceError(f"custom tool number {custom_tools + 1}", more.word)
    level = definition.constraints.required_isolation
    if level > row.isolation:
        raise LicenceError(f"isolation '{level.word}'", lowest_with_isolation(level).word)
    for schema in (definition.parameters, definition.output_schema):
        needed = lowest_with_vocabulary(vocabulary_of(schema))
        if needed > tier:
            raise LicenceError("this part of JSON Schema", needed.word)
