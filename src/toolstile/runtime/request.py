"""Step 1: what came in, parsed once, and stored so that it can come in again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from toolstile.model.call import MAX_IDENTIFIER, Call, Caller, check_identifier
from toolstile.model.decision import Approval
from toolstile.model.semver import SemverError, parse_range
from toolstile.model.vocabulary import IsolationLevel
from toolstile.runtime.ended import Ended, invalid
from toolstile.schema.parse import ParseFault, check_value, parse

MAX_TIMEOUT = 86_400  # a day; what takes longer is not one call
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a surface hands to the line. `arguments` is the model's raw JSON, or a mapping.

    `approval` and `execution_id` are set where a stored request comes in again.
    """

    tool: str
    arguments: bytes | str | Mapping[str, Any]
    caller: Caller = Caller()
    version: str | None = None
    call_id: str | None = None
    correlation_id: str | None = None
    timeout: float | None = None
    isolation: str | None = None
    preview: bool = False
    execution_id: str | None = None
    approval: Approval | None = None


def parse_request(request: Request, execution_id: str) -> Call:
    """The call of a request. Raises Ended (VALIDATION_ERROR) with every fault's place."""
    try:
        if isinstance(request.arguments, (bytes, str)):
            arguments = parse(request.arguments)
        else:
            arguments = check_value(request.arguments)
    except ParseFault as fault:
        raise invalid((fault.issue,)) from fault
    _check_about(request)
    tool, version = _referred(request)
    return Call(
        tool=tool,
        arguments=arguments,
        caller=request.caller,
        execution_id=execution_id,
        version=version,
        call_id=request.call_id,
        correlation_id=request.correlation_id,
        timeout=request.timeout,
        isolation=request.isolation,
        preview=request.preview,
    )


def _check_about(request: Request) -> None:
    """Everything about the call that is not its arguments."""
    _check("tool", _named(request.tool))
    for name in ("call_id", "correlation_id"):
        if getattr(request, name) is not None:
            _check(name, getattr(request, name))
    _check_version(request.version)
    if request.execution_id is not None and not is_execution_id(request.execution_id):
        raise Ended.validation("the execution id is no UUID", "leave it out: one is made")
    if not isinstance(request.preview, bool):
        raise Ended.validation("preview is yes or no", "give True or False")
    _check_timeout(request.timeout)
    _check_isolation(request.isolation)


def _referred(request: Request) -> tuple[str, str | None]:
    """The tool's name and the range: each said by itself, or both in one as `name@range`."""
    name = _named(request.tool)
    if name == request.tool:
        return name, request.version
    if request.version is not None:
        raise Ended.validation("the version is said twice", "write name@range, or give a version")
    wanted = request.tool.removeprefix(f"{name}@")
    _check_version(wanted)
    return name, wanted


def _named(tool: Any) -> Any:
    """A reference without its range; whatever is no text comes back as it is."""
    return tool.partition("@")[0] if isinstance(tool, str) else tool


def _check(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise Ended.validation(f"{name} must be text", f"choose another {name}")
    try:
        check_identifier(name, value)
    except ValueError as error:
        raise Ended.validation(str(error), f"choose another {name}") from error


def _check_version(version: object) -> None:
    if version is None:
        return
    try:
        if isinstance(version, str):
            parse_range(version)
            return
    except SemverError:
        pass
    raise Ended.validation("the version is no range", "write one like ^1.2, or leave it out")


def _check_timeout(seconds: object) -> None:
    if seconds is None:
        return
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    # Written so that NaN fails it.
    if not (number and 0 < seconds <= MAX_TIMEOUT):  # type: ignore[operator]
        raise Ended.validation(
            f"timeout must be more than 0 and at most {MAX_TIMEOUT:,} seconds", "leave it out"
        )


def _check_isolation(word: object) -> None:
    if word is None:
        return
    levels = [level.word for level in IsolationLevel]
    if word not in levels:
        raise Ended.validation("no such isolation level", f"choose {', '.join(levels[1:])}")
    if word == IsolationLevel.NONE.word:
        # Running in a child all the same would be safe, but not what was asked for.
        raise Ended.validation("isolation none is not supported yet", "leave isolation out")


def is_execution_id(text: object) -> bool:
    """Is this a UUID in its one spelling?"""
    return isinstance(text, str) and _UUID.fullmatch(text) is not None


def storable(value: object) -> str | None:
    """What a caller wrote, for the record of a call that may be refused because of it: text, of
    bounded length, with nothing in it that has no bytes."""
    if value is None:
        return None
    return str(value)[:MAX_IDENTIFIER].encode("utf-8", "replace").decode()


def stored(call: Call) -> bytes:
    """The call as bytes, to be re-entered after an approval or looked at after a crash."""
    return msgspec.json.encode(call)


def restored(request: bytes, approval: Approval) -> Request:
    """The stored request again, now with a person's answer."""
    call = msgspec.json.decode(request, type=Call)
    fields = {name: getattr(call, name) for name in call.__struct_fields__}
    return Request(**fields, approval=approval)
