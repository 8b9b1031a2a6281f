"""What a usage text says about its arguments, held against the schema.

Only what can be decided is a contradiction: a name, a "required" or "optional", a value, a default,
a type or an example call that the schema does not bear out. The rest is taken as explanation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from toolstile.schema.usage.calls import misfits, speaks_of_unknown
from toolstile.schema.usage.needs import marked, stated
from toolstile.schema.usage.schema import ONE_NAME, Argument, Arguments
from toolstile.schema.usage.text import Unit
from toolstile.schema.usage.values import names_wrong_default, names_wrong_value, types_named


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One thing the text says that the schema does not bear out."""

    line: int
    what: str


class _Item(msgspec.Struct, frozen=True, kw_only=True):
    """The description of one or several arguments, or of something about the one above it."""

    block: int
    line: int
    indent: int
    names: tuple[str, ...]
    text: str
    bare: bool
    mode: str
    parent: _Item | None = None


_ITEM = re.compile(
    rf"(?P<names>{ONE_NAME}(?:\s*(?:,|/|\band\b)\s*{ONE_NAME}){{0,7}})\??\s*"
    r"(?P<paren>[({\[][^()\n]{0,200}[)}\]])?\s*(?P<sep>[:=|]|(?:--?|[\u2013—→]|[-=]>)(?=\s)|(?<=\s\s)|$)\s*(?P<rest>.*)",
    re.DOTALL,
)
_WORDS_ABOUT = frozenset(
    "note notes example examples default defaults required optional type format value values "
    "allowed enum min max minimum maximum description constraints constraint hint tip warning "
    "important unit units range none nothing caution remark pattern length items meaning".split()
)
_SILENT = frozenset(("bad", "errors"))


def contradictions(units: Sequence[Unit], name: str, arguments: Arguments) -> Iterator[Claim]:
    """Everything decidable that the text says against the schema, in no particular order."""
    items = _items(units)
    described = {item.block for item in items}
    yield from _other_tools(units, name)
    for item in items:
        for what in (*_unknown(item, arguments), *_about_item(item, arguments)):
            yield Claim(line=item.line, what=what)
    for unit in units:
        if unit.heading or unit.topics & _SILENT:
            continue
        if speaks_of_unknown(unit.text, arguments):
            yield Claim(line=unit.line, what="speaks of an argument that the schema lacks")
        for what in misfits(unit.text, name, arguments):
            yield Claim(line=unit.line, what=what)
        if unit.block not in described and "good" not in unit.topics:
            for what in _about(unit.text, None, arguments):
                yield Claim(line=unit.line, what=what)


def _other_tools(units: Sequence[Unit], name: str) -> Iterator[Claim]:
    for unit in units[:3]:
        found = _TITLE.search(unit.text)
        if found and _is_other(found[1] or found[2], name):
            yield Claim(line=unit.line, what="is the guide of another tool")


def _is_other(title: str, name: str) -> bool:
    return "_" in title and title.lower() != name.lower()


_TITLE = re.compile(
    r"^\W*([A-Za-z]\w{1,63})[`\"']?\s*[:—\u2013-]+\s*(?:usage|user) ?(?:guide)?\W*$"
    r"|\busage (?:guide )?(?:of|for)(?: the)? [`\"']?([A-Za-z]\w{1,63})",
    re.IGNORECASE,
)


# --- items


def _items(units: Sequence[Unit]) -> list[_Item]:
    """The arguments' own descriptions, with what follows and belongs to them."""
    items: list[_Item] = []
    above: list[_Item] = []
    for unit in units:
        if "arguments" not in unit.topics or unit.heading:
            above = []
            continue
        found = _ITEM.fullmatch(unit.text.rstrip(" .")) if unit.item or unit.mode else None
        if found is not None and (unit.item or not found["sep"]):
            above = [item for item in above if item.indent < unit.indent]
            above.append(_item(unit, found, above[-1] if above else None))
            items.append(above[-1])
        elif above and (unit.block == above[-1].block or (above[-1].bare and not unit.item)):
            above[-1] = items[-1] = replace(above[-1], text=f"{above[-1].text} {unit.text}")
    return items


def _item(unit: Unit, found: re.Match[str], parent: _Item | None) -> _Item:
    names = tuple(n.strip("`\"'") for n in re.findall(ONE_NAME, found["names"]) if n != "and")
    text = f"{found['paren'] or ''} {found['rest']}".strip()
    return _Item(
        block=unit.block,
        line=unit.line,
        indent=unit.indent,
        names=names,
        text=_YES.sub(_as_mark, text),
        bare=not text,
        mode=unit.mode,
        parent=parent,
    )


_YES = re.compile(r"\b(required|optional)[\"'`]?\s*[:=]\s*(true|yes|false|no)\b", re.IGNORECASE)


def _as_mark(found: re.Match[str]) -> str:
    """Makes the mark "(optional)" of "required: false"."""
    word, truth = found[1].lower(), found[2].lower() in ("true", "yes")
    return f"({word if truth else 'optional' if word == 'required' else 'required'})"


def _unknown(item: _Item, arguments: Arguments) -> Iterator[str]:
    for name in item.names:
        if arguments.knows(name) or name.lower() in _WORDS_ABOUT:
            continue
        if item.parent is None:
            if arguments.closed and name not in arguments.values:
                yield "describes an argument that the schema lacks"
        elif len(item.names) == 1 and item.text and _is_missing_below(item.parent, name, arguments):
            yield "describes a value or member that the schema lacks"


def _is_missing_below(parent: _Item, name: str, arguments: Arguments) -> bool:
    argument = arguments.find(parent.names[0])
    if argument is None:
        return False
    if argument.values is not None:
        return name not in argument.written
    return argument.members is not None


def _about_item(item: _Item, arguments: Arguments) -> Iterator[str]:
    claimed = marked(item.text) | ({item.mode} - {""})
    types = types_named(item.text)
    for argument in filter(None, map(arguments.find, item.names)):
        yield from _need(argument, claimed)
        if types and argument.types and not types & argument.types:
            yield "gives an argument a type that it does not have"
    subject = arguments.find(item.names[0]) if len(item.names) == 1 else None
    yield from _about(item.text, subject, arguments)
    owner = arguments.find(item.parent.names[0]) if item.parent is not None else None
    is_value = owner is not None and owner.values is not None and item.names[0] != owner.default
    if is_value and _THE_DEFAULT.search(item.text):
        yield _WRONG_DEFAULT


_THE_DEFAULT = re.compile(r"\((?:the )?default\)", re.IGNORECASE)
_WRONG_DEFAULT = "names a default that the schema does not have"


def _about(text: str, subject: Argument | None, arguments: Arguments) -> Iterator[str]:
    for argument, need in stated(text, arguments):
        yield from _need(argument, {need})
    if names_wrong_default(text, subject, arguments):
        yield _WRONG_DEFAULT
    if names_wrong_value(text, subject, arguments):
        yield "names a value that the schema does not allow"


def _need(argument: Argument, claimed: set[str]) -> Iterator[str]:
    if argument.required and "optional" in claimed:
        yield "calls a required argument optional"
    if not argument.required and "required" in claimed:
        yield "calls an optional argument required"
