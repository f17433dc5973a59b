"""A tool in this process, as if it were one of its own: what it wrote, how it ended, and no trace.

Descriptors 0 to 2 are files while it runs, so that children and C libraries write there too; its
words, its environment, its folder, signal handlers and hooks are its own, and taken back. The
process stays a test runner's: murli neither ends it nor takes over its signals.
"""

from __future__ import annotations

import atexit
import getpass
import io
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import IO, Any

from .. import core
from ..call import Invocation
from ..call import ending as process
from ..call.ending.for_people import INTERRUPTED, Interrupted, Uncaught
from ..core import current, is_parser, kind_of
from ..outcome import status_of
from ..platform import read_at, way_back
from ..process import away_from_standard
from .as_process import Ended

# There is one of each: two runs at the same time would write into each other.
_one_at_a_time = threading.RLock()
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGPIPE")


def run_in_process(
    app: Any,
    words: Sequence[str],
    *,
    name: str,
    env: Mapping[str, str],
    cwd: str | None,
    stdin: bytes | None,
    person: bool,
) -> Ended:
    """Run *app* with *words* to its end, whatever ends it; an interrupt from outside goes on."""
    call = _call_of(app, words, name)
    with _one_at_a_time, ExitStack() as stack:
        interrupts = stack.enter_context(_own_signals())
        stack.enter_context(_own_environment([name, *words], env, cwd))
        streams = stack.enter_context(_Streams(stdin or b"", person))
        if person:
            stack.enter_context(_typed_secrets())
        endings = stack.enter_context(_noting_endings())
        exit_code = _run_to_end(call, endings)
        raised = next((each for each in endings if not isinstance(each, SystemExit)), None)
        ended = Ended(*streams.texts(), exit_code, raised)
    if interrupts:
        raise KeyboardInterrupt
    return ended


def name_of(app: Any) -> str:
    """Return the name a tool goes by when nobody says another."""
    if is_parser(app):
        return str(app.prog)
    own = getattr(app, "name", None) or getattr(getattr(app, "info", None), "name", None)
    if isinstance(own, str):
        return own
    return str(getattr(app, "__module__", "")).partition(".")[0].strip("_") or "tool"


def _call_of(app: Any, words: Sequence[str], name: str) -> Callable[[], object]:
    """Return what runs *app*, by what it can do rather than by its class."""
    if is_parser(app):

        def parse() -> None:
            app.parse_args()

        return parse
    if hasattr(app, "registered_commands") and hasattr(app, "info"):
        return lambda: app(list(words), prog_name=name)
    if callable(getattr(app, "main", None)) and hasattr(app, "params"):
        return lambda: app.main(list(words), prog_name=name)
    if callable(app):
        program: Callable[[], object] = app
        return program
    raise TypeError(
        "run() takes a click command, a typer.Typer, an argparse parser, a function that is the "
        f"program, or the words that start one, not {kind_of(app)}"
    )


# -- the end of a program ------------------------------------------------------------------------


def _run_to_end(call: Callable[[], object], endings: list[BaseException]) -> int:
    """Run *call* as the interpreter runs a program; return the exit code."""
    pid = os.getpid()
    ending: BaseException | None = None
    try:
        returned = call()
        if returned is not None:  # as in ``sys.exit(main())``, which console scripts are
            ending = SystemExit(returned)
    except BaseException as error:
        ending = error
    code = 1
    try:
        code = _exit_code_after(ending, endings)
    finally:
        if os.getpid() != pid:  # a fork of the tool must not go on as a test runner
            _flush(sys.stdout, sys.stderr)
            os._exit(code & 0xFF)
    return code


def _exit_code_after(ending: BaseException | None, endings: list[BaseException]) -> int:
    """Do what is done at the end of a process that ends by *ending*; return its exit code."""
    owner = process._owner
    if owner is not None and owner.is_this_process:
        # A tool that calls its own parse_args is answered for at the end of its process: here.
        owner.tear_down()
        code = owner.invocation.finish(ending, restore=True)
        for_people = owner.invocation.writer.is_tty()
        if code == INTERRUPTED and isinstance(ending, KeyboardInterrupt):
            return -int(signal.SIGINT)
        if not (for_people and isinstance(ending, SystemExit)):
            return code
    if ending is None:
        return 0
    if isinstance(ending, Interrupted):
        return -int(signal.SIGINT)
    if isinstance(ending, SystemExit):
        if not isinstance(ending.code, (int, type(None))):
            print(ending.code, file=sys.stderr)
        return status_of(ending.code)
    hook, code = sys.excepthook, 1
    if isinstance(hook, Uncaught) and hook.error is ending:
        code = hook.invocation.finish(ending)
    else:
        endings.append(ending)
        traceback.print_exception(type(ending), ending, ending.__traceback__)
    return -int(signal.SIGINT) if isinstance(ending, KeyboardInterrupt) else code


@contextmanager
def _noting_endings() -> Iterator[list[BaseException]]:
    """Note what ends handlers, which nobody else learns: murli answers for it."""
    own = Invocation.finish
    endings: list[BaseException] = []

    def finish(self: Invocation, error: BaseException | None, **named: Any) -> int:
        if error is not None:
            endings.append(error)
        return own(self, error, **named)

    setattr(Invocation, "finish", finish)
    try:
        yield endings
    finally:
        setattr(Invocation, "finish", own)


# -- what it has for itself ------------------------------------------------------------------------


@contextmanager
def _own_signals() -> Iterator[list[int]]:
    """Let the tool have its signal handlers; return the interrupts that came from outside."""
    interrupts: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield interrupts  # signals are the main thread's
        return
    numbers = [getattr(signal, each) for each in _SIGNALS if hasattr(signal, each)]
    before = {number: signal.getsignal(number) for number in numbers}

    def note(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    if before[signal.SIGINT] is signal.default_int_handler:
        signal.signal(signal.SIGINT, note)
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            if handler is not None and signal.getsignal(number) is not handler:
                signal.signal(number, handler)


@contextmanager
def _own_environment(argv: list[str], env: Mapping[str, str], cwd: str | None) -> Iterator[None]:
    """Set the words, environment and folder of the tool, and a fresh start for murli; undo it."""
    environ, words, go_back = dict(os.environ), sys.argv, way_back()
    hook, version = sys.excepthook, core.tool_version()
    around, owner = current(), _own_process(None)
    try:
        _set_environment(env)
        sys.argv = argv
        if cwd is not None:
            os.chdir(cwd)
        yield
    finally:
        while (left := current()) is not None and left is not around:
            left.deactivate()
        taken = _own_process(owner)
        if taken is not None:
            atexit.unregister(taken.on_exit)
        core.set_tool_version(version)
        sys.excepthook, sys.argv = hook, words
        go_back()
        _set_environment(environ)


def _own_process(owner: process.ProgramAsHandler | None) -> process.ProgramAsHandler | None:
    """Let the end of the process be the business of *owner*; give whose it was."""
    before, process._owner = process._owner, owner
    return before


def _set_environment(env: Mapping[str, str]) -> None:
    for name in [name for name in os.environ if name not in env]:
        del os.environ[name]
    os.environ.update(env)


@contextmanager
def _typed_secrets() -> Iterator[None]:
    """Let what is asked for without echo come from stdin: the real terminal is not the tool's."""
    own = getpass.getpass

    def typed(prompt: str = "Password: ", stream: IO[str] | None = None, **_: Any) -> str:
        print(prompt, end="", file=stream or sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    setattr(getpass, "getpass", typed)
    try:
        yield
    finally:
        setattr(getpass, "getpass", own)


# -- streams ---------------------------------------------------------------------------------------


class _Terminal(io.TextIOWrapper):
    """A file that passes for a terminal."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True


class _Streams:
    """While it is entered, the standard streams and their descriptors are files."""

    def __init__(self, stdin: bytes, person: bool) -> None:
        self._stdin = stdin
        self._kind = _Terminal if person else io.TextIOWrapper
        self._before = (sys.stdin, sys.stdout, sys.stderr)
        self._kept: list[int | None] = []
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> _Streams:
        _flush(sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
        # Appended to, so that a child which opens /dev/stdout anew writes over nothing.
        self._files = [tempfile.TemporaryFile("a+b") for _ in range(3)]  # noqa: SIM115
        self._files[0].write(self._stdin)
        self._files[0].seek(0)
        for descriptor, file in enumerate(self._files):
            self._kept.append(_copy_of(descriptor))
            os.dup2(file.fileno(), descriptor)
        # Never closed with the descriptor: what the tool has kept of them must still be usable.
        sys.stdin = self._kind(open(0, "rb", closefd=False), "utf-8")
        sys.stdout = self._kind(open(1, "wb", closefd=False), "utf-8")
        sys.stderr = self._kind(open(2, "wb", closefd=False), "utf-8", "backslashreplace")
        return self

    def texts(self) -> tuple[bytes, bytes]:
        """Return what is on stdout and stderr by now."""
        _flush(sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
        return _whole(self._files[1]), _whole(self._files[2])

    def __exit__(self, *error: object) -> None:
        _flush(sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
        sys.stdin, sys.stdout, sys.stderr = self._before
        for descriptor, kept in enumerate(self._kept):
            if kept is None:
                os.close(descriptor)
            else:
                os.dup2(kept, descriptor)
                os.close(kept)
        for file in self._files:
            file.close()


def _copy_of(descriptor: int) -> int | None:
    """Return a copy of *descriptor* out of the way; ``None`` when it is closed."""
    try:
        copy = os.dup(descriptor)
    except OSError:
        return None
    return away_from_standard(copy)


def _whole(file: IO[bytes]) -> bytes:
    parts = []
    position = 0
    # By position: a child that still writes shares the file's own.
    while part := read_at(file.fileno(), 1 << 20, position):
        parts.append(part)
        position += len(part)
    return b"".join(parts)


def _flush(*streams: Any) -> None:
    for stream in streams:
        try:
            stream.flush()
        except (AttributeError, ValueError, OSError):  # absent, closed, or full
            pass
