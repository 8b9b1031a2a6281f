"""Which places of a schema a dialect takes as they are.

What it takes is left as its author wrote it; only the rest is written anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from toolstile.dialects.dialect import ANY_NAME, Dialect
from toolstile.schema.keywords import KEYWORDS, Role, asserts, type_names
from toolstile.schema.places import Place, Places

COMBINING = frozenset(
    """anyOf oneOf allOf not if then else enum const $ref $dynamicRef dependentSchemas
    dependentRequired""".split()
)
# Without one of these, a schema says nothing of types.
TYPING = frozenset(("type", "$ref", "anyOf"))
# What references are found by; what is copied is found by a name on the shelf instead.
ADDRESSES = frozenset(("$id", "$anchor", "$dynamicAnchor"))
# Where `false` closes a value instead of describing a member of it.
CLOSING = ("additionalProperties", "unevaluatedProperties", "unevaluatedItems", "items")

COUNTING = frozenset(
    """minProperties maxProperties dependentRequired dependentSchemas propertyNames not if
    uniqueItems contains""".split()
)
HOLDING = frozenset(name for name, keyword in KEYWORDS.items() if keyword.role is not None)

Graph = Mapping[str, frozenset[str]]


def taken(places: Places, dialect: Dialect, *, whole: bool = False) -> frozenset[str]:
    """The pointers of the places that are taken with everything below and referred to. Where
    `$dynamicRef` leads depends on the way there, so it is taken only with the schema as a whole."""
    levels = heights(places)
    refused = {
        place.pointer
        for place in places
        if not _by_itself(place, dialect)
        or levels[place.pointer] > dialect.max_depth
        or ("$dynamicRef" in place.rules and not whole)
    }
    graph = leading(places)
    if not dialect.recursive:
        refused |= endless(graph)
    return frozenset(graph.keys() - _those_that_lead_to(refused, graph))


def leading(places: Places) -> Graph:
    """What each place is taken with. On a shelf nothing is enforced; whoever refers to it looks
    there."""
    below = (Role.VALUE, Role.BRANCH, Role.TEST)
    return {
        place.pointer: frozenset(
            each.pointer for each in (*places.children(place, *below), *places.targets(place))
        )
        for place in places
    }


def endless(graph: Graph) -> set[str]:
    """The places that a reference may come back to: what is left when all that leads to an end,
    and then all that nothing leads to, is taken away."""
    return _without_ends(_reversed(_within(graph, _without_ends(graph))))


def _without_ends(graph: Graph) -> set[str]:
    left = {place: len(below) for place, below in graph.items()}
    above = _reversed(graph)
    ends = [place for place, count in left.items() if not count]
    while ends:
        place = ends.pop()
        del left[place]
        for each in above.get(place, ()):
            left[each] -= 1
            if not left[each]:
                ends.append(each)
    return set(left)


def _within(graph: Graph, places: set[str]) -> Graph:
    return {place: graph[place] & places for place in places}


def _reversed(graph: Graph) -> Graph:
    above: dict[str, set[str]] = {place: set() for place in graph}
    for place, below in graph.items():
        for each in below:
            above[each].add(place)
    return {place: frozenset(each) for place, each in above.items()}


def _those_that_lead_to(found: Iterable[str], graph: Graph) -> set[str]:
    above, seen = _reversed(graph), set(found)
    queue = list(seen)
    while queue:
        for each in above[queue.pop()] - seen:
            seen.add(each)
            queue.append(each)
    return seen


def heights(places: Places) -> Mapping[str, int]:
    """How many levels of objects and arrays each place describes; references count for none."""
    found: dict[str, int] = {}
    for place in reversed(list(places)):  # parents come before their children
        below = places.children(place, Role.VALUE, Role.BRANCH)
        is_level = bool({"object", "array"} & set(type_names(place.rules)))
        found[place.pointer] = is_level + max((found[p.pointer] for p in below), default=0)
    return found


def weights(places: Places) -> Mapping[str, int]:
    """How long each place is by itself, in pieces of some fifty characters."""
    return {
        place.pointer: 1
        + sum(len(str(v)) for k, v in place.rules.items() if k not in HOLDING) // 50
        for place in places
    }


def counts_members(places: Places) -> bool:
    """Whether it may matter anywhere that a member is there, even if it is null."""
    return any(
        COUNTING & place.rules.keys() or ("required" in place.rules and _is_conditional(place))
        for place in places
    )


def _is_conditional(place: Place | None) -> bool:
    while place is not None:
        if place.keyword in ("anyOf", "oneOf", "then", "else"):
            return True
        place = place.parent
    return False


# --- one place ------------------------------------------------------------------------------------


def _by_itself(place: Place, dialect: Dialect) -> bool:
    rules = place.rules
    if isinstance(place.schema, bool):
        return _takes_boolean(place, dialect)
    return (
        all(
            dialect.takes(name, value) and dialect.joins(name, rules)
            for name, value in rules.items()
            if asserts(name) and name != "$defs"
        )
        and (dialect.free_values or bool(TYPING & rules.keys()))
        and not (dialect.bare_references and "$ref" in rules and len(rules) > 1)
        and all(map(dialect.member_name.fullmatch, _names(place)))
        and not (dialect.required_declared and _demands_others(place))
        and not ("patternProperties" in rules and dialect.member_name is not ANY_NAME)
        and _has_taken_types(place, dialect)
        and _is_complete(place, dialect)
        and _is_taken_object(place, dialect)
    )


def _names(place: Place) -> Iterator[str]:
    """The members that a place speaks of."""
    yield from place.rules.get("properties", ())
    yield from place.rules.get("required", ())
    for name, others in place.rules.get("dependentRequired", {}).items():
        yield from (name, *others)


def _demands_others(place: Place) -> bool:
    return bool(set(place.rules.get("required", ())) - set(place.rules.get("properties", ())))


def _takes_boolean(place: Place, dialect: Dialect) -> bool:
    if place.keyword == "additionalProperties" and place.schema is False:
        return True
    closes = place.keyword in CLOSING
    return dialect.booleans and dialect.free_values and (closes or place.schema is True)


def _has_taken_types(place: Place, dialect: Dialect) -> bool:
    types = set(type_names(place.rules)) - {"null"}
    return dialect.mixed_types or len(types) < 2 or not types & {"object", "array"}


def _is_complete(place: Place, dialect: Dialect) -> bool:
    """Whether what must be listed is listed, if only to say that there is none."""
    types = type_names(place.rules)
    wants_properties = "object" in types and "properties" not in place.rules
    wants_items = "array" in types and "items" not in place.rules
    return not (dialect.complete and (wants_properties or wants_items))


def _is_taken_object(place: Place, dialect: Dialect) -> bool:
    rules = place.rules
    if not ("object" in type_names(rules) or "properties" in rules):
        return True
    if dialect.closed and rules.get("additionalProperties") is not False:
        return False
    if dialect.all_required:
        return set(rules.get("required", ())) == set(rules.get("properties", ()))
    return True
