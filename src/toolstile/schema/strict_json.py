"""RFC 8259 read exactly: the verdict behind `parse`, and the name and place of every fault.

`read` decides. It is the C scanner of the standard library with its lax behaviours disabled: it
would take duplicate names, NaN, overflow, lone surrogates and any depth. What is refused is read
once more by `_Reader`, a small recursive descent that keeps the place and so can say what is wrong
where.
`toolstile.schema.parse` has the shortcut that most documents take instead.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple, NoReturn

import msgspec
import orjson

from toolstile.model.canonical import MAX_INTEGER
from toolstile.model.issue import CONSTRAINT_VIOLATION, INVALID_JSON, Issue, bounded_pointer
from toolstile.model.json import JsonValue

# Exact in and out (contract section 1); -(2^63) is left out so that a sign can always be turned.
# A double has at most 767 significant digits; the text of a much longer literal is only work.
MAX_NUMBER = 1_000
# `_Reader` takes half a second for this much text at worst, and would take five for 10 MiB.
MAX_PLACED = 2**20
# Each level costs `_Reader` two Python frames of the thousand that there are.
MAX_DEPTH = 200


class ParseLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How large and how deep a document may be."""

    bytes: int = 10 * 2**20
    depth: int = 64

    def __post_init__(self) -> None:
        if self.bytes < 1 or not 1 <= self.depth <= MAX_DEPTH:
            raise ValueError(f"bytes must be at least 1, depth between 1 and {MAX_DEPTH}")


class ParseFault(ValueError):
    """A document or value that is refused; `issue` says what is wrong, where, and the repair.
    `wrong` is the same without the place."""

    def __init__(self, issue: Issue, wrong: Wrong) -> None:
        self.issue = issue
        self.wrong = wrong
        super().__init__(issue.message)

    def about(self, what: str) -> Issue:
        """The issue in words for something else than arguments, such as "the file"."""
        message = self.issue.message.replace(_HEADS[INVALID_JSON], f"Invalid JSON in {what}", 1)
        return msgspec.structs.replace(self.issue, message=message)


NO_JSON = "invalid_json"


class Wrong(NamedTuple):
    """A way in which JSON can be wrong, and what its sender can do about it."""

    what: str
    hint: str
    code: str = NO_JSON
    error_code: str = INVALID_JSON


DEEP = Wrong("nested too deeply", "flatten the value, or send less at once", "too_deep")
DUPLICATE = Wrong("a duplicate member name", "send each name once", "duplicate_key")
INTEGER = Wrong(
    "an integer out of range",
    f"send one from {-MAX_INTEGER} to {MAX_INTEGER}, or a string if the tool takes that",
    "number_range",
    CONSTRAINT_VIOLATION,
)
NOT_FINITE = Wrong("NaN and Infinity are not JSON", "send null, or leave the member out")
NUMBER = Wrong("a number out of range", "send what a double can hold", "number_range")
ROUNDED = Wrong(
    "a number that a double would round to an integer",
    "send the integer itself, or fewer digits",
    "number_range",
)
SURROGATE = Wrong("a lone surrogate", "send whole characters: surrogates only stand in pairs")

_BOM = Wrong("a byte order mark", "send the text without it")
_EMPTY = Wrong("the text is empty", "send {} where there are no arguments")
_ENCODING = Wrong("not UTF-8", "encode the text as UTF-8")
_TRAILING = Wrong("text after the end of the document", "send one JSON value and nothing else")
_CLOSE = "close every string, array and object"
_SYNTAX = Wrong("not well-formed", "look at this place for a missing quote, comma or bracket")
_NAME = Wrong("a missing member name", "write names in double quotes")
_COLON = Wrong("a missing ':'", "write a colon between name and value")
_COMMA = Wrong("a trailing comma", "leave out the comma after the last item")

# The contract begins every message with ACODE's text for its error code.
_EXPECTED = {
    NO_JSON: "one JSON value (RFC 8259)",
    "duplicate_key": "each name once",
    "number_range": "an integer of 64 bits, or a number that a double holds",
    "too_deep": "a value that nests less deeply",
    "too_large": "a shorter text",
}
_HEADS = {INVALID_JSON: "Invalid JSON in arguments", CONSTRAINT_VIOLATION: "Constraint violation"}


def refusal(wrong: Wrong, parts: Iterable[str | int] = (), place: str = "") -> ParseFault:
    """The fault at this path and, if there is a text, at this place of it."""
    where = f" at {place}" if place else ""
    return ParseFault(
        Issue(
            path=bounded_pointer(parts),
            code=wrong.code,
            error_code=wrong.error_code,
            message=f"{_HEADS[wrong.error_code]}: {wrong.what}{where}",
            expected=_EXPECTED[wrong.code],
            actual=wrong.what,
            hint=wrong.hint,
        ),
        wrong,
    )


def place_in(text: str, at: int) -> str:
    """Line and column, counted from one, of the character at this index."""
    line = text.count("\n", 0, at) + 1
    return f"line {line}, column {at - text.rfind(chr(10), 0, at)}"


# --- The verdict


def read(data: bytes, limits: ParseLimits) -> JsonValue:
    """The value of a JSON document.

    Raises:
        ParseFault: it is not exactly one strict RFC 8259 value of the allowed depth. Of a text
            longer than `MAX_PLACED` only a fault of syntax has its place.
    """
    text = _decoded(data)
    try:
        return _scanned(text, limits.depth)
    except ParseFault:
        if len(text) > MAX_PLACED:
            raise
    return read_placed(text, limits)


def read_placed(text: str, limits: ParseLimits) -> JsonValue:
    """The same by the slower reader, which knows where it is.

    Raises:
        ParseFault: as `read` does, with the place.
    """
    return _Reader(text, limits.depth).document()


def _scanned(text: str, depth: int) -> JsonValue:
    try:
        value = _DECODER.decode(text)
        print_within(value, depth, 0)  # refuses what the scanner lets pass: depth and surrogates
    except json.JSONDecodeError as error:
        raise refusal(_SYNTAX, place=place_in(text, error.pos)) from None
    except RecursionError:
        raise refusal(DEEP) from None
    except TypeError as error:
        raise refusal(SURROGATE if "UTF-8" in str(error) else DEEP) from None
    return value


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        raise refusal(_ENCODING, place=place_in(before, len(before))) from None


def _members(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise refusal(DUPLICATE)
    return members


def _integer(literal: str) -> int:
    # The length first: int() takes quadratic time, and refuses beyond 4,300 digits by itself.
    if len(literal) > 20 or abs(value := int(literal)) > MAX_INTEGER:
        raise refusal(INTEGER)
    return value


def _real(literal: str) -> float:
    if len(literal) > MAX_NUMBER or math.isinf(value := float(literal)):
        raise refusal(NUMBER)
    if is_rounded_to_integer(literal, value):
        raise refusal(ROUNDED)
    return value


_NOT_ZERO = re.compile(r"[-0.]*[1-9]")


def is_rounded_to_integer(literal: str, value: float) -> bool:
    """True where a double turns a literal into an integer that it is not (9007199254740992.5,
    1e-400). It would pass where an integer is wanted, so it is refused, not repaired. What any
    encoder writes for a double is that double, and beyond 64 bits nothing passes for an integer."""
    if not value.is_integer() or abs(value) > MAX_INTEGER:
        return False
    try:
        return Decimal(literal) != Decimal(repr(value))
    except InvalidOperation:  # an exponent of 19 digits; what is not zero has become so
        return _NOT_ZERO.match(literal) is not None


def _constant(_: str) -> NoReturn:
    raise refusal(NOT_FINITE)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_integer, parse_float=_real, parse_constant=_constant
)


# --- Depth, at the serialiser's speed


def print_within(value: JsonValue, depth: int, option: int) -> bytes:
    """The serialiser's text of a value, made only if lists and dicts are at most `depth` deep.

    A list around a value changes nothing but its depth: with as many around it as the
    serialiser's own bound leaves over, that bound becomes ours.

    Raises:
        TypeError: the value is deeper, or holds what the serialiser (or `option`) refuses.
    """
    if depth >= _BOUND:
        raise TypeError("the serialiser has no bound on depth to build on")
    try:
        lists = _IDLE.pop()
    except IndexError:
        lists = _nested_lists()
    lists[-1][0] = value
    try:
        return orjson.dumps(lists[depth], None, option)[_BOUND - depth : depth - _BOUND]
    finally:
        lists[-1][0] = None
        _IDLE.append(lists)


def _nested_lists() -> list[list[JsonValue]]:
    lists: list[list[JsonValue]] = [[None]]
    while len(lists) < _BOUND:
        lists.append([lists[-1]])
    return lists[::-1]


# Each holds the next: made once, for making them anew costs more than most documents. A thread
# takes one out for itself; `pop` and `append` are atomic.
_IDLE: list[list[list[JsonValue]]] = []


def _serialiser_bound() -> int:
    """How deep orjson goes: 254 levels. If some version goes deeper, 0: then `_Reader` decides, and
    longer texts that need `read` are refused."""
    lists: JsonValue = []
    dicts: JsonValue = {}
    for _ in range(254):
        lists, dicts = [lists], {"": dicts}
    return 254 if _refuses(lists) and _refuses(dicts) else 0


def _refuses(value: JsonValue) -> bool:
    try:
        orjson.dumps(value)
    except TypeError:
        return True
    return False


_BOUND = _serialiser_bound()


# --- The name and place of a fault

_WHITE = " \t\n\r"
_SPACE = re.compile(f"[{_WHITE}]*+")
# An escaped surrogate only together with its other half. The group is not possessive: up to 3.11.4
# Python lets such a group take what it may not (github.com/python/cpython/issues/106052), and where
# the alternatives begin differently there is nothing to gain.
_CHARACTERS = (
    r'(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]'
    r"|\\u(?![dD][89a-fA-F])[0-9A-Fa-f]{4}"
    r"|\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2})*"
)
_INSIDE = re.compile(_CHARACTERS)
_STRING = re.compile(f'"({_CHARACTERS})"')
_TOKEN = re.compile(
    f'"({_CHARACTERS})"'
    r"|(-?(?:0|[1-9][0-9]*+)((?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?))(?![-+.0-9A-Za-z_])"
    r"|(true|false|null)(?![0-9A-Za-z_])"
    r"|([\[{])"
)
_WORDS = {"true": True, "false": False, "null": None}

# What may stand where a value should; the first that fits is named.
_NO_VALUE = [
    (re.compile(r"\Z"), Wrong("the text ends where a value was expected", _CLOSE)),
    (re.compile(r"[+-]?(?i:nan|inf)"), NOT_FINITE),
    (re.compile(r"True|False|None"), Wrong("a Python word", "write true, false or null")),
    (re.compile(r"'"), Wrong("a single quote", "write strings in double quotes")),
    (re.compile(r"//|/\*|#"), Wrong("a comment", "leave it out: JSON has none")),
    (re.compile(r"[-+.0-9]"), Wrong("a malformed number", "write it as in 12 or -1.5e3")),
    (re.compile(r"[,:\]}]"), Wrong("a value is missing", "give one, or leave out the comma")),
    (
        re.compile(r""),
        Wrong("something that is not a JSON value", "write strings in double quotes"),
    ),
]

# What may end a string before its quote does.
_NO_STRING = [
    (re.compile(r"\Z"), Wrong("the text ends within a string", _CLOSE)),
    (re.compile(r"[\x00-\x1f]"), Wrong("a control character in a string", r"escape it, as in \n")),
    (re.compile(r"\\u[0-9A-Fa-f]{4}"), SURROGATE),
    (re.compile(r""), Wrong("an unknown escape in a string", r"write a backslash as \\")),
]


class _Reader:
    """One pass over a text, by recursive descent; `parts` is the path to where it stands."""

    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.depth = depth
        self.at = 0
        self.parts: list[str | int] = []

    def document(self) -> JsonValue:
        """The value of the whole text."""
        if self.text.startswith("\ufeff"):
            raise self.fault(_BOM)
        if self.peek() == "":
            self.at = 0
            raise self.fault(_EMPTY)
        value = self.value()
        if self.peek() != "":
            raise self.fault(_TRAILING)
        return value

    def fault(self, wrong: Wrong) -> ParseFault:
        """The fault, at the place where the reader stands.

        A text that is no JSON has no values to point at: the issue is about the whole of it.
        """
        parts = () if wrong.code == NO_JSON else self.parts
        return refusal(wrong, parts, place_in(self.text, self.at))

    def peek(self) -> str:
        """The next character that is not white space; "" at the end."""
        found = self.text[self.at : self.at + 1]
        if found in _WHITE:  # as "" is
            self.skip(_SPACE)
            return self.text[self.at : self.at + 1]
        return found

    def skip(self, pattern: re.Pattern[str]) -> None:
        """Pass over what the pattern finds here."""
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def value(self) -> JsonValue:
        """The value that starts here."""
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            raise self.no_string() if self.peek() == '"' else self.fault(self.first(_NO_VALUE))
        string, number, real, word, opener = found.groups()
        if opener is not None:
            return self.container(opener)
        value: JsonValue = _WORDS.get(word)
        if string is not None:
            value = _unescaped(string)
        elif number is not None:
            value = self.number(number, real)
        self.at = found.end()
        return value

    def number(self, literal: str, real: str) -> int | float:
        """The number of a literal; `real` is its fraction and exponent."""
        try:
            return _real(literal) if real else _integer(literal)
        except ParseFault as error:
            raise self.fault(error.wrong) from None

    def container(self, bracket: str) -> JsonValue:
        """The array or object that starts here."""
        if self.depth == 0:
            raise self.fault(DEEP)
        self.depth -= 1
        self.at += 1
        value = self.array() if bracket == "[" else self.object()
        self.at += 1
        self.depth += 1
        return value

    def array(self) -> list[JsonValue]:
        """The items up to the closing bracket."""
        items: list[JsonValue] = []
        more = self.peek() != "]"
        while more:
            self.parts.append(len(items))
            items.append(self.value())
            self.parts.pop()
            more = self.another("]")
        return items

    def object(self) -> dict[str, JsonValue]:
        """The members up to the closing brace."""
        members: dict[str, JsonValue] = {}
        more = self.peek() != "}"
        while more:
            name = self.name(members)
            self.parts.append(name)
            members[name] = self.value()
            self.parts.pop()
            more = self.another("}")
        return members

    def name(self, members: dict[str, JsonValue]) -> str:
        """The name of the next member, read up to its value."""
        if self.peek() != '"':
            raise self.fault(_NAME)
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise self.no_string()
        name = _unescaped(found[1])
        if name in members:
            self.parts.append(name)
            raise self.fault(DUPLICATE)
        self.at = found.end()
        if self.peek() != ":":
            raise self.fault(_COLON)
        self.at += 1
        self.peek()
        return name

    def another(self, closer: str) -> bool:
        """Does another item follow? If not, the reader stands at the closing bracket."""
        found = self.peek()
        if found == closer:
            return False
        if found != ",":
            hint = "write a comma between two items" if found else _CLOSE
            raise self.fault(Wrong(f"a missing ',' or '{closer}'", hint))
        comma = self.at
        self.at += 1
        if self.peek() == closer:
            self.at = comma
            raise self.fault(_COMMA)
        return True

    def no_string(self) -> ParseFault:
        """Why the string that starts here does not end well."""
        self.at += 1
        self.skip(_INSIDE)
        return self.fault(self.first(_NO_STRING))

    def first(self, table: Sequence[tuple[re.Pattern[str], Wrong]]) -> Wrong:
        """The first line of a table that fits here; the last fits everything."""
        return next(wrong for pattern, wrong in table if pattern.match(self.text, self.at))


def _unescaped(string: str) -> str:
    return string if "\\" not in string else str(json.loads(f'"{string}"'))
