"""Reading the fields of a definition as written: each reader gives a value, or notes a fault.

Nothing here raises for what an author wrote: faults are collected with their pointers, so that
one look at the report is enough to repair a definition.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from toolstile.model.canonical import canonical
from toolstile.model.capability import Capability, CapabilityError, CapabilityKind, declared
from toolstile.model.issue import Issue, pointer
from toolstile.model.json import describe
from toolstile.model.vocabulary import Word
from toolstile.schema.issue import fault

T = TypeVar("T")

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
RESERVED = frozenset(("execute", "run", "call", "invoke"))
MAX_DESCRIPTION = 1_024
MAX_METADATA_BYTES = 16 * 1024
MAX_USAGE = 16 * 1024
MAX_PERMISSIONS = 64
MAX_BITS = 64  # of a number that is out of range, to be shown

# Format characters can hide instructions from the person who reads a description (bidi controls,
# zero-width characters, the tag block), and control characters drive terminals.
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)

_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(ms|s|m)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0}
_SIZE = re.compile(r"([0-9]{1,12})(B|KB|MB|GB|KiB|MiB|GiB)")
_BYTES = {
    "B": 1,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "KiB": 1024,
    "MiB": 1024**2,
    "GiB": 1024**3,
}
_SHAPES = {
    "seconds": "a number of seconds, or text such as '30s', '500ms', '2m'",
    "bytes": "a number of bytes, or text such as '64KiB', '10MB'",
    "": "a whole number",
}


class Faults:
    """The faults and warnings noted while a definition is read."""

    def __init__(self) -> None:
        self.issues: list[Issue] = []
        self.warnings: list[Issue] = []

    def note(self, path: str, code: str, reason: str, hint: str, *about: str) -> None:
        """A fault: the definition is refused. `about`: what was expected, what was there."""
        self.issues.append(fault(path, code, reason, hint, *about))

    def warn(self, path: str, code: str, reason: str, hint: str) -> None:
        """Something that the author should know; the definition stands."""
        self.warnings.append(fault(path, code, reason, hint))


def unknown_keys(faults: Faults, path: str, found: Iterable[str], known: Iterable[str]) -> None:
    """Every key that means nothing, each with the nearest that does."""
    known = list(known)
    for key in found:
        if key not in known:
            near = difflib.get_close_matches(str(key)[:64], known, n=1, cutoff=0.6)
            hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(sorted(known))}"
            reason = f"unknown field '{str(key)[:64]}'"
            faults.note(path + pointer(str(key)), "unknown_field", reason, hint)


def name(faults: Faults, value: Any) -> str:
    """A tool's name. `fullmatch`, because `$` would let a final newline pass."""
    if not isinstance(value, str) or not NAME.fullmatch(value):
        reason = "the name must be snake_case: a-z, 0-9 and _, beginning with a letter, at most 64"
        faults.note(
            "/name", "name", reason, f"for example '{_snake_case(value)}'", "^[a-z][a-z0-9_]*$"
        )
    elif value in RESERVED:
        faults.note("/name", "reserved_name", "the name is reserved", "say what the tool does")
    return value if isinstance(value, str) else ""


def _snake_case(value: Any) -> str:
    words = (
        re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", value[:200])
        if isinstance(value, str)
        else []
    )
    made = "_".join(word.lower() for word in words)[:64].lstrip("0123456789_")
    return "read_file" if made in RESERVED else made or "read_file"


def text(faults: Faults, path: str, value: Any, longest: int, *, required: bool = False) -> str:
    """Text for people and models: bounded, without hidden characters."""
    if not isinstance(value, str):
        faults.note(path, "type", f"it must be text, not {describe(value)}", "write a string")
        return ""
    if required and not value.strip():
        faults.note(path, "minLength", "it is empty", "say in a sentence what it is for")
    if len(value) > longest:
        reason = f"it has {len(value):,} characters of at most {longest:,}"
        faults.note(path, "maxLength", reason, "shorten it")
    hidden = HIDDEN.search(value)
    if hidden:
        reason = f"it hides the character U+{ord(hidden[0]):04X} at position {hidden.start() + 1}"
        faults.note(path, "hidden_unicode", reason, "remove it: nobody could see what it does")
    return value


def flag(faults: Faults, path: str, value: Any) -> bool:
    """true or false, nothing that merely looks like it."""
    if not isinstance(value, bool):
        faults.note(
            path, "type", f"it must be true or false, not {describe(value)}", "write true or false"
        )
        return False
    return value


def choice(faults: Faults, path: str, value: Any, choices: Mapping[Any, T], default: T) -> T:
    """One of a set of words."""
    if isinstance(value, (str, int)) and not isinstance(value, bool) and value in choices:
        return choices[value]
    words = [key for key in choices if isinstance(key, str)]
    near = difflib.get_close_matches(value[:64], words, n=1) if isinstance(value, str) else []
    hint = f"did you mean '{near[0]}'?" if near else f"one of: {', '.join(words)}"
    faults.note(path, "enum", "unknown value", hint, ", ".join(words))
    return default


def words_of(kind: type[Word]) -> dict[Any, Any]:
    """The members of a numbered vocabulary by word and, as the seeds write them, by number."""
    by_word: dict[Any, Any] = {member.word: member for member in kind}
    return by_word | {int(member): member for member in kind}


def seconds(faults: Faults, path: str, value: Any, lowest: float, highest: float) -> float:
    """A duration: a number of seconds, or text such as 500ms, 30s, 2m."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    given = float(match[1]) * _SECONDS[match[2]] if match else value
    return _within(faults, path, given, (lowest, highest), "seconds")


def size(faults: Faults, path: str, value: Any, lowest: int, highest: int) -> int:
    """A number of bytes, or text such as 64KiB, 10MB."""
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    given = int(match[1]) * _BYTES[match[2]] if match else value
    return int(_within(faults, path, _whole(given), (lowest, highest), "bytes"))


def count(faults: Faults, path: str, value: Any, lowest: int, highest: int) -> int:
    """A whole number of anything."""
    return int(_within(faults, path, _whole(value), (lowest, highest), ""))


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _within(faults: Faults, path: str, value: Any, bounds: tuple[float, float], unit: str) -> float:
    """The number, or the lowest there may be where it is at fault."""
    kinds = (int, float) if unit == "seconds" else int
    if not isinstance(value, kinds) or isinstance(value, bool):
        faults.note(path, "type", f"it must be {_SHAPES[unit]}", f"write {_SHAPES[unit]}")
    elif not bounds[0] <= value <= bounds[1]:
        lowest, highest = map(_spelt, bounds)
        reason = f"it must lie between {lowest} and {highest} {unit}".rstrip()
        about = (f"{lowest} to {highest}", _spelt(value))
        faults.note(path, "range", reason, "choose a value in range", *about)
    else:
        number: float = value
        return number
    return bounds[0]


def _spelt(number: float) -> str:
    # Python writes no integer of thousands of digits, and none of hundreds as a float.
    huge = isinstance(number, int) and number.bit_length() > MAX_BITS
    return "beyond 64 bits" if huge else f"{number:,.15g}"


def strings(faults: Faults, path: str, value: Any, most: int, longest: int) -> tuple[str, ...]:
    """A list of distinct short strings, in the order written."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        faults.note(path, "type", "it must be a list of strings", "write ['...']")
        return ()
    if len(value) > most or any(len(item) > longest for item in value):
        faults.note(
            path, "maxItems", f"at most {most} strings of {longest} characters", "shorten the list"
        )
    if len(set(value)) != len(value):
        faults.note(path, "uniqueItems", "it lists something twice", "remove the duplicate")
    return tuple(value)


def json_object(faults: Faults, path: str, value: Any, most_bytes: int) -> Mapping[str, Any]:
    """A bounded JSON object."""
    if not isinstance(value, dict):
        faults.note(path, "type", f"it must be an object, not {describe(value)}", "write {...}")
        return {}
    try:
        written = len(canonical(value))
    except ValueError as error:
        faults.note(path, "invalid_json", str(error)[:200], "use JSON values only")
        return {}
    if written > most_bytes:
        faults.note(
            path, "too_large", f"it has {written:,} bytes of at most {most_bytes:,}", "shorten it"
        )
    return value


def capabilities(faults: Faults, value: Any) -> tuple[Capability, ...]:
    """`[{fs_read: [...]}, ...]` or `{fs_read: [...], ...}`, merged by kind, in the kinds' order."""
    path = "/required_capabilities"
    listed = [value] if isinstance(value, dict) else value
    if not isinstance(listed, (list, tuple)):
        faults.note(
            path, "type", "it must be a list of {kind: [scope, ...]}", "write [{fs_read: []}]"
        )
        return ()
    found: dict[CapabilityKind, list[str]] = {}
    for index, item in enumerate(listed):
        entry = {item.kind.value: list(item.scope)} if isinstance(item, Capability) else item
        _capability(faults, f"{path}/{index}", entry, found)
    return tuple(
        read
        for kind in CapabilityKind
        if kind in found
        for read in (_declared(faults, path, kind, found[kind]),)
        if read is not None
    )


def _capability(
    faults: Faults, path: str, entry: Any, found: dict[CapabilityKind, list[str]]
) -> None:
    if not isinstance(entry, dict) or not entry:
        faults.note(path, "type", "it must be {kind: [scope, ...]}", "write {fs_read: []}")
        return
    kinds = {kind.value: kind for kind in CapabilityKind}
    for word, scope in entry.items():
        kind = choice(faults, f"{path}/{word}", word, kinds, None)
        if kind is not None:
            items = strings(faults, f"{path}/{word}", scope, 1_000, 4_096)
            found.setdefault(kind, []).extend(items or ["*"])


def _declared(
    faults: Faults, path: str, kind: CapabilityKind, items: list[str]
) -> Capability | None:
    try:
        return declared(kind, items)
    except CapabilityError as error:
        faults.note(path, "capability", error.message, error.hint)
        return None


def each(value: Any, read: Callable[[Any], T]) -> tuple[T, ...]:
    """`read` of every item; () where there is no list."""
    return tuple(read(item) for item in value) if isinstance(value, (list, tuple)) else ()
