"""The dialects: what each provider takes, and where that is known from.

As of November 2026. "Refused" means that the whole request fails, so wherever two sources differ,
the narrower one is taken: a constraint that is left out is enforced here, and only reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from toolstile.dialects.dialect import (
    EVERY_ANNOTATION,
    EVERY_KEYWORD,
    Bounds,
    Dialect,
    Takes,
    words,
)
from toolstile.dialects.documents import (
    anthropic,
    anthropic_strict,
    chat,
    chat_strict,
    gemini,
    mcp,
    ollama,
    responses,
    responses_strict,
)
from toolstile.model.json import JsonValue
from toolstile.schema.formats import FORMATS

# Integers beyond are no longer exact where numbers are doubles.
EXACT = 2**53 - 1
# As many digits behind the point as llguidance takes; of 9 it says that they are too many.
DIGITS = 6
# Names of ours that a provider does not know are custom ones, and of no use to it.
READABLE = frozenset(("title", "description", "default", "examples"))


def is_false(value: JsonValue) -> bool:
    """The schema that nothing fits."""
    return value is False


def one_of(*allowed: JsonValue) -> Takes:
    """Only these values."""
    return lambda value: value in allowed


def scalars(values: Any) -> bool:
    """No objects and no lists among them."""
    return not any(isinstance(value, (dict, list)) for value in values)


def told_apart(values: Any) -> bool:
    """Scalars of which no two are alike but for their case."""
    folded = [value.casefold() if isinstance(value, str) else value for value in values]
    texts = [value for value in folded if isinstance(value, str)]
    return scalars(values) and len(set(texts)) == len(texts)


def strings_and_numbers(values: Any) -> bool:
    """No booleans, no null, no containers."""
    return all(isinstance(v, (str, int, float)) and not isinstance(v, bool) for v in values)


def exact(value: JsonValue) -> bool:
    """No integer in it is beyond what a double holds."""
    if isinstance(value, (dict, list)):
        return all(map(exact, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, int) or abs(value) <= EXACT


def within(limit: float) -> Takes:
    """Numbers up to so much, either way, with a few digits behind the point: a decoder writes them
    out."""
    return lambda value: abs(value) <= limit and round(value, DIGITS) == value


# --- OpenAI ---------------------------------------------------------------------------------------
# "Supported schemas" of the guide on structured outputs; what is refused, in the words of the
# refusals: openai-agents-python#1884 (oneOf), notion-mcp-server#102 (allOf), git-mcp-server#47
# (formats), camel#3001 (beside $ref), langchainjs#9804 (combinators at the root, in both modes),
# dify#33137 (arrays without items), spring-ai#4776 (objects without properties).

OPENAI_FORMATS = one_of(
    *"date-time time date duration email hostname ipv4 ipv6 uuid".split(),
)
OPENAI_KEYWORDS: Mapping[str, Takes] = {**EVERY_KEYWORD, "format": OPENAI_FORMATS}
# The sources differ on minLength and maxLength in strict mode: they go into the description.
OPENAI_STRICT_KEYWORDS: Mapping[str, Takes] = {
    **words("type properties required items anyOf $ref pattern minItems maxItems"),
    **words("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
    "additionalProperties": is_false,
    "enum": scalars,
    "format": OPENAI_FORMATS,
}

OPENAI_RESPONSES = Dialect(
    name="openai-responses",
    about="OpenAI, Responses API, not strict: the model reads the schema and is not held to it.",
    wrap=responses,
    keywords=OPENAI_KEYWORDS,
    annotations=READABLE,
    complete=True,
    plain_root=True,
)
OPENAI_RESPONSES_STRICT = Dialect(
    name="openai-responses-strict",
    about="OpenAI, Responses API, strict: the model is held to the schema.",
    wrap=responses_strict,
    keywords=OPENAI_STRICT_KEYWORDS,
    annotations=frozenset(("description",)),  # `default` has been refused
    holds=True,
    closed=True,
    all_required=True,
    complete=True,
    plain_root=True,
    bare_references=True,
    free_values=False,
    mixed_types=False,
    max_depth=10,
    bounds=Bounds(properties=5_000, enum_values=1_000, characters=120_000),
)
OPENAI_CHAT = msgspec.structs.replace(
    OPENAI_RESPONSES,
    name="openai-chat",
    about="OpenAI, Chat Completions, not strict; many servers that speak like it.",
    wrap=chat,
)
OPENAI_CHAT_STRICT = msgspec.structs.replace(
    OPENAI_RESPONSES_STRICT,
    name="openai-chat-strict",
    about="OpenAI, Chat Completions, strict: the model is held to the schema.",
    wrap=chat_strict,
)

# --- Anthropic ------------------------------------------------------------------------------------
# The page on structured outputs ("JSON Schema limitations"). Combinators at the root:
# claude-code#44788; names of properties: composio#3067; numeric bounds in strict mode: pi#9953.
# That the case of enumerated strings is not certain in strict mode is said on the same page.

ANTHROPIC_MEMBER = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
# What the page allows in a pattern: quantifiers, classes, groups; nothing that looks around.
PLAIN_PATTERN = re.compile(
    r"(?:[^\\(){}]|\\[dws.^$*+?()\[\]{}|\\/-]|\((?!\?)|\(\?:|\)|\{\d{1,2}(?:,\d{0,2})?\})*"
)
ANTHROPIC_STRICT_KEYWORDS: Mapping[str, Takes] = {
    **words("type properties required items anyOf $ref"),
    "additionalProperties": is_false,
    "enum": told_apart,
    "minItems": one_of(0, 1),
    "format": one_of(*"date-time time date duration email hostname uri ipv4 ipv6 uuid".split()),
    "pattern": lambda pattern: PLAIN_PATTERN.fullmatch(pattern) is not None,
}

ANTHROPIC = Dialect(
    name="anthropic",
    about="Anthropic Messages, not strict: the model reads the schema and is not held to it.",
    wrap=anthropic,
    keywords={**EVERY_KEYWORD, "format": FORMATS.__contains__},
    annotations=READABLE,
    member_name=ANTHROPIC_MEMBER,
    plain_root=True,
)
ANTHROPIC_STRICT = Dialect(
    name="anthropic-strict",
    about="Anthropic Messages, strict: the model is held to the schema.",
    wrap=anthropic_strict,
    keywords=ANTHROPIC_STRICT_KEYWORDS,
    annotations=frozenset(("title", "description", "default")),
    member_name=ANTHROPIC_MEMBER,
    holds=True,
    closed=True,
    complete=True,
    plain_root=True,
    bare_references=True,
    free_values=False,
    mixed_types=False,
    recursive=False,
    bounds=Bounds(tools_of_request=20, optional_of_request=24, unions_of_request=16),
)

# --- Gemini ---------------------------------------------------------------------------------------
# The documentation of `responseJsonSchema` lists the keywords; `parametersJsonSchema` has no list
# of its own, and what is not listed is taken to be ignored. A reference may come back only within
# a property that is not required, so none does here. A required name that is not declared has been
# refused (AIStudioToAPI#154).

GEMINI = Dialect(
    name="gemini",
    about="Gemini, `parametersJsonSchema`: what is not on its list is passed over.",
    wrap=gemini,
    keywords={
        **words("type properties required additionalProperties items prefixItems anyOf $ref"),
        **words("minItems maxItems minimum maximum"),
        "enum": strings_and_numbers,
        "format": FORMATS.__contains__,
    },
    annotations=frozenset(("title", "description")),
    member_name=re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}"),
    plain_root=True,
    bare_references=True,
    required_declared=True,
    recursive=False,
)

# --- Ollama ---------------------------------------------------------------------------------------
# The server reads a tool into structs (api/types.go: ToolFunctionParameters, ToolProperty) and the
# model sees what these hold. Its Python client keeps less still (ollama-python#724): send the
# document as raw JSON. A boolean in the place of a schema fails the request.

OLLAMA = Dialect(
    name="ollama",
    about="Ollama, raw JSON to /api/chat or /v1: its server drops most keywords.",
    wrap=ollama,
    keywords=words("type properties required items enum anyOf"),
    annotations=frozenset(("description",)),
    booleans=False,
    complete=True,
    plain_root=True,
)

# --- vLLM -----------------------------------------------------------------------------------------
# Its backend "auto" tries xgrammar and then llguidance; xgrammar passes over `not`, `if` and
# `dependent...` without a word, so none of them is sent. Bounds measured with llguidance 1.9.1.
# With tool_choice "required" the `$defs` of all tools become one.

VLLM_PATTERN = re.compile(
    r"(?!.*(?:&&|\\b|\\B|\\c|\\k|\(\?[=!<]|[^\[(|]\^|(?<!\\)\$(?!$|[)|])))[\s\S]*", re.DOTALL
)

VLLM = Dialect(
    name="vllm",
    about="vLLM structured outputs: the model is held to the schema by xgrammar or llguidance.",
    wrap=chat_strict,
    keywords={
        **words("type properties required additionalProperties items prefixItems anyOf $ref"),
        **words("minItems maxItems"),
        **dict.fromkeys(("minimum", "maximum"), within(EXACT)),
        **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), within(EXACT)),
        **dict.fromkeys(("minLength", "maxLength"), within(2**31 - 1)),
        "multipleOf": within(10**8),
        "enum": exact,
        "format": one_of(*"date-time time date duration email hostname ipv4 ipv6 uuid uri".split()),
        "pattern": lambda pattern: VLLM_PATTERN.fullmatch(pattern) is not None,
    },
    # xgrammar refuses a length beside these, llguidance cannot always tell whether any text fits.
    apart=dict.fromkeys(("minLength", "maxLength"), frozenset(("pattern", "format"))),
    annotations=frozenset(("title", "description")),
    holds=True,
    bare_references=True,
    own_shelf=True,
)

# --- MCP ------------------------------------------------------------------------------------------
# 2025-11-25 and 2026-07-28: any schema of 2020-12 whose root is an object.

MCP = Dialect(
    name="mcp",
    about="Model Context Protocol, `tools/list`: the whole schema; clients are not held to it.",
    wrap=mcp,
    keywords={**EVERY_KEYWORD, "format": FORMATS.__contains__},
    annotations=EVERY_ANNOTATION,
    output_name="outputSchema",
)

DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        OPENAI_RESPONSES,
        OPENAI_RESPONSES_STRICT,
        OPENAI_CHAT,
        OPENAI_CHAT_STRICT,
        ANTHROPIC,
        ANTHROPIC_STRICT,
        GEMINI,
        OLLAMA,
        VLLM,
        MCP,
    )
}
