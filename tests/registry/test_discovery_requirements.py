"""Finding tools and their versions (ACODE FR-055 to FR-059, FR-065 to FR-069)."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from toolstile.errors import ConflictError, DefinitionError, UnknownToolError
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


@pytest.fixture
def versions() -> Registry:
    """One tool in five versions, registered out of order, one of them not finished."""
    spelt = ("1.2.0", "2.1.0-rc.1", "1.0.0", "2.0.0", "1.10.0")
    return registry_of(*(document("tool_a", version=version) for version in spelt))


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
    assert [each.name for each in registry.by_category("knowledge")] == ["tool_c"]
    assert registry.by_category("network") == ()
    with pytest.raises(ValueError, match="file_system, network, database"):
        registry.by_category("files")


def test_versions_are_kept_and_listed(versions: Registry) -> None:
    """Older versions stay beside a newer one, in the order of their precedence."""
    assert versions.versions("tool_a") == ("2.1.0-rc.1", "2.0.0", "1.10.0", "1.2.0", "1.0.0")
    with pytest.raises(UnknownToolError):
        versions.versions("tool_b")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (None, "2.0.0"),
        ("latest", "2.0.0"),
        ("*", "2.0.0"),
        ("^1.2", "1.10.0"),
        ("~1.2", "1.2.0"),
        (">=1,<1.5", "1.2.0"),
        ("1.0.0", "1.0.0"),
        ("2.1.0-rc.1", "2.1.0-rc.1"),
        (">=2.1.0-rc.0", "2.1.0-rc.1"),
    ],
)
def test_a_version_query_gives_the_newest_that_fits(
    versions: Registry, wanted: str | None, found: str
) -> None:
    """Ranges find the newest release in them; an unfinished version only for who asks for it."""
    assert versions.get("tool_a", wanted).version == found


@pytest.mark.parametrize("wanted", ["^3", "0.9.0", "one", "1.x", ""])
def test_a_version_query_without_an_answer_says_so(versions: Registry, wanted: str) -> None:
    """No version in a range, or no range at all: the tool is not found, and it is said why."""
    with pytest.raises(UnknownToolError):
        versions.get("tool_a", wanted)
    assert versions.get("tool_a", ">=0").version == "2.0.0"


def test_a_pin_holds_where_nobody_names_a_version(versions: Registry) -> None:
    """The operator's pin decides for callers without a range; a caller's range wins over it."""
    versions.pin("tool_a", "^1")
    assert versions.get("tool_a").version == "1.10.0"
    assert versions.get("tool_a", "^2").version == "2.0.0"
    with pytest.raises(UnknownToolError):
        versions.pin("tool_a", "^9")
    versions.pin("tool_a", None)
    assert versions.get("tool_a").version == "2.0.0"


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


def test_a_disabled_tool_is_listed_and_not_callable() -> None:
    """Disabling takes a tool from callers, not from the list; enabling gives it back."""
    registry = registry_of(document("tool_a"))
    registry.disable("tool_a")
    assert [each.name for each in registry.all()] == ["tool_a"]
    with pytest.raises(UnknownToolError, match="it is disabled"):
        registry.callable_tool("tool_a")
    registry.enable("tool_a")
    assert registry.callable_tool("tool_a").name == "tool_a"


def test_execute_is_an_alias_and_never_a_name() -> None:
    """ACODE's `execute` finds `execute_command`; nobody can register it, not even a built-in."""
    registry = registry_of(document("execute_command"))
    assert registry.get("execute").name == "execute_command"
    assert [each.name for each in registry.all()] == ["execute_command"]
    with pytest.raises(DefinitionError, match="reserved"):
        registry.register(document("execute"))
    with pytest.raises(ConflictError, match="the name stands for 'execute_command'"):
        registry.unregister("execute")
