"""From a definition as written to the canonical `ToolDefinition` (contract section 1).

All faults are found at once. The canonical form has closed schemas and every default written out;
capabilities are the source of permissions, side effects and `allow_side_effects`, which are
derived where absent and must agree where written.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any

import msgspec

from toolstile.errors import DefinitionError
from toolstile.model import semver
from toolstile.model.capability import (
    CAPABILITY_PERMISSION,
    MARKS,
    MAX_PERMISSION,
    PERMISSIONS,
    Capability,
    CapabilityKind,
    declared,
)
from toolstile.model.definition import (
    DEFAULT_OUTPUT_BYTES,
    DEFAULT_SECONDS,
    EMPTY_PARAMETERS,
    OUTPUT_RANGE,
    SECONDS_RANGE,
    UNVERSIONED,
    Constraints,
    NetworkBounds,
    ToolDefinition,
)
from toolstile.model.issue import Issue, pointer
from toolstile.model.json import thaw
from toolstile.model.vocabulary import (
    GENERAL,
    Category,
    Determinism,
    IsolationLevel,
    LicenceTier,
    ResultType,
    Risk,
    SideEffect,
)
from toolstile.schema import fields
from toolstile.schema.acceptance import check_schema
from toolstile.schema.agreement import warn_of_excess
from toolstile.schema.bodies import read_normalize, read_source
from toolstile.schema.closing import Root, close
from toolstile.schema.extensions import NO_EXTENSIONS, Extensions
from toolstile.schema.faces.lex import from_parameter_list
from toolstile.schema.fields import Faults
from toolstile.schema.places import walk
from toolstile.schema.readable import unreadable

MAX_MEMORY = 1 << 40
CATEGORY_NEEDS = {
    Category.FILE_SYSTEM: (CapabilityKind.FS_READ, CapabilityKind.FS_WRITE),
    Category.NETWORK: (CapabilityKind.NET_READ, CapabilityKind.NET_WRITE),
    Category.DATABASE: (CapabilityKind.DB_READ, CapabilityKind.DB_WRITE),
    Category.EXTERNAL_API: (CapabilityKind.SECRET,),
}
CATEGORIES = fields.words_of(Category) | {GENERAL: Category.SYSTEM}


class Vocabulary(msgspec.Struct, frozen=True):
    """What a definition may refer to besides the standard words."""

    permissions: frozenset[str] = PERMISSIONS
    extensions: Extensions = NO_EXTENSIONS


STANDARD = Vocabulary()


class Inspection(msgspec.Struct, frozen=True):
    """What reading a definition found. `definition` is None where there are issues; the level of
    isolation that it asks for is told even so."""

    definition: ToolDefinition | None
    issues: tuple[Issue, ...] = ()
    warnings: tuple[Issue, ...] = ()
    isolation: IsolationLevel | None = None


def define(
    document: Mapping[str, Any] | ToolDefinition, vocabulary: Vocabulary = STANDARD
) -> ToolDefinition:
    """The canonical definition. Canonical definitions come back as they are.

    Raises:
        DefinitionError: with every fault, each with its place and repair.
    """
    return defined(document, inspect(document, vocabulary))


def defined(document: Mapping[str, Any] | ToolDefinition, found: Inspection) -> ToolDefinition:
    """The definition that an inspection of the document found. Raises DefinitionError."""
    if found.definition is None:
        raise DefinitionError(_name_of(document), found.issues)
    return found.definition


def inspect(
    document: Mapping[str, Any] | ToolDefinition, vocabulary: Vocabulary = STANDARD
) -> Inspection:
    """Like `define`, but says what it found instead of raising; warnings included."""
    given = document.to_dict() if isinstance(document, ToolDefinition) else document
    refused = tuple(unreadable(given))
    if refused:
        return Inspection(None, refused)
    written = thaw(given)
    reader = _Reader(written, vocabulary)
    definition = reader.read()
    if given is document:  # in the canonical form everything is written out
        warn_of_excess(reader.faults, written, definition)
    issues = tuple(sorted(reader.faults.issues, key=lambda issue: (issue.path, issue.code)))
    warnings = tuple(reader.faults.warnings)
    isolation = definition.constraints.required_isolation
    return Inspection(None if issues else definition, issues, warnings, isolation)


def _name_of(document: Any) -> str:
    named = document if isinstance(document, Mapping) else {}
    written = document.name if isinstance(document, ToolDefinition) else named.get("name")
    return str(written)[:64] if isinstance(written, (str, int, float, NoneType)) else ""


class _Reader:
    """Reads one document field by field, in the order in which fields depend on each other."""

    def __init__(self, document: dict[str, Any], vocabulary: Vocabulary) -> None:
        self.document = document
        self.vocabulary = vocabulary
        self.faults = Faults()

    def read(self) -> ToolDefinition:
        document, faults = self.document, self.faults
        fields.unknown_keys(faults, "", document, ToolDefinition.__struct_fields__)
        parameters = self._parameters(document.get("parameters"))
        result_type = self._word("result_type", ResultType, ResultType.OBJECT)
        capabilities = self._capabilities(parameters)
        effects = self._side_effects(capabilities)
        category = self._category()
        self._check_category(category, capabilities, effects)
        binary = result_type in (ResultType.BINARY, ResultType.STREAM)
        return ToolDefinition(
            name=fields.name(faults, document.get("name")),
            description=self._description(),
            version=self._version(),
            category=category,
            license_tier=self._numbered("license_tier", LicenceTier, LicenceTier.CORE),
            parameters=parameters,
            output_schema=self._output_schema(),
            result_type=result_type,
            constraints=self._constraints(category, effects),
            required_permissions=self._permissions(capabilities),
            required_capabilities=capabilities,
            side_effects=effects,
            determinism=self._word("determinism", Determinism, Determinism.NON_DETERMINISTIC),
            idempotent=self._flag("idempotent"),
            requires_confirmation=self._flag("requires_confirmation"),
            usage=self._usage(parameters),
            normalize=read_normalize(
                faults, document.get("normalize"), "binary" if binary else "json"
            ),
            secrets=self._secrets(),
            metadata=self._metadata(),
            source=read_source(faults, document.get("source"), parameters.get("properties", {})),
        )

    # --- single fields ---------------------------------------------------------------------

    def _word(self, field: str, kind: Any, default: Any) -> Any:
        value = self.document.get(field, default)
        choices = {member.value: member for member in kind}
        return fields.choice(self.faults, f"/{field}", value, choices, default)

    def _numbered(self, field: str, kind: Any, default: Any) -> Any:
        value = self.document.get(field, default)
        if isinstance(value, kind):
            return value
        return fields.choice(self.faults, f"/{field}", value, fields.words_of(kind), default)

    def _flag(self, field: str) -> bool:
        return fields.flag(self.faults, f"/{field}", self.document.get(field, False))

    def _category(self) -> Category:
        value = self.document.get("category", Category.SYSTEM)
        read: Category = fields.choice(self.faults, "/category", value, CATEGORIES, Category.SYSTEM)
        return read

    def _description(self) -> str:
        value = self.document.get("description")
        return fields.text(
            self.faults, "/description", value, fields.MAX_DESCRIPTION, required=True
        )

    def _usage(self, parameters: Mapping[str, Any]) -> str | None:
        value = self.document.get("usage")
        if value is None:
            return None
        before = len(self.faults.issues)
        usage = fields.text(self.faults, "/usage", value, fields.MAX_USAGE)
        if len(self.faults.issues) == before:
            # Its patterns take 20 ms to compile: only who writes a usage pays for them.
            from toolstile.schema.usage.lint import REFUSED, lint_usage  # noqa: PLC0415 - as said

            for issue in lint_usage(usage, str(self.document.get("name")), parameters):
                found = self.faults.issues if issue.code in REFUSED else self.faults.warnings
                found.append(issue)
        return usage

    def _version(self) -> str | None:
        value = self.document.get("version")
        if value is None or value == UNVERSIONED:
            return None
        try:
            return str(semver.parse(value if isinstance(value, str) else ""))
        except semver.SemverError as error:
            self.faults.note("/version", "version", error.message, error.hint, "semver 2.0.0")
            return None

    def _secrets(self) -> tuple[str, ...]:
        return fields.strings(self.faults, "/secrets", self.document.get("secrets", []), 64, 64)

    def _metadata(self) -> Mapping[str, Any]:
        value = self.document.get("metadata")
        bound = fields.MAX_METADATA_BYTES
        return {} if value is None else fields.json_object(self.faults, "/metadata", value, bound)

    # --- schemas ---------------------------------------------------------------------------

    def _parameters(self, value: Any) -> Mapping[str, Any]:
        if value is None:
            return EMPTY_PARAMETERS
        if isinstance(value, list):
            value = from_parameter_list(self.faults, value)
        return self._schema("/parameters", value, Root.ARGUMENTS)

    def _output_schema(self) -> Mapping[str, Any] | None:
        value = self.document.get("output_schema")
        return None if value is None else self._schema("/output_schema", value, Root.OUTPUT)

    def _schema(self, path: str, schema: Any, root: Root) -> Mapping[str, Any]:
        issues = check_schema(schema, root, self.vocabulary.extensions)
        for issue in issues:
            self.faults.issues.append(msgspec.structs.replace(issue, path=path + issue.path))
        if issues:
            return {}
        self._texts(path, schema)
        if root is Root.ARGUMENTS:
            self._names(schema)
        return close(schema, root)

    def _texts(self, path: str, schema: Any) -> None:
        for place in walk(schema):
            if "description" in place.rules:
                where = f"{path}{place.pointer}/description"
                longest = fields.MAX_DESCRIPTION
                fields.text(self.faults, where, place.rules["description"], longest)

    def _names(self, schema: dict[str, Any]) -> None:
        seen: dict[str, str] = {}
        for name in schema.get("properties", {}):
            path = pointer("parameters", "properties", name)
            if not 1 <= len(name) <= 64:
                reason = "a parameter's name has 1 to 64 characters"
                self.faults.note(path, "name", reason, "shorten it")
            elif not fields.NAME.fullmatch(name):
                reason = "the parameter's name is not snake_case"
                self.faults.warn(path, "name", reason, "models mix up spellings; use a-z, 0-9, _")
            other = seen.setdefault(name.lower(), name)
            if other != name:
                reason = f"two parameters differ only by case: '{other[:64]}' is the other"
                self.faults.note(path, "name", reason, "rename one of them")

    # --- one fact once ---------------------------------------------------------------------

    def _capabilities(self, parameters: Mapping[str, Any]) -> tuple[Capability, ...]:
        marked = _marked_kinds(parameters)
        if "required_capabilities" not in self.document:
            return tuple(declared(kind, []) for kind in CapabilityKind if kind in marked)
        written = fields.capabilities(self.faults, self.document["required_capabilities"])
        kinds = {capability.kind for capability in written}
        if CapabilityKind.NET_WRITE in kinds:  # connecting is reading or writing
            marked.discard(CapabilityKind.NET_READ)
        for kind in sorted(marked - kinds):
            reason = f"an argument is marked as {kind.value}, which is not among them"
            hint = f"add {{{kind.value}: []}}, or leave required_capabilities out"
            self.faults.note("/required_capabilities", "disagrees", reason, hint)
        return written

    def _side_effects(self, capabilities: tuple[Capability, ...]) -> tuple[SideEffect, ...] | None:
        """Written, or derived from the capabilities; None = unknown."""
        derived = {
            SideEffect(c.kind.value) for c in capabilities if c.kind != CapabilityKind.SECRET
        }
        value = self.document.get("side_effects")
        if value is None:
            return _ordered(derived) if derived else None
        choices = {effect.value: effect for effect in SideEffect}
        read = fields.each(value, lambda item: self._effect(item, choices))
        hint = "write [none] if there are none, or leave it out if they are unknown"
        if not isinstance(value, list) or not read:
            reason = "it is an empty list" if value == [] else "it must be a list of side effects"
            self.faults.note("/side_effects", "type", reason, hint)
        self._check_effects(set(read), derived)
        return _ordered(set(read))

    def _effect(self, item: Any, choices: dict[str, SideEffect]) -> SideEffect:
        return fields.choice(self.faults, "/side_effects", item, choices, SideEffect.NONE)

    def _check_effects(self, written: set[SideEffect], derived: set[SideEffect]) -> None:
        if SideEffect.NONE in written and len(written) > 1:
            hint = "drop 'none', or everything else"
            self.faults.note("/side_effects", "disagrees", "'none' excludes all others", hint)
        for effect in sorted(derived - written):
            reason = f"the capabilities allow {effect.value}, which is not among them"
            hint = f"add {effect.value}, or leave side_effects out"
            self.faults.note("/side_effects", "disagrees", reason, hint)

    def _permissions(self, capabilities: tuple[Capability, ...]) -> tuple[str, ...]:
        derived = {
            CAPABILITY_PERMISSION[capability.kind]
            for capability in capabilities
            if capability.kind in CAPABILITY_PERMISSION
        }
        value = self.document.get("required_permissions")
        if value is None:
            return tuple(sorted(derived))
        path = "/required_permissions"
        written = fields.strings(self.faults, path, value, fields.MAX_PERMISSIONS, MAX_PERMISSION)
        known = {permission: permission for permission in sorted(self.vocabulary.permissions)}
        for index, permission in enumerate(written):
            fields.choice(self.faults, f"{path}/{index}", permission, known, "")
        for permission in sorted(derived - set(written)):
            reason = f"the capabilities take {permission}, which is not among them"
            hint = f"add {permission}, or leave required_permissions out"
            self.faults.note(path, "disagrees", reason, hint)
        return tuple(sorted(written))

    def _check_category(
        self,
        category: Category,
        capabilities: tuple[Capability, ...],
        effects: tuple[SideEffect, ...] | None,
    ) -> None:
        """LEX-DEF section 4.3: some categories need a right; without it nothing is granted."""
        needed = CATEGORY_NEEDS.get(category, ())
        if not needed or any(capability.kind in needed for capability in capabilities):
            return
        words = " or ".join(kind.value for kind in needed)
        reason = f"a tool of category {category.word} needs {words}, and asks for none"
        hint = f"add required_capabilities: [{{{needed[0].value}: []}}], or mark an argument"
        proven = {effect.value for effect in effects or ()} & {kind.value for kind in needed}
        say = self.faults.note if proven else self.faults.warn
        say("/required_capabilities", "category", reason, hint)

    # --- constraints -----------------------------------------------------------------------

    def _constraints(
        self, category: Category, effects: tuple[SideEffect, ...] | None
    ) -> Constraints:
        written = self.document.get("constraints")
        if written is None:
            written = {}
        if not isinstance(written, dict):
            self.faults.note("/constraints", "type", "it must be an object", "write {...}")
            written = {}
        fields.unknown_keys(self.faults, "/constraints", written, Constraints.__struct_fields__)
        return Constraints(
            max_execution_time=self._seconds(written, "max_execution_time", DEFAULT_SECONDS),
            max_output_size=self._size(written, "max_output_size", DEFAULT_OUTPUT_BYTES),
            allow_side_effects=self._allows_effects(written, effects),
            required_isolation=self._isolation(written, category, effects),
            max_memory=self._memory(written),
            max_cpu=self._cpu(written),
            network=self._network(written.get("network")),
        )

    def _seconds(self, written: dict[str, Any], field: str, default: float) -> float:
        value = written.get(field)
        path = f"/constraints/{field}"
        return (
            default if value is None else fields.seconds(self.faults, path, value, *SECONDS_RANGE)
        )

    def _size(self, written: dict[str, Any], field: str, default: int) -> int:
        value = written.get(field)
        path = f"/constraints/{field}"
        return default if value is None else fields.size(self.faults, path, value, *OUTPUT_RANGE)

    def _memory(self, written: dict[str, Any]) -> int | None:
        value = written.get("max_memory")
        path = "/constraints/max_memory"
        # Below 1 MiB no interpreter starts; above 1 TiB it is a slip of the pen.
        return None if value is None else fields.size(self.faults, path, value, 1 << 20, MAX_MEMORY)

    def _cpu(self, written: dict[str, Any]) -> float | None:
        value = written.get("max_cpu")
        path = "/constraints/max_cpu"
        return None if value is None else fields.seconds(self.faults, path, value, 0.01, 3_600.0)

    def _network(self, value: Any) -> NetworkBounds | None:
        if value is None:
            return None
        path = "/constraints/network"
        if not isinstance(value, dict):
            self.faults.note(path, "type", "it must be an object", "write {max_requests: ...}")
            return None
        fields.unknown_keys(self.faults, path, value, NetworkBounds.__struct_fields__)
        requests, size = value.get("max_requests"), value.get("max_bytes")
        return NetworkBounds(
            max_requests=None
            if requests is None
            else fields.count(self.faults, f"{path}/max_requests", requests, 0, 1_000_000),
            max_bytes=None
            if size is None
            else fields.size(self.faults, f"{path}/max_bytes", size, 0, MAX_MEMORY),
        )

    def _allows_effects(
        self, written: dict[str, Any], effects: tuple[SideEffect, ...] | None
    ) -> bool:
        writing = sorted(effect for effect in effects or () if effect.writes)
        if "allow_side_effects" not in written:
            return effects is None or bool(writing)
        path = "/constraints/allow_side_effects"
        allowed = fields.flag(self.faults, path, written["allow_side_effects"])
        if writing and not allowed:
            reason = f"the tool declares {', '.join(writing)}"
            self.faults.note(path, "disagrees", reason, "allow side effects, or drop these")
        return allowed

    def _isolation(
        self,
        written: dict[str, Any],
        category: Category,
        effects: tuple[SideEffect, ...] | None,
    ) -> IsolationLevel:
        """LEX-DEF section 4.3: what executes code is kept strictly apart, and high risk is too
        where the definition does not say."""
        executes = category.risk is Risk.HIGH or SideEffect.PROCESS_SPAWN in (effects or ())
        floor = IsolationLevel.STRICT if executes else IsolationLevel.NONE
        if written.get("required_isolation") is None:
            return max(floor, IsolationLevel.STANDARD)
        path = "/constraints/required_isolation"
        choices = fields.words_of(IsolationLevel)
        standard = IsolationLevel.STANDARD
        word = written["required_isolation"]
        level: IsolationLevel = fields.choice(self.faults, path, word, choices, standard)
        if level < floor:
            reason = "a tool that executes code or starts programs needs at least strict"
            self.faults.note(path, "isolation", reason, "write strict or restricted")
        return level


def _ordered(effects: set[SideEffect]) -> tuple[SideEffect, ...]:
    return tuple(effect for effect in SideEffect if effect in effects)


def _marked_kinds(parameters: Mapping[str, Any]) -> set[CapabilityKind]:
    marks = (place.rules.get("x-toolstile", {}) for place in walk(parameters))
    return {MARKS[word].kinds[0] for mark in marks for word in mark if word in MARKS}
