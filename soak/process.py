"""Runs one case as a real process, does to it what the case says, and keeps the evidence.

Nothing but processes of that case is ever signalled: the one that was started, which leads a
session of its own, and what it left behind, which becomes our child (see `adopt`).
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from soak.cases import SIGNALS, Case
from soak.marks import DESCRIPTOR

ROOT = Path(__file__).parent.parent
# A machine may be busy; a process that takes this long is stuck.
DEADLINE = 20.0
# What may still be on its way out when the process has ended.
GRACE = 1.5
FED = b"Ada\nLovelace\n"
# The mark behind which the signals of a fault are due.
_BEGINNINGS = {"signal in handler": b"h", "burst of signals": b"h", "signal at end": b"de"}
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


@dataclass
class Evidence:
    """What a process did, as seen from outside."""

    stdout: bytes = b""
    stderr: bytes = b""
    code: int = 0
    took: float = 0.0
    marks: str = ""
    hung: bool = False
    #: signals that were sent, each with the marks seen by then
    sent: list[tuple[int, str]] = field(default_factory=list)
    #: whether the reader went away while there was more to come
    left_early: bool = False
    survivors: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)


def adopt() -> None:
    """Become the parent of whatever the processes we start leave behind.

    Signals are what they are at a fresh start: who was started in the background ignores some,
    and so would they.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)


def command(case: Case) -> list[str]:
    """Return the command line of *case*."""
    tool = ROOT / "soak" / "tools" / f"soak_{case.adapter}.py"
    return [sys.executable, str(tool), *case.words]


def environment(case: Case, folder: Path) -> dict[str, str]:
    """Return the whole environment of *case*."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        # A process that is killed while it writes bytecode would leave some of it.
        "PYTHONDONTWRITEBYTECODE": "1",
        "MURLI_TEST": "1",
        "MURLI_CONTRACT": case.contract,
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "SOAK_STYLE": "session" if case.session else "",
        "PYTHONUNBUFFERED": "1" if case.unbuffered else "",
    }


def run(case: Case, folder: Path) -> Evidence:
    """Run *case* with *folder* as all the world it may write to."""
    for name in ("home", "tmp", "here"):
        (folder / name).mkdir(parents=True)
    if case.fault == "disk is full":
        _fill(folder, case.limit)
    try:
        running = _Running(case, folder)
        try:
            evidence = running.watch()
        finally:
            running.end()
        evidence.survivors = _survivors()
        evidence.leftovers = [
            str(path.relative_to(folder))
            for name in ("home", "tmp", "here")
            for path in sorted((folder / name).rglob("*"))
        ]
        return evidence
    finally:
        for name in ("home", "tmp", "here", "filler"):
            shutil.rmtree(folder / name, ignore_errors=True)


class _Running:
    """A process that was started, and the pipes to it."""

    def __init__(self, case: Case, folder: Path) -> None:
        self.case = case
        self.evidence = Evidence()
        self.started = time.monotonic()
        self.pipes: dict[int, str] = {}
        self.texts = {"stdout": bytearray(), "stderr": bytearray(), "marks": bytearray()}
        self.due = [(delay, number) for delay, number in case.signals]
        # When the signals are counted from; for some not before the process says so.
        self.since: float | None = None
        if case.fault in ("signal at start", "signal in import"):
            self.since = self.started
        self.process = self._start(folder)
        self.ended = os.pidfd_open(self.process.pid)
        self.exited_at: float | None = None

    def _start(self, folder: Path) -> subprocess.Popen[bytes]:
        case = self.case
        marks, theirs = os.pipe()
        os.dup2(theirs, DESCRIPTOR, inheritable=True)
        os.close(theirs)
        closed = {
            "stdout is closed": (1,),
            "stderr is closed": (2,),
            "both are closed": (1, 2),
            "stdin is closed": (0,),
        }.get(case.fault, ())
        few = case.limit if case.fault == "few descriptors" else 0

        def prepare() -> None:
            for descriptor in closed:
                os.close(descriptor)
            if few:
                resource.setrlimit(resource.RLIMIT_NOFILE, (few, few))

        full = open("/dev/full", "wb", buffering=0)  # noqa: SIM115
        piped = case.stdin in ("silent", "fed")
        with full:
            process = subprocess.Popen(
                [os.fsencode(word) for word in command(case)],
                stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                stdout=full if case.fault == "stdout is full" else subprocess.PIPE,
                stderr=full if case.fault == "stderr is full" else subprocess.PIPE,
                env=environment(case, folder),
                cwd=folder / "here",
                pass_fds=(DESCRIPTOR,),
                start_new_session=True,
                preexec_fn=prepare if closed or few else None,  # noqa: PLW1509 (no threads)
            )
        os.close(DESCRIPTOR)
        if process.stdin is not None and case.stdin == "fed":
            process.stdin.write(FED)
            process.stdin.close()
        self.pipes[marks] = "marks"
        for name in ("stdout", "stderr"):
            stream = getattr(process, name)
            if stream is not None:
                self.pipes[os.dup(stream.fileno())] = name
                stream.close()
        return process

    def watch(self) -> Evidence:
        """Read, wait and signal until the process has ended, or its time is up."""
        evidence = self.evidence
        while True:
            now = time.monotonic()
            if self.exited_at is None and now - self.started > DEADLINE:
                evidence.hung = True
                self._kill()
            if self.exited_at is not None and (not self.pipes or now - self.exited_at > GRACE):
                break
            self._signal(now)
            self._close_early()
            self._wait(now)
        evidence.code = self.process.wait()
        evidence.stdout, evidence.stderr = bytes(self.texts["stdout"]), bytes(self.texts["stderr"])
        evidence.marks = self.texts["marks"].decode("ascii", "replace")
        evidence.took = time.monotonic() - self.started
        return evidence

    def end(self) -> None:
        """Let go of everything, the process included should it still run."""
        self._kill()
        self.process.wait()
        for descriptor in (*self.pipes, self.ended):
            os.close(descriptor)
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()

    def _kill(self) -> None:
        """Kill the process and those of its session, while its number is still its own."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def _wait(self, now: float) -> None:
        poll = select.poll()
        if self.exited_at is None:
            poll.register(self.ended, select.POLLIN)
        for descriptor, name in self.pipes.items():
            if self._may_read(name, now):
                poll.register(descriptor, select.POLLIN)
        for descriptor, _ in poll.poll(self._patience(now)):
            if descriptor == self.ended:
                self.exited_at = time.monotonic()
            else:
                self._read(descriptor)

    def _patience(self, now: float) -> float:
        if self.due and self.since is not None:
            return max(0.0, (self.since + self.due[0][0] - now) * 1000)
        slow = self.case.fault in ("reader is slow", "reader is late", "stderr is read late")
        return 2.0 if slow else 50.0

    def _may_read(self, name: str, now: float) -> bool:
        """Return whether the reader of the case would read now."""
        late = now - self.started > 0.3 or self.exited_at is not None
        if self.case.fault == "reader is late" and name == "stdout":
            return late
        if self.case.fault == "stderr is read late" and name == "stderr":
            return late
        return True

    def _read(self, descriptor: int) -> None:
        name = self.pipes[descriptor]
        # For a while; a megabyte in such bites would outlast any patience.
        slowly = self.case.fault == "reader is slow" and len(self.texts["stdout"]) < 200_000
        size = 1 << 16
        if name == "stdout" and slowly:
            time.sleep(0.001)
            size = 2048
        elif name == "stdout" and self.case.fault == "reader closes early":
            size = max(1, self.case.limit - len(self.texts["stdout"]))
        part = os.read(descriptor, size)
        self.texts[name] += part
        if not part:
            del self.pipes[descriptor]
            os.close(descriptor)
        elif name == "marks" and self.since is None:
            wanted = _BEGINNINGS.get(self.case.fault, b"")
            if set(wanted) & set(part):
                self.since = time.monotonic()

    def _signal(self, now: float) -> None:
        while self.due and self.since is not None and now >= self.since + self.due[0][0]:
            _, number = self.due.pop(0)
            if self.exited_at is None and self.process.poll() is None:
                os.kill(self.process.pid, number)
                self.evidence.sent.append((number, self.texts["marks"].decode("ascii", "replace")))

    def _close_early(self) -> None:
        if self.case.fault != "reader closes early":
            return
        for descriptor, name in list(self.pipes.items()):
            if name == "stdout" and len(self.texts["stdout"]) >= self.case.limit:
                self.evidence.left_early = True
                del self.pipes[descriptor]
                os.close(descriptor)


def _fill(folder: Path, free: int) -> None:
    """Fill the file system of *folder* up to *free* bytes."""
    (folder / "filler").mkdir()
    with open(folder / "filler" / "filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(1 << 16))
        except OSError:
            pass
        filler.truncate(max(0, os.fstat(filler.fileno()).st_size - free))


def _survivors() -> list[str]:
    """Return the processes that outlived the one we started, after a grace period; end them."""
    deadline = time.monotonic() + GRACE
    while children := _children():
        if time.monotonic() > deadline:
            break
        for child in children:
            os.waitpid(child, os.WNOHANG)
        time.sleep(0.005)
    found = []
    for child in children:
        found.append(_describe(child))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return found


def _children() -> list[int]:
    path = f"/proc/self/task/{os.getpid()}/children"
    return [int(each) for each in Path(path).read_text().split()]


def _describe(process: int) -> str:
    def text(name: str) -> str:
        try:
            data = Path(f"/proc/{process}/{name}").read_bytes()
        except OSError:  # it has just ended
            return "?"
        return data.replace(b"\0", b" ").decode("latin-1")

    return f"{text('cmdline').strip()[-120:]} ({text('wchan')})"


def as_facts(evidence: Evidence) -> dict[str, Any]:
    """Return *evidence* short enough to be shown."""
    return {
        "exit": evidence.code,
        "took": round(evidence.took, 2),
        "marks": evidence.marks,
        "sent": evidence.sent,
        "stdout": _shortened(evidence.stdout),
        "stderr": _shortened(evidence.stderr),
    }


def _shortened(data: bytes) -> str:
    text = data.decode("utf-8", "backslashreplace")
    return text if len(text) <= 1200 else f"{text[:500]} … {len(text)} characters … {text[-500:]}"
