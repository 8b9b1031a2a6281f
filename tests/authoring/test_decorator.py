"""`@tool`: what it reads from a function, what may be said beside it, and how that stays one."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import pytest
from msgspec import Meta

from toolstile.authoring import (
    EditPath,
    Host,
    LocalContext,
    Program,
    ReadPath,
    Tool,
    ToolContext,
    Url,
    WritePath,
    bind,
    tool,
    unbind,
)
from toolstile.errors import DefinitionError
from toolstile.model.vocabulary import Category, IsolationLevel, SideEffect
from toolstile.schema.defining import inspect as inspect_definition


@dataclass
class Count:
    """How many words."""

    words: int


@tool
def word_count(path: ReadPath, min_length: int = 1) -> Count:
    """Count the words of a text file."""
    words = path.read_text().split()
    return Count(words=sum(len(word) >= min_length for word in words))


@tool(version="1.2.0", idempotent=True)
async def shout(text: str, ctx: ToolContext) -> str:
    """Say it louder."""
    await asyncio.sleep(0)
    ctx.log("info", "shouting")
    return text.upper()


@tool
async def numbers(upto: int) -> AsyncIterator[int]:
    """Count."""
    for number in range(upto):
        yield number


class Holder:
    """Tools may be static methods, whichever decorator stands first."""

    @staticmethod
    @tool
    def inner(text: str) -> str:
        """Give it back."""
        return text

    @tool
    @staticmethod
    def outer(text: str) -> str:
        """Give it back."""
        return text


# --- still a function --------------------------------------------------------------------------


def test_the_example_of_the_contract(tmp_path: Path) -> None:
    """Marks, capability, side effect, category and schemas come from the signature alone."""
    file = tmp_path / "a.txt"
    file.write_text("a bb ccc", encoding="utf-8")
    assert word_count(str(file)) == Count(words=3)
    assert word_count(path=ReadPath(str(file)), min_length=2) == Count(words=2)
    made = word_count.definition.to_dict()
    assert made["name"] == "word_count"
    assert made["description"] == "Count the words of a text file."
    assert made["category"] == "file_system"
    assert made["required_capabilities"] == [{"fs_read": ["*"]}]
    assert made["required_permissions"] == ["tool.filesystem.read"]
    assert made["side_effects"] == ["fs_read"]
    assert made["constraints"]["allow_side_effects"] is False
    assert made["source"] == {"python": f"{__name__}:word_count"}
    assert made["parameters"]["required"] == ["path"]
    assert made["output_schema"]["properties"] == {"words": {"type": "integer"}}


def test_a_run_does_what_the_runtime_will(tmp_path: Path) -> None:
    """Checked, bound, called and unbound, the tool gives its JSON."""
    (tmp_path / "a.txt").write_text("a bb", encoding="utf-8")
    checked = word_count.check(b'{"path": "a.txt"}')
    assert checked.value == {"path": "a.txt", "min_length": 1}
    body = word_count.tool.function
    assert body is not None
    beneath = lambda _, text, kind: kind(str(tmp_path / text))  # noqa: E731
    kwargs = bind(body, checked.unwrap(), beneath, LocalContext())
    assert unbind(body(**kwargs)) == {"words": 2}


def test_checking_never_raises() -> None:
    """Arguments are checked without a registry, and a fault is an answer, not an exception."""
    for raw in (b"", "{", "null", {"path": 1}, {"path": "a", "x": 1}, {"path": object()}):
        checked = word_count.check(raw)
        assert not checked.ok
        assert checked.tool == "word_count"
        assert checked.issues


def test_async_stays_async() -> None:
    """An async tool is an async function, and its context is given, not exposed."""
    assert inspect.iscoroutinefunction(shout)
    context = LocalContext()
    assert asyncio.run(shout("a", ctx=context)) == "A"
    assert [line.message for line in context.lines] == ["shouting"]
    assert list(shout.definition.parameters["properties"]) == ["text"]
    assert not inspect.iscoroutinefunction(word_count)


def test_streams_stay_streams() -> None:
    """An async generator still is one when it is called, and its result is a stream."""

    async def all_of() -> list[int]:
        return [number async for number in numbers(3)]

    assert asyncio.run(all_of()) == [0, 1, 2]
    assert numbers.definition.result_type == "stream"


def test_functions_keep_their_face() -> None:
    """Name, words, module and signature are those of the function."""
    assert word_count.__name__ == "word_count"
    assert word_count.__doc__ == "Count the words of a text file."
    assert list(inspect.signature(word_count).parameters) == ["path", "min_length"]
    with pytest.raises(TypeError):
        word_count()


@pytest.mark.parametrize("name", ["inner", "outer"])
def test_static_methods(name: str) -> None:
    """A static method is a tool, called through its class or through an instance."""
    for holder in (Holder, Holder()):
        assert getattr(holder, name)("a") == "a"
    assert getattr(Holder, name).definition.source == {"python": f"{__name__}:Holder.{name}"}


def test_text_becomes_a_handle_wherever_one_stands(tmp_path: Path) -> None:
    """In a direct call, text or a pathlib path does for a handle, in containers and defaults."""
    (tmp_path / "a").write_text("x", encoding="utf-8")
    path = tmp_path / "a"

    @tool
    def read_all(
        one: ReadPath,
        many: list[ReadPath],
        pair: tuple[int, ReadPath],
        named: dict[str, ReadPath],
        perhaps: ReadPath | None = None,
        also: ReadPath = str(path),  # type: ignore[assignment]
    ) -> str:
        """Read them."""
        every = [one, *many, pair[1], *named.values(), also]
        return "".join(each.read_text() for each in every) + str(perhaps)

    assert read_all(path, [str(path)], (1, str(path)), {"a": str(path)}) == "xxxxxNone"
    assert read_all.definition.parameters["properties"]["also"]["default"] == str(path)


# --- what follows from what --------------------------------------------------------------------


def takes(**annotations: Any) -> Callable[..., Any]:
    """A function with these parameters."""

    def made() -> None:
        """Do it."""

    kinds = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, kinds) for name in annotations]
    made.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    made.__annotations__ = annotations
    return made


DERIVED: list[tuple[dict[str, Any], dict[str, Any], str, list[str], str]] = [
    ({}, {}, "system", ["none"], "standard"),
    ({"a": str}, {}, "system", ["none"], "standard"),
    ({"a": ReadPath}, {}, "file_system", ["fs_read"], "standard"),
    ({"a": list[ReadPath]}, {}, "file_system", ["fs_read"], "standard"),
    ({"a": ReadPath | None}, {}, "file_system", ["fs_read"], "standard"),
    ({"a": ReadPath, "b": WritePath}, {}, "file_system", ["fs_read", "fs_write"], "standard"),
    ({"a": EditPath}, {}, "file_system", ["fs_read", "fs_write"], "standard"),
    ({"a": Host}, {}, "network", ["net_read"], "standard"),
    ({"a": Url, "b": ReadPath}, {}, "network", ["net_read", "fs_read"], "standard"),
    ({"a": Url}, {"capabilities": [{"net_write": []}]}, "network", ["net_write"], "standard"),
    ({"a": Program}, {}, "code_execution", ["process_spawn"], "strict"),
    ({}, {"capabilities": {"db_read": ["main"]}}, "database", ["db_read"], "standard"),
    ({}, {"capabilities": [{"secret": ["gh"]}]}, "system", ["none"], "standard"),
    ({"a": ReadPath}, {"category": "knowledge"}, "knowledge", ["fs_read"], "standard"),
    ({}, {"side_effects": ["net_read"]}, "system", ["net_read"], "standard"),
]


@pytest.mark.parametrize(("takes_", "fields", "category", "effects", "isolation"), DERIVED, ids=str)
def test_one_fact_is_said_once(
    takes_: dict[str, Any],
    fields: dict[str, Any],
    category: str,
    effects: list[str],
    isolation: str,
) -> None:
    """Category, side effects and isolation follow from what a signature and its fields need."""
    definition = tool(**fields)(takes(**takes_)).definition
    assert definition.category.word == category
    assert [*(definition.side_effects or ())] == effects
    assert definition.constraints.required_isolation.word == isolation


def test_each_constraint_can_be_said() -> None:
    """What one call may use is said by its own names, too, as the contract has them."""
    limits: dict[str, Any] = {
        "max_execution_time": 30,
        "max_output_size": "1MiB",
        "allow_side_effects": False,
        "required_isolation": "strict",
        "max_memory": "64MiB",
        "max_cpu": 5,
        "network": {"max_requests": 3},
    }
    beside = tool(**limits)(fine).definition
    assert beside.constraints == tool(constraints=limits)(fine).definition.constraints
    assert beside.constraints.max_memory == 64 * 2**20


def test_every_field_can_be_said() -> None:
    """Each field of a definition, and each short name, reaches the definition."""

    @tool(
        name="renamed",
        description="Another text",
        version="2.0.0",
        category=Category.KNOWLEDGE,
        license_tier="teams",
        output_schema={"type": "array", "items": {"type": "integer"}},
        constraints={"max_output_size": "1MiB"},
        capabilities={"fs_read": ["/data"]},
        determinism="pure",
        idempotent=True,
        confirm=True,
        usage="Use it.",
        normalize="json",
        secrets=("gh",),
        metadata={"risk": "low"},
        isolation=IsolationLevel.STRICT,
        timeout=timedelta(seconds=30),
    )
    def original(text: str) -> list[int]:
        """Do it."""
        return [len(text)]

    definition = original.definition
    assert (definition.name, definition.description) == ("renamed", "Another text")
    assert definition.category is Category.KNOWLEDGE
    assert definition.result_type == "array"
    assert definition.constraints.max_execution_time == 30
    assert definition.constraints.max_output_size == 1 << 20
    assert definition.constraints.required_isolation is IsolationLevel.STRICT
    assert definition.requires_confirmation
    assert definition.side_effects == (SideEffect.FS_READ,)
    assert definition.secrets == ("gh",)


def test_a_schema_written_by_hand_stands() -> None:
    """Written parameters replace those of the signature, which need not say types then."""

    @tool(parameters={"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}})
    def lenient(a="xx", **more):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN003, ANN202
        """Do it."""
        return a

    assert lenient.definition.parameters["properties"] == {"a": {"type": "string", "minLength": 2}}


def test_parameters_as_a_list() -> None:
    """LEX's list of parameters will do, too."""
    listed = [{"name": "text", "description": "Words", "type": "string", "required": True}]
    made = tool(fine, parameters=listed).definition
    assert made.parameters["required"] == ["text"]
    assert made.parameters["properties"]["text"]["description"] == "Words"


# --- refusals ----------------------------------------------------------------------------------


def faults_of(function: Any, **fields: Any) -> dict[str, str]:
    """The faults of a definition: pointer and message with its hint."""
    with pytest.raises(DefinitionError) as caught:
        tool(function, **fields)
    return {issue.path: f"{issue.message} ({issue.hint})" for issue in caught.value.issues}


def fine(text: str) -> str:
    """Do it."""
    return text


def silent(text: str) -> str:  # noqa: D103 - that is the point
    return text


def two(a: str, b: str) -> str:
    """Do it."""
    return a + b


HAND = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
UNMARKED = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
MISMARKED = {
    "type": "object",
    "properties": {"path": {"type": "string", "x-toolstile": {"fact": "path"}}},
    "required": ["path"],
}
REFUSED: list[tuple[Any, dict[str, Any], str, str]] = [
    (silent, {}, "/description", "write a docstring"),
    (fine, {"name": "run"}, "/name", "reserved"),
    (fine, {"name": "Camel"}, "/name", "snake_case"),
    (fine, {"isolaton": "strict"}, "/isolaton", "did you mean 'isolation'?"),
    (fine, {"qqq": 1}, "/qqq", "capabilities, category, confirm"),
    (fine, {"max_memory": 2**30, "constraints": {"max_memory": 1}}, "/max_memory", "write one"),
    (fine, {"isolation": "none"}, "/constraints/required_isolation", "trusted=True"),
    (fine, {"isolation": "none", "trusted": 1}, "/constraints/required_isolation", "trusted=True"),
    (fine, {"confirm": True, "requires_confirmation": True}, "/confirm", "write one of them"),
    (fine, {"timeout": 1, "constraints": {"max_execution_time": 2}}, "/timeout", "write one"),
    (fine, {"timeout": 0.5}, "/constraints/max_execution_time", "between"),
    (two, {"parameters": HAND}, "/parameters/required", "needs 'b'"),
    (fine, {"parameters": HAND}, "/parameters/properties/a", "no parameter 'a'"),
    (word_count, {"parameters": UNMARKED}, "/parameters/properties/path", "not marked"),
    (word_count, {"parameters": MISMARKED}, "/parameters/properties/path", "not marked"),
    (int, {"name": "integer"}, "", "is not a function"),
    (42, {"name": "answer"}, "", "is not a function"),
    (print, {"name": "output"}, "", "is not a function"),
]


@pytest.mark.parametrize(("function", "fields", "path", "words"), REFUSED, ids=str)
def test_faults_are_said_where_the_tool_is_written(
    function: Any, fields: dict[str, Any], path: str, words: str
) -> None:
    """A wrong declaration fails at the decorator, with its pointer and its repair."""
    assert words in faults_of(function, **fields)[path]
    assert isinstance(tool(fine).tool, Tool)


def test_every_fault_comes_at_once() -> None:
    """Faults of the name, the signature, its defaults, the fields and the output come together."""

    def Wrong(a, b: bytes, c: Annotated[str, Meta(min_length=3)] = "x") -> Any:  # type: ignore[no-untyped-def] # noqa: ANN001, N802
        return a, b, c

    found = faults_of(Wrong, version="1", isolation="none", metadata=[])
    assert {
        "/name",
        "/description",
        "/parameters/properties/a",
        "/parameters/properties/b",
        "/parameters/properties/c/default",
        "/output_schema",
        "/version",
        "/metadata",
        "/constraints/required_isolation",
    } <= found.keys()


def test_a_declared_need_must_cover_the_marks() -> None:
    """Capabilities written beside a signature that names more are refused, not widened."""
    assert "fs_read" in faults_of(word_count, capabilities=[])["/required_capabilities"]


def test_methods_are_refused() -> None:
    """A method needs an instance that no other process has."""

    def method(self, text: str) -> str:  # type: ignore[no-untyped-def] # noqa: ANN001
        """Do it."""
        return text

    assert "staticmethod" in faults_of(method)["/parameters/properties/self"]


def test_local_types_are_found() -> None:
    """A tool inside a function may use that function's types, although annotations are text."""

    @dataclass
    class Local:
        size: int

    @tool(isolation="none", trusted=True)
    def measure(what: Local) -> Local:
        """Measure it."""
        return Local(what.size + 1)

    body = measure.tool.function
    assert body is not None
    kwargs = bind(body, {"what": {"size": 1}}, lambda *_: None, LocalContext())
    assert kwargs == {"what": Local(1)}
    assert measure.definition.source is None, "another process could not find it"
    assert measure.tool.trusted


DIGEST_IT = """
import sys; sys.path[:0] = {path!r}
from test_decorator import word_count, shout, numbers
print(word_count.definition.digest, shout.definition.digest, numbers.definition.digest)
"""


def test_digests_are_the_same_in_every_process() -> None:
    """A tool's digest does not depend on the process, its hashes or its memory."""
    here = Path(__file__)
    paths = [str(here.parents[2] / "src"), str(here.parent)]
    found = {
        subprocess.run(
            [sys.executable, "-c", DIGEST_IT.format(path=paths)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            encoding="utf-8",
        ).stdout
        for seed in ("0", "7", "random")
    }
    assert len(found) == 1
    assert found.pop().count("sha256:") == 3


@pytest.mark.parametrize(
    ("mark", "fits"),
    [
        ({"reads": "path", "writes": "path"}, True),
        ({"writes": "path"}, True),
        ({"reads": "path", "writes": "host"}, False),
        ({"reads": "path", "runs": "program"}, False),
        ({"reads": "path", "writes": "path", "fact": "name"}, False),
    ],
)
def test_one_argument_is_marked_for_one_use_or_for_editing(
    mark: dict[str, str], fits: bool
) -> None:
    """Reading and writing are the only two that go together, for one file."""
    parameters = {"a": {"type": "string", "description": "A", "x-toolstile": mark}}
    schema = {"type": "object", "properties": parameters, "required": ["a"]}
    document = {"name": "marked", "version": "1.0.0", "description": "D", "parameters": schema}
    found = inspect_definition({**document, "usage": "Use it."})
    assert ("x-toolstile" in {each.code for each in found.issues}) is not fits


def test_the_handle_is_that_of_the_mark() -> None:
    """A file marked for editing is not taken as one that is only written."""
    made = tool(edit_file)
    parameters = made.definition.parameters
    assert tool(parameters=parameters)(edit_file).definition.parameters == parameters
    with pytest.raises(DefinitionError, match="not marked as one"):
        tool(parameters=parameters)(write_file)


def edit_file(path: EditPath) -> int:
    """Edit a file."""
    return path.append("x")


def write_file(path: WritePath) -> int:
    """Write a file."""
    return path.append("x")
