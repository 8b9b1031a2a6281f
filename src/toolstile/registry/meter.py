"""Counters of one registry, under the seeds' names (contract section 9); exporting is others' work.

In-process and cheap: a lock and an addition. Tools are labels, arguments never are.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

Labels = tuple[tuple[str, str], ...]

# Tools beyond this many are counted together, so that labels cannot grow without bound.
MAX_TOOLS = 10_000


class Timing(msgspec.Struct, frozen=True):
    """How often something was timed, and for how long in all."""

    count: int = 0
    seconds: float = 0.0


class Readings(msgspec.Struct, frozen=True, kw_only=True):
    """All counters and timers at one moment."""

    counters: Mapping[tuple[str, Labels], int]
    timers: Mapping[str, Timing]

    def total(self, name: str, **labels: str) -> int:
        """The sum of a counter over everything that has these labels."""
        wanted = set(labels.items())
        return sum(
            count
            for (counter, found), count in self.counters.items()
            if counter == name and wanted <= set(found)
        )


class Meter:
    """Counts and times. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: Counter[tuple[str, Labels]] = Counter()
        self._timers: dict[str, Timing] = {}
        self._tools: set[str] = set()

    def validated(self, tool: str, outcome: str, code: str, seconds: float) -> None:
        """Arguments were checked: counted once, under the code that the call would end with, so
        that the share that succeeds follows from the counts."""
        with self._lock:
            labels = (("tool", self._label(tool)), ("outcome", outcome), ("code", code))
            self._counters["tools.registry.validations", labels] += 1
            self._time("tools.registry.validation.duration", seconds)

    def created(self) -> None:
        """A definition was added."""
        with self._lock:
            self._counters["tools.definitions.created", ()] += 1

    def defined(self, *, sound: bool, seconds: float) -> None:
        """A definition was checked."""
        with self._lock:
            self._counters["tools.definitions.validation.failures", ()] += not sound
            self._time("tools.definitions.validation.duration", seconds)

    def read(self) -> Readings:
        """Everything counted so far."""
        with self._lock:
            return Readings(
                counters=MappingProxyType(dict(self._counters)),
                timers=MappingProxyType(dict(self._timers)),
            )

    def _time(self, name: str, seconds: float) -> None:
        before = self._timers.get(name, Timing())
        self._timers[name] = Timing(before.count + 1, before.seconds + seconds)

    def _label(self, tool: str) -> str:
        if tool not in self._tools:
            if len(self._tools) >= MAX_TOOLS:
                return "(others)"
            self._tools.add(tool)
        return tool
