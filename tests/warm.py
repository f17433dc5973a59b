"""Runs scripts in processes that are forked just before they would run them.

What is forked has started as ``python script`` and loaded the framework of the script, and nothing
else (`warm_start/sitecustomize.py`). It is a process like any other, with pipes, a status and an
environment of its own, and loads murli itself. So a call takes half the time, and says nothing of
how a process starts. With ``MURLI_TESTS_FRESH=1`` every call starts an interpreter instead, and so
it does where a process cannot write its own memory (`/proc/self/mem`).
"""

from __future__ import annotations

import atexit
import marshal
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

START = Path(__file__).parent / "warm_start"
# What an interpreter or a framework reads when it starts.
AT_START = (
    *("PYTHON", "LC_", "LANG", "TZ", "LD_", "MALLOC", "CI", "GITHUB", "READTHEDOCS"),
    *("TYPER", "_TYPER", "RICH", "TERM", "COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR"),
    *("PY_COLORS", "PYDANTIC"),
)
CAN_FORK = os.path.exists("/proc/self/mem")
FRAMEWORKS = ("cyclopts", "typer", "click", "argparse")

# The path that a server is to run; it is long, so that any other can be written in its place.
ANY_SCRIPT = "/any".ljust(1000, "y") + ".py"

# By their frameworks, and what they were started with.
_idle: dict[tuple[str, ...], list[Server]] = {}


class Server:
    """A process that is about to run some script, has loaded its framework, and forks."""

    def __init__(self, framework: str, env: dict[str, str]) -> None:
        self._control, other = socket.socketpair()
        with other:
            number = other.fileno()
            extra = {"PYTHONPATH": str(START), "MURLI_TESTS_SERVER": f"{number} {framework}"}
            self._process = subprocess.Popen(
                [sys.executable, ANY_SCRIPT],
                stdin=subprocess.DEVNULL,
                env={**env, **extra},
                pass_fds=[number],
            )

    @property
    def number(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        self._control.close()
        self._process.wait()

    def start(
        self,
        words: list[str],
        env: dict[str, str],
        cwd: str,
        streams: list[int],
        has_session: bool,
    ) -> int:
        """Start the process, and return its number."""
        request = marshal.dumps((words, env, cwd, has_session))
        socket.send_fds(self._control, [len(request).to_bytes(4, "little")], streams)
        self._control.sendall(request)
        number = self._control.recv(4)
        assert number, f"no process is about to run {words}"
        return int.from_bytes(number, "little")

    def status(self) -> int:
        """Wait for the end of the process; return its status as `subprocess` does."""
        return int.from_bytes(self._control.recv(4), "little", signed=True)


@cache
def _framework(path: str, _: float) -> str:
    named = re.findall(r"^\s*(?:import|from) .*", Path(path).read_text(), re.M)
    return next((each for each in FRAMEWORKS if re.search(rf"\b{each}\b", "\n".join(named))), "")


def framework_for(words: list[str], env: dict[str, str], usual: dict[str, str]) -> str:
    """Return the framework that *words* import; empty where only a fresh interpreter will do."""
    if words[0] != sys.executable or len(words) < 2 or not words[1].endswith(".py"):
        return ""
    if not os.path.isabs(words[1]) or len(words[1]) > len(ANY_SCRIPT):
        return ""
    if not CAN_FORK or _at_start(env) != _at_start(usual):
        return ""
    return _framework(words[1], os.stat(words[1]).st_mtime)


def _at_start(env: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(AT_START)}


class Forked:
    """A process that was forked; what `subprocess.Popen` is to one that was started."""

    def __init__(self, key: tuple[str, ...], server: Server, number: int) -> None:
        self._key, self._server, self._number = key, server, number

    def kill(self) -> None:
        os.kill(self._number, signal.SIGKILL)

    def wait(self, _: float | None = None) -> int:
        """Wait for its end, once, and return its status."""
        code = self._server.status()
        _idle[self._key].append(self._server)
        return code


def start(
    framework: str,
    words: list[str],
    env: dict[str, str],
    usual: dict[str, str],
    cwd: Path | None,
    streams: list[int],
    *,
    has_session: bool = False,
) -> Forked:
    """Run *words* on *streams*, on request in a session of their own."""
    key = (framework, *_at_start(usual).values())
    idle = _idle.setdefault(key, [])
    server = idle.pop() if idle else Server(framework, usual)
    number = server.start(words, env, str(cwd or os.getcwd()), streams, has_session)
    return Forked(key, server, number)


def run(
    framework: str,
    words: list[str],
    env: dict[str, str],
    usual: dict[str, str],
    cwd: Path | None,
    stdin: bytes | None,
    deadline: float,
) -> tuple[bytes, bytes, int]:
    """Run *words* on pipes, and return what `subprocess.run` would: both texts and the status."""
    (out, its_out), (err, its_err) = os.pipe(), os.pipe()
    into, its_in = -1, os.open(os.devnull, os.O_RDONLY) if stdin is None else -1
    if stdin is not None:
        its_in, into = os.pipe()
    theirs = [its_in, its_out, its_err]
    child = start(framework, words, env, usual, cwd, theirs)
    for each in theirs:
        os.close(each)
    texts = {out: bytearray(), err: bytearray()}
    try:
        _communicate(texts, into, stdin or b"", time.monotonic() + deadline)
    except TimeoutError:
        child.kill()
        raise subprocess.TimeoutExpired(words, deadline, *map(bytes, texts.values())) from None
    finally:
        code = child.wait()
    return bytes(texts[out]), bytes(texts[err]), code


def servers() -> set[int]:
    """Return the numbers of the processes that wait to fork."""
    return {each.number for waiting in _idle.values() for each in waiting}


@atexit.register
def _stop_all() -> None:
    for servers in _idle.values():
        for each in servers:
            each.stop()


def _communicate(texts: dict[int, bytearray], into: int, rest: bytes, until: float) -> None:
    with selectors.DefaultSelector() as waiting:
        for each in texts:
            waiting.register(each, selectors.EVENT_READ)
        if into >= 0:
            waiting.register(into, selectors.EVENT_WRITE)
        try:
            while waiting.get_map():
                ready = waiting.select(until - time.monotonic())
                if not ready and time.monotonic() >= until:
                    raise TimeoutError
                for key, _ in ready:
                    if key.fd == into:
                        try:
                            rest = rest[os.write(into, rest[:4096]) :]
                        except BrokenPipeError:
                            rest = b""
                        over = not rest
                    else:
                        part = os.read(key.fd, 65536)
                        texts[key.fd] += part
                        over = not part
                    if over:
                        waiting.unregister(key.fd)
                        os.close(key.fd)
        finally:
            for fd in [key.fd for key in waiting.get_map().values()]:
                os.close(fd)
