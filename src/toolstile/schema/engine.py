"""The one place that talks to the validating engine (jsonschema-rs).

The engine gets a translated schema: patterns in its own linear-time syntax, annotations dropped.
Settings, each closing a door that stands open by default (ecosystem.md section 4):
`offline` never fetches a reference, `validate_formats` makes formats assertions, the linear
regex engine cannot be made to backtrack, `mask` keeps values out of the engine's own messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jsonschema_rs

from toolstile.model.json import JsonValue, thaw
from toolstile.schema.extensions import Extensions
from toolstile.schema.formats import STRICTER
from toolstile.schema.keywords import KEYWORDS, Shape
from toolstile.schema.pattern import ENGINE_OPTIONS, translate

MASK = "[value]"
# Annotations say nothing to the engine, and 4 KB of descriptions per tool add up.
_KEPT_WITHOUT_ROLE = frozenset(
    name
    for name, keyword in KEYWORDS.items()
    if keyword.role is None
    and name
    not in (
        "$schema $comment title description default examples deprecated readOnly writeOnly "
        "contentEncoding contentMediaType contentSchema x-toolstile x-classification"
    ).split()
)


def engine_schema(schema: JsonValue, patterns: dict[str, str]) -> Any:
    """The schema as the engine takes it; `patterns` collects translated → original."""
    if not isinstance(schema, dict):
        return schema
    return {
        name: _engine_value(name, value, patterns)
        for name, value in schema.items()
        if name not in KEYWORDS or KEYWORDS[name].role or name in _KEPT_WITHOUT_ROLE
        if not name.startswith("x-")
    }


def _engine_value(name: str, value: Any, patterns: dict[str, str]) -> Any:
    keyword = KEYWORDS.get(name)
    if name == "pattern":
        return _pattern(value, patterns)
    if keyword is None or keyword.role is None:
        return thaw(value)  # the engine takes plain lists only
    if keyword.shape is Shape.SCHEMA:
        return engine_schema(value, patterns)
    if keyword.shape is Shape.SCHEMAS:
        return [engine_schema(member, patterns) for member in value]
    members: dict[str, Any] = {}
    for key, member in value.items():
        translated = _pattern(key, patterns) if name == "patternProperties" else key
        inner = engine_schema(member, patterns)
        # Two spellings of one pattern become one key: both schemas hold.
        members[translated] = (
            {"allOf": [members[translated], inner]} if translated in members else inner
        )
    return members


def _pattern(pattern: str, patterns: dict[str, str]) -> str:
    translated = translate(pattern)
    patterns[translated] = pattern
    return translated


def compile_engine(schema: dict[str, Any], extensions: Extensions) -> jsonschema_rs.Validator:
    """A validator of an engine schema. Raises ValueError where the engine refuses it."""
    return jsonschema_rs.Draft202012Validator(schema, **_options(extensions))


def compile_map(schema: dict[str, Any], extensions: Extensions) -> jsonschema_rs.ValidatorMap:
    """Validators of every place of an engine schema, by '#' and JSON Pointer."""
    return jsonschema_rs.validator_map_for(schema, **_options(extensions))


def _options(extensions: Extensions) -> Mapping[str, Any]:
    return {
        "offline": True,
        "validate_formats": True,
        "ignore_unknown_formats": False,
        "pattern_options": ENGINE_OPTIONS,
        "mask": MASK,
        "formats": {**STRICTER, **extensions.formats},
        "keywords": {name: _keyword_class(judge) for name, judge in extensions.keywords.items()}
        or None,
    }


def _keyword_class(judge: Callable[[Any, Any], bool]) -> type[Any]:
    class Keyword:
        def __init__(self, parent: dict[str, Any], value: Any, path: list[str | int]) -> None:
            self.value = value

        def validate(self, instance: Any) -> None:
            if not judge(self.value, instance):
                raise ValueError("does not fit")

    return Keyword
