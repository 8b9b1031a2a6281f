"""What becomes of each constraint on the way into a dialect: said, said otherwise, or lost.

Nothing is lost in silence by construction. At every place that is written, all that the tool's
own schema asserts there is wanted; what the writer has not expressly marked as kept is reported.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolstile.model.json import JsonValue
from toolstile.schema.keywords import asserts
from toolstile.schema.places import Place

# These lead to what is asserted elsewhere, and are followed there.
LEADING = frozenset(("$id", "$anchor", "$dynamicAnchor", "$defs", "$ref", "allOf"))

# Longer values say nothing to whoever reads the report.
MAX_SHOWN = 120


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """A constraint that the provider is not told, and that is therefore enforced only here.

    `path` is the JSON Pointer, in the definition, of the schema that has the `keyword`.
    `described` is true where the constraint still stands in the description, for the model.
    """

    path: str
    keyword: str
    text: str
    described: bool = False


class Rewrite(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is said in another form and undone on the way back; nothing is lost by it."""

    path: str
    code: str
    text: str


class Account:
    """The losses and rewrites of one export, each once, in the order in which they are met."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._losses: dict[tuple[str, str], Loss] = {}
        self._rewrites: dict[tuple[str, str], Rewrite] = {}

    def lose(self, place: Place, keyword: str, text: str, *, described: bool = False) -> None:
        """Report a constraint that is not said. It counts as described only if it always is."""
        before = self._losses.get((place.pointer, keyword))
        described = described and (before is None or before.described)
        path = self._prefix + place.pointer
        loss = Loss(path=path, keyword=keyword, text=text, described=described)
        self._losses[place.pointer, keyword] = loss

    def rewrite(self, place: Place, code: str, text: str) -> None:
        """Note what is said in another form."""
        key = (place.pointer, code)
        # What stands in no document is what a member or item of the whole may be.
        path = self._prefix + ("" if place.pointer.startswith("?") else place.pointer)
        self._rewrites.setdefault(key, Rewrite(path=path, code=code, text=text))

    @property
    def losses(self) -> tuple[Loss, ...]:
        """All losses, by place."""
        return tuple(sorted(self._losses.values(), key=lambda loss: (loss.path, loss.keyword)))

    @property
    def rewrites(self) -> tuple[Rewrite, ...]:
        """All rewrites, by place."""
        return tuple(sorted(self._rewrites.values(), key=lambda each: (each.path, each.code)))


class Wanted:
    """What the places that describe one value assert, and how much of it has been said."""

    def __init__(self, parts: Iterable[Place]) -> None:
        self._left = {
            (part.pointer, keyword): part
            for part in parts
            for keyword in part.rules
            if asserts(keyword) and keyword not in LEADING
        }
        self._described: dict[tuple[str, str], bool] = {}

    def keep(self, *keywords: str, of: Iterable[Place] | None = None) -> None:
        """Mark keywords as said: of these places, or of all."""
        pointers = None if of is None else {part.pointer for part in of}
        for pointer, keyword in list(self._left):
            if keyword in keywords and (pointers is None or pointer in pointers):
                del self._left[pointer, keyword]

    def keep_all(self) -> None:
        """Mark everything as said."""
        self._left.clear()

    def describe(self, part: Place, keyword: str, *, described: bool) -> None:
        """Say whether a keyword that is not kept still stands in the description."""
        self._described[part.pointer, keyword] = described

    def settle(self, account: Account) -> None:
        """Report what has not been said."""
        for (pointer, keyword), part in self._left.items():
            described = self._described.get((pointer, keyword), False)
            account.lose(part, keyword, _said(keyword, part.rules[keyword]), described=described)


def _said(keyword: str, value: JsonValue) -> str:
    """The constraint in a few words; a structure is only named."""
    if keyword in ("additionalProperties", "unevaluatedProperties") and value is False:
        return "no names but those that are declared"
    if isinstance(value, (dict, list)):
        return f"'{keyword}' has no word here"
    shown = str(value)
    return f"{keyword} {shown if len(shown) <= MAX_SHOWN else shown[:MAX_SHOWN] + '…'}"
