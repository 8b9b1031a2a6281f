"""Files staged by handles: a run writes into a stage, the host applies what was decided.

    open ─► (the run writes into the stage) ─► seal ─► manifest ─► commit or discard

A manifest says for each path what it was (digest) and what it becomes. Committing looks again:
a path that is neither what the run found nor what it was to become has been changed by somebody
else; it is reported and never overwritten. Committing a manifest twice does nothing the second
time, so recovery after a crash simply commits again. Each file is replaced atomically; the set
of them is not one step for those who look on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

from toolstile.effects.diff import diff
from toolstile.effects.placing import CHANGED, Place, reason_of
from toolstile.effects.regular import sync_directory
from toolstile.effects.renames import OF_THE_DISK, Renames
from toolstile.effects.sealing import sealed
from toolstile.model.effect import Conflict, Manifest
from toolstile.model.job import Outcome

log = logging.getLogger("toolstile")

# Disks gain little from more at once.
MAX_THREADS = 4

P = ParamSpec("P")
T = TypeVar("T")


class FileEffects:
    """Effects port: stages beneath one directory that no tool is granted."""

    def __init__(self, directory: Path, renames: Renames = OF_THE_DISK) -> None:
        self._directory = directory
        self._renames = renames
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="toolstile-files")

    def close(self) -> None:
        """Wait until nothing is written any more. A thread cannot be stopped in the middle, and
        whoever gives up the lease before it has ended lets others write beside it."""
        self._threads.shutdown()

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.wrap_future(self._threads.submit(work, *args, **kwargs))

    async def open(self, execution_id: str) -> str:
        """An empty stage for a run."""
        stage = self._stage(execution_id)
        stage.mkdir(parents=True, mode=0o700)
        return str(stage)

    async def seal(self, execution_id: str, outcome: Outcome) -> Manifest:
        """The manifest of what a run staged; its files are durable and read-only from here on.

        Raises:
            ValueError: the run's list is not one that an honest run makes.
            OverflowError: a file is larger than a run may change.
            OSError: a staged file is missing, or no regular file.
        """
        if not outcome.staged:
            return Manifest(execution_id=execution_id)
        return await self._in_thread(_sealed, self._stage(execution_id), execution_id, outcome)

    async def commit(self, manifest: Manifest) -> tuple[Conflict, ...]:
        """Apply what is not applied yet. Returns what could not be, and why; where there is any,
        nothing is applied but what a conflict calls changed."""
        stage = self._stage(manifest.execution_id)
        return await self._in_thread(_committed, stage, manifest, self._renames)

    async def discard(self, execution_id: str) -> None:
        """Remove a stage; an absent one is as good."""
        await self._in_thread(shutil.rmtree, self._stage(execution_id), ignore_errors=True)

    async def diff(self, manifest: Manifest) -> str:
        """Unified diffs of text files, one line for anything else."""
        return await self._in_thread(_diff, self._stage(manifest.execution_id), manifest)

    def _stage(self, execution_id: str) -> Path:
        # The name may come from outside: it must not lead out of the directory of stages.
        if Path(execution_id).name != execution_id or execution_id in ("", ".", ".."):
            raise ValueError("an execution id is one plain name")
        return self._directory / execution_id


def _sealed(stage: Path, execution_id: str, outcome: Outcome) -> Manifest:
    changes = sealed(stage, outcome.staged)
    sync_directory(stage)
    return Manifest(execution_id=execution_id, changes=changes)


def _committed(stage: Path, manifest: Manifest, renames: Renames) -> tuple[Conflict, ...]:
    changes = enumerate(manifest.changes)
    places = [Place(change, stage, index, renames) for index, change in changes]
    conflicts = _found(places, Place.misfit)
    if conflicts:
        return conflicts
    with _cleared(places):
        waiting = [place for place in places if place.open]
        conflicts = _found(waiting, _unprepared) or _applied(waiting)
        if conflicts:
            return _with_left(conflicts, places)
        for place in places:
            place.settle()
    return ()


def _found(places: Sequence[Place], reason: Callable[[Place], str | None]) -> tuple[Conflict, ...]:
    """The places that there is a reason against."""
    found = [(place.change.path, reason(place)) for place in places]
    return tuple(Conflict(path=path, reason=why) for path, why in found if why is not None)


def _with_left(conflicts: tuple[Conflict, ...], places: Sequence[Place]) -> tuple[Conflict, ...]:
    """With those whose change stands although not all could be made: they come first."""
    left = tuple(place.left for place in places if place.moved)
    named = {conflict.path for conflict in left}
    return (*left, *(conflict for conflict in conflicts if conflict.path not in named))


def _diff(stage: Path, manifest: Manifest) -> str:
    return "\n".join(diff(stage, change) for change in manifest.changes)


def _applied(places: Sequence[Place]) -> tuple[Conflict, ...]:
    """Make all the changes, or none: the path where somebody was faster, if there is one."""
    for place in places:
        why = _failed(place.put) or _failed(place.sync)
        if why is not None:
            for done in reversed([each for each in places if each.moved]):
                _failed(done.undo)
                _failed(done.sync)
            return (Conflict(path=place.change.path, reason=why),)
    return ()


def _unprepared(place: Place) -> str | None:
    return _failed(place.prepare)


def _failed(step: Callable[[], bool | None]) -> str | None:
    """Why a step was not made."""
    try:
        return CHANGED if step() is False else None
    except OSError as error:
        log.warning("[TLS-EFF] A change cannot be applied. reason=%s", error.strerror)
        return reason_of(error)


@contextlib.contextmanager
def _cleared(places: Sequence[Place]) -> Iterator[None]:
    """Whatever happens, nothing stays beside the targets that is not the only copy of it."""
    try:
        yield
    finally:
        for place in places:
            with contextlib.suppress(OSError):
                place.clear()
