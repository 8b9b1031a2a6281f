"""LEX's list of parameters (LEX-DEF section 4.4).

A parameter may carry a JSON Schema, so the list says nearly everything; what holds between
parameters, shared `$defs` and values of no single type it cannot say.
"""

from __future__ import annotations

from typing import Any

from toolstile.model.issue import pointer
from toolstile.model.json import JsonObject, describe, thaw
from toolstile.schema.faces.face import Face, unsaid
from toolstile.schema.fields import NAME, Faults, choice, flag, text, unknown_keys
from toolstile.schema.keywords import TYPES, type_names
from toolstile.schema.places import REFERRING, walk

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
    _note_contradictions(faults, path, parameter, inner or {})
    schema = {"type": kind, **(inner or {}), "description": described}
    if "enum" in parameter:
        schema["enum"] = parameter["enum"]
    # An absent key means no default; null is one only where the schema allows null, which the
    # schema's own rules then check.
    if "default" in parameter and not (parameter["default"] is None and not _nullable(schema)):
        schema["default"] = parameter["default"]
    return schema


def _note_contradictions(
    faults: Faults, path: str, parameter: dict[str, Any], inner: dict[str, Any]
) -> None:
    """One fact once: what the schema says again must be what stands beside it."""
    for word in _OWN & parameter.keys() & inner.keys():
        kinds = set(type_names(inner)) - {"null"}
        if word == "type" and _kind(parameter["type"]) is not None:
            agrees = kinds == {_kind(parameter["type"])}
        else:
            agrees = word == "type" or inner[word] == parameter[word]
        if not agrees:
            reason = f"the schema says another '{word}' than the parameter"
            faults.note(f"{path}/schema/{word}", "disagrees", reason, "write it in one place")


def _kind(written: Any) -> Any:
    known = isinstance(written, (str, int)) and not isinstance(written, bool)
    return LEX_TYPES.get(written) if known else None


def _nullable(schema: dict[str, Any]) -> bool:
    types = schema.get("type")
    return "null" in types if isinstance(types, list) else types == "null"


# --- and out again

_ROOT = frozenset(("type", "properties", "required"))
_OWN = frozenset(("type", "description", "default", "enum"))


def to_parameter_list(parameters: JsonObject) -> Face:
    """The list of a canonical definition's parameters, as `parameters` of a definition takes it."""
    path = "/parameters"
    left = unsaid(path, parameters, _ROOT)
    required = parameters.get("required", ())
    listed = []
    for name, schema in parameters.get("properties", {}).items():
        here = path + pointer("properties", name)
        if not NAME.fullmatch(name) or not _is_of_one_type(schema):
            left.append(here)
        else:
            listed.append(_parameter(name, schema, required=name in required))
    return Face(listed, tuple(left))


def _is_of_one_type(schema: Any) -> bool:
    """True where the list can say what the value is, and nothing in it lies elsewhere."""
    if not isinstance(schema, dict) or not set(type_names(schema)) - {"null"}:
        return False
    return not any(REFERRING & place.rules.keys() for place in walk(schema))


def _parameter(name: str, schema: JsonObject, *, required: bool) -> dict[str, Any]:
    types = type_names(schema)
    written = {
        "name": name,
        "description": schema.get("description", name),
        "type": next(kind for kind in types if kind != "null"),
        "required": required,
        **{word: schema[word] for word in ("default", "enum") if word in schema},
    }
    inner = {word: value for word, value in schema.items() if word not in _OWN}
    if len(types) > 1:
        inner["type"] = list(types)
    if inner:
        written["schema"] = inner
    plain: dict[str, Any] = thaw(written)
    return plain
