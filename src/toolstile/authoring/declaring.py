"""From what an author wrote beside the code to a `Tool`: every fault at once, or the tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypedDict

from toolstile.authoring.portable import reference, script_of
from toolstile.authoring.tool import Tool
from toolstile.errors import DefinitionError
from toolstile.model.capability import CapabilityKind
from toolstile.model.definition import Constraints, ToolDefinition
from toolstile.model.issue import Issue
from toolstile.model.vocabulary import Category, IsolationLevel, SideEffect
from toolstile.schema.defining import Inspection, inspect
from toolstile.schema.fields import Faults, unknown_keys
from toolstile.schema.issue import fault
from toolstile.schema.trust import trust_faults


class ToolFields(TypedDict, total=False):
    """Everything that may be said of a tool: the fields of a definition, and short names."""

    name: str
    description: str
    version: str
    category: str | Category
    license_tier: str
    parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]]
    output_schema: Mapping[str, Any] | bool
    result_type: str
    constraints: Mapping[str, Any]
    required_permissions: Sequence[str]
    required_capabilities: Sequence[Mapping[str, Sequence[str]]] | Mapping[str, Sequence[str]]
    side_effects: Sequence[str]
    determinism: str
    idempotent: bool
    requires_confirmation: bool
    usage: str
    normalize: str | Mapping[str, str]
    secrets: Sequence[str]
    metadata: Mapping[str, Any]
    source: Mapping[str, Any]
    capabilities: Sequence[Mapping[str, Sequence[str]]] | Mapping[str, Sequence[str]]
    confirm: bool
    isolation: str | IsolationLevel
    timeout: float | str | timedelta
    max_execution_time: float | str | timedelta
    max_output_size: int | str
    allow_side_effects: bool
    required_isolation: str | IsolationLevel
    max_memory: int | str
    max_cpu: float | str | timedelta
    network: Mapping[str, Any]
    trusted: bool


FIELDS = tuple(ToolFields.__annotations__)

_SHORT = {"capabilities": "required_capabilities", "confirm": "requires_confirmation"}
_SHORT_CONSTRAINTS = {
    "isolation": "required_isolation",
    "timeout": "max_execution_time",
    **{name: name for name in Constraints.__struct_fields__},
}

# What a tool works on, by what it needs; the first that it needs decides, the riskiest first.
_CATEGORIES = {
    CapabilityKind.PROCESS_SPAWN: Category.CODE_EXECUTION,
    CapabilityKind.NET_WRITE: Category.NETWORK,
    CapabilityKind.NET_READ: Category.NETWORK,
    CapabilityKind.DB_WRITE: Category.DATABASE,
    CapabilityKind.DB_READ: Category.DATABASE,
    CapabilityKind.FS_WRITE: Category.FILE_SYSTEM,
    CapabilityKind.FS_READ: Category.FILE_SYSTEM,
}

_TRUST = "say trusted=True if it is your own code, or ask for a higher level"


def declare(body: Callable[..., Any], fields: Mapping[str, Any], issues: Sequence[Issue]) -> Tool:
    """The tool of a body with these fields; `issues` are the faults found so far.

    Raises:
        DefinitionError: with every fault.
    """
    found = list(issues)
    document = _document(fields, found)
    where = reference(body)
    if where is not None:
        document.setdefault("source", {"python": where})
    inspected = _inspect(document)
    definition = inspected.definition
    trusted = fields.get("trusted") is True
    found += inspected.issues
    if not trusted:
        found += trust_faults(inspected, _TRUST)
    if found or definition is None:
        found.sort(key=lambda issue: (issue.path, issue.code))
        raise DefinitionError(str(document.get("name"))[:64], found)
    return Tool(definition=definition, function=body, file=script_of(body), trusted=trusted)


def _document(fields: Mapping[str, Any], issues: list[Issue]) -> dict[str, Any]:
    """The fields in the long form of the contract; a short name beside its long one is a fault."""
    faults = Faults()
    unknown_keys(faults, "", fields, FIELDS)
    issues += faults.issues
    known = ((name, fields[name]) for name in fields if name in FIELDS)
    document = {name: value for name, value in known if value is not None}
    document.pop("trusted", None)
    for short, name in _SHORT.items():
        _move(document, short, document, name, issues)
    written = document.get("constraints", {})
    constraints = dict(written) if isinstance(written, Mapping) else {}
    for short, name in _SHORT_CONSTRAINTS.items():
        _move(document, short, constraints, name, issues)
    if constraints:
        document["constraints"] = constraints
    return document


def _move(
    document: dict[str, Any], short: str, to: dict[str, Any], name: str, issues: list[Issue]
) -> None:
    if short not in document:
        return
    value = document.pop(short)
    if name in to:
        reason = f"'{name}' is there already, under this name or a shorter one"
        issues.append(fault(f"/{short}", "disagrees", reason, "write one of them"))
    to[name] = value.total_seconds() if isinstance(value, timedelta) else value


def _inspect(document: dict[str, Any]) -> Inspection:
    """Read it once for what it needs, and again with what follows from that."""
    first = inspect(document)
    if first.definition is None:
        return first
    derived = _derived(first.definition)
    return inspect(derived | document) if derived.keys() - document.keys() else first


def _derived(definition: ToolDefinition) -> dict[str, Any]:
    """What a definition's capabilities say, the marks of its arguments among them.

    A body that names no resource and declares no need is given none, so it has no side effects.
    """
    needed = {capability.kind for capability in definition.required_capabilities}
    derived: dict[str, Any] = {}
    category = next((_CATEGORIES[kind] for kind in _CATEGORIES if kind in needed), None)
    if category is not None:
        derived["category"] = category.word
    if definition.side_effects is None and not needed & _CATEGORIES.keys():
        derived["side_effects"] = [SideEffect.NONE.value]
    return derived
