"""pydantic's models in our dialect, by their own `model_json_schema`; nothing is imported."""

from __future__ import annotations

import typing
from collections import abc
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any

from toolstile.model.canonical import canonical
from toolstile.schema.formats import FORMATS
from toolstile.schema.keywords import KEYWORDS, Shape
from toolstile.schema.python.annotated import Schema
from toolstile.schema.python.hints import HintError, unwrap
from toolstile.schema.python.members import Direction
from toolstile.schema.python.refused import refusal
from toolstile.schema.python.values import is_model

_PREFIX = "#/$defs/"
# OpenAPI's; the branches of the union already say what tells them apart.
_DROPPED = ("discriminator",)

Named = Callable[[str], Schema]


def model_document(kind: Any, direction: Direction) -> tuple[Schema, dict[str, Schema]]:
    """A model's schema and its definitions by name, as pydantic writes them.

    Raises:
        HintError: pydantic cannot say the model in JSON Schema, or says less than it checks.
    """
    mode = "validation" if direction is Direction.INPUT else "serialization"
    try:
        document = kind.model_json_schema(mode=mode, ref_template=_PREFIX + "{model}")
    except Exception as error:  # noqa: BLE001 - a model's hooks are its author's code
        reason = f"pydantic has no JSON Schema for {kind.__name__} ({type(error).__name__})"
        raise HintError(reason, "use types that JSON can say") from None
    if direction is Direction.INPUT:
        _refuse_looser(kind, set())
    return document, document.pop("$defs", {})


def _refuse_looser(hint: Any, seen: set[int]) -> None:
    """Refuse the types of which pydantic's schema takes what the model then does not."""
    core, extras = unwrap(hint)
    if any(hasattr(extra, "__get_pydantic_json_schema__") for extra in extras):
        return  # its author has written a schema
    if isinstance(core, type) and issubclass(core, Decimal):
        raise refusal(core)
    inner = typing.get_args(core)
    if typing.get_origin(core) in (dict, abc.Mapping, abc.MutableMapping) and _counts(inner[0]):
        raise HintError("the keys of a JSON object are strings", "take dict[str, ...]")
    if is_model(core) and id(core) not in seen:
        seen.add(id(core))
        for field in core.model_fields.values():
            _refuse_looser(Annotated[(field.annotation, None, *field.metadata)], seen)
    for each in inner:
        _refuse_looser(each, seen)


def _counts(key: Any) -> bool:
    core, _ = unwrap(key)
    numbers = (int, float, Decimal)
    return isinstance(core, type) and issubclass(core, numbers) and not issubclass(core, Enum)


def translate(schema: Any, named: Named) -> Any:
    """A schema in our dialect: references resolved by `named`, objects closed, noise left out."""
    if not isinstance(schema, dict):
        return schema
    made: Schema = {}
    for name, value in schema.items():
        if name in _DROPPED or (name == "format" and value not in FORMATS):
            continue
        made[name] = _inner(name, value, named)
    if isinstance(made.get("enum"), list):  # another name for a member is no other choice
        made["enum"] = list({canonical(value): value for value in made["enum"]}.values())
    reference = made.pop("$ref", None)
    if isinstance(reference, str) and reference.startswith(_PREFIX):
        made = named(reference.removeprefix(_PREFIX)) | made
    if "properties" in made:
        made.setdefault("additionalProperties", False)
        _tidy(made)
    return made


def _inner(name: str, value: Any, named: Named) -> Any:
    keyword = KEYWORDS.get(name)
    if keyword is None or keyword.role is None:
        return value
    if keyword.shape is Shape.SCHEMAS:
        return [translate(each, named) for each in value]
    if keyword.shape is Shape.SCHEMAS_BY_NAME:
        return {key: translate(each, named) for key, each in value.items()}
    return translate(value, named)


def _tidy(made: Schema) -> None:
    """Drop the titles that only repeat a name, and defaults of what is always there."""
    for name, below in made["properties"].items():
        if str(below.get("title", "")).lower() == name.replace("_", " ").lower():
            del below["title"]
        if name in made.get("required", ()):
            below.pop("default", None)
