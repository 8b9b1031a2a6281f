"""Bounds beyond 64 bits in foreign definitions, written so that they can be read and say the same.

Generators write the range of their own integers (-2^63, 2^64-1); the reader of JSON takes no such
integer. Numbers that reach so far are doubles, so the double beside such a bound holds back just
what the bound does, in any place of a schema.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from toolstile.model.canonical import MAX_INTEGER
from toolstile.model.issue import pointer
from toolstile.schema.drafts import Note
from toolstile.schema.keywords import KEYWORDS, Shape

# Where the schema of the parameters is found.
PARAMETERS = ("inputSchema", "input_schema", "parameters", "parametersJsonSchema")
MAX_NESTING = 100

COUNTS = frozenset(name for name, keyword in KEYWORDS.items() if keyword.shape is Shape.COUNT)
# Whether the double above such a bound says the same, or that below it: whatever is at most
# 2^64-1 is at most the double below it, and whatever is less is less than the double above it.
ABOVE = {
    "minimum": True,
    "exclusiveMinimum": False,
    "maximum": False,
    "exclusiveMaximum": True,
}
BOUNDS = COUNTS | ABOVE.keys()

# What holds plain values, in which a member called "minimum" is no bound.
PLAIN_VALUES = frozenset(("const", "enum", "default", "examples", "example"))
MAPS = frozenset(
    name for name, keyword in KEYWORDS.items() if keyword.shape is Shape.SCHEMAS_BY_NAME
) | {"definitions", "dependencies"}


def readable_bounds(value: Any, note: Note) -> Any:
    """The foreign definition with no bound beyond 64 bits, where that says the same."""
    return _readable(value, note, "", 0, names=False)


def _readable(value: Any, note: Note, path: str, depth: int, *, names: bool) -> Any:
    """`names`: the keys are the names of schemas, and no keywords."""
    if depth > MAX_NESTING:
        return value  # refused next, by the reader of JSON
    if isinstance(value, list):
        return [
            _readable(each, note, f"{path}/{index}", depth + 1, names=False)
            for index, each in enumerate(value)
        ]
    if not isinstance(value, Mapping):
        return value
    made = dict(value)
    for key, each in value.items():
        where = f"{path}{_below(path, key)}"
        if not names and key in PLAIN_VALUES:
            continue
        if not names and key in BOUNDS and type(each) is int and abs(each) > MAX_INTEGER:
            made[key] = _bound(key, each)
            note(where, key, "written as a number that can be read and says the same")
        elif isinstance(each, (list, Mapping)):
            made[key] = _readable(each, note, where, depth + 1, names=not names and key in MAPS)
    return made


def _bound(name: str, value: int) -> int | float:
    """A bound that says the same; the same bound where there is none."""
    if name in COUNTS:  # nothing is so long
        return MAX_INTEGER if value > 0 else value
    above = ABOVE[name]
    try:
        near = float(value)
    except OverflowError:
        return value
    if near != value and (near < value) == above:
        near = math.nextafter(near, math.inf if above else -math.inf)
    return near if math.isfinite(near) else value


def _below(path: str, key: Any) -> str:
    """Where a member stands in the definition that is made of the foreign one."""
    outermost = {"function": "", **dict.fromkeys(PARAMETERS, "/parameters")}
    outermost |= dict.fromkeys(("outputSchema", "output_schema"), "/output_schema")
    return outermost.get(key, pointer(str(key))) if not path else pointer(str(key))
