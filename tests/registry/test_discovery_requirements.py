"""Finding tools and their versions (ACODE FR-055 to FR-059, FR-065 to FR-069)."""

from __future__ import annotations

import getpass
import inspect
from typing import Any

import pytest

from toolstile.errors import DefinitionError, UnknownToolError
from toolstile.model.vocabulary import Category
from toolstile.registry.registry import Registry
from toolstile.schema.defining import define


def document(name: str, **fields: Any) -> dict[str, Any]:
    """A small definition."""
    return {"name": name, "description": f"The tool {name}", **fields}


def registry_of(*documents: dict[str, Any]) -> Registry:
    """A registry that holds these."""
    registry = Registry()
    for each in documents:
        registry.register(each)
    return registry


def test_the_interface_is_there() -> None:
    """ACODE's methods exist under our names, with ACODE's own beside them for validation."""
    for method in ("register", "get", "all", "by_category", "validate_arguments", "versions"):
        assert callable(getattr(Registry, method))
    assert Registry.try_validate_arguments is Registry.check
    assert list(inspect.signature(Registry.validate_arguments).parameters)[1:] == [
        "name",
        "arguments",
        "version",
    ]


def test_all_tools_come_by_name_then_newest_first() -> None:
    """The order does not depend on when a tool was registered."""
    late = document("tool_a", version="2.0.0")
    registry = registry_of(document("tool_b"), document("tool_a", version="1.0.0"), late)
    listed = [(each.name, each.exported_version) for each in registry.all()]
    assert listed == [
        ("tool_a", "2.0.0"),
        ("tool_a", "1.0.0"),
        ("tool_b", "0.0.0+unversioned"),
    ]


def test_one_tool_comes_with_all_that_was_said_of_it() -> None:
    """`get` gives the definition, its metadata as JSON whole and unchanged."""
    metadata = {"risk": "low", "owner": {"team": "files", "since": 2026}, "tags": ["a", None]}
    registry = registry_of(document("tool_a", metadata=metadata, version="1.0.0"))
    found = registry.get("tool_a")
    assert (found.name, found.description, found.version) == ("tool_a", "The tool tool_a", "1.0.0")
    assert found.metadata == metadata
    assert found.to_dict()["metadata"] == metadata


def test_an_unknown_tool_is_an_error_with_suggestions() -> None:
    """`get` raises ACODE-TSR-001 and says which names come near."""
    registry = registry_of(document("read_file"), document("send_mail"))
    with pytest.raises(UnknownToolError, match=r"^Unknown tool: 'raed_file'") as raised:
        registry.get("raed_file")
    assert raised.value.code == "ACODE-TSR-001"
    assert raised.value.suggestions[0] == "read_file"


def test_tools_are_listed_by_category() -> None:
    """By word or by value; `general` is a view of system; another word names the choices."""
    registry = registry_of(
        document("tool_a", category="file_system"),
        document("tool_b", category="general"),
        document("tool_c", category=5),
    )
    assert [each.name for each in registry.by_category("file_system")] == ["tool_a"]
    assert [each.name for each in registry.by_category(Category.SYSTEM)] == ["tool_b"]
    assert registry.by_category("general") == registry.by_category(Category.SYSTEM)
    assert [each.name for each in registry.by_category("knowledge")] == ["tool_c"]
    assert registry.by_category("network") == ()
    with pytest.raises(ValueError, match="file_system, network, database"):
        registry.by_category("files")


@pytest.mark.parametrize("version", ["1.0.0", "0.0.1", "1.0.0-rc.1", "1.0.0+build.5"])
def test_a_version_is_semver(version: str) -> None:
    """SemVer 2.0.0 is taken as it is written."""
    assert define(document("tool_a", version=version)).version == version


@pytest.mark.parametrize(
    "version",
    ["1", "1.0", "v1.0.0", "1.0.0.0", "01.0.0", "1.0.0 ", "", "1.0.0\n", 1, "1.0." + "9" * 40],
)
def test_what_is_not_semver_is_refused(version: Any) -> None:
    """Anything else is a fault of the field `version`."""
    with pytest.raises(DefinitionError) as raised:
        define(document("tool_a", version=version))
    assert {(issue.path, issue.error_code) for issue in raised.value.issues} == {
        ("/version", "ACODE-TSR-006")
    }


def test_a_tool_without_version_has_one_that_sorts_first() -> None:
    """Absent is unversioned, exported as 0.0.0+unversioned, and read back as absent."""
    definition = define(document("tool_a"))
    assert definition.version is None
    assert definition.to_dict()["version"] == "0.0.0+unversioned"
    assert define(definition.to_dict()).digest == definition.digest


def test_a_reference_is_name_and_range_in_one() -> None:
    """`name@range` finds what name and range find; a range without a version in it finds nothing,
    and a body is bound to the version that is named."""
    registry = Registry()
    for version in ("1.0.0", "1.4.0", "2.0.0"):
        registry.register(document("tool_a", version=version))
    for wanted in ("^1", "=1.0.0", "latest"):
        assert registry.get(f"tool_a@{wanted}") is registry.get("tool_a", wanted)
    assert registry.check("tool_a@^1", {}).tool == "tool_a"
    for wanted in ("^3", "", "^^1", "^1@^1"):
        with pytest.raises(UnknownToolError, match=r"^Unknown tool: 'tool_a' \("):
            registry.get(f"tool_a@{wanted}")
    registry.bind("tool_a@^1", getpass.getuser)
    assert registry.tool("tool_a", "^1").function is getpass.getuser
    assert registry.tool("tool_a").function is None
