"""The suite on this very gate, by every way in which a tool can come to it and be called.

Tools are written into a project of their own, as their authors would: functions, classes and
definitions in files. A tool runs in a process of its own; what it got is what it gave back.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec

from toolstile.app import Runtime
from toolstile.conformance.attempt import Attempt, Fate
from toolstile.conformance.suite import Case, Suite, SuiteTool
from toolstile.model.definition import ToolDefinition
from toolstile.model.vocabulary import SideEffect, Status
from toolstile.schema import compiled
from toolstile.schema.adopt import adopt
from toolstile.schema.parse import ParseFault, parse

# Each call is a process; more at once than cores only adds to the waiting.
AT_ONCE = os.cpu_count() or 1

_HEAD = """\
import json
from pathlib import Path

from toolstile import InvokeResult, tool

TOOLS = json.loads(Path(__file__).with_name("tools.json").read_text(encoding="utf-8"))
"""
_FUNCTION = """

@tool(**TOOLS["{name}"], side_effects=["none"])
def {name}(**arguments):
    return {given}
"""
_CLASS = """

class {title}:
    name = "{name}"
    usage = TOOLS["{name}"]["description"]
    output_schema = TOOLS["{name}"].get("output_schema")
    side_effects = ["none"]

    @staticmethod
    def schema():
        said = TOOLS["{name}"]
        return {{"name": "{name}"}} | {{k: said[k] for k in ("description", "parameters")}}

    async def execute(self, arguments_json, context):
        return InvokeResult.ok({given})
"""
ECHO, OUTPUT = "arguments", 'json.loads(arguments["json"])'
ECHO_TEXT, OUTPUT_TEXT = "arguments_json", 'json.loads(arguments_json)["json"]'


class Project:
    """The suite's tools as files, in a folder that is thrown away."""

    def __init__(self, suite: Suite) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="toolstile-conformance-")
        self.folder = Path(self._folder.name)
        self._suite = suite
        said = {tool.name: _fields(tool) for tool in suite.tools.values()}
        self._write("tools.json", json.dumps(said))
        functions = (_FUNCTION.format(name=t.name, given=_given(t)) for t in suite.tools.values())
        self._write("suite_functions.py", _HEAD + "".join(functions))
        self._write("suite_classes.py", _HEAD + "".join(map(_class, suite.tools.values())))
        self._write("suite_bodies.py", _BODIES)

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def functions(self) -> list[Any]:
        """Decorated functions."""
        module = self._module("suite_functions")
        return [getattr(module, name) for name in self._suite.tools]

    def classes(self) -> list[Any]:
        """Classes as AGN-005 has them."""
        module = self._module("suite_classes")
        return [getattr(module, _title(name)) for name in self._suite.tools]

    def declared(self) -> list[dict[str, Any]]:
        """Definitions as a file holds them."""
        self._module("suite_bodies")
        return [
            {"name": tool.name, **_fields(tool), "side_effects": ["none"], "source": _source(tool)}
            for tool in self._suite.tools.values()
        ]

    def adopted(self) -> list[ToolDefinition]:
        """Definitions as they come from an MCP server, given a body here."""
        self._module("suite_bodies")
        return [
            msgspec.structs.replace(
                adopt(tool.to_mcp()).definition,
                source=_source(tool),
                side_effects=(SideEffect.NONE,),
            )
            for tool in self._suite.tools.values()
        ]

    def settings(self) -> Path:
        """The project as the command line finds it."""
        document = {"store": "memory:", "tools": {"custom": self.declared()}}
        (self.folder / ".agent").mkdir(exist_ok=True)
        self._write(".agent/config.yml", json.dumps(document))  # JSON is YAML
        return self.folder

    def close(self) -> None:
        """Throw the folder away."""
        if str(self.folder) in sys.path:
            sys.path.remove(str(self.folder))
        self._folder.cleanup()

    def _module(self, name: str) -> Any:
        if str(self.folder) not in sys.path:
            sys.path.insert(0, str(self.folder))
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(name)


_BODIES = """\
import json


def echo(**arguments):
    return arguments


def output(**arguments):
    return json.loads(arguments["json"])
"""


def _fields(tool: SuiteTool) -> dict[str, Any]:
    fields = {"description": tool.description, "parameters": tool.parameters}
    return fields if tool.returns is None else {**fields, "output_schema": tool.returns}


def _given(tool: SuiteTool) -> str:
    return ECHO if tool.returns is None else OUTPUT


def _class(tool: SuiteTool) -> str:
    given = ECHO_TEXT if tool.returns is None else OUTPUT_TEXT
    return _CLASS.format(title=_title(tool.name), name=tool.name, given=given)


def _title(name: str) -> str:
    return name.title().replace("_", "")


def _source(tool: SuiteTool) -> dict[str, str]:
    body = "echo" if tool.returns is None else "output"
    return {"python": f"suite_bodies:{body}"}


class LineTarget:
    """Calls on an open runtime: the whole line, from the model's bytes to the output."""

    at_once = AT_ONCE

    def __init__(self, way: str, suite: Suite) -> None:
        self.name = f"toolstile, {way}"
        self._way = way
        self._suite = suite
        self._held = AsyncExitStack()

    async def open(self) -> None:
        """Write the project and open its runtime. Two projects at once would be in each other's
        way: their modules have the same names."""
        project = Project(self._suite)
        self._held.callback(project.close)
        said = {"settings": {}, "store": "memory:", **WAYS[self._way](project)}
        self._runtime = await self._held.enter_async_context(Runtime(**said))

    async def attempt(self, tool: SuiteTool, case: Case) -> Attempt:
        """Make one call."""
        published = self._runtime.registry.get(tool.name).parameters
        if not case.about_output and _differs(published, tool, case):
            return Attempt(fate=Fate.UNSUPPORTED, detail="this kind of tool takes null for nothing")
        result = await self._runtime.call(tool.name, case.text)
        if result.status is Status.SUCCESS:
            return Attempt(fate=Fate.RAN, got=(result.output,))
        return Attempt(fate=Fate.REFUSED, detail=f"{result.error_code}: {result.error_message}")

    async def close(self) -> None:
        """Close the runtime and throw its project away."""
        await self._held.aclose()


def _differs(published: Mapping[str, Any], tool: SuiteTool, case: Case) -> bool:
    """Whether the published schema takes what the suite's does not: a class publishes one in which
    null stands for nothing (AGN-005), and the standard goes by what is published."""
    try:
        value = parse(case.text)
    except ParseFault:
        return False
    return compiled(published).is_valid(value) != compiled(tool.parameters).is_valid(value)


class CommandTarget:
    """Calls on the command line: `toolstile call NAME -`, a process each."""

    name = "toolstile, command line"
    at_once = AT_ONCE

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._held = AsyncExitStack()

    async def open(self) -> None:
        """Write the project."""
        project = Project(self._suite)
        self._held.callback(project.close)
        self._folder = project.settings()

    async def attempt(self, tool: SuiteTool, case: Case) -> Attempt:
        """Make one call; the arguments come on standard input."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "toolstile", "call", tool.name, "-", "--json"),
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(self._folder)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        said, _ = await process.communicate(case.text)
        try:
            document = json.loads(said)
        except ValueError:
            return Attempt(fate=Fate.CRASHED, detail=f"it ended with {process.returncode}")
        if process.returncode == 0 and document.get("is_success"):
            return Attempt(fate=Fate.RAN, got=(document["output"],))
        detail = document.get("error_message") or str(document.get("error"))
        return Attempt(fate=Fate.REFUSED, detail=detail)

    async def close(self) -> None:
        """Throw the project away."""
        await self._held.aclose()


def _of_functions(project: Project) -> dict[str, Any]:
    return {"tools": project.functions()}


def _of_classes(project: Project) -> dict[str, Any]:
    return {"tools": project.classes()}


def _of_declared(project: Project) -> dict[str, Any]:
    return {"settings": {"tools": {"custom": project.declared()}}}


def _of_adopted(project: Project) -> dict[str, Any]:
    return {"tools": project.adopted()}


WAYS: Mapping[str, Callable[[Project], dict[str, Any]]] = {
    "function": _of_functions,
    "class": _of_classes,
    "declared": _of_declared,
    "adopted": _of_adopted,
}
COMMAND_LINE = "command-line"


def our_targets(ways: tuple[str, ...], suite: Suite) -> Iterator[LineTarget | CommandTarget]:
    """This gate, by these ways in."""
    for way in ways:
        yield CommandTarget(suite) if way == COMMAND_LINE else LineTarget(way, suite)
