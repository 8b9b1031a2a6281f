"""What a definition may say (LEX-DEF sections 4, 5.2, 9, 10 and 12), as the contract reads it."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest

from toolstile.errors import DefinitionError
from toolstile.model.definition import Constraints
from toolstile.model.vocabulary import Category, IsolationLevel, Risk, SideEffect
from toolstile.registry.registry import Registry
from toolstile.schema import check_schema, compile_arguments
from toolstile.schema.adopt import adopt
from toolstile.schema.compiled import compiled
from toolstile.schema.defining import Inspection, define, inspect

EVERYTHING: dict[str, Any] = {
    "name": "read_file",
    "description": "Read a text file",
    "version": "1.0.0",
    "category": "file_system",
    "license_tier": "core",
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Path", "x-toolstile": {"reads": "path"}},
            "encoding": {"type": "string", "enum": ["utf-8", "ascii"], "default": "utf-8"},
        },
        "required": ["path"],
    },
    "output_schema": {"type": "object", "properties": {"content": {"type": "string"}}},
    "result_type": "object",
    "constraints": {
        "max_execution_time": "30s",
        "max_output_size": "10MiB",
        "allow_side_effects": False,
        "required_isolation": "standard",
        "max_memory": "256MiB",
        "max_cpu": "500ms",
        "network": {"max_requests": 10, "max_bytes": "1MiB"},
    },
    "required_permissions": ["tool.filesystem.read"],
    "required_capabilities": [{"fs_read": []}],
    "side_effects": ["fs_read"],
    "determinism": "deterministic",
    "idempotent": True,
    "requires_confirmation": False,
    "usage": "read_file - Usage Guide",
    "normalize": "json",
    "secrets": ["gh"],
    "metadata": {"risk": "low"},
    "source": {"python": "pkg.module:function"},
}


def document(**fields: Any) -> dict[str, Any]:
    """The smallest definition, with these fields."""
    return {"name": "my_tool", "description": "Do something", **fields}


def listed(**parameter: Any) -> dict[str, Any]:
    """A definition in LEX's form, with one parameter."""
    whole = {"name": "param", "description": "A parameter", "type": "string", **parameter}
    return document(parameters=[whole])


def refused(fields: dict[str, Any]) -> set[tuple[str, str]]:
    """Place and code of every fault; and that each says what to do next."""
    with pytest.raises(DefinitionError) as raised:
        define(fields)
    assert all(issue.error_code == "ACODE-TSR-006" for issue in raised.value.issues)
    assert all(issue.message and issue.hint for issue in raised.value.issues)
    return {(issue.path, issue.code) for issue in raised.value.issues}


# --- the whole ----------------------------------------------------------------------------------


def test_a_definition_with_every_field_is_valid() -> None:
    """Each field of the contract is taken, none warns (but for the curt usage text), and each
    stands in the canonical form."""
    inspected = inspect(EVERYTHING)
    assert inspected.issues == ()
    assert {warning.path for warning in inspected.warnings} == {"/usage"}
    assert inspected.definition is not None
    written = inspected.definition.to_dict()
    assert written.keys() == EVERYTHING.keys()
    assert written["constraints"] == {
        "max_execution_time": 30.0,
        "max_output_size": 10 * 1024 * 1024,
        "allow_side_effects": False,
        "required_isolation": "standard",
        "max_memory": 256 * 1024 * 1024,
        "max_cpu": 0.5,
        "network": {"max_requests": 10, "max_bytes": 1024 * 1024},
    }


def test_a_definition_survives_its_json() -> None:
    """Written as JSON and read again, it is the same definition, with the same digest."""
    for fields in (EVERYTHING, document(), document(parameters=[])):
        definition = define(fields)
        again = define(json.loads(json.dumps(definition.to_dict())))
        assert (again, again.digest) == (definition, definition.digest)


def test_the_digest_covers_meaning_and_not_spelling() -> None:
    """Order, and defaults written out, change nothing; every change of meaning does."""
    definition = define(EVERYTHING)
    spelt = dict(reversed(EVERYTHING.items()))
    spelt["constraints"] = EVERYTHING["constraints"] | {"max_execution_time": 30, "max_cpu": 0.5}
    assert define(spelt).digest == definition.digest
    for field, other in (("description", "Read"), ("version", "1.0.1"), ("idempotent", False)):
        assert define(EVERYTHING | {field: other}).digest != definition.digest


TWO = {"b": {"type": "string", "description": "B"}, "a": {"type": "integer", "description": "A"}}
NESTED = {"type": "object", "properties": TWO, "description": "O"}


@pytest.mark.parametrize(
    "spellings",
    [
        [None, [], {}, {"type": "object"}, {"type": "object", "properties": {}, "required": []}],
        [
            {"type": "object", "properties": TWO},
            {"type": "object", "properties": TWO, "required": []},
            [
                {"name": "a", "description": "A", "type": "integer"},
                {"name": "b", "description": "B", "required": False},
            ],
        ],
        [
            {"type": "object", "properties": TWO, "required": ["a", "b"]},
            {"type": "object", "properties": TWO, "required": ["b", "a"]},
        ],
        [
            {"type": "object", "properties": {"o": NESTED | {"required": ["a", "b"]}}},
            {"type": "object", "properties": {"o": NESTED | {"required": ["b", "a"]}}},
            [
                {"name": "o", "description": "O", "type": "object", "schema": NESTED}
                | {"schema": NESTED | {"required": ["b", "a"]}}
            ],
        ],
        [
            {"type": "object", "properties": {"o": NESTED}},
            {"type": "object", "properties": {"o": NESTED | {"required": []}}},
        ],
    ],
)
def test_one_meaning_has_one_digest(spellings: list[Any]) -> None:
    """However the parameters are spelt: registering another spelling is registering it again."""
    registry = Registry()
    for parameters in spellings:
        registry.register(document(version="1.0.0", parameters=parameters))
    assert len({define(document(parameters=each)).digest for each in spellings}) == 1


def test_absent_means_the_contracts_defaults() -> None:
    """60 s, 10 MB, standard; effects unknown, nothing needed, nothing promised."""
    definition = define(document())
    assert definition.constraints == Constraints(
        max_execution_time=60.0,
        max_output_size=10 * 1024 * 1024,
        allow_side_effects=True,
        required_isolation=IsolationLevel.STANDARD,
    )
    assert definition.side_effects is None
    assert definition.effects == frozenset(SideEffect) - {SideEffect.NONE}
    written = definition.to_dict()
    assert written["determinism"] == "non_deterministic"
    assert written["result_type"] == "object"
    assert written["normalize"] == "json"
    for kind in ("binary", "stream"):
        assert define(document(result_type=kind)).normalize == "binary"
    for field in ("required_capabilities", "required_permissions", "secrets"):
        assert written[field] == []
    assert (written["idempotent"], written["requires_confirmation"]) == (False, False)
    assert (written["category"], written["license_tier"]) == ("system", "core")


@pytest.mark.parametrize("absent", [None, {}])
def test_no_constraints_are_the_defaults(absent: Any) -> None:
    """Null, empty or absent constraints are one definition."""
    assert define(document(constraints=absent)).digest == define(document()).digest


@pytest.mark.parametrize("parameters", [[], {}, {"type": "object", "properties": {}}])
def test_an_empty_parameter_list_takes_no_arguments(parameters: Any) -> None:
    """No parameters is valid, and then `{}` is the only valid call."""
    schema = compiled(define(document(parameters=parameters)).parameters)
    assert schema.check("{}").ok
    assert not schema.check('{"a": 1}').ok


# --- names --------------------------------------------------------------------------------------

INVALID_NAMES = (
    "ReadFile",
    "read file",
    "read-file",
    "123_tool",
    "_tool",
    "",
    "a" * 65,
    "tool\n",
    "tööl",
    "to\u043el",
    "../tool",
    None,
    7,
)


@pytest.mark.parametrize("name", INVALID_NAMES)
def test_an_invalid_name_is_refused(name: Any) -> None:
    """Upper case, spaces, hyphens, digits in front, 65 characters, look-alikes: the fault says
    what a name may be and proposes one."""
    assert refused(document(name=name)) == {("/name", "name")}
    issue = inspect(document(name=name)).issues[0]
    assert "snake_case" in issue.message
    assert issue.expected == "^[a-z][a-z0-9_]*$"
    assert (issue.hint or "").startswith("for example '")


@pytest.mark.parametrize("name", ["Execute", "RUN", "read-File", "", "9_call"])
def test_the_name_that_is_proposed_is_a_name(name: str) -> None:
    """Never one that is reserved, or refused for another reason."""
    proposed = (inspect(document(name=name)).issues[0].hint or "").split("'")[1]
    assert define(document(name=proposed)).name == proposed


@pytest.mark.parametrize("name", ["a", "read_file", "t2", "a_", "a" * 64])
def test_a_snake_case_name_is_taken(name: str) -> None:
    """Lower case, digits and underscores after a letter, up to 64."""
    assert define(document(name=name)).name == name


@pytest.mark.parametrize("name", ["execute", "run", "call", "invoke"])
def test_a_reserved_word_is_no_name(name: str) -> None:
    """The four reserved words are refused; with a word more they are names."""
    assert refused(document(name=name)) == {("/name", "reserved_name")}
    assert define(document(name=f"{name}_it")).name == f"{name}_it"


# --- LEX's list of parameters -------------------------------------------------------------------

BAD_PARAMETERS: dict[str, tuple[dict[str, Any], set[tuple[str, str]]]] = {
    "required with default": (
        {"required": True, "default": "x"},
        {("/parameters/properties/param/default", "default")},
    ),
    "enum of another type": (
        {"enum": ["a", 3]},
        {("/parameters/properties/param/enum/1", "enum")},
    ),
    "default of another type": (
        {"type": "integer", "default": "3"},
        {("/parameters/properties/param/default", "default")},
    ),
    "default outside its enum": (
        {"enum": ["a"], "default": "b"},
        {("/parameters/properties/param/default", "default")},
    ),
    "default outside its schema": (
        {"schema": {"maxLength": 2}, "default": "abc"},
        {("/parameters/properties/param/default", "default")},
    ),
    "array without schema": ({"type": "array"}, {("/parameters/0/schema", "required")}),
    "object without schema": ({"type": "object"}, {("/parameters/0/schema", "required")}),
    "camelCase": ({"name": "maxBytes"}, {("/parameters/0/name", "name")}),
    "65 characters": ({"name": "a" * 65}, {("/parameters/0/name", "name")}),
    "no description": ({"description": ""}, {("/parameters/0/description", "minLength")}),
    "unknown type": ({"type": "text"}, {("/parameters/0/type", "enum")}),
    "unknown field": ({"requried": True}, {("/parameters/0/requried", "unknown_field")}),
    "broken schema": (
        {"schema": {"typ": "string"}},
        {("/parameters/properties/param/typ", "unknown_keyword")},
    ),
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_a_parameter_that_breaks_a_rule_is_refused(name: str) -> None:
    """Each rule of LEX-DEF 5.2 about parameters, at its place."""
    parameter, faults = BAD_PARAMETERS[name]
    assert refused(listed(**parameter)) == faults


GOOD_PARAMETERS: list[tuple[dict[str, Any], Any, Any]] = [
    ({"required": True}, "x", None),
    ({"default": "x"}, "x", 1),
    ({"enum": ["utf-8", "ascii"], "default": "utf-8"}, "ascii", "latin"),
    ({"type": "integer"}, 3, "3"),
    ({"type": 1}, 3, "3"),
    ({"type": "number"}, 1.5, "1.5"),
    ({"type": "boolean"}, True, 1),
    ({"type": "array", "schema": {"items": {"type": "string"}}}, ["a"], [1]),
    ({"type": "array", "enum": [["a"], []]}, [], ["b"]),
    ({"type": 5, "schema": {"properties": {"n": {"type": "integer"}}}}, {"n": 1}, {"m": 1}),
]


@pytest.mark.parametrize(("parameter", "fits", "other"), GOOD_PARAMETERS)
def test_a_list_of_parameters_is_a_schema(parameter: dict[str, Any], fits: Any, other: Any) -> None:
    """LEX's six types, by word or number, with enum and schema: enforced like any schema."""
    schema = compiled(define(listed(**parameter)).parameters)
    assert schema.check({"param": fits}).ok
    assert not schema.check({"param": other}).ok


def test_parameter_names_are_unique() -> None:
    """A list that names one twice is refused, and so is a schema whose names differ by case."""
    one = {"name": "param", "description": "A parameter", "type": "string"}
    assert refused(document(parameters=[one, one])) == {("/parameters/1/name", "uniqueItems")}
    text = {"type": "string"}
    schema = {"type": "object", "properties": {"param": text, "Param": text}}
    assert ("/parameters/properties/Param", "name") in refused(document(parameters=schema))


def test_other_spellings_are_warned_of_in_schemas() -> None:
    """The schema face takes maxBytes with a warning; the list face does not take it at all."""
    schema = {"type": "object", "properties": {"maxBytes": {"type": "integer"}}}
    inspected: Inspection = inspect(document(parameters=schema))
    assert inspected.definition is not None
    assert [(each.path, each.code) for each in inspected.warnings] == [
        ("/parameters/properties/maxBytes", "name")
    ]


def test_a_default_of_null_is_one_only_where_null_fits() -> None:
    """In the list face `default: null` means none, unless the type takes null."""
    assert compiled(define(listed(default=None)).parameters).check("{}").value == {}
    nullable = listed(default=None, schema={"type": ["string", "null"]})
    assert compiled(define(nullable).parameters).check("{}").value == {"param": None}


def test_defaults_are_filled_in_after_validation() -> None:
    """Step 5 of LEX-DEF 4.4: what is missing and has a default is there afterwards."""
    schema = compiled(define(listed(default="x")).parameters)
    assert schema.check("{}").value == {"param": "x"}
    assert schema.check('{"param": "y"}').value == {"param": "y"}


LEADING_ON: dict[str, dict[str, Any]] = {
    "to itself": {"a": {"$ref": "#", "default": {}}},
    "through a list": {"a": {"type": "array", "items": {"$ref": "#"}, "default": [{}]}},
    "through an alternative": {"a": {"anyOf": [{"type": "null"}, {"$ref": "#"}], "default": {}}},
    "to two, and each to two": {"a": {"$ref": "#/$defs/n0", "default": {}}},
}
DOUBLED = {
    f"n{n}": {
        "type": "object",
        "properties": {k: {"$ref": f"#/$defs/n{n + 1}", "default": {}} for k in "ab"},
    }
    for n in range(20)
}


@pytest.mark.parametrize("case", LEADING_ON)
def test_defaults_come_to_an_end(case: str) -> None:
    """What would fill itself in forever, or by doubling, is refused at its place; adopting drops
    such defaults. One default within another is filled in."""
    last = {"n20": {"type": "object", "properties": {}}}
    schema = {"type": "object", "properties": LEADING_ON[case], "$defs": DOUBLED | last}
    assert "/properties/a/default" in {issue.path for issue in check_schema(schema)}
    foreign = {"name": "x", "description": "Does it", "parameters": schema}
    assert compiled(adopt(foreign).definition.parameters).check("{}").value == {}
    limit = {"type": "integer", "default": 10}
    options = {"type": "object", "properties": {"limit": limit}, "default": {}}
    nested = compile_arguments({"type": "object", "properties": {"options": options}})
    assert nested.check("{}").value == {"options": {"limit": 10}}


def test_what_cannot_be_filled_in_is_refused() -> None:
    """Where alternatives hide that defaults lead on without end, the call ends in an issue."""
    endless = {"type": "object", "properties": {"a": {"$ref": "#", "default": {}}}}
    (issue,) = compile_arguments(endless).check("{}").issues
    assert (issue.code, issue.path) == ("too_deep", "")


# --- constraints --------------------------------------------------------------------------------

MIB = 1024 * 1024
HUGE = (10**30, 10**400, 10**5_000)  # more than 64 bits, than a double, than Python writes out
GOOD: dict[str, dict[Any, float]] = {
    "max_execution_time": {1: 1, 600: 600, "1s": 1, "10m": 600, "1500ms": 1.5},
    "max_output_size": {1000: 1000, "1KB": 1000, "100MiB": 100 * MIB, 100 * MIB: 100 * MIB},
    "max_memory": {"1MiB": MIB, "256MiB": 256 * MIB},
    "max_cpu": {"500ms": 0.5, "10s": 10, 1: 1},
}
BAD: dict[str, tuple[Any, ...]] = {
    "max_execution_time": (0, 0.999, 600.5, 601, "500ms", "11m", math.nan, *HUGE),
    "max_output_size": (0, 999, "101MiB", 104_857_601, -1, *HUGE),
    "max_memory": (0, "2TiB", "lots", *HUGE),
    "max_cpu": (0, "2h", True, *HUGE),
}


@pytest.mark.parametrize(
    ("field", "value", "number"),
    [(field, value, number) for field, good in GOOD.items() for value, number in good.items()],
)
def test_a_constraint_in_range_is_taken(field: str, value: Any, number: float) -> None:
    """1 s to 10 min, 1 KB to 100 MB, bounds included; as numbers or as text with a unit."""
    assert getattr(define(document(constraints={field: value})).constraints, field) == number


@pytest.mark.parametrize(
    ("field", "index"), [(field, index) for field, bad in BAD.items() for index in range(len(bad))]
)
def test_a_constraint_out_of_range_is_refused(field: str, index: int) -> None:
    """Outside its range, or no quantity at all: refused, never clipped, and in words that say in
    which unit the range is."""
    value = BAD[field][index]
    (place,) = {path for path, _ in refused(document(constraints={field: value}))}
    assert place == f"/constraints/{field}"
    (issue,) = inspect(document(constraints={field: value})).issues
    assert ("seconds" if field in ("max_execution_time", "max_cpu") else "bytes") in issue.message


def test_a_bound_of_nothing_is_one() -> None:
    """No request and no byte may be what a tool is given of the network; a count has no unit."""
    network = define(document(constraints={"network": {"max_requests": 0, "max_bytes": 0}}))
    assert network.to_dict()["constraints"]["network"] == {"max_requests": 0, "max_bytes": 0}
    for field, value in (("max_requests", "1KB"), ("max_requests", -1), ("max_bytes", -1)):
        ((place, _),) = refused(document(constraints={"network": {field: value}}))
        assert place == f"/constraints/network/{field}"


def test_an_unknown_constraint_is_refused() -> None:
    """A misspelt bound would bound nothing."""
    assert refused(document(constraints={"max_output": 1000})) == {
        ("/constraints/max_output", "unknown_field")
    }


def test_an_unknown_isolation_is_refused() -> None:
    """The four levels, by word or number, and no other."""
    assert refused(document(constraints={"required_isolation": "paranoid"})) == {
        ("/constraints/required_isolation", "enum")
    }
    for level in ("strict", 2):
        made = define(document(constraints={"required_isolation": level}))
        assert made.constraints.required_isolation is IsolationLevel.STRICT


# --- categories, effects, permissions -----------------------------------------------------------


def test_a_category_has_lex_s_number_and_risk() -> None:
    """Eight categories, numbered and rated as LEX-DEF 4.3 does; `general` is system."""
    risks = [(category.word, int(category), category.risk) for category in Category]
    assert risks == [
        ("file_system", 0, Risk.MEDIUM),
        ("network", 1, Risk.MEDIUM_HIGH),
        ("database", 2, Risk.MEDIUM),
        ("code_execution", 3, Risk.HIGH),
        ("external_api", 4, Risk.MEDIUM),
        ("knowledge", 5, Risk.LOW),
        ("communication", 6, Risk.MEDIUM),
        ("system", 7, Risk.LOW),
    ]
    for written in ("knowledge", 5):
        assert define(document(category=written)).category is Category.KNOWLEDGE
    assert define(document(category="general")).category is Category.SYSTEM
    assert refused(document(category="files")) == {("/category", "enum")}


@pytest.mark.parametrize(
    "executing", [{"category": "code_execution"}, {"side_effects": ["process_spawn"]}]
)
def test_what_executes_code_is_kept_strictly_apart(executing: dict[str, Any]) -> None:
    """Strict where nothing is said, and refused where less is asked for."""
    assert define(document(**executing)).constraints.required_isolation is IsolationLevel.STRICT
    lower = document(**executing, constraints={"required_isolation": "standard"})
    assert refused(lower) == {("/constraints/required_isolation", "isolation")}
    higher = document(**executing, constraints={"required_isolation": "restricted"})
    assert define(higher).constraints.required_isolation is IsolationLevel.RESTRICTED


@pytest.mark.parametrize("effect", ["fs_write", "net_write", "db_write", "process_spawn"])
def test_a_write_needs_side_effects_to_be_allowed(effect: str) -> None:
    """`allow_side_effects: false` beside a write is a contradiction, and refused."""
    written = document(side_effects=[effect], constraints={"allow_side_effects": False})
    assert refused(written) == {("/constraints/allow_side_effects", "disagrees")}
    reading = document(side_effects=["fs_read"], constraints={"allow_side_effects": False})
    assert not define(reading).constraints.allow_side_effects


def test_none_excludes_every_other_effect() -> None:
    """A tool has no effects, or it has some."""
    assert refused(document(side_effects=["none", "fs_read"])) == {("/side_effects", "disagrees")}
    assert define(document(side_effects=["none"])).effects == frozenset()


def test_permissions_belong_to_the_catalogue() -> None:
    """An unknown permission is refused with the nearest one; a known one is taken."""
    misspelt = document(required_permissions=["tool.filesystem.raed"])
    assert refused(misspelt) == {("/required_permissions/0", "enum")}
    assert inspect(misspelt).issues[0].hint == "did you mean 'tool.filesystem.read'?"
    assert define(document(required_permissions=["tool.system"])).required_permissions == (
        "tool.system",
    )


def test_one_fact_is_written_once() -> None:
    """Permissions and effects follow from capabilities, and must agree where they are written."""
    derived = define(document(required_capabilities=[{"fs_read": []}]))
    assert derived.required_permissions == ("tool.filesystem.read",)
    assert derived.side_effects == (SideEffect.FS_READ,)
    assert refused(document(required_capabilities=[{"fs_read": []}], required_permissions=[])) == {
        ("/required_permissions", "disagrees")
    }
    assert refused(
        document(required_capabilities=[{"fs_read": []}], side_effects=["net_read"])
    ) == {("/side_effects", "disagrees")}


@pytest.mark.parametrize(
    ("category", "right"),
    [
        ("file_system", "fs_read"),
        ("file_system", "fs_write"),
        ("network", "net_write"),
        ("database", "db_read"),
        ("external_api", "secret"),
    ],
)
def test_a_category_is_warned_of_without_its_right(category: str, right: str) -> None:
    """LEX's categories need rights: to ask for none is worth a warning, and a fault where the side
    effects prove that one is needed; asking for one is neither."""
    (warning,) = inspect(document(category=category)).warnings
    assert (warning.path, warning.code) == ("/required_capabilities", "category")
    scope = ["notes"] if right in ("secret", "db_read") else []
    assert not inspect(document(category=category, required_capabilities=[{right: scope}])).warnings
    if right != "secret":
        assert refused(document(category=category, side_effects=[right])) == {
            ("/required_capabilities", "category")
        }
    assert not inspect(document(category="knowledge")).warnings


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"required_capabilities": [], "side_effects": ["fs_write"]}, "/side_effects"),
        (
            {"required_capabilities": [], "required_permissions": ["tool.network.fetch"]},
            "/required_permissions",
        ),
        (
            {"side_effects": ["none"], "constraints": {"allow_side_effects": True}},
            "/constraints/allow_side_effects",
        ),
    ],
)
def test_what_says_more_than_the_capabilities_is_warned_of(
    fields: dict[str, Any], place: str
) -> None:
    """Beside written capabilities, other words for them go no further; without them they may."""
    warnings = inspect(document(**fields)).warnings
    assert [(each.path, each.code) for each in warnings] == [(place, "disagrees")]
    assert not inspect(define(document(**fields))).warnings
    fields.pop("required_capabilities", None)
    silent = fields | {"constraints": {}}
    assert not inspect(document(**silent)).warnings


def test_an_empty_list_of_effects_says_what_to_write() -> None:
    """Empty is neither none nor unknown: the fault says how to write each."""
    (issue,) = inspect(document(side_effects=[])).issues
    assert (issue.path, issue.code) == ("/side_effects", "type")
    assert "empty" in issue.message
    assert "[none]" in (issue.hint or "")


@pytest.mark.parametrize(
    ("parameter", "word"),
    [
        ({"type": "string", "schema": {"type": "integer"}}, "type"),
        ({"type": 1, "schema": {"type": ["string", "null"]}}, "type"),
        ({"enum": ["a"], "schema": {"enum": ["b"]}}, "enum"),
        ({"default": "a", "schema": {"default": "b"}}, "default"),
        ({"schema": {"description": "Another"}}, "description"),
    ],
)
def test_a_parameter_s_schema_says_nothing_else(parameter: dict[str, Any], word: str) -> None:
    """In the list face one fact stands once: what the inner schema repeats must agree."""
    path = f"/parameters/0/schema/{word}"
    assert (path, "disagrees") in refused(listed(**parameter))
    same = {"description": "A parameter", "type": ["string", "null"], "enum": ["a", None]}
    assert define(listed(type="string", enum=["a", None], schema=same)).parameters["properties"]


MARKED = [{"reads": "path"}, {"writes": "path"}, {"connects": "host"}, {"connects": "url"}]
MARKED += [{"runs": "program"}, {"fact": "amount"}, {"fact": "Of_2"}]
MISMARKED: list[dict[str, Any]] = [
    {},
    {"reads": "url"},
    {"eats": "path"},
    {"reads": "path", "connects": "host"},
]
MISMARKED += [{"fact": name} for name in ("__entity", "2", "a b", "\u00e9", "", 1, "a" * 65)]


@pytest.mark.parametrize("mark", [*MARKED, *MISMARKED], ids=str)
def test_a_mark_is_one_of_the_table(mark: dict[str, Any]) -> None:
    """An argument is marked by one word with its value; a fact has a name that a rule may write."""
    parameters = {"type": "object", "properties": {"a": {"type": "string", "x-toolstile": mark}}}
    if mark in MARKED:
        assert define(document(parameters=parameters)).parameters["properties"]["a"]
    else:
        path = "/parameters/properties/a/x-toolstile"
        assert refused(document(parameters=parameters)) == {(path, "x-toolstile")}


def test_a_usage_text_is_linted() -> None:
    """What a usage text leaves unsaid is told as warnings; without a text there are none."""
    warnings = inspect(document(usage="Use it.")).warnings
    assert {warning.path for warning in warnings} == {"/usage"}
    assert "usage_missing_errors" in {warning.code for warning in warnings}
    assert not inspect(document()).warnings


FORBIDDEN_IN_USAGE = {
    "usage_secret": "Pass api_key=" + "q8Zr2Lk5" + "Tn4Vw7Xs.",
    "usage_hidden_unicode": "Use it for p\u0430ges.",
    "usage_too_large": "\u4e2d" * 6_000,
}


@pytest.mark.parametrize("code", FORBIDDEN_IN_USAGE)
def test_a_usage_text_that_leaks_or_deceives_is_refused(code: str) -> None:
    """A secret, letters that look like others, and a text too long to be looked at."""
    assert refused(document(usage=FORBIDDEN_IN_USAGE[code])) == {("/usage", code)}
    assert define(document(usage="Pass api_key=YOUR_KEY. Use it for pages.")).usage


# --- bounds -------------------------------------------------------------------------------------

PROPERTIES = {f"p{number}": {"type": "string"} for number in range(1_001)}
DEEP: dict[str, Any] = {"type": "string"}
for _ in range(70):
    DEEP = {"type": "array", "items": DEEP}


def of_enums(*enums: list[Any]) -> dict[str, Any]:
    """A schema with a property for each enum."""
    properties = {f"p{number}": {"enum": enum} for number, enum in enumerate(enums)}
    return {"type": "object", "properties": properties}


OVERSIZED: list[tuple[str, dict[str, Any], tuple[str, str]]] = [
    ("name", {"name": "a" * 65}, ("/name", "name")),
    ("version", {"version": "1.0." + "1" * 30}, ("/version", "version")),
    ("description", {"description": "x" * 1_025}, ("/description", "maxLength")),
    ("usage", {"usage": "x" * 16_385}, ("/usage", "maxLength")),
    ("metadata", {"metadata": {"a": "x" * 16_384}}, ("/metadata", "too_large")),
    (
        "permissions",
        {"required_permissions": ["tool.system"] * 65},
        ("/required_permissions", "maxItems"),
    ),
    (
        "a permission",
        {"required_permissions": ["tool." + "x" * 124]},
        ("/required_permissions", "maxItems"),
    ),
    (
        "properties",
        {"parameters": {"type": "object", "properties": PROPERTIES}},
        ("/parameters", "too_large"),
    ),
    (
        "depth",
        {"parameters": {"type": "object", "properties": {"a": DEEP}}},
        ("/parameters", "too_deep"),
    ),
    (
        "bytes",
        {"parameters": {"type": "object", "properties": {}, "$comment": "x" * 262_144}},
        ("/parameters", "too_large"),
    ),
    (
        "parameter description",
        {
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "string", "description": "x" * 1_025}},
            }
        },
        ("/parameters/properties/a/description", "maxLength"),
    ),
    (
        "parameter name",
        {"parameters": {"type": "object", "properties": {"a" * 65: {"type": "string"}}}},
        ("/parameters/properties/" + "a" * 65, "name"),
    ),
    (
        "enum of fractions",
        {"parameters": of_enums([number + 0.5 for number in range(101)])},
        ("/parameters/properties/p0/enum", "too_large"),
    ),
    (
        "enum of integers",
        {"parameters": of_enums(list(range(1_001)))},
        ("/parameters/properties/p0/enum", "too_large"),
    ),
    (
        "enum of text and a number",
        {"parameters": of_enums([1, *map(str, range(1_000))])},
        ("/parameters/properties/p0/enum", "too_large"),
    ),
    (
        "enums together",
        {"parameters": of_enums(*[[[number] for number in range(100)]] * 11)},
        ("/parameters", "too_large"),
    ),
    ("output", {"output_schema": {"type": "array", "items": DEEP}}, ("/output_schema", "too_deep")),
]


def nested(levels: int, keyword: str) -> dict[str, Any]:
    """A schema of so many schemas within each other."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels - 1):
        schema = (
            {"type": "array", "items": schema}
            if keyword == "items"
            else {"type": "object", "properties": {"a": schema}}
        )
    return schema


@pytest.mark.parametrize("keyword", ["items", "properties"])
def test_a_schema_has_at_most_32_levels(keyword: str) -> None:
    """A schema within a schema is a level, whichever keyword holds it: 32 are taken, 33 are not."""
    assert define(document(output_schema=nested(32, keyword))).output_schema
    assert refused(document(output_schema=nested(33, keyword))) == {("/output_schema", "too_deep")}


@pytest.mark.parametrize(
    ("fields", "fault"), [row[1:] for row in OVERSIZED], ids=[row[0] for row in OVERSIZED]
)
def test_every_field_has_a_length(fields: dict[str, Any], fault: tuple[str, str]) -> None:
    """Each field beyond its bound is refused there; on the bound the text fields are taken."""
    assert fault in refused(document(**fields))
    within = document(description="x" * 1_024, usage="x" * 16_384, metadata={"a": "x" * 16_376})
    assert define(within).usage is not None


def endless() -> list[Any]:
    """Values that refer to themselves, are nested very deeply, or double themselves."""
    members: dict[str, Any] = {}
    members["a"] = members
    items: list[Any] = []
    items.append(items)
    deep: Any = {}
    wide: Any = []
    for _ in range(5_000):
        deep = {"a": deep}
    for _ in range(60):
        wide = [wide, wide]
    return [members, items, deep, wide]


@pytest.mark.parametrize("field", EVERYTHING)
def test_a_value_without_an_end_is_refused(field: str) -> None:
    """In whatever field it stands, the answer is one fault at that field."""
    for value in endless():
        assert refused(document() | {field: value}) == {(f"/{field}", "too_deep")}


@pytest.mark.parametrize("thing", [None, [], "text", 5, object(), b"{}"])
def test_what_is_not_a_definition_is_refused(thing: Any) -> None:
    """Something else than an object has the fault that it is none."""
    assert refused(thing) == {("", "type")}


def test_enums_are_long_where_their_values_are_looked_up() -> None:
    """Thousands of texts, a thousand integers, a hundred of anything else: that is quickly read,
    and a value that would be compared with more is refused for adoption, too."""
    texts: list[Any] = [None, *map(str, range(20_000))]
    objects = [{"k": number} for number in range(100)]
    for enum in (texts, list(range(1_000)), objects):
        assert not inspect(document(parameters=of_enums(enum))).issues
    with pytest.raises(DefinitionError):
        adopt(document(inputSchema=of_enums([*objects, {}])))


def test_a_step_has_a_size() -> None:
    """`multipleOf` lies between 1e-30 and 1e30: beyond, the engine divides very long numbers."""
    for step, fits in ((1e-30, True), (0.01, True), (1e30, True), (1e-31, False), (1e31, False)):
        parameters = {
            "type": "object",
            "properties": {"a": {"type": "number", "multipleOf": step}},
        }
        assert (inspect(document(parameters=parameters)).issues == ()) is fits


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"type": "integer", "default": 1e20}, "default"),
        ({"type": "integer", "enum": [1, 1e20]}, "enum/1"),
        ({"type": ["integer", "null"], "const": -1e20}, "const"),
        (
            {
                "type": "object",
                "properties": {"b": {"type": "integer"}},
                "default": {"b": 1e20},
            },
            "default",
        ),
    ],
)
def test_an_integer_in_a_schema_has_64_bits(schema: dict[str, Any], where: str) -> None:
    """A default or listed value that no call may have is refused; for `number` it is a float."""
    parameters = {"type": "object", "properties": {"a": schema}}
    code = where.partition("/")[0]
    assert refused(document(parameters=parameters)) == {(f"/parameters/properties/a/{where}", code)}
    wider = {"type": "object", "properties": {"a": {"type": "number", "default": 1e20}}}
    assert not inspect(document(parameters=wider)).issues


@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\x1b", "\U000e0041", "\u2028"])
def test_no_text_hides_a_character(hidden: str) -> None:
    """What a person cannot see may not stand in what a model reads."""
    assert refused(document(description=f"Read{hidden} it")) == {("/description", "hidden_unicode")}
    assert define(document(description="Lies, Größe, 読む, 👍")).description


# --- output schemas -----------------------------------------------------------------------------


def test_an_output_schema_is_held_to_the_same_rules() -> None:
    """A broken one is refused at registration, a sound one is enforced closed; absent is none."""
    broken = document(output_schema={"type": "object", "properties": {"n": {"typ": "integer"}}})
    assert ("/output_schema/properties/n/typ", "unknown_keyword") in refused(broken)
    sound = {"type": "object", "properties": {"n": {"type": "integer"}}}
    schema = define(document(output_schema=sound)).output_schema
    assert schema is not None
    assert compiled(schema).issues({"n": 1}) == ()
    assert compiled(schema).issues({"n": 1, "m": 1})
    assert define(document()).output_schema is None


def test_a_definition_is_validated_in_less_than_5_ms() -> None:
    """LEX-DEF section 10, 9: the best of ten runs, which a busy machine disturbs least."""
    define(EVERYTHING)
    times = []
    for _ in range(10):
        started = time.perf_counter()
        define(EVERYTHING)
        times.append(time.perf_counter() - started)
    assert min(times) < 0.005
