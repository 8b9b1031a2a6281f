"""Objects in a dialect: which members there are, which must be there, what else is taken."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import count
from typing import Any

import msgspec

from toolstile.dialects.account import MAX_SHOWN, Wanted
from toolstile.dialects.alternatives import Undecided, choice
from toolstile.dialects.codec import NAME, VALUE, Codec, Container, Member
from toolstile.dialects.simple import kinds_of
from toolstile.dialects.together import LEFTOVERS, conditional, declared, only, patterned, types
from toolstile.dialects.trail import NOTHING, Said, Trail
from toolstile.dialects.values import ANYTHING, Values, union
from toolstile.schema.contain.conjunction import DISJOINT
from toolstile.schema.keywords import type_names
from toolstile.schema.places import Place, Places

MAX_NAME = 64
# Levels of containers that a member may get over its own: `{"value": ...}`, and a list of entries.
WRAPPING, ENTRIES = 1, 2


class Scene(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One object to be written: the places that always describe it, and those that may."""

    values: Values
    parts: tuple[Place, ...]
    conditions: tuple[Place, ...]
    trail: Trail
    wanted: Wanted

    @property
    def everywhere(self) -> tuple[Place, ...]:
        """All places that declare members."""
        return (*self.parts, *self.conditions)

    @cached_property
    def reached(self) -> dict[str, tuple[Place, ...]]:
        """What may describe the same value beside each part that says what is left over."""
        return {
            part.pointer: conditional(self.values.places, (part,), self.trail.barred)
            for part in self.parts
            if "unevaluatedProperties" in part.rules
        }

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that is declared anywhere."""
        return frozenset(n for p in self.everywhere for n in p.rules.get("properties", ()))

    @cached_property
    def required(self) -> frozenset[str]:
        """The members that must be there."""
        return frozenset(name for part in self.parts for name in part.rules.get("required", ()))

    @cached_property
    def rest(self) -> tuple[Place, ...] | None:
        """What describes a member that nobody declares; None where there may be none."""
        places = self.values.places
        found: list[Place] = []
        for part in self.parts:
            if "additionalProperties" in part.rules:
                found += _one(places, part, "additionalProperties")
            elif "unevaluatedProperties" in part.rules and not _evaluated(self, part, None):
                found += _one(places, part, "unevaluatedProperties")
        if any(place.schema is False for place in found):
            return None
        return tuple(place for place in found if place.schema is not True)


class Others(msgspec.Struct, frozen=True, kw_only=True):
    """How members that nobody declares get into their form."""

    patterns: tuple[tuple[str, Codec], ...] = ()
    codec: Codec = None
    entries: str | None = None


def write_members(
    values: Values,
    parts: tuple[Place, ...],
    conditions: tuple[Place, ...],
    trail: Trail,
    wanted: Wanted,
) -> tuple[dict[str, Any], Container]:
    """The keywords of an object, and how its members get into their form."""
    scene = Scene(values, parts, conditions, trail, wanted)
    written = dict(_written(scene))
    sent = sent_names(written, values.dialect.member_name.fullmatch)
    for name, other in sent.items():
        if name != other:
            values.account.rewrite(parts[0], f"name/{name}", f"'{name[:64]}' is called '{other}'")
    members: dict[str, Member] = {}
    properties: dict[str, Any] = {}
    for name, said in written.items():
        properties[sent[name]], members[name] = _member(scene, sent[name], said, name)
    schema = {"properties": properties} if properties or values.dialect.complete else {}
    _demanded(scene, schema, sent)
    others = _others(scene, schema, set(sent.values()))
    _loosened(scene, written)
    return schema, _container(members, others)


def _container(members: dict[str, Member], others: Others) -> Container:
    plain = all(
        member.sent == name
        and member.codec is None
        and not member.null_is_absent
        and not member.wrapped
        for name, member in members.items()
    )
    rest = (others.codec, others.entries, *(codec for _, codec in others.patterns))
    if plain and not any(rest):
        return Container()
    return Container(
        members=members, patterns=others.patterns, others=others.codec, entries=others.entries
    )


# --- members ------------------------------------------------------------------------------------


def _written(scene: Scene) -> Iterator[tuple[str, Said]]:
    """Every name that a value may have, with what is said of its member."""
    names = [name for place in scene.everywhere for name in place.rules.get("properties", ())]
    forbidden = []
    for name in dict.fromkeys((*names, *sorted(scene.required))):
        said = _of_name(scene, name)
        if said is not None and said.impossible:
            forbidden.append(name)
        elif said is not None:
            yield name, said
    scene.wanted.keep("properties")
    closed = scene.rest is None and scene.values.dialect.takes("additionalProperties", False)
    patterns = any("patternProperties" in place.rules for place in scene.everywhere)
    for part in scene.parts if patterns or not closed else ():
        names = [name for name in part.rules.get("properties", ()) if name in forbidden]
        if names:
            text = f"that these may not be there: {', '.join(names)}"
            scene.values.account.lose(part, "properties", text[:MAX_SHOWN])


def _of_name(scene: Scene, name: str) -> Said | None:
    """What is said of a member; None where it is said of all that nobody declares."""
    values = scene.values
    below = _below(scene, name)
    always = tuple(_always(scene, name))
    if any(declared(values.places, part, name) for part in scene.parts):
        return values.value(always, below) if always else values.value((ANYTHING,), below)
    # Only under conditions: where anything may stand there without them, they say nothing of it.
    if scene.rest == ():
        return values.value((ANYTHING,), below) if name in scene.required else None
    ways = [way for place in scene.conditions for way in declared(values.places, place, name)]
    options = [(types(values.places, way), values.value((*always, way), below)) for way in ways]
    if scene.rest is not None:
        kinds = frozenset(DISJOINT).intersection(*(types(values.places, p) for p in scene.rest))
        options.append((kinds, values.value(scene.rest, below)))
    possible = [(kinds_of(kinds), said) for kinds, said in options if not said.impossible]
    if not possible:
        return NOTHING
    # Told by several alternatives: whichever of them holds, the value is one of theirs.
    try:
        return Said(union(values.dialect, [said for _, said in possible]), choice(values, possible))
    except Undecided:
        return values.value((ANYTHING,), below)


def _below(scene: Scene, name: str) -> Trail:
    wraps = scene.values.dialect.all_required and name not in scene.required
    return scene.trail.below(1 + WRAPPING if wraps else 1)


def _always(scene: Scene, name: str) -> Iterator[Place]:
    """What is said of a member without conditions."""
    places = scene.values.places
    for part in scene.parts:
        own = declared(places, part, name)
        if own:
            yield from own
        elif "additionalProperties" in part.rules:
            yield from _one(places, part, "additionalProperties")
        elif "unevaluatedProperties" in part.rules and not _evaluated(scene, part, name):
            yield from _one(places, part, "unevaluatedProperties")


def _one(places: Places, part: Place, keyword: str) -> list[Place]:
    found = only(places, part, keyword)
    return [] if found is None else [found]


def _evaluated(scene: Scene, part: Place, name: str | None) -> bool:
    """Whether a member may count as described beside `unevaluatedProperties`."""
    places = scene.values.places
    for place in (part, *scene.reached[part.pointer]):
        if place is not part and any(place.rules.get(k, False) is not False for k in LEFTOVERS):
            return True
        if name is not None and declared(places, place, name):
            return True
    return False


def _member(scene: Scene, sent: str, said: Said, name: str) -> tuple[Any, Member]:
    """A member's schema; one that may be left out takes null where all must be there."""
    if name in scene.required or not scene.values.dialect.all_required:
        return said.schema, Member(sent=sent, codec=said.codec)
    default = _default(scene, name)
    if not (takes_null(said.schema) and _may_be_null(scene, name)):
        schema = with_null(said.schema)
        member = Member(sent=sent, codec=said.codec, null_is_absent=True)
    elif default == [None] and not scene.values.counts:  # null and nothing are the same
        return said.schema, Member(sent=sent, codec=said.codec, null_is_absent=True)
    else:
        schema = _wrapped(said.schema)
        member = Member(sent=sent, codec=said.codec, null_is_absent=True, wrapped=True)
    return _telling(schema, default, said, wrapped=member.wrapped), member


def _default(scene: Scene, name: str) -> list[Any]:
    """The default that is filled in for a member, in a list; an empty one where there is none."""
    for part in scene.parts:
        for way in declared(scene.values.places, part, name):
            if way.keyword == "properties" and "default" in way.rules:
                return [way.rules["default"]]
    return []


def _telling(schema: Any, default: list[Any], said: Said, *, wrapped: bool) -> Any:
    """The schema with words on what null stands for."""
    shown = json.dumps(default[0], ensure_ascii=False) if default and said.codec is None else ""
    then = f", which means {shown}" if shown and len(shown) <= MAX_SHOWN else ""
    what = 'null: left out; else {"value": ...}' if wrapped else f"null: left out{then}"
    before = said.schema.get("description", "") if isinstance(said.schema, dict) else ""
    told = schema.get("description", "") or (before if wrapped else "")
    return {**schema, "description": f"{told} ({what})".strip()}


def _may_be_null(scene: Scene, name: str) -> bool:
    """Whether null is a value of the tool's own here."""
    places = scene.values.places
    always = tuple(_always(scene, name))
    if any(declared(places, part, name) for part in scene.parts):
        return all(scene.values.fits(way, None) for way in always)
    ways = [way for place in scene.conditions for way in declared(places, place, name)]
    rest = scene.rest is not None and all(scene.values.fits(each, None) for each in scene.rest)
    return rest or any(scene.values.fits(way, None) for way in ways)


def takes_null(schema: Any) -> bool:
    """Whether null may fit a written schema; what is referred to may take anything."""
    if not isinstance(schema, dict) or "$ref" in schema:
        return True
    if "anyOf" in schema:
        return any(map(takes_null, schema["anyOf"]))
    if "enum" in schema:
        return None in schema["enum"]
    return "type" not in schema or "null" in type_names(schema)


def with_null(schema: Any) -> Any:
    """The schema, taking null too."""
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        beside = {name: value for name, value in schema.items() if name != "$ref"}
        return {**beside, "anyOf": [{"$ref": schema["$ref"]}, {"type": "null"}]}
    if takes_null(schema) and "anyOf" not in schema:
        return schema
    if "anyOf" in schema:
        others = [each for each in schema["anyOf"] if each != {"type": "null"}]
        return {**schema, "anyOf": [*others, {"type": "null"}]}
    made = {**schema, "type": [*type_names(schema), "null"]} if "type" in schema else dict(schema)
    return {**made, "enum": [*schema["enum"], None]} if "enum" in schema else made


def _wrapped(schema: Any) -> dict[str, Any]:
    """The schema in an object of its own, or null."""
    held = {
        "type": "object",
        "properties": {VALUE: schema},
        "required": [VALUE],
        "additionalProperties": False,
    }
    return {"anyOf": [held, {"type": "null"}]}


def _demanded(scene: Scene, schema: dict[str, Any], sent: dict[str, str]) -> None:
    """Which members must be there; one that is not written by its name cannot be demanded."""
    dialect = scene.values.dialect
    required = [sent[name] for name in sent if name in scene.required]
    if dialect.all_required:
        schema["required"] = list(sent.values())
    elif required and dialect.takes("required", required):
        schema["required"] = required
    if not dialect.takes("required", required):
        return
    # What must be there and may not is never there, and not demanded.
    unsaid = scene.required - sent.keys()
    of = [part for part in scene.parts if not unsaid & set(part.rules.get("required", ()))]
    scene.wanted.keep("required", of=of)


def sent_names(names: Iterable[str], is_taken: Callable[[str], Any]) -> dict[str, str]:
    """Each name as it is sent: as it is where the dialect takes it, else a like one of its own."""
    names = list(names)
    used = {name for name in names if is_taken(name)}
    sent = {name: name for name in used}
    # Nor may two be alike but for a `_` at the end, which stands for names that nobody declares.
    alike = {name.rstrip("_") for name in used}
    for name in names:
        if name not in sent:
            letters = (c if is_taken(f"a{c}") else "_" for c in name[: MAX_NAME - 12])
            like = "".join(letters).strip("_") or "name"
            like = like if is_taken(like) else f"name_{like}"
            numbered = (like if n == 1 else f"{like}_{n}" for n in count(1))
            sent[name] = next(each for each in numbered if each not in alike)
            alike.add(sent[name])
    return {name: sent[name] for name in names}


def _loosened(scene: Scene, written: Iterable[str]) -> None:
    """Report that a name which only a condition declares is taken whether or not it holds."""
    places = scene.values.places
    loose = [name for name in written if not any(declared(places, p, name) for p in scene.parts)]
    for part in scene.parts if loose else ():
        if "unevaluatedProperties" in part.rules:
            text = (
                f"'{loose[0][:64]}' is taken even where the branch that declares it does not hold"
            )
            scene.values.account.lose(part, "unevaluatedProperties", text)


# --- all other members --------------------------------------------------------------------------


def _others(scene: Scene, schema: dict[str, Any], used: set[str]) -> Others:
    """What is said of members that nobody declares."""
    values = scene.values
    always = [p for place in scene.parts for p in patterned(values.places, place)]
    # Where anything may stand there without them, conditions say nothing of a name.
    holding = () if scene.rest == () else scene.conditions
    maybe = [p for place in holding for p in patterned(values.places, place)]
    patterns = [*always, *maybe]
    if patterns and _keeps_patterns(scene, schema, patterns):
        return Others()
    below = scene.trail.below(1 + ENTRIES if values.dialect.closed else 1)
    told = {p.name: values.value((p,), below) for p in patterns}
    rest = _rest(scene, below)
    if _needs_one_form(told.values(), rest, unsure=bool(maybe)):
        # A name may match several patterns, or one that does not hold: its value has one form.
        told = dict.fromkeys(told, values.value((ANYTHING,), below))
        rest = rest and values.value((ANYTHING,), below)
    ways = [said for said in (*told.values(), *filter(None, [rest])) if not said.impossible]
    if not ways:
        return _nothing_else(scene, schema)
    others = Others(
        patterns=tuple((name, said.codec) for name, said in told.items()),
        codec=None if rest is None else rest.codec,
    )
    if values.dialect.closed:
        if not patterns:
            scene.wanted.keep(*LEFTOVERS)
        return msgspec.structs.replace(others, entries=_in_entries(scene, schema, ways, used))
    additional = True if any(w.schema is True for w in ways) else union(values.dialect, ways)
    if additional is True or values.dialect.takes("additionalProperties", additional):
        schema |= {} if additional is True else {"additionalProperties": additional}
        if not patterns:
            scene.wanted.keep(*LEFTOVERS)
    return others


def _needs_one_form(told: Iterable[Said], rest: Said | None, *, unsure: bool) -> bool:
    """Whether it takes more than a name to tell in which form a value is."""
    rewritten = sum(said.codec is not None for said in told)
    otherwise = rest is not None and rest.codec is not None
    return rewritten > 1 or (unsure and (rewritten > 0 or otherwise))


def _rest(scene: Scene, below: Trail) -> Said | None:
    """What is said of a member with any other name; None where nobody takes one."""
    if scene.rest is None:
        return None
    if not scene.rest and scene.values.dialect.free_values:
        return Said(True)
    return scene.values.value(scene.rest or (ANYTHING,), below)


def _nothing_else(scene: Scene, schema: dict[str, Any]) -> Others:
    if scene.values.dialect.takes("additionalProperties", False):
        schema["additionalProperties"] = False
        scene.wanted.keep(*LEFTOVERS)
    return Others()


def _keeps_patterns(scene: Scene, schema: dict[str, Any], patterns: list[Place]) -> bool:
    """Whether the members that are told by patterns could be said as they are."""
    values = scene.values
    talking = [p for p in scene.everywhere if {"patternProperties", *LEFTOVERS} & p.rules.keys()]
    if len(talking) != 1 or scene.conditions or not values.dialect.takes("patternProperties", {}):
        return False
    copies = {place.name: values.copied(place) for place in patterns}
    rest = [values.copied(place) for place in scene.rest or ()]
    if values.rewrites or None in (*copies.values(), *rest) or len(rest) > 1:
        return False
    schema["patternProperties"] = copies
    if scene.rest is None:
        schema["additionalProperties"] = False
    elif rest:
        schema["additionalProperties"] = rest[0]
    scene.wanted.keep("patternProperties", *LEFTOVERS)
    return True


def _in_entries(scene: Scene, schema: dict[str, Any], ways: list[Said], used: set[str]) -> str:
    numbered = ("entries" if n == 1 else f"entries_{n}" for n in count(1))
    name = next(each for each in numbered if each not in used)
    entry = {
        "type": "object",
        "properties": {NAME: {"type": "string"}, VALUE: union(scene.values.dialect, ways)},
        "required": [NAME, VALUE],
        "additionalProperties": False,
    }
    schema["properties"][name] = {
        "type": "array",
        "description": "The members whose names are free, each name once.",
        "items": entry,
    }
    schema["required"] = [*schema.get("required", ()), name]
    schema["additionalProperties"] = False
    scene.values.account.rewrite(
        scene.parts[0], "entries", f"members with free names are sent as a list, '{name}'"
    )
    return name
