"""What a usage text says about its arguments, held against the schema.

Only what can be decided is a contradiction: a name, a "required" or "optional", a value, a default,
a type or an example call that the schema does not bear out. The rest is taken as explanation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from toolstile.schema.usage_headings import long_form
from toolstile.schema.usage_schema import Argument, Arguments
from toolstile.schema.usage_text import Unit


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One thing the text says that the schema does not bear out."""

    line: int
    what: str


class _Item(msgspec.Struct, kw_only=True):
    """The description of one or several arguments, or of something about the one above it."""

    block: int
    line: int
    indent: int
    names: tuple[str, ...]
    text: str
    bare: bool
    mode: str
    parent: _Item | None = None


_NAME = r"[A-Za-z_$][\w$.\-]{0,63}+"
_QUOTED = rf"[`\"']{_NAME}[`\"']"
_ONE = rf"[`\"']?{_NAME}[`\"']?"
_ITEM = re.compile(
    rf"(?P<names>{_ONE}(?:\s*(?:,|/|\band\b)\s*{_ONE}){{0,7}})\??\s*"
    r"(?P<paren>[({\[][^()\n]{0,200}[)}\]])?\s*(?P<sep>[:=|]|(?:--?|[–—→]|[-=]>)(?=\s)|(?<=\s\s)|$)\s*(?P<rest>.*)",
    re.S,
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
        yield from _unknown(item, arguments)
        yield from _about_item(item, arguments)
    for unit in units:
        if not unit.topics & _SILENT and not unit.heading:
            yield from _unknown_in_prose(unit, arguments)
            yield from _calls(unit, name, arguments)
            if unit.block not in described and "good" not in unit.topics:
                yield from _about_sentence(unit, arguments)


def _other_tools(units: Sequence[Unit], name: str) -> Iterator[Claim]:
    for unit in units[:3]:
        found = _TITLE.search(unit.text)
        if found and _is_other(found[1] or found[2], name):
            yield Claim(line=unit.line, what="is the guide of another tool")


def _is_other(title: str, name: str) -> bool:
    return "_" in title and title.lower() != name.lower()


_TITLE = re.compile(
    r"^\W*([A-Za-z]\w{1,63})[`\"']?\s*[:—–-]+\s*(?:usage|user) ?(?:guide)?\W*$"
    r"|\busage (?:guide )?(?:of|for)(?: the)? [`\"']?([A-Za-z]\w{1,63})",
    re.I,
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
            above[-1].text += " " + unit.text
    return items


def _item(unit: Unit, found: re.Match[str], parent: _Item | None) -> _Item:
    names = tuple(n.strip("`\"'") for n in re.findall(_ONE, found["names"]) if n != "and")
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


_YES = re.compile(r"\b(required|optional)[\"'`]?\s*[:=]\s*(true|yes|false|no)\b", re.I)


def _as_mark(found: re.Match[str]) -> str:
    """ "required: false" as the mark "(optional)"."""
    word, truth = found[1].lower(), found[2].lower() in ("true", "yes")
    return f"({word if truth else 'optional' if word == 'required' else 'required'})"


def _unknown(item: _Item, arguments: Arguments) -> Iterator[Claim]:
    for name in item.names:
        if arguments.knows(name) or name.lower() in _WORDS_ABOUT:
            continue
        if item.parent is None:
            if arguments.closed and not _is_value_of_any(name, arguments):
                yield Claim(line=item.line, what="describes an argument that the schema lacks")
        elif len(item.names) == 1 and item.text and _is_missing_below(item.parent, name, arguments):
            yield Claim(line=item.line, what="describes a value or member that the schema lacks")


def _is_value_of_any(name: str, arguments: Arguments) -> bool:
    return any(name in _written(argument) for argument in arguments.top.values())


def _is_missing_below(parent: _Item, name: str, arguments: Arguments) -> bool:
    argument = arguments.find(parent.names[0])
    if argument is None:
        return False
    if argument.values is not None:
        return name not in _written(argument)
    return argument.members is not None


def _written(argument: Argument) -> frozenset[str]:
    """The argument's values as one would write them."""
    return frozenset(
        value if isinstance(value, str) else json.dumps(value) for value in argument.values or ()
    )


def _about_item(item: _Item, arguments: Arguments) -> Iterator[Claim]:
    for name in item.names:
        argument = arguments.find(name)
        if argument is not None:
            claimed = _marks(item.text) | ({item.mode} - {""})
            yield from _need(item.line, argument, claimed)
            if _types(item.text) and argument.types and not _types(item.text) & argument.types:
                yield Claim(line=item.line, what="gives an argument a type that it does not have")
    subject = arguments.find(item.names[0]) if len(item.names) == 1 else None
    yield from _about(item.line, item.text, subject, arguments)
    if item.parent is not None and _THE_DEFAULT.search(item.text):
        owner = arguments.find(item.parent.names[0])
        if owner is not None and owner.values is not None and item.names[0] != owner.default:
            yield Claim(line=item.line, what="names a default that the schema does not have")


_THE_DEFAULT = re.compile(r"\((?:the )?default\)", re.I)


def _about_sentence(unit: Unit, arguments: Arguments) -> Iterator[Claim]:
    yield from _about(unit.line, unit.text, None, arguments)


def _about(line: int, text: str, subject: Argument | None, arguments: Arguments) -> Iterator[Claim]:
    yield from _stated_needs(line, text, arguments)
    yield from _defaults(line, text, subject, arguments)
    yield from _values(line, text, subject, arguments)


# --- required or optional

_START = re.compile(
    r"^\W*(?:always )?(required|mandatory|optional)\b(?! (?:if|when|unless|for|only|in|by|with|as|on|to"
    r"|at|but only)\b)",
    re.I,
)
_MARK = re.compile(
    r"[(\[{|,;.–—-]\s*(?:always )?(required|mandatory|optional)"
    r"(?=\s*(?:$|[)\]}|,;.:–—]|but\b|string|integer|number|boolean|array|object))",
    re.I,
)
_OMIT = re.compile(
    r"\b(?:may|can) be (?:omitted|left out)\b|\bneed not be (?:given|set|passed)\b"
    r"|\b(?:is|are) not (?:required|mandatory)\b|^\W*not required\b"
)
_GIVE = re.compile(
    r"\bmust (?:always )?be (?:given|supplied|provided|passed|present|set)\b|\bnot optional\b"
    r"|\b(?:must|can|may) not be (?:omitted|left out)\b"
)
_CONDITION = re.compile(r"\b(?:if|when|unless|otherwise|except|only|with|without)\b")
_NEEDS = {"required": "required", "mandatory": "required", "optional": "optional"}


def _marks(text: str) -> set[str]:
    """What a description says of its own argument: required, optional, or nothing."""
    words = long_form(text.lower())
    claimed = {_NEEDS[found[1]] for found in (_START.match(words), *_MARK.finditer(words)) if found}
    for sentence in re.split(r"[.;]\s", words):
        if not _CONDITION.search(sentence):
            claimed |= {"optional"} if _OMIT.search(sentence) else set()
            claimed |= {"required"} if _GIVE.search(sentence) else set()
    return claimed


def _need(line: int, argument: Argument, claimed: set[str]) -> Iterator[Claim]:
    if ("optional" if argument.required else "required") in claimed:
        truth = "required" if argument.required else "optional"
        yield Claim(line=line, what=f"does not say of a {truth} argument that it is {truth}")


_IS_NEEDED = re.compile(
    r"(?:\b(?:is|are)\s+|\()(?:both |all |always |also |strictly )*(?P<no>not )?"
    r"(?P<word>required|mandatory|optional)\b(?! (?:if|when|unless|for|only|by|to|in|on|as|with)\b)"
    r"|\b(?:may|can) (?:also )?be (?P<out>omitted|left out)\b(?! (?:if|when|unless)\b)"
)
_NEEDED_BEFORE = re.compile(
    r"\b(?P<word>required|mandatory|optional) (?:(?:arguments?|parameters?|fields?) )?"
    rf"(?:(?:is|are) )?(?=`|\"|{_NAME})"
)
_ALL = re.compile(
    r"\b(?:all|every|both) (?:of )?(?:the )?(?:arguments?|parameters?|fields?) (?:is|are) "
    r"(required|mandatory|optional)\b"
)
_TOKEN = re.compile(rf"{_ONE}|[^\w\s]")
_BETWEEN = frozenset((",", "/", "&", "and", "or", "both"))
_AFTER_NAMES = frozenset(
    ("argument", "arguments", "parameter", "parameters", "field", "fields", "both", "all", "also")
)
_FAR = 200  # characters looked at on one side of a statement


def _stated_needs(line: int, text: str, arguments: Arguments) -> Iterator[Claim]:
    words = _SHORTENED.sub(" not", text)
    for found in _IS_NEEDED.finditer(words):
        optional = found["out"] or (found["word"] == "optional") != bool(found["no"])
        before = words[max(0, found.start() - _FAR) : found.start()]
        for argument in _named_last(before, arguments):
            yield from _need(line, argument, {"optional" if optional else "required"})
    for found in _NEEDED_BEFORE.finditer(words):
        after = words[found.end() : found.end() + _FAR]
        for argument in _named_first(after, arguments):
            yield from _need(line, argument, {_NEEDS[found["word"]]})
    for found in _ALL.finditer(words.lower()):
        for argument in arguments.top.values():
            yield from _need(line, argument, {_NEEDS[found[1]]})


_SHORTENED = re.compile(r"n't\b")


def _named_last(text: str, arguments: Arguments) -> list[Argument]:
    """The arguments listed at the end of a piece of text: "..., `a` and `b`"."""
    tokens = _TOKEN.findall(text)
    while tokens and tokens[-1] in _AFTER_NAMES:
        tokens.pop()
    found: list[Argument] = []
    for position in range(len(tokens) - 1, -1, -1):
        token = tokens[position]
        argument = arguments.find(token.strip("`\"'"))
        if argument is not None:
            before = tokens[position - 1] if position else "."
            if not (_is_plain(token) and before not in _BETWEEN and before[:1].isalnum()):
                found.append(argument)
        elif token not in _BETWEEN:
            break
    return found


def _named_first(text: str, arguments: Arguments) -> list[Argument]:
    found: list[Argument] = []
    for token in _TOKEN.findall(text):
        argument = arguments.find(token.strip("`\"'"))
        if argument is not None and not (_is_plain(token) and not found):
            found.append(argument)
        elif token not in _BETWEEN:
            break
    return found


def _is_plain(token: str) -> bool:
    """True for a word that might just be English."""
    return token.isalpha() and token[1:].islower()


# --- types

_TYPE = re.compile(
    r"^[({\[](?:[^()]*?\b(?:type: ?|an? ))?\s*[\"'`]?(?:(?:required|optional),? )?"
    r"(string|str|integer|int|number|float|boolean|bool|array|list|object|dict)\b(?!\[|s\b)"
)
_JSON_TYPES = {
    "string": ("string",), "str": ("string",), "integer": ("integer", "number"),
    "int": ("integer", "number"), "number": ("number", "integer"), "float": ("number",),
    "boolean": ("boolean",), "bool": ("boolean",), "array": ("array",), "list": ("array",),
    "object": ("object",), "dict": ("object",),
}  # fmt: skip


def _types(text: str) -> frozenset[str]:
    found = _TYPE.match(text.lower())
    return frozenset(_JSON_TYPES[found[1]]) if found else frozenset()


# --- defaults

_LITERAL = (
    r"(?P<literal>`[^`\n]*`|\"[^\"\n]*\"|'[^'\n]*'"
    r"|[-+]?\d[\d,_]{0,40}(?:\.\d{1,40})?|[A-Za-z][\w.+-]{0,63}+)"
)
_DEFAULT = re.compile(
    r"\bdefault(?:s|ing)?(?: value)?(?:\s+(?:is|to|of|being|if omitted|when omitted))*\s*[:=]?\s*"
    + _LITERAL,
    re.I,
)
_BY_DEFAULT = re.compile(
    r"(?<![\w.+-])" + _LITERAL + r"\s+(?:by default|is the default|unless (?:told|given))\b", re.I
)
_UNDECIDED = re.compile(
    r"\s?(?:[kKMGT]i?B?\b|%|ms\b|[-–:]\d|million|(?:if|when|unless|for|in|on)\b)"
)
_ENDS = re.compile(r"\s*(?:$|[.,;)\]}|])")
_NO_VALUE = frozenset(("", "none", "null", "empty", "nothing", "unset"))


def _defaults(
    line: int, text: str, subject: Argument | None, arguments: Arguments
) -> Iterator[Claim]:
    for pattern in (_DEFAULT, _BY_DEFAULT):
        for found in pattern.finditer(text):
            argument = _subject(text, found.start(), arguments) or subject
            if argument is not None and _is_wrong_default(found, argument):
                yield Claim(line=line, what="names a default that the schema does not have")


def _is_wrong_default(found: re.Match[str], argument: Argument) -> bool:
    literal = found["literal"]
    quoted = literal[0] in "`\"'"
    word = literal.strip("`\"'").rstrip(".,")
    after = found.string[found.end("literal") :] if found.re is _DEFAULT else ""
    if _UNDECIDED.match(after) or word.lower() in _NO_VALUE:
        return False
    if argument.default is msgspec.UNSET:
        return quoted or word[-1:].isdigit() or word.lower() in ("true", "false")
    if not quoted and word[:1].isalpha():
        decided = found.re is _DEFAULT and (literal.endswith(".") or _ENDS.match(after))
        if not decided and word not in _written(argument):
            return False
    return not _same(word, argument.default)


def _same(word: str, default: Any) -> bool:
    if isinstance(default, str):
        return word == default
    if isinstance(default, (dict, list)):
        return True  # too many ways to write one down
    if isinstance(default, bool) or default is None:
        return word.lower() == json.dumps(default)
    try:
        return float(re.sub(r"[,_]", "", word)) == default
    except ValueError:
        return False


_MENTION = re.compile(rf"({_QUOTED})|\b({_NAME})\b")


def _subject(text: str, end: int, arguments: Arguments) -> Argument | None:
    """The argument last spoken of before a place of the text."""
    mentions = list(_MENTION.finditer(text, max(0, end - _FAR), end))
    for distance, found in enumerate(reversed(mentions)):
        argument = arguments.find(found[0].strip("`\"'"))
        if argument is not None and not (_is_plain(found[0]) and distance > 1):
            return argument
    return None


# --- values

_ONE_OF = re.compile(
    r"\b(?:one of|either|any of|one or more of|(?:allowed |possible |valid )?values?(?: are|:)"
    r"|choices?:|enum:|choose (?:from|between))\s*(?:the following:?\s*)?[(\[:]?\s*",
    re.I,
)
_CHOSEN = re.compile(r"\b(?:use|pass|set (?:it )?to)\s+(?P<literal>`[^`\s]+`|\"[^\"\s]+\")", re.I)
_VALUE = re.compile(r"`([^`\n]*)`|\"([^\"\n]*)\"|'([^'\n]*)'|([\w.+-]+)")
_SEPARATOR = re.compile(r"\s*(?:,\s*(?:or|and)\s+|[,|/]\s*|\s(?:or|and)\s+)")


def _values(
    line: int, text: str, subject: Argument | None, arguments: Arguments
) -> Iterator[Claim]:
    wrong = False
    for found in _ONE_OF.finditer(text):
        argument = _subject(text, found.start(), arguments) or subject
        values, sure = _listed(text, found.end())
        wrong |= sure and _has_wrong(values, argument)
    if subject is not None:
        for start in _starts(text):
            values, sure = _listed(text, start)
            known = any(value in _written(subject) for value in values)
            wrong |= sure and known and len(values) > 1 and _has_wrong(values, subject)
        chosen = [found["literal"].strip('`"') for found in _CHOSEN.finditer(text)]
        wrong |= _has_wrong([v for v in chosen if not arguments.knows(v)], subject)
    if wrong:
        yield Claim(line=line, what="names a value that the schema does not allow")


def _starts(text: str) -> Iterator[int]:
    """Where a description may begin with its values: in the parentheses, and after them."""
    found = _PAREN.match(text)
    if found is not None:
        yield 1
    yield found.end() if found is not None else 0


_PAREN = re.compile(r"[({\[][^()]*[)}\]]\s*")


def _has_wrong(values: Sequence[str], argument: Argument | None) -> bool:
    if argument is None or argument.values is None:
        return False
    return any(value not in _written(argument) for value in values)


def _listed(text: str, start: int) -> tuple[list[str], bool]:
    """The values listed from a place on, and whether they are surely values."""
    values: list[str] = []
    quoted = True
    last = False
    while found := _VALUE.match(text, start):
        bare = found[4] is not None
        joint = _SEPARATOR.match(text, found.end())
        ended = _ENDS.match(text, found.end()) is not None or found[0].endswith(".")
        if bare and (not (joint or ended or last) or (values and quoted)):
            break
        values.append((found[1] or found[2] or found[3] or found[4] or "").rstrip("."))
        quoted = quoted and not bare
        if joint is None:
            break
        last = joint[0].strip(" ,") in ("or", "and")
        start = joint.end()
    return values, bool(values) and (quoted or len(values) > 1)


# --- names in prose and in example calls

_SPOKEN_OF = re.compile(
    rf"\b(?:argument|parameter) (?P<after>{_QUOTED})|(?P<before>{_QUOTED}) (?:argument|parameter)\b"
    r"|\bthe (?P<plain>[a-z]\w*_\w+|[a-z]+[A-Z]\w*) (?:argument|parameter)\b"
)
_COMPOUND = re.compile(r"\b[a-z]+_\w+\b")  # another tool may be meant, and its argument
_DENIES = re.compile(r"\b(?:no|not|never|without|unknown|instead|unlike|neither|nor)\b")
_KEYWORD = re.compile(r"(?:^|,)\s*([A-Za-z_]\w*)\s*=(?!=)\s*(\"[^\"]*\"|'[^']*'|[^,\s]*)")
_MOST_CALLS = 32


def _unknown_in_prose(unit: Unit, arguments: Arguments) -> Iterator[Claim]:
    if _DENIES.search(long_form(unit.text.lower())) or not arguments.closed:
        return
    others = {word for word in _COMPOUND.findall(unit.text) if not arguments.knows(word)}
    for found in _SPOKEN_OF.finditer(unit.text):
        name = (found["after"] or found["before"] or found["plain"]).strip("`\"'")
        if not arguments.knows(name) and not others - {name}:
            yield Claim(line=unit.line, what="speaks of an argument that the schema lacks")


def _calls(unit: Unit, name: str, arguments: Arguments) -> Iterator[Claim]:
    """Example calls that are not called bad must fit the schema."""
    text = unit.text
    if _DENIES.search(long_form(text.lower())) or re.search(
        r"[❌✗✘]|\b(?:bad|wrong)\b", text, re.I
    ):
        return
    start = re.compile(rf"(?<![\w.]){re.escape(name)}\s*\(\s*|[\"']arguments[\"']\s*:\s*(?={{)")
    for _, found in zip(range(_MOST_CALLS), start.finditer(text), strict=False):
        example = _example(text, found.end())
        if example is None:
            continue
        yield from _misfits(unit.line, example, arguments)


def _example(text: str, start: int) -> dict[str, Any] | None:
    """The arguments of a written call; None where it is not spelt out."""
    if text[start : start + 1] == "{":
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None
    inside = text[start:].split(")", 1)[0]
    if "..." in inside or "…" in inside or ")" not in text[start:]:
        return None
    words = {found[1]: found[2] for found in _KEYWORD.finditer(inside)}
    return {name: word[1:-1] if word[:1] in "\"'" else None for name, word in words.items()} or None


def _misfits(line: int, example: dict[str, Any], arguments: Arguments) -> Iterator[Claim]:
    needed = {name for name, argument in arguments.top.items() if argument.required}
    if (arguments.closed and example.keys() - arguments.top.keys()) or needed - example.keys():
        yield Claim(line=line, what="shows a call with arguments unlike the schema's")
    for name, value in example.items():
        argument = arguments.top.get(name)
        if argument is not None and isinstance(value, str) and _has_wrong([value], argument):
            yield Claim(line=line, what="shows a call with a value that the schema does not allow")
        if argument is not None and isinstance(value, list):
            if _has_wrong([v for v in value if isinstance(v, str)], argument):
                yield Claim(
                    line=line, what="shows a call with a value that the schema does not allow"
                )
