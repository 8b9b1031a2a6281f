"""Tools from configuration (ACODE FR-070 to FR-074, scenario 6): loaded, validated, switched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolstile.app import Loaded, load_tools
from toolstile.errors import SettingsError, UnknownToolError
from toolstile.settings import Settings, State, load_settings, write_state

# The seed's example, to the letter.
SEED = """\
tools:
  custom:
    - name: my_custom_tool
      description: A custom tool
      version: "1.0.0"
      parameters:
        type: object
        properties:
          input:
            type: string
            description: Input value
        required:
          - input
"""
THREE = """\
tools:
  custom:
    - {name: first_tool, description: First}
    - {name: Broken Tool, description: Broken}
    - {name: last_tool, description: Last}
  disabled: [last_tool]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the seed's configuration."""
    write(tmp_path / "project", SEED)
    return tmp_path / "project"


def write(project: Path, text: str) -> None:
    """Give a project this configuration."""
    (project / ".agent").mkdir(parents=True, exist_ok=True)
    (project / ".agent" / "config.yml").write_text(text, encoding="utf-8")


def settings_of(project: Path, start: Path | None = None) -> Settings:
    """The settings that a program started in the project, or in `start`, would read."""
    environ = {"XDG_STATE_HOME": str(project.parent / "state"), "HOME": str(project.parent)}
    return load_settings(None, environ=environ, start=start or project)


def loaded(project: Path) -> Loaded:
    """Its tools, as at start-up."""
    return load_tools(settings_of(project))


def test_a_tool_of_the_configuration_is_registered(project: Path) -> None:
    """The seed's file gives the seed's tool: found, described and enforced."""
    found = loaded(project)
    assert found.failures == ()
    definition = found.registry.get("my_custom_tool")
    assert (definition.version, definition.description) == ("1.0.0", "A custom tool")
    assert found.registry.check("my_custom_tool", {"input": "x"}).ok
    assert not found.registry.check("my_custom_tool", {"input": 1}).ok


def test_the_configuration_is_found_from_below(project: Path) -> None:
    """.agent/config.yml of the nearest folder upwards counts."""
    below = project / "src" / "deep"
    below.mkdir(parents=True)
    settings = settings_of(project, start=below)
    assert settings.project == project.resolve()
    assert [tool["name"] for tool in settings.tools.custom] == ["my_custom_tool"]


def test_a_tool_of_the_configuration_is_held_to_the_same_rules(project: Path) -> None:
    """A broken one is left out with its faults; its neighbours are there."""
    write(project, THREE)
    found = loaded(project)
    (failure,) = found.failures
    assert (failure.name, failure.issues[0].path) == ("Broken Tool", "/name")
    names = [definition.name for definition in found.registry.all()]
    assert names == ["first_tool", "last_tool"]


def test_a_tool_of_the_configuration_never_runs_in_this_process(project: Path) -> None:
    """Level none is for code that somebody trusts, not for what a file declares."""
    written = "{name: my_tool, description: Mine, constraints: {required_isolation: %s}}"
    write(project, f"tools:\n  custom:\n    - {written % 'none'}\n")
    (failure,) = loaded(project).failures
    assert failure.issues[0].path == "/constraints/required_isolation"
    write(project, f"tools:\n  custom:\n    - {written % 'standard'}\n")
    assert loaded(project).failures == ()


def test_a_tool_is_disabled_in_the_configuration(project: Path) -> None:
    """Listed and not callable; without the line it is callable."""
    write(project, THREE)
    registry = loaded(project).registry
    assert "last_tool" in registry
    with pytest.raises(UnknownToolError, match="it is disabled"):
        registry.callable_tool("last_tool")
    assert registry.callable_tool("first_tool").name == "first_tool"


def test_what_commands_change_is_kept_beside_the_users_file(project: Path) -> None:
    """`.agent/state.yml` enables, disables, pins and adds; config.yml stays as it was written."""
    write(project, THREE)
    before = (project / ".agent" / "config.yml").read_bytes()
    added = {"name": "added_tool", "description": "Added"}
    state = State(enabled=("last_tool",), disabled=("first_tool",), tools=(added,))
    write_state(project / ".agent" / "state.yml", state, project.parent / "locks")
    registry = loaded(project).registry
    assert registry.callable_tool("last_tool").name == "last_tool"
    assert registry.callable_tool("added_tool").name == "added_tool"
    with pytest.raises(UnknownToolError):
        registry.callable_tool("first_tool")
    assert (project / ".agent" / "config.yml").read_bytes() == before


UNKNOWN: list[tuple[str, str]] = [
    ("tool:\n  custom: []\n", "/tool"),
    ("tools:\n  costum: []\n", "/tools/costum"),
]


@pytest.mark.parametrize(("text", "place"), UNKNOWN)
def test_a_misspelt_key_is_an_error(project: Path, text: str, place: str) -> None:
    """A key that nobody reads would silently mean nothing; it is refused with the nearest."""
    write(project, text)
    with pytest.raises(SettingsError) as raised:
        settings_of(project)
    assert [issue.path for issue in raised.value.issues] == [place]
    assert "did you mean" in (raised.value.issues[0].hint or "")


HOSTILE: list[str] = [
    "tools: !!python/object/apply:os.system ['true']\n",
    "a: &a [x, x]\nb: [*a, *a]\n",
    "tools: {custom: []}\ntools: {custom: []}\n",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_yaml_is_read_and_not_run(project: Path, text: str) -> None:
    """Tags, aliases and doubled keys are refused; the seed's file beside them is read."""
    assert settings_of(project).tools.custom
    write(project, text)
    with pytest.raises(SettingsError):
        settings_of(project)


def test_without_a_file_there_are_no_rights(tmp_path: Path) -> None:
    """No configuration grants nothing, and there are no tools."""
    settings = settings_of(tmp_path)
    empty: tuple[Any, ...] = ()
    assert (settings.grants, settings.tools.custom) == (empty, empty)
