"""Canonical bytes: the RFC's own vectors, two other implementations, and what is refused."""

from __future__ import annotations

import enum
import hashlib
import json
import math
import struct
import uuid
from collections import OrderedDict
from datetime import date
from decimal import Decimal
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolstile.model.canonical import canonical, digest, digest_bytes
from toolstile.model.json import freeze

LARGEST = 2**63 - 1
EXACT_DOUBLE = 2**53 - 1


# --- A third writer, straight from the texts of RFC 8785 and ECMA-262


def utf16_units(name: str) -> list[int]:
    """The UTF-16 code units of a name, by arithmetic."""
    units = []
    for character in map(ord, name):
        if character > 0xFFFF:
            units += [0xD800 + ((character - 0x10000) >> 10), 0xDC00 + (character & 0x3FF)]
        else:
            units.append(character)
    return units


def ecmascript(number: float) -> str:
    """ECMA-262, Number::toString, steps 5 to 12; the digits are those that Python finds."""
    if number == 0:
        return "0"
    if number < 0:
        return "-" + ecmascript(-number)
    _, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text, k, n = "".join(map(str, digits)), len(digits), len(digits) + exponent
    if k <= n <= 21:
        return text + "0" * (n - k)
    if 0 < n <= 21:
        return f"{text[:n]}.{text[n:]}"
    if -6 < n <= 0:
        return f"0.{'0' * -n}{text}"
    fraction = f".{text[1:]}" if k > 1 else ""
    return f"{text[0]}{fraction}e{'+' if n > 0 else '-'}{abs(n - 1)}"


def written(value: Any) -> str:
    """The canonical text of a value."""
    if isinstance(value, dict):
        names = sorted(value, key=utf16_units)
        return "{" + ",".join(f"{written(name)}:{written(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return ecmascript(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def double(bits: str) -> float:
    """The double of these sixteen hexadecimal digits."""
    number: float = struct.unpack(">d", bytes.fromhex(bits))[0]
    return number


# --- The RFC's vectors

# RFC 8785, appendix B.
NUMBERS = """
0000000000000000 0
8000000000000000 0
0000000000000001 5e-324
8000000000000001 -5e-324
7fefffffffffffff 1.7976931348623157e+308
ffefffffffffffff -1.7976931348623157e+308
4340000000000000 9007199254740992
c340000000000000 -9007199254740992
4430000000000000 295147905179352830000
44b52d02c7e14af5 9.999999999999997e+22
44b52d02c7e14af6 1e+23
44b52d02c7e14af7 1.0000000000000001e+23
444b1ae4d6e2ef4e 999999999999999700000
444b1ae4d6e2ef4f 999999999999999900000
444b1ae4d6e2ef50 1e+21
3eb0c6f7a0b5ed8c 9.999999999999997e-7
3eb0c6f7a0b5ed8d 0.000001
41b3de4355555553 333333333.3333332
41b3de4355555554 333333333.33333325
41b3de4355555555 333333333.3333333
41b3de4355555556 333333333.3333334
41b3de4355555557 333333333.33333343
becbf647612f3696 -0.0000033333333333333333
43143ff3c1cb0959 1424953923781206.2
"""


@pytest.mark.parametrize("line", NUMBERS.split("\n")[1:-1])
def test_numbers_of_appendix_b(line: str) -> None:
    """Every double of the RFC's table is written as the table says, alone and inside."""
    bits, text = line.split()
    assert canonical(double(bits)) == text.encode()
    assert canonical({"n": [double(bits)]}) == b'{"n":[' + text.encode() + b"]}"


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])
def test_appendix_b_has_no_text_for_these(bits: str) -> None:
    """NaN and the infinities are errors."""
    with pytest.raises(ValueError, match="not representable"):
        canonical({"n": [double(bits)]})


def test_sample_of_section_3_2() -> None:
    """The RFC's first example, to the byte."""
    value = json.loads(
        r"""{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]}"""
    )
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        r'"string":"€$\u000f\nA' + "'" + r'B\"\\\\\"/"}'
    )
    assert canonical(value) == expected.encode()


def test_order_of_section_3_2_3() -> None:
    """Names go by their UTF-16 units: the emoji stands before the Hebrew letter."""
    value = {
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\U0001f600": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis",
    }
    order = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical(value))) == order
    assert list(json.loads(canonical({"in": [value]}))["in"][0]) == order


# --- Three writers, one text

TRICKY = [0.0, -0.0, 1.0, -1.0, 1e-5, 9.999e-6, 1e-6, 1e-7, 0.1, 123.456, 1e15, 1e16, 1e17, 1e20]
TRICKY += [1e21, 1e22, 1.5e300, 5e-324, 2**53 - 1.0, 2**53 + 0.0, 2**53 + 2.0, 2**52 - 0.5]
FLOATS = st.one_of(
    st.sampled_from(TRICKY),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e18, 1e18),
    st.floats(-1e-3, 1e-3),
    st.integers(-(2**60), 2**60).map(float),
)
EDGES = 'ab\u00e9\u20ac\ue000\uffff\U00010000\U0010ffff"\\\n\0\x7f'
NAMES = st.text(st.sampled_from(EDGES), max_size=3)
INTEGERS = st.integers(-EXACT_DOUBLE, EXACT_DOUBLE)
LARGE = st.one_of(st.integers(-LARGEST, LARGEST), st.sampled_from([LARGEST, -LARGEST, 2**53]))


def values(integers: st.SearchStrategy[int]) -> st.SearchStrategy[Any]:
    """JSON values with these integers."""
    return st.recursive(
        st.one_of(st.none(), st.booleans(), integers, FLOATS, st.text(max_size=5)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=4)
        ),
        max_leaves=12,
    )


@settings(max_examples=800)
@given(values(INTEGERS))
@example({"\ue000": 1.0, "\U00010000": [2**53 - 1, {"b": -0.0, "a": 1e21}]})
def test_equal_to_the_package_rfc8785(value: Any) -> None:
    """Where the RFC holds, the bytes are those of the reference implementation."""
    assert canonical(value) == rfc8785.dumps(value)


@settings(max_examples=800)
@given(values(LARGE))
def test_equal_to_the_text_of_the_standards(value: Any) -> None:
    """And those of a writer made from the standards; with exact integers beyond 53 bits."""
    assert canonical(value) == written(value).encode()


@settings(max_examples=1_500)
@given(FLOATS)
def test_every_double_is_written_as_ecmascript_does(number: float) -> None:
    """And reads back as the same double."""
    text = canonical(number)
    assert text == ecmascript(number).encode()
    assert float(text) == number


def integer_or_double(literal: str) -> int | float:
    """The RFC writes doubles up to 1e21 like integers: those beyond our integers are doubles."""
    return int(literal) if abs(int(literal)) <= LARGEST else float(literal)


@given(values(LARGE))
def test_the_text_is_a_fixed_point(value: Any) -> None:
    """What was read from canonical text is written as that text again."""
    text = canonical(value)
    assert canonical(json.loads(text, parse_int=integer_or_double)) == text


@given(values(LARGE))
def test_containers_of_other_kinds_are_the_same_value(value: Any) -> None:
    """Frozen values and tuples have the bytes of the plain ones, and nothing is changed."""
    before = repr(value)
    assert canonical(freeze(value)) == canonical(value)
    assert canonical((value, [value])) == canonical([value, [value]])
    assert repr(value) == before


def test_every_character_is_written_as_the_rfc_says() -> None:
    """Control characters, quote and backslash escaped in the RFC's one way, the rest as it is."""
    for start in range(0, 0x110000, 0x800):
        if start != 0xD800:
            text = "".join(map(chr, range(start, start + 0x800)))
            assert canonical(text) == rfc8785.dumps(text)


# --- Integers, refusals, digests


@pytest.mark.parametrize("integer", [2**53, 2**53 + 1, 10**18 + 1, LARGEST, -LARGEST])
def test_integers_are_exact(integer: int) -> None:
    """Up to ±(2^63 - 1) they are written in full; a double of that size is not."""
    assert canonical({"b": integer, "a": [1.0]}) == f'{{"a":[1],"b":{integer}}}'.encode()
    assert canonical(integer) != canonical(integer - 1 if integer > 0 else integer + 1)


class Colour(enum.StrEnum):
    """An enumeration whose members are strings."""

    RED = "red"


class Number(enum.IntEnum):
    """An enumeration whose members are integers."""

    ONE = 1


class Word(str):
    """A subclass of str."""

    __slots__ = ()


REFUSED = [2**63, -(2**63), 2**64, 10**400, math.nan, math.inf, -math.inf, "\ud800", "a\udfff"]
REFUSED += [{"\ud800": 1}, {1: 1}, {None: 1}, {Word("a"): 1}, {b"a": 1}, b"a", bytearray(b"a")]
REFUSED += [Colour.RED, Number.ONE, Word("a"), uuid.UUID(int=0), date(2020, 1, 1), Decimal(1)]
REFUSED += [{1}, 1j, object(), OrderedDict(a=1), orjson.Fragment(b"1"), range(3), Ellipsis]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_what_json_cannot_say_has_no_bytes(value: Any) -> None:
    """Alone or inside, next to sound values or after numbers that need mending: ValueError."""
    for around in (value, [value], {"a": {"b": [1, value]}}, (1.0, value), [2**60, value]):
        with pytest.raises(ValueError, match=r"."):
            canonical(around)
        with pytest.raises(ValueError, match=r"."):
            digest(around)
    canonical([1, {"a": "a"}])


def test_levels_have_a_bound() -> None:
    """A value that holds itself, or is far deeper than any that is let in, has no bytes."""
    cycle: list[Any] = []
    cycle.append(cycle)
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in (cycle, {"a": cycle}, deep):
        with pytest.raises(ValueError, match="not a JSON value"):
            canonical(value)
    shallow: Any = 1
    for _ in range(200):
        shallow = [shallow]
    assert canonical(shallow) == b"[" * 200 + b"1" + b"]" * 200


def test_digests_name_their_algorithm() -> None:
    """`sha256:` and the digest of the canonical bytes, whatever the order or spelling was."""
    data = b'{"a":[1,2],"b":"\xc3\xa9"}'
    assert digest_bytes(data) == "sha256:" + hashlib.sha256(data).hexdigest()
    assert digest({"b": "é", "a": [1.0, 2]}) == digest_bytes(data)
    assert digest({"b": "e\u0301", "a": [1, 2]}) != digest_bytes(data)
