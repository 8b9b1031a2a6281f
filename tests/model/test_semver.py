"""Semantic versions, ranges and references: the published tables first, then laws."""

from __future__ import annotations

import re
from functools import cmp_to_key

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolstile.model.semver import (
    Range,
    SemverError,
    Version,
    parse,
    parse_range,
    parse_reference,
)

# The two lists that belong to the regular expression of semver.org; valid ones that are longer than
# our 32 characters are apart.
VALID = """
0.0.4 1.2.3 10.20.30 1.1.2-prerelease+meta 1.1.2+meta 1.1.2+meta-valid 1.0.0-alpha 1.0.0-beta
1.0.0-alpha.beta 1.0.0-alpha.beta.1 1.0.0-alpha.1 1.0.0-alpha0.valid 1.0.0-alpha.0valid
1.0.0-rc.1+build.1 2.0.0-rc.1+build.123 1.2.3-beta 10.2.3-DEV-SNAPSHOT 1.2.3-SNAPSHOT-123 1.0.0
2.0.0 1.1.7 2.0.0+build.1848 2.0.1-alpha.1227 1.0.0-alpha+beta 1.2.3----RC-SNAPSHOT.12.9.1--.12
1.2.3----R-S.12.9.1--.12+meta 1.0.0-0A.is.legal
"""
TOO_LONG = """
1.0.0-alpha-a.b-c-somethinglong+build.1-aef.1-its-okay 1.2.3----RC-SNAPSHOT.12.9.1--.12+788
1.0.0+0.build.1-rc.10000aaa-kk-0.1
99999999999999999999999.999999999999999999.99999999999999999
"""
INVALID = """
1 1.2 1.2.3-0123 1.2.3-0123.0123 1.1.2+.123 +invalid -invalid -invalid+invalid -invalid.01 alpha
alpha.beta alpha.beta.1 alpha.1 alpha+beta alpha_beta alpha. alpha.. beta 1.0.0-alpha_beta -alpha.
1.0.0-alpha.. 1.0.0-alpha..1 1.0.0-alpha...1 1.0.0-alpha....1 1.0.0-alpha.....1
1.0.0-alpha......1 1.0.0-alpha.......1 01.1.1 1.01.1 1.1.01 1.2.3.DEV 1.2-SNAPSHOT
1.2.31.2.3----RC-SNAPSHOT.12.09.1--..12+788 1.2-RC-SNAPSHOT -1.0.3-gamma+b7718 +justmeta
9.8.7+meta+meta 9.8.7-whatever+meta+meta
99999999999999999999999.999999999999999999.99999999999999999----RC-SNAPSHOT.12.09.1-------------..12
"""
CHAIN = """
1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0
2.0.0 2.1.0 2.1.1
"""  # SemVer 11.2 and 11.4
HOSTILE = [
    "",
    "1.0.0\n",
    "\n1.0.0",
    " 1.0.0",
    "1.0.0 ",
    "v1.0.0",
    "=1.0.0",
    "1.0.0\x00",
    "1.0.0-",
    "1.0.0+",
    "1.0.0-+b",
    "-1.0.0",
    "1.-1.0",
    "1.0.0-ä",
    "1.0.\u0661",  # Arabic-Indic one: \d and int() would take it
    "\uff11.0.0",  # full-width one
    "1.0.0-1\u0660",
    "1_0.0.0",  # int() would take it
    "1e1.0.0",
    "1.0.0-\ud800",
]

numbers = st.integers(min_value=0, max_value=4)
words = st.from_regex(r"[0-9]{0,2}[A-Za-z-][0-9A-Za-z-]{0,2}", fullmatch=True)
identifiers = st.one_of(numbers.map(str), words)
versions = st.builds(
    Version,
    major=numbers,
    minor=numbers,
    patch=numbers,
    prerelease=st.lists(identifiers, max_size=3).map(tuple),
    build=st.lists(st.from_regex(r"[0-9A-Za-z-]{1,3}", fullmatch=True), max_size=2).map(tuple),
)


@pytest.mark.parametrize("text", VALID.split())
def test_reads_every_valid_version_of_semver_org_and_spells_it_back(text: str) -> None:
    """A version survives the way in and out without a changed character."""
    assert str(parse(text)) == text


@pytest.mark.parametrize("text", [*INVALID.split(), *HOSTILE])
def test_refuses_every_invalid_version(text: str) -> None:
    """What is no SemVer 2.0.0 is refused in words of our own: none is quoted from the text."""
    with pytest.raises(SemverError) as refusal:
        parse(text)
    assert refusal.value.hint
    assert refusal.value.message in {
        "this is not a semantic version",
        "a version has at most 32 characters",
    }


@pytest.mark.parametrize("text", TOO_LONG.split())
def test_refuses_a_version_of_more_than_32_characters(text: str) -> None:
    """Valid by the grammar, refused by the bound."""
    with pytest.raises(SemverError, match="32 characters"):
        parse(text)


@pytest.mark.parametrize("text", ["bad", "1.2.3.4", "^1.02.0", ">=a", "1.0.0-", "~x.y"])
def test_what_is_no_range_is_told_what_a_range_is(text: str) -> None:
    """Whoever writes a range is not told to write a version."""
    with pytest.raises(SemverError, match="not a version range") as refusal:
        parse_range(text)
    assert "^1.2" in refusal.value.hint
    assert parse_range("^1.2.0").allows(parse("1.2.0"))


def test_takes_exactly_32_characters() -> None:
    """The bound itself is allowed, one more is not."""
    text = "1.0.0-" + "a" * 26
    assert str(parse(text)) == text
    with pytest.raises(SemverError, match="32 characters"):
        parse(text + "a")


@given(versions)
def test_spelling_and_reading_are_inverse(version: Version) -> None:
    """parse(str(v)) is v."""
    assert parse(str(version)) == version


@given(st.text(alphabet="0123456789.-+aZ*^~<>=,v \n\u0661", max_size=12))
def test_accepts_nothing_it_would_spell_otherwise(text: str) -> None:
    """Whatever is accepted, as version or range, is already in its one spelling."""
    for read in (parse, parse_range):
        try:
            assert str(read(text)) == text
        except SemverError:
            continue


# --- precedence -------------------------------------------------------------------------------


def compare(left: Version, right: Version) -> int:
    """SemVer 11, transcribed sentence by sentence and independent of the code under test."""
    if left.core != right.core:
        return -1 if left.core < right.core else 1
    if not left.prerelease or not right.prerelease:
        return (not left.prerelease) - (not right.prerelease)
    for mine, theirs in zip(left.prerelease, right.prerelease, strict=False):
        if mine == theirs:
            continue
        digits = (re.fullmatch("[0-9]+", mine), re.fullmatch("[0-9]+", theirs))
        if all(digits):
            return -1 if int(mine) < int(theirs) else 1
        if any(digits):
            return -1 if digits[0] else 1
        return -1 if mine.encode() < theirs.encode() else 1
    return (len(left.prerelease) > len(right.prerelease)) - (
        len(left.prerelease) < len(right.prerelease)
    )


def test_orders_the_example_of_the_specification() -> None:
    """The chains of SemVer 11.2 and 11.4 come out as printed there."""
    chain = list(map(parse, CHAIN.split()))
    assert sorted(chain, key=str) != chain
    assert sorted(sorted(chain, key=str)) == chain


@given(versions, versions)
def test_order_is_the_specifications(left: Version, right: Version) -> None:
    """Each operator says what the transcription of SemVer 11 says."""
    order = compare(left, right)
    assert (left < right) == (order < 0)
    assert (left <= right) == (order <= 0)
    assert (left > right) == (order > 0)
    assert (left >= right) == (order >= 0)


@given(st.lists(versions, min_size=3, max_size=6))
def test_order_is_total(some: list[Version]) -> None:
    """Sorting by precedence leaves no pair out of order, near or far (transitivity)."""
    ordered = sorted(some)
    assert all(
        not ordered[later] < ordered[earlier]
        for earlier in range(len(ordered))
        for later in range(earlier, len(ordered))
    )
    assert [v.precedence for v in ordered] == [
        v.precedence for v in sorted(some, key=cmp_to_key(compare))
    ]


def test_build_metadata_tells_versions_apart_but_has_no_rank() -> None:
    """1.0.0+a and 1.0.0+b are different and neither is lower."""
    left, right = parse("1.0.0+a"), parse("1.0.0+b")
    assert left != right
    assert not left < right
    assert not left > right
    assert left.precedence == right.precedence


# --- ranges -----------------------------------------------------------------------------------

ALLOWS = [  # range, versions that belong to it, versions that do not
    ("^1.2.3", "1.2.3 1.2.4 1.9.0", "1.2.2 2.0.0 0.9.9 1.2.3-rc 1.3.0-rc 2.0.0-0"),
    ("^1.2", "1.2.0 1.9.9", "1.1.9 2.0.0 1.2.0-rc"),
    ("^1", "1.0.0 1.9.9", "0.9.9 2.0.0"),
    ("^0.2.3", "0.2.3 0.2.9", "0.2.2 0.3.0 1.0.0"),
    ("^0.0.3", "0.0.3", "0.0.2 0.0.4 0.1.0"),
    ("^0.0.0", "0.0.0", "0.0.1"),
    ("^0.0", "0.0.0 0.0.9", "0.1.0"),
    ("^0.1", "0.1.0 0.1.9", "0.0.9 0.2.0 1.0.0"),
    ("^0", "0.0.0 0.9.9", "1.0.0 1.0.0-0"),
    ("^1.2.3-beta.2", "1.2.3-beta.2 1.2.3-rc 1.2.3 1.9.0", "1.2.3-beta.1 1.2.4-beta.2 2.0.0-rc"),
    ("^0.0.3-beta", "0.0.3-beta 0.0.3", "0.0.3-alpha 0.0.4"),
    ("~1.2.3", "1.2.3 1.2.9", "1.2.2 1.3.0 1.3.0-0"),
    ("~1.2", "1.2.0 1.2.9", "1.1.9 1.3.0"),
    ("~1", "1.0.0 1.9.9", "2.0.0 0.9.9"),
    ("~0.2.3", "0.2.3 0.2.9", "0.3.0"),
    ("~0", "0.0.0 0.9.9", "1.0.0"),
    ("~1.2.3-beta.2", "1.2.3-beta.4 1.2.3", "1.2.4-beta.2 1.3.0"),
    (">=1,<2", "1.0.0 1.9.9", "0.9.9 2.0.0 2.0.0-alpha 1.5.0-rc"),
    (">=1.0.0-rc.1,<2", "1.0.0-rc.1 1.0.0 1.5.0", "1.0.0-alpha 1.5.0-rc 2.0.0-rc"),
    (">=2.0.0-alpha,<2.0.0", "2.0.0-alpha 2.0.0-rc", "2.0.0 1.9.9"),
    (">=2.0.0-alpha,<2", "", "2.0.0-alpha 2.0.0 1.9.9"),
    (">1", "2.0.0 3.1.0", "1.0.0 1.9.9 2.0.0-rc"),
    (">1.2", "1.3.0", "1.2.9 1.2.0"),
    (">1.2.3", "1.2.4", "1.2.3 1.2.4-rc"),
    ("<=1", "1.9.9 0.0.0", "2.0.0 2.0.0-0"),
    ("<=1.2", "1.2.9", "1.3.0"),
    ("<=1.2.3", "1.2.3", "1.2.4 1.2.3-rc"),
    ("<1", "0.9.9", "1.0.0 1.0.0-0"),
    ("<1.2.3-rc", "1.2.2 1.2.3-alpha", "1.2.3 1.2.3-rc"),
    ("<0", "", "0.0.0 0.0.0-0"),
    ("1.2.3", "1.2.3 1.2.3+x", "1.2.4 1.2.3-rc"),
    ("=1.2.3", "1.2.3 1.2.3+x", "1.2.2"),
    ("=1.2.3+x", "1.2.3+x", "1.2.3 1.2.3+y"),
    ("1.2.3-rc.1", "1.2.3-rc.1", "1.2.3 1.2.3-rc.2"),
    ("1.2", "1.2.0 1.2.9", "1.3.0 1.2.0-rc"),
    ("1.*", "1.0.0 1.9.9", "2.0.0"),
    ("1.2.*", "1.2.0", "1.3.0"),
    ("=1", "1.9.0", "2.0.0"),
    ("*", "0.0.0 9.9.9 1.0.0+x", "1.0.0-rc"),
    ("latest", "0.0.0 9.9.9", "1.0.0-rc"),
    ("^1,^2", "", "1.0.0 2.0.0"),
]


@pytest.mark.parametrize(("text", "inside", "outside"), ALLOWS)
def test_range_holds_what_its_table_says(text: str, inside: str, outside: str) -> None:
    """Caret, tilde, bounds, exact, partial and prerelease rules, one line each."""
    wanted = parse_range(text)
    assert [v for v in inside.split() if not wanted.allows(parse(v))] == []
    assert [v for v in outside.split() if wanted.allows(parse(v))] == []
    assert str(wanted) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", ",", ">=1,", ",<2", ">=1,,<2", ">= 1", ">=1, <2", ">=1 <2", "1 - 2", "1||2"),
        *("^", "~", ">", "=", "v1", "^v1", "x", "1.x", "1.2.x", "01", "1.02", "^1.2.3.4", "1."),
        *("!=1", "==1", "~>1", "=>1", "<>1", "^^1", "^*", ">=*", "<1.*", "*.*", "1.*.3", "*,*"),
        *("latest,<2", "Latest", "LATEST", "^1.2-rc", ">=1.0.0+x", "^1.0.0+x", "~1.0.0+x"),
        *("^1\n", "latest\n", "*\n", "\u0661", "^\uff11", "^1\x00", "\ud800"),
    ],
)
def test_refuses_what_is_no_range(text: str) -> None:
    """Foreign syntaxes, spaces and near misses are refused with a hint, never guessed at."""
    with pytest.raises(SemverError) as refusal:
        parse_range(text)
    assert refusal.value.hint


def test_bounds_the_length_and_the_number_of_comparators() -> None:
    """A range cannot be used to make the reader work: 8 comparators, 256 characters."""
    assert parse_range(",".join(["<9"] * 8)).allows(parse("1.0.0"))
    for text in (",".join(["<9"] * 9), "," * 300, "<" + "9" * 40, "^1." + "9" * 40, "9" * 10_000):
        with pytest.raises(SemverError):
            parse_range(text)


def test_counts_past_the_longest_number() -> None:
    """The end of a range may need one digit more than a version may have."""
    wanted = parse_range("^" + "9" * 28 + ".0.0")
    assert wanted.allows(parse("9" * 28 + ".9.9"))
    assert not wanted.allows(parse("1.0.0"))


operators = st.sampled_from(["", "=", "^", "~", ">", ">=", "<", "<="])
parts = st.lists(numbers, min_size=1, max_size=3).map(tuple)
written = st.tuples(operators, parts, st.lists(identifiers, max_size=2).map(tuple)).map(
    lambda it: (it[0], it[1], it[2] if len(it[1]) == 3 else ())
)
Written = tuple[str, tuple[int, ...], tuple[str, ...]]


def spell(one: Written) -> str:
    """Write a comparator as a person would."""
    operator, numbers_, prerelease = one
    text = operator + ".".join(map(str, numbers_))
    return f"{text}-{'.'.join(prerelease)}" if prerelease else text


def version_of(numbers_: tuple[int, ...], prerelease: tuple[str, ...] = ()) -> Version:
    """Fill the numbers up with zeros."""
    major, minor, patch = (*numbers_, 0, 0)[:3]
    return Version(major=major, minor=minor, patch=patch, prerelease=prerelease)


def holds(one: Written, version: Version) -> bool:
    """Say of one comparator what npm's documentation says: by components, not by bounds."""
    operator, given_, prerelease = one
    begins = version.core[: len(given_)]
    at_least = compare(version, version_of(given_, prerelease)) >= 0
    if operator in ("", "="):
        whole = len(given_) == 3
        same = compare(version, version_of(given_, prerelease)) == 0
        return same if whole else begins == given_ and at_least
    if operator == "~":
        return at_least and version.core[: min(2, len(given_))] == given_[:2]
    if operator == "^":
        fixed = next((i for i, n in enumerate(given_) if n), len(given_) - 1) + 1
        return at_least and version.core[:fixed] == given_[:fixed]
    beyond = version_of((*given_[:-1], given_[-1] + 1))
    order = compare(version, version_of(given_, prerelease))
    if len(given_) == 3:
        return {">": order > 0, ">=": at_least, "<": order < 0, "<=": order <= 0}[operator]
    return {
        ">": compare(version, beyond) >= 0,  # `>1` is `>=2.0.0`
        ">=": at_least,
        "<": begins < given_,
        "<=": begins <= given_,
    }[operator]


@given(st.lists(written, min_size=1, max_size=3), versions)
def test_ranges_agree_with_the_reference(some: list[Written], version: Version) -> None:
    """Every comparator holds, and a prerelease was asked for by its own major.minor.patch."""
    expected = all(holds(one, version) for one in some) and (
        not version.prerelease
        or any(prerelease and numbers_ == version.core for _, numbers_, prerelease in some)
    )
    assert parse_range(",".join(map(spell, some))).allows(version) == expected


@given(st.lists(written, min_size=1, max_size=3), versions)
def test_more_comparators_never_allow_more_releases(some: list[Written], version: Version) -> None:
    """A comma narrows: no release gets in that one comparator alone keeps out."""
    release = Version(major=version.major, minor=version.minor, patch=version.patch)
    together = parse_range(",".join(map(spell, some))).allows(release)
    assert together == all(parse_range(spell(one)).allows(release) for one in some)


@given(versions)
def test_an_exact_range_holds_its_version(version: Version) -> None:
    """`=v` holds v, and so do `^v` and `~v` where v has no build metadata."""
    assert parse_range(f"={version}").allows(version)
    if not version.build:
        assert parse_range(f"^{version}").allows(version)
        assert parse_range(f"~{version}").allows(version)


# --- references -------------------------------------------------------------------------------


def test_reads_a_reference_with_and_without_a_range() -> None:
    """`name` asks for nothing special; `name@range` for the range."""
    assert parse_reference("read_file") == ("read_file", None)
    name, wanted = parse_reference("read_file@>=1,<2")
    assert (name, wanted) == ("read_file", parse_range(">=1,<2"))
    assert isinstance(wanted, Range)
    assert parse_reference("a" * 64)[0] == "a" * 64


@pytest.mark.parametrize(
    "text",
    [
        *("", "@", "@1", "read_file@", "read_file@@1", "read_file@1@2", "Read_file", "1file"),
        *("read-file", "read file", "read_file ", "read_file\n", "read_file@^1\n", "_x", "é"),
        *("local/read_file@1.0.0#sha256:00", "read_file@nonsense", "a" * 65, "read_file\x00@1"),
    ],
)
def test_refuses_what_is_no_reference(text: str) -> None:
    """A name that breaks the naming rule or a range that is none is refused with a hint."""
    with pytest.raises(SemverError) as refusal:
        parse_reference(text)
    assert refusal.value.hint
