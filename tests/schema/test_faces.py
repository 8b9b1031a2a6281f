"""The seeds' forms of a definition: LEX's list and CATH's map, in and out."""

from __future__ import annotations

from typing import Any

import pytest

from corpora import corpus, records
from toolstile.errors import DefinitionError
from toolstile.model.json import thaw
from toolstile.model.vocabulary import Determinism, ResultType, SideEffect
from toolstile.schema.adopt import adopt
from toolstile.schema.compiled import compiled
from toolstile.schema.defining import define
from toolstile.schema.faces.cath import from_cath, to_cath
from toolstile.schema.faces.lex import to_parameter_list

# CATH's own example, written as serde writes it.
HTTP_FETCH: dict[str, Any] = {
    "name": "http_fetch",
    "version": "1.0.0",
    "description": "Fetch a URL",
    "input_schema": {
        "parameters": {
            "url": {
                "param_type": "String",
                "required": True,
                "description": "URL to fetch",
                "default": None,
            },
            "headers": {
                "param_type": {"Array": {"item_type": "String"}},
                "required": False,
                "description": "HTTP headers",
                "default": None,
            },
        }
    },
    "required_capabilities": [{"NetRead": {"allowlist": ["*"]}}],
    "side_effects": ["NetRead"],
    "determinism": "Maybe",
    "resource_bounds": {
        "timeout": {"secs": 30, "nanos": 500_000_000},
        "max_memory": 268_435_456,
        "max_cpu": "10s",
        "max_network": {"max_requests": 10, "max_bytes": 1_000_000},
    },
}


def changed(**fields: Any) -> dict[str, Any]:
    """CATH's example with other fields."""
    return HTTP_FETCH | fields


def parameter(kind: Any, **more: Any) -> dict[str, Any]:
    """A description with one parameter `p` of this type."""
    member = {"param_type": kind, "required": False, "description": "", "default": None} | more
    return changed(input_schema={"parameters": {"p": member}})


def listed(**properties: Any) -> Any:
    """LEX's list of a definition with these parameters."""
    schema = {"type": "object", "properties": properties}
    definition = define({"name": "my_tool", "description": "Do it", "parameters": schema})
    return to_parameter_list(definition.parameters)


# --- CATH, in -----------------------------------------------------------------------------------


def test_cath_s_example_is_a_definition() -> None:
    """Everything that CATH says is kept, in the words of the contract."""
    definition = from_cath(HTTP_FETCH).definition
    assert definition.required_permissions == ("tool.network.fetch",)
    assert definition.side_effects == (SideEffect.NET_READ,)
    assert definition.determinism is Determinism.MAYBE
    assert definition.constraints.max_execution_time == 30.5
    assert definition.constraints.max_cpu == 10
    assert definition.constraints.network is not None
    assert definition.constraints.network.max_requests == 10
    check = compiled(definition.parameters).check
    assert check({"url": "https://a.example", "headers": ["Accept: */*"]}).ok
    assert not check({"headers": []}).ok
    assert not check({"url": "https://a.example", "headers": [1]}).ok
    assert not check({"url": "https://a.example", "more": 1}).ok


@pytest.mark.parametrize(
    ("kind", "fits", "fails"),
    [
        ("Number", 1.5, "1.5"),
        ("Boolean", True, 1),
        ({"Array": {"item_type": {"Array": {"item_type": "Number"}}}}, [[1]], [1]),
        ({"OneOf": {"variants": ["String", "Number"]}}, 1, True),
        (
            {"Object": {"schema": {"parameters": {"a": {"param_type": "String"}}}}},
            {"a": "b"},
            {"b": "a"},
        ),
    ],
)
def test_each_of_cath_s_types_is_enforced(kind: Any, fits: Any, fails: Any) -> None:
    """A value of the type is taken, another is refused."""
    check = compiled(from_cath(parameter(kind)).definition.parameters).check
    assert check({"p": fits}).ok
    assert not check({"p": fails}).ok


def test_a_required_parameter_loses_its_default() -> None:
    """The contract's rule for importers: required stays, the default goes and is reported."""
    adopted = from_cath(parameter("String", required=True, default="x"))
    (change,) = adopted.changes
    assert change.path == "/input_schema/parameters/p/default"
    assert not compiled(adopted.definition.parameters).check({}).ok
    optional = from_cath(parameter("String", default="x"))
    assert optional.changes == ()
    assert compiled(optional.definition.parameters).check({}).value == {"p": "x"}


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (changed(extra=1), "/extra"),
        (changed(input_schema=[]), "/input_schema"),
        (changed(input_schema={"parameters": {"p": "String"}}), "/input_schema/parameters/p"),
        (parameter("Integer"), "/input_schema/parameters/p/param_type"),
        (parameter({"OneOf": {"variants": []}}), "/input_schema/parameters/p/param_type"),
        (changed(required_capabilities=[{}]), "/required_capabilities/0"),
        (changed(required_capabilities=[{"Fly": []}]), "/required_capabilities/0/fly"),
        (changed(determinism="Sometimes"), "/determinism"),
        (changed(output_schema=1), "/output_schema"),
        (changed(resource_bounds={"patience": 1}), "/resource_bounds/patience"),
        (changed(name="HttpFetch"), "/name"),
    ],
)
def test_what_is_no_cath_description_is_refused(document: dict[str, Any], path: str) -> None:
    """With the place; the example itself is taken."""
    assert from_cath(HTTP_FETCH).definition.name == "http_fetch"
    with pytest.raises(DefinitionError) as caught:
        from_cath(document)
    assert path in {issue.path for issue in caught.value.issues}


def test_a_description_without_end_is_refused() -> None:
    """Types within types have a bound."""
    kind: Any = "String"
    for _ in range(40):
        kind = {"Array": {"item_type": kind}}
    with pytest.raises(DefinitionError):
        from_cath(parameter(kind))


# --- CATH, out ----------------------------------------------------------------------------------


def test_cath_s_example_goes_out_as_it_came_in() -> None:
    """And nothing is left unsaid."""
    definition = from_cath(changed(output_schema={"result_type": "Array"})).definition
    face = to_cath(definition)
    assert face.unsaid == ()
    assert from_cath(face.document).definition == definition
    assert face.document["required_capabilities"] == [{"NetRead": {"allowlist": ["*"]}}]
    assert face.document["resource_bounds"] == HTTP_FETCH["resource_bounds"]


@pytest.mark.parametrize(
    ("schema", "kind", "unsaid"),
    [
        ({"type": "string"}, "String", []),
        ({"type": "string", "minLength": 1}, "String", ["/minLength"]),
        ({"type": "integer"}, "Number", ["/type"]),
        (
            {"type": ["string", "number"]},
            {"OneOf": {"variants": ["String", "Number"]}},
            [],
        ),
        ({"type": ["string", "null"]}, "String", ["/type"]),
        ({"type": "string", "enum": ["a"]}, "String", ["/enum"]),
        (
            {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
            {"Array": {"item_type": "Number"}},
            ["/maxItems", "/items/type"],
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "number"}]},
            {"OneOf": {"variants": ["String", "Number", "Boolean"]}},
            [""],
        ),
    ],
)
def test_what_cath_cannot_say_is_marked(schema: Any, kind: Any, unsaid: list[str]) -> None:
    """The nearest type goes out, and each keyword that is only enforced here is pointed at."""
    parameters = {"type": "object", "properties": {"p": schema}}
    document = {"name": "t", "description": "d", "side_effects": ["none"], "parameters": parameters}
    face = to_cath(define(document))
    assert face.document["input_schema"]["parameters"]["p"]["param_type"] == kind
    assert list(face.unsaid) == [f"/parameters/properties/p{pointer}" for pointer in unsaid]


def test_fields_that_cath_lacks_are_marked() -> None:
    """What differs from silence is pointed at; what CATH has words for is not."""
    face = to_cath(
        define(
            {
                "name": "t",
                "description": "d",
                "idempotent": True,
                "license_tier": "teams",
                "result_type": "string",
                "output_schema": {"type": "string"},
                "constraints": {"max_output_size": 5_000, "max_execution_time": 5},
            }
        )
    )
    assert set(face.unsaid) == {
        "/idempotent",
        "/license_tier",
        "/side_effects",
        "/output_schema",
        "/constraints/max_output_size",
    }
    assert face.document["output_schema"]["result_type"] == ResultType.STRING.value.capitalize()


# --- LEX, out -----------------------------------------------------------------------------------


def test_lex_s_list_goes_out_as_it_came_in() -> None:
    """LEX's three examples, in and out again."""
    written = [
        {"name": "path", "description": "Path", "type": "string", "required": True},
        {
            "name": "encoding",
            "description": "Encoding",
            "type": "string",
            "required": False,
            "default": "utf-8",
            "enum": ["utf-8", "ascii"],
        },
        {
            "name": "options",
            "description": "Options",
            "type": "object",
            "required": False,
            "schema": {
                "properties": {"depth": {"type": "integer", "minimum": 1}},
                "additionalProperties": False,
            },
        },
    ]
    definition = define({"name": "t", "description": "d", "parameters": written})
    face = to_parameter_list(definition.parameters)
    assert (face.document, face.unsaid) == (written, ())


def test_what_lex_cannot_say_is_marked() -> None:
    """A value of no single type, a name that is not snake_case, a rule between parameters."""
    text = {"type": "string"}
    assert listed(p={"type": ["string", "null"], "default": None}).unsaid == ()
    assert listed(p={"anyOf": [text, {"type": "null"}]}).unsaid == ("/parameters/properties/p",)
    assert listed(maxBytes=text).unsaid == ("/parameters/properties/maxBytes",)
    schema = {
        "type": "object",
        "properties": {"a": text, "b": {"$ref": "#/$defs/b"}},
        "$defs": {"b": text},
        "minProperties": 1,
    }
    definition = define({"name": "t", "description": "d", "parameters": schema})
    face = to_parameter_list(definition.parameters)
    assert set(face.unsaid) == {
        "/parameters/$defs",
        "/parameters/minProperties",
        "/parameters/properties/b",
    }
    assert [member["name"] for member in face.document] == ["a"]


@pytest.mark.required
def test_faces_of_recorded_tools_mean_what_the_definitions_mean() -> None:
    """What leaves nothing unsaid comes in again as the same parameters, in both forms."""
    whole = {"lex": 0, "cath": 0}
    for record in records(corpus("mcp-servers", "toolcalls.jsonl.gz")):
        definition = adopt(record["tool"]).definition
        face = to_parameter_list(definition.parameters)
        if not face.unsaid:
            whole["lex"] += 1
            again = define({"name": "t", "description": "d", "parameters": face.document})
            assert bare(again.parameters) == bare(definition.parameters)
        out = to_cath(definition)
        if not any(pointer.startswith("/parameters") for pointer in out.unsaid):
            whole["cath"] += 1
            parameters = from_cath(out.document).definition.parameters
            assert bare(parameters) == bare(definition.parameters)
    assert whole["lex"] > 100
    assert whole["cath"] > 20


def bare(schema: Any) -> Any:
    """A schema without annotations, and without the order of lists that have none."""
    plain = thaw(schema)
    if isinstance(plain, list):
        return [bare(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    return {
        name: sorted(value)
        if name == "required"
        else {member: bare(below) for member, below in value.items()}
        if name == "properties"
        else bare(value)
        for name, value in plain.items()
        if name not in ("title", "description", "examples", "$comment")
        if value or name not in ("required", "properties")
    }
