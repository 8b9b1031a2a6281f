"""Every recorded tool in every dialect, every recorded call there and back, in figures.

`exports.py` prints them for the public corpora; `exports.py --decode` asks llguidance as well
whether what is exported for vLLM can be decoded, and which calls it then lets through.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))
from corpora import ROOT, records
from suites.published_types import CHECKS
from suites.toolcalls import files
from toolstile.dialects import DIALECTS, Export, export
from toolstile.errors import DefinitionError
from toolstile.model.canonical import canonical
from toolstile.model.definition import ToolDefinition
from toolstile.schema.adopt import adopt
from toolstile.schema.compiled import arguments_of
from toolstile.schema.engine import Fits, compile_engine, engine_schema
from toolstile.schema.extensions import NO_EXTENSIONS

SCHEMAS = ("parameters", "inputSchema", "input_schema", "parametersJsonSchema")


class Tally(msgspec.Struct):
    """What became of the tools and calls in one dialect."""

    counts: Counter[str] = msgspec.field(default_factory=Counter)
    wrong: list[str] = msgspec.field(default_factory=list)

    def note(self, what: str, name: str, detail: object = "") -> None:
        """Count something that is wrong, and keep the first few."""
        self.counts[what] += 1
        if self.counts[what] <= 3:
            self.wrong.append(f"{what}: {name}: {detail}"[:400])


def schema_of(exported: Export) -> dict[str, Any]:
    """The schema of the arguments, as it was sent."""
    document = json.loads(exported.json)
    function = document.get("function", document)
    found: dict[str, Any] = next(function[name] for name in SCHEMAS if name in function)
    return found


def tried(tally: Tally, definition: ToolDefinition, dialect: str, calls: Iterable[Any]) -> None:
    """Export one tool, hold it against the client's types, and send its calls there and back."""
    tally.counts["tools"] += 1
    exported = export(definition, dialect)
    tally.counts["losses"] += len(exported.losses)
    tally.counts["with losses"] += bool(exported.losses)
    tally.counts["in another form"] += exported.changes_arguments
    try:
        CHECKS[dialect](json.loads(exported.json))
    except (ValueError, AssertionError) as error:
        tally.note("not of the published type", definition.name, error)
    takes = taking(schema_of(exported))
    for arguments in calls:
        there_and_back(tally, exported, takes, arguments)


def taking(schema: dict[str, Any]) -> Fits:
    """What the exported schema says of a value."""
    return compile_engine(engine_schema(schema, {}), NO_EXTENSIONS).is_valid


def there_and_back(tally: Tally, exported: Export, takes: Fits, arguments: Any) -> None:
    """A call of the tool has a form in the dialect, and comes back as it was."""
    own = arguments_of(exported.definition).check(arguments)
    if not own.ok:
        return
    tally.counts["calls"] += 1
    sent = exported.to_provider(arguments)
    if not takes(sent):
        tally.note("cannot be said", exported.definition.name, sent)
    back = exported.check(json.dumps(sent))
    if not back.ok or canonical(back.value) != canonical(own.value):
        tally.note("comes back otherwise", exported.definition.name, sent)


def score(root: Path) -> dict[str, Tally]:
    """All recorded tools and valid calls beneath a folder."""
    tallies = {name: Tally() for name in DIALECTS}
    for file in files(root):
        for record in records(file):
            try:
                definition = adopt(record["tool"]).definition
            except DefinitionError:
                continue  # the figure of `toolcalls.py`
            calls = [call["arguments"] for call in record["valid_calls"] if "arguments" in call]
            for name, tally in tallies.items():
                tried(tally, definition, name, [c for c in calls if isinstance(c, dict)])
    return tallies


WRONG = ("not of the published type", "cannot be said", "comes back otherwise")


def main() -> None:
    """Print the figures; the exit code says whether one of them is not nought where it must be."""
    tallies = score(ROOT)
    columns = ("tools", "calls", "with losses", "losses", "in another form", *WRONG)
    print(f"{'dialect':<26}" + "".join(f"{column:>{len(column) + 3}}" for column in columns))
    for name, tally in tallies.items():
        figures = (f"{tally.counts[column]:>{len(column) + 3}}" for column in columns)
        print(f"{name:<26}" + "".join(figures))
    for tally in tallies.values():
        print(*tally.wrong, sep="\n", end="\n" if tally.wrong else "")
    sys.exit(any(tally.wrong for tally in tallies.values()))


if __name__ == "__main__":
    main()
