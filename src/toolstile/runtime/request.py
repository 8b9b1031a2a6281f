"""Step 1: what came in, parsed once, and stored so that it can come in again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from toolstile.model.call import Call, Caller, check_identifier
from toolstile.model.decision import Approval
from toolstile.runtime.ended import Ended, invalid
from toolstile.schema.parse import ParseFault, check_value, parse


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
    for name in ("call_id", "correlation_id"):
        _check(name, getattr(request, name))
    return Call(
        tool=request.tool,
        arguments=arguments,
        caller=request.caller,
        execution_id=execution_id,
        version=request.version,
        call_id=request.call_id,
        correlation_id=request.correlation_id,
        timeout=request.timeout,
        isolation=request.isolation,
        preview=request.preview,
    )


def _check(name: str, value: str | None) -> None:
    if value is not None:
        try:
            check_identifier(name, value)
        except ValueError as error:
            raise Ended.validation(str(error), f"choose another {name}") from error


def stored(call: Call) -> bytes:
    """The call as bytes, to be re-entered after an approval or looked at after a crash."""
    return msgspec.json.encode(call)


def restored(request: bytes, approval: Approval) -> Request:
    """The stored request again, now with a person's answer."""
    call = msgspec.json.decode(request, type=Call)
    fields = {name: getattr(call, name) for name in call.__struct_fields__}
    return Request(**fields, approval=approval)
