"""Providers of tools (ACODE FR-060 to FR-063): found by name, run at start-up, kept apart."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolstile.model.definition import ToolDefinition
from toolstile.registry.registry import Registry
from toolstile.schema.defining import Vocabulary, define, inspect
from toolstile.sources.entry_points import extensions, providers

MODULE = '''
from toolstile import define, tool

@tool
def word_count(text: str) -> int:
    """Count words."""
    return len(text.split())

def document(name):
    return {"name": name, "description": "Do something"}

def by_call(registry):
    registry.register(word_count)
    registry.register(document("by_call"))

by_list = [document("listed_a"), define(document("listed_b"))]

def half_way(registry):
    registry.register(document("never_seen"))
    raise RuntimeError("secret detail")

def ends_the_program(registry):
    raise SystemExit(3)

one_bad = [document("good_one"), document("Bad One"), document("good_two")]

def even(text):
    return len(text) % 2 == 0

def at_most(bound, value):
    return value <= bound
'''
TOOLS = ("by_call", "by_list", "half_way", "ends_the_program", "one_bad")

Install = Callable[[str, dict[str, dict[str, str]]], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put packages on the path, as an installer would."""
    monkeypatch.syspath_prepend(tmp_path)

    def package(name: str, groups: dict[str, dict[str, str]]) -> None:
        (tmp_path / f"{name}.py").write_text(MODULE, encoding="utf-8")
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        about = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        (info / "METADATA").write_text(about, encoding="utf-8")
        lines = [
            f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in points.items())
            for group, points in groups.items()
        ]
        (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)

    return package


@pytest.fixture
def offered(install: Install) -> None:
    """One package that offers every provider of MODULE."""
    install("offering", {"toolstile.tools": {name: f"offering:{name}" for name in TOOLS}})


def names(registry: Registry) -> list[str]:
    """What is registered."""
    return [definition.name for definition in registry.all()]


@pytest.mark.usefixtures("offered")
def test_a_provider_is_a_callable_or_a_list() -> None:
    """A callable is handed the registry; a list is registered; both give ordinary tools."""
    registry = Registry()
    assert providers(["by_call", "by_list"], registry) == ()
    assert names(registry) == ["by_call", "listed_a", "listed_b", "word_count"]
    assert isinstance(registry.get("word_count"), ToolDefinition)
    assert registry.check("word_count", {"text": "a b"}).ok


def test_only_named_providers_are_loaded(install: Install) -> None:
    """An installed package that nobody names is not imported."""
    install("quiet_package", {"toolstile.tools": {"quiet": "quiet_package:by_list"}})
    registry = Registry()
    assert providers([], registry) == ()
    assert "quiet_package" not in sys.modules
    assert providers(["quiet"], registry) == ()
    assert "quiet_package" in sys.modules


@pytest.mark.usefixtures("offered")
def test_a_failing_provider_is_reported_and_the_others_load(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Of one that fails half-way nothing is kept; those before and after it are there."""
    caplog.set_level(logging.CRITICAL)
    registry = Registry()
    failures = providers(["by_list", "half_way", "ends_the_program", "by_call"], registry)
    assert [(failure.name, failure.index) for failure in failures] == [
        ("half_way", 1),
        ("ends_the_program", 2),
    ]
    assert names(registry) == ["by_call", "listed_a", "listed_b", "word_count"]


@pytest.mark.usefixtures("offered")
def test_a_bad_tool_does_not_take_its_neighbours_down() -> None:
    """One definition that breaks rules is left out alone, and named with its faults."""
    registry = Registry()
    (failure,) = providers(["one_bad"], registry)
    assert failure.name == "one_bad: Bad One"
    assert failure.issues[0].path == "/name"
    assert names(registry) == ["good_one", "good_two"]


@pytest.mark.usefixtures("offered")
def test_an_unknown_provider_is_reported_with_the_nearest() -> None:
    """A misspelt name is a failure with a suggestion, not an exception."""
    (failure,) = providers(["by_lits"], Registry())
    assert failure.name == "by_lits"
    assert "did you mean 'by_list'?" in failure.reason


def test_a_name_that_two_packages_offer_is_refused(install: Install) -> None:
    """Whichever was taken might be the wrong one, so neither is."""
    for name in ("package_one", "package_two"):
        install(name, {"toolstile.tools": {"shared": f"{name}:by_list"}})
    registry = Registry()
    (failure,) = providers(["shared"], registry)
    assert "package_one, package_two" in failure.reason
    assert names(registry) == []


def test_formats_and_keywords_can_be_added(install: Install) -> None:
    """A named format and a named keyword are enforced where a definition uses them; without them
    the same definition is refused, because nobody would check it."""
    points = {
        "toolstile.formats": {"even": "extending:even"},
        "toolstile.keywords": {"at-most": "extending:at_most"},
    }
    install("extending", points)
    extended = extensions(["even", "at-most"])
    assert extended.failures == ()
    properties = {
        "text": {"type": "string", "format": "even"},
        "count": {"type": "integer", "at-most": 3},
    }
    document: dict[str, Any] = {
        "name": "extended_tool",
        "description": "Take more",
        "parameters": {"type": "object", "properties": properties},
    }
    assert {issue.path for issue in inspect(document).issues} == {
        "/parameters/properties/text/format",
        "/parameters/properties/count/at-most",
    }
    assert define(document, Vocabulary(extensions=extended.extensions)).name == "extended_tool"
