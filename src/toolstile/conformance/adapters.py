"""Targets in Python: a framework behind an adapter of a few lines, or a function that checks.

    def adapter(tool, body):
        ...                    # make the framework's tool, with `body` as its function
        return call            # call(text) -> output, sync or async

`tool` has `name`, `description`, `parameters` and `returns` (an output schema, or None). The
framework's own machinery runs `body(arguments)` exactly when it would run the author's function.
`call` takes the arguments' text as a model sends it and raises where the call was refused.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Awaitable, Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from toolstile.conformance.attempt import Attempt, Fate, Refused, Unsupported
from toolstile.conformance.suite import OUTPUT, Case, SuiteTool
from toolstile.errors import ToolstileError
from toolstile.model.json import JsonValue, thaw

Body: TypeAlias = Callable[[dict[str, Any]], Any]
Call: TypeAlias = Callable[[str], Any | Awaitable[Any]]
Adapter: TypeAlias = Callable[[SuiteTool, Body], Call]
Check: TypeAlias = Callable[[dict[str, Any], str], JsonValue]

# Set on an adapter whose framework never sees the text: its host has parsed it before.
PARSED_ONLY = "parsed_only"


class Target(Protocol):
    """What the cases are put to."""

    name: str
    at_once: int

    async def open(self) -> None:
        """See that it is there. Raises TargetError."""

    async def attempt(self, tool: SuiteTool, case: Case) -> Attempt:
        """Make one call."""

    async def close(self) -> None:
        """Let go of what was opened."""


class TargetError(ToolstileError):
    """A target cannot be used as it is named; the message says why."""


class AdapterTarget:
    """A framework, through an adapter."""

    at_once = 1

    def __init__(self, adapter: Adapter, name: str) -> None:
        self.name = name
        self._adapter = adapter
        self._parsed_only = getattr(adapter, PARSED_ONLY, False)
        self._calls: dict[str, Call | Unsupported] = {}
        self._got: list[Any] = []

    async def attempt(self, tool: SuiteTool, case: Case) -> Attempt:
        """Make one call; whatever it raises is a refusal."""
        call = self._call(tool)
        text = _as_text(case)
        if isinstance(call, Unsupported):
            return Attempt(fate=Fate.UNSUPPORTED, detail=str(call))
        if text is None or (case.raw and not case.about_output and self._parsed_only):
            return Attempt(fate=Fate.UNSUPPORTED, detail="it is given values, not text")
        self._got.clear()
        try:
            output = call(text)
            if inspect.isawaitable(output):
                output = await output
        except Unsupported as reason:
            return Attempt(fate=Fate.UNSUPPORTED, detail=str(reason))
        except Exception as error:  # noqa: BLE001 - a stranger's code says no in its own way
            return self._ended(case, error)
        got = [output] if case.about_output else self._got[:1]
        return Attempt(fate=Fate.RAN if got else Fate.REFUSED, got=tuple(got))

    async def open(self) -> None:
        """There is nothing to be opened."""

    async def close(self) -> None:
        """Nothing is held open."""

    def _ended(self, case: Case, error: Exception) -> Attempt:
        """A call that raised: refused, but if the tool ran before that, it ran."""
        detail = f"{type(error).__name__}: {error}"
        if self._got and not case.about_output:
            return Attempt(fate=Fate.RAN, got=tuple(self._got[:1]), detail=detail)
        return Attempt(fate=Fate.REFUSED, detail=detail)

    def _call(self, tool: SuiteTool) -> Call | Unsupported:
        """The framework's tool, made once."""
        if tool.name not in self._calls:
            try:
                self._calls[tool.name] = self._adapter(_plain(tool), self._body(tool))
            except Unsupported as reason:
                self._calls[tool.name] = reason
        return self._calls[tool.name]

    def _body(self, tool: SuiteTool) -> Body:
        def body(arguments: dict[str, Any]) -> Any:
            self._got.append(arguments)
            return arguments if tool.returns is None else json.loads(arguments[OUTPUT])

        return body


def _plain(tool: SuiteTool) -> SuiteTool:
    """The tool with schemas that an adapter may do with as it likes."""
    returns = None if tool.returns is None else thaw(tool.returns)
    return SuiteTool(
        name=tool.name,
        description=tool.description,
        parameters=thaw(tool.parameters),
        returns=returns,
    )


def _as_text(case: Case) -> str | None:
    """The arguments as text; None where they are bytes that are none."""
    try:
        return case.text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def from_check(check: Check) -> Adapter:
    """An adapter of a function that says what a tool with this schema would be run with; it raises
    to refuse."""

    def adapter(tool: SuiteTool, body: Body) -> Call:
        if tool.returns is not None:
            raise Unsupported("it checks arguments only")

        def call(text: str) -> Any:
            value = check(dict(tool.parameters), text)
            if not isinstance(value, dict):
                raise Refused(f"it gave {type(value).__name__}, not the arguments")
            return body(value)

        return call

    return adapter


def named(where: str) -> Any:
    """What `module:NAME` or `FILE.py:NAME` names.

    Raises:
        TargetError: there is nothing of that name.
    """
    place, _, name = where.rpartition(":")
    if not place or not name:
        raise TargetError(f"'{where[:64]}' names no function: write module:NAME or FILE.py:NAME")
    module = _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise TargetError(f"there is no function '{name[:64]}' in {place[:200]}")
    return found


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise TargetError(f"there is no file {path}")
    _look_in(path.resolve().parent)  # its neighbours can be imported from it
    # Not the file's own name: `json.py` must not take the place of json.
    name = f"conformance_adapter_{path.stem}"
    loader = SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    if spec is None:
        raise TargetError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module

    def load() -> Any:
        loader.exec_module(module)
        return module

    return _loaded(str(path), load)


def _from_name(name: str) -> Any:
    _look_in(Path.cwd())
    return _loaded(name, lambda: importlib.import_module(name))


def _look_in(folder: Path) -> None:
    """Import from a folder, too: last of all, so that a `json.py` there takes nobody's place."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _loaded(name: str, load: Callable[[], Any]) -> Any:
    try:
        return load()
    except Exception as error:
        raise TargetError(
            f"{name[:200]} cannot be imported: {type(error).__name__}: {error}"
        ) from error
