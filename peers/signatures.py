"""A Python function with the annotations that a careful author would write for a JSON Schema.

The typed paths of the peers begin with a function, the suite begins with a schema. What is
written here is the most that pydantic's annotations can say, without code of one's own (no
validators). What they cannot say is `Unsupported`: the peer is not blamed for it.
"""

from __future__ import annotations

import json
import keyword
import linecache
import re
import typing
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import date, datetime, time
from functools import wraps
from inspect import isawaitable
from ipaddress import IPv4Address, IPv6Address
from typing import (
    Annotated,
    Any,
    ForwardRef,
    Literal,
    NotRequired,  # pydantic asks for these before 3.12
    Protocol,
)
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model
from pydantic_core import SchemaError, to_jsonable_python
from typing_extensions import TypedDict, is_typeddict

from toolstile.conformance import Unsupported
from toolstile.conformance.adapters import PARSED_ONLY

Schema = Mapping[str, Any]
Body = Callable[[dict[str, Any]], Any]
Call = Callable[[str], Any]

NUMBERS = {
    "minimum": "ge",
    "exclusiveMinimum": "gt",
    "maximum": "le",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}
STRINGS = {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"}
LISTS = {"minItems": "min_length", "maxItems": "max_length"}
DICTS = {"minProperties": "min_length", "maxProperties": "max_length"}
SCALARS = {"integer": int, "number": float, "boolean": bool, "string": str}

JSON_TYPES = (int, float, bool, str, list, dict, type(None))

# Only those with a type of the standard library; others are annotations in 2020-12, but a suite
# may assert them, so they are left out of what is claimed.
FORMATS = {
    "date-time": datetime,
    "date": date,
    "time": time,
    "uuid": UUID,
    "ipv4": IPv4Address,
    "ipv6": IPv6Address,
}

# Keywords that ask nothing of a value.
SILENT = frozenset(
    "title description default examples deprecated readOnly writeOnly contentMediaType "
    "contentEncoding contentSchema $comment $schema $id $anchor $defs definitions".split()
)
SAID = frozenset(
    "type enum const anyOf oneOf $ref format properties required additionalProperties "
    "unevaluatedProperties items prefixItems".split()
) | {*NUMBERS, *STRINGS, *LISTS, *DICTS}

# The names that a model gave for the parameters of the call under way.
named: ContextVar[frozenset[str] | None] = ContextVar("named", default=None)


class Tool(Protocol):
    """A tool of the suite."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def description(self) -> str:
        """What it is for."""
        ...

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema of its arguments."""
        ...

    @property
    def returns(self) -> dict[str, Any] | None:
        """The schema of its output, where it has one."""
        ...


def function(
    tool: Tool, body: Body, *, strict: bool = False, asynchronous: bool = False
) -> Callable[..., Any]:
    """The function that a user would write for this tool, with typed parameters.

    The body gets the defaults that the framework filled in from the schema, but not the None that
    stands for an argument left out. Inside objects it gets what was sent.
    """
    writer = Writer(tool.parameters, strict=strict)
    fields = writer.parameters()
    hints: dict[str, Any] = {name: hint for name, (hint, _) in fields.items()}
    if tool.returns is not None:
        hints["return"] = returned(tool, strict=strict)
    defaults = {name: value for name, (_, value) in fields.items()}
    made = compiled(tool, fields, lambda arguments: body(sent(arguments, defaults)), asynchronous)
    made.__annotations__ = hints
    return made


def returned(tool: Tool, *, strict: bool = False) -> Any:
    """The return annotation; objects are TypedDicts, whose members may be absent and not only null.

    The body returns plain data, so a dict is also what it truthfully returns.
    """
    return Writer(tool.returns or {}, strict=strict, dicts=True).whole("Output")


def model(tool: Tool, *, strict: bool = False) -> type[BaseModel]:
    """The pydantic model that a user would write for the parameters; closed if the schema is."""
    made = Writer(tool.parameters, strict=strict).whole(identifier(tool.name))
    if not (isinstance(made, type) and issubclass(made, BaseModel)):
        raise Unsupported("the parameters are no object with properties")
    return made


def refuse_lost(made: Callable[..., Any], kept: tuple[type, ...]) -> None:
    """For a peer that reads hints without their limits: refuse a function that needs more.

    `kept` are the classes whose meaning that peer keeps, besides JSON's own.
    """
    for name, hint in made.__annotations__.items():
        if lost(hint, kept):
            raise Unsupported(f"this path reads bare type hints: {name!r} says more")


def lost(hint: Any, kept: tuple[type, ...]) -> bool:
    """Whether a bare reading loses something of this hint."""
    origin = typing.get_origin(hint)
    if origin is Literal:
        return False
    if origin is Annotated:
        return True
    if origin is not None:
        return any(lost(part, kept) for part in typing.get_args(hint))
    if hint is Any:
        return False
    if is_typeddict(hint):
        return True
    return isinstance(hint, type) and not issubclass(hint, (*JSON_TYPES, *kept))


def taking(body: Body, schema: type[BaseModel]) -> Callable[..., Any]:
    """The function behind a model: it takes the fields as keywords."""
    defaults = {
        name: ... if field.is_required() else field.default
        for name, field in schema.model_fields.items()
    }

    def run(**arguments: Any) -> Any:
        return body(sent(arguments, defaults))

    return run


def plain(value: Any) -> Any:
    """What a function got, as JSON-like data; of models only what was sent, not their defaults."""
    if isinstance(value, BaseModel):
        return plain(value.model_dump(exclude_unset=True))
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    return value if value is None or isinstance(value, str | int | float) else jsonable(value)


def jsonable(value: Any) -> Any:
    """A date or its like as JSON has it, fractions as short as can be; what is unknown stays."""
    json_value = to_jsonable_python(value, fallback=lambda unknown: unknown)
    if isinstance(value, date | time):
        return re.sub(r"(\.\d+?)0+(?=Z|[+-]|$)", r"\1", json_value)
    return json_value


def sent(arguments: dict[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """What a function got, without each None that only stands for an argument left out.

    A default of the schema stays where the framework filled it in. Where the names that a model
    gave are not known (in a server), a null that was sent for such a parameter is left out too.
    """
    given = named.get() or frozenset()
    return {
        name: plain(value)
        for name, value in arguments.items()
        if value is not None or defaults.get(name, ...) is not None or name in given
    }


def typed(adapter: Callable[[Tool, Body], Call]) -> Callable[[Tool, Body], Call]:
    """Mark an adapter of a typed path: its function is told which parameters the text names.

    The call itself goes the framework's own way; the names only tell a null that was sent from the
    default that stands for nothing.
    """

    @wraps(adapter)
    def build(tool: Tool, body: Body) -> Call:
        call = adapter(tool, body)

        async def noted(text: str) -> Any:
            token = named.set(names(text))
            try:
                result = call(text)
                return await result if isawaitable(result) else result
            finally:
                named.reset(token)

        return noted

    return build


def parsed_only(adapter: Callable[[Tool, Body], Call]) -> Callable[[Tool, Body], Call]:
    """Mark a path whose framework is given values: its host has read the text before."""
    setattr(adapter, PARSED_ONLY, True)
    return adapter


def names(text: str) -> frozenset[str] | None:
    """The names at the top of an argument text, if it is an object at all."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return frozenset(value) if isinstance(value, dict) else None


class Writer:
    """Writes annotations for one schema; the models that it makes stay together."""

    def __init__(self, schema: Schema, *, strict: bool, dicts: bool = False) -> None:
        self.root = schema
        self.strict = strict
        self.dicts = dicts
        self.models: dict[str, type[BaseModel]] = {}
        self.begun: dict[str, Any] = {}

    def whole(self, name: str) -> Any:
        """The annotation for the schema as a whole."""
        hint = self.hint(self.root, name)
        self.finish()
        return hint

    def parameters(self) -> dict[str, tuple[Any, Any]]:
        """Annotation and default of each parameter; `...` is no default. Required ones lead."""
        schema = self.root
        self.refuse_unsaid(schema)
        refuse(schema.get("type") != "object", "the parameters are no object")
        refuse(extra(schema) not in {None, "forbid"}, "a signature names all its parameters")
        others = ("anyOf", "oneOf", "$ref", "enum", "const", *DICTS)
        beside = [keyword for keyword in others if keyword in schema]
        refuse(bool(beside), f"{beside} beside the properties")
        fields = self.fields(schema, "Parameters")
        self.finish()
        return dict(sorted(fields.items(), key=lambda field: field[1][1] is not ...))

    def fields(self, schema: Schema, name: str) -> dict[str, tuple[Any, Any]]:
        """Annotation and default of each property."""
        properties = schema.get("properties", {})
        required = set(schema.get("required", ()))
        for absent in sorted(required - set(properties)):
            raise Unsupported(f"{absent!r} is required and not among the properties")
        for odd in sorted(properties):
            refuse(not attribute(odd), f"{odd!r} cannot be the name of a parameter or field")
        return {
            key: (
                self.hint(member, f"{name}_{key}"),
                ... if key in required else default(member),
            )
            for key, member in properties.items()
        }

    def hint(self, schema: Schema | bool, name: str) -> Any:
        """The annotation for a value of this schema."""
        if isinstance(schema, bool):
            refuse(not schema, "no annotation refuses every value")
            return Any
        self.refuse_unsaid(schema)
        for keyword_, write in self.choices.items():
            if keyword_ in schema:
                return write(self, schema, name)
        return self.by_type(schema, name)

    def by_type(self, schema: Schema, name: str) -> Any:
        """The annotation for what `type` says; keywords about other types ask nothing."""
        kinds = schema.get("type")
        if kinds is None:
            unsaid = sorted(set(schema) - SILENT)
            refuse(bool(unsaid), f"{unsaid} without a type")
            return Any
        if isinstance(kinds, str):
            return self.of_kind(kinds, schema, name)
        return typing.Union[tuple(self.of_kind(kind, schema, name) for kind in kinds)]  # noqa: UP007

    def of_kind(self, kind: str, schema: Schema, name: str) -> Any:
        """The annotation for values of one JSON type."""
        if kind == "null":
            return None
        if kind == "object":
            return self.record(schema, name)
        if kind == "array":
            return self.sequence(schema, name)
        options = limits(schema, STRINGS if kind == "string" else NUMBERS)
        hint: Any = SCALARS[kind]
        if kind == "string" and "format" in schema:
            refuse(schema["format"] not in FORMATS, f"the format {schema['format']!r}")
            refuse(bool(options), "a format beside other limits")
            return FORMATS[schema["format"]]
        if kind == "boolean":
            options = {}
        if self.strict:
            options["strict"] = True
        return annotated(hint, options)

    def sequence(self, schema: Schema, name: str) -> Any:
        """A list, or a tuple where every place has its schema."""
        options = limits(schema, LISTS)
        if "prefixItems" not in schema:
            return annotated(list[self.hint(schema.get("items", True), f"{name}_item")], options)  # type: ignore[misc]
        places = schema["prefixItems"]
        closed = schema.get("items") is False or options.get("max_length") == len(places)
        refuse(
            not closed or options.get("min_length") != len(places),
            "prefixItems without a fixed length",
        )
        hints = [self.hint(place, f"{name}_{index}") for index, place in enumerate(places)]
        return tuple[tuple(hints)]  # type: ignore[misc]

    def record(self, schema: Schema, name: str) -> Any:
        """A dict where any name may stand, otherwise a model."""
        rest = extra(schema)
        if not schema.get("properties") and not schema.get("required") and rest != "forbid":
            value = self.hint(rest, f"{name}_value") if isinstance(rest, Mapping) else Any
            return annotated(dict[str, value], limits(schema, DICTS))  # type: ignore[valid-type]
        refuse(bool(limits(schema, DICTS)), "how many properties, beside their names")
        if self.dicts:
            return self.dictionary(schema, name, rest)
        config = ConfigDict(
            extra="forbid" if rest == "forbid" else "allow",
            protected_namespaces=(),
        )
        base: type[BaseModel] = type(
            "Base", (BaseModel,), {"model_config": config, "__module__": __name__}
        )
        if isinstance(rest, Mapping):
            others = {"__pydantic_extra__": dict[str, self.hint(rest, f"{name}_value")]}  # type: ignore[misc]
            base = type("Open", (base,), {"__annotations__": others, "__module__": __name__})
        fields: Any = self.fields(schema, name)
        made: type[BaseModel] = create_model(name, __base__=base, **fields)
        self.models[name] = made
        return made

    def dictionary(self, schema: Schema, name: str, rest: Any) -> Any:
        """A TypedDict with these members."""
        refuse(isinstance(rest, Mapping), "a schema for other members of a TypedDict")
        members = {
            key: hint if value is ... else NotRequired[hint]
            for key, (hint, value) in self.fields(schema, name).items()
        }
        make: Any = TypedDict
        made = make(name, members)
        made.__pydantic_config__ = ConfigDict(extra="forbid" if rest == "forbid" else "allow")
        return made

    def literal(self, schema: Schema, name: str) -> Any:
        """A `Literal` of the values that are allowed."""
        values = [schema["const"]] if "const" in schema else schema["enum"]
        kinds = schema.get("type")
        kinds = [kinds] if isinstance(kinds, str) else kinds
        for value in values:
            refuse(
                not (value is None or isinstance(value, str | bool | int)),
                "a Literal of numbers with a fraction, of lists or of objects",
            )
            refuse(kinds is not None and kind_of(value) not in kinds, "a value of another type")
        self.alone(schema, {"const", "enum", "type"})
        return Literal[tuple(values)]

    def union(self, schema: Schema, name: str) -> Any:
        """A `Union` for anyOf."""
        self.alone(schema, {"anyOf"})
        members = schema["anyOf"]
        hints = [self.hint(member, f"{name}_{index}") for index, member in enumerate(members)]
        return typing.Union[tuple(hints)]  # noqa: UP007

    def tagged(self, schema: Schema, name: str) -> Any:
        """A discriminated `Union` for a oneOf whose branches a property tells apart."""
        self.alone(schema, {"oneOf"})
        branches = [self.resolved(branch) for branch in schema["oneOf"]]
        tag = tag_of(branches)
        refuse(tag is None, "oneOf whose branches no property tells apart")
        hints = [self.hint(branch, f"{name}_{index}") for index, branch in enumerate(branches)]
        return Annotated[typing.Union[tuple(hints)], Field(discriminator=tag)]  # noqa: UP007

    def reference(self, schema: Schema, name: str) -> Any:
        """What a local reference points at; itself by name where it is recursive."""
        self.alone(schema, {"$ref"})
        reference = schema["$ref"]
        target = self.resolved(schema)
        if reference in self.begun:
            recursive = isinstance(self.begun[reference], ForwardRef)
            refuse(recursive and self.dicts, "a recursive TypedDict")
            return self.begun[reference]
        own = identifier(reference.rpartition("/")[2]) or "Root"
        self.begun[reference] = ForwardRef(own)
        hint = self.begun[reference] = self.hint(target, own)
        return hint

    choices: typing.ClassVar[dict[str, Callable[..., Any]]] = {
        "$ref": reference,
        "const": literal,
        "enum": literal,
        "anyOf": union,
        "oneOf": tagged,
    }

    def resolved(self, schema: Schema) -> Schema:
        """The schema that a local reference points at, or the schema itself."""
        reference = schema.get("$ref")
        if reference is None:
            return schema
        refuse(not reference.startswith("#/"), f"the reference {reference!r}")
        target: Any = self.root
        for step in reference[2:].split("/"):
            target = target.get(step.replace("~1", "/").replace("~0", "~"))
            refuse(not isinstance(target, Mapping), f"the reference {reference!r}")
        return self.resolved(target) if "$ref" in target else target

    def finish(self) -> None:
        """Tie recursive models together."""
        for made in self.models.values():
            try:
                made.model_rebuild(force=True, _types_namespace=dict(self.models))
            except Exception as error:
                raise Unsupported(f"pydantic makes no model of it: {error}") from error

    def refuse_unsaid(self, schema: Schema) -> None:
        """Refuse keywords for which there is no annotation."""
        unsaid = sorted(set(schema) - SAID - SILENT)
        refuse(bool(unsaid), f"no annotation says {', '.join(unsaid)}")

    def alone(self, schema: Schema, keywords: set[str]) -> None:
        """Refuse keywords beside one that is written alone."""
        beside = sorted(set(schema) - keywords - SILENT)
        refuse(bool(beside), f"{beside} beside {sorted(keywords & set(schema))}")


def refuse(condition: bool, reason: str) -> None:
    """Say that an annotation cannot say it."""
    if condition:
        raise Unsupported(f"a typed signature cannot say: {reason}")


def default(schema: Schema | bool) -> Any:
    """The schema's default; None stands for nothing, and is not part of the annotation.

    `limit: int | None = None` would be more usual and would make null acceptable, which the schema
    does not; pydantic does not validate defaults, so this says what the schema says.
    """
    return schema.get("default") if isinstance(schema, Mapping) else None


def extra(schema: Schema) -> Any:
    """What other properties may be: "forbid", a schema for them, or None where nothing is said."""
    rest = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
    if rest is False:
        return "forbid"
    return rest


def limits(schema: Schema, names_: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of `Field` for these keywords."""
    return {option: schema[word] for word, option in names_.items() if word in schema}


def annotated(hint: Any, options: dict[str, Any]) -> Any:
    """The type with its limits; a pattern that pydantic's engine does not know is refused."""
    if not options:
        return hint
    made = Annotated[hint, Field(**options)]
    if "pattern" in options:
        try:
            TypeAdapter(made)
        except SchemaError as error:
            raise Unsupported(f"pydantic does not know the pattern: {error}") from error
    return made


def tag_of(branches: list[Schema]) -> str | None:
    """The required property whose constant differs in every branch."""
    shared = set.intersection(*(set(branch.get("required", ())) for branch in branches))
    for name in sorted(shared):
        members = [branch.get("properties", {}).get(name) for branch in branches]
        values = [member.get("const") for member in members if isinstance(member, Mapping)]
        if len(values) == len(branches) == len(set(values)) and all(
            isinstance(value, str) for value in values
        ):
            return str(name)
    return None


def kind_of(value: Any) -> str:
    """The JSON type of a scalar."""
    kinds = {type(None): "null", bool: "boolean", int: "integer", str: "string"}
    return kinds[type(value)]


def attribute(name: str) -> bool:
    """Whether this can be both a parameter and a field of a model."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def identifier(name: str) -> str:
    """The nearest name that Python takes."""
    near = re.sub(r"\W", "_", name)
    return near if attribute(near) else f"tool_{near}"


def compiled(
    tool: Tool,
    fields: Mapping[str, tuple[Any, Any]],
    run: Body,
    asynchronous: bool,
) -> Callable[..., Any]:
    """A function in the flesh: peers read signatures, docstrings and even the source."""
    name = identifier(tool.name)
    source = "\n".join(
        [
            f"{'async ' * asynchronous}def {name}({parameter_list(fields)}):",
            f'    """{docstring(tool)}"""',
            f"    return _run({{{', '.join(f'{field!r}: {field}' for field in fields)}}})",
            "",
        ]
    )
    place = f"<{name} {id(tool)}>"
    scope: dict[str, Any] = {"_run": run, "__name__": __name__}
    exec(compile(source, place, "exec", dont_inherit=True), scope)  # noqa: S102 - names are checked
    linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    made: Callable[..., Any] = scope[name]
    return made


def parameter_list(fields: Mapping[str, tuple[Any, Any]]) -> str:
    """The parameters as they stand in the source."""
    return ", ".join(
        name if value is ... else f"{name}={value!r}" for name, (_, value) in fields.items()
    )


def docstring(tool: Tool) -> str:
    """The tool's description and its parameters', in Google's style, which all peers read."""
    properties = tool.parameters.get("properties", {})
    lines = [one_line(tool.description) or "A tool."]
    if properties:
        lines += ["", "    Args:"]
        lines += [f"        {name}: {one_line(described(properties[name]))}" for name in properties]
        lines += ["    "]
    return "\n".join(lines)


def described(schema: Any) -> str:
    """A schema's description."""
    return str(schema.get("description", "A value.")) if isinstance(schema, Mapping) else "A value."


def one_line(text: str) -> str:
    """A text that can stand in one line of a docstring."""
    return " ".join(text.split()).replace("\\", "/").replace('"', "'")
