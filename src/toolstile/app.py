"""Where everything is put together: the only module that names adapters.

    async with Runtime(tools=[word_count]) as rt:
        result = await rt.call(word_count, path="notes.txt")

A runtime reads its settings, opens its store, recovers what crashed executors left behind, and
hands out one thing: calls that walk the line.
"""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path
from typing import Any, Self

import msgspec

from toolstile.authoring import Tool
from toolstile.authoring.binding import typed_result
from toolstile.effects.files import FileEffects
from toolstile.errors import ConflictError, SettingsError, ToolError, UnknownToolError
from toolstile.model.call import Caller
from toolstile.model.definition import ToolDefinition
from toolstile.model.issue import Issue, pointer, unknown_tool
from toolstile.model.record import CallRecord
from toolstile.registry.registry import Registry
from toolstile.runtime import approvals
from toolstile.runtime.blocking import Blocking
from toolstile.runtime.executor import Executor, Observer
from toolstile.runtime.outcome import Result, Staged
from toolstile.runtime.ports import Store
from toolstile.runtime.records import decoded
from toolstile.runtime.request import Request
from toolstile.runtime.setting import Setting
from toolstile.runtime.whole import whole
from toolstile.sandbox.process import ChildProcess
from toolstile.schema.defining import Vocabulary
from toolstile.schema.issue import fault
from toolstile.settings import Settings, load_settings, make_private, read_state
from toolstile.settings.loading import store_file
from toolstile.settings.places import (
    AGENT_DIRECTORY,
    LEASES,
    SETTINGS_INVALID,
    STAGING,
    STATE_FILE,
    place_beside,
    real,
)
from toolstile.sources.declared import Failure, declared_tools
from toolstile.sources.entry_points import extensions, providers

log = logging.getLogger("toolstile")

Callee = str | Tool | Callable[..., Any]
"""A tool by name, as an object, or as its decorated function."""

# Keywords of `call` that speak about the call; every other keyword is an argument of the tool.
ABOUT_THE_CALL = frozenset(
    ("call_id", "version", "timeout", "isolation", "execution_id", "correlation_id", "preview")
)

# Settings that are read and checked and not yet obeyed. Whoever writes one relies on it, so a
# runtime does not open over it.
NOT_YET = ("policy", "agents", "mcp_servers", "licence", "limits", "retention", "features")

_TOOL_PROCESS = "toolstile.sandbox.child"


class Loaded(msgspec.Struct, frozen=True):
    """A project's tools, and what had to be left out."""

    registry: Registry
    failures: tuple[Failure, ...] = ()


def load_tools(settings: Settings, tools: Iterable[Any] = ()) -> Loaded:
    """All tools of a project: given ones, its providers', its declared ones, as it set them.

    What fails is left out and named; it never takes the others down.
    """
    chosen = read_state(state_file(settings)).applied_to(settings.tools)
    extended = extensions(chosen.extensions)
    registry = Registry(Vocabulary(extensions=extended.extensions))
    for tool in tools:
        registry.register(tool)
    failures = [*extended.failures, *providers(chosen.providers, registry)]
    declared = declared_tools(chosen.custom, registry.vocabulary)
    failures += declared.failures
    for index, definition in enumerate(declared.tools):
        failures += _refused(registry, definition, index)
    for name in chosen.disabled:
        failures += _set(name, partial(registry.disable, name))
    for name, version in chosen.pins.items():
        failures += _pinned(registry, name, version)
    for failure in failures:
        log.error("[TLS-DEF] Left out. name=%s reason=%s", failure.name, failure.reason)
    return Loaded(registry, tuple(failures))


def _refused(registry: Registry, definition: ToolDefinition, index: int) -> Iterator[Failure]:
    try:
        registry.register(definition)
    except ConflictError as error:
        issue = fault("/name", "conflict", str(error), error.hint)
        yield Failure(name=definition.name, index=index, issues=(issue,))


def _set(name: str, change: Callable[[], None]) -> Iterator[Failure]:
    """Disabling or pinning a tool that is not there is worth saying, and no more than that."""
    try:
        change()
    except UnknownToolError as error:
        issue = msgspec.structs.replace(
            unknown_tool(error), path="/tools", hint="correct the name, or drop the entry"
        )
        yield Failure(name=name, index=0, issues=(issue,))


def _pinned(registry: Registry, name: str, version: str) -> list[Failure]:
    """A tool that has no version of those that it is pinned to is not there: whatever else would
    run is what the pin is to keep from running."""
    failures = list(_set(name, partial(registry.pin, name, version)))
    if failures and name in registry:
        registry.disable(name)
    return failures


def state_file(settings: Settings) -> Path:
    """Where commands keep what they change: beside the user's file, never in it."""
    return settings.project / AGENT_DIRECTORY / STATE_FILE


def open_store(settings: Settings) -> Store:
    """The store that the settings name: in memory, or one SQLite file in the state directory."""
    written = settings.store
    if written == "memory:":
        from toolstile.store.memory import MemoryStore  # noqa: PLC0415 - one of two

        return MemoryStore()
    from toolstile.store.sqlite import SqliteStore  # noqa: PLC0415 - sqlite3 takes 5 ms

    if written == "sqlite":
        return SqliteStore(make_private(settings.state) / "toolstile.db")
    if written.startswith("sqlite:///"):
        return SqliteStore(Path(written.removeprefix("sqlite:///")))
    hint = "use sqlite, sqlite:///PATH or memory:"
    raise SettingsError("store", (_not_yet("store", hint),))


def staging_of(settings: Settings) -> Path:
    """Where runs put what they would write: beside the store, because whoever recovers a call of
    this store, in whichever project, has to find it."""
    return place_beside(store_file(settings) or settings.state / "toolstile.db", STAGING)


def unheeded(settings: Settings) -> tuple[Issue, ...]:
    """What is set although this version does not obey it."""
    untouched = Settings(project=settings.project, state=settings.state)
    return tuple(
        _not_yet(key, "leave it out; nothing would come of it")
        for key in NOT_YET
        if getattr(settings, key) != getattr(untouched, key)
    )


def _not_yet(key: str, hint: str) -> Issue:
    message = f"this version reads '{key}' and cannot do what it says"
    place = pointer(key)
    return Issue(
        path=place, code="not_yet", error_code=SETTINGS_INVALID, message=message, hint=hint
    )


def masked_places(settings: Settings) -> tuple[str, ...]:
    """What no tool may name or open, whatever is granted: .agent, and the state of all projects."""
    places = [settings.project / AGENT_DIRECTORY, settings.state.parent]
    if file := store_file(settings):
        places += [place_beside(file, kind) for kind in (STAGING, LEASES)]
    return tuple(real(place) for place in places)


class Runtime:
    """Tools, rights, store and sandbox in one: an async context manager.

    `settings` is a path, a mapping, or None for .agent/config.yml where there is one; `store`,
    `grants` and every other key of the settings given here override it. `observers` are told how
    every call ended, refused and recovered ones included. `.blocking()` is the same without
    `await`.
    """

    def __init__(
        self,
        tools: Iterable[Any] = (),
        *,
        settings: Path | str | Mapping[str, Any] | None = None,
        store: str | None = None,
        grants: Mapping[str, Any] | None = None,
        observers: Iterable[Observer] = (),
        **overrides: Any,
    ) -> None:
        self._tools = tuple(tools)
        self._observers = tuple(observers)
        self._source = Path(settings) if isinstance(settings, str) else settings
        said = {"store": store, "grants": grants}
        self._overrides = overrides | {k: value for k, value in said.items() if value is not None}
        self._caller = Caller()
        self._is_open = False

    async def __aenter__(self) -> Self:
        _refuse_inside_a_tool()
        if self._is_open:
            raise RuntimeError("this runtime is open already: make another")
        self.settings = load_settings(self._source, overrides=self._overrides)
        if ignored := unheeded(self.settings):
            raise SettingsError("this project", ignored)
        self._caller = Caller(tenant=self.settings.tenant)
        self.registry = load_tools(self.settings, self._tools).registry
        self._store = open_store(self.settings)
        try:
            await self._open()
        except BaseException:
            await whole(self._store.close())
            raise
        self._is_open = True
        return self

    async def _open(self) -> None:
        self._effects = FileEffects(make_private(staging_of(self.settings)))
        line = (self._setting(), self._store, ChildProcess(), self._effects, self._observers)
        self.executor = Executor(*line)
        await self.executor.recover()

    async def __aexit__(self, *_: object) -> None:
        self._is_open = False
        await whole(self._close())

    async def _close(self) -> None:
        try:
            await self.executor.close()
        finally:
            self._effects.close()  # no file is written any more once the lease is given up
            await self._store.close()

    def blocking(self) -> Blocking:
        """The synchronous door: `with Runtime(...).blocking() as rt: rt.call(...)`."""
        return Blocking(self)

    def _setting(self) -> Setting:
        settings = self.settings
        return Setting(
            find=self.registry.callable_tool,
            base=str(settings.project),
            grants=settings.grants,
            checking=self.registry.metered,
            extensions=self.registry.vocabulary.extensions,
            permissions=settings.permissions,
            written_in=self._written_in,
            masked=masked_places(settings),
            unenforced_accepted_at_own_risk=frozenset(settings.unenforced_accepted),
        )

    @property
    def _written_in(self) -> str:
        """Where a missing right would be added: what a program says overrides a file."""
        in_program = isinstance(self._source, Mapping) or "grants" in self._overrides
        return "what this Runtime is given" if in_program else f"{AGENT_DIRECTORY}/config.yml"

    def as_(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        session: str | None = None,
        conversation: str | None = None,
        tenant: str | None = None,
    ) -> Bound:
        """The same runtime for one caller: `rt.as_(agent="me", session="s1")`."""
        tenant = self._caller.tenant if tenant is None else tenant
        who = Caller(
            agent=agent, user=user, session=session, conversation=conversation, tenant=tenant
        )
        return Bound(self, who)

    async def call(self, tool: Callee, arguments: Any = None, **keywords: Any) -> Result[Any]:
        """Call a tool: `rt.call(f, path="a")`, `rt.call("f", {"path": "a"})`, or the model's raw
        JSON text. Keywords about the call (`call_id`, `timeout`, ...) are not arguments."""
        return await self.as_().call(tool, arguments, **keywords)

    async def preview(self, tool: Callee, arguments: Any = None, **keywords: Any) -> Staged[Any]:
        """Run a tool without letting it change anything; look at the diff, commit or discard."""
        return await self.as_().preview(tool, arguments, **keywords)

    async def approve(
        self,
        execution_id: str,
        by: Caller | None = None,
        note: str = "",
        digest: str | None = None,
    ) -> Result[Any]:
        """Let a waiting call go on; `digest` is that of what the person saw."""
        approver = by or self._caller
        record = await approvals.approve(self.executor, execution_id, approver, note, digest)
        return self._typed(record)

    async def deny(
        self, execution_id: str, by: Caller | None = None, note: str = ""
    ) -> Result[Any]:
        """End a waiting call with a no."""
        record = await approvals.deny(self.executor, execution_id, by or self._caller, note)
        return self._typed(record)

    async def confirmations(self) -> tuple[Result[Any], ...]:
        """The calls that wait for a person's answer, oldest first."""
        return _results(await self._store.waiting(self._caller.tenant))

    async def confirmation(self, execution_id: str) -> approvals.Seen:
        """A waiting call as a person should see it before answering."""
        return await approvals.waiting(self.executor, self._caller.tenant, execution_id)

    async def cancel(self, execution_id: str) -> bool:
        """Ask a running call of this runtime to stop; True if it was running here."""
        return self.executor.cancel(self._caller.tenant, execution_id)

    @property
    def results(self) -> Results:
        """What is recorded of calls."""
        return Results(self._store, self._caller.tenant)

    def _typed(self, record: Any) -> Result[Any]:
        tool = record.input.tool
        value = record.output if record.is_success else None
        found = self.registry.tool(tool) if tool in self.registry else None
        whole = record.is_success and not record.metadata.output_truncated
        if whole and found is not None and inspect.isfunction(found.function):
            # A result of another day may be of a version that returned something else.
            try:
                value = typed_result(found.function, record.output)
            except Exception as error:  # noqa: BLE001 - the author's class: it may raise anything
                log.warning("[TLS-RUN] The value stays plain JSON. reason=%s", type(error).__name__)
        return Result(record, value if whole else None)


class Results:
    """The recorded calls of one tenant."""

    __blocking__ = True  # the blocking door wraps it

    def __init__(self, store: Store, tenant: str) -> None:
        self._store = store
        self._tenant = tenant

    async def get(self, execution_id: str) -> Result[Any] | None:
        """One call, as far as it has come; None where there is none, or no end of it yet."""
        record = await self._store.get(self._tenant, execution_id)
        return Result(decoded(record), None) if record is not None and record.result else None

    async def history(self, limit: int = 100) -> tuple[Result[Any], ...]:
        """The newest calls first, refused ones included."""
        return _results(await self._store.history(self._tenant, limit))


def _results(found: Iterable[CallRecord]) -> tuple[Result[Any], ...]:
    return tuple(Result(decoded(record), None) for record in found if record.result)


class Bound:
    """A runtime and a caller: what an agent's code is handed."""

    __blocking__ = True  # the blocking door wraps it

    def __init__(self, runtime: Runtime, caller: Caller) -> None:
        self._runtime = runtime
        self.caller = caller

    async def call(self, tool: Callee, arguments: Any = None, **keywords: Any) -> Result[Any]:
        """Call a tool as this caller; see `Runtime.call`."""
        about = {key: keywords.pop(key) for key in ABOUT_THE_CALL & keywords.keys()}
        if arguments is not None and keywords:
            raise TypeError("give the arguments as a mapping or as keywords, not both")
        if arguments is None and about:
            self._refuse_ambiguous(_name_of(tool), about.keys())
        request = Request(
            tool=_name_of(tool),
            arguments=keywords if arguments is None else arguments,
            caller=self.caller,
            **about,
        )
        if not hasattr(self._runtime, "executor"):
            raise RuntimeError("open it first: `async with Runtime(...) as rt`")
        record = await self._runtime.executor.call(request)
        return self._runtime._typed(record)  # noqa: SLF001 - one object in two

    def _refuse_ambiguous(self, name: str, about: AbstractSet[str]) -> None:
        """A tool may have a parameter of the same name: a guess would shorten its deadline, or
        leave an argument out, and say nothing."""
        registry = self._runtime.registry
        found = registry.tool(name) if name in registry else None
        own = found.definition.parameters.get("properties", {}) if found else {}
        for word in sorted(about & own.keys()):
            raise TypeError(
                f"'{word}' is a parameter of {name}, and a keyword about the call: give the "
                f'arguments as a mapping, as in call("{name}", {{"{word}": ...}})'
            )

    async def preview(self, tool: Callee, arguments: Any = None, **keywords: Any) -> Staged[Any]:
        """Run a tool without letting it change anything; see `Runtime.preview`."""
        result = await self.call(tool, arguments, preview=True, **keywords)
        waits = result.error_code == "REQUIRES_CONFIRMATION"
        tenant, executor = self.caller.tenant, self._runtime.executor
        seen = await approvals.waiting(executor, tenant, result.execution_id) if waits else None
        return Staged(self, result, seen)

    async def approve(
        self, execution_id: str, by: Caller | None = None, **more: Any
    ) -> Result[Any]:
        """Let a waiting call of this caller's tenant go on; see `Runtime.approve`."""
        by = by or Caller(tenant=self.caller.tenant)
        return await self._runtime.approve(execution_id, by=by, **more)

    async def deny(
        self, execution_id: str, by: Caller | None = None, note: str = ""
    ) -> Result[Any]:
        """End a waiting call of this caller's tenant with a no."""
        by = by or Caller(tenant=self.caller.tenant)
        return await self._runtime.deny(execution_id, by=by, note=note)


def _refuse_inside_a_tool() -> None:
    """A file that opens a runtime when it is imported would do so again in the process of each of
    its tools, and in the processes of theirs, without end."""
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    if getattr(main, "name", None) == _TOOL_PROCESS:
        message = (
            "a tool's process opened a Runtime: a file is imported again to run its tools, so put "
            'what it does as a program under `if __name__ == "__main__":`'
        )
        raise ToolError("RUNTIME_IN_TOOL", message)


def _name_of(tool: Callee) -> str:
    if isinstance(tool, str):
        return tool
    definition = getattr(tool, "definition", None)
    if definition is None:
        raise TypeError("call a tool by its name, or by a function decorated with @tool")
    name: str = definition.name
    return name
