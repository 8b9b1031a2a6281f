"""Putting the files of a manifest in their places.

Everything is written beside its target first, and its digest compared with the manifest: a full
disk, a vanished directory or a stage that somebody altered is found before the first file is
replaced. The temporary names are short and depend on the call only, so any name that a disk takes
can be written, and what a crash left behind is found again.

What stood in a target's place lies beside it afterwards and is looked at there. Somebody may have
changed the file between the last look and this moment; theirs is put back. It stays there until
all the changes are made: what may be needed to take one back is never removed before.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path

from toolstile.effects.keeping import keep
from toolstile.effects.regular import digest_of, mode_of, opened, straight
from toolstile.effects.renames import Renames
from toolstile.model.effect import NEW_FILE_MODE, Change, Conflict

CHANGED = "changed since the diff was made"
# Made anew or not at all: whatever a stranger has put there is neither followed nor written to.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Place:
    """One change on its way to its target. The directory is opened anew for every step, without
    following a link, and everything in it is done through that descriptor."""

    def __init__(self, change: Change, stage: Path, index: int, renames: Renames) -> None:
        self.change = change
        self.target = Path(change.path)
        self.open = True  # is it still to be made? `misfit` looks
        self.moved = False  # does the change, or what was made of it, stand in its place?
        self._stage = stage
        self._renames = renames
        self._name = self.target.name
        self._beside = f".{stage.name}-{index}.toolstile"
        # What is not whole yet has another name, so that what lies beside is new or was displaced.
        self._part = f"{self._beside}-part"
        # The old content under a second name, where it must have one before it is replaced.
        self._kept = f"{self._beside}-kept"

    def misfit(self) -> str | None:
        """Why the target is not what the run found or made, or does not lie where it was decided
        on; None where it does. What a crash left beside it must not be somebody else's."""
        try:
            with straight(self.target.parent) as at:
                self.open = not self._is_new(at, self._name)
                if self.open:
                    return None if self._is_base(at, self._name) else CHANGED
                names = (self._beside, self._kept)
                left = [name for name in names if mode_of(name, at) is not None]
                # A crash came after the change: what lies there was displaced by it.
                self.moved = bool(left)
                known = all(self._is_base(at, name) or self._is_new(at, name) for name in left)
                return None if known else f"{CHANGED}: see {self._displaced}"
        except FileNotFoundError as error:  # with its directory the file is gone, too
            self.open = self.change.new is not None
            return reason_of(error) if self.open else None
        except OSError as error:
            return reason_of(error)

    @property
    def left(self) -> Conflict:
        """What is to be said of a change that stands, or of what somebody has made of it."""
        reason = "changed while it was being written, and left so"
        if self.change.base is not None:
            reason += f": what was there before is kept in {self._displaced}"
        return Conflict(path=self.change.path, reason=reason, changed=True)

    @property
    def _displaced(self) -> str:
        return str(self.target.with_name(self._beside))

    def prepare(self) -> None:
        """Write the new content beside the target. Raises OSError; nothing has changed then."""
        with straight(self.target.parent) as at:
            self._clear(at, self._part, self._beside, *self._spare(at, self._kept))
            if self.change.staged is None:
                return
            with contextlib.ExitStack() as files:
                source = files.enter_context(self._source(self.change.staged))
                made = self.change.base is None
                old = None if made else files.enter_context(opened(self._name, at))
                if old is not None and self.change.append:
                    self._write(at, (old, source), self.change.mode, old)
                else:
                    self._write(at, (source,), self.change.mode, old)
            if digest_of(self._part, at) != self.change.new:
                raise _altered(self.change.staged)
            _rename(at, self._part, self._beside)

    def put(self) -> bool:
        """Make the change in one step. False where somebody else's was found in its place: that
        stands. Raises OSError; nothing has changed then."""
        with straight(self.target.parent) as at:
            if self.change.new is None:
                return self._taken(at)
            if self.change.base is None:
                self.moved = self._freely(at, self._beside, self._name)
                return self.moved
            return self._swapped(at)

    def undo(self) -> None:
        """Take a change back that `put` has made. What somebody has made of it since stands, and
        `moved` says so. Raises OSError."""
        with straight(self.target.parent) as at:
            if self.change.new is None:
                self.moved = not self._freely(at, self._beside, self._name)
            elif self.change.base is None:
                self._unmake(at)
            else:
                self._swap_back(at)

    def sync(self) -> None:
        """Make what `put` or `undo` did durable. Raises OSError."""
        with straight(self.target.parent) as at:
            os.fsync(at)

    def settle(self) -> None:
        """All changes are made, so what this one displaced is not needed any more."""
        self.moved = False

    def clear(self) -> None:
        """Remove what lies beside the target, unless it is what somebody else made, or is what a
        change displaced that could not be taken back. Raises OSError where there is nowhere to
        look."""
        with straight(self.target.parent) as at:
            spare = () if self.moved else self._spare(at, self._beside, self._kept)
            self._clear(at, self._part, *spare)

    def _source(self, staged: str) -> BufferedReader:
        try:
            return opened(self._stage / staged)
        except OSError as error:
            raise _altered(staged) from error

    @property
    def _any_mode(self) -> bool:
        """A new file that nobody asked a mode for has the one that its disk can give it."""
        return self.change.base is None and self.change.mode == NEW_FILE_MODE

    # --- one step each, in the open directory ----------------------------------------------

    def _taken(self, at: int) -> bool:
        """The target out of the way, if it is what the run found."""
        _rename(at, self._name, self._beside)
        self.moved = True
        if self._is_base(at, self._beside):
            return True
        self.moved = not self._freely(at, self._beside, self._name)
        return False

    def _swapped(self, at: int) -> bool:
        """The new content in the target's place, and what stood there beside."""
        if not self._renames.exchange(at, self._beside, self._name):
            return self._replaced(at)
        self.moved = True
        if self._is_base(at, self._beside):
            return True
        self._swap_back(at)
        return False

    def _replaced(self, at: int) -> bool:
        """Where nothing can be exchanged: the old content gets a second name, and after one look
        more, as late as there can be one, its first is taken from it."""
        self._keep(at)
        if not (self._is_base(at, self._kept) and self._is_base(at, self._name)):
            self._clear(at, self._kept)
            return False
        _rename(at, self._beside, self._name)
        self.moved = True
        _rename(at, self._kept, self._beside)
        if self._is_base(at, self._beside):
            return True
        self._swap_back(at)  # written into meanwhile, under its second name
        return False

    def _swap_back(self, at: int) -> None:
        """What was displaced in its place again, if it is our change that stands there."""
        if self._renames.exchange(at, self._beside, self._name):
            self.moved = not self._is_new(at, self._beside)
            if self.moved:
                self._renames.exchange(at, self._beside, self._name)
        elif self._is_new(at, self._name):
            _rename(at, self._beside, self._name)
            self.moved = False

    def _unmake(self, at: int) -> None:
        """A file that was made out of its place again, if it is as we made it."""
        try:
            _rename(at, self._name, self._beside)
        except FileNotFoundError:  # somebody has taken it away already
            self.moved = False
            return
        if self._is_new(at, self._beside):
            self.moved = False
        else:
            self._freely(at, self._beside, self._name)

    def _freely(self, at: int, one: str, other: str) -> bool:
        """A file under another name, if that is free."""
        try:
            if self._renames.move(at, one, other):
                return True
            if self._renames.link(at, one, other):
                os.unlink(one, dir_fd=at)
                return True
        except FileExistsError:
            return False
        if digest_of(other, at) is not None:  # the last look, on a disk that can do neither
            return False
        _rename(at, one, other)
        return True

    def _keep(self, at: int) -> None:
        """A second name for what stands there; a copy, where a file has one name only."""
        if self._renames.link(at, self._name, self._kept):
            return
        with opened(self._name, at) as source:
            mode = stat.S_IMODE(os.fstat(source.fileno()).st_mode)
            self._write(at, (source,), mode, source)
        _rename(at, self._part, self._kept)

    def _write(
        self, at: int, sources: Sequence[BufferedReader], mode: int, old: BufferedReader | None
    ) -> None:
        """The content under the name of what is not whole yet, durable, and as the old file was
        in all else."""
        descriptor = os.open(self._part, _NEW, 0o600, dir_fd=at)
        with os.fdopen(descriptor, "wb") as file:
            for source in sources:
                shutil.copyfileobj(source, file, 1 << 20)
            file.flush()
            if old is not None:
                keep(old.fileno(), descriptor)
            if not self._renames.set_mode(descriptor, mode) and not self._any_mode:
                raise PermissionError(errno.EPERM, "its permissions cannot be set")
            os.fsync(descriptor)

    def _spare(self, at: int, *names: str) -> tuple[str, ...]:
        """Those that hold the old content or the new one, which are both in their places."""
        ours = (self.change.base, self.change.new)
        return tuple(name for name in names if digest_of(name, at) in ours)

    def _clear(self, at: int, *names: str) -> None:
        for name in names:
            try:
                os.unlink(name, dir_fd=at)
            except FileNotFoundError:
                continue

    def _is_base(self, at: int, name: str) -> bool:
        wanted = self.change.base_mode
        same = digest_of(name, at) == self.change.base
        return same and wanted in (None, mode_of(name, at))

    def _is_new(self, at: int, name: str) -> bool:
        if digest_of(name, at) != self.change.new:
            return False
        if self.change.new is None or self._any_mode:
            return True
        return mode_of(name, at) == self.change.mode


def reason_of(error: OSError) -> str:
    """Why a change cannot be made, in a few words."""
    if isinstance(error, FileNotFoundError):
        return "its folder is not there"
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        return "its folder is not the one that was decided on"
    return f"it cannot be written: {error.strerror}"


def _altered(staged: str) -> OSError:
    return OSError(errno.EIO, "what was staged for it has been altered", staged)


def _rename(at: int, one: str, other: str) -> None:
    os.rename(one, other, src_dir_fd=at, dst_dir_fd=at)
