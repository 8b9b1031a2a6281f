"""What is logged of definitions, in the seeds' words (LEX-DEF section 8, ACODE FR-021)
with fields as key=value."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from toolstile.errors import DefinitionError, Finding
from toolstile.model.definition import ToolDefinition
from toolstile.model.issue import Issue

log = logging.getLogger("toolstile.registry")

# A report of a hundred faults is for whoever reads the exception, not for one line of a log.
MAX_NAMED = 10


def log_validated(definition: ToolDefinition, warnings: tuple[Issue, ...]) -> None:
    """A definition was looked at and stands; what its author should know is a line of its own."""
    log.info(
        "[TLS-DEF] Tool definition validated. name=%s category=%s parameters=%d",
        definition.name,
        definition.category.word,
        parameter_count(definition),
    )
    if warnings:
        said = "[TLS-DEF] Tool definition stands, with warnings. name=%s warnings=%s"
        log.info(said, definition.name, _named(warnings))


def log_refused(error: DefinitionError) -> None:
    """A definition was refused; each constraint out of its range is a line of its own."""
    said = "[TLS-DEF] Tool definition validation failed. name=%s errors=%s"
    log.warning(said, error.name, _named(error.issues))
    for issue in error.issues:
        if issue.code == "range":
            log.warning(
                "[TLS-DEF] Tool definition constraint violation. "
                "name=%s constraint=%s value=%s max=%s",
                error.name,
                issue.path.removeprefix("/constraints/"),
                issue.actual,
                (issue.expected or "").rpartition(" to ")[2],  # of the range, its upper end
            )


def log_registered(definition: ToolDefinition, ref: str, *, built_in: bool) -> None:
    """A definition is there from now on."""
    version = definition.exported_version
    log.info("Tool registered. name=%s version=%s", definition.name, version)
    if not built_in:
        created = "[TLS-DEF] Custom tool definition created. id=%s name=%s"
        log.info(created, ref, definition.name)


def parameter_count(definition: ToolDefinition) -> int:
    """How many parameters a definition declares at its root."""
    return len(definition.parameters.get("properties", ()))


def _named(issues: Sequence[Finding]) -> str:
    return ", ".join(f"{issue.path} {issue.code}" for issue in issues[:MAX_NAMED])
