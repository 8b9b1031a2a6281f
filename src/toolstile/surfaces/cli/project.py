"""`toolstile init` and `doctor`: begin a project, and find out what is wrong with one."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from toolstile.app import load_tools, open_store, unheeded
from toolstile.errors import Finding as Fault
from toolstile.errors import SettingsError, ToolstileError
from toolstile.model.issue import Issue
from toolstile.runtime.setting import Setting, unrunnable
from toolstile.settings import Settings
from toolstile.settings.places import find_configs, home, real
from toolstile.surfaces.cli import console
from toolstile.surfaces.cli.invocation import FAILED, FOUND, OK, Fail, Invocation, message_of

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
    around = _around()
    if cli.as_json:
        console.document({"created": [str(config), "workspace"]})
    else:
        console.tell(f"wrote {config}; tools may read and write in ./workspace")
        console.tell("next: `toolstile tools new my_tool --kind config`, `toolstile doctor`")
    if around is not None:
        console.tell(f"note: {around}")
    return OK


def _around() -> str | None:
    """What a new project means for those above or below it, which may surprise."""
    here = Path.cwd().resolve()
    if str(here) == real(home(os.environ)):
        return "this is your home directory: the file governs every folder in it without its own"
    outer = next(islice(find_configs(here, os.environ), 1, None), None)
    if outer is None:
        return None
    return f"{outer} no longer governs this folder and what lies in it"


class Finding(msgspec.Struct, frozen=True):
    """One line of the doctor's report."""

    ok: bool
    what: str
    text: str
    hint: str | None = None


def doctor(cli: Invocation) -> int:
    """Look at everything a call needs; say what is wrong and how to repair it."""
    origins: dict[str, str] = {}
    findings = list(_findings(cli, origins))
    healthy = all(finding.ok for finding in findings)
    if cli.as_json:
        items = [msgspec.to_builtins(finding) for finding in findings]
        console.document({"healthy": healthy, "findings": items, "origins": origins})
    else:
        for finding in findings:
            console.say(f"{'✓' if finding.ok else '✗'} {finding.what}: {finding.text}")
            if finding.hint:
                console.say(f"    {finding.hint}")
        for name, origin in origins.items():
            console.say(f"  {name}: {origin}")
    return OK if healthy else FOUND


def _findings(cli: Invocation, origins: dict[str, str]) -> Iterator[Finding]:
    yield Finding(True, "python", f"{platform.python_version()} at {sys.executable}")
    try:
        settings = cli.read_settings()
    except ToolstileError as error:
        yield from _refusal("settings", error)
        return
    # Sections are enough for people; whatever stands in one came with it.
    origins |= {n: where for n, where in sorted(settings.origins.items()) if n.count("/") == 1}
    yield Finding(True, "project", str(settings.project))
    for issue in (*settings.warnings, *unheeded(settings)):
        yield _warned("settings", issue)
    # What each looks at may be the very thing that is broken, and the others still say theirs.
    for what, look in (("tools", _tools), ("store", _store)):
        try:
            yield from look(settings)
        except ToolstileError as error:
            yield from _refusal(what, error)
    yield Finding(
        True,
        "sandbox",
        "level standard only: a fresh process with limits. Nothing keeps a hostile tool from the "
        "files of this user yet; rights that nobody enforces are refused",
    )


def _refusal(what: str, error: ToolstileError) -> Iterator[Finding]:
    """What an exception says: a finding for each of its issues, or the one that it is."""
    if isinstance(error, SettingsError):
        for issue in error.issues:
            yield _warned(what, issue)
    else:
        hint = getattr(error, "hint", None)
        yield Finding(False, what, message_of(error, hint), hint)


def _tools(settings: Settings) -> Iterator[Finding]:
    loaded = load_tools(settings)
    yield Finding(True, "tools", f"{len(loaded.registry)} registered")
    for failure in loaded.failures:
        yield Finding(False, f"tool {failure.name}", failure.reason, "it was left out")
    setting = Setting(find=loaded.registry.tool, base=str(settings.project))
    for definition in loaded.registry.all():
        name, version = definition.name, definition.exported_version
        missing = unrunnable(loaded.registry.tool(name, f"={version}"), setting)
        # Without a source a tool is there to be validated only, or bound by a program.
        if missing is not None and definition.source is not None:
            hint = "until then it cannot be called"
            yield Finding(False, f"tool {name}@{version}", missing, hint)


def _store(settings: Settings) -> Iterator[Finding]:
    asyncio.run(open_store(settings).close())
    # A database's address may hold a password, so only its kind is said.
    kind = settings.store.partition(":")[0]
    where = "nothing outlives the process" if kind == "memory" else f"in {settings.state}"
    yield Finding(True, "store", f"{kind}, {where}")


def _warned(what: str, issue: Issue | Fault) -> Finding:
    place = f"{issue.path}: " if issue.path else ""
    return Finding(False, what, place + issue.message, issue.hint)
