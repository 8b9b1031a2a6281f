"""What a model is shown of a result: AGN's InvokeResult (contract section 3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolstile.authoring import InvokeResult
from toolstile.model.result import ToolResult
from toolstile.model.vocabulary import Status

# A third, smaller cut than those of storage: what a model reads costs its attention.
SHOWN_BYTES = 16 * 1024

# AGN section 8: a cancelled call is a successful answer that says so; a pending one is no failure.
_SUCCESSFUL = (Status.SUCCESS, Status.CANCELLED, Status.REQUIRES_CONFIRMATION)


def for_model(result: ToolResult) -> InvokeResult:
    """The answer for the model: ids, status and output, or errors with their repair."""
    if result.status not in _SUCCESSFUL:
        return InvokeResult(successful=False, errors=tuple(_errors(result)))
    metadata = result.metadata
    shown: dict[str, Any] = {
        "sessionId": metadata.session_id,
        "conversationId": metadata.conversation_id,
        "executionId": metadata.execution_id,
        "status": result.status.word,
        "result": result.output,
    }
    if result.status is Status.REQUIRES_CONFIRMATION:
        # How to answer is for people to know, and what would change is for them to see.
        shown["result"] = (
            f"pending: a person has to agree to call {metadata.execution_id} first. It goes on "
            "by itself then; do not make it again."
        )
    elif result.status is not Status.SUCCESS:
        shown["result"] = result.error_message
    text = json.dumps(shown["result"], ensure_ascii=False)
    if len(text.encode()) > SHOWN_BYTES:
        shown["result"] = text.encode()[:SHOWN_BYTES].decode("utf-8", errors="ignore")
        shown["truncated"] = True
    return InvokeResult(successful=True, result=json.dumps(shown, ensure_ascii=False))


def _errors(result: ToolResult) -> list[Mapping[str, Any]]:
    if result.issues:
        return [
            {
                "code": issue.error_code.replace("-", "_"),
                "message": issue.message,
                "path": issue.path,
                "hint": issue.hint,
            }
            for issue in result.issues
        ]
    message = result.error_message
    return [{"code": result.error_code, "message": message, "path": "", "hint": None}]
