"""What tool search costs: building, one change, one search, and memory.

Tools are made of everyday words, some far more common than others, and of made-up ones, so that
the vocabulary grows with the tools as it does in life. Wall time on one thread, medians first.
Run: python bench_search.py [--tools 100000] [--memory]
"""

from __future__ import annotations

import argparse
import random
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from time import perf_counter

from toolstile.registry.search import SearchEntry, SearchIndex
from toolstile.registry.synonyms import MEANINGS

EVERYDAY = sorted({word for meaning in MEANINGS for word in meaning})
SYLLABLES = [c + v for c in "bcdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "an", "or")]
MADE_UP = 40_000
CHANGES = 400
SEARCHES = 200


def sampler(dice: random.Random) -> Callable[[int], list[str]]:
    """Draws words; the n-th of the vocabulary about 1/n as often as the first."""
    everyday = dice.sample(EVERYDAY, len(EVERYDAY))
    made_up = ["".join(dice.choices(SYLLABLES, k=dice.randint(2, 4))) for _ in range(MADE_UP)]
    vocabulary = everyday + made_up

    def draw(count: int) -> list[str]:
        return [vocabulary[int(len(vocabulary) ** dice.random()) - 1] for _ in range(count)]

    return draw


def tools(count: int, draw: Callable[[int], list[str]]) -> Iterator[SearchEntry]:
    """Tools with three words and a number in the name, fifteen to describe, twelve for more."""
    for number in range(count):
        yield SearchEntry(
            name="_".join([*draw(3), str(number)]),
            description=" ".join(draw(15)).capitalize() + ".",
            category=EVERYDAY[number % 12],
            keywords=tuple(draw(12)),
        )


def slip(word: str) -> str:
    """The word with two letters swapped."""
    return word[:1] + word[2:3] + word[1:2] + word[3:]


def queries(entries: Sequence[SearchEntry], dice: random.Random) -> dict[str, list[str]]:
    """Queries of each kind, made from tools that are there."""
    common = Counter(word for entry in entries[:5000] for word in entry.description[:-1].split())
    words = [dice.choice(entries).description[:-1].lower().split() for _ in range(SEARCHES)]
    kinds = {f"{n} word{'s'[: n - 1]}": [" ".join(some[:n]) for some in words] for n in range(1, 5)}
    kinds["3 words, one slip"] = [" ".join([*some[:2], slip(some[2])]) for some in words]
    kinds["exact name"] = [dice.choice(entries).name for _ in range(SEARCHES)]
    kinds["commonest word"] = [word for word, _ in common.most_common(1)] * 20
    kinds["16 words"] = [" ".join(some + some[:1]) for some in words[:40]]
    kinds["16 unknown words"] = ["".join(f" {slip(w)}xqz" for w in some) for some in words[:40]]
    return kinds


def times(actions: Iterable[Callable[[], object]]) -> list[float]:
    """Sorted milliseconds of each action."""
    taken = []
    for action in actions:
        start = perf_counter()
        action()
        taken.append((perf_counter() - start) * 1e3)
    return sorted(taken)


def show(what: str, taken: Sequence[float]) -> None:
    """One line: median, 95th of a hundred, longest."""
    median, high = taken[len(taken) // 2], taken[len(taken) * 95 // 100]
    print(f"{what:<28}{median:>9.4f}{high:>9.4f}{taken[-1]:>9.3f}")


def measure(entries: Sequence[SearchEntry], fresh: Sequence[SearchEntry]) -> None:
    """Print what changes and searches take in an index of these entries."""
    index = SearchIndex()

    def taken_in(change: Callable[[], None]) -> None:
        change()
        index.size()

    show("add, noted", times(partial(index.add, entry) for entry in entries))
    (built,) = times([index.size])
    print(f"{'build, by the first search':<28}{built:>9.0f}{built / len(entries):>9.4f} each")
    print(index.size())
    for kind, asked in queries(entries, random.Random(2)).items():
        show(f"search, {kind}", times(partial(index.search, query) for query in asked))
    added = (partial(index.add, entry) for entry in fresh)
    show("add, taken in", times(partial(taken_in, change) for change in added))
    removed = (partial(index.remove, entry.name) for entry in fresh)
    show("remove, taken in", times(partial(taken_in, change) for change in removed))


def main() -> None:
    """Measure an index of the size asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=int, default=100_000)
    parser.add_argument("--memory", action="store_true", help="bytes per tool instead of times")
    options = parser.parse_args()
    draw = sampler(random.Random(1))
    entries = list(tools(options.tools + CHANGES, draw))
    if options.memory:
        tracemalloc.start()
        index = SearchIndex(entries)
        words = index.size().words
        each = tracemalloc.get_traced_memory()[0] / len(entries)
        print(f"{each:.0f} bytes a tool beside its entry, {words} different words")
        return
    print(f"{f'{options.tools} tools, ms':<28}{'median':>9}{'95 %':>9}{'max':>9}")
    measure(entries[:-CHANGES], entries[-CHANGES:])


if __name__ == "__main__":
    main()
