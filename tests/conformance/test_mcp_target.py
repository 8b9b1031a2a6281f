"""MCP servers as targets: real ones that check nothing, and ones that misbehave."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from toolstile.conformance import Scorecard, load_suite, run
from toolstile.conformance.adapters import TargetError
from toolstile.conformance.attempt import Outcome
from toolstile.conformance.mcp import MAX_SILENT, McpTarget

HERE = Path(__file__).parent
SUITE = load_suite()
# As long as a server that answers at all may take here; the machines are shared.
PATIENT, HASTY = 60.0, 1.5

# Of each kind one: what a server that checks nothing stops, lets in, lets through.
EXPECTED = {
    "duplicate-name": Outcome.LET_THROUGH,
    "nan": Outcome.LET_THROUGH,
    "trailing-comma-object": Outcome.RIGHT,
    "array-root": Outcome.RIGHT,
    "plain-transfer": Outcome.RIGHT,
    "string-for-integer": Outcome.LET_THROUGH,
    "two-to-53-plus-one": Outcome.RIGHT,
    "no-arguments": Outcome.RIGHT,
    "misspelt-optional": Outcome.LET_THROUGH,
    "output-exact": Outcome.RIGHT,
    "output-extra-member": Outcome.LET_THROUGH,
}
# Of a tool that the misbehaving servers list too.
PLAIN = tuple(case.id for case in SUITE if case.tool == "transfer")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite's tools as `--tools` prints them."""
    path = tmp_path_factory.mktemp("tools") / "tools.json"
    path.write_text(json.dumps([tool.to_mcp() for tool in SUITE.tools.values()]), encoding="utf-8")
    return path


def command(program: str, *words: object) -> str:
    """A server's command, as a shell would read it."""
    return " ".join(f"'{word}'" for word in (sys.executable, HERE / program, *words))


@contextmanager
def over_http(program: str, *words: object) -> Iterator[str]:
    """A server on a port of this machine, ended at the end."""
    started = (sys.executable, str(HERE / program), *map(str, words))
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        started, stdout=subprocess.PIPE, stderr=quiet, encoding="utf-8"
    ) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        finally:
            process.kill()


def score(where: str, *ids: str, seconds: float = PATIENT) -> Scorecard:
    """A server's card."""
    return asyncio.run(run(McpTarget(where, seconds), SUITE.only(ids=ids)))


def outcomes(where: str, *ids: str, seconds: float = PATIENT) -> dict[str, Outcome]:
    """A server's outcomes by case."""
    card = score(where, *ids, seconds=seconds)
    return {result.case.id: result.outcome for result in card.results}


@pytest.mark.required
def test_a_real_server_over_stdio(tools: Path) -> None:
    """What is no JSON is stopped, by no answer; all else runs with what was sent."""
    assert outcomes(command("echo_server.py", tools), *EXPECTED) == EXPECTED


@pytest.mark.required
@pytest.mark.parametrize("protocol", ["http", "modern"])
def test_a_real_server_over_http(tools: Path, protocol: str) -> None:
    """The protocol that begins with `initialize`, and the one that has no such method."""
    with over_http("echo_server.py", tools, protocol) as address:
        assert outcomes(address, *EXPECTED) == EXPECTED


def test_a_line_is_no_place_for_a_line_break(tools: Path) -> None:
    """Over stdio a case with one cannot be put; over HTTP it can."""
    ids = ("white-space", "plain-transfer")
    assert outcomes(command("echo_server.py", tools), *ids) == {
        "white-space": Outcome.NOT_APPLICABLE,
        "plain-transfer": Outcome.RIGHT,
    }
    with over_http("echo_server.py", tools, "http") as address:
        assert outcomes(address, *ids)["white-space"] is Outcome.RIGHT


def test_a_tool_that_is_not_listed_is_not_called(tools: Path) -> None:
    """Its cases are not applicable; the others are put."""
    few = tools.with_name("few.json")
    listed = [
        tool for tool in json.loads(tools.read_text(encoding="utf-8")) if tool["name"] == "transfer"
    ]
    few.write_text(json.dumps(listed), encoding="utf-8")
    assert outcomes(command("echo_server.py", few), "plain-transfer", "duplicate-name") == {
        "plain-transfer": Outcome.RIGHT,
        "duplicate-name": Outcome.NOT_APPLICABLE,
    }


def test_a_server_that_dies_is_started_again_for_the_next_case() -> None:
    """A death is the case's own; its last words are told."""
    card = score(command("odd_server.py", "dies"), "plain-transfer", "string-for-integer")
    assert [result.outcome for result in card.results] == [Outcome.CRASHED, Outcome.CRASHED]
    assert {result.detail for result in card.results} == {"it has ended: the hamster has died"}


def test_a_server_that_dies_of_one_case_lives_for_another() -> None:
    """It dies of what is no JSON, and answers before and after."""
    ids = ("no-white-space", "trailing-comma-object", "other-order")
    found = outcomes(command("odd_server.py", "brittle"), *ids)
    assert found == {
        "no-white-space": Outcome.RIGHT,
        "trailing-comma-object": Outcome.CRASHED,
        "other-order": Outcome.RIGHT,
    }


def test_a_server_that_cannot_be_started_again_ends_the_run(tmp_path: Path) -> None:
    """The message says that it cannot be asked, and why; nothing is put after that."""
    where = command("odd_server.py", "once", tmp_path / "marker")
    with pytest.raises(TargetError, match="there can be only one"):
        score(where, "plain-transfer", "string-for-integer")


@pytest.mark.parametrize("kind", ["silent", "garbage", "lines-for-ever", "one-line-for-ever"])
def test_a_server_that_never_answers_is_not_waited_for(kind: str) -> None:
    """Saying nothing, or nothing but noise, ends the run with a message, at the first deadline."""
    with pytest.raises(TargetError, match="cannot be asked for its tools"):
        score(command("odd_server.py", kind), "plain-transfer", seconds=HASTY)


def test_a_server_that_answers_no_call_is_given_up() -> None:
    """A few deadlines are waited for, not one for each of many cases."""
    with pytest.raises(TargetError, match=f"no answer to {MAX_SILENT} calls in a row"):
        score(command("odd_server.py", "mute"), *PLAIN, seconds=HASTY)


def test_a_server_over_http_that_never_answers_is_not_waited_for() -> None:
    """Neither one that takes the connection and says nothing, nor one that never stops."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(TargetError, match="no answer within"):
            score(address, "plain-transfer", seconds=HASTY)
    with over_http("odd_server.py", "flood-http") as address, pytest.raises(TargetError):
        score(address, "plain-transfer")


def nobody() -> str:
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"


@pytest.mark.parametrize(
    "where", ["/no/such/program", "''", "http://127.0.0.1:port/mcp", "false", nobody()]
)
def test_a_server_that_is_not_there_is_told(where: str) -> None:
    """One message, whatever the reason."""
    with pytest.raises(TargetError):
        score(where, "plain-transfer", seconds=HASTY)


@pytest.mark.parametrize("where", ["", "'unclosed"])
def test_a_command_that_cannot_be_read_is_told_before_anything_runs(where: str) -> None:
    """It is refused when the target is made."""
    with pytest.raises(TargetError):
        McpTarget(where)
