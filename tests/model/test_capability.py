"""The algebra of capabilities: refusals first, then laws against a reference that counts.

The reference knows a small world of paths and endpoints, decides each of them by the words of the
documentation, and compares sets. The algebra must agree with it without knowing the world.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import PurePosixPath
from typing import Any, cast

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora import corpus, records
from toolstile.model.capability import (
    CAPABILITY_PERMISSION,
    PERMISSIONS,
    Capability,
    CapabilityError,
    CapabilityKind,
    covers,
    declared,
    granted,
    intersect,
    missing,
    permission_matches,
    permission_pattern,
    permissions_of,
    quoted,
)
from toolstile.model.hosts import HostError, endpoint, host_of_url
from toolstile.model.paths import PathError, join
from toolstile.model.spelling import SpellingError

KINDS = list(CapabilityKind)
ONE_ITEM = {
    "fs_read": "/data",
    "fs_write": "/data",
    "net_read": "example.org",
    "net_write": "example.org",
    "db_read": "main",
    "db_write": "main",
    "process_spawn": "/usr/bin/git",
    "secret": "gh",
}

# --- reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_one_meaning_has_one_scope(kind: CapabilityKind) -> None:
    """Nothing, whatever and everything are different values, and none is a list of items."""
    item = ONE_ITEM[kind]
    assert declared(kind, []) == declared(kind, ["*"])
    assert declared(kind, []).whatever
    assert granted(kind, ["any"]).everything
    assert granted(kind, []).scope == ()
    assert granted(kind, [item]) == declared(kind, [item, item])
    scopes = {granted(kind, []), declared(kind, []), granted(kind, ["any"]), granted(kind, [item])}
    assert len(scopes) == 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "items",
    [["*"], ["*", "*"], ["any", "any"], ["any", "*"], [None], [1], [True], [["x"]], [b"x"], [""]],
)
def test_grants_refuse_stars_mixtures_and_what_is_no_text(
    kind: CapabilityKind, items: list[Any]
) -> None:
    """Everything is granted by the one word `any` alone."""
    with pytest.raises(CapabilityError) as refusal:
        granted(kind, items)
    assert refusal.value.hint
    for extra in ("any", "*"):
        with pytest.raises(CapabilityError, match="item 2"):
            granted(kind, [ONE_ITEM[kind], extra])
        with pytest.raises(CapabilityError, match="item 2"):
            declared(kind, [ONE_ITEM[kind], extra])


@pytest.mark.parametrize("kind", KINDS)
def test_a_definition_cannot_ask_for_everything(kind: CapabilityKind) -> None:
    """`any` is the operator's word."""
    with pytest.raises(CapabilityError, match="cannot be items"):
        declared(kind, ["any"])


@pytest.mark.parametrize(
    "items", ["/data", "any", "*", "", b"/data", None, 7, {"/data"}, {"/a": 1}]
)
def test_a_scope_is_a_list(items: object) -> None:
    """A lone string is never taken apart: of "/data" the first character is the root."""
    for read in (declared, granted):
        with pytest.raises(CapabilityError, match="takes a list"):
            read("fs_read", cast("Sequence[str]", items))


def test_a_scope_is_bounded_and_its_kind_is_known() -> None:
    """256 items, eight kinds; the kinds are listed for whoever misspelt one."""
    assert len(granted("secret", [f"s{n}" for n in range(256)]).scope) == 256
    with pytest.raises(CapabilityError, match="at most 256"):
        granted("secret", [f"s{n}" for n in range(257)])
    for kind in ("fs_reed", "FS_READ", "", "fs", "any"):
        with pytest.raises(CapabilityError, match="db_read"):
            granted(kind, [])


@pytest.mark.parametrize(
    ("kind", "item"),
    [
        *(("fs_read", "/"), ("fs_read", "/a/.."), ("fs_read", "../../.."), ("fs_read", "/data/*")),
        *(("fs_read", "/data/*.txt"), ("fs_write", "**"), ("fs_write", "~/x"), ("fs_write", "~")),
        *(("fs_read", "/a\x00"), ("fs_read", "/a\ud800"), ("net_read", "https://example.org")),
        *(("net_read", "127.1"), ("net_write", "0x7f000001"), ("net_read", "*.0.0.1")),
        *(("net_read", "example.org/x"), ("net_read", "**.a"), ("net_read", "*:443")),
        *(("net_read", "any:443"), ("net_read", "10.0.0.0/8"), ("net_read", "\uff11.0.0.1")),
        *(("process_spawn", "-rf"), ("process_spawn", "git status"), ("process_spawn", "/")),
        *(("process_spawn", "/usr/bin/"), ("process_spawn", ".."), ("process_spawn", "a;b")),
        *(("process_spawn", "gi\n"), ("secret", "a b"), ("secret", "a/b"), ("secret", "gh\n")),
        *(("secret", "s" * 65), ("secret", "\u212a"), ("db_read", "main;drop"), ("db_read", "é")),
    ],
)
def test_refuses_items_that_look_like_more_than_they_mean(kind: str, item: str) -> None:
    """Globs, roots, URLs, disguised addresses, options and phrases are refused, with a hint."""
    for read in (declared, granted):
        with pytest.raises(CapabilityError) as refusal:
            read(kind, [item], "/base")
        assert refusal.value.hint
        assert f"{kind} item 1" in refusal.value.message


@pytest.mark.parametrize(
    ("kind", "items", "scope"),
    [
        (
            "fs_read",
            ["./workspace", "docs/", "/data//x/../y"],
            ("/base/docs", "/base/workspace", "/data/y"),
        ),
        ("fs_read", ["/data", "/data/x", "/data/x/y", "/data-evil"], ("/data", "/data-evil")),
        ("fs_read", ["./any", "/é", "/e\u0301"], ("/base/any", "/e\u0301", "/é")),
        ("net_read", ["B.example.", "a.example:443", "a.example:80"], ("a.example", "b.example")),
        ("net_read", ["*.example", "a.example", "example"], ("*.example", "example")),
        ("net_read", ["*.example:80", "a.example"], ("*.example:80", "a.example:443")),
        ("net_read", ["[::ffff:192.0.2.1]", "192.0.2.1"], ("192.0.2.1",)),
        (
            "process_spawn",
            ["git", "./run", "/usr/bin/../bin/g++"],
            ("/base/run", "/usr/bin/g++", "git"),
        ),
        ("process_spawn", ["/usr", "/usr/bin"], ("/usr", "/usr/bin")),
        ("secret", ["gh", "GH", "gh"], ("GH", "gh")),
    ],
)
def test_spells_a_scope_in_one_way(kind: str, items: list[str], scope: tuple[str, ...]) -> None:
    """Sorted, without repetition, without what another item covers."""
    assert granted(kind, items, "/base").scope == scope


def test_a_relative_path_needs_a_base() -> None:
    """Without one nobody knows what it is relative to."""
    with pytest.raises(CapabilityError, match="relative"):
        granted("fs_read", ["workspace"])
    assert granted("fs_read", ["workspace"], "/p").scope == ("/p/workspace",)


@pytest.mark.parametrize(
    "scope",
    [
        *(
            ["/data"],
            ("/data", "/data/x"),
            ("/data", "/data"),
            ("/b", "/a"),
            ("/a/",),
            ("/a/../b",),
        ),
        *(("*", "/a"), ("any", "/a"), ("any", "*"), ("relative",), (1,), "any", ("/a\x00",)),
    ],
)
def test_no_door_lets_in_another_spelling(scope: object) -> None:
    """Made by hand, replaced or decoded: a scope that covers() would misread does not exist."""
    good = granted("fs_read", ["/data"])
    with pytest.raises(CapabilityError):
        Capability(kind=CapabilityKind.FS_READ, scope=cast("tuple[str, ...]", scope))
    with pytest.raises(CapabilityError):
        msgspec.structs.replace(good, scope=scope)
    if isinstance(scope, tuple):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(
                msgspec.json.encode({"kind": "fs_read", "scope": scope}), type=Capability
            )


def test_a_kind_made_by_hand_is_one_of_ours() -> None:
    """A text that equals a kind would pass for it in some comparisons and not in others."""
    assert Capability(kind=CapabilityKind.SECRET, scope=("gh",)) == granted("secret", ["gh"])
    with pytest.raises(CapabilityError):
        Capability(kind=cast("CapabilityKind", "secret"), scope=("gh",))


# --- a small world ----------------------------------------------------------------------------

DIRECTORIES = ["a", "a-evil", "A"]
PATHS = [
    "/" + "/".join(parts)
    for depth in range(4)
    for parts in product([*DIRECTORIES, "z"], repeat=depth)
]
NAMES = [
    ".".join(parts) for depth in (1, 2, 3, 4) for parts in product(["a", "b", "z"], repeat=depth)
]
ENDPOINTS = [f"{name}:{port}" for name in [*NAMES, "192.0.2.1"] for port in (80, 443, 8443, 1)]
PROGRAMS = ["git", "/usr/bin/git", "/usr/bin", "/tmp/git", "Git"]


def named(kind: str, value: str) -> Capability:
    """The least right that covers one thing, which a call has named in its one spelling."""
    return Capability(kind=CapabilityKind(kind), scope=(value,))


WORLD = {
    kind: frozenset(named(kind, value) for value in values)
    for kind, values in (("fs_read", PATHS), ("net_read", ENDPOINTS), ("process_spawn", PROGRAMS))
}


def is_meant(thing: Capability, item: str) -> bool:
    """Decide by the documentation whether an item, as a person writes it, means one thing."""
    (value,) = thing.scope
    if thing.kind is CapabilityKind.FS_READ:
        return PurePosixPath(value).is_relative_to(item)
    if thing.kind is CapabilityKind.PROCESS_SPAWN:
        return value == item
    name, _, port = value.partition(":")
    wanted, _, only = item.partition(":")
    inside = name.endswith(wanted[1:]) if wanted[0] == "*" else name == wanted
    return inside and port in ({only} if only else {"80", "443"})


def meant(kind: str, items: list[str]) -> frozenset[Capability]:
    """Collect all that a list of items means in the small world."""
    return frozenset(r for r in WORLD[kind] if any(is_meant(r, item) for item in items))


def given_by(grant: Capability) -> frozenset[Capability]:
    """Collect all that the algebra lets a grant cover in the small world."""
    return frozenset(each for each in WORLD[grant.kind] if covers(grant, each))


paths = st.lists(st.sampled_from(DIRECTORIES), min_size=1, max_size=3).map(
    lambda parts: "/" + "/".join(parts)
)
names = st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=3).map(".".join)
ports = st.sampled_from(["", ":80", ":443", ":8443"])
endpoints = st.tuples(st.sampled_from(["", "*."]), names, ports).map("".join)
programs = st.sampled_from(["git", "/usr/bin/git", "/usr/bin"])


def written(kind: str) -> st.SearchStrategy[tuple[str, list[str]]]:
    """Lists of items of one kind."""
    item = {"fs_read": paths, "net_read": endpoints, "process_spawn": programs}[kind]
    return st.tuples(st.just(kind), st.lists(item, max_size=4))


scopes = st.sampled_from(sorted(WORLD)).flatmap(written)
pairs = st.sampled_from(sorted(WORLD)).flatmap(lambda kind: st.tuples(written(kind), written(kind)))
few = settings(max_examples=60)  # each example walks the world


@few
@given(scopes)
def test_a_grant_covers_exactly_what_its_items_mean(scope: tuple[str, list[str]]) -> None:
    """Nothing outside is ever covered, and nothing inside is left out."""
    assert given_by(granted(*scope)) == meant(*scope)


@few
@given(pairs)
def test_covering_is_inclusion(pair: tuple[tuple[str, list[str]], tuple[str, list[str]]]) -> None:
    """One grant covers another exactly if all that the other covers it covers too."""
    grant, need = granted(*pair[0]), granted(*pair[1])
    assert covers(grant, need) == (meant(*pair[1]) <= meant(*pair[0]))


@given(pairs)
def test_covering_is_an_order(pair: tuple[tuple[str, list[str]], tuple[str, list[str]]]) -> None:
    """Reflexive; antisymmetric because a meaning has one spelling; between nothing and `any`."""
    one, two = granted(*pair[0]), granted(*pair[1])
    assert covers(one, one)
    assert (covers(one, two) and covers(two, one)) == (one == two)
    assert covers(granted(one.kind, ["any"]), one)
    assert covers(one, granted(one.kind, []))
    assert not covers(one, granted(one.kind, ["any"]))


@given(
    st.sampled_from(sorted(WORLD)).flatmap(
        lambda kind: st.tuples(written(kind), written(kind), written(kind))
    )
)
def test_covering_is_transitive(three: tuple[tuple[str, list[str]], ...]) -> None:
    """Shown on chains that are made to hold, since few would by chance."""
    one, two, low = (granted(*scope) for scope in three)
    middle = intersect(one, two)
    bottom = intersect(middle, low)
    assert covers(one, middle)
    assert covers(middle, bottom)
    assert covers(one, bottom)


@few
@given(pairs)
def test_an_intersection_is_what_both_cover(
    pair: tuple[tuple[str, list[str]], tuple[str, list[str]]],
) -> None:
    """Neither more nor less, whichever comes first."""
    one, two = declared(*pair[0]), granted(*pair[1])
    both = intersect(one, two)
    inside = meant(*pair[1]) & meant(*pair[0]) if pair[0][1] else meant(*pair[1])
    assert given_by(both) == inside
    assert covers(two, both)
    assert one.whatever or (covers(one, both) and intersect(two, one) == both)
    assert intersect(both, two) == both


@few
@given(pairs)
def test_what_is_missing_is_the_difference(
    pair: tuple[tuple[str, list[str]], tuple[str, list[str]]],
) -> None:
    """Granting it is enough, and none of it was there before or not asked for."""
    grant, need = granted(*pair[0]), granted(*pair[1])
    lacking = missing([need], [grant])
    assert (lacking == ()) == covers(grant, need)
    assert missing([need], [grant, *lacking]) == ()
    assert all(covers(need, each) and not covers(grant, each) for each in lacking)


@given(scopes)
def test_a_scope_reads_back_as_itself(scope: tuple[str, list[str]]) -> None:
    """Reading the canonical spelling changes nothing, from a list, a file or JSON."""
    kind, items = scope
    grant = granted(kind, items)
    assert granted(kind, list(reversed(grant.scope))) == grant
    assert declared(kind, list(declared(kind, items).scope)) == declared(kind, items)
    assert msgspec.json.decode(msgspec.json.encode(grant), type=Capability) == grant
    assert [yaml.safe_load(quoted(item)) for item in grant.scope] == list(grant.scope)


# --- kinds, words and what calls name ----------------------------------------------------------


def test_no_kind_stands_in_for_another() -> None:
    """Not even the right to write for the right to read."""
    everything = [granted(kind, ["any"]) for kind in KINDS]
    needs = [declared(kind, [ONE_ITEM[kind]]) for kind in KINDS]
    for grant, need in product(everything, needs):
        assert covers(grant, need) == (grant.kind == need.kind)
    assert not covers(granted("fs_write", ["/data"]), named("fs_read", "/data/a"))
    with pytest.raises(CapabilityError):
        intersect(granted("fs_read", ["/data"]), granted("fs_write", ["/data"]))


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_granted_comes_to_the_grant(kind: CapabilityKind) -> None:
    """A declaration without bound gets the grant, and is missing only where there is none."""
    whatever, one = declared(kind, []), granted(kind, [ONE_ITEM[kind]])
    everything, nothing = granted(kind, ["any"]), granted(kind, [])
    for grant in (one, everything):
        assert intersect(whatever, grant) == grant
        assert intersect(one, grant) == intersect(grant, one) == one
        assert covers(grant, whatever)
        assert missing([whatever], [grant]) == ()
    for grants in ([], [nothing]):
        assert missing([whatever], grants) == (whatever,)
        assert missing([whatever, one], grants) == (one,)
    assert not covers(nothing, whatever)


@pytest.mark.parametrize("kind", KINDS)
def test_a_declaration_never_grants(kind: CapabilityKind) -> None:
    """What a tool says of itself, put among the grants by mistake, gives it nothing."""
    whatever, one = declared(kind, []), declared(kind, [ONE_ITEM[kind]])
    assert not covers(whatever, one)
    assert not covers(whatever, whatever)
    assert missing([one], [whatever]) == (one,)
    with pytest.raises(CapabilityError):
        intersect(one, whatever)


def test_grants_and_declarations_of_one_kind_add_up() -> None:
    """Two entries mean their union; what is missing has each kind once, sorted."""
    bounds = [declared("net_read", ["a.example"]), declared("fs_read", ["/a", "/b/c"])]
    bounds += [declared("fs_read", ["/d"]), declared("secret", ["gh"])]
    grants = [granted("fs_read", ["/a/x"]), granted("fs_read", ["/b", "/d"])]
    grants += [granted("net_read", ["*.example:443"]), granted("db_read", ["any"])]
    assert missing(bounds, grants) == (
        granted("fs_read", ["/a"]),
        granted("net_read", ["a.example:80"]),
        granted("secret", ["gh"]),
    )


def test_what_a_call_names_can_never_ask_for_everything() -> None:
    """A hostile argument must not turn the suggested grant into one of everything."""
    for text in ("any", "ANY", "any.", "*", "*.example"):
        with pytest.raises(HostError):
            endpoint(text)
    for text in ("any", "*"):
        (lacking,) = missing([named("fs_read", join("/data", text))], [])
        assert not lacking.everything
        assert not lacking.whatever
    with pytest.raises(HostError):
        host_of_url("http://any/")


@given(
    st.text(max_size=12),
    st.sampled_from(
        [
            lambda text: named("fs_read", join("/data", text)),
            lambda text: named("fs_write", join("/data", text)),
            lambda text: named("process_spawn", join("/data", text)),
            lambda text: named("net_read", endpoint(text)),
        ]
    ),
)
def test_any_argument_is_named_or_refused(text: str, make: Callable[[str], Capability]) -> None:
    """A thing covers itself, is covered by nothing else, and what it lacks is itself."""
    try:
        right = make(text)
    except SpellingError:
        return
    assert missing([right], []) == (right,)
    assert missing([right], [right]) == ()
    assert covers(right, right)
    assert not covers(granted(right.kind, []), right)
    assert [yaml.safe_load(quoted(item)) for item in right.scope] == list(right.scope)
    assert str(right).isprintable()


def test_the_traversal_corpus_is_covered_by_no_grant_of_the_root() -> None:
    """What leaves the directory needs a grant of its own, and the suggestion says which."""
    root = granted("fs_read", ["/srv/sandbox/root"])
    for record in records(corpus("hostile", "path-traversal.jsonl")):
        try:
            named_path = named("fs_read", join("/srv/sandbox/root", record["path"]))
        except PathError:
            assert record["expect"] != "allow"
            continue
        if record["expect"] == "block":
            assert not covers(root, named_path), record["id"]
            assert missing([named_path], [root]) == (named_path,)
        else:
            assert covers(root, named_path), record["id"]


# --- for people -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("capability", "text"),
    [
        (granted("fs_read", ["/data"]), "fs_read: /data"),
        (granted("net_read", ["b.example:1", "a.example"]), "net_read: a.example, b.example:1"),
        (granted("secret", ["any"]), "secret: any"),
        (granted("secret", []), "secret: nothing"),
        (declared("secret", []), "secret: whatever is granted"),
        (
            granted("fs_read", ["/a, /etc", '/b"\\', "/\u200bé", "/\U000e0041"]),
            'fs_read: "/a, /etc", "/b\\"\\\\", "/\\U0000200Bé", "/\\U000E0041"',
        ),
    ],
)
def test_speaks_to_people_without_hiding_a_character(capability: Capability, text: str) -> None:
    """One item reads as one item, invisible characters are spelt out, and YAML reads it back."""
    assert str(capability) == text
    assert [yaml.safe_load(quoted(item)) for item in capability.scope] == list(capability.scope)


# --- permissions ------------------------------------------------------------------------------


def test_permissions_follow_from_capabilities() -> None:
    """Each kind has its permission; a secret has none."""
    everything = [declared(kind, []) for kind in KINDS]
    assert len(PERMISSIONS) == 12
    assert set(permissions_of(everything)) == set(CAPABILITY_PERMISSION.values())
    assert permissions_of([]) == ()
    assert permissions_of(everything[:1] * 2) == ("tool.filesystem.read",)


@pytest.mark.parametrize(
    ("pattern", "permission", "expected"),
    [
        ("tool.filesystem.*", "tool.filesystem.read", True),
        ("tool.filesystem.read", "tool.filesystem.read", True),
        ("tool.*", "tool.filesystem.read", True),
        ("tool.*", "tool.system", True),
        ("tool.filesystem.*", "tool.filesystem", False),
        ("tool.filesystem.*", "tool.filesystems.read", False),
        ("tool.filesystem.*", "tool.network.fetch", False),
        ("tool.filesystem", "tool.filesystem.read", False),
        ("tool.file*", "tool.filesystem.read", False),
        ("tool.*.read", "tool.filesystem.read", False),
        ("*", "tool.system", False),
        (".*", "tool.system", False),
        ("", "tool.system", False),
        ("tool.*", "tool.*", False),
        ("tool.*", "tool.", False),
        ("tool.*", "tool.system\n", False),
        ("TOOL.*", "tool.system", False),
    ],
)
def test_a_permission_pattern_ends_in_a_whole_part(
    pattern: str, permission: str, expected: bool
) -> None:
    """`.*` at the end stands for all that lies under the stem; nothing else is a wildcard."""
    assert permission_matches(pattern, permission) is expected


def test_reads_permission_patterns_against_the_catalogue() -> None:
    """A misspelt permission would silently grant nothing, so it is refused with the nearest."""
    for text in [*PERMISSIONS, "tool.*", "tool.filesystem.*", "tool.knowledge.*"]:
        assert permission_pattern(text) == text
    assert permission_pattern("acme.mail.*", {*PERMISSIONS, "acme.mail.send"}) == "acme.mail.*"
    with pytest.raises(CapabilityError, match="128 characters"):
        permission_pattern("t" + ".a" * 64)
    with pytest.raises(CapabilityError, match=r"did you mean tool\.filesystem\.read"):
        permission_pattern("tool.filesytem.read")
    bad = [
        "",
        "*",
        "tool",
        "tool.",
        ".*",
        "tool.file*",
        "tool.*.read",
        "tool.system.*",
        "Tool.system",
    ]
    for text in [*bad, "tool.system\n", "tool.acme.*", "t" + ".a" * 100, "tool..read", "a.*"]:
        with pytest.raises(CapabilityError) as refusal:
            permission_pattern(text)
        assert refusal.value.hint


@given(st.sampled_from(sorted(PERMISSIONS)), st.sampled_from(sorted(PERMISSIONS)))
def test_a_stem_means_all_beneath_it(one: str, other: str) -> None:
    """The pattern made of one permission's stem means all that begin with the same parts."""
    stem = one.split(".")[:-1]
    assert permission_matches(".".join([*stem, "*"]), other) == (
        other.split(".")[: len(stem)] == stem
    )
