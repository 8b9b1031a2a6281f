"""The public face: exactly the names listed, each explained, each value frozen, quick to import."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

import toolstile

SRC = Path(__file__).parents[1] / "src" / "toolstile"

# What `import toolstile` may load beside the standard library: what it is installed with.
# (msgspec imports typing_extensions itself wherever it finds it; we ask for none.)
NEEDED = {"toolstile", "jsonschema_rs", "msgspec", "orjson", "rfc8785", "typing_extensions"}
# Needed only by what reads YAML or runs calls. Measured as a share of the 100 ms that importing
# may take: asyncio 30-35 ms, the linter of usage texts 20 ms, yaml 8 ms.
LATER = {"asyncio", "toolstile.schema.usage.lint", "yaml"}

LOADED = "import sys, toolstile; print(*sys.modules)"
IDLE = "import sys; print(*sys.modules)"

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def names_of(module: ModuleType) -> set[str]:
    """What a module shows without being asked: neither private, nor a module, nor a __future__."""
    return {
        name
        for name, value in vars(module).items()
        if not (name.startswith("_") or inspect.ismodule(value))
        and type(value).__module__ != "__future__"
    }


def public(node: ast.AST, prefix: str) -> Iterator[tuple[str, Documented]]:
    """The public classes, functions and methods in a tree; what a function holds is its own."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if not child.name.startswith("_") and not explained_elsewhere(child):
                yield f"{prefix}.{child.name}", child
                if isinstance(child, ast.ClassDef):
                    yield from public(child, f"{prefix}.{child.name}")
        elif not isinstance(child, ast.expr):
            yield from public(child, prefix)


def explained_elsewhere(node: ast.AST) -> bool:
    """A Protocol's bare member (its class explains it), an overload, an override, a setter."""
    if isinstance(node, ast.ClassDef):
        return False
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    bare = [ast.unparse(statement) for statement in node.body] == ["..."]
    marks = {ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list}
    return bare or bool(marks & {"overload", "override", "setter"})


def unexplained(src: Path) -> list[str]:
    """Public modules, classes, functions and methods without a docstring."""
    found = []
    for path in sorted(src.rglob("*.py")):
        place = path.relative_to(src.parent).with_suffix("")
        if any(part.startswith("_") and not part.startswith("__") for part in place.parts):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        every = [(".".join(place.parts), tree), *public(tree, ".".join(place.parts))]
        found += [name for name, node in every if not ast.get_docstring(node)]
    return found


def structs() -> Iterator[type[msgspec.Struct]]:
    """Every msgspec Struct that a module of the library defines."""
    for path in sorted(SRC.rglob("*.py")):
        name = ".".join(path.relative_to(SRC.parent).with_suffix("").parts)
        if name.endswith("__main__"):  # importing it would run it
            continue
        for value in vars(import_module(name.removesuffix(".__init__"))).values():
            if isinstance(value, type) and issubclass(value, msgspec.Struct):
                yield value


def loaded_by(program: str) -> set[str]:
    """The modules that a fresh interpreter has after a program."""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return set(run.stdout.decode().split())


@pytest.mark.required
def test_all_is_sorted_and_exact() -> None:
    """`__all__` has every public name once, in order, and nothing else shows beside them."""
    assert list(toolstile.__all__) == sorted(set(toolstile.__all__))
    assert not [name for name in toolstile.__all__ if not hasattr(toolstile, name)]
    assert not names_of(toolstile) - set(toolstile.__all__)


@pytest.mark.required
def test_every_public_name_is_explained() -> None:
    """Whatever is public says in a docstring what it is."""
    assert not unexplained(SRC)


@pytest.mark.required
def test_every_value_is_frozen() -> None:
    """No Struct of the library can be changed once it is made."""
    found = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in structs()}
    assert "toolstile.model.issue.Issue" in found
    assert not [name for name, kind in found.items() if not kind.__struct_config__.frozen]


@pytest.mark.required
def test_importing_loads_no_more_than_it_needs() -> None:
    """A bare install is enough, and nothing that costs time before it is used comes along."""
    found = loaded_by(LOADED)
    assert "toolstile.schema.defining" in found
    # An interpreter starts with modules of its own and of its .pth files.
    packages = {name.partition(".")[0] for name in found - loaded_by(IDLE)}
    beside = packages - set(sys.stdlib_module_names) - NEEDED
    assert not {name for name in beside if not name.startswith("_")}
    assert not found & LATER


def test_what_shows_is_seen() -> None:
    """A stray name counts; imports of modules, private names and __future__ do not."""
    module = ModuleType("planted")
    source = "from __future__ import annotations\nimport json\n_x = 1\nfrom json import loads"
    exec(source, vars(module))
    assert names_of(module) == {"loads"}


EXPLAINED = '''"""A module."""
class A:
    """A class."""
    def _private(self): pass
    def __len__(self): return 0
    @property
    def member(self): ...
    def method(self):
        """A method."""
        def inner(): return 1
        return inner
'''


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (EXPLAINED, []),
        (EXPLAINED.replace('"""A module."""', ""), ["toolstile.a"]),
        (EXPLAINED.replace('"""A class."""', ""), ["toolstile.a.A"]),
        (EXPLAINED.replace('"""A method."""', ""), ["toolstile.a.A.method"]),
        (EXPLAINED + "if True:\n    async def f(): return 1\n", ["toolstile.a.f"]),
        (
            EXPLAINED + "class B(A):\n    @override\n    def method(self): return 1",
            ["toolstile.a.B"],
        ),
    ],
)
def test_what_is_unexplained_is_found(tmp_path: Path, text: str, expected: list[str]) -> None:
    """A missing docstring is reported with its place; what is private needs none."""
    (tmp_path / "toolstile").mkdir()
    (tmp_path / "toolstile" / "a.py").write_text(text, encoding="utf-8")
    (tmp_path / "toolstile" / "_private.py").write_text("def f(): return 1", encoding="utf-8")
    assert unexplained(tmp_path / "toolstile") == expected
