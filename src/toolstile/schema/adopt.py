"""Foreign definitions come in by one door, and every change that makes them fit is listed.

Adoption may make a definition stricter, never looser: no call that the foreign schema refuses may
become valid. What cannot be adopted without changing its meaning is refused with its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from toolstile.errors import DefinitionError
from toolstile.model.canonical import canonical
from toolstile.model.definition import ToolDefinition
from toolstile.model.issue import Issue
from toolstile.model.json import thaw
from toolstile.schema import drafts
from toolstile.schema.acceptance import check_schema
from toolstile.schema.closing import Root, at, closing_keyword
from toolstile.schema.defining import STANDARD, Vocabulary, inspect
from toolstile.schema.fields import _HIDDEN as HIDDEN
from toolstile.schema.fields import MAX_DESCRIPTION, RESERVED
from toolstile.schema.issue import fault
from toolstile.schema.keywords import FORMATS, KEYWORDS, type_names
from toolstile.schema.lint import lint
from toolstile.schema.places import Place, Places, walk
from toolstile.schema.rules import DECLARES_ITEMS, DECLARES_MEMBERS, FIXED, groups, is_typed

# Every JSON type, written as small as the meaning allows (integers are numbers).
ANY_TYPE = ["array", "boolean", "null", "number", "object", "string"]


CLOSED = "closed: what it does not declare is refused"
NO_PARAMETERS = "closed: it declares no parameters, so only {} is taken"


class AdoptionChange(msgspec.Struct, frozen=True):
    """One change: where in the foreign definition, which kind, what was done."""

    path: str
    code: str
    text: str


class Adopted(msgspec.Struct, frozen=True):
    """A foreign definition made fit, and everything that was changed on the way."""

    definition: ToolDefinition
    changes: tuple[AdoptionChange, ...] = ()
    warnings: tuple[Issue, ...] = ()


def adopt(
    foreign: Mapping[str, Any],
    *,
    open_objects: bool = False,
    vocabulary: Vocabulary = STANDARD,
) -> Adopted:
    """A tool of an MCP server, a provider's function format or an older draft.

    `open_objects` keeps objects open that did not say whether they are; by default they are
    closed, because what nobody declared is what nobody checks.

    Raises:
        DefinitionError: it cannot be adopted without changing its meaning.
    """
    adoption = _Adoption(open_objects=open_objects)
    document = adoption.document(thaw(foreign))
    inspected = inspect(document, vocabulary)
    issues = [*adoption.issues, *inspected.issues]
    if inspected.definition is None or issues:
        raise DefinitionError(str(foreign.get("name", ""))[:64], issues)
    return Adopted(inspected.definition, tuple(adoption.changes), inspected.warnings)


class _Adoption:
    """Collects the changes while one definition is rewritten."""

    def __init__(self, *, open_objects: bool) -> None:
        self.open_objects = open_objects
        self.changes: list[AdoptionChange] = []
        self.issues: list[Issue] = []

    def note(self, path: str, code: str, text: str) -> None:
        self.changes.append(AdoptionChange(path, code, text))

    def document(self, foreign: dict[str, Any]) -> dict[str, Any]:
        inner = foreign.get("function")  # OpenAI's Chat form wraps the definition
        tool: dict[str, Any] = inner if isinstance(inner, dict) else foreign
        name = self._name(tool.get("name"))
        document = {
            "name": name,
            "description": self._description(tool, name),
            "parameters": self._schema("/parameters", _parameters(tool), Root.ARGUMENTS),
        }
        output = tool.get("outputSchema", tool.get("output_schema"))
        if output is not None:
            document["output_schema"] = self._schema("/output_schema", output, Root.OUTPUT)
        if isinstance(tool.get("version"), str):
            document["version"] = tool["version"]
        # Hints of a stranger's are notes, never facts (MCP: clients must not trust them).
        if isinstance(tool.get("annotations"), dict):
            document["metadata"] = {"annotations": tool["annotations"]}
        return document

    def _name(self, written: Any) -> Any:
        if not isinstance(written, str):
            return written
        name = re.sub(r"[^a-z0-9_]+", "_", written.lower()).strip("_")[:64].rstrip("_")
        if name[:1].isdigit():
            name = f"t_{name}"[:64]
        if name in RESERVED:
            name = f"{name}_tool"
        if name != written:
            self.note("/name", "name", f"renamed to '{name}'")
        return name

    def _description(self, tool: dict[str, Any], name: Any) -> Any:
        text = tool.get("description") or tool.get("title")
        if text is None or (isinstance(text, str) and not text.strip()):
            self.note("/description", "description", "missing: the name stands in")
            return str(name).replace("_", " ") or "unnamed"
        return self._text("/description", text)

    def _text(self, path: str, text: Any) -> Any:
        if not isinstance(text, str):
            return text
        clean = HIDDEN.sub("", text)
        if clean != text:
            self.note(path, "hidden_unicode", "invisible characters removed")
        if len(clean) > MAX_DESCRIPTION:
            self.note(path, "description", f"cut to {MAX_DESCRIPTION} characters")
            clean = clean[: MAX_DESCRIPTION - 1] + "…"
        return clean

    # --- schemas ---------------------------------------------------------------------------

    def _schema(self, path: str, foreign: Any, root: Root) -> Any:
        if not isinstance(foreign, dict):
            return foreign
        draft = drafts.draft_of(foreign)
        if draft is None:
            hint = "convert it to draft 2020-12 first"
            self.issues.append(fault(f"{path}/$schema", "$schema", "unknown dialect", hint))
            return foreign
        schema = drafts.modernise(foreign, draft, self._below(path))
        if "$schema" in schema and drafts.OLDER[schema["$schema"].rstrip("#")] != 2020:
            self.note(f"{path}/$schema", "draft", "translated to 2020-12")
        schema.pop("$schema", None)
        for place in list(walk(schema)):
            if isinstance(place.schema, dict):
                self._keywords(path + place.pointer, place)
        if not lint_shape(schema) and all(map(_is_readable, walk(schema))):
            self._complete(path, Places(schema))
            self._contradictions(path, schema, root)
            self._closed(path, schema, root)
        return schema

    def _below(self, path: str) -> drafts.Note:
        return lambda pointer, code, text: self.note(path + pointer, code, text)

    def _keywords(self, path: str, place: Place) -> None:
        rules = place.schema
        for name in list(rules):
            if name not in KEYWORDS and not name.startswith("x-"):
                rules[f"x-{name.lstrip('$')}"] = rules.pop(name)
                self.note(f"{path}/{name}", "unknown_keyword", "kept as a note: it checks nothing")
        if "format" in rules and rules["format"] not in FORMATS:
            rules["x-format"] = rules.pop("format")
            self.note(f"{path}/format", "format", "kept as a note: no such format is known")
        for name in ("title", "description"):
            if name in rules:
                rules[name] = self._text(f"{path}/{name}", rules[name])
        if isinstance(rules.get("enum"), list):
            self._distinct(path, rules)

    def _distinct(self, path: str, rules: dict[str, Any]) -> None:
        try:
            distinct = list({canonical(value): value for value in rules["enum"]}.values())
        except ValueError:  # not JSON: the lint says so
            return
        if len(distinct) != len(rules["enum"]):
            rules["enum"] = distinct
            self.note(f"{path}/enum", "enum", "duplicates removed")

    def _complete(self, path: str, places: Places) -> None:
        """Write out what the foreign schema left open, so that it can be enforced as meant."""
        for group in list(groups(places)):
            self._required(path, group)
            self._types(path, places, group)
            self._silent(path, places, group)
        for place in places:
            if isinstance(place.schema, dict):
                self._defaults(path + place.pointer, place.schema)

    def _required(self, path: str, group: list[Place]) -> None:
        declared = {name for place in group for name in place.rules.get("properties", ())}
        for place in group:
            for name in place.rules.get("required", ()):
                if name not in declared:
                    declared.add(name)
                    place.schema.setdefault("properties", {})[name] = _anything()
                    where = f"{path}{place.pointer}/required"
                    self.note(where, "required", f"declared '{name[:64]}': any value")

    def _types(self, path: str, places: Places, group: list[Place]) -> None:
        for place in group:
            for name, schema in place.rules.get("properties", {}).items():
                below = places.by_pointer.get(f"{place.pointer}/properties/{_escaped(name)}")
                if (
                    below is None
                    or is_typed(places, below)
                    or self._typed_elsewhere(places, group, name)
                ):
                    continue
                where = f"{path}{below.pointer}"
                self.note(where, "type", "it said no type: every type is written out")
                if isinstance(schema, dict):
                    schema.update({**_anything(), **schema})
                else:
                    place.schema["properties"][name] = _anything()

    def _typed_elsewhere(self, places: Places, group: list[Place], name: str) -> bool:
        pointers = (f"{place.pointer}/properties/{_escaped(name)}" for place in group)
        return any(
            is_typed(places, places.by_pointer[pointer])
            for pointer in pointers
            if pointer in places.by_pointer
        )

    def _silent(self, path: str, places: Places, group: list[Place]) -> None:
        said = {keyword for place in group for keyword in place.rules}
        for place in group:
            types = type_names(place.rules)
            where = path + place.pointer
            if "array" in types and not said & (DECLARES_ITEMS | FIXED):
                place.schema["items"] = True
                self.note(where, "items", "items of any kind, written as 'items': true")
            if "object" not in types or not group[0].pointer:
                continue
            if not said & (DECLARES_MEMBERS | FIXED):
                place.schema["additionalProperties"] = True
                self.note(where, "additionalProperties", "free-form object, written as open")
            elif self.open_objects and "properties" in said and place is group[0]:
                self._open(where, places, place, said)

    def _open(self, where: str, places: Places, place: Place, said: set[str]) -> None:
        if not said & {"additionalProperties", "unevaluatedProperties"}:
            keyword = "unevaluatedProperties" if places.branches(place) else "additionalProperties"
            place.schema[keyword] = True
            self.note(where, keyword, "left open, as it was")

    def _defaults(self, path: str, rules: dict[str, Any]) -> None:
        for name in rules.get("required", ()):
            schema = rules.get("properties", {}).get(name)
            if isinstance(schema, dict) and "default" in schema:
                schema["x-default"] = schema.pop("default")
                where = f"{path}/properties/{_escaped(name)}/default"
                self.note(where, "default", "dropped: the property is required")

    def _closed(self, path: str, schema: dict[str, Any], root: Root) -> None:
        """Say what `inspect` is going to close: foreign objects are open unless they say so."""
        places = Places(schema)
        for place in places:
            keyword = closing_keyword(places, place, root)
            if keyword is not None:
                silent = not place.pointer and not any(map(place.rules.get, DECLARES_MEMBERS))
                text = NO_PARAMETERS if silent and not places.branches(place) else CLOSED
                self.note(f"{path}{place.pointer}/{keyword}", keyword, text)

    def _contradictions(self, path: str, schema: dict[str, Any], root: Root) -> None:
        """Drop defaults and enum values that their own schema refuses: nothing ever took them."""
        impossible: list[tuple[dict[str, Any], Any]] = []
        for issue in check_schema(schema, root):
            parent, _, last = issue.path.rpartition("/")
            if issue.code == "default" and last == "default":
                rules = at(schema, parent)
                rules["x-default"] = rules.pop("default")
                self.note(path + issue.path, "default", "dropped: its own schema refuses it")
            elif issue.code == "enum" and last.isdigit():
                rules = at(schema, parent.rpartition("/")[0])
                impossible.append((rules, rules["enum"][int(last)]))
                self.note(path + issue.path, "enum", "dropped: its own schema refuses it")
        for rules, value in impossible:
            rules["enum"] = [kept for kept in rules["enum"] if kept is not value]


def lint_shape(schema: dict[str, Any]) -> tuple[Issue, ...]:
    """The faults that make completing a schema pointless; `inspect` reports them."""
    return tuple(issue for issue in lint(schema) if issue.code not in _COMPLETABLE)


def _is_readable(place: Place) -> bool:
    """True where the keywords that are read here are what they must be; `inspect` says if not."""
    properties, required = (place.rules.get(name) for name in ("properties", "required"))
    names = required if isinstance(required, list) else [required]
    return isinstance(properties, dict | None) and (
        required is None or all(isinstance(name, str) for name in names)
    )


_COMPLETABLE = frozenset(("type", "required", "items", "properties", "default"))


def _parameters(tool: dict[str, Any]) -> Any:
    for name in ("inputSchema", "input_schema", "parameters", "parametersJsonSchema"):
        if name in tool:
            return tool[name]
    return {"type": "object", "properties": {}}


def _anything() -> dict[str, Any]:
    return {"type": list(ANY_TYPE), "items": True, "additionalProperties": True}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
