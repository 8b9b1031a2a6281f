"""Ranked, typo-tolerant search over tool definitions.

A word of the query stands for itself, its synonyms and, where no tool knows it, for words that
look like it. Each tool scores by the words it holds, rare words more than common ones and words of
its name more than those of its description (after BM25F: Robertson, Zaragoza & Taylor, "Simple
BM25 extension to multiple weighted fields", CIKM 2004, with fixed field lengths instead of
averages, so that what one tool scores does not depend on when another came or went).

How long a search takes depends on how many words the query stands for, hardly on how many tools
hold them: see `bitmaps`.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from heapq import nsmallest
from itertools import islice, pairwise
from typing import NamedTuple

import msgspec

from toolstile.registry.bitmaps import LEVELS, Postings, Scores, as_bytes, holds, members
from toolstile.registry.words import (
    MAX_LOOKALIKES,
    SYNONYMS,
    WordIndex,
    content_words,
    may_be_slip,
    one_edit_away,
    parts,
    stem,
)

MAX_QUERY_CHARACTERS = 256
MAX_QUERY_TERMS = 16
MAX_HITS = 100
# Of a definition; what comes later in a long description is seldom what the tool is.
MAX_TEXT_CHARACTERS = 2_000
MAX_FIELD_WORDS = 256

# How far a stand-in is trusted, against the word itself. All weights here are round numbers from
# the middle of a wide plateau: half or double of any of them moves the share of right answers
# (tests/registry/test_search.py) by less than one in a hundred.
_SYNONYM, _ONE_SLIP, _TWO_SLIPS, _COMPLETION = 0.6, 0.8, 0.5, 0.5
# A part of the score that is given only as far as *all* the query's words are held.
_COMPLETENESS = 0.5
_NAME_SHARE, _NAME_START = 0.15, 0.2
# Integer points per unit of weight: all levels of a word stay apart, however common it is.
_POINTS = 64
_LEAST_RARITY = 0.25
# Among how many of the best, beyond those wanted, a tool's name may still change the order.
_POOL = 32
# To look for what was meant is the dearest step, and few mistype so many words at once.
_MAX_GUESSES = 4


class SearchEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the index knows of one tool; `keywords` are parameter names and words about them."""

    name: str
    description: str
    category: str
    keywords: tuple[str, ...] = ()


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One answer: `score` is 0 to 1, above 1 for a tool of just that name; `matched` are the words
    of the query that it answers to."""

    name: str
    score: float
    matched: tuple[str, ...]


class IndexSize(msgspec.Struct, frozen=True, kw_only=True):
    """How much an index holds: tools, and different words in them."""

    tools: int
    words: int


class SearchIndex:
    """The tools to be searched; any number of threads may add, remove and search.

    `add` and `remove` only note the change, whatever the size of the index and whoever searches.
    The next search takes all noted changes in (the first one builds), then answers; searches take
    turns. So each search sees every change made before it began, each of them whole.
    """

    def __init__(self, entries: Iterable[SearchEntry] = ()) -> None:
        self._noting = threading.Lock()
        self._noted: dict[str, SearchEntry | None] = {entry.name: entry for entry in entries}
        self._turn = threading.Lock()
        self._index = _Index()

    def add(self, entry: SearchEntry) -> None:
        """Have a tool found, in place of any other of its name."""
        with self._noting:
            self._noted[entry.name] = entry

    def remove(self, name: str) -> None:
        """Have a tool no longer found; a name that is not here is no error."""
        with self._noting:
            self._noted[name] = None

    def search(self, query: str, limit: int = 10) -> tuple[Hit, ...]:
        """The best answers, best first, equals by name.

        Of a query the first 256 characters and 16 words are read, and at most 100 hits are given.
        """
        wanted = min(limit, MAX_HITS)
        if wanted <= 0 or not query.strip():
            return ()
        with self._turn:
            self._take_in()
            return self._index.search(query[:MAX_QUERY_CHARACTERS], wanted)

    def size(self) -> IndexSize:
        """How much the index holds once all noted changes are in."""
        with self._turn:
            self._take_in()
            return self._index.size()

    def _take_in(self) -> None:
        with self._noting:
            changes, self._noted = self._noted, {}
        try:
            self._index.apply(changes)
        except BaseException:
            # An interrupt may strike between two postings. Nobody may read what it left behind:
            # the next search builds anew from what was in and what was to come.
            with self._noting:
                self._noted = {**self._index.entries(), **changes, **self._noted}
            self._index = _Index()
            raise


class _Field(NamedTuple):
    weight: float
    usual_words: int


_NAME = _Field(4.0, 3)
_CATEGORY = _Field(2.5, 1)
_DESCRIPTION = _Field(2.0, 16)
_KEYWORDS = _Field(0.4, 20)


def _fields(entry: SearchEntry) -> Iterator[tuple[_Field, list[str]]]:
    keywords = " ".join(word[:MAX_TEXT_CHARACTERS] for word in entry.keywords[:MAX_FIELD_WORDS])
    for field, text in ((_NAME, entry.name), (_CATEGORY, entry.category)):
        yield field, parts(text[:MAX_TEXT_CHARACTERS])[:MAX_FIELD_WORDS]
    for field, text in ((_DESCRIPTION, entry.description), (_KEYWORDS, keywords)):
        yield field, list(islice(content_words(text[:MAX_TEXT_CHARACTERS]), MAX_FIELD_WORDS))


def _read(entry: SearchEntry) -> tuple[dict[str, int], set[str]]:
    """The level of each word stem of an entry, and its words as written."""
    weights: dict[str, float] = {}
    written: set[str] = set()
    for field, found in _fields(entry):
        written.update(found)
        # Half of the weight is spread thin over a text longer than usual.
        unit = field.weight / (0.5 + 0.5 * len(found) / field.usual_words)
        for word in found:
            stemmed = stem(word)
            weights[stemmed] = weights.get(stemmed, 0.0) + unit
    levels = {word: int(LEVELS * weight / (weight + 1)) for word, weight in weights.items()}
    return levels, written


class _Question:
    """A query, the weight of its words, and how well a tool answers it."""

    def __init__(self, query: str, weights: Mapping[str, float], stems: frozenset[str]) -> None:
        self._literal = query.strip()
        self._words = parts(query)
        self._weights = weights
        self._weight = sum(weights.values())
        self._stems = stems

    def spellings(self) -> Iterator[str]:
        """The names that the query may be meant to be."""
        yield self._literal
        yield from (mark.join(self._words) for mark in ("", "_", "-", "."))
        yield "".join(self._words[:1] + [word.capitalize() for word in self._words[1:]])

    def hit(self, name: str, matched: tuple[str, ...], points: int) -> Hit:
        named = parts(name)
        squeezed, asked = "".join(named), "".join(self._words)
        known = sum(stem(word) in self._stems for word in named) / max(1, len(named))
        name_factor = 1 + _NAME_SHARE * known + _NAME_START * squeezed.startswith(asked)
        missing = 1 - sum(self._weights[word] for word in matched) / (self._weight or 1)
        score = min(1.0, points / _POINTS / (self._weight or 1))
        score *= (1 - _COMPLETENESS * missing) * name_factor / (1 + _NAME_SHARE + _NAME_START)
        # No sum of words outranks a name: one point for each degree of sameness.
        same = (squeezed == asked) + (name == self._literal)
        return Hit(name=name, score=round(same + score, 6), matched=matched)


class _Index:
    """Tools and their words; for one thread at a time."""

    def __init__(self) -> None:
        self._tools: dict[str, int] = {}
        self._entries: list[SearchEntry | None] = []
        self._vacant: list[int] = []
        self._names: list[str] = []
        self._postings: dict[str, Postings] = {}
        self._words = WordIndex()

    def size(self) -> IndexSize:
        return IndexSize(tools=len(self._tools), words=len(self._words))

    def entries(self) -> dict[str, SearchEntry]:
        return {entry.name: entry for entry in self._entries if entry is not None}

    def apply(self, changes: Mapping[str, SearchEntry | None]) -> None:
        for name, entry in changes.items():
            self._drop(name)
            if entry is not None:
                self._put(entry)
        self._sort_names(changes)

    def _put(self, entry: SearchEntry) -> None:
        if not self._vacant:
            self._vacant.append(len(self._entries))
            self._entries.append(None)
        tool = self._vacant.pop()
        self._entries[tool] = entry
        self._tools[entry.name] = tool
        levels, written = _read(entry)
        for word, level in levels.items():
            postings = self._postings.get(word) or self._postings.setdefault(word, Postings())
            postings.add(tool, level, len(self._entries))
        for word in written:
            self._words.add(word)

    def _drop(self, name: str) -> None:
        tool = self._tools.pop(name, None)
        entry = None if tool is None else self._entries[tool]
        if tool is None or entry is None:
            return
        self._entries[tool] = None
        self._vacant.append(tool)
        levels, written = _read(entry)
        for word, level in levels.items():
            self._postings[word].discard(tool, level)
            if not self._postings[word].count:
                del self._postings[word]
        for word in written:
            self._words.discard(word)

    def _sort_names(self, changed: Mapping[str, object]) -> None:
        if len(changed) > len(self._names) // 64:
            self._names = sorted(self._tools)
            return
        for name in changed:
            at = bisect_left(self._names, name)
            if self._names[at : at + 1] == [name]:
                del self._names[at]
            if name in self._tools:
                self._names.insert(at, name)

    def search(self, query: str, wanted: int) -> tuple[Hit, ...]:
        senses = self._senses(self._asked(query))
        unknown = self._rarity(0)
        weights = {word: max(sense.values(), default=unknown) for word, sense in senses.items()}
        question = _Question(query, weights, frozenset().union(*senses.values()))
        scores = Scores()
        holders = {
            word: as_bytes(scores.add(self._valued(sense))) for word, sense in senses.items()
        }
        hits = []
        for tool, points in scores.of(self._pool(scores, question, wanted)).items():
            matched = tuple(word for word, field in holders.items() if holds(field, tool))
            hits.append(question.hit(self._name(tool), matched, points))
        return tuple(nsmallest(wanted, hits, key=lambda hit: (-hit.score, hit.name)))

    def _asked(self, query: str) -> list[str]:
        """The words to look for; of two neighbours also the compound, if it says anything."""
        found = parts(query)
        pairs = (one + other for one, other in pairwise(found))
        compounds = (pair for pair in pairs if pair in self._words or stem(pair) in SYNONYMS)
        halves = (half for word in found for half in self._halves(word))
        asked = dict.fromkeys([*content_words(query), *compounds, *halves] or found)
        return list(asked)[:MAX_QUERY_TERMS]

    def _halves(self, word: str) -> tuple[str, ...]:
        """The two words that are run together in one that nobody knows: getweather."""
        if word in self._words or stem(word) in SYNONYMS:
            return ()
        cuts = ((word[:at], word[at:]) for at in range(3, len(word) - 2))
        known = (cut for cut in cuts if all(half in self._words for half in cut))
        return next(known, ())

    def _senses(self, asked: Iterable[str]) -> dict[str, dict[str, float]]:
        """For each word the stems that it stands for, and the weight of each."""
        senses = {word: self._known(word) for word in asked}
        unknown = [word for word, sense in senses.items() if not sense]
        return senses | {word: self._lookalikes(word) for word in unknown[:_MAX_GUESSES]}

    def _known(self, word: str) -> dict[str, float]:
        """A word that some tool holds, and those of its synonyms that some tool holds."""
        own = stem(word)
        ceiling = self._weight(own) if own in self._postings else math.inf
        known = {own: ceiling} if own in self._postings else {}
        for other in SYNONYMS.get(own, ()):
            if other in self._postings:
                known[other] = _SYNONYM * min(ceiling, self._weight(other))
        return known

    def _lookalikes(self, word: str) -> dict[str, float]:
        one_slip = [stem(other) for other in self._words.one_slip(word)]
        one_slip = one_slip or self._forms_one_slip_away(word)
        two_slips = [] if one_slip else map(stem, self._words.two_slips(word))
        completions = map(stem, self._words.completions(word))
        trusted: dict[str, float] = {}
        for trust, stems in (
            (_ONE_SLIP, one_slip),
            (_TWO_SLIPS, two_slips),
            (_COMPLETION, completions),
        ):
            for other in stems:
                trusted.setdefault(other, trust * self._weight(other))
        return trusted

    def _forms_one_slip_away(self, word: str) -> list[str]:
        """For a slip in a form that no tool uses: `remvoe`, where there is only `removes`."""
        if not may_be_slip(word):
            return []
        known = self._postings.keys() & set(map(stem, one_edit_away(word)))
        return nsmallest(MAX_LOOKALIKES, known, key=lambda s: (-self._postings[s].count, s))

    def _weight(self, stemmed: str) -> float:
        return self._rarity(self._postings[stemmed].count)

    def _rarity(self, count: int) -> float:
        """What it tells of a tool to hold a word that so many hold: something, even if all do."""
        return max(_LEAST_RARITY, math.log1p((len(self._tools) - count + 0.5) / (count + 0.5)))

    def _valued(self, sense: Mapping[str, float]) -> Iterator[tuple[int, int]]:
        for word, weight in sense.items():
            for level, tools in self._postings[word].levels():
                yield max(1, round(_POINTS * weight * (level + 0.5) / LEVELS)), tools

    def _pool(self, scores: Scores, question: _Question, wanted: int) -> set[int]:
        surely, tied, rest = scores.best(wanted + _POOL)
        named = (self._tools[name] for name in question.spellings() if name in self._tools)
        return {*members(surely), *self._first_by_name(tied, rest), *named}

    def _first_by_name(self, tools: int, wanted: int) -> Iterable[int]:
        # Of many equals, going through all names in order meets enough soon.
        if tools.bit_count() > len(self._names) // 4:
            field = as_bytes(tools)
            in_order = map(self._tools.__getitem__, self._names)
            return islice((tool for tool in in_order if holds(field, tool)), wanted)
        return nsmallest(wanted, members(tools), key=self._name)

    def _name(self, tool: int) -> str:
        entry = self._entries[tool]
        return "" if entry is None else entry.name
