"""One call in a process of its own: a fork of the program at the point where the call begins.

Whatever the call does (exit, crash, change directory, leave threads behind) is gone with it, and
everything the program had loaded by then is there already.
"""

from __future__ import annotations

import gc
import os
import select
import sys
import time
import warnings
from importlib import import_module

from .calls import variable_of
from .endings import stop_children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from .invocation import Invocation

# What we and the frameworks load only when a call is under way, and then every call would.
_LATE = (
    "murli.api",
    "murli.runtime.capping",
    "murli.runtime.capture",
    "murli.runtime.deadline",
    "murli.runtime.shaping",
    "typer._adapters",
    "pydantic.plugin._loader",
)
# How often to look whether a call has ended whose stdout is held open by something it left behind.
_LOOK_MILLISECONDS = 100
# How long a call gets to answer that it was cancelled: its handler's cleanup, and its children's.
_FAREWELL_SECONDS = 2.5
# The terminal sends its signals to the call as well; it need not be told twice.
_TOLD_SECONDS = 0.2


class Late(Exception):
    """The time for all calls is up."""


class Branch:
    """A call that runs in a process of its own, as the program that waits for it sees it."""

    def __init__(self, process: int, descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self._status: int | None = None

    def lines(self, deadline: float | None) -> Iterator[bytes]:
        """Give what the call writes to stdout, line by line as it comes, until it is over.

        Raises `Late` at *deadline*, a time of `time.monotonic`.
        """
        pending = b""
        for part in self._parts(deadline):
            *lines, pending = (pending + part).split(b"\n")
            yield from lines
        if pending:
            yield pending

    def _parts(self, deadline: float | None) -> Iterator[bytes]:
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        while True:
            if poll.poll(0 if self._status is not None else _LOOK_MILLISECONDS):
                part = os.read(self._descriptor, 1 << 20)
                if not part:
                    return
                yield part
            elif self._status is not None:
                return  # what still holds the other end is not the call
            else:
                self._look()
            if deadline is not None and time.monotonic() > deadline:
                raise Late

    def wait(self) -> int:
        """Wait for the end; give the exit code, or the number of the signal as a negative one."""
        if self._status is None:
            try:
                self._status = _code(os.waitpid(self.process, 0)[1])
            except ChildProcessError:  # the tool has its own way with children
                self._status = 0
        return self._status

    def stop(self, number: int) -> list[bytes]:
        """End the call as signal *number* would; give the lines it wrote on its way out."""
        found: list[bytes] = []
        for seconds, before in ((_TOLD_SECONDS, 0), (_FAREWELL_SECONDS, number)):
            if before and self._status is None:
                try:
                    os.kill(self.process, before)
                except OSError:  # it has just ended
                    pass
            try:
                found += self.lines(time.monotonic() + seconds)
                break
            except Late:
                continue
        if self._status is None:
            self._look()
        if self._status is None:
            stop_children()
        self.wait()
        self.close()
        return found

    def close(self) -> None:
        """Let go of what the call wrote to."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _look(self) -> None:
        try:
            process, status = os.waitpid(self.process, os.WNOHANG)
        except ChildProcessError:
            self._status = 0
        else:
            if process:
                self._status = _code(status)


def warm_up() -> None:
    """Load what calls would load for themselves, each of them anew."""
    for name in _LATE:
        if name.partition(".")[0] in sys.modules:
            try:
                import_module(name)
            except Exception:  # another version of the framework; its calls will do what they need
                pass


def fork() -> Branch | None:
    """Fork the program; ``None`` in the fork, whose stdout is what the `Branch` reads.

    The fork has nothing to read on its stdin: that belongs to the program.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()  # or both would write what is in the buffers
        except (AttributeError, ValueError, OSError):  # absent, closed or full
            pass
    gc.freeze()  # or each fork would copy all there is, only to look through it at its end
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: the call does not need those of the program
        process = os.fork()
    if process:
        os.close(writing)
        return Branch(process, reading)
    os.dup2(writing, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for descriptor in (reading, writing, nothing):
        os.close(descriptor)
    return None


def become(invocation: Invocation, words: Sequence[str]) -> None:
    """Make *invocation*, in a fork, the call that *words* are; it begins here."""
    contract = invocation.writer.contract
    invocation.leave()
    invocation._unwatch()
    invocation._unguard()
    sys.argv[1:] = words
    process: Any = sys.modules.get("murli.runtime.process")
    if process is not None:
        process._owner = None  # that of the program, where a parser has parsed before
    # The contract and the audience are the caller's choice, wherever that was made; the form of
    # the answers is that of exec, whatever a variable says.
    form = variable_of(invocation, "FORMAT")
    chosen = {"MURLI_CONTRACT": contract, "MURLI_MODE": "agent", form: "json"}
    before = {name: os.environ.get(name) for name in chosen}
    os.environ.update(chosen)
    try:
        invocation.__init__(  # type: ignore[misc]  # everything that was known was of another call
            invocation.runner, invocation.settings, list(words), raises=invocation.raises
        )
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    invocation.writer.in_lines = True
    invocation.begin()


def _code(status: int) -> int:
    return os.waitstatus_to_exitcode(status)
