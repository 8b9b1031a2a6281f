"""ECMA-262 regular expressions, read into a tree.

JSON Schema's `pattern` speaks ECMA-262 with the `u` flag. Two liberties of Annex B are taken, for
schemas in the wild use them and they have one meaning only: a backslash before anything that is
not a letter or digit, and `{`, `}`, `]` or a class's `-` standing for themselves. Everything else
that `u` forbids is refused, and so is what no linear-time engine can do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

MAX_LENGTH = 4096
"""Longer than any pattern in public schemas by an order of magnitude; bounds all work below."""
MAX_DEPTH = 64
"""The project's nesting limit for JSON too; the engine's own parser gives up at 250."""
MAX_REPEAT = 4096
"""A longer count belongs in maxLength, and would not fit the engine's size limit anyway."""

LAST = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)

Ranges: TypeAlias = tuple[tuple[int, int], ...]


class PatternRefused(ValueError):
    """A pattern is not ECMA-262, or cannot be matched in linear time and bounded memory.

    `position` counts characters from 0; it is 0 where the fault is the pattern's as a whole.
    """

    def __init__(self, reason: str, position: int, hint: str) -> None:
        self.reason = reason
        self.position = position
        self.hint = hint
        super().__init__(f"{reason}, at character {position + 1} ({hint})")


class Chars(msgspec.Struct, frozen=True, kw_only=True):
    """Any one character of the ranges or of the properties (of neither, if `negated`).

    Ranges are sorted and apart from each other; no JSON text holds surrogates, so a range may span
    them but not end there. Properties are spelt as the engine wants them; only sets with
    properties are ever `negated`.
    """

    ranges: Ranges
    properties: tuple[str, ...] = ()
    negated: bool = False


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """A place between characters: start, end, an ASCII word boundary, or none."""

    kind: Literal["^", "$", "b", "B"]


class Sequence(msgspec.Struct, frozen=True, kw_only=True):
    """All items, one after the other; no items match the empty string."""

    items: tuple[Node, ...]


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Any one of the options."""

    options: tuple[Node, ...]


class Repeat(msgspec.Struct, frozen=True, kw_only=True):
    """The item, `low` to `high` times; without bound where `high` is None."""

    item: Node
    low: int
    high: int | None


# Groups leave no node behind, nor does laziness: neither changes whether a string matches.
Node: TypeAlias = Chars | Edge | Sequence | Choice | Repeat


def united(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same characters as sorted, separate ranges; surrogates only if a range spans them."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(_without_halves(*bounds) for bounds in ranges):
        if merged and low <= _after(merged[-1][1]):
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        elif low <= high:
            merged.append((low, high))
    return tuple(merged)


def _without_halves(low: int, high: int) -> tuple[int, int]:
    first, last = SURROGATES
    return (
        last + 1 if first <= low <= last else low,
        first - 1 if first <= high <= last else high,
    )


def _after(point: int) -> int:
    return SURROGATES[1] + 1 if point == SURROGATES[0] - 1 else point + 1


def complement(ranges: Ranges) -> Ranges:
    """Every character that is not in the ranges."""
    starts = [0, *(high + 1 for _, high in ranges)]
    ends = [*(low - 1 for low, _ in ranges), LAST]
    return united(gap for gap in zip(starts, ends, strict=True) if gap[0] <= gap[1])


def _ranges(text: str) -> Ranges:
    return united((ord(pair[0]), ord(pair[-1])) for pair in text.split("|"))


# https://tc39.es/ecma262/#sec-compileatom and #sec-compiletocharset
NEWLINES = _ranges("\n|\r|\u2028|\u2029")
DIGITS = _ranges("0-9")
WORD = _ranges("0-9|A-Z|_|a-z")
SPACE = _ranges("\t-\r| |\xa0|\u1680|\u2000-\u200a|\u2028|\u2029|\u202f|\u205f|\u3000|\ufeff")
_CLASS_ESCAPES = {"d": DIGITS, "w": WORD, "s": SPACE}
_CLASS_ESCAPES |= {letter.upper(): complement(ranges) for letter, ranges in _CLASS_ESCAPES.items()}

# https://tc39.es/ecma262/#table-binary-unicode-properties and UAX #44, table 12: the names that
# both ECMA-262 and the engine know (it lacks Changes_When_NFKC_Casefolded and Surrogate).
BINARY_PROPERTIES = frozenset(
    """ASCII ASCII_Hex_Digit Alphabetic Any Assigned Bidi_Control Bidi_Mirrored Case_Ignorable
    Cased Changes_When_Casefolded Changes_When_Casemapped Changes_When_Lowercased
    Changes_When_Titlecased Changes_When_Uppercased Dash Default_Ignorable_Code_Point Deprecated
    Diacritic Emoji Emoji_Component Emoji_Modifier Emoji_Modifier_Base Emoji_Presentation
    Extended_Pictographic Extender Grapheme_Base Grapheme_Extend Hex_Digit IDS_Binary_Operator
    IDS_Trinary_Operator ID_Continue ID_Start Ideographic Join_Control Logical_Order_Exception
    Lowercase Math Noncharacter_Code_Point Pattern_Syntax Pattern_White_Space Quotation_Mark
    Radical Regional_Indicator Sentence_Terminal Soft_Dotted Terminal_Punctuation
    Unified_Ideograph Uppercase Variation_Selector White_Space XID_Continue XID_Start""".split()
)
_CATEGORY_NAMES = """L Letter, LC Cased_Letter, Lu Uppercase_Letter, Ll Lowercase_Letter,
    Lt Titlecase_Letter, Lm Modifier_Letter, Lo Other_Letter, M Mark Combining_Mark,
    Mn Nonspacing_Mark, Mc Spacing_Mark, Me Enclosing_Mark, N Number, Nd Decimal_Number digit,
    Nl Letter_Number, No Other_Number, P Punctuation punct, Pc Connector_Punctuation,
    Pd Dash_Punctuation, Ps Open_Punctuation, Pe Close_Punctuation, Pi Initial_Punctuation,
    Pf Final_Punctuation, Po Other_Punctuation, S Symbol, Sm Math_Symbol, Sc Currency_Symbol,
    Sk Modifier_Symbol, So Other_Symbol, Z Separator, Zs Space_Separator, Zl Line_Separator,
    Zp Paragraph_Separator, C Other, Cc Control cntrl, Cf Format, Co Private_Use, Cn Unassigned"""
CATEGORIES = {
    name: names.split()[0] for names in _CATEGORY_NAMES.split(",") for name in names.split()
}
"""Every name of a general category, and its short one."""

_HEX = "[0-9A-Fa-f]"
_QUANTIFIER = re.compile(
    r"(?:(?P<sign>[*+?])|\{(?P<low>[0-9]+)(?:(?P<comma>,)(?P<high>[0-9]*))?\})\??"
)
_NO_LOWER_BOUND = re.compile(r"\{,[0-9]*\}")
_GROUP = re.compile(r"\((?:(?!\?)|\?:|\?<(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)>)")
_PROPERTY = re.compile(r"\\(?P<sign>[pP])\{(?:(?P<key>[A-Za-z_]+)=)?(?P<value>[A-Za-z_]+)\}")
# The engine errs about U+D7FF and U+E000 when it negates a class with one range that ends before
# the surrogates and one that begins behind them. Ranges are merged there; these it merges not.
_ENDS_AT_SURROGATES = re.compile(r"\b(Cn|Co|Assigned)\}")
_SCRIPT = re.compile(r"[A-Z][A-Za-z_]+")
_CHARACTER = re.compile(
    rf"\\(?:(?P<letter>[fnrtv])|c(?P<control>[A-Za-z])|(?P<zero>0)(?![0-9])"
    rf"|x(?P<byte>{_HEX}{{2}})|u\{{(?P<point>{_HEX}+)\}}"
    rf"|u(?P<lead>[dD][89abAB]{_HEX}{{2}})\\u(?P<trail>[dD][c-fC-F]{_HEX}{{2}})"
    rf"|u(?P<unit>{_HEX}{{4}})|(?P<same>[^A-Za-z0-9]))",
    re.DOTALL,
)
_LETTERS = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_KEYS = {"General_Category": "gc", "gc": "gc", "Script": "sc", "sc": "sc"}
_KEYS |= {"Script_Extensions": "scx", "scx": "scx"}

_NO_LOOKING = "say it with several schemas: allOf for what must also match, not for what must not"
_NO_BACKREFERENCE = "write out the alternatives, or check the repetition after the call"
_REFUSED_GROUPS = (
    ("(?=", "lookahead cannot be matched in linear time", _NO_LOOKING),
    ("(?!", "negative lookahead cannot be matched in linear time", _NO_LOOKING),
    ("(?<=", "lookbehind cannot be matched in linear time", _NO_LOOKING),
    ("(?<!", "negative lookbehind cannot be matched in linear time", _NO_LOOKING),
    ("(?<", "a group name that is not a plain ASCII word", "use (?:…), names have no effect here"),
    ("(?P", "Python's named groups are not ECMA-262", "use (?:…), names have no effect here"),
    ("(?>", "atomic groups are not ECMA-262", "use (?:…)"),
    ("(?#", "comments are not ECMA-262", "put the comment in the schema's $comment"),
    ("(?", "no group of ECMA-262 begins so", "use (?:…); for a flag i, spell out [Aa]"),
)
_REFUSED_ESCAPES = {
    "A": r"use ^ for the start",
    "Z": r"use $ for the end",
    "z": r"use $ for the end",
    "Q": r"escape each special character by itself",
    "a": r"use \x07",
    "e": r"use \x1B",
    "h": r"use [ \t]",
    "x": r"use \xHH with two hexadecimal digits, or \u{…}",
    "u": r"use \uHHHH with four hexadecimal digits, or \u{…}",
    "c": r"use \xHH",
    "p": r"use \p{L}, \p{Script=Greek} or the like",
    "P": r"use \P{L}, \P{Script=Greek} or the like",
    "": r"escape the backslash as \\",
}


class _Reader:
    """A pattern, and how far it has been read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.names: set[str] = set()

    def ahead(self, offset: int = 0) -> str:
        return self.text[self.at + offset : self.at + offset + 1]

    def take(self, text: str) -> bool:
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def sees(self, token: re.Pattern[str]) -> bool:
        return token.match(self.text, self.at) is not None

    def match(self, token: re.Pattern[str]) -> re.Match[str] | None:
        found = token.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def refusal(self, reason: str, hint: str, at: int | None = None) -> PatternRefused:
        return PatternRefused(reason, self.at if at is None else at, hint)


def parse(pattern: str) -> Node:
    """The tree of an ECMA-262 pattern.

    Raises:
        PatternRefused: it is not ECMA-262, too long, too deep, or looks around or back.
    """
    if len(pattern) > MAX_LENGTH:
        reason = f"the pattern is longer than {MAX_LENGTH} characters"
        raise PatternRefused(reason, MAX_LENGTH, "an enum says long lists of words better")
    reader = _Reader(pattern)
    tree = _choice(reader)
    if reader.at < len(pattern):
        raise reader.refusal("a ) without its (", r"escape it as \)")
    return tree


def _choice(reader: _Reader) -> Node:
    options = [_sequence(reader)]
    while reader.take("|"):
        options.append(_sequence(reader))
    return options[0] if len(options) == 1 else Choice(options=tuple(options))


def _sequence(reader: _Reader) -> Node:
    items = []
    while reader.ahead() not in ("", "|", ")"):
        items.append(_term(reader))
    return items[0] if len(items) == 1 else Sequence(items=tuple(items))


def _term(reader: _Reader) -> Node:
    start = reader.at
    atom = _atom(reader)
    end = reader.at
    found = reader.match(_QUANTIFIER)
    if found is None:
        return atom
    if isinstance(atom, Edge) and reader.text[start] != "(":
        raise reader.refusal("an anchor cannot be repeated", "drop the quantifier", end)
    low, high = _bounds(found)
    if high is not None and high < low:
        raise reader.refusal("a repetition's bounds are out of order", "write {least,most}", end)
    if max(low, high or 0) > MAX_REPEAT:
        reason = f"a repetition of more than {MAX_REPEAT} times"
        raise reader.refusal(reason, "use minLength and maxLength for long counts", end)
    return Repeat(item=atom, low=low, high=high)


def _bounds(found: re.Match[str]) -> tuple[int, int | None]:
    if found["sign"]:
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[found["sign"]]
    low = int(found["low"])
    if not found["comma"]:
        return low, low
    return low, int(found["high"]) if found["high"] else None


def _atom(reader: _Reader) -> Node:
    match reader.ahead():
        case "(":
            return _group(reader)
        case "[":
            return _class(reader)
        case "\\":
            return _escape(reader)
        case "." if reader.take("."):
            return Chars(ranges=complement(NEWLINES))
        case "^" if reader.take("^"):
            return Edge(kind="^")
        case "$" if reader.take("$"):
            return Edge(kind="$")
    if reader.sees(_NO_LOWER_BOUND):
        # Annex B reads it as text, Python and others as a repetition: nobody can be sure.
        raise reader.refusal("a repetition without its lower bound", "write {0,n}")
    if reader.sees(_QUANTIFIER):
        raise reader.refusal("nothing to repeat", "escape the quantifier, or drop it")
    return _character(_literal(reader))


def _character(point: int) -> Chars:
    return Chars(ranges=((point, point),))


def _literal(reader: _Reader) -> int:
    point = _scalar(reader, ord(reader.ahead()), reader.at)
    reader.at += 1
    return point


def _scalar(reader: _Reader, point: int, at: int) -> int:
    if point > LAST:
        raise reader.refusal("a code point beyond U+10FFFF", r"use \u{10FFFF} at most", at)
    if SURROGATES[0] <= point <= SURROGATES[1]:
        # With `u` it would match nothing in JSON text, without `u` half of a character.
        raise reader.refusal("half of a surrogate pair", r"write the whole as \u{…}", at)
    return point


def _group(reader: _Reader) -> Node:
    start = reader.at
    opening = reader.match(_GROUP)
    if opening is None:
        raise _group_refusal(reader)
    name = opening["name"]
    if name in reader.names:
        raise reader.refusal("two groups of one name", "use (?:…), names have no effect", start)
    if name:
        reader.names.add(name)
    if reader.depth == MAX_DEPTH:
        raise reader.refusal(f"groups nested deeper than {MAX_DEPTH}", "flatten them", start)
    reader.depth += 1
    tree = _choice(reader)
    reader.depth -= 1
    if not reader.take(")"):
        raise reader.refusal("a ( without its )", r"close it, or escape it as \(", start)
    return tree


def _group_refusal(reader: _Reader) -> PatternRefused:
    return next(
        reader.refusal(reason, hint)
        for opening, reason, hint in _REFUSED_GROUPS
        if reader.text.startswith(opening, reader.at)
    )


def _escape(reader: _Reader) -> Node:
    if reader.take(r"\b"):
        return Edge(kind="b")
    if reader.take(r"\B"):
        return Edge(kind="B")
    found = _class_escape(reader)
    return _character(_escaped_point(reader)) if found is None else found


def _class_escape(reader: _Reader) -> Chars | None:
    found = reader.match(_PROPERTY)
    if found:
        return Chars(ranges=(), properties=(_property(reader, found),))
    ranges = _CLASS_ESCAPES.get(reader.ahead(1))
    if ranges is None:
        return None
    reader.at += 2
    return Chars(ranges=ranges)


def _property(reader: _Reader, found: re.Match[str]) -> str:
    sign, key, value = found["sign"], found["key"], found["value"]
    # Spelt out with its key: on bare names the engine is laxer than ECMA-262, \p{Greek} works.
    if key is None and value in BINARY_PROPERTIES:
        return rf"\{sign}{{{value}}}"
    key = _KEYS.get(key or "gc", "")
    if key == "gc" and value in CATEGORIES:
        return rf"\{sign}{{gc={CATEGORIES[value]}}}"
    if key in ("sc", "scx") and _SCRIPT.fullmatch(value):
        return rf"\{sign}{{{key}={value}}}"
    hint = r"use a category such as \p{L}, \p{Script=Greek}, or a binary property, in exact case"
    raise reader.refusal("an unknown Unicode property", hint, found.start())


def _escaped_point(reader: _Reader) -> int:
    start = reader.at
    found = reader.match(_CHARACTER)
    if found is None:
        raise _escape_refusal(reader)
    return _scalar(reader, _value(found), start)


def _value(found: re.Match[str]) -> int:
    kind = found.lastgroup
    text = found[kind] if kind else ""
    match kind:
        case "letter":
            return _LETTERS[text]
        case "control":
            return ord(text) % 32
        case "trail":
            return ord(bytes.fromhex(found["lead"] + text).decode("utf-16-be"))
        case "byte" | "point" | "unit":
            return int(text, 16)
    return 0 if kind == "zero" else ord(text)


def _escape_refusal(reader: _Reader) -> PatternRefused:
    letter = reader.ahead(1)
    if letter == "0":
        return reader.refusal("octal escapes are not ECMA-262", r"use \xHH")
    if letter.isdecimal() or letter == "k":
        return reader.refusal("a backreference cannot be matched in linear time", _NO_BACKREFERENCE)
    hint = _REFUSED_ESCAPES.get(letter, "drop the backslash if the letter itself is meant")
    reason = rf"\{letter} means nothing here" if letter else "a lone backslash"
    return reader.refusal(reason, hint)


def _class(reader: _Reader) -> Chars:
    start = reader.at
    reader.take("[")
    negated = reader.take("^")
    parts: list[Chars] = []
    while not reader.take("]"):
        if not reader.ahead():
            raise reader.refusal("a [ without its ]", r"close it, or escape it as \[", start)
        parts.extend(_class_item(reader))
    ranges = united(pair for part in parts for pair in part.ranges)
    properties = tuple(dict.fromkeys(name for part in parts for name in part.properties))
    if properties:
        if negated and len(parts) > 1 and any(map(_ENDS_AT_SURROGATES.search, properties)):
            hint = r"name what may occur, in a class without ^"
            raise reader.refusal("a mixed class without private or unassigned", hint, start)
        return Chars(ranges=ranges, properties=properties, negated=negated)
    return Chars(ranges=complement(ranges) if negated else ranges)


def _class_item(reader: _Reader) -> tuple[Chars, ...]:
    start = reader.at
    first = _class_atom(reader)
    if reader.ahead() != "-" or reader.ahead(1) in ("", "]"):
        return (first if isinstance(first, Chars) else _character(first),)
    reader.take("-")
    last = _class_atom(reader)
    if isinstance(first, Chars) or isinstance(last, Chars):
        # Annex B: in [\w-.] the dash stands for itself.
        ends = (part if isinstance(part, Chars) else _character(part) for part in (first, last))
        return (*ends, _character(ord("-")))
    if last < first:
        raise reader.refusal("a character range is out of order", "write [a-z]", start)
    return (Chars(ranges=united([(first, last)])),)


def _class_atom(reader: _Reader) -> Chars | int:
    if reader.ahead() != "\\":
        return _literal(reader)
    if reader.take(r"\b"):
        return 0x08
    found = _class_escape(reader)
    return _escaped_point(reader) if found is None else found
