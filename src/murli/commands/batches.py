"""A command that takes one thing, called for many: once for each value, with an item for each."""

from __future__ import annotations

import os
from signal import Signals

from ..answer.event_lines import as_event, stream_item, stream_line
from ..answer.presentation import with_payload
from ..call.forked_call import Branch, Late, check_process, died, fork, start_forked_call, warm_up
from ..call.guard import usual_seconds
from ..call.guard.confirmation import end_validated
from ..call.misnamed import invalid_declaration, unbatchable
from ..contracts import Answer
from ..errors import AgentError, OutputFailed
from ..formats import cleaned, defer_signals
from ..line import usage
from ..line.calls import command_line, scan_again
from ..line.command_line import CommandLine
from ..line.flags import names_where
from ..line.payload import has_secret
from ..line.value_words import calls_for_each
from ..outcome import Failure, Partial, Plan, Success
from ..process.process_guard import hold_signals, real_hard_exit
from .forked_answers import Ended, ended, is_plan, item_in, json_in, last_answer, result_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from ..call import Invocation
    from ..declare import Metadata
    from ..declare.tree import Command

    Prepare = Callable[[Invocation], None]

MOST_VALUES = 1000
# The least that an item may have where all of them together have a limit.
_LEAST_BYTES = 256
_LEAST_TOKENS = 100


def run(invocation: Invocation) -> Invocation | None:
    """Run the command that was called for each of its values, where it has several.

    ``None`` where it has not. Returns only in the process of one of the calls, which is to go on.
    """
    command, calls = _called(invocation)
    metadata = command.metadata if command is not None else None
    if command is None or metadata is None or not calls:
        return None
    _check(invocation, metadata, len(calls))
    if any(flag.batch and has_secret(command, flag) for flag in command.flags):
        invocation.hide([value for value, _ in calls])
    batch = CallsForEach(invocation, command, calls)
    mine = batch.run()
    if mine is None:
        batch.finish()
    words, prepare = mine
    return start_forked_call(invocation, words, prepare=prepare)


def refuse_several(invocation: Invocation) -> None:
    """Refuse a call with several values of a command that was loaded when the call had begun."""
    command, calls = _called(invocation)
    if command is not None and calls:
        several = f"{command.name} takes one value in a call."
        invocation.refuse(AgentError.precondition(several, "Make a call for each value."))


def _called(invocation: Invocation) -> tuple[Command | None, list[tuple[str, list[str]]]]:
    """Return the command that was called, if it takes several values, and the calls for each."""
    if invocation.call.is_undecided or invocation.settings.is_program:
        return None, []
    line = _line(invocation)
    command = invocation.host.command(line.level)
    if command.metadata is None or not command.metadata.batch:
        return None, []
    wrong = unbatchable(command)
    if wrong:
        invocation.refuse(invalid_declaration(wrong))
    try:
        return command, calls_for_each(line, command)
    except AgentError as error:
        invocation.refuse(error)


def _line(invocation: Invocation) -> CommandLine:
    """Return the words of the call, those that a payload stands for included."""
    line, call = command_line(invocation), invocation.call
    if "raw_payload" in call.extra:
        brought = call.rest[sum(word.owner != "ours" for word in line.words) :]
        line = CommandLine(scan_again(invocation, [*line.without(("--raw-payload",)), *brought]))
    # The format is that of the answer for all of them.
    formats = names_where(lambda flag: flag.group == "format")
    if formats.isdisjoint(name for name, _, _ in line.call.taken):
        return line
    words = line.with_flags(dict.fromkeys(formats))
    if words is None:  # an option in front of the flag would take what follows as its value
        first = next(name for name, _, _ in line.call.taken if name in formats)
        invocation.refuse(usage.wrong_call(f"{first} must stand behind all other words.", first))
    return CommandLine(scan_again(invocation, words))


def _check(invocation: Invocation, metadata: Metadata, count: int) -> None:
    if count > MOST_VALUES:
        message = f"{count:,} values are more than the {MOST_VALUES:,} that one call takes."
        invocation.refuse(usage.wrong_call(message, metadata.batch))
    for flag in ("--cursor", "--etag"):
        if getattr(invocation.call, flag[2:]) is not None:
            message = f"{flag} is about the answer for one value: pass one {metadata.batch}."
            invocation.refuse(usage.wrong_call(message, flag))
    if invocation.call.stream and metadata.destructive:
        message = "A destructive command is not streamed: its answer is whole or none."
        invocation.refuse(usage.wrong_call(message, "--stream"))
    check_process(invocation, "A call with several values")


class CallsForEach:
    """The calls of one command, one for each of several values."""

    def __init__(
        self, invocation: Invocation, command: Command, calls: list[tuple[str, list[str]]]
    ) -> None:
        self._invocation = invocation
        self._calls = calls
        self._process = os.getpid()
        self._branch: Branch | None = None
        self._results: list[dict[str, Any]] = []
        self._counts = {"total": len(calls), "succeeded": 0, "failed": 0}
        self._plans = True
        # What ended the calls before the last one was over, and the value of the one that ran.
        self._ending: AgentError | None = None
        self._value = ""
        metadata = command.metadata
        call, running = invocation.call, invocation.running
        running.metadata, running.path = metadata, tuple(command.path[1:]) or (command.name,)
        running.awaits_calls = True
        declared = metadata is not None and metadata.streams
        self._streams = call.stream or (declared and not call.no_stream)
        self._until = self._time_limit(metadata)
        # What shapes an answer is for each of them.
        invocation.request.is_bounded, running.shaper = False, None
        invocation.writer._reply.filters = []
        warm_up()

    def run(self) -> tuple[list[str], Prepare] | None:
        """Make the calls; ``None`` when they are done, what a call is in its process."""
        try:
            for _, words in self._calls:
                done = self._call(words)
                if done is None:
                    return words, _only_check
                if done.status or done.answer is None:
                    self._refuse(done)
            invocation = self._invocation
            invocation.writer._reply.phase = "execution"
            invocation.running.begun.append((invocation.metadata, invocation.running.path))
            for value, words in self._calls:
                self._value = value
                done = self._call(words)
                if done is None:
                    return words, self._run_one(value)
                self._take(done)
        except KeyboardInterrupt as error:
            if os.getpid() != self._process:  # of a call that had not begun
                real_hard_exit(130)
            hold_signals()
            name = getattr(error, "signal", "SIGINT")
            self._give_up(AgentError.cancelled(signal=name), Signals[name])
        except Late:
            deadline = self._invocation.deadline
            if deadline is not None:
                self._give_up(deadline.failure(), Signals.SIGTERM)
        except OutputFailed:
            if self._branch is not None:
                self._branch.stop(Signals.SIGTERM)
            raise
        return None

    def finish(self) -> NoReturn:
        """Answer for all of them, and end the program."""
        invocation, counts = self._invocation, self._counts
        writer = invocation.writer
        total, done = counts["total"], counts["succeeded"]
        message = f"{done} of {total} items {'planned' if self._plans else 'done'}."
        results = {} if self._streams else {"results": self._results}
        result: dict[str, Any] = {"summary": counts, **results}
        if self._ending is not None:
            counts["not_run"] = total - done - counts["failed"]
            self._ending.message = f"{self._ending.message.rstrip('.')}; {message}"
            invocation.exit(writer._fail(Failure(self._ending, "execution", result)))
        kind = Partial if counts["failed"] else Plan if self._plans else Success
        shown = [
            {**each, "error": each["error"]["message"]} if "error" in each else each
            for each in self._results
        ]
        text = with_payload(writer, message, shown)
        invocation.exit(writer._answer(kind(message, result), text))

    # -- one call --------------------------------------------------------------------------

    def _call(self, words: list[str]) -> Ended | None:
        """Make the call of *words*, and return how it ended; ``None`` in its process."""
        resume = defer_signals()
        try:
            self._branch = fork(deadline=self._until)
        except OSError as error:  # no process to be had
            why = AgentError.unavailable(f"The call could not be started: {error.strerror}.")
            answer = self._invocation.writer._reply.document_of(Failure(why, "validation"))
            return Ended(answer.document, b"", answer.exit_code)
        finally:
            resume()
        if self._branch is None:
            return None
        done = ended(self._branch, self._until, self._pass_on)
        self._branch = None
        if done.answer is None and done.rest and not done.status:
            answer = self._invocation.writer._reply.document_of(Success("", result_in(done.rest)))
            return Ended(answer.document, b"", 0)
        self._invocation.pass_on(done.rest)
        return done

    def _run_one(self, value: str) -> Prepare:
        """Return what makes a call the one for *value*, and its answer an item of ours."""
        contract, count = self._invocation.contract, len(self._calls)

        def prepare(forked: Invocation) -> None:
            call = forked.call
            _as_one(forked)
            text = call.max_bytes or ""
            limit = int(text) if text.isdecimal() else contract.size_limit
            if limit:
                call.max_bytes = str(max(limit // count, _LEAST_BYTES))
            text = call.extra.get("max_tokens", "")
            if text.isdecimal() and int(text):
                call.extra["max_tokens"] = str(max(int(text) // count, _LEAST_TOKENS))
            if "idempotency_key" in call.extra:  # each of them is a change of its own
                call.extra["idempotency_key"] += f" {value}"

        return prepare

    def _take(self, done: Ended) -> None:
        """Note how the call for a value ended."""
        document = done.answer
        if document is None:
            failure = Failure(died(done.status), "execution")
            document = self._invocation.writer._reply.document_of(failure).document
        item = item_in(document, cleaned(self._value))
        item["ok"] = item["ok"] and not (done.status and "error" in item)
        self._counts["succeeded" if item["ok"] else "failed"] += 1
        self._plans = self._plans and is_plan(document)
        if self._streams:
            stream_item(self._invocation.writer, as_event(self._invocation.writer, item))
        else:
            self._results.append(item)

    def _pass_on(self, line: bytes) -> None:
        """Write a line that is no answer: how far a call has come."""
        stream_line(self._invocation.writer, json_in(line), "stdout")

    def _refuse(self, done: Ended) -> NoReturn:
        """Answer as the call for one value did, which cannot be made; none has run."""
        reply = self._invocation.writer._reply
        failure = reply.document_of(Failure(died(done.status), "validation"))
        if done.answer is not None:
            failure = Answer(done.answer, done.status, failure.stream)
        reply.write(failure, self._invocation)
        self._invocation.exit(failure.exit_code)

    # -- the ends --------------------------------------------------------------------------

    def _give_up(self, error: AgentError, number: int) -> None:
        """End the call that runs; what has been done so far is part of the failure."""
        branch, self._branch = self._branch, None
        self._ending = error
        left = branch.stop(number) if branch is not None else []
        answer = last_answer(left)
        if answer is not None and self._value:
            self._take(Ended(answer, b"", 0))

    def _time_limit(self, metadata: Metadata | None) -> float | None:
        """Return the time at which all calls must be over, which we watch ourselves."""
        invocation = self._invocation
        if invocation.deadline is None and not invocation.running.is_timed:
            from ..process.deadline import allow

            seconds = (metadata.timeout if metadata else 0.0) or invocation.settings.timeout
            allow(invocation, seconds or usual_seconds(invocation.contract, metadata))
        deadline = invocation.deadline
        if deadline is None:
            return None
        deadline.stop()
        return invocation.writer._reply.started + deadline.seconds


def _as_one(forked: Invocation) -> None:
    """Have *forked* answer in one document: what is streamed are the items, of which it is one."""
    forked.call.stream, forked.call.no_stream = False, True


def _only_check(forked: Invocation) -> None:
    """Have *forked* end where its command would begin."""
    own = forked.extras.complete
    _as_one(forked)
    # What is claimed with a key is claimed by a call that runs.
    forked.call.extra.pop("idempotency_key", None)

    def complete() -> None:
        own()
        end_validated(forked)

    setattr(forked.extras, "complete", complete)
