"""What a fresh process can find again, and what it cannot; and that it does find it."""

from __future__ import annotations

import functools
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolstile.authoring import portability, reference, tool
from toolstile.authoring.portable import NOT_PORTABLE, load, script_of

SRC = str(Path(__file__).parents[2] / "src")

MODULE = '''
import functools
from toolstile.authoring import tool

@tool
def fine(text: str) -> str:
    """Give it back."""
    return text

def plain(text): return text

class Holder:
    @staticmethod
    @tool
    def inside(text: str) -> str:
        """Give it back."""
        return text

@functools.cache
def cached(text): return text
cached = functools.wraps(cached)(cached)

def outer():
    def nested(text): return text
    return nested
nested = outer()
unnamed = lambda text: text

exec("def by_exec(text): return text")

def replaced(text): return text
first = replaced
def replaced(text): return text + text
'''

SCRIPT = '''
import sys
from toolstile.authoring import portability, tool

@tool
def fine(text: str) -> str:
    """Give it back."""
    return text + "!"

made = {}
exec(compile("def made_by_exec(text): return text", "<string>", "exec"), globals())

if __name__ == "__main__":
    issue = portability(fine.tool.function)
    print(fine.definition.source["python"], fine.tool.file, issue, fine.definition.digest)
    print(portability(made_by_exec).error_code)
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module on the path, as an installed one would be."""
    (tmp_path / "portable_module.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "portable_module", raising=False)
    return __import__("portable_module")


def python(*arguments: str, cwd: Path, text: str = "") -> list[str]:
    """The lines that another Python prints."""
    run = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={"PYTHONPATH": SRC},
        input=text,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


PORTABLE = {
    "a decorated function": lambda m: m.fine.tool.function,
    "its decorated face": lambda m: m.fine,
    "a plain function": lambda m: m.plain,
    "a static method": lambda m: m.Holder.inside.tool.function,
    "a class": lambda m: m.Holder,
}
STUCK: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a nested function": (lambda m: m.nested, "lambda, or made inside"),
    "a lambda": (lambda m: m.unnamed, "lambda, or made inside"),
    "a function whose name was taken": (lambda m: m.first, "means something else"),
    "a function that left its module": (
        lambda m: types.FunctionType(m.plain.__code__, {}, "plain"),
        "lambda, or made inside",
    ),
    "a function made by exec": (lambda m: m.by_exec, "by exec"),
}


@pytest.mark.parametrize("what", PORTABLE)
def test_what_can_be_found_again(module: types.ModuleType, what: str) -> None:
    """Functions, static methods and classes of a module are found by a process that imports it."""
    body = PORTABLE[what](module)
    assert portability(body) is None
    where = reference(body)
    assert where is not None
    loaded = load(where)
    assert loaded is getattr(getattr(body, "tool", None), "function", body)


@pytest.mark.parametrize("what", STUCK)
def test_what_cannot(module: types.ModuleType, what: str) -> None:
    """What has no name of its own in a module is refused, with what to do."""
    find, reason = STUCK[what]
    issue = portability(find(module))
    assert issue is not None
    assert issue.error_code == NOT_PORTABLE == "TOOL_NOT_PORTABLE"
    assert reason in issue.message
    assert "trusted=True" in str(issue.hint)


def plain_function(text: str) -> str:
    """Give it back."""
    return text


def test_a_module_made_up_at_run_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that exists in this process only is no place to find a tool in."""
    made = types.ModuleType("made_up")
    monkeypatch.setitem(sys.modules, "made_up", made)
    function = types.FunctionType(plain_function.__code__, {}, "plain_function")
    function.__module__ = made.__name__
    issue = portability(function)
    assert issue is not None
    assert issue.error_code == NOT_PORTABLE


def test_a_module_of_a_place_that_is_not_searched(tmp_path: Path) -> None:
    """A file loaded by its path, under a name that no import finds, is not portable."""
    (tmp_path / "hidden_module.py").write_text(MODULE, encoding="utf-8")
    program = (
        "import importlib.util as u, sys\n"
        "spec = u.spec_from_file_location('hidden', 'hidden_module.py')\n"
        "module = u.module_from_spec(spec); sys.modules['hidden'] = module\n"
        "spec.loader.exec_module(module)\n"
        "from toolstile.authoring import portability\n"
        "print(portability(module.plain).error_code)\n"
    )
    assert python("-c", program, cwd=tmp_path) == [NOT_PORTABLE]


def test_a_module_shadowed_by_another(tmp_path: Path) -> None:
    """A name that an import would find elsewhere is not portable: other code would run."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "twice.py").write_text("def f(text): return text", encoding="utf-8")
    program = (
        "import sys; sys.path.insert(0, 'a'); import twice; sys.path[0] = 'b'\n"
        "from toolstile.authoring import portability\n"
        "print(portability(twice.f).error_code)\n"
        "sys.path[0] = 'a'; print(portability(twice.f))\n"
    )
    assert python("-c", program, cwd=tmp_path) == [NOT_PORTABLE, "None"]


def test_a_decorator_between(module: types.ModuleType) -> None:
    """Other decorators do not matter as long as they say what they wrap."""

    def plain(text: str) -> str:
        return text

    plain.__module__, plain.__qualname__ = "portable_module", "plain"
    wrapped = functools.wraps(module.plain)(lambda text: text)
    assert portability(wrapped) is None
    assert portability(plain) is not None


def test_a_script_is_found_by_its_file(tmp_path: Path) -> None:
    """A tool of a script is imported again from the file, and is the same tool there."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    first, second = python("script.py", cwd=tmp_path)
    where, file, issue, digest = first.split()
    assert (where, file, issue) == ("__main__:fine", str(path.resolve()), "None")
    assert second == NOT_PORTABLE, "what exec made is in no file"
    again = (
        f"from toolstile.authoring import load\nfrom toolstile.authoring.portable import *\n"
        f"body = load('__main__:fine', {file!r}); print(body('a'))\n"
        f"print(load('__main__:fine', {file!r}) is body)\n"
        f"import sys; print(sys.modules['__toolstile_main__'].fine.definition.digest)\n"
    )
    assert python("-c", again, cwd=tmp_path) == ["a!", "True", digest]


def test_a_module_run_as_one_is_found_by_its_name(tmp_path: Path) -> None:
    """`python -m package.module` is that module to others, not `__main__`."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "script.py").write_text(SCRIPT, encoding="utf-8")
    first, _ = python("-m", "package.script", cwd=tmp_path)
    assert first.split()[:3] == ["package.script:fine", "None", "None"]


@pytest.mark.parametrize("arguments", [["-c", "{0}"], ["-"], ["-i", "-q"]])
def test_a_shell_has_no_file(tmp_path: Path, arguments: list[str]) -> None:
    """What is typed into a shell or given with -c cannot be found again."""
    program = (
        "from toolstile.authoring import portability\n"
        "def f(text): return text\n\n"
        "print(portability(f).error_code)\n"
    )
    given = [argument.format(program) for argument in arguments]
    assert NOT_PORTABLE in python(*given, cwd=tmp_path, text=program)


def test_loading_says_what_is_missing(module: types.ModuleType) -> None:
    """A name that is gone is an import error that names it."""
    assert load("portable_module:plain") is module.plain
    for where in ("portable_module:gone", "portable_module:Holder.gone", "no_such_module:f"):
        with pytest.raises(ImportError, match=r"gone|no_such_module"):
            load(where)


def test_references_have_one_form(module: types.ModuleType) -> None:
    """Only what can be written as module:qualname has a reference."""
    assert reference(module.Holder.inside) == "portable_module:Holder.inside"
    assert reference(module.nested) is None
    assert script_of(module.plain) is None

    @tool(isolation="none", trusted=True)
    def inside(text: str) -> str:
        """Give it back."""
        return text

    assert inside.tool.function is not None
    assert portability(inside.tool.function) is not None
