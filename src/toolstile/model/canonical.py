"""One JSON value, one byte string: RFC 8785, and digests over it.

The one departure: integers up to ±(2^63 - 1) are written as their exact decimal digits, where the
RFC would round those beyond 53 bits to a double. An integral double below 1e21 is written like
an integer, as the RFC says: this text is for digests, and need not read back as the same type.

A C serialiser writes the bytes. For strings, integers and the three words its text is the RFC's;
in two things it differs, and both are mended:

- numbers. The RFC writes a double as ECMAScript does. Between 1e-5 and 2^53, with a fraction, both
  write the same shortest decimal digits. An integral double below 2^53 is handed over as the
  integer that reads the same (1.0 as 1, -0.0 as 0); any other is written by the package `rfc8785`
  and handed over as a fragment.
- the order of names. The RFC compares UTF-16 units, the serialiser UTF-8 bytes, which is the order
  of code points. They differ only where a name holds a character beyond U+FFFF, four bytes in
  UTF-8, the first of them 0xF0 to 0xF4.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any, NoReturn

import orjson
import rfc8785

from toolstile.model.json import FrozenDict, FrozenList, JsonValue

MAX_INTEGER = 2**63 - 1  # either way; the contract's bound

# What the serialiser writes right by itself; it refuses integers beyond 53 bits if told to.
_READY = frozenset({str, bool, int, type(None)})
_STRICT = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_NOT_ASTRAL = bytes(set(range(256)) - set(range(0xF0, 0xF5)))


def canonical(value: JsonValue) -> bytes:
    """The RFC 8785 bytes of a JSON value (integers: see above).

    Raises:
        ValueError: the value holds what JSON cannot say: NaN, infinity, an integer out of range, a
            lone surrogate, a name that is not a string, another type, too many levels.
    """
    try:
        mended = _mended(value)
        try:
            text = orjson.dumps(mended, None, _STRICT)
        except TypeError:
            _check_integers(mended)
            text = orjson.dumps(mended, None, orjson.OPT_SORT_KEYS)
        if not text.isascii() and text.translate(None, _NOT_ASTRAL):
            text = orjson.dumps(_ordered(mended))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not a JSON value: {error}") from None
    return text


def from_canonical(data: bytes) -> JsonValue:
    """A value that has these RFC 8785 bytes. They say 1e20 in digits; no integer is so large, so
    what looks like one was a double."""
    value: JsonValue = json.loads(data, parse_int=_whole)
    return value


def _whole(digits: str) -> int | float:
    number = int(digits)
    return number if abs(number) <= MAX_INTEGER else float(digits)


def digest(value: JsonValue) -> str:
    """`sha256:` and the SHA-256 of the canonical bytes, in hexadecimal.

    Raises:
        ValueError: as `canonical` does.
    """
    return digest_bytes(canonical(value))


def digest_bytes(data: bytes) -> str:
    """`sha256:` and the SHA-256 of the bytes, in hexadecimal."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _mended(value: JsonValue) -> JsonValue:
    """The value, or a copy where the serialiser would write a number otherwise than the RFC."""
    kind = type(value)
    return value if kind in _READY else _MENDERS.get(kind, _refuse)(value)


def _number(value: float) -> JsonValue:
    if value.is_integer() and abs(value) < 2**53:
        return int(value)
    if 1e-5 <= abs(value) < 2**53:
        return value
    return orjson.Fragment(rfc8785.dumps(value))


def _object(value: dict[str, JsonValue]) -> JsonValue:
    copy = value
    for name, member in value.items():
        kind = type(member)
        if kind in _READY:
            continue
        mended = _MENDERS.get(kind, _refuse)(member)
        if mended is not member:
            copy = dict(value) if copy is value else copy
            copy[name] = mended
    return copy


def _array(value: list[JsonValue]) -> JsonValue:
    copy = value
    for index, item in enumerate(value):
        kind = type(item)
        if kind in _READY:
            continue
        mended = _MENDERS.get(kind, _refuse)(item)
        if mended is not item:
            copy = list(value) if copy is value else copy
            copy[index] = mended
    return copy


def _refuse(value: object) -> NoReturn:
    raise ValueError(f"not a JSON type: {type(value).__name__}")


# Looked up by exact type: a subclass of str, say, may print as something else.
_MENDERS: dict[type, Callable[[Any], JsonValue]] = {
    float: _number,
    dict: _object,
    FrozenDict: _object,
    list: _array,
    tuple: _array,
    FrozenList: _array,
}


def _check_integers(value: JsonValue) -> None:
    if type(value) is int and abs(value) > MAX_INTEGER:
        raise ValueError("integer out of range")
    if isinstance(value, (dict, list, tuple)):
        for member in value.values() if isinstance(value, dict) else value:
            _check_integers(member)


def _ordered(value: JsonValue) -> JsonValue:
    """A copy whose members stand in the order of their names' UTF-16 units."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return {name: _ordered(value[name]) for name in names}
    if isinstance(value, (list, tuple)):
        return [_ordered(item) for item in value]
    return value
