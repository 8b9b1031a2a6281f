"""The public JSON-Schema-Test-Suite against our schema layer, in three figures.

(a) the engine with our settings and our patterns, lint and closing off, as the suite means it;
(b) every schema as the property `v` of a closed object, typed where it has no type and with its
    objects left as open as the suite has them: what is accepted must answer exactly;
(c) what is refused, with the reasons.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))
from corpora import ROOT
from toolstile.model.issue import Issue
from toolstile.model.json import thaw
from toolstile.schema import check_schema, compile_arguments
from toolstile.schema.closing import at, closing_keyword
from toolstile.schema.engine import engine_options, engine_schema
from toolstile.schema.extensions import NO_EXTENSIONS
from toolstile.schema.keywords import DIALECT
from toolstile.schema.lint import lint
from toolstile.schema.places import NOWHERE, REFERENCES, Places, walk

NEXT = "\n      "
ALL_TYPES = ["array", "boolean", "null", "number", "object", "string"]
REMOTE = "http://localhost:1234/"
# In the required part of the suite a format is a note.
AS_WE_DO = {**engine_options(NO_EXTENSIONS), "validate_formats": False}


class Group(msgspec.Struct, frozen=True):
    """One schema of the suite and its tests."""

    file: str
    description: str
    schema: Any
    tests: tuple[dict[str, Any], ...]

    @property
    def required(self) -> bool:
        """True outside the suite's `optional` folder."""
        return not self.file.startswith("optional")


def groups(suite: Path) -> Iterator[Group]:
    """Every group, by file."""
    root = suite / "tests" / "draft2020-12"
    for path in sorted(root.rglob("*.json")):
        name = path.relative_to(root).as_posix()
        for group in json.loads(path.read_text(encoding="utf-8")):
            yield Group(name, group["description"], group["schema"], tuple(group["tests"]))


def engine_score(suite: Path) -> tuple[Counter[str], list[str]]:
    """Figure (a): right and wrong answers of the engine on the required groups."""
    remotes = suite / "remotes"
    resources = [
        (REMOTE + path.relative_to(remotes).as_posix(), json.loads(path.read_text("utf-8")))
        for path in sorted(remotes.rglob("*.json"))
    ]
    registry = jsonschema_rs.Registry(resources, draft=jsonschema_rs.Draft202012)
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for group in groups(suite):
        if not group.required:
            continue
        schema = engine_schema(group.schema, {})
        if isinstance(schema, dict) and "$schema" in group.schema:
            schema["$schema"] = group.schema["$schema"]  # says that `vocabulary.json` is in force
        engine = jsonschema_rs.Draft202012Validator(schema, registry=registry, **AS_WE_DO)
        for test in group.tests:
            right = engine.is_valid(test["data"]) is test["valid"]
            counts["right" if right else "wrong"] += 1
            if not right:
                wrong.append(f"{group.file}: {group.description}: {test['description']}")
    return counts, wrong


class Wrapped(msgspec.Struct):
    """Figures (b) and (c)."""

    counts: Counter[str]
    wrong: list[str]
    refused: list[str]


def wrapped_score(suite: Path) -> Wrapped:
    """Figures (b) and (c) over the required groups."""
    score = Wrapped(Counter(), [], [])
    for group in groups(suite):
        if group.required:
            _judge(group, score)
    return score


def _judge(group: Group, score: Wrapped) -> None:
    score.counts["groups"] += 1
    schema = wrapped(group.schema)
    issues = check_schema(schema)
    if issues:
        reasons = "; ".join(f"{issue.path} {issue.message}" for issue in issues[:2])
        score.refused.append(f"{group.file}: {group.description}: {reasons}")
        return
    score.counts["accepted"] += 1
    arguments = compile_arguments(schema)
    for test in group.tests:
        answer = arguments.check(json.dumps({"v": test["data"]}))
        right = answer.ok is test["valid"]
        score.counts["right" if right else "wrong"] += 1
        if not right:
            what = f"{group.file}: {group.description}: {test['description']}"
            score.wrong.append(f"{what}: {answer.issues}")


def wrapped(schema: Any) -> dict[str, Any]:
    """The schema as property `v`: references moved along, types and openness written out."""
    moved = _moved(thaw(schema))
    document: dict[str, Any] = {
        "type": "object",
        "properties": {"v": moved},
        "required": ["v"],
        "additionalProperties": False,
    }
    if isinstance(moved, dict):
        _write_out(document)
    return document


def _moved(schema: Any) -> Any:
    if isinstance(schema, dict):
        if schema.get("$schema") == DIALECT:
            del schema["$schema"]
        for place in list(walk(schema)):
            for name in REFERENCES:
                reference = place.rules.get(name, "")
                if place.base == NOWHERE and (reference == "#" or reference.startswith("#/")):
                    place.schema[name] = "#/properties/v" + reference[1:]
            if isinstance(place.schema, dict):
                place.schema.pop("format", None)  # the required part is run with formats off
    return schema


def _write_out(document: dict[str, Any]) -> None:
    """What the suite leaves unsaid, in its own sense: any type, open objects, open arrays.

    Only where the lint asks for it: elsewhere an added keyword could change what `unevaluated...`
    sees. An object is left as open as it was by writing `true` where closing would write `false`.
    """
    for _ in range(5):  # what is written out may itself have to say more
        for issue in check_schema(document):
            _cure(document, issue)
    if lint(document):
        return
    places = Places(document)
    for place in places:
        keyword = closing_keyword(places, place)
        if keyword is not None and place.pointer:
            place.schema[keyword] = True


def _cure(document: dict[str, Any], issue: Issue) -> None:
    parent, _, last = issue.path.rpartition("/")
    if issue.code == "items":
        at(document, issue.path)["items"] = True
    elif issue.code == "properties":
        at(document, issue.path)["additionalProperties"] = True
    elif issue.code == "type" and issue.message.endswith("does not say its type"):
        schema = at(document, issue.path)
        typed = {"type": list(ALL_TYPES)} | (schema if isinstance(schema, dict) else {})
        at(document, parent)[_unescaped(last)] = typed
    elif issue.code == "required":
        schema = at(document, parent)
        declared = schema.setdefault("properties", {})
        for name in schema["required"]:
            declared.setdefault(name, {"type": list(ALL_TYPES)})
    elif issue.code == "default" and last == "default":
        del at(document, parent)["default"]  # an annotation: it never decides


def _unescaped(name: str) -> str:
    return name.replace("~1", "/").replace("~0", "~")


def main() -> None:
    """Print the three figures; the exit code says whether any answer was wrong."""
    suite = ROOT / "json-schema-test-suite"
    counts, wrong = engine_score(suite)
    print(
        f"(a) engine, required tests: {counts['right']} of {counts.total()} right", *wrong, sep=NEXT
    )
    score = wrapped_score(suite)
    share = score.counts["accepted"] / score.counts["groups"]
    answers = score.counts["right"] + score.counts["wrong"]
    print(
        f"(b) wrapped and closed: {score.counts['accepted']} of {score.counts['groups']} schemas"
        f" accepted ({share:.1%}), {score.counts['right']} of {answers} answers right",
        *score.wrong,
        sep=NEXT,
    )
    print(f"(c) refused: {len(score.refused)}", *score.refused, sep=NEXT)
    sys.exit(bool(wrong or score.wrong))


if __name__ == "__main__":
    main()
