"""Imports point one way. The list below is the one place where the order of the layers is kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "toolstile"

# Low to high. A module imports from its own folder and from the layers listed before it. Names in
# one set are peers and never import each other: what decides cannot run, what runs cannot decide.
LAYERS: tuple[set[str], ...] = (
    {"errors"},
    {"model"},
    {"audit"},
    {"schema"},
    {"authoring"},
    {"registry", "gate", "sandbox", "effects", "store", "sources", "dialects", "tools"},
    {"runtime"},
    {"settings"},
    {"app"},
    {"testing", "conformance"},
    {"reasoner"},
    {"surfaces"},
    {"__main__"},
)
# What stands behind a port is named in `app` and nowhere else: everybody else calls the port.
ADAPTERS = {"store", "sandbox", "effects"}
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def module_name(src: Path, path: Path) -> str:
    """`toolstile.model.json` for its file, `toolstile.model` for that of the folder."""
    parts = (src.name, *path.relative_to(src).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.AST) -> Iterator[str]:
    """Every dotted name that is imported: in functions, under TYPE_CHECKING and by call, too."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(level=0, module=str(module), names=names):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.ImportFrom(level=level, module=module) if level:
                yield "." * level + (module or "")
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]):
                if ast.unparse(function).rpartition(".")[2] in ("import_module", "__import__"):
                    yield name


def imports(src: Path) -> dict[str, list[str]]:
    """Module name to what it imports of its own package, or relatively."""
    own = (src.name, f"{src.name}.", ".")
    return {
        module_name(src, path): [
            name
            for name in imported(ast.parse(path.read_text(encoding="utf-8")))
            if name == own[0] or name.startswith(own[1:])
        ]
        for path in sorted(src.rglob("*.py"))
    }


def fault(module: str, target: str) -> str | None:
    """What is wrong with one import, if anything."""
    part, other = (name.partition(".")[2].partition(".")[0] for name in (module, target))
    if target.startswith("."):
        return "relative import"
    if part in ("", other) or part not in RANK:
        return None  # the public face may look everywhere; strangers are reported on their own
    if other not in RANK:
        return "goes through the public face, or to no layer"
    if RANK[other] == RANK[part]:
        return "sideways"
    if other in ADAPTERS and part != "app":
        return "names an adapter, which only app may"
    return "upwards" if RANK[other] > RANK[part] else None


def wrong_imports(src: Path) -> list[str]:
    """Every import against the order, with the reason."""
    return [
        f"{module} -> {target}: {reason}"
        for module, targets in imports(src).items()
        for target in targets
        if (reason := fault(module, target))
    ]


def strangers(src: Path) -> set[str]:
    """Top-level names that have no layer."""
    modules = imports(src)
    return {name.split(".")[1] for name in modules if "." in name} - RANK.keys()


def cycle(src: Path) -> list[str]:
    """The modules of one circle of imports, if there is any; the public face is not counted."""
    modules = imports(src)
    graph = {
        module: {nearest(target, modules) for target in targets} - {module, src.name}
        for module, targets in modules.items()
        if module != src.name
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def nearest(target: str, modules: dict[str, list[str]]) -> str:
    """The module that an imported name lives in: itself, or the one it was taken from."""
    return target if target in modules else target.rpartition(".")[0]


@pytest.mark.required
def test_imports_point_one_way() -> None:
    """No module imports upwards, sideways, relatively or through the public face."""
    assert not wrong_imports(SRC)


@pytest.mark.required
def test_every_name_has_a_layer() -> None:
    """A new folder is given its place in LAYERS before anything lies in it."""
    assert not strangers(SRC)


@pytest.mark.required
def test_no_circles() -> None:
    """No module imports itself by way of others, so a folder can be read from its leaves up."""
    assert not cycle(SRC)


def plant(folder: Path, files: dict[str, str]) -> Path:
    """A small package with these files."""
    src = folder / "toolstile"
    for name, text in files.items():
        path = src / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return src


ALLOWED = {
    "__init__.py": "from toolstile.app import Runtime",
    "app.py": "import toolstile.runtime.executor\nfrom toolstile import errors",
    "gate/decide.py": "from toolstile.model import issue\nfrom toolstile.gate.rules import x",
    "gate/rules.py": "import json\nfrom toolstile.errors import ToolError",
    "runtime/executor.py": "from toolstile.gate.decide import y\nimport toolstilework.surfaces",
    "model/issue.py": "",
}
REFUSED = {
    "upwards": ("gate/a.py", "from toolstile.runtime.executor import x"),
    "upwards, plain": ("gate/a.py", "import toolstile.app"),
    "upwards, by name of the package": ("gate/a.py", "from toolstile import app"),
    "sideways": ("gate/a.py", "from toolstile.sandbox.port import x"),
    "in a function": ("model/a.py", "def f():\n    from toolstile.schema import parse"),
    "for types only": (
        "model/a.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import toolstile.schema.parse",
    ),
    "by call": ("model/a.py", "importlib.import_module('toolstile.schema')"),
    "by dunder": ("model/a.py", "__import__('toolstile.schema')"),
    "relative": ("gate/a.py", "from .decide import x"),
    "relative, upwards": ("gate/a.py", "from .. import runtime"),
    "an adapter": ("runtime/a.py", "from toolstile.store.sqlite import x"),
    "an adapter, from a surface": ("surfaces/a.py", "import toolstile.sandbox.process"),
    "the public face": ("tools/a.py", "from toolstile import tool"),
    "the public face, plain": ("tools/a.py", "import toolstile"),
}


def test_a_good_tree_passes(tmp_path: Path) -> None:
    """What the rules allow raises nothing, so a refusal below means something."""
    src = plant(tmp_path, ALLOWED)
    assert (wrong_imports(src), strangers(src), cycle(src)) == ([], set(), [])


@pytest.mark.parametrize("name", REFUSED)
def test_a_wrong_import_is_found(tmp_path: Path, name: str) -> None:
    """Each way to write an import against the order is seen, once."""
    path, text = REFUSED[name]
    assert len(wrong_imports(plant(tmp_path, ALLOWED | {path: text}))) == 1


def test_a_stranger_is_found(tmp_path: Path) -> None:
    """A folder or module at the top that LAYERS does not name is reported."""
    files = {"misc/a.py": "", "extra.py": ""}
    assert strangers(plant(tmp_path, ALLOWED | files)) == {"misc", "extra"}


@pytest.mark.parametrize(
    "back", ["from toolstile.gate import decide", "import toolstile.gate.decide"]
)
def test_a_circle_is_found(tmp_path: Path, back: str) -> None:
    """Two modules of one folder that import each other are reported, even inside functions."""
    src = plant(tmp_path, ALLOWED | {"gate/rules.py": f"def late():\n    {back}"})
    assert {"toolstile.gate.decide", "toolstile.gate.rules"} <= set(cycle(src))
