"""What each keyword asks that looks at members and items of a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from toolstile.schema.contain.beside import requiring
from toolstile.schema.contain.conjunction import (
    OTHERS,
    Conjunction,
    declarations,
    evaluates,
    matches,
    of_type,
)
from toolstile.schema.contain.narrowing import Narrowing, Question, Some, Spot, contained
from toolstile.schema.places import Place

Found = Iterator[Narrowing]


def required(question: Question) -> Found:
    """`required`: old must demand each name itself."""
    for name in question.rules["required"]:
        if name not in question.old.required:
            yield _missing(question, "required", name)


def _missing(question: Question, keyword: str, name: str) -> Narrowing:
    narrowing = question.narrowing("required", keyword, name)
    return msgspec.structs.replace(narrowing, without=name)


def properties(question: Question) -> Found:
    """`properties`: each member as old knows it."""
    for name in question.rules["properties"]:
        place = question.child("properties", name)
        yield from question.below(question.old.member(name), name, place)


def pattern_properties(question: Question) -> Found:
    """`patternProperties`: declared names that match, patterns that may overlap, all others."""
    for pattern in question.rules["patternProperties"]:
        place = question.child("patternProperties", pattern)
        for name in question.old.names:
            if matches(pattern, name):
                yield from question.below(question.old.member(name), name, place)
        own = pattern in question.old.patterns and question.old.matching(pattern).parts
        overlapping = [pattern] if own else question.old.patterns
        for other in overlapping:
            step = Some(pattern=other)
            yield from question.below(question.old.matching(other), step, place)
        if not own:
            yield from question.below(question.old.others, Some(pattern=pattern), place)


def additional_properties(question: Question) -> Found:
    """`additionalProperties`: whatever old may hold beside what the place itself declares."""
    place = question.child("additionalProperties")
    places = question.walk.places
    for name in question.old.names:
        if not declarations(places, question.place, name):
            yield from question.below(question.old.member(name), name, place)
    for pattern in question.old.patterns:
        if pattern not in question.rules.get("patternProperties", ()):
            yield from question.below(question.old.matching(pattern), Some(pattern=pattern), place)
    yield from question.below(question.old.others, Some(), place)


def property_names(question: Question) -> Found:
    """`propertyNames`: names are strings that old describes by name, pattern or `propertyNames`."""
    walk, place = question.walk, question.child("propertyNames")
    known = question.old.children("propertyNames")
    if not walk.narrowed(Spot(Conjunction(walk.places, (*known, of_type("string")))), place):
        return
    possible = [n for n in question.old.names if not question.old.member(n).impossible]
    open_ended = bool(question.old.patterns) or not question.old.others.impossible
    if open_ended or not all(walk.takes(place, name) for name in possible):
        yield question.narrowing("names", "propertyNames")


def dependent_required(question: Question) -> Found:
    """`dependentRequired`: names that old does not demand along with the name already."""
    for name, others in question.rules["dependentRequired"].items():
        if not question.old.member(name).impossible:
            known = question.old.plus(requiring(name)).required
            for other in others:
                if other not in known:
                    yield _missing(question, "dependentRequired", other)


def dependent_schemas(question: Question) -> Found:
    """`dependentSchemas`: the value, given that it has the name."""
    for name in question.rules["dependentSchemas"]:
        if not question.old.member(name).impossible:
            given = [requiring(name), *question.old.children("dependentSchemas", name)]
            place = question.child("dependentSchemas", name)
            yield from question.walk.narrowed(question.spot.given(*given), place)


# --- unevaluated members --------------------------------------------------------------------


def unevaluated_properties(question: Question) -> Found:
    """`unevaluatedProperties`: whatever old may hold and new is not known to describe."""
    place, old = question.child("unevaluatedProperties"), question.old
    sure = list(_describing(question, question.spot, question.place))
    for name in old.names:
        member = old.member(name)
        told = member.impossible or _is_described(question, sure, name)
        if not (told or _always_described(question, name)):
            yield from question.below(member, name, place)
    if not _is_described(question, sure, None):
        known = {pattern for part in sure for pattern in part.rules.get("patternProperties", ())}
        for pattern in old.patterns:
            if pattern not in known:
                yield from question.below(old.matching(pattern), Some(pattern=pattern), place)
        yield from question.below(old.others, Some(), place)


def _describing(question: Question, spot: Spot, place: Place) -> Iterator[Place]:
    """The places of new that are known to describe the value at a spot."""
    walk = question.walk
    for part in Conjunction(walk.places, (place,)).parts:
        yield part
        for branch in walk.places.optional_branches(part):
            conditions = walk.places.conditions(branch)
            if all(not walk.narrowed(spot, condition) for condition in conditions):
                yield from _describing(question, spot, branch)


def _is_described(question: Question, by: Iterable[Place], name: str | None) -> bool:
    return any(evaluates(question.walk.places, part, name, question.place) for part in by)


def _always_described(question: Question, name: str) -> bool:
    """True where new describes a member in each of the cases in which old may have it.

    Old may have it only where a place of its own describes it, so what that takes is given.
    """
    places = question.walk.places
    closed = [p for p in question.old.parts if p.rules.get("unevaluatedProperties") is False]
    if not closed:
        return False
    ways = (w for w in places.reached(closed[0]) if evaluates(places, w.place, name, closed[0]))
    spots = (question.spot.given(*way.given) for way in ways)
    return all(
        _is_described(question, _describing(question, spot, question.place), name) for spot in spots
    )


# --- items ----------------------------------------------------------------------------------


def prefix_items(question: Question) -> Found:
    """`prefixItems`: each item as old knows it, if old may have so many."""
    for index in range(len(question.rules["prefixItems"])):
        yield from _item(question, index, index, question.child("prefixItems", index))


def items(question: Question) -> Found:
    """`items`: those that the place itself does not describe one by one."""
    yield from _rest(question, "items", len(question.rules.get("prefixItems", ())))


def unevaluated_items(question: Question) -> Found:
    """`unevaluatedItems`: those that the place is not known to describe."""
    new = Conjunction(question.walk.places, (question.place,))
    if not new.rule("items"):
        yield from _rest(question, "unevaluatedItems", new.prefix)


def _rest(question: Question, keyword: str, first: int) -> Found:
    place = question.child(keyword)
    end = max(first, question.old.prefix)
    for index in range(first, end):
        yield from _item(question, index, index, place)
    yield from _item(question, OTHERS, end, place)


def _item(question: Question, index: int, at: int, place: Place) -> Found:
    """The item described at `index`, if old may be long enough to have one `at` there."""
    most = question.old.at_most("maxItems")
    if most is None or most > at:
        yield from question.below(question.old.item(index), at, place)


def contains(question: Question) -> Found:
    """`contains`, `minContains`, `maxContains`: the same count of at least as much, at most."""
    walk, place = question.walk, question.child("contains")
    least = int(question.rules.get("minContains", 1))
    most = question.rules.get("maxContains")
    known = [part for part in question.old.parts if "contains" in part.rules]
    enough = least == 0 or any(
        int(part.rules.get("minContains", 1)) >= least
        and contained(walk, walk.places.at(part, "contains")[0], place)
        for part in known
    )
    few = most is None or any(
        part.rules.get("maxContains", most + 1) <= most
        and contained(walk, place, walk.places.at(part, "contains")[0])
        for part in known
    )
    if not (enough and few):
        yield question.narrowing("condition", "contains")
