"""What each dialect makes of the things that it has no word for, and the way back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from suites.exports import schema_of, taking
from toolstile import SchemaValidationError, define
from toolstile.dialects import DIALECTS, Export, export, export_all
from toolstile.errors import UnknownDialectError
from toolstile.model.definition import ToolDefinition

OPENAI = "openai-responses-strict"
TEXT = {"type": "string"}


def tool(parameters: dict[str, Any], **fields: Any) -> ToolDefinition:
    """A tool with these parameters."""
    return define({"name": "tool", "description": "A tool.", "parameters": parameters, **fields})


def of(properties: dict[str, Any], *required: str, **keywords: Any) -> dict[str, Any]:
    """An object's schema."""
    return {"type": "object", "properties": properties, "required": list(required), **keywords}


def said(exported: Export) -> Any:
    """The schema that an OpenAI Responses document has."""
    return json.loads(exported.json)["parameters"]


def lost(exported: Export) -> list[tuple[str, str]]:
    """Where which constraint is lost."""
    return [(loss.path.removeprefix("/parameters"), loss.keyword) for loss in exported.losses]


# --- what may be left out -----------------------------------------------------------------------


def test_what_may_be_left_out_is_null_in_strict_mode() -> None:
    """It is required, takes null, says so, and null comes back as nothing."""
    exported = export(tool(of({"a": TEXT, "b": {"type": "integer", "default": 5}}, "a")), OPENAI)
    assert said(exported)["required"] == ["a", "b"]
    assert said(exported)["properties"]["b"] == {
        "description": "(null: left out, which means 5)",
        "type": ["integer", "null"],
    }
    assert exported.from_provider('{"a":"x","b":null}') == {"a": "x"}
    assert exported.check('{"a":"x","b":null}').value == {"a": "x", "b": 5}
    assert exported.to_provider({"a": "x"}) == {"a": "x", "b": None}
    assert exported.losses == ()


def test_null_and_nothing_are_told_apart_in_strict_mode() -> None:
    """Where null is a value of its own, what is there is wrapped."""
    exported = export(tool(of({"a": {"type": ["string", "null"]}})), OPENAI)
    calls: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {"a": None}),
        ({"a": None}, {"a": {"value": None}}),
        ({"a": "x"}, {"a": {"value": "x"}}),
    ]
    for own, sent in calls:
        assert exported.to_provider(own) == sent
        assert exported.check(json.dumps(sent)).value == own
    assert not exported.check('{"a":"x"}').ok


def test_a_default_of_null_needs_no_wrapping() -> None:
    """The usual optional member of pydantic models keeps its plain form."""
    schema = {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
    exported = export(tool(of({"a": schema})), OPENAI)
    assert said(exported)["properties"]["a"] == {"anyOf": schema["anyOf"]}
    assert exported.check('{"a":null}').value == {"a": None}
    assert exported.check('{"a":3}').value == {"a": 3}


def test_a_required_null_stays_null() -> None:
    """Only what may be left out is taken for nothing."""
    exported = export(tool(of({"a": {"type": ["string", "null"]}}, "a")), OPENAI)
    assert exported.check('{"a":null}').value == {"a": None}


# --- objects that take any name, values of any type -----------------------------------------------


def test_free_names_are_sent_as_entries() -> None:
    """A closed dialect has no maps: their members are a list of names and values."""
    counts = {"type": "object", "additionalProperties": {"type": "integer"}}
    exported = export(tool(of({"counts": counts}, "counts")), OPENAI)
    own = {"counts": {"a": 1, "entries": 2}}
    sent = {"counts": {"entries": [{"name": "a", "value": 1}, {"name": "entries", "value": 2}]}}
    assert exported.to_provider(own) == sent
    assert exported.check(json.dumps(sent)).value == own
    assert [rewrite.code for rewrite in exported.rewrites] == ["entries"]
    assert exported.losses == ()


@pytest.mark.parametrize(
    "entries",
    [
        '[{"name":"a","value":1},{"name":"a","value":2}]',
        '[{"name":"x","value":1}]',
        '[{"name":"a"}]',
        '[{"name":"a","value":1,"more":2}]',
        '{"a":1}',
        "null",
        '[{"name":1,"value":1}]',
    ],
)
def test_wrong_entries_are_refused(entries: str) -> None:
    """A name twice, a declared name, no entry, no list: refused with the place, never guessed."""
    schema = of({"x": TEXT}, additionalProperties=True)
    exported = export(tool(of({"map": schema}, "map")), "anthropic-strict")
    checked = exported.check(f'{{"map":{{"entries":{entries}}}}}')
    assert not checked.ok
    assert checked.issues[0].code == "dialect"
    assert checked.issues[0].path.startswith("/map/entries")


def test_any_value_is_sent_as_json_text() -> None:
    """A dialect without free values takes the text of one; what is no JSON is refused."""
    exported = export(tool(of({"a": {"type": "array", "items": True}}, "a")), OPENAI)
    own = {"a": [1, "1", None, {"b": [2.5]}]}
    sent = exported.to_provider(own)
    assert sent == {"a": ["1", '"1"', "null", '{"b":[2.5]}']}
    assert exported.check(json.dumps(sent)).value == own
    refused = exported.check('{"a":["hello"]}')
    assert (refused.ok, refused.issues[0].path) == (False, "/a/0")


def test_listed_values_that_are_no_scalars_are_sent_as_texts() -> None:
    """Each has one text; another spelling of the same value is sent as this one."""
    exported = export(tool(of({"a": {"enum": [[1, 2], {"b": None}]}}, "a")), OPENAI)
    assert said(exported)["properties"]["a"]["enum"] == ["[1,2]", '{"b":null}']
    assert exported.to_provider({"a": [1.0, 2]}) == {"a": "[1,2]"}
    assert exported.check('{"a":"[1,2]"}').value == {"a": [1, 2]}
    assert not exported.check('{"a":"[1, 2]"}').ok


# --- names ---------------------------------------------------------------------------------------


def test_names_are_mapped_both_ways() -> None:
    """What a dialect does not take as a name is called otherwise; its own name is then refused."""
    exported = export(tool(of({"a b": TEXT, "a_b": TEXT, "$c": TEXT}, "a b")), "gemini")
    sent = {"a_b_2": "1", "a_b": "2", "c": "3"}
    assert exported.to_provider({"a b": "1", "a_b": "2", "$c": "3"}) == sent
    assert exported.check(json.dumps(sent)).value == {"a b": "1", "a_b": "2", "$c": "3"}
    assert not exported.check('{"a b":"1"}').ok


def test_a_free_name_is_not_taken_for_a_mapped_one() -> None:
    """Where any name is taken, the one that a member was given is spelt otherwise."""
    exported = export(tool(of({"a b": TEXT}, additionalProperties=True)), "anthropic")
    own = {"a b": "1", "a_b": "2", "a_b_": "3"}
    sent = exported.to_provider(own)
    assert sent == {"a_b": "1", "a_b_": "2", "a_b__": "3"}
    assert exported.check(json.dumps(sent)).value == own


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_of_tools_need_no_mapping(dialect: str) -> None:
    """Our rule for names is the narrowest of all."""
    exported = export(tool(of({})), dialect)
    document = json.loads(exported.json)
    assert document.get("function", document)["name"] == "tool"


# --- references, alternatives ---------------------------------------------------------------------

TREE = of(
    {"root": {"$ref": "#/$defs/node"}},
    "root",
    **{"$defs": {"node": of({"name": TEXT, "next": {"$ref": "#/$defs/node"}}, "name")}},
)
CHAIN = {"root": {"name": "a", "next": {"name": "b", "next": {"name": "c"}}}}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_recursive_tool_is_sent_there_and_back(dialect: str) -> None:
    """References are kept, or written out once and then cut, with the rest as text or open."""
    exported = export(tool(TREE), dialect)
    sent = exported.to_provider(CHAIN)
    assert exported.check(json.dumps(sent)).value == CHAIN
    has_reference = b"$ref" in exported.json
    assert has_reference == (dialect not in ("anthropic-strict", "gemini", "ollama"))
    assert has_reference or exported.losses


def test_references_are_kept_where_they_can_come_back() -> None:
    """OpenAI's strict mode takes recursion; null for what is left out is undone at every level."""
    exported = export(tool(TREE), OPENAI)
    assert exported.losses == ()
    assert exported.to_provider(CHAIN) == {
        "root": {"name": "a", "next": {"name": "b", "next": {"name": "c", "next": None}}}
    }


def test_references_by_address_are_found_by_name() -> None:
    """Anchors and addresses of their own are spelt as names; the meaning stays."""
    node = {"$anchor": "node", **of({"next": {"$ref": "#node"}}), "additionalProperties": False}
    inner = {"$id": "http://inner.invalid/", "$defs": {"text": TEXT}, "$ref": "#/$defs/text"}
    parameters = of({"a": {"$ref": "#node"}, "b": inner}, "a", **{"$defs": {"n": node}})
    for dialect in DIALECTS:
        exported = export(tool(parameters), dialect)
        takes = taking(schema_of(exported))
        sent = exported.to_provider({"a": {"next": {}}, "b": "x"})
        assert takes(sent)
        assert exported.check(json.dumps(sent)).value == {"a": {"next": {}}, "b": "x"}
        assert b"$anchor" not in exported.json


def test_a_dynamic_reference_is_kept_whole_or_read_as_any_of_its_targets() -> None:
    """MCP has the schema as it is; elsewhere what it could lead to is let through and reported."""
    node = {
        "$dynamicAnchor": "node",
        **of({"next": {"$dynamicRef": "#node"}}),
        "additionalProperties": False,
    }
    parameters = of({"a": {"$ref": "#/$defs/n"}}, "a", **{"$defs": {"n": node}})
    for dialect in DIALECTS:
        exported = export(tool(parameters), dialect)
        sent = exported.to_provider({"a": {"next": {}}})
        assert taking(schema_of(exported))(sent)
        assert exported.check(json.dumps(sent)).value == {"a": {"next": {}}}


def test_alternatives_at_the_root_are_read_as_one_object() -> None:
    """What some branch declares may be there; that a branch must hold is reported."""
    schema = {
        "type": "object",
        "anyOf": [of({"a": TEXT}, "a"), of({"b": TEXT}, "b")],
    }
    exported = export(tool(schema), "openai-responses")
    assert said(exported)["properties"].keys() == {"a", "b"}
    assert "anyOf" not in said(exported)
    assert ("", "anyOf") in lost(exported)
    assert not exported.check("{}").ok
    assert exported.check('{"b":"x"}').ok


def test_alternatives_below_the_root_are_told_apart() -> None:
    """Branches that exclude each other are all that is said: nothing is lost."""
    kinds = [
        of({"kind": {"const": "a"}, "size": {"type": "integer"}}, "kind"),
        of({"kind": {"const": "b"}, "name": TEXT}, "kind", "name"),
    ]
    exported = export(tool(of({"what": {"oneOf": kinds}}, "what")), OPENAI)
    assert exported.losses == ()
    assert len(said(exported)["properties"]["what"]["anyOf"]) == 2
    own = {"what": {"kind": "a"}}
    assert exported.to_provider(own) == {"what": {"kind": "a", "size": None}}
    assert exported.check('{"what":{"kind":"a","size":null}}').value == own


def test_what_only_one_alternative_may_fit_is_reported() -> None:
    """`oneOf` without a mark to tell its branches apart becomes `anyOf`."""
    numbers = [{"type": "number", "minimum": 0}, {"type": "number", "maximum": 10}]
    exported = export(tool(of({"a": {"oneOf": numbers}}, "a")), OPENAI)
    assert lost(exported) == [("/properties/a", "oneOf")]
    assert not exported.check('{"a":5}').ok
    assert exported.check('{"a":11}').ok


# --- losses ---------------------------------------------------------------------------------------


def test_what_is_lost_still_stands_in_the_description() -> None:
    """A bound without a word is told to the model, reported, and enforced here."""
    exported = export(tool(of({"a": {"type": "string", "maxLength": 3}}, "a")), OPENAI)
    assert said(exported)["properties"]["a"]["description"] == "(maxLength: 3)"
    (loss,) = exported.losses
    assert (loss.path, loss.keyword, loss.described) == (
        "/parameters/properties/a",
        "maxLength",
        True,
    )
    assert not exported.check('{"a":"1234"}').ok


def test_bounds_of_integers_are_said_otherwise() -> None:
    """Where only `minimum` is known, an exclusive bound of integers loses nothing."""
    exported = export(tool(of({"a": {"type": "integer", "exclusiveMinimum": 0}}, "a")), "gemini")
    schema = json.loads(exported.json)["parametersJsonSchema"]["properties"]["a"]
    assert schema == {"type": "integer", "minimum": 1}
    assert exported.losses == ()


def test_mcp_has_the_whole_schema_and_the_output() -> None:
    """Nothing is lost, marks of ours are not shown, and hints follow from what is declared."""
    parameters = of({"x-id": TEXT, "path": {**TEXT, "x-toolstile": {"reads": "path"}}}, "path")
    output = of({"x-size": {"type": "integer"}}, "x-size")
    exported = export(tool(parameters, output_schema=output, side_effects=["fs_read"]), "mcp")
    document = json.loads(exported.json)
    assert document["inputSchema"]["properties"] == {"x-id": TEXT, "path": TEXT}
    assert document["outputSchema"]["properties"] == {"x-size": {"type": "integer"}}
    assert document["annotations"]["readOnlyHint"] is True
    assert exported.losses == ()


def test_an_output_that_is_no_object_is_reported() -> None:
    """Clients of the older wire take no other, so it is left out and said."""
    exported = export(tool(of({}), output_schema={"type": "string"}, result_type="string"), "mcp")
    assert "outputSchema" not in json.loads(exported.json)
    assert [loss.path for loss in exported.losses] == ["/output_schema"]


# --- the whole ------------------------------------------------------------------------------------


def test_arguments_in_their_own_form_are_passed_on_unread() -> None:
    """Where nothing is rewritten, the line gets the model's own bytes, duplicates and all."""
    exported = export(tool(of({"a": TEXT})), "openai-responses")
    raw = '{"a":"x","a":"y"}'
    assert exported.from_provider(raw) is raw
    assert exported.check(raw).issues[0].code == "duplicate_key"


def test_rewritten_arguments_are_read_as_strictly() -> None:
    """Where something is rewritten, what is no strict JSON is refused just so."""
    exported = export(tool(of({"a": TEXT})), OPENAI)
    assert exported.check('{"a":"x","a":"y"}').issues[0].code == "duplicate_key"
    assert exported.check('{"a":NaN}').issues[0].code == "invalid_json"
    with pytest.raises(SchemaValidationError):
        exported.from_provider("{")


def test_no_text_at_all_means_no_arguments_only_where_there_are_none() -> None:
    """Some models send nothing for a tool without parameters; elsewhere it is no JSON."""
    assert export(tool(of({})), "openai-chat").check("").value == {}
    assert not export(tool(of({"a": TEXT})), "openai-chat").check("").ok


def test_what_a_request_may_hold_is_counted_over_all_tools() -> None:
    """A strict request to Anthropic takes 20 tools and 24 parameters that may be left out."""
    optional = tool(of({f"p{number}": TEXT for number in range(30)}))
    assert "24" in export_all([optional], "anthropic-strict").warnings[0]
    assert export_all([tool(of({}))] * 20, "anthropic-strict").warnings == ()
    assert "20" in export_all([tool(of({}))] * 21, "anthropic-strict").warnings[0]


def test_an_unknown_dialect_is_told_with_those_there_are() -> None:
    """The message is the list."""
    with pytest.raises(UnknownDialectError, match="openai-responses-strict"):
        export(tool(of({})), "openia")


def test_deep_values_are_cut_where_a_provider_stops() -> None:
    """Beyond ten levels strict mode gets text, and what it no longer says is reported."""
    schema: dict[str, Any] = {"type": "integer"}
    own: Any = 7
    for _ in range(14):
        schema, own = of({"in": schema}, "in"), {"in": own}
    exported = export(tool(schema), OPENAI)
    assert exported.check(json.dumps(exported.to_provider(own))).value == own
    assert exported.losses
    depth, at = 0, said(exported)
    while "properties" in at:
        depth, at = depth + 1, at["properties"]["in"]
    assert (depth, at["type"]) == (10, "string")
