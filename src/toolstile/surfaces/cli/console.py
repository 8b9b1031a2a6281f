"""What a command says: JSON for programs, tab-separated lines for pipes, tables for people."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolstile.model.issue import Issue


def say(text: str) -> None:
    """A line of the command's answer, on stdout."""
    sys.stdout.write(_visible(text) + "\n")


def tell(text: str) -> None:
    """A message beside the answer, on stderr."""
    sys.stderr.write(_visible(text) + "\n")


def document(value: Any) -> None:
    """The one JSON document of `--json`. It is UTF-8, or ASCII where that cannot be written."""
    as_ascii = sys.stdout.encoding.lower() not in ("utf-8", "utf8")
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=as_ascii) + "\n")


def open_streams() -> None:
    """See that all three streams are there and take any text. A closed one is opened on nothing:
    else the next file that is opened would be taken for it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            nothing = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - till the end
            setattr(sys, name, nothing)
        elif mode == "w":
            # What a terminal of another encoding cannot show, and half a pair from a file's name.
            stream.reconfigure(errors="backslashreplace")


def silence() -> None:
    """Whatever is still to be written goes nowhere: Python would complain while ending."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def done(message: str, facts_of_it: Mapping[str, Any], *, as_json: bool) -> None:
    """What a command has changed: JSON for programs, words on stderr for people."""
    if as_json:
        document(dict(facts_of_it))
    else:
        tell(message)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on a terminal; without one, a line per row and a tab between cells."""
    if not sys.stdout.isatty():
        for row in rows:
            sys.stdout.write("\t".join(_cell(cell) for cell in row) + "\n")
        return
    drawn = Table(title=title, title_justify="left")
    cells = [[_cell(cell) for cell in row] for row in rows]
    # The first column names what other commands are given: it is never cut, and folded at worst.
    widest = max((len(row[0]) for row in cells), default=0)
    drawn.add_column(columns[0], no_wrap=True, min_width=widest, overflow="fold")
    for column in columns[1:]:
        drawn.add_column(column)
    for row in cells:
        # Text, not markup: a description may hold square brackets.
        drawn.add_row(*(Text(cell) for cell in row))
    Console().print(drawn)


def issues(found: Iterable[Issue], total: int | None = None) -> None:
    """Issues for people: place, message, repair, code."""
    shown = list(found)
    for issue in shown:
        say(f"✗ {issue.path or '(whole)'}: {issue.message} [{issue.error_code}]")
        if issue.hint:
            say(f"    {issue.hint}")
    if total is not None and total > len(shown):
        say(f"… and {total - len(shown)} more")


def failure(code: str, message: str, hint: str | None, *, as_json: bool) -> None:
    """Why a command failed: JSON on stdout for programs, words on stderr for people."""
    if as_json:
        document({"error": {"code": code, "message": message, "hint": hint}})
        return
    tell(f"toolstile: {message} [{code}]")
    if hint:
        tell(f"  {hint}")


def _cell(text: str) -> str:
    """One line without tabs: the text of strangers may not break a table or a pipe."""
    return _visible(" ".join(str(text).split()))


def _visible(text: str) -> str:
    """Control characters written out: nothing that is printed may drive the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)


def facts(pairs: Mapping[str, Any]) -> None:
    """Named values, one a line."""
    for name, value in pairs.items():
        say(f"{name}: {value}")
