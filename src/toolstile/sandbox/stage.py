"""The stage as a run sees it: writes go to files of its own, removals are only noted."""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import stat
from io import BufferedReader
from pathlib import Path

from msgspec.structs import replace

from toolstile.authoring.file_errors import folder_missing
from toolstile.model import paths
from toolstile.model.effect import NEW_FILE_MODE
from toolstile.model.job import StagedFile

# No run writes more files than a person could look through.
MAX_FILES = 100_000


class FileStage:
    """Implements the handles' Stage over one directory that the host made for this run."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._staged: dict[str, StagedFile] = {}
        self._before: dict[str, StagedFile] = {}
        self._files = itertools.count()  # never used twice, whatever is forgotten meanwhile

    @property
    def staged(self) -> tuple[StagedFile, ...]:
        """Everything staged that would change something, for the outcome."""
        return tuple(staged for staged in self._staged.values() if self._changes(staged))

    def put(self, path: str, content: bytes, mode: int | None) -> None:
        """Stage a file's whole content."""
        found = self._found(path)
        name = found.file or f"{next(self._files):06d}"
        (self._directory / name).write_bytes(content)
        kept = found.mode if mode is None else mode
        self._staged[path] = replace(found, file=name, mode=kept, append=False)

    def append(self, path: str, content: bytes) -> None:
        """Stage what is to be added to a file's end. Only what this run wrote is put together
        here; the rest of it is the host's to read."""
        found = self._found(path)
        if found.file is not None:
            with (self._directory / found.file).open("ab") as file:
                file.write(content)
            return
        removed = path in self._staged
        self.put(path, content, None)
        if found.base is not None and not removed:
            self._staged[path] = replace(self._staged[path], append=True)

    def remove(self, path: str) -> None:
        """Stage the removal of a file; one that only this run made is simply forgotten."""
        found = self._found(path)
        if found.base is None:
            self._staged.pop(path, None)
        else:
            self._staged[path] = replace(found, file=None, append=False)

    def read(self, path: str) -> bytes | None:
        """What is staged for a path, None for nothing."""
        staged = self._staged.get(path)
        if staged is None or staged.append:  # what is added to is on the disk
            return None
        if staged.file is None:
            raise FileNotFoundError(errno.ENOENT, "removed by this run", path)
        return (self._directory / staged.file).read_bytes()

    def _changes(self, staged: StagedFile) -> bool:
        before = self._before[staged.path]
        if staged.file is None or before.base is None or staged.mode != before.mode:
            return True
        if staged.append:
            return (self._directory / staged.file).stat().st_size > 0
        with (self._directory / staged.file).open("rb") as file:
            return _digest(file) != before.base

    def _found(self, path: str) -> StagedFile:
        """What is staged already, or what lies on the disk now: the base of the change."""
        if path in self._staged:
            return self._staged[path]
        if len(self._staged) >= MAX_FILES:
            raise OSError(errno.ENOSPC, f"a run stages at most {MAX_FILES:,} files", path)
        found = self._before[path] = _on_disk(path)
        return found


def _on_disk(path: str) -> StagedFile:
    """The file as the run found it, with nothing staged for it yet."""
    try:
        paths.normalise(path)
    except paths.PathError as error:
        raise OSError(errno.EINVAL, error.message, path) from error
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        folder = Path(path).parent
        if not folder.is_dir():  # said now, and not after a person has agreed to it
            raise folder_missing(str(folder), path) from None
        return StagedFile(path=path, file=None, base=None, mode=NEW_FILE_MODE)
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "only regular files can be staged", path)
        found = stat.S_IMODE(mode)
        return StagedFile(
            path=path, file=None, base=_digest(file), base_mode=found, mode=found & 0o777
        )


def _digest(file: BufferedReader) -> str:
    return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
