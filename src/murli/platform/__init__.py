"""What only some systems have, as functions that every system has.

The rest of murli imports no module that only POSIX has. Where a system lacks something, a function
here does less: it says so in its docstring, and docs/limits.md has the list.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from subprocess import Popen

# Flags for `os.open`: nothing where the system does not know them. On Windows a file is opened as
# it is, without a change of line ends.
BINARY: int = getattr(os, "O_BINARY", 0)
CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
NOCTTY: int = getattr(os, "O_NOCTTY", 0)
NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)

# Numbers of signals, which a system has whether or not it has a name for them.
SIGHUP, SIGKILL, SIGPIPE, SIGTERM = 1, 9, 13, 15

# Of Linux; `fcntl` has a name for it from Python 3.10 on, and only there.
_F_SETPIPE_SZ = 1031
_FIONREAD = 0x541B  # of Linux as well; `termios` has a name for it


def locked(descriptor: int, *, wait: bool = False) -> bool:
    """Lock a file for this process alone; return False where another process has it.

    The lock ends with the descriptor. `OSError` where the file system cannot lock. On a system
    without locks every process gets one.
    """
    try:
        import fcntl
    except ImportError:
        return _locked_on_windows(descriptor, wait)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _locked_on_windows(descriptor: int, wait: bool) -> bool:
    try:
        msvcrt = __import__("msvcrt")
    except ImportError:
        return True
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def duplicate_from(descriptor: int, lowest: int) -> int:
    """Return a duplicate that children do not get, with a number from *lowest* on if possible."""
    try:
        import fcntl
    except ImportError:
        return os.dup(descriptor)
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)


def enlarge_pipe(descriptor: int, size: int) -> None:
    """Let a pipe hold *size* bytes, where the system can do that and allows it."""
    try:
        import fcntl

        fcntl.fcntl(descriptor, _F_SETPIPE_SZ, size)
    except (ImportError, OSError):
        pass


def is_drained(pipe: int) -> bool:
    """Return whether everything in *pipe* has been read; false where that is not known."""
    if sys.platform != "linux":  # elsewhere the end that is written to may not know
        return False
    unread = bytearray(4)
    try:
        import fcntl

        fcntl.ioctl(pipe, _FIONREAD, unread)
    except (ImportError, OSError):
        return False
    return not any(unread)


def set_mode(descriptor: int, mode: int) -> None:
    """Set the mode of an open file; nothing where a system knows only those of paths."""
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)


def set_owner(descriptor: int, like: os.stat_result) -> None:
    """Set the owner of an open file to that of another one, where files have owners."""
    if hasattr(os, "fchown") and like.st_uid != os.geteuid():
        os.fchown(descriptor, like.st_uid, like.st_gid)


def is_own(status: os.stat_result) -> bool:
    """Return whether a file is of this user; true where a system does not say whose files are."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def way_back() -> Callable[[], None]:
    """Return what makes the current folder current again, once; by its path without ``fchdir``."""
    if not hasattr(os, "fchdir"):
        path = os.getcwd()
        return lambda: os.chdir(path)
    folder = os.open(".", os.O_RDONLY | CLOEXEC)

    def back() -> None:
        os.fchdir(folder)
        os.close(folder)

    return back


def read_at(descriptor: int, size: int, position: int) -> bytes:
    """Return bytes of a file from *position* on; the position of the descriptor stays.

    Without ``pread`` it moves meanwhile, so nobody else may read or write the descriptor then.
    """
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, position)
    before = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        os.lseek(descriptor, position, os.SEEK_SET)
        return os.read(descriptor, size)
    finally:
        os.lseek(descriptor, before, os.SEEK_SET)


def can_read(descriptor: int, seconds: float | None) -> bool:
    """Wait until *descriptor* has something to read, or is at its end; for ever with ``None``.

    True at once where the system cannot wait for it: the read then waits.
    """
    return _is_ready(descriptor, "POLLIN", seconds)


def can_write(descriptor: int, seconds: float | None) -> bool:
    """Wait until *descriptor* takes something, for ever with ``None``; else as `can_read`."""
    return _is_ready(descriptor, "POLLOUT", seconds)


def _is_ready(descriptor: int, event: str, seconds: float | None) -> bool:
    import select

    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(descriptor, getattr(select, event))
    return bool(poll.poll(None if seconds is None else seconds * 1000))


def interrupt(thread: int, number: int) -> None:
    """Send a signal to a thread of this process; to the process where threads get none."""
    import _signal  # type: ignore[import-not-found]  # signal itself loads enum first

    if hasattr(_signal, "pthread_kill"):
        _signal.pthread_kill(thread, number)
    else:
        _signal.raise_signal(number)


def signal_group(process: Popen[bytes], number: int) -> bool:
    """Send a signal to a program and to what it started; False when nothing of it is left.

    Number 0 only asks. A system without process groups reaches the program alone, and one without
    signals ends it whatever the number is.
    """
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, number)
        except PermissionError:  # only somebody else's is left
            return False
        except ProcessLookupError:
            if process.returncode is not None or not number:
                return False
            try:
                os.kill(process.pid, number)  # interrupted before it had a group
            except ProcessLookupError:
                return False
        return True
    if process.poll() is not None:
        return False
    if number:
        process.terminate() if number == SIGTERM else process.kill()
    return True


def can_wait_for_pipes() -> bool:
    """Return whether pipes can be waited for; if not, threads read them, in `pipes`."""
    import select

    return hasattr(select, "poll") and hasattr(os, "set_blocking")


def wait_for(readable: Sequence[int], writable: Sequence[int], seconds: float) -> None:
    """Wait until a pipe can be read or written, at most for *seconds*."""
    if can_wait_for_pipes():
        import select

        poll = select.poll()
        for descriptor in readable:
            poll.register(descriptor, select.POLLIN)
        for descriptor in writable:
            poll.register(descriptor, select.POLLOUT)
        poll.poll(seconds * 1000)
        return
    from .pipes import wait

    wait(seconds)
