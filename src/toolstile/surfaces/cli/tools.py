"""`toolstile tools`: look at definitions, check them, and set which are used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from toolstile.model.definition import ToolDefinition
from toolstile.model.vocabulary import Category
from toolstile.registry.registry import Registry, ref_of
from toolstile.schema.contain.containment import compare
from toolstile.settings import State
from toolstile.surfaces.cli import completing, console
from toolstile.surfaces.cli.changes import added, pinned, removed, switched, versions_added
from toolstile.surfaces.cli.completing import Name, Reference, Version
from toolstile.surfaces.cli.definitions import (
    Report,
    definition_of,
    read_definitions,
    template,
)
from toolstile.surfaces.cli.described import described, document_of, lines_of, rows_of
from toolstile.surfaces.cli.helping import Group
from toolstile.surfaces.cli.invocation import (
    FAILED,
    FOUND,
    OK,
    USAGE,
    Fail,
    Invocation,
    command,
    read_arguments,
)

app = typer.Typer(
    cls=Group, no_args_is_help=True, help="Look at tools, check definitions, set what is used."
)

SUFFIXES = (".yml", ".yaml", ".json")  # what is called so is meant as a file


@command(app, "list")
def list_tools(
    cli: Invocation,
    category: Annotated[
        str | None,
        typer.Option(
            metavar="CATEGORY",
            help="Only tools of this category.",
            autocompletion=completing.categories,
        ),
    ] = None,
) -> int:
    """List the registered tools."""
    wanted = None if category is None else _category(category).word
    rows = [row for row in rows_of(cli.registry) if wanted in (None, row["category"])]
    if cli.as_json:
        console.document({"tools": rows, "total": len(rows)})
    else:
        shown = [(row["name"], row["version"], described(row)) for row in rows]
        console.table("Registered Tools", ("Name", "Version", "Description"), shown)
        if not rows:
            of = "" if wanted is None else f" of category {wanted}"
            repair = "`toolstile tools new --help` says how to begin one"
            console.tell(f"there are no tools{of}; {repair}")
    return OK


def _category(word: str) -> Category:
    try:
        return Category.of(word)
    except ValueError as error:
        words = ", ".join(member.word for member in Category)
        raise Fail(USAGE, "USAGE", f"no category '{word}'", f"one of: {words}") from error


@command(app)
def show(
    cli: Invocation,
    reference: Reference,
    usage: Annotated[
        bool, typer.Option("--usage", help="The guidance for models instead.")
    ] = False,
) -> int:
    """Show one definition, or the guidance that models get on its use."""
    definition = definition_of(cli.registry, reference)
    if usage:
        return _show_usage(cli, definition)
    if cli.as_json:
        console.document(document_of(cli.registry, definition, cli.settings.tenant))
        return OK
    for line in lines_of(cli.registry, definition):
        console.say(line)
    return OK


def _show_usage(cli: Invocation, definition: ToolDefinition) -> int:
    text = definition.usage
    if text is None:
        from toolstile.schema.usage.generate import generate_usage  # noqa: PLC0415 - 20 ms

        effects = [effect.value for effect in definition.side_effects or ()]
        text = generate_usage(
            definition.name, definition.description, definition.parameters, sorted(effects)
        )
    if cli.as_json:
        generated = definition.usage is None
        identity = f"{cli.settings.tenant}/{ref_of(definition)}"
        console.document({"id": identity, "usage": text, "generated": generated})
    else:
        console.say(text.rstrip())
    return OK


@command(app)
def validate(
    cli: Invocation,
    reference: Reference,
    arguments: Annotated[
        str | None,
        typer.Argument(metavar="ARGUMENTS", help="JSON, @FILE, or - for stdin (the default)."),
    ] = None,
) -> int:
    """Check arguments against a tool's schema, without calling it."""
    definition = definition_of(cli.registry, reference)
    raw = read_arguments("tools validate", reference, arguments)
    checked = cli.registry.check(definition.name, raw, f"={definition.exported_version}")
    if cli.as_json:
        console.document(
            {
                "tool": definition.name,
                "version": definition.exported_version,
                "valid": checked.ok,
                "errors": [issue.to_dict() for issue in checked.issues],
                "errors_total": checked.errors_total,
                "value": checked.value,
            }
        )
    elif checked.ok:
        console.say("✓ Arguments are valid")
    else:
        console.issues(checked.issues, checked.errors_total)
    return OK if checked.ok else FAILED


@command(app)
def check(
    cli: Invocation,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Definitions in YAML or JSON.")
    ],
) -> int:
    """Check definitions in files: every fault of every definition, each with its repair."""
    reports = [
        report for file in files for report in read_definitions(file, cli.registry.vocabulary)
    ]
    if cli.as_json:
        console.document({"definitions": [report.to_dict() for report in reports]})
    else:
        for report in reports:
            _reported(report)
    return OK if all(report.ok for report in reports) else FAILED


def _reported(report: Report) -> None:
    console.say(f"{'✓' if report.ok else '✗'} {report.file}: {report.name}")
    console.issues(report.issues)
    for warning in report.warnings:
        console.say(f"  note: {warning.path}: {warning.message} ({warning.hint})")


@command(app)
def diff(
    cli: Invocation,
    old: Annotated[str, typer.Argument(metavar="OLD", help="NAME@VERSION, or a file.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="NAME@VERSION, or a file.")],
) -> int:
    """Would the new version break callers of the old one? Says why, with a counter-example."""
    before, after = _either(cli, old), _either(cli, new)
    compared = compare(before, after)
    if cli.as_json:
        console.document(
            {
                "old": ref_of(before),
                "new": ref_of(after),
                "verdict": compared.verdict,
                "reasons": [msgspec.to_builtins(reason) for reason in compared.reasons],
            }
        )
    else:
        versions = f"{before.exported_version} -> {after.exported_version}"
        console.say(f"{before.name} {versions}: {compared.verdict}")
        for reason in compared.reasons:
            console.say(f"  {reason.side}{reason.path}: {reason.text}")
            if reason.example is not None:
                example = json.dumps(reason.example, ensure_ascii=False)
                console.say(f"    for example: {example}")
    return OK if compared.verdict == "compatible" else FOUND


def _either(cli: Invocation, given: str) -> ToolDefinition:
    if not Path(given).is_file():
        if Path(given).name != given or Path(given).suffix in SUFFIXES:
            raise Fail(USAGE, "USAGE", f"there is no file {given}", "give a file, or NAME@VERSION")
        return definition_of(cli.registry, given)
    reports = read_definitions(Path(given), cli.registry.vocabulary)
    if len(reports) > 1:
        message = f"{given} holds {len(reports)} definitions"
        raise Fail(USAGE, "USAGE", message, "give a file with one, or NAME@VERSION")
    if reports[0].definition is None:
        hint = f"`toolstile tools check {given}` says what is wrong"
        raise Fail(FAILED, "ACODE_TSR_006", f"{given} holds no sound definition", hint)
    return reports[0].definition


@command(app)
def search(
    cli: Invocation,
    query: Annotated[
        list[str], typer.Argument(metavar="WORD", help="A few words; slips are forgiven.")
    ],
    limit: Annotated[int, typer.Option(metavar="NUMBER", min=1, max=100, help="How many.")] = 10,
) -> int:
    """Find tools by what they do."""
    hits = cli.registry.search(" ".join(query)[:256], limit)
    if cli.as_json:
        items = [{"name": hit.name, "score": hit.score} for hit in hits]
        console.document({"items": items, "next": None})
        return OK
    rows = [(hit.name, cli.registry.get(hit.name).description) for hit in hits]
    console.table("Tools found", ("Name", "Description"), rows)
    if not rows:
        console.tell("nothing found; `toolstile tools list` shows every tool")
    return OK


@command(app)
def new(
    cli: Invocation,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it will be called.")],
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="python: a function; config: YAML.",
            autocompletion=completing.kinds,
        ),
    ] = "python",
) -> int:
    """Print the beginning of a new tool."""
    text = template(name, kind)
    if cli.as_json:
        console.document({"name": name, "kind": kind, "text": text})
    else:
        console.say(text.rstrip())
    return OK


@command(app)
def enable(cli: Invocation, name: Name) -> int:
    """Let a tool be called again."""
    return _set(cli, name, disabled=False)


@command(app)
def disable(cli: Invocation, name: Name) -> int:
    """Keep a tool listed, but not callable."""
    return _set(cli, name, disabled=True)


def _set(cli: Invocation, name: str, *, disabled: bool) -> int:
    cli.changing()

    def change(state: State, registry: Registry) -> State:
        if disabled or name not in state.disabled:  # taken back even if the tool is gone
            registry.get(name)
        return switched(state, name, disabled=disabled)

    cli.change_state(change)
    said = f"{name} is {'disabled' if disabled else 'enabled'}"
    console.done(said, {"name": name, "enabled": not disabled}, as_json=cli.as_json)
    return OK


@command(app)
def pin(
    cli: Invocation,
    name: Name,
    version: Annotated[
        str | None, typer.Argument(metavar="RANGE", help="None undoes the pin.")
    ] = None,
) -> int:
    """Use only versions of this range where a caller names none."""
    cli.changing()

    def change(state: State, registry: Registry) -> State:
        if version is not None:
            definition_of(registry, f"{name}@{version}")
        if version is not None or name not in state.pins:  # as above
            registry.pin(name, version)
        return pinned(state, name, version)

    cli.change_state(change)
    said = f"{name} is pinned to {version}" if version else f"{name} is not pinned"
    console.done(said, {"name": name, "pinned": version}, as_json=cli.as_json)
    return OK


@command(app)
def add(
    cli: Invocation,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Definitions in YAML or JSON.")],
) -> int:
    """Add the definitions of a file to the project; all of them, or none."""
    cli.changing()
    reports = read_definitions(file, cli.registry.vocabulary)
    definitions = [report.definition for report in reports if report.definition is not None]
    if len(definitions) != len(reports):
        for report in () if cli.as_json else reports:
            _reported(report)
        hint = f"`toolstile tools check {file}` after correcting it"
        raise Fail(FAILED, "ACODE_TSR_006", "nothing was added", hint)

    new: list[ToolDefinition] = []

    def change(state: State, registry: Registry) -> State:
        new[:] = [each for each in definitions if registry.register(each).created]
        return added(state, new)

    cli.change_state(change)
    old = [ref_of(each) for each in definitions if each not in new]
    refs = [ref_of(each) for each in new]
    said = [f"added {ref}" for ref in refs] + [f"{ref} is there already" for ref in old]
    facts = {"added": refs, "already_there": old}
    console.done("\n".join(said), facts, as_json=cli.as_json)
    return OK


@command(app)
def remove(cli: Invocation, reference: Version) -> int:
    """Take a tool out that `tools add` put in, or one version of it; what the project's own files
    declare stays."""
    cli.changing()
    name, _, version = reference.partition("@")
    gone: list[str] = []

    def change(state: State, registry: Registry) -> State:
        gone[:] = versions_added(state, name, version or None)
        if not gone:
            raise _not_added(state, registry, name, version)
        others = name in registry and len(registry.versions(name)) > len(gone)
        return removed(state, name, version or None, last=not others)

    cli.change_state(change)
    said = "\n".join(f"removed {name}@{each}" for each in gone)
    console.done(said, {"removed": name, "versions": gone}, as_json=cli.as_json)
    return OK


def _not_added(state: State, registry: Registry, name: str, version: str) -> Fail:
    """Why there is nothing to remove. Raises UnknownToolError where there is no such tool."""
    versions = versions_added(state, name)
    if versions:
        hint = f"added were: {', '.join(versions)}"
        return Fail(FAILED, "NOT_ADDED", f"'{name}@{version}' was not added by a command", hint)
    registry.get(name)  # not asked before: what was added may be unsound by now
    hint = "it comes from a provider or from config.yml: `toolstile tools disable` it"
    return Fail(FAILED, "NOT_ADDED", f"'{name}' was not added by a command", hint)
