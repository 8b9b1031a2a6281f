"""Tools whose rights, effects or outputs the line must be careful with."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

from toolstile import EditPath, ReadPath, ToolError, WritePath, tool
from toolstile.authoring import InvokeResult


def marked(access: str) -> dict[str, Any]:
    """The schema of a tool that names one file for this, written by hand."""
    path = {"type": "string", "description": "The file", "x-toolstile": {access: "path"}}
    return {"type": "object", "properties": {"path": path}, "required": ["path"]}


@tool(parameters=marked("writes"))
def plain_write(path: str) -> str:
    """Write a file at once, for it is given its name."""
    Path(path).write_text("at once", encoding="utf-8")
    return path


@tool(parameters=marked("reads"))
def plain_read(path: str) -> str:
    """Read a file by its name."""
    return f"{path}: {Path(path).read_text(encoding='utf-8')}"


class Writer:
    """A tool of the class face that writes a file."""

    name: ClassVar[str] = "writer"
    usage: ClassVar[str] = "writer writes a file. Use it to write the file that path names."

    @staticmethod
    def schema() -> dict[str, Any]:
        """The form of its arguments."""
        return {"name": "writer", "description": "Write a file", "parameters": marked("writes")}

    async def execute(self, arguments_json: str, _: Any) -> InvokeResult:
        """Write at once, for there is no handle."""
        plain_write(json.loads(arguments_json)["path"])
        return InvokeResult.ok("1")


@tool
def read(path: ReadPath) -> str:
    """Read a file."""
    return path.read_text()


@tool
def read_perhaps(path: ReadPath | None = None) -> str:
    """Read a file, if there is one to read."""
    return "nothing" if path is None else path.read_text()


@tool
def entry(path: ReadPath, way: list[str]) -> str:
    """Read a file in a directory, or list a directory in it."""
    for name in way:
        path /= name
    try:
        return ",".join(path.names()) if path.is_directory() else path.read_text()
    except PermissionError:
        return "refused"


@tool
def look(path: WritePath, how: str) -> str:
    """Look at what is in the place of what is to be written."""
    try:
        if how == "names":
            return ",".join(path.names())
        if how == "append":
            path.append("!")
        return path.read_text() if how != "size" else str(path.size)
    except PermissionError:
        return "refused"


@tool
def edit(path: WritePath, old: ReadPath) -> int:
    """Write a file over, with what was in it."""
    return path.write_text(old.read_text() + path.read_text())


@tool
def rewrite(path: EditPath, how: str) -> int:
    """Change a file by what is in it."""
    if how == "append":
        return path.append("!")
    return path.write_text(path.read_text().upper())


@tool
def save(path: WritePath, text: str) -> int:
    """Write a file."""
    return path.write_text(text)


@tool
def log_lines(path: WritePath, lines: list[str], how: str = "append") -> int:
    """Add lines to a file that is not to be read."""
    if how == "unlink":
        path.unlink()
    if how == "write":
        path.write_text("begun\n")
    for line in lines:
        path.append(f"{line}\n")
    return len(path.read_bytes()) if how != "append" else 0


@tool
def save_both(first: WritePath, second: WritePath, text: str) -> int:
    """Write two files."""
    return first.write_text(text) + second.write_text(text)


@tool
def remove(path: WritePath) -> bool:
    """Delete a file."""
    path.unlink()
    return True


@tool
def sneak(path: ReadPath) -> str:
    """Write through the stage of a file that may only be read."""
    WritePath(str(path), stage=path.stage).write_text("overwritten")
    return "read"


@tool(side_effects=["none"], confirm=True)
def confirmed(witness: str) -> str:
    """Leave a mark; the author wants a person to agree first."""
    return _mark(witness)


@tool(side_effects=["fs_write"], capabilities={"fs_write": []})
def coarse_write(witness: str, how: str = "well") -> str:
    """Write where no argument says, and fail as told."""
    _mark(witness)
    if how == "raise":
        raise RuntimeError
    return "written"


@tool(side_effects=["fs_write", "net_write"], capabilities={"fs_write": [], "net_write": []})
def send_and_save(path: WritePath, witness: str) -> str:
    """Do something that cannot be taken back, then write a file."""
    path.write_text("mine")
    if Path(witness).name == "late":
        Path(str(path)).write_text("theirs", encoding="utf-8")
    return _mark(witness)


@tool(side_effects=["net_write"], capabilities={"net_write": []})
def send(witness: str) -> str:
    """Do something that cannot be taken back."""
    return _mark(witness)


@tool
def large_number(path: WritePath, number: str) -> float:
    """Write a file, and return a number."""
    path.write_text("x")
    return float(number)


@tool(side_effects=["none"], constraints={"max_output_size": 1000})
def long_list(items: int) -> list[str]:
    """Return a list that takes many quotes to write."""
    return ["\\"] * items


@tool(side_effects=["none"])
def coded(code: str) -> str:
    """Fail with this code."""
    raise ToolError(code, "trust me")


def _mark(witness: str) -> str:
    descriptor = os.open(witness, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, b"x")
    os.close(descriptor)
    return "marked"


ALL: tuple[Any, ...] = (
    plain_write,
    plain_read,
    read,
    read_perhaps,
    entry,
    look,
    edit,
    rewrite,
    save,
    save_both,
    log_lines,
    remove,
    sneak,
    confirmed,
    coarse_write,
    send_and_save,
    send,
    large_number,
    long_list,
    coded,
)
