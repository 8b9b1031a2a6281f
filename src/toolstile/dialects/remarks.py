"""What is said about a value without keeping any out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolstile.dialects.codec import Codec
from toolstile.dialects.dialect import Dialect
from toolstile.dialects.trail import Trail
from toolstile.model.json import thaw
from toolstile.schema.keywords import asserts
from toolstile.schema.places import Place

# Annotations that hold values of the tool's own form.
VALUED = frozenset(("default", "examples"))


def remarks(dialect: Dialect, parts: Iterable[Place], trail: Trail) -> dict[str, Any]:
    """Each annotation that the dialect has, from the first place that says it."""
    told: dict[str, Any] = {}
    for part in parts:
        if part.pointer in trail.told:
            continue
        for name, value in part.rules.items():
            if dialect.says(name) and name not in told and not asserts(name):
                told[name] = thaw(value)
    return told


def remarked(told: dict[str, Any], schema: dict[str, Any], codec: Codec) -> dict[str, Any]:
    """A schema with its annotations first; values among them only where they have its form."""
    told = {n: v for n, v in told.items() if codec is None or n not in VALUED}
    both = [each["description"] for each in (told, schema) if "description" in each]
    if both:
        told["description"] = " ".join(both)
    return {**told, **{n: v for n, v in schema.items() if n != "description"}}
