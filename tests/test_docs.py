"""What the documents say holds: codes, settings, examples, links and commands are compared."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import typer

from toolstile.model.vocabulary import Status
from toolstile.settings import Agent, McpServer, State
from toolstile.settings.reading import MEMBERS, READERS, TOOLS
from toolstile.settings.rights import RIGHTS
from toolstile.settings.written import VARIABLES
from toolstile.surfaces.cli.commands import app

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "toolstile"
DOCS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])

CODE = re.compile(r"[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*|ACODE-TSR-\d{3}")
# Text of the same form that is no code: methods, variables, SQL, words of formats, placeholders.
NO_CODES = frozenset(
    """
    BEGIN COMMIT DELETE EXECUTION FALSE FIRST_COMPLETED GET HEAD HOME JSON LANG NAME NFC NFD NFKC
    NFKD NULL P1Y2M3DT4H5M6S PATCH PATH POST PT0S PUT PYTHONDONTWRITEBYTECODE PYTHONHASHSEED
    PYTHONPATH ROLLBACK TRUE UTC XDG_STATE_HOME
    """.split()
)
ANCHOR = re.compile(r"[^\w\- ]")


def words_of(path: Path) -> str:
    """The text of a document."""
    return path.read_text(encoding="utf-8")


def first_cells(document: Path, heading: str | None = None) -> set[str]:
    """What stands in code quotes in the first column of a document's tables."""
    text = words_of(document)
    if heading is not None:
        text = text.partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)`(?:, `([^`]+)`)* \|", text, re.MULTILINE)
    return {cell for row in rows for cell in row if cell}


def literals(path: Path) -> Iterator[str]:
    """The strings of a module, but those of `__all__` and the names of values in `--help`."""
    tree = ast.parse(words_of(path))
    exported = {
        id(node)
        for statement in tree.body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__"
        for node in ast.walk(statement.value)
    }
    exported |= {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "metavar"
    }
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and id(node) not in exported:
            yield text


def codes_in_the_code() -> set[str]:
    """Every string that looks like a code. What lints `usage` texts knows headings of that form."""
    modules = [path for path in SRC.rglob("*.py") if not path.name.startswith("usage")]
    found = {text for path in modules for text in literals(path) if CODE.fullmatch(text)}
    assert "ACODE-TSR-003" in found, "the collector finds nothing any more"
    return {code.replace("ACODE_TSR_", "ACODE-TSR-") for code in found - NO_CODES if len(code) > 3}


def test_every_error_code_is_explained() -> None:
    """A code that the code can emit has a row in docs/errors.md."""
    explained = first_cells(ROOT / "docs" / "errors.md")
    assert codes_in_the_code() - explained == set()


def test_no_error_code_is_invented() -> None:
    """A code in docs/errors.md exists in the code; the names of statuses are codes, too."""
    explained = first_cells(ROOT / "docs" / "errors.md")
    assert explained - codes_in_the_code() - set(Status.__members__) == set()


def test_every_status_is_explained_with_its_number() -> None:
    """The table of statuses is that of the code."""
    text = words_of(ROOT / "docs" / "errors.md")
    rows = re.findall(r"^\| `([A-Z_]+)` \| (\d+) \|", text, re.MULTILINE)
    assert {name: int(number) for name, number in rows} == {
        status.name: int(status) for status in Status
    }


def test_every_settings_key_is_explained() -> None:
    """Keys of config.yml, of its sections and of state.yml, and no others, are in the tables."""
    document = ROOT / "docs" / "settings.md"
    keys = first_cells(document, "## Supported") | first_cells(
        document, "## Recognised, not supported yet"
    )
    assert keys == {*READERS, *RIGHTS, *TOOLS}
    assert first_cells(document, "## `.agent/state.yml`") == set(State.__struct_fields__)


@pytest.mark.parametrize("section", [*MEMBERS, "agents", "mcp_servers"])
def test_every_member_of_a_section_is_named_beside_it(section: str) -> None:
    """The row of a section names its members."""
    kinds: dict[str, type[msgspec.Struct]] = {"agents": Agent, "mcp_servers": McpServer}
    members = MEMBERS[section] if section in MEMBERS else kinds[section].__struct_fields__
    text = words_of(ROOT / "docs" / "settings.md")
    row = re.search(rf"^\| `{section}` \|.*$", text, re.MULTILINE)
    assert row is not None
    assert {member for member in members if f"`{member}`" not in row[0]} == set()


def test_every_variable_is_explained() -> None:
    """The environment's table is that of the code."""
    assert first_cells(ROOT / "docs" / "settings.md", "## Environment") == set(VARIABLES)


def shown_files() -> Iterator[tuple[Path, str, str]]:
    """Every block of code that is marked as a file: the document, the file, the text."""
    marked = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)
    for document in DOCS:
        for file, text in marked.findall(words_of(document)):
            yield document, file, text


def test_blocks_marked_as_files_are_those_files() -> None:
    """What a reader copies is what CI runs."""
    shown = list(shown_files())
    assert {document.name for document, _, _ in shown} >= {"README.md", "first-tool.md"}
    assert [(d.name, file) for d, file, text in shown if words_of(ROOT / file) != text] == []


def test_every_program_in_the_documents_is_a_file() -> None:
    """No block of Python is shown that nobody runs; CI runs every file of examples/."""
    shown = {(document, text) for document, _, text in shown_files()}
    blocks = re.compile(r"```python\n(.*?)```", re.DOTALL)
    written = {(d, text) for d in DOCS for text in blocks.findall(words_of(d))}
    assert {document.name for document, _ in written} >= {"README.md", "python.md"}
    assert written - shown == set()


def anchors(document: Path) -> set[str]:
    """The headings of a document, as links name them."""
    headings = re.findall(r"^#+ (.+)$", words_of(document), re.MULTILINE)
    return {ANCHOR.sub("", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCS, ids=lambda path: str(path.name))
def test_relative_links_lead_somewhere(document: Path) -> None:
    """A link to a file of this repository finds it, and its heading."""
    lost = []
    for link in re.findall(r"\]\(([^)\s]+)\)", words_of(document)):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, heading = link.partition("#")
        target = document.parent / file if file else document
        if not target.exists() or (heading and heading not in anchors(target)):
            lost.append(link)
    assert lost == []


def commands(tool: typer.Typer) -> set[tuple[str, ...]]:
    """Every command of the command line, as words; of a group, its own name, too."""
    group = typer.main.get_command(tool)
    found: set[tuple[str, ...]] = set()
    for name, command in getattr(group, "commands", {}).items():
        found.add((name,))
        found |= {(name, inner) for inner in getattr(command, "commands", {})}
    return found


def named_commands(text: str) -> Iterator[tuple[str, ...]]:
    """`toolstile …` in code quotes or after a prompt, up to the first word that is no command."""
    lines = re.findall(r"`toolstile ([^`]+)`", text)
    lines += re.findall(r"^    (?:.*[$|] )?toolstile (.+)$", text, re.MULTILINE)
    for line in lines:
        words = [word for word in line.split() if not word.startswith("-")]
        if words:
            yield tuple(words[: 2 if words[0] in ("tools", "confirm") else 1])


def test_the_command_collector_sees_commands() -> None:
    """Both ways of writing a command are found, options left out."""
    text = (
        "say `toolstile tools list`\n    $ echo x | toolstile call y\n    toolstile doctor --json\n"
    )
    assert list(named_commands(text)) == [("tools", "list"), ("call",), ("doctor",)]


@pytest.mark.parametrize("document", DOCS, ids=lambda path: str(path.name))
def test_commands_exist(document: Path) -> None:
    """A command that a document names is one of the command line."""
    assert set(named_commands(words_of(document))) - commands(app) == set()


def test_every_document_can_be_reached() -> None:
    """Each file of docs/ is linked from README.md."""
    readme = words_of(ROOT / "README.md")
    documents = [path.name for path in (ROOT / "docs").glob("*.md")]
    assert documents
    assert [name for name in documents if f"(docs/{name})" not in readme] == []
