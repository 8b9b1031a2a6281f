"""Arrays in a dialect: the first items, and all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolstile.dialects.account import Wanted
from toolstile.dialects.codec import Codec, Container
from toolstile.dialects.together import conditional, only
from toolstile.dialects.trail import Said, Trail
from toolstile.dialects.values import ANYTHING, Values, union
from toolstile.schema.keywords import Role
from toolstile.schema.places import Place

EVALUATING = frozenset(("items", "prefixItems", "contains", "unevaluatedItems"))


def write_items(
    values: Values,
    parts: tuple[Place, ...],
    trail: Trail,
    wanted: Wanted,
) -> tuple[dict[str, Any], Container]:
    """The keywords of an array, and how its items get into their form."""
    first = [
        _said(values, list(_at(values, parts, index, trail)), trail)
        for index in range(max((len(p.rules.get("prefixItems", ())) for p in parts), default=0))
    ]
    rest = _said(values, list(_at(values, parts, None, trail)), trail)
    length = next((n for n, said in enumerate(first) if said.impossible), len(first))
    ends = length < len(first) or rest.impossible
    first = first[:length]
    loose = [p for p in parts if _evaluated(values, p, trail) and "unevaluatedItems" in p.rules]
    wanted.keep("items")
    wanted.keep("unevaluatedItems", of=[part for part in parts if part not in loose])
    if first and values.dialect.takes("prefixItems", []):
        schema: dict[str, Any] = {"prefixItems": [_schema(said) for said in first]}
        wanted.keep("prefixItems")
        if ends or rest.schema is not True:
            schema["items"] = False if ends else rest.schema
    else:
        schema = _alike(values, first, None if ends else rest)
        for part in parts if first else ():
            for keyword in {"items", "unevaluatedItems"} & part.rules.keys():
                values.account.lose(part, keyword, "said of all items alike, the first ones too")
        _bounded(values, schema, length if ends else None, parts, wanted)
        if not first:
            wanted.keep("prefixItems")
    if not values.dialect.free_values:
        schema.setdefault("items", {"type": "string"})  # there is none, but something must be said
    codecs = tuple(said.codec for said in first)
    return schema, _container(codecs, None if ends else rest.codec)


def _container(prefix: tuple[Codec, ...], items: Codec) -> Container:
    if items is None and all(codec is None for codec in prefix):
        return Container()
    return Container(prefix=prefix, items=items)


def _schema(said: Said) -> Any:
    return {} if said.schema is True else said.schema


def _said(values: Values, starts: list[Place], trail: Trail) -> Said:
    asserted = tuple(place for place in starts if place.schema is not True)
    if asserted or not values.dialect.free_values:
        return values.value(asserted or (ANYTHING,), trail.below())
    return Said(True)


def _at(
    values: Values, parts: tuple[Place, ...], index: int | None, trail: Trail
) -> Iterator[Place]:
    """What is said of the item with this index; None stands for one beyond all that have their
    own description."""
    for part in parts:
        prefix = [p for p in values.places.children(part, Role.VALUE) if p.keyword == "prefixItems"]
        items = only(values.places, part, "items")
        if index is not None and index < len(prefix):
            yield prefix[index]
        elif items is not None:
            yield items
        elif "unevaluatedItems" in part.rules and not _evaluated(values, part, trail):
            found = only(values.places, part, "unevaluatedItems")
            yield from [] if found is None else [found]


def _evaluated(values: Values, part: Place, trail: Trail) -> bool:
    """Whether an item may count as described beside `unevaluatedItems`."""
    if "contains" in part.rules:
        return True
    reach = conditional(values.places, (part,), trail.barred)
    return any(EVALUATING & place.rules.keys() for place in reach)


def _alike(values: Values, first: list[Said], rest: Said | None) -> dict[str, Any]:
    """One description for all items, where the dialect has none for each."""
    ways = first if rest is None else [*first, rest]
    if not ways or any(way.schema is True for way in ways):
        return {}
    return {"items": union(values.dialect, ways)}


def _bounded(
    values: Values,
    schema: dict[str, Any],
    length: int | None,
    parts: tuple[Place, ...],
    wanted: Wanted,
) -> None:
    """An array that ends with its first items, as one of at most so many."""
    if length is None:
        return
    bound = min([length, *(p.rules["maxItems"] for p in parts if "maxItems" in p.rules)])
    if values.dialect.takes("maxItems", bound):
        schema["maxItems"] = bound
        return
    for part in parts:
        for keyword in {"items", "unevaluatedItems"} & part.rules.keys():
            values.account.lose(part, keyword, f"that there are at most {length} items")
