"""A child in a process group of its own, from its start to the end of whatever it has started.

What it writes to stdout is collected where the call collects; stderr is passed on as it comes, and
its end remembered. It reads what the caller feeds, and is ended where it waits for what nobody
feeds.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time

from ..call.ending.endings import reason_on_stderr
from ..core import current
from ..declare.exit_codes import meaning_of
from ..errors import AgentError
from ..formats import defer_signals
from ..process import note_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..answer import Writer
    from ..call import Invocation
    from ..declare.exit_codes import ExitCode

# How often the child is looked at, how long it may take to end, and to be outlived by its output.
_LOOK_SECONDS, GRACE_SECONDS, LINGER_SECONDS = 0.25, 0.75, 0.5
_CHUNK = 1 << 16
_QUIET = {"CLICOLOR": "0", "GH_PROMPT_DISABLED": "1", "DEBIAN_FRONTEND": "noninteractive"}
# The system calls by which a program reads, by the machine.
_READS = {"x86_64": ("0", "19", "45"), "aarch64": ("63", "65", "207")}
# What those write who do not understand their words, and the statuses of a shell.
_USAGE_MARKS = (
    *("usage:", "unknown option", "unrecognized option", "invalid option", "unknown flag"),
    *("unknown command", "unknown shorthand", "unexpected argument", "missing argument"),
    *("requires an argument", "unknown argument", "unrecognized argument", "not a git command"),
    *("is unknown", 'the option "'),
)
_NOT_RUNNABLE, _NOT_FOUND = 126, 127
_SYSEXITS = {64: "user_error", 66: "not_found", 69: "unavailable", 77: "permission_denied"}


def supervise(argv: Sequence[str], path: str, writer: Writer) -> int:
    """Run a program to its end; return the status to exit with, or raise what it means."""
    invocation = current()
    assert invocation is not None
    child = Child(argv, path, invocation)
    status = child.run()
    if speaks_a_contract(invocation, child.errors):
        invocation.running.verbatim = True
        return status if status >= 0 else 128 - status
    if status == 0 or writer.is_tty():
        return status if status >= 0 else 128 - status
    meaning = meaning_of(status, invocation.metadata, invocation.settings.exit_codes)
    if isinstance(meaning, str):
        return status
    raise failure_of(invocation, status, meaning, child.errors, os.path.basename(argv[0]))


def failure_of(
    invocation: Invocation, status: int, meaning: ExitCode | None, errors: bytes, name: str
) -> AgentError:
    """Return the failure that a *status* means, and by what that is known: *meaning* is declared.

    What neither a sidecar nor a convention says is not known, and is not claimed.
    """
    reason = reason_on_stderr(invocation)
    message = reason or f"The command ended with exit status {status}."
    known_by = "convention"
    if meaning is not None:
        known_by = "sidecar"
        error = AgentError.of_kind(
            meaning.value, message, f"Its sidecar says that exit status {status} means this."
        )
        error.is_translated = True  # what was done by then, nobody has declared
    else:
        text = errors.decode("utf-8", "replace")
        found = known_failure(status, text, name)
        if found is None and not invocation.settings.exit_codes:
            found = sysexit(status, message, name)
        if found is None:
            known_by = "unknown"
            unknown = f"What exit status {status} of {name} means is not known."
            found = AgentError(status, "execution_error", message, unknown, kind="tool_error")
            found.recoverable = False
        error = found
    error.context = {"exit_status": status, "exit_status_known_by": known_by, **error.context}
    return error


class Child:
    """The program, and what is remembered of its stderr."""

    def __init__(self, argv: Sequence[str], path: str, invocation: Invocation) -> None:
        self._argv = [*argv]
        self._path = path
        self._capture = invocation.capture
        self._pid = 0
        self.errors = b""

    def run(self) -> int:
        """Run it; return its status, or minus the number of the signal that ended it."""
        reading, writing = os.pipe()
        try:
            self._start(writing)
            os.close(writing)
            writing = -1
            return self._attend(reading)
        finally:
            if writing >= 0:
                os.close(writing)
            os.close(reading)
            self._end_group()

    def _start(self, errors: int) -> None:
        sys.stdout.flush()
        actions: list[tuple[int, ...] | tuple[int, int, str, int, int]]
        actions = [(os.POSIX_SPAWN_DUP2, errors, 2)]
        if _is_unreadable(0):
            actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
        resume = defer_signals()  # a child that nobody knows of would be left behind
        try:
            try:  # without a terminal that it could ask, or be stopped by
                self._pid = self._spawn(actions, setsid=True)
            except NotImplementedError:
                self._pid = self._spawn(actions, setpgroup=0)
        except OSError as error:
            raise AgentError.tool_error(
                f"{self._argv[0]} cannot be run: {error.strerror}.",
                "See that it is a program of this machine, or begins with the line that says how.",
                error_type="tool_missing",
            ) from None
        finally:
            resume()

    def _spawn(self, actions: Any, **group: Any) -> int:
        return os.posix_spawn(
            self._path,
            self._argv,
            {**_QUIET, **os.environ},
            file_actions=actions,
            setsigmask=(),
            setsigdef=(signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP),
            **group,
        )

    def _attend(self, errors: int) -> int:
        poll = select.poll()
        poll.register(errors, select.POLLIN)
        ending = _descriptor_of(self._pid)
        if ending >= 0:
            poll.register(ending, select.POLLIN)
        unfed = Unfed(self._pid)
        until, status = float("inf"), None
        try:
            while time.monotonic() < until:
                ready = dict(poll.poll(_LOOK_SECONDS * 1000 if ending >= 0 else 20))
                if errors in ready and not self._hear(errors):
                    poll.unregister(errors)
                    if status is not None:
                        break
                if status is None:
                    status = self._status(os.WNOHANG)
                    if status is not None:
                        until = time.monotonic() + LINGER_SECONDS
                        if ending >= 0:
                            poll.unregister(ending)
                    elif not ready:
                        unfed.check()
                elif not ready:
                    break
        finally:
            if ending >= 0:
                os.close(ending)
        return status if status is not None else self._status(0) or 0

    def _hear(self, errors: int) -> bool:
        data = os.read(errors, _CHUNK)
        if not data:
            return False
        self.errors = (self.errors + data)[-_CHUNK:]
        if self._capture is not None:
            note_error(self._capture.errors, data)
        try:
            os.write(2, data)
        except OSError:  # nobody reads it
            pass
        return True

    def _status(self, flags: int) -> int | None:
        if not self._pid:
            return None
        try:
            pid, status = os.waitpid(self._pid, flags)
        except ChildProcessError:
            return 0
        return os.waitstatus_to_exitcode(status) if pid else None

    def _end_group(self) -> None:
        """End what is left of the group; asked first, then killed."""
        if not self._pid:
            return
        until = time.monotonic() + GRACE_SECONDS
        is_alive = _signal_group(self._pid, signal.SIGTERM)
        while is_alive and time.monotonic() < until:
            self._reap()
            is_alive = _signal_group(self._pid, 0)
            if is_alive:
                time.sleep(0.01)
        if is_alive and _signal_group(self._pid, signal.SIGKILL):
            self._reap()

    def _reap(self) -> None:
        try:
            os.waitpid(self._pid, os.WNOHANG)
        except ChildProcessError:
            pass


class Unfed:
    """Notices a child that waits for what nobody feeds, where the system reports what it does."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._since = 0.0

    def check(self) -> None:
        """Raise `InputRequired` where the child has been reading in vain for too long."""
        if _is_unreadable(0) or not _reads_stdin(self._pid) or _has_input(0):
            self._since = 0.0
            return
        from ..process.stdin import Gate, InputRequired  # most programs end before

        patience = Gate(0, False)._patience()
        self._since = self._since or time.monotonic()
        if patience is not None and time.monotonic() - self._since > patience / 1000:
            raise InputRequired("nobody feeds stdin")


def known_failure(status: int, errors: str, name: str) -> AgentError | None:
    """Return what a status means by the conventions of programs; ``None`` where there is none."""
    complaint = errors.strip()
    if status < 0:
        try:
            ending = signal.Signals(-status).name
        except ValueError:
            ending = str(-status)
        return AgentError.tool_error(
            f"{name} was ended by {ending}.", error_type="execution_error", recoverable=False
        )
    if status in (_NOT_RUNNABLE, _NOT_FOUND) and not complaint:
        return AgentError.tool_error(f"{name} could not run a program it needs.")
    if any(mark in errors.casefold() for mark in _USAGE_MARKS):
        return usage_failure(complaint, status, name)
    return None


def usage_failure(complaint: str, status: int, name: str) -> AgentError:
    """Return the failure of a call whose words the program does not take, as it says."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    marked = next((line for line in lines if "error" in line.casefold()), "")
    shows_usage = complaint.lstrip()[:5].casefold() == "usage"
    first = marked or (" ".join(lines) if shows_usage or not lines else lines[0])
    is_option = "option" in first or "flag" in first or " -" in first or "'-" in first
    return AgentError.user_error(
        first[:500],
        f"By convention this is a wrong call (exit status {status}). See `murli describe {name}`.",
        error_type="flag_error" if is_option else "command_error",
    )


def sysexit(status: int, message: str, name: str) -> AgentError | None:
    """Return what a status means in ``sysexits.h``, for a program that may mean that."""
    kind = _SYSEXITS.get(status)
    if kind is None:
        return None
    hint = f"By convention this is what exit status {status} means. See `murli describe {name}`."
    return AgentError.of_kind(kind, message, hint)


def speaks_a_contract(invocation: Invocation, errors: bytes) -> bool:
    """Return whether the program has answered with a document of a contract of ours itself."""
    printed = b""
    if invocation.capture is not None and invocation.capture.size() < (1 << 22):
        collected = invocation.capture.so_far()
        printed = (
            collected.encode("utf-8", "surrogateescape")
            if isinstance(collected, str)
            else collected
        )
    return any(_is_document(text) for text in (printed, errors))


def _is_document(text: bytes) -> bool:
    text = text.strip()
    if text[-1:] != b"}":
        return False
    import json

    last = text[text.rfind(b"\n") + 1 :]
    start = text.rfind(b"\n{\n") + 1
    for part in (text, last, text[start:]):
        if part[:1] != b"{":
            continue
        try:
            found = json.loads(part)
        except (ValueError, RecursionError):
            continue
        return isinstance(found, dict) and (
            found.keys() >= {"status", "schema_version"} or found.keys() >= {"ok", "meta"}
        )
    return False


def _is_unreadable(descriptor: int) -> bool:
    """Return whether nobody can feed a descriptor: it is closed, or a terminal we cannot share."""
    try:
        os.fstat(descriptor)
    except OSError:
        return True
    return os.isatty(descriptor)


def _has_input(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _reads_stdin(pid: int) -> bool:
    """Return whether a process is blocked while it reads its stdin."""
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            words = file.read().split()
    except (OSError, ValueError):
        return False
    reads = _READS.get(os.uname().machine, ())
    return words[:1] != ["running"] and words[1:2] == ["0x0"] and words[0] in reads


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a group; False when nobody is left in it that may get it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _descriptor_of(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # not on this system
        return -1
