"""Older drafts of JSON Schema in the words of 2020-12.

Only what changes the meaning is translated; anything left over is an unknown keyword, which
adoption keeps as a note or refuses. A schema that does not name its draft is read as 2020-12, and
where it uses words that 2020-12 gives no meaning (`definitions`, `dependencies`, a list of `items`,
`required: true`) as whoever wrote them meant them: that is never looser.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from toolstile.model.issue import pointer
from toolstile.schema.keywords import ANNOTATIONS, DIALECT, KEYWORDS, Shape

Note = Callable[[str, str, str], None]
"""Tells of a change: pointer, code, what was done."""

TODAY = 2020
UNNAMED = 9999
"""No draft is named: every keyword of today counts, and those of older drafts are translated."""

# Met with either scheme, and with an empty fragment or without.
OLDER = {
    "//json-schema.org/draft-04/schema": 4,
    "//json-schema.org/draft-06/schema": 6,
    "//json-schema.org/draft-07/schema": 7,
    "//json-schema.org/draft/2019-09/schema": 2019,
    DIALECT.removeprefix("https:"): TODAY,
    # "Whichever is the newest", which once was another; and what somebody left empty.
    "//json-schema.org/schema": UNNAMED,
    "": UNNAMED,
}

# What holds subschemas in any draft, beyond today's keywords.
_OLD_MAPS = ("definitions",)

# The draft that brought a keyword. An older one passes over it, and whoever enforced it would
# loosen what stands around it: within `not`, say, or among the alternatives of `oneOf`.
_SINCE = {
    **dict.fromkeys(("const", "contains", "propertyNames", "$id"), 6),
    **dict.fromkeys(("if", "then", "else"), 7),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "minContains", "maxContains"), 2019),
    **dict.fromkeys(
        ("unevaluatedItems", "unevaluatedProperties", "$anchor", "$recursiveRef"), 2019
    ),
    **dict.fromkeys(("prefixItems", "$dynamicRef", "$dynamicAnchor"), TODAY),
}
# Those that a draft has no longer, with the last that had them.
_UNTIL = {
    "dependencies": 7,
    "$recursiveRef": 2019,
    "$recursiveAnchor": 2019,
    "additionalItems": 2019,
}


def draft_of(schema: dict[str, Any]) -> int | None:
    """The draft a schema says it is written in; UNNAMED if it says nothing; None if unknown."""
    named = schema.get("$schema")
    if named is None:
        return UNNAMED
    if not isinstance(named, str):
        return None
    return OLDER.get(re.sub(r"^https?:|#$", "", named))


def modernise(schema: Any, draft: int, note: Note, path: str = "") -> Any:
    """The same schema in 2020-12. Values that are no schemas are left for the lint."""
    if not isinstance(schema, dict):
        return schema
    rules = dict(schema)
    if draft <= 7 and "$ref" in rules and len(rules) > 1:
        _drop_siblings(rules, note, path)
    _note_strangers(rules, draft, note, path)
    for translate in _ALWAYS if draft == TODAY else (*_ALWAYS, *_OLD):
        translate(rules, note, path)
    return {
        name: _below(name, value, draft, note, path + pointer(name))
        for name, value in rules.items()
    }


def _note_strangers(rules: dict[str, Any], draft: int, note: Note, path: str) -> None:
    """Keep as notes the keywords that the draft passes over. Where none is named, all count."""
    if draft == UNNAMED:
        return
    for name in list(rules):
        if draft < _SINCE.get(name, 0) or draft > _UNTIL.get(name, TODAY):
            rules[f"x-{name.lstrip('$')}"] = rules.pop(name)
            note(path + pointer(name), "draft", "kept as a note: its draft has no such keyword")


def _below(name: str, value: Any, draft: int, note: Note, path: str) -> Any:
    keyword = KEYWORDS.get(name)
    if keyword is None or keyword.role is None:
        return value
    if keyword.shape is Shape.SCHEMAS_BY_NAME and isinstance(value, dict):
        return {
            key: modernise(member, draft, note, path + pointer(key))
            for key, member in value.items()
        }
    if isinstance(value, list):
        return [modernise(m, draft, note, f"{path}/{i}") for i, m in enumerate(value)]
    return modernise(value, draft, note, path)


def _drop_siblings(rules: dict[str, Any], note: Note, path: str) -> None:
    # Before 2019-09 everything beside a $ref was ignored; enforcing it now would be a change.
    kept = {"$ref", "$defs", *_OLD_MAPS, *ANNOTATIONS}
    for name in [key for key in rules if key not in kept]:
        del rules[name]
        note(path + pointer(name), "draft", "dropped: it had no meaning beside $ref")


def _definitions(rules: dict[str, Any], note: Note, path: str) -> None:
    moved, beside = rules.get("definitions"), rules.get("$defs", {})
    if isinstance(moved, dict) and isinstance(beside, dict) and not moved.keys() & beside.keys():
        rules["$defs"] = {**rules.pop("definitions"), **beside}
        note(f"{path}/definitions", "draft", "renamed to $defs")


def _references(rules: dict[str, Any], note: Note, path: str) -> None:
    reference = rules.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/definitions/"):
        rules["$ref"] = "#/$defs/" + reference.removeprefix("#/definitions/")


def _required_members(rules: dict[str, Any], note: Note, path: str) -> None:
    """Draft 3, still met everywhere: each property says for itself that it is required."""
    members = rules.get("properties")
    if not isinstance(members, dict):
        return
    said = {n: m["required"] for n, m in members.items() if _says_it_is_required(m)}
    if not said:
        return
    rules["properties"] = {
        n: _without(m, "required") if n in said else m for n, m in members.items()
    }
    required = rules.get("required", [])
    wanted = [name for name, needed in said.items() if needed]
    if isinstance(required, list) and (required or wanted):
        rules["required"] = [*required, *(name for name in wanted if name not in required)]
    for name in said:
        where = path + pointer("properties", name, "required")
        note(where, "draft", "moved to the list of the object")


def _says_it_is_required(member: Any) -> bool:
    return isinstance(member, dict) and isinstance(member.get("required"), bool)


def _without(rules: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in rules.items() if key != name}


def _recursive(rules: dict[str, Any], note: Note, path: str) -> None:
    """2019-09's way to say "the whole again". A tool has one schema, so that is what it means."""
    if rules.get("$recursiveRef") == "#" and "$ref" not in rules:
        rules["$ref"] = rules.pop("$recursiveRef")
        note(f"{path}/$recursiveRef", "draft", "written as $ref")
    if isinstance(rules.get("$recursiveAnchor"), bool):
        del rules["$recursiveAnchor"]


def _exclusive(rules: dict[str, Any], note: Note, path: str) -> None:
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(rules.get(exclusive), bool):
            if rules.pop(exclusive) and bound in rules:
                rules[exclusive] = rules.pop(bound)
            note(f"{path}/{exclusive}", "draft", "written as the bound itself")


def _tuple_items(rules: dict[str, Any], note: Note, path: str) -> None:
    if isinstance(rules.get("items"), list):
        first = rules.pop("items")
        if first:  # today no list of them may be empty
            rules["prefixItems"] = first
        if "additionalItems" in rules:
            rules["items"] = rules.pop("additionalItems")
        note(f"{path}/items", "draft", "a list of item schemas is prefixItems")
    elif rules.pop("additionalItems", None) is not None:
        note(f"{path}/additionalItems", "draft", "dropped: it had no meaning here")


def _dependencies(rules: dict[str, Any], note: Note, path: str) -> None:
    dependencies = rules.get("dependencies")
    today = {word: rules.get(word, {}) for word in ("dependentRequired", "dependentSchemas")}
    if not all(isinstance(each, dict) for each in (dependencies, *today.values())):
        return
    for name, needed in rules.pop("dependencies").items():
        keyword = "dependentRequired" if isinstance(needed, list) else "dependentSchemas"
        rules[keyword] = {**rules.get(keyword, {}), name: needed}
    note(f"{path}/dependencies", "draft", "written as dependentRequired and dependentSchemas")


_ALWAYS = (_definitions, _references)  # where a schema lies says nothing
_OLD = (_required_members, _recursive, _exclusive, _tuple_items, _dependencies)
