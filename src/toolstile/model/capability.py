"""Capabilities: what a tool may touch, and the algebra that compares wanting with having.

    declared ["..."]  an upper bound that a definition sets; [] or ["*"]: whatever is granted
    granted  ["..."]  what the operator gives; []: nothing; ["any"]: everything, and only so

A scope has one spelling: each item in its own canonical form, none covered by another, sorted. So
two capabilities mean the same exactly if they are equal, and a scope means the same wherever it
stands: () nothing, ("*",) whatever is granted, ("any",) everything.

No kind implies another. fs_write in particular does not give fs_read: a drop box that a tool can
fill but not read is a real need, and whoever wants both writes both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from toolstile.model import hosts, paths
from toolstile.model.spelling import SpellingError

MAX_ITEMS = 256  # in one written scope

ANY = hosts.ANY
WHATEVER = "*"

_BY_HAND = "make it with declared or granted"

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}")
_PLAIN = re.compile(r"[\w/.:*\[\]@+~-]+")


class CapabilityError(SpellingError):
    """A text is not a capability or a permission; `hint` says what to write instead."""


class CapabilityKind(StrEnum):
    """What a right is about."""

    FS_READ = "fs_read"
    FS_WRITE = "fs_write"
    NET_READ = "net_read"
    NET_WRITE = "net_write"
    DB_READ = "db_read"
    DB_WRITE = "db_write"
    PROCESS_SPAWN = "process_spawn"
    SECRET = "secret"  # noqa: S105 - the name of a kind


# --- the algebra of one item ------------------------------------------------------------------


def _directory(text: str, base: str | None) -> str:
    return paths.normalise(text) if base is None else paths.join(base, text)


def _endpoint(text: str, _base: str | None) -> str:
    return hosts.pattern(text)


def _program(text: str, base: str | None) -> str:
    """Read a program: a path, or a bare name that only equals itself.

    A name never matches a path by its last part, or /tmp/git would do for git; whoever runs
    programs resolves granted names to their files first.
    """
    if "/" not in text:
        return _name(text)
    if text.endswith("/"):
        raise CapabilityError("a program is not a directory", "drop the final '/'")
    return _directory(text, base)


def _name(text: str, _base: str | None = None) -> str:
    if not _NAME.fullmatch(text) or text == ANY:
        raise CapabilityError(
            "this is not a name", f"write 1 to 64 of A-Z, a-z, 0-9, _ . + - and not '{ANY}'"
        )
    return text


def _single(item: str) -> tuple[str, ...]:
    return (item,)


def _nothing(_item: str) -> Iterable[str]:
    return ()


def _sorted(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(items))


class _Algebra(NamedTuple):
    """How the items of a kind are read and compared.

    `atoms` cuts an item into parts that no union of smaller ones equals; `broader` lists the atoms
    that cover more than one does. An atom is covered by a set exactly if the set holds it or one of
    its broader atoms: everything below rests on that.
    """

    read: Callable[[str, str | None], str]
    atoms: Callable[[str], tuple[str, ...]] = _single
    broader: Callable[[str], Iterable[str]] = _nothing
    spell: Callable[[Iterable[str]], tuple[str, ...]] = _sorted


_DIRECTORIES = _Algebra(_directory, broader=paths.ancestors)
_HOSTS = _Algebra(_endpoint, hosts.single_ports, hosts.broader, hosts.fold_ports)
_ALGEBRAS: Mapping[CapabilityKind, _Algebra] = MappingProxyType(
    {
        CapabilityKind.FS_READ: _DIRECTORIES,
        CapabilityKind.FS_WRITE: _DIRECTORIES,
        CapabilityKind.NET_READ: _HOSTS,
        CapabilityKind.NET_WRITE: _HOSTS,
        CapabilityKind.DB_READ: _Algebra(_name),
        CapabilityKind.DB_WRITE: _Algebra(_name),
        CapabilityKind.PROCESS_SPAWN: _Algebra(_program),
        CapabilityKind.SECRET: _Algebra(_name),
    }
)


def _read(kind: CapabilityKind, text: object, base: str | None = None, place: str = "") -> str:
    """Give one item its own spelling; `place` tells a person which item is at fault."""
    if not isinstance(text, str):
        raise CapabilityError(f"{kind}{place}: it must be a string", "write each item as a string")
    try:
        return _ALGEBRAS[kind].read(text, base)
    except SpellingError as error:
        raise CapabilityError(f"{kind}{place}: {error.message}", error.hint) from error


def _atoms(kind: CapabilityKind, items: Iterable[str]) -> set[str]:
    return {atom for item in items for atom in _ALGEBRAS[kind].atoms(item)}


def _is_covered(kind: CapabilityKind, atom: str, atoms: set[str]) -> bool:
    return atom in atoms or any(wider in atoms for wider in _ALGEBRAS[kind].broader(atom))


def _spell(kind: CapabilityKind, atoms: set[str]) -> tuple[str, ...]:
    """Drop what the rest covers and give the remainder its one spelling."""
    algebra = _ALGEBRAS[kind]
    return algebra.spell(
        atom for atom in atoms if not any(wider in atoms for wider in algebra.broader(atom))
    )


def _canonical(kind: CapabilityKind, items: Iterable[str]) -> tuple[str, ...]:
    """Give a union of items its one spelling; the largest word among them wins."""
    words = set(items)
    if ANY in words:
        return (ANY,)
    named = {_read(kind, item) for item in words - {WHATEVER}}
    return _spell(kind, _atoms(kind, named)) or ((WHATEVER,) if WHATEVER in words else ())


# --- values -----------------------------------------------------------------------------------


class Capability(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of right and its scope. Made by `declared` and `granted`, or decoded from their form.

    Raises:
        CapabilityError: the scope is not in its one spelling.
    """

    kind: CapabilityKind
    scope: tuple[str, ...]

    def __post_init__(self) -> None:
        # Checked here, so that no door (decoding, a careless caller) lets in a scope which the
        # comparisons below would misread.
        if type(self.kind) is not CapabilityKind or type(self.scope) is not tuple:
            raise CapabilityError("a capability has a kind and a tuple of strings", _BY_HAND)
        if self.scope != _canonical(self.kind, self.scope):
            raise CapabilityError("this scope is not in its canonical spelling", _BY_HAND)

    @property
    def whatever(self) -> bool:
        """Declared without a bound: it comes to whatever is granted."""
        return self.scope == (WHATEVER,)

    @property
    def everything(self) -> bool:
        """Granted without a bound, which takes the word `any`."""
        return self.scope == (ANY,)

    def __str__(self) -> str:
        if self.whatever:
            return f"{self.kind}: whatever is granted"
        return f"{self.kind}: {', '.join(map(_shown, self.scope)) or 'nothing'}"


def _shown(item: str) -> str:
    return item if _PLAIN.fullmatch(item) else quoted(item)


def quoted(item: str) -> str:
    """Quote for YAML so that one item reads as one item and shows every character it has."""
    text = json.dumps(item, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08X}" for each in text)


class Mark(NamedTuple):
    """What an argument that names a resource is marked as: what its value is, and the rights of
    which using it takes one."""

    values: tuple[str, ...]
    kinds: tuple[CapabilityKind, ...]


# The words of `x-toolstile` in a schema.
MARKS: Mapping[str, Mark] = MappingProxyType(
    {
        "reads": Mark(("path",), (CapabilityKind.FS_READ,)),
        "writes": Mark(("path",), (CapabilityKind.FS_WRITE,)),
        "connects": Mark(("host", "url"), (CapabilityKind.NET_READ, CapabilityKind.NET_WRITE)),
        "runs": Mark(("program",), (CapabilityKind.PROCESS_SPAWN,)),
    }
)


# --- reading ----------------------------------------------------------------------------------


def declared(kind: str, items: Sequence[str], base: str | None = None) -> Capability:
    """Read what a definition declares; relative paths are taken from `base`.

    Raises:
        CapabilityError: an unknown kind, no list, or an item that cannot be meant.
    """
    known, texts = _kind(kind), _texts(kind, items)
    if texts in ([], [WHATEVER]):
        return Capability(kind=known, scope=(WHATEVER,))
    return _written(known, texts, base)


def granted(kind: str, items: Sequence[str], base: str | None = None) -> Capability:
    """Read what an operator grants; relative paths are taken from `base`.

    Raises:
        CapabilityError: an unknown kind, no list, or an item that cannot be meant; `*` for one.
    """
    known, texts = _kind(kind), _texts(kind, items)
    if texts == [ANY]:
        return Capability(kind=known, scope=(ANY,))
    return _written(known, texts, base)


def _kind(kind: str) -> CapabilityKind:
    try:
        return CapabilityKind(kind)
    except ValueError:
        raise CapabilityError(
            f"{str(kind)[:32]!r} is not a capability kind",
            f"write one of {', '.join(CapabilityKind)}",
        ) from None


def _texts(kind: str, items: object) -> list[str]:
    # A lone string is a sequence too, and "/data" begins with "/": it must never be taken apart.
    if isinstance(items, (str, bytes)) or not isinstance(items, Sequence):
        raise CapabilityError(f"{kind} takes a list", 'write each item in a list, e.g. ["/data"]')
    if len(items) > MAX_ITEMS:
        raise CapabilityError(f"{kind} takes at most {MAX_ITEMS} items", "grant something wider")
    return list(items)


def _written(kind: CapabilityKind, texts: list[str], base: str | None) -> Capability:
    items = [_item(kind, text, base, f" item {place}") for place, text in enumerate(texts, 1)]
    return Capability(kind=kind, scope=_canonical(kind, items))


def _item(kind: CapabilityKind, text: str, base: str | None, place: str) -> str:
    """Read one item as a person wrote it, refusing what looks like more than it means."""
    if text in (ANY, WHATEVER):
        raise CapabilityError(
            f"{kind}{place}: 'any' and '*' cannot be items of this list",
            'alone in a grant, ["any"] is everything; alone in a definition, ["*"] is whatever is '
            "granted",
        )
    item = _read(kind, text, base, place)
    if _ALGEBRAS[kind] is _DIRECTORIES and (WHATEVER in text or item == "/"):
        raise CapabilityError(
            f"{kind}{place}: this is the root or holds a wildcard",
            'write a directory, which includes all in it; everything is ["any"] in a grant',
        )
    return item


# --- the algebra ------------------------------------------------------------------------------


def covers(grant: Capability, need: Capability) -> bool:
    """Tell whether `grant` gives all that `need` takes.

    False for another kind, and for a declaration in the place of a grant. A declared `whatever` is
    content with any grant that is not empty.
    """
    same = need.kind == grant.kind and not grant.whatever
    return same and not _lacking(need.kind, need.scope, grant.scope)


def _lacking(
    kind: CapabilityKind, scope: tuple[str, ...], held: tuple[str, ...]
) -> tuple[str, ...]:
    """Spell what `scope` takes and `held`, a granted scope of the same kind, does not give."""
    if held == (ANY,):
        return ()
    if scope == (WHATEVER,):
        return () if held else scope
    if scope == (ANY,):
        return scope
    have = _atoms(kind, held)
    return _spell(kind, {atom for atom in _atoms(kind, scope) if not _is_covered(kind, atom, have)})


def intersect(bound: Capability, grant: Capability) -> Capability:
    """Keep what is within `bound` (declared, or another grant) and within `grant`.

    Raises:
        CapabilityError: the kinds differ, or a declared `whatever` stands for the grant.
    """
    if bound.kind != grant.kind or grant.whatever:
        raise CapabilityError("these two cannot be intersected", "take a grant of the same kind")
    if bound.whatever or bound.everything:
        return grant
    if grant.everything:
        return bound
    ours, theirs = _atoms(bound.kind, bound.scope), _atoms(bound.kind, grant.scope)
    both = {atom for atom in ours if _is_covered(bound.kind, atom, theirs)}
    both |= {atom for atom in theirs if _is_covered(bound.kind, atom, ours)}
    return Capability(kind=bound.kind, scope=_spell(bound.kind, both))


def missing(needs: Iterable[Capability], grants: Iterable[Capability]) -> tuple[Capability, ...]:
    """List what would have to be granted besides `grants`, as little as will do, one of each kind.

    A declared `whatever` of which nothing is granted is missing too, unless something of its kind
    is missing by name, which says more.
    """
    held = _held(grants)
    lacking = []
    for need in needs:
        have = held[need.kind].scope if need.kind in held else ()
        scope = _lacking(need.kind, need.scope, have)
        lacking.append(Capability(kind=need.kind, scope=scope))
    return _unite(lacking)


def _held(grants: Iterable[Capability]) -> dict[CapabilityKind, Capability]:
    # A declaration among the grants is dropped: nothing that a tool says of itself gives it rights.
    return {grant.kind: grant for grant in _unite(one for one in grants if not one.whatever)}


def _unite(capabilities: Iterable[Capability]) -> tuple[Capability, ...]:
    """Unite those of each kind and leave out the empty ones; sorted by kind."""
    items: dict[CapabilityKind, set[str]] = {}
    for each in capabilities:
        items.setdefault(each.kind, set()).update(each.scope)
    return tuple(
        Capability(kind=kind, scope=_canonical(kind, items[kind]))
        for kind in sorted(items)
        if items[kind]
    )


# --- permissions ------------------------------------------------------------------------------

# No permission stands for `secret`: a secret is granted by name or not at all.
CAPABILITY_PERMISSION: Mapping[CapabilityKind, str] = MappingProxyType(
    {
        CapabilityKind.FS_READ: "tool.filesystem.read",
        CapabilityKind.FS_WRITE: "tool.filesystem.write",
        CapabilityKind.NET_READ: "tool.network.fetch",
        CapabilityKind.NET_WRITE: "tool.network.send",
        CapabilityKind.DB_READ: "tool.database.read",
        CapabilityKind.DB_WRITE: "tool.database.write",
        CapabilityKind.PROCESS_SPAWN: "tool.process.spawn",
    }
)

PERMISSIONS = frozenset(CAPABILITY_PERMISSION.values()) | {
    "tool.communication.send",
    "tool.filesystem.delete",
    "tool.knowledge.read",
    "tool.knowledge.write",
    "tool.system",
}
MAX_PERMISSION = 128  # characters; the contract's bound

_PERMISSION = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+")


def permissions_of(capabilities: Iterable[Capability]) -> tuple[str, ...]:
    """Derive the permissions that go with these capabilities."""
    kinds = {each.kind for each in capabilities} & CAPABILITY_PERMISSION.keys()
    return tuple(sorted(CAPABILITY_PERMISSION[kind] for kind in kinds))


def permission_pattern(text: str, known: Iterable[str] = PERMISSIONS) -> str:
    """Read a permission or a pattern such as `tool.filesystem.*`.

    Raises:
        CapabilityError: it means none of the permissions in `known`, or is too long.
    """
    permissions = sorted(known)
    if len(text) > MAX_PERMISSION:
        raise CapabilityError(f"a permission has at most {MAX_PERMISSION} characters", "shorten it")
    if not any(permission_matches(text, each) for each in permissions):
        near = get_close_matches(text, permissions, n=1)
        hint = f"did you mean {near[0]}?" if near else "write e.g. tool.network.fetch or tool.*"
        raise CapabilityError(f"{text!r} matches no permission", hint)
    return text


def permission_matches(pattern: str, permission: str) -> bool:
    """Tell whether a pattern means a permission: itself, or by `stem.*` all that lie under stem."""
    if not _PERMISSION.fullmatch(permission):
        return False
    return pattern == permission or (
        pattern.endswith(".*") and permission.startswith(pattern.removesuffix("*"))
    )
