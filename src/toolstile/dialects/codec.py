"""Arguments between the tool's own form and the one that a provider's model is asked for.

A dialect may not be able to say "may be left out" or "any name". Where the compiler says such a
thing otherwise, it leaves a codec that says how a value changes its form; None stands for no
change. On the way back nothing is guessed: what has not the form that was asked for is refused
here, because what is left of it could fit the tool by chance.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, TypeAlias

import msgspec

from toolstile.model.canonical import canonical
from toolstile.model.issue import CONSTRAINT_VIOLATION, Issue, bounded_pointer
from toolstile.model.json import JsonValue, describe, type_name
from toolstile.schema.contain.conjunction import matches
from toolstile.schema.parse import DEFAULT_LIMITS, ParseFault, ParseLimits, parse

Path: TypeAlias = tuple[str | int, ...]

VALUE = "value"
NAME = "name"
ARGUMENTS = "arguments"
FORMS = "use the forms of the schema you were given"
# A form nests deeper than what it stands for: a map takes three levels for one.
LIMITS = ParseLimits(depth=3 * DEFAULT_LIMITS.depth)


class Text(msgspec.Struct, frozen=True):
    """The value is sent as its JSON text."""


class Whole(msgspec.Struct, frozen=True):
    """All arguments are sent as one JSON text, in the member `arguments`."""


class Listed(msgspec.Struct, frozen=True, dict=True):
    """One of these values, each sent as its JSON text."""

    values: tuple[Any, ...]

    @cached_property
    def by_text(self) -> dict[str, JsonValue]:
        """The values by their texts."""
        return {text_of(value): value for value in self.values}

    @cached_property
    def texts(self) -> dict[bytes, str]:
        """The texts by what their values are equal to."""
        return {canonical(value): text for text, value in self.by_text.items()}


class Shelved(msgspec.Struct, frozen=True):
    """The codec that is kept under this name; recursive schemas come back to it."""

    name: str


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A declared member: the name it is sent under, and how it says that it is not there.

    `null_is_absent`: null is sent for a member that is left out. `wrapped`: what is there is sent
    as `{"value": ...}`, because null is a value of its own here.
    """

    sent: str
    codec: Codec = None
    null_is_absent: bool = False
    wrapped: bool = False


class Container(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The members of an object and the items of an array; a value is one or the other.

    Members that are not declared have the codec of the first of `patterns` that their name
    matches, or else that of `others`. `entries` names the member in which they are sent, as a list
    of `{"name": ..., "value": ...}`.
    """

    members: Mapping[str, Member] = msgspec.field(default_factory=dict)
    patterns: tuple[tuple[str, Codec], ...] = ()
    others: Codec = None
    entries: str | None = None
    prefix: tuple[Codec, ...] = ()
    items: Codec = None

    @cached_property
    def by_sent(self) -> dict[str, str]:
        """The members' own names by those they are sent under."""
        return {member.sent: name for name, member in self.members.items()}

    @cached_property
    def renamed(self) -> frozenset[str]:
        """The names that are not the members' own."""
        sent = (m.sent for name, m in self.members.items() if m.sent != name)
        return frozenset(sent)

    def sent_other(self, name: str) -> str:
        """The name under which a member that is not declared is sent: its own, or one letter more
        where that would be another member's."""
        return f"{name}_" if self.entries is None and name.rstrip("_") in self.renamed else name

    def own_other(self, sent: str) -> str:
        """The name of such a member again."""
        return sent[:-1] if sent.rstrip("_") in self.renamed else sent

    def of_other(self, name: str) -> Codec:
        """The codec of a member that is not declared."""
        return next((c for pattern, c in self.patterns if matches(pattern, name)), self.others)


class Choice(msgspec.Struct, frozen=True):
    """A codec for each type of value: `own` by the type of the tool's own form, `sent` by that of
    the provider's. No two share a type, or a value would have two meanings."""

    own: Mapping[str, Codec]
    sent: Mapping[str, Codec]


class Tagged(msgspec.Struct, frozen=True):
    """A codec for each value of a member that tells objects apart; its own form is that of the
    tool."""

    tag: str
    codecs: Mapping[str, Codec]


Codec: TypeAlias = Text | Whole | Listed | Shelved | Container | Choice | Tagged | None
Shelf: TypeAlias = Mapping[str, Codec]


class Unreadable(ValueError):
    """A value has not the form that the provider's schema asks for."""

    def __init__(self, path: Path, what: str, hint: str) -> None:
        super().__init__(what)
        self.issue = Issue(
            path=bounded_pointer(path),
            code="dialect",
            error_code=CONSTRAINT_VIOLATION,
            message=f"Constraint violation: {what}",
            hint=hint,
        )


class Coder:
    """Both ways of one tool's arguments."""

    def __init__(self, codec: Codec, shelf: Shelf) -> None:
        self._codec = codec
        self._shelf = shelf

    def forth(self, value: JsonValue) -> JsonValue:
        """The tool's own form as the provider's; it must fit the tool."""
        return self._forth(self._codec, value)

    def back(self, value: JsonValue) -> JsonValue:
        """The provider's form as the tool's own.

        Raises:
            Unreadable: it has not the form that the provider's schema asks for.
        """
        return self._back(self._codec, value, ())

    # --- to the provider ---------------------------------------------------------------------

    def _forth(self, codec: Codec, value: JsonValue) -> JsonValue:
        match codec:
            case None:
                return value
            case Text():
                return text_of(value)
            case Whole():
                return {ARGUMENTS: text_of(value)}
            case Listed(texts=texts):
                return texts.get(canonical(value), value)
            case Shelved(name=name):
                return self._forth(self._shelf[name], value)
            case Choice(own=own):
                return self._forth(own.get(kind_of(value)), value)
            case Tagged():
                return self._forth(tagged(codec, value, ()), value)
        if isinstance(value, dict):
            return self._sent(codec, value)
        if isinstance(value, list):
            return [self._forth(_item(codec, at), item) for at, item in enumerate(value)]
        return value

    def _sent(self, codec: Container, value: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, member in codec.members.items():
            if name in value:
                inner = self._forth(member.codec, value[name])
                made[member.sent] = {VALUE: inner} if member.wrapped else inner
            elif member.null_is_absent:
                made[member.sent] = None
        others = {
            codec.sent_other(name): self._forth(codec.of_other(name), each)
            for name, each in value.items()
            if name not in codec.members
        }
        if codec.entries is None:
            return made | others
        return made | {codec.entries: [{NAME: n, VALUE: v} for n, v in others.items()]}

    # --- and back ----------------------------------------------------------------------------

    def _back(self, codec: Codec, value: JsonValue, path: Path) -> JsonValue:
        match codec:
            case None:
                return value
            case Text():
                return _parsed(value, path)
            case Whole():
                if not isinstance(value, dict) or value.keys() != {ARGUMENTS}:
                    raise Unreadable(path, f"expected '{ARGUMENTS}' and nothing else", FORMS)
                return _parsed(value[ARGUMENTS], (*path, ARGUMENTS))
            case Listed(by_text=by_text):
                if not isinstance(value, str) or value not in by_text:
                    raise Unreadable(path, "none of the values that are listed", "send one of them")
                return by_text[value]
            case Shelved(name=name):
                return self._back(self._shelf[name], value, path)
            case Choice(sent=sent):
                if kind_of(value) not in sent:
                    raise Unreadable(path, f"{describe(value)} is none of the alternatives", FORMS)
                return self._back(sent[kind_of(value)], value, path)
            case Tagged():
                return self._back(tagged(codec, value, path), value, path)
        if isinstance(value, dict):
            return dict(self._members(codec, value, path))
        if isinstance(value, list):
            return [
                self._back(_item(codec, at), item, (*path, at)) for at, item in enumerate(value)
            ]
        return value

    def _members(
        self, codec: Container, value: dict[str, Any], path: Path
    ) -> Iterator[tuple[str, JsonValue]]:
        own = codec.by_sent
        for sent, inner in value.items():
            below = (*path, sent)
            if sent in own:
                member = codec.members[own[sent]]
                if inner is not None or not member.null_is_absent:
                    yield own[sent], self._member(member, inner, below)
            elif sent == codec.entries:
                yield from self._entries(codec, inner, below)
            elif codec.entries is not None or sent in codec.members:
                raise Unreadable(below, "no such member here", FORMS)
            else:
                name = codec.own_other(sent)
                yield name, self._back(codec.of_other(name), inner, below)

    def _member(self, member: Member, inner: JsonValue, path: Path) -> JsonValue:
        if not member.wrapped:
            return self._back(member.codec, inner, path)
        if not isinstance(inner, dict) or inner.keys() != {VALUE}:
            what = f"expected an object with '{VALUE}', got {describe(inner)}"
            raise Unreadable(path, what, 'send {"value": ...}, or null to leave it out')
        return self._back(member.codec, inner[VALUE], (*path, VALUE))

    def _entries(
        self, codec: Container, entries: JsonValue, path: Path
    ) -> Iterator[tuple[str, JsonValue]]:
        hint = 'send a list of {"name": ..., "value": ...}, each name once'
        if not isinstance(entries, list):
            raise Unreadable(path, f"expected a list of entries, got {describe(entries)}", hint)
        seen = set(codec.members)
        for at, entry in enumerate(entries):
            if not isinstance(entry, dict) or entry.keys() != {NAME, VALUE}:
                raise Unreadable((*path, at), "that is no entry", hint)
            name = entry[NAME]
            if not isinstance(name, str) or name in seen:
                raise Unreadable((*path, at, NAME), "the name stands elsewhere already", hint)
            seen.add(name)
            yield name, self._back(codec.of_other(name), entry[VALUE], (*path, at, VALUE))


def kind_of(value: JsonValue) -> str:
    """The type of a value, where integers are numbers."""
    name = type_name(value)
    return "number" if name == "integer" else name


def tagged(choice: Tagged, value: JsonValue, path: Path) -> Codec:
    """The codec that the tag of an object stands for."""
    tag = value.get(choice.tag) if isinstance(value, dict) else None
    key = "" if isinstance(tag, (dict, list)) else canonical(tag).decode()
    if key not in choice.codecs:
        raise Unreadable((*path, choice.tag), "none of the values that tell them apart", FORMS)
    return choice.codecs[key]


def text_of(value: JsonValue) -> str:
    """A value as compact JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _item(codec: Container, index: int) -> Codec:
    return codec.prefix[index] if index < len(codec.prefix) else codec.items


def _parsed(value: JsonValue, path: Path) -> JsonValue:
    hint = "send the value as JSON text, a string in quotes of its own"
    if not isinstance(value, str):
        raise Unreadable(path, f"expected JSON text, got {describe(value)}", hint)
    try:
        return parse(value)
    except ParseFault as fault:
        raise Unreadable(path, fault.about("the text").message, hint) from None


def changes(codec: Codec, shelf: Shelf) -> bool:
    """Whether a codec changes any value at all."""
    seen: set[str] = set()
    queue = [codec]
    while queue:
        match each := queue.pop():
            case Text() | Whole() | Listed():
                return True
            case Shelved(name=name) if name not in seen:
                seen.add(name)
                queue.append(shelf[name])
            case Choice(own=own):
                queue += own.values()
            case Tagged(codecs=codecs):
                queue += codecs.values()
            case Container():
                if each.entries is not None or any(map(_is_changed, each.members.items())):
                    return True
                queue += [*each.prefix, each.items, each.others, *(c for _, c in each.patterns)]
                queue += [member.codec for member in each.members.values()]
    return False


def _is_changed(named: tuple[str, Member]) -> bool:
    name, member = named
    return member.sent != name or member.null_is_absent or member.wrapped
