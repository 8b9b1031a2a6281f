"""Paths as text: one spelling for each, and which lies beneath which.

Nothing here looks at a disk: links, letter case on case-insensitive volumes and mounts are the
business of whoever opens the path (beneath a directory handle). Text is compared as it is, code
point by code point; two Unicode spellings of one visible name are two names, so the worst that
a difference can do is refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolstile.model.spelling import SpellingError

MAX_BYTES = 4096  # Linux PATH_MAX
MAX_PARTS = 256  # names in one path; far beyond any real tree, and it bounds ancestors()

# A path is shown to the person who approves it and written to one line of a log. So nothing in it
# may end a line, drive a terminal or turn the reading direction (https://trojansource.codes); and
# a lone surrogate has no bytes. Backslash is an ordinary character of a POSIX name.
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class PathError(SpellingError):
    """A text cannot be taken as a path; `hint` says what to write instead."""


def normalise(path: str) -> str:
    """Give an absolute path its one spelling: no `.`, `..`, `//` or trailing slash.

    `..` is resolved in the text. What is opened must be the result, never the original: behind a
    link the two may differ.

    Raises:
        PathError: the path is not absolute, too long, or holds characters no path may hold.
    """
    _check_text(path)
    if not path.startswith("/"):
        raise PathError("this path is relative", "write it from the root, beginning with '/'")
    kept: list[str] = []
    for name in path.split("/"):
        if name == "..":
            del kept[-1:]  # above the root is the root, as POSIX has it
        elif name not in ("", "."):
            kept.append(name)
    if len(kept) > MAX_PARTS:
        raise PathError(f"a path has at most {MAX_PARTS} names", "use a flatter directory")
    return "/" + "/".join(kept)


def join(base: str, text: str) -> str:
    """Give `text` its one spelling, read from the directory `base` if it is relative.

    The result may lie outside `base`: `beneath` tells.

    Raises:
        PathError: either is no path, `base` is relative, or `text` begins with `~/`.
    """
    _check_text(text)
    if text == "~" or text.startswith("~/"):
        raise PathError("'~' is not expanded", "write the home directory in full")
    directory = normalise(base)
    return normalise(text if text.startswith("/") else f"{directory}/{text}")


def beneath(path: str, directory: str) -> bool:
    """Tell whether `path` is `directory` or lies in it, name by name; both in their one spelling.

    /safe holds /safe/a but neither /safe-evil nor /SAFE/a.
    """
    outer = names(directory)
    return names(path)[: len(outer)] == outer


def names(path: str) -> tuple[str, ...]:
    """Split a path in its one spelling into its names."""
    return tuple(path[1:].split("/")) if path != "/" else ()


def ancestors(path: str) -> Iterator[str]:
    """Yield the directories above `path`, nearest first, the root last."""
    while path != "/":
        path = path[: path.rindex("/")] or "/"
        yield path


def _check_text(text: str) -> None:
    if not text:
        raise PathError("a path cannot be empty", "write '.' for the directory itself")
    if len(text) <= MAX_BYTES and _FORBIDDEN.search(text):
        raise PathError("this path holds control characters", "use visible characters only")
    # Only now: what has no control characters has no lone surrogates, so it can be encoded.
    if len(text) > MAX_BYTES or len(text.encode()) > MAX_BYTES:
        raise PathError(f"a path has at most {MAX_BYTES} bytes", "use a shorter one")
