"""Files staged by handles: a run writes into a stage, the host applies what was decided.

    open ─► (the run writes into the stage) ─► seal ─► manifest ─► commit or discard

A manifest says for each path what it was (digest) and what it becomes. Committing looks again:
a path that is neither what the run found nor what it was to become has been changed by somebody
else; it is reported and never overwritten. Committing a manifest twice does nothing the second
time, so recovery after a crash simply commits again. Each file is replaced atomically; the set
of them is not one step for those who look on.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import shutil
from pathlib import Path

from toolstile.model.effect import Change, Manifest
from toolstile.model.job import Outcome, StagedFile

CHUNK = 1 << 20
# A diff is for reading; what is longer is summarised by size and digest.
MAX_DIFF_BYTES = 256 * 1024


class FileEffects:
    """Effects port: stages beneath one directory that no tool is granted."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def open(self, execution_id: str) -> str:
        """An empty stage for a run."""
        stage = self._stage(execution_id)
        stage.mkdir(parents=True, mode=0o700)
        return str(stage)

    def seal(self, execution_id: str, outcome: Outcome) -> Manifest:
        """The manifest of what a run staged; its files are durable and read-only from here on."""
        stage = self._stage(execution_id)
        changes = tuple(_sealed(stage, staged) for staged in outcome.staged)
        _sync_directory(stage)
        return Manifest(execution_id=execution_id, changes=changes)

    def commit(self, manifest: Manifest) -> tuple[str, ...]:
        """Apply what is not applied yet; the paths in conflict, if any: then nothing is applied."""
        found = {change.path: digest_of(Path(change.path)) for change in manifest.changes}
        conflicts = tuple(
            change.path
            for change in manifest.changes
            if found[change.path] not in (change.base, change.new)
        )
        if conflicts:
            return conflicts
        stage = self._stage(manifest.execution_id)
        for change in manifest.changes:
            if found[change.path] != change.new:
                _apply(stage, change)
        return ()

    def discard(self, execution_id: str) -> None:
        """Remove a stage; an absent one is as good."""
        shutil.rmtree(self._stage(execution_id), ignore_errors=True)

    def diff(self, manifest: Manifest) -> str:
        """Unified diffs of text files, one line for anything else."""
        stage = self._stage(manifest.execution_id)
        return "\n".join(_diff(stage, change) for change in manifest.changes)

    def _stage(self, execution_id: str) -> Path:
        return self._directory / execution_id


def digest_of(path: Path) -> str | None:
    """`sha256:` of a regular file's bytes, None where there is nothing; anything else has a
    digest that no file has, so that it is always a conflict."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return "other"
    try:
        with path.open("rb") as file:
            return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _sealed(stage: Path, staged: StagedFile) -> Change:
    new = None
    if staged.file is not None:
        # The name comes from the child: only a plain name inside the stage is believed.
        if Path(staged.file).name != staged.file:
            raise ValueError("a staged file must lie directly in the stage")
        file = stage / staged.file
        file.chmod(0o400)
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
        new = digest_of(file)
    return Change(
        path=staged.path, base=staged.base, new=new, mode=staged.mode & 0o777, staged=staged.file
    )


def _apply(stage: Path, change: Change) -> None:
    target = Path(change.path)
    if change.staged is None:
        target.unlink()
    else:
        # Written beside the target and renamed, so that nobody ever sees half a file.
        beside = target.with_name(f".{target.name}.{stage.name}.toolstile")
        shutil.copyfile(stage / change.staged, beside)
        beside.chmod(change.mode)
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        if change.base is None:
            _link_new(beside, target)
        else:
            beside.replace(target)
    _sync_directory(target.parent)


def _link_new(beside: Path, target: Path) -> None:
    """Put a new file in place only if the name is still free."""
    try:
        os.link(beside, target)
    finally:
        beside.unlink()


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _diff(stage: Path, change: Change) -> str:
    before = _text(Path(change.path)) if change.base is not None else ""
    after = _text(stage / change.staged) if change.staged is not None else ""
    if before is None or after is None:
        return f"{change.type.value} {change.path} ({change.base} -> {change.new})"
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        fromfile=change.path if change.base is not None else "/dev/null",
        tofile=change.path if change.new is not None else "/dev/null",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _text(path: Path) -> str | None:
    """A file's text; None where it is long or no text."""
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_DIFF_BYTES else None
        return None if data is None else data.decode("utf-8")
    except (UnicodeDecodeError, FileNotFoundError):
        return None
