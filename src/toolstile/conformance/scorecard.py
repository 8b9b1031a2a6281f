"""How a target did: figures for each group, and every case that went wrong."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import msgspec

from toolstile.conformance.adapters import Target
from toolstile.conformance.attempt import Outcome, Result, judged
from toolstile.conformance.suite import Case, Suite

Progress = Callable[[int], None]
"""Told how many cases have been put."""

FORMATS = "formats"


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one group."""

    group: str
    title: str
    right: int
    wrong: int
    not_applicable: int

    @property
    def of(self) -> int:
        """How many cases say anything about the target."""
        return self.right + self.wrong


class Scorecard(msgspec.Struct, frozen=True, kw_only=True):
    """All results of one target. Cases about formats are a line of their own and do not count in
    the score: the standard leaves it open whether a format is asserted."""

    target: str
    results: tuple[Result, ...]
    lines: tuple[Line, ...]

    @property
    def right(self) -> int:
        """How many cases ended as the standard says."""
        return sum(line.right for line in self.lines if line.group != FORMATS)

    @property
    def of(self) -> int:
        """How many could be put."""
        return sum(line.of for line in self.lines if line.group != FORMATS)

    @property
    def wrong(self) -> tuple[Result, ...]:
        """What went wrong, formats too."""
        return tuple(r for r in self.results if _is_wrong(r.outcome))

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "target": self.target,
            "right": self.right,
            "of": self.of,
            "groups": [msgspec.to_builtins(line) for line in self.lines],
            "outcomes": dict(Counter(str(result.outcome) for result in self.results)),
            "wrong": [_told(result) for result in self.wrong],
        }


def _told(result: Result) -> dict[str, Any]:
    case = result.case
    return {
        "id": case.id,
        "group": case.group,
        "tool": case.tool,
        "expected": "accept" if case.accept else "refuse",
        "outcome": str(result.outcome),
        "why": case.why,
        "harm": case.harm,
        "detail": result.detail,
    }


def _is_wrong(outcome: Outcome) -> bool:
    return outcome not in (Outcome.RIGHT, Outcome.NOT_APPLICABLE)


async def run(target: Target, suite: Suite, progress: Progress = lambda done: None) -> Scorecard:
    """Put every case of a suite to a target. Raises TargetError where the target is lost."""
    turns = asyncio.Semaphore(target.at_once)
    done = count(1)

    async def put(case: Case) -> Result:
        async with turns:
            result = judged(case, await target.attempt(suite.tools[case.tool], case))
        progress(next(done))
        return result

    try:
        await target.open()
        async with asyncio.TaskGroup() as group:
            puts = [group.create_task(put(case)) for case in suite]
    except ExceptionGroup as errors:
        # The first that fails ends the others: nothing is put to a target that is lost.
        raise errors.exceptions[0] from errors
    finally:
        await target.close()
    results = tuple(each.result() for each in puts)
    return Scorecard(target=target.name, results=results, lines=tuple(_lines(suite, results)))


def _lines(suite: Suite, results: tuple[Result, ...]) -> Iterator[Line]:
    for group in suite.groups:
        own = [r for r in results if r.case.group == group.name and not r.case.format]
        if own:
            yield _line(group.name, group.title, own)
    formats = [result for result in results if result.case.format]
    if formats:
        yield _line(FORMATS, "Formats (not counted)", formats)


def _line(group: str, title: str, results: list[Result]) -> Line:
    outcomes = Counter(result.outcome for result in results)
    right, idle = outcomes[Outcome.RIGHT], outcomes[Outcome.NOT_APPLICABLE]
    return Line(
        group=group,
        title=title,
        right=right,
        wrong=len(results) - right - idle,
        not_applicable=idle,
    )
