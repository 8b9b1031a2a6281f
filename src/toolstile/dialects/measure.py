"""How large an exported schema is in what providers count, and which of their numbers it passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from toolstile.dialects.dialect import Dialect
from toolstile.schema.keywords import type_names
from toolstile.schema.places import walk


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """What providers count."""

    properties: int = 0
    enum_values: int = 0
    characters: int = 0
    optional: int = 0
    unions: int = 0


def measure(schema: Any) -> Measure:
    """Counts over a whole schema; what is referred to counts once."""
    rules = [place.rules for place in walk(schema)]
    names = [name for each in rules for name in each.get("properties", ())]
    shelf = [name for each in rules for name in each.get("$defs", ())]
    values = [value for each in rules for value in each.get("enum", ())]
    return Measure(
        properties=len(names),
        enum_values=len(values),
        characters=sum(len(str(text)) for text in (*names, *shelf, *values)),
        optional=sum(
            len(each.get("properties", {}).keys() - set(each.get("required", ()))) for each in rules
        ),
        unions=sum("anyOf" in each or len(type_names(each)) > 1 for each in rules),
    )


def beyond(dialect: Dialect, measures: Sequence[Measure]) -> Iterator[str]:
    """What the provider is going to refuse, if these tools go into one request."""
    bounds = dialect.bounds
    for what in ("properties", "enum_values", "characters"):
        most = getattr(bounds, what)
        largest = max((getattr(each, what) for each in measures), default=0)
        if most is not None and largest > most:
            yield _too_many(largest, most, what.replace("_", " "), "tool")
    for total, most, what in (
        (len(measures), bounds.tools_of_request, "tools"),
        (sum(each.optional for each in measures), bounds.optional_of_request, OPTIONAL),
        (sum(each.unions for each in measures), bounds.unions_of_request, UNIONS),
    ):
        if most is not None and total > most:
            yield _too_many(total, most, what, "request")


OPTIONAL = "parameters that may be left out"
UNIONS = "parameters of several types"


def _too_many(found: int, most: int, what: str, whole: str) -> str:
    return f"{found:,} {what}; the provider takes {most:,} in a {whole}"
