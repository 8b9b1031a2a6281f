"""A store that lasts as long as the process: for tests, for core tenants, for one-off scripts."""

from __future__ import annotations

import threading
from collections import OrderedDict

from toolstile.model.call import CallKey
from toolstile.model.record import WAITING, CallRecord, CallState

# Everything has a bound: the oldest go first, unfinished calls never. What was refused has a bound
# of its own: a flood of it must not make the store forget which calls have run.
MAX_FINISHED = 10_000
MAX_REFUSED = 1_000


class MemoryStore:
    """Store port. One lock; records are values, so nothing else is shared."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_id: OrderedDict[str, CallRecord] = OrderedDict()
        self._by_key: dict[CallKey, str] = {}
        # Ids of what has ended, in the order of ending.
        self._ended: dict[CallState, dict[str, None]] = {CallState.DONE: {}, CallState.REFUSED: {}}
        self.owner = "memory"
        self.epoch = 1

    async def find(self, key: CallKey) -> CallRecord | None:
        """The call of this key."""
        with self._lock:
            execution_id = self._by_key.get(key)
            return self._by_id.get(execution_id) if execution_id else None

    async def get(self, tenant: str, execution_id: str) -> CallRecord | None:
        """One call of one tenant."""
        with self._lock:
            record = self._by_id.get(execution_id)
        return record if record is not None and record.key.tenant == tenant else None

    async def history(self, tenant: str, limit: int = 100) -> tuple[CallRecord, ...]:
        """The newest calls first."""
        with self._lock:
            records = [r for r in reversed(self._by_id.values()) if r.key.tenant == tenant]
        return tuple(records[:limit])

    async def waiting(self, tenant: str) -> tuple[CallRecord, ...]:
        """Every call of a tenant that waits for a person, oldest first."""
        with self._lock:
            records = tuple(self._by_id.values())
        return tuple(r for r in records if r.key.tenant == tenant and r.state in WAITING)

    async def claim(self, record: CallRecord) -> CallRecord | None:
        """Take the key, or say which call is in the way. A refused call of this id gives way."""
        with self._lock:
            holder = self._by_key.get(record.key)
            if holder is not None:
                return self._by_id[holder]
            other = self._by_id.get(record.execution_id)
            if other is not None and not _gives_way(other, record):
                return other
            self._by_key[record.key] = record.execution_id
            self._put(record)
            return None

    async def advance(self, record: CallRecord, expected: str) -> bool:
        """Store the record if the call is in state `expected`."""
        with self._lock:
            current = self._by_id.get(record.execution_id)
            if current is None or current.state != expected or current.epoch > record.epoch:
                return False
            self._put(record)
            return True

    async def note(self, record: CallRecord) -> None:
        """Keep a refused call; it occupies no key."""
        with self._lock:
            # A refused approval carries the id of the call that waits on, which must not vanish.
            if record.execution_id not in self._by_id:
                self._put(record)

    async def abandoned(self) -> tuple[CallRecord, ...]:
        """Nothing outlives this process, so nothing is ever found abandoned."""
        return ()

    async def close(self) -> None:
        """Nothing to release."""

    def _put(self, record: CallRecord) -> None:
        before = self._by_id.get(record.execution_id)
        self._by_id[record.execution_id] = record
        if before is not None and before.state in self._ended:
            self._ended[before.state].pop(record.execution_id, None)
        if record.state not in self._ended:
            return
        ended = self._ended[record.state]
        ended[record.execution_id] = None
        if len(ended) > (MAX_FINISHED if record.state is CallState.DONE else MAX_REFUSED):
            self._drop(next(iter(ended)))

    def _drop(self, execution_id: str) -> None:
        record = self._by_id.pop(execution_id)
        del self._ended[record.state][execution_id]
        if self._by_key.get(record.key) == execution_id:
            del self._by_key[record.key]


def _gives_way(refused: CallRecord, record: CallRecord) -> bool:
    """May a call take the execution id of one that was refused? Of its own tenant's it may."""
    return refused.state is CallState.REFUSED and refused.key.tenant == record.key.tenant
