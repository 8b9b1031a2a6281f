"""The holder of the newest snapshot: one writer at a time, readers never wait.

A call takes the snapshot once and keeps it; what is registered meanwhile is for the next one.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from toolstile.authoring import Tool, from_class, portability
from toolstile.authoring.decorator import misfits
from toolstile.authoring.portable import script_of
from toolstile.errors import DefinitionError, SchemaValidationError, UnknownToolError
from toolstile.model.definition import ToolDefinition
from toolstile.model.issue import Issue, unknown_tool
from toolstile.model.json import FrozenDict
from toolstile.model.semver import Range, SemverError, parse_range
from toolstile.model.vocabulary import Category, IsolationLevel
from toolstile.registry import rules, telling
from toolstile.registry.meter import Meter, Readings
from toolstile.registry.search import Hit, SearchEntry, SearchIndex
from toolstile.registry.snapshot import Entry, Snapshot
from toolstile.schema.compiled import Checked, arguments_of
from toolstile.schema.defining import STANDARD, Vocabulary, defined, inspect
from toolstile.schema.issue import fault

log = logging.getLogger("toolstile.registry")


class Registered(msgspec.Struct, frozen=True):
    """What registering did. `ref` is `name@version#digest`."""

    ref: str
    created: bool


class Changed(msgspec.Struct, frozen=True):
    """What subscribers are told: validated, registered, updated, unregistered, enabled, disabled,
    pinned, bound. `details` are LEX's fields of the first four, in snake_case."""

    what: str
    name: str
    version: str | None = None
    details: Mapping[str, Any] = FrozenDict()


Subscriber = Callable[[Changed], None]


class Registry:
    """Tools by name and version. Thread-safe; knows no tenant and no tier.

    `vocabulary` is what definitions may refer to besides the standard words.
    """

    def __init__(self, vocabulary: Vocabulary = STANDARD) -> None:
        self.vocabulary = vocabulary
        self._snapshot = Snapshot()
        self._writing = threading.Lock()
        self._search = SearchIndex()
        self._meter = Meter()
        self._subscribers: tuple[Subscriber, ...] = ()

    # --- reading ---------------------------------------------------------------------------

    @property
    def snapshot(self) -> Snapshot:
        """The newest snapshot; it never changes, a newer one replaces it."""
        return self._snapshot

    @property
    def readings(self) -> Readings:
        """What was counted: validations by tool, outcome and code, their time, definitions. How
        many tools there are (`tools.registry.schemas`) is `len(registry)`."""
        return self._meter.read()

    def __len__(self) -> int:
        return len(self._snapshot)

    def __contains__(self, name: str) -> bool:
        return name in self._snapshot

    def get(self, name: str, version: str | None = None) -> ToolDefinition:
        """The definition of `name`, of the newest version that `version` (a range) allows.
        Both may be said in one: `name@range`.

        Raises:
            UnknownToolError: there is none; with the names that come near.
        """
        return self.tool(name, version).definition

    def tool(self, name: str, version: str | None = None) -> Tool:
        """Like `get`, with the body."""
        return self._chosen(name, version)[1]

    def callable_tool(self, name: str, version: str | None = None) -> Tool:
        """Like `tool`, for calling: a disabled tool cannot be found."""
        entry, tool = self._chosen(name, version)
        if not entry.enabled:
            detail = f"it is disabled: `toolstile tools enable {entry.name}`"
            raise UnknownToolError(entry.name, (), detail)
        return tool

    def all(self) -> tuple[ToolDefinition, ...]:
        """Every definition: by name, then newest version first."""
        return self._snapshot.definitions

    def by_category(self, category: str | Category) -> tuple[ToolDefinition, ...]:
        """The definitions of one category. Raises ValueError naming the categories."""
        wanted = category if isinstance(category, Category) else Category.of(category)
        return tuple(d for d in self.all() if d.category is wanted)

    def versions(self, name: str) -> tuple[str, ...]:
        """The versions of a tool, newest first. Raises UnknownToolError."""
        entry = self._snapshot.entry(name)
        if entry is None:
            raise UnknownToolError(_shown(name), self._near(name))
        return tuple(tool.definition.exported_version for tool in entry.versions)

    def search(self, query: str, limit: int = 10) -> tuple[Hit, ...]:
        """The tools that a few words mean, best first; forgives a slip of the pen."""
        return self._search.search(query, limit)

    def _near(self, name: str) -> tuple[str, ...]:
        return tuple(hit.name for hit in self._search.search(_shown(name), 3))

    # --- checking arguments ----------------------------------------------------------------

    def check(
        self, name: str, arguments: bytes | str | Mapping[str, Any], version: str | None = None
    ) -> Checked:
        """Do these arguments fit? The value to use, or every issue; never raises."""
        try:
            definition = self.get(name, version)
        except UnknownToolError as error:
            issue = unknown_tool(error)
            return Checked(ok=False, issues=(issue,), errors_total=1, tool=name)
        return self._check(definition, arguments)

    def metered(self, definition: ToolDefinition, check: Callable[[], Checked]) -> Checked:
        """Do a check of a tool's arguments; it is timed, counted and, if it fails, logged."""
        started = time.perf_counter()
        checked = check()
        codes = [issue.error_code for issue in checked.issues]
        outcome = "valid" if checked.ok else "invalid"
        seconds = time.perf_counter() - started
        self._meter.validated(definition.name, outcome, codes[0] if codes else "", seconds)
        if not checked.ok:
            failed = "[TLS-DEF] Arguments failed validation. name=%s codes=%s ms=%.3f"
            log.warning(failed, definition.name, ", ".join(sorted(set(codes))), seconds * 1000)
        return msgspec.structs.replace(checked, tool=definition.name)

    def validate_arguments(
        self, name: str, arguments: bytes | str | Mapping[str, Any], version: str | None = None
    ) -> Any:
        """The value to use. Raises SchemaValidationError with every issue, UnknownToolError."""
        checked = self._check(self.get(name, version), arguments)
        if not checked.ok:
            raise SchemaValidationError(name, checked.issues)
        return checked.value

    try_validate_arguments = check

    # --- changing --------------------------------------------------------------------------

    def register(
        self, tool: ToolDefinition | Tool | Mapping[str, Any] | Any, *, built_in: bool = False
    ) -> Registered:
        """Add a definition, a tool, a decorated function or a class tool. The same one again is a
        no-op.

        Raises:
            DefinitionError: it breaks rules; all of them are named.
            ConflictError: the name or version means something else, or callers would break.
        """
        new = self._checked_tool(tool)
        name = new.definition.name
        with self._writing:
            entry = before = self._snapshot.entry(name)
            rules.check_name(entry, name, built_in=built_in)
            created = not rules.already_registered(entry, new.definition)
            if created:
                rules.check_compatible(entry, new)
                entry = entry or Entry(name=name, versions=(), built_in=built_in)
                self._put(entry.with_tool(new))
        if created:
            self._registered(new.definition, before, built_in=built_in)
        return Registered(ref_of(new.definition), created)

    def unregister(self, name: str, version: str | None = None) -> None:
        """Take out one version, or all of them. Raises UnknownToolError, ConflictError."""
        with self._writing:
            entry = self._entry(name)
            rules.check_name(entry, name, built_in=False)
            if version is not None and version not in self.versions(name):
                raise UnknownToolError(name, (), f"there is no version {version}")
            left = entry.without(version) if version is not None else None
            if left is None:
                self._snapshot = self._snapshot.drop(name)
                self._search.remove(name)
            else:
                self._put(left)
        self._tell(Changed("unregistered", name, version))

    def enable(self, name: str) -> None:
        """Let the tool be called again. Raises UnknownToolError."""
        self._enable("enabled", name, enabled=True)

    def disable(self, name: str) -> None:
        """Keep the tool listed, but not callable. Raises UnknownToolError."""
        self._enable("disabled", name, enabled=False)

    def pin(self, name: str, version: str | None) -> None:
        """Use only versions of this range where the caller names none; None undoes it.

        Raises:
            UnknownToolError: no such tool, or no version in the range.
        """
        wanted = _range(name, version)
        with self._writing:
            entry = self._entry(name)
            if wanted is not None:
                _choice(entry, wanted)
            self._snapshot = self._snapshot.put(msgspec.structs.replace(entry, pinned=wanted))
        self._tell(Changed("pinned", entry.name))

    def bind(self, name: str, function: Callable[..., Any], version: str | None = None) -> None:
        """Give a definition without a source its body. Raises UnknownToolError, DefinitionError."""
        name, version = _referred(name, version)
        wanted, file = _range(name, version), script_of(function)
        with self._writing:
            entry = self._entry(name)
            tool = _choice(entry, wanted)
            _check_bindable(tool.definition, function)
            bound = msgspec.structs.replace(tool, function=function, file=file)
            _check_portable(bound)
            self._put(entry.with_tool(bound))
        self._tell(Changed("bound", entry.name, bound.definition.exported_version))

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Be told of every change, after it; gives the function that ends the subscription."""
        with self._writing:
            self._subscribers += (subscriber,)

        def unsubscribe() -> None:
            with self._writing:
                self._subscribers = tuple(s for s in self._subscribers if s is not subscriber)

        return unsubscribe

    # --- inside ----------------------------------------------------------------------------

    def _chosen(self, name: str, version: str | None) -> tuple[Entry, Tool]:
        """A tool and what is set of it, both of one snapshot."""
        name, version = _referred(name, version)
        entry = self._snapshot.entry(name)
        if entry is None:
            raise UnknownToolError(_shown(name), self._near(name))
        return entry, _choice(entry, _range(name, version))

    def _check(
        self, definition: ToolDefinition, arguments: bytes | str | Mapping[str, Any]
    ) -> Checked:
        schema = arguments_of(definition, self.vocabulary.extensions)
        return self.metered(definition, lambda: schema.check(arguments))

    def _checked_tool(self, given: Any) -> Tool:
        started = time.perf_counter()
        sound = False
        try:
            tool, warnings = self._tool(given)
            sound = True
        except DefinitionError as error:
            telling.log_refused(error)
            raise
        finally:
            seconds = time.perf_counter() - started
            self._meter.defined(sound=sound, seconds=seconds)
        telling.log_validated(tool.definition, warnings)
        self._tell(_validated(tool.definition, seconds))
        return tool

    def _tool(self, given: Any) -> tuple[Tool, tuple[Issue, ...]]:
        given = from_class(given) if isinstance(given, type) else getattr(given, "tool", given)
        if not isinstance(given, (ToolDefinition, Mapping, Tool)):
            kinds = "a ToolDefinition, a Tool, a mapping, a @tool function or a class tool"
            raise TypeError(f"register {kinds}")
        written = given.definition if isinstance(given, Tool) else given
        inspected = inspect(written, self.vocabulary)
        definition = defined(written, inspected)
        tool = (
            msgspec.structs.replace(given, definition=definition)
            if isinstance(given, Tool)
            else Tool(definition=definition)
        )
        _check_portable(tool)
        return tool, inspected.warnings

    def _entry(self, name: str) -> Entry:
        entry = self._snapshot.entry(name)
        if entry is None:  # without suggestions: the lock is held, and a first search takes long
            raise UnknownToolError(_shown(name))
        return entry

    def _put(self, entry: Entry) -> None:
        newest = entry.choose() or entry.versions[0]
        self._snapshot = self._snapshot.put(entry)
        self._search.add(_search_entry(newest.definition))

    def _enable(self, what: str, name: str, *, enabled: bool) -> None:
        with self._writing:
            entry = msgspec.structs.replace(self._entry(name), enabled=enabled)
            self._snapshot = self._snapshot.put(entry)
        self._tell(Changed(what, entry.name))

    def _registered(
        self, definition: ToolDefinition, before: Entry | None, *, built_in: bool
    ) -> None:
        self._meter.created()
        telling.log_registered(definition, ref_of(definition), built_in=built_in)
        self._tell(_created(definition) if before is None else _updated(definition, before))

    def _tell(self, change: Changed) -> None:
        for subscriber in self._subscribers:
            try:
                subscriber(change)
            except Exception:  # a stranger's callable: its failure is not the registry's
                log.exception("[TLS-DEF] A subscriber failed and was passed over")


def ref_of(definition: ToolDefinition) -> str:
    """`name@version#digest`: exactly one definition."""
    return f"{definition.name}@{definition.exported_version}#{definition.digest}"


def _validated(definition: ToolDefinition, seconds: float) -> Changed:
    details = {
        "category": definition.category.word,
        "parameter_count": telling.parameter_count(definition),
        "validation_duration": seconds,
    }
    version = definition.exported_version
    return Changed("validated", definition.name, version, FrozenDict(details))


def _created(definition: ToolDefinition) -> Changed:
    details = {"definition_id": ref_of(definition), "category": definition.category.word}
    version = definition.exported_version
    return Changed("registered", definition.name, version, FrozenDict(details))


def _updated(definition: ToolDefinition, before: Entry) -> Changed:
    """The fields are those that differ from the version that was current."""
    earlier = (before.choose() or before.versions[0]).definition.to_dict()
    now = definition.to_dict()
    details = {
        "definition_id": ref_of(definition),
        "changed_fields": tuple(sorted(name for name in now if now[name] != earlier[name])),
    }
    return Changed("updated", definition.name, definition.exported_version, FrozenDict(details))


def _referred(name: Any, version: Any) -> tuple[Any, Any]:
    """A reference in one word taken apart; a name that comes with a version is left whole."""
    if version is not None or not isinstance(name, str) or "@" not in name:
        return name, version
    name, _, version = name.partition("@")
    return name, version


def _range(name: Any, version: Any) -> Range | None:
    if version is None or version == "latest":
        return None
    if not isinstance(version, str):
        raise UnknownToolError(_shown(name), (), "a version is text, such as '1.0.0' or '^1.2'")
    try:
        return parse_range(version)
    except SemverError as error:
        raise UnknownToolError(_shown(name), (), f"'{_shown(version)[:32]}': {error}") from error


def _shown(name: object) -> str:
    """A name as it may stand in a message: callers pass on whatever they were sent."""
    if not isinstance(name, str):
        return f"(of type {type(name).__name__[:64]})"
    return name[:64].encode(errors="replace").decode()


def _choice(entry: Entry, wanted: Range | None) -> Tool:
    """The version that is meant. Raises UnknownToolError naming those that there are."""
    chosen = entry.choose(wanted)
    if chosen is None:
        has = ", ".join(tool.definition.exported_version for tool in entry.versions[:5])
        detail = f"no version allows '{wanted or entry.pinned}'; there are: {has}"
        raise UnknownToolError(entry.name, (), detail)
    return chosen


def _check_bindable(definition: ToolDefinition, function: Callable[..., Any]) -> None:
    issues = list(misfits(function, definition.parameters))
    if definition.source is not None:  # it would be listed, and not be what runs
        hint = "register it without a source, or let the source be what runs"
        issues.append(fault("/source", "disagrees", "its source says where its body is", hint))
    if issues:
        raise DefinitionError(definition.name, issues)


def _check_portable(tool: Tool) -> None:
    here = tool.trusted and tool.definition.constraints.required_isolation is IsolationLevel.NONE
    issue = portability(tool.function) if tool.function is not None and not here else None
    if issue is not None:
        raise DefinitionError(tool.definition.name, (issue,))


def _search_entry(definition: ToolDefinition) -> SearchEntry:
    properties = definition.parameters.get("properties", {})
    words = [
        text
        for name, schema in properties.items()
        for text in (name, schema.get("description", "") if isinstance(schema, dict) else "")
    ]
    return SearchEntry(
        name=definition.name,
        description=definition.description,
        category=definition.category.word,
        keywords=tuple(words),
    )
