"""`toolstile init` and `doctor`: begin a project, and find out what is wrong with one."""

from __future__ import annotations

import asyncio
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from toolstile.app import load_tools, open_store, unheeded
from toolstile.errors import StoreUnavailable, ToolstileError
from toolstile.model.issue import Issue
from toolstile.runtime.setting import Setting, unrunnable
from toolstile.surfaces.cli import console
from toolstile.surfaces.cli.invocation import FAILED, FOUND, OK, Fail, Invocation

CONFIG = """\
# Toolstile: what this project's tools may do. `toolstile doctor` explains what came from where.

# Rights. Nothing is granted that is not written here; paths are relative to this project.
grants:
  fs_read: ["./workspace"]
  fs_write: ["./workspace"]
  # net_read: ["api.example.org"]

# Tools: functions of installed packages that offer them, and definitions written here.
tools:
  providers: []      # entry points of group toolstile.tools, by name
  custom: []         # `toolstile tools new NAME --kind config` prints the beginning of one
"""


def init(cli: Invocation) -> int:
    """Begin a project here: write .agent/config.yml with comments."""
    config = Path(".agent") / "config.yml"
    if config.exists():
        hint = "edit it; `toolstile doctor` says what it comes to"
        raise Fail(FAILED, "EXISTS", f"{config} is there already: nothing was changed", hint)
    try:
        config.parent.mkdir(exist_ok=True)
        config.write_text(CONFIG, encoding="utf-8")
        Path("workspace").mkdir(exist_ok=True)
    except OSError as error:
        message = f"cannot write {error.filename}: {error.strerror}"
        raise Fail(FAILED, "UNWRITABLE", message, "choose a directory of your own") from error
    if cli.as_json:
        console.document({"created": [str(config), "workspace"]})
    else:
        console.tell(f"wrote {config}; tools may read and write in ./workspace")
        console.tell("next: `toolstile tools new my_tool --kind config`, `toolstile doctor`")
    return OK


class Finding(msgspec.Struct, frozen=True):
    """One line of the doctor's report."""

    ok: bool
    what: str
    text: str
    hint: str | None = None


def doctor(cli: Invocation) -> int:
    """Look at everything a call needs; say what is wrong and how to repair it."""
    findings = list(_findings(cli))
    healthy = all(finding.ok for finding in findings)
    if cli.as_json:
        items = [msgspec.to_builtins(finding) for finding in findings]
        console.document({"healthy": healthy, "findings": items, "origins": _origins(cli)})
    else:
        for finding in findings:
            console.say(f"{'✓' if finding.ok else '✗'} {finding.what}: {finding.text}")
            if finding.hint:
                console.say(f"    {finding.hint}")
        for name, origin in _origins(cli).items():
            console.say(f"  {name}: {origin}")
    return OK if healthy else FOUND


def _findings(cli: Invocation) -> Iterator[Finding]:
    yield Finding(True, "python", f"{platform.python_version()} at {sys.executable}")
    try:
        settings = cli.settings
    except ToolstileError as error:
        yield Finding(False, "settings", str(error), "correct the file and run this again")
        return
    yield Finding(True, "project", str(settings.project))
    for warning in settings.warnings:
        yield _warned("settings", warning)
    for issue in unheeded(settings):
        yield _warned("settings", issue)
    yield from _tools(cli)
    yield from _store(cli)
    yield Finding(
        True,
        "sandbox",
        "level standard only: a fresh process with limits. Nothing keeps a hostile tool from the "
        "files of this user yet; rights that nobody enforces are refused",
    )


def _tools(cli: Invocation) -> Iterator[Finding]:
    loaded = load_tools(cli.settings)
    yield Finding(True, "tools", f"{len(loaded.registry)} registered")
    for failure in loaded.failures:
        yield Finding(False, f"tool {failure.name}", failure.reason, "it was left out")
    setting = Setting(find=loaded.registry.tool, base=str(cli.settings.project))
    for definition in loaded.registry.all():
        name, version = definition.name, definition.exported_version
        missing = unrunnable(loaded.registry.tool(name, f"={version}"), setting)
        # Without a source a tool is there to be validated only, or bound by a program.
        if missing is not None and definition.source is not None:
            hint = "until then it cannot be called"
            yield Finding(False, f"tool {name}@{version}", missing, hint)


def _store(cli: Invocation) -> Iterator[Finding]:
    try:
        asyncio.run(open_store(cli.settings).close())
    except StoreUnavailable as error:
        yield Finding(False, "store", str(error), error.hint)
        return
    # A database's address may hold a password, so only its kind is said.
    kind = cli.settings.store.partition(":")[0]
    yield Finding(True, "store", f"{kind} in {cli.settings.state}")


def _warned(what: str, warning: Issue) -> Finding:
    place = f"{warning.path}: " if warning.path else ""
    return Finding(False, what, place + warning.message, warning.hint)


def _origins(cli: Invocation) -> dict[str, Any]:
    try:
        origins = cli.settings.origins
    except ToolstileError:
        return {}  # said above, with its place
    # Sections are enough for people; whatever stands in one came with it.
    return {name: origin for name, origin in sorted(origins.items()) if name.count("/") == 1}
