"""Which licence vocabulary a schema needs (contract section 5)."""

from __future__ import annotations

from toolstile.model.json import JsonValue
from toolstile.schema.keywords import KEYWORDS, LicenceVocabulary
from toolstile.schema.places import walk

_ORDER = tuple(LicenceVocabulary)


def vocabulary_of(schema: JsonValue) -> LicenceVocabulary:
    """The smallest vocabulary that has every keyword of the schema.

    What closing adds does not count: the author did not ask for it.
    """
    needed = (
        KEYWORDS[name].vocabulary if name in KEYWORDS else _unlisted(name)
        for place in walk(schema)
        for name, value in place.rules.items()
        if not (name == "unevaluatedProperties" and value is False)
    )
    return max(needed, key=_ORDER.index, default=LicenceVocabulary.BASIC)


def _unlisted(name: str) -> LicenceVocabulary:
    """Notes are free; a keyword of an extension is the full vocabulary's."""
    return LicenceVocabulary.BASIC if name.startswith("x-") else LicenceVocabulary.FULL
