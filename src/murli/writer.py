"""What a handler holds: it says what happened, and the right audience reads it."""

from __future__ import annotations

import time
from _thread import RLock

from .contracts import Facts, Success, respond_in
from .formats import (
    cleaned,
    dumps,
    is_terminal,
    plain,
    put,
    put_for_people,
    put_off_signals,
    standard,
    text_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from .asides import Notice, Page, ProgressEvent
    from .contracts import Answer
    from .errors import OutputFailed
    from .formats import TextStream
    from .logger import Logger
    from .outcome import Failure, Outcome, Plan
    from .runtime.invocation import Invocation
    from .runtime.redaction import Secrets
    from .runtime.streaming import Flow

    ExitFunc = Callable[[int], object]
    Put = Callable[[Any, str], None]
    Shape = Callable[[Outcome], tuple[Outcome, Page | None]]
    Intercept = Callable[[Outcome], Outcome]

VALID_OUTPUT_FORMATS = ("json", "ndjson", "text")
VALID_PROTOCOL_VERSIONS = ("0.2",)


class Writer:
    """Writes one answer, and on the way to it events, progress and logs.

    In human mode the text goes out; in agent mode the document of the contract. All methods may
    be called from any thread. `write_error` never returns.
    """

    def __init__(
        self,
        stdout: TextStream | None = None,
        stderr: TextStream | None = None,
        agent_mode: bool = False,
        *,
        output_format: str = "",
        protocol_version: str = "",
        force: bool = False,
        dry_run: bool = False,
        tool_version: str | None = None,
        exit_func: ExitFunc | None = None,
        contract: str = "murli",
        progress_stream: str = "auto",
        validate: bool = False,
    ) -> None:
        if output_format not in ("", "tsv", *VALID_OUTPUT_FORMATS):
            raise ValueError(f"output_format is one of {', '.join(VALID_OUTPUT_FORMATS)}")
        if progress_stream not in ("auto", "stdout", "stderr"):
            raise ValueError("progress_stream is one of auto, stdout, stderr")
        self._stdout = stdout
        self._stderr = stderr
        self._human = output_format == "text" or (not agent_mode and not output_format)
        self._format = output_format
        self._protocol_version = protocol_version
        self._force = force
        # Whether only a plan is wanted; a handler asks `is_dry_run`.
        self.dry_run = dry_run
        self._tool_version = tool_version
        self._exit_func = exit_func
        self.contract = contract
        self._respond = respond_in(contract)
        self._progress_stream = progress_stream
        self._validate = validate
        self._lock = RLock()
        self._log: Logger | None = None
        self.started = time.monotonic()
        self.notices: list[Notice] = []
        self.is_streaming = False
        # Whether the one answer has been given.
        self.answered = False
        # What kept an answer from getting out, also when the handler swallowed it.
        self.trouble: ValueError | OutputFailed | None = None
        # In a running tool a second answer is a mistake of the author.
        self.once = False
        # How far the call has come: ``validation`` until the handler may run.
        self.phase = ""
        self._secrets: Secrets | None = None
        self.mask: Callable[[str], str] | None = None
        self.trace_id = ""
        self.interceptor: Intercept | None = None
        # Whether the call is a dry run that only the handler can keep from being a real one, and
        # whether the handler has asked.
        self.expects_plan = False
        self.asked_dry_run = False
        self.shape: Shape | None = None
        self.page: Page | None = None
        # What the handler itself says of the part it gives.
        self.own_page: Page | None = None
        self.about: Callable[[], dict[str, Any]] | None = None
        # Whether every document is one line; whether results that are lists go out item by item;
        # of which call, if of any; what counts them, in an answer that does; and how it ends, once
        # it is complete. See `runtime.streaming`.
        self.in_lines = output_format == "ndjson"
        self.streams = False
        self.invocation: Invocation | None = None
        self.flow: Flow | None = None
        # How many items were written outside of a flow.
        self.events = 0
        self.ending: Success | Plan | None = None
        # Whether a success is not told, because stdout carries something else.
        self.muted = False
        # Whether this is a fork of the program, which itself answers.
        self._is_forked = False
        # Whether the answer is just on its way out, and the exit code that goes with it.
        self.is_writing = False
        self.exit_code = 0

    # -- what a handler asks ---------------------------------------------------------------

    def is_tty(self) -> bool:
        """Tell whether a person reads the output (not whether a terminal is attached)."""
        return self._human

    def is_forced(self) -> bool:
        """Tell whether the caller confirmed a mutation with ``--force`` or ``--yes``."""
        return self._force

    def is_dry_run(self) -> bool:
        """Tell whether only a plan is wanted."""
        self.asked_dry_run = True
        return self.dry_run

    def format(self) -> str:
        """Give the format the caller asked for, or ``""``."""
        return self._format

    def protocol_version(self) -> str:
        """Give the protocol version in force."""
        return self._protocol_version or VALID_PROTOCOL_VERSIONS[-1]

    def limit(self) -> int | None:
        """Return how many items the caller wants; ``None`` for any number.

        For handlers that page by themselves, which `Paging(by_handler=True)` declares.
        """
        from .runtime.own_paging import limit_of

        return limit_of(self)

    def cursor(self) -> str:
        """Return where the caller wants to go on: a `Page.next_cursor`, or ``""``."""
        return (self.invocation.call.cursor or "") if self.invocation is not None else ""

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

        *text*, or what it returns when called, replaces *human_text* for people; give it where
        they should see more (a table, say) than the one line an agent needs. *page* says which
        part of a list the payload is, where the handler pages by itself; it is given as it is.
        With *show* people see *json_payload* too, below the text: rows as a table.
        """
        self.own_page = page
        if show and self._human:
            from .presentation import with_payload

            text = with_payload(self, text if text is not None else human_text, json_payload)
        if not self._human and (self.streams or hasattr(json_payload, "__next__")):
            from .runtime.streaming import take

            json_payload = take(self, json_payload, human_text)
            if self.ending is not None:
                return
        if self._human and not (text or human_text) and (page is not None or self._format):
            from .presentation import result_text

            text = result_text(self, json_payload)
        self.answer(Success(self._line(human_text), self._plain(json_payload)), text or human_text)

    def write_plan(
        self, human_text: str, plan: Any, *, text: str | Callable[[], str] | None = None
    ) -> None:
        """Answer a dry run: this is what would be done, and nothing was."""
        from .outcome import Plan

        self.answer(Plan(self._line(human_text), self._plain(plan, "plan")), text or human_text)

    def write_partial(
        self,
        human_text: str,
        json_payload: Any = None,
        *,
        text: str | Callable[[], str] | None = None,
    ) -> NoReturn:
        """Answer: some of it worked. Ends the program with the contract's code for that."""
        from .outcome import Partial

        outcome = Partial(self._line(human_text), self._plain(json_payload))
        self.exit(self.answer(outcome, text or human_text))

    def write_error(self, err: BaseException) -> NoReturn:
        """Answer: it failed. Ends the program with the contract's code for *err*."""
        from .outcome import Failure
        from .runtime.exceptions import as_agent_error

        error = as_agent_error(err)
        if self.invocation is not None:
            from .runtime.repeating import withhold_retry

            withhold_retry(self.invocation, error)
        self.exit(self.fail(Failure(error, self.phase)))

    def stream(self, items: Any, human_text: str = "") -> None:
        """Answer with *items*, each of them as it comes; the last line tells how many there were.

        *items* is whatever can be iterated over, also asynchronously; it is closed when the answer
        ends early. People read *human_text* behind the items.
        """
        from .runtime.streaming import stream

        stream(self, items, human_text)

    def write_event(self, v: Any) -> None:
        """Stream one JSON line to agents, at once; people are not shown events."""
        if not self._human:
            from .event_lines import as_event, stream_item

            stream_item(self, as_event(self, v))

    def write_progress(self, evt: ProgressEvent) -> None:
        """Report how far a long operation has come."""
        from .event_lines import write_progress

        write_progress(self, evt)

    def log(self, msg: str) -> None:
        """Write a diagnostic line to stderr; consecutive equal lines are told once."""
        self._logger.log(msg)

    def progress(self, msg: str) -> None:
        """Say what is going on now; at a terminal it replaces the line before."""
        self._logger.log_progress(msg)

    def warn(self, code: str, message: str, **context: Any) -> None:
        """Add a warning to the answer, or log it where the contract has no place for one.

        *code* is what a caller branches on. The same warning is told once.
        """
        if self._human or self.contract == "murli":
            self._logger.log(f"warning: {message}")
        else:
            from .asides import Notice, readable_context

            notice = Notice(code, self._line(message), readable_context(context))
            if notice not in self.notices:
                self.notices.append(notice)

    def flush(self) -> None:
        """Write every log line that is still held back."""
        if self._log is not None:
            self._log.flush()

    # -- for the runtime -------------------------------------------------------------------

    def intend(self, *, force: bool, dry_run: bool) -> None:
        """Replace the caller's intent: whether a change is confirmed, whether only planned."""
        self._force = force
        self.dry_run = dry_run

    def forgot_dry_run(self) -> bool:
        """Return whether the handler ran for real although only a plan was wanted."""
        return self.expects_plan and not self.asked_dry_run and not self.answered

    def hide(self, secrets: Secrets) -> None:
        """Take *secrets* out of everything that is written from now on."""
        self._secrets = secrets
        if self._log is not None:
            self._log.secrets = secrets

    def answer(self, outcome: Outcome, text: str | Callable[[], str]) -> int:
        """Give the one answer, as *text* to people; returns the exit code that goes with it."""
        with self._lock:
            if not outcome.is_failure:
                self.refuse_second_answer()
                if self.forgot_dry_run():
                    from .outcome import Plan
                    from .runtime.guard import ran_for_real

                    if not isinstance(outcome, Plan):
                        raise ran_for_real()
            self.flush()
            if self.interceptor is not None and not self._human:
                outcome = self.interceptor(outcome)
            if self.own_page is not None and not self._human:
                from .runtime.own_paging import completed

                self.page = completed(self, outcome, self.own_page)
            if self.shape is not None and not self._human:
                outcome, self.page = self.shape(outcome)
                self.flush()
            answer = self.document_of(outcome)
            if self._human:
                self.answered = True
                self.show(text, "stderr" if outcome.is_failure else "stdout")
            elif self._is_forked or (self.muted and not answer.exit_code):
                self.answered = True
            else:
                self._write_document(answer)
            self.trouble = None
            return answer.exit_code

    def document_of(self, outcome: Outcome, seconds: float | None = None) -> Answer:
        """Return the answer that *outcome* is in the writer's contract, without its secrets.

        *seconds* is how long the call takes, where that is not until now.
        """
        if seconds is None:
            seconds = time.monotonic() - self.started
        elapsed = int(seconds * 1000)
        meta = self.about() if self.about is not None else {}
        version = self._tool_version
        if version is None:
            from .runtime import tool_version

            version = tool_version()
        notices = tuple(self.notices)
        facts = Facts(version, elapsed, notices, meta, self.page, self.streamed)
        answer = self._respond(outcome, facts)
        if self._validate:
            from .contracts.checks import check

            check(self.contract, answer)
        secrets = self._secrets
        if secrets is None or (secrets.revealed and not outcome.is_failure):
            return answer
        return answer.replace(document=secrets.scrub_document(answer.document))

    def text_of(self, answer: Answer) -> str:
        """Give *answer* as it is written: in one line where lines are what is read."""
        if self._in_rows(answer):
            from .formats.tsv import render

            return render(answer.document.get("data"))
        return dumps(answer.document, pretty=not self.in_lines)

    def send_to(self, stdout: TextStream | None) -> None:
        """Answer on *stdout* from now on: the process's own, ``None``, is being collected."""
        self._stdout = stdout

    def seize(self, seconds: float) -> bool:
        """Keep every other thread from answering, for good; False if one is just doing so."""
        return self._lock.acquire(timeout=seconds)

    def fail(self, failure: Failure) -> int:
        """Answer *failure* and give its exit code, without ending the program."""
        from .presentation import fail

        return fail(self, failure)

    def exit(self, code: int) -> NoReturn:
        """End the program with *code*, through the exit hook."""
        import sys

        hook = self._exit_func or getattr(sys.modules.get("murli"), "exit_func", None)
        if hook is not None:
            hook(code)
        # A test's hook returns; the handler must not go on all the same.
        raise SystemExit(code)

    @property
    def _logger(self) -> Logger:
        """The logger, made when there is something to log."""
        with self._lock:  # two threads must not have two, of which one is never flushed
            if self._log is None:
                from .logger import Logger

                self._log = Logger(self._stderr, self._human, lock=self._lock)
                self._log.secrets = self._secrets
                self._log.mask, self._log.trace_id = self.mask, self.trace_id
            return self._log

    # -- inside ----------------------------------------------------------------------------

    def refuse_second_answer(self) -> None:
        """Raise unless an answer may still be given."""
        told = self.answered or self.ending is not None
        if told and self.once and not self._human:
            raise RuntimeError(
                "the command has answered already; stream items with write_event() and "
                "answer once, at the end"
            )

    def _write_document(self, answer: Answer) -> None:
        text = self.text_of(answer)
        deadline = self.invocation.deadline if self.invocation is not None else None
        if deadline is not None:
            deadline.disarm()
        come = put_off_signals()  # either all of the answer gets out, or another one instead
        try:
            late, self.answered = self.answered, True
            self.is_writing = True
            self._put_document(answer, text, late)
            self.exit_code = answer.exit_code  # not before: a signal may end the process with it
        finally:
            self.is_writing = False
            if deadline is not None:
                deadline.arm()
            come()

    def _put_document(self, answer: Answer, text: str, late: bool) -> None:
        line = f"{text}\n" if text else ""
        if self._in_rows(answer):
            from .presentation import tell_beside

            tell_beside(self, self.page, answer.document.get("meta", {}))
        # An answer is on stdout already: what went wrong after it must not stand beside it.
        target = "stderr" if late else answer.stream
        if target == "stderr":
            from .presentation import stderr_is_closed

            if stderr_is_closed(self):
                if late:  # nobody is left to be told, and no file of the tool's is
                    return
                target = "stdout"  # rather than nowhere
        self._put(target, line)
        if target == "stderr" and self.is_streaming and not late:
            # Who reads the stream line by line must meet its end there, if they can be reached.
            from .errors import OutputFailed

            try:
                self._put("stdout", dumps(answer.document, pretty=False) + "\n")
            except OutputFailed:
                pass  # the error has been told on stderr

    def _in_rows(self, answer: Answer) -> bool:
        """Tell whether only the data is written, in a format that has no place for the rest."""
        return self._format == "tsv" and not answer.exit_code and not self.is_streaming

    def show(self, text: str | Callable[[], str], target: str = "stdout") -> None:
        """Show a person *text*."""
        shown = text() if callable(text) else str(text)
        stream = self.stream_of(target)
        if target == "stdout" and not is_terminal(stream):
            from .formats.text import strip_ansi

            shown = strip_ansi(shown)  # first: colours may stand in the middle of a secret
        if target == "stderr" or not (self._secrets and self._secrets.revealed):
            shown = self.scrubbed(shown)
        try:
            put_for_people(stream, shown if shown.endswith("\n") else shown + "\n")
        except OSError as error:
            if target == "stdout":
                self._lose(error)

    @property
    def streamed(self) -> int | None:
        """How many items are out; ``None`` where the answer is no stream."""
        if self.flow is None:
            return self.events or None
        return self.events + self.flow.emitted

    def _put(self, target: str, text: str, way: Put | None = None) -> None:
        try:
            (way or (put if self._secrets is None else self._secrets.put))(
                self.stream_of(target), text
            )
        except OSError as error:
            if target == "stdout":
                self._lose(error)
            # With stderr gone as well, the exit code is all that is left to say.

    def _lose(self, error: OSError) -> NoReturn:
        from .errors import OutputFailed

        self.trouble = OutputFailed(error)
        raise self.trouble from error

    def _plain(self, value: Any, name: str = "result") -> Any:
        # People read the text; a payload only agents see must not fail their call.
        if self._human:
            return None
        try:
            return plain(value, name)
        except ValueError as error:  # plain() raises nothing but EncodingError
            self.trouble = error
            raise

    def scrubbed(self, text: str) -> str:
        """Return *text* without the secrets of the call."""
        return text if self._secrets is None else self._secrets.scrub(text)

    def scrubbed_value(self, value: Any) -> Any:
        """Return plain data without the secrets of the call, unless it is to reveal them.

        For people it comes before the value is drawn: half a secret in a narrow column, or one in
        two lines, could not be recognised any more.
        """
        secrets = self._secrets
        return value if secrets is None or secrets.revealed else secrets.scrub_value(value)

    def _line(self, text: object) -> str:
        return cleaned(text_of(text))

    def stream_of(self, target: str) -> Any:
        """Return the stream called *target*: ``stdout`` or ``stderr``."""
        given = self._stdout if target == "stdout" else self._stderr
        return standard(target) if given is None else given
