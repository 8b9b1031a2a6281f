"""Can a fresh process find this code again? And finding it, there.

A tool runs in a process of its own, which imports `module:qualname`. What was made while a program
ran (closures, lambdas, a notebook's cells) exists in that program only.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from toolstile.authoring.tool import Tool
from toolstile.model.issue import Issue

NOT_PORTABLE = "TOOL_NOT_PORTABLE"

_MAIN = "__main__"
# What a script is called when it is imported again, so that its `if __name__ == "__main__"` holds.
_AGAIN = "__toolstile_main__"

_HINT = "move it to a module, or isolation='none', trusted=True"


def reference(body: Callable[..., Any]) -> str | None:
    """`module:qualname` of a function or class; None for what has no name to be found by."""
    module, path = _module(body), body.__qualname__
    parts = (*module.split("."), *path.split("."))
    found = all(part.isidentifier() and part.isascii() for part in parts)
    return f"{module}:{path}" if found else None


def script_of(body: Callable[..., Any]) -> str | None:
    """The absolute path of the script that a body stands in; None for what is in a module."""
    if _module(body) != _MAIN:
        return None
    path = getattr(sys.modules.get(body.__module__), "__file__", None)
    return os.path.realpath(path) if path and Path(path).is_file() else None


def _module(body: Callable[..., Any]) -> str:
    """The module's name as another process would write it; empty where there is none."""
    if body.__module__ not in (_MAIN, _AGAIN):
        return body.__module__ or ""
    spec = getattr(sys.modules[_MAIN], "__spec__", None)
    if spec is None or body.__module__ == _AGAIN:
        return _MAIN
    return str(spec.name)  # python -m package.module


def portability(body: Callable[..., Any]) -> Issue | None:
    """Why a fresh process could not find this function or class; None if it could.

    To be asked once its module is loaded: while a decorator runs, its name is not there yet.
    """
    where = reference(body)
    module = sys.modules.get(body.__module__ or "")
    if where is None:
        return _issue("it is a lambda, or made inside a function")
    if not _is_written_in(body, module):
        return _issue("it was made in a notebook, a shell or by exec, not in a file")
    if _module(body) != _MAIN and not _is_importable(_module(body), module):
        return _issue("a fresh process would not find its module")
    found = _follow(module, where.partition(":")[2])
    if found is None or inspect.unwrap(found) is not inspect.unwrap(body):
        return _issue("in its module, its name means something else")
    return None


def _issue(reason: str) -> Issue:
    return Issue(
        path="/source",
        code="not_portable",
        error_code=NOT_PORTABLE,
        message=f"The tool cannot be run in a process of its own: {reason}",
        hint=_HINT,
    )


def _is_written_in(body: Callable[..., Any], module: ModuleType | None) -> bool:
    """Tell whether the code stands in the module's file, so that running it makes it again."""
    file = getattr(module, "__file__", None)
    if file is None or not Path(file).is_file():
        return False
    code = getattr(inspect.unwrap(body), "__code__", None)
    # A class has no code of its own, and a file without its source names one that is elsewhere.
    return code is None or not file.endswith(".py") or _same_file(code.co_filename, file)


def _is_importable(name: str, module: ModuleType | None) -> bool:
    """Tell whether an import would find the file that the module was loaded from."""
    spec = fresh_spec(name)
    file = getattr(module, "__file__", None)
    return bool(spec and spec.origin and file and _same_file(spec.origin, file))


def _same_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def fresh_spec(name: str) -> ModuleSpec | None:
    """What the finders say, not what happens to be loaded: `importlib.util.find_spec` asks that."""
    spec, path, done = None, None, ""
    for part in name.split("."):
        done = f"{done}.{part}" if done else part
        spec = _find(done, path)
        if spec is None:
            return None
        path = spec.submodule_search_locations
    return spec


def find_spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """What the first finder that knows the module says, but for one of ours: an installed package
    may bring a finder of its own, as editable installs do."""
    return PathFinder.find_spec(name, path) or _find(name, path)


def _find(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    others = (finder for finder in sys.meta_path if not isinstance(finder, SourceFinder))
    asked = (finder.find_spec(name, path) for finder in others)
    return next((spec for spec in asked if spec is not None), None)


class NotThere(ImportError):
    """A module does not hold what a definition says is in it."""


def load(where: str, script: str | None = None) -> Any:
    """The function or class at `module:qualname`, freed of its decorator; imports the module.

    Raises:
        NotThere: its module was imported, and holds none of that name.
    """
    module, _, path = where.partition(":")
    found = _follow(_again(script) if script else importlib.import_module(module), path)
    if found is None:
        raise NotThere(f"there is no '{path}' in {module}: was it renamed?")
    decorated = getattr(found, "tool", None)
    return (decorated.function or found) if isinstance(decorated, Tool) else found


def _again(script: str) -> ModuleType:
    """A script as a module, run once in this process."""
    if _AGAIN in sys.modules:
        return sys.modules[_AGAIN]
    found = importlib.util.spec_from_file_location(_AGAIN, script)
    spec = _from_source(found)
    if spec is None or spec.loader is None:
        raise ImportError(f"{script} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_AGAIN] = module
    spec.loader.exec_module(module)
    return module


class SourceLoader(SourceFileLoader):
    """Compiles a module from its source, whatever lies in `__pycache__`. The source is what a
    fingerprint covers; a compiled copy beside it is another's word for what it says."""

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the source as it is."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class SourceFinder(MetaPathFinder):
    """Finds a module and its packages as every import does, and loads them from source."""

    def __init__(self, module: str) -> None:
        parts = module.split(".")
        self._names = frozenset(".".join(parts[: end + 1]) for end in range(len(parts)))

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where the module is; None for all others."""
        return _from_source(find_spec(fullname, path)) if fullname in self._names else None


def _from_source(spec: ModuleSpec | None) -> ModuleSpec | None:
    if spec is not None and type(spec.loader) is SourceFileLoader:
        spec.loader = SourceLoader(spec.loader.name, spec.loader.path)
    return spec


def _follow(start: Any, path: str) -> Any:
    for name in path.split("."):
        start = getattr(start, name, None)
    return start
