"""Reading and replacing small files whole."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from msgspec.structs import replace as replace_fields

from toolstile.errors import SettingsError
from toolstile.settings.places import SETTINGS_INVALID, refuse

MAX_BYTES = 1 << 20  # the bound of the YAML reader


def parse_yaml(data: bytes, shown: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The mapping that a YAML file holds, and by JSON Pointer where in it each value stands.

    Raises:
        SettingsError: it is no safe YAML, or holds something else.
    """
    # Here, because a program that hands over a mapping need not pay for a parser (8 ms).
    from toolstile.sources.safe_yaml import YamlFault, load_yaml_with_positions  # noqa: PLC0415

    try:
        value, places = load_yaml_with_positions(data)
    except YamlFault as fault:
        message = f"file {shown}: {fault.issue.message}"
        issue = replace_fields(fault.issue, message=message, error_code=SETTINGS_INVALID)
        raise SettingsError(shown, (issue,)) from fault
    if value is None:  # nothing but comments
        return {}, {}
    if not isinstance(value, dict):
        refuse(shown, "it holds no mapping", "begin with 'tenant: local'", "type")
    return value, {path: f"file {shown}:{place.line}" for path, place in places.items()}


def write_yaml(document: Any) -> bytes:
    """YAML that every reader takes the same way: each text in double quotes, with its escapes.
    Unquoted, `on`, `1e3` and `0o7` mean one thing in YAML 1.1 and another in 1.2."""
    import yaml  # noqa: PLC0415 - 8 ms, and few who read settings write any

    class Writer(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

        def text(self, data: str) -> yaml.ScalarNode:
            return self.represent_scalar("tag:yaml.org,2002:str", data, style='"')

    Writer.add_representer(str, Writer.text)
    written: str = yaml.dump(document, Dumper=Writer, sort_keys=False, allow_unicode=True)
    return written.encode()


def read_bytes(path: Path, shown: str) -> bytes:
    """The bytes of a regular file; anything else might never end.

    Raises:
        SettingsError: it is none, is too long, or cannot be read.
    """
    try:
        # A pipe would keep a reader waiting until somebody writes.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = _read(descriptor, shown)
        finally:
            os.close(descriptor)
    except OSError as error:
        refuse(shown, f"it cannot be read: {error.strerror}", "see that it is there and readable")
    if len(found) > MAX_BYTES:
        refuse(shown, f"it has more than {MAX_BYTES:,} bytes", "move tools to a provider")
    return found


def _read(descriptor: int, shown: str) -> bytes:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        refuse(shown, "it is not a regular file", "name a file")
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read(MAX_BYTES + 1)


def replace(path: Path, data: bytes) -> None:
    """Put a file in the place of another, durably; a reader sees the old one or the new one.

    Raises:
        OSError: the old one stands.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # 0600
    made = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        made.replace(path)
    except BaseException:
        made.unlink()
        raise
    _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
