"""A pipe in front of the file that stdout is collected in.

A pipe cannot be truncated, and has no positions that two writers could disagree about: a program
that opens ``/dev/stdout`` anew adds to it. A thread empties it into the file; nobody waits for the
other. Programs that are left running when the call ends keep a reader for what they print,
or their next line would kill them.
"""

from __future__ import annotations

import os
import select
import sys
from _thread import RLock, allocate_lock, get_ident

from ..formats import defer_signals, flush, identity, write_some
from ..platform import enlarge_pipe
from . import away_from_standard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..answer.printed_lines import PrintedLines
    from . import DescriptorCapture

_CHUNK = 1 << 20
# What concerns us only with stdout for its argument; the others start programs.
_CHANGING = ("open", "truncate", "ftruncate")
# How long another thread may keep what it has read, on its way to a slow reader.
_TURN_SECONDS = 1.0
_READERS = ("/bin/cat", "/usr/bin/cat")


class Conduit:
    """Descriptor 1 as a pipe; what comes through it goes to *keep*."""

    def __init__(self, keep: Callable[[bytes], None]) -> None:
        self._keep = keep
        self._lock = allocate_lock()
        # Keeping something that is streamed needs the writer; it is taken first by all.
        self.turn = RLock()
        # The thread that just keeps something.
        self._keeper = 0
        self._started = False
        # The filter that keeps Python from warning of that thread where the program forks.
        self._filter: Any = None
        reading, writing = map(away_from_standard, _open_pipe())
        self._reading = reading
        self._identity = identity(reading)
        os.set_blocking(reading, False)
        enlarge_pipe(writing, _CHUNK)
        self.place(writing)

    def place(self, writing: int) -> None:
        """Put the end that is written to where it belongs."""
        os.dup2(writing, 1)
        os.close(writing)

    def start(self) -> None:
        """Begin to empty the pipe as it fills."""
        if not self._started:
            self._started = True
            from .process_guard import start_undisturbed

            start_undisturbed(self._drain)

    def excuse_thread(self) -> None:
        """Let Python, from 3.12 on, warn of a fork only where `threading` knows of others.

        Some versions count ours when it is started behind the fork, all of them at a second fork.
        """
        self._warn_again()
        threading = sys.modules.get("threading")
        if threading is not None and threading.active_count() > 1:
            return
        import warnings
        from re import escape

        message = f"This process (pid={os.getpid()}) is multi-threaded, use of fork()"
        warnings.filterwarnings("ignore", escape(message), DeprecationWarning)
        self._filter = warnings.filters[0]

    def _warn_again(self) -> None:
        warnings = sys.modules.get("warnings")
        if self._filter is not None and warnings is not None and self._filter in warnings.filters:
            warnings.filters.remove(self._filter)
        self._filter = None

    def rejoin(self) -> bool:
        """Be descriptor 1 again, should the program have put back what was there before.

        Return whether that is possible: not once all who wrote are gone.
        """
        with self._lock:
            if self._reading < 0:
                return False
            writing = os.open(f"/proc/self/fd/{self._reading}", os.O_WRONLY)
        os.dup2(writing, 1)
        os.close(writing)
        return True

    def empty(self, seconds: float = _TURN_SECONDS) -> bool:
        """Keep all that has been written so far; return whether more may come.

        Nothing is done where it is not our turn within so many *seconds*, negative for any number.
        """
        if self._keeper == get_ident():  # what keeps it asks how much there is
            return True
        if not self.turn.acquire(timeout=seconds):
            return True
        try:
            with self._lock:
                return self._take()
        finally:
            self.turn.release()

    def abandon(self) -> None:
        """Leave the reading to the program of which this process is a fork."""
        os.close(self._reading)
        self._reading = -1

    def close(self) -> None:
        """End, the call being over; later output has another reader."""
        self._warn_again()
        with self._lock:
            if not self._take():
                return
            os.set_blocking(self._reading, True)
            _start_reader(self._reading)
            os.close(self._reading)
            self._reading = -1

    def _take(self) -> bool:
        while self._reading >= 0:
            try:
                is_ours = identity(self._reading) == self._identity
                data = os.read(self._reading, _CHUNK) if is_ours else None
            except BlockingIOError:
                return True
            except OSError:
                data = None
            if data is None:  # the tool has closed what is not its own
                self._reading = -1
                return False
            if not data:
                os.close(self._reading)
                self._reading = -1
                return False
            self._keeper = get_ident()
            try:
                self._keep(data)
            except BrokenPipeError:  # nobody wants it: who prints is to learn that as by any pipe
                os.close(self._reading)
                self._reading = -1
            finally:
                self._keeper = 0
        return False

    def _drain(self) -> None:
        poll = select.poll()
        with self._lock:
            if self._reading < 0:
                return
            poll.register(self._reading, select.POLLIN)
        while True:
            poll.poll()
            if not self.empty():
                return


def prepare(capture: DescriptorCapture, function: str, paths: Iterable[Any]) -> None:
    """Put a pipe in place before *function* starts a process, or changes one of *paths*."""
    if function in _CHANGING and not any(_is_stdout(capture, function, path) for path in paths):
        return
    if identity(1) == capture.identity:
        resume = defer_signals()  # what is printed into half a conduit would be lost
        try:
            if capture.conduit is None or not capture.conduit.rejoin():
                capture.conduit = Conduit(lambda data: _keep(capture, data))
        except (OSError, RuntimeError):  # no descriptor to be had
            return
        finally:
            resume()
    if capture.conduit is not None:
        # Python warns of a fork that leaves threads behind; that one is started afterwards.
        if function == "fork":
            capture.conduit.excuse_thread()
        else:
            capture.conduit.start()


def stream_lines(capture: DescriptorCapture, lines: PrintedLines) -> bool:
    """Have *lines* take what is printed from now on, as it comes; return whether that works."""
    flush(sys.stdout)
    if identity(1) != capture.identity and capture.conduit is None:
        return False  # the program has a stdout of its own
    try:
        if capture.conduit is None:
            capture.conduit = Conduit(lambda data: _keep(capture, data))
    except (OSError, RuntimeError):  # no descriptor to be had
        return False
    capture.conduit.empty()
    capture.conduit.turn = lines.turn
    capture.lines = lines
    capture.count_no_more()
    capture.conduit.start()
    return True


def _is_stdout(capture: DescriptorCapture, function: str, path: Any) -> bool:
    """Return whether *path* names the file that stdout is collected in."""
    if isinstance(path, int) and function == "open":  # a duplicate, which truncates nothing
        return False
    try:
        found = os.stat(path)
    except (OSError, ValueError, TypeError):  # not there, or no path
        return False
    return (found.st_dev, found.st_ino) == capture.identity[:2]


def _keep(capture: DescriptorCapture, data: bytes) -> None:
    """Append *data* to what is collected, unless it is streamed."""
    if capture.lines is not None and capture.lines.take(data):
        return
    if identity(capture.spool) != capture.identity:  # closed by the tool, as all of ours then is
        return
    try:
        rest = memoryview(data)
        while rest and capture.lost is None:
            rest = rest[write_some(capture.spool, rest) :]
    except OSError as error:
        capture.lost = error


def _start_reader(descriptor: int) -> None:
    """Start a program that reads *descriptor* to its end, in a session of its own."""
    nowhere = [(os.POSIX_SPAWN_OPEN, each, os.devnull, os.O_WRONLY, 0) for each in (1, 2)]
    actions = [(os.POSIX_SPAWN_DUP2, descriptor, 0), *nowhere]
    for program in _READERS:
        try:
            os.posix_spawn(program, ["cat"], {}, file_actions=actions, setsid=True)
            return
        except (OSError, NotImplementedError):  # not there
            continue


def _open_pipe() -> tuple[int, int]:
    """Return the ends of a new pipe.

    Raises `OSError` unless a descriptor is left beside them: the modules that answer a failure are
    loaded when it happens.
    """
    ends = os.pipe()
    try:
        os.close(os.dup(ends[0]))
    except OSError:
        for each in ends:
            os.close(each)
        raise
    return ends
