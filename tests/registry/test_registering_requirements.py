"""What registering promises (ACODE FR-009 to FR-021): strict, idempotent, isolated, logged."""

from __future__ import annotations

import getpass
import json
import logging
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from toolstile.authoring import InvokeResult, ToolContext
from toolstile.errors import ConflictError, DefinitionError, LicenceError, UnknownToolError
from toolstile.model.tier import TIERS
from toolstile.model.vocabulary import LicenceTier
from toolstile.registry import rules
from toolstile.registry.registry import Changed, Registry
from toolstile.schema.compiled import compiled
from toolstile.schema.defining import define

TEXT = {"type": "string"}
READ_FILE: dict[str, Any] = {
    "name": "read_file",
    "description": "Read the contents of a file",
    "version": "1.0.0",
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Path to the file to read"},
            "encoding": {"type": "string", "enum": ["utf-8", "ascii", "utf-16"]},
        },
        "required": ["path"],
    },
}


def document(name: str, **fields: Any) -> dict[str, Any]:
    """The seed's example under another name, with other fields."""
    return READ_FILE | {"name": name} | fields


def arguments(**properties: Any) -> dict[str, Any]:
    """A schema of optional properties."""
    return {"type": "object", "properties": properties}


def test_what_is_no_tool_is_a_type_error() -> None:
    """Register takes definitions and tools, nothing that merely has a name."""
    for given in ("read_file", 3, None, [READ_FILE], print):
        with pytest.raises(TypeError, match="register a ToolDefinition"):
            Registry().register(given)


class Reverse:
    """A tool as AGN writes one."""

    name: ClassVar[str] = "reverse"
    usage: ClassVar[str] = "Use it to reverse a text."

    @staticmethod
    def schema() -> dict[str, Any]:
        """One argument."""
        properties = {"text": {"type": "string", "description": "What to reverse."}}
        parameters = {"type": "object", "properties": properties, "required": ["text"]}
        return {"name": "reverse", "description": "Reverse a text.", "parameters": parameters}

    async def execute(self, arguments_json: str, context: ToolContext) -> InvokeResult:
        """The text, from its end."""
        return InvokeResult.ok(json.dumps(json.loads(arguments_json)["text"][::-1]))


def test_a_class_goes_to_the_registry_as_it_is() -> None:
    """The class itself is registered; one that is no tool is refused with every fault."""
    registry = Registry()
    assert registry.register(Reverse).created
    assert registry.check("reverse", {"text": "a"}).ok
    assert registry.tool("reverse").function is Reverse
    with pytest.raises(DefinitionError, match="a class tool needs a 'usage'"):
        registry.register(dict)


def test_a_conflict_has_acodes_code_and_words() -> None:
    """Another meaning of a version is ACODE-TSR-007 and says what to do; a major step is none."""
    registry = Registry()
    before = registry.register(READ_FILE)
    with pytest.raises(ConflictError, match=r"^Tool 'read_file' already registered: ") as raised:
        registry.register(document("read_file", description="Something else"))
    assert raised.value.code == "ACODE-TSR-007"
    assert "raise the version" in raised.value.hint
    assert registry.register(READ_FILE).ref == before.ref
    assert registry.register(document("read_file", description="Other", version="2.0.0")).created


def test_a_custom_tool_is_not_replaced_by_a_built_in() -> None:
    """A name that a project uses already is not taken from it either."""
    registry = Registry()
    registry.register(READ_FILE)
    with pytest.raises(ConflictError, match="it is taken by a custom tool"):
        registry.register(READ_FILE, built_in=True)


@pytest.mark.parametrize(
    "broken",
    [
        {"description": ""},
        {"version": "one"},
        {"parameters": arguments(path={"type": "strin"})},
        {"parameters": arguments(path={"type": "string", "maxlength": 8})},
        {"parameters": {"type": "object", "required": ["path"]}},
        {"parameters": arguments(path={"$ref": "https://example.org/schema.json"})},
        {"parameters": {"$schema": "http://json-schema.org/draft-07/schema#"}},
        {"parameters": arguments(path={"type": "string", "pattern": "(a"})},
    ],
)
def test_what_is_not_well_formed_is_refused(broken: dict[str, Any]) -> None:
    """A broken schema ends the registration with ACODE-TSR-006; nothing of it is kept."""
    registry = Registry()
    with pytest.raises(DefinitionError, match="Definition of tool 'read_file'") as raised:
        registry.register(READ_FILE | broken)
    assert {issue.error_code for issue in raised.value.issues} == {"ACODE-TSR-006"}
    assert all(issue.message.startswith("Schema is invalid: ") for issue in raised.value.issues)
    assert all(issue.hint for issue in raised.value.issues)
    assert len(registry) == 0
    assert registry.search("read file") == ()
    assert registry.register(READ_FILE).created


def test_a_schema_is_compiled_when_it_is_registered() -> None:
    """What passes every rule and still cannot be compiled is ACODE-TSR-008, not a late surprise."""
    uncompilable = arguments(path=TEXT) | {"$id": "://"}
    registry = Registry()
    with pytest.raises(DefinitionError) as raised:
        registry.register(READ_FILE | {"parameters": uncompilable})
    (issue,) = raised.value.issues
    assert issue.error_code == "ACODE-TSR-008"
    assert issue.message.startswith("Schema compilation failed: ")
    assert len(registry) == 0
    assert registry.register(READ_FILE | {"parameters": uncompilable | {"$id": "here"}}).created


def test_a_compiled_schema_is_kept() -> None:
    """The second check of a schema uses the engine of the first, whoever holds the schema."""
    one, other = define(READ_FILE), define(document("other"))
    assert one.parameters is not other.parameters
    assert compiled(one.parameters) is compiled(other.parameters)


def test_registrations_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Each new tool is one line with name and version; a repetition or a refusal is none."""
    caplog.set_level(logging.INFO, logger="toolstile.registry")
    registry = Registry()
    registry.register(READ_FILE)
    registry.register(READ_FILE)
    with pytest.raises(DefinitionError):
        registry.register(document("read_file", version="x"))
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    registered = "Tool registered. name=read_file version=1.0.0"
    assert [line for line in said if line.startswith("Tool registered")] == [registered]


def test_many_threads_register_and_read() -> None:
    """Eight writers and four readers at once: nothing is lost, and no reader sees half a state."""
    registry = Registry()
    names = [f"tool_{number}" for number in range(160)]
    seen: list[int] = []

    def write(share: int) -> None:
        for name in names[share::8]:
            registry.register(document(name))

    def read() -> None:
        for _ in range(200):
            snapshot = registry.snapshot
            seen.append(len(snapshot) - len(snapshot.definitions))

    jobs: list[Callable[[], None]] = [*(lambda n=n: write(n) for n in range(8)), *[read] * 4]
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [definition.name for definition in registry.all()] == sorted(names)
    assert set(seen) == {0}


def test_of_many_threads_one_wins_a_version() -> None:
    """Ten meanings raced for one version: one is registered, and nine are told of the conflict."""
    registry = Registry()
    refused: list[ConflictError] = []

    def race(number: int) -> None:
        try:
            registry.register(document("read_file", description=f"Meaning {number}"))
        except ConflictError as error:
            refused.append(error)

    threads = [threading.Thread(target=race, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 9
    assert registry.versions("read_file") == ("1.0.0",)


def test_registries_share_nothing() -> None:
    """A registry is a plain object to hand around: there is no hidden global one."""
    one, other = Registry(), Registry()
    one.register(READ_FILE)
    assert "read_file" in one
    assert "read_file" not in other


def test_every_change_is_told() -> None:
    """Whoever listens learns of each change after it has happened, until they stop listening."""
    registry = Registry()
    told: list[tuple[str, str, str | None]] = []

    def listen(change: Changed) -> None:
        before = change.what == "validated" and not told
        assert (change.name in registry) != (before or change.what == "unregistered")
        told.append((change.what, change.name, change.version))

    stop = registry.subscribe(listen)
    registry.register(READ_FILE)
    registry.register(READ_FILE)
    registry.disable("read_file")
    registry.enable("read_file")
    registry.pin("read_file", "^1")
    registry.unregister("read_file")
    stop()
    registry.register(READ_FILE)
    assert told == [
        ("validated", "read_file", "1.0.0"),
        ("registered", "read_file", "1.0.0"),
        ("validated", "read_file", "1.0.0"),
        ("disabled", "read_file", None),
        ("enabled", "read_file", None),
        ("pinned", "read_file", None),
        ("unregistered", "read_file", None),
    ]


def test_what_is_told_of_a_definition_has_lex_s_fields() -> None:
    """Validated, created and updated definitions come with what LEX-DEF's events carry."""
    registry = Registry()
    told: list[Changed] = []
    registry.subscribe(told.append)
    first = registry.register(READ_FILE)
    second = registry.register(READ_FILE | {"version": "1.1.0", "description": "Read any file"})
    validated, created, _, updated = told
    assert (validated.what, validated.details["category"]) == ("validated", "system")
    assert validated.details["parameter_count"] == 2
    assert 0 < validated.details["validation_duration"] < 1
    assert created.details == {"definition_id": first.ref, "category": "system"}
    assert updated.what == "updated"
    assert updated.details == {
        "definition_id": second.ref,
        "changed_fields": ("description", "version"),
    }


def test_a_body_is_bound_to_a_definition_without_source() -> None:
    """A function of a module becomes the body; one that no other process finds is refused."""
    registry = Registry()
    properties = arguments(text=TEXT) | {"required": ["text"]}
    registry.register(document("cut_indent", parameters=properties))
    assert registry.tool("cut_indent").function is None
    with pytest.raises(DefinitionError):
        registry.bind("cut_indent", lambda text: text)
    assert registry.tool("cut_indent").function is None
    registry.bind("cut_indent", textwrap.dedent)
    assert registry.tool("cut_indent").function is textwrap.dedent


def test_a_body_fits_the_definition_that_it_is_bound_to() -> None:
    """One that needs or lacks a parameter is refused, and so is a second body: a source is told."""
    registry = Registry()
    registry.register(document("other", parameters=arguments(words=TEXT)))
    registry.register(document("with_source", parameters=[], source={"python": "getpass:getuser"}))
    with pytest.raises(DefinitionError) as unfit:
        registry.bind("other", textwrap.dedent)
    assert {(issue.path, issue.code) for issue in unfit.value.issues} == {
        ("/parameters/properties/words", "signature"),
        ("/parameters/required", "signature"),
    }
    with pytest.raises(DefinitionError) as twice:
        registry.bind("with_source", getpass.getuser)
    assert [issue.path for issue in twice.value.issues] == ["/source"]
    assert registry.tool("with_source").function is None


def test_registering_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A definition that names code does not import it: not its source, not its normaliser."""
    module = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\n"
    (tmp_path / "hostile_module.py").write_text(module, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    here = {"python": "hostile_module:run_me"}
    Registry().register(document("hostile", source=here, normalize=here))
    assert "hostile_module" not in sys.modules
    assert not (tmp_path / "ran").exists()


HOSTILE_SOURCES = [
    ({"command": "cat", "args": ["--file={{path}}"]}, "/source/subprocess/args/0"),
    ({"command": "sh", "args": ["-c", "cat {{path}}"]}, "/source/subprocess/args/1"),
    ({"command": "{{path}}", "args": []}, "/source/subprocess/command"),
    ({"command": "cat", "args": ["{{nothing}}"]}, "/source/subprocess/args/0"),
]


@pytest.mark.parametrize(("source", "place"), HOSTILE_SOURCES)
def test_a_placeholder_is_never_part_of_shell_text(source: dict[str, Any], place: str) -> None:
    """An argument can become a whole element of argv, and nothing else."""
    with pytest.raises(DefinitionError) as raised:
        Registry().register(document("tool_with_source", source={"subprocess": source}))
    assert {(issue.path, issue.code) for issue in raised.value.issues} == {(place, "placeholder")}
    good = {"subprocess": {"command": "cat", "args": ["--", "{{path}}"]}}
    assert Registry().register(document("tool_with_source", source=good)).created


def test_what_a_tool_is_cannot_be_changed_afterwards() -> None:
    """A registered definition is frozen all the way down, and no copy given out reaches it."""
    registry = Registry()
    registry.register(READ_FILE)
    definition = registry.get("read_file")
    before = definition.digest
    with pytest.raises(TypeError):
        definition.parameters["properties"]["path"]["type"] = "integer"
    with pytest.raises(AttributeError):
        definition.name = "other"  # type: ignore[misc]
    definition.to_dict()["parameters"]["properties"].clear()
    assert registry.get("read_file").digest == before == define(definition.to_dict()).digest


def test_removing_what_is_not_there_says_so() -> None:
    """Unknown names and versions are UnknownToolError at every door that changes something."""
    registry = Registry()
    registry.register(READ_FILE)
    for change in (registry.unregister, registry.enable, registry.disable):
        with pytest.raises(UnknownToolError):
            change("nothing_like_it")
    with pytest.raises(UnknownToolError, match=r"no version 3\.0\.0"):
        registry.unregister("read_file", "3.0.0")


LADDER = [
    (LicenceTier.CORE, {}, 0, "writer_pro"),
    (LicenceTier.WRITER_PRO, {}, 9, None),
    (LicenceTier.WRITER_PRO, {}, 10, "teams"),
    (LicenceTier.TEAMS, {}, 49, None),
    (LicenceTier.TEAMS, {}, 50, "enterprise"),
    (LicenceTier.ENTERPRISE, {}, 100_000, None),
    (LicenceTier.WRITER_PRO, {"constraints": {"required_isolation": "strict"}}, 0, "teams"),
    (LicenceTier.TEAMS, {"constraints": {"required_isolation": "strict"}}, 0, None),
    (LicenceTier.TEAMS, {"constraints": {"required_isolation": "restricted"}}, 0, "enterprise"),
    (LicenceTier.WRITER_PRO, {"parameters": arguments(a={"anyOf": [TEXT]})}, 0, "teams"),
    (LicenceTier.TEAMS, {"parameters": arguments(a={"anyOf": [TEXT]})}, 0, None),
    (LicenceTier.TEAMS, {"parameters": arguments(a=TEXT | {"format": "uuid"})}, 0, "enterprise"),
    (LicenceTier.ENTERPRISE, {"parameters": arguments(a=TEXT | {"format": "uuid"})}, 0, None),
]


@pytest.mark.parametrize(("tier", "fields", "has", "needs"), LADDER)
def test_each_tier_admits_what_it_has(
    tier: LicenceTier, fields: dict[str, Any], has: int, needs: str | None
) -> None:
    """Number of custom tools, isolation and schema vocabulary; a refusal names the next tier."""
    definition = define(document("my_tool", **fields))
    if needs is None:
        rules.admit(definition, tier, has)
        return
    with pytest.raises(LicenceError) as raised:
        rules.admit(definition, tier, has)
    assert raised.value.needs == needs


def test_the_table_of_tiers_is_the_contracts() -> None:
    """Built-ins, custom tools, vocabulary and isolation of each tier, as contract section 5."""
    table = [(t.built_in, t.custom, t.vocabulary, t.isolation.word) for t in TIERS.values()]
    assert table == [
        (5, 0, "basic", "standard"),
        (5, 10, "basic", "standard"),
        (8, 50, "advanced", "strict"),
        (8, None, "full", "restricted"),
    ]
