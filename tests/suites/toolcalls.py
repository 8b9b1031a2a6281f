"""Our verdicts on the recorded tool calls of the corpora, in the checker's words."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from corpora import ROOT, records
from toolstile.errors import DefinitionError
from toolstile.model.issue import Issue
from toolstile.schema.adopt import adopt
from toolstile.schema.compiled import Checked, compiled

# JSON Schema keywords in the corpora's classes.
CLASSES = {
    "required": "required",
    "dependentRequired": "required",
    "type": "type",
    "enum": "enum",
    "const": "enum",
    "additionalProperties": "additional",
    "unevaluatedProperties": "additional",
    "propertyNames": "additional",
    "minimum": "range",
    "maximum": "range",
    "exclusiveMinimum": "range",
    "exclusiveMaximum": "range",
    "multipleOf": "range",
    "number_range": "range",
    "minLength": "length",
    "maxLength": "length",
    "minItems": "length",
    "maxItems": "length",
    "minProperties": "length",
    "maxProperties": "length",
    "pattern": "pattern",
    "format": "format",
    "anyOf": "combinator",
    "oneOf": "combinator",
    "not": "combinator",
    "uniqueItems": "unique",
    "contains": "contains",
    "invalid_json": "invalid_json",
}


class Score:
    """Counts over one or more files of recorded calls."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.refused: dict[str, str] = {}
        self.wrong: list[str] = []

    def add(self, record: dict[str, Any]) -> None:
        """Adopt one tool and judge all its calls; a refused tool falsely rejects all valid ones."""
        self.counts["tools"] += 1
        try:
            parameters = adopt(record["tool"]).definition.parameters
        except DefinitionError as error:
            self.refused[record["id"]] = str(error)
            self.counts["false_rejects"] += len(record["valid_calls"])
            self.counts["valid"] += len(record["valid_calls"])
            return
        for call in record["valid_calls"]:
            self._valid(call, compiled(parameters).check(_raw(call)))
        for call in record["invalid_calls"]:
            self._invalid(call, compiled(parameters).check(_raw(call)))

    @property
    def meets_its_goals(self) -> bool:
        """True where the figures are those that were asked for."""
        count = self.counts
        return (
            len(self.refused) <= count["tools"] / 100
            and count["false_accepts"] == 0
            and count["false_rejects"] == count["not_an_object"]
            and min(count["class"], count["pointer"]) >= count["invalid"] * 0.99
            and count["spurious"] <= count["reported"] / 100
        )

    def _valid(self, call: dict[str, Any], checked: Checked) -> None:
        self.counts["valid"] += 1
        if not checked.ok:
            self.counts["false_rejects"] += 1
            # Arguments are an object (contract section 4, seed-rows 33), whatever a schema that
            # says nothing would take.
            self.counts["not_an_object"] += not isinstance(call.get("arguments"), dict)
            self.wrong.append(f"{call['id']}: false reject {checked.issues}")

    def _invalid(self, call: dict[str, Any], checked: Checked) -> None:
        self.counts["invalid"] += 1
        if checked.ok:
            self.counts["false_accepts"] += 1
            self.wrong.append(f"{call['id']}: FALSE ACCEPT {call['mutation']} {call.get('detail')}")
            return
        said = [(_class(issue), issue.path) for issue in checked.issues]
        faults = [(c, {member, instance}) for c, member, instance in call["expect"]["all"]]
        allowed = {(c, place) for c, places in faults for place in places}
        self.counts["reported"] += len(said)
        self.counts["spurious"] += sum(each not in allowed for each in said)
        self.counts["class"] += any(c == fault for c, _ in said for fault, _ in faults)
        right = any(each in allowed for each in said)
        self.counts["pointer"] += right
        if not right or any(each not in allowed for each in said):
            self.wrong.append(f"{call['id']}: said {said}, faults {sorted(allowed)}")


def _raw(call: dict[str, Any]) -> bytes:
    text = call.get("arguments_text")
    return (json.dumps(call["arguments"]) if text is None else text).encode()


def _class(issue: Issue) -> str:
    return CLASSES.get(issue.code, issue.code)


def files(root: Path) -> Iterator[Path]:
    """The files of recorded calls beneath a folder."""
    yield from sorted(root.glob("*/toolcalls.jsonl.gz"))


def score(root: Path) -> Score:
    """All recorded calls beneath a folder."""
    total = Score()
    for file in files(root):
        for record in records(file):
            total.add(record)
    return total


def main() -> None:
    """Print the figures; the exit code says whether one of them misses its goal."""
    total = score(ROOT)
    count = total.counts
    adopted = count["tools"] - len(total.refused)
    print(f"tools adopted      {adopted} of {count['tools']}")
    print(f"valid calls        {count['valid']}, false rejects {count['false_rejects']}")
    print(f"                   of these, arguments that are no object: {count['not_an_object']}")
    print(f"invalid calls      {count['invalid']}, false accepts {count['false_accepts']}")
    for figure in ("class", "pointer"):
        print(f"{figure + ' right':<18} {count[figure]} ({count[figure] / count['invalid']:.2%})")
    spurious = count["spurious"] / count["reported"]
    print(f"spurious issues    {count['spurious']} of {count['reported']} ({spurious:.2%})")
    for id_, reason in total.refused.items():
        print(f"refused {id_}: {reason}")
    if "--all" in sys.argv:
        print(*total.wrong, sep="\n")
    sys.exit(not total.meets_its_goals)


if __name__ == "__main__":
    main()
