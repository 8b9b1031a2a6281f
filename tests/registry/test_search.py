"""Search finds the right tool, ranks it well, and is never wrong-footed by input or by threads."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import SupportsIndex

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpora import corpus, records
from registry.search_queries import corpus_entries, misses
from toolstile.registry.bitmaps import LEVELS, Postings, Scores, bitmap, members
from toolstile.registry.search import (
    MAX_HITS,
    MAX_QUERY_CHARACTERS,
    MAX_QUERY_TERMS,
    IndexSize,
    SearchEntry,
    SearchIndex,
)
from toolstile.registry.synonyms import MEANINGS
from toolstile.registry.words import WordIndex, one_edit_away, parts, stem, within, words

CATALOGUE = {
    "get_weather": "Current conditions at a place.",
    "get_weather_history": "Conditions on a past day.",
    "delete_file": "Removes a document from the disk.",
    "list_directory": "Shows what a folder holds.",
    "sendEmail": "Delivers a message to an inbox.",
    "math.sqrt": "Square root of a number.",
    "convert_currency": "From one kind of money to another.",
    "restart_container": "Stops a container and starts it again.",
    "translate_text": "Puts a sentence into another language.",
    "HTTPRequest": "Asks a server on the web.",
}


def entry(name: str, description: str = "", category: str = "", *keywords: str) -> SearchEntry:
    """A tool as the index takes it."""
    return SearchEntry(name=name, description=description, category=category, keywords=keywords)


def catalogue() -> SearchIndex:
    """An index of the ten tools above."""
    return SearchIndex(entry(name, description) for name, description in CATALOGUE.items())


def names(index: SearchIndex, query: str, limit: int = 10) -> list[str]:
    """The names found, best first."""
    return [hit.name for hit in index.search(query, limit)]


# --- ranking -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("get_weather", "get_weather"),
        ("get weather", "get_weather"),
        ("GET-WEATHER", "get_weather"),
        ("weather past day", "get_weather_history"),
        ("send email", "sendEmail"),
        ("sqrt", "math.sqrt"),
        ("http request", "HTTPRequest"),
        ("http", "HTTPRequest"),
        ("square roots", "math.sqrt"),
        ("converting currencies", "convert_currency"),
        ("remove file", "delete_file"),
        ("erase document", "delete_file"),
        ("fetch forecast", "get_weather"),
        ("look up forecast", "get_weather"),
        ("show folders", "list_directory"),
        ("getweather", "get_weather"),
        ("weahter", "get_weather"),
        ("contaner restart", "restart_container"),
        ("trnaslaet", "translate_text"),
        ("transl", "translate_text"),
        ("the text", "translate_text"),
    ],
)
def test_finds(query: str, first: str) -> None:
    """Names in any spelling, inflections, synonyms, slips and beginnings lead to the tool."""
    assert names(catalogue(), query)[0] == first


@pytest.mark.parametrize(
    "query", ["", " ", "\t\n", "?!", "_", "zzzzzz", "qx", "\x00", "\ud800", "é", "天気", "9" * 300]
)
def test_finds_nothing(query: str) -> None:
    """What no tool answers to finds nothing, and is no error."""
    assert catalogue().search(query) == ()


def test_fields_weigh_by_what_they_say_of_a_tool() -> None:
    """A word weighs most in the name, then in category, description and keywords."""
    index = SearchIndex(
        [
            entry("d", "x", "x", "gizmo"),
            entry("c", "gizmo", "x", "x"),
            entry("b", "x", "gizmo", "x"),
            entry("gizmo_a", "x", "x", "x"),
        ]
    )
    assert names(index, "gizmo") == ["gizmo_a", "b", "c", "d"]


def test_the_name_itself_comes_first() -> None:
    """The tool of that name comes before all that say its words more often."""
    louder = [
        entry(f"tidy_{n}_report_sales", "Report sales, sales report.", "report sales")
        for n in range(200)
    ]
    index = SearchIndex([*louder, entry("report_sales_tidily", "Sales."), entry("reportSales")])
    hits = index.search("report sales")
    assert [hit.name for hit in hits][:1] == ["reportSales"]
    assert hits[0].score > 1 >= hits[1].score
    index.add(entry("report_sales"))
    assert names(index, "report_sales")[:2] == ["report_sales", "reportSales"]
    assert names(index, "tidy 7")[0] == "tidy_7_report_sales"


def test_equals_are_ordered_by_name() -> None:
    """Where two tools answer equally well, the name decides, not the order of arrival."""
    some = [f"{a}{b}_tool" for a, b in product("qwxyz", "qwxyz")]
    for seed in range(5):
        random.Random(seed).shuffle(some)
        assert names(SearchIndex(map(entry, some)), "tool", 25) == sorted(some)


def test_many_equals_are_ordered_by_name() -> None:
    """The same where thousands are equal, and where those are the last in the alphabet."""
    first = [entry(f"a{n:04}", "other") for n in range(2000)]
    last = [entry(f"z{n:04}", "gadget") for n in reversed(range(2000))]
    assert names(SearchIndex([*first, *last]), "gadget", 3) == ["z0000", "z0001", "z0002"]


def test_hits_tell_what_matched() -> None:
    """A hit names the words of the query that its tool answers to, as they were typed."""
    (hit,) = catalogue().search("remvoe documents quickly")
    assert (hit.name, hit.matched) == ("delete_file", ("remvoe", "documents"))


def test_every_tool_holding_a_word_is_still_found() -> None:
    """A word that all tools have says little, but it is not nothing."""
    index = SearchIndex(entry(f"tool_{n}", "", "") for n in range(500))
    assert len(index.search("tool", 100)) == 100
    assert names(index, "tool 77")[0] == "tool_77"


def test_more_of_the_words_beats_one_rare_word() -> None:
    """A tool that answers to the whole query comes before one with its rarest word alone."""
    common = [entry(f"read_{n}", "Reads a file of kind.") for n in range(30)]
    index = SearchIndex([*common, entry("read_archive_file"), entry("archive_zebra")])
    assert names(index, "read archive file")[0] == "read_archive_file"


@pytest.mark.parametrize("seed", [1, 20_260, 777_777])
def test_exam(seed: int) -> None:
    """Of 200 queries with a slip or a synonym, 95 in 100 have their tool in the first three.

    Weights were settled with seed 1; nothing was changed for what the other two showed.
    """
    missed = misses(corpus_entries(), seed, 200)
    assert len(missed) <= 10, [(query.text, query.wanted) for query in missed]


# --- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("get_user2FA", "get user 2 fa"),
        ("HTTPResponseCode", "http response code"),
        ("api.v1.list-pods", "api v 1 list pods"),
        ("Déjà Vu", "deja vu"),
        ("ﬁle №5", "file no 5"),
        ("STRASSE straße", "strasse strasse"),
        ("", ""),
    ],
)
def test_parts(text: str, expected: str) -> None:
    """Names come apart at marks, case and digits; accents and ligatures do not matter."""
    assert parts(text) == expected.split()


def test_compounds_are_also_one_word() -> None:
    """A compound is found by its parts and whole."""
    assert list(words("Wi-Fi on GitHub")) == ["wi", "fi", "wifi", "on", "git", "hub", "github"]


@pytest.mark.parametrize(
    "family",
    [
        "calculate calculates calculated calculating calculation calculations",
        "category categories",
        "search searches searched searching",
        "stop stops stopped stopping",
        "sell sells selling",
        "file files filed filing",
        "box boxes",
        "address addresses addressed",
        "move moves moved moving",
    ],
)
def test_stem_joins(family: str) -> None:
    """The forms of a word have one stem."""
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(
    "pair", ["status state", "string strong", "bus bush", "news new", "red reed"]
)
def test_stem_keeps_apart(pair: str) -> None:
    """Words that only look alike keep different stems."""
    one, other = pair.split()
    assert (one == "news") == (stem(one) == stem(other))


def test_meanings_are_well_formed() -> None:
    """Every line of the table has two words or more, all plain, none twice."""
    for meaning in MEANINGS:
        assert len(meaning) == len(set(meaning)) > 1, meaning
        assert all(word.isascii() and word.islower() for word in meaning), meaning


@pytest.mark.parametrize("meaning", MEANINGS, ids=" ".join)
def test_synonyms_stand_for_each_other(meaning: tuple[str, ...]) -> None:
    """Any word of a meaning finds a tool that holds another one, but less well than itself."""
    one, other = meaning[0], meaning[-1]
    assert names(SearchIndex([entry(f"{other}_zq")]), one) == [f"{other}_zq"]
    if stem(one) != stem(other):
        both = SearchIndex([entry(f"{other}_zq"), entry(f"{one}_zq")])
        assert names(both, one)[0] == f"{one}_zq"


LOWER = "abcdefghijklmnopqrstuvwxyz"


@st.composite
def slips(draw: st.DrawFn, count: int, shortest: int) -> tuple[str, str]:
    """A word and what so many slips made of it, each at a place of its own."""
    word = spoilt = draw(st.text(LOWER, min_size=shortest, max_size=14))
    step = len(word) // count
    for last in range(step * count, 0, -step):
        # No two slips in the same three letters: those might make up a third one.
        at = draw(st.integers(last - step, last - 3))
        letter = draw(st.sampled_from(LOWER))
        head, tail = spoilt[:at], spoilt[at:]
        forms = (tail[1:], letter + tail, letter + tail[1:], tail[1:2] + tail[:1] + tail[2:])
        spoilt = head + draw(st.sampled_from(forms))
    return word, spoilt


@given(slips(1, 4))
def test_one_slip_is_found(case: tuple[str, str]) -> None:
    """Any word of four letters and more is found with one slip in it."""
    word, spoilt = case
    assert names(SearchIndex([entry(word), entry("0_1")]), spoilt) == [word]


@given(slips(2, 10))
def test_two_slips_are_found(case: tuple[str, str]) -> None:
    """A long word is found with two slips in it, wherever they are."""
    word, spoilt = case
    assert names(SearchIndex([entry(word), entry("0_1")]), spoilt) == [word]


@pytest.mark.parametrize(
    ("word", "typed"),
    [("weather", "waehtr"), ("file", "flei"), ("translate", "rtanlsaet"), ("id", "ix")],
)
def test_more_slips_are_another_word(word: str, typed: str) -> None:
    """Beyond one slip (two in a long word) it is not the word any more."""
    assert names(SearchIndex([entry(word)]), typed) == []


def distance(one: str, other: str) -> int:
    """Edit distance by the textbook."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        previous, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]


@given(st.text("abc", max_size=7), st.text("abc", max_size=7), st.integers(0, 3))
def test_within_agrees_with_the_textbook(one: str, other: str, edits: int) -> None:
    """The short cut tells the same as the whole table of distances."""
    assert within(one, other, edits) == (distance(one, other) <= edits)


@given(st.text("abcd", min_size=8, max_size=10), st.sets(st.text("abcd", min_size=6), max_size=15))
def test_two_slips_agrees_with_trying_all(word: str, known: set[str]) -> None:
    """What the thirds and the swaps find is what comparing with every word finds."""
    index = WordIndex()
    for other in known:
        index.add(other)
    swapped = {word[:n] + word[n + 1] + word[n] + word[n + 2 :] for n in range(len(word) - 1)}
    expected = {
        other
        for other in known - {word}
        if distance(word, other) <= 2 or any(other in one_edit_away(swap) for swap in swapped)
    }
    assert set(index.two_slips(word)) - {word} == expected


# --- bitmaps -----------------------------------------------------------------------------------

TOOLS = st.integers(0, 300)


@given(st.lists(st.dictionaries(TOOLS, st.integers(1, 900)), max_size=6), st.integers(1, 40))
def test_scores_are_sums(additions: list[dict[int, int]], wanted: int) -> None:
    """Bit-sliced sums are sums, and the best are those that sorting finds."""
    scores, expected = Scores(), dict[int, int]()
    for addition in additions:
        sets = [(value, bitmap([tool])) for tool, value in addition.items()]
        assert set(members(scores.add(sets))) == set(addition)
        expected |= {tool: expected.get(tool, 0) + value for tool, value in addition.items()}
    assert scores.of(range(301)) == {tool: expected.get(tool, 0) for tool in range(301)}
    surely, tied, rest = scores.best(wanted)
    ranked = sorted(expected.values(), reverse=True)
    last = ranked[wanted - 1] if len(ranked) >= wanted else 0
    assert set(members(surely)) == {tool for tool, value in expected.items() if value > last}
    assert set(members(tied)) == {tool for tool, value in expected.items() if value == last}
    assert rest == wanted - surely.bit_count()


def test_a_tool_scores_once_for_one_word() -> None:
    """Of several values that a word gives a tool, the highest counts, not the sum."""
    scores = Scores()
    scores.add([(3, bitmap([1, 2])), (9, bitmap([2])), (5, bitmap([1, 2]))])
    assert scores.of([0, 1, 2]) == {0: 0, 1: 5, 2: 9}


@given(st.dictionaries(TOOLS, st.integers(0, LEVELS - 1)), st.data())
def test_postings_hold_what_was_put_in(held: dict[int, int], data: st.DataObject) -> None:
    """Rare or common, a word has its tools at their levels, and no longer those taken out."""
    postings = Postings()
    for tool, level in held.items():
        postings.add(tool, level, 301)
    gone = data.draw(st.sets(st.sampled_from(sorted(held)))) if held else set()
    for tool in gone:
        postings.discard(tool, held[tool])
    found = {tool: level for level, tools in postings.levels() for tool in members(tools)}
    assert found == {tool: level for tool, level in held.items() if tool not in gone}
    assert postings.count == len(found)


# --- change ------------------------------------------------------------------------------------

SOME_WORDS = st.lists(st.sampled_from("get list user file files wether weather x 天 2".split()))
SOME_ENTRIES = st.builds(
    lambda name, words: entry(name, " ".join(words), "cat", *words[:2]),
    st.sampled_from([f"{a}_{b}" for a, b in product("abc", ("get", "weather", "file", "x1"))]),
    SOME_WORDS,
)
CHANGES = st.lists(st.one_of(SOME_ENTRIES, SOME_ENTRIES.map(lambda one: one.name), st.none()))


@given(CHANGES)
def test_change_by_change_equals_a_fresh_build(changes: list[SearchEntry | str | None]) -> None:
    """However tools came, changed and went (with searches, None, between), answers are the same."""
    index, held = SearchIndex(), dict[str, SearchEntry]()
    for change in changes:
        if change is None:
            index.search("get weather")
        elif isinstance(change, str):
            index.remove(change)
            held.pop(change, None)
        else:
            index.add(change)
            held[change.name] = change
    fresh = SearchIndex(held.values())
    for query in ("get", "weather file", "wheather", "usr list", "x", "a_get", "nothing"):
        assert index.search(query, 100) == fresh.search(query, 100)
    assert index.size() == fresh.size()


def test_removing_all_leaves_nothing() -> None:
    """After the last tool has gone, no word, posting or name is kept."""
    index = SearchIndex(
        entry(f"tool_{n}", f"Common words and word{n} in {n}.", "cat", "key") for n in range(300)
    )
    assert index.size().tools == 300
    for n in range(300):
        index.remove(f"tool_{n}")
    assert (index.size(), index.search("tool common word7")) == (IndexSize(tools=0, words=0), ())
    inside = index._index
    kept = (inside._postings, inside._tools, inside._names, inside._words._by_start)
    assert not any((*kept, inside._words._by_third, inside.entries()))


def test_places_are_used_again() -> None:
    """An index in which tools come and go does not grow."""
    index = SearchIndex()
    for n in range(1000):
        index.add(entry(f"tool_{n}"))
        index.size()
        index.remove(f"tool_{n}")
    index.size()
    assert len(index._index._entries) <= 2


def test_the_last_word_on_a_name_counts() -> None:
    """Adding again replaces; removing what is not there is no error."""
    index = SearchIndex([entry("a", "zebra")])
    index.remove("never_there")
    index.add(entry("a", "giraffe"))
    assert (names(index, "giraffe"), names(index, "zebra")) == (["a"], [])
    index.remove("a")
    index.add(entry("a", "zebra"))
    assert names(index, "zebra") == ["a"]


class Fuse(str):
    """A text that interrupts its first reader, as Ctrl-C would."""

    __slots__ = ("burnt",)

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        if not hasattr(self, "burnt"):
            self.burnt = True
            raise KeyboardInterrupt
        return super().__getitem__(key)


def test_an_interrupted_build_is_begun_anew() -> None:
    """Nobody searches a half-built index: the next search has every change, whole."""
    index = SearchIndex([entry("before", "zebra crossing")])
    assert names(index, "zebra") == ["before"]
    index.remove("before")
    index.add(entry("between", Fuse("zebra stripes")))
    index.add(entry("after", "zebra"))
    with pytest.raises(KeyboardInterrupt):
        index.search("zebra")
    assert sorted(names(index, "zebra")) == ["after", "between"]
    assert index.size().tools == 2


def test_readers_while_writers_change_it() -> None:
    """While tools come and go, every search answers, and never loses a tool that stays."""
    index = SearchIndex([entry("steady_compass", "Always here.")])
    until = time.monotonic() + 1.0
    wrong: list[object] = []

    def write(writer: int) -> None:
        dice = random.Random(writer)
        while time.monotonic() < until:
            name = f"compass_{writer}_{dice.randrange(50)}"
            index.add(entry(name, "Points north.")) if dice.random() < 0.6 else index.remove(name)

    def read() -> None:
        while time.monotonic() < until:
            found = names(index, "steady compss", 100)
            if found[:1] != ["steady_compass"] or len(found) != len(set(found)):
                wrong.append(found)

    with ThreadPoolExecutor(16) as pool:
        running = [pool.submit(read) for _ in range(12)]
        running += [pool.submit(write, n) for n in range(4)]
    assert [task.exception() for task in running] == [None] * 16
    assert wrong == []


def test_a_search_sees_every_change_made_before_it() -> None:
    """What `add` and `remove` returned from, the next search in any thread knows."""
    index = SearchIndex()
    for n in range(200):
        index.add(entry(f"tool_{n}"))
        assert names(index, f"tool_{n}", 1) == [f"tool_{n}"]
        index.remove(f"tool_{n}")
        assert names(index, f"tool_{n}", 1) == []


# --- bounds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "count"), [(-1, 0), (0, 0), (1, 1), (7, 7), (10**9, MAX_HITS)])
def test_limit(limit: int, count: int) -> None:
    """No more hits than asked for, and never more than a hundred."""
    index = SearchIndex(entry(f"tool_{n}") for n in range(150))
    assert len(index.search("tool", limit)) == count


def test_a_query_is_read_so_far_and_no_further() -> None:
    """Beyond 256 characters or sixteen words a query is not read."""
    index = SearchIndex([entry("needle")])
    for fill, within_bounds in (
        (" " * (MAX_QUERY_CHARACTERS - len("needle")), True),
        (" " * MAX_QUERY_CHARACTERS, False),
        (" ".join(f"{n}" for n in range(MAX_QUERY_TERMS - 1)) + " ", True),
        (" ".join(f"{n}" for n in range(MAX_QUERY_TERMS)) + " ", False),
    ):
        assert (names(index, f"{fill}needle") == ["needle"]) is within_bounds


def test_only_so_many_unknown_words_are_guessed_at() -> None:
    """Four words that no tool knows are taken for slips, a fifth is left alone."""
    index = SearchIndex([entry("needle"), entry("thread")])
    strange = [f"qxz{letter}" for letter in LOWER]
    assert names(index, " ".join([*strange[:3], "needel"])) == ["needle"]
    assert names(index, " ".join([*strange[:4], "needel"])) == []
    assert names(index, " ".join([*strange[:4], "needle"])) == ["needle"]


@settings(max_examples=200)
@given(st.text(max_size=300), st.text(max_size=60), st.text(max_size=300))
@example("\ud800" * 300, "\udfff", "\x00")
@example("ß" * 300, "ﷺ" * 60, "ﷺ" * 300)
@example("a-" * 200, "-", "a-" * 200)
def test_any_text_is_safe(query: str, name: str, description: str) -> None:
    """Whatever is typed or described: an answer, at most one, and the tool goes without a trace."""
    index = SearchIndex([entry(name, description, description, name, query)])
    hits = index.search(query)
    assert len(hits) <= 1
    assert all(0 < hit.score <= 3 for hit in hits)
    index.remove(name)
    assert index.size() == IndexSize(tools=0, words=0)


def test_naughty_strings_are_safe() -> None:
    """The public list of strings that break programs breaks nothing here."""
    strings = [record["value"] for record in records(corpus("hostile", "naughty-strings.jsonl"))]
    index = SearchIndex(entry(f"n{n}", string, string) for n, string in enumerate(strings))
    for string in strings:
        index.search(string)


HOSTILE = [
    entry("long_word", "x" * 10**6, "y" * 10**6, "z" * 10**6),
    entry("many_words", " ".join(map(str, range(10**5)))),
    entry("many_keywords", "", "", *map(str, range(10**5))),
    entry("compound", "-".join("ab" * 10**5)),
    entry("camel", "aB" * 10**5),
]


@pytest.mark.parametrize("one", HOSTILE, ids=lambda one: one.name)
def test_a_huge_definition_costs_no_more_than_a_long_one(one: SearchEntry) -> None:
    """Of each field so much is read and no more, so that no tool bloats the index."""
    index = SearchIndex([one])
    assert index.size().words <= 600
    assert names(index, one.name) == [one.name]


def test_scores_do_not_depend_on_who_else_is_unlike() -> None:
    """The order of two tools is the same in any company that does not share the query's words."""

    def order(others: Mapping[str, str]) -> list[str]:
        index = SearchIndex(entry(name, text) for name, text in {**CATALOGUE, **others}.items())
        return names(index, "weather conditions")

    assert order({}) == order({f"other_{n}": "Something else." for n in range(300)})
