"""YAML read as JSON: one document, no surprises.

YAML 1.1 reads `no` as false, `12:30:45` as 45045 and `1_000` as 1000; its tags build objects; its
anchors turn a kilobyte into gigabytes. None of that is here: plain scalars mean what YAML 1.2's
core schema says, there are no tags, aliases or merge keys, names are strings and stand once.
PyYAML is asked for events only, so nothing of it ever constructs a value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from toolstile.model.issue import INVALID_JSON, Issue, pointer
from toolstile.model.json import JsonValue

MAX_BYTES = 2**20
MAX_DEPTH = 64
MAX_INTEGER = 2**63 - 1
MAX_NUMBER = 1_000

_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS: Mapping[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_SURROGATES = re.compile("[\ud800-\udfff]")

# The C parser where PyYAML was built with it: ten times faster, the same events.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlFault(ValueError):
    """A document that is refused; `issue` says what is wrong, where, and the repair."""

    def __init__(self, issue: Issue) -> None:
        self.issue = issue
        super().__init__(issue.message)


class Place(NamedTuple):
    """Where a value stands in the text, counted from one."""

    line: int
    column: int


def load_yaml(raw: bytes | str) -> JsonValue:
    """The JSON value of a YAML document. Raises YamlFault."""
    return load_yaml_with_positions(raw)[0]


def load_yaml_with_positions(raw: bytes | str) -> tuple[JsonValue, dict[str, Place]]:
    """The value, and by JSON Pointer where in the text each part of it stands.

    Raises:
        YamlFault: it is not one document of strict YAML within the bounds.
    """
    text = _text(raw)
    reader = _Reader(text)
    try:
        return reader.document(), reader.places
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)
        reason = f"not well-formed YAML: {error.problem or error.context}"
        raise _fault(reason, "look at this place", place) from error
    except yaml.YAMLError as error:  # what the reader of characters refuses carries no mark
        reason = "a character that YAML does not allow"
        raise _fault(reason, "remove control characters", Place(1, 1)) from error


def _text(raw: bytes | str) -> str:
    size = len(raw)
    if size > MAX_BYTES:
        reason = f"{size:,} bytes, of at most {MAX_BYTES:,}"
        raise _fault(reason, "split the file", Place(1, 1), "too_large")
    if isinstance(raw, str):
        return raw
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _fault("not UTF-8", "save the file as UTF-8", Place(line, 1)) from error


def _fault(
    reason: str, hint: str, place: Place, code: str = "invalid_yaml", path: str = ""
) -> YamlFault:
    message = f"Invalid YAML: {reason} at line {place.line}, column {place.column}"
    return YamlFault(
        Issue(path=path, code=code, error_code=INVALID_JSON, message=message, hint=hint)
    )


class _Reader:
    """One pass over the events of a text."""

    def __init__(self, text: str) -> None:
        self.events: Iterator[Any] = iter(yaml.parse(text, Loader=_LOADER))
        self.places: dict[str, Place] = {}

    def document(self) -> JsonValue:
        """The value of the one document; null where there is none."""
        value: JsonValue = None
        seen = False
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if seen:
                    hint = "keep one document, without '---' between"
                    raise _fault("more than one document", hint, _place(event))
                seen = True
                value = self.value(next(self.events), "", MAX_DEPTH)
        return value

    def value(self, event: Any, path: str, depth: int) -> JsonValue:
        """The value that an event begins."""
        self.places[path] = _place(event)
        if isinstance(event, yaml.AliasEvent):
            hint = "write the value out: aliases are not followed"
            raise _fault("an alias", hint, _place(event), path=path)
        if depth == 0:
            hint = "flatten the document"
            raise _fault(f"deeper than {MAX_DEPTH} levels", hint, _place(event), "too_deep", path)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event, path)
        _check_tag(event, path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self.items(path, depth - 1)
        return self.members(path, depth - 1)

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
            name = self.name(event, path)
            below = path + pointer(name)
            if name in members:
                hint = "keep one of them"
                raise _fault(f"the name '{name[:64]}' twice", hint, _place(event), "duplicate_key", below)
            members[name] = self.value(next(self.events), below, depth)
        return members

    def name(self, event: Any, path: str) -> str:
        """A member's name: a string, and no merge key."""
        if isinstance(event, yaml.ScalarEvent):
            if event.value == "<<" and event.implicit[0]:
                hint = "write the members out"
                raise _fault("a merge key", hint, _place(event), path=path)
            name = _scalar(event, path)
            if isinstance(name, str):
                return name
        raise _fault("a name that is no string", "put it in quotes", _place(event), path=path)


def _place(event: Any) -> Place:
    return Place(event.start_mark.line + 1, event.start_mark.column + 1)


_TAGS = ("str", "int", "float", "bool", "null", "map", "seq")
_CORE = {f"tag:yaml.org,2002:{name}" for name in _TAGS}


def _check_tag(event: Any, path: str) -> None:
    if event.tag is not None and (event.tag == "!" or event.tag not in _CORE):
        raise _fault("a tag", "remove it: values are plain JSON", _place(event), path=path)


def _scalar(event: Any, path: str) -> JsonValue:
    _check_tag(event, path)
    text: str = event.value
    if _SURROGATES.search(text):  # libyaml refuses their escapes by itself
        raise _fault("a surrogate", "write the character itself", _place(event), path=path)
    if not event.implicit[0] or event.tag == "tag:yaml.org,2002:str":
        return text  # quoted, or said to be a string
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise _fault("a number that is not finite", "JSON has none: write null", _place(event), path=path)
    if len(text) <= MAX_NUMBER:
        return _number(event, text, path)
    return text


def _number(event: Any, text: str, path: str) -> JsonValue:
    for pattern, base in ((_INTEGER, 10), (_OCTAL, 8), (_HEXADECIMAL, 16)):
        if pattern.fullmatch(text):
            value = int(text, base)
            if abs(value) > MAX_INTEGER:
                hint = "put it in quotes, or use a smaller one"
                raise _fault("an integer beyond 64 bits", hint, _place(event), "number_range", path)
            return value
    if not _REAL.fullmatch(text):
        return text
    real = float(text)
    if math.isinf(real):
        hint = "put it in quotes, or use a smaller one"
        raise _fault("a number beyond a double", hint, _place(event), "number_range", path)
    return real
