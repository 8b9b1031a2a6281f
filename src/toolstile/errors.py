"""Every exception that Toolstile raises at its users.

ToolstileError                  the root: catch this one to catch all of ours
├── DefinitionError             a tool definition breaks rules; `.issues` lists every fault
├── ConflictError               a name and version are taken by another definition
├── UnknownToolError            no tool of that name and version; `.suggestions` may help
├── UnknownDialectError         no provider's dialect has this name; `.known` has them all
├── SchemaValidationError       arguments do not fit the tool's schema; `.issues`, `.tool`
├── LicenceError                a licence tier is needed; `.needs` names the lowest one
├── SettingsError               a configuration file or option is wrong; `.issues` if several
├── StoreUnavailable            the store cannot record, so nothing may run
├── NotWaiting                  no such call waits for a person's answer
├── CallFailed                  raised by `raise_for_status` only; `.result` says everything
└── ToolError                   raised *by tool authors*: a failure the model may read and act on

A call itself never raises for what a tool, a model or a policy does: it returns a result.
Messages name what was wrong and what to do next; they never contain arguments or outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Finding(Protocol):
    """What an exception needs to know of an issue (`toolstile.model.issue.Issue` is one)."""

    @property
    def path(self) -> str: ...
    @property
    def code(self) -> str: ...
    @property
    def error_code(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def expected(self) -> str | None: ...
    @property
    def actual(self) -> str | None: ...
    @property
    def hint(self) -> str | None: ...


class ToolstileError(Exception):
    """Root of everything Toolstile raises."""


SHOWN = 10  # issues in an exception's text; all of them are in `.issues`


def _listing(head: str, issues: Sequence[Finding]) -> str:
    lines = [head]
    for issue in issues[:SHOWN]:
        hint = f" ({issue.hint})" if issue.hint else ""
        lines.append(f"  {issue.path or '(whole)'}: {issue.message}{hint} [{issue.error_code}]")
    if len(issues) > SHOWN:
        lines.append(f"  ... and {len(issues) - SHOWN} more")
    return "\n".join(lines)


class DefinitionError(ToolstileError):
    """A definition breaks rules. All its faults are in `issues`, not only the first."""

    def __init__(self, name: str, issues: Sequence[Finding]) -> None:
        self.name = name
        self.issues = tuple(issues)
        super().__init__(_listing(f"Definition of tool '{name}' is refused:", self.issues))


class ConflictError(ToolstileError):
    """The same name and version already mean another definition."""

    code = "ACODE-TSR-007"

    def __init__(self, name: str, reason: str, hint: str) -> None:
        self.name = name
        self.hint = hint
        super().__init__(f"Tool '{name}' already registered: {reason} ({hint})")


class UnknownToolError(ToolstileError):
    """No tool answers to this name and version."""

    code = "ACODE-TSR-001"

    def __init__(self, name: str, suggestions: Sequence[str] = (), detail: str = "") -> None:
        self.name = name
        self.suggestions = tuple(suggestions)
        text = f"Unknown tool: '{name}'"
        if detail:
            text += f" ({detail})"
        if self.suggestions:
            text += f". Did you mean: {', '.join(self.suggestions)}?"
        super().__init__(text)


class UnknownDialectError(ToolstileError):
    """No dialect has this name; `known` has those that there are."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        self.known = tuple(known)
        super().__init__(f"Unknown dialect: '{name[:64]}'. There are: {', '.join(self.known)}")


class SchemaValidationError(ToolstileError):
    """Arguments do not fit the schema of `tool`; `issues` says where and why."""

    def __init__(self, tool: str, issues: Sequence[Finding]) -> None:
        self.tool = tool
        self.issues = tuple(issues)
        super().__init__(_listing(f"Arguments of tool '{tool}' are invalid:", self.issues))


class LicenceError(ToolstileError):
    """A feature needs a higher licence tier; `needs` is the lowest that has it."""

    def __init__(self, feature: str, needs: str) -> None:
        self.feature = feature
        self.needs = needs
        super().__init__(f"{feature} needs licence tier '{needs}' or higher")


class SettingsError(ToolstileError):
    """A configuration file, environment variable or option is wrong."""

    def __init__(self, where: str, issues: Sequence[Finding]) -> None:
        self.where = where
        self.issues = tuple(issues)
        super().__init__(_listing(f"Settings in {where} are refused:", self.issues))


class StoreUnavailable(ToolstileError):
    """The store cannot be read or written; nothing is run without a record."""

    def __init__(self, reason: str, hint: str) -> None:
        self.hint = hint
        super().__init__(f"{reason} ({hint})")


class NotWaiting(ToolstileError):
    """No such call waits for an answer."""


class CallFailed(ToolstileError):
    """Raised by `raise_for_status` only: the call did not succeed; `result` says everything."""

    # A ToolResult, which this module may not know: nothing stands below it.
    def __init__(self, result: Any) -> None:
        self.result = result
        super().__init__(f"{result.input.tool}: {result.status.word}: {result.error_message}")


class ToolError(ToolstileError):
    """Raised by a tool's author: `code` in SCREAMING_SNAKE_CASE, `message` for the model."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(f"{code}: {message}")
