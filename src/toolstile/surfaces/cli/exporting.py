"""`toolstile export`: tools in a provider's words, and what these do not say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
import typer

from toolstile.dialects import DIALECTS, Export, dialect_of, export_all
from toolstile.dialects.dialect import Dialect
from toolstile.model.definition import ToolDefinition
from toolstile.model.json import thaw
from toolstile.registry.registry import Registry, ref_of
from toolstile.surfaces.cli import completing, console
from toolstile.surfaces.cli.definitions import definition_of
from toolstile.surfaces.cli.invocation import OK, USAGE, Fail, Invocation

ONLY_HERE = "enforced only here"


def export(
    cli: Invocation,
    references: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME[@RANGE]", help="Tools.", autocompletion=completing.tool_names),
    ] = None,
    all_tools: Annotated[
        bool, typer.Option("--all", help="Every tool that may be called.")
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="DIALECT",
            help=f"One of: {', '.join(DIALECTS)}.",
            autocompletion=completing.dialects,
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option("--report", help="What the provider does not enforce, and what is rewritten."),
    ] = False,
) -> int:
    """Print tools as a provider takes them; a list, unless one tool is named."""
    dialect = _dialect(to)
    chosen = _chosen(cli.registry, references or [], all_tools=all_tools)
    exported = export_all(chosen, dialect, cli.registry.vocabulary.extensions)
    if cli.as_json and report:
        console.document(_document(dialect, exported.exports, exported.warnings))
        return OK
    documents = [thaw(each.document) for each in exported.exports]
    one = len(documents) == 1 and not all_tools
    console.document(documents[0] if one else documents)
    for each in exported.exports:
        entry = cli.registry.snapshot.entry(each.definition.name)
        if entry is not None and not entry.enabled:
            console.tell(f"{entry.name} is disabled: a call of it is refused")
    lines = _report(dialect, exported.exports) if report else _hint(exported.exports)
    for line in (*lines, *(f"warning: {warning}" for warning in exported.warnings)):
        console.tell(line)
    return OK


def _dialect(name: str | None) -> Dialect:
    if name is None:
        hint = f"one of: {', '.join(DIALECTS)}"
        raise Fail(USAGE, "USAGE", "--to names no dialect", hint)
    return dialect_of(name)


def _chosen(registry: Registry, references: list[str], *, all_tools: bool) -> list[ToolDefinition]:
    if all_tools == bool(references):
        hint = "`toolstile export NAME --to DIALECT`, or --all in place of names"
        raise Fail(USAGE, "USAGE", "say which tools: by name, or --all", hint)
    if all_tools:
        enabled = (entry for entry in registry.snapshot if entry.enabled)
        return [registry.get(entry.name) for entry in enabled]
    return [definition_of(registry, reference) for reference in references]


def _document(
    dialect: Dialect, exports: tuple[Export, ...], warnings: tuple[str, ...]
) -> dict[str, Any]:
    return {
        "dialect": dialect.name,
        "holds": dialect.holds,
        "tools": [_facts(each) for each in exports],
        "tokens": sum(each.tokens for each in exports),
        "warnings": list(warnings),
    }


def _facts(exported: Export) -> dict[str, Any]:
    return {
        "tool": ref_of(exported.definition),
        "document": thaw(exported.document),
        "digest": exported.digest,
        "tokens": exported.tokens,
        "losses": [msgspec.to_builtins(loss) for loss in exported.losses],
        "rewrites": [msgspec.to_builtins(rewrite) for rewrite in exported.rewrites],
    }


def _hint(exports: tuple[Export, ...]) -> Iterator[str]:
    losses = sum(len(each.losses) for each in exports)
    if losses:
        what = "1 constraint is" if losses == 1 else f"{losses} constraints are"
        yield f"{what} not said here and {ONLY_HERE}; --report lists them"


def _report(dialect: Dialect, exports: tuple[Export, ...]) -> Iterator[str]:
    yield f"{dialect.name}: {dialect.about}"
    if not dialect.holds:
        yield f"  Nothing holds the model to the schema: all of it is {ONLY_HERE}."
    for each in exports:
        version = each.definition.exported_version
        yield f"{each.definition.name}@{version}: about {each.tokens:,} tokens"
        if dialect.holds and not each.losses:
            yield "  every constraint is said, and the model is held to it"
        for loss in each.losses:
            where = "said in the description, " if loss.described else ""
            yield f"  - {loss.path}: {loss.text} ({where}{ONLY_HERE})"
        for rewrite in each.rewrites:
            yield f"  ~ {rewrite.path}: {rewrite.text}"
