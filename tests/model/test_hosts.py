"""Hosts, endpoints and URLs as text: disguises first."""

from __future__ import annotations

import socket
from collections import Counter
from ipaddress import ip_address
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpora import corpus, records
from toolstile.model.hosts import (
    HostError,
    broader,
    endpoint,
    fold_ports,
    host,
    host_of_url,
    pattern,
    single_ports,
)

SPELLINGS = [
    ("api.example.org", "api.example.org"),
    ("API.Example.ORG", "api.example.org"),
    ("api.example.org.", "api.example.org"),
    ("localhost", "localhost"),
    ("my_service", "my_service"),
    ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    ("1e100.net", "1e100.net"),
    ("0x7f.example", "0x7f.example"),
    ("127.0.0.1.example", "127.0.0.1.example"),
    ("0xg", "0xg"),
    ("192.0.2.1", "192.0.2.1"),
    ("0.0.0.0", "0.0.0.0"),
    ("[::1]", "[::1]"),
    ("[0:0:0:0:0:0:0:1]", "[::1]"),
    ("[2001:DB8::0A]", "[2001:db8::a]"),
    ("[::ffff:127.0.0.1]", "127.0.0.1"),
    ("[::FFFF:7f00:1]", "127.0.0.1"),
    ("[0:0:0:0:0:ffff:169.254.169.254]", "169.254.169.254"),
    ("[::127.0.0.1]", "[::7f00:1]"),  # IPv4-compatible: never connects to 127.0.0.1
    ("[64:ff9b::7f00:1]", "[64:ff9b::7f00:1]"),
    ("a" * 63 + ".example", "a" * 63 + ".example"),
    (".".join(["a" * 49] * 5) + ".abc", ".".join(["a" * 49] * 5) + ".abc"),  # 253 characters
]
DISGUISED_ADDRESSES = [
    *("127.1", "127.0.1", "2130706433", "017700000001", "0177.0.0.1", "0x7f.1", "0x7f000001"),
    *("0x7F.0x0.0x0.0x1", "0", "0x", "127.0.0.1.", "127.00.0.1", "127.0.0.01", "256.0.0.1"),
    *("1.2.3.4.5", "999.1", "foo.1", "foo.0x1f", "4294967296", "0x.0x.0x.0x", "00000177.1"),
]
NO_HOSTS = [
    *("", ".", "..", "a..b", ".a", "a..", "-a", "a-", "a.-b.c", "a b", " a", "a ", "a\n", "a\x00"),
    *("a/b", "a\\b", "a@b", "a?b", "a#b", "a%2eb", "%61", "a,b", "a;b", "a|b", "*", "a.*", "a!b"),
    *("any", "ANY", "any.", "a" * 64, ".".join(["a" * 49] * 5) + ".abcd", "a." * 5000),
    *(
        "é.example",
        "\uff41.example",
        "127.0.0.\uff11",
        "\u2488\u2488",
        "a\u3002b",
        "\u24d0",
        "\u017f",
        "\u212a.example",  # the Kelvin sign: its lower case is an ASCII k
    ),
    *("[", "]", "[]", "[::1", "::1]", "[::1%eth0]", "[::1%25eth0]", "[fe80::1%lo]", "[::g]", "[1]"),
    *("[127.0.0.1]", "[::ffff:127.0.0.01]", "[::ffff:0x7f.1]", "[[::1]]", "[::1]]", "[ ::1]"),
    *("[v1.a]", "[::1].example", "[" + ":" * 9999 + "]", "\ud800"),
]


@pytest.mark.parametrize(("text", "spelling"), SPELLINGS)
def test_every_spelling_of_a_host_becomes_one(text: str, spelling: str) -> None:
    """Names in lower case without the final dot, addresses as the standard library writes them."""
    assert host(text) == spelling
    assert host(spelling) == spelling


@pytest.mark.parametrize("text", DISGUISED_ADDRESSES)
def test_refuses_an_address_in_disguise(text: str) -> None:
    """What some resolver would turn into an address is refused unless it plainly is one."""
    with pytest.raises(HostError, match="ends in a number"):
        host(text)


@pytest.mark.parametrize("text", NO_HOSTS)
def test_refuses_what_is_no_host(text: str) -> None:
    """Everything else is refused with a hint and without being quoted."""
    with pytest.raises(HostError) as refusal:
        host(text)
    assert refusal.value.hint
    assert len(str(refusal.value)) < 200


numeric = st.text(alphabet="0123456789abcdefxX.", min_size=1, max_size=16)
strange = st.text(alphabet="aZ09xX.-_:[]%@/\\#?* \n\u3002\uff11é", max_size=16)


@given(st.one_of(numeric, strange, st.text(max_size=8), st.ip_addresses().map(str)))
@example("127.1")
@example("0x7f.0.0.1")
def test_no_accepted_host_is_an_address_to_anyone_else(text: str) -> None:
    """A host is an address in the standard spelling, or no address even to the lax C reader."""
    try:
        spelling = host(text)
    except HostError:
        return
    assert host(spelling) == spelling
    bare = spelling.strip("[]")
    try:
        assert str(ip_address(bare)) == bare
    except ValueError:
        with pytest.raises(OSError, match="illegal IP address"):
            socket.inet_aton(spelling)


@given(st.ip_addresses())
def test_every_address_has_a_spelling(address: object) -> None:
    """IPv4 as it is, IPv6 in brackets: the control of the test above."""
    text = str(address)
    written = f"[{text}]" if ":" in text else text
    assert host(written) == written or "::ffff:" in text


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("Example.org:8443", "example.org:8443"),
        ("example.org.:1", "example.org:1"),
        ("example.org:65535", "example.org:65535"),
        ("192.0.2.1:80", "192.0.2.1:80"),
        ("[::1]:80", "[::1]:80"),
        ("[::ffff:192.0.2.1]:80", "192.0.2.1:80"),
        ("example.org", "example.org"),
    ],
)
def test_reads_an_endpoint(text: str, spelling: str) -> None:
    """A host alone or with a port."""
    assert endpoint(text) == spelling
    assert pattern(text) == spelling


@pytest.mark.parametrize(
    "text",
    [
        *("a:", "a:0", "a:080", "a:65536", "a:99999", "a:-1", "a:+1", "a: 80", "a:80 ", "a:80\n"),
        *(
            "a:http",
            "a:8_0",
            "a:\u0661",
            "a:80:80",
            ":80",
            "::1",
            "::1:80",
            "2001:db8::1",
            "[::1]80",
        ),
        *("[::1]:", "[::1]:0", "a:*", "*:80", "any:443", "user@a:80", "http://a", "a:80/x", "a/"),
    ],
)
def test_refuses_what_is_no_endpoint(text: str) -> None:
    """Ports are plain numbers from 1 to 65535; an IPv6 address without brackets is ambiguous."""
    for read in (endpoint, pattern):
        with pytest.raises(HostError):
            read(text)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("*.Example.org", "*.example.org"),
        ("*.example.org.:8443", "*.example.org:8443"),
        ("*.org", "*.org"),
        ("*.0x7f.example", "*.0x7f.example"),
    ],
)
def test_reads_a_pattern(text: str, spelling: str) -> None:
    """A wildcard stands for the labels before a name."""
    assert pattern(text) == spelling
    with pytest.raises(HostError):
        endpoint(text)


@pytest.mark.parametrize(
    "text",
    [
        *("*", "*.", "**.a", "*.*.a", "a.*.b", "a*.b", "*a.b", "*.192.0.2.1", "*.0.2.1", "*.[::1]"),
        *("*.127.1", "*.any", "*..a", "*.a:0", ".*.a", "*.é", "any"),
    ],
)
def test_refuses_other_wildcards(text: str) -> None:
    """No wildcard inside, in part of a label, before an address, or alone."""
    with pytest.raises(HostError):
        pattern(text)


def test_hints_at_the_usual_slips() -> None:
    """Brackets for IPv6, the ASCII form for other scripts, secrets for credentials."""
    for read, text, hint in (
        (endpoint, "2001:db8::1", "brackets"),
        (endpoint, "bücher.example", "xn--"),
        (host_of_url, "https://user:word@example.org/", "secrets"),
    ):
        with pytest.raises(HostError) as refusal:
            read(text)
        assert hint in refusal.value.hint


def test_nothing_is_broader_than_an_address() -> None:
    """Of 192.0.2.1 nothing is a sub-domain, and a name has one wildcard for each parent."""
    assert list(broader("192.0.2.1:80")) == list(broader("[::1]:80")) == []
    assert list(broader("a.b.example:80")) == ["*.b.example:80", "*.example:80"]
    assert list(broader("*.b.example:80")) == ["*.example:80"]


# --- which covers which -----------------------------------------------------------------------

Written = tuple[bool, str, int | None]  # has a wildcard, host, port

names = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=3).map(".".join)
plain = st.one_of(names, st.sampled_from(["192.0.2.1", "[::1]"]))
ports = st.sampled_from([None, 80, 443, 1])
written = st.one_of(
    st.tuples(st.just(value=False), plain, ports), st.tuples(st.just(value=True), names, ports)
)


def spell(one: Written) -> str:
    """Write a pattern as a person would."""
    wildcard, name, port = one
    return ("*." if wildcard else "") + name + (f":{port}" if port else "")


def matches(one: Written, name: str, port: int) -> bool:
    """Decide by the words of the documentation alone."""
    wildcard, wanted, only = one
    inside = name.endswith(f".{wanted}") if wildcard else name == wanted
    return inside and port in ({80, 443} if only is None else {only})


@given(written, plain, st.sampled_from([80, 443, 1, 8443]))
def test_a_pattern_covers_what_the_documentation_says(one: Written, name: str, port: int) -> None:
    """Sub-domains but not the domain, the port that is written, else 80 and 443."""
    single = f"{name}:{port}"
    covered = bool(set(single_ports(pattern(spell(one)))) & {single, *broader(single)})
    assert covered == matches(one, name, port)


@given(st.sets(written.map(spell), max_size=6))
def test_folding_ports_is_undone_by_writing_them_out(some: set[str]) -> None:
    """One sorted spelling for one meaning."""
    single = {each for text in some for each in single_ports(text)}
    folded = fold_ports(single)
    assert {each for text in folded for each in single_ports(text)} == single
    assert list(folded) == sorted(folded)
    assert not any({f"{text}:80", f"{text}:443"} & set(folded) for text in folded)


# --- URLs -------------------------------------------------------------------------------------

URLS = [
    ("http://example.org", "example.org:80"),
    ("https://example.org", "example.org:443"),
    ("HTTPS://Example.ORG.:8443/a?b#c", "example.org:8443"),
    ("https://example.org:443/", "example.org:443"),
    ("http://example.org:443/", "example.org:443"),
    ("https://example.org?q=1", "example.org:443"),
    ("https://example.org#top", "example.org:443"),
    ("https://example.org/@user/%41?mail=a@example.net", "example.org:443"),
    ("https://example.org/http://127.0.0.1", "example.org:443"),
    ("http://[::1]:8080/", "[::1]:8080"),
    ("http://[::ffff:127.0.0.1]/", "127.0.0.1:80"),
    ("http://192.0.2.1/", "192.0.2.1:80"),
]
NO_URLS = [
    *("", "example.org", "//example.org", "http:example.org", "http:/example.org", "http:///x"),
    *(
        "http://",
        "http://:80",
        "http://?",
        "https://#",
        "ftp://a",
        "file:///etc/passwd",
        "gopher://a",
    ),
    *("javascript://a", "httpss://a", "xhttp://a", "http+unix://a", "jar:http://a!/", " http://a"),
    *("http://a ", "http://a\n", "ht\ntp://a", "http://a\t.b/", "http://a\x00.b", "http://a\x7f"),
    *("http://u@a", "http://u:p@a", "http://@a", "http://a:80@b", "http://a@b@c", "http://u%40a"),
    *("http://a\\@b", "http://a\\b", "http:\\\\a", "http://a/\\b", "http://%61", "http://a%2eb"),
    *("http://a%00", "http://a:", "http://a:0", "http://a:080", "http://a:x", "http://a:80:80"),
    *("http://127.1", "http://0x7f000001/", "http://017700000001", "http://2130706433/"),
    *("http://é.example", "http://a/é", "http://\uff41", "http://a\u3002b", "http://a\u2100b"),
    *("http://[::1", "http://::1/", "http://[::1%25eth0]/", "http://[::1]a/", "http://[a]/"),
    *("http://any/", "http://*.a/", "http://a#@b", "http://a?@b", "https://a#@b/", "http://a;b/"),
    *("http://a,b/", "http://a&@b# @c", "http://a/" + "b" * 8192, "http://a\ud800", "\ud800"),
]


@pytest.mark.parametrize(("url", "name"), URLS)
def test_finds_host_and_port_of_a_url(url: str, name: str) -> None:
    """The port is always there: it is what will be connected to."""
    assert host_of_url(url) == name
    assert endpoint(name) == name


@pytest.mark.parametrize("url", NO_URLS)
def test_refuses_a_url_that_could_be_read_otherwise(url: str) -> None:
    """Other schemes, credentials, disguises and anything that readers are known to differ on."""
    with pytest.raises(HostError) as refusal:
        host_of_url(url)
    assert refusal.value.hint
    assert len(str(refusal.value)) < 250


pieces = st.lists(
    st.sampled_from(
        [
            *("http://", "HTTPS://", "a", "b.c", "127.0.0.1", "[::1]", "0x7f", ":", ":80", "://"),
            *("/", "//", "?", "#", "@", "\\", "%2e", ".", "*", ";", "&", "[", "]", "\t"),
        ]
    ),
    max_size=7,
).map("".join)


@given(pieces)
def test_reads_an_accepted_url_as_the_standard_library_does(url: str) -> None:
    """Where it answers at all, another parser finds the same host and port."""
    for text in (url, "http://" + url):
        try:
            name = host_of_url(text)
        except HostError:
            continue
        parts = urlsplit(text)
        default = {"http": 80, "https": 443}[parts.scheme]
        bare = (parts.hostname or "").removesuffix(".")
        written = f"[{bare}]" if ":" in bare else bare
        assert name == f"{written}:{parts.port or default}"
        assert (parts.username, parts.password) == (None, None)


def test_the_ssrf_corpus_reaches_nothing_beyond_the_public_hosts() -> None:
    """Each hostile URL is refused or names, plainly, a host that nobody granted."""
    rows = list(records(corpus("hostile", "ssrf.jsonl")))
    public = {host_of_url(row["url"]) for row in rows if row["expect"] == "allow"}
    seen = Counter[str]()
    for row in rows:
        try:
            name = host_of_url(row["url"])
        except HostError:
            assert row["expect"] != "allow", row["id"]
            seen["refused"] += 1
            continue
        assert (name in public) == (row["expect"] == "allow"), row["id"]
        kind, _, address = row["reason"].partition(":")
        assert kind not in ("scheme", "unparseable_url", "ip_obfuscated"), row["id"]
        if kind in ("ip", "ip_special_purpose"):
            assert name.rpartition(":")[0] == address, row["id"]
        seen[row["expect"]] += 1
    # The control: most hostile rows name their target plainly, and all public ones are read.
    assert seen["refused"] > 20
    assert seen["block"] > 30
    assert seen["allow"] == 25
