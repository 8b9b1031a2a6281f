"""CATH's description of a tool: a map of parameters with six types (its sections "Schemas" on).

Written as serde writes its structs: `"String"`, `{"Array": {"item_type": "Number"}}`. It knows no
integer, no bound, no enumeration, so much of a definition is left unsaid on the way out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolstile.errors import DefinitionError
from toolstile.model.capability import CapabilityKind
from toolstile.model.definition import Constraints, ToolDefinition
from toolstile.model.issue import Issue, pointer
from toolstile.model.json import JsonObject
from toolstile.model.vocabulary import ResultType, SideEffect
from toolstile.schema.adopt import Adopted, AdoptionChange
from toolstile.schema.defining import inspect
from toolstile.schema.faces.face import Face, unsaid
from toolstile.schema.issue import fault
from toolstile.schema.keywords import type_names

MAX_DEPTH = 32
_TYPES = {"String": "string", "Number": "number", "Boolean": "boolean"}
_SAID = {schema: cath for cath, schema in _TYPES.items()}
_FIELDS = (
    "name version description input_schema output_schema required_capabilities side_effects "
    "determinism resource_bounds"
).split()
_BOUNDS = {"timeout": "max_execution_time", "max_memory": "max_memory", "max_cpu": "max_cpu"}
# What CATH calls the list of a capability.
_SCOPES = {"fs": "prefixes", "net": "allowlist", "process": "programs"}


def from_cath(written: Mapping[str, Any]) -> Adopted:
    """The definition that a CATH description means; `changes` has what could not be kept.

    Raises:
        DefinitionError: it is no such description, or breaks a rule for definitions.
    """
    reading = _Reading()
    document = reading.document(written)
    inspected = inspect(document)
    issues = (*reading.issues, *inspected.issues)
    if inspected.definition is None or issues:
        raise DefinitionError(str(document.get("name", ""))[:64], issues)
    return Adopted(inspected.definition, tuple(reading.changes), inspected.warnings)


class _Reading:
    """Collects the faults and changes while a description is read."""

    def __init__(self) -> None:
        self.issues: list[Issue] = []
        self.changes: list[AdoptionChange] = []

    def document(self, written: Mapping[str, Any]) -> dict[str, Any]:
        for name in written.keys() - set(_FIELDS):
            self.refuse(pointer(str(name)), "an unknown field", f"known: {', '.join(_FIELDS)}")
        made = {k: written[k] for k in ("name", "version", "description") if k in written}
        made["parameters"] = self.parameters("/input_schema", written.get("input_schema", {}))
        if "output_schema" in written:
            made |= self.output(written["output_schema"])
        if "required_capabilities" in written:
            made["required_capabilities"] = self.capabilities(written["required_capabilities"])
        if "side_effects" in written:
            made["side_effects"] = [_snake(word) for word in _list(written["side_effects"])]
        if "determinism" in written:
            made["determinism"] = _snake(written["determinism"])
        if "resource_bounds" in written:
            made["constraints"] = self.bounds(written["resource_bounds"])
        return made

    def refuse(self, path: str, reason: str, hint: str) -> None:
        self.issues.append(fault(path, "cath", reason, hint))

    def parameters(self, path: str, schema: Any, depth: int = 0) -> dict[str, Any]:
        """CATH's InputSchema as a JSON Schema object."""
        members = schema.get("parameters", {}) if isinstance(schema, Mapping) else None
        if not isinstance(members, Mapping) or depth > MAX_DEPTH:
            self.refuse(path, "it must be a map of parameters", "write {parameters: {name: {...}}}")
            members = {}
        return self.members(f"{path}/parameters", members, depth)

    def members(self, path: str, members: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        required = []
        for name, member in members.items():
            here = path + pointer(str(name))
            if not isinstance(member, Mapping) or "param_type" not in member:
                self.refuse(here, "no parameter", "write {param_type: ..., required: ...}")
                continue
            properties[name] = self.member(here, member, depth)
            if member.get("required") is True:
                required.append(name)
        return {"type": "object", "properties": properties, "required": required}

    def member(self, path: str, member: Mapping[str, Any], depth: int) -> dict[str, Any]:
        schema = self.kind(f"{path}/param_type", member["param_type"], depth)
        if member.get("description"):
            schema["description"] = member["description"]
        default = member.get("default")  # serde writes None as null
        if default is not None and member.get("required") is True:
            text = "the default of a required parameter is dropped"
            self.changes.append(AdoptionChange(f"{path}/default", "default", text))
        elif default is not None:
            schema["default"] = default
        return schema

    def kind(self, path: str, kind: Any, depth: int) -> dict[str, Any]:
        """CATH's ParameterType as a schema."""
        if isinstance(kind, str) and kind in _TYPES:
            return {"type": _TYPES[kind]}
        match kind:
            case {"Object": {"schema": schema}} if depth < MAX_DEPTH:
                return self.parameters(f"{path}/Object/schema", schema, depth + 1)
            case {"Array": {"item_type": item}} if depth < MAX_DEPTH:
                below = self.kind(f"{path}/Array/item_type", item, depth + 1)
                return {"type": "array", "items": below}
            case {"OneOf": {"variants": [_, *_] as variants}} if depth < MAX_DEPTH:
                here = f"{path}/OneOf/variants"
                return {
                    "oneOf": [
                        self.kind(f"{here}/{index}", variant, depth + 1)
                        for index, variant in enumerate(variants)
                    ]
                }
        hint = "one of: String, Number, Boolean, Object, Array, OneOf"
        self.refuse(path, "an unknown type", hint)
        return {"type": "string"}

    def output(self, schema: Any) -> dict[str, Any]:
        if not isinstance(schema, Mapping) or "result_type" not in schema:
            self.refuse("/output_schema", "it must be an output schema", "write {result_type: ...}")
            return {}
        made: dict[str, Any] = {"result_type": _snake(schema["result_type"])}
        fields = schema.get("fields")
        if fields and made["result_type"] == ResultType.OBJECT.value:
            made["output_schema"] = self.members("/output_schema/fields", fields, 0)
        return made

    def capabilities(self, listed: Any) -> list[dict[str, Any]]:
        made: list[dict[str, Any]] = []
        for index, each in enumerate(_list(listed)):
            match each:
                case str():
                    made.append({_snake(each): []})
                case {**only} if len(only) == 1:
                    ((kind, scope),) = only.items()
                    made.append({_snake(kind): _scope(scope)})
                case _:
                    hint = "write {NetRead: {allowlist: [...]}}"
                    self.refuse(f"/required_capabilities/{index}", "no capability", hint)
        return made

    def bounds(self, written: Any) -> dict[str, Any]:
        if not isinstance(written, Mapping):
            self.refuse("/resource_bounds", "no bounds", "write {timeout: ...}")
            return {}
        made = {
            ours: _duration(written[theirs])
            for theirs, ours in _BOUNDS.items()
            if written.get(theirs) is not None
        }
        if written.get("max_network") is not None:
            made["network"] = written["max_network"]
        for name in written.keys() - _BOUNDS.keys() - {"max_network"}:
            known = ", ".join((*_BOUNDS, "max_network"))
            self.refuse(f"/resource_bounds{pointer(str(name))}", "unknown", f"known: {known}")
        return made


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _snake(word: Any) -> Any:
    """`FsRead` as `fs_read`; what is no word stays, and `define` names it."""
    if not isinstance(word, str) or word.lower() == word:
        return word
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in word)[1:]


def _camel(word: str) -> str:
    return "".join(part.capitalize() for part in word.split("_"))


def _scope(scope: Any) -> Any:
    if isinstance(scope, Mapping) and len(scope) == 1:
        (scope,) = scope.values()
    return scope if isinstance(scope, (list, tuple)) else [scope]


def _duration(value: Any) -> Any:
    match value:
        case {"secs": int(seconds), "nanos": int(nanos)}:
            return seconds + nanos / 1e9
    return value


# --- and out again


def to_cath(definition: ToolDefinition) -> Face:
    """A definition as CATH describes tools; `unsaid` has what it cannot say."""
    left = [*_unsaid_fields(definition)]
    document: dict[str, Any] = {
        "name": definition.name,
        "version": definition.exported_version,
        "description": definition.description,
        "input_schema": {"parameters": _written("/parameters", definition.parameters, left)},
        "output_schema": _written_output(definition, left),
        "required_capabilities": [
            {_camel(each.kind.value): {_scope_name(each.kind): list(each.scope)}}
            for each in definition.required_capabilities
        ],
        "side_effects": [
            _camel(effect.value) for effect in sorted(definition.effects) or (SideEffect.NONE,)
        ],
        "determinism": _camel(definition.determinism.value),
        "resource_bounds": _written_bounds(definition.constraints),
    }
    return Face(document, tuple(left))


# The fields that CATH has words for, whatever they hold.
_SPOKEN = frozenset(
    "name description version parameters output_schema result_type constraints "
    "required_permissions required_capabilities determinism".split()
)


def _unsaid_fields(definition: ToolDefinition) -> Iterator[str]:
    silent = ToolDefinition(name="", description="")
    for field in ToolDefinition.__struct_fields__:
        said = field in _SPOKEN or (field == "side_effects" and definition.side_effects is not None)
        if not said and getattr(definition, field) != getattr(silent, field):
            yield pointer(field)
    if definition.side_effects is None:
        yield pointer("side_effects")  # unknown is more than the whole list
    for field in ("max_output_size", "required_isolation"):
        if getattr(definition.constraints, field) != getattr(silent.constraints, field):
            yield pointer("constraints", field)
    if definition.constraints.allow_side_effects != any(e.writes for e in definition.effects):
        yield pointer("constraints", "allow_side_effects")


def _scope_name(kind: CapabilityKind) -> str:
    return _SCOPES.get(kind.value.split("_")[0], "names")


def _written(path: str, schema: JsonObject, left: list[str]) -> dict[str, Any]:
    """The members of an object schema as CATH's map."""
    left += unsaid(path, schema, frozenset(("type", "properties", "required")))
    required = schema.get("required", ())
    return {
        name: {
            "param_type": _kind(path + pointer("properties", name), member, left),
            "required": name in required,
            "description": member.get("description", "") if isinstance(member, dict) else "",
            "default": member.get("default") if isinstance(member, dict) else None,
        }
        for name, member in schema.get("properties", {}).items()
    }


def _kind(path: str, schema: Any, left: list[str]) -> Any:
    """The type of a value, as near as CATH comes to it."""
    if not isinstance(schema, dict):
        left.append(path)
        return _anything()
    types = type_names(schema)
    if not types and "oneOf" in schema:
        left += unsaid(path, schema, frozenset(("oneOf",)))
        return _one_of(
            _kind(f"{path}/oneOf/{index}", branch, left)
            for index, branch in enumerate(schema["oneOf"])
        )
    if not types:
        left.append(path)
        return _anything()
    if len(types) == 1:
        return _single(path, types[0], schema, left)
    left += [path + "/type"] if {"null", "integer"} & set(types) else []
    left += unsaid(path, schema, frozenset(("type", "properties", "required", "items")))
    return _one_of(
        _single(path, kind, {**schema, "type": kind}, []) for kind in types if kind != "null"
    )


def _single(path: str, kind: str, schema: JsonObject, left: list[str]) -> Any:
    if kind == "object":
        return {"Object": {"schema": {"parameters": _written(path, schema, left)}}}
    if kind == "array":
        left += unsaid(path, schema, frozenset(("type", "items")))
        return {"Array": {"item_type": _kind(f"{path}/items", schema.get("items", True), left)}}
    left += unsaid(path, schema, frozenset(("type",)))
    if kind in _SAID:
        return _SAID[kind]
    left.append(f"{path}/type")
    return "Number" if kind == "integer" else "String"


def _one_of(variants: Iterator[Any]) -> Any:
    different = list({repr(variant): variant for variant in variants}.values())
    return different[0] if len(different) == 1 else {"OneOf": {"variants": different}}


def _anything() -> Any:
    return {"OneOf": {"variants": list(_TYPES)}}


def _written_output(definition: ToolDefinition, left: list[str]) -> dict[str, Any]:
    schema = definition.output_schema
    fields: dict[str, Any] = {}
    if schema is not None and type_names(schema) == ("object",):
        fields = _written("/output_schema", schema, left)
    elif schema is not None:
        left.append("/output_schema")
    return {"result_type": definition.result_type.value.capitalize(), "fields": fields}


def _written_bounds(constraints: Constraints) -> dict[str, Any]:
    seconds, fraction = divmod(constraints.max_execution_time, 1)
    network = constraints.network
    return {
        "timeout": {"secs": int(seconds), "nanos": round(fraction * 1e9)},
        "max_memory": constraints.max_memory,
        "max_cpu": None if constraints.max_cpu is None else f"{constraints.max_cpu:g}s",
        "max_network": network
        and {"max_requests": network.max_requests, "max_bytes": network.max_bytes},
    }
