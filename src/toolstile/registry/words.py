"""From text to words: splitting, a light English stemmer, and words that look alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from heapq import nsmallest
from itertools import product
from types import MappingProxyType
from typing import TypeVar

from toolstile.registry.synonyms import MEANINGS

# Longer runs are cut into words of this length, so that no text makes a huge dictionary key.
MAX_WORD = 64
# Shorter words have too many neighbours for a slip to be told from another word.
MIN_SLIP_WORD = 3
MIN_TWO_SLIPS_WORD = 8
MAX_LOOKALIKES = 16
_START = 3

STOP_WORDS = frozenset(
    "a an and any are as at be been by can did do does for from had has have how i if in into is "
    "it its me my of on or our please so such than that the their them then there these they this "
    "those to us was we were what when where which who will with you your".split()
)

_RUN = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_PIECE = re.compile(rf"[^\W\d_]{{1,{MAX_WORD}}}|\d{{1,{MAX_WORD}}}")
_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VOWEL = re.compile("[aeiouy]")
Key = TypeVar("Key")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def parts(text: str) -> list[str]:
    """The words of a name or text in order, split also at case, digits and underscores."""
    spaced = _CASE.sub(" ", _without_marks(text))
    return _PIECE.findall(spaced.casefold())


def words(text: str) -> Iterator[str]:
    """The parts of a text and, after those of a compound (Wi-Fi, GitHub), the compound whole."""
    for run in _RUN.findall(_without_marks(text)):
        if run.islower() and run.isalpha() and len(run) <= MAX_WORD:  # most words: 4 times faster
            yield run.casefold()
            continue
        pieces = parts(run)
        yield from pieces
        if len(pieces) > 1 and all(map(str.isalpha, pieces)):
            yield "".join(pieces)[:MAX_WORD]


def content_words(text: str) -> Iterator[str]:
    """The words of a text without those that every text has."""
    return (word for word in words(text) if word not in STOP_WORDS)


def _without_marks(text: str) -> str:
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """One form for calculate, calculates, calculated, calculating and calculation."""
    if len(word) <= 3 or not word.isascii():
        return word
    return _without_noun_ending(_without_verb_ending(_singular(word)))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_verb_ending(word: str) -> str:
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest):
            doubled = rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
    return word


def _without_noun_ending(word: str) -> str:
    for ending, shortest in (("ation", 5), ("ate", 5), ("at", 5), ("ion", 5), ("e", 3)):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= shortest:
            return rest
    return word


def _synonyms(meanings: Iterable[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    table: dict[str, dict[str, None]] = {}
    for meaning in meanings:
        for one, other in product(map(stem, meaning), repeat=2):
            if one != other:
                table.setdefault(one, {})[other] = None
    return {one: tuple(others) for one, others in table.items()}


# Stem → the stems that may stand for it.
SYNONYMS = MappingProxyType(_synonyms(MEANINGS))


class WordIndex:
    """The words in use, counted, and those of them that look like a given one.

    One slip is found by trying every way to undo it. For two, either one is a swap of neighbours,
    which is undone first; or two edits leave whole one of the three thirds under which each longer
    word is filed (the pigeonhole rule of Li, Deng, Wang & Feng, "Pass-Join", VLDB 2011).
    """

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}
        self._by_start: dict[str, list[str]] = {}
        self._by_third: dict[tuple[int, int, str], list[str]] = {}

    def __len__(self) -> int:
        return len(self._uses)

    def __contains__(self, word: str) -> bool:
        return word in self._uses

    def add(self, word: str) -> None:
        """Count one more use of a word."""
        uses = self._uses.get(word, 0)
        self._uses[word] = uses + 1
        if uses == 0 and word.isalpha():
            self._by_start.setdefault(word[:_START], []).append(word)
            for third in _thirds(word):
                self._by_third.setdefault(third, []).append(word)

    def discard(self, word: str) -> None:
        """Count one use less of a word in use; the last one forgets it."""
        self._uses[word] -= 1
        if self._uses[word] == 0:
            del self._uses[word]
            if word.isalpha():
                _unfile(self._by_start, word[:_START], word)
                for third in _thirds(word):
                    _unfile(self._by_third, third, word)

    def one_slip(self, word: str) -> list[str]:
        """Words in use that one inserted, lost, wrong or swapped letter makes of this one."""
        if not may_be_slip(word):
            return []
        return self._commonest(self._uses.keys() & one_edit_away(word))

    def two_slips(self, word: str) -> list[str]:
        """The same for two slips; only words of eight letters and more are far enough apart."""
        if not may_be_slip(word, MIN_TWO_SLIPS_WORD):
            return []
        swapped = (set(self.one_slip(other)) for other in _swaps(word))
        near = {other for other in self._sharing_a_third(word) if within(word, other, 2)}
        return self._commonest(near.union(*swapped))

    def _sharing_a_third(self, word: str) -> set[str]:
        """Longer words of which one third stands in this word where two edits could put it."""
        shelf = self._by_third
        found: set[str] = set()
        for length in range(len(word) - 2, len(word) + 3):
            longer = len(word) - length
            for third, (start, end) in enumerate(_spans(length)):
                # The edits before a third move it, those after it make up the rest of `longer`.
                for moved in range(
                    max(-third, longer - 2 + third), min(third, longer + 2 - third) + 1
                ):
                    found.update(shelf.get((length, start, word[start + moved : end + moved]), ()))
        letters = set(word)
        return {other for other in found if len(letters.symmetric_difference(other)) <= 4}

    def completions(self, start: str) -> list[str]:
        """Longer words in use that begin so, if the start has the three letters to go by."""
        filed = self._by_start.get(start[:_START], ()) if len(start) >= _START else ()
        return self._commonest(w for w in filed if w.startswith(start) and w != start)

    def _commonest(self, found: Iterable[str]) -> list[str]:
        return nsmallest(MAX_LOOKALIKES, found, key=lambda word: (-self._uses[word], word))


def may_be_slip(word: str, shortest: int = MIN_SLIP_WORD) -> bool:
    """Whether it makes sense to ask what was meant: numbers and fragments are what they are."""
    return word.isalpha() and shortest <= len(word) < MAX_WORD


def _spans(length: int) -> tuple[tuple[int, int], ...]:
    third = length // 3
    return ((0, third), (third, 2 * third), (2 * third, length))


def _thirds(word: str) -> list[tuple[int, int, str]]:
    if len(word) < MIN_TWO_SLIPS_WORD - 2:
        return []
    return [(len(word), start, word[start:end]) for start, end in _spans(len(word))]


def _unfile(shelf: dict[Key, list[str]], key: Key, word: str) -> None:
    shelf[key].remove(word)
    if not shelf[key]:
        del shelf[key]


def one_edit_away(word: str) -> set[str]:
    """Every string that one edit makes of a word; inserted letters are those of English."""
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = {head + tail[1:] for head, tail in cuts if tail}
    found.update(head + c + tail[1:] for head, tail in cuts if tail for c in _LETTERS)
    found.update(head + c + tail for head, tail in cuts for c in _LETTERS)
    return (found | _swaps(word)) - {word}


def _swaps(word: str) -> set[str]:
    return {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}


def within(one: str, other: str, edits: int) -> bool:
    """Whether so many inserted, lost or wrong letters make one word of the other."""
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    if same is None:
        return abs(len(one) - len(other)) <= edits
    if edits == 0:
        return False
    one, other = one[same:], other[same:]
    return (
        within(one[1:], other[1:], edits - 1)
        or within(one[1:], other, edits - 1)
        or within(one, other[1:], edits - 1)
    )
