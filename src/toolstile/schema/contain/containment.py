"""Whether a new version of a tool breaks its callers (contract section 1, "Identity").

New input must cover old input: every argument object that was valid stays valid. Old output must
cover new output: whatever the new version returns, the old one might have returned. Titles,
descriptions, defaults and other annotations say nothing about that.

Three parties answer. A walk through both schemas proves containment or names what may have become
narrower; a search builds values that the one schema takes and the other refuses; the engine's
algebra decides some of what is left. A verified value outweighs every proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from toolstile.model.canonical import canonical
from toolstile.model.definition import ToolDefinition
from toolstile.model.json import JsonObject, JsonValue
from toolstile.schema import recursion
from toolstile.schema.contain.beside import Beside, TooMuch, without_annotations
from toolstile.schema.contain.examples import Search, validators
from toolstile.schema.contain.narrowing import Narrowing
from toolstile.schema.contain.proof import Answer, covers
from toolstile.schema.contain.walk import Comparison
from toolstile.schema.contain.words import (
    OUTPUT,
    PARAMETERS,
    Side,
    change_of,
    kind_of,
    path_of,
    sentence,
    word_of,
)
from toolstile.schema.formats import FORMATS
from toolstile.schema.keywords import KEYWORDS
from toolstile.schema.places import Places, walk

# As many as anyone reads; each costs a search for its example.
MAX_REASONS = 32

Verdict = Literal["compatible", "breaking", "unknown"]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One reason for a verdict.

    `path` is a JSON Pointer to the value in question, with `*` for any member; for a changed
    default it leads to the property in the schema. `example` is a whole argument object (or
    output) that shows the difference; None where none was found. `default_changed` breaks nothing.
    """

    side: Side
    path: str
    kind: str
    text: str
    example: JsonValue = None


class Compatibility(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on two versions of a tool, and what it rests on, the gravest first.

    "unknown" counts as breaking; its reasons say what could not be shown to be harmless.
    """

    verdict: Verdict
    reasons: tuple[Difference, ...] = ()


def compare(old: ToolDefinition, new: ToolDefinition) -> Compatibility:
    """Whether callers of the old version can use the new one unchanged.

    Both must be canonical, as `define` and `adopt` give them. Never raises for these.
    """
    answers = [_contained(PARAMETERS, old.parameters, new.parameters), _outputs(old, new)]
    verdict = max((answer.verdict for answer in answers), key=_GRAVITY.index)
    reasons = [reason for answer in answers for reason in answer.reasons]
    reasons += sorted(
        _changed_defaults(old.parameters, new.parameters), key=lambda reason: reason.path
    )
    return Compatibility(verdict=verdict, reasons=tuple(reasons[: 2 * MAX_REASONS]))


_GRAVITY: tuple[Verdict, ...] = ("compatible", "unknown", "breaking")
_COMPATIBLE = Compatibility(verdict="compatible")


def _outputs(old: ToolDefinition, new: ToolDefinition) -> Compatibility:
    if old.output_schema is None:
        return _COMPATIBLE
    if new.output_schema is None:
        return Compatibility(verdict="breaking", reasons=(_plain(OUTPUT, "output_removed"),))
    return _contained(OUTPUT, new.output_schema, old.output_schema)


def _contained(side: Side, old: JsonValue, new: JsonValue) -> Compatibility:
    """Whether every value that fits the one schema fits the other."""
    if canonical(without_annotations(old)) == canonical(without_annotations(new)):
        return _COMPATIBLE
    try:
        return _Inquiry(side, old, new).answer()
    except (TooMuch, ValueError):  # ValueError: a format or pattern that the engine does not know
        return Compatibility(verdict="unknown", reasons=(_plain(side, "not_compared"),))


def _plain(side: Side, word: str, example: JsonValue = None) -> Difference:
    text = sentence(side, word)
    return Difference(side=side, path="", kind=kind_of(side, word), text=text, example=example)


class _Inquiry:
    """One question, put to all three parties."""

    def __init__(self, side: Side, old: JsonValue, new: JsonValue) -> None:
        self.side, self.old, self.new = side, old, new
        self.places = Beside(old, new)
        rules = [place.rules for schema in (old, new) for place in walk(schema)]
        names = {name for each in rules for name in each if not name.startswith("x-")}
        self.addressed = bool(names & _ADDRESSING)
        self.extended = bool(names - KEYWORDS.keys()) or any(
            each.get("format", "date") not in FORMATS for each in rules
        )

    def answer(self) -> Compatibility:
        """The verdict for this side, with reasons."""
        suspicions = self._suspicions()
        limit = _new_depth_limit(self.old, self.new)
        confirmed, doubted = self._searched(suspicions or [], limit)
        if confirmed:
            return self._answer("breaking", (*confirmed, *doubted))
        decided = "yes" if suspicions == [] else self._engine()
        if decided == "yes" and not any(_is_final(suspicion) for suspicion in suspicions or ()):
            doubted = []
        if decided == "no":
            return self._answer("breaking", doubted or [_plain(self.side, "refused")])
        if limit is not None:
            doubted.append(_plain(self.side, "depth"))
        if decided == "unknown" and not doubted:
            doubted.append(_plain(self.side, "not_compared"))
        return self._answer("unknown" if doubted else "compatible", doubted)

    def _answer(self, verdict: Verdict, reasons: Iterable[Difference]) -> Compatibility:
        return Compatibility(verdict=verdict, reasons=tuple(reasons)[:MAX_REASONS])

    def _suspicions(self) -> list[Narrowing] | None:
        """What the walk suspects; None where it cannot be made."""
        if self.addressed:
            return None
        try:
            return Comparison(self.places).narrowings()
        except TooMuch:
            return None

    def _engine(self) -> Answer:
        if self.addressed or self.extended:
            return "unknown"
        return covers(self.places, self.old, self.new)

    def _searched(
        self, suspicions: list[Narrowing], limit: int | None
    ) -> tuple[list[Difference], list[Difference]]:
        """What an example shows to be so, and what remains a suspicion."""
        doubted = [self._difference(suspicion, []) for suspicion in suspicions[:MAX_REASONS]]
        if self.extended:  # the engine here ignores what the extensions would look at
            return [], doubted
        search = Search(self.places, *validators(self.old, self.new))
        confirmed: list[Difference] = []
        doubted = []
        for suspicion in suspicions[:MAX_REASONS]:
            example = search.example(suspicion)
            (confirmed if example else doubted).append(self._difference(suspicion, example))
        if not confirmed:
            examples = search.anywhere() or (search.deep(limit + 2) if limit is not None else [])
            confirmed = [_plain(self.side, "refused", example) for example in examples]
        return confirmed, doubted

    def _difference(self, suspicion: Narrowing, example: list[JsonValue]) -> Difference:
        word, path = word_of(suspicion), path_of(suspicion)
        change = change_of(self.side, suspicion)
        text = sentence(self.side, word, path, suspicion.keyword, change)
        return Difference(
            side=self.side,
            path=path,
            kind=kind_of(self.side, word),
            text=text if example else f"perhaps {text}",
            example=example[0] if example else None,
        )


# With these, references depend on addresses, or on the way by which they are reached.
_ADDRESSING = frozenset(("$id", "$dynamicRef", "$dynamicAnchor"))


def _is_final(suspicion: Narrowing) -> bool:
    """A number held to whole numbers otherwise than by type may be 1e300, an integer may not."""
    return suspicion.kind == "type" and suspicion.change == ("fraction",)


def _new_depth_limit(old: JsonValue, new: JsonValue) -> int | None:
    """How deep values of a recursive schema may nest now, if they could be deeper before."""
    before, after = (
        recursion.depth_limit(Places(schema)) if isinstance(schema, dict) else None
        for schema in (old, new)
    )
    return after if after is not None and (before is None or before > after) else None


def _changed_defaults(old: JsonObject, new: JsonObject) -> Iterator[Difference]:
    """Defaults of properties that both versions have: told, though they break nothing."""
    before, after = _defaults(old), _defaults(new)
    for path in before.keys() & after.keys():
        if before[path] != after[path]:
            text = f"the default at '{path[:120]}' changed: calls without it mean another value"
            yield Difference(side=PARAMETERS, path=path, kind="default_changed", text=text)


def _defaults(schema: JsonObject) -> dict[str, bytes]:
    return {
        place.pointer: canonical(place.rules["default"]) if "default" in place.rules else b""
        for place in Places(schema)
        if place.keyword == "properties"
    }
