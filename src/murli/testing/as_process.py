"""A tool as a process of its own: on pipes as an agent runs it, at a terminal as a person does."""

from __future__ import annotations

import os
import pty
import selectors
import shlex
import shutil
import signal
import struct
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fcntl import ioctl
from subprocess import Popen

from ..client.limits import MIB, Limits
from ..client.running import run as run_on_pipes

_ROWS, _COLUMNS = 24, 80
_CHUNK = 1 << 16
_MOST = 256 * MIB
# How long others may hold the terminal open once the tool has ended.
_LINGER_SECONDS = 0.5


class TimedOut(AssertionError):
    """A process that did not end in time, and was ended with all it had started."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a run left: its bytes, and how it ended."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    exception: BaseException | None = None


def program(argv: Sequence[str], path: str | None = None) -> list[str]:
    """Give *argv* with its program looked up: beside the running Python, then in *path*.

    Without a *path*, where the environment says. A program that is told by its place is that.
    """
    if os.sep in argv[0]:
        return [os.path.abspath(argv[0]), *argv[1:]]
    place = os.path.dirname(sys.executable)
    path = os.environ.get("PATH", "") if path is None else path
    found = shutil.which(argv[0], path=os.pathsep.join(filter(None, (place, path))))
    if found is None:
        raise FileNotFoundError(f"there is no program {argv[0]!r} in {place} or in PATH")
    return [found, *argv[1:]]


def run_as_process(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None,
    stdin: bytes | None,
    seconds: float,
    person: bool,
) -> Ended:
    """Run *argv* to its end; `TimedOut` when that takes longer than *seconds*."""
    if person:
        return _at_terminal(argv, env, cwd, stdin or b"", seconds)
    limits = Limits(seconds=seconds, stdout_bytes=_MOST, line_bytes=_MOST, stderr_head_bytes=_MOST)
    ran = run_on_pipes(argv, limits, stdin=stdin, env=env, cwd=cwd)
    if ran.reason == "time":
        raise _late(argv, seconds, ran.stdout)
    if ran.reason == "start":
        raise FileNotFoundError(ran.stderr.decode("utf-8", "replace"))
    if ran.reason or ran.exit_code is None:
        why = ran.reason or "another part of this process took its status away"
        raise RuntimeError(f"{argv[0]}: {why}")
    return Ended(ran.stdout, ran.stderr, ran.exit_code)


def _at_terminal(
    argv: Sequence[str], env: Mapping[str, str], cwd: str | None, keys: bytes, seconds: float
) -> Ended:
    """Run *argv* with stdin and stdout at one terminal; stderr has another, to be told apart."""
    (screen, out), (errors, err) = _terminal(), _terminal()
    try:
        process = Popen(
            list(argv),
            stdin=out,
            stdout=out,
            stderr=err,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
    except BaseException:
        os.close(screen)
        os.close(errors)
        raise
    finally:
        os.close(out)
        os.close(err)
    texts = {screen: bytearray(), errors: bytearray()}
    # The key that ends the input, for who reads all of it.
    typing = _Typing(screen, keys + b"\x04")
    try:
        _listen(process, texts, typing, time.monotonic() + seconds)
    except TimeoutError:
        raise _late(argv, seconds, bytes(texts[screen])) from None
    finally:
        # Before its status is taken: until then its number is nobody else's.
        _kill_group(process.pid)
        process.wait()
        os.close(screen)
        os.close(errors)
    return Ended(bytes(texts[screen]), bytes(texts[errors]), process.returncode)


def _late(argv: Sequence[str], seconds: float, stdout: bytes) -> TimedOut:
    shown = stdout[-2000:].decode("utf-8", "replace")
    return TimedOut(
        f"{shlex.join(argv)} did not end within {seconds:g} s; at the end stdout was:\n{shown}"
    )


def _terminal() -> tuple[int, int]:
    """Open a terminal of a known size that neither echoes nor changes what is written to it."""
    ours, theirs = pty.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    os.set_blocking(ours, False)
    return ours, theirs


class _Typing:
    """Keys that are still to be typed."""

    def __init__(self, screen: int, keys: bytes) -> None:
        self._screen = screen
        self._rest = keys

    def go_on(self) -> None:
        """Type what the terminal takes now."""
        try:
            if self._rest:
                self._rest = self._rest[os.write(self._screen, self._rest[:_CHUNK]) :]
        except BlockingIOError:
            pass
        except OSError:  # nobody is there any more
            self._rest = b""


def _listen(
    process: Popen[bytes], texts: dict[int, bytearray], typing: _Typing, deadline: float
) -> None:
    """Read what is shown until the tool has ended and its terminals are closed."""
    exited: float | None = None
    with selectors.DefaultSelector() as selector:
        for descriptor in texts:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            now = time.monotonic()
            if now >= deadline:
                raise TimeoutError
            if exited is not None and now >= exited + _LINGER_SECONDS:
                return
            for key, _ in selector.select(0.02):
                part = _read(key.fd)
                texts[key.fd] += part
                if not part:
                    selector.unregister(key.fd)
            typing.go_on()
            if exited is None and _has_exited(process.pid):
                exited = time.monotonic()
    while not _has_exited(process.pid):  # it has closed its terminals, and goes on
        if time.monotonic() >= deadline:
            raise TimeoutError
        time.sleep(0.005)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:  # how a terminal tells that the other side is closed
        return b""


def _has_exited(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # nobody of ours is left
        pass
