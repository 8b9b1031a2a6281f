"""Both stores keep the same promises; SQLite keeps them across processes and crashes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from toolstile.errors import StoreUnavailable
from toolstile.model.call import CallKey, uuid7
from toolstile.model.record import CallRecord, CallState
from toolstile.runtime.ports import Store
from toolstile.store.lease import Lease, is_dead, remove
from toolstile.store.memory import MAX_FINISHED, MAX_REFUSED, MemoryStore
from toolstile.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """Stores are used on asyncio."""
    return "asyncio"


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """Each store in turn."""
    made: Store = MemoryStore()
    if request.param == "sqlite":
        made = SqliteStore(tmp_path / "toolstile.db")
    yield made
    await made.close()


def record(store: Store, call_id: str = "c", **fields: object) -> CallRecord:
    """A fresh claim."""
    made = CallRecord(
        execution_id=uuid7(),
        key=CallKey("local", "agent", "s", call_id),
        state=CallState.RUNNING,
        request_digest="sha256:1",
        request=b"{}",
        tool="t",
        owner=store.owner,
        epoch=store.epoch,
    )
    return replace(made, **fields)


async def test_a_key_is_claimed_once(store: Store) -> None:
    """The second claim learns who holds the key; another key is free."""
    first = record(store)
    assert await store.claim(first) is None
    assert await store.claim(record(store)) == first
    assert await store.claim(record(store, "d")) is None
    assert await store.find(first.key) == first


async def test_of_many_twins_one_wins(store: Store) -> None:
    """Claims from many threads: exactly one gets the key."""
    won: list[bool] = []
    start = threading.Barrier(16)

    def claim() -> None:
        mine = record(store)
        start.wait()
        won.append(asyncio.run(store.claim(mine)) is None)

    threads = [threading.Thread(target=claim) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 15 + [True]


async def test_a_state_is_left_only_from_where_it_is(store: Store) -> None:
    """Writes name the state they expect; a second one of the same kind changes nothing."""
    first = record(store)
    await store.claim(first)
    done = replace(first, state=CallState.DONE, result=b"1")
    assert not await store.advance(done, CallState.HELD)
    assert await store.advance(done, CallState.RUNNING)
    assert not await store.advance(replace(done, result=b"2"), CallState.RUNNING)
    assert await store.get("local", first.execution_id) == done


async def test_an_older_epoch_cannot_write(store: Store) -> None:
    """After a recovery has raised the epoch, the slow executor's write is refused."""
    first = record(store)
    await store.claim(first)
    taken = replace(first, epoch=2)
    assert await store.advance(taken, CallState.RUNNING)
    late = replace(first, state=CallState.DONE, result=b"late")
    assert not await store.advance(late, CallState.RUNNING)


async def test_a_refused_call_occupies_no_key(store: Store) -> None:
    """It is kept for history, and its key stays free."""
    refused = record(store, state=CallState.REFUSED)
    await store.note(refused)
    assert await store.get("local", refused.execution_id) == refused
    assert await store.find(refused.key) is None
    assert await store.claim(record(store)) is None


async def test_what_waits_is_listed_whole(store: Store) -> None:
    """Every call of the tenant that waits for a person, oldest first, whatever else there is."""
    asked = record(store, "a", state=CallState.ASKED)
    held = record(store, "b")
    other = record(store, "c", state=CallState.ASKED, key=CallKey("other", "agent", "s", "c"))
    for each in (asked, held, other, record(store, "d")):
        await store.claim(each)
    held = replace(held, state=CallState.HELD)
    assert await store.advance(held, CallState.RUNNING)
    assert await store.waiting("local") == (asked, held)
    assert await store.advance(replace(held, state=CallState.DONE), CallState.HELD)
    assert await store.waiting("local") == (asked,)


async def test_a_taken_execution_id_is_named(store: Store) -> None:
    """Another call of that id, even another tenant's, is in the way and is said to be."""
    first = record(store)
    await store.claim(first)
    second = record(store, key=CallKey("other", "agent", "s", "x"), execution_id=first.execution_id)
    assert await store.claim(second) == first
    assert await store.find(second.key) is None


async def test_no_tenant_removes_anothers_refused_call(store: Store) -> None:
    """A refused call gives way to a call of its own tenant under its id, and to no other's."""
    refused = record(store, state=CallState.REFUSED)
    await store.note(refused)
    other = record(store, key=CallKey("other", "a", "s", "x"), execution_id=refused.execution_id)
    assert await store.claim(other) == refused
    assert await store.history("local") == (refused,)
    mine = record(store, execution_id=refused.execution_id)
    assert await store.claim(mine) is None
    assert await store.history("local") == (mine,)


async def test_a_spoilt_row_keeps_no_other_from_recovery(tmp_path: Path) -> None:
    """A record that nothing can read any more is said to be so where it is asked for; what else
    its executor left is recovered all the same."""
    dead = SqliteStore(tmp_path / "toolstile.db")
    spoilt, sound = record(dead, "a"), record(dead, "b")
    for each in (spoilt, sound):
        await dead.claim(each)
    await dead.close()
    store = SqliteStore(tmp_path / "toolstile.db")
    change = "UPDATE calls SET record = x'00' WHERE execution_id = ?"
    await store.do(lambda: store._connection.execute(change, (spoilt.execution_id,)))
    assert [each.execution_id for each in await store.abandoned()] == [sound.execution_id]
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        await store.get("local", spoilt.execution_id)
    await store.close()


async def test_the_leases_of_the_dead_are_swept(tmp_path: Path) -> None:
    """Whoever recovers removes the leases of the dead, and nothing of the living or of others."""
    leases = tmp_path / "toolstile.db.leases"
    one, two = SqliteStore(tmp_path / "toolstile.db"), SqliteStore(tmp_path / "toolstile.db")
    (leases / uuid7()).touch()
    (leases / "notes.txt").touch()
    assert await one.abandoned() == ()
    assert {path.name for path in leases.iterdir()} == {one.owner, two.owner, "notes.txt"}
    await one.close()
    await two.close()


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    """Whoever comes too late is told that, and nothing hangs."""
    late = SqliteStore(tmp_path / "toolstile.db")
    mine = record(late)
    await late.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await late.claim(mine)


async def test_tenants_do_not_see_each_other(store: Store) -> None:
    """Another tenant's execution id answers as if it did not exist."""
    mine = record(store)
    await store.claim(mine)
    assert await store.get("other", mine.execution_id) is None
    assert await store.history("other") == ()
    assert await store.history("local") == (mine,)


async def test_history_is_newest_first_and_bounded(store: Store) -> None:
    """The order is that of creation."""
    made = [record(store, f"c{number}") for number in range(5)]
    for each in made:
        await store.claim(each)
    assert await store.history("local", 3) == tuple(reversed(made))[:3]


HOSTILE = ["\x00", "'; DROP TABLE calls; --", "\U0001f600", "a" * 64, "\x1f"]


@pytest.mark.parametrize("text", HOSTILE)
async def test_callers_text_is_stored_as_bytes(store: Store, text: str) -> None:
    """No text of a caller's can make the store refuse, or mean anything else."""
    hostile = record(store, key=CallKey(text, text, text, text), request=text.encode())
    assert await store.claim(hostile) is None
    assert await store.find(hostile.key) == hostile


async def test_memory_forgets_the_oldest_finished_call(tmp_path: Path) -> None:
    """Its bounds hold: unfinished calls are never forgotten, and no flood of refused ones makes it
    forget what has run."""
    memory = MemoryStore()
    running = record(memory, "running")
    await memory.claim(running)
    for number in range(MAX_FINISHED + 5):
        await memory.claim(done := record(memory, f"c{number}"))
        await memory.advance(replace(done, state=CallState.DONE), CallState.RUNNING)
    last = done
    for number in range(MAX_REFUSED + 5):
        await memory.note(record(memory, f"r{number}", state=CallState.REFUSED))
    kept = await memory.history("local", MAX_FINISHED * 2)
    assert len(kept) == MAX_FINISHED + MAX_REFUSED + 1
    assert await memory.find(last.key) is not None
    assert await memory.find(replace(last.key, call_id="c0")) is None
    assert await memory.find(running.key) == running


async def test_records_outlive_the_process(tmp_path: Path) -> None:
    """What was claimed is there when the file is opened again."""
    path = tmp_path / "toolstile.db"
    first = SqliteStore(path)
    mine = record(first)
    await first.claim(mine)
    await first.close()
    again = SqliteStore(path)
    assert await again.get("local", mine.execution_id) == mine
    await again.close()


HOLDER = """
import asyncio, sys
from pathlib import Path
from msgspec.structs import replace
sys.path.insert(0, sys.argv[2])
from test_stores import record
from toolstile.store.sqlite import SqliteStore
store = SqliteStore(Path(sys.argv[1]))
mine = record(store)
asyncio.run(store.claim(mine))
print(mine.execution_id, flush=True)
sys.stdin.read()
"""


async def test_only_the_dead_are_recovered(tmp_path: Path) -> None:
    """A living process's running call is left alone; once it is killed the call is taken over,
    once, with a higher epoch."""
    path = tmp_path / "toolstile.db"
    here = str(Path(__file__).parent)
    holder = subprocess.Popen(  # noqa: ASYNC220 - starting it takes no time
        [sys.executable, "-c", HOLDER, str(path), here],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert holder.stdout is not None
    execution_id = holder.stdout.readline().strip()
    mine = SqliteStore(path)
    assert await mine.abandoned() == ()
    os.kill(holder.pid, signal.SIGKILL)
    holder.communicate()
    (taken,) = await mine.abandoned()
    assert (taken.execution_id, taken.owner, taken.epoch) == (execution_id, mine.owner, 2)
    assert await mine.abandoned() == ()
    await mine.close()


async def test_a_file_of_two_names_has_one_place_for_leases(tmp_path: Path) -> None:
    """Opened by another name, a store still knows who is alive: their calls are not touched."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "link.db").symlink_to(tmp_path / "toolstile.db")
    store = SqliteStore(tmp_path / "toolstile.db")
    await store.claim(mine := record(store))
    second = SqliteStore(tmp_path / "other" / "link.db")
    assert await second.abandoned() == ()
    assert await second.find(mine.key) == mine
    await store.close()
    assert [each.execution_id for each in await second.abandoned()] == [mine.execution_id]
    await second.close()


async def test_a_database_is_made_for_its_user_alone(tmp_path: Path) -> None:
    """Wherever it lies and whatever the umask, nobody else reads the arguments in it; a file that
    is there already keeps the mode that somebody gave it."""
    before = os.umask(0)
    try:
        await SqliteStore(tmp_path / "toolstile.db").close()
        (tmp_path / "shared.db").touch(0o640)
        await SqliteStore(tmp_path / "shared.db").close()
    finally:
        os.umask(before)
    modes = {
        name: (tmp_path / name).stat().st_mode & 0o777 for name in ("toolstile.db", "shared.db")
    }
    assert modes == {"toolstile.db": 0o600, "shared.db": 0o640}


def test_a_lease_is_held_while_its_process_lives(tmp_path: Path) -> None:
    """Another descriptor cannot take it; released, it can."""
    lease = Lease(tmp_path, "me")
    assert not is_dead(tmp_path, "me")
    lease.release()
    assert is_dead(tmp_path, "me")
    assert is_dead(tmp_path, "nobody")


async def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """An older program does not write into a newer store."""
    path = tmp_path / "toolstile.db"
    store = SqliteStore(path)
    store._connection.execute("PRAGMA user_version = 99")
    await store.close()
    with pytest.raises(StoreUnavailable, match="newer version"):
        SqliteStore(path)


def test_an_unusable_place_says_what_to_do(tmp_path: Path) -> None:
    """A file where the folder should be: one clear error with its repair."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreUnavailable) as caught:
        SqliteStore(tmp_path / "file" / "toolstile.db")
    assert "doctor" in caught.value.hint


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """Garbage is never taken for an empty store."""
    path = tmp_path / "toolstile.db"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreUnavailable):
        SqliteStore(path)
    assert path.read_bytes().startswith(b"not a database")


async def test_no_sweeper_removes_a_living_lease(tmp_path: Path) -> None:
    """Of two that have opened the file of a dead one, the second leaves alone what has its name by
    then; the control is the first, which removes it."""
    (old := tmp_path / uuid7()).touch()
    first, second = (os.open(old, os.O_RDWR) for _ in range(2))
    remove(old, first)
    os.close(first)
    assert not old.exists()
    lease = Lease(tmp_path, old.name)
    remove(old, second)
    os.close(second)
    assert not is_dead(tmp_path, lease.owner)
    lease.release()
