"""What the line needs from its neighbours. Declared here because it is called here; whoever
implements a port imports nothing of this module.

Everything that may touch a disk or a network is awaited: a store that commits the claims of many
calls together, or stands on another machine, fits the same port.
"""

from __future__ import annotations

from typing import Any, Protocol

from toolstile.model.call import CallKey
from toolstile.model.effect import Conflict, Manifest
from toolstile.model.job import Job, Outcome
from toolstile.model.record import CallRecord


class HostCalls(Protocol):
    """What a running tool may ask its host for. Knows nothing of where the tool runs."""

    async def call(self, name: str, arguments: Any) -> Any:
        """Answer one request. Raises ToolError for what the tool may be told."""

    async def gave_up(self) -> None:
        """Returns when the caller has given up, and not before."""


class Sandbox(Protocol):
    """Runs one job in a process of its own. Knows nothing of tools, policy or storage."""

    async def run(self, job: Job, host: HostCalls) -> Outcome:
        """The outcome, whatever happens: a sandbox never raises for what a tool does."""


class Store(Protocol):
    """Keeps calls. Every write after the claim carries the owner's epoch and changes nothing
    where another executor has taken over. Raises StoreUnavailable when it cannot record."""

    @property
    def owner(self) -> str:
        """The name of this executor's lease."""

    @property
    def epoch(self) -> int:
        """The epoch of what this executor claims; recovery raises it, call by call."""

    async def close(self) -> None:
        """Release the lease and whatever else is held."""

    async def find(self, key: CallKey) -> CallRecord | None:
        """The call of this key, in any state."""

    async def get(self, tenant: str, execution_id: str) -> CallRecord | None:
        """One call of one tenant."""

    async def history(self, tenant: str, limit: int = 100) -> tuple[CallRecord, ...]:
        """The newest calls first."""

    async def waiting(self, tenant: str) -> tuple[CallRecord, ...]:
        """Every call of a tenant that waits for a person, oldest first."""

    async def claim(self, record: CallRecord) -> CallRecord | None:
        """Take the call's key durably, before the first effect: None if it is now ours, else the
        call that is in the way. It holds the key, or it is another call of the same execution
        id, be it another tenant's."""

    async def advance(self, record: CallRecord, expected: str) -> bool:
        """Store the record if the call is in state `expected` and of the record's epoch."""

    async def note(self, record: CallRecord) -> None:
        """Keep a call that was refused before it claimed anything; it occupies no key."""

    async def abandoned(self) -> tuple[CallRecord, ...]:
        """Unfinished calls of executors that are gone, each now owned by this one."""


class Effects(Protocol):
    """Holds back, shows and applies what runs write. Knows nothing of who may."""

    async def open(self, execution_id: str) -> str:
        """An empty stage for a run: a directory."""

    async def seal(self, execution_id: str, outcome: Outcome) -> Manifest:
        """The manifest of what a run staged. The staged files may not change after it. Raises
        ValueError for what no honest run stages, OverflowError for more than one may."""

    async def commit(self, manifest: Manifest) -> tuple[Conflict, ...]:
        """Apply a manifest, or go on applying it. Returns the paths in conflict, each with its
        reason: where there are any, nothing of theirs was overwritten."""

    async def discard(self, execution_id: str) -> None:
        """Throw a stage away. Nothing outside it changes."""

    async def diff(self, manifest: Manifest) -> str:
        """What applying the manifest would change, for people."""
