"""What one provider takes, as a table that the compiler reads. The tables are in `tables.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from toolstile.model.definition import ToolDefinition
from toolstile.model.json import JsonValue
from toolstile.schema.keywords import ANNOTATIONS, KEYWORDS, asserts

Takes = Callable[[Any], bool]
"""Whether a keyword may stand with this value."""

Wrap = Callable[[ToolDefinition, dict[str, Any]], dict[str, Any]]
"""The document that a provider is sent, around the schema of the arguments."""

NONE: frozenset[str] = frozenset()
ANY_NAME = re.compile(r"[\s\S]*")


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How much a provider takes; None where it names no number. Those of a request hold for all
    tools of it together."""

    properties: int | None = None
    enum_values: int | None = None
    characters: int | None = None
    tools_of_request: int | None = None
    optional_of_request: int | None = None
    unions_of_request: int | None = None


class Dialect(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """How tools are described to one kind of model.

    `holds`: to what the document says, the model is held while it writes; else it only reads it.
    `keywords`: what may keep a value out here, each with the values it may stand with. `apart`:
    the keywords beside which another one cannot stand. `closed`: no object takes a name that it
    does not declare. `all_required`: every declared member must be there, so one that may be left
    out is null instead. `complete`: every object lists its properties and every array its items, if
    there are none. `plain_root`: the outermost schema has no combinators. `bare_references`:
    nothing stands beside `$ref`. `required_declared`: what must be there is declared in the same
    place. `free_values`: a schema may take any value at all. `booleans`:
    true and false may stand for schemas. `mixed_types`: one schema may describe objects or arrays
    along with other types than null. `recursive`: references may come back to where they stand.
    `own_shelf`: what is referred to is named after the tool, because the shelves of all tools
    become one. `output_name`: under which name the document has the schema of the output.
    """

    name: str
    about: str
    wrap: Wrap
    keywords: Mapping[str, Takes]
    annotations: frozenset[str]
    apart: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    holds: bool = False
    member_name: re.Pattern[str] = ANY_NAME
    closed: bool = False
    all_required: bool = False
    complete: bool = False
    plain_root: bool = False
    bare_references: bool = False
    required_declared: bool = False
    free_values: bool = True
    booleans: bool = True
    mixed_types: bool = True
    recursive: bool = True
    own_shelf: bool = False
    output_name: str | None = None
    max_depth: int = 64
    bounds: Bounds = Bounds()

    def rewrites(self, names: Iterable[str]) -> bool:
        """Whether values of a schema with these names of members may get another form."""
        return self.closed or not all(map(self.member_name.fullmatch, names))

    def takes(self, keyword: str, value: JsonValue) -> bool:
        """Whether a keyword that may keep a value out can stand with this value."""
        test = self.keywords.get(keyword)
        return test is not None and test(value)

    def joins(self, keyword: str, others: Iterable[str]) -> bool:
        """Whether a keyword can stand beside these."""
        return not self.apart.get(keyword, NONE) & set(others)

    def says(self, keyword: str) -> bool:
        """Whether an annotation is passed on."""
        return keyword in self.annotations


def always(value: JsonValue) -> bool:
    """Any value that the keyword may have."""
    return True


def words(text: str) -> dict[str, Takes]:
    """Keywords that may stand with any value."""
    return dict.fromkeys(text.split(), always)


EVERY_KEYWORD: Mapping[str, Takes] = {name: always for name in KEYWORDS if asserts(name)}
# Comments are for whoever maintains a schema, and not for others.
EVERY_ANNOTATION = ANNOTATIONS - {"$schema", "$comment", "contentSchema"}
