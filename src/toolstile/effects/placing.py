"""Putting the files of a manifest in their places.

Everything is written beside its target first, and its digest compared with the manifest: a full
disk, a vanished directory or a stage that somebody altered is found before the first file is
replaced. The temporary names are short and depend on the call only, so any name that a disk takes
can be written, and what a crash left behind is found again.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path

from toolstile.effects.regular import digest_of, opened
from toolstile.model.effect import Change

# Made anew or not at all: whatever a stranger has put there is neither followed nor written to.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Place:
    """One change on its way to its target."""

    def __init__(self, change: Change, stage: Path, index: int) -> None:
        self.change = change
        self.target = Path(change.path)
        self._stage = stage
        self._beside = self.target.with_name(f".{stage.name}-{index}.toolstile")

    @property
    def open(self) -> bool:
        """Is the change not applied yet?"""
        return not self._is(self.change.new)

    @property
    def fits(self) -> bool:
        """Does the target lie where it was decided on, and is it what the run found or made?"""
        straight = os.path.realpath(self.target.parent) == str(self.target.parent)
        return straight and digest_of(self.target) in (self.change.base, self.change.new)

    def prepare(self) -> None:
        """Write the new content beside the target. Raises OSError; nothing has changed then."""
        self.clear()
        if self.change.staged is None:
            return
        with opened(self._stage / self.change.staged) as source:
            descriptor = os.open(self._beside, _NEW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
                file.flush()
                os.fchmod(descriptor, self.change.mode)
                os.fsync(descriptor)
        if digest_of(self._beside) != self.change.new:
            raise OSError(errno.EIO, "the staged file was altered", self.change.staged)

    def put(self) -> None:
        """Replace the target in one step; a new file only where its name is still free."""
        if self.change.staged is None:
            self.target.unlink()
        elif self.change.base is None and self._is_free():
            os.link(self._beside, self.target)
            self._beside.unlink()
        else:
            self._beside.replace(self.target)

    def clear(self) -> None:
        """Remove what lies beside the target; nothing there, or nowhere to look, is as good."""
        try:
            self._beside.unlink(missing_ok=True)
        except NotADirectoryError:
            return

    def _is(self, wanted: str | None) -> bool:
        if digest_of(self.target) != wanted:
            return False
        if wanted is None:
            return True
        return stat.S_IMODE(self.target.lstat().st_mode) == self.change.mode

    def _is_free(self) -> bool:
        # It is not free where the content is there already and only the mode is to be set.
        return digest_of(self.target) != self.change.new
