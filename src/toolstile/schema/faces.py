"""The other ways to write parameters: LEX's list, CATH's map (contract section 1).

They come in as JSON Schema documents, so that only one form is ever checked and enforced. What a
face cannot express cannot be lost on the way in; on the way out it is named.
"""

from __future__ import annotations

from typing import Any

from toolstile.model.json import describe
from toolstile.schema.fields import NAME, Faults, choice, flag, text, unknown_keys
from toolstile.schema.keywords import TYPES

PARAMETER_FIELDS = ("name", "description", "type", "required", "default", "enum", "schema")
MAX_DESCRIPTION = 1_024

# LEX-DEF section 4.5 numbers the types.
LEX_TYPES: dict[Any, str] = {
    **{name: name for name in TYPES if name != "null"},
    **dict(enumerate(("string", "integer", "number", "boolean", "array", "object"))),
}


def from_parameter_list(faults: Faults, parameters: list[Any]) -> dict[str, Any]:
    """LEX's list of ToolParameter as a JSON Schema."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for index, parameter in enumerate(parameters):
        path = f"/parameters/{index}"
        if not isinstance(parameter, dict):
            reason = f"a parameter must be an object, not {describe(parameter)}"
            faults.note(path, "type", reason, "write {name: ..., description: ..., type: ...}")
            continue
        unknown_keys(faults, path, parameter, PARAMETER_FIELDS)
        name = _parameter_name(faults, path, parameter.get("name"), properties)
        properties[name] = _parameter_schema(faults, path, parameter)
        if flag(faults, f"{path}/required", parameter.get("required", False)):
            required.append(name)
    return {"type": "object", "properties": properties, "required": required}


def _parameter_name(faults: Faults, path: str, name: Any, taken: dict[str, Any]) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        reason = "a parameter's name must be snake_case, at most 64 characters"
        faults.note(f"{path}/name", "name", reason, "use a-z, 0-9 and _", "^[a-z][a-z0-9_]*$")
        return f"parameter_{len(taken)}"
    if name in taken:
        faults.note(f"{path}/name", "uniqueItems", "the name is used twice", "rename one of them")
    return name


def _parameter_schema(faults: Faults, path: str, parameter: dict[str, Any]) -> dict[str, Any]:
    described = text(
        faults, f"{path}/description", parameter.get("description"), MAX_DESCRIPTION, required=True
    )
    kind = choice(faults, f"{path}/type", parameter.get("type", "string"), LEX_TYPES, "string")
    inner = parameter.get("schema")
    if inner is not None and not isinstance(inner, dict):
        faults.note(f"{path}/schema", "type", "it must be a JSON Schema object", "write {...}")
        inner = None
    if inner is None and kind in ("array", "object") and "enum" not in parameter:
        reason = f"a parameter of type {kind} needs a schema, or an enum"
        faults.note(f"{path}/schema", "required", reason, "say what it holds")
        inner = {"items": True} if kind == "array" else {"additionalProperties": True}
    schema = {"type": kind, **(inner or {}), "description": described}
    if "enum" in parameter:
        schema["enum"] = parameter["enum"]
    # An absent key means no default; null is one only where the schema allows null, which the
    # schema's own rules then check.
    if "default" in parameter and not (parameter["default"] is None and not _nullable(schema)):
        schema["default"] = parameter["default"]
    return schema


def _nullable(schema: dict[str, Any]) -> bool:
    types = schema.get("type")
    return "null" in types if isinstance(types, list) else types == "null"
