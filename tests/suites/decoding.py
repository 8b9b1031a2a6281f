"""Whether what is exported for vLLM can be decoded, by one of the two engines that it decodes with.

llguidance compiles each exported schema, is fed every recorded call a byte at a time, and must take
the valid ones and refuse the invalid ones, as far as the exported schema has words for what is
wrong with them. Decoding fixes the order of members, and writes integers without a fraction: so
calls are written in the order of the schema, and 5.0 as 5, by the standard the same value.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from llguidance import LLMatcher, LLTokenizer

sys.path.insert(0, str(Path(__file__).parents[1]))
from corpora import ROOT, records
from suites.exports import schema_of, taking
from suites.toolcalls import files
from toolstile.dialects import Export, export
from toolstile.errors import DefinitionError
from toolstile.schema.adopt import adopt
from toolstile.schema.compiled import arguments_of

TOKENIZER = LLTokenizer("byte")


class Decoder:
    """The decoding of one exported schema; `fault` says why there is none."""

    def __init__(self, exported: Export) -> None:
        self.schema = schema_of(exported)
        self._grammar = LLMatcher.grammar_from_json_schema(self.schema)
        self.fault = LLMatcher.validate_grammar(self._grammar, TOKENIZER)

    def takes(self, text: str) -> bool:
        """Whether a model that is held to the schema could have written this text."""
        matcher = LLMatcher(TOKENIZER, self._grammar)
        tokens = TOKENIZER.tokenize_bytes(text.encode())
        return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())


def written(schema: Any, value: Any) -> str:
    """A call as a decoder would have had it written: members in the order of the schema."""
    return json.dumps(in_order(schema, schema, value), ensure_ascii=False, separators=(",", ":"))


def in_order(whole: Any, schema: Any, value: Any) -> Any:
    """The value with its members in the order in which the schema declares them."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(schema, dict):
        return value
    if "$ref" in schema:
        return in_order(whole, whole["$defs"][schema["$ref"].rpartition("/")[2]], value)
    if "anyOf" in schema:
        fitting = (each for each in schema["anyOf"] if taking({**each, **shelf(whole)})(value))
        return in_order(whole, next(fitting, None), value)
    if isinstance(value, dict):
        declared = schema.get("properties", {})
        names = [
            *(name for name in declared if name in value),
            *(n for n in value if n not in declared),
        ]
        below = {name: declared.get(name, schema.get("additionalProperties")) for name in names}
        return {name: in_order(whole, below[name], value[name]) for name in names}
    if isinstance(value, list):
        prefix = schema.get("prefixItems", [])
        each = [*prefix, *[schema.get("items")] * len(value)]
        return [in_order(whole, each[at], item) for at, item in enumerate(value)]
    return value


def shelf(whole: Any) -> dict[str, Any]:
    """What references need beside a part of a schema."""
    return {"$defs": whole["$defs"]} if "$defs" in whole else {}


class Decoded:
    """Counts over recorded tools and calls."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []

    def add(self, record: dict[str, Any]) -> None:
        """One tool with all its calls."""
        try:
            exported = export(adopt(record["tool"]).definition, "vllm")
        except DefinitionError:
            return
        self.counts["tools"] += 1
        decoder = Decoder(exported)
        if decoder.fault:
            self.wrong.append(f"not decodable: {record['id']}: {decoder.fault}")
            return
        self.counts["decodable"] += 1
        own = arguments_of(exported.definition)
        for call in record["valid_calls"]:
            if isinstance(call.get("arguments"), dict) and own.check(call["arguments"]).ok:
                self._valid(record["id"], decoder, call["arguments"])
        says_no = taking(decoder.schema)
        for call in record["invalid_calls"]:
            self._invalid(record["id"], decoder, call, said=not says_no(call.get("arguments")))

    def _valid(self, id_: str, decoder: Decoder, arguments: dict[str, Any]) -> None:
        self.counts["valid"] += 1
        text = written(decoder.schema, arguments)
        if not decoder.takes(text):
            self.counts["valid refused"] += 1
            self.wrong.append(f"valid, refused: {id_}: {text[:200]}")

    def _invalid(self, id_: str, decoder: Decoder, call: dict[str, Any], *, said: bool) -> None:
        text = call.get("arguments_text")
        if text is None:
            if not said:
                self.counts["invalid, not said"] += 1
                return
            text = written(decoder.schema, call["arguments"])
        self.counts["invalid"] += 1
        if decoder.takes(text):
            self.counts["invalid taken"] += 1
            self.wrong.append(f"invalid, taken: {id_}: {text[:200]}")


def score(root: Path) -> Decoded:
    """All recorded tools and calls beneath a folder."""
    total = Decoded()
    for file in files(root):
        for record in records(file):
            total.add(record)
    return total


def main() -> None:
    """Print the figures; the exit code says whether one misses its goal."""
    total = score(ROOT)
    count = total.counts
    share = count["decodable"] / count["tools"]
    print(f"tools decodable    {count['decodable']} of {count['tools']} ({share:.1%})")
    print(f"valid calls        {count['valid']}, refused {count['valid refused']}")
    print(f"invalid calls      {count['invalid']}, taken {count['invalid taken']}")
    print(f"                   of which the schema says nothing: {count['invalid, not said']}")
    print(*total.wrong[:20], sep="\n")
    sys.exit(share < 0.9 or bool(count["valid refused"] or count["invalid taken"]))


if __name__ == "__main__":
    main()
