"""The one synchronous door: the same names, without `await`.

An event loop runs in a thread of its own; every coroutine of the runtime is run there.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, Self

_CLOSED = "this runtime is closed, or was never entered: use `with`"


class Blocking:
    """Wraps an object with async methods; to be used as a context manager.

    Calling it from inside a running event loop would wait for that very loop, so it is refused.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._loop: asyncio.AbstractEventLoop | None = None
        # What is handed to the loop is handed to it before the door closes, or not at all.
        self._handing_over = threading.Lock()

    def __enter__(self) -> Self:
        _refuse_inside_a_loop()
        loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, daemon=True)
        self._thread.start()
        try:
            _answer(asyncio.run_coroutine_threadsafe(self._inner.__aenter__(), loop))
        except BaseException:
            self._stop(loop)
            raise
        self._loop = loop
        return self

    def __exit__(self, *failure: object) -> None:
        with self._handing_over:
            loop, self._loop = self._loop, None
        if loop is None:
            return
        try:
            _answer(asyncio.run_coroutine_threadsafe(self._inner.__aexit__(*failure), loop))
        finally:
            self._stop(loop)

    def _stop(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.run_coroutine_threadsafe(_end_all(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join()
        loop.close()

    def __getattr__(self, name: str) -> Any:
        return self._found(getattr(self._inner, name))

    def _found(self, found: Any) -> Any:
        return self._blocking(found) if callable(found) else self._handed(found)

    def _handed(self, answer: Any) -> Any:
        # What is handed out (a bound caller, a staged call, the results) has async methods too.
        return _Handed(answer, self) if hasattr(answer, "__blocking__") else answer

    def _blocking(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            answer = method(*args, **kwargs)
            return self._handed(self._wait(answer) if inspect.iscoroutine(answer) else answer)

        return call

    def _wait(self, coroutine: Any) -> Any:
        with self._handing_over:
            try:
                loop = self._usable_loop()
            except RuntimeError:
                coroutine.close()
                raise
            waiting = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return _answer(waiting)
        except CancelledError as error:
            raise RuntimeError(_CLOSED) from error

    def _usable_loop(self) -> asyncio.AbstractEventLoop:
        _refuse_inside_a_loop()
        if self._loop is None:
            raise RuntimeError(_CLOSED)
        return self._loop


def _answer(waiting: Future[Any]) -> Any:
    try:
        return waiting.result()
    finally:
        waiting.cancel()  # Ctrl-C must not leave the call running behind the caller's back


async def _end_all() -> None:
    """Nobody may wait for what a stopped loop would never finish."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _refuse_inside_a_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("this is the blocking door; inside an event loop use the async one")


class _Handed:
    """An object from a blocking runtime: its coroutines block, too."""

    def __init__(self, inner: Any, door: Blocking) -> None:
        self._inner = inner
        self._door = door

    def __getattr__(self, name: str) -> Any:
        return self._door._found(getattr(self._inner, name))  # noqa: SLF001

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        leave = getattr(self._inner, "__aexit__", None)
        if leave is not None:
            self._door._wait(leave(*failure))  # noqa: SLF001
