"""A tool as a process: started without a shell, read within limits, ended with all it started.

`Child` does everything but wait; `run` waits with ``poll``, `murli.wire.async_running` with an
event loop.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, Any

from ..platform import SIGKILL, SIGTERM, can_wait_for_pipes, signal_group, wait_for
from .collecting import Collector, HeadAndTail, WholeOutput
from .lifecycle import LINGERING, OVER, SWEEPING, ProcessLifecycle
from .limits import Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..platform.pipes import PipeReader

_CHUNK = 1 << 16
# How often to look for the end of a process where the system has no descriptor for it.
_LOOK_SECONDS = 0.02
#: what a shell answers for a program that is not there, and for one that cannot be run
NOT_FOUND, NOT_RUNNABLE = 127, 126


@dataclass(frozen=True, slots=True)
class ProcessResult:
    """A process that has ended, and what is kept of what it wrote.

    *exit_code* is minus the number of the signal that ended it, ``None`` when somebody else has
    taken its status away. *reason* says why the client ended it: ``""`` when it ended by itself,
    ``time`` after the time limit, else what it did, in words; ``start`` when it never ran, with the
    system's words in *stderr*.
    """

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int | None = 0
    reason: str = ""
    duration_ms: int = 0


def run(
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
    return wait_for_end(child)


def wait_for_end(child: Child, each_turn: Callable[[], object] = lambda: None) -> ProcessResult:
    """Attend to *child* to its end and return that; *each_turn* is called when something happened.

    An exception from outside ends the child.
    """
    try:
        for _ in pump(child):
            each_turn()
    finally:
        if not child.is_over:  # interrupted before the first turn
            child.kill()
    return child.ran()


def pump(child: Child) -> Generator[None, None, None]:
    """Attend to *child* until it is over; a turn of the loop for every time something happened.

    Leaving the loop early, or interrupting it, leaves nothing running.
    """
    try:
        while not child.is_over:
            _wait(child)
            child.attend()
            left = time.monotonic()
            yield
            child.was_unattended(time.monotonic() - left)
    except BaseException:
        _end(child)
        raise
    finally:
        child.close()


def _wait(child: Child) -> None:
    wait_for(child.readable(), child.writable(), child.timeout())


def _end(child: Child) -> None:
    """End *child* in the midst of its work: asked first, then killed."""
    child.stop("interrupted")
    try:
        while not child.is_over:
            _wait(child)
            child.attend()
    finally:
        if not child.is_over:  # interrupted once more
            child.kill()


class Child:
    """A running program. Call `attend` when a descriptor is ready or its timeout is over.

    *stdin* is written to the program, *out* and *err* take what it writes. *interrupt_after* is
    after how many seconds it gets SIGINT. *popen* are more options of `Popen`; what those connect
    to a terminal is written and read at the *terminal*, our ends of stdin, stdout and stderr.
    """

    def __init__(
        self,
        argv: Sequence[str],
        limits: Limits,
        out: Collector,
        err: Collector | None = None,
        *,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        silence: bool = False,
        interrupt_after: float | None = None,
        terminal: tuple[IO[bytes], IO[bytes], IO[bytes]] | None = None,
        popen: Mapping[str, Any] | None = None,
    ) -> None:
        self._limits = limits
        self._started = now = time.monotonic()
        interrupt_at = None if interrupt_after is None else now + interrupt_after
        self._lifecycle = ProcessLifecycle(limits, now, silence=silence, interrupt_at=interrupt_at)
        self._out = out
        self._err = err or HeadAndTail(limits.stderr_head_bytes, limits.stderr_tail_bytes)
        self._input: IO[bytes] | None = None
        self._rest = memoryview(stdin or b"")
        self._terminal = terminal or ()
        self._sinks: dict[int, tuple[IO[bytes], Collector]] = {}
        self._readers: dict[int, PipeReader] = {}
        self._code: int | None = None
        self._sweeping = False
        self._pidfd = -1
        # Known before it runs, so that who is interrupted while it starts can still end it.
        self._process: Popen[bytes] = Popen.__new__(Popen)
        try:
            self._process.__init__(  # type: ignore[misc]
                list(argv),
                cwd=cwd,
                env=None if env is None else dict(env),
                start_new_session=True,
                bufsize=0,
                **{
                    "stdin": DEVNULL if stdin is None else PIPE,
                    "stdout": PIPE,
                    "stderr": PIPE,
                    **(popen or {}),
                },
            )
            source, *streams = terminal or self._own_streams()
            for stream, sink in zip(streams, (self._out, self._err), strict=True):
                if stream is not None:
                    if can_wait_for_pipes():
                        os.set_blocking(stream.fileno(), False)
                    else:
                        from ..platform.pipes import PipeReader

                        self._readers[stream.fileno()] = PipeReader(stream.fileno())
                    self._sinks[stream.fileno()] = (stream, sink)
            if stdin is not None and source is not None:
                self._input = source
                if can_wait_for_pipes():
                    os.set_blocking(source.fileno(), False)
                self._feed()
            self._pidfd = _descriptor_of(self._process.pid)
        except OSError:
            raise
        except BaseException:
            if getattr(self._process, "pid", None):
                self.kill()
            raise

    # -- for who waits -------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self._lifecycle.phase == OVER

    def readable(self) -> list[int]:
        """Return the descriptors to watch for something to read."""
        found = list(self._sinks)
        if self._pidfd >= 0 and self._lifecycle.phase < LINGERING:
            found.append(self._pidfd)
        return found

    def writable(self) -> list[int]:
        """Return the descriptors to watch until they take more."""
        return [] if self._input is None else [self._input.fileno()]

    def timeout(self) -> float:
        """Return how many seconds to wait at most."""
        seconds = self._lifecycle.wait(time.monotonic())
        if self._pidfd < 0 and self._lifecycle.phase < LINGERING:
            return min(seconds, _LOOK_SECONDS)
        return seconds

    def was_unattended(self, seconds: float) -> None:
        """Note that the reader did something else for so long."""
        self._lifecycle.was_unattended(seconds)

    # -- what happens --------------------------------------------------------------------------

    def attend(self) -> None:
        """Do whatever there is to do now, without waiting for anything."""
        now = time.monotonic()
        lifecycle = self._lifecycle
        for descriptor in list(self._sinks):
            self._listen(descriptor, now)
        if self.writable():
            self._feed()
        if lifecycle.phase < LINGERING and self._has_exited():
            # What it wrote before it ended is in the pipe by now.
            lifecycle.exited(now)
        if not self._sinks:
            lifecycle.closed(now)
        number = lifecycle.due(now)
        if number:
            self.send(number)
        if lifecycle.phase == SWEEPING:
            self._sweep()

    def stop(self, reason: str) -> None:
        """Have the tool ended."""
        self._lifecycle.stop(time.monotonic(), reason)

    def send(self, number: int) -> bool:
        """Send a signal to the group; False when nobody is left to get it."""
        return signal_group(self._process, number)

    def kill(self) -> None:
        """End the whole group at once, and go."""
        if self._process.returncode is None:
            self.send(SIGKILL)
            self._reap()
        self._lifecycle.swept()
        self.close()

    def close(self) -> None:
        """Close every descriptor."""
        for reader in self._readers.values():
            reader.stop()
        self._readers.clear()
        for stream in (*self._own_streams(), *self._terminal):
            if stream is not None:
                stream.close()
        self._input = None
        self._sinks.clear()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def ran(self) -> ProcessResult:
        """Return how it ended."""
        elapsed = round((time.monotonic() - self._started) * 1000)
        reason = self._lifecycle.reason
        return ProcessResult(self._out.data(), self._err.data(), self._code, reason, elapsed)

    def _own_streams(self) -> tuple[IO[bytes] | None, ...]:
        process = self._process
        return process.stdin, process.stdout, process.stderr

    def _listen(self, descriptor: int, now: float) -> None:
        stream, sink = self._sinks[descriptor]
        try:
            reader = self._readers.get(descriptor)
            data = reader.read() if reader else os.read(descriptor, sink.chunk)
        except BlockingIOError:
            return
        except OSError:  # how a terminal shows that its other side is closed
            data = b""
        if not data:
            sink.end()
            del self._sinks[descriptor]
            stream.close()
            return
        activity, count = sink.activity, sink.count
        sink.feed(data)
        if sink.activity > activity or sink.count > count:
            self._lifecycle.saw_output(now, item=sink.count > count)
        if sink.trouble:
            self._lifecycle.stop(now, sink.trouble)

    def _feed(self) -> None:
        stream = self._input
        assert stream is not None
        if not can_wait_for_pipes():
            from ..platform.pipes import feed

            feed(stream, bytes(self._rest))
            self._input = None
            return
        try:
            while self._rest:
                self._rest = self._rest[os.write(stream.fileno(), self._rest[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # it has read enough, or is gone; whether that is well, its status says
            pass
        stream.close()
        self._input = None

    def _has_exited(self) -> bool:
        if not hasattr(os, "waitid"):
            return self._reap(wait=False)
        try:
            # Not reaped yet: as long as it is there its number is nobody else's.
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self._process.pid, flags) is not None
        except ChildProcessError:  # somebody else waits for all children of this process
            return True

    def _sweep(self) -> None:
        """Take the status of the tool, and end what is left of its group."""
        if not self._sweeping:
            self._sweeping = True
            self.close()  # later output finds no reader
            self._reap()
            first = SIGTERM if self._limits.grace_seconds > 0 else SIGKILL
            if self._limits.leave_children or not self.send(first):
                self._lifecycle.swept()
        elif not self.send(0) or not _is_alive(self._process.pid):
            self._lifecycle.swept()

    def _reap(self, *, wait: bool = True) -> bool:
        """Take the status of the tool; return whether it has one."""
        if self._process.returncode is not None:
            return True
        if not hasattr(os, "WNOHANG"):
            self._code = self._process.wait() if wait else self._process.poll()
            return self._code is not None
        try:
            pid, status = os.waitpid(self._process.pid, 0 if wait else os.WNOHANG)
            if not pid:
                return False
            self._code = os.waitstatus_to_exitcode(status)
        except ChildProcessError:
            self._code = None
        # For its own bookkeeping, which would otherwise wait for it again.
        self._process.returncode = 0 if self._code is None else self._code
        return True


def never_ran(error: OSError, argv: Sequence[str]) -> ProcessResult:
    """Return what became of a program that could not be started."""
    missing = isinstance(error, FileNotFoundError)
    where = error.filename if isinstance(error.filename, str) else argv[0]
    message = f"{where}: {error.strerror or error}"
    return ProcessResult(b"", message.encode(), NOT_FOUND if missing else NOT_RUNNABLE, "start")


def _is_alive(group: int) -> bool:
    """Return whether anybody in *group* still runs; the dead stay in it until somebody notices.

    They were left to the first process of the system, and some of those are slow to notice.
    """
    try:
        numbers = [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:  # this system does not report it
        return True
    for number in numbers:
        try:
            with open(f"/proc/{number}/stat", "rb") as file:
                # The name, in parentheses, may hold anything.
                facts = file.read().rpartition(b")")[2].split()
        except OSError:  # it has ended
            continue
        if len(facts) > 2 and facts[2] == b"%d" % group and facts[0] not in (b"Z", b"X"):
            return True
    return not numbers


def _descriptor_of(pid: int) -> int:
    """Return a descriptor that becomes readable when *pid* ends, -1 where there is none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # not on this system, or none is left
        return -1
