"""From a run's list of staged files to a manifest. The list and the files come from a stranger's
process: every name, every kind and every number is checked, and nothing is repaired."""

from __future__ import annotations

import os
import re
import stat
from io import BufferedReader
from pathlib import Path

from msgspec.structs import replace

from toolstile.effects.regular import digest, digests, opened, straight
from toolstile.model.effect import Change
from toolstile.model.job import StagedFile

# No run writes more files than a person could look through.
MAX_FILES = 100_000
# Of each file: reading it takes seconds, and no end of it may keep a runtime from closing.
MAX_BYTES = 4 << 30
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_NAME = re.compile(r"[0-9]{6,12}")  # as the stage of a run counts them


def sealed(stage: Path, staged: tuple[StagedFile, ...]) -> tuple[Change, ...]:
    """The changes that a run staged; their files are durable and read-only from here on.

    Raises:
        ValueError: the list is not one that an honest run makes.
        OverflowError: a file is larger than a run may change.
        OSError: a staged file is missing, or no regular file.
    """
    if len(staged) > MAX_FILES:
        raise ValueError(f"a run stages at most {MAX_FILES:,} files")
    if len({file.path for file in staged}) < len(staged):
        raise ValueError("a path is staged twice")
    if stage.is_symlink():
        raise ValueError("the stage is no directory of ours any more")
    return tuple(_change(stage, file) for file in staged)


def _change(stage: Path, staged: StagedFile) -> Change:
    if staged.base is not None and not _DIGEST.fullmatch(staged.base):
        raise ValueError("the base of a staged file is no digest")
    if (staged.base is None) != (staged.base_mode is None):
        raise ValueError("a base has a mode, and what was not there has none")
    new = None if staged.file is None else _content(stage, staged.file)
    # Nine bits and no more: neither setuid nor setgid nor sticky is ever applied.
    mode = staged.mode & 0o777
    made = Change(
        path=staged.path,
        base=staged.base,
        base_mode=staged.base_mode,
        new=new,
        mode=mode,
        staged=staged.file,
        append=staged.append,
    )
    return _appended(stage, made) if staged.append else made


def _appended(stage: Path, change: Change) -> Change:
    """What adding to the end makes of the file that is there now. Its content goes nowhere: the
    run had no right to see it, and the stage may still be seen by what is left of the run."""
    if change.base is None or change.staged is None:
        raise ValueError("what is added to is there, and so is what is added")
    target = Path(change.path)
    try:
        with (
            straight(target.parent) as at,
            opened(target.name, at) as there,
            opened(stage / change.staged) as tail,
        ):
            mode = stat.S_IMODE(os.fstat(there.fileno()).st_mode)
            _check_size(there)
            base, new = digests(there, tail)
    except FileNotFoundError:  # removed since: a conflict, which committing finds
        return change
    return replace(change, base=base, base_mode=mode, new=new, mode=mode & 0o777)


def _check_size(file: BufferedReader) -> None:
    if os.fstat(file.fileno()).st_size > MAX_BYTES:
        raise OverflowError(f"a run changes files of at most {MAX_BYTES:,} bytes")


def _content(stage: Path, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("a staged file lies directly in the stage, and has a number for a name")
    with opened(stage / name) as file:
        # A second name would be somebody else's file: its bytes and its mode are not the run's.
        if os.fstat(file.fileno()).st_nlink != 1:
            raise ValueError("a staged file has one name only")
        _check_size(file)
        os.fchmod(file.fileno(), 0o400)
        os.fsync(file.fileno())
        return digest(file)
