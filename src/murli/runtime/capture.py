"""Keeping stray output away from the answer, and losing none of it.

While a handler runs for an agent, whatever it, a C library or a child process prints to stdout
is collected; the answer itself goes around the collection. Collected at the file descriptor,
spooled to a file without a name, so that neither size nor speed can block the printer.

``os._exit`` and ``os.exec*`` end a program behind Python's back. While something is collected they
are ours, so that a program which is cut off, or replaced by another one, loses nothing of it.
"""

from __future__ import annotations

import os
import sys

from ..streams import DescriptorStream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, Protocol

    from .invocation import Invocation

    class Capture(Protocol):
        """Something that collects what is printed, while ``stream`` still reaches the reader."""

        stream: Any

        def end(self, *, restore: bool) -> str | bytes:
            """Stop collecting and give what was printed; bytes when it is not text."""

        def close(self) -> None:
            """Let go of the reader; the answer is out."""

    class Custodian(Protocol):
        """Who answers when the program ends abruptly."""

        @property
        def concerned(self) -> bool:
            """Whether this process still has to be answered for."""

        def answer(self, error: BaseException | None) -> int:
            """Answer, and give the exit code."""

        def let_go(self) -> None:
            """Leave the process to another program."""


def collect_stdout() -> Capture:
    """Start collecting what is printed, in the way that fits what stdout is."""
    if sys.__stdout__ is None:
        return ClosedStdout()
    return DescriptorCapture() if stdout_is_ours() else StreamCapture()


def stdout_is_ours() -> bool:
    """Tell whether ``sys.stdout`` ends at descriptor 1: nobody redirected it in Python."""
    if sys.stdout is sys.__stdout__:
        return True
    try:
        return sys.stdout.fileno() == 1
    except (AttributeError, OSError, ValueError):  # absent, closed, or nothing but memory
        return False


class DescriptorCapture:
    """Collects everything written to file descriptor 1."""

    def __init__(self) -> None:
        # Not inheritable: a child must not be able to write beside the answer.
        self._real = _away_from_standard(os.dup(1))
        self._spool = _away_from_standard(_open_spool())
        os.dup2(self._spool, 1)
        self.stream = DescriptorStream(self._real)

    def end(self, *, restore: bool) -> str | bytes:
        """Stop collecting.

        With *restore* descriptor 1 is what it was before; otherwise what is printed from now on,
        at interpreter exit say, goes to stderr, because the answer is out.
        """
        _flush(sys.stdout)
        try:
            if restore:
                os.dup2(self._real, 1)
            else:
                _send_to_stderr()
            collected = _read(self._spool)
            os.close(self._spool)
        except OSError:  # the tool closed descriptors that are not its own
            return ""
        return _as_text(collected)

    def close(self) -> None:
        """Let go of the real stdout."""
        descriptor, self._real = self._real, -1
        self.stream.descriptor = -1
        try:
            os.close(descriptor)
        except OSError:  # as above
            pass


class StreamCapture:
    """Collects what is written to a ``sys.stdout`` that somebody, a test runner say, replaced."""

    def __init__(self) -> None:
        import io

        self.stream: Any = sys.stdout
        self._bytes = io.BytesIO()
        # With a buffer beneath it, because binary output goes there.
        self._held = io.TextIOWrapper(self._bytes, "utf-8", write_through=True)
        sys.stdout = self._held

    def end(self, *, restore: bool) -> str | bytes:
        """Stop collecting; the replaced stream is always restored."""
        if sys.stdout is self._held:
            sys.stdout = self.stream
        return _as_text(self._bytes.getvalue())

    def close(self) -> None:
        """Do nothing: the replaced stream belongs to somebody else."""


class ClosedStdout:
    """A stdout that was closed before we came: descriptor 1 may be anybody's file by now."""

    def __init__(self) -> None:
        self.stream = DescriptorStream(-1)

    def end(self, *, restore: bool) -> str:
        """Give nothing: there was nowhere to print."""
        return ""

    def close(self) -> None:
        """Do nothing."""


def _away_from_standard(descriptor: int) -> int:
    """Give a duplicate of *descriptor* above 2: a closed stderr must not become our stdout."""
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


def _read(spool: int) -> bytes:
    # By position: a thread that still writes shares the descriptor's own.
    parts: list[bytes] = []
    position = 0
    while part := os.pread(spool, 1 << 20, position):
        parts.append(part)
        position += len(part)
    return b"".join(parts)


def _as_text(collected: bytes) -> str | bytes:
    try:
        return collected.decode()
    except UnicodeDecodeError:
        if b"\0" in collected:
            return collected
    encoding = getattr(sys.__stdout__, "encoding", None) or "utf-8"
    return collected.decode(encoding, "replace")


def _send_to_stderr() -> None:
    try:
        os.dup2(2, 1)
    except OSError:  # stderr is closed too
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        if nowhere > 2:
            os.close(nowhere)


def _flush(stream: Any) -> None:
    try:
        stream.flush()
    except (AttributeError, ValueError, OSError):  # absent, closed by the handler, or full
        pass


_custodian: Custodian | None = None

_real_hard_exit = os._exit
_real_execv = os.execv
_real_execve = os.execve


def _hard_exit(status: int) -> NoReturn:
    if _custodian is not None and _custodian.concerned:
        status = _custodian.answer(SystemExit(status))
    _real_hard_exit(status)


def _execv(path: Any, argv: Any, /) -> NoReturn:
    if _custodian is not None and _custodian.concerned:
        _custodian.let_go()
    _real_execv(path, argv)


def _execve(path: Any, argv: Any, env: Any) -> NoReturn:
    if _custodian is not None and _custodian.concerned:
        _custodian.let_go()
    _real_execve(path, argv, env)


def keep(custodian: Custodian) -> Callable[[], None]:
    """Let *custodian* answer for abrupt endings; give what ends that."""
    global _custodian
    before, _custodian = _custodian, custodian
    undo = [
        replace(os, "_exit", _hard_exit),
        replace(os, "execv", _execv),
        replace(os, "execve", _execve),
    ]

    def stop() -> None:
        global _custodian
        _custodian = before
        for each in undo:
            each()

    return stop


def replace(module: Any, name: str, ours: Any) -> Callable[[], None]:
    """Put *ours* in the place of a module's function; give what takes it back."""
    theirs = getattr(module, name)
    setattr(module, name, ours)

    def undo() -> None:
        if getattr(module, name) is ours:
            setattr(module, name, theirs)  # ours again when calls are nested

    return undo


class Custody:
    """While it is entered, ``os._exit`` and ``os.exec*`` do not lose what was printed by then."""

    def __init__(self, invocation: Invocation) -> None:
        self.pid = os.getpid()
        self.invocation = invocation
        self._undo: Callable[[], None] | None = None

    def __enter__(self) -> None:
        if self.invocation.capture is not None:
            self._undo = keep(self)

    def __exit__(self, *error: object) -> None:
        if self._undo is not None:
            self._undo()

    @property
    def concerned(self) -> bool:
        """Whether this process, and not a fork of it, still has to be answered for."""
        return os.getpid() == self.pid

    def answer(self, error: BaseException | None) -> int:
        """Finish the invocation and give the exit code."""
        return self.invocation.finish(error)

    def let_go(self) -> None:
        """Leave the process to another program: what was printed so far comes first."""
        self.invocation.release()
