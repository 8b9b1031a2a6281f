"""The line needs no registry (ACODE NFR-023): whoever can find a tool will do."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolstile.authoring import Tool
from toolstile.effects.files import FileEffects
from toolstile.errors import UnknownToolError
from toolstile.registry.registry import Registry
from toolstile.runtime.executor import Executor
from toolstile.runtime.ports import Store
from toolstile.runtime.request import Request
from toolstile.runtime.setting import Setting
from toolstile.sandbox.process import ChildProcess

pytestmark = pytest.mark.anyio


async def test_a_function_stands_in_for_the_registry(
    registry: Registry, store: Store, tmp_path: Path
) -> None:
    """A plain function that finds one tool is enough to run it, and to miss every other."""
    tool = registry.tool("add")

    def find(name: str, version: str | None) -> Tool:
        if name != "add":
            raise UnknownToolError(name)
        return tool

    setting = Setting(find=find, base=str(tmp_path))
    line = Executor(setting, store, ChildProcess(), FileEffects(tmp_path / "staging"))
    assert (await line.call(Request(tool="add", arguments={"a": 1, "b": 2}))).output == 3
    missed = await line.call(Request(tool="subtract", arguments={}))
    assert missed.error_code == "ACODE_TSR_001"
