"""What `Annotated` adds to a type, as keywords: texts, bounds, or a schema as it stands.

Bounds are read by their names (`ge`, `max_length`, ...), so msgspec's Meta, annotated_types and
pydantic's Field are understood without importing any of them. A check that a schema cannot say is
refused: an author who wrote it believes that it is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolstile.model.json import thaw
from toolstile.schema.keywords import type_names
from toolstile.schema.python.hints import HintError

Schema = dict[str, Any]

# With one of these, a written schema stands for itself; without, it adds to that of the type.
_WHOLE = frozenset(("type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"))

_NUMBERS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}
_LENGTHS = {
    "min_length": {"string": "minLength", "array": "minItems", "object": "minProperties"},
    "max_length": {"string": "maxLength", "array": "maxItems", "object": "maxProperties"},
}
# Of two bounds the tighter holds.
_TIGHTER: Mapping[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}


def whole_schema(extras: Iterable[Any]) -> Schema | None:
    """The schema written out in `Annotated[T, {"type": ...}]`, which then stands for T's."""
    written = [extra for extra in extras if isinstance(extra, Mapping) and _WHOLE & extra.keys()]
    return thaw(written[-1]) if written else None


def annotate(schema: Schema, extras: Iterable[Any]) -> Schema:
    """`schema` with what the extras add; it is changed where it stands.

    Raises:
        HintError: an extra means nothing for this type, or cannot be said in a schema.
    """
    for extra in extras:
        if isinstance(extra, str):
            schema["description"] = extra
        elif isinstance(extra, Mapping):
            schema |= thaw(extra)
        elif not isinstance(extra, type):
            _add(schema, extra)
    return schema


def _add(schema: Schema, extra: Any) -> None:
    _refuse_unsayable(extra)
    for word, keyword in _NUMBERS.items():
        bound = getattr(extra, word, None)
        if bound is not None:
            _bound(schema, word, {"integer": keyword, "number": keyword}, bound)
    for word, keywords in _LENGTHS.items():
        bound = getattr(extra, word, None)
        if bound:  # 0 is how annotated_types says that there is no least length
            _bound(schema, word, keywords, bound)
    pattern = getattr(extra, "pattern", None)
    if isinstance(pattern, (str, re.Pattern)):
        text = pattern if isinstance(pattern, str) else pattern.pattern
        _bound(schema, "pattern", {"string": "pattern"}, text)
    _describe(schema, extra)
    if isinstance(getattr(extra, "metadata", None), (list, tuple)):  # pydantic's Field
        annotate(schema, extra.metadata)


def _bound(schema: Schema, word: str, keywords: Mapping[str, str], value: Any) -> None:
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not numeric and word != "pattern":
        raise HintError(f"'{word}' takes a number", "write a plain int or float")
    meant = {keywords[kind] for kind in _types(schema) if kind in keywords}
    if not meant:
        raise HintError(f"'{word}' says nothing about this type", "remove it, or put it elsewhere")
    for keyword in sorted(meant):
        tighter = _TIGHTER.get(keyword)
        if schema.get(keyword, value) != value and tighter is None:
            raise HintError(f"'{word}' is said twice", "say it once")
        schema[keyword] = tighter(value, schema.get(keyword, value)) if tighter else value


def _types(schema: Mapping[str, Any]) -> set[str]:
    found = set(type_names(schema))
    for branch in schema.get("anyOf", ()):
        found |= _types(branch)
    return found


def _describe(schema: Schema, extra: Any) -> None:
    for word in ("title", "description", "examples"):
        said = getattr(extra, word, None)
        if isinstance(said, (str, list)) and said:
            schema[word] = said
    for word in ("extra_json_schema", "json_schema_extra"):  # msgspec's name, pydantic's name
        said = getattr(extra, word, None)
        if isinstance(said, Mapping):
            schema |= thaw(said)


def _refuse_unsayable(extra: Any) -> None:
    library = type(extra).__module__.partition(".")[0]
    if library in ("annotated_types", "pydantic") and callable(getattr(extra, "func", None)):
        raise HintError("a check in code cannot be said in a schema", "use bounds or a pattern")
    if getattr(extra, "tz", None) is False:
        raise HintError("JSON's date-time always has a time zone", "leave out tz=False")
    is_required = getattr(extra, "is_required", None)
    if library == "pydantic" and callable(is_required) and not is_required():
        raise HintError("a default inside Annotated is not used", "write it behind the '='")
