"""Semantic versions, ranges of them, and references to a tool at a range.

Versions follow SemVer 2.0.0 (https://semver.org); ranges follow npm's reading of it, in a smaller
grammar: comparators joined by commas, no spaces, no `||`, no hyphen ranges.
"""

from __future__ import annotations

import re
from typing import TypeAlias

import msgspec

from toolstile.model.spelling import SpellingError

MAX_VERSION = 32  # characters; the contract's bound
MAX_RANGE = 256  # characters: seven comparators of the longest kind, more than anyone writes
MAX_COMPARATORS = 8
MAX_NAME = 64  # characters of a tool's name; the contract's bound

# [0-9], never \d: that also accepts the digits of forty other scripts.
_NUMBER = r"(?:0|[1-9][0-9]*)"
_PRERELEASE = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_BUILD = r"[0-9A-Za-z-]+"
_VERSION = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})"
    rf"(?:-({_PRERELEASE}(?:\.{_PRERELEASE})*))?"
    rf"(?:\+({_BUILD}(?:\.{_BUILD})*))?"
)
_PARTIAL = re.compile(rf"({_NUMBER})(?:\.({_NUMBER}))?(\.\*)?")
_COMPARATOR = re.compile(r"([<>]=?|[=^~])?([0-9A-Za-z.+*-]+)")
_TOOL_NAME = re.compile(r"[a-z][a-z0-9_]*")

_VERSION_HINT = "write MAJOR.MINOR.PATCH, e.g. 1.0.0 or 2.1.0-rc.1: no 'v', spaces or leading zeros"
_RANGE_HINT = "write e.g. ^1.2, ~1.2, >=1,<2, =1.2.3, latest or *: commas mean 'and', no spaces"

Precedence: TypeAlias = tuple[int, int, int, bool, tuple[tuple[int, int, str], ...]]


class SemverError(SpellingError):
    """A text is no version, range or reference; `hint` says what to write instead."""


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """One semantic version; `str()` gives back exactly the text it was parsed from.

    `<` and its kin compare precedence (SemVer 11), in which build metadata has no part; `==` is
    identity. 1.0.0+a and 1.0.0+b are therefore two versions of which neither is the lower.
    """

    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...] = ()
    build: tuple[str, ...] = ()

    @property
    def core(self) -> tuple[int, int, int]:
        """Major, minor and patch."""
        return (self.major, self.minor, self.patch)

    @property
    def precedence(self) -> Precedence:
        """The key that sorts versions by precedence."""
        return (*self.core, not self.prerelease, tuple(map(_identifier_key, self.prerelease)))

    def __lt__(self, other: Version) -> bool:
        return self.precedence < other.precedence

    def __le__(self, other: Version) -> bool:
        return self.precedence <= other.precedence

    def __gt__(self, other: Version) -> bool:
        return self.precedence > other.precedence

    def __ge__(self, other: Version) -> bool:
        return self.precedence >= other.precedence

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.prerelease:
            text += "-" + ".".join(self.prerelease)
        if self.build:
            text += "+" + ".".join(self.build)
        return text


def _identifier_key(identifier: str) -> tuple[int, int, str]:
    """Numbers compare as numbers and come before words, which compare as ASCII (SemVer 11.4)."""
    if identifier.isdigit():
        return (0, int(identifier), "")
    return (1, 0, identifier)


def parse(text: str) -> Version:
    """Read the version that `text` spells.

    Raises:
        SemverError: it is not exactly a SemVer 2.0.0 version of at most 32 characters.
    """
    if len(text) > MAX_VERSION:
        raise SemverError(f"a version has at most {MAX_VERSION} characters", "shorten it")
    match = _VERSION.fullmatch(text)
    if match is None:
        raise SemverError("this is not a semantic version", _VERSION_HINT)
    major, minor, patch, prerelease, build = match.groups()
    return Version(
        major=int(major),
        minor=int(minor),
        patch=int(patch),
        prerelease=tuple(prerelease.split(".")) if prerelease else (),
        build=tuple(build.split(".")) if build else (),
    )


class Comparator(msgspec.Struct, frozen=True, kw_only=True):
    """One bound: an operator (`<`, `<=`, `=`, `>=`, `>`) and the version it compares with."""

    operator: str
    version: Version

    def admits(self, version: Version) -> bool:
        """Whether `version` is on the right side of this bound."""
        match self.operator:
            case "<":
                return version < self.version
            case "<=":
                return version <= self.version
            case ">":
                return version > self.version
            case ">=":
                return version >= self.version
            case _:
                return self._is(version)

    def _is(self, version: Version) -> bool:
        # A reference that spells build metadata means that build and no other: what was named is
        # what runs. Without it, any build of the version will do.
        same_build = not self.version.build or self.version.build == version.build
        return same_build and self.version.precedence == version.precedence


class Range(msgspec.Struct, frozen=True, kw_only=True):
    """A set of versions: those that every comparator admits.

    As in npm, a prerelease belongs to it only if some comparator names a prerelease of the same
    major.minor.patch: nobody gets an unfinished version without having asked for it. `latest` and
    `*` have no comparators, so they hold every release and no prerelease.
    """

    text: str
    comparators: tuple[Comparator, ...]

    def allows(self, version: Version) -> bool:
        """Whether `version` belongs to the range."""
        if not all(comparator.admits(version) for comparator in self.comparators):
            return False
        return not version.prerelease or any(
            comparator.version.prerelease and comparator.version.core == version.core
            for comparator in self.comparators
        )

    def __str__(self) -> str:
        return self.text


def parse_range(text: str) -> Range:
    """Read a range: `^1.2`, `~1.2`, `>=1,<2`, `=1.2.3`, `1.2.*`, `latest` or `*`.

    Raises:
        SemverError: it is none of these, or too long.
    """
    if len(text) > MAX_RANGE:
        raise SemverError(f"a range has at most {MAX_RANGE} characters", "shorten it")
    if text in ("latest", "*"):
        return Range(text=text, comparators=())
    parts = text.split(",")
    if len(parts) > MAX_COMPARATORS:
        raise SemverError(f"a range has at most {MAX_COMPARATORS} comparators", "drop some")
    comparators = tuple(bound for part in parts for bound in _bounds(part))
    return Range(text=text, comparators=comparators)


def _bounds(text: str) -> tuple[Comparator, ...]:
    """Write out what one comparator stands for."""
    match = _COMPARATOR.fullmatch(text)
    if match is None:
        raise SemverError("this is not a version range", _RANGE_HINT)
    operator, body = match[1] or "=", match[2]
    partial = _PARTIAL.fullmatch(body)
    if partial is not None:
        return _partial_bounds(operator, partial)
    if len(body) <= MAX_VERSION and not _VERSION.fullmatch(body):
        raise SemverError("this is not a version range", _RANGE_HINT)
    return _full_bounds(operator, parse(body))


def _full_bounds(operator: str, version: Version) -> tuple[Comparator, ...]:
    if version.build and operator != "=":
        raise SemverError("build metadata has no order, so no range", "drop the part from '+' on")
    if operator == "^":
        return (_bound(">=", version), _bound("<", _after(version, _caret(version.core))))
    if operator == "~":
        return (_bound(">=", version), _bound("<", _after(version, 1)))
    return (_bound(operator, version),)


def _partial_bounds(operator: str, match: re.Match[str]) -> tuple[Comparator, ...]:
    """Bound the versions that begin with `1` or `1.2`."""
    major, minor, star = match.groups()
    if len(match[0]) > MAX_VERSION:
        raise SemverError(f"a version has at most {MAX_VERSION} characters", "shorten it")
    if star and operator != "=":
        raise SemverError("'.*' stands alone", "write ^1 or >=1, without '.*'")
    given = (int(major),) if minor is None else (int(major), int(minor))
    first = Version(major=given[0], minor=given[-1] if minor else 0, patch=0)
    last = len(given) - 1
    match operator:
        case ">=":
            return (_bound(">=", first),)
        case "<":
            return (_bound("<", _lowest(first)),)
        case ">":
            return (_bound(">=", _release(_after(first, last))),)
        case "<=":
            return (_bound("<", _after(first, last)),)
        case "^":
            return (_bound(">=", first), _bound("<", _after(first, _caret(given))))
        case _:  # "=" and "~" mean the same of a partial version
            return (_bound(">=", first), _bound("<", _after(first, last)))


def _bound(operator: str, version: Version) -> Comparator:
    return Comparator(operator=operator, version=version)


def _caret(given: tuple[int, ...]) -> int:
    """Find the last number a caret holds fast: the first that is not 0, else the last."""
    return next((place for place, number in enumerate(given) if number), len(given) - 1)


def _after(version: Version, place: int) -> Version:
    """Step to the lowest version past all those that agree with `version` up to `place`."""
    numbers = (*version.core[:place], version.core[place] + 1, 0, 0)
    return _lowest(Version(major=numbers[0], minor=numbers[1], patch=numbers[2]))


def _lowest(version: Version) -> Version:
    # -0 is the lowest prerelease there is: as an upper bound it shuts out all prereleases of that
    # version, and since nothing lies below it, it never counts as naming one in Range.allows.
    return msgspec.structs.replace(version, prerelease=("0",))


def _release(version: Version) -> Version:
    return msgspec.structs.replace(version, prerelease=())


def parse_reference(text: str) -> tuple[str, Range | None]:
    """Read `name` or `name@range`: the tool's name, and the range if there is one.

    Raises:
        SemverError: the name breaks the naming rule, or what follows `@` is no range.
    """
    name, at, wanted = text.partition("@")
    if len(name) > MAX_NAME or not _TOOL_NAME.fullmatch(name):
        raise SemverError(
            "this is not a reference to a tool",
            f"write name or name@range; a name is at most {MAX_NAME} of a-z, 0-9 and _",
        )
    return name, parse_range(wanted) if at else None
