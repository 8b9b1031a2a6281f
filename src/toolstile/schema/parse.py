"""JSON in: text or Python values become one plain, exact JSON value, or a fault that says why not.

The shortcut of `parse`, and why it is sound. Let P be the serialiser (`orjson.dumps`) and v what
the fast parser made of the document b. P writes a tree of exact str, bool, int, finite float, None,
list and dict as JSON that means this tree and no other. So if P(v) = b, then b means v:

- every object in P(v) was written from a dict, whose names differ: b has no duplicate names;
- P writes an int as its digits, and OPT_STRICT_INTEGER refuses those beyond 53 bits: every integer
  in b is exact and in range. A literal too long for the fast parser's integers comes back as a
  float, and P writes a float with a "." or an "e", so it cannot be equal;
- P writes the shortest text that reads back as the same double, never infinity: no overflow, no
  endless literal, no other rounding than reading a double means;
- P writes strings as valid UTF-8 without surrogates, and escapes the control characters.

White space between tokens means nothing. `msgspec.json.format(b, indent=-1)` takes it away and
copies every token as it stands, so equality with that is as good. Of a short text it is quicker to
take the spaces out of both, those within strings too, and as sound where the fast parser keeps to
the grammar in the one matter of spaces: what is left of either is then the same tokens, so b has
as many members as v and the same numbers, and of its strings v has every character. Nothing else
here trusts the fast parser to be strict; what is not equal (escapes written otherwise, 1.50, 1e5,
large integers) or not accepted goes to `strict_json.read`, which decides.
tests/schema/test_parse.py holds the two to the same verdict and value on generated documents,
duplicates, surrogates and stray spaces among them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
import orjson
from orjson import dumps, loads

from toolstile.model.canonical import MAX_INTEGER
from toolstile.model.json import FrozenList, JsonValue
from toolstile.schema.strict_json import (
    DEEP,
    DUPLICATE,
    INTEGER,
    NOT_FINITE,
    SURROGATE,
    ParseFault,
    ParseLimits,
    Wrong,
    place_in,
    print_within,
    read,
    refusal,
)

__all__ = [
    "DEFAULT_LIMITS",
    "NOT_PLAIN",
    "ParseFault",
    "ParseLimits",
    "check_value",
    "parse",
    "plain",
]

DEFAULT_LIMITS = ParseLimits()

_EXACT = orjson.OPT_STRICT_INTEGER
# Up to here taking the spaces out of both texts is quicker than formatting one (0.25 µs a call).
_SHORT = 256

NOT_PLAIN: Any = object()
"""What `plain` gives for a document that it cannot answer for."""

_START = "line 1, column 1"


def parse(raw: bytes | str, limits: ParseLimits = DEFAULT_LIMITS) -> JsonValue:
    """The value of a JSON document, strictly RFC 8259; nothing is ever repaired.

    Raises:
        ParseFault: the text is not one JSON value within the limits.
    """
    data = raw if isinstance(raw, bytes) else _encoded(raw, limits)
    value = plain(data, limits.bytes, limits.depth)
    if value is not NOT_PLAIN:
        return value
    if len(data) > limits.bytes:
        raise refusal(_large(limits), place=_START)
    return read(data, limits)


def plain(
    data: bytes, most: int = DEFAULT_LIMITS.bytes, depth: int = DEFAULT_LIMITS.depth
) -> JsonValue:
    """The value of a document of at most so many bytes and levels, if the shortcut can tell; else
    NOT_PLAIN, which says nothing about the document."""
    size = len(data)
    if size > most:
        return NOT_PLAIN
    try:
        value = loads(data)
        # A level takes a bracket to open and one to close. (`replace` counts four times as fast
        # as `bytes.count`.)
        if size <= 2 * depth or size - len(data.replace(b"{", b"").replace(b"[", b"")) <= depth:
            printed = dumps(value, None, _EXACT)
        else:
            printed = print_within(value, depth, _EXACT)
        if (
            printed == data
            or (size <= _SHORT and printed.replace(b" ", b"") == data.replace(b" ", b""))
            or printed == msgspec.json.format(data, indent=-1)
        ):
            return value
    except (ValueError, TypeError, msgspec.DecodeError):
        pass
    return NOT_PLAIN


def _encoded(raw: str, limits: ParseLimits) -> bytes:
    if len(raw) > limits.bytes:  # no character takes less than a byte
        raise refusal(_large(limits), place=_START)
    try:
        return raw.encode()
    except UnicodeEncodeError as error:
        raise refusal(SURROGATE, place=place_in(raw, error.start)) from None


def _large(limits: ParseLimits) -> Wrong:
    what = f"more than the {limits.bytes:,} bytes allowed"
    return Wrong(what, "send less, or a reference to where the data is", "too_large")


def check_value(value: object, limits: ParseLimits = DEFAULT_LIMITS) -> JsonValue:
    """A fresh plain copy of a Python value, refused where `parse` would refuse its JSON text.

    Lists, tuples and mappings may stand for arrays and objects; everything else is of exactly the
    type that JSON has: no bytes, dates, enumerations or subclasses of str. The size is that of the
    compact text, escapes not counted.

    Raises:
        ParseFault: something in the value is not JSON, or it is beyond the limits.
    """
    return _Copier(limits).copy(value, limits.depth)


class _Copier:
    """One copy in the making: what is left of its size, and the path to where it stands.

    What is shared is copied as often as it is met, and paid for each time; so a structure that
    refers to itself ends at the depth, and one that doubles itself at the size.
    """

    def __init__(self, limits: ParseLimits) -> None:
        self.limits = limits
        self.left = limits.bytes + 1  # nothing follows the outermost value
        self.parts: list[str | int] = []

    def copy(self, value: Any, depth: int) -> JsonValue:
        """The plain copy of a value that may be `depth` deep."""
        kind = type(value)
        if kind is str:
            return self.text(value)
        self.pay(2)  # the least there is: a digit or bracket, and what follows it
        if value is None or kind is bool:
            return value
        if kind is int:
            return self.integer(value)
        if kind is float:
            return self.real(value)
        if isinstance(value, Mapping) or kind in (list, tuple, FrozenList):
            return self.container(value, depth)
        raise self.fault(_foreign("a value", kind))

    def container(self, value: Any, depth: int) -> JsonValue:
        """The copy of a list or mapping."""
        if depth == 0:
            raise self.fault(DEEP)
        if isinstance(value, Mapping):
            return self.object(value, depth - 1)
        items = []
        for index, item in enumerate(tuple(value)):
            self.parts.append(index)
            items.append(self.copy(item, depth - 1))
            self.parts.pop()
        return items

    def object(self, value: Mapping[Any, Any], depth: int) -> dict[str, JsonValue]:
        """The copy of a mapping; some kinds of them hold a name twice."""
        members: dict[str, JsonValue] = {}
        for name, member in tuple(value.items()):
            if type(name) is not str:
                raise self.fault(_foreign("a member name", type(name)))
            self.parts.append(self.text(name))
            if name in members:
                raise self.fault(DUPLICATE)
            members[name] = self.copy(member, depth)
            self.parts.pop()
        return members

    def text(self, value: str) -> str:
        """The string, if it is whole characters that fit."""
        self.pay(len(value) + 3)
        if not value.isascii():
            try:
                self.pay(len(value.encode()) - len(value))
            except UnicodeEncodeError:
                raise self.fault(SURROGATE) from None
        return value

    def integer(self, value: int) -> int:
        """The integer, if it is in range."""
        if -MAX_INTEGER <= value <= MAX_INTEGER:
            return value
        raise self.fault(INTEGER)

    def real(self, value: float) -> float:
        """The number, if it is one."""
        if math.isfinite(value):
            return value
        raise self.fault(NOT_FINITE)

    def pay(self, size: int) -> None:
        """Take so many bytes of what is left."""
        self.left -= size
        if self.left < 0:
            raise self.fault(_large(self.limits))

    def fault(self, wrong: Wrong) -> ParseFault:
        """The fault, at the path where the copy stands."""
        return refusal(wrong, self.parts)


def _foreign(what: str, kind: type) -> Wrong:
    hint = "give None, bool, int, float, str, list or dict themselves"
    return Wrong(f"{what} of the Python type {kind.__name__[:64]}", hint)
