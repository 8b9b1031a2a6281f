"""What validating arguments promises (ACODE FR-036 to FR-048): strict, whole, silent on values."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolstile.errors import SchemaValidationError, UnknownToolError
from toolstile.registry.registry import Registry

CANARY = "canary-4f1c9d27"
READ_FILE: dict[str, Any] = {
    "name": "read_file",
    "description": "Read the contents of a file",
    "version": "1.0.0",
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "pattern": "^[a-z./]+$"},
            "encoding": {"type": "string", "enum": ["utf-8", "ascii"], "default": "utf-8"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        },
        "required": ["path"],
    },
}
NEXT: dict[str, Any] = READ_FILE | {
    "version": "2.0.0",
    "parameters": {"type": "object", "properties": {"name": {"type": "string"}}},
}


@pytest.fixture(scope="module")
def registry() -> Registry:
    """The seed's tool in two versions; the second takes another argument."""
    made = Registry()
    made.register(READ_FILE)
    made.register(NEXT)
    made.pin("read_file", "1.0.0")
    return made


# Arguments, the code and keyword of what is wrong with them, and where.
REFUSED: list[tuple[str, str, str, str]] = [
    ("", "ACODE-TSR-002", "invalid_json", ""),
    ("{", "ACODE-TSR-002", "invalid_json", ""),
    ("{'path': 'a'}", "ACODE-TSR-002", "invalid_json", ""),
    ('{"path": "a"} x', "ACODE-TSR-002", "invalid_json", ""),
    ('{"path": NaN}', "ACODE-TSR-002", "invalid_json", ""),
    ('{"path": "a", "path": "b"}', "ACODE-TSR-002", "duplicate_key", "/path"),
    ("[" * 300, "ACODE-TSR-002", "too_deep", "/0" * 64),
    ("{}", "ACODE-TSR-003", "required", "/path"),
    ("[]", "ACODE-TSR-004", "type", ""),
    ("null", "ACODE-TSR-004", "type", ""),
    ('"path"', "ACODE-TSR-004", "type", ""),
    ('{"path": 1}', "ACODE-TSR-004", "type", "/path"),
    ('{"path": null}', "ACODE-TSR-004", "type", "/path"),
    ('{"path": "a", "limit": "5"}', "ACODE-TSR-004", "type", "/limit"),
    ('{"path": "a", "limit": 1.5}', "ACODE-TSR-004", "type", "/limit"),
    ('{"path": "a", "limit": true}', "ACODE-TSR-004", "type", "/limit"),
    ('{"path": ""}', "ACODE-TSR-005", "minLength", "/path"),
    ('{"path": "A"}', "ACODE-TSR-005", "pattern", "/path"),
    ('{"path": "a", "encoding": "latin"}', "ACODE-TSR-005", "enum", "/encoding"),
    ('{"path": "a", "limit": 0}', "ACODE-TSR-005", "minimum", "/limit"),
    ('{"path": "a", "limit": 101}', "ACODE-TSR-005", "maximum", "/limit"),
    ('{"path": "a", "mode": "r"}', "ACODE-TSR-005", "additionalProperties", "/mode"),
    ('{"path": "a", "limit": 9223372036854775808}', "ACODE-TSR-005", "number_range", "/limit"),
]


@pytest.mark.parametrize(("raw", "error_code", "code", "path"), REFUSED)
def test_each_kind_of_fault_has_its_code(
    registry: Registry, raw: str, error_code: str, code: str, path: str
) -> None:
    """JSON, required, type and constraint: each is refused with its code, at its place."""
    checked = registry.check("read_file", raw)
    assert (checked.ok, checked.value) == (False, None)
    said = {(issue.error_code, issue.code, issue.path) for issue in checked.issues}
    assert (error_code, code, path) in said
    assert registry.check("read_file", '{"path": "a"}').ok


def test_a_name_and_text_give_the_value_to_use(registry: Registry) -> None:
    """Text, bytes or a mapping: the parsed value comes back, defaults filled in."""
    expected = {"path": "a", "limit": 5, "encoding": "utf-8"}
    for arguments in (
        '{"path": "a", "limit": 5}',
        b'{"path":"a","limit":5.0}',
        {"path": "a", "limit": 5},
    ):
        assert registry.validate_arguments("read_file", arguments) == expected
        assert registry.try_validate_arguments("read_file", arguments).value == expected


def test_invalid_arguments_raise_with_every_issue(registry: Registry) -> None:
    """SchemaValidationError names the tool and carries all issues, sorted by place."""
    with pytest.raises(SchemaValidationError, match="Arguments of tool 'read_file'") as raised:
        registry.validate_arguments("read_file", {"limit": 0, "encoding": "x", "mode": "r"})
    assert raised.value.tool == "read_file"
    places = [issue.path for issue in raised.value.issues]
    assert places == ["/encoding", "/limit", "/mode", "/path"]


def test_arguments_are_checked_against_the_version_asked_for(registry: Registry) -> None:
    """`version` takes a range; without one the pin, or else the newest release, decides."""
    assert registry.check("read_file", {"path": "a"}).ok
    assert not registry.check("read_file", {"path": "a"}, "^2").ok
    assert registry.validate_arguments("read_file", {"name": "a"}, "2.0.0") == {"name": "a"}
    with pytest.raises(UnknownToolError):
        registry.validate_arguments("read_file", {"name": "a"}, "^3")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


# Half surrogates, too, which Python's texts may hold.
ANY_TEXT = st.text(st.characters(categories=None))


@given(st.text() | st.binary() | JSON, st.text(max_size=70))
def test_checking_never_raises(registry: Registry, arguments: Any, name: str) -> None:
    """Whatever is sent, to whatever name, is answered; good arguments still are."""
    for tool in ("read_file", name):
        checked = registry.try_validate_arguments(tool, arguments)
        assert checked.ok is not bool(checked.issues)
    assert registry.check("read_file", '{"path": "a"}').ok


@given(JSON | st.binary() | ANY_TEXT, st.none() | JSON | st.binary() | ANY_TEXT)
def test_no_name_and_no_version_makes_checking_raise(
    registry: Registry, name: Any, version: Any
) -> None:
    """Whatever stands for the name or the version is answered; reading raises UnknownToolError."""
    for named in (name, "read_file"):
        assert registry.check(named, "[]", version).issues
        for read in (registry.get, registry.tool, registry.callable_tool):
            with suppress(UnknownToolError):
                read(named, version)
    with pytest.raises(UnknownToolError):
        registry.versions(name)
    assert name not in registry


@given(JSON)
def test_the_same_arguments_get_the_same_answer(registry: Registry, arguments: Any) -> None:
    """The answer depends on schema and arguments alone: not on the time, order or who asks."""
    one, other = Registry(), Registry()
    one.register(READ_FILE)
    other.register(json.loads(json.dumps(READ_FILE)))
    answers = [each.check("read_file", arguments) for each in (one, other, one)]
    assert answers[0] == answers[1] == answers[2]


LEAKING: list[str] = [
    f'{{"path": {{"{CANARY}": 1}}}}',
    f'{{"path": "{CANARY}"}}',
    f'{{"path": "a", "encoding": "{CANARY}"}}',
    f'{{"path": "a", "limit": "{CANARY}"}}',
    f'{{"path": ["{CANARY}"]}}',
    f'{{"path": "{CANARY}',
    f'"{CANARY}"',
    f'{{"path": "{CANARY}", "path": "{CANARY}"}}',
]


@pytest.mark.parametrize("raw", LEAKING)
def test_no_issue_and_no_log_says_what_was_sent(
    registry: Registry, raw: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Values stand in no issue, no exception and no log line, whatever is wrong with them."""
    caplog.set_level(logging.DEBUG)
    checked = registry.check("read_file", raw)
    assert not checked.ok
    with pytest.raises(SchemaValidationError) as raised:
        checked.unwrap()
    told = json.dumps([issue.to_dict() for issue in checked.issues])
    assert CANARY not in told + str(raised.value) + caplog.text
    assert caplog.records


def test_a_failed_validation_is_logged(
    registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    """One warning with tool, codes and time; what fits is not worth a line."""
    caplog.set_level(logging.DEBUG, logger="toolstile.registry")
    registry.check("read_file", {"path": "a"})
    assert not caplog.records
    registry.check("read_file", {"path": 1, "mode": 2})
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    said = record.getMessage()
    assert said.startswith("[TLS-DEF] Arguments failed validation. name=read_file ")
    assert "codes=ACODE-TSR-004, ACODE-TSR-005 ms=" in said


WORDS: list[tuple[str, str]] = [
    ('{"path": "a", ', "Invalid JSON in arguments"),
    ("{}", "Required field 'path' missing"),
    ('{"path": 1}', "Type mismatch: expected string, got integer"),
    ('{"path": "A"}', "Constraint violation: "),
]


@pytest.mark.parametrize(("raw", "words"), WORDS)
def test_messages_begin_with_acodes_words(registry: Registry, raw: str, words: str) -> None:
    """ACODE's texts of 002 to 005 stand in front of ours."""
    (issue,) = registry.check("read_file", raw).issues
    assert issue.message.startswith(words)


def test_at_most_32_issues_are_told_and_all_are_counted(registry: Registry) -> None:
    """A document with very many faults is answered with the first 32 and their number."""
    extra = {f"extra_{number:03}": 1 for number in range(100)}
    checked = registry.check("read_file", {"path": "a"} | extra)
    assert (len(checked.issues), checked.errors_total) == (32, 100)


def test_what_is_registered_is_closed(registry: Registry) -> None:
    """Nothing that the schema does not name gets through, at any depth: that is the boundary."""
    made = Registry()
    nested = {"type": "object", "properties": {"inner": {"type": "string"}}}
    made.register(
        {
            "name": "nest",
            "description": "Nest",
            "parameters": {"type": "object", "properties": {"outer": nested}},
        }
    )
    made.register({"name": "nothing", "description": "Take nothing"})
    assert made.check("nest", {"outer": {"inner": "x"}}).ok
    (issue,) = made.check("nest", {"outer": {"inner": "x", "__proto__": {}}}).issues
    assert issue.path == "/outer/__proto__"
    assert made.check("nothing", "{}").value == {}
    assert not made.check("nothing", '{"anything": 1}').ok
