"""A tool in a provider's words, and a model's arguments back from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import msgspec

from toolstile.dialects.account import LEADING, Loss, Rewrite
from toolstile.dialects.codec import (
    ARGUMENTS,
    LIMITS,
    Codec,
    Coder,
    Unreadable,
    Whole,
    changes,
)
from toolstile.dialects.dialect import Dialect
from toolstile.dialects.measure import Measure, beyond, measure
from toolstile.dialects.tables import DIALECTS
from toolstile.dialects.tokens import estimate
from toolstile.dialects.trail import Said
from toolstile.dialects.writer import TooLarge, Writer
from toolstile.errors import SchemaValidationError, UnknownDialectError
from toolstile.model.canonical import digest_bytes
from toolstile.model.definition import ToolDefinition
from toolstile.model.json import JsonObject, JsonValue, freeze
from toolstile.schema.compiled import Checked, arguments_of, compiled
from toolstile.schema.extensions import NO_EXTENSIONS, Extensions
from toolstile.schema.keywords import asserts
from toolstile.schema.parse import ParseFault, check_value, parse


class Export(msgspec.Struct, frozen=True, kw_only=True, dict=True, eq=False):
    """One tool in one dialect.

    `document` is what the provider is sent, `measure` how large it is in what that counts. `losses`
    are the constraints that it does not say, and that are therefore enforced only here; `holds`
    tells whether the provider enforces the others. `rewrites` are what it says in another form,
    which `check` undoes.
    """

    definition: ToolDefinition
    dialect: str
    document: Mapping[str, Any]
    holds: bool
    losses: tuple[Loss, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    measure: Measure
    codec: Codec = None
    shelf: Mapping[str, Codec] = {}
    extensions: Extensions = NO_EXTENSIONS

    @cached_property
    def json(self) -> bytes:
        """The document as compact UTF-8 JSON: the same bytes for the same definition, always."""
        text = json.dumps(self.document, ensure_ascii=False, separators=(",", ":"))
        return text.encode()

    @cached_property
    def digest(self) -> str:
        """`sha256:` over these bytes."""
        return digest_bytes(self.json)

    @cached_property
    def tokens(self) -> int:
        """About how many tokens of a model's context the document takes."""
        return estimate(self.json.decode())

    @cached_property
    def changes_arguments(self) -> bool:
        """Whether arguments have another form in this dialect."""
        return changes(self.codec, self.shelf)

    @cached_property
    def _coder(self) -> Coder:
        return Coder(self.codec, self.shelf)

    def to_provider(self, arguments: JsonObject) -> JsonValue:
        """Valid arguments as the model would have sent them, for a history that is replayed.

        Raises:
            SchemaValidationError: they are no JSON, or nothing that the tool takes.
        """
        try:
            plain = check_value(arguments)
            return self._coder.forth(plain) if self.changes_arguments else plain
        except (ParseFault, Unreadable) as error:
            raise SchemaValidationError(self.definition.name, (error.issue,)) from None

    def from_provider(self, raw: bytes | str | JsonObject) -> bytes | str | JsonValue:
        """What a model has sent as the tool's own arguments, not checked yet.

        Raises:
            SchemaValidationError: it has not the form that the document asks for.
        """
        return self._read(raw).unwrap()

    def check(self, raw: bytes | str | JsonObject) -> Checked:
        """Do the arguments that a model has sent fit? `value` is what the tool is called with."""
        read = self._read(raw)
        if not read.ok:
            return read
        checked = arguments_of(self.definition, self.extensions).check(read.value)
        return msgspec.structs.replace(checked, tool=self.definition.name)

    def _read(self, raw: bytes | str | JsonObject) -> Checked:
        # Some models send nothing at all where a tool has no parameters (seed-rows 33).
        if raw in (b"", "") and not self.measure.properties:
            return Checked(True, "{}")
        if not self.changes_arguments:
            return Checked(True, raw, tool=self.definition.name)
        try:
            if isinstance(raw, (bytes, str)):
                value = parse(raw, LIMITS)
            else:
                value = check_value(raw, LIMITS)
            return Checked(True, self._coder.back(value), tool=self.definition.name)
        except (ParseFault, Unreadable) as error:
            return Checked(False, None, (error.issue,), 1, self.definition.name)


class Exported(msgspec.Struct, frozen=True):
    """Several tools in one dialect, and what a request with all of them would be refused for."""

    exports: tuple[Export, ...]
    warnings: tuple[str, ...]


# For a schema that would get too long: any object, or all arguments as one text.
ANY_OBJECT = Said({"type": "object", "properties": {}})
WHOLE_TEXT = Said(
    {
        "type": "object",
        "properties": {
            ARGUMENTS: {"type": "string", "description": "All arguments, as JSON text."}
        },
        "required": [ARGUMENTS],
        "additionalProperties": False,
    },
    Whole(),
)


def export(
    definition: ToolDefinition, to: str | Dialect, extensions: Extensions = NO_EXTENSIONS
) -> Export:
    """A canonical definition in a provider's words. `extensions` are the formats and keywords of
    packages that it was defined with.

    Raises:
        UnknownDialectError: there is none of that name.
    """
    dialect = dialect_of(to) if isinstance(to, str) else to
    judge = arguments_of(definition, extensions).judge()
    writer = Writer(
        definition.parameters, dialect, judge, prefix="/parameters", owner=definition.name
    )
    try:
        said, codecs = writer.document(), writer.codecs
        losses, rewrites = writer.account.losses, writer.account.rewrites
    except TooLarge:
        said, codecs = (ANY_OBJECT if dialect.free_values else WHOLE_TEXT), {}
        losses, rewrites = _all_lost(definition), ()
    output, unsaid = _output(definition, dialect, extensions)
    return Export(
        definition=definition,
        dialect=dialect.name,
        document=freeze(dialect.wrap(definition, said.schema) | output),
        holds=dialect.holds,
        losses=(*losses, *unsaid),
        rewrites=rewrites,
        measure=measure(said.schema),
        codec=said.codec,
        shelf=codecs,
        extensions=extensions,
    )


def export_all(
    definitions: Iterable[ToolDefinition],
    to: str | Dialect,
    extensions: Extensions = NO_EXTENSIONS,
) -> Exported:
    """Tools for one request, in the order given.

    Raises:
        UnknownDialectError: there is no dialect of that name.
    """
    dialect = dialect_of(to) if isinstance(to, str) else to
    exports = tuple(export(definition, dialect, extensions) for definition in definitions)
    return Exported(exports, tuple(beyond(dialect, [each.measure for each in exports])))


def _all_lost(definition: ToolDefinition) -> tuple[Loss, ...]:
    """The report on a schema that would get too long: nothing of it is said."""
    text = "the schema would get too long here, and nothing of it is said"
    names = sorted(n for n in definition.parameters if asserts(n) and n not in LEADING)
    return tuple(Loss(path="/parameters", keyword=name, text=text) for name in names)


def _output(
    definition: ToolDefinition, dialect: Dialect, extensions: Extensions
) -> tuple[dict[str, Any], tuple[Loss, ...]]:
    """The schema of the output, for the dialects that have it."""
    schema = definition.output_schema
    if schema is None or dialect.output_name is None:
        return {}, ()
    if schema.get("type") != "object":  # clients of MCP 2025-11-25 take no other
        text = "the output is no object, and is described to nobody"
        return {}, (Loss(path="/output_schema", keyword="type", text=text),)
    judge = compiled(schema, extensions).judge()
    writer = Writer(schema, dialect, judge, prefix="/output_schema", owner=definition.name)
    try:
        return {dialect.output_name: writer.document().schema}, writer.account.losses
    except TooLarge:
        text = "the schema would get too long here, so the output is described to nobody"
        return {}, (Loss(path="/output_schema", keyword="type", text=text),)


def dialect_of(name: str) -> Dialect:
    """The dialect of that name.

    Raises:
        UnknownDialectError: there is none.
    """
    if name not in DIALECTS:
        raise UnknownDialectError(name, tuple(DIALECTS))
    return DIALECTS[name]
