"""What is wrong with a value, in the order of its places: one failure after the other.

Value and schema are walked together, and the judge is asked at every step. A walk that is not
read to its end does nothing more, and `WORK` bounds one that finds little in much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from toolstile.model.json import JsonValue
from toolstile.schema.judging import Judge, Layout
from toolstile.schema.keywords import KEYWORDS, Role, asserts
from toolstile.schema.places import REFERENCES, Place

Path = tuple[str | int, ...]

UNEVALUATED = "unevaluatedProperties"

# What is looked at member by member, at other places, or says nothing by itself.
_ELSEWHERE = frozenset(
    "required dependentRequired minContains maxContains "
    "$id $ref $anchor $dynamicRef $dynamicAnchor".split()
)
_CONTAINERS = (dict, list)

# In tenths of a microsecond: a second at the very most, and what explaining takes.
WORK = 10_000_000
ASKING = 20
# Causes that one answer may hold, all levels together.
MAX_CAUSES = 256
# Values that the engine looks at by one place, in a unit: 12 ns each.
VISITS = 8
# One question may take this part of what is left, where the answer may be found without it.
DEAR = 8
# Items that are asked about together, in long lists.
TOGETHER = 64
# A member that is most of a value this large is not judged before it is entered: that would be
# the same question again at each level.
LARGE = 1_000


class Failure(msgspec.Struct, frozen=True, eq=False):
    """A keyword of a place that a value does not satisfy; "" where the place takes nothing.

    `path` leads to what is told: a property that is missing or should not be there, by `name`.
    `value` is what the place describes.
    """

    place: Place
    keyword: str
    path: Path
    value: Any
    name: str = ""
    fitting: int = 0


class WorkDone(Exception):
    """A walk has looked at as much as it may."""


class Walk:
    """Walks over one value, and what is left to spend on all of them together."""

    __slots__ = ("_sizes", "causes", "echo", "judge", "left", "reached")

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.left = WORK
        self.causes = MAX_CAUSES  # that may still be told
        self.echo: Failure | None = None  # where nothing else was found
        self.reached: Path = ()
        self._sizes: dict[int, int] = {}

    def failures(self, place: Place, value: JsonValue, path: Path = ()) -> Iterator[Failure]:
        """What makes a value not fit a place, by path. Ends early where there is no work left."""
        self.echo = None
        try:
            yield from self._visit(path, value, [place])
        except WorkDone:
            return

    def spend(self, work: int) -> None:
        """Raises WorkDone where there is none left."""
        self.left -= work
        if self.left < 0:
            raise WorkDone

    def _price(self, place: Place, values: Sequence[JsonValue]) -> int:
        """What the engine takes to look at these values by a place: each of them by all that
        describes it, and what is in them by as much as describes anything there."""
        within = sum(map(self.size, values)) - len(values)
        looks = len(values) * self.judge.weight(place)
        if within:
            looks += within * self.judge.heaviest(place)
        return ASKING + looks // VISITS

    def _may_fit(self, place: Place, value: JsonValue) -> bool:
        """Does a value fit? Where asking takes too much of what is left, it is looked into unasked:
        what fits has no failure to be found."""
        price = self._price(place, (value,))
        if price > self.left // DEAR:
            return False
        self.spend(price)
        return self.judge.fits(place, value)

    def _fits(self, place: Place, value: JsonValue) -> bool:
        self.spend(self._price(place, (value,)))
        return self.judge.fits(place, value)

    def _branches_fit(self, place: Place, keyword: str, value: JsonValue) -> bool:
        self.spend(self._price(place, (value,)))
        return self.judge.branches_fit(place, keyword, value)

    def size(self, value: JsonValue) -> int:
        """How many values a value is made of."""
        if type(value) not in _CONTAINERS:
            return 1
        size = self._sizes.get(id(value))
        if size is None:
            members = value.values() if isinstance(value, dict) else value
            size = self._sizes[id(value)] = 1 + sum(map(self.size, members))
        return size

    def _visit(self, path: Path, value: JsonValue, places: list[Place]) -> Iterator[Failure]:
        """The failures of one value, all that describes it together: its own come first."""
        self.reached = path
        binding = self._binding(places, value)
        own = [failure for place in binding for failure in self._own(place, value, path)]
        yield from own
        if isinstance(value, dict):
            yield from self._members(path, value, binding, unfit=bool(own))
        elif isinstance(value, list):
            yield from self._unevaluated_items(path, value, binding, own)
            yield from self._items(path, value, binding)

    def _unevaluated_items(
        self, path: Path, value: list[Any], binding: list[Place], own: list[Failure]
    ) -> Iterator[Failure]:
        for place in binding:
            if "unevaluatedItems" in place.rules and self._has_unevaluated_items(place, value):
                failure = Failure(place, "unevaluatedItems", path, value)
                if any(each.keyword in ("anyOf", "oneOf") for each in own):
                    self.echo = self.echo or failure  # a branch may have taken them
                else:
                    yield failure

    def _items(self, path: Path, value: list[Any], binding: list[Place]) -> Iterator[Failure]:
        layouts = [self.judge.layout(place) for place in binding]
        rest = [layout.items for layout in layouts if layout.items is not None]
        listed = max((len(layout.prefix) for layout in layouts), default=0)
        for start in range(0, len(value) if rest else listed, TOGETHER):
            items = value[start : start + TOGETHER]
            if start >= max(listed, 1) and self._all_fit(rest, items):
                continue
            for index, item in enumerate(items, start):
                below = [each for layout in layouts for each in _item_places(layout, index)]
                yield from self._below((*path, index), value, item, below)

    def _all_fit(self, places: list[Place], items: list[Any]) -> bool:
        for place in places:
            self.spend(self._price(place, items))
            if not self.judge.items_fit(place, items):
                return False
        return True

    def _below(
        self, path: Path, container: Any, value: JsonValue, places: list[Place]
    ) -> Iterator[Failure]:
        if not places:
            return
        size = self.size(value)
        if size < LARGE or 2 * size < self.size(container):
            places = [place for place in places if not self._may_fit(place, value)]
        if places:
            yield from self._visit(path, value, places)

    def _binding(self, places: list[Place], value: JsonValue) -> list[Place]:
        """The places that must fit and do not: these, and those that they bring in."""
        known = {place.pointer: place for place in places}
        queue = list(known.values())
        for place in queue:  # grows on the way
            self.spend(ASKING)
            several = len(place.rules.get("allOf", ())) > 1
            all_fit = several and self._branches_fit(place, "allOf", value)
            for branch in self._brought_in(place, value):
                fits = all_fit and branch.keyword == "allOf" and branch.parent is place
                if fits or branch.pointer in known:
                    continue
                if not self._may_fit(branch, value):
                    known[branch.pointer] = branch
                    queue.append(branch)
        return queue

    def _brought_in(self, place: Place, value: JsonValue) -> Iterator[Place]:
        """The places that must fit whatever this one describes."""
        yield from self._targets(place, value)
        for branch in self.judge.places.children(place, Role.BRANCH):
            if branch.keyword == "allOf" or self._is_chosen(place, branch, value):
                yield branch

    def _targets(self, place: Place, value: JsonValue) -> Iterator[Place]:
        for keyword in REFERENCES:
            targets = self.judge.places.target(place, keyword) if keyword in place.rules else []
            # Several of a dynamic reference: it is one of them, and if one fits, that one.
            if len(targets) < 2 or not any(self._fits(each, value) for each in targets):
                yield from targets[:1]

    def _is_chosen(self, place: Place, branch: Place, value: JsonValue) -> bool:
        """True for the branch of a condition that holds."""
        if branch.keyword == "dependentSchemas":
            return isinstance(value, dict) and branch.name in value
        if branch.keyword not in ("then", "else") or "if" not in place.rules:
            return False
        test = self.judge.places.by_pointer[f"{place.pointer}/if"]
        return self._fits(test, value) is (branch.keyword == "then")

    def _own(self, place: Place, value: JsonValue, path: Path) -> Iterator[Failure]:
        """The failures of a value itself, not of what is in it."""
        if place.schema is False:
            yield Failure(place, "", path, value)
        for keyword in place.rules:
            if keyword in ("anyOf", "oneOf"):
                yield from self._alternatives(place, keyword, value, path)
            elif keyword == "not":
                if self._fits(self.judge.places.by_pointer[f"{place.pointer}/not"], value):
                    yield Failure(place, keyword, path, value)
            elif keyword == "contains":
                yield from self._contained(place, value, path)
            elif self._speaks_alone(keyword):
                self.spend(ASKING)
                if not self.judge.holds(place, keyword, value):
                    yield Failure(place, keyword, path, value)

    def _speaks_alone(self, keyword: str) -> bool:
        known = KEYWORDS.get(keyword)
        no_schemas = known is None or known.role is None
        return no_schemas and asserts(keyword) and keyword not in _ELSEWHERE

    def _alternatives(
        self, place: Place, keyword: str, value: JsonValue, path: Path
    ) -> Iterator[Failure]:
        fitting = int(self._branches_fit(place, keyword, value))
        if fitting and keyword == "oneOf":
            branches = self.judge.places.children(place, Role.BRANCH)
            named = [branch for branch in branches if branch.keyword == keyword]
            fitting = sum(self._fits(branch, value) for branch in named)
        if fitting != 1:
            yield Failure(place, keyword, path, value, fitting=fitting)

    def _contained(self, place: Place, value: JsonValue, path: Path) -> Iterator[Failure]:
        test = self.judge.layout(place).contains
        if test is None or not isinstance(value, list):
            return
        highest = place.rules.get("maxContains")
        lowest = place.rules.get("minContains", 1)
        count = self._count(test, value, lowest if highest is None else highest + 1)
        if count < lowest:
            keyword = "minContains" if "minContains" in place.rules else "contains"
            yield Failure(place, keyword, path, value)
        elif highest is not None and count > highest:
            yield Failure(place, "maxContains", path, value)

    def _count(self, test: Place, value: list[Any], enough: int) -> int:
        """How many items fit a test; counting ends where there are enough."""
        count = 0
        for start in range(0, len(value), TOGETHER):
            items = value[start : start + TOGETHER]
            self.spend(self._price(test, items))
            if not self.judge.no_item_fits(test, items):
                count += sum(self._fits(test, item) for item in items)
            if count >= enough:
                break
        return count

    def _members(
        self, path: Path, value: dict[str, Any], binding: list[Place], *, unfit: bool
    ) -> Iterator[Failure]:
        """The failures of names, and of what stands under them, by name."""
        missing = _missing(binding, value, path)
        layouts = [(place, self.judge.layout(place)) for place in binding]
        closed = [
            (place, self._unevaluated(place, value))
            for place in binding
            if place.rules.get(UNEVALUATED, True) is not True
        ]
        unfit = unfit or bool(missing) or len(binding) > 1
        for name in sorted(value.keys() | missing.keys()):
            if name not in value:
                yield from missing[name]
                continue
            self.spend(ASKING)
            here = (*path, name)
            below: list[Place] = []
            for place, layout in layouts:
                if layout.names is not None and not self._fits(layout.names, name):
                    yield Failure(place, "propertyNames", here, value, name)
                found = self._member_places(layout, name)
                if found == [layout.others] and layout.others and layout.others.schema is False:
                    yield Failure(place, "additionalProperties", here, value, name)
                else:
                    below += found
            for place, names in closed:
                if name in names:
                    yield from self._unless_echo(
                        Failure(place, UNEVALUATED, here, value, name), unfit
                    )
            yield from self._below(here, value, value[name], below)

    def _unless_echo(self, failure: Failure, unfit: bool) -> Iterator[Failure]:
        """A property that nobody took, where it is not one that a branch which failed would have
        taken: that failure is reported by itself."""
        place, name = failure.place, failure.name
        if name in self.judge.declared(place) or (unfit and self.judge.takes_any_name(place)):
            self.echo = self.echo or failure
        else:
            yield failure

    def _member_places(self, layout: Layout, name: str) -> list[Place]:
        """What a place says of a member."""
        found = [layout.properties[name]] if name in layout.properties else []
        for matches, place in layout.patterns:
            self.spend(ASKING)
            if matches(name):
                found.append(place)
        return found or ([layout.others] if layout.others is not None else [])

    # What is evaluated, in the words of the specification: by a place, and by every branch of it
    # that fits. One that must fit counts in any case: if it does not, that is told by itself.

    def _evaluating(self, place: Place, value: JsonValue) -> list[Place]:
        known = {place.pointer: place}
        queue = [place]
        for each in queue:
            self.spend(ASKING)
            for branch in self._consulted(each, value):
                if branch.pointer not in known:
                    known[branch.pointer] = branch
                    queue.append(branch)
        return queue

    def _consulted(self, place: Place, value: JsonValue) -> Iterator[Place]:
        yield from self._brought_in(place, value)
        for branch in self.judge.places.children(place, Role.BRANCH, Role.TEST):
            if branch.keyword in ("anyOf", "oneOf", "if") and self._fits(branch, value):
                yield branch

    def _unevaluated(self, place: Place, value: dict[str, Any]) -> set[str]:
        """The names that nothing evaluates and `unevaluatedProperties` does not take."""
        left = set(value)
        for each in self._evaluating(place, value):
            if "additionalProperties" in each.rules or (
                each is not place and UNEVALUATED in each.rules
            ):
                return set()
            layout = self.judge.layout(each)
            left = self._without(left, layout.properties)
            if layout.patterns:
                left = {name for name in left if not self._member_places(layout, name)}
        rest = self.judge.places.by_pointer[f"{place.pointer}/{UNEVALUATED}"]
        if rest.schema is False:
            return left
        return {name for name in left if not self._fits(rest, value[name])}

    def _without(self, names: set[str], taken: dict[str, Place]) -> set[str]:
        """The names that are not taken, by whichever way is shorter."""
        self.spend(min(len(names), len(taken)))
        if len(names) < len(taken):
            return {name for name in names if name not in taken}
        return names.difference(taken)

    def _has_unevaluated_items(self, place: Place, value: list[Any]) -> bool:
        left = set(range(len(value)))
        for each in self._evaluating(place, value):
            layout = self.judge.layout(each)
            if layout.items or (each is not place and "unevaluatedItems" in each.rules):
                return False
            left.difference_update(range(len(layout.prefix)))
            if layout.contains is not None:
                left = {index for index in left if not self._fits(layout.contains, value[index])}
        rest = self.judge.places.by_pointer[f"{place.pointer}/unevaluatedItems"]
        return any(not self._fits(rest, value[index]) for index in left)


def _item_places(layout: Layout, index: int) -> list[Place]:
    if index < len(layout.prefix):
        return [layout.prefix[index]]
    return [layout.items] if layout.items is not None else []


def _missing(binding: list[Place], value: dict[str, Any], path: Path) -> dict[str, list[Failure]]:
    found: dict[str, list[Failure]] = {}
    for place in binding:
        wanted = [("required", name) for name in place.rules.get("required", ())]
        for present, names in place.rules.get("dependentRequired", {}).items():
            if present in value:
                wanted += [("dependentRequired", name) for name in names]
        for keyword, name in wanted:
            if name not in value:
                failure = Failure(place, keyword, (*path, name), value, name)
                found.setdefault(name, []).append(failure)
    return found
