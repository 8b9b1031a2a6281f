"""pydantic's models in our dialect, by their own `model_json_schema`; nothing is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolstile.schema.formats import FORMATS
from toolstile.schema.keywords import KEYWORDS, Shape
from toolstile.schema.python.annotated import Schema
from toolstile.schema.python.hints import HintError
from toolstile.schema.python.members import Direction

_PREFIX = "#/$defs/"
# OpenAPI's; the branches of the union already say what tells them apart.
_DROPPED = ("discriminator",)

Named = Callable[[str], Schema]


def model_document(kind: Any, direction: Direction) -> tuple[Schema, dict[str, Schema]]:
    """A model's schema and its definitions by name, as pydantic writes them.

    Raises:
        HintError: pydantic itself cannot say the model in JSON Schema.
    """
    mode = "validation" if direction is Direction.INPUT else "serialization"
    try:
        document = kind.model_json_schema(mode=mode, ref_template=_PREFIX + "{model}")
    except Exception as error:  # noqa: BLE001 - a model's hooks are its author's code
        reason = f"pydantic has no JSON Schema for {kind.__name__} ({type(error).__name__})"
        raise HintError(reason, "use types that JSON can say") from None
    return document, document.pop("$defs", {})


def translate(schema: Any, named: Named) -> Any:
    """A schema in our dialect: references resolved by `named`, objects closed, noise left out."""
    if not isinstance(schema, dict):
        return schema
    made: Schema = {}
    for name, value in schema.items():
        if name in _DROPPED or (name == "format" and value not in FORMATS):
            continue
        made[name] = _inner(name, value, named)
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
