"""What installed packages offer: tools, formats and keywords, by the name of an entry point.

Only what the operator names is imported: that a package is installed is no reason to run its code.
Whoever is named is trusted as an author, but not to be free of faults, so one that fails is
reported and the others load.
"""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from toolstile.authoring import Tool
from toolstile.errors import ToolstileError
from toolstile.model.definition import ToolDefinition
from toolstile.model.issue import Issue
from toolstile.schema.extensions import NO_EXTENSIONS, Extensions
from toolstile.schema.formats import FORMATS
from toolstile.schema.keywords import KEYWORDS, REFUSED_KEYWORDS
from toolstile.sources.declared import Failure, shape_fault

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

log = logging.getLogger("toolstile.sources")

TOOLS = "toolstile.tools"
FORMATS_GROUP = "toolstile.formats"
KEYWORDS_GROUP = "toolstile.keywords"

PROVIDER_FAILED = "PROVIDER_FAILED"
MAX_TOOLS = 10_000  # of one provider: an iterable may be endless

_EXTENSION_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")

T = TypeVar("T")


class Registrar(Protocol):
    """What a provider is given, and what takes the tools in. It takes tools, and only that."""

    def register(self, tool: Any, /) -> Any: ...


class Extended(msgspec.Struct, frozen=True, kw_only=True):
    """The formats and keywords that loaded, and why the others did not."""

    extensions: Extensions
    failures: tuple[Failure, ...] = ()


class _Refused(Exception):
    """Why an entry point is of no use, with a hint."""

    def __init__(self, reason: str, hint: str) -> None:
        self.reason = reason
        self.hint = hint
        super().__init__(reason)


class _Shelf:
    """Collects the tools of one provider, so that one that fails half-way leaves none behind."""

    def __init__(self) -> None:
        self.tools: list[Any] = []

    def register(self, tool: Any, /) -> None:
        """Keep a tool for later."""
        if len(self.tools) >= MAX_TOOLS:
            raise _Refused(f"it has more than {MAX_TOOLS:,} tools", "split the provider")
        if not _is_tool(tool):
            reason = f"it gave a {type(tool).__name__} where a tool was expected"
            raise _Refused(reason, "give @tool functions, Tools, definitions or mappings")
        shape = shape_fault(tool) if isinstance(tool, Mapping) else None
        if shape is not None:
            raise _Refused(shape.message, shape.hint or "")
        self.tools.append(tool)


# --- tools ------------------------------------------------------------------------------------


def providers(names: Sequence[str], registry: Registrar) -> tuple[Failure, ...]:
    """Register the tools of the named providers, and say what could not be loaded.

    A provider is a callable `(registry) -> None`, an iterable of tools, or one tool. Of one that
    fails nothing is registered; of one that loads, a tool that is refused is left out alone.
    """
    offered = _offered([TOOLS])
    failures: list[Failure] = []
    for index, name in enumerate(names):
        try:
            tools = _load(_chosen(name, offered), _tools_of)
        except _Refused as refused:
            failures.append(_failure(name, index, refused))
            continue
        failures.extend(_refusals(name, index, tools, registry))
    return tuple(failures)


def _tools_of(provider: Any) -> list[Any]:
    shelf = _Shelf()
    if _is_tool(provider):  # first: a decorated function is callable, too
        shelf.register(provider)
    elif callable(provider):
        given = provider(shelf)
        if given is not None:
            reason = f"its callable returned a {type(given).__name__}, which is ignored"
            raise _Refused(reason, "call registry.register for each tool and return None")
    elif isinstance(provider, Iterable) and not isinstance(provider, (str, bytes)):
        for tool in provider:
            shelf.register(tool)
    else:
        reason = f"it is a {type(provider).__name__}, not a provider"
        raise _Refused(reason, "point it at a callable (registry) -> None or a list of tools")
    return shelf.tools


def _is_tool(given: Any) -> bool:
    """What a registry takes, told by its form: peers do not know each other."""
    if isinstance(given, type):
        return hasattr(given, "schema") and hasattr(given, "execute")
    kinds = (Tool, ToolDefinition, Mapping)
    return isinstance(given, kinds) or isinstance(getattr(given, "tool", None), Tool)


def _refusals(
    name: str, index: int, tools: Sequence[Any], registry: Registrar
) -> Iterator[Failure]:
    for tool in tools:
        try:
            registry.register(tool)
        except ToolstileError as error:
            issues = tuple(getattr(error, "issues", ())) or (_issue(str(error), "change it"),)
            yield Failure(name=f"{name}: {_name_of(tool)}", index=index, issues=issues)


def _name_of(tool: Any) -> str:
    named = getattr(tool, "tool", tool)
    written = named.get("name") if isinstance(named, Mapping) else named.name
    return str(written)[:64]


# --- formats and keywords ---------------------------------------------------------------------


def extensions(names: Sequence[str]) -> Extended:
    """The named formats and keywords. A name that stands in both groups means both."""
    if not names:
        return Extended(extensions=NO_EXTENSIONS)
    offered = _offered([FORMATS_GROUP, KEYWORDS_GROUP])
    formats: dict[str, Callable[[str], bool]] = {}
    keywords: dict[str, Callable[[Any, Any], bool]] = {}
    failures: list[Failure] = []
    for index, name in enumerate(names):
        try:
            for group in _groups(name, offered):
                judge = _judge(name, group, offered)
                if group == FORMATS_GROUP:
                    formats[name] = judge
                else:
                    keywords[name] = judge
        except _Refused as refused:
            failures.append(_failure(name, index, refused))
    return Extended(extensions=Extensions(formats, keywords), failures=tuple(failures))


def _groups(name: str, offered: Sequence[EntryPoint]) -> list[str]:
    found = sorted({point.group for point in offered if point.name == name})
    return found or [_chosen(name, offered).group]  # which says what is near


def _judge(name: str, group: str, offered: Sequence[EntryPoint]) -> Callable[..., bool]:
    taken = FORMATS if group == FORMATS_GROUP else {*KEYWORDS, *REFUSED_KEYWORDS}
    if name in taken:
        raise _Refused("the standard has this name, and its meaning is fixed", "choose another")
    if not _EXTENSION_NAME.fullmatch(name) or name.startswith("x-"):
        hint = "begin with a letter; 'x-' marks what is not checked"
        raise _Refused("an extension is named by letters, digits, _ and -", hint)
    point = _chosen(name, [point for point in offered if point.group == group])
    return _load(point, _function)


def _function(loaded: Any) -> Callable[..., Any]:
    if not callable(loaded):
        raise _Refused(f"it is a {type(loaded).__name__}", "point it at a function")
    function: Callable[..., Any] = loaded
    return function


# --- entry points -----------------------------------------------------------------------------


def _offered(groups: Sequence[str]) -> list[EntryPoint]:
    """The entry points of some groups; of packages of one name, the first on the path counts.

    Packages are read one by one: one of them with broken metadata would otherwise hide all.
    """
    from importlib.metadata import distributions  # noqa: PLC0415 - 15 to 25 ms

    found: dict[str, list[EntryPoint]] = {}
    for distribution in distributions():
        try:
            points = [point for point in distribution.entry_points if point.group in groups]
            if points:
                found.setdefault(_normalised(distribution.metadata["Name"]), points)
        except Exception as error:  # noqa: BLE001 - anybody's file, read by the standard library
            kind = type(error).__name__
            log.warning("[TLS-DEF] A package's metadata cannot be read. kind=%s", kind)
    return [point for points in found.values() for point in points]


def _normalised(name: str) -> str:
    """PEP 503: names that mean one package."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _chosen(name: str, offered: Sequence[EntryPoint]) -> EntryPoint:
    found = [point for point in offered if point.name == name]
    if len(found) == 1:
        return found[0]
    if found:  # whichever was taken, it might be the wrong one, and it would be run
        owners = sorted(point.dist.metadata["Name"] for point in found if point.dist)
        reason = f"several packages offer it: {', '.join(owners)}"
        raise _Refused(reason[:500], "uninstall all but one")
    known = sorted({point.name for point in offered})
    near = difflib.get_close_matches(name[:64], known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"installed: {', '.join(known[:20]) or 'none'}"
    raise _Refused("no installed package offers it", hint)


def _load(point: EntryPoint, read: Callable[[Any], T]) -> T:
    """What `read` makes of what an entry point names; both run a stranger's code.

    Raises:
        _Refused: it raised, or wanted to end the program.
    """
    try:
        return read(point.load())
    except _Refused:
        raise
    except (Exception, SystemExit) as error:
        log.warning("[TLS-DEF] A provider failed. name=%s", point.name[:64], exc_info=True)
        reason = f"its code raised {type(error).__name__}"
        if isinstance(error, ModuleNotFoundError):
            reason += f" for '{error.name}'"
        raise _Refused(reason, "the log has the traceback") from error


def _failure(name: str, index: int, refused: _Refused) -> Failure:
    issues = (_issue(refused.reason, refused.hint),)
    return Failure(name=name[:64], index=index, issues=issues)


def _issue(reason: str, hint: str) -> Issue:
    return Issue(path="", code="provider", error_code=PROVIDER_FAILED, message=reason, hint=hint)
