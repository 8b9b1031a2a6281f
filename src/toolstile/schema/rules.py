"""What a schema must say beyond being well-formed (contract section 1, "Rules").

Decided on *groups*: an outermost value and every place that may describe the same value. A
property is typed if any place of the group types it; a required name is known if any place of the
group declares it. Tests (`not`, `if`, ...) are free: they constrain nothing by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolstile.model.capability import MARKS
from toolstile.model.issue import Issue, pointer
from toolstile.schema.issue import fault
from toolstile.schema.keywords import Role, type_names
from toolstile.schema.places import Place, Places

Group = list[Place]

DECLARES_MEMBERS = frozenset(
    ("properties", "patternProperties", "additionalProperties", "unevaluatedProperties")
)
DECLARES_ITEMS = frozenset(("items", "prefixItems", "unevaluatedItems", "contains"))
FIXED = frozenset(("enum", "const"))

_FACT = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")  # no leading _: "__entity" is Cedar syntax
EDITED = {"reads": "path", "writes": "path"}  # the one mark of two words: one file for both
MARKED_BELOW = frozenset(("properties", "items", "prefixItems", "additionalProperties"))


def rule_faults(places: Places) -> list[Issue]:
    """Every broken rule of a schema whose keywords and references are sound."""
    found: dict[tuple[str, str], Issue] = {}
    for group in groups(places):
        for issue in (
            *_untyped(places, group),
            *_unknown_required(group),
            *_silent(places, group),
        ):
            found.setdefault((issue.path, issue.code), issue)
    for place in places:
        for issue in (*_required_with_default(place), *_mark_faults(place)):
            found.setdefault((issue.path, issue.code), issue)
    return list(found.values())


def groups(places: Places) -> Iterator[Group]:
    """One group per outermost value, and one per definition that nobody refers to."""
    reached: set[str] = set()
    for place in places:
        if place.role is Role.VALUE and not place.tested:
            group = places.reach(place)
            reached.update(member.pointer for member in group)
            yield group
    for place in places:
        if place.role is Role.SHELF and place.pointer not in reached and not place.tested:
            yield places.reach(place)


def is_typed(places: Places, place: Place) -> bool:
    """True where a value's type is said: by type, enum, const, or all its alternatives."""
    rules = place.rules
    if place.schema is False or "type" in rules or FIXED & rules.keys():
        return True
    alternatives = {"anyOf", "oneOf"} & rules.keys()
    branches = places.children(place, Role.BRANCH)
    for name in alternatives:
        if all(is_typed(places, branch) for branch in branches if branch.keyword == name):
            return True
    if any(is_typed(places, branch) for branch in branches if branch.keyword == "allOf"):
        return True
    both = [is_typed(places, branch) for branch in branches if branch.keyword in ("then", "else")]
    if len(both) == 2 and all(both):
        return True
    targets = places.targets(place)
    return bool(targets) and all(is_typed(places, target) for target in targets)


def _untyped(places: Places, group: Group) -> Iterator[Issue]:
    typed: set[str] = set()
    declared: list[tuple[str, Place]] = []
    for place in group:
        for child in places.children(place, Role.VALUE):
            if child.keyword == "properties":
                declared.append((child.name, child))
                if is_typed(places, child):
                    typed.add(child.name)
    for name, child in declared:
        if name not in typed:
            hint = "add 'type', 'enum' or 'const', or a combinator whose branches have one"
            yield fault(child.pointer, "type", "the property does not say its type", hint)


def _unknown_required(group: Group) -> Iterator[Issue]:
    declared = {name for place in group for name in place.rules.get("properties", ())}
    if any(_takes_others(place) for place in group):
        return
    for place in group:
        for name in place.rules.get("required", ()):
            if name not in declared:
                path = f"{place.pointer}/required"
                reason = f"required name '{name[:64]}' is not in properties"
                yield fault(path, "required", reason, "declare the property, or drop the name")


def _takes_others(place: Place) -> bool:
    rules = place.rules
    return "patternProperties" in rules or any(
        rules.get(name, False) is not False
        for name in ("additionalProperties", "unevaluatedProperties")
    )


def _silent(places: Places, group: Group) -> Iterator[Issue]:
    """Objects and arrays that do not say what they take."""
    outermost = group[0]
    for place in group:
        if place is not outermost and place.keyword not in ("anyOf", "oneOf"):
            continue
        describing = [*places.reach(place), *_ancestors(place, outermost)]
        said = {keyword for other in describing for keyword in other.rules}
        if said & FIXED:
            continue
        types = type_names(place.rules)
        if "object" in types and not said & DECLARES_MEMBERS and outermost.pointer:
            hint = "list its properties, or write 'additionalProperties': true if any will do"
            yield fault(place.pointer, "properties", "the object does not say what it takes", hint)
        if "array" in types and not said & DECLARES_ITEMS:
            hint = "add 'items' with the items' schema, or 'items': true if any will do"
            yield fault(place.pointer, "items", "the array does not say what it takes", hint)


def _ancestors(place: Place, outermost: Place) -> Iterator[Place]:
    current = place.parent
    while current is not None and place.role is Role.BRANCH:
        yield current
        if current is outermost:
            return
        place, current = current, current.parent


def _required_with_default(place: Place) -> Iterator[Issue]:
    properties = place.rules.get("properties", {})
    for name in place.rules.get("required", ()):
        schema = properties.get(name)
        if isinstance(schema, dict) and "default" in schema:
            path = place.pointer + pointer("properties", name)
            reason = "a required property cannot have a default"
            hint = "drop the default, or take the name out of required"
            yield fault(f"{path}/default", "default", reason, hint)


def _mark_faults(place: Place) -> Iterator[Issue]:
    if "x-toolstile" not in place.rules:
        return
    path = f"{place.pointer}/x-toolstile"
    mark = place.rules["x-toolstile"]
    if not _is_mark(mark):
        hint = (
            "one of {reads: path}, {writes: path}, both of these in one, {connects: host|url}, "
            "{runs: program}, {fact: NAME}"
        )
        yield fault(path, "x-toolstile", "unknown resource mark", hint)
        return
    types = set(type_names(place.rules)) - {"null"}
    allowed = {"string", "integer", "boolean"} if "fact" in mark else {"string"}
    if not types or not types <= allowed:
        wanted = " or ".join(sorted(allowed))
        reason = f"a marked argument must be of type {wanted}"
        yield fault(path, "x-toolstile", reason, f"write 'type': '{wanted.split()[-1]}'")
    if not _mark_is_visible(place):
        reason = "a mark here would not be found again in a call"
        hint = "mark properties and items directly, outside combinators and $defs"
        yield fault(path, "x-toolstile", reason, hint)


def _is_mark(mark: dict[str, object]) -> bool:
    if len(mark) != 1:
        return mark == EDITED
    (word, value), *_ = mark.items()
    if word == "fact":
        return isinstance(value, str) and _FACT.fullmatch(value) is not None
    return word in MARKS and value in MARKS[word].values


def _mark_is_visible(place: Place) -> bool:
    while place.parent is not None:
        if place.keyword not in MARKED_BELOW:
            return False
        place = place.parent
    return True
