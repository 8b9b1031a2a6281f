"""Waiting for what a call does, without guessing how long that takes."""

from __future__ import annotations

import asyncio

from toolstile.model.record import CallRecord, CallState
from toolstile.runtime.executor import Executor


async def until_claimed(line: Executor, execution_id: str) -> None:
    """Return when the call is recorded as running, or as more than that."""
    async with asyncio.timeout(20):
        while not _claimed(await line.store.get("local", execution_id)):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0)


def _claimed(record: CallRecord | None) -> bool:
    return record is not None and record.state is not CallState.REFUSED
