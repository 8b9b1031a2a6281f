"""From a run's list of staged files to a manifest. The list and the files come from a stranger's
process: every name, every kind and every number is checked, and nothing is repaired."""

from __future__ import annotations

import os
import re
from pathlib import Path

from toolstile.effects.regular import digest, opened
from toolstile.model.effect import Change
from toolstile.model.job import StagedFile

# No run writes more files than a person could look through.
MAX_FILES = 100_000
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_NAME = re.compile(r"[0-9]{6,12}")  # as the stage of a run counts them


def sealed(stage: Path, staged: tuple[StagedFile, ...]) -> tuple[Change, ...]:
    """The changes that a run staged; their files are durable and read-only from here on.

    Raises:
        ValueError: the list is not one that an honest run makes.
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
    return Change(
        path=staged.path,
        base=staged.base,
        base_mode=staged.base_mode,
        new=new,
        mode=mode,
        staged=staged.file,
    )


def _content(stage: Path, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("a staged file lies directly in the stage, and has a number for a name")
    with opened(stage / name) as file:
        # A second name would be somebody else's file: its bytes and its mode are not the run's.
        if os.fstat(file.fileno()).st_nlink != 1:
            raise ValueError("a staged file has one name only")
        os.fchmod(file.fileno(), 0o400)
        os.fsync(file.fileno())
        return digest(file)
