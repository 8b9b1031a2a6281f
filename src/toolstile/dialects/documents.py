"""What a provider is sent: the schema of the arguments in the envelope of its API."""

from __future__ import annotations

from typing import Any

from toolstile.model.definition import ToolDefinition
from toolstile.model.vocabulary import SideEffect

Schema = dict[str, Any]

WRITES = frozenset(
    (SideEffect.FS_WRITE, SideEffect.NET_WRITE, SideEffect.DB_WRITE, SideEffect.PROCESS_SPAWN)
)
OUTSIDE = frozenset((SideEffect.NET_READ, SideEffect.NET_WRITE, SideEffect.PROCESS_SPAWN))


def _function(definition: ToolDefinition, schema: Schema) -> dict[str, Any]:
    return {
        "name": definition.name,
        "description": definition.description,
        "parameters": schema,
    }


def responses(definition: ToolDefinition, schema: Schema) -> dict[str, Any]:
    """OpenAI Responses. `strict` is always said: left out, the API tries it by itself."""
    return {"type": "function", **_function(definition, schema), "strict": False}


def responses_strict(definition: ToolDefinition, schema: Schema) -> dict[str, Any]:
    """OpenAI Responses, strict."""
    return {"type": "function", **_function(definition, schema), "strict": True}


def chat(definition: ToolDefinition, schema: Schema) -> dict[str, Any]:
    """OpenAI Chat Completions."""
    return {"type": "function", "function": {**_function(definition, schema), "strict": False}}


def chat_strict(definition: ToolDefinition, schema: Schema) -> dict[str, Any]:
    """OpenAI Chat Completions, strict; without that word vLLM holds the model to nothing where it
    may choose the tool itself."""
    return {"type": "function", "function": {**_function(definition, schema), "strict": True}}


def ollama(definition: ToolDefinition, schema: Schema) -> dict[str, Any]:
    """Ollama: as Chat Completions, without words that its server does not know."""
    return {"type": "function", "function": _function(definition, schema)}


def anthropic(definition: ToolDefinition, schema: Schema) -> dict[str, Any]:
    """Anthropic Messages."""
    return {
        "name": definition.name,
        "description": definition.description,
        "input_schema": schema,
    }


def anthropic_strict(definition: ToolDefinition, schema: Schema) -> dict[str, Any]:
    """Anthropic Messages, strict."""
    return {**anthropic(definition, schema), "strict": True}


def gemini(definition: ToolDefinition, schema: Schema) -> dict[str, Any]:
    """Gemini's FunctionDeclaration."""
    return {
        "name": definition.name,
        "description": definition.description,
        "parametersJsonSchema": schema,
    }


def mcp(definition: ToolDefinition, schema: Schema) -> dict[str, Any]:
    """An entry of `tools/list`. The hints are what the definition declares; what is unknown is
    hinted at as the worst."""
    effects = definition.effects
    hints = {
        "readOnlyHint": not effects & WRITES,
        "destructiveHint": bool(effects & WRITES),
        "idempotentHint": definition.idempotent,
        "openWorldHint": bool(effects & OUTSIDE),
    }
    return {
        "name": definition.name,
        "description": definition.description,
        "inputSchema": schema,
        "annotations": hints,
    }
