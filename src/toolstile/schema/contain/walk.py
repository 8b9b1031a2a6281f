"""Where one schema takes less than another, found by walking both.

Each keyword of new is asked by itself, and what answers it is old as a whole. Recursive schemas
are compared by coinduction: a question met again inside itself is taken for answered, because the
value in question has become smaller since. Where that was premature, everything that was concluded
from it is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from math import prod
from typing import Any, TypeAlias

import jsonschema_rs

from toolstile.model.canonical import canonical
from toolstile.model.json import JsonValue, thaw
from toolstile.schema.contain import keywords, members
from toolstile.schema.contain.beside import NEW, OLD, Beside, TooMuch
from toolstile.schema.contain.conjunction import Conjunction, disjoint_type, of_type
from toolstile.schema.contain.narrowing import Narrowing, Question, Spot
from toolstile.schema.engine import as_resource, compile_place, engine_schema, reference_to
from toolstile.schema.extensions import NO_EXTENSIONS
from toolstile.schema.keywords import KEYWORDS
from toolstile.schema.places import Place

# What a question costs beside the places it looks at.
COST = 12
# Questions inside questions. One takes six of Python's frames, of which there are 1,000.
MAX_NESTING = 72
# Compiling one place costs about a millisecond; what further ones take counts as unknown.
MAX_COMPILED = 24
# As many as anyone reads, and some that turn out to be harmless.
MAX_FOUND = 64
# Alternatives multiply: six groups of two are 64 cases.
MAX_CASES = 64

Rule: TypeAlias = Callable[[Question], Iterator[Narrowing]]

_REFERRING = frozenset(("$id", "$anchor", "$ref", "$defs"))
_NUMBERS = frozenset(("integer", "fraction"))
_ANY = _NUMBERS | {"null", "boolean", "string", "array", "object"}


def _about(kind: str, **rules: Rule) -> dict[str, tuple[frozenset[str], Rule]]:
    types = {"any": _ANY, "number": _NUMBERS}.get(kind, frozenset((kind,)))
    return {name.rstrip("_"): (types, rule) for name, rule in rules.items()}


# What does not stand here asserts nothing by itself, or is no keyword of the standard.
RULES: dict[str, tuple[frozenset[str], Rule]] = {
    **_about("any", type=keywords.type_, enum=keywords.values, const=keywords.values),
    **_about("any", anyOf=keywords.any_of, oneOf=keywords.one_of, not_=keywords.not_),
    **_about("any", if_=keywords.if_),
    **_about("number", minimum=keywords.minimum, exclusiveMinimum=keywords.minimum),
    **_about("number", maximum=keywords.maximum, exclusiveMaximum=keywords.maximum),
    **_about("number", multipleOf=keywords.multiple),
    **_about("string", minLength=keywords.at_least("minLength")),
    **_about("string", maxLength=keywords.at_most("maxLength")),
    **_about("string", pattern=keywords.listed("pattern", "pattern")),
    **_about("string", format=keywords.listed("format", "format")),
    **_about("array", minItems=keywords.at_least("minItems")),
    **_about("array", maxItems=keywords.at_most("maxItems")),
    **_about("array", uniqueItems=keywords.unique, contains=members.contains),
    **_about("array", prefixItems=members.prefix_items, items=members.items),
    **_about("array", unevaluatedItems=members.unevaluated_items),
    **_about("object", minProperties=keywords.at_least("minProperties")),
    **_about("object", maxProperties=keywords.at_most("maxProperties")),
    **_about("object", required=members.required, properties=members.properties),
    **_about("object", patternProperties=members.pattern_properties),
    **_about("object", additionalProperties=members.additional_properties),
    **_about("object", unevaluatedProperties=members.unevaluated_properties),
    **_about("object", propertyNames=members.property_names),
    **_about("object", dependentRequired=members.dependent_required),
    **_about("object", dependentSchemas=members.dependent_schemas),
}


class Comparison:
    """One comparison of old with new, in a document that holds both."""

    def __init__(self, places: Beside) -> None:
        self.places = places
        self._answers: dict[tuple[frozenset[str], str], list[Narrowing]] = {}
        self._open: dict[tuple[frozenset[str], str], bool] = {}
        self._validators: dict[str, jsonschema_rs.Validator] = {}
        self._extended = any(name not in KEYWORDS for place in places for name in place.rules)

    def narrowings(self) -> list[Narrowing]:
        """Every suspicion; none means that new takes all that old takes.

        Raises:
            TooMuch: the schemas are too large or too entangled to be compared in this way.
        """
        self.places.start()
        spot = Spot(Conjunction(self.places, (self.places.root(OLD),)))
        return _distinct(self.narrowed(spot, self.places.root(NEW)))

    def narrowed(self, spot: Spot, new: Place) -> list[Narrowing]:
        """What is refused at a spot; nothing, if every value there fits."""
        question = (spot.old.key, new.pointer)
        if question in self._answers:
            if question in self._open:
                self._open[question] = True  # the answer is taken for granted
            return self._answers[question]
        self.places.spend(COST)
        if len(self._open) > MAX_NESTING:
            raise TooMuch
        before = len(self._answers)
        self._answers[question], self._open[question] = [], False
        # What is found below one member may be found below each, and be doubled at every level.
        found = list(dict.fromkeys(self._refused(spot, new)))[:MAX_FOUND]
        if self._open.pop(question) and found:
            self._forget(len(self._answers) - before)
        self._answers[question] = found
        return found

    def _forget(self, count: int) -> None:
        """Drop what the last answers said is not refused: it may rest on a wrong assumption."""
        for question in list(islice(reversed(self._answers), count)):
            if not self._answers[question]:
                del self._answers[question]

    def _refused(self, spot: Spot, new: Place) -> list[Narrowing]:
        old = spot.old
        if old.impossible or new.schema is True:
            return []
        if any(self.places.same(part, new) for part in old.parts if part.schema is not True):
            return []
        if old.values is not None:
            return self._of_listed(spot, new, old.values)
        parts = Conjunction(self.places, (new,)).parts
        found = [narrowing for part in parts for narrowing in self._part(spot, part)]
        return self._split(spot, new, found) if found else []

    def _part(self, spot: Spot, place: Place) -> Iterator[Narrowing]:
        question = Question(self, spot, place)
        if place.schema is False:
            yield question.narrowing("forbidden", "")
        rules: dict[Rule, None] = {}
        for name in place.rules:
            types, rule = RULES.get(name, (frozenset[str](), None))
            if rule is None and name not in KEYWORDS:
                yield question.narrowing("custom", name)
            if rule is not None and types & spot.old.types:
                rules[rule] = None
        for rule in rules:
            yield from rule(question)

    # --- cases -----------------------------------------------------------------------------

    def _split(self, spot: Spot, new: Place, found: list[Narrowing]) -> list[Narrowing]:
        """The same question for each alternative of old, where there are any."""
        cases = self._cases(spot.old, new)
        if not cases:
            return found
        return _distinct(n for case in cases for n in self.narrowed(spot.given(case), new))

    def _cases(self, old: Conjunction, new: Place) -> list[Place]:
        groups = old.alternatives
        if groups and prod(len(group) for group in groups) <= MAX_CASES:
            return groups[0]
        kinds = ["number"] if old.types >= _NUMBERS else sorted(old.types & _NUMBERS)
        kinds += sorted(old.types - _NUMBERS)
        if len(kinds) > 1 and Conjunction(self.places, (new,)).alternatives:
            return [of_type(kind) for kind in kinds]
        return []

    # --- listed values ---------------------------------------------------------------------

    def _of_listed(self, spot: Spot, new: Place, values: list[Any]) -> list[Narrowing]:
        """Old lists its values, so each can be tried."""
        refused = tuple(self._not_taken(new, values))
        if not refused:
            return []
        types = Conjunction(self.places, (new,)).types
        if all(disjoint_type(value) not in types for value in refused):
            names = dict.fromkeys(disjoint_type(value) for value in refused)
            return [Narrowing("type", spot, new, "type", tuple(names), refused=refused)]
        keyword = "const" if "const" in new.rules else "enum"
        return [Narrowing("values", spot, new, keyword, refused=refused)]

    def _not_taken(self, place: Place, values: list[Any]) -> list[Any]:
        new = Conjunction(self.places, (place,))
        said = {name for part in new.parts for name in part.rules if name not in _REFERRING}
        if said <= {"type", "enum", "const"} and new.values is not None:
            known = {canonical(value) for value in new.values}
            return [value for value in values if canonical(value) not in known]
        if said <= {"type"}:
            return [value for value in values if disjoint_type(value) not in new.types]
        validator = self._validator(place)
        return [v for v in values if validator is None or not validator.is_valid(thaw(v))]

    def takes(self, place: Place, value: JsonValue) -> bool:
        """True where a value is known to fit a place."""
        return not self._not_taken(place, [value])

    def _validator(self, place: Place) -> jsonschema_rs.Validator | None:
        """What validates one place by itself; None where that cannot be had."""
        if place.pointer not in self._validators:
            if len(self._validators) >= MAX_COMPILED or self._extended:
                return None
            place_only = compile_place(reference_to(place), self._resource, NO_EXTENSIONS)
            self._validators[place.pointer] = place_only
        return self._validators[place.pointer]

    @cached_property
    def _resource(self) -> jsonschema_rs.Registry:
        return as_resource(engine_schema(self.places.document, {}))


def _distinct(narrowings: Iterable[Narrowing]) -> list[Narrowing]:
    return list({narrowing.identity: narrowing for narrowing in narrowings}.values())
