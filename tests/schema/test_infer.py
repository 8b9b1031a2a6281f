"""Signatures as schemas: what each type says, what is refused, and that it is always the same."""

# A class's docstring is its schema's description, and some annotations are what a test varies.
# ruff: noqa: ANN001, ANN202, D101

from __future__ import annotations

import dataclasses
import enum
import os
import re
import subprocess
import sys
import typing
from collections import abc
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Required, TypedDict
from uuid import UUID, uuid4

import annotated_types as at
import msgspec
import pydantic
import pytest
import typing_extensions
from msgspec import Meta

from toolstile.model.json import thaw
from toolstile.model.vocabulary import ResultType
from toolstile.schema import Root, check_schema, close
from toolstile.schema.python.infer import Inferred, infer


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


@dataclass
class Point:
    """A place in the plane.

    Attributes:
        x: how far to the right
    """

    x: int
    y: float = 0.5
    colour: Colour = Colour.RED


@dataclass
class Stamped:
    text: str
    length: int = field(init=False)


@dataclass
class Tree:
    name: str
    children: list[Tree] = field(default_factory=list)


@dataclass
class Left:
    right: Right | None = None


@dataclass
class Right:
    left: Left | None = None


@dataclass
class Fresh:
    token: str = field(default_factory=lambda: str(uuid4()))


@dataclass
class Initialised:
    size: dataclasses.InitVar[int]


class Movie(TypedDict):
    title: Required[str]
    year: NotRequired[int]


class Wrapped(TypedDict):
    title: Annotated[NotRequired[str], "Its name"]


class Loose(TypedDict, total=False):
    title: Required[str]
    year: int


class Item(msgspec.Struct, rename="camel"):
    unit_price: Annotated[float, Meta(ge=0)]
    amount: int = 1


class Cat(msgspec.Struct, tag="cat"):
    lives: int = 9


class Row(msgspec.Struct, array_like=True):
    a: int


class Model(pydantic.BaseModel):
    text: str = pydantic.Field(max_length=5, description="Words")
    parent: Model | None = None


class Shade(enum.Enum):
    """A colour of two names."""

    RED = "r"
    CRIMSON = RED
    BLUE = "b"


class Void(enum.Enum):
    """A choice of nothing."""


class Shaded(pydantic.BaseModel):
    """A model with a member that has two names."""

    shade: Shade


class Priced(pydantic.BaseModel):
    """A model that takes more as JSON than it does."""

    price: Annotated[Decimal, pydantic.Field(gt=0)]


class Numbered(pydantic.BaseModel):
    """A model of a model whose keys are numbers."""

    class Inner(pydantic.BaseModel):
        """The inner one."""

        rows: list[dict[int, str]]

    inner: Inner | None = None


T = typing.TypeVar("T")


@dataclass
class Boxed(typing.Generic[T]):
    """A generic record."""

    inside: T


class Flat(pydantic.BaseModel):
    at: datetime
    point: Point
    count: int = 3


class Calling(pydantic.BaseModel):
    back: Callable[[], int]


class Homeless(msgspec.Struct):
    where: Nowhere  # type: ignore[name-defined] # noqa: F821 - that is the point


class Pair(NamedTuple):
    a: int


class Marked:
    """Stands for a handle type: anything with this attribute is one."""

    __toolstile__: typing.ClassVar[dict[str, str]] = {"reads": "path"}


UserId = NewType("UserId", int)
Positive = NewType("Positive", Annotated[int, Meta(gt=0)])
Held = typing.TypeVar("Held")

POINT = {
    "type": "object",
    "description": "A place in the plane.",
    "properties": {
        "x": {"type": "integer", "description": "how far to the right"},
        "y": {"type": "number", "default": 0.5},
        "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
    },
    "required": ["x"],
    "additionalProperties": False,
}
ITEMS_OF_INT = {"type": "array", "items": {"type": "integer"}}

TYPES: list[tuple[Any, dict[str, Any]]] = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (None, {"type": "null"}),
    (datetime, {"type": "string", "format": "date-time"}),
    (date, {"type": "string", "format": "date"}),
    (UUID, {"type": "string", "format": "uuid"}),
    (UserId, {"type": "integer"}),
    (Positive, {"type": "integer", "exclusiveMinimum": 0}),
    (typing.Final[int], {"type": "integer"}),
    # --- choices
    (Colour, {"type": "string", "enum": ["red", "blue"]}),
    (Level, {"type": "integer", "enum": [1, 2]}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Literal["a", 1] | None, {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}),
    (Literal[1, True], {"type": ["integer", "boolean"], "enum": [1, True]}),
    (Literal[Colour.RED], {"type": "string", "enum": ["red"]}),
    # --- unions
    (int | None, {"type": ["integer", "null"]}),
    (typing.Optional[int], {"type": ["integer", "null"]}),  # noqa: UP045 - both ways to write it
    (str | int, {"type": ["string", "integer"]}),
    (int | float, {"type": "number"}),
    (int | str | None, {"type": ["integer", "string", "null"]}),
    (Colour | None, {"type": ["string", "null"], "enum": ["red", "blue", None]}),
    (Annotated[int, Meta(ge=1)] | None, {"type": ["integer", "null"], "minimum": 1}),
    (Annotated[int | None, Meta(ge=1)], {"type": ["integer", "null"], "minimum": 1}),
    (list[int] | None, {"type": ["array", "null"], "items": {"type": "integer"}}),
    (Marked | None, {"type": ["string", "null"], "x-toolstile": {"reads": "path"}}),
    (str | list[int], {"anyOf": [{"type": "string"}, ITEMS_OF_INT]}),
    (str | list[int] | None, {"anyOf": [{"type": "string"}, ITEMS_OF_INT, {"type": "null"}]}),
    # --- containers
    (list[int], ITEMS_OF_INT),
    (typing.List[int], ITEMS_OF_INT),  # noqa: UP006 - both ways to write it
    (abc.Sequence[int], ITEMS_OF_INT),
    (tuple[int, ...], ITEMS_OF_INT),
    (tuple[int, int], {**ITEMS_OF_INT, "minItems": 2, "maxItems": 2}),
    (
        tuple[int, str],
        {
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "items": False,
            "minItems": 2,
        },
    ),
    (tuple[()], {"type": "array", "items": False, "maxItems": 0}),
    (set[int], {**ITEMS_OF_INT, "uniqueItems": True}),
    (
        frozenset[Colour],
        {
            "uniqueItems": True,
            "type": "array",
            "items": {"type": "string", "enum": ["red", "blue"]},
        },
    ),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (abc.Mapping[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
    (
        list[Marked],
        {"type": "array", "items": {"type": "string", "x-toolstile": {"reads": "path"}}},
    ),
    # --- records
    (Point, POINT),
    (
        Stamped,
        {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
    ),
    (
        Movie,
        {
            "type": "object",
            "properties": {"title": {"type": "string"}, "year": {"type": "integer"}},
            "required": ["title"],
            "additionalProperties": False,
        },
    ),
    (
        Wrapped,
        {
            "type": "object",
            "properties": {"title": {"type": "string", "description": "Its name"}},
            "required": [],
            "additionalProperties": False,
        },
    ),
    (
        Loose,
        {
            "type": "object",
            "properties": {"title": {"type": "string"}, "year": {"type": "integer"}},
            "required": ["title"],
            "additionalProperties": False,
        },
    ),
    (
        Item,
        {
            "type": "object",
            "properties": {
                "unitPrice": {"type": "number", "minimum": 0},
                "amount": {"type": "integer", "default": 1},
            },
            "required": ["unitPrice"],
            "additionalProperties": False,
        },
    ),
    (
        Cat,
        {
            "type": "object",
            "properties": {
                "type": {"type": "string", "const": "cat"},
                "lives": {"type": "integer", "default": 9},
            },
            "required": ["type"],
            "additionalProperties": False,
        },
    ),
    # --- Annotated
    (Annotated[int, "How many"], {"type": "integer", "description": "How many"}),
    (
        Annotated[int, Meta(ge=1, lt=9, multiple_of=2, title="N", description="d", examples=[2])],
        {
            "type": "integer",
            "minimum": 1,
            "exclusiveMaximum": 9,
            "multipleOf": 2,
            "title": "N",
            "description": "d",
            "examples": [2],
        },
    ),
    (
        Annotated[str, Meta(pattern="^a", min_length=1, max_length=3)],
        {"type": "string", "pattern": "^a", "minLength": 1, "maxLength": 3},
    ),
    (Annotated[str, re.compile("^a")], {"type": "string", "pattern": "^a"}),
    (
        Annotated[str, Meta(extra_json_schema={"deprecated": True})],
        {"type": "string", "deprecated": True},
    ),
    (Annotated[int, at.Ge(1), at.Lt(5)], {"type": "integer", "minimum": 1, "exclusiveMaximum": 5}),
    (
        Annotated[int, at.Interval(gt=1, le=5)],
        {"type": "integer", "exclusiveMinimum": 1, "maximum": 5},
    ),
    (Annotated[list[int], at.Len(1, 3)], {**ITEMS_OF_INT, "minItems": 1, "maxItems": 3}),
    (Annotated[list[int], at.Len(0)], ITEMS_OF_INT),
    (
        Annotated[dict[str, int], at.MaxLen(3)],
        {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 3},
    ),
    (
        Annotated[int, pydantic.Field(ge=1, description="d", json_schema_extra={"title": "N"})],
        {"type": "integer", "minimum": 1, "description": "d", "title": "N"},
    ),
    (Annotated[Annotated[int, at.Ge(1)], at.Ge(-1)], {"type": "integer", "minimum": 1}),
    (Annotated[Any, {"type": "string"}], {"type": "string"}),
    (
        Annotated[dict[str, Any], {"type": "object", "additionalProperties": True}],
        {"type": "object", "additionalProperties": True},
    ),
    (
        Annotated[bytes, {"type": "string", "contentEncoding": "base64"}],
        {"type": "string", "contentEncoding": "base64"},
    ),
    (
        Annotated[int, {"x-toolstile": {"fact": "amount"}}],
        {"type": "integer", "x-toolstile": {"fact": "amount"}},
    ),
    (
        Flat,
        {
            "type": "object",
            "title": "Flat",
            "properties": {
                "at": {"type": "string", "format": "date-time"},
                "point": {
                    **POINT,
                    "properties": {
                        "x": {"type": "integer"},
                        "y": {"type": "number", "default": 0.5},
                        "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
                    },
                },
                "count": {"type": "integer", "default": 3},
            },
            "required": ["at", "point"],
            "additionalProperties": False,
        },
    ),
]


def taking(hint: Any) -> Callable[..., None]:
    """A function with one argument of this type."""

    def function(value):  # type: ignore[no-untyped-def]
        """Take it."""

    function.__annotations__ = {"value": hint}
    return function


def giving(hint: Any) -> Inferred:
    """What is inferred of a function with this return type."""

    def function():  # type: ignore[no-untyped-def]
        """Give it."""

    function.__annotations__ = {"return": hint}
    return infer(function)


def schema_of(hint: Any) -> Any:
    """The schema of an argument of this type, which must be one that is accepted."""
    inferred = infer(taking(hint))
    assert inferred.issues == ()
    assert check_schema(inferred.parameters) == ()
    return inferred.parameters["properties"]["value"]


@pytest.mark.parametrize(("hint", "expected"), TYPES, ids=str)
def test_each_type_has_its_schema(hint: Any, expected: dict[str, Any]) -> None:
    """A type's schema is the one in the table, and it is accepted as it stands."""
    found = schema_of(hint)
    if hint is Flat:  # pydantic describes a plain dataclass with its whole docstring
        found["properties"]["point"]["description"] = POINT["description"]
    assert found == expected


def spelt(schema: Any) -> Any:
    """The schema without the lists of required names: closing spells them in one way."""
    if isinstance(schema, list):
        return [spelt(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: spelt(value) for name, value in schema.items() if name != "required"}


@pytest.mark.parametrize(("hint", "_"), TYPES, ids=str)
def test_schemas_come_closed(hint: Any, _: dict[str, Any]) -> None:
    """Closing adds nothing to what the objects say: each is closed where it stands."""
    parameters = infer(taking(hint)).parameters
    assert spelt(thaw(close(parameters))) == spelt(parameters)


REFUSED: list[tuple[Any, str, Any]] = [
    (Any, "Any does not say", Annotated[Any, {"type": "string"}]),
    (object, "object does not say", Annotated[object, {"type": "string"}]),
    (bytes, "no bytes", str),
    (bytearray, "no bytes", str),
    (dict, "dict does not say", dict[str, str]),
    (list, "list does not say", list[str]),
    (set, "set does not say", set[str]),
    (tuple, "tuple does not say", tuple[str, ...]),
    (typing.List, "list does not say", typing.List[str]),  # noqa: UP006 - the bare name
    (typing.Tuple, "tuple does not say", typing.Tuple[str]),  # noqa: UP006 - the bare name
    (abc.Mapping, "Mapping does not say", abc.Mapping[str, str]),
    (dict[int, str], "keys of a JSON object are strings", dict[str, str]),
    (dict[str, Any], "Any does not say", dict[str, str]),
    (list[bytes], "no bytes", list[str]),
    (set[list[int]], "one plain type", set[int]),
    (set[int | bool], "one plain type", set[int]),
    (Path, "not guarded", str),
    (timedelta, "no such span", float),
    (time, "no such span", str),
    (Decimal, "no Decimal", float),
    (Priced, "no Decimal", Shaded),
    (Numbered, "keys of a JSON object", Shaded),
    (Void, "nothing to choose", Shade),
    (Boxed[int], "types in brackets", Shade),
    (complex, "no complex", float),
    (Rights, "flags can be combined", Colour),
    (Pair, "named tuple", Point),
    (Callable[[], int], "has no schema", int),
    (type[int], "has no schema", int),
    (T, "type variable", int),
    (Row, "written as a list", Item),
    (Homeless, "an unknown name", Item),
    (Calling, "pydantic has no JSON Schema", Model),
    (Fresh, "different each time", Tree),
    (Initialised, "InitVar", Stamped),
    (Literal[b"a"], "a choice must be", Literal["a"]),
    (str | Marked, "one of several things", Marked | None),
    (
        Annotated[Marked, {"type": "string"}],
        "says itself what",
        Annotated[Marked, {"title": "File"}],
    ),
    (
        Annotated[Marked, {"x-toolstile": {"fact": "name"}}],
        "says itself what",
        Annotated[str, {"x-toolstile": {"fact": "name"}}],
    ),
    (Annotated[str, at.Ge(1)], "'ge' says nothing", Annotated[int, at.Ge(1)]),
    (
        Annotated[int, Meta(min_length=1)],
        "'min_length' says nothing",
        Annotated[str, Meta(min_length=1)],
    ),
    (
        Annotated[str, at.Predicate(str.islower)],
        "a check in code",
        Annotated[str, Meta(pattern="^[a-z]*$")],
    ),
    (Annotated[str, pydantic.AfterValidator(str.lower)], "a check in code", str),
    (
        Annotated[datetime, Meta(tz=False)],
        "always has a time zone",
        Annotated[datetime, Meta(tz=True)],
    ),
    (
        Annotated[int, pydantic.Field(default=1)],
        "a default inside Annotated",
        Annotated[int, pydantic.Field(ge=1)],
    ),
    (Annotated[datetime, at.Ge(datetime.now(UTC))], "'ge' takes a number", datetime),
    (
        Annotated[Annotated[str, Meta(pattern="a")], Meta(pattern="b")],
        "said twice",
        Annotated[str, Meta(pattern="a")],
    ),
]


@pytest.mark.parametrize(("hint", "reason", "instead"), REFUSED, ids=str)
def test_what_has_no_schema_is_refused(hint: Any, reason: str, instead: Any) -> None:
    """Each such type is one fault at its argument, with a repair; what may stand there is taken."""
    (issue,) = infer(taking(hint)).issues
    assert reason in issue.message
    assert issue.path.startswith("/parameters/properties/value")
    assert issue.error_code == "ACODE-TSR-006"
    assert issue.hint
    assert infer(taking(instead)).issues == ()


def test_a_second_name_is_no_second_choice() -> None:
    """A member of an enumeration that has two names is listed once, in a model, too."""
    parameters = infer(taking(Shaded)).parameters
    assert check_schema(parameters) == ()
    shade = parameters["properties"]["value"]["properties"]["shade"]
    assert shade["enum"] == schema_of(Shade)["enum"] == ["r", "b"]


def test_faults_name_the_innermost_place() -> None:
    """The fault of a type deep inside others points to it, and all of them are found."""

    @dataclass
    class Outer:
        inner: dict[str, list[bytes]]
        also: complex

    paths = [issue.path for issue in infer(taking(Outer)).issues]
    assert paths == [
        "/parameters/properties/value/properties/inner/additionalProperties/items",
        "/parameters/properties/value/properties/also",
    ]


def test_every_fault_of_a_signature_is_found() -> None:
    """One look tells all: untyped, spread and positional parameters, and defaults without JSON."""
    naive = datetime(2020, 1, 1, tzinfo=UTC).replace(tzinfo=None)

    def function(  # type: ignore[no-untyped-def]
        a, /, b, c: int, *d: int, e: bytes = b"", f: datetime = naive, **g: str
    ):
        """Do it."""

    found = {issue.path.rpartition("/")[2]: issue.message for issue in infer(function).issues}
    assert sorted(found) == ["a", "b", "d", "e", "f", "g"]
    assert "cannot be given by name" in found["a"]
    assert "has no type" in found["b"]
    assert "time zone" in found["f"]


def test_self_is_no_argument() -> None:
    """A method is refused with what a tool may be instead."""

    def method(self):  # type: ignore[no-untyped-def]
        """Do it."""

    (issue,) = infer(method).issues
    assert issue.hint == "a tool is a function or a staticmethod"


DEFAULTS: list[tuple[Any, Any, Any]] = [
    (int | None, None, None),
    (Colour, Colour.BLUE, "blue"),
    (Point, Point(1), {"x": 1, "y": 0.5, "colour": "red"}),
    (set[str], {"b", "a"}, ["a", "b"]),
    (tuple[int, str], (1, "a"), [1, "a"]),
    (datetime, datetime(2020, 1, 2, tzinfo=UTC), "2020-01-02T00:00:00Z"),
    (UUID, UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (Item, Item(unit_price=2.5), {"unitPrice": 2.5, "amount": 1}),
]


@pytest.mark.parametrize(("hint", "default", "expected"), DEFAULTS, ids=str)
def test_defaults_are_json(hint: Any, default: Any, expected: Any) -> None:
    """A default stands in the schema as its JSON, and its parameter is not required."""

    def function(value=default):  # type: ignore[no-untyped-def]
        """Do it."""

    function.__annotations__ = {"value": hint}
    inferred = infer(function)
    assert inferred.parameters["properties"]["value"]["default"] == expected
    assert inferred.parameters["required"] == []
    assert check_schema(inferred.parameters) == ()


def test_recursion_goes_to_definitions() -> None:
    """A class that contains itself is written once in $defs and referred to from everywhere."""

    def function(tree: Tree, trees: list[Tree]) -> None:
        """Do it."""

    parameters = infer(function).parameters
    assert parameters["properties"]["tree"] == {"$ref": "#/$defs/Tree"}
    assert parameters["properties"]["trees"]["items"] == {"$ref": "#/$defs/Tree"}
    assert set(parameters["$defs"]) == {"Tree"}
    assert check_schema(parameters) == ()


def test_mutual_recursion_is_accepted() -> None:
    """Classes that contain each other, and models that contain themselves, are accepted schemas."""

    def function(left: Left, right: Right, model: Model) -> None:
        """Do it."""

    inferred = infer(function)
    assert inferred.issues == ()
    assert check_schema(inferred.parameters) == ()


def test_two_recursive_classes_of_one_name() -> None:
    """Names in $defs are distinct even where classes share theirs."""

    def make() -> type:
        @dataclass
        class Node:
            below: list[Node]

        return Node

    one, two = make(), make()

    def function(a, b):  # type: ignore[no-untyped-def]
        """Do it."""

    function.__annotations__ = {"a": one, "b": two}
    # Both refer to `Node` by name; here it means the first of them.
    inferred = infer(function, {"Node": one})
    assert inferred.issues == ()
    assert set(inferred.parameters["$defs"]) == {"Node"}


def test_type_aliases_are_followed() -> None:
    """What `type X = ...` names is read as what it stands for."""
    assert schema_of(typing_extensions.TypeAliasType("Numbers", list[int])) == ITEMS_OF_INT
    text: Any = "int"
    (issue,) = infer(taking(typing_extensions.TypeAliasType("Texts", list[text]))).issues
    assert "still text" in issue.message


def test_growth_is_bounded() -> None:
    """Classes that hold each other twice are refused at once, not written out a million times."""
    kind: Any = int
    for index in range(40):
        kind = dataclasses.make_dataclass(f"Level{index}", [("a", kind), ("b", kind)])
    inferred = infer(taking(kind))
    assert any("too many or too deep" in issue.message for issue in inferred.issues)
    assert len(inferred.issues) < 10


def test_depth_is_bounded() -> None:
    """A type nested without end is one fault, not a crash."""
    hint: Any = int
    for _ in range(200):
        hint = list[hint]
    (issue,) = infer(taking(hint)).issues
    assert "too many or too deep" in issue.message


OUTPUTS: list[tuple[Any, ResultType, Any]] = [
    (None, ResultType.OBJECT, {"type": "null"}),
    (int, ResultType.OBJECT, {"type": "integer"}),
    (str, ResultType.STRING, {"type": "string"}),
    (list[int], ResultType.ARRAY, ITEMS_OF_INT),
    (dict, ResultType.OBJECT, {"type": "object"}),
    (bytes, ResultType.BINARY, None),
    (typing.NoReturn, ResultType.OBJECT, None),
    (abc.Awaitable[int], ResultType.OBJECT, {"type": "integer"}),
    (Iterator[int], ResultType.STREAM, ITEMS_OF_INT),
    (AsyncIterator[bytes], ResultType.STREAM, None),
    (
        Stamped,
        ResultType.OBJECT,
        {
            "type": "object",
            "properties": {"text": {"type": "string"}, "length": {"type": "integer"}},
            "required": ["text", "length"],
            "additionalProperties": False,
        },
    ),
]


@pytest.mark.parametrize(("hint", "kind", "expected"), OUTPUTS, ids=str)
def test_outputs(hint: Any, kind: ResultType, expected: Any) -> None:
    """A return type gives the kind of result and its schema; what comes out has all its members."""
    inferred = giving(hint)
    assert (inferred.result_type, inferred.output_schema) == (kind, expected)
    assert inferred.issues == ()
    if expected is not None:
        assert check_schema(expected, Root.OUTPUT) == ()


def test_outputs_have_no_defaults() -> None:
    """Members with defaults are required of an output: a record always has them all."""
    output: Any = giving(Point).output_schema
    assert output["required"] == ["x", "y", "colour"]
    assert "default" not in output["properties"]["y"]


def test_an_output_of_anything_is_refused() -> None:
    """An output that is said to be anything is a fault; one that is not said is not checked."""
    (issue,) = giving(Any).issues
    assert issue.path == "/output_schema"

    def silent():  # type: ignore[no-untyped-def]
        """Give it."""

    assert infer(silent).output_schema is None


def test_text_annotations_of_local_types() -> None:
    """Annotations are text here, and names that only a function knows are found when given."""

    @dataclass
    class Local:
        size: int

    def function(value: Local) -> None:
        """Do it."""

    assert infer(function, {"Local": Local}).issues == ()
    (issue,) = infer(function).issues
    assert issue.path == "/parameters"
    assert "'Local'" in str(issue.hint)


def test_an_annotation_may_raise_anything() -> None:
    """An annotation is an expression; what it raises is a fault and not a crash."""

    def function(value):  # type: ignore[no-untyped-def]
        """Do it."""

    function.__annotations__ = {"value": "1 / 0"}
    (issue,) = infer(function).issues
    assert "ZeroDivisionError" in str(issue.hint)


DOCSTRINGS = {
    "google": """Count the words
    of a file.

    More about it.

    Args:
        path (str): The file,
            or folder.
        limit: How many.

    Returns:
        The count.
    """,
    "numpy": """Count the words
    of a file.

    More about it.

    Parameters
    ----------
    path : str
        The file,
        or folder.
    limit
        How many.

    Returns
    -------
    int
        The count.
    """,
    "sphinx": """Count the words
    of a file.

    More about it.

    :param path: The file,
        or folder.
    :type path: str
    :param int limit: How many.
    :returns: The count.
    """,
}


@pytest.mark.parametrize("style", DOCSTRINGS)
def test_docstrings_describe(style: str) -> None:
    """Whatever style a docstring has, its words reach the description and the parameters."""

    def function(path: str, limit: Annotated[int, "At most"] = 1) -> int:
        return limit

    function.__doc__ = DOCSTRINGS[style]
    inferred = infer(function)
    assert inferred.description == "Count the words of a file."
    properties = inferred.parameters["properties"]
    assert properties["path"]["description"] == "The file, or folder."
    assert properties["limit"]["description"] == "At most", "Annotated stands nearer"


def test_a_parameter_s_words_win_over_its_class_s() -> None:
    """What is said of an argument says more than what is said of its type."""

    def function(where: Point) -> None:
        """Go there.

        Args:
            where: The goal.
        """

    assert infer(function).parameters["properties"]["where"]["description"] == "The goal."


SEEDS = ("0", "1", "4242")
PRINT_IT = """
import sys; sys.path[:0] = {path!r}
from test_infer import Movie, Point, Tree, Model, Item, taking, infer
from dataclasses import dataclass
from typing import Annotated, Literal
from annotated_types import Len
def function(a: Tree, b: Model, c: set[str] = frozenset("zyxwv"), d: Item | Point | None = None,
             e: Annotated[str | list[int], Len(1, 5)] = "x",
             f: Literal["q", 2, None] = None) -> Movie:
    "Do it."
inferred = infer(function)
import json
assert not inferred.issues
print(json.dumps([inferred.parameters, inferred.output_schema]))
"""


def test_schemas_are_the_same_in_every_process() -> None:
    """Byte for byte the same schemas, however the process hashes its strings."""
    here = Path(__file__)
    paths = [str(here.parents[2] / "src"), str(here.parent), str(here.parents[1])]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", PRINT_IT.format(path=paths)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in SEEDS
    }
    assert len(outputs) == 1
    assert len(outputs.pop()) > 1_000
