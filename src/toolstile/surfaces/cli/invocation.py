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
    SettingsError,
    StoreUnavailable,
    ToolstileError,
    UnknownToolError,
)
from toolstile.registry.registry import Registry
from toolstile.settings import Settings, State, change_state, load_settings
from toolstile.surfaces.cli import console

OK, FAILED, USAGE, DENIED, WAITS, UNAVAILABLE, FOUND = 0, 1, 2, 3, 4, 5, 7
INTERRUPTED, GONE = 130, 141

# As much as a command reads: more than any parser behind it takes, which then says so.
MAX_INPUT = 16 * 1024 * 1024

log = logging.getLogger("toolstile")

# The metavar of options that take no value: typer would write `<bool>`, as if one had to follow.
FLAG = ""

JsonOption = Annotated[bool, typer.Option("--json", metavar=FLAG, help="Print one JSON document.")]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Settings instead of .agent/config.yml.")
]
TenantOption = Annotated[str | None, typer.Option("--tenant", help="Act for this tenant.")]
FrozenOption = Annotated[
    bool, typer.Option("--frozen", metavar=FLAG, help="Refuse to change any definition.")
]


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

    def __init__(
        self, *, as_json: bool, config: Path | None, tenant: str | None, frozen: bool
    ) -> None:
        self.as_json = as_json
        self.config = config
        self.frozen = frozen
        self._overrides: dict[str, Any] = {} if tenant is None else {"tenant": tenant}

    @cached_property
    def settings(self) -> Settings:
        """The settings of the project that the command runs in."""
        return load_settings(self.config, overrides=self._overrides)

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
        def run(**given: Any) -> None:
            shared = {key: given.pop(key) for key in ("as_json", "config", "tenant", "frozen")}
            invocation = Invocation(**shared)
            exit_code = _guarded(function, invocation, _gathered(function, given))
            raise typer.Exit(exit_code)

        run.__name__ = function.__name__
        run.__doc__ = function.__doc__
        run.__signature__ = _signature(function)  # type: ignore[attr-defined]
        app.command(name)(run)
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
    return inspect.Signature([*keyword, *shared])


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
        return function(invocation, **given) or OK
    except Fail as fail:
        console.failure(fail.code, fail.message, fail.hint, as_json=invocation.as_json)
        return fail.exit_code
    except ToolstileError as error:
        exit_code, code, hint = _known(error)
        message = str(error).removesuffix(f" ({hint})")  # an exception has its repair in its text
        console.failure(code, message, hint, as_json=invocation.as_json)
        return exit_code
    except BrokenPipeError:  # which Typer would take for a failure of the command
        console.silence()
        return GONE
    except (typer.Exit, typer.Abort, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            return _broken(error, invocation)
        raise  # the answer could not be written, or the person has ended it
    except KeyboardInterrupt:
        if invocation.as_json:
            console.failure("CANCELLED", "interrupted", None, as_json=True)
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - said in words, with the story in the log
        return _broken(error, invocation)


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
        return USAGE, "SETTINGS", "correct that; `toolstile doctor` shows what came from where"
    if isinstance(error, StoreUnavailable):
        return UNAVAILABLE, "RECORD_UNAVAILABLE", error.hint
    if isinstance(error, LicenceError):
        return DENIED, "LICENSE_REQUIRED", None
    if isinstance(error, UnknownToolError):
        return FAILED, "ACODE_TSR_001", "`toolstile tools list` shows them all"
    if isinstance(error, ConflictError):
        return FAILED, "ACODE_TSR_007", error.hint
    if isinstance(error, DefinitionError):
        return FAILED, "ACODE_TSR_006", None
    return FAILED, "FAILED", None


def read_input(given: str | None) -> bytes:
    """JSON given as text, as @FILE, or on stdin (`-` or nothing). Raises Fail."""
    if given is None or given == "-":
        stream = typer.get_binary_stream("stdin")
        if given is None and stream.isatty():
            hint = "give JSON, @FILE, or pipe it in"
            raise Fail(USAGE, "USAGE", "there are no arguments", hint)
        return stream.read(MAX_INPUT)
    if given.startswith("@"):
        return read_file(Path(given[1:]))
    return os.fsencode(given)  # as it came: what is no UTF-8 is for the parser to say


def read_file(path: Path) -> bytes:
    """The bytes of a file that the command line names. Raises Fail."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_INPUT)
    except OSError as error:
        raise Fail(USAGE, "USAGE", f"cannot read {path}: {error.strerror}") from error
