"""Tools as classes: what AGN-005 asks of them, and what they answer."""

# ruff: noqa: D101 - the name of each wrong class says what is wrong with it

from __future__ import annotations

import asyncio
import json
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolstile.authoring import (
    InvokeResult,
    LocalContext,
    ToolContext,
    from_class,
    run_class,
)
from toolstile.authoring.class_face import with_null_for_default
from toolstile.errors import DefinitionError, ToolError
from toolstile.schema import check_schema, compile_arguments

PARAMETERS = {
    "type": "object",
    "properties": {
        "message": {"type": "string"},
        "count": {"type": "integer", "default": 1},
        "tone": {"type": "string", "enum": ["low", "high"]},
    },
    "required": ["message"],
}


class PingPong:
    """Answers."""

    name: ClassVar[str] = "testing_ping_pong"
    usage: ClassVar[str] = "Answer a message. Use it to see whether tools work."
    version: ClassVar[str] = "1.0.0"
    idempotent: ClassVar[bool] = True

    @staticmethod
    def schema() -> dict[str, Any]:
        """OpenAI's form of a function."""
        return {
            "type": "function",
            "name": "testing_ping_pong",
            "description": "Answer a message.",
            "parameters": PARAMETERS,
        }

    async def execute(self, arguments_json: str, context: ToolContext) -> InvokeResult:
        """Answer."""
        arguments = json.loads(arguments_json)
        if not arguments.get("message"):
            return InvokeResult.error("message is missing", code="NO_MESSAGE")
        count = arguments.get("count") or 1
        reply = {"reply": arguments["message"] * count, "session": context.ids.session}
        return InvokeResult.ok(json.dumps(reply))


def test_a_class_is_a_tool() -> None:
    """Name, usage and schema of a class make a definition; other fields may stand beside them."""
    tool = from_class(PingPong)
    definition = tool.definition
    assert tool.function is PingPong
    assert definition.name == "testing_ping_pong"
    assert definition.description == "Answer a message."
    assert definition.usage == PingPong.usage
    assert definition.version == "1.0.0"
    assert definition.idempotent
    assert definition.side_effects == ("none",)
    assert definition.source == {"python": f"{__name__}:PingPong"}


def test_null_means_the_default() -> None:
    """What is optional takes null, too; what is required does not."""
    tool = from_class(PingPong)
    for arguments in ({}, {"count": None}, {"count": 2}, {"tone": None}, {"tone": "low"}):
        assert tool.check({"message": "a", **arguments}).ok
    for wrong in ({"message": None}, {"message": "a", "count": "2"}, {"message": "a", "tone": "x"}):
        assert not tool.check(wrong).ok


def run(arguments: dict[str, Any], cls: type = PingPong) -> Any:
    """What a class answers to these arguments."""
    context = LocalContext()
    return asyncio.run(run_class(cls, arguments, context))


def test_running() -> None:
    """Arguments go in as JSON text, and the JSON that comes out is read."""
    assert run({"message": "a", "count": 2}) == {"reply": "aa", "session": None}


def answering(answer: Any) -> type:
    """A class that answers this."""

    class Answering(PingPong):
        async def execute(self, arguments_json: str, context: ToolContext) -> InvokeResult:
            found: InvokeResult = answer
            return found

    return Answering


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (InvokeResult.error("no"), "TOOL_FAILED"),
        (InvokeResult.error("no", code="NO_MESSAGE"), "NO_MESSAGE"),
        (InvokeResult(successful=False), "TOOL_FAILED"),
        (InvokeResult.ok("{"), "MALFORMED_OUTPUT"),
        (InvokeResult.ok(""), "MALFORMED_OUTPUT"),
        (InvokeResult.ok('{"a": 1, "a": 2}'), "MALFORMED_OUTPUT"),
        (InvokeResult.ok("NaN"), "MALFORMED_OUTPUT"),
        (InvokeResult(successful=True), "MALFORMED_OUTPUT"),
    ],
)
def test_failures_reach_the_model(answer: InvokeResult, code: str) -> None:
    """An error keeps its code, and text that is no JSON is one; a good answer goes through."""
    with pytest.raises(ToolError) as caught:
        run({}, answering(answer))
    assert caught.value.code == code
    assert run({}, answering(InvokeResult.ok("[1]"))) == [1]


def test_an_answer_of_another_kind() -> None:
    """What is no InvokeResult is the author's mistake."""
    with pytest.raises(TypeError, match="InvokeResult"):
        asyncio.run(run_class(answering({"reply": 1}), {}, LocalContext()))


class WithoutUsage(PingPong):
    usage: ClassVar[str] = " "


class OtherName(PingPong):
    name: ClassVar[str] = "other"


class NotStatic(PingPong):
    def schema(self) -> dict[str, Any]:  # type: ignore[override]
        """Need an instance."""
        return PingPong.schema()


class NotAsync(PingPong):
    def execute(self, arguments_json: str, context: ToolContext) -> InvokeResult:  # type: ignore[override]
        """Answer at once."""
        return InvokeResult.ok("{}")


class Raising(PingPong):
    @staticmethod
    def schema() -> dict[str, Any]:
        """Fail."""
        raise RuntimeError("secret")


class Listing(PingPong):
    @staticmethod
    def schema() -> dict[str, Any]:
        """Give something else."""
        return []  # type: ignore[return-value]


class Misspelt(PingPong):
    @staticmethod
    def schema() -> dict[str, Any]:
        """Misspell a field."""
        return {**PingPong.schema(), "paramters": {}}


REFUSED = [
    (WithoutUsage, "/usage", "a class tool needs a 'usage'"),
    (OtherName, "/name", "different names"),
    (NotStatic, "/parameters", "static 'schema'"),
    (NotAsync, "/source", "async 'execute'"),
    (Raising, "/parameters", "raised RuntimeError"),
    (Listing, "/parameters", "not return a mapping"),
    (Misspelt, "/parameters", "'paramters'"),
]


@pytest.mark.parametrize(("cls", "path", "words"), REFUSED)
def test_what_breaks_the_contract_is_refused(cls: type, path: str, words: str) -> None:
    """Each part that a class lacks is a fault with its repair; the whole class is accepted."""
    with pytest.raises(DefinitionError) as caught:
        from_class(cls)
    found = [issue for issue in caught.value.issues if issue.path == path]
    assert any(words in issue.message for issue in found)
    assert "secret" not in str(caught.value)
    assert from_class(PingPong).name


def test_every_fault_of_a_class_at_once() -> None:
    """A class that has nothing is told everything."""
    with pytest.raises(DefinitionError) as caught:
        from_class(int)
    paths = {issue.path for issue in caught.value.issues}
    assert {"/name", "/usage", "/parameters", "/source", "/description"} <= paths


SCHEMAS = st.sampled_from(
    [
        {"type": "string"},
        {"type": ["string", "integer"], "minLength": 1},
        {"type": "string", "enum": ["a", "b"]},
        {"enum": ["a", 1]},
        {"const": 5},
        {"type": "integer", "const": 5},
        {"type": "integer", "default": 3, "minimum": 1},
        {"$ref": "#/$defs/d", "description": "d"},
        {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "string"}, {"type": "integer"}], "default": "a"},
        {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
        {"type": "array", "items": {"type": "integer"}},
        {"type": ["string", "null"]},
        {"type": "string", "x-toolstile": {"reads": "path"}},
    ]
)
VALUES = st.sampled_from(["a", "b", "", 1, 5, 0, {}, {"x": 1}, [1], ["a"], True, 1.5])


@given(SCHEMAS, VALUES)
def test_null_is_all_that_is_added(schema: dict[str, Any], value: Any) -> None:
    """An optional member takes null and, besides, exactly what it took before."""
    written = {
        "type": "object",
        "properties": {"value": schema},
        "$defs": {"d": {"type": "integer"}},
    }
    before, after = (compile_arguments(each) for each in (written, with_null_for_default(written)))
    assert check_schema(with_null_for_default(written)) == ()
    assert after.check({"value": None}).ok
    assert before.check({"value": value}).ok == after.check({"value": value}).ok


def test_the_written_schema_stays_as_it_is() -> None:
    """Adding null changes a copy: the class gives its schema again, unchanged."""
    from_class(PingPong)
    assert PARAMETERS["properties"]["tone"] == {  # type: ignore[index]
        "type": "string",
        "enum": ["low", "high"],
    }
