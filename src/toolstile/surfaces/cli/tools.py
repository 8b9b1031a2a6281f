"""`toolstile tools`: look at definitions, check them, and set which are used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from toolstile.model.definition import ToolDefinition
from toolstile.model.semver import SemverError, parse_reference
from toolstile.model.vocabulary import Category
from toolstile.registry.registry import Registry, ref_of
from toolstile.registry.snapshot import ALIASES, Entry
from toolstile.schema.contain.containment import compare
from toolstile.schema.keywords import type_names
from toolstile.settings import State
from toolstile.surfaces.cli import completing, console
from toolstile.surfaces.cli.changes import added, number_added, pinned, removed, switched
from toolstile.surfaces.cli.completing import Name, Reference
from toolstile.surfaces.cli.definitions import Report, read_definitions, template
from toolstile.surfaces.cli.invocation import (
    FAILED,
    FOUND,
    OK,
    USAGE,
    Fail,
    Invocation,
    command,
    read_input,
)

app = typer.Typer(no_args_is_help=True, help="Look at tools, check definitions, set what is used.")

SUFFIXES = (".yml", ".yaml", ".json")  # what is called so is meant as a file


@command(app, "list")
def list_tools(
    cli: Invocation,
    category: Annotated[
        str | None,
        typer.Option(help="Only tools of this category.", autocompletion=completing.categories),
    ] = None,
) -> int:
    """List the registered tools."""
    wanted = None if category is None else _category(category).word
    rows = [row for row in _rows(cli.registry) if wanted in (None, row["category"])]
    if cli.as_json:
        console.document({"tools": rows, "total": len(rows)})
    else:
        shown = [(row["name"], row["version"], _described(row)) for row in rows]
        console.table("Registered Tools", ("Name", "Version", "Description"), shown)
        if not rows:
            console.tell("there are none; `toolstile tools new --help` says how to begin one")
    return OK


def _category(word: str) -> Category:
    try:
        return Category.of(word)
    except ValueError as error:
        words = ", ".join(member.word for member in Category)
        raise Fail(USAGE, "USAGE", f"no category '{word}'", f"one of: {words}") from error


def _rows(registry: Registry) -> list[dict[str, Any]]:
    rows = [_row(entry, entry.name) for entry in registry.snapshot]
    for alias, name in ALIASES.items():
        entry = registry.snapshot.entry(name)
        if entry is not None:
            rows.append(_row(entry, alias) | {"alias_of": name})
    return sorted(rows, key=lambda row: row["name"])


def _row(entry: Entry, name: str) -> dict[str, Any]:
    definition = (entry.choose() or entry.versions[0]).definition
    return {
        "name": name,
        "version": definition.exported_version,
        "description": definition.description,
        "category": definition.category.word,
        "source": next(iter(definition.source or {}), None),
        "license_tier": definition.license_tier.word,
        "enabled": entry.enabled,
        "is_built_in": entry.built_in,
        "alias_of": None,
        "quarantined": False,
        "digest": definition.digest,
    }


def _described(row: dict[str, Any]) -> str:
    marks = [] if row["enabled"] else ["disabled"]
    marks += [f"alias of {row['alias_of']}"] if row["alias_of"] else []
    first = row["description"].strip().split("\n")[0]
    return f"{first} [{', '.join(marks)}]" if marks else first


@command(app)
def show(
    cli: Invocation,
    reference: Reference,
    usage: Annotated[
        bool, typer.Option("--usage", help="The guidance for models instead.")
    ] = False,
) -> int:
    """Show one definition, or the guidance that models get on its use."""
    definition = _definition(cli.registry, reference)
    if usage:
        return _show_usage(cli, definition)
    if cli.as_json:
        console.document(_wrapped(cli.registry, definition))
        return OK
    console.facts(
        {
            "Name": definition.name,
            "Version": definition.exported_version,
            "Description": definition.description,
        }
    )
    console.say("Parameters:" if definition.parameters.get("properties") else "Parameters: none")
    required = definition.parameters.get("required", ())
    for name, schema in definition.parameters.get("properties", {}).items():
        line = f"  {name} ({_kind(schema, needed=name in required)}): {_meaning(schema)}"
        console.say(line.removesuffix(": "))
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
        console.document({"id": ref_of(definition), "usage": text, "generated": generated})
    else:
        console.say(text.rstrip())
    return OK


def _kind(schema: Any, *, needed: bool) -> str:
    kind = " or ".join(type_names(schema)) if isinstance(schema, dict) else ""
    return f"{kind or 'any'}{', required' if needed else ''}"


def _meaning(schema: Any) -> str:
    """The seed's line: the description, the choices where there is none, and the default."""
    if not isinstance(schema, dict):
        return ""
    said = [schema["description"]] if "description" in schema else []
    if "enum" in schema:
        said.append("One of: " + ", ".join(str(value) for value in schema["enum"]))
    if "default" in schema:
        said.append(f"Default: {schema['default']}")
    return ". ".join(part.rstrip(".") for part in said)


def _wrapped(registry: Registry, definition: ToolDefinition) -> dict[str, Any]:
    entry = registry.snapshot.entry(definition.name)
    pin = entry.pinned if entry is not None else None
    return {
        "id": ref_of(definition),
        "definition": definition.to_dict(),
        "digest": definition.digest,
        "is_built_in": entry is not None and entry.built_in,
        "license_tier": definition.license_tier.word,
        "enabled": entry is not None and entry.enabled,
        "pinned": str(pin) if pin else None,
        "versions": list(registry.versions(definition.name)),
        "source": definition.to_dict()["source"],
    }


def _definition(registry: Registry, reference: str) -> ToolDefinition:
    try:
        name, wanted = parse_reference(reference)
    except SemverError as error:
        raise Fail(USAGE, "USAGE", f"'{reference[:64]}': {error.message}", error.hint) from error
    return registry.get(name, str(wanted) if wanted else None)


@command(app)
def validate(
    cli: Invocation,
    reference: Reference,
    arguments: Annotated[
        str | None, typer.Argument(help="JSON, @FILE, or - for stdin (the default).")
    ] = None,
) -> int:
    """Check arguments against a tool's schema, without calling it."""
    definition = _definition(cli.registry, reference)
    raw = read_input(arguments)
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
    files: Annotated[list[Path], typer.Argument(help="Definitions in YAML or JSON.")],
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
    old: Annotated[str, typer.Argument(help="NAME@VERSION, or a file.")],
    new: Annotated[str, typer.Argument(help="NAME@VERSION, or a file.")],
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
        return _definition(cli.registry, given)
    reports = read_definitions(Path(given), cli.registry.vocabulary)
    if len(reports) != 1 or reports[0].definition is None:
        hint = f"`toolstile tools check {given}` says what is wrong"
        raise Fail(FAILED, "ACODE_TSR_006", f"{given} holds no single sound definition", hint)
    return reports[0].definition


@command(app)
def search(
    cli: Invocation,
    query: Annotated[list[str], typer.Argument(help="A few words; slips are forgiven.")],
    limit: Annotated[int, typer.Option(min=1, max=100)] = 10,
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
        typer.Option(help="python: a function; config: YAML.", autocompletion=completing.kinds),
    ] = "python",
) -> int:
    """Print the beginning of a new tool."""
    text = template(name, kind)
    if cli.as_json:
        console.document({"name": name, "kind": kind, "text": text})
    else:
        console.say(text)
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
    version: Annotated[str | None, typer.Argument(help="A range; none undoes the pin.")] = None,
) -> int:
    """Use only versions of this range where a caller names none."""
    cli.changing()

    def change(state: State, registry: Registry) -> State:
        if version is not None:
            _definition(registry, f"{name}@{version}")
        if version is not None or name not in state.pins:  # as above
            registry.pin(name, version)
        return pinned(state, name, version)

    cli.change_state(change)
    said = f"{name} is pinned to {version}" if version else f"{name} is not pinned"
    console.done(said, {"name": name, "pinned": version}, as_json=cli.as_json)
    return OK


@command(app)
def add(
    cli: Invocation, file: Annotated[Path, typer.Argument(help="Definitions in YAML or JSON.")]
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

    def change(state: State, registry: Registry) -> State:
        for definition in definitions:
            registry.register(definition)
        return added(state, definitions)

    cli.change_state(change)
    refs = [ref_of(definition) for definition in definitions]
    said = "\n".join(f"added {ref}" for ref in refs)
    console.done(said, {"added": refs}, as_json=cli.as_json)
    return OK


@command(app)
def remove(cli: Invocation, name: Name) -> int:
    """Take a tool out that `tools add` put in; what the project's own files declare stays."""
    cli.changing()

    def change(state: State, registry: Registry) -> State:
        number = number_added(state, name)
        if number == 0:
            registry.get(name)  # not asked before: what was added may be unsound by now
            hint = "it comes from a provider or from config.yml: `toolstile tools disable` it"
            raise Fail(FAILED, "NOT_ADDED", f"'{name}' was not added by a command", hint)
        others = name in registry and len(registry.versions(name)) > number
        return removed(state, name, last=not others)

    cli.change_state(change)
    console.done(f"removed {name}", {"removed": name}, as_json=cli.as_json)
    return OK
