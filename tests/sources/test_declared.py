"""Definitions that somebody wrote down: the sound ones load, whatever stands beside them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolstile.model.capability import PERMISSIONS
from toolstile.model.json import freeze
from toolstile.schema.defining import Vocabulary, define
from toolstile.sources.declared import declared_tools

# ACODE's own example (004, "Configuration-Based Tools").
ACODE: dict[str, Any] = {
    "name": "my_custom_tool",
    "description": "A custom tool",
    "version": "1.0.0",
    "parameters": {
        "type": "object",
        "properties": {"input": {"type": "string", "description": "Input value"}},
        "required": ["input"],
    },
}

# What keeps a definition out, and the place and code that say so.
REFUSED: dict[str, tuple[Any, str, str]] = {
    "null": (None, "", "type"),
    "text": ("read_file", "", "type"),
    "a list": ([ACODE], "", "type"),
    "a number": (7, "", "type"),
    "an object of the program": (object(), "", "type"),
    "a key that is no text": ({1: 2}, "", "invalid_json"),
    "a value that is no JSON": ({**ACODE, "metadata": {"at": object()}}, "", "invalid_json"),
    "no name": ({"description": "A tool"}, "/name", "name"),
    "a name with a newline": ({**ACODE, "name": "read_file\n"}, "/name", "name"),
    "a reserved name": ({**ACODE, "name": "execute"}, "/name", "reserved_name"),
    "a misspelt field": ({**ACODE, "descripton": "x"}, "/descripton", "unknown_field"),
    "trust": ({**ACODE, "trusted": True}, "/trusted", "unknown_field"),
    "a misspelt keyword": (
        {**ACODE, "parameters": {"type": "object", "require": ["a"]}},
        "/parameters/require",
        "unknown_keyword",
    ),
}
IN_PROCESS = ("none", 0)


def levels(level: Any) -> dict[str, Any]:
    """The example with an isolation level of its own."""
    return {**ACODE, "constraints": {"required_isolation": level}}


def nested(levels: int) -> dict[str, Any]:
    """A definition whose metadata has so many levels."""
    inner: Any = 1
    for _ in range(levels):
        inner = {"a": inner}
    return {**ACODE, "metadata": inner}


def test_an_example_of_the_seed_loads() -> None:
    """ACODE's example of a tool in a configuration file is a definition as it stands."""
    declared = declared_tools([ACODE])
    assert declared.failures == ()
    assert declared.tools == (define(ACODE),)


@pytest.mark.parametrize("name", REFUSED)
def test_one_failure_takes_nobody_down(name: str) -> None:
    """A definition that fails is reported by its place; those before and after it load."""
    document, path, code = REFUSED[name]
    declared = declared_tools([ACODE, document, {**ACODE, "name": "other"}])
    assert [tool.name for tool in declared.tools] == ["my_custom_tool", "other"]
    (failure,) = declared.failures
    assert failure.index == 1
    assert (path, code) in [(issue.path, issue.code) for issue in failure.issues]
    assert all(issue.hint for issue in failure.issues)


@pytest.mark.parametrize("level", IN_PROCESS)
def test_level_none_is_refused(level: Any) -> None:
    """A declared tool may not ask to run in the host's own process, and is told what it may."""
    (failure,) = declared_tools([levels(level)]).failures
    (issue,) = failure.issues
    assert issue.path == "/constraints/required_isolation"
    assert "standard or stricter" in (issue.hint or "")
    # The same words are fine for an author who registers them from Python.
    assert define(levels(level)).constraints.required_isolation.word == "none"


def test_level_none_is_reported_beside_other_faults() -> None:
    """Whoever repairs a definition sees at once all that is wrong with it."""
    (failure,) = declared_tools([{**levels("none"), "name": "Bad"}]).failures
    assert {issue.path for issue in failure.issues} == {
        "/name",
        "/constraints/required_isolation",
    }


@pytest.mark.parametrize("level", ["standard", "strict", "restricted", 1])
def test_other_levels_load(level: Any) -> None:
    """Every level that confines a tool may be declared."""
    assert declared_tools([levels(level)]).failures == ()


@pytest.mark.parametrize("level", [False, [], {}, "None", None, 0.0, -1, 2**70])
def test_what_looks_like_level_none_never_becomes_it(level: Any) -> None:
    """What is not quite the word or number of level none gives another level or a failure."""
    declared = declared_tools([levels(level)])
    assert all(tool.constraints.required_isolation.word != "none" for tool in declared.tools)


def test_levels_of_nesting_are_bounded() -> None:
    """A definition far too deep is a failure, not a crash; one as deep as allowed loads."""
    declared = declared_tools([nested(20), nested(50_000)])
    assert len(declared.tools) == 1
    assert declared.failures[0].issues[0].code == "invalid_json"


def test_a_python_source_is_not_imported(tmp_path: Path) -> None:
    """Declaring a tool runs none of its code (soundness S24)."""
    (tmp_path / "never_imported.py").write_text("raise SystemExit(9)", encoding="utf-8")
    program = (
        "import sys\n"
        "from toolstile.sources.declared import declared_tools\n"
        f"document = { ({**ACODE, 'source': {'python': 'never_imported:f'}})!r}\n"
        "assert len(declared_tools([document]).tools) == 1\n"
        "assert 'never_imported' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)


def test_the_vocabulary_is_used() -> None:
    """Permissions that a provider brought count for declared tools, too."""
    document = {**ACODE, "required_permissions": ["crm.contact.read"]}
    assert len(declared_tools([document]).failures) == 1
    vocabulary = Vocabulary(permissions=PERMISSIONS | {"crm.contact.read"})
    assert declared_tools([document], vocabulary).failures == ()


def test_names_in_reports_are_visible() -> None:
    """A failure is called by a name that can be shown on one line of a terminal."""
    names = ["Bad-Name", "a\nb", "\x1b[2J", "x" * 1000, 5, ""]
    declared = declared_tools([{**ACODE, "name": name} for name in names])
    shown = [failure.name for failure in declared.failures]
    assert shown == ["Bad-Name", "(unnamed)", "(unnamed)", "x" * 64, "(unnamed)", "(unnamed)"]
    assert all("\n" not in failure.reason for failure in declared.failures)


def test_a_reason_is_short() -> None:
    """The one-line reason names the first issues and counts the rest."""
    (failure,) = declared_tools([{**ACODE, **dict.fromkeys("abcdef", 1)}]).failures
    assert len(failure.issues) == 6
    assert failure.reason.endswith("and 3 more")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
FIELDS = list(define(ACODE).to_dict())


@given(st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=4))
def test_anything_that_yaml_can_say_is_read_or_reported(changes: Mapping[str, Any]) -> None:
    """Whatever stands in a field: one tool or one failure, the neighbour loads, the same twice."""
    documents = [{**ACODE, **changes}, {**ACODE, "name": "neighbour"}]
    declared = declared_tools(documents)
    assert len(declared.tools) + len(declared.failures) == 2
    assert declared.tools[-1].name == "neighbour"
    assert declared_tools(freeze(documents)) == declared
    assert all(define(tool) == tool for tool in declared.tools)
