"""``exec``: many calls in one loaded program, a request a line, an answer a line."""

from __future__ import annotations

import os
import select
import sys
import time
from signal import Signals

from ..answer.presentation import code_of, presentable
from ..call.forked_call import (
    Branch,
    Late,
    check_process,
    died,
    fork,
    lose_answer,
    start_forked_call,
    warm_up,
)
from ..errors import AgentError, OutputFailed
from ..formats import DescriptorStream, cleaned, defer_signals, dumps
from ..line import usage
from ..outcome import Failure, Success
from ..process.process_guard import hold_signals, real_hard_exit
from ..process.stdin import InputRequired, guard
from .forked_answers import ended, last_answer, result_in
from .raw import show_help
from .requests import LONGEST_LINE, Requests, parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..call import Invocation

_HELP = """\
usage: {name} exec [--ignore-errors] [--dry-run] [--input-file PATH] [--timeout T]

Run many calls in one process: one JSON object a line on stdin, one answer a line on stdout.

  {{"_cmd": "group.command", "_opts": {{"flag": true, "other": "value"}}, "argument": "value"}}

options:
  --ignore-errors    go on behind a call that fails
  --dry-run          preview what can be previewed, only check or refuse the rest
  --input-file PATH  read the requests from a file
  --timeout T        for all calls together; each has its own besides
"""


def run(invocation: Invocation) -> Invocation:
    """Answer ``exec``; returns only in the process of one of the calls, which is to go on."""
    batch = Batch(invocation)
    words = batch.run()
    if words is None:
        invocation.exit(batch.finish())
    return start_forked_call(invocation, words)


class Batch:
    """The calls of one ``exec``."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._process = os.getpid()
        self._ignore = _ignores_errors(invocation)
        self._answers = DescriptorStream(1)
        self._branch: Branch | None = None
        self._about: dict[str, Any] = {}
        self._unparsed = self._failed = self._ran = self._worked = False
        self._ending: int | None = None
        self._requests = Requests(invocation)
        self._deadline = self._until()
        check_process(invocation, "exec")
        self._source = _open(invocation)
        warm_up()
        invocation.running.awaits_calls = True

    def run(self) -> list[str] | None:
        """Run all calls; ``None`` when they are done, the words of a call in its process."""
        try:
            for number, line in enumerate(self._lines(), 1):
                if not line.strip():
                    continue
                words = self._call(number, line)
                if os.getpid() != self._process:
                    return words
                if self._failed and not self._ignore:
                    break
        except KeyboardInterrupt as error:
            if os.getpid() != self._process:  # of a call that had not begun
                real_hard_exit(130)
            name = getattr(error, "signal", "SIGINT")
            self._give_up(AgentError.cancelled(signal=name), Signals[name])
        except Late:
            deadline = self._invocation.deadline
            if deadline is not None:
                if self._branch is not None:  # its end is about this call
                    del self._invocation.running.begun[:-1]
                self._give_up(deadline.failure(), Signals.SIGTERM, replace=True)
        except OutputFailed as lost:
            self._lose(lost)
        except InputRequired:
            self._invocation.refuse(_unfed())
        return None

    def finish(self) -> int:
        """Return the exit code that all calls together have."""
        writer = self._invocation.writer
        try:
            os.dup2(2, 1)  # what the program prints at its end does not stand among the answers
        except OSError:  # closed
            pass
        if self._ending is not None:
            return self._ending
        if not self._failed:
            return 0
        kind = "user_error" if self._unparsed else "tool_error"
        if self._worked:
            kind = self._invocation.request.contract.partly_failed or kind
        return code_of(writer, AgentError.of_kind(kind, ""))

    # -- one call --------------------------------------------------------------------------

    def _call(self, number: int, line: bytes) -> list[str]:
        """Make the call of one line and write its answer; in its process, give its words."""
        self._invocation.writer._reply.started = time.monotonic()
        self._about = {"_line": number}
        request = None
        try:
            request = parsed(line, number)
            self._about = {"_cmd": cleaned(request["_cmd"]), "_line": number}
            words = self._requests.words(request)
        except AgentError as error:
            self._unparsed |= request is None
            self._fail(error)
            return []
        resume = defer_signals()
        try:
            self._branch = fork(deadline=self._deadline)
        except OSError as error:  # no process to be had
            self._fail(AgentError.unavailable(f"The call could not be started: {error.strerror}."))
            return []
        finally:
            resume()
        if self._branch is not None:
            self._ran = True
            self._invocation.writer._reply.phase = "execution"
            self._invocation.running.begun.append(self._requests.called)
            self._collect(self._branch)
        return words

    def _collect(self, branch: Branch) -> None:
        """Pass on what a call writes; its last line is the answer, and gets its name."""
        done = ended(branch, self._deadline, self._write)
        self._branch = None
        if done.answer is None and done.rest and not done.status:
            done.answer, done.rest = self._unwrapped(done.rest), b""
        self._invocation.pass_on(done.rest)
        if done.answer is None:
            self._fail(died(done.status))
            return
        failed = done.status != 0 or not done.answer.get("ok", True)
        self._failed, self._worked = self._failed or failed, self._worked or not failed
        self._write_document(done.answer)

    def _unwrapped(self, text: bytes) -> dict[str, Any] | None:
        """Return the answer that *text* is where descriptions are documents of their own."""
        if self._invocation.request.contract.wraps_descriptions:
            return None
        return self._invocation.writer._reply.document_of(Success("", result_in(text))).document

    # -- what is written -------------------------------------------------------------------

    def _fail(self, error: AgentError) -> None:
        """Answer for a call that did not."""
        self._failed = True
        invocation = self._invocation
        invocation.meta["request_id"] = f"req_{os.urandom(8).hex()}"
        phase = "execution" if error.kind == "tool_error" else "validation"
        failure = Failure(presentable(error), phase)
        self._write_document(invocation.writer._reply.document_of(failure).document)

    def _write_document(self, document: dict[str, Any]) -> None:
        document = self._invocation.request.contract.labelled(document, self._about)
        self._write(dumps(document, pretty=False).encode())

    def _write(self, line: bytes) -> None:
        try:
            self._answers.write_bytes(line + b"\n")
        except OSError as error:
            raise OutputFailed(error) from error

    # -- the ends --------------------------------------------------------------------------

    def _give_up(self, error: AgentError, number: int, *, replace: bool = False) -> None:
        """End the call that runs, and answer; with *replace* whatever it says itself."""
        hold_signals()
        writer = self._invocation.writer
        self._ending = code_of(writer, error)
        branch, self._branch = self._branch, None
        try:
            left = branch.stop(number) if branch is not None else []
            if branch is not None and not replace:
                last = last_answer(left)
                if last is not None:
                    self._write_document(last)
                    return
            if branch is None:
                self._about = {}
            failure = Failure(error, "execution" if self._ran else "validation")
            self._write_document(writer._reply.document_of(failure).document)
        except OutputFailed as lost:
            self._lose(lost)

    def _lose(self, lost: OutputFailed) -> None:
        """End without a reader, or report on stderr that the answers do not get out."""
        if self._branch is not None:
            self._branch.stop(Signals.SIGTERM)
        self._ending = lose_answer(self._invocation, lost)

    # -- the requests ----------------------------------------------------------------------

    def _lines(self) -> Iterator[bytes]:
        """Return the requests as they come; one that is too long is cut, and will not parse."""
        pending = b""
        while part := self._read():
            *lines, pending = (pending + part).split(b"\n")
            yield from lines
            if len(pending) > 2 * LONGEST_LINE:
                pending = pending[: LONGEST_LINE + 1]
        if pending:
            yield pending

    def _read(self) -> bytes:
        """Return what comes next of the requests, waiting no longer than all calls may take."""
        if self._deadline is not None:
            left = max(self._deadline - time.monotonic(), 0)
            if not select.select([self._source], [], [], left)[0]:
                raise Late
        return bytes(self._source.read(1 << 16) or b"")

    def _until(self) -> float | None:
        """Return the time at which ``--timeout`` ends all calls.

        We watch it ourselves; what a variable says counts for each call.
        """
        invocation = self._invocation
        deadline = invocation.deadline
        if deadline is None:
            return None
        deadline.stop()
        if invocation.call.timeout is None:
            invocation.deadline = None
            return None
        return invocation.writer._reply.started + deadline.seconds


def _ignores_errors(invocation: Invocation) -> bool:
    """Read the options of ``exec`` itself."""
    ignores = False
    words = iter(invocation.call.rest)
    for word in words:
        option, equals, value = word.partition("=")
        if word in ("--help", "-h"):
            show_help(invocation, _HELP.format(name=invocation.host.name()))
        elif word == "--ignore-errors":
            ignores = True
        elif option == "--input-file":  # a flag of ours in other contracts
            path = value if equals else next(words, "")
            if not path:
                invocation.refuse(usage.missing_value(option))
            invocation.call.extra["input_file"] = path
        elif word.startswith("-"):
            known = ["--ignore-errors", "--dry-run", "--input-file"]
            invocation.refuse(usage.unknown_option(word, known))
        else:
            invocation.refuse(usage.extra_argument([word]))
    return ignores


def _open(invocation: Invocation) -> Any:
    """Return what the requests are read from; past the buffers, which every call would inherit."""
    path = invocation.call.extra.get("input_file") or "-"
    if path != "-":
        from ..call.inputs import opened

        return opened(invocation, path)
    raw = getattr(getattr(sys.stdin, "buffer", None), "raw", None)
    if raw is None:
        invocation.refuse(_unfed())
    guard(may_pause=True)
    return raw


def _unfed() -> AgentError:
    message = "exec reads requests from stdin, and nobody feeds it."
    advice = "Pipe them in, or pass --input-file."
    return AgentError.precondition(message, advice, error_type="input_required")
