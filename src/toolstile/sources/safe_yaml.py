"""YAML read as JSON: one document, no surprises.

YAML 1.1 reads `no` as false, `12:30:45` as 45045 and `1_000` as 1000; its tags build objects; its
aliases turn a kilobyte into gigabytes. None of that is here: plain scalars mean what the core
schema of YAML 1.2 says, tags can only say the same, names are strings and stand once, there are no
merge keys and no directives, and few values may be repeated by alias. PyYAML is asked for events
only, so nothing of it ever constructs a value.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from toolstile.model.canonical import MAX_INTEGER
from toolstile.model.issue import INVALID_JSON, Issue, bounded_pointer, pointer, steps
from toolstile.model.json import JsonValue, thaw
from toolstile.schema.parse import ParseFault, ParseLimits, parse

DEFAULT_LIMITS = ParseLimits(bytes=2**20, depth=64)
# A double has at most 767 significant digits; the text of a much longer literal is only work.
MAX_NUMBER = 1_000
MAX_ALIASED = 1_000  # values that aliases may add to a document, all together
# Every value is remembered with its pointer. Long names above many values would make gigabytes of
# that out of a megabyte; a thousand tools make three million characters.
MAX_POINTERS = 2**24


class YamlFault(ValueError):
    """A document that is refused; `issue` says what is wrong, where, and the repair."""

    def __init__(self, issue: Issue) -> None:
        self.issue = issue
        super().__init__(issue.message)


class Position(NamedTuple):
    """Where a value stands in the text, counted from one."""

    line: int
    column: int


def load_yaml(raw: bytes | str, limits: ParseLimits = DEFAULT_LIMITS) -> JsonValue:
    """The JSON value of a YAML document.

    Raises:
        YamlFault: it is not one document of strict YAML within the bounds.
    """
    return load_yaml_with_positions(raw, limits)[0]


def load_yaml_with_positions(
    raw: bytes | str, limits: ParseLimits = DEFAULT_LIMITS
) -> tuple[JsonValue, Mapping[str, Position]]:
    """The value, and by JSON Pointer where in the text each part of it stands.

    Raises:
        YamlFault: it is not one document of strict YAML within the bounds.
    """
    text = _text(raw, limits)
    fault = _unreadable(text)
    if fault is None:
        reader = _Reader(text, limits.depth)
        try:
            return reader.document(), reader.positions
        except yaml.YAMLError as error:
            fault = _syntax(error)
    return _as_json(text, limits, fault), {"": Position(1, 1)}


# --- The text

# What YAML 1.2 calls printable, without the line breaks that only YAML 1.1 and some editors see.
_UNPRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_JSON = re.compile(r"\s*[\[{\"]")
_START = Position(1, 1)


def _text(raw: bytes | str, limits: ParseLimits) -> str:
    try:
        data = raw.encode() if isinstance(raw, str) else raw
        if len(data) > limits.bytes:
            reason = f"{len(data):,} bytes, of at most {limits.bytes:,}"
            raise _fault(reason, "split the file", _START, "too_large")
        return raw if isinstance(raw, str) else data.decode()
    except UnicodeEncodeError as error:
        position = _position_in(str(raw), error.start)
        raise _fault("half a surrogate pair", "write whole characters", position) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _fault("not UTF-8", "save the file as UTF-8", Position(line, 1)) from None


def _position_in(text: str, at: int) -> Position:
    return Position(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


def _unreadable(text: str) -> YamlFault | None:
    """What not every YAML takes the same way, or what has no use but to be slow."""
    if found := _UNPRINTABLE.search(text):
        hint = "remove it, or write it as an escape in double quotes"
        return _fault("a control character", hint, _position_in(text, found.start()))
    if found := _DIRECTIVE.search(text):
        hint = "take the line out, or indent it if it belongs to a text"
        return _fault("a directive", hint, _position_in(text, found.start()))
    return None


def _syntax(error: yaml.YAMLError) -> YamlFault:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    position = Position(mark.line + 1, mark.column + 1) if mark else _START
    hint = "look here and above for indentation, quotes, brackets and colons"
    return _fault("not well-formed", hint, position)


def _as_json(text: str, limits: ParseLimits, fault: YamlFault) -> JsonValue:
    """JSON is YAML, also where the scanner stumbles over it: pairs of escaped surrogates, names of
    more than 1,024 characters, characters that YAML wants escaped."""
    if _JSON.match(text) is None:
        raise fault
    try:
        return thaw(parse(text.encode(), limits))
    except ParseFault:
        raise fault from None


def _fault(
    reason: str, hint: str, position: Position, code: str = "invalid_yaml", path: str = ""
) -> YamlFault:
    message = f"Invalid YAML: {reason} at line {position.line}, column {position.column}"
    where = bounded_pointer(steps(path))
    issue = Issue(path=where, code=code, error_code=INVALID_JSON, message=message, hint=hint)
    return YamlFault(issue)


# --- The events

# The C parser where PyYAML was built with it: ten times faster, the same events.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPEN = object()  # the value of an anchor whose node has not ended


class _Reader:
    """One pass over the events of a text."""

    def __init__(self, text: str, depth: int) -> None:
        self.events: Iterator[Any] = iter(yaml.parse(text, Loader=_LOADER))
        self.depth = depth
        self.positions: dict[str, Position] = {}
        self.anchors: dict[str, JsonValue] = {}
        self.aliased = 0
        self.room = MAX_POINTERS

    def document(self) -> JsonValue:
        """The value of the one document; null where there is none."""
        value: JsonValue = None
        seen = False
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if seen:
                    hint = "keep one document, without '---' between"
                    raise _fault("more than one document", hint, _position(event))
                seen = True
                value = self.value(next(self.events), "", self.depth)
        return value

    def value(self, event: Any, path: str, depth: int) -> JsonValue:
        """The value that an event begins."""
        self.remember(path, _position(event))
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, path, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = _OPEN
        value = self.node(event, path, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def node(self, event: Any, path: str, depth: int) -> JsonValue:
        """A scalar, or all of a sequence or mapping."""
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event, path)
        kind = "seq" if isinstance(event, yaml.SequenceStartEvent) else "map"
        if event.tag not in (None, _CORE + kind):
            raise _tag_fault(event, path)
        self.check_depth(path, depth, _position(event))
        return self.items(path, depth - 1) if kind == "seq" else self.members(path, depth - 1)

    def items(self, path: str, depth: int) -> list[JsonValue]:
        """The items up to the end of a sequence."""
        items: list[JsonValue] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.value(event, f"{path}/{len(items)}", depth))
        return items

    def members(self, path: str, depth: int) -> dict[str, JsonValue]:
        """The members up to the end of a mapping."""
        members: dict[str, JsonValue] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            name = _name(event, path)
            below = path + pointer(name)
            if name in members:
                position = _position(event)
                raise _fault("a name twice", "keep one of them", position, "duplicate_key", below)
            members[name] = self.value(next(self.events), below, depth)
        return members

    def alias(self, event: Any, path: str, depth: int) -> JsonValue:
        """A copy of what an anchor names, so that no two parts of the value are one."""
        value = self.anchors.get(event.anchor)
        if value is _OPEN or event.anchor not in self.anchors:
            hint = "write the value out: an alias repeats what stands complete above it"
            raise _fault("an alias of nothing, or of itself", hint, _position(event), path=path)
        return self.copy(value, path, depth, _position(event))

    def copy(self, value: JsonValue, path: str, depth: int, position: Position) -> JsonValue:
        """The value once more, each part of it counted and placed where the alias stands."""
        self.aliased += 1
        if self.aliased > MAX_ALIASED:
            reason = f"more than {MAX_ALIASED:,} values repeated by aliases"
            raise _fault(
                reason, "write fewer, or leave the aliases out", position, "too_large", path
            )
        self.remember(path, position)
        if not isinstance(value, (dict, list)):
            return value
        self.check_depth(path, depth, position)
        if isinstance(value, list):
            parts = enumerate(value)
            return [self.copy(item, f"{path}/{at}", depth - 1, position) for at, item in parts]
        return {
            name: self.copy(member, path + pointer(name), depth - 1, position)
            for name, member in value.items()
        }

    def check_depth(self, path: str, depth: int, position: Position) -> None:
        """Refuse a container below the deepest level."""
        if depth == 0:
            reason = f"deeper than {self.depth} levels"
            raise _fault(reason, "flatten the document", position, "too_deep", path)

    def remember(self, path: str, position: Position) -> None:
        """Note where a value stands, as long as there is room for that."""
        self.room -= len(path) + 1
        if self.room < 0:
            reason = "too many values under long names"
            raise _fault(
                reason, "shorten the names, or split the file", position, "too_large", path
            )
        self.positions[path] = position


def _position(event: Any) -> Position:
    return Position(event.start_mark.line + 1, event.start_mark.column + 1)


def _name(event: Any, path: str) -> str:
    """A member's name: a string, and no merge key."""
    if isinstance(event, yaml.ScalarEvent):
        if event.value == "<<" and event.implicit[0]:
            raise _fault("a merge key", "write the members out", _position(event), path=path)
        name = _scalar(event, path)
        if isinstance(name, str):
            return name
    raise _fault("a name that is not a string", "put it in quotes", _position(event), path=path)


# --- Scalars

_INTEGERS = (
    (re.compile(r"[-+]?[0-9]+"), 10),
    (re.compile(r"0o[0-7]+"), 8),
    (re.compile(r"0x[0-9a-fA-F]+"), 16),
)
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS: Mapping[str, JsonValue] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_CORE = "tag:yaml.org,2002:"
_TAGGED: Mapping[str, tuple[type, ...]] = {
    _CORE + "str": (str,),
    _CORE + "int": (int,),
    _CORE + "float": (float, int),
    _CORE + "bool": (bool,),
    _CORE + "null": (type(None),),
}


def _scalar(event: Any, path: str) -> JsonValue:
    text: str = event.value
    if _SURROGATE.search(text):  # from an escape; the C parser refuses those by itself
        raise yaml.MarkedYAMLError(problem="half a character", problem_mark=event.start_mark)
    if event.tag is not None:
        return _tagged(event, text, path)
    return _plain(event, text, path) if event.implicit[0] else text


def _tagged(event: Any, text: str, path: str) -> JsonValue:
    kinds = _TAGGED.get(event.tag)
    if kinds is None:
        raise _tag_fault(event, path)
    value = text if kinds == (str,) else _plain(event, text, path)
    if type(value) not in kinds:
        raise _fault(
            "a value that does not match its tag", "remove the tag", _position(event), path=path
        )
    return float(value) if float in kinds else value


def _tag_fault(event: Any, path: str) -> YamlFault:
    return _fault("a tag", "remove it: values are plain JSON", _position(event), path=path)


def _plain(event: Any, text: str, path: str) -> JsonValue:
    """What the core schema says that an unquoted scalar is."""
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        hint = "JSON has none: write null"
        raise _fault("a number that is not finite", hint, _position(event), path=path)
    for pattern, radix in _INTEGERS:
        if pattern.fullmatch(text):
            value = int(text, radix) if len(text) <= MAX_NUMBER else math.inf
            return _within(value, MAX_INTEGER, event, path)
    if _REAL.fullmatch(text):
        real = float(text) if len(text) <= MAX_NUMBER else math.inf
        return _within(real, sys.float_info.max, event, path)
    return text


def _within(value: float, most: float, event: Any, path: str) -> float:
    """A number (an integer is one too) that can be kept exactly, or as a double."""
    if abs(value) > most:
        hint = "put it in quotes, or use a smaller one"
        raise _fault("a number out of range", hint, _position(event), "number_range", path)
    return value
