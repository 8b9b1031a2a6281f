"""Putting the files of a manifest in their places.

Everything is written beside its target first, and its digest compared with the manifest: a full
disk, a vanished directory or a stage that somebody altered is found before the first file is
replaced. The temporary names are short and depend on the call only, so any name that a disk takes
can be written, and what a crash left behind is found again.

What stood in a target's place lies beside it afterwards and is looked at there. Somebody may have
changed the file between the last look and this moment; theirs is put back.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path

from toolstile.effects.exchange import exchange
from toolstile.effects.regular import digest_of, opened, straight
from toolstile.model.effect import Change

# Made anew or not at all: whatever a stranger has put there is neither followed nor written to.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Place:
    """One change on its way to its target. The directory is opened anew for every step, without
    following a link, and everything in it is done through that descriptor."""

    def __init__(self, change: Change, stage: Path, index: int) -> None:
        self.change = change
        self.target = Path(change.path)
        self._stage = stage
        self._name = self.target.name
        self._beside = f".{stage.name}-{index}.toolstile"
        # What is not whole yet has another name, so that what lies beside is new or was displaced.
        self._part = f"{self._beside}-part"

    @property
    def open(self) -> bool:
        """Is the change not applied yet?"""
        return not self._is(self.change.new)

    @property
    def fits(self) -> bool:
        """Does the target lie where it was decided on, is it what the run found or made, and did
        no crash leave beside it what is somebody else's?"""
        known = (self.change.base, self.change.new)
        try:
            with straight(self.target.parent) as at:
                found = digest_of(self._name, at)
                applied = found == self.change.new
                return found in known and not (
                    applied and digest_of(self._beside, at) not in (*known, None)
                )
        except FileNotFoundError:  # with its directory the file is gone, too
            return self.change.base is None or self.change.new is None
        except OSError:
            return False

    def prepare(self) -> None:
        """Write the new content beside the target. Raises OSError; nothing has changed then."""
        with straight(self.target.parent) as at:
            self._clear(at, self._beside)
            if self.change.staged is None:
                return
            with opened(self._stage / self.change.staged) as source:
                descriptor = os.open(self._part, _NEW, 0o600, dir_fd=at)
                with os.fdopen(descriptor, "wb") as file:
                    shutil.copyfileobj(source, file, 1 << 20)
                    file.flush()
                    os.fchmod(descriptor, self.change.mode)
                    os.fsync(descriptor)
            if digest_of(self._part, at) != self.change.new:
                raise OSError(errno.EIO, "the staged file was altered", self.change.staged)
            os.rename(self._part, self._beside, src_dir_fd=at, dst_dir_fd=at)

    def put(self) -> bool:
        """Make the change in one step. False where somebody else's was found in its place: that
        stands. Raises OSError; nothing has changed then."""
        with straight(self.target.parent) as at:
            if self.change.new is None:
                return self._taken(at, self.change.base)
            if self.change.base is None and self._is_free(at):
                return self._linked(at)
            return self._swapped(at, (self.change.base, self.change.new))

    def undo(self) -> None:
        """Take a change back that `put` has made. What somebody has made of it since stands.
        Raises OSError."""
        with straight(self.target.parent) as at:
            if self.change.new is None:
                self._linked(at)
            elif digest_of(self._beside, at) is None:
                self._taken(at, self.change.new)
            else:
                self._swapped(at, (self.change.new,))

    def sync(self) -> None:
        """Make what `put` or `undo` did durable. Raises OSError."""
        with straight(self.target.parent) as at:
            os.fsync(at)

    def clear(self) -> None:
        """Remove what lies beside the target, unless it is what somebody else made, and could not
        be put back. Raises OSError where there is nowhere to look."""
        with straight(self.target.parent) as at:
            ours = digest_of(self._beside, at) in (self.change.base, self.change.new)
            self._clear(at, *((self._beside,) if ours else ()))

    def _clear(self, at: int, *names: str) -> None:
        for name in (self._part, *names):
            try:
                os.unlink(name, dir_fd=at)
            except FileNotFoundError:
                continue

    def _taken(self, at: int, known: str | None) -> bool:
        """The target out of the way, if it is what is known."""
        os.rename(self._name, self._beside, src_dir_fd=at, dst_dir_fd=at)
        if digest_of(self._beside, at) == known:
            return True
        self._linked(at)
        return False

    def _linked(self, at: int) -> bool:
        """What lies beside in the target's place, if that is free."""
        try:
            os.link(self._beside, self._name, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)
        except FileExistsError:
            return False
        os.unlink(self._beside, dir_fd=at)
        return True

    def _swapped(self, at: int, known: tuple[str | None, ...]) -> bool:
        """What lies beside in the target's place, and what stood there beside, if it is known."""
        if not exchange(at, self._beside, self._name):
            return self._replaced(at, known)
        if digest_of(self._beside, at) in known:
            return True
        exchange(at, self._beside, self._name)
        return False

    def _replaced(self, at: int, known: tuple[str | None, ...]) -> bool:
        """Where nothing can be exchanged: one look more, as late as there can be one."""
        if digest_of(self._name, at) not in known:
            return False
        os.rename(self._beside, self._name, src_dir_fd=at, dst_dir_fd=at)
        return True

    def _is(self, wanted: str | None) -> bool:
        if digest_of(self.target) != wanted:
            return False
        if wanted is None:
            return True
        return stat.S_IMODE(self.target.lstat().st_mode) == self.change.mode

    def _is_free(self, at: int) -> bool:
        # It is not free where the content is there already and only the mode is to be set.
        return digest_of(self._name, at) != self.change.new
