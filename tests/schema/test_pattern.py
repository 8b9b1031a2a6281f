"""Patterns mean what ECMA-262 says, or are refused with a reason and a way out."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpora import corpus, records
from toolstile.schema.pattern.syntax import BINARY_PROPERTIES, CATEGORIES
from toolstile.schema.pattern.translation import ENGINE_OPTIONS, PatternRefused, translate

HERE = Path(__file__).parent
RECORDER = HERE / "record_ecma_patterns.py"
RECORDED = HERE / "data" / "ecma_patterns.jsonl"
ASCII = [chr(point) for point in range(0x80)]
BEYOND = [chr(point) for point in range(0x80, 0x10000) if not 0xD800 <= point <= 0xDFFF]
# https://tc39.es/ecma262/#sec-white-space and #sec-line-terminators
ECMA_SPACE = set("\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff") | {
    chr(point) for point in range(0x2000, 0x200B)
}
ECMA_WORD = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def validator(pattern: str) -> jsonschema_rs.Validator:
    """The engine with the translated pattern."""
    schema = {"pattern": translate(pattern)}
    return jsonschema_rs.Draft202012Validator(schema, offline=True, pattern_options=ENGINE_OPTIONS)


def matched(pattern: str, characters: Iterable[str]) -> set[str]:
    """The characters of which the pattern matches each by itself."""
    engine = validator(f"^(?:{pattern})$")
    return {character for character in characters if engine.is_valid(character)}


# What node accepts and we may refuse: it is slow in any engine, or two readings of it exist.
MAY_BE_REFUSED = (
    "in linear time",  # lookaround, backreferences
    "take too long",
    "surrogate",
    "larger than",
    "matches the empty string",  # \B
    "different Unicode properties",
    "private or unassigned",
)
# Where only Annex B knows a meaning: mostly that of a typing error, or of another dialect.
MAY_BE_REFUSED_WITHOUT_U = (*MAY_BE_REFUSED, "means nothing", "octal", "lower bound")


def disagreements(rows: Iterable[dict[str, Any]]) -> tuple[list[str], Counter[str]]:
    """Where we differ from the ECMA engine that made the rows; and how many of each kind."""
    found, counted = [], Counter[str]()
    for row in rows:
        pattern, flags = row["pattern"], row.get("flags")
        try:
            engine = validator(pattern)
        except PatternRefused as refused:
            counted["refused"] += 1
            known = MAY_BE_REFUSED if flags else MAY_BE_REFUSED_WITHOUT_U
            if flags is not None and not any(words in refused.reason for words in known):
                found.append(f"{pattern!a} is refused: {refused}")
            continue
        if flags is None:
            found.append(f"{pattern!a} is no pattern, yet accepted")
        for key, expected in (("matches", True), ("misses", False)):
            counted[key] += len(row.get(key, ()))
            wrong = [text for text in row.get(key, ()) if engine.is_valid(text) != expected]
            found += [f"{pattern!a} {key} {text!a}" for text in wrong]
    return found, counted


def test_recorded_patterns_match_as_in_a_real_ecma_engine() -> None:
    """Thousands of generated patterns and strings, recorded from node, get the same verdicts."""
    found, counted = disagreements(records(RECORDED))
    assert not found
    assert min(counted["matches"], counted["misses"]) > 4000
    assert counted["refused"] < 700


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_fresh_patterns_match_as_in_a_real_ecma_engine() -> None:
    """A sample of patterns that nobody has seen before gets the same verdicts from node."""
    seed = random.randrange(2**32)
    command = [sys.executable, str(RECORDER), str(seed), "400"]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=100)
    found, counted = disagreements(json.loads(line) for line in run.stdout.strip().split("\n"))
    assert not found, f"seed {seed}"
    assert min(counted["matches"], counted["misses"]) > 500


SUITE = ["pattern", "patternProperties", "optional/ecmascript-regex"]


@pytest.mark.parametrize("name", SUITE)
def test_the_json_schema_test_suite_agrees(name: str) -> None:
    """Every case that the official suite has of patterns comes out as it says there."""
    path = corpus("json-schema-test-suite", "tests", "draft2020-12", f"{name}.json")
    for group in json.loads(path.read_text(encoding="utf-8")):
        engine = jsonschema_rs.Draft202012Validator(
            translated(group["schema"]), offline=True, pattern_options=ENGINE_OPTIONS
        )
        for case in group["tests"]:
            assert engine.is_valid(case["data"]) == case["valid"], (group["description"], case)


def translated(schema: Any) -> Any:
    """A schema with its patterns translated wherever they stand."""
    if not isinstance(schema, dict):
        return [translated(item) for item in schema] if isinstance(schema, list) else schema
    members = {name: translated(value) for name, value in schema.items()}
    if isinstance(schema.get("pattern"), str):
        members["pattern"] = translate(schema["pattern"])
    if "patternProperties" in members:
        named = members["patternProperties"].items()
        members["patternProperties"] = {translate(name): value for name, value in named}
    return members


# Pattern, a string that it matches, and one that it does not.
MEANINGS = [
    (r"^.$", "\x85", "\u2028"),
    (r"^.$", "\U0001f600", "\r"),
    (r"a$", "a", "a\n"),
    (r"^\d$", "5", "\u0665"),
    (r"^\w$", "K", "\u212a"),
    (r"^\s$", "\ufeff", "\x85"),
    (r"\bé", "aé", "é"),
    (r"^\Béa", "éa", "aéa"),
    (r"^[^]$", "\n", ""),
    (r"a|[]", "a", "]"),
    (r"^[a&&b]$", "&", "c"),
    (r"^[+--]$", ",", "."),
    (r"^[a~~b]$", "~", "c"),
    (r"^[[a]$", "[", "b"),
    (r"^[[:alpha:]]$", "p]", "p"),
    (r"^[^\d\D]|x$", "x", "\ud7ff"),
    (r"^[\w-.]$", "-", ","),
    (r"^[\b]$", "\b", "b"),
    (r"^\cJ\cj$", "\n\n", "JJ"),
    (r"^\u{1F600}\uD83D\uDE00\x41\0$", "\U0001f600\U0001f600A\0", "A"),
    (r"^\-\_\@\"\'\:\ \/\#$", "-_@\"': /#", "\\-"),
    (r"^\${[a-z]+}$", "${ab}", "$ab"),
    (r"^a{,b}$", "a{,b}", "a"),
    (r"^\p{Lu}\P{Lu}$", "Éé", "éÉ"),
    (r"^\p{Script=Greek}+$", "αω", "ab"),
    (r"^(?<year>\d{4})-(?:0|1)\d$", "2026-11", "2026-21"),
    (r"^(get|put|a\.b)$", "a.b", "acb"),
    (r"^a*?b+?c??d{1,2}?$", "abd", "abdddd"),
    (r"(?:^)*a(?:$)*b", "ab", "a"),
    ("é\\.", "é.", "e."),
    (r"^[\ud83d\ude00-\u{1F602}]$", "\U0001f601", "\U0001f603"),
    (r"^[\0-\uFFFF]$", "\ue000", "\U00010000"),
    (r"^[^\p{L}\ud7ff\ue000]$", "1", "\ue000"),
]


@pytest.mark.parametrize(("pattern", "match", "miss"), MEANINGS)
def test_corners_mean_what_ecma_262_says(pattern: str, match: str, miss: str) -> None:
    """Where Rust's dialect, Python's or a careless translation would differ, ours does not."""
    engine = validator(pattern)
    assert engine.is_valid(match)
    assert not engine.is_valid(miss)


# Pattern, where and why it is refused, and a neighbour that is accepted.
REFUSALS = [
    ("a(?=b)", 1, "lookahead", "a(?:b)"),
    ("^(?!x)", 1, "negative lookahead", "^(?:x)"),
    ("(?<=a)b", 0, "lookbehind", "(?<a>b)"),
    ("x(?<!a)b", 1, "negative lookbehind", "x(?<a>b)"),
    (r"(a)b\1", 4, "backreference", r"(a)b\0"),
    (r"(?<n>a)\k<n>", 7, "backreference", "(?<n>a)k<n>"),
    ("(?P<n>a)", 0, "Python's named groups", "(?<n>a)"),
    ("(?<n>a)(?<n>b)", 7, "two groups of one name", "(?<n>a)(?<m>b)"),
    ("(?<é>a)", 0, "plain ASCII word", "(?<e>a)"),
    ("(?i)a", 0, "no group", "[iI]a"),
    ("(?#note)a", 0, "comments", r"(\#note)a"),
    ("(?>a)", 0, "atomic", "(>a)"),
    (r"\Afoo\Z", 0, r"\A means nothing", "^foo$"),
    (r"foo\z", 3, r"\z means nothing", "fooz$"),
    (r"[\d\h]", 3, r"\h means nothing", r"[\d\t]"),
    (r"\Q.\E", 0, r"\Q means nothing", r"\.E"),
    (r"a\e", 1, r"\e means nothing", r"a\x1b"),
    (r"\x{41}", 0, r"\x means nothing", r"\x41"),
    (r"\u12", 0, r"\u means nothing", r"\u0012"),
    (r"\c1", 0, r"\c means nothing", r"\cA"),
    (r"[\B]", 1, r"\B means nothing", r"[\b]"),
    (r"\01", 0, "octal", r"\0"),
    (r"a\u{110000}", 1, "beyond U+10FFFF", r"a\u{10FFFF}"),
    (r"\ud83d", 0, "half of a surrogate pair", r"\ud83d\ude00"),
    (r"[a\udc00]", 2, "half of a surrogate pair", r"[a\ue000]"),
    ("x\ud800", 1, "half of a surrogate pair", "x\ue000"),
    ("a\\", 1, "lone backslash", "a\\\\"),
    ("ab(c", 2, "a ( without", r"ab\(c"),
    ("ab)c", 2, "a ) without", r"ab\)c"),
    ("ab[c", 2, "a [ without", r"ab\[c"),
    ("ab[c-", 2, "a [ without", "ab[c-]"),
    ("a**", 2, "nothing to repeat", "a*"),
    ("a++", 2, "nothing to repeat", "a+?"),
    ("a|?", 2, "nothing to repeat", r"a|\?"),
    ("{1}", 0, "nothing to repeat", "{1]"),
    ("a{2}{3}", 4, "nothing to repeat", "(?:a{2}){3}"),
    ("^*a", 1, "anchor cannot be repeated", "(^)*a"),
    (r"a\b+", 3, "anchor cannot be repeated", r"a\b"),
    ("a{3,2}", 1, "out of order", "a{2,3}"),
    ("a{,5}", 1, "without its lower bound", "a{0,5}"),
    ("x[z-a]", 2, "out of order", "x[a-z]"),
    (r"\p{greek}", 0, "unknown Unicode property", r"\p{Script=Greek}"),
    (r"\p{Greek}", 0, "unknown Unicode property", r"\p{sc=Grek}"),
    (r"\p{lu}", 0, "unknown Unicode property", r"\p{Lu}"),
    (r"\p{Script=Klingon}", 0, "unknown script", r"\p{Script=Han}"),
    (r"\p{Block=Greek}", 0, "unknown Unicode property", r"\p{scx=Greek}"),
    (r"\pL", 0, r"\p means nothing", r"\p{L}"),
    (r"\p{^L}", 0, r"\p means nothing", r"\P{L}"),
    (r"a[^\p{Co}x]", 1, "private or unassigned", r"a[^\p{C}x]"),
    (r"a*\B", 0, "matches the empty string", r"a+\B"),
    ("a" * 4097, 4096, "longer than 4096", "^" + "a" * 4095),
    ("(" * 65 + "a" + ")" * 65, 64, "deeper than 64", "(" * 64 + "a" + ")" * 64),
    ("a{4097}", 1, "more than 4096 times", "^a{4096}"),
    ("^a{0," + "9" * 4000 + "}", 2, "more than 4096 times", "^a{0,99}"),
]


@pytest.mark.parametrize(("pattern", "position", "reason", "neighbour"), REFUSALS)
def test_a_refusal_says_what_where_and_what_to_do(
    pattern: str, position: int, reason: str, neighbour: str
) -> None:
    """Each kind of refusal names its place and reason and has a hint; what is near it is taken."""
    with pytest.raises(PatternRefused) as caught:
        translate(pattern)
    assert caught.value.position == position
    assert translate(neighbour)
    assert reason in caught.value.reason
    assert caught.value.hint
    assert str(caught.value).startswith(caught.value.reason)


PROPERTIES = [*sorted(BINARY_PROPERTIES), *sorted(CATEGORIES), "Script=Latin", "scx=Deva", "gc=L"]


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_unicode_property_can_be_used(name: str) -> None:
    """Each property that the parser lets through is one that the engine knows, in either sense."""
    inside = matched(rf"\p{{{name}}}", ASCII)
    assert matched(rf"\P{{{name}}}", ASCII) == set(ASCII) - inside
    assert matched(rf"[^\p{{{name}}}]", ASCII) == set(ASCII) - inside


def test_class_escapes_hold_exactly_the_characters_of_ecma_262() -> None:
    r"""Each of \d, \w, \s, `.` and their opposites agrees with the specification throughout."""
    for letter, expected in (("d", set("0123456789")), ("w", ECMA_WORD), ("s", ECMA_SPACE)):
        every = [*ASCII, *BEYOND]
        assert matched(rf"\{letter}", every) == expected
        assert matched(rf"\{letter.upper()}", every) == set(every) - expected
        assert matched(rf"[^\{letter}]", every) == set(every) - expected
    assert matched(".", [*ASCII, *BEYOND]) == {*ASCII, *BEYOND} - set("\n\r\u2028\u2029")


def test_every_ascii_character_can_be_said() -> None:
    """Escaped by number, alone, in a class and in a negated class, each matches itself only."""
    for character in ASCII:
        escape = rf"\x{ord(character):02x}"
        assert matched(escape, ASCII) == {character}
        assert matched(f"[{escape}{escape}]", ASCII) == {character}
        assert matched(f"[^{escape}]", ASCII) == set(ASCII) - {character}


points = st.integers(0, 0x10FFFF).filter(lambda point: not 0xD800 <= point <= 0xDFFF)
EDGES = [0, 0x2D, 0x5C, 0x5D, 0x5E, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000]
near_edges = st.sampled_from([*EDGES, 0x10FFFF]) | st.integers(0, 0x7F)
ranges = st.lists(st.tuples(points | near_edges, points | near_edges).map(sorted), max_size=4)


@given(ranges, st.booleans())
@example([[0, 0xD7FF], [0xE000, 0x10FFFF]], True)
@example([[0xD7FF, 0xD7FF], [0xE000, 0xE000]], True)
def test_a_class_holds_what_is_in_its_ranges(ranges: list[list[int]], negated: bool) -> None:
    """Any ranges, in any order and overlap, plain or negated, hold just their characters."""
    body = "".join(rf"\u{{{low:x}}}-\u{{{high:x}}}" for low, high in ranges)
    candidates = {
        point + step for pair in [*ranges, EDGES] for point in pair for step in (-1, 0, 1)
    }
    known = [p for p in candidates if 0 <= p <= 0x10FFFF and not 0xD800 <= p <= 0xDFFF]
    inside = {chr(p) for p in known if any(low <= p <= high for low, high in ranges) != negated}
    assert matched(f"[{'^' * negated}{body}]", map(chr, known)) == inside


FRAGMENTS = r"\b \B \d \W [a-z] [^ (?: (?<n> {1,9} {2, \u{ \x \p{ L} \ud83d \ude00".split()
fragments = st.sampled_from([*FRAGMENTS, *"()[]{}|^$*+?.\\-,:=!<>&~#/ aA0_\né\U0001f600\ud800"])


def outcome(pattern: str) -> jsonschema_rs.Validator | PatternRefused:
    """The engine with the pattern, or the refusal."""
    try:
        return validator(pattern)
    except PatternRefused as refused:
        return refused


@given(st.lists(fragments, max_size=14).map("".join) | st.text(max_size=20))
def test_any_text_is_translated_or_refused(pattern: str) -> None:
    """No text whatever gets anything else than a working translation or a proper refusal."""
    result = outcome(pattern)
    if isinstance(result, PatternRefused):
        assert 0 <= result.position <= len(pattern)
        assert result.reason
        assert result.hint
    else:
        result.is_valid("a\n\U0001f600")


def test_words_to_choose_from_need_no_regular_expression() -> None:
    """A plain choice keeps the form that the engine compares instead of compiling."""
    assert translate("^(?:get|put)$") == translate("^(get|put)$") == "^(get|put)$"


def test_a_translation_is_itself_free_of_the_engine_s_dialect() -> None:
    """No class escape, flag or set operation is left to the engine's reading of it."""
    assert translate(r"^[[\w&&\d-]\s?\b.+$") == (
        r"^[\&\-0-9A-\[_a-z][\x{9}-\x{D} \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}-\x{2029}\x{202F}"
        r"\x{205F}\x{3000}\x{FEFF}]?(?-u:\b)[^\x{A}\x{D}\x{2028}-\x{2029}]+$"
    )
