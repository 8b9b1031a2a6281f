"""Who may see and change what: before a run, in what it wrote, and long after it."""

from __future__ import annotations

import importlib
import importlib.util
import json
import marshal
import os
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from effects.staging import meddled
from runtime import rights_tools
from toolstile.authoring import from_class
from toolstile.effects.files import FileEffects
from toolstile.effects.renames import OF_THE_DISK
from toolstile.gate.decide import decide
from toolstile.model.call import Caller, uuid7
from toolstile.model.capability import CapabilityKind, granted
from toolstile.model.result import ToolResult
from toolstile.model.vocabulary import EffectsState, Status, Verdict
from toolstile.registry.registry import Registry
from toolstile.runtime import approvals
from toolstile.runtime.executor import Executor
from toolstile.runtime.progress import Progress
from toolstile.runtime.request import Request, parse_request
from toolstile.runtime.resources import name_resources
from toolstile.runtime.setting import facts_of, job_of
from toolstile.runtime.shown import for_model

pytestmark = pytest.mark.anyio
ME = Caller(user="me")


@pytest.fixture
def registry() -> Registry:
    """The tools of rights_tools."""
    made = Registry()
    for tool in rights_tools.ALL:
        made.register(tool)
    return made


async def call(line: Executor, tool: str, arguments: Any, **about: Any) -> ToolResult:
    """One call."""
    return await line.call(Request(tool=tool, arguments=arguments, **about))


def given(line: Executor, *kinds: str) -> None:
    """Let tools have these rights although nobody bounds them."""
    more = tuple(granted(kind, ["any"]) for kind in kinds)
    accepted = frozenset(CapabilityKind(kind).value for kind in kinds)
    line.setting = replace(
        line.setting,
        grants=(*line.setting.grants, *more),
        unenforced_accepted_at_own_risk=accepted,
    )


# --- places that no tool may name -------------------------------------------------------------


@pytest.mark.parametrize("path", [".agent/config.yml", ".agent", "link", ".agent/new/file"])
@pytest.mark.parametrize("tool", ["read", "save"])
async def test_a_masked_place_cannot_be_named(
    line: Executor, work: Path, tool: str, path: str
) -> None:
    """Within a grant that holds it, .agent is denied, by every name; what lies beside it is not.
    No line is offered that would grant it, for none would."""
    (work / ".agent").mkdir()
    (work / ".agent" / "config.yml").write_text("grants: {}", encoding="utf-8")
    (work / "link").symlink_to(work / ".agent" / "config.yml")
    (work / ".agents").write_text("beside", encoding="utf-8")
    line.setting = replace(line.setting, masked=(str(work / ".agent"),))
    text = {"text": "x"} if tool == "save" else {}
    result = await call(line, tool, {"path": path, **text})
    assert result.status is Status.PERMISSION_DENIED
    assert "masked" in (result.error_message or "")
    assert result.decision is not None
    assert result.decision.repair == ()
    beside = await call(line, tool, {"path": ".agents", **text})
    assert beside.status is (Status.SUCCESS if tool == "read" else Status.REQUIRES_CONFIRMATION)


async def test_a_job_says_what_is_masked(line: Executor, work: Path) -> None:
    """A directory that holds .agent may be granted, so the child must know what not to open."""
    line.setting = replace(line.setting, masked=("/project/.agent",))
    at = Progress(Request(tool="read", arguments={"path": "."}))
    at.call = parse_request(at.request, at.execution_id)
    at.tool = line.setting.find("read", None)
    at.arguments = {"path": "."}
    at.resources = name_resources(at.definition, at.arguments, str(work))
    at.fingerprint = line.setting.fingerprint(at.tool)
    at.decision = decide(facts_of(at, line.setting))
    assert job_of(at, line.setting, "/stage").masked == ("/project/.agent",)


def mounted(place: Path, twin: Path) -> bool:
    """Give a directory a second name, where that can be done."""
    return os.geteuid() == 0 and os.system(f"mount --bind {place} {twin} 2>/dev/null") == 0


def unmount(twin: Path) -> None:
    """Take it back."""
    os.system(f"umount {twin}")


@pytest.mark.parametrize("tool", ["read", "save"])
async def test_a_masked_place_of_two_names_is_masked_by_both(
    line: Executor, work: Path, tool: str
) -> None:
    """What the file system says is the same directory is: where letter case does not count, or
    where it is mounted twice. What lies beside it is not masked."""
    for name in (".agent", "twin"):
        (work / name).mkdir()
    (work / ".agent" / "config.yml").write_text("grants: {}", encoding="utf-8")
    if not mounted(work / ".agent", work / "twin"):
        pytest.skip("only root can mount a directory twice")
    line.setting = replace(line.setting, masked=(str(work / ".agent"),))
    text = {"text": "x"} if tool == "save" else {}
    try:
        masked = await call(line, tool, {"path": "twin/config.yml", **text})
        inside = await call(line, "entry", {"path": ".", "way": ["twin", "config.yml"]})
    finally:
        unmount(work / "twin")
    assert masked.status is Status.PERMISSION_DENIED
    assert inside.output == "refused"
    (work / "twin" / "config.yml").write_text("other", encoding="utf-8")
    beside = await call(line, tool, {"path": "twin/config.yml", **text})
    assert beside.status is not Status.PERMISSION_DENIED


@pytest.mark.parametrize(
    ("way", "seen"),
    [
        (["plain"], "inside"),
        (["within"], "inside"),
        (["below", "deep"], "inside"),
        (["out"], "refused"),
        (["outside", "secret"], "refused"),
        (["below", "up", "secret"], "refused"),
        ([".agent", "config.yml"], "refused"),
        ([".agent"], "refused"),
        (["twin"], "refused"),
    ],
)
async def test_a_directory_shows_what_lies_in_it_and_nothing_else(
    line: Executor, work: Path, tmp_path: Path, way: list[str], seen: str
) -> None:
    """Through the handle of a directory, links that lead out of it open nothing, nor does a masked
    place in it, by whatever name; links that stay in it and everything else do."""
    (tmp_path / "secret").write_text("outside", encoding="utf-8")
    (work / "below").mkdir()
    for name in ("plain", "below/deep"):
        (work / name).write_text("inside", encoding="utf-8")
    (work / ".agent").mkdir()
    (work / ".agent" / "config.yml").write_text("grants: {}", encoding="utf-8")
    links = {"within": "plain", "out": "../secret", "outside": "..", "below/up": "../.."}
    for name, to in {**links, "twin": ".agent/config.yml"}.items():
        (work / name).symlink_to(to)
    line.setting = replace(line.setting, masked=(str(work / ".agent"),))
    assert (await call(line, "entry", {"path": ".", "way": way})).output == seen


@pytest.mark.parametrize("how", ["read", "append", "size", "names"])
async def test_a_right_to_write_is_none_to_read(line: Executor, work: Path, how: str) -> None:
    """Who may only write a file is told nothing of what was in it."""
    (work / "a").write_text("theirs", encoding="utf-8")
    path = "." if how == "names" else "a"
    result = await call(line, "look", {"path": path, "how": how})
    if how == "append":  # that it may, and sees nothing of what it has added to
        result = await approvals.approve(line, result.metadata.execution_id, ME)
    assert result.output == "refused"


async def test_who_names_a_file_for_both_may_read_what_they_write(
    line: Executor, work: Path
) -> None:
    """A file that another argument names for reading is read through either handle."""
    (work / "a").write_text("old", encoding="utf-8")
    held = await call(line, "edit", {"path": "a", "old": "a"})
    diff = (await approvals.waiting(line, "local", held.metadata.execution_id)).diff
    assert "+oldold" in (diff or "")


# --- what a run may have written --------------------------------------------------------------


async def test_what_was_decided_as_reading_writes_nothing(line: Executor, work: Path) -> None:
    """A function that stages a write to a file that it was given for reading is stopped, and the
    file stands; one that only reads is answered."""
    target = work / "a"
    target.write_text("precious", encoding="utf-8")
    result = await call(line, "sneak", {"path": "a"})
    assert (result.status, result.effects_state) == (
        Status.SECURITY_VIOLATION,
        EffectsState.DISCARDED,
    )
    assert target.read_text(encoding="utf-8") == "precious"
    assert (await call(line, "read", {"path": "a"})).output == "precious"


# --- when a person is asked -------------------------------------------------------------------


async def test_who_demands_a_confirmation_is_asked_before_the_run(
    line: Executor, tmp_path: Path
) -> None:
    """Nothing has run when the person is asked, and nothing runs after a no; a yes runs it once."""
    witness = tmp_path / "witness"
    first = await call(line, "confirmed", {"witness": str(witness)})
    assert first.status is Status.REQUIRES_CONFIRMATION
    assert not witness.exists()
    await approvals.deny(line, first.metadata.execution_id, ME)
    assert not witness.exists()
    second = await call(line, "confirmed", {"witness": str(witness)})
    assert (await approvals.approve(line, second.metadata.execution_id, ME)).is_success
    assert witness.read_bytes() == b"x"


BODY = """
def body(witness):
    with open(witness, "a") as file:
        file.write({text!r})
    return "done"


def other(witness):
    with open(witness, "a") as file:
        file.write("OTHER!")
    return "done"
"""


@pytest.mark.parametrize("how", ["edited", "another", "compiled", "same"])
@pytest.mark.parametrize("declared", [True, False])
async def test_a_yes_is_for_the_code_that_was_there(
    line: Executor, work: Path, monkeypatch: pytest.MonkeyPatch, how: str, *, declared: bool
) -> None:
    """Code that is changed after a person was asked does not run on their yes: not where the body
    was bound, not another function of the same file, and not a compiled copy that was put beside
    the source. What is still the same does, and leaves no compiled copy."""
    monkeypatch.syspath_prepend(str(work))
    name = f"body_{uuid7().replace('-', '')}"  # modules are kept, by name
    source = work / f"{name}.py"
    source.write_text(BODY.format(text="honest"), encoding="utf-8")
    module = importlib.import_module(name)
    shutil.rmtree(work / "__pycache__", ignore_errors=True)
    made = replace(rights_tools.send.definition, name="late", source=None)
    if declared:
        made = replace(made, source={"python": f"{name}:body"})
    registry = Registry()
    registry.register(made)
    line.setting = replace(line.setting, find=registry.callable_tool)
    given(line, "net_write")
    if not declared:
        registry.bind("late", module.body)
    asked = await call(line, "late", {"witness": str(work / "witness")})
    assert asked.error_code == "REQUIRES_CONFIRMATION", asked.error_message
    if how == "edited":
        source.write_text(BODY.format(text="EVIL!!"), encoding="utf-8")
    if how == "compiled":
        plant(source, BODY.format(text="EVIL!!"))
    if how == "another" and not declared:
        registry.bind("late", module.other)
    answer = await approvals.approve(line, asked.metadata.execution_id, ME)
    if how == "edited" or (how == "another" and not declared):
        assert answer.error_code == "APPROVAL_MISMATCH"
        assert not (work / "witness").exists()
    else:
        assert (work / "witness").read_text(encoding="utf-8") == "honest"
        assert (work / "__pycache__").exists() is (how == "compiled")


def plant(source: Path, text: str) -> None:
    """Put a compiled copy beside a source that Python takes for its own."""
    found = source.stat()
    header = struct.pack("<III", 0, int(found.st_mtime), found.st_size)
    copy = Path(importlib.util.cache_from_source(str(source)))
    copy.parent.mkdir()
    code = marshal.dumps(compile(text, str(source), "exec"))
    copy.write_bytes(importlib.util.MAGIC_NUMBER + header + code)


async def test_what_cannot_be_held_back_is_asked_about_before(
    line: Executor, work: Path, tmp_path: Path
) -> None:
    """A tool that writes without a handle is not called staged: a person is asked before it runs.
    Through a handle it has run, and its write waits."""
    given(line, "fs_write")
    witness = tmp_path / "witness"
    result = await call(line, "coarse_write", {"witness": str(witness)})
    assert result.decision is not None
    assert result.decision.verdict is Verdict.ASK
    assert "coarse" in " ".join(reason.text for reason in result.decision.reasons)
    assert not witness.exists()
    staged = await call(line, "save", {"path": "a", "text": "x"})
    assert staged.decision is not None
    assert staged.decision.verdict is Verdict.STAGE


async def test_a_plain_name_is_not_called_staged(line: Executor, work: Path) -> None:
    """A function that takes the name of a file to be written as text would write it at once: it
    does not run. One that reads is given the file that was decided on, not the words for it."""
    refused = await call(line, "plain_write", {"path": "new"})
    assert (refused.error_code, refused.effects_state) == ("NOT_A_HANDLE", EffectsState.DISCARDED)
    assert not (work / "new").exists()
    (work / "a").write_text("text", encoding="utf-8")
    (work / "link").symlink_to("a")
    assert (await call(line, "plain_read", {"path": "link"})).output == f"{work / 'a'}: text"


async def test_a_class_has_no_handles(line: Executor, work: Path) -> None:
    """A class tool is given JSON, so nobody holds it to the file that it names: it is refused, or
    asked about before it runs where the operator accepts that; then it is given that very file."""
    registry = Registry()
    registry.register(from_class(rights_tools.Writer))
    line.setting = replace(line.setting, find=registry.callable_tool)
    refused = await call(line, "writer", {"path": "new"})
    assert refused.decision is not None
    assert refused.decision.enforced_by == {"fs_write": "nobody"}
    assert (refused.status, (work / "new").exists()) == (Status.PERMISSION_DENIED, False)
    accepted = frozenset(("fs_write",))
    line.setting = replace(line.setting, unenforced_accepted_at_own_risk=accepted)
    asked = await call(line, "writer", {"path": "new"})
    assert (asked.error_code, (work / "new").exists()) == ("REQUIRES_CONFIRMATION", False)
    done = await approvals.approve(line, asked.metadata.execution_id, ME)
    assert done.effects_state is EffectsState.COMMITTED
    assert (work / "new").read_text(encoding="utf-8") == "at once"


async def test_an_optional_handle_that_is_left_out_takes_no_right(
    line: Executor, work: Path, tmp_path: Path
) -> None:
    """Called without the path the tool runs with no handle, whatever is granted; with one it is
    decided on like any other."""
    (work / "a").write_text("text", encoding="utf-8")
    assert (await call(line, "read_perhaps", {"path": "a"})).output == "text"
    outside = await call(line, "read_perhaps", {"path": str(tmp_path)})
    assert outside.status is Status.PERMISSION_DENIED
    assert (await call(line, "read_perhaps", {})).output == "nothing"
    assert (await call(line, "read_perhaps", {"path": None})).output == "nothing"
    narrow = (granted("fs_read", [str(tmp_path / "other")]),)
    line.setting = replace(line.setting, grants=narrow)
    assert (await call(line, "read_perhaps", {})).output == "nothing"


@pytest.mark.parametrize(
    ("change", "feature"),
    [
        ({"source": None}, "no body"),
        ({"source": {"wasm": {"path": "a.wasm", "sha256": "0" * 64}}}, "wasm source"),
        ({"source": {"http": {"method": "GET", "url": "https://example.org/"}}}, "http source"),
        ({"result_type": "binary"}, "result_type binary"),
        ({"result_type": "stream"}, "result_type stream"),
        ({"normalize": "binary"}, "normalize binary"),
        ({"normalize": {"python": "a:b"}}, "normalize python"),
        ({"secrets": ["gh"]}, "secrets"),
    ],
)
async def test_nobody_is_asked_about_what_cannot_be_run(
    line: Executor, registry: Registry, change: dict[str, Any], feature: str
) -> None:
    """A tool that says nothing of its effects waits for a person; one that this version cannot
    run is answered at once, with the missing feature. Its arguments are checked all the same."""
    document = registry.tool("coded").definition.to_dict()
    document |= {"name": "later", "side_effects": None, "required_permissions": None}
    plain = {key: value for key, value in document.items() if value is not None}
    registry.register({**plain, "name": "now"})
    missing = {key for key, value in change.items() if value is None}
    changed = {key: value for key, value in (plain | change).items() if key not in missing}
    registry.register(changed)
    waits = await call(line, "now", {"code": "X"})
    assert waits.status is Status.REQUIRES_CONFIRMATION
    result = await call(line, "later", {"code": "X"})
    assert (result.status, result.error_code) == (Status.FAILED, "NO_IMPLEMENTATION")
    assert feature in (result.error_message or "")
    assert (await call(line, "later", {})).status is Status.VALIDATION_ERROR


# --- one file to be read and written ----------------------------------------------------------


@pytest.mark.parametrize(("how", "text"), [("append", "old!"), ("whole", "OLD")])
async def test_editing_a_file_takes_both_rights_for_one_argument(
    line: Executor, work: Path, how: str, text: str
) -> None:
    """One argument names the file for reading and for writing; without either right it is denied,
    with both the run sees the old content and its change waits."""
    (work / "a").write_text("old", encoding="utf-8")
    setting = line.setting
    for kind in ("fs_read", "fs_write"):
        line.setting = replace(setting, grants=(granted(kind, [str(work)]),))
        refused = await call(line, "rewrite", {"path": "a", "how": how})
        assert refused.status is Status.PERMISSION_DENIED
    line.setting = setting
    asked = await call(line, "rewrite", {"path": "a", "how": how})
    assert asked.decision is not None
    named = [(each.access, each.argument, each.value) for each in asked.decision.resources]
    assert named == [(access, "/path", str(work / "a")) for access in ("reads", "writes")]
    assert (work / "a").read_text(encoding="utf-8") == "old"
    done = await approvals.approve(line, asked.metadata.execution_id, ME)
    assert done.effects_state is EffectsState.COMMITTED
    assert (work / "a").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("how", "before", "text"),
    [
        ("append", "SECRET\n", "SECRET\none\ntwo\n"),
        ("append", "SECRET", "SECRETone\ntwo\n"),
        ("append", "S" * 300_000, "S" * 300_000 + "one\ntwo\n"),
        ("append", None, "one\ntwo\n"),
        ("unlink", "SECRET\n", "one\ntwo\n"),
        ("write", "SECRET\n", "begun\none\ntwo\n"),
    ],
)
async def test_adding_to_a_file_takes_no_right_to_read_it(
    line: Executor, work: Path, tmp_path: Path, how: str, before: str | None, text: str
) -> None:
    """The run gives only what is added, and the old content is not put where it could see it; the
    approver sees both, and what was approved is what is made of the file that was there then."""
    line.setting = replace(line.setting, grants=(granted("fs_write", [str(work)]),))
    if before is not None:
        (work / "a").write_text(before, encoding="utf-8")
    asked = await call(line, "log_lines", {"path": "a", "lines": ["one", "two"], "how": how})
    assert asked.error_code == "REQUIRES_CONFIRMATION", asked.error_message
    stage = line.effects._stage(asked.metadata.execution_id)  # type: ignore[attr-defined]
    assert not any(b"S" in each.read_bytes() for each in stage.iterdir())
    shown = await approvals.waiting(line, "local", asked.metadata.execution_id)
    assert "one\n+two\n" in (shown.diff or "")
    done = await approvals.approve(line, asked.metadata.execution_id, ME)
    assert done.effects_state is EffectsState.COMMITTED, done.error_message
    assert (work / "a").read_text(encoding="utf-8") == text


async def test_nothing_is_added_to_what_was_changed(line: Executor, work: Path) -> None:
    """What somebody has written to the file since the diff was made stands, without the lines."""
    (work / "a").write_text("old\n", encoding="utf-8")
    asked = await call(line, "log_lines", {"path": "a", "lines": ["one"]})
    (work / "a").write_text("mine\n", encoding="utf-8")
    done = await approvals.approve(line, asked.metadata.execution_id, ME)
    assert done.error_code == "EFFECT_CONFLICT"
    assert (work / "a").read_text(encoding="utf-8") == "mine\n"
    nothing = await call(line, "log_lines", {"path": "a", "lines": []})
    assert nothing.effects_state is EffectsState.NONE


# --- what a model is told of files ------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "named"),
    [
        ("read", {"path": "none"}, "FILE_NOT_FOUND", "none"),
        ("read", {"path": "."}, "IS_A_DIRECTORY", ""),
        ("read", {"path": "bytes"}, "DECODE_ERROR", "bytes"),
        ("remove", {"path": "none"}, "FILE_NOT_FOUND", "none"),
        ("save", {"path": "none/a", "text": "x"}, "FOLDER_NOT_FOUND", "none"),
        ("save", {"path": "bytes/a", "text": "x"}, "NOT_A_DIRECTORY", "bytes/a"),
        ("entry", {"path": ".", "way": ["b\nc"]}, "FILE_NOT_ACCESSIBLE", "b\\nc"),
    ],
)
async def test_a_model_learns_which_file_failed_and_why(
    line: Executor, work: Path, tool: str, arguments: dict[str, Any], code: str, named: str
) -> None:
    """What a handle refuses is the call's code, with the path that was decided on; a write into a
    folder that is not there is refused before anybody is asked."""
    (work / "bytes").write_bytes(b"\xff")
    (work / "b\nc").touch()
    result = await call(line, tool, arguments)
    assert (result.status, result.error_code) == (Status.FAILED, code)
    assert str(work / named).rstrip("/") in (result.error_message or "")


# --- what could not be put back ---------------------------------------------------------------


@pytest.mark.parametrize("again", [True, False])
async def test_what_could_not_be_put_back_is_not_called_discarded(
    line: Executor, work: Path, tmp_path: Path, again: bool
) -> None:
    """Somebody saves the second file in the middle of a commit: nothing was changed. If they save
    the first again, too, it holds what we wrote: then nobody says that nothing was."""
    for name in ("a", "b"):
        (work / name).write_text("old", encoding="utf-8")

    def save() -> None:
        if (work / "a").read_text(encoding="utf-8") == "new" and not again_saved:
            again_saved.append(True)
            (work / "b").write_text("mine", encoding="utf-8")
            if again:
                (work / "a").write_text("new and mine", encoding="utf-8")

    again_saved: list[bool] = []
    line.effects = FileEffects(tmp_path / "staging", meddled(OF_THE_DISK, save))
    asked = await call(line, "save_both", {"first": "a", "second": "b", "text": "new"})
    done = await approvals.approve(line, asked.metadata.execution_id, ME)
    assert done.error_code == "EFFECT_CONFLICT"
    assert done.effects_state is (EffectsState.UNKNOWN if again else EffectsState.DISCARDED)
    assert (str(work / "a") in (done.error_message or "")) is again
    assert f"{work / 'b'} (changed since the diff was made)" in (done.error_message or "")
    assert (work / "a").read_text(encoding="utf-8") == ("new and mine" if again else "old")


# --- who is shown what ------------------------------------------------------------------------


async def test_a_diff_is_for_the_approver_alone(line: Executor, work: Path) -> None:
    """A tool may write a file that it may not read. The old text is shown to the person who
    decides, and neither to the model nor in the call's message."""
    line.setting = replace(line.setting, grants=(granted("fs_write", [str(work)]),))
    (work / "box").write_text("SECRET\n", encoding="utf-8")
    waits = await call(line, "save", {"path": "box", "text": "new\n"})
    identity = waits.metadata.execution_id
    assert "-SECRET" in ((await approvals.waiting(line, "local", identity)).diff or "")
    assert "SECRET" not in json.dumps(waits.to_dict())
    message = waits.error_message or ""
    assert "1 file would change" in message
    assert f"toolstile confirm show {identity}" in message
    model = for_model(waits)
    assert model.successful
    assert identity in (model.result or "")
    assert "pending" in (model.result or "")
    assert "toolstile confirm" not in (model.result or "")


async def test_a_stored_result_is_shown_to_those_who_may_still_see_it(
    line: Executor, work: Path
) -> None:
    """Replay is decided, too: after the right is taken away, or the place masked, the old call id
    answers as a new one does; after it is given again it answers as before."""
    (work / "a").write_text("PRIVATE", encoding="utf-8")
    assert (await call(line, "read", {"path": "a"}, call_id="k")).output == "PRIVATE"
    setting = line.setting
    for less in (
        replace(setting, grants=()),
        replace(setting, grants=(granted("fs_read", [str(work / "other")]),)),
        replace(setting, permissions=()),
        replace(setting, masked=(str(work),)),
    ):
        line.setting = less
        result = await call(line, "read", {"path": "a"}, call_id="k")
        assert result.status is Status.PERMISSION_DENIED
        assert "PRIVATE" not in json.dumps(result.to_dict())
    line.setting = replace(setting, find=Registry().callable_tool)  # it outlives its tool
    again = await call(line, "read", {"path": "a"}, call_id="k")
    assert (again.output, again.replayed) == ("PRIVATE", True)


async def test_a_denial_says_what_to_add_and_where(line: Executor) -> None:
    """The entry under its key, so that it fits into a file that has the key already; and where
    nobody bounds the right, the setting that accepts that, since granting alone is not enough."""
    result = await call(line, "read", {"path": "/etc/hostname"})
    assert 'add `"/etc/hostname"` to `fs_read:` under `grants:`' in (result.error_message or "")
    result = await call(line, "send", {"witness": "x"})
    message = result.error_message or ""
    assert "`net_write: []` to `grants:` (name in the list what the tool may have)" in message
    assert "to `capabilities_accepted_although_nobody_enforces_them:`" in message
