"""What a tool is handed in place of names: files, hosts and programs that were decided on.

A handle in a signature says what the argument names (`x-toolstile` in the schema), so rights are
decided on the very file or host that is then used. In a call the runtime makes the handles; in a
unit test a plain path makes one over the real file:

    def word_count(path: ReadPath) -> int:
        return len(path.read_text().split())
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, ClassVar, Protocol, Self, TypeAlias

import msgspec

from toolstile.authoring.file_errors import not_readable, told
from toolstile.errors import ToolError
from toolstile.model import hosts
from toolstile.model.definition import OUTPUT_RANGE

# What is read whole goes into memory, so it is bounded; no larger output could leave a tool.
MAX_WHOLE = OUTPUT_RANGE[1]

_CHUNK = 1024 * 1024
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO must not hold the tool up
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK

Opener: TypeAlias = Callable[[str, int], int]
"""Opens a path with `os.open` flags and gives the descriptor: the runtime's way to a file."""


class Stage(Protocol):
    """Where a run's writes wait. Knows nothing of who approves them, or of what applies them."""

    def put(self, path: str, content: bytes, mode: int | None) -> None:
        """Stage a file's whole content; a mode of None keeps that of the file there is."""

    def append(self, path: str, content: bytes) -> None:
        """Stage what is to be added to a file's end, whatever the file holds."""

    def remove(self, path: str) -> None:
        """Stage the removal of a file."""

    def read(self, path: str) -> bytes | None:
        """What is staged for a path, None for nothing. Raises FileNotFoundError if its removal."""


def _open_real(path: str, flags: int) -> int:
    return os.open(path, flags, 0o666)  # the umask applies, as for every new file


class ReadPath(msgspec.Struct, frozen=True):
    """A file or directory that may be read.

    Reading sees what this run has staged before what lies on the disk. Failures are those of
    `open`: FileNotFoundError, IsADirectoryError, PermissionError and other OSErrors. In a run they
    are ToolErrors, too: what the tool does not catch tells the model which file it was, and why.
    """

    __toolstile__: ClassVar[Mapping[str, str]] = {"reads": "path"}

    path: str
    opener: Opener = msgspec.field(default=_open_real)
    stage: Stage | None = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "path", os.fspath(self.path))

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"

    def __fspath__(self) -> str:
        """The bare name. Whoever opens it leaves the guarded way: it shows the disk and not what
        is staged, and in a sandbox it may lead nowhere."""
        return self.path

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def suffix(self) -> str:
        """The last part's ending with its dot, or empty."""
        return PurePosixPath(self.path).suffix

    @property
    def size(self) -> int:
        """How many bytes the file has."""
        staged = self._staged()
        if staged is not None:
            return len(staged)
        with self._real() as file:
            return os.fstat(file.fileno()).st_size

    def exists(self) -> bool:
        """Tell whether there is a file or directory."""
        try:
            if self._staged() is None:
                os.close(self._open(_READ))
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def is_directory(self) -> bool:
        """Tell whether there is a directory."""
        try:
            if self._staged() is not None:
                return False
            descriptor = self._open(_READ)
        except (FileNotFoundError, NotADirectoryError):
            return False
        try:
            return stat.S_ISDIR(os.fstat(descriptor).st_mode)
        finally:
            os.close(descriptor)

    def names(self) -> Iterator[str]:
        """The names in a directory on the disk, sorted. One that is no UTF-8 is written out, as
        it could not be sent otherwise; no handle opens it."""
        descriptor = self._open(_READ | os.O_DIRECTORY)
        try:
            found = sorted(os.listdir(descriptor))  # noqa: PTH208 - a descriptor, not a path
        finally:
            os.close(descriptor)
        for name in found:
            yield os.fsencode(name).decode("utf-8", "backslashreplace")

    def __truediv__(self, name: str) -> Self:
        """The entry of this name in this directory; no way leads up or out."""
        if name in ("", ".", "..") or "/" in name or "\0" in name:
            raise ValueError("an entry is one plain name, as names() gives them")
        return msgspec.structs.replace(self, path=f"{self.path.rstrip('/')}/{name}")

    def open(self) -> BinaryIO:
        """The content as a stream of bytes; for text, wrap it in io.TextIOWrapper."""
        staged = self._staged()
        return self._real() if staged is None else io.BytesIO(staged)

    def read_bytes(self, limit: int | None = None) -> bytes:
        """The first `limit` bytes; without a limit all of them.

        Raises:
            ToolError: FILE_TOO_LARGE, where all of them are more than 100 MiB.
        """
        with self.open() as file:
            content = _first(file, MAX_WHOLE + 1 if limit is None else max(limit, 0))
        if limit is None and len(content) > MAX_WHOLE:
            raise ToolError("FILE_TOO_LARGE", f"a file of more than {MAX_WHOLE:,} bytes")
        return content

    def read_text(self, encoding: str = "utf-8") -> str:
        """The content as text; every line ends as it does in the file."""
        content = self.read_bytes()
        with self._told():
            return content.decode(encoding)

    def _staged(self) -> bytes | None:
        with self._told():
            return None if self.stage is None else self.stage.read(self.path)

    def _real(self) -> BinaryIO:
        return os.fdopen(self._open(_READ, regular=True), "rb")

    def _open(self, flags: int, *, regular: bool = False) -> int:
        with self._told():
            descriptor = self.opener(self.path, flags)
            return _regular(self.path, descriptor) if regular else descriptor

    def _told(self) -> AbstractContextManager[None]:
        # A handle that a unit test made fails as any file of Python's does.
        return told(self.path, natural=self.opener is _open_real and self.stage is None)


def _regular(path: str, descriptor: int) -> int:
    """The descriptor, if it is a file's: reading a device or a FIFO may never end."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
    raise OSError(number, "not a regular file", path)


def _first(file: BinaryIO, limit: int) -> bytes:
    """At most so many bytes. In pieces, because one read would ask for all the memory first."""
    content = bytearray()
    while piece := file.read(min(_CHUNK, limit - len(content))):
        content += piece
    return bytes(content)


class WritePath(ReadPath, frozen=True):
    """A file that may be written. What a run writes is staged until it is approved.

    Reading what was there before takes the right to read it (a `blind` one is without); what this
    run wrote it may read. Adding to the end takes none: the host puts the two together.
    """

    __toolstile__: ClassVar[Mapping[str, str]] = {"writes": "path"}

    blind: bool = False

    def names(self) -> Iterator[str]:
        """The names in a directory on the disk, sorted. Raises PermissionError without the right
        to read it."""
        self._check_sight()
        return super().names()

    def write_bytes(self, content: bytes, mode: int | None = None) -> int:
        """Make this the whole content. Returns its size; `mode` is that of a new file."""
        if self.stage is not None:
            with self._told():
                self.stage.put(self.path, bytes(content), mode)
            return len(content)
        return self._write(content, os.O_TRUNC, mode)

    def write_text(self, text: str, encoding: str = "utf-8", mode: int | None = None) -> int:
        """Make this text the whole content. Returns its size in bytes."""
        return self.write_bytes(text.encode(encoding), mode)

    def append(self, content: bytes | str) -> int:
        """Add to the end, or begin a new file. Returns how many bytes were added."""
        added = content.encode() if isinstance(content, str) else bytes(content)
        if self.stage is None:
            return self._write(added, os.O_APPEND, None)
        before = self.read_bytes() if not self.blind and self.exists() else b""
        with self._told():
            if self.blind:
                self.stage.append(self.path, added)
            else:
                self.stage.put(self.path, before + added, None)
        return len(added)

    def unlink(self) -> None:
        """Remove the file.

        Raises:
            FileNotFoundError: there is none.
        """
        if self.stage is None:
            Path(self.path).unlink()
            return
        there = self.exists()
        with self._told():
            if not there:
                raise FileNotFoundError(errno.ENOENT, "no such file", self.path)
            self.stage.remove(self.path)

    def _real(self) -> BinaryIO:
        self._check_sight()
        return super()._real()

    def _check_sight(self) -> None:
        if self.blind:
            raise not_readable(self.path)

    def _write(self, content: bytes, how: int, mode: int | None) -> int:
        descriptor = self._open(_WRITE | how, regular=True)
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(descriptor, mode & 0o777)
            return file.write(content)


class EditPath(WritePath, frozen=True):
    """A file that may be read and written: what WritePath does, over what was there before."""

    __toolstile__: ClassVar[Mapping[str, str]] = {"reads": "path", "writes": "path"}


class Host(str):
    """A host or `host:port` to connect to, in its one spelling.

    Raises:
        HostError: it is none.
    """

    __slots__ = ()
    __toolstile__: ClassVar[Mapping[str, str]] = {"connects": "host"}

    def __new__(cls, text: str) -> Self:
        return super().__new__(cls, hosts.endpoint(text))


class Url(str):
    """An http or https address to connect to, as it was written.

    Raises:
        HostError: it is none.
    """

    __slots__ = ()
    __toolstile__: ClassVar[Mapping[str, str]] = {"connects": "url"}

    def __new__(cls, text: str) -> Self:
        hosts.host_of_url(text)
        return super().__new__(cls, text)

    @property
    def host(self) -> Host:
        """Its `host:port`; the port is always there."""
        return Host(hosts.host_of_url(self))


class Program(str):
    """A program to start: a name, or the path of its file."""

    __slots__ = ()
    __toolstile__: ClassVar[Mapping[str, str]] = {"runs": "program"}

    def __new__(cls, text: str) -> Self:
        if not text or "\0" in text:
            raise ValueError("the name of a program is not empty and holds no NUL")
        return super().__new__(cls, text)
