"""The registry: versions, pins, enabling, conflicts, subscribers; safe under many threads."""

from __future__ import annotations

import json
import logging
import random
import threading
import time
from collections.abc import Callable
from typing import Any, Self

import pytest

from toolstile import ConflictError, DefinitionError, SchemaValidationError, UnknownToolError
from toolstile.model.definition import ToolDefinition
from toolstile.registry.registry import Changed, Registry
from toolstile.schema.defining import define


def document(
    name: str = "read_file", version: str | None = "1.0.0", **fields: Any
) -> dict[str, Any]:
    """A small sound definition."""
    made: dict[str, Any] = {
        "name": name,
        "description": "Read the contents of a file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "default": 5}},
            "required": ["path"],
        },
    }
    if version is not None:
        made["version"] = version
    return made | fields


def test_what_is_registered_is_found() -> None:
    """By name, in the list, by category, by search."""
    registry = Registry()
    made = registry.register(document(category="file_system"))
    assert made.created
    assert made.ref.startswith("read_file@1.0.0#sha256:")
    assert registry.get("read_file").name == "read_file"
    assert [d.name for d in registry.all()] == ["read_file"]
    assert registry.by_category("file_system") == registry.all()
    assert registry.by_category("network") == ()
    assert registry.search("raed file")[0].name == "read_file"
    assert "read_file" in registry
    assert len(registry) == 1


def test_the_same_definition_again_is_a_no_op() -> None:
    """Whatever its spelling: order of keys, explicit defaults, or as a ToolDefinition."""
    registry = Registry()
    registry.register(document())
    assert not registry.register(dict(reversed(list(document().items())))).created
    assert not registry.register(document(idempotent=False)).created
    assert not registry.register(registry.get("read_file")).created
    assert not registry.register(
        json.loads(json.dumps(registry.get("read_file").to_dict()))
    ).created


@pytest.mark.parametrize("version", ["1.0.0", None])
def test_a_version_never_changes_its_meaning(version: str | None) -> None:
    """Another definition under the same version is a conflict; the first one stays."""
    registry = Registry()
    registry.register(document(version=version))
    with pytest.raises(ConflictError, match="already registered"):
        registry.register(document(version=version, description="Something else"))
    assert registry.get("read_file").description == "Read the contents of a file"


def test_an_invalid_definition_is_refused_with_every_fault() -> None:
    """All faults at once, and nothing is registered."""
    registry = Registry()
    with pytest.raises(DefinitionError) as caught:
        registry.register({"name": "Bad Name", "description": "", "category": "nope", "x": 1})
    places = {issue.path for issue in caught.value.issues}
    assert {"/name", "/description", "/category", "/x"} <= places
    assert len(registry) == 0


def test_older_versions_stay() -> None:
    """The highest release is current, ranges choose, an older one may come later."""
    registry = Registry()
    for version in ("1.1.0", "1.0.0", "2.0.0", "2.1.0-beta.1"):
        registry.register(document(version=version))
    assert registry.versions("read_file") == ("2.1.0-beta.1", "2.0.0", "1.1.0", "1.0.0")
    assert registry.get("read_file").version == "2.0.0"
    assert registry.get("read_file", "^1").version == "1.1.0"
    assert registry.get("read_file", "~1.0").version == "1.0.0"
    assert registry.get("read_file", ">=1,<2").version == "1.1.0"
    assert registry.get("read_file", "=2.1.0-beta.1").version == "2.1.0-beta.1"
    assert registry.get("read_file", "latest").version == "2.0.0"
    with pytest.raises(UnknownToolError, match="no version allows"):
        registry.get("read_file", "^3")


def test_a_breaking_minor_version_is_refused() -> None:
    """Callers of ^1 must go on working: a new required parameter needs a major step."""
    registry = Registry()
    registry.register(document())
    breaking = document(version="1.1.0")
    breaking["parameters"]["properties"]["mode"] = {"type": "string"}
    breaking["parameters"]["required"] = ["path", "mode"]
    with pytest.raises(ConflictError, match="breaks callers"):
        registry.register(breaking)
    assert registry.register(breaking | {"version": "2.0.0"}).created
    wider = document(version="1.1.0")
    wider["parameters"]["properties"]["mode"] = {"type": "string"}
    assert registry.register(wider).created


def test_built_ins_cannot_be_replaced_shadowed_or_removed() -> None:
    """Their names are theirs, and so are aliases."""
    registry = Registry()
    registry.register(document(), built_in=True)
    for attempt in (document(version="9.0.0"), document(version=None)):
        with pytest.raises(ConflictError, match="built-in"):
            registry.register(attempt)
    with pytest.raises(ConflictError):
        registry.unregister("read_file")
    assert not registry.register(document(), built_in=True).created


def test_execute_is_an_alias_and_never_a_tool() -> None:
    """LEX reserves it, ACODE calls it: it is found as execute_command."""
    registry = Registry()
    with pytest.raises(DefinitionError):
        registry.register(document(name="execute"))
    registry.register(document(name="execute_command"))
    assert registry.get("execute").name == "execute_command"


def test_disabled_tools_are_listed_and_not_callable() -> None:
    """Enabling brings them back."""
    registry = Registry()
    registry.register(document())
    registry.disable("read_file")
    assert registry.get("read_file").name == "read_file"
    with pytest.raises(UnknownToolError, match="disabled"):
        registry.callable_tool("read_file")
    registry.enable("read_file")
    assert registry.callable_tool("read_file").name == "read_file"


def test_pins_hold_where_nobody_names_a_version() -> None:
    """A caller's own range goes before the pin; a pin nothing fits is refused."""
    registry = Registry()
    for version in ("1.0.0", "2.0.0"):
        registry.register(document(version=version))
    registry.pin("read_file", "^1")
    assert registry.get("read_file").version == "1.0.0"
    assert registry.get("read_file", "^2").version == "2.0.0"
    with pytest.raises(UnknownToolError):
        registry.pin("read_file", "^9")
    registry.pin("read_file", None)
    assert registry.get("read_file").version == "2.0.0"


def test_unregistering_one_version_or_all() -> None:
    """What is gone cannot be found, and search forgets it."""
    registry = Registry()
    for version in ("1.0.0", "2.0.0"):
        registry.register(document(version=version))
    registry.unregister("read_file", "2.0.0")
    assert registry.versions("read_file") == ("1.0.0",)
    registry.unregister("read_file")
    assert "read_file" not in registry
    assert registry.search("read file") == ()
    with pytest.raises(UnknownToolError):
        registry.unregister("read_file")


def test_validating_raises_or_answers() -> None:
    """ACODE's two names: one raises with issues, the other never raises."""
    registry = Registry()
    registry.register(document())
    assert registry.validate_arguments("read_file", '{"path": "a"}') == {"path": "a", "limit": 5}
    with pytest.raises(SchemaValidationError) as caught:
        registry.validate_arguments("read_file", "{}")
    assert caught.value.tool == "read_file"
    assert caught.value.issues[0].error_code == "ACODE-TSR-003"
    with pytest.raises(UnknownToolError):
        registry.validate_arguments("nope", "{}")
    checked = registry.try_validate_arguments("nope", "{}")
    assert not checked.ok
    assert checked.issues[0].error_code == "ACODE-TSR-001"
    assert checked.issues[0].code == "unknown_tool"


def test_registration_and_failed_validation_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Names, versions and codes; never an argument."""
    caplog.set_level(logging.INFO, logger="toolstile.registry")
    registry = Registry()
    registry.register(document())
    registry.check("read_file", '{"path": "a", "canary": "s3cr3t-value"}')
    messages = [record.getMessage() for record in caplog.records]
    assert "Tool registered. name=read_file version=1.0.0" in messages
    assert any("ACODE-TSR-005" in message for message in messages)
    assert not any("s3cr3t-value" in message for message in messages)


def test_validations_and_definitions_are_counted() -> None:
    """By tool, outcome and code, under the contract's names."""
    registry = Registry()
    registry.register(document())
    with pytest.raises(DefinitionError):
        registry.register({"name": "Bad"})
    registry.check("read_file", '{"path": "a"}')
    registry.check("read_file", '{"path": 1}')
    found = registry.readings
    name = "tools.registry.validations"
    assert found.total(name, tool="read_file", outcome="valid") == 1
    assert found.total(name, outcome="invalid", code="ACODE-TSR-004") == 1
    assert found.timers["tools.registry.validation.duration"].count == 2
    assert found.total("tools.definitions.created") == 1
    assert found.total("tools.definitions.validation.failures") == 1


def test_subscribers_are_told_and_cannot_harm() -> None:
    """Each change after it happened; a failing subscriber is passed over."""
    registry = Registry()
    told: list[Changed] = []

    def broken(change: Changed) -> None:
        raise RuntimeError(change.name)

    registry.subscribe(broken)
    end = registry.subscribe(told.append)
    registry.register(document())
    registry.disable("read_file")
    registry.register(document())
    end()
    registry.enable("read_file")
    assert [c.what for c in told] == ["validated", "registered", "disabled", "validated"]


def test_a_snapshot_never_changes() -> None:
    """Whoever holds one sees what was there."""
    registry = Registry()
    registry.register(document())
    before = registry.snapshot
    registry.register(document(name="write_file"))
    registry.unregister("read_file")
    assert [entry.name for entry in before] == ["read_file"]
    assert [entry.name for entry in registry.snapshot] == ["write_file"]


def test_listing_again_costs_nothing() -> None:
    """The list of a snapshot is made once."""
    registry = Registry()
    registry.register(document())
    assert registry.all() is registry.all()


# A slice of the full half minute (`nox -s stress`); both end by themselves.
SECONDS = 3.0
THREADS = 16


class Meanwhile(str):
    """A version; when it is first read, another one changes the registry."""

    __slots__ = ("changes",)
    changes: list[Callable[[], None]]

    def __new__(cls, text: str, *changes: Callable[[], None]) -> Self:
        """A text, and what happens meanwhile."""
        made = super().__new__(cls, text)
        made.changes = list(changes)
        return made

    def __eq__(self, other: object) -> bool:
        while self.changes:
            self.changes.pop(0)()
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def two_versions() -> Registry:
    """A registry with two versions of one tool."""
    registry = Registry()
    for version in ("1.0.0", "1.1.0"):
        registry.register(document(version=version))
    return registry


def test_binding_brings_no_version_back() -> None:
    """A version that is taken out while a body is bound to it stays out."""
    registry = two_versions()
    gone = Meanwhile("1.0.0", lambda: registry.unregister("read_file", "1.0.0"))
    with pytest.raises(UnknownToolError, match=r"there are: 1\.1\.0"):
        registry.bind("read_file", document, gone)
    assert registry.versions("read_file") == ("1.1.0",)
    registry.bind("read_file", document, "1.1.0")
    assert registry.tool("read_file").function is document


def test_a_version_that_was_never_enabled_is_never_called() -> None:
    """The tool and whether it is enabled are of one moment, though both change meanwhile."""
    registry = two_versions()
    registry.disable("read_file")
    asked = Meanwhile(
        "1.0.0",
        lambda: registry.unregister("read_file", "1.0.0"),
        lambda: registry.enable("read_file"),
    )
    with pytest.raises(UnknownToolError, match="disabled"):
        registry.callable_tool("read_file", asked)
    assert registry.callable_tool("read_file").definition.version == "1.1.0"


def test_many_threads_register_disable_and_validate() -> None:
    """No error, and no snapshot in which a tool is half there."""
    assert stress(SECONDS, THREADS) > 0


def stress(seconds: float, threads: int) -> int:
    """Hammer one registry from many threads; the number of operations, or the first failure."""
    registry = Registry()
    definitions = [define(document(name=f"tool_{n}", version="1.0.0")) for n in range(20)]
    end = time.monotonic() + seconds
    failures: list[BaseException] = []
    done = [0] * threads

    def work(seed: int) -> None:
        dice = random.Random(seed)
        try:
            while time.monotonic() < end and not failures:
                _operate(registry, dice, dice.choice(definitions))
                done[seed] += 1
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test shows it
            failures.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]
    return sum(done)


def _operate(registry: Registry, dice: random.Random, definition: ToolDefinition) -> None:
    name = definition.name
    try:
        match dice.randrange(6):
            case 0:
                registry.register(definition)
            case 1:
                registry.unregister(name)
            case 2:
                (registry.enable if dice.random() < 0.5 else registry.disable)(name)
            case 3:
                checked = registry.check(name, '{"path": "a"}')
                assert checked.ok or checked.issues[0].code == "unknown_tool"
            case 4:
                snapshot = registry.snapshot
                names = [entry.name for entry in snapshot]
                assert names == sorted(set(names))
                assert len(names) == len(snapshot)
                assert all(entry.choose() is not None for entry in snapshot)
            case _:
                registry.search("read file", 3)
    except UnknownToolError:
        pass  # another thread took it out in between: that is what is being tried


if __name__ == "__main__":
    print(f"{stress(30.0, 64):,} operations by 64 threads in 30 s, no failure")
