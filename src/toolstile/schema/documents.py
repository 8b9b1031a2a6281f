"""Documents made from a schema: some that fit, some that miss it by one thing.

For trying tools, not for proving schemas: what is hard to hit (a pattern, a `not`) may get no
document at all. The same seed gives the same documents in every process.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from typing import Any
from urllib.parse import unquote

from toolstile.model.issue import steps
from toolstile.model.json import JsonObject, JsonValue, thaw, type_name
from toolstile.schema.compiled import compiled
from toolstile.schema.formats import FORMATS
from toolstile.schema.keywords import type_names

# How many documents are made for each that is wanted, before giving up on a schema hard to hit.
TRIES = 20
MAX_DEPTH = 6
MAX_ITEMS = 4
# A schema may ask for a gigabyte of text; it gets a document that does not fit instead.
MAX_SIZE = 1_000
MAX_STEPS = 2**53

_ANYTHING: tuple[JsonValue, ...] = (None, True, 7, -0.5, "text", [], {}, [1], {"name": "value"})


def fitting(schema: JsonObject, count: int, seed: int = 0) -> Iterator[JsonValue]:
    """At most `count` documents that fit a closed schema."""
    check = compiled(schema)
    maker = _Maker(schema, Random(seed))  # noqa: S311 - repeatable, not secret
    made = (maker.make(schema, MAX_DEPTH) for _ in range(count * TRIES))
    return islice((document for document in made if check.is_valid(document)), count)


def missing(schema: JsonObject, count: int, seed: int = 0) -> Iterator[JsonValue]:
    """At most `count` documents that do not fit: each is one that does, but for one change."""
    check = compiled(schema)
    random = Random(seed)  # noqa: S311 - repeatable, not secret
    good = list(fitting(schema, 16, seed)) or [{}]
    spoilt = (_spoil(thaw(random.choice(good)), random) for _ in range(count * TRIES))
    return islice((document for document in spoilt if not check.is_valid(document)), count)


def _spoil(document: JsonValue, random: Random) -> JsonValue:
    """The document with one member gone, another one added, or a value of another kind."""
    if not isinstance(document, dict) or random.random() < 0.1:
        return random.choice([each for each in _ANYTHING if type_name(each) != type_name(document)])
    names = sorted(document)
    change = random.randrange(3)
    if change == 0 or not names:
        document[f"unknown_{random.randrange(100)}"] = random.choice(_ANYTHING)
    elif change == 1:
        del document[random.choice(names)]
    else:
        name = random.choice(names)
        document[name] = _spoil(document[name], random)
    return document


def _bounded(rules: JsonObject, keyword: str) -> int:
    return min(int(rules.get(keyword, 0)), MAX_SIZE)


class _Maker:
    """Makes documents of one schema."""

    def __init__(self, schema: JsonObject, random: Random) -> None:
        self.schema = schema
        self.random = random
        self.by_type: dict[str, Callable[[JsonObject, int], JsonValue]] = {
            "null": lambda rules, depth: None,
            "boolean": lambda rules, depth: random.random() < 0.5,
            "integer": lambda rules, depth: int(self.number(rules)),
            "number": lambda rules, depth: self.number(rules),
            "string": lambda rules, depth: self.text(rules),
            "array": self.array,
            "object": self.object,
        }

    def make(self, schema: JsonValue, depth: int) -> JsonValue:
        """A document that may fit."""
        if not isinstance(schema, dict):
            return self.random.choice(_ANYTHING)
        rules = self.whole(schema, depth)
        if "const" in rules:
            return thaw(rules["const"])
        chosen = [*rules.get("enum", ()), *rules.get("examples", ())]
        if chosen:
            return thaw(self.random.choice(chosen))
        types = type_names(rules) or ("object" if "properties" in rules else "string",)
        flat = [name for name in types if name not in ("array", "object")]
        kind = self.random.choice(flat if flat and depth <= 0 else types)
        return self.by_type[kind](rules, depth)

    def whole(self, schema: JsonObject, depth: int) -> dict[str, Any]:
        """The schema with its reference, one alternative and all of `allOf` taken in."""
        rules = dict(schema)
        below = list(rules.pop("allOf", ()))
        below += [self.random.choice(rules.pop(n)) for n in ("anyOf", "oneOf") if n in rules]
        if "$ref" in rules:
            below.append(self.target(rules.pop("$ref")))
        for other in below:
            if isinstance(other, dict) and depth > -MAX_DEPTH:
                rules = self.whole(other, depth - 1) | rules
        return rules

    def target(self, reference: str) -> JsonValue:
        """The schema at a JSON Pointer below the root; anything where it leads elsewhere."""
        found: Any = self.schema
        for name in steps(unquote(reference.removeprefix("#"))):
            found = found.get(name, True) if isinstance(found, dict) else True
        return found

    def number(self, rules: JsonObject) -> float:
        """A number within the bounds, on the step if there is one."""
        low = rules.get("minimum", rules.get("exclusiveMinimum"))
        high = rules.get("maximum", rules.get("exclusiveMaximum"))
        low = (high - 100 if high is not None else -10) if low is None else low
        high = low + 100 if high is None else high
        step = rules.get("multipleOf", 1 if "integer" in type_names(rules) else 0.25)
        if not abs(low) / step <= MAX_STEPS:  # the next step cannot be told from the one before
            return float(low)
        first = math.ceil(low / step)
        last = max(first, math.floor(min(high / step, first + 100)))
        return float(self.random.randint(first, last) * step)

    def text(self, rules: JsonObject) -> str:
        """A text of the format, or of letters and the right length."""
        if rules.get("format") in FORMATS:
            return self.random.choice(FORMATS[rules["format"]])
        least = _bounded(rules, "minLength")
        most = min(rules.get("maxLength", MAX_SIZE), least + 8)
        size = self.random.randint(least, max(int(most), least))
        return "".join(self.random.choices(string.ascii_lowercase, k=size))

    def array(self, rules: JsonObject, depth: int) -> JsonValue:
        """Items of their schemas, as many as there may be."""
        first = [self.make(item, depth - 1) for item in rules.get("prefixItems", ())]
        least = max(_bounded(rules, "minItems") - len(first), 0)
        most = min(rules.get("maxItems", MAX_ITEMS) - len(first), max(least, MAX_ITEMS))
        others = rules.get("items", False)
        if others is False or depth <= 0:
            most = least
        count = self.random.randint(least, max(least, most))
        return first + [self.make(others, depth - 1) for _ in range(count)]

    def object(self, rules: JsonObject, depth: int) -> JsonValue:
        """The required members, and some of the others."""
        required = rules.get("required", ())
        made = {
            name: self.make(schema, depth - 1)
            for name, schema in rules.get("properties", {}).items()
            if name in required or (depth > 0 and self.random.random() < 0.6)
        }
        others = rules.get("additionalProperties", False)
        if others is not False and depth > 0:
            least = _bounded(rules, "minProperties")
            for index in range(self.random.randint(least, max(least, MAX_ITEMS))):
                made.setdefault(f"name_{index}", self.make(others, depth - 1))
        return made
