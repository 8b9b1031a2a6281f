"""A usage text read into sentences, each with the section it stands in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from toolstile.schema.usage.headings import topics_about, topics_of

_MARK = re.compile(r"#{1,6}(?=\s)|(?:[-*+•‣◦>]|\(?\d{1,3}[.)]|[a-z][.)])(?=\s)")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,})\s*")
_TABLE_RULE = re.compile(r"(?=.*\|)(?=.*-)[\s:|-]+")
_BOLD = re.compile(r"(?:\*\*[^*]{1,80}\*\*|__[^_]{1,80}__):?")
_STARS = re.compile(r"\*+(?=\S)|(?<=\S)\*+")
_OPENING_TAG = re.compile(r"<(\w{1,40})>")
_CLOSING_TAG = re.compile(r"</\w{1,40}>")
_TYPOGRAPHY = str.maketrans(
    {"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "\u00a0": " "}
)

_NAME = r"[`\"']?[A-Za-z_$][\w$.\-]{0,63}[`\"']?"
_NEW_LINE = re.compile(  # what begins a line that does not go on with the one before
    _NAME + r"(?:\s*[,/]\s*" + _NAME + r"){0,3}\s*(?:\([^()]{0,120}\))?\s*"
    r"(?::(?=\s|$)|=(?=\s)|\s(?:--?|[\u2013—→]|[-=]>)\s|\s{2,}|\)\s*$)|[A-Z][\w']{0,40}(?:\s[\w']{1,40}){0,4}(?::(?=\s|$)|\s(?:--?|[\u2013—→]|[-=]>)\s)|[✅❌✓✗✔✘]"
)
_SENTENCE_END = re.compile(r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<=[.!?])\s+|;\s+(?=[A-Z][\w ]{2,30}:\s)")
_LABEL = re.compile(
    r"[^\w`\"'({\[]*[`\"'\[]?(?P<label>[^:|?\]]{1,80}?)[`\"'\]]*"
    r"(?:\s*[:|?]|\s+(?:--?|[\u2013—→]|[-=]>)\s|\s{2,}|\s*$)\s*"
)
_IDENTIFIER = re.compile(r"[`\"']?([A-Za-z_$][\w$.\-]*)[`\"']?:?")
_SEVERAL_WORDS = re.compile(r"[A-Z][\w']*(?: [\w']+)+")
_YES_OR_NO = re.compile(r"(?:yes|no|true|false|always|never)\b", re.IGNORECASE)
_YES = re.compile(r"(?:yes|true|y|required|mandatory|always|x|✓|✔|✅)", re.IGNORECASE)
_NOTHING = frozenset(("", "-", "\u2013", "—", "none", "n/a", "no"))
_PLAIN_LEVEL = 7  # below every Markdown heading


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence, or the first words of an item, and where it stands."""

    block: int
    line: int
    indent: int
    text: str
    item: bool = False
    listed: bool = False
    code: bool = False
    heading: bool = False
    preamble: bool = False
    topics: frozenset[str] = frozenset()
    mode: str = ""


class _Block(msgspec.Struct, frozen=True, kw_only=True):
    """A heading, an item, a table row, a paragraph or a listing; wrapped lines are joined."""

    kind: str  # heading item row text code blank rule
    line: int
    indent: int = 0
    level: int = _PLAIN_LEVEL
    text: str = ""


class _Section(msgspec.Struct, frozen=True):
    topics: frozenset[str] = frozenset()
    level: int = 0
    mode: str = ""


def read_usage(text: str, names: Collection[str]) -> tuple[Unit, ...]:
    """The sentences of a usage text; `names` are the argument names, which are no headings."""
    walk = _Walk(names)
    for number, block in enumerate(_blocks(_lines(_split(text)))):
        walk.add(number, block)
    return tuple(walk.units)


def _split(text: str) -> list[str]:
    return text.translate(_TYPOGRAPHY).replace("\r\n", "\n").split("\n")


# --- lines


def _lines(lines: Sequence[str]) -> Iterator[_Block]:
    header: list[str] | None = None
    fenced = False
    skip = -1
    for index, raw in enumerate(lines):
        below = lines[index + 1] if index + 1 < len(lines) else ""
        if index == skip:
            continue
        if _FENCE.match(raw):
            fenced = not fenced
            yield _Block(kind="blank", line=index + 1)
        elif fenced:
            yield _Block(kind="code", line=index + 1, text=raw.strip())
        elif "|" in raw and _TABLE_RULE.fullmatch(below):
            header, skip = _cells(raw), index + 1
        elif header and raw.lstrip().startswith("|"):
            yield _Block(kind="row", line=index + 1, text=_row(header, _cells(raw)))
        else:
            header = None
            underlined = bool(_UNDERLINE.fullmatch(below)) and raw[:1].strip() != ""
            skip = index + 1 if underlined else skip
            yield _line(index + 1, raw, underlined)


def _line(number: int, raw: str, underlined: bool) -> _Block:
    written = raw.lstrip(" \t")
    indent = len(raw[: len(raw) - len(written)].expandtabs(4))
    marked = _MARK.match(written)
    mark = marked[0] if marked else ""
    body = written[len(mark) :].strip()
    tagged = _OPENING_TAG.sub(r"\1: ", body, count=1) if body.startswith("<") else body
    text = _STARS.sub("", _CLOSING_TAG.sub("", tagged)).strip()
    if not text:
        return _Block(kind="rule" if body else "blank", line=number)
    if underlined or mark.startswith("#"):
        return _Block(kind="heading", line=number, level=len(mark) or 1, text=text)
    bold = _BOLD.fullmatch(body) is not None
    capitals = text.isupper() and "_" not in text and len(text) <= 40 and text[-1].isalpha()
    if not mark and (bold or capitals):
        return _Block(kind="heading", line=number, text=text)
    return _Block(kind="item" if mark else "text", line=number, indent=indent, text=text)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _row(header: list[str], cells: list[str]) -> str:
    """A table row as an item: "name (string, required): default x; the rest"."""
    notes: list[str] = []
    rest: list[str] = []
    for title, cell in zip(header[1:], cells[1:], strict=False):
        word = title.lower()
        if word in ("required", "mandatory", "optional"):
            notes.append(word if _YES.match(cell) else _OPPOSITE[word])
        elif word == "type":
            notes.append(cell)
        elif word == "default":
            rest += [] if cell.lower() in _NOTHING else [f"default {cell}"]
        else:
            rest.append(cell)
    marks = f" ({', '.join(notes)})" if notes else ""
    return _STARS.sub("", f"{cells[0]}{marks}: {'; '.join(rest)}")


_OPPOSITE = {"required": "optional", "mandatory": "optional", "optional": "required"}


# --- blocks


def _blocks(lines: Iterator[_Block]) -> Iterator[_Block]:
    block: _Block | None = None
    for read in lines:
        line = _heading_of(read) if block is None or read.text[-1:] in (":", "?") else read
        if block is not None and _goes_on(block, line):
            block = replace(block, text=f"{block.text} {line.text}")
            continue
        if block is not None:
            yield block
        block = None if line.kind == "blank" else line
    if block is not None:
        yield block


def _heading_of(line: _Block) -> _Block:
    """A line that is a heading by its words alone, as that; any other line as it is."""
    if line.kind not in ("text", "code") or topics_of(line.text.rstrip(":? ")) is None:
        return line
    return replace(line, kind="heading")


def _goes_on(block: _Block, line: _Block) -> bool:
    if line.kind == "code":
        return block.kind == "code"
    return (
        line.kind == "text"
        and block.kind in ("text", "item")
        and _NEW_LINE.match(line.text) is None
    )


# --- sections


class _Walk:
    """Goes through the blocks and keeps in mind which section it is in."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names
        self.units: list[Unit] = []
        self.outer = _Section()
        self.inner: tuple[int, _Section] | None = None
        self.headings = 0

    def add(self, number: int, block: _Block) -> None:
        if block.kind == "rule":
            self.outer, self.inner = _Section(level=_PLAIN_LEVEL), None
        elif block.kind == "heading":
            self._heading(number, block)
        else:
            if self.inner is not None and block.indent <= self.inner[0]:
                self.inner = None
            ticked = _TICKS.get(block.text[:1])
            if ticked is not None:
                self.inner = (block.indent, _Section(ticked, _PLAIN_LEVEL))
            self._content(number, block)

    def _heading(self, number: int, block: _Block) -> None:
        topics = topics_of(block.text.rstrip(":? "))
        deeper = block.level > self.outer.level and bool(self.outer.topics)
        if deeper and block.text.strip("`\"': ") in self.names and "arguments" in self.outer.topics:
            topics = None
        if topics is None and "errors" in self.outer.topics and block.text.isupper():
            deeper = True
        if topics is None and deeper:
            item = _IDENTIFIER.fullmatch(block.text) is not None
            self._unit(number, block, block.text, item=item)
            return
        if topics is None and self.units:
            topics = topics_about(block.text)
        self.headings += topics is not None
        self.outer = _Section(topics or frozenset(), block.level, _mode(block.text))
        self.inner = None
        self._unit(number, block, block.text, heading=True)

    def _content(self, number: int, block: _Block) -> None:
        sentences = [block.text] if block.kind == "code" else _SENTENCE_END.split(block.text)
        item = block.kind in ("item", "row") or _NEW_LINE.match(block.text) is not None
        for position, sentence in enumerate(sentences):
            rest = self._labelled(block, sentence, alone=len(sentences) == 1)
            if rest is None:
                self._unit(number, block, sentence, item=item and not position, listed=item)
            elif rest:
                self._unit(number, block, rest)

    def _labelled(self, block: _Block, sentence: str, *, alone: bool) -> str | None:
        """What follows the label of a sentence that opens a section; None where none does."""
        found = _LABEL.match(sentence)
        if found is None or (
            found.end() == len(sentence) and sentence[-1:] not in ":?" and not alone
        ):
            return None
        label, rest = found["label"].strip(), sentence[found.end() :]
        topics = topics_of(label)
        if topics is None:
            if self._ends_arguments(block, label):
                self.outer, self.inner = _Section(level=_PLAIN_LEVEL), None
            return None
        if self._is_item(block, label, topics, rest):
            return None
        section = _Section(topics, _PLAIN_LEVEL, _mode(label))
        self.headings += 1
        if block.kind in ("item", "row"):
            self.inner = (block.indent, section)
        else:
            self.outer, self.inner = section, None
        return rest

    def _is_item(self, block: _Block, label: str, topics: frozenset[str], rest: str) -> bool:
        """True for an argument or an error that only looks like one of our headings."""
        section = self._section()
        if "arguments" in topics and _YES_OR_NO.match(rest):
            return True
        if "errors" in section.topics:
            return label.isupper() and not topics & {"good", "bad"}
        if "arguments" not in section.topics:
            return False
        in_list = block.kind in ("item", "row") or block.indent > 0
        return label in self.names or (in_list and not topics & _NEVER_OF_AN_ARGUMENT)

    def _ends_arguments(self, block: _Block, label: str) -> bool:
        """True for a label of several words at the margin: no argument is called so."""
        return (
            "arguments" in self._section().topics
            and block.kind == "text"
            and not block.indent
            and _SEVERAL_WORDS.fullmatch(label) is not None
            and block.text.startswith(f"{label}:")
        )

    def _section(self) -> _Section:
        return self.inner[1] if self.inner is not None else self.outer

    def _unit(self, number: int, block: _Block, text: str, **marks: bool) -> None:
        section = self._section()
        self.units.append(
            Unit(
                block=number,
                line=block.line,
                indent=block.indent,
                text=text,
                code=block.kind == "code",
                preamble=not self.headings,
                topics=section.topics,
                mode=section.mode,
                **marks,
            )
        )


_TICKS = {
    **dict.fromkeys("✅✓✔👍", frozenset(("good",))),
    **dict.fromkeys("❌✗✘👎", frozenset(("bad",))),
}
_NEVER_OF_AN_ARGUMENT = frozenset(("precedence", "idempotency", "performance", "errors"))


def _mode(heading: str) -> str:
    words = heading.lower()
    if "optional" in words:
        return "optional"
    return "required" if "required" in words or "mandatory" in words else ""
