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
def save_note(path: WritePath, text: str) -> int:
    """Write a text file whole; how many characters it has."""
    return path.write_text(text)


def heading(text: str) -> None:
    """A line between two stops of the tour."""
    print(f"\n── {text} " + "─" * max(0, 76 - len(text)))


def show(what: str, result: Any, expected: str) -> None:
    """A call and how it ended, which is what the tour promises: else it stops here."""
    print(f"   {what}")
    print(f"   → {result.status.word}", end="")
    print(f": {result.output_json}" if result.ok else f" [{result.error_code}]")
    if not result.ok:
        for line in (result.error_message or "").splitlines():
            print(f"     {line}")
    for issue in result.issues:
        print(f"     {issue.path or '(whole)'}: {issue.message}")
        print(f"       repair: {issue.hint}")
    found = "SUCCESS" if result.ok else result.error_code
    promise(f"'{what}' ends in {expected}, not in {found}", holds=found == expected)


def promise(text: str, *, holds: bool) -> None:
    """The tour is run by CI: where something is not as it is shown, it fails with words."""
    if not holds:
        raise SystemExit(f"\nThe tour stops: it promises that {text}. Please report this.")


def refused(rt: Any) -> None:
    """Calls that a careless library would have run."""
    heading("Refused, with the repair")
    for raw, code in (
        ('{"pth": "notes.txt"}', "ACODE_TSR_003"),
        ('{"path": "notes.txt", "min_length": "3"}', "ACODE_TSR_004"),
        ('{"path": "notes.txt", "path": "/etc/shadow"}', "ACODE_TSR_002"),
        ('{"path": "notes.txt", "min_length": 1e400}', "ACODE_TSR_002"),
    ):
        show(f"word_count {raw}", rt.call("word_count", raw), code)
    for path in ("/etc/passwd", "../../etc/passwd"):
        show(f"word_count path={path}", rt.call(word_count, path=path), "PERMISSION_DENIED")


def staged(rt: Any, notes: Path) -> None:
    """Confirm the effects, not the intention."""
    heading("Staged: the tool has run, nothing has changed, here is the diff")
    before = notes.read_text(encoding="utf-8")
    after = before.replace("turnstile", "toolstile")
    waits = rt.call(save_note, path="notes.txt", text=after)
    show("save_note path=notes.txt", waits, "REQUIRES_CONFIRMATION")
    for line in rt.confirmation(waits.execution_id).diff.splitlines():
        print(f"     {line}")
    says(notes, "the file still says:", before)
    heading("Approved: exactly that diff is made")
    show("approve", rt.approve(waits.execution_id), "SUCCESS")
    says(notes, "the file now says:  ", after)
    heading("Approved too late: somebody else's edit is never overwritten")
    waits = rt.call(save_note, path="notes.txt", text="the tool was late\n")
    show("save_note path=notes.txt", waits, "REQUIRES_CONFIRMATION")
    theirs = "a person was faster\n"
    notes.write_text(theirs, encoding="utf-8")
    show("approve", rt.approve(waits.execution_id), "EFFECT_CONFLICT")
    says(notes, "the file says:      ", theirs)


def says(notes: Path, words: str, expected: str) -> None:
    """What stands in the file, which nothing but an approval changes."""
    text = notes.read_text(encoding="utf-8")
    print(f"   {words} {text.splitlines()[0]!r}")
    promise("the file holds what was shown", holds=text == expected)


def replayed(rt: Any) -> None:
    """One call id, one run."""
    heading("The same call id never runs twice")
    for again in (False, True):
        result = rt.call(word_count, path="notes.txt", call_id="turn-7")
        show(f"word_count (call id turn-7), replayed: {result.replayed}", result, "SUCCESS")
        promise("only the second call is a replay", holds=result.replayed is again)


def main() -> None:
    """Walk the tour in a folder that is thrown away."""
    # Refusals are logged as warnings. The tour shows each of them itself.
    logging.getLogger("toolstile").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder, "notes.txt")
        notes.write_text("the turnstile counts\nthe gate decides\n", encoding="utf-8")
        settings = {"store": "memory:", "grants": {"fs_read": [folder], "fs_write": [folder]}}
        print("Two tools: word_count may read, save_note may write, in one folder only.")
        runtime = Runtime(tools=[word_count, save_note], settings=settings)
        with contextlib.chdir(folder), runtime.blocking() as rt:
            heading("Allowed")
            show("word_count path=notes.txt", rt.call(word_count, path="notes.txt"), "SUCCESS")
            longer = rt.call(word_count, path="notes.txt", min_length=5)
            show("word_count path=notes.txt min_length=5", longer, "SUCCESS")
            refused(rt)
            staged(rt, notes)
            replayed(rt)
    print("\nEvery one of these calls was recorded. Next: README.md, `.venv/bin/toolstile --help`.")


if __name__ == "__main__":
    main()
