"""The rest of the program as a handler.

A tool that keeps calling its own ``parse_args()`` hands us no function to wrap: its handler is
whatever the program does afterwards. So the end of the process is where we answer: an uncaught
exception through ``sys.excepthook``, everything else at interpreter exit.

There, one fact is hard to come by: the status of a `SystemExit`. Three sources, in order:

* From Python 3.12 ``sys.monitoring`` reports what leaves the outermost frame.
* Before that ``sys.exit`` is ours while the invocation runs. It raises a subclass whose ``code`` is
  asked for by the interpreter itself when it ends the program, and by nobody else in that way.
* Without either, a frame that did not end in a return was left by a `SystemExit` we did not see
  (``sys.exit(main())`` looks ``sys.exit`` up before ``main`` runs). The process then forks at
  the very end: the child goes on to exit as it would have, the parent waits for its status.

``os._exit`` and ``os.exec*`` end a program without either; while the invocation runs they are
ours too, so that what was printed by then is not lost.

Where murli itself has answered (``describe``, a refusal), the exit code is the answer's, whatever
the program makes of the `SystemExit` that ends it.
"""

from __future__ import annotations

import atexit
import os
import sys
from _thread import get_ident

from ...core import RUNNING
from ...formats import defer_signals
from ...process import collect_stdout, stdout_is_ours
from ...process.process_guard import (
    ending_behind,
    hold_signals,
    install,
    replace,
    take_interruption,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType, FrameType, TracebackType
    from typing import Any, NoReturn

    from .. import Invocation
    from ..host import Capture

_MONITOR_IDS = (4, 3)  # the two that sys.monitoring leaves to nobody in particular
_RETURN_VALUE = 83  # in 3.10 and 3.11, the only versions that look; importing opcode is dear

_owner: ProgramAsHandler | None = None


def can_adopt(argv: Sequence[str] | None) -> bool:
    """Return whether the program is ours to the end.

    A test that calls ``main([...])``, or that captures ``sys.stdout``, keeps its process.
    """
    testing = "pytest" in sys.modules or "unittest" in sys.modules
    if testing and argv is not None and list(argv) != sys.argv[1:]:
        return False
    threading = sys.modules.get("threading")
    if threading is not None and threading.current_thread() is not threading.main_thread():
        return False
    return stdout_is_ours()


def answer_stream() -> Any:
    """Return the stream answers go to when stdout is being collected already, else ``None``."""
    return _owner.capture.stream if _owner and _owner.capture else None


def has_ended(frame: FrameType | None) -> bool:
    """Return whether the program, whose rest is the handler, has run to its end.

    *frame* is what the main thread executes then: its exit functions, or Python itself, which
    waits for threads.
    """
    if _owner is None or not _owner.is_this_process:
        return False
    return frame is None or _outermost(frame) not in _owner.interruptible


def has_failed() -> bool:
    """Return whether that program ends by an exception, which is answered for next."""
    return _owner is not None and _owner.uncaught() is not None


def begin(invocation: Invocation, words: Sequence[str] | None) -> Invocation:
    """Begin *invocation*, of a program that called a tool with *words*; may answer and end it."""
    try:
        return invocation.begin()
    except (SystemExit, Exception) as ending:
        from .succession import end_early

        end_early(invocation, ending, words)


def adopt_program(invocation: Invocation, *, answered: int | None = None) -> None:
    """Treat the rest of the program as the handler of *invocation*.

    Or, where murli has *answered* with that exit code, as what must not change it any more.
    """
    global _owner
    if _owner is None:
        _owner = ProgramAsHandler(invocation)
    if answered is None:
        _owner.take(invocation)
    else:
        from .succession import settle

        settle(_owner, invocation, answered)


def let_program_end(
    invocation: Invocation, ending: BaseException | None, argv: Sequence[str] | None
) -> None:
    """End the handler as its framework would, the rest of the program being part of the call.

    What the program does about *ending* is the answer; a refusal waits for that. A handler that
    has answered, or was interrupted, is answered for at once, and the program keeps that exit
    code. *argv* is what the tool was called with. Returns where the program is not ours. One that
    says itself what to call the tool with goes on to something else, unless an exception ends it.
    """
    from .for_people import is_for_the_tool

    is_exit = ending is None or not is_for_the_tool(ending)
    if not is_program(argv) or (argv is not None and is_exit):
        return
    if invocation.writer._reply.answered or isinstance(ending, KeyboardInterrupt):
        code = invocation.finish(ending)
        adopt_program(invocation, answered=code)
        raise Exit(code)
    adopt_own_program(invocation, argv)
    leave(invocation, ending)


def leave(invocation: Invocation, ending: BaseException | None) -> NoReturn:
    """End a handler, which *ending* has ended, as its framework would; the program goes on."""
    from ...errors import AgentError

    if ending is None:
        raise Exit(0)
    if isinstance(ending, AgentError):
        from ...answer.presentation import code_of
        from ...outcome import Refusal

        status = code_of(invocation.writer, ending)
        invocation.running.refusal = Refusal(ending, status)
        raise Exit(status)
    raise ending


def adopt_own_program(invocation: Invocation, argv: Sequence[str] | None) -> bool:
    """Treat the rest of the program as the handler if *argv* is its own; return whether it is."""
    if not is_program(argv):
        return False
    invocation.state = min(invocation.state, RUNNING)
    invocation.activate()
    adopt_program(invocation)
    return True


def is_program(argv: Sequence[str] | None) -> bool:
    """Return whether a tool called with *argv* is the program, which is ours to the end."""
    if _owner is not None and _owner.is_this_process:
        return False  # it is part of a program that is answered for already
    # A list that happens to be empty is more likely one of the caller's own.
    is_its_own = argv is None or (bool(argv) and list(argv) == sys.argv[1:])
    return is_its_own and can_adopt(argv)


class ProgramAsHandler:
    """What is installed in the process between the start of parsing and its end."""

    def __init__(self, invocation: Invocation) -> None:
        self.pid, self.thread = os.getpid(), get_ident()
        self.invocation = invocation
        self.capture: Capture | None = None
        self.outermost = _outermost(sys._getframe())
        # Beneath these a signal may still raise: the program's own code, and then its cleanups.
        self.interruptible = [self.outermost]
        # What ended the program, and the status Python will exit with because of it.
        self.ending: BaseException | None = None
        self.status = 0
        # The exit code of an answer that murli gave by itself.
        self.own_exit_code: int | None = None
        self.done = False
        self.undo: list[Callable[[], None]] = []
        self.watched = False
        self._uncaught_before = getattr(sys, "last_value", None)
        sys.excepthook, self.previous_hook = self.on_uncaught, sys.excepthook
        atexit.register(self.on_exit)

    @property
    def has_own_hook(self) -> bool:
        """Whether the author wants to learn of a crash himself."""
        from .for_people import is_authors

        return is_authors(self.previous_hook)

    @property
    def is_this_process(self) -> bool:
        """Whether this process, and not a fork of it, still has to be answered for."""
        return not self.done and os.getpid() == self.pid

    def take(self, invocation: Invocation) -> None:
        """Make *invocation* the one that will be answered at the end."""
        if self.invocation is not invocation:
            from .succession import succeed

            succeed(self.invocation, invocation)
        self.invocation, self.done = invocation, False
        if invocation.writer.is_tty():
            return
        invocation.process.is_owned = True
        # A signal in between would find an answer that is collected itself, or nobody to give it.
        resume = defer_signals()
        try:
            capture = self.capture or self._install(invocation.capture)
            if invocation.capture is not capture:
                invocation.capture = capture
                invocation.writer._outlet.stdout = capture.stream
                invocation.process.watch_libraries()
            if invocation.secrets is not None:
                invocation.secrets.capture = capture
        finally:
            resume()

    def _install(self, capture: Capture | None) -> Capture:
        self.capture = capture or collect_stdout()
        self.watch_exits()
        self.undo.append(install(self))
        return self.capture

    def watch_exits(self) -> None:
        """Have the status known with which the program exits, as far as Python lets us know."""
        stop = _monitor(self)
        if stop is not None:
            self.watched = True
            self.undo.append(stop)
            return
        murli = sys.modules["murli"]
        if murli.exit_func is sys.exit:  # and not that of a test, which wants to see the code
            self.undo.append(replace(murli, "exit_func", _exit))
        self.undo.append(replace(sys, "exit", _exit))

    def note_ending(self, error: BaseException) -> int:
        """Remember what ends the program; return the status it is to exit with."""
        is_hooks = isinstance(error, SystemExit) and not isinstance(self.ending, SystemExit)
        if self.ending is not None and not is_hooks:
            return self.status  # noted by another of our sources, closer to its origin
        self.ending = error
        self.status = 1
        if self.own_exit_code is not None:
            self.status = self.own_exit_code
        elif isinstance(error, SystemExit):
            code = error.args[0] if error.args else None
            if code is None or (type(code) is int and code == 0):  # how most programs end
                self.ending = SystemExit(code)
                invocation = self.invocation
                refused = invocation.running.refused_exit_code
                self.status = refused or invocation.writer._reply.exit_code
                return self.status
            from .endings import exit_like
            from .failures import exit_code_for

            self.ending = exit_like(error, code)
            self.status = exit_code_for(self.invocation, self.ending)
        return self.status

    def on_uncaught(
        self,
        kind: type[BaseException],
        error: BaseException,
        traceback: TracebackType | None,
    ) -> None:
        """Answer an exception nobody caught, and end with the code that says so."""
        if not self.is_this_process or self.own_exit_code is not None:
            if self.own_exit_code is None or self.invocation.writer.is_tty():
                self.previous_hook(kind, error, traceback)
            return
        self.invocation.process.block_signals_after_interrupt(error)
        from ...errors import AgentError

        if self.invocation.is_for_people:
            from .for_people import is_left_alone, leave_alone

            if is_left_alone(self.invocation, error):
                if self.invocation.cleanups is not None:
                    self.invocation.cleanups.run(error)
                self.hand_over()
                leave_alone(self.previous_hook, error)
                return
        unexpected = not isinstance(error, (AgentError, KeyboardInterrupt))
        if unexpected and self.has_own_hook:
            # The author's own hook, a crash reporter say, still learns of the crash.
            if self.invocation.writer.is_tty():
                from .for_people import show_by_hook

                self.tear_down()
                show_by_hook(self.invocation, self.previous_hook, error)
                return
            _quietly(self.previous_hook, kind, error, traceback)
        if self.invocation.is_for_people:
            from .for_people import interrupt_behind, is_expired

            interrupt = interrupt_behind(error)
            if isinstance(interrupt, KeyboardInterrupt) and not is_expired(interrupt):
                self.answer(error)
                self._end_with(-2)
                return
        else:
            error = self.invocation.request.runner.translated(ending_behind(error) or error)
        while True:
            try:
                return self._end_with(self.answer(error))
            except KeyboardInterrupt as another:  # as long as one can still come
                error = another

    def on_exit(self) -> None:
        """Answer at interpreter exit, unless an exception was answered already."""
        if not self.is_this_process:
            return
        if self.own_exit_code is not None:
            from .succession import insist

            insist(self, self.own_exit_code)
            return
        if self.invocation.cleanups is not None:
            self.interruptible.append(sys._getframe())
            self.invocation.cleanups.run(self.ending)  # one that hangs can still be interrupted
        hold_signals()  # from here on we answer
        waited = False
        if self.ending is None and sys.excepthook != self.on_uncaught:
            uncaught = self._note_uncaught()
            if uncaught is not None and self.invocation.is_for_people:
                from .for_people import is_for_the_tool

                if is_for_the_tool(uncaught):  # whose own hook has shown it
                    self.hand_over()
                    return
        if self.capture is not None and self.ending is None and not self.watched:
            waited = self.learn_status()
            if os.getpid() != self.pid:
                return
        if self.ending is None and _threads_go_on():
            # Python waits for them before it comes here, unless it is interrupted.
            self.ending = take_interruption() or KeyboardInterrupt()
        ending = ending_behind(self.ending)
        if ending is not None and not isinstance(ending, (SystemExit, KeyboardInterrupt)):
            from .failures import error_for

            # A hook of the tool's own took our place, and Python exits with 1 behind it.
            failure = error_for(self.invocation, ending)
            if failure.error_type == "execution_error":
                failure.code = self.status
            if failure.error_type != "input_required":
                ending = failure
        code = self.answer(ending)
        if waited:
            os._exit(code)
        if code != self.status:
            self._end_with(code)

    def _note_uncaught(self) -> BaseException | None:
        """Return, and remember, what nobody caught but a hook of the tool's own."""
        uncaught = self.uncaught()
        if uncaught is not None:
            self.note_ending(uncaught)
        return uncaught

    def uncaught(self) -> BaseException | None:
        """Return what nobody caught, as soon as Python knows that."""
        found: BaseException | None = getattr(sys, "last_value", None)
        return None if found is self._uncaught_before else found

    def learn_status(self) -> bool:
        """Find out, where nothing else can, with what status the program exits.

        True when this process has waited for a fork of itself to exit in its place.
        """
        done = self.invocation.writer._reply.answered or returned(self.outermost)
        if done or not hasattr(os, "fork"):
            return False
        _flush_streams()
        child = os.fork()
        if child == 0:
            _take_over()
            return False
        import gc

        gc.disable()  # what the fork writes out on its way is not to be written here as well
        code = _wait(child)
        if code == -2:  # Python kills itself when an interrupt gets in the way of our hook
            self.note_ending(KeyboardInterrupt())
        else:
            self.note_ending(SystemExit(code if code >= 0 else 128 - code))
        return True

    def answer(self, error: BaseException | None) -> int:
        """Finish the invocation and return the exit code."""
        self.tear_down()
        code = self.invocation.finish(error)
        self.capture = None
        return code

    def _end_with(self, code: int) -> None:
        global _owner
        from .last_act import end_with

        self.ending = _owner = None
        end_with(code)

    def hand_over(self) -> None:
        """Leave the process to another program: what was printed so far comes first."""
        self.tear_down()
        self.invocation.abandon()
        self.capture = None

    def tear_down(self) -> None:
        """Take back everything that was installed."""
        self.done = True
        while self.undo:
            self.undo.pop()()


class Exit(SystemExit):
    """What our ``sys.exit`` raises; notifies the owner when the interpreter acts on it.

    Where it or its class is shown, it looks like what Python raises.
    """

    __module__, __qualname__ = "builtins", "SystemExit"

    @property
    def code(self) -> Any:
        """The status: for the interpreter, which asks from no frame, the contract's."""
        if sys._getframe().f_back is None and _owner is not None and _owner.is_this_process:
            return _owner.note_ending(self)
        return self.args[0] if self.args else None

    @code.setter
    def code(self, status: object) -> None:
        self.args = (status,)

    def __reduce__(self) -> tuple[object, ...]:
        return SystemExit, self.args


Exit.__name__ = "SystemExit"


def _exit(status: object = None, /) -> NoReturn:
    # Python says nothing about the exit of a thread if it is of its own class.
    is_main = _owner is not None and _owner.thread == get_ident()
    raise Exit(status) if is_main else SystemExit(status)


def _monitor(owner: ProgramAsHandler) -> Callable[[], None] | None:
    """Notify *owner* of what leaves the outermost frame, where Python can."""
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is None:
        return None
    identity = next((free for free in _MONITOR_IDS if monitoring.get_tool(free) is None), None)
    if identity is None:
        return None
    event, outermost = monitoring.events.PY_UNWIND, owner.outermost.f_code

    def on_unwind(code: CodeType, offset: int, error: BaseException) -> None:
        ends = code is outermost
        if not ends and owner.ending is not None and isinstance(error, SystemExit):
            ends = code is getattr(sys.excepthook, "__code__", None)  # it decides instead
        if ends and owner.is_this_process:
            status = owner.note_ending(error)
            if isinstance(error, SystemExit):
                error.code = status

    monitoring.use_tool_id(identity, "murli")
    monitoring.register_callback(identity, event, on_unwind)
    monitoring.set_events(identity, event)

    def stop() -> None:
        monitoring.set_events(identity, 0)
        monitoring.register_callback(identity, event, None)
        monitoring.free_tool_id(identity)

    return stop


def _outermost(frame: FrameType) -> FrameType:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


def returned(frame: FrameType) -> bool:
    """Return whether *frame* ended in a return rather than by an exception."""
    return frame.f_code.co_code[frame.f_lasti] == _RETURN_VALUE


def _take_over() -> None:
    """Clean up as the program would have: this fork of it ends in its place."""
    cleanup = sys.modules.get("murli.handlers.cleanup")
    if cleanup is not None:
        cleanup.adopt()


def _threads_go_on() -> bool:
    """Return whether threads still run that Python waits for at the end."""
    threading = sys.modules.get("threading")
    if threading is None:
        return False
    main = threading.main_thread()
    return any(each is not main and not each.daemon for each in threading.enumerate())


def _wait(child: int) -> int:
    """Wait for the end of *child*; return its exit code, or the number of a signal, negative."""
    _, wait_status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(wait_status)


def _quietly(hook: Any, *args: Any) -> None:
    """Call *hook* without letting it write beside the answer.

    One that ends the program is the tool's own handler: its words are what was wrong.
    """
    import io

    stderr, sys.stderr = sys.stderr, io.StringIO()
    try:
        hook(*args)
    except SystemExit:
        if stderr is not None:
            stderr.write(sys.stderr.getvalue())
        raise
    except Exception:  # somebody else's hook; the answer matters more
        pass
    finally:
        sys.stderr = stderr


def _flush_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, ValueError, OSError):  # absent, closed or full
            pass
