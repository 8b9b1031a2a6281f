"""Which licence vocabulary a schema needs (contract section 5)."""

from __future__ import annotations

from toolstile.model.json import JsonValue
from toolstile.schema.keywords import KEYWORDS, Vocabulary
from toolstile.schema.places import walk

_ORDER = tuple(Vocabulary)


def vocabulary_of(schema: JsonValue) -> Vocabulary:
    """The smallest vocabulary that has every keyword of the schema.

    What closing adds does not count: the author did not ask for it.
    """
    needed = (
        KEYWORDS[name].vocabulary if name in KEYWORDS else _unlisted(name)
        for place in walk(schema)
        for name, value in place.rules.items()
        if not (name == "unevaluatedProperties" and value is False)
    )
    return max(needed, key=_ORDER.index, default=Vocabulary.BASIC)


def _unlisted(name: str) -> Vocabulary:
    """Notes are free; a keyword of an extension is the full vocabulary's."""
    return Vocabulary.BASIC if name.startswith("x-") else Vocabulary.FULL
