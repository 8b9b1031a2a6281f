"""Whether an exported document is one by the published types of the providers' own clients."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import mcp_types._v2025_11_25 as mcp_2025
import mcp_types._v2026_07_28 as mcp_2026
import ollama
from anthropic.types import ToolParam
from anthropic.types.tool_param import InputSchemaTyped
from google.genai.types import FunctionDeclaration
from mcp.shared.tool_name_validation import validate_tool_name
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter

Document = Mapping[str, Any]

RESPONSES = TypeAdapter[Any](FunctionToolParam)
CHAT = TypeAdapter[Any](ChatCompletionFunctionToolParam)
ANTHROPIC = TypeAdapter[Any](ToolParam)
ANTHROPIC_SCHEMA = TypeAdapter[Any](InputSchemaTyped)


def openai_responses(document: Document) -> None:
    """OpenAI's `FunctionToolParam`, nothing beside it."""
    RESPONSES.validate_json(json.dumps(document), strict=True, extra="forbid")


def openai_chat(document: Document) -> None:
    """OpenAI's `ChatCompletionFunctionToolParam`, nothing beside it."""
    CHAT.validate_json(json.dumps(document), strict=True, extra="forbid")


def anthropic(document: Document) -> None:
    """Anthropic's `ToolParam`; its schema is a union that takes any object, so that is looked at
    by itself."""
    ANTHROPIC.validate_json(json.dumps(document), strict=True, extra="forbid")
    ANTHROPIC_SCHEMA.validate_json(json.dumps(document["input_schema"]), strict=True)


def gemini(document: Document) -> None:
    """Google's `FunctionDeclaration`, which forbids what it does not know and keeps the rest."""
    made = FunctionDeclaration.model_validate_json(json.dumps(document), strict=True)
    assert made.model_dump(by_alias=True, exclude_none=True, mode="json") == document


def ollama_client(document: Document) -> None:
    """Ollama's `Tool`. It keeps less than is sent, so the document goes out as raw JSON."""
    ollama.Tool.model_validate_json(json.dumps(document), strict=True)


def mcp(document: Document) -> None:
    """Both wires' `Tool`: the root is an object, no key is unknown, nothing gets lost."""
    for version in (mcp_2025, mcp_2026):
        made = version.Tool.model_validate_json(json.dumps(document), strict=True)
        known = {field.alias or name for name, field in version.Tool.model_fields.items()}
        assert document.keys() <= known
        assert made.model_dump(by_alias=True, exclude_none=True, mode="json") == document
    assert validate_tool_name(document["name"]).is_valid


CHECKS: Mapping[str, Callable[[Document], None]] = {
    **dict.fromkeys(("openai-responses", "openai-responses-strict"), openai_responses),
    **dict.fromkeys(("openai-chat", "openai-chat-strict", "vllm"), openai_chat),
    **dict.fromkeys(("anthropic", "anthropic-strict"), anthropic),
    "gemini": gemini,
    "ollama": ollama_client,
    "mcp": mcp,
}
