"""What every command shares: `--json --config --tenant --frozen`, and errors as exit codes.

A command is a function of an Invocation and its own parameters. `command` adds the shared options
to its signature, opens nothing, and turns our exceptions into one message with its repair.
"""

from __future__ import annotations

import inspect
import logging
import os
import typing
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from toolstile.app import Runtime, load_tools, state_file
from toolstile.errors import (
    ConflictError,
    DefinitionError,
    LicenceError,
    NotWaiting,
    SettingsError,
    StoreUnavailable,
    ToolstileError,
    UnknownDialectError,
    UnknownToolError,
)
from toolstile.model.call import check_identifier
from toolstile.registry.registry import Registry
from toolstile.settings import Settings, State, change_state, load_settings
from toolstile.settings.places import SETTINGS_INVALID
from toolstile.surfaces.cli import console
from toolstile.surfaces.cli.helping import ONE_OBJECT, Command

OK, FAILED, USAGE, DENIED, WAITS, UNAVAILABLE, FOUND = 0, 1, 2, 3, 4, 5, 7
INTERRUPTED, GONE = 130, 141

# As much as a command reads: more than any parser behind it takes, which then says so.
MAX_INPUT = 16 * 1024 * 1024

log = logging.getLogger("toolstile")
TOOL_LOG = "toolstile.tool"  # the logger of what tools say themselves

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings instead of .agent/config.yml."),
]
TenantOption = Annotated[
    str | None,
    typer.Option("--tenant", metavar="TENANT", help="Whose calls these are; tools are the same."),
]
FrozenOption = Annotated[
    bool,
    typer.Option(
        "--frozen",
        help="Refuse what changes definitions: tools add, remove, enable, disable, pin.",
    ),
]

# Parameters whose text may be any bytes: names of files, and what a parser looks at.
ANY_BYTES = ("arguments", "old", "new")


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """The options that every command takes; they may also stand before the command."""

    as_json: bool = False
    config: Path | None = None
    tenant: str | None = None
    frozen: bool = False

    def over(self, other: Shared | None) -> Shared:
        """What is said after the command, and else what is said before it."""
        before = other or Shared()
        return Shared(
            as_json=self.as_json or before.as_json,
            config=before.config if self.config is None else self.config,
            tenant=before.tenant if self.tenant is None else self.tenant,
            frozen=self.frozen or before.frozen,
        )


class Fail(Exception):
    """A command ends here, with this exit code and these words."""

    def __init__(self, exit_code: int, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.code = code
        self.message = message
        self.hint = hint


class Invocation:
    """One run of the command line."""

    def __init__(self, shared: Shared) -> None:
        self.as_json = shared.as_json
        self.config = shared.config
        self.frozen = shared.frozen
        self._tenant = shared.tenant

    @cached_property
    def settings(self) -> Settings:
        """The settings of the project that the command runs in; what is odd about them is said."""
        found = self.read_settings()
        for warning in found.warnings:
            console.tell(f"toolstile: {warning.message} ({warning.hint})")
        return found

    def read_settings(self) -> Settings:
        """The settings as they are now, for a command that speaks of them itself."""
        return load_settings(self.config, overrides=self._overrides)

    @property
    def _overrides(self) -> dict[str, Any]:
        if self._tenant is None:
            return {}
        try:
            return {"tenant": check_identifier("the tenant", self._tenant)}
        except ValueError as error:
            raise Fail(USAGE, "USAGE", f"--tenant: {error}", "write another name") from error

    @cached_property
    def registry(self) -> Registry:
        """The project's tools."""
        return load_tools(self.settings).registry

    def runtime(self) -> Runtime:
        """A runtime over the same settings, not yet open."""
        return Runtime(settings=self.config, **self._overrides)

    def change_state(self, change: Callable[[State, Registry], State]) -> None:
        """Change what commands change, from it and the tools as they are now; whoever else does
        waits. What is refused has to be looked at in here: outside it may be so no longer."""

        def changed(state: State) -> State:
            return change(state, load_tools(self.settings).registry)

        change_state(state_file(self.settings), changed, self.settings.state)

    def changing(self) -> None:
        """Called by commands that change definitions. Raises Fail under --frozen."""
        if self.frozen:
            hint = "leave --frozen out if the change is meant"
            raise Fail(FAILED, "FROZEN", "definitions are frozen: nothing was changed", hint)


def command(app: typer.Typer, name: str | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Register a function whose first parameter is the Invocation."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(ctx: typer.Context, **given: Any) -> None:
            said = Shared(**{key: given.pop(key) for key in Shared.__struct_fields__})
            invocation = Invocation(said.over(ctx.find_root().obj))
            raise typer.Exit(_guarded(function, invocation, given))

        run.__name__ = function.__name__
        run.__doc__ = function.__doc__
        run.__signature__ = _signature(function)  # type: ignore[attr-defined]
        app.command(name, cls=Command)(run)
        return function

    return register


def _own(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """A command's own parameters, after the Invocation."""
    return list(inspect.signature(function, eval_str=True).parameters.values())[1:]


def _is_group(parameter: inspect.Parameter) -> bool:
    """Options that belong together are one parameter: a Struct, whose fields are the options."""
    kind = parameter.annotation
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _gathered(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    for parameter in _own(function):
        if _is_group(parameter):
            kind = parameter.annotation
            fields = {name: given.pop(name) for name in kind.__struct_fields__}
            given[parameter.name] = kind(**fields)
    return given


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    own = [each for parameter in _own(function) for each in _expanded(parameter)]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, kind, default in (
            ("as_json", JsonOption, False),
            ("config", ConfigOption, None),
            ("tenant", TenantOption, None),
            ("frozen", FrozenOption, False),
        )
    ]
    keyword = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
    context = inspect.Parameter(
        "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    return inspect.Signature([context, *keyword, *shared])


def _expanded(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    if not _is_group(parameter):
        return [parameter]
    hints = typing.get_type_hints(parameter.annotation, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=field.default,
        )
        for field in msgspec.structs.fields(parameter.annotation)
    ]


def _guarded(function: Callable[..., Any], invocation: Invocation, given: dict[str, Any]) -> int:
    try:
        _refuse_half_characters(given)
        return function(invocation, **_gathered(function, given)) or OK
    except Fail as fail:
        console.failure(fail.code, fail.message, fail.hint, as_json=invocation.as_json)
        return fail.exit_code
    except ToolstileError as error:
        exit_code, code, hint = _known(error)
        console.failure(code, message_of(error, hint), hint, as_json=invocation.as_json)
        return exit_code
    except BrokenPipeError:  # which Typer would take for a failure of the command
        console.silence()
        return GONE
    except (typer.Exit, typer.Abort, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            return _broken(error, invocation)
        raise  # the answer could not be written, or the person has ended it
    except KeyboardInterrupt:
        console.failure("CANCELLED", "interrupted", None, as_json=invocation.as_json)
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - said in words, with the story in the log
        return _broken(error, invocation)


def _refuse_half_characters(given: dict[str, Any]) -> None:
    """Bytes that are no UTF-8 come as halves of characters, which nothing behind here can write."""
    for name, value in given.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and name not in ANY_BYTES and not _is_whole(text):
                message = f"'{text[:64]}' holds bytes that are not UTF-8"
                raise Fail(USAGE, "USAGE", message, "write it as text")


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def message_of(error: ToolstileError, hint: str | None = None) -> str:
    """What went wrong; the repair and the code, which exceptions have in their text, are said
    beside it."""
    return str(error).replace(f" [{SETTINGS_INVALID}]", "").removesuffix(f" ({hint})")


def _broken(error: Exception, invocation: Invocation) -> int:
    log.error("[TLS-CLI] The command failed in toolstile.", exc_info=error)
    message = f"an error in toolstile ended the command: {type(error).__name__}; see the log"
    console.failure(
        "INTERNAL_ERROR", message, "report it, with the log", as_json=invocation.as_json
    )
    return FAILED


def _known(error: ToolstileError) -> tuple[int, str, str | None]:
    """Exit code, code and repair of our own exceptions."""
    if isinstance(error, SettingsError):
        return (
            USAGE,
            SETTINGS_INVALID,
            "correct that; `toolstile doctor` shows what came from where",
        )
    if isinstance(error, NotWaiting):
        return FAILED, "NOT_WAITING", "`toolstile confirm list` shows those that do"
    if isinstance(error, StoreUnavailable):
        return UNAVAILABLE, "RECORD_UNAVAILABLE", error.hint
    if isinstance(error, LicenceError):
        return DENIED, "LICENSE_REQUIRED", None
    if isinstance(error, UnknownToolError):
        return FAILED, "ACODE_TSR_001", "`toolstile tools list` shows them all"
    if isinstance(error, UnknownDialectError):
        return USAGE, "USAGE", "`toolstile export --help` has them all"
    if isinstance(error, ConflictError):
        return FAILED, "ACODE_TSR_007", error.hint
    if isinstance(error, DefinitionError):
        return FAILED, "ACODE_TSR_006", None
    return FAILED, "FAILED", None


def read_arguments(command_words: str, name: str, given: str | None) -> bytes:
    """A tool's arguments: JSON given as text, as @FILE, or on stdin (`-` or nothing). Raises Fail
    for what is none of these, such as `path=x`; what is wrong JSON is for the parser to say."""
    if name.startswith(("@", "{")):
        raise Fail(USAGE, "USAGE", "the name of a tool comes first", _how(command_words, "NAME"))
    if given is None or given == "-":
        return _read_stdin(_how(command_words, name), named=given is not None)
    if given.startswith("@"):
        return read_file(Path(given[1:]))
    if not given.lstrip("\ufeff \t\r\n").startswith(("{", "[", '"')):
        raise Fail(USAGE, "USAGE", "that is no JSON object", _how(command_words, name))
    return os.fsencode(given)  # as it came: what is no UTF-8 is for the parser to say


def _how(command_words: str, name: str) -> str:
    return ONE_OBJECT.format(command=command_words, name=name)


def _read_stdin(hint: str, *, named: bool) -> bytes:
    stream = typer.get_binary_stream("stdin")
    raw = b"" if not named and stream.isatty() else stream.read(MAX_INPUT)
    if not raw.strip() and not named:
        raise Fail(USAGE, "USAGE", "there are no arguments", hint)
    return raw


def read_file(path: Path) -> bytes:
    """The bytes of a file that the command line names. Raises Fail."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_INPUT)
    except OSError as error:
        raise Fail(USAGE, "USAGE", f"cannot read {path}: {error.strerror}") from error
