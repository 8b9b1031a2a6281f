"""One SQLite file: WAL, FULL synchronisation, one connection in a thread of its own.

Claims are inserts with ON CONFLICT DO NOTHING, so that of two twins exactly one wins. Every write
after the claim names the state it expects and carries the executor's epoch; recovery raises the
epoch, so an executor that was thought dead can no longer write.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec

from toolstile.errors import StoreUnavailable
from toolstile.model.call import CallKey, uuid7
from toolstile.model.record import UNFINISHED, CallRecord
from toolstile.store.lease import Lease, is_dead, sweep

log = logging.getLogger("toolstile")

SCHEMA_VERSION = 1

# Callers' data are BLOBs; names, states and times are ours. `sequence` is the order of creation.
_SCHEMA = """
CREATE TABLE calls (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    execution_id TEXT NOT NULL UNIQUE,
    tenant BLOB NOT NULL,
    principal BLOB NOT NULL,
    session BLOB NOT NULL,
    call_id BLOB NOT NULL,
    keyed INTEGER NOT NULL,
    state TEXT NOT NULL,
    owner TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    record BLOB NOT NULL
);
CREATE UNIQUE INDEX calls_key ON calls (tenant, principal, session, call_id) WHERE keyed;
CREATE INDEX calls_unfinished ON calls (owner) WHERE state IN ('running', 'committing');
CREATE INDEX calls_waiting ON calls (tenant, sequence) WHERE state IN ('asked', 'held');
CREATE INDEX calls_tenant ON calls (tenant, sequence);
"""

_REPAIR = "check that the disk is writable and not full, then run 'toolstile doctor'"
_OF_KEY = (
    "SELECT record FROM calls "
    "WHERE tenant = ? AND principal = ? AND session = ? AND call_id = ? AND keyed"
)

P = ParamSpec("P")
T = TypeVar("T")


def _in_its_thread(
    work: Callable[Concatenate[SqliteStore, P], T],
) -> Callable[Concatenate[SqliteStore, P], Coroutine[Any, Any, T]]:
    """The port's method of a method that waits for the disk."""

    @functools.wraps(work)
    async def call(store: SqliteStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await store.do(functools.partial(work, store, *args, **kwargs))

    return call


class SqliteStore:
    """Store port on one file; its executors' leases lie beside it."""

    def __init__(self, path: Path) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="toolstile-store")
        # One file may have many names; who is alive is asked in one place.
        path = Path(os.path.realpath(path))
        self._leases = path.with_name(f"{path.name}.leases")  # as `settings.places` guards it
        with _translated():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _make_private(path)
            self._connection = _connect(path)
            self._lease = Lease(self._leases, uuid7())
        self.owner = self._lease.owner
        self.epoch = 1

    async def close(self) -> None:
        """Release the lease and the file; to be called once, after everything else."""
        await self.do(self._release)
        self._thread.shutdown()

    def _release(self) -> None:
        self._lease.release()
        self._connection.close()

    async def do(self, work: Callable[[], T]) -> T:
        """The answer of the one thread that uses the connection. Raises StoreUnavailable."""
        with _translated():
            try:
                waiting = self._thread.submit(work)
            except RuntimeError as error:
                raise StoreUnavailable("the store is closed", "open another runtime") from error
            return await asyncio.wrap_future(waiting)

    @_in_its_thread
    def find(self, key: CallKey) -> CallRecord | None:
        """The call of this key."""
        return self._one(_OF_KEY, _key(key))

    @_in_its_thread
    def get(self, tenant: str, execution_id: str) -> CallRecord | None:
        """One call of one tenant."""
        query = "SELECT record FROM calls WHERE execution_id = ? AND tenant = ?"
        return self._one(query, (execution_id, tenant.encode()))

    @_in_its_thread
    def history(self, tenant: str, limit: int = 100) -> tuple[CallRecord, ...]:
        """The newest calls first."""
        query = "SELECT record FROM calls WHERE tenant = ? ORDER BY sequence DESC LIMIT ?"
        return self._all(query, (tenant.encode(), limit))

    @_in_its_thread
    def waiting(self, tenant: str) -> tuple[CallRecord, ...]:
        """Every call of a tenant that waits for a person, oldest first."""
        query = (
            "SELECT record FROM calls "
            "WHERE tenant = ? AND state IN ('asked', 'held') ORDER BY sequence"
        )
        return self._all(query, (tenant.encode(),))

    @_in_its_thread
    def claim(self, record: CallRecord) -> CallRecord | None:
        """Take the key durably, or say which call is in the way. A refused call of this id gives
        way."""
        if self._insert(record, keyed=True):
            return None
        same_id = "SELECT record FROM calls WHERE execution_id = ?"
        return self._one(_OF_KEY, _key(record.key)) or self._one(same_id, (record.execution_id,))

    @_in_its_thread
    def advance(self, record: CallRecord, expected: str) -> bool:
        """Store the record if the call is in state `expected` and nobody took it over."""
        statement = (
            "UPDATE calls SET state = ?, owner = ?, epoch = ?, record = ? "
            "WHERE execution_id = ? AND state = ? AND epoch <= ?"
        )
        values = (record.state, record.owner, record.epoch, _encoded(record))
        found = (record.execution_id, expected, record.epoch)
        with self._transaction() as connection:
            return connection.execute(statement, (*values, *found)).rowcount == 1

    @_in_its_thread
    def note(self, record: CallRecord) -> None:
        """Keep a refused call; it occupies no key."""
        self._insert(record, keyed=False)

    @_in_its_thread
    def abandoned(self) -> tuple[CallRecord, ...]:
        """Unfinished calls of executors whose lease can be taken; they are ours afterwards."""
        query = "SELECT DISTINCT owner FROM calls WHERE state IN (?, ?) AND owner != ?"
        owners = self._connection.execute(query, (*UNFINISHED, self.owner)).fetchall()
        dead = [owner for (owner,) in owners if is_dead(self._leases, owner)]
        taken: list[CallRecord] = []
        try:
            for owner in dead:
                taken += self._take_over(owner)
        except sqlite3.Error:  # what is ours by now is to be ended by us
            log.exception("[TLS-RUN] Not every call of the dead could be taken over")
        with suppress(OSError):  # left for the next one to sweep
            sweep(self._leases)
        return tuple(taken)

    def _take_over(self, owner: str) -> Iterator[CallRecord]:
        query = "SELECT record FROM calls WHERE owner = ? AND state IN (?, ?)"
        with self._transaction() as connection:
            rows = connection.execute(query, (owner, *UNFINISHED)).fetchall()
            taken = [
                msgspec.structs.replace(record, owner=self.owner, epoch=record.epoch + 1)
                for record in _decodable(rows)
            ]
            connection.executemany(
                "UPDATE calls SET owner = ?, epoch = ?, record = ? WHERE execution_id = ?",
                [(r.owner, r.epoch, _encoded(r), r.execution_id) for r in taken],
            )
        yield from taken

    def _insert(self, record: CallRecord, *, keyed: bool) -> bool:
        statement = (
            "INSERT INTO calls (execution_id, tenant, principal, session, call_id, keyed, state, "
            "owner, epoch, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
        )
        fate = (record.state, record.owner, record.epoch, _encoded(record))
        with self._transaction() as connection:
            row = (record.execution_id, *_key(record.key), keyed, *fate)
            if keyed:
                refused = "DELETE FROM calls WHERE execution_id = ? AND tenant = ? AND NOT keyed"
                connection.execute(refused, (record.execution_id, record.key.tenant.encode()))
            return connection.execute(statement, row).rowcount == 1

    def _one(self, query: str, values: tuple[Any, ...]) -> CallRecord | None:
        row = self._connection.execute(query, values).fetchone()
        return _decoded(row) if row else None

    def _all(self, query: str, values: tuple[Any, ...]) -> tuple[CallRecord, ...]:
        return tuple(map(_decoded, self._connection.execute(query, values).fetchall()))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException:
            # A full disk ends the transaction by itself; a failed COMMIT leaves it open.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def _make_private(path: Path) -> None:
    """Make the file, if there is none, for this user alone: it holds arguments and outputs."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=10, isolation_level=None, check_same_thread=False, cached_statements=64
    )
    connection.execute("PRAGMA journal_mode = WAL")
    # NORMAL may lose acknowledged commits at power loss, which the third law forbids.
    connection.execute("PRAGMA synchronous = FULL")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        connection.close()
        raise StoreUnavailable(
            f"the store {path.name} was written by a newer version", "upgrade toolstile"
        )
    if version < SCHEMA_VERSION:
        _create(connection)
    return connection


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have been faster.
    if connection.execute("PRAGMA user_version").fetchone() == (0,):
        for statement in filter(str.strip, _SCHEMA.split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.execute("COMMIT")


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StoreUnavailable(f"the store cannot be used: {error}", _REPAIR) from error


def _key(key: CallKey) -> tuple[bytes, bytes, bytes, bytes]:
    return (
        key.tenant.encode(),
        key.principal.encode(),
        key.session.encode(),
        key.call_id.encode(),
    )


def _decodable(rows: list[tuple[bytes]]) -> Iterator[CallRecord]:
    """One row that somebody has spoilt must not keep the others from being recovered."""
    for row in rows:
        try:
            yield _decoded(row)
        except StoreUnavailable:
            log.exception("[TLS-RUN] A call cannot be recovered")


def _encoded(record: CallRecord) -> bytes:
    return msgspec.msgpack.encode(record)


def _decoded(row: tuple[bytes]) -> CallRecord:
    try:
        return msgspec.msgpack.decode(row[0], type=CallRecord)
    except msgspec.DecodeError as error:
        raise StoreUnavailable(f"a stored call cannot be read: {error}", _REPAIR) from error
