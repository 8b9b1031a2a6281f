"""Small pieces with honest names: the bounds that every file of the library keeps."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "toolstile"

# Where well-liked libraries of this kind sit: body median 4-8 lines, nine tenths under 19-38.
BODY_MEDIAN, BODY_NINE_TENTHS, BODY_LONGEST = 8, 35, 60
MODULE_LONGEST, PARAMETERS = 400, 6

# Names that say where code was put, not what it does.
VAGUE_MODULES = {"utils", "helpers", "common", "base", "manager"}
VAGUE_CLASS = re.compile(r"(Manager|Factory|Service)$|^I[A-Z][a-z]")
UNFINISHED = re.compile(r"\b(TODO|FIXME)\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules(src: Path) -> Iterator[tuple[str, str, ast.Module]]:
    """Every module: its path within src, its text, its tree."""
    for path in sorted(src.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield path.relative_to(src).as_posix(), text, ast.parse(text)


def functions(src: Path) -> Iterator[tuple[str, Function]]:
    """Every function, nested ones and methods too, with the place to find it."""
    for name, _, tree in modules(src):
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield f"{name}:{node.lineno} {node.name}", node


def body_lines(node: Function) -> int:
    """Lines from the first statement to the last; the docstring is not counted."""
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is not None and len(node.body) > 1:
        first = node.body[1]
    return (node.end_lineno or first.lineno) - first.lineno + 1


def code_lines(text: str) -> int:
    """Lines that are neither blank nor only a comment."""
    return sum(1 for line in text.splitlines() if line.strip() and line.strip()[0] != "#")


def parameters(node: Function) -> int:
    """How many values a caller may have to think of; `self` and `cls` are not among them."""
    named = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return len(named) - (named[:1] in (["self"], ["cls"])) + len(node.args.kwonlyargs)


def too_big(src: Path) -> list[str]:
    """Functions and modules beyond their bounds."""
    bodies = sorted((body_lines(node), place) for place, node in functions(src))
    found = [f"{place}: {lines} lines" for lines, place in bodies if lines > BODY_LONGEST]
    found += [
        f"{place}: {parameters(node)} parameters"
        for place, node in functions(src)
        if parameters(node) > PARAMETERS
    ]
    found += [
        f"{name}: {code_lines(text)} code lines"
        for name, text, _ in modules(src)
        if code_lines(text) > MODULE_LONGEST
    ]
    return found + too_big_on_the_whole([lines for lines, _ in bodies])


def too_big_on_the_whole(bodies: list[int]) -> list[str]:
    """What the sorted lengths of all bodies together break."""
    found = []
    if bodies and median(bodies) > BODY_MEDIAN:
        found.append(f"the median body has {median(bodies)} lines")
    if bodies and bodies[int(len(bodies) * 0.9)] > BODY_NINE_TENTHS:
        found.append(f"a tenth of the bodies has {bodies[int(len(bodies) * 0.9)]} lines or more")
    return found


def badly_named(src: Path) -> list[str]:
    """Modules, folders and classes with names that mean nothing, and what was left unfinished."""
    found = []
    for name, text, tree in modules(src):
        if VAGUE_MODULES & set(re.split(r"[/.]", name)):
            found.append(f"{name}: a vague name")
        found += [
            f"{name}:{node.lineno} {node.name}: a vague name"
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and VAGUE_CLASS.search(node.name)
        ]
        found += [f"{name}: unfinished ({word})" for word in UNFINISHED.findall(comments(text))]
    return found


def comments(text: str) -> str:
    """The comments of a module; the library may know such words as data, to refuse them."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join(token.string for token in tokens if token.type == tokenize.COMMENT)


def betrayed(root: Path, words: re.Pattern[str]) -> list[str]:
    """Lines of the checkout that say on which machine, or from which index, it was made."""
    return [
        f"{path.relative_to(root)}:{number}"
        for path in checked_in(root)
        for number, line in enumerate(path.read_bytes().splitlines(), start=1)
        if words.search(line.decode(errors="replace"))
    ]


def checked_in(root: Path) -> Iterator[Path]:
    """Every file but those that .gitignore keeps out; asks no git, so an unpacked copy will do."""
    made = {"__pycache__", "build", "dist", "htmlcov"}
    for path in sorted(root.iterdir()):
        hidden = path.name.startswith(".") and path.name not in {".ci", ".gitignore"}
        if hidden or path.name in made or path.is_symlink():
            continue
        if path.is_dir():
            yield from checked_in(path)
        elif path.suffix not in {".gz", ".png"}:
            yield path


def machine_words(root: Path) -> re.Pattern[str]:
    """What a file must not say: an index's host, this checkout's place, this Python's place."""
    hosts = ["pypi" + ".org", "pythonhosted" + ".org", "registry.npmjs" + ".org"]
    places = [root, root.parent / "shared"]
    if Path(sys.base_prefix).is_relative_to(Path.home()):
        places.append(Path(sys.base_prefix))
    # A place of one part ("/app") is too common a word to be looked for.
    paths = [str(place) for place in places if len(place.parts) > 2]
    return re.compile("|".join(re.escape(word) + r"(?![\w-])" for word in (*hosts, *paths)))


@pytest.mark.required
def test_the_library_is_made_of_small_pieces() -> None:
    """No body, module or parameter list is beyond its bound, and half of all bodies are short."""
    assert not too_big(SRC)


@pytest.mark.required
def test_names_say_what_things_do() -> None:
    """No utils, no Manager, no I-prefix; and nothing is left to be done in the library's files."""
    assert not badly_named(SRC)


@pytest.mark.required
def test_no_file_betrays_the_machine_it_was_made_on() -> None:
    """No host of a package index and no path of this machine stands in any file."""
    assert not betrayed(ROOT, machine_words(ROOT))


def function(lines: int, arguments: str = "") -> str:
    """Source of a function with a docstring and a body of so many lines."""
    body = "\n".join("    x = 1" for _ in range(lines))
    return f'def f({arguments}):\n    """Not\n    counted."""\n{body}\n'


SHORT = function(8) * 9
SIZES = {
    "a body at its bound": (SHORT * 3 + function(60), []),
    "a long body": (SHORT * 3 + function(61), ["61 lines"]),
    "six and self": (function(1, "self, a, b, /, c, *d, e, f, g, **h"), []),
    "seven": (function(1, "a, b, c, *, d, e, f, g"), ["7 parameters"]),
    "a long median": (function(9) * 2 + function(1), ["the median body has 9 lines"]),
    "a long tenth": (SHORT + function(36) * 2, ["a tenth of the bodies has 36 lines or more"]),
    "a module at its bound": ("x = 1\n\n# why\n" * 400, []),
    "a long module": ("x = 1\n" * 401, ["401 code lines"]),
    "a long nested function": (
        SHORT * 3 + "class A:\n    def m(self):\n        def g():\n" + "            x = 1\n" * 61,
        ["62 lines", "61 lines"],
    ),
}
NAMES = {
    "gate/decide.py": ("class Decision: ...\nclass Issue: ...\nclass IOError2: ...", 0),
    "gate/utils.py": ("", 1),
    "helpers/a.py": ("", 1),
    "gate/base.py": ("class ToolManager: ...\nclass CallFactory: ...\nclass Service: ...", 4),
    "gate/ports.py": ("class ITool: ...", 1),
    "gate/late.py": ("# TO" + "DO: finish\nx = 1  # FIX" + "ME", 2),
    "gate/words.py": ("def todo(): ...\nREFUSED = ('TO" + "DO', 'FIX" + "ME')", 0),
}


@pytest.mark.parametrize("name", SIZES)
def test_a_size_beyond_its_bound_is_found(tmp_path: Path, name: str) -> None:
    """Each bound is held exactly: what lies on it passes, what lies one beyond is reported."""
    text, expected = SIZES[name]
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    found = too_big(tmp_path)
    assert len(found) == len(expected)
    assert all(any(line.endswith(words) for line in found) for words in expected)


@pytest.mark.parametrize("name", NAMES)
def test_a_vague_name_is_found(tmp_path: Path, name: str) -> None:
    """Each kind of name that says nothing is reported, once for each that bears it."""
    text, expected = NAMES[name]
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert len(badly_named(tmp_path)) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("see {root}/src", ["docs/a.md:2"]),
        ("--index-url https://pypi" + ".org/simple", ["docs/a.md:2"]),
        ("the corpora in {root.parent}/shared", ["docs/a.md:2"]),
        ("see {root}-other, /usr/bin/python3, ~/.config and /app", []),
    ],
)
def test_a_betraying_line_is_found(tmp_path: Path, line: str, expected: list[str]) -> None:
    """A planted host or path is reported with its place; what is the same everywhere is not."""
    words = machine_words(tmp_path)
    text = "# A\n" + line.format(root=tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(text, encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").write_text(text, encoding="utf-8")
    assert betrayed(tmp_path, words) == expected
