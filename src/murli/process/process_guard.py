"""What stands around a handler while an agent waits: it can neither hang us nor cut us off.

``os._exit`` and ``os.exec*`` end a program behind Python's back. While something is collected they
are ours, so that a program which is cut off, or replaced by another one, loses nothing of it.
SIGTERM and SIGHUP, which would end it without a word, unwind it like Ctrl-C does. What waits for a
person who is not there (a prompt, an editor, a browser) fails instead, and variables keep children
from asking, paging and colouring.

All of that is in place only while the invocation runs, and only in the process's own stdout: a
test runner keeps its process as it is.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself loads enum first
import atexit
import os
import sys
from _thread import allocate_lock, start_new_thread
from _weakref import ref  # weakref itself loads more

from ..core import ENDED, variable_names
from ..formats import interrupt_once, is_deferred, python_int_handler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, NoReturn

    from ..call import Invocation
    from ..call.host import ProcessGuard

    Undo = Callable[[], None]


# -- signals -----------------------------------------------------------------------------------

# How long a program that is interrupted waits until somebody knows what children it has.
_NOTING_SECONDS = 0.2
# How often somebody looks for more of them while the program has time to end.
_LOOK_SECONDS = 0.05
_NAMES = {2: "SIGINT", 15: "SIGTERM", 1: "SIGHUP"}
_pid = 0
_mask: Any = getattr(_signal, "pthread_sigmask", None)


def _terminate(number: int, frame: FrameType | None) -> None:
    if os.getpid() != _pid:  # a fork of the program, which has made no such arrangement
        if number == 2:
            _signal.signal(number, python_int_handler)
            raise KeyboardInterrupt
        _signal.signal(number, _signal.SIG_DFL)
        os.kill(os.getpid(), number)
    if is_deferred(number, frame):
        return
    # Once is enough: a second one must not cut short the cleanup that the first one started.
    for each in _NAMES:
        if _signal.getsignal(each) is _terminate:
            _signal.signal(each, _pass_over)
    error = interruption_by(number)
    if _invocation is not None:
        _invocation.process.give_grace(error)
        if handler_has_ended(_invocation):
            return  # there is nothing left to unwind, and `Invocation.finish` asks
        if program_has_ended(frame):
            if _invocation.writer._reply.answered and not program_has_failed():
                real_hard_exit(_invocation.writer._reply.exit_code)
            return  # there is nothing left to unwind; the end of the program answers
    raise error


def handler_has_ended(invocation: Invocation) -> bool:
    """Return whether no code of the tool runs any more that a signal could interrupt."""
    cleanups = invocation.cleanups
    return invocation.state >= ENDED and (cleanups is None or not cleanups.is_calling)


def program_has_ended(frame: FrameType | None) -> bool:
    """Return whether a program whose rest is the handler has run to its end."""
    has_ended = _of_program("has_ended")
    return has_ended is not None and bool(has_ended(frame))


def program_has_failed() -> bool:
    """Return whether an exception that nobody caught ends a program whose rest is the handler."""
    has_failed = _of_program("has_failed")
    return has_failed is not None and bool(has_failed())


def _of_program(name: str) -> Any:
    """Return a function about the program whose rest is the handler; ``None`` without one.

    Its module may be half loaded: a signal finds this thread, or the one that will end it, there.
    """
    return getattr(sys.modules.get("murli.call.ending"), name, None)


# Whose signals they are.
_invocation: Invocation | None = None
_interruption: KeyboardInterrupt | None = None


def note_interruption(error: KeyboardInterrupt) -> KeyboardInterrupt:
    """Remember what interrupts the program, should it go on as if nothing had happened.

    What it is raised in the middle of may fail later, where Python would only show that.
    """
    global _interruption
    _interruption = error
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _not_shown
    return error


def _not_shown(unraisable: object) -> None:
    pass


def interruption_by(number: int) -> KeyboardInterrupt:
    """Return, and remember, what signal *number* means to the program."""
    if number == 2:
        return note_interruption(KeyboardInterrupt())

    class Terminated(KeyboardInterrupt):
        """A signal other than Ctrl-C ends the program."""

        signal = _NAMES[number]

    return note_interruption(Terminated())


def noted_interruption() -> KeyboardInterrupt | None:
    """Return what interrupted the program, if that has not been answered for."""
    return _interruption


def ending_behind(error: BaseException | None) -> BaseException | None:
    """Return what ended the handler that *error* left: the interruption that made it end so.

    Not where it says itself what its end means, or where it had failed before.
    """
    found = _interruption
    if found is None:
        return error
    from ..errors import AgentError, EncodingError, OutputFailed

    if isinstance(error, (AgentError, EncodingError, OutputFailed)):
        return error
    # Python loses what is raised while it writes the message of an ImportError, and raises this.
    lost = type(error) is TypeError and error.args == ("expected a message argument",)
    # As `ctx.exit()` of click ends a program, and that of a click which typer brings.
    exits = type(error).__name__ == "Exit" and hasattr(error, "exit_code")
    if lost or exits or isinstance(error, (SystemExit, type(None))):
        return found
    if found.__traceback__ is None:
        return error  # it came behind the handler, and was raised nowhere
    if isinstance(error, Exception):
        setattr(found, "failed", error)
    return found


def take_interruption() -> KeyboardInterrupt | None:
    """Return what interrupted the program, once."""
    global _interruption
    found, _interruption = _interruption, None
    return found


def start_undisturbed(function: Callable[..., None], *args: Any) -> None:
    """Start a thread that receives no signal: one that went there would not wake the main one."""
    before = hold_back()
    start_new_thread(function, args)
    let_come(before)


def hold_back() -> Any:
    """Let signals wait, for this thread and what it starts; return what `let_come` takes."""
    return _mask(_signal.SIG_BLOCK, _NAMES) if _mask is not None else None


def let_come(held: Any) -> None:
    """Let signals come as they did before."""
    if held is not None:
        _mask(_signal.SIG_SETMASK, held)


def resign() -> None:
    """In a fork of the program, which has made no such arrangement, handle no signal."""
    if _signal.getsignal(2) is _terminate:
        _signal.signal(2, python_int_handler)
    _exchange(_terminate, _signal.SIG_DFL)


def begin_grace(invocation: Invocation, error: BaseException) -> Undo:
    """Allow a call that *error* interrupts a moment to end; return what lets it go on after all.

    Nothing may be loaded here: the signal may have come in the middle of loading that.
    """
    try:
        error = type(error)()  # which keeps no frames, and so no files of theirs, from ending
    except Exception:  # of a class of the tool's own
        error = KeyboardInterrupt()
    over, noted = allocate_lock(), allocate_lock()
    over.acquire()
    noted.acquire()
    try:
        start_undisturbed(_watch, ref(invocation), error, over, noted)
        noted.acquire(timeout=_NOTING_SECONDS)
    except RuntimeError:  # no thread to be had
        pass

    def stop() -> None:
        if over.locked():
            over.release()

    return stop


def _watch(watched: Any, error: BaseException, over: Any, noted: Any) -> None:
    """End the call that *error* interrupts unless *over* can be acquired in time.

    *watched* refers weakly to it: what waits here must not keep the tool from being taken apart.
    """
    from .children import note_children, stop_children

    started = watched().writer._reply.started
    note_children(started)
    noted.release()  # from now on the program may end some of them, and lose sight of the others
    for _ in range(int(watched().process.forced_end.grace_seconds / _LOOK_SECONDS)):
        if over.acquire(timeout=_LOOK_SECONDS):
            return
        note_children(started)  # those may have started others
    invocation = watched()
    if invocation is not None:
        invocation.process.forced_end.end_after(error)
    elif _leave is not None:  # it is answered, and gone
        stop_children(started, 0.5)
        _leave(0)


def _pass_over(number: int, frame: FrameType | None) -> None:
    """Do nothing: the program is ending already."""


def unwind_on_signals(invocation: Invocation) -> Undo:
    """Have signals unwind the program, once; those that somebody handles are left alone."""
    global _pid, _invocation
    _pid = os.getpid()
    around, _invocation = _invocation, invocation
    taken: dict[int, Any] = {}
    # Early, to be called late: what the tool does at exit comes before.
    atexit.register(_settle)
    for number, usual in ((15, _signal.SIG_DFL), (1, _signal.SIG_DFL), (2, python_int_handler)):
        try:
            if _signal.getsignal(number) in (usual, interrupt_once):
                _signal.signal(number, _terminate)
                taken[number] = usual
        except ValueError:  # not in the main thread: signals are somebody else's business
            break
    if 2 in taken:
        _stand_in(python_int_handler, _terminate)

    def undo() -> None:
        global _invocation
        _invocation = around
        atexit.unregister(_settle)
        if sys.unraisablehook is _not_shown:
            sys.unraisablehook = sys.__unraisablehook__
        _relieve(sys.stderr)
        if 2 in taken:
            _stand_in(_terminate, python_int_handler)
        for number, usual in taken.items():
            if _signal.getsignal(number) in (_terminate, _pass_over):
                _signal.signal(number, usual)

    return undo


def _stand_in(before: object, after: object) -> None:
    """Let *after* be what ``signal`` calls its own handler of Ctrl-C.

    asyncio cancels what it runs in an orderly way if, and only if, that is the one in place.
    """
    modules: list[Any] = [_signal, sys.modules.get("signal")]
    for module in modules:
        if module is not None and module.default_int_handler is before:
            module.default_int_handler = after


def hold_signals() -> Undo:
    """From now on no signal interrupts: the answer is on its way. Gives what ends that."""
    before: dict[int, Any] = {}

    def undo() -> None:
        for number, handler in before.items():
            if _signal.getsignal(number) is _pass_over:
                _signal.signal(number, handler)

    while True:
        try:
            for number in _NAMES:
                handler = _signal.getsignal(number)
                if handler in (_terminate, interrupt_once, python_int_handler):
                    _signal.signal(number, _pass_over)
                    before[number] = handler
            return undo
        except ValueError:  # not in the main thread, where none would interrupt us
            return undo
        except KeyboardInterrupt:  # one more, just before
            continue


def leave_on_signals(code: int) -> None:
    """The answer is out: a signal from now on ends the process with *code*, at once.

    So does ``os._exit``, whatever status it is called with.
    """
    global _leave, _invocation
    _invocation = None  # and with it all of the tool, which Python would look through at its end
    pid = os.getpid()

    def leave(number: int, frame: FrameType | None = None) -> NoReturn:
        real_hard_exit(code if os.getpid() == pid else number)

    _leave = leave
    setattr(os, "_exit", leave)
    _exchange(_pass_over, leave)


_leave: Callable[[int], NoReturn] | None = None


def _settle() -> None:
    """Let nothing change the exit code while the interpreter takes itself apart."""
    _exchange(_leave, _signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # full, closed or absent
            from .outlets import forget_both

            forget_both()
    threading = sys.modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        from .outlets import forget_both

        forget_both()  # what a daemon prints from now on may never get out


def _relieve(stream: Any) -> None:
    """Let what a full *stream* did not take from us go, lest Python exits with a code for it."""
    try:
        stream.flush()
    except OSError:
        from .outlets import drop_pending

        drop_pending(stream)
    except (AttributeError, ValueError):  # absent or closed
        pass


def _exchange(before: object, after: object) -> None:
    try:
        for number in _NAMES:
            if _signal.getsignal(number) is before:
                _signal.signal(number, after)
    except ValueError:  # not in the main thread
        pass


# -- abrupt endings ----------------------------------------------------------------------------

_guard: ProcessGuard | None = None

real_hard_exit = os._exit
_real_execv = os.execv
_real_execve = os.execve


def _hard_exit(status: int) -> NoReturn:
    if _guard is not None and _guard.is_this_process:
        status = _guard.answer(SystemExit(status))
    real_hard_exit(status)


def _execv(path: Any, argv: Any, /) -> NoReturn:
    if _guard is not None and _guard.is_this_process:
        _guard.hand_over()
    _real_execv(path, argv)


def _execve(path: Any, argv: Any, env: Any) -> NoReturn:
    if _guard is not None and _guard.is_this_process:
        _guard.hand_over()
    _real_execve(path, argv, env)


def _system(command: Any) -> int:
    """Stand in for ``os.system``, which lets Python handle no signal before its child has ended."""
    sys.audit("os.system", command)
    child = os.posix_spawn("/bin/sh", ["sh", "-c", command], os.environ)
    return os.waitpid(child, 0)[1]


def _sigwait(sigset: Any, /) -> int:
    """Stand in for ``sigwait``, which C starts anew behind each signal that is handled.

    One that is not blocked would end the program, and is not taken from us by waiting for it.
    """
    blocked = _mask(_signal.SIG_BLOCK, ())
    waited = [each for each in sigset if each in blocked or _signal.getsignal(each) != _terminate]
    return int(_signal.sigwaitinfo(waited).si_signo)


def _block(how: int, mask: Any, /) -> Any:
    """Stand in for ``pthread_sigmask``: who blocks what ends the program is ended all the same."""
    global _looked_after
    before = _mask(how, mask)
    if _looked_after is not _invocation and not _mask(_signal.SIG_BLOCK, ()).isdisjoint(_NAMES):
        _looked_after = _invocation
        if _invocation is not None:
            start_undisturbed(_invocation.process.forced_end.look_for_blocked)
    return before


# Whose blocked signals somebody looks for.
_looked_after: Invocation | None = None


def install(guard: ProcessGuard) -> Undo:
    """Let *guard* answer for abrupt endings, and nothing wait for a person; return the end."""
    global _guard
    before, _guard = _guard, guard
    undo = [
        replace(os, "_exit", _hard_exit),
        replace(os, "execv", _execv),
        replace(os, "execve", _execve),
        _prepare_environment(),
        *_guard_stdin(),
        _look_out(),
        *_note_questions(guard),
    ]
    if hasattr(os, "posix_spawn"):
        undo.append(replace(os, "system", _system))
    if _mask is not None and hasattr(_signal, "sigwaitinfo"):
        # Signals are heard by who waits for others, or for none.
        undo += replace(_signal, "sigwait", _sigwait), replace(_signal, "pthread_sigmask", _block)

    def stop() -> None:
        global _guard
        _guard = before
        for each in reversed(undo):
            each()

    return stop


def replace(module: Any, name: str, ours: Any) -> Undo:
    """Put *ours* in the place of a module's function; return what takes it back."""
    theirs = getattr(module, name)
    setattr(module, name, ours)

    def undo() -> None:
        if getattr(module, name) is ours:
            setattr(module, name, theirs)  # ours again when calls are nested

    return undo


# -- traps -------------------------------------------------------------------------------------

_FOR_CHILDREN = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "LESS": "-FRX",
    "MORE": "",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "NO_COLOR": "1",
    "FORCE_COLOR": None,
}
# Modules that know how to wait for a person, or to handle a signal; `traps` knows what to do.
_TRAPS = (
    "getpass",
    "webbrowser",
    "code",
    "_posixsubprocess",
    "asyncio.runners",
    "click._termui_impl",
    "typer._click._termui_impl",
    "prompt_toolkit.application.application",
)


# Modules that have kept ``input`` under a name of their own.
_ASKING = ("click.termui", "typer._click.termui")
# How typer finds out that the system has a program to open addresses with, past `webbrowser`.
_SHORT_CUTS = ("_is_macos", "_is_linux_or_bsd")


def _prepare_environment() -> Undo:
    """Set the variables that keep programs the handler starts from paging, colouring, asking."""
    environ, names = os.environ, variable_names()
    changes: dict[str, str | None] = {}
    before: dict[str, str | None] = {}
    for name, value in _FOR_CHILDREN.items():
        is_set = f"\0{name}\0" in names
        if is_set or value is not None:  # to delete what is not there is an exception, and dear
            changes[name], before[name] = value, environ[name] if is_set else None
    _set(environ, changes)
    return lambda: _set(environ, before)


def _set(environ: Any, values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is not None:
            environ[name] = value
        else:
            try:
                del environ[name]
            except KeyError:  # the handler has taken it away itself
                pass


def _guard_stdin() -> list[Undo]:
    """Keep the handler from waiting at a stdin that nobody feeds."""
    try:
        # A file ends by itself, and so does /dev/null; pipes, sockets and terminals may not.
        kind = os.fstat(0).st_mode & 0o170000
        waits = kind in (0o010000, 0o140000) or (kind == 0o020000 and os.isatty(0))
    except OSError:
        from .stdin import put_nothing

        return [put_nothing()]
    if not waits or sys.stdin is None or sys.stdin is not sys.__stdin__:
        return []
    from .stdin import guard

    return [guard()]


def _note_questions(guard: ProcessGuard) -> list[Undo]:
    """Keep what is asked out of the answer: ``input`` is ours, also where it was kept."""
    builtins = sys.modules["builtins"]
    own = builtins.__dict__["input"]

    def ask(prompt: object = "", /) -> str:
        from .traps import ask

        return ask(guard.capture, own, prompt)

    undo = [replace(builtins, "input", ask)]
    for name in _ASKING:
        if name in sys.modules:
            undo.append(replace(sys.modules[name], "visible_prompt_func", ask))
    return undo


def _look_out() -> Undo:
    """Disarm the modules that wait for people: those that are loaded, and the others as they are.

    Loading them all just in case would cost more than the handler.
    """
    undo: list[Undo] = []
    for name in _TRAPS:
        module = sys.modules.get(name)  # None where its import is forbidden
        if module is not None:
            from .traps import disarm

            undo += disarm(module)
    typer = sys.modules.get("typer.main")
    for name in _SHORT_CUTS:
        if typer is not None and hasattr(typer, name):
            undo.append(replace(typer, name, bool))  # which returns False

    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _TRAPS:
            return None
        from .traps import found_by_others

        return found_by_others(find_spec, undo, name, path, target)

    def leave() -> None:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
        while undo:
            undo.pop()()

    # A finder that finds nothing, and notices what is being loaded.
    finder: Any = find_spec
    finder.find_spec = find_spec
    sys.meta_path.insert(0, finder)
    return leave
