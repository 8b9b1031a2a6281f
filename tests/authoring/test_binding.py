"""JSON to arguments and results to JSON: the same value both ways, for every type there is."""

# ruff: noqa: ANN001, ANN003, ANN202, D101 - annotations are what a test varies; docstrings are schemas

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from types import GenericAlias
from typing import Annotated, Any, Literal, NotRequired, TypedDict
from uuid import UUID

import msgspec
import orjson
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolstile.authoring.binding import bind, typed_result, unbind
from toolstile.authoring.context import LocalContext, ToolContext
from toolstile.authoring.handles import Host, ReadPath, Url
from toolstile.errors import ToolError
from toolstile.schema import Root, check_schema, close, compile_arguments
from toolstile.schema.compiled import compiled
from toolstile.schema.python.infer import infer

MAX_INTEGER = 2**63 - 1


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Switch(enum.Enum):
    ON = True
    ONE = "1"


@dataclass
class Point:
    x: int
    y: float = 0.5


@dataclass(frozen=True)
class Tree:
    name: str
    children: list[Tree] = field(default_factory=list)


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Item(msgspec.Struct, rename="camel"):
    unit_price: float
    amount: int = 1


class Cat(msgspec.Struct, tag="cat"):
    name: str


class Dog(msgspec.Struct, tag="dog"):
    name: str


class Model(pydantic.BaseModel):
    at: datetime
    ids: tuple[UUID, ...] = ()
    below: Model | None = None


@dataclass
class Job:
    source: ReadPath
    copies: int = 1


def as_given(_: str, text: str, kind: type) -> Any:
    """Make a handle over the text itself."""
    return kind(text)


def taking(hint: Any) -> Callable[..., Any]:
    """A function with one argument of this type, which it gives back."""

    def function(value):  # type: ignore[no-untyped-def]
        return value

    function.__annotations__ = {"value": hint, "return": hint}
    return function


# --- the property ------------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
MOMENTS = st.datetimes(
    datetime.fromisoformat("1900-01-01"),
    datetime.fromisoformat("2100-01-01"),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-3, minutes=-30))]),
)
Typed = tuple[Any, st.SearchStrategy[Any]]

SCALARS: list[Typed] = [
    (str, TEXTS),
    (int, st.integers(-MAX_INTEGER, MAX_INTEGER)),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (bool, st.booleans()),
    (datetime, MOMENTS),
    (date, st.dates()),
    (UUID, st.uuids()),
    (Colour, st.sampled_from(Colour)),
    (Level, st.sampled_from(Level)),
    (Switch, st.sampled_from(Switch)),
    (Literal["a", 1, True], st.sampled_from(["a", 1, True])),
    (Annotated[int, msgspec.Meta(ge=0, le=9)], st.integers(0, 9)),
]
RECORDS: list[Typed] = [
    (Point, st.builds(Point, st.integers(-9, 9), st.floats(-9, 9))),
    (Movie, st.fixed_dictionaries({"title": TEXTS}, optional={"year": st.integers(0, 9)})),
    (Item, st.builds(Item, unit_price=st.floats(0, 9), amount=st.integers(0, 9))),
    (Cat | Dog, st.one_of(st.builds(Cat, TEXTS), st.builds(Dog, TEXTS))),
    (Model, st.builds(Model, at=MOMENTS, ids=st.tuples(st.uuids()), below=st.none())),
    (
        Tree,
        st.recursive(
            st.builds(Tree, TEXTS),
            lambda below: st.builds(Tree, TEXTS, st.lists(below, max_size=2)),
            max_leaves=4,
        ),
    ),
]


def dataclass_of(members: list[Typed]) -> Typed:
    """A dataclass of these members, and its values."""
    fields = [(f"member_{index}", hint) for index, (hint, _) in enumerate(members)]
    kind = dataclasses.make_dataclass("Made", fields)
    return kind, st.builds(kind, *(values for _, values in members))


def containers(one: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    """Types that hold others, each with its values."""
    return st.one_of(
        one.map(lambda t: (GenericAlias(list, t[0]), st.lists(t[1], max_size=3))),
        one.map(lambda t: (GenericAlias(tuple, (t[0], ...)), st.lists(t[1]).map(tuple))),
        one.map(lambda t: (GenericAlias(dict, (str, t[0])), st.dictionaries(TEXTS, t[1]))),
        one.map(lambda t: (t[0] | None, st.none() | t[1])),
        st.lists(one, min_size=1, max_size=3).map(tuple_of),
        st.lists(one, max_size=3).map(dataclass_of),
    )


def tuple_of(items: list[Typed]) -> Typed:
    """A tuple of these items, and its values."""
    hints = tuple(hint for hint, _ in items)
    return GenericAlias(tuple, hints), st.tuples(*(values for _, values in items))


# A set tells its items apart as Python does, so of choices that are equal there it takes none.
SETS: list[Typed] = [
    (set[str], st.sets(TEXTS, max_size=3)),
    (frozenset[int], st.frozensets(st.integers(-9, 9), max_size=3)),
    (set[Colour], st.sets(st.sampled_from(Colour))),
    (set[datetime], st.sets(MOMENTS.map(lambda at: at.astimezone(UTC)), max_size=2)),
]
TYPED = st.recursive(st.sampled_from([*SCALARS, *RECORDS, *SETS]), containers, max_leaves=4)


@settings(max_examples=150)
@given(TYPED, st.data())
def test_values_come_back_as_they_went(typed: Typed, data: st.DataObject) -> None:
    """Written as JSON, checked and bound, a value is what it was, and is written the same."""
    hint, values = typed
    value = data.draw(values)
    function = taking(hint)
    inferred = infer(function)
    assert inferred.issues == ()
    assert check_schema(inferred.parameters) == ()
    written = unbind(value)
    checked = compile_arguments(inferred.parameters).check(orjson.dumps({"value": written}))
    assert checked.issues == ()
    bound = bind(function, checked.value, as_given, LocalContext())["value"]
    assert bound == value
    assert type(bound) is type(value)
    assert unbind(bound) == written
    output = compiled(close(inferred.output_schema or {}, Root.OUTPUT))
    assert output.issues(orjson.loads(orjson.dumps(written))) == ()
    assert typed_result(function, written) == value


# --- binding -----------------------------------------------------------------------------------


def bound(hint: Any, value: Any) -> Any:
    """One argument in the form of its type."""
    return bind(taking(hint), {"value": value}, as_given, LocalContext())["value"]


REFUSED: list[tuple[Any, Any, Any]] = [
    (int, "1", 1),
    (int, True, 1),
    (int, 1.0, 1),
    (bool, 1, True),
    (str, 1, "1"),
    (float, True, 1),
    (float, "1", 1.5),
    (None, 0, None),
    (datetime, "2020-01-01T23:59:60Z", "2020-01-01T23:59:59Z"),  # JSON's day has leap seconds
    (UUID, "x", "00000000-0000-0000-0000-000000000000"),
    (Colour, "green", "red"),
    (Level, True, 1),
    (Literal[True], 1, True),
    (list[int], {"0": 1}, [1]),
    (dict[str, int], [1], {"a": 1}),
    (tuple[int, int], [1], [1, 2]),
    (Point, {"y": 1}, {"x": 1}),
    (Point, {"x": 1, "z": 1}, {"x": 1}),
    (Cat | Dog, {"type": "cow", "name": ""}, {"type": "dog", "name": ""}),
    (int | list[str], [1], ["a"]),
    (Model, {"at": "never"}, {"at": "2020-01-01T00:00:00Z"}),
    (ReadPath, 1, "a"),
]


@pytest.mark.parametrize(("hint", "wrong", "right"), REFUSED, ids=str)
def test_binding_is_strict(hint: Any, wrong: Any, right: Any) -> None:
    """What does not have the form of its type is refused without a quote; its like is taken."""
    with pytest.raises(ToolError) as caught:
        bound(hint, wrong)
    assert caught.value.code == "INVALID_ARGUMENT"
    assert caught.value.message.startswith("/value")
    assert caught.value.__cause__ is None, "a foreign error would quote the value"
    bound(hint, right)


def test_refusals_never_quote() -> None:
    """However wrong an argument is, its text is in no message."""
    secret = "hunter2"
    for hint in (int, datetime, UUID, Colour, Literal["a"], Point, Model, list[int], int | None):
        with pytest.raises(ToolError) as caught:
            bound(hint, secret)
        assert secret not in str(caught.value)


def test_integers_become_floats_where_floats_are_asked_for() -> None:
    """Canonical JSON writes 5.0 as 5; a float parameter gets the float again."""
    assert type(bound(float, 5)) is float
    assert type(bound(int | float, 5)) is int
    assert type(bound(int | float, 1.0)) is float
    assert type(bound(int | str, 1.0)) is int


def test_of_alternatives_the_first_that_fits_is_taken() -> None:
    """Alternatives are told apart by their schemas, bounds included, in the order written."""

    @dataclass
    class Small:
        size: Annotated[int, msgspec.Meta(lt=10)]

    @dataclass
    class Large:
        size: int

    assert bound(Small | Large, {"size": 3}) == Small(3)
    assert bound(Small | Large, {"size": 30}) == Large(30)


def test_handles_are_made_where_marks_stand() -> None:
    """Each marked text goes to the runtime with its pointer and type, and nothing else does."""
    asked = []

    def handles(pointer: str, text: str, kind: type) -> Any:
        asked.append((pointer, text, kind))
        return kind(text)

    def function(one: ReadPath, many: list[ReadPath], job: Job, to: Host | None, text: str):  # type: ignore[no-untyped-def]
        """Do it."""

    arguments = {
        "one": "a",
        "many": ["b", "c"],
        "job": {"source": "d"},
        "to": None,
        "text": "e",
    }
    kwargs = bind(function, arguments, handles, LocalContext())
    assert kwargs["many"] == [ReadPath("b"), ReadPath("c")]
    assert asked == [
        ("/one", "a", ReadPath),
        ("/many/0", "b", ReadPath),
        ("/many/1", "c", ReadPath),
        ("/job/source", "d", ReadPath),
    ]


def test_the_context_is_passed_and_not_taken() -> None:
    """A ToolContext parameter of any name gets the context, whatever the arguments say."""

    def function(text: str, around: ToolContext, perhaps: ToolContext | None = None):  # type: ignore[no-untyped-def]
        """Do it."""

    context = LocalContext()
    forged = {"text": "a", "around": "mine"}
    bound = bind(function, forged, as_given, context)
    assert bound["around"] is context
    assert bound["perhaps"] is context
    assert set(infer(function, None, (ToolContext,)).parameters["properties"]) == {"text"}


def test_untyped_parameters_get_the_json() -> None:
    """A function whose schema was written by hand gets its arguments as they are."""

    def function(value, **others):  # type: ignore[no-untyped-def]
        """Do it."""

    arguments = {"value": {"a": [1]}, "other": 1}
    assert bind(function, arguments, as_given, LocalContext()) == arguments


def test_a_schema_written_out_gives_its_json() -> None:
    """Where a type's schema is written by hand the function gets the JSON that this describes."""
    assert (
        bound(Annotated[bytes, {"type": "string", "contentEncoding": "base64"}], "YQ==") == "YQ=="
    )
    assert bound(Annotated[Any, {"type": "object"}], {"a": [1]}) == {"a": [1]}


# --- the way back ------------------------------------------------------------------------------

RESULTS: list[tuple[Any, Any]] = [
    (Point(1), {"x": 1, "y": 0.5}),
    (Item(unit_price=1.5), {"unitPrice": 1.5, "amount": 1}),
    (Cat("c"), {"type": "cat", "name": "c"}),
    ({"a": (1, 2)}, {"a": [1, 2]}),
    ({Colour.RED: 1}, {"red": 1}),
    (Level.HIGH, 2),
    (Switch.ON, True),
    (date(2020, 1, 2), "2020-01-02"),
    (datetime(2020, 1, 2, 3, tzinfo=UTC), "2020-01-02T03:00:00Z"),
    (ReadPath("a/b"), "a/b"),
    (Url("https://a.example/x"), "https://a.example/x"),
    ({"b", "a", "c"}, ["a", "b", "c"]),
]


@pytest.mark.parametrize(("value", "expected"), RESULTS, ids=str)
def test_results_as_json(value: Any, expected: Any) -> None:
    """Records, enumerations, moments, handles and sets have one JSON, of exactly JSON's types."""
    found = unbind(value)
    assert found == expected
    assert json.loads(json.dumps(found)) == found
    assert type(found) in (dict, list, str, int, bool)


UNSAYABLE: list[tuple[Any, str]] = [
    (b"a", "bytes"),
    ([b"a"], "bytes"),
    (object(), "object"),
    (1j, "complex"),
    (float("nan"), "float"),
    (float("inf"), "float"),
    (datetime(2020, 1, 1, tzinfo=UTC).replace(tzinfo=None), "time zone"),
    (timedelta(1), "timedelta"),
    ({1: 2}, "int"),
    ({Colour.RED: 1, "red": 2}, "same name"),
    (lambda: None, "function"),
    (Point, "type"),
]


@pytest.mark.parametrize(("value", "word"), UNSAYABLE, ids=str)
def test_what_has_no_json_is_a_type_error(value: Any, word: str) -> None:
    """A result without JSON is refused by the name of its type, at any depth."""
    for wrapped in (value, {"deep": [value]}):
        with pytest.raises(TypeError, match=word):
            unbind(wrapped)


def test_endless_values_are_refused() -> None:
    """A value that holds itself, or shares its parts until they are a million million, ends."""
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(TypeError, match="refers to itself"):
        unbind(endless)
    shared: Any = []
    for _ in range(60):
        shared = [shared, shared]
    with pytest.raises(TypeError, match="too many parts"):
        unbind(shared)


def test_results_in_their_own_type() -> None:
    """An output is given back as the function's return type; streams as the list of their items."""

    async def stream() -> AsyncIterator[Point]:
        yield Point(1)

    def silent():  # type: ignore[no-untyped-def]
        """Do it."""

    assert typed_result(stream, [{"x": 1}]) == [Point(1)]
    assert typed_result(silent, {"x": 1}) == {"x": 1}
    with pytest.raises(ToolError):
        typed_result(taking(Point), {"z": 1})
