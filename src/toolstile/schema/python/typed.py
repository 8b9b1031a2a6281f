"""One type as a schema of the strict profile: everything said, every object closed.

Records are written out where they are used; only those that contain themselves go to `$defs`. So
the plain tools stay within the basic vocabulary, and resource marks stay where a call shows them.
"""

from __future__ import annotations

import re
import typing
from collections import abc
from collections.abc import Callable, Mapping
from datetime import date, datetime
from enum import Enum, Flag
from typing import Any, Literal
from uuid import UUID

from toolstile.model.issue import Issue, pointer
from toolstile.model.json import type_name
from toolstile.schema.issue import fault
from toolstile.schema.lint import MAX_DEPTH, MAX_PROPERTIES
from toolstile.schema.python.annotated import Schema, annotate, whole_schema
from toolstile.schema.python.docstrings import read_docstring
from toolstile.schema.python.hints import (
    HintError,
    Names,
    alternatives,
    is_alias,
    is_union,
    mark_of,
    unwrap,
)
from toolstile.schema.python.members import (
    Direction,
    is_record,
    members_of,
    own_docstring,
    tag_of,
)
from toolstile.schema.python.models import model_document, translate
from toolstile.schema.python.refused import refusal
from toolstile.schema.python.values import as_json, is_model

Path = tuple[str | int, ...]

# Types are read one by one, and a few classes that hold each other twice make a million places.
# What has more than this is beyond the lint's bounds anyway.
MAX_PLACES = 4 * MAX_PROPERTIES

SCALARS: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    UUID: {"type": "string", "format": "uuid"},
}
LISTS = (list, abc.Sequence, abc.MutableSequence)
SETS = (set, frozenset, abc.Set, abc.MutableSet)
MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)


class TypeReader:
    """Reads the types of one schema; collects its `$defs` and every fault."""

    def __init__(self, direction: Direction, names: Names) -> None:
        self.direction = direction
        self.names = names
        self.issues: list[Issue] = []
        self.definitions: dict[str, Schema] = {}
        self._open: list[Any] = []
        self._definition_names: dict[Any, str] = {}
        self._left = MAX_PLACES
        self._exceeded = False

    def schema(self, hint: Any, at: Path, text: str = "") -> Schema:
        """The schema of a type, described by `text`; a fault and a stand-in where it has none."""
        self._left = -1 if len(at) > 2 * MAX_DEPTH else self._left - 1
        if self._left >= 0:
            try:
                return self._schema(hint, at, text)
            except HintError as error:
                self._refuse(at, error)
        elif not self._exceeded:  # of too many places, the first is enough
            self._exceeded = True
            reason = "the types are too many or too deep"
            self._refuse(at, HintError(reason, "take less, or split the tool"))
        return {"type": "string"}

    def _refuse(self, at: Path, error: HintError) -> None:
        self.issues.append(fault(pointer(*at), "hint", error.message, error.hint))

    def _schema(self, hint: Any, at: Path, text: str) -> Schema:
        core, extras = unwrap(hint)
        whole = whole_schema(extras)
        made = self._core(core, at) if whole is None else whole
        if text and (whole is None or "description" not in whole):
            made["description"] = text
        annotate(made, extras)
        mark = mark_of(core)
        if mark is not None and made.get("x-toolstile") != mark:
            # It would be made from a name that nobody has decided on.
            reason = "a handle says itself what its argument names"
            raise HintError(reason, "leave 'type' and 'x-toolstile' out of what you add")
        return made

    def _core(self, core: Any, at: Path) -> Schema:
        mark = mark_of(core)
        if mark is not None:
            return {"type": "string", "x-toolstile": dict(mark)}
        origin = typing.get_origin(core)
        if origin is Literal:
            return choices(typing.get_args(core))
        if is_union(core):
            return self._union(core, at)
        if is_record(core) or is_alias(core) or is_model(core):
            return self._named(core, at, lambda: self._body(core, at))
        if origin is not None:
            return self._container(core, origin, typing.get_args(core), at)
        if isinstance(core, abc.Hashable) and core in SCALARS:
            return dict(SCALARS[core])
        if isinstance(core, type) and issubclass(core, Enum) and not issubclass(core, Flag):
            return choices(tuple(core))
        raise refusal(core)

    # --- unions ------------------------------------------------------------------------------

    def _union(self, core: Any, at: Path) -> Schema:
        members = alternatives(core)
        nullable = len(members) < len(typing.get_args(core))
        if len(members) == 1:
            return nullable_form(self.schema(members[0], at))
        branches = [self.schema(member, (*at, "anyOf", i)) for i, member in enumerate(members)]
        if any("x-toolstile" in branch for branch in branches):
            hint = "take one kind, or a list of it"
            raise HintError("a resource that is one of several things cannot be decided on", hint)
        if nullable:
            branches.append({"type": "null"})
        if all(branch.keys() == {"type"} for branch in branches):
            return {"type": _types_of(branches)}
        return {"anyOf": branches}

    # --- containers --------------------------------------------------------------------------

    def _container(self, core: Any, origin: Any, inner: tuple[Any, ...], at: Path) -> Schema:
        if not inner and (origin is not tuple or core is typing.Tuple):  # noqa: UP006 - bare
            raise refusal(origin)
        if origin in LISTS:
            return {"type": "array", "items": self.schema(inner[0], (*at, "items"))}
        if origin in SETS:
            return self._set(inner[0], at)
        if origin is tuple:
            return self._tuple(inner, at)
        if origin in MAPPINGS:
            return self._mapping(inner, at)
        raise refusal(core)

    def _set(self, inner: Any, at: Path) -> Schema:
        items = self.schema(inner, (*at, "items"))
        kinds = {items["type"]} if isinstance(items.get("type"), str) else set()
        if not kinds or kinds & {"object", "array"}:
            raise HintError("a set holds values of one plain type here", "take a list")
        return {"type": "array", "items": items, "uniqueItems": True}

    def _tuple(self, inner: tuple[Any, ...], at: Path) -> Schema:
        if len(inner) == 2 and inner[1] is ...:
            return {"type": "array", "items": self.schema(inner[0], (*at, "items"))}
        if not inner:
            return {"type": "array", "items": False, "maxItems": 0}
        items = [self.schema(each, (*at, "prefixItems", i)) for i, each in enumerate(inner)]
        size = {"minItems": len(items), "maxItems": len(items)}
        if all(item == items[0] for item in items):
            return {"type": "array", "items": items[0], **size}
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}

    def _mapping(self, inner: tuple[Any, ...], at: Path) -> Schema:
        key, extras = unwrap(inner[0])
        if key is not str or extras:
            raise HintError("the keys of a JSON object are strings", "take dict[str, ...]")
        below = self.schema(inner[1], (*at, "additionalProperties"))
        return {"type": "object", "additionalProperties": below}

    # --- what has a name ---------------------------------------------------------------------

    def _named(self, key: Any, at: Path, body: Callable[[], Schema]) -> Schema:
        """The body itself, or a reference to it where it contains itself."""
        if key in self._definition_names:
            return {"$ref": f"#/$defs/{self._definition_names[key]}"}
        if key in self._open:
            self._definition_names[key] = self._free_name(key)
            return {"$ref": f"#/$defs/{self._definition_names[key]}"}
        self._open.append(key)
        try:
            schema = body()
        finally:
            self._open.pop()
        if key not in self._definition_names:
            return schema
        self.definitions[self._definition_names[key]] = schema
        return {"$ref": f"#/$defs/{self._definition_names[key]}"}

    def _free_name(self, key: Any) -> str:
        written = key[1] if isinstance(key, tuple) else key.__name__
        wanted = re.sub(r"\W", "_", written, flags=re.ASCII)  # it stands in a URI
        taken = set(self._definition_names.values())
        numbered = (f"{wanted}_{number}" for number in range(2, MAX_PLACES))
        return next(name for name in (wanted, *numbered) if name not in taken)

    def _body(self, kind: Any, at: Path) -> Schema:
        if is_alias(kind):
            return self.schema(kind.__value__, at)
        if is_model(kind):
            return self._model(kind, at)
        schema: Schema = {"type": "object"}
        summary = read_docstring(own_docstring(kind)).summary
        if summary:
            schema["description"] = summary
        return schema | self._members(kind, at)

    def _members(self, kind: Any, at: Path) -> Schema:
        properties: dict[str, Schema] = {}
        required = []
        tag = tag_of(kind)
        if tag is not None:
            properties[tag[0]] = {"type": type_name(tag[1]), "const": tag[1]}
            required.append(tag[0])
        for member in members_of(kind, self.direction, self.names):
            where = (*at, "properties", member.key)
            below = self.schema(member.hint, where, member.description)
            if member.default is not None:
                below["default"] = json_default(member.default)
            if member.required:
                required.append(member.key)
            properties[member.key] = below
        return {"properties": properties, "required": required, "additionalProperties": False}

    def _model(self, kind: Any, at: Path) -> Schema:
        document, definitions = model_document(kind, self.direction)

        def named(name: str) -> Schema:
            return self._named((kind, name), at, lambda: translate(definitions[name], named))

        made: Schema = translate(document, named)
        return made


def schema_of(hint: Any, direction: Direction, names: Names) -> Schema:
    """The schema of one type by itself, with its `$defs`.

    Raises:
        HintError: it has none.
    """
    reader = TypeReader(direction, names)
    schema = reader.schema(hint, ())
    if reader.issues:
        raise HintError(reader.issues[0].message, reader.issues[0].hint or "")
    return with_definitions(schema, reader)


def with_definitions(schema: Schema, reader: TypeReader) -> Schema:
    """The root of what a reader read."""
    return schema | ({"$defs": reader.definitions} if reader.definitions else {})


def nullable_form(schema: Schema) -> Schema:
    """`schema`, or null."""
    if "type" not in schema or "const" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    schema["type"] = _types_of([schema, {"type": "null"}])
    if "enum" in schema and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    return schema


def _types_of(branches: list[Schema]) -> Any:
    """The types of several schemas, each once; number includes integer."""
    every = [
        name
        for branch in branches
        for name in ([branch["type"]] if isinstance(branch["type"], str) else branch["type"])
    ]
    found = [name for name in dict.fromkeys(every) if name != "integer" or "number" not in every]
    return found[0] if len(found) == 1 else found


def choices(values: tuple[Any, ...]) -> Schema:
    """One of some values, which may be members of enumerations.

    Raises:
        HintError: one of them is no plain JSON value.
    """
    plain = [value.value if isinstance(value, Enum) else value for value in values]
    if not plain:
        raise HintError("there is nothing to choose from", "give the enumeration its members")
    if not all(type(each) in (str, int, float, bool, type(None)) for each in plain):
        raise HintError("a choice must be text, a number, a boolean or None", "use plain values")
    distinct = list({(type(each), each): each for each in plain}.values())
    types = list(dict.fromkeys(type_name(each) for each in distinct))
    if "number" in types:
        types = [name for name in types if name != "integer"]
    return {"type": types[0] if len(types) == 1 else types, "enum": distinct}


def json_default(make: Callable[[], Any]) -> Any:
    """The JSON of a default value.

    Raises:
        HintError: it has none, or is another one each time.
    """
    try:
        first, second = as_json(make()), as_json(make())
    except TypeError as error:
        raise HintError(f"the default is not a JSON value: {error}", "use one, or None") from None
    if first != second:
        raise HintError("the default is different each time", "use None, and make it in the tool")
    return first
