"""One invocation, from argv to exit code.

The order, which the adapters rely on:

1. our flags leave argv; the contract, the mode and the writer follow from them
2. a command that is called otherwise now is answered with the call to make instead
3. ``--schema`` is answered, before anything that could be wrong with the rest
4. our own flags are checked: ``--protocol-version``, ``--output``, ``--profile``
5. a mounted command (``describe`` …) is answered
6. the framework parses what is left            (the adapter)
7. the guard decides whether the command may run
8. the handler runs, its stdout collected when an agent reads
9. what the handler left unsaid is said, and the exit code follows

Steps 1 to 5 are `begin`, 7 is `admit`, 9 is `finish`.
"""

from __future__ import annotations

import os
import sys
from _thread import _local

from ..contracts import CONTRACT_NAMES
from ..formats import (
    cleaned,
    is_terminal,
    plain,
    put,
    put_off_signals,
    standard,
    take_bursts_as_one,
)
from ..writer import VALID_OUTPUT_FORMATS, Writer
from . import (
    MOUNTED,
    REDIRECTS,
    Call,
    behind_the_last_of_ours,
    is_on,
    mentions_secret,
    tool_version,
    variable_names,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

    from ..cleanup import Cleanups
    from ..errors import AgentError
    from ..metadata import Metadata
    from ..steps import Steps
    from . import Settings
    from .deadline import Deadline
    from .host import Capture, Host, Runner
    from .printed_lines import PrintedLines
    from .redaction import Secrets
    from .refusal import Refusal
    from .saved import Saved
    from .shaping import Shaper


# What is printed in more characters is not looked at twice.
_LONG = 1 << 16
# What is printed in more bytes is not answered as a whole.
_LARGE = 1 << 22
# One for each thread, so that tools may run side by side; a context variable would cost a shared
# library at start-up.
_current = _local()
# What a thread without one of its own belongs to: a handler's helper, most likely.
_latest: Invocation | None = None
# What the latest invocation answered with that others outlived: its exit code.
settled: int | None = None


def current() -> Invocation | None:
    """Give the invocation that is running, or ``None``."""
    return getattr(_current, "invocation", None) or _latest


class Invocation:
    """What is known about the running call; made by `begin`.

    *above* is another one on the same command line, whose flags of ours count here too.
    """

    # Whether the end of the process answers it; whether words that led to it stand before its own.
    owned = is_part = False
    # What the tool's own parser found wrong, while it is not known what the tool makes of that.
    refusal: Refusal | None = None
    writer: Writer

    def __init__(
        self,
        runner: Runner,
        settings: Settings,
        argv: Sequence[str],
        stdout: Any = None,
        *,
        raises: bool = False,
        above: Invocation | None = None,
    ) -> None:
        self.runner = runner
        self._host: Host | None = None
        self.settings = settings
        # Whether a refusal is raised, for a caller who wants exceptions, instead of answered.
        self.raises = raises
        self.argv = argv
        mounted: tuple[str, ...] = MOUNTED if settings.mount else ()
        self.call = Call()
        # Those that are not there need not be looked up one by one.
        self.variables = variable_names()
        self.configured = "\0MURLI_" in self.variables
        chosen = (self.configured and os.environ.get("MURLI_CONTRACT")) or settings.contract
        around = current()
        if above is None and around is not None and around.settings.is_program:
            above = around
        if above is not None:
            chosen = above.writer.contract
        # Whether there is anything on the command line that could be for us.
        self.scanned = behind_the_last_of_ours(argv, mounted) > 0
        if chosen != "murli" or (self.scanned and "--contract" in "\0".join(argv)):
            from .family import scan_in_family

            self.call = scan_in_family(self.host, settings, argv, chosen)
            self.scanned = True
        elif self.scanned:
            from .argv import mounted_on, scan

            root = self.host.level()
            self.call = scan(argv, root, mounted_on(root, self.host, mounted))
        else:
            self.call.rest = list(argv)
        if above is not None:
            from .calls import inherit

            inherit(self, above)
        self.stdout_is_terminal = is_terminal(stdout or standard("stdout"))
        self.capture: Capture | None = None
        # What ends that the caller is told now and then that the call goes on; see `alive`.
        self.end_alive: Callable[[], None] | None = None
        # What streams the lines that the command prints, where the caller wants that.
        self.lines: PrintedLines | None = None
        # The tool was asked for its help or version: text for whoever asked, no answer.
        self.explained = False
        # What is printed is for a shell, a completion script say: no contract changes it.
        self.verbatim = False
        # Whether the tool itself showed its help, because it was called with nothing.
        self.shows_help = False
        # Whether a handler has shown a person something already.
        self.printed = False
        # What an answer tells about the call, where the contract has a place for it.
        self.meta: dict[str, Any] = {}
        # What the runtime adds to the result itself.
        self.marks: dict[str, Any] = {}
        # The flags whose values a profile gave, and the profile's name.
        self.applied: dict[str, str] = {}
        self._saved: Saved | None = None
        # What must not be written, if anything.
        self.secrets: Secrets | None = None
        # Whether the answer of the command that runs may tell secrets.
        self.reveals = False
        self.metadata: Metadata | None = None
        # What was declared about each command that was called, and its names below the tool's own.
        self.begun: list[tuple[Metadata | None, tuple[str, ...]]] = []
        # The flags that were given, where the command declares something that depends on them, and
        # whether they stand on the command line.
        self.given: dict[str, bool] = {}
        self.steps: Steps | None = None
        self.deadline: Deadline | None = None
        # Whether the caller has said how long the call may take, be it for ever.
        self.timed = False
        # The function that runs, where the framework knows it.
        self.handler: Any = None
        # The command that runs, as the host knows it, and what was parsed for it.
        self.command: Any = None
        self.parsed: Any = None
        # The names of the command that runs, below the tool's own.
        self.path: tuple[str, ...] = ()
        # Whether the command's plan function runs in the place of its handler.
        self.plans = False
        self._unhook: Callable[[], None] | None = None
        self._pid = 0
        # What ends an interrupted call that does not end, and whether its end has begun.
        self._end_grace: Callable[[], None] | None = None
        self.is_finishing = False
        # Whether what was printed is in the answer that is being made though more may come.
        self.tells_printed = False
        self.returned: Any = None
        self._around: Invocation | None = None
        # The exit code of a refusal that stands, whatever a handler that only previews makes of it.
        self.standing = 0
        # Takes back what was put in place of others for as long as the invocation runs.
        self.undo: list[Callable[[], None]] = []
        # What handlers left to be done at the end; see `murli.cleanup`.
        self.cleanups: Cleanups | None = None
        # Whether the environment may say how long an answer is allowed to be.
        self.capped = False
        # Decides which part of an answer is given; see `runtime.shaping`.
        self.shaper: Shaper | None = None
        contract = self.call.contract or chosen
        known = contract in CONTRACT_NAMES
        self.writer = self._make_writer(contract if known else "murli", stdout)
        self.writer.invocation = self
        # Whether the answer is a ResponseEnvelope; a person reads none.
        self.in_family = known and contract != "murli" and not self.writer.is_tty()
        if self.scanned and self.writer.is_tty():
            from .flags import leave_to_the_tool

            leave_to_the_tool(self)
        if not known:
            from .usage import invalid_setting

            self.refuse(invalid_setting("contract", contract, CONTRACT_NAMES))

    def _make_writer(self, contract: str, stdout: Any) -> Writer:
        call = self.call
        settings, at_terminal = self.settings, self.stdout_is_terminal
        # A variable that asks for text makes no person of an agent that has announced itself.
        hides = settings.agents == "detect" and not at_terminal and settings.is_announced()
        configured = self.configured
        mode = settings.mode(configured=configured)
        self._is_agents = call.agent or hides or mode == "agent"
        self._has_person = settings.is_for_people(at_terminal, mode) and not call.agent
        # A format that does not exist cannot say how its own refusal is to be written.
        output = call.output if call.output in VALID_OUTPUT_FORMATS else ""
        if contract != "murli":
            from .family import output_format

            output = output_format(self, contract)
        progress = (configured and os.environ.get("MURLI_PROGRESS")) or settings.progress_stream
        writer = Writer(
            stdout,
            agent_mode=not self._has_person,
            output_format=output or "",
            protocol_version=call.protocol_version or "",
            force=call.force,
            dry_run=call.dry_run,
            tool_version=self.tool_version(),
            contract=contract,
            progress_stream=progress if progress in ("stdout", "stderr") else "auto",
            validate=configured and is_on("MURLI_TEST"),
        )
        # One answer from here on, and nothing has happened yet.
        writer.once, writer.phase = True, "validation"
        writer.in_lines |= call.stream
        return writer

    @property
    def host(self) -> Host:
        """What answers questions about the tool; loaded when there is one."""
        if self._host is None:
            self._host = self.runner.host()
        return self._host

    @property
    def is_for_people(self) -> bool:
        """Whether a person reads, to whom the framework speaks as it always did.

        An agent that asks for text gets our words and the codes of the contract.
        """
        return self._has_person and self.writer.is_tty()

    @property
    def is_attended(self) -> bool:
        """Whether a person answers for what the call does.

        They sit at the terminal; where a pipe is no sign of an agent, one may also be theirs. No
        output format makes a person of a declared agent, and no variable one of a pipe.
        """
        may_be = self.stdout_is_terminal or self.settings.agents != "pipe"
        return may_be and not self._is_agents and self.writer.is_tty()

    def tool_version(self) -> str:
        """Give the version to stamp on answers, from the most explicit source that has one."""
        return tool_version() or self.settings.tool_version or self.runner.version()

    def begin(self) -> None:
        """Do what comes before the framework parses; may answer and end the program."""
        self.enter()
        is_process = sys.stdout is sys.__stdout__
        if self.writer.is_tty() or not is_process:
            take_bursts_as_one(begin=False)
        else:
            from .custody import unwind_on_signals

            self._unhook = unwind_on_signals(self)
            for stream in (sys.stdin, sys.stdout, sys.stderr):
                if getattr(stream, "encoding", "utf-8") != "utf-8":
                    from ..patience import speak_utf8

                    self.undo.append(speak_utf8())
                    break
        self.capped = "_MAX_OUTPUT_BYTES\0" in self.variables and not self.writer.is_tty()
        # In text too: only a person at a terminal sees their own environment.
        if not self.is_attended and mentions_secret(self.variables):
            from .secret_names import secrets_of_environment

            for value in secrets_of_environment():
                self.hide(value, named=True)
        if self.in_family:
            from .family import begin

            begin(self)
        redirects = getattr(self.runner.app, REDIRECTS, None) or ()
        moved = False
        for old in redirects:
            moved = moved or old[0] in self.argv
        timed = "\0MURLI_TIMEOUT\0" in self.variables
        if self.scanned or moved or self.capped or timed:
            from .flags import heed

            if not heed(self, redirects if moved else None):
                return  # in the process of one call of many, which has begun
        if self.writer.is_tty() and (self.settings.dev or is_on("MURLI_DEV")):
            from ..commands.doctor import advise

            advise(self)

    @property
    def saved(self) -> Saved:
        """The profile in force; looked up when something may take a value from it."""
        if self._saved is None:
            from .saved import Saved

            self._saved = Saved(self)
        return self._saved

    def hide(self, value: Any, *, named: bool = False) -> None:
        """Keep a secret from now on: *value* is in nothing that leaves the process.

        *named* says that nobody declared it: the name of its option or variable tells. Those are
        left to a tool whose pipes are people's until a caller says that it is an agent.
        """
        if named and self.settings.agents != "pipe" and self.is_attended:
            return
        if self.secrets is None:
            from .redaction import secrets_for

            self.secrets = secrets_for(self)
            self.secrets.revealed = self.reveals
            self.secrets.capture = self.capture
            self.writer.hide(self.secrets)
        self.secrets.add(value, named=named)

    def _unguard(self) -> None:
        if self.secrets is not None:
            self.secrets.unguard()

    def admit(
        self,
        metadata: Metadata | None,
        path: tuple[str, ...] = (),
        *,
        forced: bool = False,
        previews: bool = False,
    ) -> None:
        """Let the command run, or refuse it; `plans` says that only its plan function may.

        *path* are its names below the tool's own. *forced* and *previews* say that its own
        ``--force`` or ``--dry-run`` was typed.
        """
        # Of this command alone: in a chain another one came before it.
        self.writer.intend(force=self.call.force or forced, dry_run=self.call.dry_run or previews)
        self.metadata, self.path, self.plans = metadata, path, False
        self.begun.append((metadata, path))
        # What nothing was declared or said about, just runs.
        plainly = metadata is None and not (self.scanned or self.in_family or self.reveals)
        if not plainly or self.settings.timeout or self.shaper is not None or self.settings.infers:
            from .guard import admit

            admit(self, metadata, previews)
        if not self.plans:
            self.writer.phase = "execution"  # from here on a failure may have left traces
        if self.deadline is not None:
            self.deadline.arm()

    def collect(self) -> None:
        """Keep what the handler prints away from the answer, until `finish`."""
        self._pid = os.getpid()
        if self.writer.is_tty():
            return
        from .capture import collect_stdout

        come = put_off_signals()  # between the two, an answer would be collected itself
        try:
            self.capture = collect_stdout()
            self.writer.send_to(self.capture.stream)
        finally:
            come()
        if self.secrets is not None:
            self.secrets.capture = self.capture

    def put_in_custody(self) -> Callable[[], None] | None:
        """Let the handler neither hang us nor cut us off, see `custody`; return the end of that.

        Where stdout is not the process's own nothing is done, and ``None`` returned.
        """
        if self.capture is None or not self.capture.is_process:
            return None
        from .custody import keep

        return keep(self)

    @property
    def concerned(self) -> bool:
        """Whether this process, and not a fork of it, still has to be answered for."""
        return os.getpid() == self._pid

    def release(self) -> None:
        """Stop collecting without answering; what was printed goes out as it was."""
        from .printing import release

        release(self)

    def refuse(self, error: AgentError) -> NoReturn:
        """Answer that the call cannot be done as it stands."""
        from .failures import refuse

        refuse(self, error)

    def end(self, code: int) -> NoReturn:
        """End the program, the answer being out."""
        self.leave()
        self._unguard()
        self._unwatch()
        self.writer.exit(code)

    def finish(
        self, error: BaseException | None, *, returned: Any = None, restore: bool = False
    ) -> int:
        """Say what the handler left unsaid and give the exit code.

        *error* is what ended the handler: ``None``, a `SystemExit`, or any other exception;
        *returned* what it returned.
        """
        self.brace(error)
        if self.cleanups is not None:
            self.cleanups.run(error)
        self.leave()
        if returned is not None:
            self.returned = returned
        self.is_finishing = True
        if self._around is not None and self._around.settings.is_program:
            self._around.verbatim = True  # what this call answers is the program's answer
        if restore and self.secrets is not None and isinstance(error, SystemExit):
            self.secrets.scrub_exit(error)
        if self._unhook is None and self.deadline is None:
            code = self._finish(error, restore)
            if restore:
                self.take_back()
            return code
        from .custody import hold_signals, leave_on_signals, take_interruption

        let_go = None
        while let_go is None:
            try:
                let_go = hold_signals()
            except KeyboardInterrupt as another:  # just before none could come any more
                error = error if self.writer.answered else another
        if self.deadline is not None:
            self.deadline.let_answer()
        interruption = take_interruption()
        if interruption is not None and not self.writer.answered:
            # A handler that was interrupted and ends as if it were not has not done its work.
            error = interruption if isinstance(error, (SystemExit, type(None))) else error
        code = self.writer.exit_code = self._finish(error, restore)
        if self.deadline is not None:
            # One answer is all there is: whoever takes long from here on is not the call.
            self.deadline.stop()
        interrupted = isinstance(error, KeyboardInterrupt)
        if restore:
            global settled
            settled = code
        if restore and (self._unhook is None or not interrupted):
            self._unwatch()  # first, so that none unwinds the program behind its answer
            let_go()
            return code
        if interrupted and not restore and not self.writer.is_tty():
            self.give_grace(error)  # threads may keep it from ending
            if self.deadline is not None:
                self.deadline.see_off(code)
        # Also where others go on: who was interrupted is leaving, and one more is no other end.
        leave_on_signals(code)
        if restore:
            self.take_back()
            if self._end_grace is not None and type(error) is KeyboardInterrupt:
                self._end_grace()  # whoever is at the keyboard decides what ends
                self._end_grace = None
        return code

    def give_grace(self, error: BaseException | None) -> None:
        """Let the call, which *error* interrupts, go on for a moment and no longer."""
        if self._end_grace is None and error is not None and self._unhook is not None:
            from .custody import begin_grace

            self._end_grace = begin_grace(self, error)

    def brace(self, error: BaseException | None) -> None:
        """Let no second signal disturb what is done about *error*, if that was the first."""
        if isinstance(error, KeyboardInterrupt) and not self.writer.is_tty():
            from .custody import hold_signals

            self.undo.append(hold_signals())

    def take_back(self) -> None:
        """Leave to others what is theirs."""
        while self.undo:
            self.undo.pop()()

    def _unwatch(self) -> None:
        """Take back what waits for signals and for the deadline, and whatever else there is."""
        self.take_back()
        if self.deadline is not None:
            self.deadline.stop()
        if self._end_grace is not None:
            self._end_grace()
        if self._unhook is not None:
            self._unhook()

    def _finish(self, error: BaseException | None, restore: bool) -> int:
        if self.capture is None:
            if restore:
                self._unguard()
            return self._conclude(error, "")
        if self.verbatim and isinstance(error, (SystemExit, type(None))):
            from .endings import status_of

            self.release()
            return 0 if error is None else status_of(error.code)
        ended = error is None or isinstance(error, SystemExit)
        asked = self.explained and ended and not getattr(error, "code", None)
        shown = self.shows_help and ended
        if (asked or shown) and not self.writer.answered:
            if self.in_family:
                from .family import finish_explaining

                return finish_explaining(self, restore)
            self.release()
            return 0
        capture = self.capture
        exits = isinstance(error, SystemExit) and not error.code
        if capture.is_process and (error is None or exits) and capture.size() > _LARGE:
            from .large import answer

            code = answer(self, restore=restore)
            if code is not None:
                return code
        printed = self.end_capture(capture, restore=restore)
        if self.lines is not None:
            printed = self.lines.end(printed)
        if isinstance(printed, bytes):
            printed = self._without_secrets(printed)
        elif "\r" in printed or "\x1b[" in printed or "\b" in printed:
            from ..formats.screen import result_in, split

            # What only showed how far it had come answers with how far that was.
            only_prints = (error is None or exits) and self.returned is None
            printed, progress = (result_in if only_prints else split)(printed)
            self.pass_on(progress)
        if capture.lost is not None and not self.writer.answered:
            from .endings import lost_printing, status_of

            if error is None or (isinstance(error, SystemExit) and not status_of(error.code)):
                error = lost_printing(capture.lost)
        code = self._conclude(error, printed)
        self.drop(capture, restore=restore)
        return code

    def end_capture(self, capture: Capture, *, restore: bool) -> str | bytes:
        """Stop collecting; return what was printed."""
        if self.end_alive is not None:
            self.end_alive()
        if self.secrets is not None:
            self.secrets.end_collecting()
        return capture.end(restore=restore)

    def drop(self, capture: Capture, *, restore: bool) -> None:
        """Be done with *capture*, the answer being out."""
        capture.stop_watching()
        if restore:
            self._unguard()
        self.capture = None
        capture.close()

    def _conclude(self, error: BaseException | None, printed: str | bytes) -> int:
        self.writer.flush()
        if self.secrets is not None:
            self.secrets.let_out()
        if error is None and self.writer.trouble is None:
            return self.succeed(printed)
        from .failures import conclude

        return conclude(self, error, printed)

    def enter(self) -> None:
        """Be the running invocation."""
        global _latest
        self._around = current()
        _latest = self
        _current.invocation = self

    def leave(self) -> None:
        """Be the running invocation no longer."""
        global _latest
        # One invocation may run inside another: a command that calls a tool in its process.
        if _latest is self:
            _latest = self._around
        if getattr(_current, "invocation", None) is self:
            _current.invocation = self._around

    def succeed(self, printed: str | bytes) -> int:
        """Answer with what the handler returned or printed, unless it has answered."""
        if self.writer.forgot_dry_run():
            from .failures import conclude
            from .guard import ran_for_real

            self.writer.ending = None
            return conclude(self, ran_for_real(), printed)
        if self.writer.answered:
            self.pass_on(printed)
            if self.shaper is not None and self.writer.is_tty():
                self.shaper.tell_unused()
            return self.standing or self.writer.exit_code
        if self.lines is not None:
            self.lines.conclude(self.returned)
        ending = self.writer.ending
        if ending is not None:
            from .streaming import end

            return end(self, printed)
        if self.writer.is_tty():
            self.pass_on(printed)
            if self.returned is not None or self.shaper is not None:
                from .printing import show_returned

                show_returned(self)
            return 0
        try:
            value = self._value(printed)
            if value is None:
                value = payload_of(printed, self.metadata)
            else:
                self.pass_on(printed)
                if printed and self.in_family:
                    from .warned import note_printed

                    data = printed.encode() if isinstance(printed, str) else printed
                    note_printed(self, len(data))
            self.writer.write_success("", value)
        except (Exception, KeyboardInterrupt) as error:  # it could not be encoded or written
            from .failures import conclude

            return conclude(self, error, "")
        if self.writer.ending is None:
            return self.standing
        from .streaming import end

        return end(self, "")

    def _value(self, printed: str | bytes) -> Any:
        """Return what the handler returned as plain data, ``None`` where that is no result."""
        returned = self.returned
        if returned is None or (printed and isinstance(returned, int)):
            return None  # a handler that prints and returns a number means a status
        try:
            return plain(returned, "result")
        except ValueError as error:
            if not printed:
                raise
            # The answer was printed; an object is for other Python code, and data is worth a word.
            if isinstance(returned, (dict, list, tuple)):
                self.writer.warn("RESULT_NOT_ENCODED", f"{error} What was printed is the answer.")
            return None

    def _without_secrets(self, printed: str | bytes) -> str | bytes:
        return printed if self.secrets is None else self.secrets.scrub_printed(printed)

    def pass_on(self, printed: str | bytes) -> None:
        """Hand text that is not the answer to stderr, where it is not lost."""
        if not printed:
            return
        printed = self._without_secrets(printed)
        text = cleaned(printed if isinstance(printed, str) else printed.decode("utf-8", "replace"))
        if self.in_family:
            from .surroundings import masked

            text = masked(text)
        try:
            put(standard("stderr"), str(self._without_secrets(text)))
        except OSError:  # nobody is there to read it
            pass

    # What whoever ends the program abruptly asks of us; see `host.Custodian`.
    answer = finish
    let_go = release


def payload_of(printed: str | bytes, metadata: Metadata | None = None) -> Any:
    """Give what a handler printed as a result; what is more than some lines, `printed` judges."""
    if isinstance(printed, str) and len(printed) < _LONG:
        text = printed.removesuffix("\n")
        # The first character tells JSON; several lines may be a table.
        usual = text[:1] not in ("", " ", "\n", "{", "[") and text[-1] != "\n"
        usual = usual and ("\n" not in text or not ("," in text or ";" in text))
        if usual and text.replace("\n", "").isprintable():
            return text
    from .printed import result_of

    return result_of(printed, metadata)
