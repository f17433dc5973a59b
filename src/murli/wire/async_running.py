"""The same processes under an event loop: only the waiting differs from `murli.wire.running`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence

from ..platform import can_wait_for_pipes
from .collecting import WholeOutput
from .limits import Limits
from .running import Child, ProcessResult, never_ran

# How often to look at pipes that an event loop cannot wait for.
_LOOK_SECONDS = 0.01


async def run(
    argv: Sequence[str],
    limits: Limits,
    *,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> ProcessResult:
    """Run a program to its end, or to that of its limits; raises nothing about the program."""
    try:
        child = Child(argv, limits, WholeOutput(limits), stdin=stdin, env=env, cwd=cwd)
    except OSError as error:
        return never_ran(error, argv)
    async for _ in pump(child):
        pass
    return child.ran()


async def pump(child: Child) -> AsyncGenerator[None, None]:
    """Attend to *child* until it is over; a turn of the loop for every time something happened.

    Cancelling it leaves nothing running; leaving it early closes it.
    """
    try:
        while not child.is_over:
            await _wait(child)
            child.attend()
            left = time.monotonic()
            yield
            child.was_unattended(time.monotonic() - left)
    except BaseException:
        await _end(child)
        raise
    finally:
        child.close()


async def _wait(child: Child) -> None:
    if not can_wait_for_pipes():
        await asyncio.sleep(min(child.timeout(), _LOOK_SECONDS))
        return
    loop = asyncio.get_running_loop()
    ready = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    readable, writable = child.readable(), child.writable()
    for descriptor in readable:
        loop.add_reader(descriptor, wake)
    for descriptor in writable:
        loop.add_writer(descriptor, wake)
    timer = loop.call_later(child.timeout(), wake)
    try:
        await ready
    finally:
        timer.cancel()
        # Between two waits nobody listens: a tool is never read faster than its reader reads.
        for descriptor in readable:
            loop.remove_reader(descriptor)
        for descriptor in writable:
            loop.remove_writer(descriptor)


async def _end(child: Child) -> None:
    """End *child* in the midst of its work: asked first, then killed."""
    child.stop("interrupted")
    try:
        while not child.is_over:
            await _wait(child)
            child.attend()
    finally:
        if not child.is_over:  # cancelled once more
            child.kill()
