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
9. what the handler did not report is reported, and the exit code follows

Steps 1 to 5 are `begin`, 7 is `admit`, 9 is `finish`.
"""

from __future__ import annotations

import os
import sys

from .. import core
from ..answer import Writer, payload_of
from ..contracts import MURLI, find_contract
from ..core import (
    ADMITTED,
    BEGUN,
    CONCLUDING,
    ENDED,
    LIBRARIES,
    MOUNTED,
    OVER,
    REDIRECTS,
    RUNNING,
    SCANNED,
    Call,
    current,
    end_of_own_flags,
    is_on,
    mentions_login,
    mentions_secret,
    set_current,
    tool_version,
    unset_current,
    variable_names,
)
from ..formats import (
    OUTPUT_FORMATS,
    cleaned,
    defer_signals,
    is_large,
    is_terminal,
    plain,
    put,
    standard,
    take_bursts_as_one,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

    from ..answer.declared_results import Steps
    from ..answer.filters import Shaper
    from ..answer.printed_lines import PrintedLines
    from ..contracts import Contract
    from ..core import Settings
    from ..declare import Metadata
    from ..errors import AgentError
    from ..handlers.cleanup import Cleanups
    from ..libraries.progress import Reporter
    from ..libraries.tables import Renderings
    from ..line.conditions import Condition
    from ..outcome import Page, Refusal
    from ..process.deadline import Deadline
    from ..secrets.redaction import Secrets
    from .ending.forced_end import ForcedEnd
    from .host import Capture, Hooks, Host, Runner
    from .saved_profile import Saved

    _Undo = Callable[[], None]
else:
    Hooks = object


# What is printed in more bytes is not answered as a whole.
_LARGE = 1 << 22
# What the latest invocation answered with that others outlived: its exit code.
last_exit_code: int | None = None


class Extras(Hooks):
    """What a contract adds to a call: murli's nothing; others are in `response_envelope`."""

    # The lines of the card that belongs to the help text of this call.
    card: Sequence[str] = ()

    def __init__(self, invocation: Invocation) -> None:
        self.invocation = invocation

    def _nothing(self, *args: Any, **named: Any) -> Any:
        """Add nothing; one function for all, because each more is paid for at every start."""

    if not TYPE_CHECKING:
        begin = take_secrets = check_format = take_in = complete = _nothing
        note_printed = answer_bare_call = explain = weigh = _nothing

    def timeout(self) -> str:
        """Return what the environment says about the time a call of this tool may take."""
        return ""

    def masked(self, text: str) -> str:
        """Return *text*, which is for stderr, without what its own words call a secret."""
        return text

    def finish_explaining(self, restore: bool) -> int:
        """Answer who asked for help or for the version."""
        self.invocation.abandon()
        return 0

    def finalize(self, error: AgentError) -> AgentError:
        """Return *error* as the contract has it."""
        return error


class Request:
    """What the caller asked for: the words, the contract, the audience, the profile.

    *above* is another call on the same command line, whose flags of ours count here too.
    """

    # Whether words that led to it stand before its own; whether a variable may limit its answer,
    # and whether the contract limits answers though nobody has asked for that.
    is_part = is_capped = is_bounded = False
    # Whether a refusal is raised, for a caller who wants exceptions, instead of answered.
    raises = False
    # The profile in force, once it was looked up; see `Invocation.saved`.
    profile: Saved | None = None
    _host: Host | None = None
    contract: Contract

    def __init__(
        self,
        runner: Runner,
        settings: Settings,
        argv: Sequence[str],
        stdout: Any,
        above: Request | None,
    ) -> None:
        self.runner = runner
        self.settings = settings
        self.argv = argv
        # Those that are not there need not be looked up one by one.
        self.variables = variable_names()
        self.is_configured = "\0MURLI_" in self.variables
        # The flags whose values a profile gave, and the profile's name.
        self.applied: dict[str, str] = {}
        name = (self.is_configured and os.environ.get("MURLI_CONTRACT")) or settings.contract
        around = current()
        if above is None and around is not None and around.settings.is_program:
            above = around.request
        if above is not None:
            name = above.contract.name
        self.call = Call()
        # Whether there is anything on the command line that could be for us.
        mounted: tuple[str, ...] = MOUNTED if settings.mount else ()
        self.is_scanned = end_of_own_flags(argv, mounted) > 0
        contract = find_contract(name) or MURLI
        if contract.adds_flags or (self.is_scanned and "--contract" in "\0".join(argv)):
            from ..line.scanning import scan_for_contract

            self.call = call = scan_for_contract(self.host, settings, argv, name)
            self.is_scanned = bool(call.taken or call.mounted or call.mistake or call.is_undecided)
        elif self.is_scanned:
            from ..line.scanning import mounted_on, scan

            root = self.host.level()
            self.call = scan(argv, root, mounted_on(root, self.host, mounted))
        else:
            self.call.rest = list(argv)
        if above is not None:
            from ..line.calls import inherit

            inherit(self, above)
        # The contract that was asked for, and what was asked for in place of one.
        name = self.call.contract or name
        found = find_contract(name)
        self.contract = found or MURLI
        self.unknown_contract = name if found is None else ""
        self.stdout_is_terminal = at_terminal = is_terminal(stdout or standard("stdout"))
        # A variable that asks for text makes no person of an agent that has announced itself.
        hides = settings.agents == "detect" and not at_terminal and settings.is_announced()
        mode = settings.mode(configured=self.is_configured)
        # Whether the caller says that it is an agent, and whether it may be a person.
        self.is_agents = self.call.agent or hides or mode == "agent"
        self.has_person = settings.is_for_people(at_terminal, mode) and not self.call.agent

    @property
    def host(self) -> Host:
        """What answers questions about the tool; loaded when there is one."""
        if self._host is None:
            self._host = self.runner.host()
        return self._host

    def tool_version(self) -> str:
        """Return the version to stamp on answers, from the most explicit source that has one."""
        return tool_version() or self.settings.tool_version or self.runner.version()

    def make_writer(self, stdout: Any) -> Writer:
        """Return the writer of the one answer."""
        call, configured = self.call, self.is_configured
        # A format that does not exist cannot say how its own refusal is to be written.
        output = call.output if call.output in OUTPUT_FORMATS else ""
        if self.contract.adds_flags:
            from .response_envelope import output_format

            output = output_format(self)
        progress = configured and os.environ.get("MURLI_PROGRESS")
        progress = progress or self.settings.progress_stream
        writer = Writer(
            stdout,
            agent_mode=not self.has_person,
            output_format=output or "",
            protocol_version=call.protocol_version or "",
            force=call.force,
            dry_run=call.dry_run,
            tool_version=self.tool_version(),
            contract=self.contract.name,
            progress_stream=progress if progress in ("stdout", "stderr") else "auto",
            validate=configured and is_on("MURLI_TEST"),
        )
        # One answer from here on, and nothing has happened yet.
        writer._reply.single_answer, writer._reply.phase = True, "validation"
        writer._reply.one_line |= call.stream
        return writer


class Running:
    """The command that runs, and what became of it so far."""

    metadata: Metadata | None = None
    # Its names below the tool's own; the command as the host knows it; what was parsed for it; the
    # function that runs, where the framework knows it; what that returned.
    path: tuple[str, ...] = ()
    command: Any = None
    parsed: Any = None
    handler: Any = None
    returned: Any = None
    steps: Steps | None = None
    # Which part of a list it has printed, where that can be read from it.
    page: Page | None = None
    # What its result is tested for, where it is one look of many; see `waiting`.
    waits_for: tuple[Condition, ...] = ()
    # The questions that the call's own words have answered; see `process.traps`.
    agreed: frozenset[str] = frozenset()
    # What streams the lines that it prints, where the caller wants that.
    lines: PrintedLines | None = None
    # What decides which part of an answer is given, once that was made.
    shaper: Shaper | None = None
    # What libraries have rendered that is more than text; see `libraries.tables`.
    tables: Renderings | None = None
    # What the tool's own parser found wrong, while it is not known what the tool makes of that.
    refusal: Refusal | None = None
    # The exit code of a refusal that stands, whatever a handler that only previews makes of it.
    refused_exit_code = 0
    # Whether its plan function runs in the place of its handler; whether its answer may reveal
    # secrets; whether the caller has said how long it may take, be it for ever; whether calls in
    # processes of their own are what runs; whether several values would have been noticed; whether
    # it is one of such calls, whose failures are answers on stdout as well.
    plans = reveals = is_timed = awaits_calls = notices_values = fails_on_stdout = False
    # Whether the tool was asked for its help or version, which is text for any caller; whether
    # it showed its help itself, because it was called with nothing; whether what is printed is for
    # a shell, a completion script say, and no contract changes it; whether a help text of the
    # framework's has come by, with our part of it.
    explained = shows_help = verbatim = explains_ours = False
    # Whether a handler has shown a person something already; whether what was printed is in the
    # answer that is being made though more may come.
    printed = shows_printed = False

    def __init__(self) -> None:
        # What was declared about each command that was called, and its names below the tool's own.
        self.begun: list[tuple[Metadata | None, tuple[str, ...]]] = []
        # The flags that were given, where the command declares something that depends on them, and
        # whether they stand on the command line.
        self.flags_given: dict[str, bool] = {}
        # What is added to the result itself.
        self.marks: dict[str, Any] = {}


class CallProcess:
    """The process that a call runs in: its stdout, its signals, and its end, however abrupt.

    A `ProcessGuard` for `process_guard`.
    """

    # Whether the end of the process answers the call; whether signals unwind it.
    is_owned = watches_signals = False
    # What ends the reports that the call goes on; see `heartbeat`.
    end_heartbeat: _Undo | None = None
    # What looks at progress bars from a thread of its own; see `libraries.progress`.
    reporters: frozenset[Reporter] = frozenset()
    # What ends the time that an interrupted call has to end.
    end_grace: _Undo | None = None
    # What ends that the handler can neither hang us nor cut us off.
    _unguard: _Undo | None = None
    _pid = 0

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        # What is undone last, when signals are no longer watched.
        self.undo: list[_Undo] = []

    @property
    def capture(self) -> Capture | None:
        """What collects the stdout of the handler."""
        return self._invocation.capture

    @property
    def is_this_process(self) -> bool:
        """Whether this process, and not a fork of it, still has to be answered for."""
        return os.getpid() == self._pid

    @property
    def forced_end(self) -> ForcedEnd:
        """What ends the call where it does not end by itself."""
        from .ending.forced_end import ForcedEnd

        return ForcedEnd(self._invocation)

    def watch_signals(self) -> None:
        """Have signals unwind the program."""
        from ..process.process_guard import unwind_on_signals

        invocation = self._invocation
        self.undo.append(unwind_on_signals(invocation))
        self.watches_signals = True

    def speak_utf8(self) -> None:
        """Have the standard streams speak UTF-8, whatever the locale says."""
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if getattr(stream, "encoding", "utf-8") != "utf-8":
                from ..formats.patience import speak_utf8

                self._invocation.undo.append(speak_utf8())
                break

    def collect(self) -> None:
        """Keep what the handler prints away from the answer, until `Invocation.finish`."""
        invocation = self._invocation
        self._pid = os.getpid()
        if invocation.writer.is_tty():
            return
        from ..process import collect_stdout

        resume = defer_signals()  # between the two, an answer would be collected itself
        try:
            invocation.capture = collect_stdout()
            invocation.writer._outlet.stdout = invocation.capture.stream
        finally:
            resume()
        if invocation.secrets is not None:
            invocation.secrets.capture = invocation.capture
        self.watch_libraries()

    def watch_libraries(self) -> None:
        """Hook the libraries that print more than text, loaded or to be loaded, for this call."""
        if not sys.modules.keys().isdisjoint(LIBRARIES):
            from ..libraries import hook_loaded

            hook_loaded(self._invocation)
        sys.meta_path.insert(0, self)
        self._invocation.undo.append(self.forget_libraries)

    def forget_libraries(self) -> None:
        """Hook no library that is loaded from now on."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return how to load a module that is to be hooked; ``None`` for any other."""
        if name not in LIBRARIES:
            return None
        from ..libraries import hooking_spec

        return hooking_spec(self._invocation, name, path, target)

    def begin_handler(self) -> None:
        """Collect what the handler prints, and let it neither hang us nor cut us off."""
        self.collect()
        if self.capture is not None and self.capture.is_process:
            from ..process.process_guard import install

            self._unguard = install(self)

    def end_handler(self) -> None:
        """Leave the process to itself again; what the handler prints still is collected."""
        self._invocation.state = ENDED
        if self._unguard is not None:
            self._unguard()

    def answer(self, error: BaseException | None) -> int:
        """Answer for a program that ends abruptly, and return the exit code."""
        return self._invocation.finish(error)

    def hand_over(self) -> None:
        """Leave the process to another program; what was printed goes out as it was."""
        self._invocation.abandon()

    def end_capture(self, capture: Capture, *, restore: bool) -> str | bytes:
        """Stop collecting; return what was printed."""
        if self.end_heartbeat is not None:
            self.end_heartbeat()
        if self._invocation.secrets is not None:
            self._invocation.secrets.end_collecting()
        return capture.end(restore=restore)

    def drop(self, capture: Capture, *, restore: bool) -> None:
        """Be done with *capture*, the answer being out."""
        capture.stop_watching()
        # With it goes all of the tool, which Python would look through at its end.
        self.forget_libraries()
        if restore:
            _stop_redacting(self._invocation)
        self._invocation.capture = None
        capture.close()

    def give_grace(self, error: BaseException | None) -> None:
        """Let the call, which *error* interrupts, go on for a moment and no longer."""
        if self.end_grace is None and error is not None and self.watches_signals:
            from ..process.process_guard import begin_grace

            self.end_grace = begin_grace(self._invocation, error)
            self.undo.append(self.end_grace)

    def block_signals_after_interrupt(self, error: BaseException | None) -> None:
        """Let no second signal disturb what is done about *error*, if that was the first."""
        if isinstance(error, KeyboardInterrupt) and not self._invocation.writer.is_tty():
            from ..process.process_guard import hold_signals

            self._invocation.undo.append(hold_signals())


class Invocation:
    """The running call, from the scanned command line to the exit code.

    ``state`` is how far it has come: scanned, begun, admitted, running, ended, concluding, over.
    """

    request: Request
    writer: Writer
    contract: Contract
    # What takes back, last in first out, what was put in place of others while the call runs.
    undo: list[_Undo]
    state = SCANNED
    capture: Capture | None = None
    # What must not be written, if anything.
    secrets: Secrets | None = None
    deadline: Deadline | None = None
    # What handlers left to be done at the end; see `murli.handlers.cleanup`.
    cleanups: Cleanups | None = None
    _around: Invocation | None = None

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
        request = self.request = Request(
            runner, settings, argv, stdout, None if above is None else above.request
        )
        request.raises = raises
        self.running = Running()
        self.process = CallProcess(self)
        self.undo = []
        # What an answer says about the call, where the contract has a place for it.
        self.meta: dict[str, Any] = {}
        self.writer = writer = request.make_writer(stdout)
        writer._invocation = self
        # What the answer follows; a person reads no document of another contract.
        self.contract = MURLI if writer.is_tty() else request.contract
        # What the contract adds to the call.
        self.extras = Extras(self)
        if request.contract.adds_flags:
            from .response_envelope import EnvelopeCall, EnvelopeFlags

            self.extras = EnvelopeFlags(self) if writer.is_tty() else EnvelopeCall(self)
        if request.is_scanned and writer.is_tty():
            from .own_flags import leave_to_the_tool

            leave_to_the_tool(self)

    @property
    def settings(self) -> Settings:
        """What the author chose in ``enable``."""
        return self.request.settings

    @property
    def call(self) -> Call:
        """What the command line says once our flags are out of it."""
        return self.request.call

    @property
    def host(self) -> Host:
        """What answers questions about the tool."""
        return self.request.host

    @property
    def metadata(self) -> Metadata | None:
        """What was declared about the command that runs."""
        return self.running.metadata

    @property
    def shaper(self) -> Shaper | None:
        """What decides which part of an answer is given, where one may be; see `answer.filters`."""
        if self.running.shaper is None and self.request.is_bounded:
            from ..answer.requested import prepare

            prepare(self)
        return self.running.shaper

    @property
    def is_for_people(self) -> bool:
        """Whether a person reads, to whom the framework speaks as it always did.

        An agent that asks for text gets our words and the codes of the contract.
        """
        return self.request.has_person and self.writer.is_tty()

    @property
    def is_attended(self) -> bool:
        """Whether a person answers for what the call does.

        They sit at the terminal; where a pipe is no sign of an agent, one may also be theirs. No
        output format makes a person of a declared agent, and no variable one of a pipe.
        """
        request = self.request
        may_be = request.stdout_is_terminal or self.settings.agents != "pipe"
        return may_be and not request.is_agents and self.writer.is_tty()

    @property
    def saved(self) -> Saved:
        """The profile in force; looked up when something may take a value from it."""
        if self.request.profile is None:
            from .saved_profile import profile_in_force

            self.request.profile = profile_in_force(self)
        return self.request.profile

    def begin(self) -> Invocation:
        """Do what comes before the framework parses; may answer and end the program.

        Returns the invocation to go on with: in the process of one call of many, another one.
        """
        self.activate()
        request = self.request
        if request.unknown_contract:
            from ..contracts import CONTRACT_NAMES
            from ..line.usage import invalid_setting

            self.refuse(invalid_setting("contract", request.unknown_contract, CONTRACT_NAMES))
        is_process = sys.stdout is sys.__stdout__
        if self.writer.is_tty() or not is_process:
            take_bursts_as_one(begin=False)
        else:
            self.process.watch_signals()
        if is_process and not self.is_for_people:  # an agent may have asked for text
            self.process.speak_utf8()
        names = request.variables
        request.is_capped = "_MAX_OUTPUT_" in names and not self.writer.is_tty()
        _hide_environment(self, names)
        asks = self.extras.begin()
        redirects = getattr(request.runner.app, REDIRECTS, None) or ()
        moved = False
        for old in redirects:
            moved = moved or old[0] in request.argv
        timed = "\0MURLI_TIMEOUT\0" in names
        asks = asks or request.is_scanned or moved or request.is_capped or timed
        if asks or (core.declares_batch and not self.is_for_people):
            from .own_flags import handle_own_flags

            forked = handle_own_flags(self, redirects if moved else None)
            if forked is not None:
                return forked  # which has begun
        if self.writer.is_tty() and (self.settings.dev or is_on("MURLI_DEV")):
            self.settings.commands().advise(self)
        self.state = BEGUN
        return self

    def hide(self, value: Any, *, named: bool = False) -> None:
        """Keep a secret from now on: *value* is in nothing that leaves the process.

        *named* says that nobody declared it: the name of its option or variable shows it. Those are
        left to a tool whose pipes are people's until a caller says that it is an agent.
        """
        if named and self.settings.agents != "pipe" and self.is_attended:
            return
        if self.secrets is None:
            from ..secrets.redaction import secrets_for

            self.secrets = secrets_for(self)
            self.secrets.revealed = self.running.reveals
            self.secrets.capture = self.capture
            self.writer._outlet.hide(self.secrets)
        self.secrets.add(value, named=named)

    def admit(
        self,
        metadata: Metadata | None,
        path: tuple[str, ...] = (),
        *,
        forced: bool = False,
        previews: bool = False,
    ) -> None:
        """Let the command run, or refuse it; `Running.plans` says that only its plan function may.

        *path* are its names below the tool's own. *forced* and *previews* say that its own
        ``--force`` or ``--dry-run`` was typed.
        """
        names = variable_names()
        if names != self.request.variables:  # a group's function has read a file of settings, say
            _hide_environment(self, names)
        # Of this command alone: in a chain another one came before it.
        self.writer._intend(force=self.call.force or forced, dry_run=self.call.dry_run or previews)
        running = self.running
        running.metadata, running.path, running.plans = metadata, path, False
        running.begun.append((metadata, path))
        self.state = ADMITTED
        # What nothing was declared or said about, just runs.
        plainly = not (self.request.is_scanned or running.reveals)
        if plainly and metadata is not None:
            from ..declare import runs_plainly

            plainly = runs_plainly(metadata)
        plainly = plainly and not (self.settings.timeout or self.request.contract.adds_flags)
        if not plainly or self.settings.infers:
            from .guard import admit

            admit(self, metadata, previews)
        if not running.plans:
            self.state = RUNNING
            self.writer._reply.phase = "execution"  # from here on a failure may have left traces
        if self.deadline is not None:
            self.deadline.arm()

    def abandon(self) -> None:
        """Stop collecting without answering; what was printed goes out as it was."""
        from ..answer.shown import release

        release(self)

    def refuse(self, error: AgentError) -> NoReturn:
        """Answer that the call cannot be done as it stands."""
        from .ending.failures import refuse

        refuse(self, error)

    def exit(self, code: int) -> NoReturn:
        """End the program, the answer being out."""
        self.deactivate()
        _stop_redacting(self)
        self.stop_watching()
        self.writer._exit(code)

    def finish(
        self, error: BaseException | None, *, returned: Any = None, restore: bool = False
    ) -> int:
        """Answer what the handler left unanswered, and return the exit code.

        *error* is what ended the handler: ``None``, a `SystemExit`, or any other exception;
        *returned* what it returned.
        """
        self.state = ENDED
        self.process.block_signals_after_interrupt(error)
        if self.cleanups is not None:
            self.cleanups.run(error)
        self.deactivate()
        if returned is not None:
            self.running.returned = returned
        self.state = CONCLUDING
        if self._around is not None and self._around.settings.is_program:
            self._around.running.verbatim = True  # what this call answers is the program's answer
        if restore and self.secrets is not None and isinstance(error, SystemExit):
            self.secrets.scrub_exit(error)
        process = self.process
        if not process.watches_signals and self.deadline is None:
            code = _finish(self, error, restore)
            self.running.returned = None
            if restore:
                self.undo_all()
            self.state = OVER
            return code
        from ..process.process_guard import (
            ending_behind,
            hold_signals,
            leave_on_signals,
            take_interruption,
        )

        release_signals = None
        while release_signals is None:
            try:
                release_signals = hold_signals()
            except KeyboardInterrupt as another:  # just before none could come any more
                error = error if self.writer._reply.answered else another
        if self.deadline is not None:
            self.deadline.let_answer()
        if not self.writer._reply.answered:
            # A handler that was interrupted and ends as if it were not has not done its work.
            error = ending_behind(error)
        take_interruption()
        code = self.writer._reply.exit_code = _finish(self, error, restore)
        self.running.returned = None  # it may be large
        self.state = OVER
        if self.deadline is not None:
            # One answer is all there is: what takes long from here on is not the call.
            self.deadline.stop()
        interrupted = isinstance(error, KeyboardInterrupt)
        if restore:
            global last_exit_code
            last_exit_code = code
        if restore and not (process.watches_signals and interrupted):
            self.stop_watching()  # first, so that none unwinds the program behind its answer
            release_signals()
            return code
        if interrupted and not restore and not self.writer.is_tty():
            process.give_grace(error)  # threads may keep it from ending
            if self.deadline is not None:
                self.deadline.see_off(code)
        # Also where others go on: who was interrupted is leaving, and one more is no other end.
        leave_on_signals(code)
        if restore:
            self.undo_all()
            if process.end_grace is not None and type(error) is KeyboardInterrupt:
                process.end_grace()  # the person at the keyboard decides what ends
                process.end_grace = None
        return code

    def undo_all(self) -> None:
        """Leave to others what is theirs."""
        while self.undo:
            self.undo.pop()()

    def stop_watching(self) -> None:
        """Undo everything, what waits for signals and for the deadline included."""
        self.undo_all()
        if self.deadline is not None:
            self.deadline.stop()
        while self.process.undo:
            self.process.undo.pop()()

    def conclude(self, error: BaseException | None, printed: str | bytes) -> int:
        """Answer for what ended the handler, and return the exit code."""
        self.writer.flush()
        if self.secrets is not None:
            self.secrets.let_out()
        reply = self.writer._reply
        if isinstance(error, SystemExit) and (error.code is None or error.code == 0):
            # Who exits with 0 has returned, unless a document or a person has been answered.
            error = error if reply.answered or self.writer.is_tty() else None
        if error is None and self.writer._outlet.write_error is None:
            return succeed(self, printed)
        from .ending.failures import conclude

        return conclude(self, error, printed)

    def activate(self) -> None:
        """Be the running invocation."""
        self._around = current()
        set_current(self)

    def deactivate(self) -> None:
        """Be the running invocation no longer."""
        # One invocation may run inside another: a command that calls a tool in its process.
        unset_current(self, self._around)

    def pass_on(self, printed: str | bytes) -> None:
        """Hand text that is not the answer to stderr, where it is not lost."""
        if not printed:
            return
        printed = scrubbed(self, printed)
        text = cleaned(printed if isinstance(printed, str) else printed.decode("utf-8", "replace"))
        text = self.extras.masked(text)
        try:
            put(standard("stderr"), str(scrubbed(self, text)))
        except OSError:  # nobody is there to read it
            pass


def _hide_environment(invocation: Invocation, names: str) -> None:
    """Keep the secrets in the variables, whose *names* are given, and in addresses.

    In text too: only a person at a terminal sees their own environment.
    """
    words = invocation.request.argv
    if not invocation.is_attended and (mentions_secret(names) or mentions_login(words)):
        from ..secrets.names import secrets_around

        for value in secrets_around(words):
            invocation.hide(value, named=True)


def _finish(invocation: Invocation, error: BaseException | None, restore: bool) -> int:
    running = invocation.running
    if invocation.capture is None:
        if restore:
            _stop_redacting(invocation)
        return invocation.conclude(error, "")
    if running.verbatim and isinstance(error, (SystemExit, type(None))):
        from ..outcome import status_of

        invocation.abandon()
        return 0 if error is None else status_of(error.code)
    ended = error is None or isinstance(error, SystemExit)
    asked = running.explained and ended and not getattr(error, "code", None)
    shown = running.shows_help and ended
    if (asked or shown) and not invocation.writer._reply.answered:
        return invocation.extras.finish_explaining(restore)
    capture = invocation.capture
    exits = isinstance(error, SystemExit) and not error.code
    if capture.is_process and (error is None or exits) and capture.size() > _LARGE:
        from ..answer.large import answer

        code = answer(invocation, restore=restore)
        if code is not None:
            return code
    printed = invocation.process.end_capture(capture, restore=restore)
    if running.lines is not None:
        printed = running.lines.end(printed)
    if isinstance(printed, bytes):
        printed = scrubbed(invocation, printed)
    elif "\r" in printed or "\x1b[" in printed or "\b" in printed:
        from ..formats.screen import result_in, split

        # What only showed how far it had come answers with how far that was.
        only_prints = (error is None or exits) and running.returned is None
        printed, progress = (result_in if only_prints else split)(printed)
        invocation.pass_on(progress)
    if capture.lost is not None and not invocation.writer._reply.answered:
        from ..outcome import status_of
        from .ending.endings import lost_printing

        if error is None or (isinstance(error, SystemExit) and not status_of(error.code)):
            error = lost_printing(capture.lost)
    code = invocation.conclude(error, printed)
    invocation.process.drop(capture, restore=restore)
    return code


def succeed(invocation: Invocation, printed: str | bytes) -> int:
    """Answer with what the handler returned or printed, unless it has answered."""
    running = invocation.running
    if invocation.writer._forgot_dry_run():
        from ..answer.presentation import ran_for_real
        from .ending.failures import conclude

        invocation.writer._reply.stream_summary = None
        return conclude(invocation, ran_for_real(), printed)
    if invocation.writer._reply.answered:
        invocation.pass_on(printed)
        if invocation.shaper is not None and invocation.writer.is_tty():
            invocation.shaper.warn_of_unused()
        return running.refused_exit_code or invocation.writer._reply.exit_code
    if running.lines is not None:
        running.lines.conclude(running.returned)
    ending = invocation.writer._reply.stream_summary
    if ending is not None:
        from ..answer.streaming import end

        return end(invocation, printed)
    if invocation.writer.is_tty():
        invocation.pass_on(printed)
        if running.returned is not None or invocation.shaper is not None:
            from ..answer.shown import show_returned

            show_returned(invocation)
        return 0
    try:
        message, value = "", _value(invocation, printed)
        if value is None:
            message, value = _result_of(invocation, printed)
        else:
            invocation.pass_on(printed)
            invocation.extras.note_printed(printed)
        invocation.writer.write_success(message, value, page=running.page)
    except (Exception, KeyboardInterrupt) as error:  # it could not be encoded or written
        from .ending.failures import conclude

        return conclude(invocation, error, "")
    if invocation.writer._reply.stream_summary is None:
        return running.refused_exit_code or invocation.writer._reply.exit_code
    from ..answer.streaming import end

    return end(invocation, "")


def _value(invocation: Invocation, printed: str | bytes) -> Any:
    """Return what the handler returned as plain data, ``None`` where that is no result."""
    returned = invocation.running.returned
    if returned is None or (printed and isinstance(returned, int)):
        return None  # a handler that prints and returns a number means a status
    if is_large(returned):
        from ..formats import quick

        returned = quick.prepared(returned, afresh=True)
        if quick.kept is not None:
            return returned
    try:
        return plain(returned, "result")
    except ValueError as error:
        if not printed:
            raise
        # The answer was printed; an object is for other Python code, and data is worth a word.
        if isinstance(returned, (dict, list, tuple)):
            invocation.writer.warn("RESULT_NOT_ENCODED", f"{error} What was printed is the answer.")
        return None


def _result_of(invocation: Invocation, printed: str | bytes) -> tuple[str, Any]:
    """Return the message and the result of a command that *printed* something."""
    tables = invocation.running.tables
    if tables is not None and isinstance(printed, str):
        from ..libraries.tables import answer_of

        found = answer_of(invocation, tables, printed)
        if found is not None:
            return found
    metadata = invocation.metadata
    parse = getattr(metadata, "parsed", None)  # who knows how it is laid out; see `retrofit`
    if parse is not None and isinstance(printed, str):
        found = parse(printed, invocation)
        if found is not None:
            return "", plain(found)
    value = payload_of(printed, metadata)
    if isinstance(value, str) and "\n" in value:
        from ..answer.printed import lines_of

        value = lines_of(invocation, value)
    return "", value


def scrubbed(invocation: Invocation, printed: str | bytes) -> str | bytes:
    """Return what was *printed* without the secrets of the call."""
    return printed if invocation.secrets is None else invocation.secrets.scrub_printed(printed)


def _stop_redacting(invocation: Invocation) -> None:
    if invocation.secrets is not None:
        invocation.secrets.unguard()
