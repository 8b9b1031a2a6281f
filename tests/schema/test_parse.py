"""JSON in: exactly RFC 8259, one value, no repair; the shortcut never differs from the verdict."""

from __future__ import annotations

import base64
import contextlib
import enum
import json
import math
import random
import re
import threading
import time
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpora import corpus, records
from toolstile.model.issue import CONSTRAINT_VIOLATION, INVALID_JSON, Issue
from toolstile.model.json import freeze
from toolstile.schema import strict_json
from toolstile.schema.parse import DEFAULT_LIMITS, ParseFault, ParseLimits, check_value, parse

LARGEST = 2**63 - 1
MIB = 2**20


# --- Another reader, written otherwise: the standard library's, checked afterwards


class Refused(Exception):
    """The document is not strict JSON within the limits."""


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members, if no two have one name."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise Refused
    return dict(pairs)


def depth_of(value: Any) -> int:
    """How many levels of arrays and objects there are, in the plainest way."""
    if not isinstance(value, (list, dict)):
        return 0
    members = value if isinstance(value, list) else value.values()
    return 1 + max((depth_of(member) for member in members), default=0)


def scalars(value: Any) -> Iterator[Any]:
    """Every scalar and every member name of a value."""
    if isinstance(value, list):
        for item in value:
            yield from scalars(item)
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from scalars(member)
    else:
        yield value


def fits(scalar: Any) -> bool:
    """Whether it is a scalar of strict JSON."""
    if type(scalar) is int:
        return abs(scalar) <= LARGEST
    if isinstance(scalar, float):
        return math.isfinite(scalar)
    return not isinstance(scalar, str) or not re.search("[\ud800-\udfff]", scalar)


def unrounded(literal: str) -> float:
    """The double of a literal, unless it has become an integer that the literal is not."""
    value = float(literal)
    if value.is_integer() and abs(value) < 2**63 and Fraction(literal) != Fraction(repr(value)):
        raise Refused
    return value


def reference(data: bytes, depth: int = DEFAULT_LIMITS.depth) -> Any:
    """The value of a document, or Refused."""
    try:
        value = json.loads(data.decode(), object_pairs_hook=distinct, parse_float=unrounded)
    except (ValueError, RecursionError):
        raise Refused from None
    if depth_of(value) > depth or not all(map(fits, scalars(value))):
        raise Refused
    return value


def outcome(read: Callable[[], Any], refusal: type[Exception]) -> str:
    """What a reader made of a document: `repr` tells 1 from 1.0 and 0.0 from -0.0."""
    try:
        return repr(read())
    except refusal:
        return "refused"


def agree(data: bytes, limits: ParseLimits = DEFAULT_LIMITS) -> None:
    """All four ways to read a document come to the same verdict and value."""
    expected = outcome(lambda: reference(data, limits.depth), Refused)
    assert outcome(lambda: parse(data, limits), ParseFault) == expected
    assert outcome(lambda: strict_json.read(data, limits), ParseFault) == expected
    assert outcome(lambda: strict_json.read_placed(data.decode(), limits), ParseFault) == expected


def fault(raw: bytes | str, limits: ParseLimits = DEFAULT_LIMITS) -> Issue:
    """The issue that a text is refused with."""
    with pytest.raises(ParseFault) as caught:
        parse(raw, limits)
    return caught.value.issue


# --- Documents, sound and not

SPACES = st.sampled_from(["", "", "", " ", "\n", "\t\r\n "])
NUMBERS = st.one_of(
    st.integers(-(2**65), 2**65).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(
        """0 -0 0.0 -0.0 1.0 1.50 1e5 1E+5 1e16 1e-7 0e9 5e-324 2e-324 1e308 2e308 -1e400 1e-999
        9007199254740991 9007199254740992 9007199254740993 -9007199254740992 9223372036854775807
        9223372036854775808 -9223372036854775807 -9223372036854775808 18446744073709551615
        18446744073709551616 1.7976931348623157e308 1.7976931348623159e308
        01 1. .5 +1 - 1e 0x1 NaN Infinity -Infinity 1_0 --1""".split()
    ),
)
PIECES = st.sampled_from(
    [" ", *r"""a é 😀 [ { ]} : // \" \\ \/ \n \u0061 \u00e9 \u0000 \ud83d\ude00""".split()]
)
BROKEN_PIECES = st.sampled_from([r"\ud800", r"\ude00", r"\uD83D\u0041", r"\x", r"\u12", "\n", "\0"])
STRINGS = st.lists(st.one_of(PIECES, PIECES, PIECES, PIECES, BROKEN_PIECES), max_size=4).map(
    lambda pieces: '"' + "".join(pieces) + '"'
)
# Few names, some of them one name written in two ways: objects with the same name twice.
NAMES = st.sampled_from(
    [f'"{name}"' for name in ("a", " a", "a ", r"\u0061", "b", "c", "é", "e\u0301", "", " ")]
)
SCALARS = st.one_of(st.sampled_from(["true", "false", "null"]), NUMBERS, STRINGS)


def joined(brackets: str, spaces: list[str], items: list[str]) -> str:
    """An array or object of these items, with these spaces around its commas."""
    space = iter(spaces)
    text = ",".join(next(space) + item + next(space) for item in items)
    return brackets[0] + (text or spaces[0]) + brackets[1]


def containers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Arrays and objects whose members are of this kind."""
    spaces = st.lists(SPACES, min_size=8, max_size=8)
    members = st.builds("{0}{2}:{2}{1}".format, NAMES, inner, SPACES)
    return st.one_of(
        st.builds(joined, st.just("[]"), spaces, st.lists(inner, max_size=4)),
        st.builds(joined, st.just("{}"), spaces, st.lists(members, max_size=4)),
    )


DOCUMENTS = st.recursive(SCALARS, containers, max_leaves=12)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-LARGEST, LARGEST),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=6),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=1_500)
@given(DOCUMENTS)
@example('{"a":1,"a":1}')
@example(r'{"a":1,"\u0061":1}')
@example("[18446744073709551616]")
@example('[null,1e400,"NaN"]')
def test_all_readers_agree(text: str) -> None:
    """The shortcut, the verdict, the namer of faults and the reference read every text alike."""
    agree(text.encode())


@settings(max_examples=300)
@given(VALUES)
def test_what_any_serialiser_writes_is_read_back(value: Any) -> None:
    """Compact, spaced, indented, escaped: the value comes back exactly, its types with it."""
    texts: list[bytes | str] = [orjson.dumps(value), json.dumps(value), json.dumps(value, indent=1)]
    texts += [json.dumps(value, ensure_ascii=False, separators=(",", ":"))]
    assert {repr(parse(text)) for text in texts} == {repr(value)}


@given(DOCUMENTS)
def test_text_and_its_bytes_are_one_document(text: str) -> None:
    """A str is read as its UTF-8 bytes are."""
    of_text = outcome(lambda: parse(text), ParseFault)
    assert of_text == outcome(lambda: parse(text.encode()), ParseFault)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":1}',
        '{"a b":1,"ab":2,"a b":3}',
        '{"a":-12.5e-3,"b":[true,false,null],"c":""}',
        r'{"\u0061\n\\":"\ud83d\ude00 \/"}',
        '[10,1e5,0.0,-0,9007199254740991,"x  y"]',
    ],
)
def test_a_stray_space_counts_only_between_tokens_and_in_strings(text: str) -> None:
    """The shortcut compares short texts without their spaces, so a space is put everywhere."""
    for at in range(len(text) + 1):
        agree((text[:at] + " " + text[at:]).encode())


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one to three small changes."""
    for _ in range(chance.randint(1, 3)):
        start, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        end = min(end, start + 6)
        new = chance.choice(
            [b"", b" ", bytes([chance.randrange(256)]), data[start:end] * 2, b'\\"', b","]
        )
        data = data[:start] + new + data[end:]
    return data


def test_nothing_but_a_fault_comes_of_damage() -> None:
    """20,000 damaged documents: each is read as the reference reads it, or refused with a fault."""
    chance = random.Random(8259)
    document = (
        '{"a":[1,2.5,-0,"é\\u00e9😀\\n",{"b":null,"":[]}],"c":{"d":true,"e":[[9007199254740993]]}}'
    )
    accepted = 0
    for _ in range(20_000):
        data = mutated(document.encode(), chance)
        expected = outcome(lambda data=data: reference(data), Refused)  # type: ignore[misc]
        assert outcome(lambda data=data: parse(data), ParseFault) == expected  # type: ignore[misc]
        accepted += expected != "refused"
    assert 500 < accepted < 10_000


# --- Corpora


def test_public_parsing_corpus() -> None:
    """JSONTestSuite: what must be read is, unless a name is doubled; what must not, is refused."""
    verdicts: dict[str, set[str]] = {"accept": set(), "reject": set(), "either": set()}
    for record in records(corpus("hostile", "json-parsing.jsonl.gz")):
        data = base64.b64decode(record["bytes_b64"])
        result = outcome(lambda data=data: parse(data), ParseFault)  # type: ignore[misc]
        if record["expect"] == "either" or "duplicated_key" in record["id"]:
            assert result == outcome(lambda data=data: reference(data), Refused)  # type: ignore[misc]
        else:
            verdicts[record["expect"]].add("refused" if result == "refused" else "read")
    assert verdicts == {"accept": {"read"}, "reject": {"refused"}, "either": set()}


def test_public_transform_corpus() -> None:
    """Where readers differ, this one is exact: it keeps what it can keep and refuses the rest."""
    results = {
        record["id"].split("/")[1].removesuffix(".json"): outcome(
            lambda record=record: parse(base64.b64decode(record["bytes_b64"])),  # type: ignore[misc]
            ParseFault,
        )
        for record in records(corpus("hostile", "json-transform.jsonl"))
    }
    kept = {name: result for name, result in results.items() if result != "refused"}
    assert len(results) == 8
    assert kept == {
        "object_key_nfc_nfd": repr({"\u00e9": "NFC", "e\u0301": "NFD"}),
        "object_key_nfd_nfc": repr({"e\u0301": "NFD", "\u00e9": "NFC"}),
    }


# --- Faults: their codes and places


class Case(NamedTuple):
    """A text that is refused, how, and its neighbour that is read."""

    text: bytes | str
    code: str
    path: str
    place: str
    what: str
    sound: str


CASES = [
    Case("", "invalid_json", "", "line 1, column 1", "the text is empty", "{}"),
    Case(" \n\t", "invalid_json", "", "line 1, column 1", "the text is empty", " {}\n"),
    Case("\ufeff{}", "invalid_json", "", "line 1, column 1", "a byte order mark", '"\ufeff"'),
    Case(b'\xef\xbb\xbf"a"', "invalid_json", "", "line 1, column 1", "a byte order mark", '"a"'),
    Case(b'{"a":\n"\xff"}', "invalid_json", "", "line 2, column 2", "not UTF-8", '"\xff"'),
    Case('"é'.encode() + b"\xed\xa0\x80", "invalid_json", "", "line 1, column 3", "not UTF-8", "1"),
    Case('{}".'.encode("utf-16"), "invalid_json", "", "line 1, column 1", "not UTF-8", "1"),
    Case('["\ud800"]', "invalid_json", "", "line 1, column 3", "a lone surrogate", '["😀"]'),
    Case(r'["é\ud800"]', "invalid_json", "", "line 1, column 4", "a lone surrogate", r'"\ud7ff"'),
    Case(r'"\ude00\ud83d"', "invalid_json", "", "line 1, column 2", "a lone", r'"\ud83d\ude00"'),
    Case(r'{"\ud800":1}', "invalid_json", "", "line 1, column 3", "a lone surrogate", r'{"\\u":1}'),
    Case("[NaN]", "invalid_json", "", "line 1, column 2", "NaN and Infinity", '["NaN"]'),
    Case('{"a":-Infinity}', "invalid_json", "", "line 1, column 6", "NaN", '{"a":"-Infinity"}'),
    Case("[1,\n 2,\n]", "invalid_json", "", "line 2, column 3", "a trailing comma", "[1,\n 2\n]"),
    Case('{"a":1,}', "invalid_json", "", "line 1, column 7", "a trailing comma", '{"a":1}'),
    Case("[1,,2]", "invalid_json", "", "line 1, column 4", "a value is missing", "[1,2]"),
    Case('{"a":}', "invalid_json", "", "line 1, column 6", "a value is missing", '{"a":0}'),
    Case("{} {}", "invalid_json", "", "line 1, column 4", "text after the end", "{} "),
    Case("{}\0", "invalid_json", "", "line 1, column 3", "text after the end", "{}"),
    Case("1 // one", "invalid_json", "", "line 1, column 3", "text after the end", "1 "),
    Case(
        "[" + "[]," * 80 + "x]",
        "invalid_json",
        "",
        "line 1, column 242",
        "something that is not",
        "[]",
    ),
    Case("[/* none */]", "invalid_json", "", "line 1, column 2", "a comment", '["/* none */"]'),
    Case('"a\nb"', "invalid_json", "", "line 1, column 3", "a control character", r'"a\nb"'),
    Case('"\t"', "invalid_json", "", "line 1, column 2", "a control character", r'"\t"'),
    Case('"\x1f"', "invalid_json", "", "line 1, column 2", "a control character", '"\x7f"'),
    Case(r'"\x41"', "invalid_json", "", "line 1, column 2", "an unknown escape", r'"\u0041"'),
    Case(r'"\u 123"', "invalid_json", "", "line 1, column 2", "an unknown escape", r'"\u0123"'),
    Case('["a', "invalid_json", "", "line 1, column 4", "the text ends within", '["a"]'),
    Case("[1", "invalid_json", "", "line 1, column 3", "a missing ',' or ']'", "[1]"),
    Case('{"a":1', "invalid_json", "", "line 1, column 7", "a missing ',' or '}'", '{"a":1}'),
    Case('{"a"', "invalid_json", "", "line 1, column 5", "a missing ':'", '{"a":1}'),
    Case("{'a':1}", "invalid_json", "", "line 1, column 2", "a missing member name", '{"a":1}'),
    Case("{1:1}", "invalid_json", "", "line 1, column 2", "a missing member name", '{"1":1}'),
    Case("['a']", "invalid_json", "", "line 1, column 2", "a single quote", "[\"'a'\"]"),
    Case("[True]", "invalid_json", "", "line 1, column 2", "a Python word", "[true]"),
    Case("[nul]", "invalid_json", "", "line 1, column 2", "something that is not", "[null]"),
    Case("[nulll]", "invalid_json", "", "line 1, column 2", "something that is not", "[null]"),
    Case("01", "invalid_json", "", "line 1, column 1", "a malformed number", "10"),
    Case("[+1]", "invalid_json", "", "line 1, column 2", "a malformed number", "[1]"),
    Case("[1.]", "invalid_json", "", "line 1, column 2", "a malformed number", "[1.0]"),
    Case("[.5]", "invalid_json", "", "line 1, column 2", "a malformed number", "[0.5]"),
    Case("0x1", "invalid_json", "", "line 1, column 1", "a malformed number", "0"),
    Case("١", "invalid_json", "", "line 1, column 1", "something that is not", "1"),
    Case("\u00a01", "invalid_json", "", "line 1, column 1", "something that is not", " 1"),
    Case('{"a":1,"a":1}', "duplicate_key", "/a", "line 1, column 8", "a dup", '{"a":1,"A":1}'),
    Case('{"a":1,\n"\\u0061":2}', "duplicate_key", "/a", "line 2, column 1", "a dup", '{"a":1}'),
    Case('{"":0,"":0}', "duplicate_key", "/", "line 1, column 7", "a duplicate", '{"":0," ":0}'),
    Case(
        '[0,{"x/~":{"é":1,"b":[],"é":2}}]',
        *("duplicate_key", "/1/x~1~0/é", "line 1, column 25", "a duplicate member name"),
        '[0,{"x/~":{"é":1,"b":[],"e\u0301":2}}]',
    ),
    Case("[1e400]", "number_range", "/0", "line 1, column 2", "a number out", "[1e308]"),
    Case("-1e309", "number_range", "", "line 1, column 1", "a number out of range", "-1e-309"),
    Case(
        '{"a":9007199254740992.5}',
        "number_range",
        "/a",
        "line 1, column 6",
        "a number that a double would round to an integer",
        '{"a":4503599627370495.5}',
    ),
    Case("0." + "1" * 999, "number_range", "", "line 1, column 1", "a number", "0." + "1" * 998),
    Case("0e" + "0" * 999, "number_range", "", "line 1, column 1", "a number", "0e" + "0" * 998),
    Case(
        "[" * 65 + "]" * 65,
        "too_deep",
        "/0" * 64,
        "line 1, column 65",
        "nested",
        "[" * 64 + "]" * 64,
    ),
    Case("[" * 65, "too_deep", "/0" * 64, "line 1, column 65", "nested too deeply", "[]"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.text[:20]))
def test_every_fault_has_its_code_and_place(case: Case) -> None:
    """Code, error code, path, line and column, what is wrong and what to do: each as promised."""
    issue = fault(case.text)
    assert (issue.code, issue.error_code, issue.path) == (case.code, INVALID_JSON, case.path)
    assert issue.message.startswith(f"Invalid JSON in arguments: {case.what}")
    assert issue.message.endswith(f" at {case.place}")
    assert issue.hint
    parse(case.sound)


@pytest.mark.parametrize(
    "literal",
    [str(2**63), str(-(2**63)), str(2**64), "1" * 20, "-" + "1" * 400, "1" * 5_000, "9" * 100_000],
    ids=len,
)
def test_an_integer_beyond_the_range_is_a_constraint(literal: str) -> None:
    """It is good JSON that cannot be kept exactly: ACODE-TSR-005, never a rounded double."""
    issue = fault(f'{{"a":\n[0, {literal}]}}')
    assert (issue.code, issue.error_code) == ("number_range", CONSTRAINT_VIOLATION)
    assert (issue.path, issue.message[-16:]) == ("/a/1", "line 2, column 5")
    assert issue.message.startswith("Constraint violation: an integer out of range")


@pytest.mark.parametrize("exponent", ["9" * 20, "-" + "9" * 20, "-400", "-99999999999999999999999"])
def test_an_exponent_of_any_length_is_read(exponent: str) -> None:
    """Zero stays zero; what is not zero is refused, never rounded to it or to infinity."""
    assert parse(f"[0e{exponent},-0.00E{exponent}]") == [0, 0]
    assert fault(f"[1e{exponent}]").code == "number_range"
    assert fault(f"[0.01e{exponent}]").code == "number_range"


@pytest.mark.parametrize("literal", [LARGEST, -LARGEST, 2**53 + 1, -(2**53) - 1, 10**18])
def test_an_integer_in_the_range_is_exact(literal: int) -> None:
    """Beyond 53 bits too, compact or spaced."""
    assert parse(f'{{"a":{literal}}}') == parse(f' {{ "a" : {literal} }} ') == {"a": literal}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("1.0", "1.0"),
        ("1E2", "100.0"),
        ("0.10", "0.1"),
        ("9007199254740992.0", "9007199254740992.0"),
        (r'"\/\u0041"', "'/A'"),
    ],
)
def test_numbers_and_escapes_are_read_as_python_does(text: str, value: str) -> None:
    """A double is the nearest there is; how it or a string is spelt makes no difference."""
    assert repr(parse(text)) == value


def test_names_that_differ_only_in_composition_are_two() -> None:
    """NFC and NFD of one letter are different names: nothing is normalised."""
    assert len(parse('{"\u00e9":1,"e\u0301":2}')) == 2


@given(DOCUMENTS)
@example(r'{"hunter2":1,"hunter2":"hunter2')
@example(r'["hunter2\ud800"]')
def test_no_fault_quotes_the_text(text: str) -> None:
    """What the sender wrote is never in the words of a fault, whatever is wrong with it."""
    try:
        parse(text.replace('"', '"hunter2'))
        said = ""
    except ParseFault as refused:
        said = f"{refused.issue.message} {refused.issue.hint} {refused}"
    assert "hunter2" not in said


def test_a_path_has_a_bound() -> None:
    """Names that the sender chose cannot make a path of any length; it ends at a container."""
    long = "n" * 2_000
    assert fault(f'{{"a":{{"{long}":[1,1e400]}}}}').path == "/a"
    assert fault(f'{{"a":{{"{long[:900]}":[1,1e400]}}}}').path == f"/a/{long[:900]}/1"


# --- Limits


@pytest.mark.parametrize("text", ['"' + "x" * 98 + '"', '"' + "é" * 49 + '"'])
def test_size_is_counted_in_bytes_before_anything_else(text: str) -> None:
    """One byte too many is too large, be it text or bytes, sound or not."""
    data = text.encode()
    limits = ParseLimits(bytes=100)
    assert parse(text, limits) == parse(data, limits)
    for raw in (data + b" ", text + " ", b"\xff" * 101, b"[" * 101, "\ud800" * 101):
        issue = fault(raw, limits)
        assert (issue.code, issue.error_code) == ("too_large", INVALID_JSON)
        assert issue.message.startswith("Invalid JSON in arguments: more than the 100 bytes")


def nest(shape: str, leaf: Any) -> Any:
    """A list for every "[" and a dict for every other letter, around a leaf; the first inmost."""
    for kind in shape:
        leaf = [leaf] if kind == "[" else {"[{": leaf}
    return leaf


SHAPES = st.text("[{", max_size=210)
LEAVES: st.SearchStrategy[Any] = st.sampled_from(
    [None, [], {}, "[[[[", [1, {"a": [[]]}], ["[{"] * 80]
)


@settings(max_examples=300)
@given(SHAPES, LEAVES, st.integers(1, 200), st.booleans())
def test_depth_is_exact(shape: str, leaf: Any, depth: int, spaced: bool) -> None:
    """Whatever the mixture of arrays and objects, brackets in strings among them: up to the limit
    it is read, one level more is refused."""
    value = nest(shape, leaf)
    data = json.dumps(value).encode() if spaced else orjson.dumps(value)
    agree(data, ParseLimits(depth=depth))
    exact = max(1, min(200, depth_of(value)))
    agree(data, ParseLimits(depth=exact))
    agree(data, ParseLimits(depth=max(1, exact - 1)))


@settings(max_examples=300)
@given(st.text("[{", max_size=300), LEAVES, st.integers(1, 200))
@example("", None, 64)
@example("[" * 300, [], 64)
def test_the_serialiser_counts_each_level_once(shape: str, leaf: Any, depth: int) -> None:
    """What the depth rests on: this orjson counts lists and dicts alike, empty ones too."""
    value = nest(shape, leaf)
    if depth_of(value) > depth:
        with pytest.raises(TypeError):
            strict_json.print_within(value, depth, 0)
    else:
        assert strict_json.print_within(value, depth, 0) == orjson.dumps(value)


def test_depth_holds_in_many_threads() -> None:
    """Threads that read at the same time see only their own document."""
    wrong: list[int] = []

    def read_often(number: int) -> None:
        text = orjson.dumps([[number, index] for index in range(100)])
        for _ in range(300):
            wrong.extend(number for pair in parse(text) if pair[0] != number)

    threads = [threading.Thread(target=read_often, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_no_document_is_kept() -> None:
    """What measures the depth is taken by one call alone, put back, and lets go of the value."""
    strict_json.print_within([], 64, 0)
    idle = len(strict_json._IDLE)
    leaves: list[Any] = [1, [[]] * 3, "\ud800", nest("[" * 300, 1)]
    for leaf in leaves:
        with contextlib.suppress(TypeError):
            strict_json.print_within([leaf] * 200, 64, 0)
        assert [lists[-1] for lists in strict_json._IDLE] == [[None]] * idle


@pytest.mark.parametrize("limits", [{"bytes": 0}, {"depth": 0}, {"depth": 201}])
def test_limits_have_limits(limits: dict[str, int]) -> None:
    """A limit that cannot be kept is refused when it is made."""
    ParseLimits(bytes=1, depth=200)
    with pytest.raises(ValueError, match="between 1 and 200"):
        ParseLimits(**limits)


MANY = ",".join(f'"{number}":0' for number in range(900_000))

HEAVY: dict[str, tuple[str, str]] = {
    "a million digits": ("1" * 1_000_000, "number_range"),
    "a million decimals": ("0." + "1" * 1_000_000, "number_range"),
    "a million digits in the exponent": ("1e" + "1" * 1_000_000, "number_range"),
    "100,000 open brackets": ("[" * 100_000, "too_deep"),
    "100,000 open objects": ('{"a":' * 100_000, "too_deep"),
    "a string of 10 MiB": ('"' + "x" * (10 * MIB - 2) + '"', ""),
    "escapes of 10 MiB": ('"' + r"\n" * (5 * MIB - 1) + '"', ""),
    "surrogates of 10 MiB": ('["' + r"\ud83d\ude00" * 800_000 + r'\ud83d"]', "invalid_json"),
    "a string without its end": ('"' + "x" * (10 * MIB - 1), "invalid_json"),
    "quotes without number": ('"' * MIB, "invalid_json"),
    "backslashes without number": ('"' + "\\" * (MIB - 1), "invalid_json"),
    "spaces of 10 MiB": (" " * (10 * MIB), "invalid_json"),
    "lines of 10 MiB": ("\n" * (10 * MIB - 1) + "x", "invalid_json"),
    "many names": ("{" + MANY + "}", ""),
    "many names, one twice": ("{" + MANY + ',"7":0}', "duplicate_key"),
    "five million items, then a comma": ("[" + "1," * (5 * MIB - 2) + "]", "invalid_json"),
    "many objects, then one with a doubled name": (
        "[" + '{"a":0},' * MIB + '{"a":0,"a":0}]',
        "duplicate_key",
    ),
    "many items, then an integer": ("[" + "1," * (4 * MIB) + "9" * 20 + "]", "number_range"),
    "many arrays, then a deep one": ("[" + "[]," * (2 * MIB) + "[" * 99 + "]" * 100, "too_deep"),
}


@pytest.mark.parametrize(("text", "code"), HEAVY.values(), ids=HEAVY)
def test_time_is_bounded(text: str, code: str) -> None:
    """The largest documents, made to be slow, take linear time: 1 to 4 s where nothing else runs.
    What is not linear takes minutes, so the bound leaves room for a machine that is busy."""
    start = time.process_time()
    try:
        parse(text, ParseLimits(bytes=12 * MIB))
        found = ""
    except ParseFault as refused:
        found = refused.issue.code
    assert found == code
    assert time.process_time() - start < 20


def test_a_fault_in_a_very_large_text_keeps_its_code() -> None:
    """Beyond the bound for naming places, a fault is still named; its place is, if it is known."""
    padding = '"' + "x" * (2 * strict_json.MAX_PLACED) + '"'
    assert fault(f"[{padding},\n1e400]").message.endswith(": a number out of range")
    assert fault(f"[{padding},\n tru]").message.endswith("not well-formed at line 2, column 2")
    assert fault(rf'[{padding},"\ud800"]').message.endswith(": a lone surrogate")
    assert fault(f"[{padding},{'[' * 64 + ']' * 64}]").code == "too_deep"


# --- Python values


class Colour(enum.Enum):
    """An enumeration."""

    RED = "red"


class Number(enum.IntEnum):
    """An enumeration of integers."""

    ONE = 1


class Word(str):
    """A subclass of str."""

    __slots__ = ()


class Twice(dict[str, Any]):
    """A mapping that yields a name twice, as the multidicts of web frameworks do."""

    def items(self) -> Any:
        return [("a", 1), ("a", 2)]


def value_fault(value: object, limits: ParseLimits = DEFAULT_LIMITS) -> Issue:
    """The issue that a value is refused with."""
    with pytest.raises(ParseFault) as caught:
        check_value(value, limits)
    return caught.value.issue


def test_a_fault_may_be_of_something_else_than_arguments() -> None:
    """A file that is not JSON is told of as a file; the place and the repair stay."""
    with pytest.raises(ParseFault) as caught:
        parse('{"a": 1, "a": 2}')
    issue = caught.value.about("the file")
    assert issue.message.startswith("Invalid JSON in the file: a duplicate member name at line 1")
    assert (issue.path, issue.hint) == (caught.value.issue.path, caught.value.issue.hint)


@pytest.mark.parametrize(
    "literal",
    ["9007199254740992.5", "9007199254740993.0", "1.0000000000000000001", "1e-400", "-5E-760"],
)
def test_what_a_double_would_round_to_an_integer_is_refused(literal: str) -> None:
    """It would pass for an integer that nobody sent; what encoders write for doubles passes."""
    assert fault(literal).code == "number_range"
    assert parse("6.860837914335011e+16") == 6.860837914335011e16
    assert parse("1e16") == 1e16


@settings(max_examples=300)
@given(VALUES)
def test_a_json_value_is_copied_as_it_is(value: Any) -> None:
    """Whatever JSON can say passes, within the size of its own text, as an equal plain copy."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    copy = check_value(freeze(value), ParseLimits(bytes=len(text.encode())))
    assert repr(copy) == repr(value)


@settings(max_examples=300)
@given(DOCUMENTS)
def test_a_value_and_its_text_have_one_verdict(text: str) -> None:
    """What the standard library makes of a text is refused where the text is, for the same cause
    (save doubled names, which a dict cannot show)."""
    try:
        value = json.loads(text, object_pairs_hook=distinct, parse_float=unrounded)
    except (ValueError, Refused):
        return
    by_value = outcome(lambda: check_value(value), ParseFault)
    by_text = outcome(lambda: parse(text), ParseFault)
    assert by_value == by_text
    if by_text == "refused":
        assert value_fault(value).error_code == fault(text).error_code


def test_later_changes_do_not_reach_the_copy() -> None:
    """The copy shares nothing with the caller's value, or with itself."""
    shared = [1]
    value = {"a": shared, "b": {"c": shared}}
    copy = check_value(value)
    shared.append(2)
    value["b"]["c"] = "changed"  # type: ignore[index]
    assert copy == {"a": [1], "b": {"c": [1]}}
    copy["a"].append(3)
    assert copy["b"]["c"] == [1]


@pytest.mark.parametrize(
    "value",
    [OrderedDict(a=1), types.MappingProxyType({"a": 1}), freeze({"a": 1})],
    ids=lambda value: type(value).__name__,
)
def test_any_mapping_becomes_a_dict(value: Mapping[str, Any]) -> None:
    """Mappings of other kinds are read once and come out as plain dicts."""
    copy = check_value({"m": value, "t": (1, (2,))})
    assert copy == {"m": {"a": 1}, "t": [1, [2]]}
    assert [type(copy["m"]), type(copy["t"]), type(copy["t"][1])] == [dict, list, list]


@pytest.mark.parametrize(
    ("value", "code", "error_code"),
    [
        (b"x", "invalid_json", INVALID_JSON),
        (bytearray(b"x"), "invalid_json", INVALID_JSON),
        (date(2020, 1, 1), "invalid_json", INVALID_JSON),
        (Decimal(1), "invalid_json", INVALID_JSON),
        (Colour.RED, "invalid_json", INVALID_JSON),
        (Number.ONE, "invalid_json", INVALID_JSON),
        (Word("x"), "invalid_json", INVALID_JSON),
        ({1, 2}, "invalid_json", INVALID_JSON),
        (1j, "invalid_json", INVALID_JSON),
        (iter([1]), "invalid_json", INVALID_JSON),
        (time.gmtime(0), "invalid_json", INVALID_JSON),
        (object(), "invalid_json", INVALID_JSON),
        ("\ud800", "invalid_json", INVALID_JSON),
        (math.nan, "invalid_json", INVALID_JSON),
        (-math.inf, "invalid_json", INVALID_JSON),
        (2**63, "number_range", CONSTRAINT_VIOLATION),
        (-(2**63), "number_range", CONSTRAINT_VIOLATION),
        (10**5_000, "number_range", CONSTRAINT_VIOLATION),
        ({1: 2}, "invalid_json", INVALID_JSON),
        ({None: 2}, "invalid_json", INVALID_JSON),
        ({Word("x"): 2}, "invalid_json", INVALID_JSON),
        (nest("[{" * 32, None), "too_deep", INVALID_JSON),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_say_is_refused(value: object, code: str, error_code: str) -> None:
    """At its place, by the code that its text would have; the value itself is not quoted."""
    issue = value_fault({"a": ["ok", value]})
    assert (issue.code, issue.error_code, issue.path[:4]) == (code, error_code, "/a/1")
    assert issue.message.startswith(("Invalid JSON in arguments: ", "Constraint violation: "))
    assert issue.hint


def test_faults_of_names_are_at_their_object() -> None:
    """A name that is no string has no path of its own; a doubled or broken one is where it is."""
    assert value_fault({"a": {1: 2}}).path == "/a"
    assert value_fault({"a": {"\ud800": 2}}).path == "/a"
    assert (value_fault({"m": Twice()}).path, value_fault(Twice()).code) == (
        "/m/a",
        "duplicate_key",
    )


def test_a_value_that_holds_itself_ends_at_the_depth() -> None:
    """A cycle is refused, not followed."""
    cycle: list[Any] = []
    cycle.append(cycle)
    assert value_fault(cycle).code == value_fault({"a": cycle}).code == "too_deep"


def test_a_value_that_doubles_itself_ends_at_the_size() -> None:
    """Sixty lists that each hold the one before twice mean 2^60 items; they are never made."""
    value: list[Any] = []
    for _ in range(60):
        value = [value, value]
    start = time.process_time()
    assert value_fault(value, ParseLimits(bytes=MIB)).code == "too_large"
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "value", ["x" * 101, "é" * 51, ["x" * 60, "x" * 60], [1] * 60, {"x" * 101: 1}]
)
def test_a_value_has_the_size_of_its_text(value: object) -> None:
    """What would not fit as text does not fit as a value."""
    assert value_fault(value, ParseLimits(bytes=100)).code == "too_large"
    check_value(value, ParseLimits(bytes=200))
