"""One call in a process of its own: a fork of the program at the point where the call begins.

Whatever the call does (exit, crash, change directory, leave threads behind) is gone with it, and
everything the program had loaded by then is there already.
"""

from __future__ import annotations

import gc
import os
import sys
import time
import warnings
from importlib import import_module
from signal import Signals

from ..errors import AgentError
from ..formats import dumps, flush
from ..line.calls import variable_of
from ..outcome import Failure
from ..platform import SIGKILL, SIGTERM, can_read
from ..process.children import stop_children
from ..process.process_guard import real_hard_exit
from . import Invocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ..contracts import Answer, Facts, Respond
    from ..errors import OutputFailed
    from ..outcome import Outcome

# What we and the frameworks load only when a call is under way, and then every call would.
_LATE = (
    *("ctypes", "murli.api", "murli.answer.capping", "murli.process", "murli.process.deadline"),
    *("murli.answer.filters", "typer._adapters", "pydantic.plugin._loader"),
)
# How often to look whether a call has ended whose stdout is held open by something it left behind.
_LOOK_SECONDS = 0.1
# Of systems that can fork, as all of this.
_WNOHANG: int = getattr(os, "WNOHANG", 0)
# Of Linux: the signal that a process gets when its parent ends.
_PR_SET_PDEATHSIG = 1
# The same where it has closed that.
_TICK_SECONDS = 0.01
# How long a call gets to answer that it was cancelled: its handler's cleanup, and its children's.
_FAREWELL_SECONDS = 2.5
# The terminal sends its signals to the call as well; it need not get them twice.
_NOTICE_SECONDS = 0.2


class Late(Exception):
    """The time for all calls is up."""


class Branch:
    """A call that runs in a process of its own, as the program that waits for it sees it."""

    def __init__(self, process: int, descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self._status: int | None = None

    def lines(self, deadline: float | None) -> Iterator[bytes]:
        """Return what the call writes to stdout, line by line as it comes, until it is over.

        Raises `Late` at *deadline*, a time of `time.monotonic`.
        """
        pending = b""
        for part in self._parts(deadline):
            *lines, pending = (pending + part).split(b"\n")
            yield from lines
        if pending:
            yield pending

    def _parts(self, deadline: float | None) -> Iterator[bytes]:
        while True:
            if can_read(self._descriptor, 0 if self._status is not None else _LOOK_SECONDS):
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

    def read(self, deadline: float | None) -> bytes:
        """Return all that the call writes to stdout; raises `Late` at *deadline*."""
        return b"".join(self._parts(deadline))

    def wait(self, deadline: float | None = None) -> int:
        """Wait for the end; return the exit code, or the number of the signal as a negative one.

        Raises `Late` at *deadline*: a call may have closed its stdout, or be kept by its threads.
        """
        if self._status is None:
            self._look(_WNOHANG if deadline is not None else 0)
        while self._status is None:
            if deadline is not None and time.monotonic() > deadline:
                raise Late
            time.sleep(_TICK_SECONDS)
            self._look()
        return self._status

    def stop(self, number: int) -> list[bytes]:
        """End the call as signal *number* would; return the lines it wrote on its way out."""
        found: list[bytes] = []
        for seconds, before in ((_NOTICE_SECONDS, 0), (_FAREWELL_SECONDS, number)):
            if before and self._status is None:
                self._signal(before)
            deadline = time.monotonic() + seconds
            try:
                found += self.lines(deadline)
                self.wait(deadline)
                break
            except Late:
                continue
        if self._status is None:
            stop_children()
            self._signal(SIGKILL)  # it may have left the session
        self.wait()
        self.close()
        return found

    def close(self) -> None:
        """Let go of what the call wrote to."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _signal(self, number: int) -> None:
        try:
            os.kill(self.process, number)
        except OSError:  # it has just ended
            pass

    def _look(self, options: int = _WNOHANG) -> None:
        try:
            process, status = os.waitpid(self.process, options)
        except ChildProcessError:  # the tool has its own way with children
            self._status = 0
        else:
            if process:
                self._status = os.waitstatus_to_exitcode(status)


def warm_up() -> None:
    """Load what calls would load for themselves, each of them anew."""
    for name in _LATE:
        if name == "ctypes" or name.partition(".")[0] in sys.modules:
            try:
                import_module(name)
            except Exception:  # another version of the framework; its calls will do what they need
                pass


def check_process(invocation: Invocation, name: str) -> None:
    """Refuse *name* where a fork would not be a process of the tool's alone."""
    from .ending import answer_stream, can_adopt

    if not hasattr(os, "fork"):
        invocation.refuse(AgentError.precondition(f"{name} needs fork, which this system has not."))
    if sys.stdout is None or answer_stream() is not None or not can_adopt(invocation.request.argv):
        message = f"{name} needs a process of its own."
        invocation.refuse(AgentError.precondition(message, "Run the tool itself."))


def fork(stderr: int | None = None, deadline: float | None = None) -> Branch | None:
    """Fork the program; ``None`` in the fork, whose stdout is what the `Branch` reads.

    Raises `Late` behind *deadline*.

    The fork has nothing to read on its stdin: that belongs to the program. Its stderr is the
    program's, unless a descriptor is named for it.
    """
    if deadline is not None and time.monotonic() >= deadline:
        raise Late
    for stream in (sys.stdout, sys.stderr):
        flush(stream)  # or both would write what is in the buffers
    gc.freeze()  # or each fork would copy all there is, only to look through it at its end
    reading, writing = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: the call does not need those of the program
        process = os.fork()
    if process:
        os.close(writing)
        return Branch(process, reading)
    _end_with(parent)
    os.dup2(writing, 1)
    if stderr is not None:
        os.dup2(stderr, 2)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for descriptor in (reading, writing, nothing):
        os.close(descriptor)
    return None


def _end_with(parent: int) -> None:
    """Have this fork ended when *parent* ends without having ended it, as by SIGKILL."""
    if sys.platform == "linux":
        try:
            from ctypes import CDLL

            CDLL(None).prctl(_PR_SET_PDEATHSIG, int(SIGTERM))
        except (ImportError, OSError, AttributeError):  # a Python, or a libc, without it
            return
        if os.getppid() != parent:  # which has just ended
            os._exit(128 + SIGTERM)


def start_forked_call(
    invocation: Invocation,
    words: Sequence[str],
    *,
    form: str = "json",
    one_line: bool = True,
    on_stdout: bool = True,
    prepare: Callable[[Invocation], None] | None = None,
) -> Invocation:
    """Return the call that *words* are, in a fork of the process of *invocation*; it has begun.

    *form* is the format of its answer, whatever a variable says, by its name in the envelope
    contracts; *one_line* is whether every document is one line, *on_stdout* whether a failure too
    is written to stdout. *prepare* is called with it before it begins.

    A signal that comes before it has begun ends the process: the program that waits answers.
    """
    try:
        forked = _made(invocation, words, form)
        reply = forked.writer._reply
        reply.one_line |= one_line
        if on_stdout:
            reply._respond = _on_stdout(reply._respond)
            forked.running.fails_on_stdout = True
        # A call for one of several values that are waited for is looked at by the guard like these.
        forked.running.waits_for = invocation.running.waits_for
        forked.request.is_scanned |= bool(forked.running.waits_for)
        if prepare is not None:
            prepare(forked)
        return forked.begin()
    except KeyboardInterrupt:
        real_hard_exit(130)


def _made(invocation: Invocation, words: Sequence[str], form: str) -> Invocation:
    """Return the call that *words* are; the *invocation* it is a part of ends here."""
    contract = invocation.writer.contract
    invocation.deactivate()
    invocation.stop_watching()
    if invocation.secrets is not None:
        invocation.secrets.unguard()
    sys.argv[1:] = words
    process: Any = sys.modules.get("murli.call.ending")
    if process is not None:
        process._owner = None  # that of the program, where a parser has parsed before
    # The contract and the audience are the caller's choice, wherever that was made.
    variable = variable_of(invocation, "FORMAT")
    chosen = {"MURLI_CONTRACT": contract, "MURLI_MODE": "agent", variable: form}
    before = {name: os.environ.get(name) for name in chosen}
    os.environ.update(chosen)
    request = invocation.request
    try:
        return Invocation(request.runner, request.settings, list(words), raises=request.raises)
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _on_stdout(respond: Respond) -> Respond:
    """Return *respond* as a function whose every answer belongs on stdout."""

    def respond_on_stdout(outcome: Outcome, facts: Facts) -> Answer:
        return respond(outcome, facts).replace(stream="stdout")

    return respond_on_stdout


def lose_answer(invocation: Invocation, lost: OutputFailed) -> int:
    """Report on stderr that an answer does not get out; return the exit code, 0 without reader."""
    if lost.reader_gone:
        return 0
    error = AgentError.tool_error(str(lost), error_type="output_failed", recoverable=False)
    answer = invocation.writer._reply.document_of(Failure(error, "cleanup"))
    invocation.pass_on(dumps(answer.document, pretty=False) + "\n")
    return answer.exit_code


def died(status: int) -> AgentError:
    """Return the failure of a call that ended without an answer."""
    how = f"it exited with {status}"
    if status < 0:
        try:
            how = f"it was ended by {Signals(-status).name}"
        except ValueError:  # one without a name
            how = f"it was ended by signal {-status}"
    return AgentError.tool_error("The call ended without an answer.", detail=f"{how}.")
