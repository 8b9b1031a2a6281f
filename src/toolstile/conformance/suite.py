"""The cases, as data: malformed calls and their well-formed neighbours (`cases/*.json`).

Every expectation follows from JSON (RFC 8259, and RFC 7493 where a file says so), from JSON Schema
2020-12 or from the published schema. Where these leave a choice, both answers are right.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from toolstile.model.json import JsonObject, JsonValue

# What every tool with an output schema takes: the text of the output that it is to give.
OUTPUT = "json"


class SuiteTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that the cases call. Without `returns` it gives back its arguments; with an output
    schema, the value of the JSON text in its one argument."""

    name: str
    description: str
    parameters: JsonObject
    returns: JsonObject | None = None

    def to_mcp(self) -> dict[str, Any]:
        """As a server lists it."""
        document = {
            "name": self.name,
            "description": self.description,
            "inputSchema": self.parameters,
        }
        return document if self.returns is None else {**document, "outputSchema": self.returns}


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One call: what is sent, whether the tool may run with it, and why.

    `text` are the arguments as a model sends them. `received` are the values that the tool may get;
    for a case about outputs, the one that the caller may. `raw`: it exists only as text. `format`:
    it is about a format, which the standard leaves it open to assert.
    """

    id: str
    group: str
    tool: str
    text: bytes
    accept: bool
    received: tuple[JsonValue, ...]
    why: str
    harm: str
    about_output: bool = False
    raw: bool = False
    format: bool = False


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Cases of one kind."""

    name: str
    title: str
    about: str
    cases: tuple[Case, ...]


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """All groups, and the tools that they call by their names."""

    groups: tuple[Group, ...]
    tools: Mapping[str, SuiteTool]

    def __iter__(self) -> Iterator[Case]:
        for group in self.groups:
            yield from group.cases

    def __len__(self) -> int:
        return sum(len(group.cases) for group in self.groups)

    def only(self, *, groups: tuple[str, ...] = (), ids: tuple[str, ...] = ()) -> Suite:
        """The suite with these groups or cases alone; with all where none are named."""
        wanted = [
            msgspec.structs.replace(group, cases=cases)
            for group in self.groups
            if not groups or group.name in groups
            if (cases := tuple(case for case in group.cases if not ids or case.id in ids))
        ]
        return msgspec.structs.replace(self, groups=tuple(wanted))


ORDER = "json coercion structure keywords defaults numbers unicode outputs".split()


@cache
def load_suite() -> Suite:
    """The suite that is shipped with this version."""
    folder = resources.files("toolstile.conformance") / "cases"
    tools: dict[str, SuiteTool] = {}
    groups = []
    for name in ORDER:
        document = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        tools |= {each: SuiteTool(name=each, **said) for each, said in document["tools"].items()}
        groups.append(
            Group(
                name=name,
                title=document["title"],
                about=document["about"],
                cases=tuple(_case(name, each) for each in document["cases"]),
            )
        )
    return Suite(groups=tuple(groups), tools=tools)


def _case(group: str, said: Mapping[str, Any]) -> Case:
    accept = said["expect"] == "accept"
    about_output = "output" in said
    text = json.dumps({OUTPUT: said["output"]}).encode() if about_output else _text(said)
    received = said.get("received", [])
    if accept and not received:
        received = [json.loads(said["output"] if about_output else text)]
    return Case(
        id=said["id"],
        group=group,
        tool=said["tool"],
        text=text,
        accept=accept,
        received=tuple(received),
        why=said["why"],
        harm=said["harm"],
        about_output=about_output,
        raw=said.get("raw", False),
        format=said.get("format", False),
    )


def _text(said: Mapping[str, Any]) -> bytes:
    """The arguments' bytes: as text, as bytes that are no text, or as parts that are repeated."""
    if "arguments_base64" in said:
        return base64.b64decode(said["arguments_base64"])
    if "arguments_parts" in said:
        return "".join(text * times for text, times in said["arguments_parts"]).encode()
    text: str = said["arguments"]
    # Half a pair of surrogates is no character: as bytes it is what a careless encoder makes of it.
    return text.encode("utf-8", "surrogatepass")
