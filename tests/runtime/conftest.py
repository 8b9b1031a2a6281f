"""A whole line over a temporary folder, on every store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runtime import line_tools
from toolstile.effects.files import FileEffects
from toolstile.model.capability import granted
from toolstile.registry.registry import Registry
from toolstile.runtime.executor import Executor
from toolstile.runtime.ports import Store
from toolstile.runtime.setting import Setting
from toolstile.sandbox.process import ChildProcess
from toolstile.store.memory import MemoryStore
from toolstile.store.sqlite import SqliteStore


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """Each store in turn."""
    made: Store = MemoryStore()
    if request.param == "sqlite":
        made = SqliteStore(tmp_path / "state" / "toolstile.db")
    yield made
    await made.close()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The one granted directory."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def registry() -> Registry:
    """The tools of line_tools."""
    made = Registry()
    for tool in line_tools.ALL:
        made.register(tool)
    return made


@pytest.fixture
def line(registry: Registry, store: Store, work: Path, tmp_path: Path) -> Executor:
    """An executor whose tools may read and write in `work`."""
    grants = (granted("fs_read", [str(work)]), granted("fs_write", [str(work)]))
    setting = Setting(find=registry.callable_tool, base=str(work), grants=grants)
    return Executor(setting, store, ChildProcess(), FileEffects(tmp_path / "staging"))


@pytest.fixture
def anyio_backend() -> str:
    """The line runs on asyncio."""
    return "asyncio"
