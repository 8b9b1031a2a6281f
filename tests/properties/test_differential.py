"""A slice of the differential exam, and the proof that it would notice."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from corpora import corpus
from properties import pools
from properties.differential import (
    Answer,
    Check,
    Compile,
    Refused,
    Tally,
    examine,
    itself,
    main,
    product,
    reproducers,
    run,
    thin,
)
from properties.generator import FOCI, KEYWORDS, case, spell
from properties.pools import Json, Schema
from properties.reference import compile_judge, ecma, identity
from properties.shrink import shrink

HERE = Path(__file__).parent
SEED = 20_260


def test_the_product_agrees_with_the_judge() -> None:
    """On 20,000 documents that use every keyword both ways, product and standard agree."""
    tally = examine(product, SEED, range(1_000))
    assert reproducers(product, tally.findings) == []
    assert not tally.wrong
    assert thin(tally) == []
    assert tally.documents > 19_000
    assert tally.valid < 0.6 * tally.documents


# --- would it notice? ---------------------------------------------------------------------------


def without(keyword: str, schema: Json) -> Json:
    """A schema with a keyword left out wherever it is one."""
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Json] = {}
    for name, value in schema.items():
        if name == keyword:
            continue
        if name in ("properties", "patternProperties", "$defs", "dependentSchemas"):
            kept[name] = {member: without(keyword, inner) for member, inner in value.items()}
        elif name in ("allOf", "anyOf", "oneOf", "prefixItems"):
            kept[name] = [without(keyword, branch) for branch in value]
        else:
            kept[name] = value if name in ("enum", "const") else without(keyword, value)
    return kept


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_an_ignored_keyword_is_noticed(keyword: str) -> None:
    """The judge, made to ignore one keyword, fails within a dozen schemas about that keyword."""
    first = FOCI.index(keyword) if keyword in FOCI else 0
    few = range(first, 12 * len(FOCI), len(FOCI))
    assert examine(itself, SEED, few).findings == []
    assert examine(lambda schema: itself(without(keyword, schema)), SEED, few).findings


def noticed(compile_: Compile) -> bool:
    """Whether the exam finds fault with a validator, given four hundred schemas."""
    blocks = (range(first, first + 20) for first in range(0, 400, 20))
    return any(examine(compile_, SEED, block).findings for block in blocks)


def changed(value: Json, change: Callable[[Json], Json]) -> Json:
    """A value with every scalar in it changed."""
    if isinstance(value, dict):
        return {name: changed(member, change) for name, member in value.items()}
    if isinstance(value, list):
        return [changed(item, change) for item in value]
    return change(value)


def in_utf16(value: Json) -> Json:
    """As a language sees it that counts UTF-16 units."""
    if not isinstance(value, str):
        return value
    return "".join(letter if ord(letter) < 0x10000 else "--" for letter in value)


def unquoted(value: Json) -> Json:
    """A number for a text that looks like one."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


MISREADINGS: dict[str, Callable[[Json], Json]] = {
    "integers are floats": lambda value: float(value) if type(value) is int else value,
    "booleans are integers": lambda value: int(value) if isinstance(value, bool) else value,
    "letters are UTF-16 units": in_utf16,
    "texts are trimmed": lambda value: value.strip() if isinstance(value, str) else value,
    "null is the empty text": lambda value: "" if value is None else value,
    "digits are numbers": unquoted,
    "floats are cut": lambda value: int(value) if isinstance(value, float) else value,
}


@pytest.mark.parametrize("name", MISREADINGS)
def test_a_misread_document_is_noticed(name: str) -> None:
    """A validator that reads documents in a common wrong way is found out."""

    def misreading(schema: Schema) -> Check:
        check = itself(schema)

        def misread(document: bytes) -> Answer:
            value = changed(json.loads(document), MISREADINGS[name])
            return Answer(check(json.dumps(value).encode()).ok, json.loads(document))

        return misread

    assert noticed(misreading)


def test_a_changed_value_and_a_crash_are_noticed() -> None:
    """The right verdict is not enough: the value must be the document's, and there must be one."""

    def emptied(schema: Schema) -> Check:
        check = itself(schema)
        return lambda document: Answer(check(document).ok, {})

    def crashing(schema: Schema) -> Check:
        raise RecursionError(f"{len(schema)} keywords")

    assert set(examine(emptied, SEED, range(20)).wrong) == {"wrong value"}
    assert set(examine(crashing, SEED, range(20)).wrong) == {"crash (RecursionError)"}


# --- the judge ----------------------------------------------------------------------------------

NOT_FOR_THE_JUDGE = {
    "format.json": "it asserts formats",
    "dynamicRef.json": "no dynamic references in the strict profile",
    "refRemote.json": "nor remote ones",
}


def suite(folder: Path) -> Iterator[tuple[str, Schema, Json, bool]]:
    """The cases of the JSON Schema Test Suite in a folder, without those not for the judge."""
    for file in sorted(folder.glob("*.json")):
        if file.name in NOT_FOR_THE_JUDGE:
            continue
        for group in json.loads(file.read_text(encoding="utf-8")):
            if r"\p{" in json.dumps(group["schema"]).replace(r"\\", "\\"):
                continue  # Python has no words for Unicode properties
            for test in group["tests"]:
                yield file.name, group["schema"], test["data"], test["valid"]


def test_the_judge_passes_the_official_suite() -> None:
    """The judge itself is right on every required case of 2020-12 that is within its reach."""
    folder = corpus("json-schema-test-suite", "tests", "draft2020-12")
    wrong = [
        (name, schema, data)
        for name, schema, data, valid in suite(folder)
        if compile_judge(schema)(json.dumps(data).encode()).valid != valid
    ]
    assert wrong == []


Label = tuple[Schema, Json, bool]


def labelled() -> Iterator[Label]:
    """Every value of the pools, with the label that its place there gives it."""
    texts = [({"pattern": pattern}, *values) for pattern, *values in pools.PATTERNS]
    texts += [({"format": name}, *values) for name, values in pools.FORMATS.items()]
    texts += [({"enum": list(fits)}, fits, misses) for fits, misses in pools.CHOICES]
    for schema, fits, misses in texts:
        yield from ((schema, value, True) for value in fits)
        yield from ((schema, value, False) for value in misses)
    for schema, good, bad in pools.NAMED:
        yield from (({"propertyNames": schema}, {name: 1}, True) for name in good)
        yield from (({"propertyNames": schema}, {name: 1}, False) for name in bad)


def test_the_pools_are_labelled_as_the_judge_says() -> None:
    """What the pools call fitting fits, what they call a miss does not."""
    for schema, value, valid in labelled():
        judged = compile_judge(schema)(json.dumps(value).encode()).valid
        assert judged is valid, (schema, value)


def test_confusable_values_are_pairwise_different() -> None:
    """The judge tells `1`, `true`, `"1"`, `[1]` and their like apart, and nothing more."""
    assert len({identity(value) for value in pools.CONFUSABLE}) == len(pools.CONFUSABLE)
    assert identity([{"a": 1.0}]) == identity([{"a": 1}])


EXACT_CASES: tuple[tuple[Schema, str, bool], ...] = (
    ({"multipleOf": 0.01}, "0.07", True),
    ({"multipleOf": 0.01}, "19.995", False),
    ({"multipleOf": 1e-4}, "9007199254740993", True),
    ({"maximum": 2**53}, "9007199254740993", False),
    ({"minimum": 0.1}, "1e-1", True),
    ({"const": 2**53 + 1}, "9007199254740992", False),
    ({"type": "integer"}, "1e2", True),
    ({"type": "integer"}, "1.5", False),
    ({"type": "integer"}, "true", False),
    ({"const": 1}, "true", False),
    ({"enum": [[0]]}, "[false]", False),
    ({"uniqueItems": True}, "[[1],[true],[1]]", False),
    ({"uniqueItems": True}, "[[1],[true]]", True),
    ({"uniqueItems": True}, "[1,1.0]", False),
    ({"pattern": "^a$"}, '"a\\n"', False),
    ({"pattern": r"^\d$"}, '"\u0661"', False),
    ({"pattern": "^[a$.]$"}, '"$"', True),
    ({"maxLength": 1}, '"\\ud83d\\ude00"', True),
)


@pytest.mark.parametrize(("schema", "document", "valid"), EXACT_CASES)
def test_the_judge_is_exact(schema: Schema, document: str, valid: bool) -> None:
    """Where floats, Python's types or Python's patterns would mislead it, the judge is not."""
    assert compile_judge(schema)(document.encode()).valid is valid


@pytest.mark.parametrize("pattern", [r"\p{L}", r"\cA", r"[^\S]", r"a\Z"])
def test_the_judge_refuses_patterns_it_cannot_say(pattern: str) -> None:
    """A pattern without an equal in Python is an error, never a guess."""
    with pytest.raises(ValueError, match="cannot say"):
        ecma(pattern)


# --- the generator ------------------------------------------------------------------------------


def test_the_examiner_knows_nothing_of_the_product() -> None:
    """Generator and judge import nothing of ours; only the runner does, and late."""
    for file in HERE.glob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        scope = ast.walk(tree) if file.stem != "differential" else iter(tree.body)
        names = [node.module or "" for node in scope if isinstance(node, ast.ImportFrom)]
        assert not [name for name in names if name.startswith("toolstile")], file.name


def test_a_case_follows_from_its_number() -> None:
    """The same seed and index give the same bytes; another seed gives others."""
    assert [case(1, index) for index in range(50)] == [case(1, index) for index in range(50)]
    assert case(1, 0) != case(2, 0)


SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
OTHER_VALUES = (
    *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
    *("propertyNames", "items", "prefixItems", "contains", "unevaluatedItems"),
)
ABOUT_OBJECTS = {"properties", "patternProperties", "required", "dependentRequired"}


def below(schema: Schema, keywords: tuple[str, ...]) -> Iterator[Schema]:
    """The direct subschemas under some keywords."""
    for keyword in keywords:
        held = schema.get(keyword)
        if isinstance(held, list):
            yield from held
        elif keyword in ("properties", "patternProperties", "dependentSchemas"):
            yield from (held or {}).values()
        elif isinstance(held, dict):
            yield held


def places(schema: Schema) -> Iterator[tuple[Schema, set[str]]]:
    """Every value's schema, with the keywords that any of its branches says."""
    said: set[str] = set(schema)
    inner = list(below(schema, OTHER_VALUES))
    branches = list(below(schema, SAME_VALUE))
    while branches:
        branch = branches.pop()
        said |= set(branch)
        inner += below(branch, OTHER_VALUES)
        branches += below(branch, SAME_VALUE)
    yield schema, said
    for value in inner:
        yield from places(value)


def test_openness_is_always_written_out() -> None:
    """Wherever a value may be an object of declared members, its schema says what else it takes."""
    for index in range(2_000):
        for schema, said in places(case(3, index, 0).schema):
            types = schema.get("type", ())
            if said & ABOUT_OBJECTS or "object" in types:
                assert {"additionalProperties", "unevaluatedProperties"} & schema.keys(), index


@pytest.mark.parametrize("value", [0, -3, 100, 0.25, -0.01, 1e-7, 2**63 - 1, 1 - 2**63, "a/\x00😀"])
def test_every_spelling_means_the_same(value: Json) -> None:
    """However a value is written, JSON reads it back, integers as their own kind or as floats."""
    nested = {"é": [value, {"": value}], "~": [[], {}, None, True]}
    spellings = {spell(Random(seed), nested) for seed in range(300)}
    assert all(json.loads(spelling) == nested for spelling in spellings)
    assert len(spellings) > 10


# --- shrinking and resuming ---------------------------------------------------------------------


def test_a_reproducer_is_small_and_still_explicit() -> None:
    """What does not matter goes; what says whether an object is open stays."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": {"type": "string", "maxLength": 3}, "b": {"type": "integer"}},
        "required": ["b"],
        "additionalProperties": False,
    }

    def shows(schema: Schema, document: bytes) -> bool:
        return "maxLength" in str(schema) and len(json.loads(document).get("a", "")) > 2

    small, document = shrink(schema, b'{ "b": 1, "a": "\\u0061bcdef" }', shows)
    assert small == {"properties": {"a": {"maxLength": 3}}, "additionalProperties": False}
    assert document == b'{"a":"abc"}'


def test_a_spelling_that_matters_is_kept() -> None:
    """Where only the bytes as written show it, the bytes stay as written."""
    schema = {"type": "object", "additionalProperties": True}
    small, document = shrink(schema, b'{"a": 1e0}', lambda _, document: b"e0" in document)
    assert (small, document) == ({"additionalProperties": True}, b'{"a": 1e0}')


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    """A journal cut off in the middle of a line gives the same result as an unbroken run."""
    journal = tmp_path / "journal"
    unbroken = run("judge", SEED, blocks=2, workers=1, journal=journal)
    journal.write_bytes(journal.read_bytes()[:-10])
    resumed = run("judge", SEED, blocks=2, workers=1, journal=journal)
    assert resumed == unbroken
    assert unbroken != Tally()
    assert len(journal.read_bytes().splitlines()) == 2


def test_the_verdict_of_a_run_is_its_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    """Agreement on enough documents that use everything is status 0, and said in numbers."""
    status = main(["--documents", "5001", "--seed", "2", "--subject", "judge", "--json"])
    printed = json.loads(capsys.readouterr().out)
    assert (status, printed["disagreements"], printed["too_thin"]) == (0, {}, [])
    assert printed["documents"] == 6_000  # whole blocks
    assert set(printed["keywords"]) == set(KEYWORDS)


def test_an_exam_that_examines_little_is_thin() -> None:
    """Agreement says nothing of keywords that were hardly met, nor of schemas that were refused."""
    few = examine(itself, SEED, range(3))
    assert any(reason.startswith("uniqueItems: 0 documents") for reason in thin(few))

    def refusing(schema: Schema) -> Check:
        raise Refused(f"{len(schema)} keywords are too many")

    assert "3 of 3 schemas refused" in thin(examine(refusing, SEED, range(3)))


def test_one_fault_is_reported_once() -> None:
    """Many documents with one fault come down to one reproducer, small enough to read."""

    def without_lengths(schema: Schema) -> Check:
        return itself(without("maxLength", schema))

    tally = examine(without_lengths, SEED, range(FOCI.index("maxLength"), 400, len(FOCI)))
    (found,) = reproducers(without_lengths, tally.findings)
    assert tally.wrong["wrong accept"] > 20
    assert len(json.dumps(found.schema)) < 150
