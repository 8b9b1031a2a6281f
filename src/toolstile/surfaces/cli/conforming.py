"""`toolstile conformance`: a public suite of malformed calls, for this gate and for any other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from toolstile.conformance import Case, Scorecard, Suite, load_suite, run
from toolstile.conformance.adapters import AdapterTarget, Target, TargetError, from_check, named
from toolstile.conformance.badge import badge
from toolstile.conformance.mcp import McpTarget
from toolstile.conformance.ours import COMMAND_LINE, WAYS, our_targets
from toolstile.surfaces.cli import console
from toolstile.surfaces.cli.invocation import FOUND, OK, TOOL_LOG, USAGE, Fail, Invocation

EVERY_WAY = (*WAYS, COMMAND_LINE)
# As many cases as are told one by one unless all are asked for.
SHOWN = 10


class Put(msgspec.Struct, frozen=True, kw_only=True):
    """What the suite is put to, and how much of it."""

    adapter: Annotated[
        str | None,
        typer.Option(metavar="WHERE", help="A framework: module:NAME or FILE.py:NAME."),
    ] = None
    check: Annotated[
        str | None,
        typer.Option(metavar="WHERE", help="A function (schema, text) -> arguments, or raises."),
    ] = None
    mcp: Annotated[
        str | None, typer.Option(metavar="SERVER", help="An MCP server: a command, or its address.")
    ] = None
    way: Annotated[
        list[str] | None,
        typer.Option(metavar="WAY", help=f"Toolstile itself: {', '.join(EVERY_WAY)}, or all."),
    ] = None
    group: Annotated[
        list[str] | None, typer.Option(metavar="GROUP", help="Only cases of this group.")
    ] = None
    case: Annotated[list[str] | None, typer.Option(metavar="ID", help="Only this case.")] = None
    badge: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the score as an SVG picture.")
    ] = None
    verbose: Annotated[bool, typer.Option("--verbose", help="Tell every case that went wrong.")] = (
        False
    )
    tools: Annotated[
        bool, typer.Option("--tools", help="Print the tools that an MCP server is to list.")
    ] = False
    cases: Annotated[bool, typer.Option("--cases", help="List the cases, and run none.")] = False


def conformance(cli: Invocation, put: Put = Put()) -> int:  # noqa: B008 - frozen
    """Put a suite of malformed calls to Toolstile, an MCP server or another framework."""
    suite = _suite(put)
    if put.tools:
        console.document([tool.to_mcp() for tool in suite.tools.values()])
        return OK
    if put.cases:
        return _list(cli, suite)
    # What a refused call is logged for is what is being tried here.
    for name in ("toolstile", TOOL_LOG):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    cards = [_run(cli, target, suite) for target in _targets(put, suite)]
    if put.badge is not None:
        _draw(put.badge, cards)  # first: what fails is told in one document
    _report(cli, cards, put)
    return FOUND if any(card.right < card.of for card in cards) else OK


def _suite(put: Put) -> Suite:
    whole = load_suite()
    groups, ids = tuple(put.group or ()), tuple(put.case or ())
    known = {group.name for group in whole.groups}
    for name in groups:
        if name not in known:
            hint = f"one of: {', '.join(group.name for group in whole.groups)}"
            raise Fail(USAGE, "USAGE", f"there is no group '{name[:64]}'", hint)
    unknown = set(ids) - {case.id for case in whole}
    if unknown:
        hint = "`toolstile conformance --cases` lists them"
        raise Fail(USAGE, "USAGE", f"there is no case '{min(unknown)[:64]}'", hint)
    return whole.only(groups=groups, ids=ids)


def _targets(put: Put, suite: Suite) -> list[Target]:
    given = [each for each in (put.adapter, put.check, put.mcp, put.way) if each]
    if len(given) > 1:
        hint = "leave all but one of --adapter, --check, --mcp and --way out"
        raise Fail(USAGE, "USAGE", "the suite is put to one kind of target at a time", hint)
    try:
        if put.adapter is not None:
            return [AdapterTarget(named(put.adapter), put.adapter)]
        if put.check is not None:
            return [AdapterTarget(from_check(named(put.check)), put.check)]
        if put.mcp is not None:
            return [McpTarget(put.mcp)]
    except TargetError as error:
        raise Fail(USAGE, "USAGE", str(error), "`--help` says what can be named") from error
    return list(our_targets(_ways(put), suite))


def _ways(put: Put) -> tuple[str, ...]:
    ways = tuple(put.way or ("function",))
    if ways == ("all",):
        return EVERY_WAY
    for way in ways:
        if way not in EVERY_WAY:
            hint = f"one of: {', '.join(EVERY_WAY)}, or all"
            raise Fail(USAGE, "USAGE", f"there is no way '{way[:64]}'", hint)
    return ways


def _run(cli: Invocation, target: Target, suite: Suite) -> Scorecard:
    try:
        with _progress(cli, target.name, len(suite)) as advance:
            return asyncio.run(run(target, suite, advance))
    except TargetError as error:
        raise Fail(USAGE, "USAGE", str(error), "see that it runs by itself") from error


@contextmanager
def _progress(cli: Invocation, title: str, total: int) -> Iterator[Any]:
    """A bar on a terminal, and nothing elsewhere."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    said = Console(stderr=True)
    hidden = cli.as_json or not said.is_terminal
    with Progress(*columns, console=said, transient=True, disable=hidden) as bar:
        task = bar.add_task(title[:60], total=total)
        yield lambda done: bar.update(task, completed=done)


def _list(cli: Invocation, suite: Suite) -> int:
    if cli.as_json:
        groups = [
            {
                "group": group.name,
                "title": group.title,
                "about": group.about,
                "cases": [_case(case) for case in group.cases],
            }
            for group in suite.groups
        ]
        console.document({"groups": groups, "total": len(suite)})
        return OK
    rows = ((case.id, "accept" if case.accept else "refuse", case.why) for case in suite)
    console.table("Cases", ("Case", "Expected", "Why"), rows)
    return OK


def _case(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "tool": case.tool,
        "text": case.text.decode(errors="backslashreplace") if len(case.text) < 1_000 else None,
        "expected": "accept" if case.accept else "refuse",
        "why": case.why,
        "harm": case.harm,
        "format": case.format,
    }


def _report(cli: Invocation, cards: list[Scorecard], put: Put) -> None:
    if cli.as_json:
        console.document({"targets": [card.to_dict() for card in cards]})
        return
    for card in cards:
        console.say(f"{card.target}: {card.right} of {card.of} as the standard says")
        rows = [
            (line.group, f"{line.right} of {line.of}", str(line.not_applicable), line.title)
            for line in card.lines
        ]
        console.table("", ("Group", "Right", "Not applicable", "About"), rows)
        shown = card.wrong if put.verbose else card.wrong[:SHOWN]
        for result in shown:
            expected = "accepted" if result.case.accept else "refused"
            console.say(f"✗ {result.case.id}: {result.outcome}, to be {expected}")
            console.say(f"    {result.case.why} {result.case.harm}")
        if len(card.wrong) > len(shown):
            console.tell(f"… and {len(card.wrong) - len(shown)} more; --verbose tells them all")


def _draw(path: Path, cards: list[Scorecard]) -> None:
    picture = badge(sum(card.right for card in cards), sum(card.of for card in cards))
    try:
        path.write_text(picture, encoding="utf-8")
    except OSError as error:
        hint = "name a file in a folder that is there"
        raise Fail(USAGE, "USAGE", f"cannot write {path}: {error.strerror}", hint) from error
