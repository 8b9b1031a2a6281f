"""How a difference between two versions is named and said, for arguments and for outputs.

The same narrowing reads in two ways. Of arguments it says what the new version no longer takes;
of outputs, where the new version is held against the old one, what it may now return.
"""

from __future__ import annotations

from typing import Literal

from toolstile.model.issue import pointer
from toolstile.schema.contain.narrowing import Narrowing, Some, Step

Side = Literal["parameters", "output"]
PARAMETERS: Side = "parameters"
OUTPUT: Side = "output"

# For each word of the walk: the kind and the sentence for arguments, the same for outputs.
_WORDS: dict[str, tuple[str, str, str, str]] = {
    "required": (
        *("required_added", "{where} must now be given"),
        *("required_removed", "{where} may be missing now"),
    ),
    "property": (
        *("property_removed", "{where} is no longer taken"),
        *("property_added", "{where} may be there now"),
    ),
    "closed": (
        *("closed", "{where} takes nothing any more beside what it names"),
        *("opened", "{where} may hold more now than what it names"),
    ),
    "type": (
        *("type_narrowed", "{where} may no longer be of type {change}"),
        *("type_widened", "{where} may now be of type {change}"),
    ),
    "values": (
        *("enum_narrowed", "{where} takes fewer values"),
        *("enum_widened", "{where} may have other values now"),
    ),
    "bound": (
        *("bound_tightened", "{where} has a stricter {keyword} ({change})"),
        *("bound_loosened", "{where} has a looser {keyword} ({change})"),
    ),
    "multiple": (
        *("multiple_changed", "{where} must now be a multiple of another number"),
        *("multiple_changed", "{where} may be no multiple of what it was"),
    ),
    "pattern_added": (
        *("pattern_added", "{where} must now match a pattern"),
        *("pattern_removed", "{where} need not match a pattern any more"),
    ),
    "pattern": (
        *("pattern_changed", "{where} must match another pattern"),
        *("pattern_changed", "{where} matches another pattern"),
    ),
    "format_added": (
        *("format_added", "{where} must now have a format"),
        *("format_removed", "{where} need not have a format any more"),
    ),
    "format": (
        *("format_changed", "{where} must have another format"),
        *("format_changed", "{where} has another format"),
    ),
    "unique": (
        *("unique_added", "{where} may hold nothing twice any more"),
        *("unique_removed", "{where} may hold the same twice now"),
    ),
    "names": (
        *("names_narrowed", "{where} takes fewer names of members"),
        *("names_widened", "{where} may have other names of members now"),
    ),
    "alternative": (
        *("alternative_removed", "{where} has lost an alternative, or one takes less"),
        *("alternative_added", "{where} may be what no alternative named before"),
    ),
    "condition": (
        *("condition_changed", "{where} has to meet another condition ('{keyword}')"),
        *("condition_changed", "{where} meets another condition ('{keyword}')"),
    ),
    "custom": (
        *("keyword_changed", "{where} depends on '{keyword}', whose meaning is not known here"),
        *("keyword_changed", "{where} depends on '{keyword}', whose meaning is not known here"),
    ),
    "depth": (
        *("depth_limited", "{where} may nest less deeply"),
        *("depth_extended", "{where} may nest more deeply"),
    ),
    "refused": (
        *("refused", "{where} may be refused where they were taken"),
        *("widened", "{where} may be what it could not be before"),
    ),
    "output_removed": (
        *("", ""),
        *("output_removed", "{where} has no schema any more"),
    ),
    "not_compared": (
        *("not_compared", "{where}: the schemas are too entangled to be compared"),
        *("not_compared", "{where}: the schemas are too entangled to be compared"),
    ),
}


def kind_of(side: Side, word: str) -> str:
    """The kind of a difference, as it stands in reports."""
    return _WORDS[word][0 if side == PARAMETERS else 2]


def sentence(side: Side, word: str, path: str = "", keyword: str = "", change: str = "") -> str:
    """A difference for people."""
    whole = "the arguments" if side == PARAMETERS else "the output"
    part = f"'{path[:80]}'" if side == PARAMETERS else f"'{path[:80]}' of the output"
    template = _WORDS[word][1 if side == PARAMETERS else 3]
    return template.format(where=part if path else whole, keyword=keyword, change=change)


def word_of(narrowing: Narrowing) -> str:
    """The word for a narrowing: more exact than its kind, which says what failed."""
    kind, spot = narrowing.kind, narrowing.spot
    if kind == "forbidden":
        if spot.above is None:
            return "refused"
        return "property" if isinstance(spot.step, str) else "closed"
    if kind in ("pattern", "format") and not spot.old.rule(kind):
        return f"{kind}_added"
    return kind


def path_of(narrowing: Narrowing) -> str:
    """A JSON Pointer to the value concerned."""
    steps = narrowing.spot.path
    if narrowing.without is not None:
        steps = (*steps, narrowing.without)
    elif word_of(narrowing) == "closed":
        steps = steps[:-1]
    return pointer(*(_shown(step) for step in steps))


def _shown(step: Step) -> str | int:
    return "*" if isinstance(step, Some) else step


def change_of(side: Side, narrowing: Narrowing) -> str:
    """The detail of a difference: the types concerned, or an end of a range before and after."""
    details = narrowing.change
    if narrowing.kind == "bound":
        return " -> ".join(details if side == PARAMETERS else details[::-1])
    names = {"fraction": "number with a fraction"}
    return " or ".join(names.get(detail, detail) for detail in details)
