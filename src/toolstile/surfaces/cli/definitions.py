"""Definitions in files, and the beginnings of new ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from toolstile.model.definition import ToolDefinition
from toolstile.model.issue import Issue
from toolstile.model.semver import SemverError, parse_reference
from toolstile.registry.registry import Registry
from toolstile.schema.defining import Vocabulary
from toolstile.schema.fields import NAME, RESERVED
from toolstile.schema.parse import ParseFault, parse
from toolstile.sources.declared import name_of, read_declared
from toolstile.sources.safe_yaml import YamlFault, load_yaml
from toolstile.surfaces.cli.invocation import FAILED, USAGE, Fail, read_file


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One definition of a file, and what is wrong with it."""

    file: str
    name: str
    definition: ToolDefinition | None = None
    issues: tuple[Issue, ...] = ()
    warnings: tuple[Issue, ...] = ()

    @property
    def ok(self) -> bool:
        """True where the definition may be registered."""
        return self.definition is not None

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "file": self.file,
            "name": self.name,
            "valid": self.ok,
            "digest": self.definition.digest if self.definition else None,
            "errors": [issue.to_dict() for issue in self.issues],
            "warnings": [warning.to_dict() for warning in self.warnings],
        }


def definition_of(registry: Registry, reference: str) -> ToolDefinition:
    """The definition that a command names as NAME[@RANGE]. Raises Fail for what is no such name."""
    try:
        name, wanted = parse_reference(reference)
    except SemverError as error:
        raise Fail(USAGE, "USAGE", f"'{reference[:64]}': {error.message}", error.hint) from error
    return registry.get(name, str(wanted) if wanted else None)


def read_definitions(file: Path, vocabulary: Vocabulary) -> list[Report]:
    """The definitions of a YAML or JSON file: one, a list, or the `tools.custom` of settings.
    Raises Fail where it is none."""
    if file.suffix == ".py":
        raise Fail(USAGE, "USAGE", f"{file} is Python; definitions are YAML or JSON", _OF_PYTHON)
    raw = read_file(file)
    try:
        document = parse(raw) if file.suffix == ".json" else load_yaml(raw)
    except (ParseFault, YamlFault) as fault:
        issue = fault.about("the file") if isinstance(fault, ParseFault) else fault.issue
        return [Report(file=str(file), name="(unreadable)", issues=(issue,))]
    found = [_report(str(file), item, vocabulary) for item in _listed(document)]
    if not found:
        raise Fail(FAILED, "EMPTY", f"{file} holds no definition", "write {name: ..., ...}")
    return found


def _listed(document: Any) -> list[Any]:
    if isinstance(document, dict) and isinstance(document.get("tools"), dict):
        document = document["tools"].get("custom")
    if document is None:
        return []
    return document if isinstance(document, list) else [document]


def _report(file: str, document: Any, vocabulary: Vocabulary) -> Report:
    read = read_declared(document, vocabulary)
    return Report(
        file=file,
        name=name_of(document),
        definition=read.definition,
        issues=read.issues,
        warnings=read.warnings,
    )


_OF_PYTHON = (
    "`toolstile tools new NAME --kind config` prints a definition; let its `source:` name the "
    'function, as in {python: "module:function"}, and add that file'
)

_PYTHON = '''\
# Save this in a module of your project. A program hands the function over: Runtime(tools=[{name}]).
# For the command line, `toolstile tools new {name} --kind config` prints a definition to add.
from toolstile import ReadPath, tool


@tool
def {name}(path: ReadPath, limit: int = 100) -> str:
    """Say in a sentence what it does.

    Args:
        path: The file to read.
        limit: How many characters to return at most.
    """
    return path.read_text()[:limit]
'''

_CONFIG = """\
# Save this as {name}.yml and write the function that `source` names, with a parameter for each
# property; the module is looked for in the project. Then: toolstile tools add {name}.yml
tools:
  custom:
    - name: {name}
      description: Say in a sentence what it does
      version: 1.0.0
      parameters:
        type: object
        properties:
          path: {{type: string, description: The file to read, x-toolstile: {{reads: path}}}}
          limit: {{type: integer, minimum: 1, maximum: 10000, default: 100}}
        required: [path]
      source: {{python: "my_module:{name}"}}
"""

TEMPLATES = {"python": _PYTHON, "config": _CONFIG}


def template(name: str, kind: str) -> str:
    """The beginning of a tool. Raises Fail for a name or kind that cannot be."""
    if not NAME.fullmatch(name):
        hint = "a-z, 0-9 and _, beginning with a letter, at most 64 characters"
        raise Fail(USAGE, "USAGE", f"'{name[:64]}' cannot be a tool's name", hint)
    if name in RESERVED:
        hint = "say what the tool does, as in read_file"
        raise Fail(USAGE, "USAGE", f"the name '{name}' is reserved", hint)
    if kind not in TEMPLATES:
        raise Fail(USAGE, "USAGE", f"no template '{kind}'", f"one of: {', '.join(TEMPLATES)}")
    return TEMPLATES[kind].format(name=name)
