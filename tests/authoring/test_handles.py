"""Handles: what they say in a schema, what they read, and that their writes wait in a stage."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolstile.authoring import handles
from toolstile.authoring.handles import EditPath, Host, Program, ReadPath, Url, WritePath
from toolstile.errors import ToolError
from toolstile.model.hosts import HostError


class Staged:
    """A stage in memory: None marks a removal."""

    def __init__(self) -> None:
        self.files: dict[str, bytes | None] = {}
        self.modes: dict[str, int | None] = {}

    def put(self, path: str, content: bytes, mode: int | None) -> None:
        """Keep the content."""
        self.files[path] = content
        self.modes[path] = mode

    def append(self, path: str, content: bytes) -> None:
        """Keep what is added."""
        self.files[path] = (self.files.get(path) or b"") + content

    def remove(self, path: str) -> None:
        """Keep that it is gone."""
        self.files[path] = None

    def read(self, path: str) -> bytes | None:
        """Give what is kept."""
        if path in self.files and self.files[path] is None:
            raise FileNotFoundError(path)
        return self.files.get(path)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A small file on the disk."""
    path = tmp_path / "notes.txt"
    path.write_text("one\ntwo", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("kind", "mark"),
    [
        (ReadPath, {"reads": "path"}),
        (WritePath, {"writes": "path"}),
        (EditPath, {"reads": "path", "writes": "path"}),
        (Host, {"connects": "host"}),
        (Url, {"connects": "url"}),
        (Program, {"runs": "program"}),
    ],
)
def test_each_handle_says_what_its_argument_names(kind: Any, mark: dict[str, str]) -> None:
    """The mark of a handle type is the one of the contract."""
    assert kind.__toolstile__ == mark


def test_a_plain_path_makes_a_handle_over_the_real_file(file: Path) -> None:
    """Without a runtime a handle reads the file of its name, which is what unit tests want."""
    handle = ReadPath(str(file))
    assert handle.read_text() == "one\ntwo"
    assert handle.read_bytes(3) == b"one"
    assert handle.read_bytes(0) == b""
    assert (handle.name, handle.suffix, handle.size) == ("notes.txt", ".txt", 7)
    assert str(handle) == os.fspath(handle) == str(file)
    with handle.open() as stream:
        assert stream.readline() == b"one\n"
    assert ReadPath(file) == handle  # type: ignore[arg-type] # a pathlib path will do


def test_line_ends_stay_as_they_are(tmp_path: Path) -> None:
    """Text is decoded and nothing else, so that what is read can be written back."""
    path = WritePath(str(tmp_path / "a"))
    path.write_bytes(b"a\r\nb\n")
    assert path.read_text() == "a\r\nb\n"


def test_directories(tmp_path: Path, file: Path) -> None:
    """A directory lists its names in order, and each leads to a handle of the same kind."""
    (tmp_path / "b").mkdir()
    folder = ReadPath(str(tmp_path))
    assert folder.is_directory()
    assert not ReadPath(str(file)).is_directory()
    assert not ReadPath(str(tmp_path / "none")).is_directory()
    assert list(folder.names()) == ["b", "notes.txt"]
    assert (folder / "notes.txt").read_bytes(3) == b"one"
    with pytest.raises(IsADirectoryError):
        folder.read_bytes()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc/passwd", "../a", "a\0b"])
def test_no_entry_leads_out_of_its_directory(tmp_path: Path, name: str) -> None:
    """An entry is one name; whatever could lead elsewhere is refused."""
    with pytest.raises(ValueError, match="plain name"):
        ReadPath(str(tmp_path)) / name


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_only_files_are_read(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """A FIFO does not hold a tool up and a device does not feed it for ever."""
    path = tmp_path / "endless"
    make(path)
    with pytest.raises(OSError, match="not a regular file"):
        ReadPath(str(path)).read_bytes()
    with pytest.raises(OSError):  # noqa: PT011 - each kernel refuses a FIFO in its own words
        WritePath(str(path)).write_bytes(b"")


def test_reading_whole_is_bounded(tmp_path: Path) -> None:
    """A file larger than any output is refused whole; its beginning can be read."""
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(handles.MAX_WHOLE + 1)
    with pytest.raises(ToolError) as caught:
        ReadPath(str(path)).read_bytes()
    assert caught.value.code == "FILE_TOO_LARGE"
    assert len(ReadPath(str(path)).read_bytes(2_000_000)) == 2_000_000


def test_writing_without_a_stage(tmp_path: Path) -> None:
    """Without a runtime writes reach the real file, with the mode that was asked for."""
    path = WritePath(str(tmp_path / "a"))
    assert not path.exists()
    assert path.write_text("grün", mode=0o4640) == 5
    assert (tmp_path / "a").stat().st_mode & 0o7777 == 0o640, "no set-uid bit gets through"
    assert path.append("!") == 1
    assert path.read_text() == "grün!"
    path.unlink()
    assert not path.exists()
    with pytest.raises(FileNotFoundError):
        path.unlink()


def test_staged_writes_leave_the_disk_alone(file: Path) -> None:
    """In a run nothing changes on the disk, and the run sees what it wrote."""
    stage = Staged()
    path = WritePath(str(file), stage=stage)
    before = file.read_bytes()
    assert path.append("!") == 1
    assert path.read_text() == "one\ntwo!"
    assert path.size == 8
    path.write_bytes(b"new", mode=0o600)
    assert path.open().read() == b"new"
    assert stage.modes == {str(file): 0o600}
    path.unlink()
    assert not path.exists()
    assert not path.is_directory()
    with pytest.raises(FileNotFoundError):
        path.read_bytes()
    with pytest.raises(FileNotFoundError):
        path.unlink()
    assert path.append(b"again") == 5
    assert path.read_bytes() == b"again"
    assert file.read_bytes() == before


def test_a_reader_sees_what_its_run_has_staged(file: Path) -> None:
    """A second handle to the same path, though it may only read, sees the staged content."""
    stage = Staged()
    WritePath(str(file), stage=stage).write_text("new")
    assert ReadPath(str(file), stage=stage).read_text() == "new"
    assert ReadPath(str(file)).read_text() == "one\ntwo"


def test_the_runtime_opens_what_was_decided_on(file: Path) -> None:
    """With an opener the name opens nothing by itself: the descriptor is the runtime's."""
    flags_seen = []

    def opener(path: str, flags: int) -> int:
        flags_seen.append(flags)
        if path != "decided":
            raise PermissionError(path)
        return os.open(file, flags)

    assert ReadPath("decided", opener=opener).read_bytes(3) == b"one"
    assert ReadPath("decided", opener=opener).exists()
    for use in (ReadPath.read_bytes, ReadPath.exists, lambda path: path.size):
        with pytest.raises(PermissionError):
            use(ReadPath(str(file), opener=opener))
    assert not any(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) for flags in flags_seen)


def open_descriptors() -> int:
    """How many descriptors this process has."""
    return sum(1 for _ in Path("/dev/fd").iterdir())


def test_no_descriptor_is_left_open(file: Path, tmp_path: Path) -> None:
    """Whatever is asked, and however it ends, every descriptor is closed again."""
    before = open_descriptors()
    for _ in range(20):
        path = WritePath(str(file))
        path.exists(), path.is_directory(), path.size, path.read_bytes(), path.append(b"x")
        with pytest.raises(OSError, match="not a regular file"):
            ReadPath(str(tmp_path)).read_bytes()
        list(ReadPath(str(tmp_path)).names())
    assert open_descriptors() == before


def test_handles_do_not_change() -> None:
    """What was decided on cannot be exchanged for another path later."""
    handle = ReadPath("a")
    with pytest.raises(AttributeError):
        handle.path = "b"  # type: ignore[misc]
    assert repr(WritePath("a")) == "WritePath('a')"


@pytest.mark.parametrize(
    ("kind", "text", "wrong"),
    [
        (Host, "api.example.org", "https://api.example.org"),
        (Host, "API.example.org:8443", "api.example.org:port"),
        (Url, "https://api.example.org/x?y=1", "ftp://api.example.org"),
        (Url, "http://192.0.2.1", "http://user@192.0.2.1@evil.example"),
    ],
)
def test_hosts_and_addresses(kind: Any, text: str, wrong: str) -> None:
    """Hosts and addresses are text, checked where they are made."""
    made = kind(text)
    assert isinstance(made, str)
    assert made == (text.lower() if kind is Host else text)
    with pytest.raises(HostError):
        kind(wrong)


def test_an_address_knows_its_host() -> None:
    """The host of an address carries the port that is connected to."""
    assert Url("https://a.example/x").host == Host("a.example:443")


def test_programs() -> None:
    """A program is a name; nothing and a cut-off name are none."""
    assert Program("git") == "git"
    for text in ("", "git\0x"):
        with pytest.raises(ValueError, match="name"):
            Program(text)


def _refused(path: str, flags: int) -> int:
    raise PermissionError(errno.EACCES, "masked", path)


@pytest.mark.parametrize(
    ("name", "use", "code", "kind"),
    [
        ("none", ReadPath.read_bytes, "FILE_NOT_FOUND", FileNotFoundError),
        ("none", lambda path: path.size, "FILE_NOT_FOUND", FileNotFoundError),
        ("none", ReadPath.open, "FILE_NOT_FOUND", FileNotFoundError),
        ("none", lambda path: list(path.names()), "FILE_NOT_FOUND", FileNotFoundError),
        ("none", WritePath.unlink, "FILE_NOT_FOUND", FileNotFoundError),
        (".", ReadPath.read_text, "IS_A_DIRECTORY", IsADirectoryError),
        ("notes.txt", lambda path: list(path.names()), "NOT_A_DIRECTORY", NotADirectoryError),
        ("notes.txt/a", ReadPath.read_bytes, "NOT_A_DIRECTORY", NotADirectoryError),
        ("fifo", ReadPath.read_bytes, "FILE_NOT_ACCESSIBLE", OSError),
        ("latin", ReadPath.read_text, "DECODE_ERROR", UnicodeDecodeError),
    ],
)
def test_a_failure_is_told_in_a_run_and_natural_outside(
    tmp_path: Path, file: Path, name: str, use: Any, code: str, kind: type[Exception]
) -> None:
    """In a run it has a code and the path, and is caught as what Python raises; in a unit test it
    is what Python raises and nothing else."""
    (tmp_path / "latin").write_bytes(b"gr\xfcn")
    os.mkfifo(tmp_path / "fifo")
    path = str(tmp_path / name)
    with pytest.raises(kind) as natural:
        use(WritePath(path))
    assert not isinstance(natural.value, ToolError)
    with pytest.raises(kind) as told:
        use(WritePath(path, opener=os.open, stage=Staged()))
    assert isinstance(told.value, ToolError)
    assert told.value.code == code
    assert path in told.value.message


def test_what_may_not_be_opened_or_read_says_so(file: Path) -> None:
    """A refused opening has its own code, and a blind handle the remedy."""
    with pytest.raises(PermissionError) as refused:
        ReadPath(str(file), opener=_refused).read_bytes()
    assert isinstance(refused.value, ToolError)
    assert refused.value.code == "FILE_NOT_ACCESSIBLE"
    with pytest.raises(PermissionError, match="EditPath") as blind:
        WritePath(str(file), blind=True).read_bytes()
    assert isinstance(blind.value, ToolError)
    assert blind.value.code == "NOT_READABLE"


def test_a_listing_holds_any_name(tmp_path: Path) -> None:
    """Names that could not be sent are written out; the others are as they are."""
    for name in (b"a\xff", b"b\nc", "grün".encode()):
        os.close(os.open(os.fsencode(tmp_path) + b"/" + name, os.O_CREAT, 0o600))
    assert list(ReadPath(str(tmp_path)).names()) == ["a\\xff", "b\nc", "grün"]


@given(st.lists(st.sampled_from(["write", "append", "unlink"]), max_size=6))
def test_a_stage_shows_what_the_disk_would(steps: list[str]) -> None:
    """Staged or not, the same steps show a tool the same content."""
    shown = []
    for path in (WritePath("a", stage=Staged(), opener=_nothing), _InMemory()):
        for index, step in enumerate(steps):
            if step == "write":
                path.write_bytes(b"%d" % index)
            elif step == "append":
                path.append(b"%d" % index)
            elif path.exists():
                path.unlink()
        shown.append(path.read_bytes() if path.exists() else None)
    assert shown[0] == shown[1]


def _nothing(path: str, flags: int) -> int:
    raise FileNotFoundError(path)


class _InMemory:
    """What files do, in four lines: the model that staging is compared with."""

    content: bytes | None = None

    def write_bytes(self, content: bytes) -> None:
        self.content = content

    def append(self, content: bytes) -> None:
        self.content = (self.content or b"") + content

    def unlink(self) -> None:
        self.content = None

    def exists(self) -> bool:
        return self.content is not None

    def read_bytes(self) -> bytes:
        return io.BytesIO(self.content or b"").read()
