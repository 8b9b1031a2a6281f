"""The vocabulary: every JSON Schema 2020-12 keyword we know, as one table.

Everything that walks a schema (lint, closing, tiers, defaults, adoption, export) reads this table,
so a keyword is described once: what its value must look like, which licence vocabulary it belongs
to, whether it is an annotation, and, where it holds subschemas, how these relate to the value they
are written for.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, StrEnum
from typing import Any

import msgspec

from toolstile.model.json import JsonObject, JsonValue

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


class Shape(Enum):
    """What a keyword's value must look like."""

    ANY = "any JSON value"
    TEXT = "a string"
    BOOLEAN = "true or false"
    COUNT = "an integer of 0 or more"
    NUMBER = "a number"
    POSITIVE = "a number above 0"
    NAMES = "a list of distinct strings"
    NAMES_BY_NAME = "an object of lists of distinct strings"
    TYPES = "one of the seven type names, or a list of distinct ones"
    VALUES = "a non-empty list of distinct values"
    LIST = "a list"
    OBJECT = "an object"
    SCHEMA = "a schema (an object or a boolean)"
    SCHEMAS = "a non-empty list of schemas"
    SCHEMAS_BY_NAME = "an object of schemas"


class Role(Enum):
    """How a subschema relates to the value its parent describes.

    VALUE: it describes a member or an item, a value of its own.
    BRANCH: it describes the same value as its parent (allOf, anyOf, then, ...).
    TEST: its verdict is only asked for (not, if, contains, propertyNames): never closed, because
    a stricter test makes the whole looser or other.
    SHELF: $defs, described by whoever refers to it.
    """

    VALUE = "value"
    BRANCH = "branch"
    TEST = "test"
    SHELF = "shelf"


class LicenceVocabulary(StrEnum):
    """The licence vocabularies of the contract, each including the one before."""

    BASIC = "basic"
    ADVANCED = "advanced"
    FULL = "full"


class Keyword(msgspec.Struct, frozen=True):
    """One keyword: its value's shape, its vocabulary, the role of its subschemas; an annotation
    says something about a value and keeps none out."""

    shape: Shape
    vocabulary: LicenceVocabulary = LicenceVocabulary.BASIC
    role: Role | None = None
    annotation: bool = False


_A = LicenceVocabulary.ADVANCED

KEYWORDS: dict[str, Keyword] = {
    "$schema": Keyword(Shape.TEXT, annotation=True),
    "$comment": Keyword(Shape.TEXT, annotation=True),
    "$id": Keyword(Shape.TEXT, _A),
    "$ref": Keyword(Shape.TEXT, _A),
    "$anchor": Keyword(Shape.TEXT, _A),
    "$dynamicRef": Keyword(Shape.TEXT, _A),
    "$dynamicAnchor": Keyword(Shape.TEXT, _A),
    "$defs": Keyword(Shape.SCHEMAS_BY_NAME, _A, Role.SHELF),
    "type": Keyword(Shape.TYPES),
    "enum": Keyword(Shape.VALUES),
    "const": Keyword(Shape.ANY),
    "required": Keyword(Shape.NAMES),
    "properties": Keyword(Shape.SCHEMAS_BY_NAME, role=Role.VALUE),
    "additionalProperties": Keyword(Shape.SCHEMA, role=Role.VALUE),
    "items": Keyword(Shape.SCHEMA, role=Role.VALUE),
    "minimum": Keyword(Shape.NUMBER),
    "maximum": Keyword(Shape.NUMBER),
    "exclusiveMinimum": Keyword(Shape.NUMBER),
    "exclusiveMaximum": Keyword(Shape.NUMBER),
    "multipleOf": Keyword(Shape.POSITIVE),
    "minLength": Keyword(Shape.COUNT),
    "maxLength": Keyword(Shape.COUNT),
    "pattern": Keyword(Shape.TEXT),
    "minItems": Keyword(Shape.COUNT),
    "maxItems": Keyword(Shape.COUNT),
    "uniqueItems": Keyword(Shape.BOOLEAN),
    "minProperties": Keyword(Shape.COUNT),
    "maxProperties": Keyword(Shape.COUNT),
    "patternProperties": Keyword(Shape.SCHEMAS_BY_NAME, _A, Role.VALUE),
    "propertyNames": Keyword(Shape.SCHEMA, _A, Role.TEST),
    "dependentRequired": Keyword(Shape.NAMES_BY_NAME, _A),
    "dependentSchemas": Keyword(Shape.SCHEMAS_BY_NAME, _A, Role.BRANCH),
    "prefixItems": Keyword(Shape.SCHEMAS, _A, Role.VALUE),
    "contains": Keyword(Shape.SCHEMA, _A, Role.TEST),
    "minContains": Keyword(Shape.COUNT, _A),
    "maxContains": Keyword(Shape.COUNT, _A),
    "unevaluatedItems": Keyword(Shape.SCHEMA, _A, Role.VALUE),
    "unevaluatedProperties": Keyword(Shape.SCHEMA, _A, Role.VALUE),
    "allOf": Keyword(Shape.SCHEMAS, _A, Role.BRANCH),
    "anyOf": Keyword(Shape.SCHEMAS, _A, Role.BRANCH),
    "oneOf": Keyword(Shape.SCHEMAS, _A, Role.BRANCH),
    "not": Keyword(Shape.SCHEMA, _A, Role.TEST),
    "if": Keyword(Shape.SCHEMA, _A, Role.TEST),
    "then": Keyword(Shape.SCHEMA, _A, Role.BRANCH),
    "else": Keyword(Shape.SCHEMA, _A, Role.BRANCH),
    "format": Keyword(Shape.TEXT, LicenceVocabulary.FULL),
    "title": Keyword(Shape.TEXT, annotation=True),
    "description": Keyword(Shape.TEXT, annotation=True),
    "default": Keyword(Shape.ANY, annotation=True),
    "examples": Keyword(Shape.LIST, annotation=True),
    "deprecated": Keyword(Shape.BOOLEAN, annotation=True),
    "readOnly": Keyword(Shape.BOOLEAN, annotation=True),
    "writeOnly": Keyword(Shape.BOOLEAN, annotation=True),
    "contentEncoding": Keyword(Shape.TEXT, annotation=True),
    "contentMediaType": Keyword(Shape.TEXT, annotation=True),
    "contentSchema": Keyword(Shape.SCHEMA, annotation=True),
    "x-toolstile": Keyword(Shape.OBJECT),
    "x-classification": Keyword(Shape.TEXT),
}

ANNOTATIONS = frozenset(name for name, keyword in KEYWORDS.items() if keyword.annotation)


def asserts(name: str) -> bool:
    """Tell whether a keyword may keep a value out: annotations do not, and no `x-` of anybody."""
    return name not in ANNOTATIONS and not name.startswith("x-")


# Known to other dialects; refused with a repair of their own because "did you mean" would mislead.
REFUSED_KEYWORDS: dict[str, str] = {
    "definitions": "2020-12 calls it $defs",
    "dependencies": "2020-12 has dependentRequired and dependentSchemas",
    "additionalItems": "2020-12 has prefixItems and items",
    "$recursiveRef": "say $ref: '#...'",
    "$recursiveAnchor": "say $anchor",
    "id": "2020-12 calls it $id; a tool's schema needs none",
    "$vocabulary": "only the 2020-12 vocabularies are supported: remove it",
    "nullable": "say type: ['...', 'null']",
    "optional": "leave the name out of required",
    "example": "2020-12 has examples, a list",
}


class Part(msgspec.Struct, frozen=True):
    """A subschema: the keyword that holds it, its steps below the parent, its role."""

    keyword: str
    steps: tuple[str | int, ...]
    schema: JsonValue
    role: Role


def parts(schema: JsonObject) -> Iterator[Part]:
    """The direct subschemas of `schema`, in the order they are written.

    Tolerates malformed values (it skips them): the lint reports these in its own words.
    """
    for name, value in schema.items():
        keyword = KEYWORDS.get(name)
        if keyword is None or keyword.role is None:
            continue
        for steps, below in _below(keyword.shape, value):
            yield Part(name, (name, *steps), below, keyword.role)


def _below(shape: Shape, value: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if shape is Shape.SCHEMA:
        yield (), value
    elif shape is Shape.SCHEMAS and isinstance(value, list):
        for index, schema in enumerate(value):
            yield (index,), schema
    elif shape is Shape.SCHEMAS_BY_NAME and isinstance(value, dict):
        for member, schema in value.items():
            yield (member,), schema


def type_names(schema: JsonObject) -> tuple[str, ...]:
    """The types a schema names itself; () if it names none."""
    named = schema.get("type", ())
    if isinstance(named, str):
        return (named,)
    return tuple(named) if isinstance(named, list) else ()
