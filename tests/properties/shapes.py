"""Shapes, and the plain ones: scalars and arrays.

A `Shape` is a schema together with two ways of making values: some that fit it, and some that
break it in exactly one place, each labelled with the keyword it aims at. Shapes are made of
shapes, so a whole document is broken in one place too. The labels only steer: what is valid is
for a judge to say, and nothing here looks at any validator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from random import Random

import msgspec

from properties import pools
from properties.pools import EXACT, LARGEST, SAMPLES, Json, Schema

Make = Callable[[], Json]
Break = tuple[str, Make]


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A schema with values that fit it and values that break one keyword of it.

    For a part of an object (`members.py`) the schema is the keywords it adds, the values are the
    members it adds, and `inward` says that some members are declared inside branches only.
    """

    schema: Schema
    fit: Make
    breaks: Sequence[Break] = ()
    inward: bool = False


class Pen:
    """What the making of one schema needs: chance, recipes, names, a place for definitions.

    `recipes` says, for each keyword, which recipes use it; under "" those of scalars, under "*"
    those of everything that holds other values.
    """

    def __init__(self, rng: Random, recipes: Mapping[str, Sequence[Recipe]]) -> None:
        self.rng = rng
        self.recipes = recipes
        self.defs: dict[str, Schema] = {}
        self.names = self.fresh()
        self.root: Shape | None = None  # known once all is made, for what refers to all

    def maybe(self, chance: float) -> bool:
        """True that often."""
        return self.rng.random() < chance

    def value(self, depth: int, focus: str = "") -> Shape:
        """A shape for any value; one that uses the keyword `focus`, if given."""
        kind = focus or ("*" if depth > 0 and self.maybe(0.4) else "")
        return self.rng.choice(self.recipes[kind])(self, depth, focus)

    def define(self, schema: Schema) -> str:
        """A reference to a copy of `schema` among the definitions; some are hard to spell."""
        number = len(self.defs)
        name, reference, more = self.rng.choice(pools.REFERENCES)
        more = {keyword: f"{value}{number}" for keyword, value in more.items()}
        self.defs[f"{name}{number}"] = {**more, **schema}
        return f"{reference}{number}"

    def fresh(self) -> Iterator[str]:
        """Names for one object, each once."""
        names = self.rng.sample(pools.NAMES, len(pools.NAMES))
        if self.maybe(0.08):
            names[self.rng.randrange(4)] = self.rng.choice(pools.ODD_NAMES)
        return iter(names)


Recipe = Callable[[Pen, int, str], Shape]  # pen, depth left, focus or ""


def through(
    wrap: Callable[[Json], Json], breaks: Iterable[Break], keyword: str = ""
) -> list[Break]:
    """The breaks of a part as breaks of the whole that `wrap` puts it in."""
    return [(keyword or aim, _composed(wrap, make)) for aim, make in breaks]


def _composed(wrap: Callable[[Json], Json], make: Make) -> Make:
    return lambda: wrap(make())


def from_pool(pen: Pen, schema: Schema, fits: Iterable[Json], *breaks: Break) -> Shape:
    """A shape whose fitting values are listed."""
    values = tuple(fits)
    return Shape(schema=schema, fit=lambda: pen.rng.choice(values), breaks=breaks)


def some(pen: Pen) -> Json:
    """Any small value."""
    return pen.rng.choice(SAMPLES[pen.rng.choice(sorted(SAMPLES))])


def types_of(schema: Schema) -> set[str]:
    """The types that a schema takes, as far as it says."""
    types = schema.get("type", sorted(SAMPLES))
    found = {types} if isinstance(types, str) else set(types)
    return found | ({"integer"} if "number" in found else set())


# --- scalars ------------------------------------------------------------------------------------


def kinds(pen: Pen, _: int, __: str) -> Shape:
    """One to three types and nothing else."""
    names = pen.rng.sample(sorted(SAMPLES), pen.rng.choice((1, 1, 2, 3)))
    schema: Schema = {"type": names if len(names) > 1 or pen.maybe(0.1) else names[0]}
    if "array" in names:
        schema["items"] = {"type": "integer"}
    if "object" in names:
        schema["additionalProperties"] = True
    others = [value for name in SAMPLES if name not in names for value in SAMPLES[name]]
    fits = [value for name in names for value in SAMPLES[name]]
    return from_pool(pen, schema, fits, ("type", lambda: pen.rng.choice(others)))


def chosen(pen: Pen, _: int, focus: str) -> Shape:
    """`enum` or `const`, with values that lie beside."""
    keyword = focus if focus in ("enum", "const") else pen.rng.choice(("enum", "const"))
    fits, misses = pen.rng.choice(pools.CHOICES)
    if keyword == "const":
        fits = (pen.rng.choice(fits),)
    schema: Schema = {keyword: list(fits) if keyword == "enum" else fits[0]}
    types = sorted({type_of(value) for value in fits})
    if "object" not in types and pen.maybe(0.5):
        schema["type"] = types if len(types) > 1 else types[0]
    return from_pool(pen, schema, fits, (keyword, lambda: pen.rng.choice(misses)))


def type_of(value: Json) -> str:
    """The JSON Schema type of one of our values."""
    if isinstance(value, bool):
        return "boolean"
    names = {type(None): "null", int: "integer", float: "number", str: "string", list: "array"}
    return names.get(type(value), "object")


def text(pen: Pen, _: int, focus: str) -> Shape:
    """A string with bounds on its length, which counts code points."""
    low = pen.rng.randint(1, 4)
    high = low + pen.rng.randint(0, 5)
    bounds = (("minLength", low, low - 1), ("maxLength", high, high + 1))
    kept = [bound for bound in bounds if bound[0] == focus or pen.maybe(0.7)]

    def letters(size: int) -> str:
        return "".join(pen.rng.choices(pools.LETTERS, k=size))

    def fit() -> str:
        return letters(pen.rng.randint(low, high))

    misses = [(keyword, partial(letters, size)) for keyword, _, size in kept]
    schema = {"type": "string", **{keyword: bound for keyword, bound, _ in kept}}
    return Shape(schema=schema, fit=fit, breaks=(*misses, mistyped(pen, fit)))


def patterned(pen: Pen, _: int, __: str) -> Shape:
    """A string with a pattern."""
    pattern, fits, misses = pen.rng.choice(pools.PATTERNS)
    schema = {"type": "string", "pattern": pattern}
    return from_pool(pen, schema, fits, ("pattern", lambda: pen.rng.choice(misses)))


def formatted(pen: Pen, _: int, __: str) -> Shape:
    """A string with a format."""
    name = pen.rng.choice(tuple(pools.FORMATS))
    fits, misses = pools.FORMATS[name]
    schema = {"type": "string", "format": name}
    return from_pool(pen, schema, fits, ("format", lambda: pen.rng.choice(misses)))


STEPS = ("1", "1", "1", "3", "7", "0.5", "0.01", "0.1", "0.0001", "2.5")
NEAR = (0, -5, 1, 100, -1000)
FAR = (EXACT - 3, EXACT, -EXACT, LARGEST - 300, 300 - LARGEST)  # 300: room for the steps


def number(pen: Pen, _: int, focus: str) -> Shape:
    """A number on a grid: misses lie one step beyond a bound, or between two steps."""
    step = Decimal(pen.rng.choice(STEPS[3:] if focus == "multipleOf" else STEPS))
    whole = step == int(step)
    low = int(pen.rng.choice(FAR if whole and pen.maybe(0.4) else NEAR) / step)
    high = low + pen.rng.randint(1, 12)

    def grid(first: int, last: int, beside: Decimal = Decimal(0)) -> Json:
        return plain(step * pen.rng.randint(first, last) + beside)

    schema: Schema = {"type": "integer" if whole and pen.maybe(0.8) else "number"}
    misses: list[Break] = []
    for keyword in bounds(pen, focus):
        near = {"minimum": low, "exclusiveMinimum": low - 1, "maximum": high}.get(keyword, high + 1)
        schema[keyword] = grid(near, near)
        beyond = (low - 4, low - 1) if "Min" in keyword or keyword == "minimum" else (high + 1,) * 2
        misses.append((keyword, partial(grid, *beyond)))
    if step != 1:
        schema["multipleOf"] = plain(step)
        beside = Decimal(pen.rng.randint(1, int(step) - 1)) if whole else step / 2
        misses.append(("multipleOf", partial(grid, low, high - 1, beside)))
    fit = partial(grid, low, high)
    return Shape(schema=schema, fit=fit, breaks=(*misses, mistyped(pen, fit)))


def bounds(pen: Pen, focus: str) -> list[str]:
    """The bounds that a number gets, the focus among them if it is one."""
    pairs = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
    picks = [focus if focus in pair else pen.rng.choice((*pair, "")) for pair in pairs]
    return [pick for pick in picks if pick]


def plain(value: Decimal) -> int | float:
    """A decimal as the JSON number that a Python program would write."""
    return int(value) if value == int(value) else float(value)


def mistyped(pen: Pen, fit: Make) -> Break:
    """The break of `type`: what a hasty caller writes instead of a fitting value."""
    return "type", lambda: pen.rng.choice(lookalikes(fit()))


def lookalikes(value: Json) -> list[Json]:
    """Values that only a lenient reader takes for `value`."""
    if value is None:
        return ["null", 0, False, "", {}, []]
    if isinstance(value, bool):
        return [int(value), str(value).lower(), None]
    if isinstance(value, (int, float)):
        near = [value + 0.5] if abs(value) < EXACT // 2 else []
        return [str(value), True, None, [value], *near]
    if isinstance(value, str):
        return [None, [value], len(value), True, {"value": value}]
    if isinstance(value, list):
        as_object = {str(index): item for index, item in enumerate(value)}
        return [as_object, json.dumps(value), None, *value[:1]]
    return [list(value.values()), json.dumps(value), None, ""]


# --- arrays -------------------------------------------------------------------------------------


def listing(pen: Pen, depth: int, focus: str) -> Shape:
    """Items of one kind, counted, perhaps unique."""
    low = pen.rng.randint(1, 2)
    high = low + pen.rng.randint(1, 2)
    unique = focus == "uniqueItems" or pen.maybe(0.2)
    item = _confusable(pen) if unique else pen.value(depth - 1)

    def many(size: int) -> list[Json]:
        if unique:
            return pen.rng.sample(pools.CONFUSABLE, size)
        return [item.fit() for _ in range(size)]

    schema: Schema = {"type": "array", "items": item.schema}
    misses = through(lambda bad: _placed(pen, many(high - 1), bad), item.breaks)
    for keyword, bound, size in (("minItems", low, low - 1), ("maxItems", high, high + 1)):
        if keyword == focus or pen.maybe(0.6):
            schema[keyword] = bound
            misses.append((keyword, partial(many, size)))
    if unique:
        schema["uniqueItems"] = True
        misses.append(("uniqueItems", lambda: _repeated(pen, many(high - 1))))
    return Shape(schema=schema, fit=lambda: many(pen.rng.randint(low, high)), breaks=misses)


def _confusable(pen: Pen) -> Shape:
    inner = {"type": ["array", "boolean", "integer"], "items": {"type": ["boolean", "integer"]}}
    schema = {"type": sorted(SAMPLES), "items": inner, "additionalProperties": True}
    return from_pool(pen, schema, pools.CONFUSABLE)


def _placed(pen: Pen, items: list[Json], item: Json) -> list[Json]:
    items.insert(pen.rng.randint(0, len(items)), item)
    return items


def _repeated(pen: Pen, items: list[Json]) -> list[Json]:
    """One of the items again; the second time a small integer may be a float."""
    item = pen.rng.choice(items)
    if type(item) is int and abs(item) < EXACT and pen.maybe(0.5):
        item = float(item)
    return _placed(pen, items, item)


def tuples(pen: Pen, depth: int, focus: str) -> Shape:
    """Items by position, and a rule for those that follow."""
    prefix = [pen.value(depth - 1) for _ in range(pen.rng.randint(1, 2))]
    rest = pen.value(0) if pen.maybe(0.4) else None
    keyword = focus if focus in ("items", "unevaluatedItems") else _rest(pen)
    schema: Schema = {"type": "array", "prefixItems": [shape.schema for shape in prefix]}
    schema[keyword] = rest.schema if rest else False

    def row(index: int, item: Json) -> list[Json]:
        return [item if i == index else shape.fit() for i, shape in enumerate(prefix)]

    def fit() -> list[Json]:
        tail = [rest.fit()] if rest and pen.maybe(0.5) else []
        return [*row(-1, None), *tail][: pen.rng.choice((1, 3, 3))]

    misses = [
        miss
        for index, shape in enumerate(prefix)
        for miss in through(partial(row, index), shape.breaks, "prefixItems")
    ]
    beyond = rest.breaks if rest else [(keyword, partial(some, pen))]
    misses += through(lambda extra: [*row(-1, None), extra], beyond, keyword)
    return Shape(schema=schema, fit=fit, breaks=misses)


def _rest(pen: Pen) -> str:
    return pen.rng.choice(("items", "unevaluatedItems"))


def containing(pen: Pen, _: int, focus: str) -> Shape:
    """Items some of which are counted; the others are typed by `items`, or left unevaluated."""
    wanted, hits, others, misses, odd = pen.rng.choice(pools.CONTAINED)
    low = 2 if focus == "minContains" else pen.rng.choice((0, 1, 1, 2))
    high = max(1, low) + pen.rng.randint(0, 2)
    schema: Schema = {"type": "array", "contains": wanted}
    rest = focus if focus == "unevaluatedItems" else _rest(pen)
    schema[rest] = others if rest == "unevaluatedItems" else either(pen, wanted, others)

    def mixed(count: int, *more: Json) -> list[Json]:
        plenty = [pen.rng.choice(misses) for _ in range(pen.rng.randint(0, 2))]
        row = [*(pen.rng.choice(hits) for _ in range(count)), *plenty, *more]
        return pen.rng.sample(row, len(row))

    breaks: list[Break] = [(rest, lambda: mixed(low, pen.rng.choice(odd)))]
    breaks += [("contains", partial(mixed, 0))] * (low > 0)
    if low != 1 or pen.maybe(0.3):
        schema["minContains"] = low
        breaks += [("minContains", partial(mixed, low - 1))] * (low > 1)
    if focus == "maxContains" or pen.maybe(0.5):
        schema["maxContains"] = high
        breaks.append(("maxContains", partial(mixed, high + 1)))
    return Shape(schema=schema, fit=lambda: mixed(pen.rng.randint(low, high)), breaks=breaks)


def either(pen: Pen, *branches: Schema, keyword: str = "anyOf") -> Schema:
    """A value's schema with branches; where one may take an object, openness is said beside."""
    if any("object" in types_of(branch) for branch in branches):
        return {keyword: list(branches), "unevaluatedProperties": pen.maybe(0.5)}
    return {keyword: list(branches)}
