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
from toolstile.model.issue import Issue, pointer
from toolstile.model.json import describe
from toolstile.schema import drafts
from toolstile.schema.acceptance import check_schema
from toolstile.schema.bounds import PARAMETERS, readable_bounds
from toolstile.schema.closing import Root, at, closing_keyword
from toolstile.schema.defining import STANDARD, Vocabulary, inspect
from toolstile.schema.fields import HIDDEN, MAX_DESCRIPTION, RESERVED
from toolstile.schema.formats import FORMATS
from toolstile.schema.issue import fault
from toolstile.schema.keywords import KEYWORDS, Role, type_names
from toolstile.schema.lint import lint
from toolstile.schema.parse import ParseFault, check_value
from toolstile.schema.pattern.lookahead import without_lookahead
from toolstile.schema.places import Place, Places, walk
from toolstile.schema.readable import unreadable
from toolstile.schema.rules import DECLARES_ITEMS, DECLARES_MEMBERS, FIXED, groups, is_typed

# Every JSON type, written as small as the meaning allows (integers are numbers).
ANY_TYPE = ["array", "boolean", "null", "number", "object", "string"]


# Every field that is read, or known to be no fact about the parameters.
READ = frozenset(
    """name title description version annotations outputSchema output_schema type function strict
    cache_control icons execution _meta""".split()
) | frozenset(PARAMETERS)
# Keywords that decide nothing, and what they must be.
TEXTS_AND_FLAGS: dict[str, type] = {
    **dict.fromkeys(("title", "description", "$comment"), str),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), str),
    **dict.fromkeys(("deprecated", "readOnly", "writeOnly"), bool),
    "examples": list,
}

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
    # What is no object at all is told by the reader below, in the words of tools.
    endless = [issue for issue in unreadable(foreign) if issue.path]
    if endless:
        raise DefinitionError("", endless)
    adoption = _Adoption(open_objects=open_objects)
    document = adoption.document(_plain(readable_bounds(foreign, adoption.note)))
    inspected = inspect(document, vocabulary)
    issues = [*adoption.issues, *inspected.issues]
    if inspected.definition is None or issues:
        raise DefinitionError(str(document.get("name", ""))[:64], issues)
    return Adopted(inspected.definition, tuple(adoption.changes), inspected.warnings)


def _plain(foreign: Any) -> dict[str, Any]:
    try:
        plain = check_value(foreign)
    except ParseFault as error:
        found = error.about("the definition")
        issue = fault(found.path, found.code, found.message, found.hint or "")
        raise DefinitionError("", (issue,)) from None
    if not isinstance(plain, dict):
        hint = "give the object that has 'name', 'description' and the schema"
        issue = fault("", "type", f"a tool is an object, not {describe(plain)}", hint)
        raise DefinitionError("", (issue,))
    return plain


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
        self._unread(tool)
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

    def _unread(self, tool: dict[str, Any]) -> None:
        """Fields that mean nothing here are told; what may be the parameters is not passed over."""
        silent = not any(field in tool for field in PARAMETERS)
        for field in sorted(tool.keys() - READ):
            if silent and isinstance(tool[field], dict | list) and not field.startswith("_"):
                reason = "a field that may hold the parameters, in a form that is not known here"
                hint = "give them as 'parameters': a JSON Schema, or a list of parameters"
                self.issues.append(fault(pointer(field), "unknown_field", reason, hint))
            else:
                self.note(pointer(field), "unknown_field", "dropped: the field has no meaning here")

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
            self.note("/description", "description", "missing: the name is used instead")
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
        if "$schema" in schema and draft != drafts.TODAY:
            self.note(f"{path}/$schema", "draft", "translated to 2020-12")
        schema.pop("$schema", None)
        places = [place for place in walk(schema) if isinstance(place.schema, dict)]
        self._names_of_places(path, places, draft)
        for place in places:
            self._keywords(path + place.pointer, place)
        if not lint_shape(schema) and all(map(_is_readable, walk(schema))):
            self._complete(path, Places(schema))
            self._contradictions(path, schema, root)
            self._closed(path, schema, root)
        return schema

    def _below(self, path: str) -> drafts.Note:
        return lambda below, code, text: self.note(path + below, code, text)

    def _names_of_places(self, path: str, places: list[Place], draft: int) -> None:
        """Drop the `$id` that older generators write and nothing refers to, and the draft that a
        part names again."""
        # What is no text leads nowhere, and no writing of it begins as one that leads inside.
        references = {str(place.rules["$ref"]) for place in places if "$ref" in place.rules}
        inner = all(each.startswith("#") for each in references)
        for place in places:
            named = place.rules.get("$id")
            # "#..." names just this place; another one is where the references below begin.
            is_root = place.parent is None and inner
            if isinstance(named, str) and (
                (named.startswith("#") and named not in references)
                or (is_root and named.endswith("#"))
            ):
                del place.schema["$id"]
                self.note(f"{path}{place.pointer}/$id", "$id", "dropped: nothing refers to it")
            said = drafts.draft_of(place.schema)
            alike = said == draft or (said is not None and draft == drafts.UNNAMED)
            if "$schema" in place.rules and "$id" not in place.rules and alike:
                del place.schema["$schema"]
                self.note(f"{path}{place.pointer}/$schema", "draft", "dropped: the whole is in one")

    def _keywords(self, path: str, place: Place) -> None:
        rules = place.schema
        for name in list(rules):
            if name == "x-toolstile":  # what a call takes is for whoever answers for it to say
                rules["x-foreign-toolstile"] = rules.pop(name)
                self.note(
                    f"{path}/{name}", "x-toolstile", "kept as a note: a foreign mark is not obeyed"
                )
            elif name not in KEYWORDS and not name.startswith("x-"):
                rules[f"x-{name.lstrip('$')}"] = rules.pop(name)
                where = path + pointer(name)
                self.note(where, "unknown_keyword", "kept as a note: it checks nothing")
        if isinstance(rules.get("format"), str) and rules["format"] not in FORMATS:
            rules["x-format"] = rules.pop("format")
            self.note(f"{path}/format", "format", "kept as a note: no such format is known")
        self._annotations(path, rules)
        for name in ("enum", "required"):
            if isinstance(rules.get(name), list):
                self._distinct(path, rules, name)
        if isinstance(rules.get("pattern"), str):
            self._lookahead(path, rules)

    def _annotations(self, path: str, rules: dict[str, Any]) -> None:
        """Texts and examples decide nothing, so a wrong one is no reason to refuse."""
        for name, kind in TEXTS_AND_FLAGS.items():
            if name in rules and not isinstance(rules[name], kind):
                rules[f"x-{name.lstrip('$')}"] = rules.pop(name)
                self.note(f"{path}/{name}", name, "kept as a note: it is not what it must be")
        for name in ("title", "description"):
            if name in rules:
                rules[name] = self._text(f"{path}/{name}", rules[name])

    def _lookahead(self, path: str, rules: dict[str, Any]) -> None:
        leading = without_lookahead(rules["pattern"])
        beside = rules.get("allOf", [])
        if leading is None or not isinstance(beside, list):
            return
        must = [{"pattern": each} for each in leading.must]
        must_not = [{"not": {"type": "string", "pattern": each}} for each in leading.must_not]
        rules["allOf"] = [*beside, *must, *must_not]
        rules["pattern"] = leading.pattern
        self.note(f"{path}/pattern", "pattern", "its lookaheads are written as patterns in allOf")

    def _distinct(self, path: str, rules: dict[str, Any], name: str) -> None:
        distinct = list({canonical(value): value for value in rules[name]}.values())
        if len(distinct) != len(rules[name]):
            rules[name] = distinct
            self.note(f"{path}/{name}", name, "duplicates removed")

    def _complete(self, path: str, places: Places) -> None:
        """Write out what the foreign schema left open, so that it can be enforced as meant."""
        found = list(groups(places))
        # Where an object says what else it takes, declaring a name would take it from there.
        told = {p.pointer for g in found if any(map(_says_more, g)) for p in g}
        for group in found:
            self._required(path, [place for place in group if place.pointer not in told])
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
                below = places.by_pointer.get(place.pointer + pointer("properties", name))
                if (
                    below is None
                    or is_typed(places, below)
                    or self._typed_elsewhere(places, group, name)
                ):
                    continue
                where = f"{path}{below.pointer}"
                self.note(where, "type", "it said no type: every type is written out")
                if isinstance(schema, dict):
                    schema["type"] = list(ANY_TYPE)  # what it takes of objects is `_silent`'s
                else:
                    place.schema["properties"][name] = _anything()

    def _typed_elsewhere(self, places: Places, group: list[Place], name: str) -> bool:
        below = (places.by_pointer.get(p.pointer + pointer("properties", name)) for p in group)
        return any(place is not None and is_typed(places, place) for place in below)

    def _silent(self, path: str, places: Places, group: list[Place]) -> None:
        said = {keyword for place in group for keyword in place.rules}
        for place in group:
            types = type_names(place.rules)
            where = path + place.pointer
            if "array" in types and not said & (DECLARES_ITEMS | FIXED):
                place.schema["items"] = True
                self.note(where, "items", "items of any kind, written as 'items': true")
            if "object" not in types:
                continue
            if group[0].pointer and not said & (DECLARES_MEMBERS | FIXED):
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
                where = path + pointer("properties", name, "default")
                self.note(where, "default", "dropped: the property is required")

    def _closed(self, path: str, schema: dict[str, Any], root: Root) -> None:
        """Say what `inspect` is going to close: foreign objects are open unless they say so.

        What `oneOf` counts stays open: closed, a value may fit one alternative where it fitted two.
        """
        places = Places(schema)
        counted = _counted(places)
        for place in places:
            keyword = closing_keyword(places, place, root)
            if keyword is not None and place.pointer in counted:
                place.schema[keyword] = True
                self.note(
                    f"{path}{place.pointer}/{keyword}",
                    keyword,
                    "left open: closed, it could change what oneOf counts",
                )
            elif keyword is not None:
                silent = not place.pointer and not any(map(place.rules.get, DECLARES_MEMBERS))
                text = NO_PARAMETERS if silent and not places.branches(place) else CLOSED
                self.note(f"{path}{place.pointer}/{keyword}", keyword, text)

    def _contradictions(self, path: str, schema: dict[str, Any], root: Root) -> None:
        """Drop defaults and enum values that their own schema refuses: nothing ever took them."""
        impossible: dict[str, set[int]] = {}
        for issue in check_schema(schema, root):
            parent, _, last = issue.path.rpartition("/")
            if issue.code == "default" and last == "default":
                rules = at(schema, parent)
                rules["x-default"] = rules.pop("default")
                self.note(path + issue.path, "default", "dropped: its own schema refuses it")
            elif issue.code == "enum" and last.isdigit():
                impossible.setdefault(parent.rpartition("/")[0], set()).add(int(last))
        for where, indices in impossible.items():
            rules = at(schema, where)
            if len(indices) == len(rules["enum"]):
                continue  # nothing would be left: refused, value by value
            for index in sorted(indices):
                text = "dropped: its own schema refuses it"
                self.note(f"{path}{where}/enum/{index}", "enum", text)
            rules["enum"] = [v for index, v in enumerate(rules["enum"]) if index not in indices]


def lint_shape(schema: dict[str, Any]) -> tuple[Issue, ...]:
    """The faults that make completing a schema pointless; `inspect` reports them."""
    return tuple(issue for issue in lint(schema) if issue.code not in _COMPLETABLE)


def _is_readable(place: Place) -> bool:
    """True where the keywords that are read here are what they must be; `inspect` says if not."""
    properties, required = place.rules.get("properties", {}), place.rules.get("required", [])
    return (
        isinstance(properties, dict)
        and isinstance(required, list)
        and all(isinstance(name, str) for name in required)
    )


_COMPLETABLE = frozenset(("type", "required", "items", "properties", "default"))


def _parameters(tool: dict[str, Any]) -> Any:
    for name in PARAMETERS:
        if name in tool:
            return _of_one_type(tool[name])
    return {"type": "object", "properties": {}}


def _of_one_type(schema: Any) -> Any:
    """`["object"]` for `object`, at the root, where there is no other type."""
    if isinstance(schema, dict) and schema.get("type") == ["object"]:
        return {**schema, "type": "object"}
    return schema


def _says_more(place: Place) -> bool:
    return bool((DECLARES_MEMBERS - {"properties"}) & place.rules.keys())


def _counted(places: Places) -> set[str]:
    """Everything that decides how many branches of a `oneOf` a value fits, where more than one
    may."""
    queue = [
        branch
        for place in places
        if "oneOf" in place.rules and not _is_tagged(places, place)
        for branch in places.children(place, Role.BRANCH)
        if branch.keyword == "oneOf"
    ]
    found: set[str] = set()
    while queue:
        place = queue.pop()
        if place.pointer not in found:
            found.add(place.pointer)
            queue += [*places.children(place, *Role), *places.targets(place)]
    return found


def _is_tagged(places: Places, place: Place) -> bool:
    """True where each branch demands another constant in the same member: at most one fits."""
    branches = [b for b in places.children(place, Role.BRANCH) if b.keyword == "oneOf"]
    tags = [_tags(places, branch) for branch in branches]
    names = set.intersection(*map(set, tags)) if tags else set()
    return any(len({tag[name] for tag in tags}) == len(tags) for name in names)


def _tags(places: Places, branch: Place) -> dict[str, bytes]:
    """The members that a branch demands and holds to one value, with that value."""
    found: dict[str, bytes] = {}
    for place in (branch, *places.targets(branch)):
        for name in place.rules.get("required", ()):
            rules = place.rules.get("properties", {}).get(name)
            said = rules if isinstance(rules, dict) else {}
            values = said.get("enum", [said["const"]] if "const" in said else [])
            if len(values) == 1:
                found[name] = canonical(values[0])
    return found


def _anything() -> dict[str, Any]:
    return {"type": list(ANY_TYPE), "items": True, "additionalProperties": True}
