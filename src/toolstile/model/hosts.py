"""Network endpoints as text: one spelling for each, and which pattern covers which.

An endpoint is `host` or `host:port`; a pattern may also begin with `*.`. Nothing here looks a name
up: to which addresses it leads, and whether those are fit to connect to, is for whoever connects.

Without a port an endpoint means ports 80 and 443, those of http and https, and no other: who wants
8443 says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from toolstile.model.spelling import SpellingError

MAX_HOST = 253  # RFC 1035 2.3.4, as text
MAX_URL = 8192  # RFC 9110 4.1 asks for 8000 octets; servers cut near there
MAX_PORT = 65_535

WEB_PORTS = {"http": 80, "https": 443}
ANY = "any"  # the word that grants everything, so never the name of a host

# An underscore is no part of a host name by RFC 1123, but it is in use (containers, services), and
# no reader takes it for anything else.
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]*")
# No '%': a zone (%eth0) names an interface of one machine, and what follows it is free text.
_IPV6 = re.compile(r"\[([0-9A-Fa-f:.]{2,45})\]")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^\[\]:]*)(?::(.*))?", re.DOTALL)
_URL = re.compile(r"(https?)://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)
# Readers disagree on these (dropped, encoded, or taken for '/'), so two readers see two hosts.
_UNSAFE_IN_URL = re.compile(r"[^\x21-\x7e]|\\")


class HostError(SpellingError):
    """A text cannot be taken as a host, endpoint or URL; `hint` says what to write instead."""


def host(text: str) -> str:
    """Give one host its one spelling: a lower-case name, an IPv4 address, or `[IPv6]`.

    Raises:
        HostError: it is none of these, or an address in disguise such as 0x7f.1 or 2130706433.
    """
    if text.startswith("["):
        return _ipv6(text)
    name = _name(text)
    if not _is_address(name):
        return name
    # What is an address to one reader must be the same one to all of them.
    try:
        return str(IPv4Address(text))
    except AddressValueError:
        raise HostError(
            "this host ends in a number but is not a plain IPv4 address",
            "write four decimal numbers, e.g. 192.0.2.1",
        ) from None


def _ipv6(text: str) -> str:
    literal = _IPV6.fullmatch(text)
    try:
        address = IPv6Address(literal[1] if literal else "")
    except AddressValueError:
        raise HostError(
            "this is not an IPv6 address", "write e.g. [2001:db8::1], without a zone"
        ) from None
    # ::ffff:127.0.0.1 reaches that IPv4 address, so it is that address. Addresses that a gateway
    # might translate (6to4, NAT64) stay what they are here: whoever connects looks into them.
    return str(address.ipv4_mapped) if address.ipv4_mapped else f"[{address.compressed}]"


def _is_address(name: str) -> bool:
    """Tell whether a reader may take this host for an address (WHATWG URL, inet_aton)."""
    return name.startswith("[") or bool(_NUMERIC.fullmatch(name.rpartition(".")[2]))


def _name(text: str) -> str:
    if not text.isascii():
        # Python's own IDNA is that of 2003, in which a German sharp s is 'ss'; browsers disagree.
        raise HostError("this host is not ASCII", "write its ASCII form, beginning with xn--")
    name = text.lower().removesuffix(".")  # that dot only says that the name is complete
    if len(name) > MAX_HOST or not all(map(_LABEL.fullmatch, name.split("."))):
        raise HostError(
            "this is not a host name", "write e.g. api.example.org, 192.0.2.1 or [2001:db8::1]"
        )
    if name == ANY:
        raise HostError(f"'{ANY}' is the word for every host", "give this host another name")
    return name


def endpoint(text: str) -> str:
    """Give `host` or `host:port` its one spelling.

    Raises:
        HostError: the host is none, or the port is not a plain number from 1 to 65535.
    """
    match = _AUTHORITY.fullmatch(text)
    if match is None or ":" in (match[2] or ""):
        raise HostError("this is not a host or host:port", "an IPv6 address stands in brackets")
    return _spell(host(match[1]), match[2])


def pattern(text: str) -> str:
    """Give an endpoint or `*.name[:port]` its one spelling.

    `*.example.org` covers a.example.org and a.b.example.org, never example.org itself.

    Raises:
        HostError: it is no endpoint, or the wildcard stands elsewhere or before an address.
    """
    if not text.startswith("*."):
        return endpoint(text)
    rest = endpoint(text[2:])
    if _is_address(_parts(rest)[0]):
        raise HostError("an address has no subdomains", "write the address without '*.'")
    return "*." + rest


def host_of_url(url: str) -> str:
    """Extract `host:port` of an http or https URL; the port is always there.

    Stricter than URL parsers on purpose: what two of them are known to read differently is refused.

    Raises:
        HostError: another scheme, no host, credentials, or characters that readers disagree on.
    """
    if len(url) > MAX_URL or _UNSAFE_IN_URL.search(url):
        raise HostError(
            "this URL is too long or holds spaces, backslashes, control or non-ASCII characters",
            f"percent-encode them; at most {MAX_URL} characters",
        )
    match = _URL.fullmatch(url)
    if match is None:
        raise HostError("this is not an http or https URL", "write https://host/path")
    scheme, authority, rest = match.groups()
    # Old readers took https://a#@b to b (CVE-2016-8624); behind a '/' an '@' is harmless.
    if "@" in (authority if rest.startswith("/") else authority + rest):
        raise HostError(
            "this URL has '@' before its path",
            "write https://host/path; credentials are secrets and go elsewhere",
        )
    name, port = _parts(endpoint(authority))
    return f"{name}:{port or WEB_PORTS[scheme.lower()]}"


def _spell(name: str, port: str | None) -> str:
    if port is None:
        return name
    if not _PORT.fullmatch(port) or int(port) > MAX_PORT:
        raise HostError("this is not a port", f"write a number from 1 to {MAX_PORT}")
    return f"{name}:{port}"


def _parts(spelt: str) -> tuple[str, str]:
    """Split a pattern in its one spelling into host and port, which may be empty."""
    name, colon, port = spelt.rpartition(":")
    return (spelt, "") if not colon or spelt.endswith("]") else (name, port)


def single_ports(spelt: str) -> tuple[str, ...]:
    """Write a pattern out with a port in each: `h` is `h:443` and `h:80`."""
    name, port = _parts(spelt)
    return (spelt,) if port else tuple(f"{name}:{each}" for each in WEB_PORTS.values())


def fold_ports(single: Iterable[str]) -> tuple[str, ...]:
    """Undo `single_ports`: one sorted, shortest spelling for a set of patterns."""
    patterns = set(single)
    for name in {_parts(each)[0] for each in patterns}:
        web = set(single_ports(name))
        if web <= patterns:
            patterns = (patterns - web) | {name}
    return tuple(sorted(patterns))


def broader(single: str) -> Iterator[str]:
    """Yield the wider patterns of the same port: `*.b.c:80` and `*.c:80` for `a.b.c:80`."""
    name, port = _parts(single)
    if _is_address(name):
        return
    labels = name.removeprefix("*.").split(".")
    for start in range(1, len(labels)):
        yield f"*.{'.'.join(labels[start:])}:{port}"
