"""``--until``: a call that only reads, repeated in one process until its result says so.

Each look is the whole call in a fork of the program, as it would have run alone; it tests its own
result, and its document is kept. That of the last look is the answer, byte for byte. For text
is answered by the call itself, made once more when the time has come.
"""

from __future__ import annotations

import json
import os
import time
from signal import SIGTERM, Signals
from tempfile import TemporaryFile

from ..declare.safety import inferred_danger, only_reads
from ..errors import AgentError, OutputFailed
from ..failures.repeating import is_passing
from ..formats import DescriptorStream, defer_signals, dumps
from ..line import usage
from ..line.calls import command_line, path_of
from ..line.conditions import condition_in, looked_at
from ..line.flags import FORMATS, names_where
from ..outcome import Failure, Partial
from ..platform import read_at
from ..process.deadline import allow, seconds_in
from ..process.process_guard import (
    hold_signals,
    real_hard_exit,
    take_interruption,
    unwind_on_signals,
)
from .forked_call import (
    Branch,
    Late,
    check_process,
    died,
    fork,
    lose_answer,
    start_forked_call,
    warm_up,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..declare import Metadata
    from ..line.conditions import Condition
    from ..outcome import Outcome
    from . import Invocation

# How long is waited where nobody sets a time, the time between two looks, and the least of that.
USUAL_SECONDS = 600.0
USUAL_PAUSE = 5.0
LEAST_PAUSE = 0.1
# How many looks in a row may fail with what may pass.
_MOST_FAILURES = 5
_GO_ON = "Make the same call again to go on waiting, with a longer --timeout if need be."


def wait(invocation: Invocation) -> Invocation | None:
    """Answer with the first result that is what is waited for; may end the program.

    Returns the call to go on with: in the process of a look that look, ``None`` for the call itself
    where its reader takes text.
    """
    waiting = Waiting(invocation)
    undo = unwind_on_signals(invocation) if invocation.writer.is_tty() else None
    looks = waiting.until_met()
    if looks:
        return waiting.begin_look()
    if undo is not None:
        undo()
    if waiting.seconds and invocation.call.timeout:  # for the call that is now made
        invocation.writer._reply.started = time.monotonic()
        allow(invocation, waiting.seconds)
    return None


def check_reads(
    invocation: Invocation, metadata: Metadata | None, path: tuple[str, ...] | None = None
) -> None:
    """Refuse to repeat a command of which nothing says that it only reads."""
    path = invocation.running.path if path is None else path
    streams = metadata is not None and metadata.streams
    if only_reads(metadata, path) and not streams:
        return
    declare = 'If it only reads, its author has to declare Metadata(danger_level="safe").'
    advice = f"Call it again yourself. {declare}"
    if streams:
        reason = "This command streams its items, and has no result to wait for."
        advice = "Read its items as they come."
    elif metadata is not None and metadata.mutating:
        reason = "This command changes something, and is not repeated."
        advice = "Call it once, and wait with a command that only reads."
    elif inferred_danger(path):
        reason = "This command is named like one that changes something, and is not repeated."
        advice = f"Call it once, and wait with a command that only reads. {declare}"
    else:
        reason = "Nobody declared that this command only reads, so it is not repeated."
    invocation.refuse(usage.wrong_call(reason, "until", advice))


class _Seen:
    """What one look has come to: what it wrote, its exit code, and what it found itself."""

    def __init__(self, out: bytes, errors: bytes, status: int, found: dict[str, Any]) -> None:
        self.out = out
        self.errors = errors
        self.status = status
        self.found = found

    @property
    def is_passing(self) -> bool:
        """Whether it failed with what may pass."""
        return bool(self.found.get("passing"))

    @property
    def is_last(self) -> bool:
        """Whether it is the answer: what is waited for, a failure that lasts, a help text."""
        return not self.is_passing and bool(self.found.get("met", True))


class Waiting:
    """The looks of one call with ``--until``."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._process = os.getpid()
        self._conditions = tuple(_conditions(invocation))
        self._pause = _pause(invocation)
        self._words = _words(invocation)
        self.seconds = self._take_deadline()
        check_process(invocation, "--until")
        if invocation.settings.is_program:  # whose commands nobody else may look at
            check_reads(invocation, None, path_of(invocation) or (invocation.host.name(),))
        started = invocation.writer._reply.started
        self._deadline = started + self.seconds if self.seconds else None
        self._branch: Branch | None = None
        # As long as the process; forks write to them.
        self._errors, self._found = TemporaryFile(), TemporaryFile()  # noqa: SIM115
        # What was reported last, what the fields were, why the last look failed.
        self._shown = self._last = self._why = ""
        self._looks = self._failures = 0
        # Whether there has been a result.
        self._known = False
        warm_up()

    # -- the looks -------------------------------------------------------------------------

    def until_met(self) -> bool:
        """Look until it is time to answer; true in the process of a look, which is to be made."""
        try:
            while True:
                began = time.monotonic()
                seen = self._look()
                if seen is None:
                    return True
                if self._is_over(seen):
                    if self._invocation.writer.is_tty():
                        self._invocation.writer.flush()
                        return False
                    self._answer(seen)
                self._sleep(began, seen.found.get("wait_ms", 0) / 1000)
        except KeyboardInterrupt as error:
            if os.getpid() != self._process:  # of a look that had not begun
                real_hard_exit(130)
            self._cancel(getattr(error, "signal", "SIGINT"))
        except Late:
            self._end_late()

    def _look(self) -> _Seen | None:
        """Make the call once; ``None`` in its process."""
        for file in (self._errors, self._found):
            os.ftruncate(file.fileno(), 0)
        os.lseek(self._errors.fileno(), 0, os.SEEK_SET)
        resume = defer_signals()
        try:
            self._branch = fork(self._errors.fileno())
        except OSError as error:  # no process to be had
            reason = f"The call could not be started: {error.strerror}."
            self._invocation.refuse(AgentError.unavailable(reason))
        finally:
            resume()
        if self._branch is None:
            return None
        self._looks += 1
        out = self._branch.read(self._deadline)
        try:
            status = self._branch.wait(self._deadline)
            self._branch.close()
        except Late:  # its threads have not ended
            if not self._found_now().get("met"):
                raise
            self._branch.stop(SIGTERM)
            status = 0
        self._branch = None
        return _Seen(out, _content(self._errors), status, self._found_now())

    def _found_now(self) -> dict[str, Any]:
        """Return what the latest look has reported."""
        found: dict[str, Any] = json.loads(_content(self._found) or "{}")
        return found

    def begin_look(self) -> Invocation:
        """Return the call that is this look, in its process; it has begun."""
        invocation, reply = self._invocation, self._invocation.writer._reply
        form = "json"
        if not invocation.writer.is_tty():
            form = next((name for name, ours in FORMATS.items() if ours == reply.format), form)
        began = reply.started

        def prepare(made: Invocation) -> None:
            made.running.waits_for = self._conditions
            made.request.is_scanned = True  # the guard is to look at the command, whatever it is
            made.writer._reply.replace_outcome = lambda outcome: self._report(made, outcome)
            respond = made.writer._reply._respond
            # An answer says how long all of it took.
            made.writer._reply._respond = lambda outcome, facts: respond(
                outcome, facts.replace(duration_ms=int((time.monotonic() - began) * 1000))
            )

        return start_forked_call(
            invocation,
            self._words,
            form=form,
            one_line=reply.one_line,
            on_stdout=invocation.running.fails_on_stdout,
            prepare=prepare,
        )

    def _report(self, look: Invocation, outcome: Outcome) -> Outcome:
        """Leave for the program that waits what the *outcome* of a *look* says."""
        outlet = look.writer._outlet
        found: dict[str, Any]
        if isinstance(outcome, Failure):
            error = outcome.error
            passing = is_passing(error) and error.explicit_recoverable is not False
            reason = outlet.scrubbed(str(error.message))[:_LONGEST_REASON]
            found = {"passing": passing, "why": reason, "wait_ms": error.retry_after_ms}
        elif look.running.awaits_calls and isinstance(outcome, Partial):  # one value has failed
            found = {"met": True}
        else:
            result = getattr(outcome, "result", None)
            if look.running.awaits_calls:  # for several values, all of which have to agree
                result = _of_all_values(result)
            seen = looked_at(outlet.scrubbed_value(result), self._conditions)
            found = {"met": seen.met, "text": seen.text}
            found.update(missing=seen.missing, known=list(seen.known))
        os.ftruncate(self._found.fileno(), 0)
        os.pwrite(self._found.fileno(), dumps(found, pretty=False).encode(), 0)
        return outcome

    # -- between them ----------------------------------------------------------------------

    def _is_over(self, seen: _Seen) -> bool:
        """Return whether *seen* is what to answer with, and report it where it is not."""
        found = seen.found
        self._failures = self._failures + 1 if seen.is_passing else 0
        if not found and seen.status < 0:
            self._fail(died(seen.status))
        if found.get("missing") and not self._known:
            self._invocation.refuse(_no_such_field(found))
        self._known = self._known or "met" in found
        if seen.is_last or self._failures >= _MOST_FAILURES:
            return True
        self._last = found.get("text", self._last)
        self._why = found.get("why", "")
        self._show(found.get("text") or self._why)
        return False

    def _show(self, text: str) -> None:
        """Report *text*, if it is another one than before."""
        invocation = self._invocation
        verbose = invocation.writer.is_tty() or invocation.call.extra.get("verbose")
        if text != self._shown and (verbose or not invocation.contract.silences_stderr):
            invocation.writer.progress(text)
            if not invocation.writer.is_tty():
                invocation.writer.flush()
        self._shown = text

    def _sleep(self, began: float, wanted: float) -> None:
        """Wait for the next look; *wanted* is how long a failure asks for."""
        now = time.monotonic()
        pause = max(began + self._pause - now, wanted, LEAST_PAUSE)
        if self._deadline is not None and now + pause >= self._deadline:
            time.sleep(max(self._deadline - now, 0))
            raise Late
        time.sleep(pause)

    # -- the ends --------------------------------------------------------------------------

    def _answer(self, seen: _Seen) -> NoReturn:
        """Answer with what a look wrote, and end as it did."""
        hold_signals()
        invocation = self._invocation
        invocation.writer.flush()
        code = seen.status if seen.status >= 0 else 128 - seen.status
        out = seen.out
        try:
            DescriptorStream(2).write_bytes(seen.errors)
        except OSError:  # it takes nothing
            out = out or seen.errors
        try:
            DescriptorStream(1).write_bytes(out)
        except OSError as error:
            code = lose_answer(invocation, OutputFailed(error))
        self._exit(code)

    def _end_late(self) -> NoReturn:
        """Answer that the time is up."""
        hold_signals()
        self._stop(SIGTERM)
        self._invocation.writer.flush()
        reason = f"The time for waiting is up after {self.seconds:g} s"
        reason = f"{reason}; {self._last}." if self._last else f"{reason}."
        if self._why:
            reason = f"{reason} The last call failed: {self._why}"
        elapsed = time.monotonic() - self._invocation.writer._reply.started
        context = {
            "last": self._last,
            "calls": self._looks,
            "timeout_ms": round(self.seconds * 1000),
            "elapsed_ms": int(elapsed * 1000),
        }
        self._fail(AgentError.timeout(reason, _GO_ON, recoverable=True, context=context))

    def _cancel(self, name: str) -> NoReturn:
        """End as signal *name* would have ended the call."""
        hold_signals()
        self._stop(Signals[name])
        take_interruption()
        invocation = self._invocation
        invocation.writer.flush()
        if invocation.is_for_people:
            invocation.stop_watching()
            _die_of(Signals[name])
        self._fail(AgentError.cancelled(signal=name))

    def _fail(self, error: AgentError) -> NoReturn:
        if self._looks:
            self._invocation.writer._reply.phase = "execution"
        self._invocation.refuse(error)

    def _exit(self, code: int) -> NoReturn:
        try:
            os.dup2(2, 1)  # what the program prints at its end does not stand behind the answer
        except OSError:  # closed
            pass
        self._invocation.exit(code)

    def _stop(self, number: int) -> None:
        branch, self._branch = self._branch, None
        if branch is not None:
            branch.stop(number)

    def _take_deadline(self) -> float:
        """Return the seconds all looks may take, 0 for any; we watch them ourselves."""
        invocation = self._invocation
        deadline, invocation.deadline = invocation.deadline, None
        if deadline is None:
            return 0.0 if invocation.running.is_timed else USUAL_SECONDS
        deadline.stop()
        return deadline.seconds


_LONGEST_REASON = 500


def _conditions(invocation: Invocation) -> list[Condition]:
    """Return what is waited for; refuse what makes no sense."""
    call, found = invocation.call, []
    for name in ("until", "until_not"):
        text = call.extra.get(name)
        if text is None:
            continue
        flag = f"--{name.replace('_', '-')}"
        condition = condition_in(text, negated=name == "until_not")
        if condition is None:
            reason = "expected FIELD=VALUE, such as status=done,failed"
            invocation.refuse(usage.bad_value(flag, text, reason))
        found.append(condition)
    if not found:
        invocation.refuse(usage.wrong_call("--every needs --until or --until-not.", "--every"))
    others = names_where(lambda flag: flag.effect == "previews") | {"--stream", "--idempotency-key"}
    for name, _, _ in call.taken:
        if name in others:
            first = "--until" if "until" in call.extra else "--until-not"
            invocation.refuse(usage.exclusive(first, name))
    return found


def _pause(invocation: Invocation) -> float:
    """Return the seconds between two looks."""
    text = invocation.call.extra.get("every")
    if text is None:
        return USUAL_PAUSE
    seconds = seconds_in(text)
    if seconds is None:
        invocation.refuse(usage.invalid_setting("every", text, ("5s", "500ms", "2m")))
    if seconds < LEAST_PAUSE:
        invocation.refuse(usage.bad_value("--every", text, "the least is 100ms"))
    return seconds


def _words(invocation: Invocation) -> list[str]:
    """Return the words of one look."""
    groups = {"wait", "format"} if invocation.writer.is_tty() else {"wait"}
    ours = names_where(lambda flag: flag.group in groups) | {"--timeout"}
    words = command_line(invocation).with_flags(dict.fromkeys(ours))
    if words is None:  # an option in front of the flag would take what follows as its value
        invocation.refuse(usage.wrong_call("--until must stand behind all other words.", "--until"))
    return words


def _no_such_field(found: dict[str, Any]) -> AgentError:
    known = [str(each) for each in found.get("known", ())]
    advice = f"There are: {', '.join(known)}." if known else "The result has no fields."
    message = f"The result has no field {usage.quoted(found['missing'])}."
    return usage.wrong_call(message, "until", advice, known)


def _of_all_values(result: Any) -> list[Any]:
    """Return the results in that of a call with several values, the items of lists each."""
    found: list[Any] = []
    for item in result["results"]:
        value = item.get("result")
        found += value if isinstance(value, list) else [value]
    return found


def _content(file: Any) -> bytes:
    """Return what a fork has written to *file*."""
    descriptor = file.fileno()
    return read_at(descriptor, os.fstat(descriptor).st_size, 0)


def _die_of(number: int) -> None:
    """End by signal *number*, as the program would have without us."""
    import signal

    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
