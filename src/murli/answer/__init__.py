"""What a handler holds: it says what happened, and the right audience reads it."""

from __future__ import annotations

import time
from _thread import RLock

from ..contracts import VALID_PROTOCOL_VERSIONS, Facts, contract_named, respond_in
from ..core import Success, current
from ..formats import (
    OUTPUT_FORMATS,
    cleaned,
    defer_signals,
    dumps,
    is_large,
    is_terminal,
    plain,
    put,
    put_for_people,
    standard,
    text_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn

    from ..call import Invocation
    from ..contracts import Answer
    from ..declare import Metadata
    from ..errors import OutputFailed
    from ..formats import TextStream
    from ..outcome import Failure, Notice, Outcome, Page, Plan, ProgressEvent
    from ..secrets.redaction import Secrets
    from ..type_checking import ContractName, OutputFormat, ProgressStream
    from .logger import Logger
    from .streaming import ItemStream

    ExitFunc = Callable[[int], object]
    Put = Callable[[Any, str], None]
    Filter = Callable[[Outcome, Facts], tuple[Outcome, Facts]]


# Loaded for the first event.
_write_event: Any = None


class Outlet:
    """The streams of one call, the lock of all that is written to them, and its secrets."""

    def __init__(
        self, stdout: TextStream | None, stderr: TextStream | None, for_people: bool
    ) -> None:
        # ``None`` is the process's own, whatever that is at the time.
        self.stdout = stdout
        self.stderr = stderr
        self.for_people = for_people
        self.lock = RLock()
        self.secrets: Secrets | None = None
        # What every log line goes through, and what it belongs to, if anything.
        self.mask: Callable[[str], str] | None = None
        self.trace_id = ""
        # Whether this is a fork of the program, which itself answers.
        self.is_forked = False
        # A large value that is plain as it stands, until it is answered, and its text in one line.
        self.encoded: tuple[Any, str] | None = None
        # What kept an answer from getting out, also when the handler swallowed it.
        self.write_error: ValueError | OutputFailed | None = None
        self._logger: Logger | None = None

    @property
    def logger(self) -> Logger:
        """The logger, made when there is something to log."""
        with self.lock:  # two threads must not have two, of which one is never flushed
            if self._logger is None:
                from .logger import Logger

                self._logger = Logger(self.stderr, self.for_people, lock=self.lock)
                self._logger.secrets = self.secrets
                self._logger.mask, self._logger.trace_id = self.mask, self.trace_id
            return self._logger

    def flush(self) -> None:
        """Write every log line that is still held back."""
        if self._logger is not None:
            self._logger.flush()

    def hide(self, secrets: Secrets) -> None:
        """Redact *secrets* in everything that is written from now on."""
        self.secrets = secrets
        if self._logger is not None:
            self._logger.secrets = secrets

    def stream_of(self, target: str) -> Any:
        """Return the stream called *target*: ``stdout`` or ``stderr``."""
        given = self.stdout if target == "stdout" else self.stderr
        return standard(target) if given is None else given

    def put(self, target: str, text: str, way: Put | None = None) -> bool:
        """Write *text*, which has been redacted; return whether it is out.

        *way* is how, should the usual one not do. What stdout does not take is `OutputFailed`.
        """
        try:
            (way or (put if self.secrets is None else self.secrets.put))(
                self.stream_of(target), text
            )
        except OSError as error:
            if target == "stdout":
                self.lose(error)
            return False
        return True

    def show(self, text: str | Callable[[], str], target: str = "stdout") -> None:
        """Show a person *text*."""
        shown = text() if callable(text) else str(text)
        stream = self.stream_of(target)
        if target == "stdout" and not is_terminal(stream):
            from ..formats.text import strip_ansi

            shown = strip_ansi(shown)  # first: colours may stand in the middle of a secret
        if target == "stderr" or not (self.secrets and self.secrets.revealed):
            shown = self.scrubbed(shown)
        try:
            put_for_people(stream, shown if shown.endswith("\n") else shown + "\n")
        except OSError as error:
            if target == "stdout":
                self.lose(error)

    def plain(self, value: Any, name: str = "result") -> Any:
        """Return *value* as plain data; `EncodingError`, which is remembered, where it is not."""
        # People read the text; a payload only agents see must not fail their call.
        if self.for_people:
            return None
        try:
            return plain(value, name)
        except ValueError as error:  # plain() raises nothing but EncodingError
            self.write_error = error
            raise

    def payload(self, value: Any, name: str = "result") -> Any:
        """Return *value*, which is answered now, as `plain` does; of large data the text is kept.

        No code of the tool's may run until it is answered.
        """
        if self.for_people or not is_large(value):
            return self.plain(value, name)
        from ..formats import quick

        value = quick.prepared(value)
        self.encoded, quick.kept = quick.kept, None
        return value if self.encoded is not None else self.plain(value, name)

    def scrubbed(self, text: str) -> str:
        """Return *text* without the secrets of the call."""
        return text if self.secrets is None else self.secrets.scrub(text)

    def scrubbed_value(self, value: Any) -> Any:
        """Return plain data without the secrets of the call, unless it is to reveal them.

        For people it comes before the value is drawn: half a secret in a narrow column, or one in
        two lines, could not be recognised any more.
        """
        secrets = self.secrets
        return value if secrets is None or secrets.revealed else secrets.scrub_value(value)

    def lose(self, error: OSError) -> NoReturn:
        """Raise that *error* keeps the answer from getting out, and remember it."""
        from ..errors import OutputFailed

        self.write_error = OutputFailed(error)
        raise self.write_error from error


class Reply:
    """The one answer of a call: what is known about it, and how its document is made."""

    def __init__(
        self,
        outlet: Outlet,
        contract: str,
        output_format: str,
        tool_version: str | None,
        validate: bool,
    ) -> None:
        self._outlet = outlet
        self.contract = contract
        self._respond = respond_in(contract)
        if validate:
            from .presentation import checked

            self._respond = checked(contract, self._respond)
        self.format = output_format
        self._tool_version = tool_version
        self.started = time.monotonic()
        # How far the call has come: ``validation`` until the handler may run.
        self.phase = ""
        self.notices: list[Notice] = []
        # What the contract says about the call, beside what happened.
        self.meta_source: Callable[[], dict[str, Any]] | None = None
        # What happened, where that is not what the handler says: a replay, a refusal.
        self.replace_outcome: Callable[[Outcome], Outcome] | None = None
        # What is left of it, and what is said about that: paging, fields, size.
        self.filters: list[Filter] = []
        # What to warn of unasked, and what that was when the answer was begun.
        self.environment_notices: Callable[[], tuple[Notice, ...]] = tuple
        self.found: tuple[Notice, ...] = ()
        # What the handler itself says of the part it answers with.
        self.own_page: Page | None = None
        # Whether every document is one line, and whether the rows of a printed table are.
        self.one_line = output_format == "ndjson"
        self.has_rows = False
        # In a running tool a second answer is a mistake of the author.
        self.single_answer = False
        # Whether a success is not written, because stdout carries something else.
        self.hide_success = False
        # Whether the answer was written, is just on its way out, and its exit code.
        self.answered = False
        self.is_writing = False
        self.exit_code = 0
        # Whether results that are lists go out item by item, and whether some have; what counts
        # them, or how many there were without it; the last line, once they are complete. See
        # `answer.streaming`.
        self.streams = False
        self.is_streaming = False
        self.stream: ItemStream | None = None
        self.events = 0
        self.stream_summary: Success | Plan | None = None

    @property
    def streamed(self) -> int | None:
        """How many items are out; ``None`` where the answer is no stream."""
        if self.stream is None:
            return self.events or None
        return self.events + self.stream.emitted

    def document_of(self, outcome: Outcome, seconds: float | None = None) -> Answer:
        """Return the answer that *outcome* is now, unfiltered.

        *seconds* is how long the call takes, where that is not until now.
        """
        return self.render(outcome, with_notices(self.collect(seconds), self.environment_notices()))

    def collect(self, seconds: float | None = None) -> Facts:
        """Return what a document says beside its outcome, as far as it is known now."""
        if seconds is None:
            seconds = time.monotonic() - self.started
        meta = self.meta_source() if self.meta_source is not None else {}
        version = self._tool_version
        if version is None:
            from ..core import tool_version

            version = tool_version()
        return Facts(
            version, int(seconds * 1000), tuple(self.notices), meta, streamed=self.streamed
        )

    def render(self, outcome: Outcome, facts: Facts) -> Answer:
        """Return the answer that *outcome* is in the contract, without its secrets."""
        answer = self._respond(outcome, facts)
        secrets = self._outlet.secrets
        if secrets is None or (secrets.revealed and not outcome.is_failure):
            return answer
        return answer.replace(document=secrets.scrub_document(answer.document))

    def text_of(self, answer: Answer) -> str:
        """Return *answer* as it is written: in one line where lines are what is read."""
        if self.in_rows(answer):
            from ..formats.tsv import render

            return render(answer.document.get("data"))
        if self.format == "toon":
            from .presentation import encoded as as_asked

            return as_asked(self, answer.document, one_line=self.one_line)
        if self.has_rows and not self.one_line:
            from ..formats.rows import dumps_in_rows

            return dumps_in_rows(answer.document)
        encoded = self._outlet.encoded
        if encoded is not None and self.one_line:
            from ..formats.quick import with_value

            text = with_value(answer.document, *encoded)
            if text is not None:
                return text
        return dumps(answer.document, pretty=not self.one_line)

    def refuse_second_answer(self) -> None:
        """Raise unless an answer may still be given."""
        is_over = self.answered or self.stream_summary is not None
        if is_over and self.single_answer and not self._outlet.for_people:
            raise RuntimeError(
                "the command has answered already; stream items with write_event() and "
                "answer once, at the end"
            )

    def write(self, answer: Answer, invocation: Invocation | None) -> None:
        """Write *answer*; the deadline of *invocation* does not come in between."""
        text = self.text_of(answer)
        deadline = invocation.deadline if invocation is not None else None
        if deadline is not None:
            deadline.disarm()
        resume = defer_signals()  # either all of the answer gets out, or another one instead
        try:
            late, self.answered = self.answered, True
            self.is_writing = True
            self._put_document(answer, text, late, invocation)
            self.exit_code = answer.exit_code  # not before: a signal may end the process with it
        finally:
            self.is_writing = False
            if deadline is not None:
                deadline.arm()
            resume()

    def _put_document(
        self, answer: Answer, text: str, late: bool, invocation: Invocation | None
    ) -> None:
        line = f"{text}\n" if text else ""
        outlet = self._outlet
        # An answer is on stdout already: what went wrong after it must not stand beside it.
        target = "stderr" if late else answer.stream
        if target == "stderr":
            from .presentation import stderr_is_closed

            if stderr_is_closed(outlet, invocation):
                if late:  # nobody is left to report to, and no file of the tool's is
                    return
                target = "stdout"  # rather than nowhere
        is_out = outlet.put(target, line)
        if target == "stderr" and not late and (self.is_streaming or not is_out):
            # A reader of lines must find the end of the stream there, if it can be reached;
            # and nobody has read a stderr that is full, or whose reader is gone.
            from ..errors import OutputFailed

            if self.is_streaming:
                line = dumps(answer.document, pretty=False) + "\n"
            try:
                outlet.put("stdout", line)
            except OutputFailed:
                pass  # it is on stderr, or there is no reader left

    def in_rows(self, answer: Answer) -> bool:
        """Return whether only the data is written, in a format that has no place for the rest."""
        return self.format == "tsv" and not answer.exit_code and not self.is_streaming


class Writer:
    """Writes the answer of a call: text for people, the document of the contract for agents.

    ::

        writer = murli.get_writer()  # or from murli.parse, murli.session, @murli.pass_writer
        if writer.is_dry_run():
            writer.write_plan("Would add x", {"add": ["x"]})
        else:
            writer.progress("adding x")
            writer.write_success("Added x", {"added": ["x"]})

    A call has one answer (`write_success`, `write_plan`, `write_partial`, `write_error` or
    `stream`), and before it any number of events, progress, warnings and log lines. All methods
    may be called from any thread. `write_error` and `write_partial` do not return.

    A running tool has a writer already. One made by hand, in a test say, takes:

    * *stdout*, *stderr*: where to write; those of the process unless given.
    * *agent_mode*: write documents, as for an agent; text otherwise.
    * *output_format*: ``json``, ``ndjson``, ``text``, ``toon`` or ``tsv``; decides over
      *agent_mode*.
    * *protocol_version*: what `protocol_version` returns.
    * *force*, *dry_run*: what the caller asked for; see `is_forced` and `is_dry_run`.
    * *tool_version*: the version in every document; that of the tool unless given.
    * *exit_func*: called with the exit code instead of ``sys.exit``.
    * *contract*: ``murli``, ``response``, ``agent-spec-1.6`` or ``agent-spec-2``.
    * *progress_stream*: where agents read progress: ``auto``, ``stdout`` or ``stderr``.
    * *validate*: check every document against the schema of its contract.
    """

    def __init__(
        self,
        stdout: TextStream | None = None,
        stderr: TextStream | None = None,
        agent_mode: bool = False,
        *,
        output_format: OutputFormat | str = "",
        protocol_version: str = "",
        force: bool = False,
        dry_run: bool = False,
        tool_version: str | None = None,
        exit_func: ExitFunc | None = None,
        contract: ContractName | str = "murli",
        progress_stream: ProgressStream | str = "auto",
        validate: bool = False,
    ) -> None:
        if output_format not in ("", "tsv", *OUTPUT_FORMATS):
            raise ValueError(f"output_format is one of {', '.join(OUTPUT_FORMATS)}")
        if progress_stream not in ("auto", "stdout", "stderr"):
            raise ValueError("progress_stream is one of auto, stdout, stderr")
        for_people = output_format == "text" or (not agent_mode and not output_format)
        self.contract = contract
        self._outlet = Outlet(stdout, stderr, for_people)
        self._reply = Reply(self._outlet, contract, output_format, tool_version, validate)
        self._protocol_version = protocol_version
        self._progress_stream = progress_stream
        self._exit_func = exit_func
        self._force = force
        # Whether only a plan is wanted; a handler asks `is_dry_run`.
        self._dry_run = dry_run
        # Whether the call is a dry run that only the handler can keep from being a real one, and
        # whether the handler has asked.
        self._expects_plan = False
        self._asked_dry_run = False
        self._invocation: Invocation | None = None

    # -- what a handler asks ---------------------------------------------------------------

    def is_tty(self) -> bool:
        """Return whether a person reads the output (not whether a terminal is attached)."""
        return self._outlet.for_people

    def is_forced(self) -> bool:
        """Return whether the caller confirmed a mutation with ``--force`` or ``--yes``."""
        return self._force

    def is_dry_run(self) -> bool:
        """Return whether only a plan is wanted."""
        self._asked_dry_run = True
        return self._dry_run

    def format(self) -> str:
        """Return the format the caller asked for, or ``""``."""
        return self._reply.format

    def protocol_version(self) -> str:
        """Return the protocol version in force."""
        return self._protocol_version or VALID_PROTOCOL_VERSIONS[-1]

    def limit(self) -> int | None:
        """Return how many items the caller wants; ``None`` for any number.

        For handlers that page by themselves, which `Paging(by_handler=True)` declares.
        """
        from .own_paging import limit_of

        return limit_of(self)

    def cursor(self) -> str:
        """Return where the caller wants to go on: a `Page.next_cursor`, or ``""``."""
        return (self._invocation.call.cursor or "") if self._invocation is not None else ""

    # -- what a handler says ---------------------------------------------------------------

    def write_success(
        self,
        human_text: str,
        json_payload: Any = None,
        *,
        text: str | Callable[[], str] | None = None,
        page: Page | None = None,
        show: bool = False,
    ) -> None:
        """Answer: it worked. People read *human_text*, agents get *json_payload* with it.

        *text*, or what it returns when called, replaces *human_text* for people; return it where
        they should see more (a table, say) than the one line an agent needs. *page* says which
        part of a list the payload is, where the handler pages by itself; it is given as it is.
        With *show* people see *json_payload* too, below the text: rows as a table.
        """
        self._reply.own_page = page
        if show and self._outlet.for_people:
            from .presentation import with_payload

            text = with_payload(self, text if text is not None else human_text, json_payload)
        if not self._outlet.for_people and (
            self._reply.streams or hasattr(type(json_payload), "__next__")
        ):
            from .streaming import take

            json_payload = take(self, json_payload, human_text)
            if self._reply.stream_summary is not None:
                return
        if (
            self._outlet.for_people
            and not (text or human_text)
            and (page is not None or self._reply.format)
        ):
            from .presentation import result_text

            text = result_text(self, json_payload)
        self._answer(
            Success(_line(human_text), self._outlet.payload(json_payload)), text or human_text
        )

    def write_plan(
        self, human_text: str, plan: Any, *, text: str | Callable[[], str] | None = None
    ) -> None:
        """Answer a dry run: this is what would be done, and nothing was."""
        from ..outcome import Plan

        self._answer(
            Plan(_line(human_text), self._outlet.payload(plan, "plan")), text or human_text
        )

    def write_partial(
        self,
        human_text: str,
        json_payload: Any = None,
        *,
        text: str | Callable[[], str] | None = None,
    ) -> NoReturn:
        """Answer: some of it worked. Ends the program with the contract's code for that."""
        from ..outcome import Partial

        outcome = Partial(_line(human_text), self._outlet.payload(json_payload))
        if not self._outlet.for_people and self._invocation is not None:
            from .advice import partial_with_state

            outcome = partial_with_state(self, outcome)
        self._exit(self._answer(outcome, text or human_text))

    def write_error(self, err: BaseException) -> NoReturn:
        """Answer: it failed. Ends the program with the contract's code for *err*."""
        from ..failures.exceptions import as_agent_error
        from ..outcome import Failure

        error = as_agent_error(err)
        if self._invocation is not None:
            from ..failures.repeating import withhold_retry

            withhold_retry(self._invocation, error)
        self._exit(self._fail(Failure(error, self._reply.phase)))

    def stream(self, items: Any, human_text: str = "") -> None:
        """Answer with *items*, each of them as it comes; the last line counts them.

        *items* is whatever can be iterated over, also asynchronously; it is closed when the answer
        ends early. People read *human_text* behind the items.
        """
        from .streaming import stream

        stream(self, items, human_text)

    def write_event(self, v: Any) -> None:
        """Stream one JSON line to agents, at once; people are not shown events."""
        if not self._outlet.for_people:
            global _write_event
            if _write_event is None:
                from .event_lines import write_event as _write_event
            _write_event(self, v)

    def write_progress(self, evt: ProgressEvent) -> None:
        """Report how far a long operation has come."""
        from .event_lines import write_progress

        write_progress(self, evt)

    def log(self, msg: str) -> None:
        """Write a diagnostic line to stderr; consecutive equal lines are written once."""
        self._outlet.logger.log(msg)

    def progress(self, msg: str) -> None:
        """Log what is going on now; at a terminal it replaces the line before."""
        self._outlet.logger.log_progress(msg)

    def warn(self, code: str, message: str, **context: Any) -> None:
        """Add a warning to the answer, or log it where the contract has no place for one.

        *code* is what a caller branches on. The same warning is shown once.
        """
        if self._outlet.for_people or not contract_named(self.contract).has_warnings:
            self._outlet.logger.log(f"warning: {message}")
        else:
            from .presentation import warning

            notice = warning(code, message, context)
            if notice not in self._reply.notices:
                self._reply.notices.append(notice)

    def flush(self) -> None:
        """Write every log line that is still held back."""
        self._outlet.flush()

    # -- for the runtime -------------------------------------------------------------------

    def _intend(self, *, force: bool, dry_run: bool) -> None:
        """Replace the caller's intent: whether a change is confirmed, whether only planned."""
        self._force = force
        self._dry_run = dry_run

    def _forgot_dry_run(self) -> bool:
        """Return whether the handler ran for real although only a plan was wanted."""
        return self._expects_plan and not self._asked_dry_run and not self._reply.answered

    def _answer(self, outcome: Outcome, text: str | Callable[[], str]) -> int:
        """Write the one answer, as *text* to people; return the exit code that goes with it."""
        try:
            return self._answered(outcome, text)
        finally:
            self._outlet.encoded = None  # what it is the text of may change from here on

    def _answered(self, outcome: Outcome, text: str | Callable[[], str]) -> int:
        outlet, reply = self._outlet, self._reply
        with outlet.lock:
            if not outcome.is_failure:
                reply.refuse_second_answer()
                if self._forgot_dry_run():
                    from ..outcome import Plan
                    from .presentation import ran_for_real

                    if not isinstance(outcome, Plan):
                        raise ran_for_real()
            outlet.flush()
            if reply.replace_outcome is not None and not outlet.for_people:
                outcome = reply.replace_outcome(outcome)
            facts = reply.collect()
            reply.found = reply.environment_notices()
            if (reply.filters or reply.own_page is not None) and not outlet.for_people:
                from .own_paging import filtered

                outcome, facts = filtered(self, outcome, facts)
                outlet.flush()
            facts = with_notices(facts, reply.found)
            answer = reply.render(outcome, facts)
            if outlet.for_people:
                reply.answered = True
                outlet.show(text, "stderr" if outcome.is_failure else "stdout")
            elif outlet.is_forked or (reply.hide_success and not answer.exit_code):
                reply.answered = True
            else:
                if reply.in_rows(answer):
                    from .presentation import log_beside

                    log_beside(self, facts, answer.document.get("meta", {}))
                reply.write(answer, self._invocation)
            outlet.write_error = None
            return answer.exit_code

    def _fail(self, failure: Failure) -> int:
        """Answer *failure* and return its exit code, without ending the program."""
        from .presentation import fail

        return fail(self, failure)

    def _exit(self, code: int) -> NoReturn:
        """End the program with *code*, through the exit hook."""
        import sys

        hook = self._exit_func or getattr(sys.modules.get("murli"), "exit_func", None)
        if hook is not None:
            hook(code)
        # A test's hook returns; the handler must not go on all the same.
        raise SystemExit(code)


def with_notices(facts: Facts, notices: Iterable[Notice]) -> Facts:
    """Return *facts* with those of *notices* that are not yet among them."""
    more = [each for each in notices if each not in facts.notices]
    return facts.replace(notices=(*facts.notices, *more)) if more else facts


def _line(text: object) -> str:
    return cleaned(text_of(text))


# What is printed in more characters is not looked at twice.
_LONG = 1 << 16


def payload_of(printed: str | bytes, metadata: Metadata | None = None) -> Any:
    """Return what a handler printed as a result; what is more than some lines, `printed` judges."""
    if isinstance(printed, str) and len(printed) < _LONG:
        text = printed.removesuffix("\n")
        # JSON is known by its first character; several lines may be a table.
        usual = text[:1] not in ("", " ", "\n", "{", "[") and text[-1] != "\n"
        usual = usual and ("\n" not in text or not ("," in text or ";" in text))
        if usual and text.replace("\n", "").isprintable():
            return text
    from .printed import result_of

    return result_of(printed, metadata)


def get_writer(ctx: object = None) -> Writer:
    """Return the writer of the running invocation; outside of one, a writer of its own."""
    invocation = current()
    if invocation is not None:
        return invocation.writer
    import sys

    return Writer(agent_mode=not is_terminal(sys.stdout))
