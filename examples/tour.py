"""A guided tour: calls that are allowed, refused with the repair, and staged with a diff.

Run it with `make run`. It works in a temporary folder and leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from toolstile import ReadPath, Runtime, WritePath, tool

Length = Annotated[int, "Shorter words are left out."]


@dataclass
class Count:
    """How many words, and how many of them are different."""

    words: int
    different: int


@tool
def word_count(path: ReadPath, min_length: Length = 1) -> Count:
    """Count the words of a text file."""
    words = [word for word in path.read_text().split() if len(word) >= min_length]
    return Count(words=len(words), different=len(set(words)))


@tool
def replace_word(path: WritePath, old: str, new: str) -> int:
    """Replace a word everywhere in a text file."""
    text = path.read_text()
    path.write_text(text.replace(old, new))
    return text.count(old)


def heading(text: str) -> None:
    """A line between two stops of the tour."""
    print(f"\n── {text} " + "─" * max(0, 76 - len(text)))


def show(what: str, result: Any) -> None:
    """A call and how it ended."""
    print(f"   {what}")
    print(f"   → {result.status.word}", end="")
    print(f": {result.output_json}" if result.ok else f" [{result.error_code}]")
    if not result.ok:
        for line in (result.error_message or "").splitlines():
            print(f"     {line}")
    for issue in result.issues:
        print(f"     {issue.path or '(whole)'}: {issue.message}")
        print(f"       repair: {issue.hint}")


def refused(rt: Any) -> None:
    """Calls that a careless library would have run."""
    heading("Refused, with the repair")
    for raw in (
        '{"pth": "notes.txt"}',
        '{"path": "notes.txt", "min_length": "3"}',
        '{"path": "notes.txt", "path": "/etc/shadow"}',
        '{"path": "notes.txt", "min_length": 1e400}',
    ):
        show(f"word_count {raw}", rt.call("word_count", raw))
    for path in ("/etc/passwd", "../../etc/passwd"):
        show(f"word_count path={path}", rt.call(word_count, path=path))


def staged(rt: Any, notes: Path) -> None:
    """Confirm the effects, not the intention."""
    heading("Staged: the tool has run, nothing has changed, here is the diff")
    waits = rt.call(replace_word, path="notes.txt", old="turnstile", new="toolstile")
    show("replace_word turnstile → toolstile", waits)
    for line in rt.confirmation(waits.execution_id).diff.splitlines():
        print(f"     {line}")
    print(f"   the file still says: {notes.read_text(encoding='utf-8').splitlines()[0]!r}")
    heading("Approved: exactly that diff is made")
    show("approve", rt.approve(waits.execution_id))
    print(f"   the file now says:   {notes.read_text(encoding='utf-8').splitlines()[0]!r}")
    heading("Approved too late: somebody else's edit is never overwritten")
    waits = rt.call(replace_word, path="notes.txt", old="gate", new="door")
    notes.write_text("a person was faster\n", encoding="utf-8")
    show("approve", rt.approve(waits.execution_id))


def replayed(rt: Any) -> None:
    """One call id, one run."""
    heading("The same call id never runs twice")
    for _ in range(2):
        result = rt.call(word_count, path="notes.txt", call_id="turn-7")
        show(f"word_count (call id turn-7), replayed: {result.replayed}", result)


def main() -> None:
    """Walk the tour in a folder that is thrown away."""
    # Refusals are logged as warnings. The tour shows each of them itself.
    logging.getLogger("toolstile").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes.txt")
        notes.write_text("the turnstile counts\nthe gate decides\n", encoding="utf-8")
        settings = {"store": "memory:", "grants": {"fs_read": [folder], "fs_write": [folder]}}
        print("Two tools: word_count may read, replace_word may write, in one folder only.")
        runtime = Runtime(tools=[word_count, replace_word], settings=settings)
        with contextlib.chdir(folder), runtime.blocking() as rt:
            heading("Allowed")
            show("word_count path=notes.txt", rt.call(word_count, path="notes.txt"))
            show("word_count min_length=5", rt.call(word_count, path="notes.txt", min_length=5))
            refused(rt)
            staged(rt, notes)
            replayed(rt)
    print("\nEvery one of these calls was recorded. Next: README.md, `.venv/bin/toolstile --help`.")


if __name__ == "__main__":
    main()
