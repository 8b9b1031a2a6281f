"""A greedy shrinker: take things away while the case still shows what it shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial

from properties.pools import Json, Schema

Shows = Callable[[Schema, bytes], bool]

# What says whether an object is open goes only with the object. Without it a product that closes
# objects by itself differs from the standard on purpose, and the reproducer would accuse it.
OPENNESS = ("additionalProperties", "unevaluatedProperties")


def shrink(schema: Schema, document: bytes, shows: Shows) -> tuple[Schema, bytes]:
    """The smallest schema and document found; the document keeps its spelling if that matters."""
    if not shows(schema, document):  # it depends on something else: better whole than wrong
        return schema, document
    plain = _bytes(json.loads(document))
    if not shows(schema, plain):
        return _least(schema, partial(_shows_schema, shows, document)), document
    before: tuple[Schema, bytes] | None = None
    while before != (schema, plain):
        before = schema, plain
        schema = _least(schema, partial(_shows_schema, shows, plain))
        plain = _bytes(_least(json.loads(plain), partial(_shows_value, shows, schema)))
    return schema, plain


def _shows_schema(shows: Shows, document: bytes, schema: Schema) -> bool:
    return shows(schema, document)


def _shows_value(shows: Shows, schema: Schema, value: Json) -> bool:
    return shows(schema, _bytes(value))


def _bytes(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _least(value: Json, shows: Callable[[Json], bool]) -> Json:
    smaller = next(filter(shows, _smaller(value)), None)
    while smaller is not None:
        value = smaller
        smaller = next(filter(shows, _smaller(value)), None)
    return value


def _smaller(value: Json) -> Iterator[Json]:
    """Values with one thing less than `value`, the largest things first."""
    if isinstance(value, dict):
        for name in value:
            if name not in OPENNESS:
                yield {n: member for n, member in value.items() if n != name}
        for name, member in value.items():
            if name == "$ref":  # half a reference is another reference, not a smaller one
                continue
            yield from ({**value, name: smaller} for smaller in _smaller(member))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, item in enumerate(value):
            yield from ([*value[:index], s, *value[index + 1 :]] for s in _smaller(item))
    elif isinstance(value, str) and value:
        yield from (value[: len(value) // 2], value[1:], value[:-1])
