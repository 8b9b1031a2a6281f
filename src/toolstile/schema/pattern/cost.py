"""What a hostile string can make a pattern cost, found out before the pattern is accepted.

The engine never backtracks, yet it is fast only while its lazily built automaton fits its cache.
Once that overflows it walks all positions that a match may have reached, for each byte: 10 ns times
hundreds of positions, where the automaton takes 1 ns. So the automaton is built here first, on
symbols instead of bytes, and a pattern is refused whose automaton grows too large. It is small for
nearly everything that people write by hand; what makes it grow are counted repetitions that begin
anew while earlier ones still run, as in `.*a.{100}` or an unanchored `(.{1,50}){1,20}z`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from toolstile.schema.pattern import syntax
from toolstile.schema.pattern.alphabet import Alphabet, alphabet
from toolstile.schema.pattern.syntax import Chars, Choice, Edge, Node, PatternRefused, Repeat

CACHE_BYTES = 2 * 1024 * 1024
"""Room for the engine's automaton, per pattern and thread; what the regex crate has by default."""
MAX_STATES_BYTES = CACHE_BYTES * 3 // 4
MAX_BUILD_NS = 12_000_000
"""For building an automaton while matching: two take 24 ms of the 50 ms that 1 MB may take."""
MAX_STEPS = 200_000
"""What looking may cost ourselves: some 60 ms, for patterns that are about to be refused."""
MAX_WALK = 500_000
"""Characters times positions an anchored pattern without loops can touch: 20 ms at 40 ns each."""

# Measured with regex 1.13: a transition takes 150 ns to build, and 7 ns more for each position in
# its state; a state takes 100 bytes, 2 for each position, and 4 for each transition.
_TRANSITION_NS, _POSITION_NS = 150, 7
_STATE_BYTES, _POSITION_BYTES, _TRANSITION_BYTES = 100, 2, 4
# Characters of several bytes take states in between: `.` 1.5 KB of them, \p{L} 180 KB, and a class
# of six general categories no more than that.
_RANGE_TRANSITIONS, _PROPERTY_TRANSITIONS, _BETWEEN_BYTES = 8, 2500, 72

# The last character of one and of two bytes in UTF-8, and of the rest before the surrogates: from
# each on, a range needs bytes of its own.
_ENCODING_LIMITS = (0x7F, 0x7FF, 0xFFFF)
_BOUNDARIES = ("b", "B")
_STEPS_PER_PLACE = 4  # that is how much longer it takes to make a place than to pass one
_MATCH = 0


class Extent(NamedTuple):
    """How far a tree stretches: positions once repetitions are written out, and its matches."""

    positions: int
    shortest: int
    longest: int | None


class _State(NamedTuple):
    """Where a match may be, most wanted first, and whether a word character came last."""

    places: tuple[int, ...]
    after_word: bool


class _Origin(NamedTuple):
    """Where in a string the engine begins to walk."""

    at_start: bool
    after_word: bool


_START = _Origin(at_start=True, after_word=False)
_MIDWAY = [_Origin(at_start=False, after_word=word) for word in (False, True)]


def refuse_costly(tree: Node) -> None:
    """Hold a pattern to 50 ms on any string of 1 MB.

    Raises:
        PatternRefused: the engine's automaton could outgrow its cache, or the time.
    """
    anchored = starts_anchored(tree)
    leaves = list(dict.fromkeys(_leaves(tree)))
    edges = {leaf.kind for leaf in leaves if isinstance(leaf, Edge)}
    positions, shortest, longest = extent(tree)
    if "B" in edges and shortest == 0:
        # Between the bytes of one character the engine finds \B, rejects it, and searches again
        # from one byte after where it began, not from there: time grows with the square.
        hint = r"demand a character beside it, as in \Bx"
        raise PatternRefused(r"\B in a pattern that matches the empty string", 0, hint)
    if anchored and longest is not None and positions * longest <= MAX_WALK:
        return
    classes = [leaf for leaf in leaves if isinstance(leaf, Chars)]
    symbols = alphabet(classes, words=not edges.isdisjoint(_BOUNDARIES))
    _refuse_large(tree, symbols, anchored=anchored)


def _refuse_large(tree: Node, symbols: Alphabet, *, anchored: bool) -> None:
    forward = _Automaton(tree, symbols)
    forward.explore([_START], restarts=not anchored)
    if not anchored:
        # The engine may look for a literal of the pattern first, and walk both ways from there.
        forward.explore(_MIDWAY, restarts=False)
        backward = _Automaton(tree, symbols, backward=True)
        backward.explore([_START, *_MIDWAY], restarts=False)


def extent(node: Node) -> Extent:
    """How many positions the tree has, and how many characters a match of it."""
    match node:
        case Chars():
            return Extent(1, 1, 1)
        case Edge():
            return Extent(1, 0, 0)
        case Repeat(item=item, low=low, high=high):
            positions, shortest, longest = extent(item)
            copies = max(low, 1) if high is None else high
            endless = longest is None or (high is None and longest > 0)
            longest = None if endless else (longest or 0) * copies
            return Extent(positions * copies, shortest * low, longest)
    parts = [extent(part) for part in _parts(node)]
    lengths = [part.longest for part in parts if part.longest is not None]
    least, most = (min, max) if isinstance(node, Choice) else (sum, sum)
    return Extent(
        sum(part.positions for part in parts),
        least([part.shortest for part in parts]),
        most(lengths) if len(lengths) == len(parts) else None,
    )


def starts_anchored(node: Node) -> bool:
    """Whether every match begins with ^."""
    match node:
        case Edge(kind=kind):
            return kind == "^"
        case Choice(options=options):
            return all(starts_anchored(option) for option in options)
        case syntax.Sequence(items=(first, *_)):
            return starts_anchored(first)
        case Repeat(item=item, low=low):
            return low > 0 and starts_anchored(item)
    return False


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case syntax.Sequence(items=parts) | Choice(options=parts):
            return parts
        case Repeat(item=item):
            return (item,)
    return ()


def _leaves(node: Node) -> Iterator[Chars | Edge]:
    if isinstance(node, Chars | Edge):
        yield node
    for part in _parts(node):
        yield from _leaves(part)


class _Budget:
    """What is left to spend on an automaton: our own steps, the engine's time and its memory."""

    def __init__(self) -> None:
        self.steps = MAX_STEPS
        self.time = MAX_BUILD_NS
        self.memory = MAX_STATES_BYTES

    def spend_steps(self, steps: int) -> None:
        self.steps -= steps
        self._check()

    def spend_state(self, places: int, symbols: int, between: int) -> None:
        self.time -= (symbols + between) * (_TRANSITION_NS + _POSITION_NS * places)
        self.memory -= _STATE_BYTES + _POSITION_BYTES * places
        self.memory -= _TRANSITION_BYTES * symbols + _BETWEEN_BYTES * between
        self._check()

    def _check(self) -> None:
        if min(self.steps, self.time, self.memory) < 0:
            raise PatternRefused(
                "a hostile string could make the pattern take too long",
                0,
                "anchor it with ^ if it is not, and use maxLength in place of {m,n}",
            )


class _Automaton:
    """A pattern as places and what leads on from them; read from its end if `backward`.

    A place consumes a character of its class, or is an edge, or leads on to several others.
    """

    def __init__(self, tree: Node, symbols: Alphabet, *, backward: bool = False) -> None:
        self.symbols = symbols
        self.budget = _Budget()
        self.backward = backward
        self.between = [_between(chars) for chars in symbols.numbers]
        self.classes: list[int | None] = [None]
        self.edges: list[str] = [""]
        self.targets: list[tuple[int, ...]] = [()]
        self.entry = self._build(tree, _MATCH)

    def _place(self, *targets: int, of: int | None = None, edge: str = "") -> int:
        self.classes.append(of)
        self.edges.append(edge)
        self.targets.append(targets)
        return len(self.targets) - 1

    def _build(self, node: Node, then: int) -> int:
        """The place where `node`, and then the place `then`, begins."""
        self.budget.spend_steps(_STEPS_PER_PLACE)
        match node:
            case Chars():
                return self._place(then, of=self.symbols.numbers[node])
            case Edge(kind=kind):
                turned = {"^": "$", "$": "^"}.get(kind, kind) if self.backward else kind
                return self._place(then, edge=turned)
            case syntax.Sequence(items=items):
                for item in items if self.backward else reversed(items):
                    then = self._build(item, then)
                return then
            case Choice(options=options):
                return self._place(*[self._build(option, then) for option in options])
            case Repeat():
                return self._build_repeat(node, then)

    def _build_repeat(self, node: Repeat, then: int) -> int:
        if node.high is None:
            again = self._place()
            once = self._build(node.item, again)
            self.targets[again] = (once, then)
            entry, copies = (once, node.low - 1) if node.low else (again, 0)
        else:
            entry, copies = then, node.low
            for _ in range(node.high - node.low):
                entry = self._place(self._build(node.item, entry), then)
        for _ in range(copies):
            entry = self._build(node.item, entry)
        return entry

    def explore(self, origins: Iterable[_Origin], *, restarts: bool) -> None:
        """Reach every state there is; with `restarts`, a match may begin at each character."""
        waiting = [
            self._state(self._reach([self.entry], at_start=origin.at_start), origin.after_word)
            for origin in origins
        ]
        seen = set()
        while waiting:
            state = waiting.pop()
            if state not in seen:
                seen.add(state)
                self._spend(state)
                waiting.extend(self._following(state, [self.entry] * restarts))

    def _spend(self, state: _State) -> None:
        classes = {self.classes[place] for place in state.places}
        between = sum(self.between[number] for number in classes if number is not None)
        self.budget.spend_state(len(state.places), len(self.symbols.word), between)

    def _state(self, places: tuple[int, ...], word: bool) -> _State:
        asked = any(self.edges[place] in _BOUNDARIES for place in places)
        return _State(places, asked and word)

    def _following(self, state: _State, restart: list[int]) -> Iterator[_State]:
        for word in set(self.symbols.word):
            places = self._passed(state, word)
            onward: dict[int, list[int]] = defaultdict(list)
            for place in places:
                for symbol in self._consumed(place):
                    if self.symbols.word[symbol] == word:
                        onward[symbol] += self.targets[place]
            for targets in {tuple(targets) for targets in onward.values()} | {()}:
                yield self._state(self._reach([*targets, *restart]), word)

    def _consumed(self, place: int) -> tuple[int, ...]:
        number = self.classes[place]
        symbols = () if number is None else self.symbols.members[number]
        self.budget.spend_steps(len(symbols))
        return symbols

    def _passed(self, state: _State, word: bool) -> tuple[int, ...]:
        if not any(self.edges[place] in _BOUNDARIES for place in state.places):
            return state.places
        return self._reach(state.places, boundary=word != state.after_word)

    def _reach(
        self, places: Iterable[int], *, at_start: bool = False, boundary: bool | None = None
    ) -> tuple[int, ...]:
        """The places that consume or must wait, reached from these without consuming.

        Word boundaries wait until the next symbol is known, and so whether there is a `boundary`.
        What is less wanted than a match is cut off, as the engine does; backwards it keeps all.
        """
        waiting = list(places)[::-1]
        seen = set()
        reached = []
        steps = 0
        while waiting:
            steps += 1
            place = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            edge = self.edges[place]
            if place == _MATCH and not self.backward:
                break
            if self._waits(place, boundary):
                reached.append(place)
            elif not edge or (at_start if edge == "^" else boundary == (edge == "b")):
                waiting.extend(self.targets[place][::-1])
        self.budget.spend_steps(steps)
        return tuple(reached)

    def _waits(self, place: int, boundary: bool | None) -> bool:
        edge = self.edges[place]
        if not edge:
            return self.classes[place] is not None
        return edge == "$" or (boundary is None and edge in _BOUNDARIES)


def _between(chars: Chars) -> int:
    """Transitions that the several bytes of its characters add to a state."""
    wide = sum(high > limit for _, high in chars.ranges for limit in _ENCODING_LIMITS)
    return _RANGE_TRANSITIONS * wide + _PROPERTY_TRANSITIONS * bool(chars.properties)
