"""What an install brings: few distributions, locked to the byte, and every file of the library."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "toolstile"
LOCKS = ("pip", "run", "local", "dev")
# Toolstile itself is one of these.
BARE, LOCAL = 6, 25


def project() -> dict[str, Any]:
    """The `project` table of pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = tomllib.loads(text)["project"]
    return table


def declared(requirements: list[str]) -> set[str]:
    """Requirements with our own extras (`toolstile[cli]`) replaced by what they stand for."""
    found: set[str] = set()
    for requirement in requirements:
        extras = re.fullmatch(r"toolstile\[(.+)\]", requirement)
        for extra in extras[1].split(",") if extras else ():
            found |= declared(project()["optional-dependencies"][extra.strip()])
        found |= set() if extras else {requirement}
    return found


def lines(name: str) -> Iterator[str]:
    """The lines of a file in requirements/, without comments; `-r` brings those of another."""
    for line in (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if text.startswith("-r "):
            yield from lines(text.removeprefix("-r "))
        elif text:
            yield text


def pinned(name: str) -> dict[str, str]:
    """Distribution to version, as a lock has them."""
    pins = (re.match(r"([\w.-]+)==(\S+)", line) for line in lines(f"{name}.txt"))
    return {pin[1]: pin[2] for pin in pins if pin}


@pytest.mark.required
def test_the_lists_that_are_locked_are_the_declared_ones() -> None:
    """requirements/run.in and local.in say what pyproject.toml says."""
    extras = project()["optional-dependencies"]
    assert set(lines("run.in")) == set(project()["dependencies"])
    assert set(lines("local.in")) == set(project()["dependencies"]) | declared(extras["local"])
    assert declared(extras["all"]) <= set(lines("dev.in"))


@pytest.mark.required
@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_is_exact_and_says_nothing_else(name: str) -> None:
    """Every line is a pin or one of its hashes: no index address, path or option."""
    line_forms = re.compile(r"[\w.-]+==\S+ \\|--hash=sha256:[0-9a-f]{64}( \\)?")
    assert not [line for line in lines(f"{name}.txt") if not line_forms.fullmatch(line)]
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert len(pinned(name)) == len(re.findall(r"==\S+ \\\n +--hash=", text))


@pytest.mark.required
def test_locks_agree_and_cover_what_was_asked_for() -> None:
    """A distribution has one version in all locks, and each asked for is in its lock."""
    every = [pinned(name).items() for name in LOCKS[1:]]
    assert every[0] <= every[1] <= every[2]
    for name in LOCKS:
        asked = {re.split(r"[^\w.-]", line.lower())[0] for line in lines(f"{name}.in")}
        assert not asked - pinned(name).keys()


@pytest.mark.required
def test_an_install_is_small() -> None:
    """A bare install is six distributions at most, one for a person's machine twenty-five."""
    assert len(pinned("run")) + 1 <= BARE
    assert len(pinned("local")) + 1 <= LOCAL


@pytest.mark.required
def test_every_dependency_has_its_reason() -> None:
    """Beside each runtime dependency stands why it is there."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    asked = [line for extra in project()["optional-dependencies"].values() for line in extra]
    third = [line for line in project()["dependencies"] + asked if not line.startswith("toolstile")]
    assert not [line for line in third if not re.search(re.escape(f'"{line}"') + r", *# \S", text)]


@pytest.mark.required
def test_every_folder_is_a_package() -> None:
    """Each folder with code has its `__init__.py`, and the library says that it is typed."""
    folders = {path.parent for path in SRC.rglob("*.py")}
    assert not [folder for folder in folders if not (folder / "__init__.py").is_file()]
    assert (SRC / "py.typed").is_file()
