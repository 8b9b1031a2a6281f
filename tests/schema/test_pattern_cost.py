"""No string can make an accepted pattern slow, and no pattern can make us slow."""

from __future__ import annotations

import json
import time
from itertools import product

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora import corpus, records
from toolstile.schema.closing import close
from toolstile.schema.compiled import CompiledSchema
from toolstile.schema.pattern.translation import ENGINE_OPTIONS, PatternRefused, translate

MEGABYTE = 1_000_000
PROMISED = 0.050  # seconds for 1 MB against any accepted pattern
# A definition may be hostile too; refusing takes some 60 ms, and machines under load longer.
PATIENCE = 1.0

NUMBER, NAME = r"(0|[1-9]\d*)", r"(0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*)"
SEMVER = rf"^{NUMBER}(\.{NUMBER}){{2}}(-{NAME}(\.{NAME})*)?(\+[\da-zA-Z-]+(\.[\da-zA-Z-]+)*)?$"
PLAUSIBLE = [
    r"^[a-z0-9-]{1,64}$",
    r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
    r"^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$",
    r"^[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){1,8}$",
    SEMVER,
    r"^\d{4}-\d{2}-\d{2}$",
    r"^\d{4}-(0[1-9]|1[0-2])-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$",
    r"^.{1,255}$",
    r"^[\s\S]{0,500}$",
    r"^[ -~]{0,4000}$",
    r"^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$",
    r"^((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)$",
    r"^https?://[^\s/$.?#].[^\s]*$",
    r"^(?:[A-Za-z0-9_-]{1,64}/){0,10}[A-Za-z0-9_-]{1,64}$",
    r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    r"^\p{Lu}\p{L}+([ '-]\p{Lu}\p{L}+)*$",
    r"^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}]+$",
    r"^\s*\S.*$",
    r"\.(jpe?g|png|gif)$",
    r"\b[A-Z]{2,10}-\d{1,6}\b",
    r"[a-z]{1,64}@",
    r"^(get|put|post)$",
]
# What is slow in a backtracking engine, and not in this one.
HARMLESS_HERE = [
    r"(a|b|ab)*c",
    r"(x+x+)+y",
    r"^(a+)+$",
    r"((a*)*b*)*c",
    r"(.*,){8}x\n",
    r".*.*=.*\n",
]
COSTLY = [
    (r".*a.{100}", r"^[^a]*a.{100}"),
    (r"[ab]*a[ab]{20}c", r"[ab]*a[ab]{7}c"),
    (r"[ab]{20}a[ab]*$", r"^[ab]{20}a[ab]*$"),  # grows only when it is walked from the end
    (r"[ab]{1,500}x", r"[ab]{1,200}x"),
    (r"(.{1,50}){1,20}z", r"^.{1,50}z"),
    (r"(\p{L}|\d){200}", r"^(\p{L}|\d){5}$"),
    (r"^(.{1,100},)*$", r"^([^,]{1,100},)*$"),
    (r"\b\w*a\w{15}\b!", r"\b\w*a\w\b!"),
    (r"\b[^!]{20}!", r"^\b[^!]{20}!"),
    (r"^(a?){1500}$", r"^(a?){500}$"),
    (r"(" * 30 + r"){4096}" * 30, r"(){4096}"),
    (r"(a?){1000}", r"(a?){20}"),
    ("".join(f"[^{chr(0x4E00 + number)}]" for number in range(1000)), "[^一][^丁][^丂]"),
]


def accepted(pattern: str) -> bool:
    """Whether the pattern may stand in a schema."""
    try:
        translate(pattern)
    except PatternRefused:
        return False
    return True


# The slowest at each character of what is accepted.
SLOWEST = [
    (r"((a|b)*c|d){109}e", "ab\n"),
    (r"([ab]*c){200}d", "abc"),
    (r"\w{1,250}@\w{1,20}x", "ab"),
]
TOO_LARGE = [
    r"^.{1,1000}$",
    r"^[\s\S]{0,4000}$",
    r"^[\p{L} ]{2,50}$",
    r"^[^/]{1,255}(/[^/]{1,255})*$",
]


def engine(pattern: str) -> jsonschema_rs.Validator:
    """A fresh engine, with nothing learnt from earlier strings."""
    schema = {"pattern": translate(pattern)}
    return jsonschema_rs.Draft202012Validator(schema, offline=True, pattern_options=ENGINE_OPTIONS)


def worst(pattern: str, texts: list[str]) -> float:
    """Seconds for the slowest of the texts; the best of some runs, as others use the machine too.

    Every run has a new engine, so its automaton is built anew; later texts meet a full cache.
    """
    runs = []
    for _ in range(5):
        fresh, seconds = engine(pattern), 0.0
        for text in texts:
            started = time.perf_counter()
            fresh.is_valid(text)
            seconds = max(seconds, time.perf_counter() - started)
        runs.append(seconds)
        if seconds < PROMISED:
            break
    return min(runs)


def refused_within(pattern: str) -> float:
    """Seconds that a refusal takes."""
    started = time.perf_counter()
    with pytest.raises(PatternRefused):
        translate(pattern)
    return time.perf_counter() - started


def megabyte(unit: str) -> str:
    """The unit over and over, up to 1 MB."""
    return unit * (MEGABYTE // len(unit.encode()))


def woven(letters: str) -> str:
    """1 MB in which every word of eight letters occurs, so that most states are reached."""
    return megabyte("".join(map("".join, product(letters, repeat=8))))[:MEGABYTE]


TEXTS = [woven("ab"), woven("a, "), megabyte("a"), megabyte("ab,"), megabyte("a\n!é中\U0001f600")]


@pytest.mark.parametrize("pattern", [*PLAUSIBLE, *HARMLESS_HERE])
def test_what_people_write_is_accepted_and_fast(pattern: str) -> None:
    """Common patterns are accepted, and 1 MB of anything takes them 50 ms at most."""
    assert accepted(pattern)
    assert worst(pattern, TEXTS) < PROMISED


@pytest.mark.parametrize(("pattern", "neighbour"), COSTLY)
def test_what_a_string_could_make_slow_is_refused_soon(pattern: str, neighbour: str) -> None:
    """Automata that outgrow their cache are refused, quickly; a tamer relative is kept and fast."""
    assert refused_within(pattern) < PATIENCE
    assert worst(neighbour, TEXTS) < PROMISED


@pytest.mark.parametrize("pattern", TOO_LARGE)
def test_what_compiles_to_too_much_is_refused_with_a_better_way(pattern: str) -> None:
    """Long counts of wide classes are sent to minLength and maxLength, which cost nothing."""
    with pytest.raises(PatternRefused, match=r"larger than 512 KiB.*maxLength"):
        translate(pattern)


atoms = st.sampled_from([*"ab,é", "[ab]", "[^,]", ".", r"\w", r"\s", r"\p{L}", "[à-ÿ]", "foo"])
counts = st.sampled_from(["*", "+", "?", "{3}", "{0,9}", "{1,20}", "{5,60}", "{40}", "{0,300}", ""])
edges = st.sampled_from([*[""] * 6, r"\b", "^", "$"])
patterns = st.recursive(
    atoms,
    lambda inner: st.lists(
        st.tuples(edges, inner, counts).map(lambda part: f"{part[0]}(?:{part[1]}){part[2]}"),
        min_size=1,
        max_size=3,
    ).flatmap(lambda parts: st.sampled_from(["", "|"]).map(lambda between: between.join(parts))),
    max_leaves=5,
)


@settings(max_examples=60)
@given(patterns, st.sampled_from(["", "^"]), st.sampled_from(["", "!", "$", "[!?]"]))
def test_any_accepted_pattern_is_fast(middle: str, start: str, end: str) -> None:
    """Whatever pattern passes is held to 50 ms for 1 MB; whatever does not is refused soon."""
    pattern = f"{start}(?:{middle}){end}"
    started = time.perf_counter()
    if accepted(pattern):
        assert worst(pattern, TEXTS) < PROMISED
    else:
        assert time.perf_counter() - started < PATIENCE


def test_an_empty_match_is_never_searched_for_within_a_character() -> None:
    r"""\B is refused where it could match alone; elsewhere the string that made it slow is fast."""
    text = "a " * (MEGABYTE // 2) + "aé b"
    for pattern in (r"\B", r"a*\B", r"(x|\B)y?", r"^$|\B"):
        assert not accepted(pattern)
    for pattern in (r"\By", r"a\B\B!", r"(x|\B)y", r"\b", r"x*\b|$"):
        assert worst(pattern, [text]) < PROMISED


def checking(pattern: str, text: str) -> float:
    """Seconds until the arguments are parsed, refused, and the refusal explained."""
    parameters = {"type": "object", "properties": {"v": {"type": "string", "pattern": pattern}}}
    fresh, sent = CompiledSchema(close(parameters)), json.dumps({"v": text})
    started = time.perf_counter()
    assert [issue.code for issue in fresh.check(sent).issues] == ["pattern"]
    return time.perf_counter() - started


@pytest.mark.parametrize(("pattern", "letters"), SLOWEST)
def test_explaining_a_refusal_keeps_the_promise_too(pattern: str, letters: str) -> None:
    """What the slowest patterns refuse is refused with its reason in 50 ms, all steps together."""
    assert min(checking(pattern, woven(letters)) for _ in range(5)) < PROMISED


def test_property_names_are_held_to_the_same_engine() -> None:
    """The options that make patterns linear hold for patternProperties as well."""
    schema = {"patternProperties": {translate(r"^(a+)+$"): False}}
    strict = jsonschema_rs.Draft202012Validator(schema, pattern_options=ENGINE_OPTIONS)
    name = megabyte("a") + "!"
    started = time.perf_counter()
    assert strict.is_valid({name: 1})
    assert time.perf_counter() - started < PATIENCE
    assert not strict.is_valid({"aa": 1})
    for pattern in ("(?=a)", "a{9999}{99}"):
        with pytest.raises(jsonschema_rs.ValidationError):
            jsonschema_rs.Draft202012Validator(
                {"patternProperties": {pattern: True}}, pattern_options=ENGINE_OPTIONS
            )


def test_known_attacks_are_refused_or_fast() -> None:
    """Every pattern of the collected attacks is refused, or takes its own attack in no time."""
    verdicts = []
    for row in records(corpus("hostile", "redos.jsonl")):
        attack = row["attack"]
        text = attack["prefix"] + megabyte(attack["pump"]) + attack["suffix"]
        verdicts.append(accepted(row["pattern"]))
        if verdicts[-1]:
            assert worst(row["pattern"], [text]) < PROMISED, row["id"]
    assert sum(verdicts) >= 50
