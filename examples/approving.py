"""A change, looked at before it is made: by the program itself, or by a person later."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from toolstile import Caller, NotWaiting, Runtime, WritePath, tool


@tool
def save_note(path: WritePath, text: str) -> int:
    """Write a text file whole."""
    return path.write_text(text)


async def main(folder: str) -> None:
    """Preview and commit; then wait for a person, who says yes to one call and no to another."""
    grants = {"fs_write": [folder]}
    async with Runtime(tools=[save_note], grants=grants, store="memory:") as rt:
        async with await rt.preview(save_note, path=f"{folder}/a.txt", text="a") as staged:
            print(staged.diff())
            print((await staged.commit()).effects_state)  # without it, leaving discards

        for name in ("b", "c"):
            await rt.call(save_note, path=f"{folder}/{name}.txt", text=name)
        yes, no = await rt.confirmations()
        seen = await rt.confirmation(yes.execution_id)  # .diff, .digest, .state, .result
        person = Caller(user="anna")
        done = await rt.approve(yes.execution_id, by=person, digest=seen.digest)
        denied = await rt.deny(no.execution_id, by=person, note="not that one")
        print(done.status.word, denied.error_code, denied.error_message)
        try:
            await rt.approve(no.execution_id)
        except NotWaiting as error:
            print(error)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(folder))
        print(sorted(path.name for path in Path(folder).iterdir()))
