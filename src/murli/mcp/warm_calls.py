"""The calls of an MCP server, each a fork of this process, which has loaded the tool.

The server asks over a socket. A request is the number of a call, with three descriptors: a file
that holds the words of the call, and what its stdout and stderr write to. What comes back is the
number, and how the call ended. As each call has a process, a session and its own streams, nothing
that it does is left when it is over: no state, directory, variable, signal handler or thread.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import sys
import time
from importlib import import_module
from subprocess import TimeoutExpired

from ..call.forked_call import fork, warm_up
from ..formats import defer_signals
from ..platform import SIGKILL, SIGTERM
from ..process.process_guard import hold_signals, real_hard_exit
from .quick_end import arrange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen
    from typing import Any

    from ..call import Invocation

#: a request: what is asked for, and the number of the call; an answer: the number, and its status
REQUEST, ANSWER = struct.Struct("!cQ"), struct.Struct("!Qi")
#: what can be asked for: a call, that it ends, that it is ended by force
CALL, STOP, KILL = b"C", b"S", b"K"
#: the status of a call for which there was no process
NOT_STARTED = 1 << 16
# How many descriptors come with a call.
_DESCRIPTORS = 3
# How long what a call has left behind gets to end by itself.
_GRACE_SECONDS = 2.0
_AGAIN_SECONDS = 0.3
# How long the server gets that has nobody to ask for calls, or was asked to end.
_SERVER_SECONDS = 8.0


class WarmCalls:
    """The calls that *requests* asks for, until it is closed or the *server* ends."""

    def __init__(self, invocation: Invocation, requests: socket.socket, server: Any) -> None:
        self._invocation = invocation
        self._requests = requests
        self._server: Popen[bytes] | None = server
        self._process = os.getpid()
        self._buffer = b""
        self._received: list[int] = []
        self._running: dict[int, int] = {}  # process -> number of its call
        # Groups that have outlived their call -> when they are ended by force.
        self._leftover: dict[int, float] = {}
        self._wakeup = os.pipe()
        # By which calls report what they had to load, and so the next ones would.
        self._learnt = os.pipe()
        self._names = b""
        # The commands whose calls have reported themselves, as they do.
        self._prepared: set[str] = set()
        self._signal = 0

    def run(self) -> list[str] | None:
        """Make the calls; ``None`` when there are no more, the words of one in its process."""
        _detach_streams()
        warm_up()
        self._invocation.running.awaits_calls = True
        if self._invocation.deadline is not None:
            self._invocation.deadline.stop()
            self._invocation.deadline = None
        for each in (*self._wakeup, *self._learnt):
            os.set_blocking(each, False)
        before = signal.signal(signal.SIGCHLD, _do_nothing)
        signal.set_wakeup_fd(self._wakeup[1], warn_on_full_buffer=False)
        try:
            return self._loop()
        except KeyboardInterrupt as error:
            if os.getpid() != self._process:  # of a call that had not begun
                real_hard_exit(130)
            self._signal = int(getattr(signal, getattr(error, "signal", "SIGINT")))
            hold_signals()
            return None
        finally:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, before)

    def finish(self) -> int:
        """End what still runs; return the exit code of the program."""
        server, status = self._server, 0
        if server is not None and self._signal:
            server.send_signal(SIGTERM)
        self._requests.close()
        deadline = time.monotonic() + _GRACE_SECONDS
        again = 0.0
        while self._running and time.monotonic() < deadline:
            if time.monotonic() >= again:
                # More than once: another thread than the one that sleeps may have got it.
                again = time.monotonic() + _AGAIN_SECONDS
                for process in self._running:
                    _signal_group(process, SIGTERM)
            time.sleep(0.01)
            self._reap(answer=False)
        for process in (*self._running, *self._leftover):
            _signal_group(process, SIGKILL)
        if server is not None:
            try:
                status = server.wait(_SERVER_SECONDS)
            except TimeoutExpired:
                server.kill()
                status = server.wait()
        return 128 + self._signal if self._signal else max(status, 0)

    def _loop(self) -> list[str] | None:
        poll = select.poll()
        poll.register(self._requests, select.POLLIN)
        poll.register(self._wakeup[0], select.POLLIN)
        poll.register(self._learnt[0], select.POLLIN)
        while True:
            timeout = _GRACE_SECONDS * 1000 if self._leftover else None
            ready = dict(poll.poll(timeout))
            if self._wakeup[0] in ready:
                _drained(self._wakeup[0])
            if self._learnt[0] in ready:
                self._learn()
            self._reap()
            self._end_leftover()
            if self._requests.fileno() in ready and not self._receive():
                return None
            while len(self._buffer) >= REQUEST.size:
                what, number = REQUEST.unpack_from(self._buffer)
                self._buffer = self._buffer[REQUEST.size :]
                if what != CALL:
                    self._stop(number, SIGTERM if what == STOP else SIGKILL)
                    continue
                words = self._call(number)
                if words is not None:
                    return words

    # -- requests --------------------------------------------------------------------------

    def _receive(self) -> bool:
        """Take what the server has sent; False at its end."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self._requests, 1 << 12, 64)
        except ConnectionError:
            return False
        self._buffer += data
        self._received += descriptors
        return bool(data)

    def _call(self, number: int) -> list[str] | None:
        """Make a call; in its process, return its words."""
        descriptors = self._received[:_DESCRIPTORS]
        del self._received[:_DESCRIPTORS]
        request, out, err = descriptors
        resume = defer_signals()
        try:
            branch = fork(err)
            if branch is None:
                os.dup2(out, 1)
                self._become_call(descriptors)
                with open(request, "rb") as file:
                    words: list[str] = json.load(file)
                return words
            branch.close()
            self._running[branch.process] = number
        except OSError:  # no process to be had
            self._answer(number, NOT_STARTED)
        finally:
            resume()
        for each in descriptors:
            os.close(each)
        return None

    def _become_call(self, descriptors: list[int]) -> None:
        """Let go, in a fork, of what belongs to the process that makes the calls."""
        os.setsid()
        signal.set_wakeup_fd(-1)
        self._requests.close()
        for each in (*self._wakeup, self._learnt[0], *descriptors[1:], *self._received):
            os.close(each)
        self._invocation.writer._reply.started = time.monotonic()

    def prepare(self, forked: Invocation) -> None:
        """Arrange, in a fork, how its process ends."""
        arrange(forked, self._learnt[1], self._prepared)

    def _learn(self) -> None:
        """Load and make what a call had to load and make, so that the next one has not."""
        *lines, self._names = (self._names + _drained(self._learnt[0])).split(b"\n")
        for line in {each.decode() for each in lines} - sys.modules.keys() - self._prepared:
            try:
                if line.startswith(" "):
                    self._prepared.add(line)
                    self._prepare(tuple(line[1:].split("\0")) if line[1:] else ())
                else:
                    import_module(line)
            except Exception:  # it is loaded in some other way; calls will do what they need
                pass

    def _prepare(self, path: tuple[str, ...]) -> None:
        prepare = getattr(self._invocation.host, "prepare", None)
        if prepare is not None:
            prepare(path)

    def _stop(self, number: int, kind: int) -> None:
        for process, each in self._running.items():
            if each == number and not _signal_group(process, kind):
                os.kill(process, kind)  # it has no group of its own yet

    # -- how they end ----------------------------------------------------------------------

    def _reap(self, *, answer: bool = True) -> None:
        """Take note of the calls that have ended, and have what they left behind end."""
        for process in list(self._running):
            # Not reaped yet: as long as it is there its number is nobody else's.
            found = os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None:
                continue
            _signal_group(process, SIGTERM)
            _, status = os.waitpid(process, 0)
            if _signal_group(process, 0):
                self._leftover[process] = time.monotonic() + _GRACE_SECONDS
            number = self._running.pop(process)
            if answer:
                self._answer(number, os.waitstatus_to_exitcode(status))

    def _end_leftover(self) -> None:
        for group, until in list(self._leftover.items()):
            if time.monotonic() >= until:
                _signal_group(group, SIGKILL)
            if not _signal_group(group, 0) or time.monotonic() >= until:
                del self._leftover[group]

    def _answer(self, number: int, status: int) -> None:
        try:
            self._requests.sendall(ANSWER.pack(number, status))
        except OSError:  # the server has gone
            pass


def _detach_streams() -> None:
    """Leave stdin and stdout to the server: what the tool prints goes to stderr from now on."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)


def _do_nothing(number: int, frame: object) -> None:
    """Stand in place of a handler, so that the signal is noted at the wakeup descriptor."""


def _drained(descriptor: int) -> bytes:
    """Return what is in a pipe, which is empty then."""
    parts = []
    try:
        while part := os.read(descriptor, 1 << 16):
            parts.append(part)
    except BlockingIOError:
        pass
    return b"".join(parts)


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a group; False when nobody is left in it."""
    try:
        os.killpg(group, number)
    except PermissionError:  # of another user now, and there
        return True
    except ProcessLookupError:
        return False
    return True
