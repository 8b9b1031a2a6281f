"""What each keyword asks that looks at a value as a whole: types, numbers, strings, combinators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolstile.schema.contain.conjunction import DISJOINT, Bound, Conjunction, types_of
from toolstile.schema.contain.narrowing import Narrowing, Question, contained, disjoint
from toolstile.schema.places import Place

Found = Iterator[Narrowing]


def type_(question: Question) -> Found:
    """`type`: every type of old must be among those of new."""
    lost = question.old.types - types_of({"type": question.rules["type"]})
    if lost:
        names = [name for name in DISJOINT if name in lost]
        yield question.narrowing("type", "type", *names)


def values(question: Question) -> Found:
    """`enum` and `const`: old lists no values itself, or this would not be asked."""
    keyword = "enum" if "enum" in question.rules else "const"
    yield question.narrowing("values", keyword)


def minimum(question: Question) -> Found:
    """`minimum` and `exclusiveMinimum`."""
    for keyword in ("minimum", "exclusiveMinimum"):
        if keyword in question.rules:
            end, known = Bound(question.rules[keyword], keyword != "minimum"), question.old.lower
            holds = known is not None and (known.value, known.exclusive) >= (
                end.value,
                end.exclusive,
            )
            if not holds:
                yield question.narrowing("bound", keyword, *_change(known, end))


def maximum(question: Question) -> Found:
    """`maximum` and `exclusiveMaximum`."""
    for keyword in ("maximum", "exclusiveMaximum"):
        if keyword in question.rules:
            end, known = Bound(question.rules[keyword], keyword != "maximum"), question.old.upper
            holds = known is not None and (-known.value, known.exclusive) >= (
                -end.value,
                end.exclusive,
            )
            if not holds:
                yield question.narrowing("bound", keyword, *_change(known, end))


def _change(known: Bound | None, end: Bound) -> tuple[str, str]:
    return ("none" if known is None else str(known.value), str(end.value))


def multiple(question: Question) -> Found:
    """`multipleOf`, for whole numbers; what concerns decimals is left to the engine."""
    step = question.rules["multipleOf"]
    known = question.old.rule("multipleOf")
    whole = float(step).is_integer() and all(float(other).is_integer() for other in known)
    holds = step in known or (
        whole
        and (
            any(int(other) % int(step) == 0 for other in known)
            or (step == 1 and "fraction" not in question.old.types)
        )
    )
    if not holds:
        yield question.narrowing("multiple", "multipleOf")


def at_least(keyword: str) -> Any:
    """The rule of a counting keyword such as `minLength`."""

    def rule(question: Question) -> Found:
        end, known = int(question.rules[keyword]), question.old.at_least(keyword)
        if known < end:
            yield question.narrowing("bound", keyword, str(known), str(end))

    return rule


def at_most(keyword: str) -> Any:
    """The rule of a counting keyword such as `maxLength`."""

    def rule(question: Question) -> Found:
        end, known = int(question.rules[keyword]), question.old.at_most(keyword)
        if known is None or known > end:
            before = "none" if known is None else str(known)
            yield question.narrowing("bound", keyword, before, str(end))

    return rule


def listed(kind: str, keyword: str) -> Any:
    """The rule of a keyword that old must have with the very same value."""

    def rule(question: Question) -> Found:
        if question.rules[keyword] not in question.old.rule(keyword):
            yield question.narrowing(kind, keyword)

    return rule


def unique(question: Question) -> Found:
    """`uniqueItems`: old must say so, or have one item at most."""
    most = question.old.at_most("maxItems")
    single = most is not None and most <= 1
    if question.rules["uniqueItems"] and not (single or any(question.old.rule("uniqueItems"))):
        yield question.narrowing("unique", "uniqueItems")


def any_of(question: Question) -> Found:
    """`anyOf`: one branch must take everything (old is taken apart elsewhere)."""
    answers = []
    for index in range(len(question.rules["anyOf"])):
        answers.append(question.walk.narrowed(question.spot, question.child("anyOf", index)))
        if not answers[-1]:
            return
    yield from _nearest(question, "anyOf", answers)


def _nearest(question: Question, keyword: str, answers: list[list[Narrowing]]) -> Found:
    """What the branch says that was meant, if it is plain which; else that none is left."""
    meant = [answer for answer in answers if not any(_elsewhere(question, n) for n in answer)]
    if len(meant) == 1:
        yield from meant[0]
    else:
        yield question.narrowing("alternative", keyword)


def _elsewhere(question: Question, narrowing: Narrowing) -> bool:
    """True where a branch is about values of another type, or told apart by a constant."""
    about = narrowing.spot.path == question.spot.path and narrowing.kind in ("type", "forbidden")
    apart = narrowing.kind == "values" and len(narrowing.spot.path) <= len(question.spot.path) + 1
    return about or apart


def one_of(question: Question) -> Found:
    """`oneOf`: one branch takes everything and the others nothing, or old counts the same way."""
    branches = [question.child("oneOf", i) for i in range(len(question.rules["oneOf"]))]
    alone = Conjunction(question.walk.places, question.old.parts)
    others = [not disjoint(alone, Conjunction(alone.places, (b,))) for b in branches]
    open_to = [branch for branch, may in zip(branches, others, strict=True) if may]
    if _counts_alike(question, open_to):
        return
    if len(open_to) == 1:
        yield from question.walk.narrowed(question.spot, open_to[0])
    else:
        yield question.narrowing("alternative", "oneOf")


def _counts_alike(question: Question, branches: list[Place]) -> bool:
    """True where a `oneOf` of old has the same branches, one for one."""
    for part in question.old.parts:
        known = _branches(question, part, "oneOf")
        if not known or len(known) != len(branches):
            continue
        rows = [[_equivalent(question, one, other) for other in branches] for one in known]
        if all(sum(line) == 1 for line in (*rows, *zip(*rows, strict=True))):
            return True
    return False


def _branches(question: Question, place: Place, keyword: str) -> list[Place]:
    count = len(place.rules.get(keyword, ()))
    places = question.walk.places
    return [branch for i in range(count) for branch in places.at(place, keyword, i)]


def _equivalent(question: Question, one: Place, other: Place) -> bool:
    walk = question.walk
    return walk.places.same(one, other) or (
        contained(walk, one, other) and contained(walk, other, one)
    )


def not_(question: Question) -> Found:
    """`not`: old must exclude at least as much, or be about other values."""
    walk, refused = question.walk, question.child("not")
    excluded = question.old.children("not")
    if not (
        any(contained(walk, refused, known) for known in excluded)
        or disjoint(question.old, Conjunction(walk.places, (refused,)))
    ):
        yield question.narrowing("condition", "not")


def if_(question: Question) -> Found:
    """`if`, `then`, `else`: with the same test, what follows may not be stricter."""
    places, test = question.walk.places, question.child("if")
    known = [
        part
        for part in question.old.parts
        if any(places.same(other, test) for other in places.at(part, "if"))
    ]
    for keyword in ("then", "else"):
        if keyword in question.rules:
            given = [place for part in known for place in places.at(part, keyword)]
            given += [test] if keyword == "then" else []
            if not question.fits(question.child(keyword), *given):
                yield question.narrowing("condition", keyword)
