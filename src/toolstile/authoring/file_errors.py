"""Why a handle could not do what a tool asked, in words that a model can act on.

In a run these are ToolErrors, so that whoever named a missing file learns that it is missing. They
are what Python raises as well: `except FileNotFoundError` in a tool means what it always did.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from toolstile.errors import ToolError


class FileError(ToolError, OSError):
    """What went wrong with a file that was decided on; the path is in the message."""

    def __init__(self, code: str, message: str, number: int, path: str) -> None:
        super().__init__(code, message)
        self.errno, self.strerror, self.filename = number, message, path

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class FileMissing(FileError, FileNotFoundError):
    """There is no such file, or no folder for it."""


class FolderInstead(FileError, IsADirectoryError):
    """A directory stands where a file was to be."""


class NoFolder(FileError, NotADirectoryError):
    """Something else stands where a directory was to be."""


class FileClosed(FileError, PermissionError):
    """The file is there and not to be opened."""


class NotThatText(ToolError, UnicodeDecodeError):
    """The bytes of a file are no text of the encoding."""

    def __init__(self, path: str, error: UnicodeDecodeError) -> None:
        self.code = "DECODE_ERROR"
        self.message = f"{shown(path)} holds no {error.encoding} text, from byte {error.start} on"
        UnicodeDecodeError.__init__(
            self, error.encoding, error.object, error.start, error.end, error.reason
        )


@contextlib.contextmanager
def told(path: str, *, natural: bool) -> Iterator[None]:
    """What fails in here is told by code and path; outside a run it stays as it is."""
    try:
        yield
    except ToolError:
        raise
    except OSError as error:
        if natural:
            raise
        raise file_error(path, error) from error
    except UnicodeDecodeError as error:
        if natural:
            raise
        raise NotThatText(path, error) from error


def file_error(path: str, error: OSError) -> FileError:
    """What the system said of a path."""
    number, name = error.errno or errno.EIO, shown(path)
    if isinstance(error, FileNotFoundError):
        return FileMissing("FILE_NOT_FOUND", f"there is no file {name}", number, path)
    if isinstance(error, IsADirectoryError):
        return FolderInstead("IS_A_DIRECTORY", f"{name} is a directory", number, path)
    if isinstance(error, NotADirectoryError):
        return NoFolder("NOT_A_DIRECTORY", f"{name} is no directory, nor in one", number, path)
    kind = FileClosed if isinstance(error, PermissionError) else FileError
    return kind("FILE_NOT_ACCESSIBLE", f"{name} cannot be used: {error.strerror}", number, path)


def folder_missing(folder: str, path: str) -> FileMissing:
    """A file is to be made in a folder that is not there."""
    message = f"there is no folder {shown(folder)}; make it, or name another"
    return FileMissing("FOLDER_NOT_FOUND", message, errno.ENOENT, path)


def not_readable(path: str) -> FileClosed:
    """A file that may be written is asked what is in it."""
    remedy = "annotate the parameter with EditPath, or name the file in a ReadPath as well"
    message = f"{shown(path)} may be written and not read: {remedy}"
    return FileClosed("NOT_READABLE", message, errno.EACCES, path)


def shown(name: str) -> str:
    """A name as text that any line can hold, and that can be sent."""
    return name if name.isprintable() else ascii(name)[1:-1]
