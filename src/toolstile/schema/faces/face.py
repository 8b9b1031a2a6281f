"""A definition in another form, and what that form leaves unsaid."""

from __future__ import annotations

from typing import Any

import msgspec

from toolstile.model.issue import pointer
from toolstile.model.json import JsonObject
from toolstile.schema.keywords import ANNOTATIONS

# Faces close their objects: that nothing more is taken goes without saying.
CLOSING = ("additionalProperties", "unevaluatedProperties")


class Face(msgspec.Struct, frozen=True):
    """`document` is the form; `unsaid` points at what of the definition it cannot say, and what is
    therefore enforced here only."""

    document: Any
    unsaid: tuple[str, ...] = ()


def unsaid(path: str, schema: JsonObject, said: frozenset[str]) -> list[str]:
    """Pointers to the keywords of one schema that a face does not say.

    A face without annotations says as much. Marks of ours (`x-toolstile`) are none here: what they
    name is decided on, which whoever reads the face cannot know.
    """
    closed = {name for name in CLOSING if schema.get(name) is False}
    return [path + pointer(name) for name in schema if name not in said | ANNOTATIONS | closed]
