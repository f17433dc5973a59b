"""Keeping stray output away from the answer, and losing none of it.

While a handler runs for an agent, whatever it, a C library or a child process prints to stdout
is collected; the answer itself goes around the collection. Collected at the file descriptor,
spooled to a file without a name, so that neither size nor speed can block the printer.

On Linux a program that opens ``/dev/stdout`` opens that file anew, and may truncate it. So before
the program starts another one, or opens its own stdout by name, a pipe is put in front of the file:
see `process.conduit`.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
from _thread import RLock, allocate_lock, get_ident

from ..formats import DescriptorStream, flush, identity, put_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..answer.printed_lines import PrintedLines
    from ..call.host import Capture
    from .child_errors import ErrorConduit
    from .conduit import Conduit

_CHECKED_BYTES = 1 << 18
# A command that prints more often may take long.
_FEW_WRITES = 3
# What is remembered of stderr: as many writes, and as much of each.
_MOST_WRITES = 64
_LONGEST_WRITE = 4096
_CLOSED = (0, 0, 0)  # the identity of a closed descriptor


def collect_stdout() -> Capture:
    """Start collecting what is printed, in the way that fits what stdout is."""
    if sys.__stdout__ is not None and stdout_is_ours():
        return DescriptorCapture()
    from .capture_other import ClosedStdout, StreamCapture

    return ClosedStdout() if sys.__stdout__ is None else StreamCapture()


def watch_errors(
    writes: list[str | bytes], capture: DescriptorCapture | None = None
) -> Callable[[], None]:
    """Keep in *writes* the end of what is written to ``sys.stderr``, which gets it as before.

    Only what passes Python's own stream. What children of *capture* have written comes before it.
    Returns what ends it.
    """

    def write(beneath: Any, data: Any, /) -> Any:
        if capture is not None and capture.child_errors is not None:
            capture.child_errors.empty()
        note_error(writes, data)
        return beneath(data)

    stream: Any = sys.stderr
    targets: tuple[Any, ...] = (getattr(stream, "buffer", None), stream)
    for target in targets:
        try:
            return put_over(target, "write", write)
        except AttributeError:  # absent, or a host's own stream that cannot be watched
            continue
    return _nothing


def note_error(writes: list[str | bytes], data: Any) -> None:
    """Add to *writes* the end of what was just written to stderr."""
    part = data[-_LONGEST_WRITE:]
    writes.append(part if type(part) is str else bytes(part))
    del writes[:-_MOST_WRITES]


def _nothing() -> None:
    pass


def stdout_is_ours() -> bool:
    """Return whether ``sys.stdout`` ends at descriptor 1: nobody redirected it in Python."""
    if sys.stdout is sys.__stdout__:
        return True
    try:
        return sys.stdout.fileno() == 1
    except (AttributeError, OSError, ValueError):  # absent, closed, or nothing but memory
        return False


class DescriptorCapture:
    """Collects everything written to file descriptor 1."""

    is_process = True

    def __init__(self) -> None:
        # Not inheritable: a child must not be able to write beside the answer.
        self.real = away_from_standard(os.dup(1))
        self.spool = away_from_standard(_open_spool())
        self.identity = identity(self.spool)
        self.conduit: Conduit | None = None
        self.child_errors: ErrorConduit | None = None
        # What streams all that is printed, if anything does.
        self.lines: PrintedLines | None = None
        os.dup2(self.spool, 1)
        self.stream = DescriptorStream(self.real)
        self.lost: OSError | None = None
        self.collects = True
        # Ends that too much is noticed.
        self.count_no_more = self._watch(sys.stdout)
        self.errors: list[str | bytes] = []
        self.stop_watching = watch_errors(self.errors, self)
        self._stderr = identity(2)
        # Takes back what stands in for functions of other modules.
        self.undo: list[Callable[[], None]] = []
        # Where questions begin and end in what is collected.
        self.questions: list[tuple[int, int]] = []
        _look_out(self)

    def end(self, *, restore: bool) -> str | bytes:
        """Stop collecting; see `stop`."""
        self.stop(restore=restore)
        collected = self.so_far()
        self.close_spool()
        return collected

    def stop(self, *, restore: bool) -> None:
        """Collect no more.

        With *restore* descriptor 1 is what it was before; otherwise what is printed from now on,
        at interpreter exit say, goes to stderr, because the answer is out.
        """
        self.count_no_more()
        _look_away(self)
        self._flush()
        self.collects = False
        self._recover_spool()
        if restore and self.stream.is_ours:
            os.dup2(self.real, 1)
        else:
            send_to_stderr()

    def close_spool(self) -> None:
        """Forget what was collected."""
        if self.spool >= 0:
            os.close(self.spool)
            self.spool = -1

    def so_far(self) -> str | bytes:
        """Return what has been printed by now, as far as it has left the buffers."""
        self.catch_up()
        self._recover_spool()
        collected = _read(self.spool) if self.spool >= 0 else b""
        for start, end in reversed(self.questions):
            collected = collected[:start] + collected[end:]
        return as_text(collected)

    def catch_up(self) -> None:
        """Take in what children have written by now."""
        for each in (self.conduit, self.child_errors):
            if each is not None:
                each.empty()

    def size(self) -> int:
        """Return how many bytes have been collected so far; 0 once that is over."""
        if self.spool < 0:
            return 0
        self._reopen()
        flush(sys.stdout)  # should there be no room, `end` reports it
        if self.conduit is not None:
            self.conduit.empty()
        self._recover_spool()
        return os.fstat(self.spool).st_size if self.spool >= 0 else 0

    def let_through(self) -> None:
        """Let what is printed from now on reach the reader as it is."""
        self.count_no_more()
        _look_away(self)
        self._flush()
        self.collects = False
        if self.stream.is_ours:
            os.dup2(self.real, 1)

    @property
    def stderr_is_ours(self) -> bool:
        """Whether stderr still is what the caller reads."""
        return sys.stderr is not sys.__stderr__ or identity(2) == self._stderr != _CLOSED

    def _recover_spool(self) -> None:
        """Find the file again if the tool closed descriptors that are not its own."""
        if identity(self.spool) == self.identity:
            return
        is_there = self.conduit is None and identity(1) == self.identity
        self.spool = away_from_standard(os.dup(1)) if is_there else -1

    def _watch(self, stream: Any) -> Callable[[], None]:
        """Notice what there is no room for, and stop a program that prints without end.

        As with a pipe, printing raises an exception.
        """
        buffer = getattr(stream, "buffer", None)
        if buffer is None:
            return _nothing
        printed = next_check = writes = 0

        def write(beneath: Any, data: Any, /) -> Any:
            nonlocal printed, next_check, writes
            printed += len(data)
            writes += 1
            if writes == _FEW_WRITES:
                from .heartbeat import begin

                begin()
            if printed > next_check:
                next_check = printed + _CHECKED_BYTES
                if printed > _CHECKED_BYTES:
                    from .printing import check_printing

                    check_printing(self.real, printed)
            try:
                written = beneath(data)
            except OSError as error:
                self.lost = error
                raise
            if written is not None and written < len(data):
                self.lost = OSError(28, "No space left on device")  # an unbuffered stream says less
            return written

        undo = put_over(buffer, "write", write)

        def stop() -> None:
            nonlocal next_check
            next_check = sys.maxsize
            undo()

        return stop

    def _flush(self) -> None:
        """Let what is in the buffers out; what there is no room for is noted, and dropped."""
        self._reopen()
        if sys.stdout is not sys.__stdout__:  # the tool has put something else in its place
            flush(sys.__stdout__)
        try:
            sys.stdout.flush()
        except OSError as error:
            self.lost = error
            # Left where it is, it would come out later, beside the answer.
            nowhere = away_from_standard(os.open(os.devnull, os.O_WRONLY))
            os.dup2(nowhere, 1)
            os.close(nowhere)
            flush(sys.stdout)
        except (AttributeError, ValueError):  # absent, or closed by the handler
            pass

    def _reopen(self) -> None:
        """Collect what is still in the buffers of a stdout that the tool has closed."""
        if identity(1) == _CLOSED and identity(self.spool) == self.identity:
            os.dup2(self.spool, 1)

    def close(self) -> None:
        """Let go of the real stdout."""
        if self.stream.is_ours:
            os.close(self.real)
        self.real = self.stream.descriptor = -1
        for each in (self.conduit, self.child_errors):
            if each is not None:
                each.close()


# -- others who may open our stdout ------------------------------------------------------------

# The captures of this process, the innermost last.
_captures: list[DescriptorCapture] = []
_is_looking = False
# The thread that puts a pipe in place.
_preparing = 0
_held: Any = None  # the signals held back while the program forks
_one_at_a_time = allocate_lock()


def _look_out(capture: DescriptorCapture) -> None:
    """Notice what may open the stdout that *capture* collects, and forks of the program."""
    global _is_looking
    _captures.append(capture)
    if not _is_looking:
        _is_looking = True  # for good: it cannot be taken back, and does nothing without captures
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=_on_forking, after_in_parent=_on_fork, after_in_child=_on_being_forked
            )
    if sys.platform != "linux":  # elsewhere opening it returns a duplicate
        return
    modules = sys.modules
    for module, name in (
        (os, "posix_spawn"),
        (os, "posix_spawnp"),
        (modules.get("_posixsubprocess"), "fork_exec"),
        (modules.get("subprocess"), "_fork_exec"),
        (os, "truncate"),
        (os, "ftruncate"),
        (os, "open"),
        (io, "open"),
        (builtins, "open"),
    ):
        if hasattr(module, name):
            capture.undo.append(put_over(module, name, watch_opening(name)))


def _look_away(capture: DescriptorCapture) -> None:
    if capture in _captures:
        _captures.remove(capture)
    while capture.undo:
        capture.undo.pop()()


def watch_opening(name: str) -> Any:
    """Return what makes stdout a pipe before the function *name* starts a process or opens it."""

    def call(own: Any, *args: Any, **named: Any) -> Any:
        if _captures and not (name == "open" and _only_reads(*args[1:2], **named)):
            _prepare(name, *(args[:1] or named.values()))
            if name[-4:] != "open" and name[-8:] != "truncate" and _captures:
                from .child_errors import connected

                args, named = connected(_captures[-1], name, args, named)
            elif args and type(args[0]) is int and _captures:
                from .child_errors import watched

                return watched(_captures[-1], own(*args, **named))
        return own(*args, **named)

    return call


def _only_reads(mode: Any = None, **named: Any) -> bool:
    """Return whether a file is opened in no way that could change it."""
    mode = named.get("flags", named.get("mode", "r")) if mode is None else mode
    if isinstance(mode, int):
        return not mode & (os.O_WRONLY | os.O_RDWR | os.O_TRUNC)
    return "+" not in mode and "r" in mode


def _prepare(function: str, *paths: Any) -> None:
    """Put a pipe in the place of stdout before *function* is called, should it need one.

    One of *paths* is what it opens, if it does.
    """
    global _preparing
    if _preparing == get_ident():  # loading a module may open files
        return
    with _one_at_a_time:
        _preparing = get_ident()
        try:
            from .conduit import prepare

            for capture in _captures[-1:]:  # another thread may just end it
                prepare(capture, function, paths)
        finally:
            _preparing = 0


# What runs around a fork is in this module, and not in one of its own: a program that has no
# descriptor left can still fork, but it can load nothing any more.
def _on_forking() -> None:
    """Keep signals from a fork that cannot deal with them yet: Python would forget them there."""
    global _held
    if _captures:
        from ..core import current
        from .process_guard import hold_back

        invocation = current()
        if invocation is not None and invocation.process.end_heartbeat is not None:
            invocation.process.end_heartbeat()
        for each in () if invocation is None else invocation.process.reporters:
            each.pause()
        if sys.platform == "linux":
            try:
                _prepare("fork")
            except OSError:  # too few descriptors for a pipe: the fork shares the file
                pass
        _held = hold_back()


def _on_fork() -> None:
    """Go on in the program that was forked."""
    if _captures:
        from .process_guard import let_come

        let_come(_held)
        for capture in _captures:
            if capture.conduit is not None:
                capture.conduit.start()
        from ..core import current

        invocation = current()
        for each in () if invocation is None else invocation.process.reporters:
            each.resume()


def _on_being_forked() -> None:
    """Let go, in a fork of the program, of what belongs to the program itself.

    Who waits for the end of stdout must not wait for the fork. What the fork writes is collected
    with everything else; the answer is its parent's, and so is what was arranged for signals.
    """
    if not _captures:
        return
    from ..core import current
    from .process_guard import let_come, resign

    for capture in _captures:
        if capture.stream.is_ours:
            os.close(capture.real)
        capture.real = -1
        capture.stream.descriptor, capture.stream.opened_on = 1, identity(1)
        capture.stream.room = 0
        for each in (capture.conduit, capture.child_errors):
            if each is not None:
                each.abandon()
    _captures.clear()
    invocation = current()
    if invocation is not None:
        writer = invocation.writer
        writer._outlet.is_forked = True  # what it streams is collected as printed
        writer._outlet.lock = RLock()  # another thread of the program may hold the old one for ever
        if invocation.deadline is not None:
            invocation.deadline.abandon()
    resign()
    let_come(_held)


def away_from_standard(descriptor: int) -> int:
    """Return a duplicate of *descriptor* above 2: a closed stderr must not become our stdout."""
    passed = []
    while descriptor <= 2:
        passed.append(descriptor)
        descriptor = os.dup(descriptor)
    for each in passed:
        os.close(each)
    return descriptor


def _open_spool() -> int:
    # Appending, so that a child which opens /dev/stdout anew cannot write over what is there.
    flags = os.O_RDWR | os.O_APPEND
    nameless = getattr(os, "O_TMPFILE", 0)
    if nameless:
        try:
            return os.open(os.environ.get("TMPDIR") or "/tmp", flags | nameless, 0o600)
        except OSError:  # not on this file system, or no such folder
            pass
    if hasattr(os, "memfd_create"):
        return os.memfd_create("murli-stdout")
    import tempfile

    descriptor, path = tempfile.mkstemp()
    os.unlink(path)
    return descriptor


def _read_at(descriptor: int, size: int, position: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, position)
    from ..platform import read_at  # which costs a hello-world more than this does

    return read_at(descriptor, size, position)


def _read(spool: int) -> bytes:
    # By position: a thread that still writes shares the descriptor's own.
    parts: list[bytes] = []
    position = 0
    while part := _read_at(spool, os.fstat(spool).st_size - position, position):
        parts.append(part)
        position += len(part)
    return b"".join(parts)


def as_text(collected: bytes) -> str | bytes:
    """Return what was collected as text, or as it is where no text says the same."""
    if b"\0" in collected:
        return collected
    try:
        return collected.decode()
    except UnicodeDecodeError:
        from ..formats.patience import decoded

        return decoded(collected)


def send_to_stderr() -> None:
    """Let what is printed from now on go to stderr: the answer is out."""
    try:
        os.dup2(2, 1)
    except OSError:  # stderr is closed too
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        if nowhere > 2:
            os.close(nowhere)
