"""What the registry counts, times and logs, under the seeds' names (contract section 9)."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

import pytest

from toolstile.errors import DefinitionError
from toolstile.registry.registry import Registry

CANARY = "canary-4f1c9d27"
READ_FILE: dict[str, Any] = {
    "name": "read_file",
    "description": "Read the contents of a file",
    "version": "1.0.0",
    "category": "file_system",
    "parameters": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
        "required": ["path"],
    },
}
VALIDATIONS = "tools.registry.validations"


@pytest.fixture
def registry() -> Registry:
    """One tool, and no validation yet."""
    made = Registry()
    made.register(READ_FILE)
    return made


def test_validations_are_counted_by_outcome_and_code(registry: Registry) -> None:
    """From the counts follows the share that succeeds, of each tool and for each kind of fault."""
    for _ in range(3):
        registry.check("read_file", {"path": "a"})
    registry.check("read_file", {"path": 1})
    several = registry.check("read_file", {"path": 1, "limit": 0})
    registry.check("no_such_tool", {})
    readings = registry.readings
    assert readings.total(VALIDATIONS, tool="read_file", outcome="valid") == 3
    assert readings.total(VALIDATIONS, tool="read_file", outcome="invalid") == 2
    assert readings.total(VALIDATIONS) == readings.timers[f"{VALIDATIONS[:-1]}.duration"].count
    assert readings.total(VALIDATIONS, outcome="invalid", code="ACODE-TSR-004") == 1
    assert [issue.error_code for issue in several.issues] == ["ACODE-TSR-005", "ACODE-TSR-004"]
    assert readings.total(VALIDATIONS, outcome="invalid", code="ACODE-TSR-005") == 1
    assert readings.total(VALIDATIONS, tool="no_such_tool") == 0


def test_validations_are_timed(registry: Registry) -> None:
    """Each one adds to the count and to the seconds, whatever comes of it: no more seconds than
    have gone by, and most of these where a validation takes long."""
    before = registry.readings.timers.get("tools.registry.validation.duration")
    assert before is None
    long = {"path": "ö" * 5_000_000}
    began = time.perf_counter()
    registry.check("read_file", long)
    registry.check("read_file", "{")
    gone = time.perf_counter() - began
    timing = registry.readings.timers["tools.registry.validation.duration"]
    assert timing.count == 2
    assert gone / 4 < timing.seconds <= gone


def test_definitions_are_counted_and_timed() -> None:
    """Created, failed, and how long looking at them took; the same one again creates nothing."""
    registry = Registry()
    registry.register(READ_FILE)
    registry.register(READ_FILE)
    with pytest.raises(DefinitionError):
        registry.register(READ_FILE | {"name": "Bad"})
    readings = registry.readings
    assert readings.total("tools.definitions.created") == 1
    assert readings.total("tools.definitions.validation.failures") == 1
    timing = readings.timers["tools.definitions.validation.duration"]
    assert timing.count == 3
    assert 0 < timing.seconds < 1
    assert len(registry) == 1


def test_a_reading_does_not_change(registry: Registry) -> None:
    """What was read stays as it was, and cannot be written to."""
    before = registry.readings
    registry.check("read_file", {"path": "a"})
    assert before.total(VALIDATIONS) == 0
    assert registry.readings.total(VALIDATIONS) == 1
    with pytest.raises(TypeError):
        before.counters["x", ()] = 1  # type: ignore[index]


def test_nothing_sent_is_a_label(registry: Registry) -> None:
    """Neither arguments nor names of tools that do not exist can fill the counters."""
    registry.check("read_file", {"path": CANARY, CANARY: CANARY})
    registry.check(CANARY, {})
    assert CANARY not in repr(registry.readings.counters)


def test_no_count_is_lost_between_threads(registry: Registry) -> None:
    """Eight threads count together as one would."""

    def check() -> None:
        for _ in range(200):
            registry.check("read_file", {"path": "a"})

    threads = [threading.Thread(target=check) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert registry.readings.total(VALIDATIONS, outcome="valid") == 1_600


def test_a_validated_definition_is_a_line(caplog: pytest.LogCaptureFixture) -> None:
    """LEX-DEF's line, at info: name, category, number of parameters."""
    caplog.set_level(logging.INFO, logger="toolstile.registry")
    Registry().register(READ_FILE)
    said = [(record.levelno, record.getMessage()) for record in caplog.records]
    line = "[TLS-DEF] Tool definition validated. name=read_file category=file_system "
    assert (logging.INFO, f"{line}parameters=2") in said


def test_a_refused_definition_is_a_line(caplog: pytest.LogCaptureFixture) -> None:
    """LEX-DEF's line, a warning: name and errors, and nothing that the author wrote."""
    caplog.set_level(logging.INFO, logger="toolstile.registry")
    with pytest.raises(DefinitionError):
        Registry().register(READ_FILE | {"description": "", "metadata": CANARY})
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    said = record.getMessage()
    assert said.startswith("[TLS-DEF] Tool definition validation failed. name=read_file errors=")
    assert "/description minLength" in said
    assert CANARY not in said


def test_a_constraint_out_of_range_is_a_line(caplog: pytest.LogCaptureFixture) -> None:
    """LEX-DEF's line, a warning: the constraint, what was asked and what may be."""
    caplog.set_level(logging.INFO, logger="toolstile.registry")
    beyond = {"max_execution_time": 601, "max_output_size": "2GB"}
    with pytest.raises(DefinitionError):
        Registry().register(READ_FILE | {"constraints": beyond})
    said = {record.getMessage() for record in caplog.records if record.levelno == logging.WARNING}
    line = "[TLS-DEF] Tool definition constraint violation. name=read_file constraint="
    assert f"{line}max_execution_time value=601 max=600" in said
    assert f"{line}max_output_size value=2,000,000,000 max=104,857,600" in said


def test_a_created_definition_is_a_line(caplog: pytest.LogCaptureFixture) -> None:
    """LEX-DEF's line, at info, with the id; built-in tools are nobody's creation."""
    caplog.set_level(logging.INFO, logger="toolstile.registry")
    Registry().register(READ_FILE, built_in=True)
    created = "[TLS-DEF] Custom tool definition created. id="
    assert not [r for r in caplog.records if r.getMessage().startswith(created)]
    ref = Registry().register(READ_FILE).ref
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert f"{created}{ref} name=read_file" in said
