"""``exec``: many calls in one loaded program, a request a line, an envelope a line."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from signal import Signals

from ..control_lines import envelope_of
from ..errors import AgentError, OutputFailed
from ..formats import DescriptorStream, cleaned, dumps, put_off_signals
from ..outcome import Failure
from ..presentation import code_of, presentable
from ..runtime import usage
from ..runtime.branch import Branch, Late, become, fork, warm_up
from ..runtime.custody import hold_signals, real_hard_exit
from ..runtime.stdin import InputRequired, guard
from . import show_help
from .requests import LONGEST_LINE, Requests, parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..runtime.invocation import Invocation

_HELP = """\
usage: {name} exec [--ignore-errors] [--dry-run] [--input-file PATH] [--timeout T]

Run many calls in one process: one JSON object a line on stdin, one envelope a line on stdout.

  {{"_cmd": "group.command", "_opts": {{"flag": true, "other": "value"}}, "argument": "value"}}

options:
  --ignore-errors    go on behind a call that fails
  --dry-run          preview what can be previewed, only check the rest
  --input-file PATH  read the requests from a file
  --timeout T        for all calls together; each has its own besides
"""
_ENVELOPE = {"ok", "data", "error", "warnings", "meta"}


def run(invocation: Invocation) -> None:
    """Answer ``exec``; returns only in the process of one of the calls, which then goes on."""
    batch = Batch(invocation)
    words = batch.run()
    if words is None:
        invocation.end(batch.finish())
    become(invocation, words)


class Batch:
    """The calls of one ``exec``."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._process = os.getpid()
        self._ignore = _ignores_errors(invocation)
        self._answers = DescriptorStream(1)
        self._branch: Branch | None = None
        self._about: dict[str, Any] = {}
        self._unparsed = self._failed = self._ran = False
        self._ending: int | None = None
        self._requests = Requests(invocation)
        self._deadline = self._until()
        _check_process(invocation)
        self._source = _open(invocation)
        warm_up()

    def run(self) -> list[str] | None:
        """Run all calls; ``None`` when they are done, the words of a call in its process."""
        try:
            for number, line in enumerate(self._lines(), 1):
                if not line.strip():
                    continue
                words = self._call(number, line)
                if os.getpid() != self._process:
                    return words
                if (self._failed or self._unparsed) and not self._ignore:
                    break
        except KeyboardInterrupt as error:
            if os.getpid() != self._process:  # of a call that had not begun
                real_hard_exit(130)
            name = getattr(error, "signal", "SIGINT")
            self._give_up(AgentError.cancelled(signal=name), Signals[name])
        except Late:
            deadline = self._invocation.deadline
            if deadline is not None:
                self._give_up(deadline.failure(), Signals.SIGTERM, replace=True)
        except OutputFailed as lost:
            self._lose(lost)
        except InputRequired:
            self._invocation.refuse(_unfed())
        return None

    def finish(self) -> int:
        """Give the exit code that all calls together have."""
        writer = self._invocation.writer
        try:
            os.dup2(2, 1)  # what the program prints at its end does not stand among the answers
        except OSError:  # closed
            pass
        if self._ending is not None:
            return self._ending
        if self._unparsed:
            return code_of(writer, AgentError.user_error(""))
        return code_of(writer, AgentError.tool_error("")) if self._failed else 0

    # -- one call --------------------------------------------------------------------------

    def _call(self, number: int, line: bytes) -> list[str]:
        """Make the call of one line and write its answer; in its process, give its words."""
        self._invocation.writer.started = time.monotonic()
        self._about = {"_line": number}
        try:
            request = parsed(line, number)
        except AgentError as error:
            self._unparsed = True
            self._fail(error)
            return []
        self._about = {"_cmd": cleaned(request["_cmd"]), "_line": number}
        try:
            words = self._requests.words(request)
        except AgentError as error:
            self._fail(error)
            return []
        come = put_off_signals()
        try:
            self._branch = fork()
        except OSError as error:  # no process to be had
            self._fail(AgentError.unavailable(f"The call could not be started: {error.strerror}."))
            return []
        finally:
            come()
        if self._branch is not None:
            self._ran = True
            self._collect(self._branch, self._branch.lines(self._deadline))
        return words

    def _collect(self, branch: Branch, lines: Iterator[bytes]) -> None:
        """Pass on what a call writes; its last line is the answer, and gets its name."""
        answer: Any = None
        rest: list[bytes] = []
        for line in lines:
            document = None if rest else _json(line)
            if document is None:
                rest.append(line)  # of a document in many lines, or of none
            elif (found := _answer_in(document)) is not None:
                answer = found
            else:
                self._write(line)
        status = branch.wait()
        branch.close()
        self._branch = None
        whole = _json(b"\n".join(rest)) if rest and answer is None else None
        if _answer_in(whole) is not None:
            answer, rest = whole, []
        if rest:
            self._invocation.pass_on(b"\n".join([*rest, b""]))
        if answer is None:
            self._fail(_death(status))
            return
        self._failed |= status != 0 or not answer.get("ok", True)
        self._write_document(answer)

    # -- what is written -------------------------------------------------------------------

    def _fail(self, error: AgentError) -> None:
        """Answer for a call that did not."""
        self._failed = True
        invocation = self._invocation
        invocation.meta["request_id"] = f"req_{os.urandom(8).hex()}"
        phase = "execution" if error.kind == "tool_error" else "validation"
        failure = Failure(presentable(error), phase)
        self._write_document(invocation.writer.document_of(failure).document)

    def _write_document(self, document: dict[str, Any]) -> None:
        document["meta"] = {**document.get("meta", {}), **self._about}
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
                answers = [_answer_in(_json(b"\n".join(left))), *map(_answer_in, map(_json, left))]
                last = next((each for each in reversed(answers) if each is not None), None)
                if last is not None:
                    self._write_document(last)
                    return
            if branch is None:
                self._about = {}
            failure = Failure(error, "execution" if self._ran else "validation")
            self._write_document(writer.document_of(failure).document)
        except OutputFailed as lost:
            self._lose(lost)

    def _lose(self, lost: OutputFailed) -> None:
        """End without a reader, or tell on stderr that the answers do not get out."""
        if self._branch is not None:
            self._branch.stop(Signals.SIGTERM)
        self._ending = 0
        if not lost.reader_gone:
            error = AgentError.tool_error(str(lost), error_type="output_failed", recoverable=False)
            answer = self._invocation.writer.document_of(Failure(error, "cleanup"))
            self._invocation.pass_on(dumps(answer.document, pretty=False) + "\n")
            self._ending = answer.exit_code

    # -- the requests ----------------------------------------------------------------------

    def _lines(self) -> Iterator[bytes]:
        """Give the requests as they come; one that is too long is cut, and will not parse."""
        pending = b""
        while part := self._read():
            *lines, pending = (pending + part).split(b"\n")
            yield from lines
            if len(pending) > 2 * LONGEST_LINE:
                pending = pending[: LONGEST_LINE + 1]
        if pending:
            yield pending

    def _read(self) -> bytes:
        """Give what comes next of the requests, waiting no longer than all calls may take."""
        if self._deadline is not None:
            left = max(self._deadline - time.monotonic(), 0)
            if not select.select([self._source], [], [], left)[0]:
                raise Late
        return bytes(self._source.read(1 << 16) or b"")

    def _until(self) -> float | None:
        """Give the time at which ``--timeout`` ends all calls.

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
        return invocation.writer.started + deadline.seconds


def _ignores_errors(invocation: Invocation) -> bool:
    """Read what was said to ``exec`` itself."""
    ignores = False
    for word in invocation.call.rest:
        if word in ("--help", "-h"):
            show_help(invocation, _HELP.format(name=invocation.host.name()))
        elif word == "--ignore-errors":
            ignores = True
        elif word.startswith("-"):
            invocation.refuse(usage.unknown_option(word, ["--ignore-errors", "--dry-run"]))
        else:
            invocation.refuse(usage.extra_argument([word]))
    return ignores


def _check_process(invocation: Invocation) -> None:
    """Refuse where a fork would not be a process of the tool's alone."""
    from ..runtime.process import answer_stream, may_own

    if not hasattr(os, "fork"):
        invocation.refuse(AgentError.precondition("exec needs fork, which this system has not."))
    if sys.stdout is None or answer_stream() is not None or not may_own(invocation.argv):
        invocation.refuse(
            AgentError.precondition("exec needs a process of its own.", "Run the tool itself.")
        )


def _open(invocation: Invocation) -> Any:
    """Give what the requests are read from; past the buffers, which every call would inherit."""
    path = invocation.call.extra.get("input_file") or "-"
    if path != "-":
        from ..runtime.intake import opened

        return opened(invocation, path)
    raw = getattr(getattr(sys.stdin, "buffer", None), "raw", None)
    if raw is None:
        invocation.refuse(_unfed())
    guard(may_pause=True)
    return raw


def _unfed() -> AgentError:
    return AgentError.precondition(
        "exec reads requests from stdin, and nobody feeds it.",
        "Pipe them in, or pass --input-file.",
        error_type="input_required",
    )


def _json(line: bytes) -> Any:
    try:
        return json.loads(line) if line.strip() else None
    except (ValueError, RecursionError):
        return None


def _answer_in(document: Any) -> dict[str, Any] | None:
    """Return the envelope that *document* is, if a call ends with it; in a batch all end so."""
    if not isinstance(document, dict):
        return None
    if document.get("_summary") is True:
        return envelope_of(document)
    return document if document.keys() >= _ENVELOPE else None


def _death(status: int) -> AgentError:
    """Give the failure of a call that ended without an answer."""
    how = f"it exited with {status}"
    if status < 0:
        try:
            how = f"it was ended by {Signals(-status).name}"
        except ValueError:  # one without a name
            how = f"it was ended by signal {-status}"
    return AgentError.tool_error("The call ended without an answer.", detail=f"{how}.")
