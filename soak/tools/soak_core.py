"""What the tools of the soak do: every way a handler may behave that an agent ever meets."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import murli
from soak.marks import mark
from soak.payloads import HOSTILE, hostile, letters, lines, payload

CHANGE = murli.Metadata(mutating=True, dry_runnable=True)
# The longest an endless handler goes on by itself, should nobody stop it.
PATIENCE = 4.0


class Job:
    """What a call asked for: *deed* by name, and the numbers that make it one of many."""

    def __init__(self, deed: str, seed: int, size: int, seconds: float, **more: Any) -> None:
        self.deed = deed
        self.seed = seed
        self.size = size
        self.seconds = seconds

    def do(self) -> Any:
        """Do it, telling when it begins, and how it ends."""
        mark("h")
        try:
            returned = DEEDS[self.deed](self)
        except BaseException:
            mark("e")
            raise
        mark("d")
        return returned

    async def do_slowly(self) -> Any:
        """Do it in an event loop."""
        import asyncio

        mark("h")
        await asyncio.sleep(self.seconds)
        print(lines(self.seed, self.size), end="")
        mark("d")


def writer() -> murli.Writer:
    """Return the writer of the running call."""
    return murli.get_writer()


# -- answers -----------------------------------------------------------------------------------


def answers(job: Job) -> None:
    """Answer with data."""
    writer().write_success("Done", payload(job.seed, job.size))


def returns(job: Job) -> Any:
    """Return data, where a framework takes it."""
    return payload(job.seed, job.size)


def prints(job: Job) -> None:
    """Print text."""
    for line in lines(job.seed, job.size).splitlines():
        print(line)


def generates(job: Job) -> None:
    """Answer with a generator."""
    writer().write_success("Done", (index for index in range(job.size // 8)))


def says_hostile(job: Job) -> None:
    """Answer with what must be cleaned."""
    writer().write_success(HOSTILE[job.seed % len(HOSTILE)], hostile(job.seed, job.size))


def prints_hostile(job: Job) -> None:
    """Print what must be cleaned."""
    text = HOSTILE[job.seed % len(HOSTILE)]
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") * (job.size // 3000 + 1))


def streams(job: Job) -> None:
    """Stream events, and answer."""
    count = min(job.size // 50, 2000)
    for index in range(count):
        writer().write_event({"event": "row", "index": index, "row": letters(index, 20)})
    writer().write_success("Done", {"count": count})


def progresses(job: Job) -> None:
    """Report progress on the way."""
    for index in range(5):
        writer().write_progress(murli.ProgressEvent("work", index, 5, message="working"))
        writer().log("working")
    writer().write_success("Done", payload(job.seed, job.size))


def is_partial(job: Job) -> None:
    """Answer that some of it failed."""
    writer().write_partial("Some", payload(job.seed, job.size))


def answers_twice(job: Job) -> None:
    """Answer, and answer again, which is a mistake."""
    writer().write_success("One", payload(job.seed, job.size))
    writer().write_success("Two", payload(job.seed, job.size))


def fails_late(job: Job) -> None:
    """Answer, and fail."""
    writer().write_success("Done", payload(job.seed, job.size))
    raise ValueError("after the answer")


def cannot_be_encoded(job: Job) -> None:
    """Answer with what JSON cannot hold."""
    writer().write_success("Done", [float("nan"), float("inf"), object()][job.seed % 3])


# -- children, threads and other company -------------------------------------------------------


def has_child(job: Job) -> None:
    """Let a child print."""
    _run(["seq", "1", str(job.size // 6 + 1)])


def waits_for_child(job: Job) -> None:
    """Wait for a child that takes its time."""
    import subprocess

    subprocess.run(["sleep", str(job.seconds)], check=True)
    writer().write_success("Waited", job.seconds)


def looks_at_descriptors(job: Job) -> None:
    """Let a child tell which descriptors it was given."""
    _run(["ls", "/proc/self/fd"])


def has_thread(job: Job) -> None:
    """Leave a thread that prints late."""
    import threading

    def late() -> None:
        time.sleep(job.seconds)
        print(lines(job.seed, job.size), end="")

    threading.Thread(target=late).start()


def has_daemon(job: Job) -> None:
    """Leave a thread that prints for as long as it can."""
    import threading

    def forever() -> None:
        while True:
            print(letters(job.seed, 30))
            time.sleep(0.001)

    threading.Thread(target=forever, daemon=True).start()
    time.sleep(job.seconds)
    writer().write_success("Left", payload(job.seed, job.size))


def prints_at_exit(job: Job) -> None:
    """Print when the interpreter ends."""
    atexit.register(lambda: print(lines(job.seed, job.size), end=""))
    writer().write_success("Done", payload(job.seed, job.size))


def truncates(job: Job) -> None:
    """Let a child open stdout anew and truncate it, in one of the ways children are started."""
    import subprocess

    print("before", flush=True)
    command = ["sh", "-c", "echo anew > /dev/stdout"]
    if job.seed % 3 == 0:
        _run(command)
    elif job.seed % 3 == 1:
        subprocess.run(command, check=True)
    else:
        child = os.fork()
        if child == 0:
            os.execv("/bin/sh", command)
        os.waitpid(child, 0)
    print(lines(job.seed, job.size), end="")


def opens_stdout(job: Job) -> None:
    """Open stdout anew and truncate it."""
    print("before", flush=True)
    if job.seed % 2:
        with open("/dev/stdout", "w") as anew:
            print("anew", file=anew)
    else:
        with contextlib.suppress(OSError):  # a pipe would not have it
            os.ftruncate(1, 0)
        print("anew")
    print(lines(job.seed, job.size), end="")


def leaves_child(job: Job) -> None:
    """Start a child that Python ends at exit, and that has hardly begun by then."""
    import multiprocessing

    fork = multiprocessing.get_context("fork")
    fork.Process(target=time.sleep, args=(PATIENCE * 4,), daemon=True).start()
    writer().write_success("Done", payload(job.seed, job.size))


def forks_and_answers(job: Job) -> None:
    """Fork; the child says what only its parent may say."""
    child = os.fork()
    if child == 0:
        if job.seed % 3 == 0:
            writer().write_success("child", {"child": True})
        elif job.seed % 3 == 1:
            writer().write_event({"child": True})
        os._exit(0)
    os.waitpid(child, 0)
    writer().write_success("Done", payload(job.seed, job.size))


def has_deaf_child(job: Job) -> None:
    """Wait for a child that ends for nobody."""
    import subprocess

    subprocess.run(["sh", "-c", "trap '' INT TERM HUP; sleep 61; :"], check=True)


def forks(job: Job) -> None:
    """Fork; the child ends on its own, in one of the ways children do."""
    print("before", flush=True)
    child = os.fork()
    if child == 0:
        print("child", flush=True)
        if job.seed % 3 == 0:
            os._exit(0)
        if job.seed % 3 == 1:
            sys.exit(0)
        raise ValueError("in the child")
    os.waitpid(child, 0)
    print("behind")


def becomes_another(job: Job) -> None:
    """Become another program."""
    print("before", flush=True)
    os.execv("/bin/echo", ["echo", "another"])


def _run(argv: list[str]) -> None:
    sys.stdout.flush()
    child = os.posix_spawnp(argv[0], argv, os.environ)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        raise RuntimeError(f"{argv[0]} ended with {status}")


# -- time --------------------------------------------------------------------------------------


def sleeps(job: Job) -> None:
    """Take time."""
    deadline = time.monotonic() + job.seconds
    while time.monotonic() < deadline:
        time.sleep(0.01)
    writer().write_success("Slept", job.seconds)


def blocks_at_end(job: Job) -> None:
    """Take time, and more of it to clean up."""
    try:
        time.sleep(PATIENCE)
    finally:
        time.sleep(PATIENCE * 4)


def swallows(job: Job) -> None:
    """Go on whatever happens."""
    deadline = time.monotonic() + PATIENCE * 4
    while time.monotonic() < deadline:
        with contextlib.suppress(BaseException):
            time.sleep(PATIENCE)


def blocks_signals(job: Job) -> None:
    """Take time, deaf to all signals."""
    import signal

    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    time.sleep(PATIENCE * 4)


def loops_on(job: Job) -> None:
    """Go on in an event loop whatever is cancelled."""
    import asyncio

    async def go_on() -> None:
        deadline = time.monotonic() + PATIENCE * 4
        while time.monotonic() < deadline:
            with contextlib.suppress(BaseException):
                await asyncio.sleep(PATIENCE)

    asyncio.run(go_on())


def is_stuck(job: Job) -> None:
    """Be in C code that neither returns nor lets anybody else run."""
    import hashlib
    import re

    if job.seed % 2:
        re.match("(a+)+$", "a" * 40 + "b")
    else:
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 2**31 - 1)


def is_stuck_at_exit(job: Job) -> None:
    """Take too long, and be stuck in C code at the end as well."""
    import re

    atexit.register(re.match, "(a+)+$", "a" * 40 + "b")
    time.sleep(PATIENCE * 4)


def computes(job: Job) -> None:
    """Take time without a pause."""
    deadline, total = time.monotonic() + job.seconds, 0
    while time.monotonic() < deadline:
        total += sum(range(100))
    writer().write_success("Computed", total > 0)


def prints_endlessly(job: Job) -> None:
    """Print until somebody stops it."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        print(letters(job.seed, 8000), flush=True)
        time.sleep(0.0005)


def streams_endlessly(job: Job) -> None:
    """Stream events until somebody stops it."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        writer().write_event({"event": "row", "row": letters(job.seed, 100)})
        time.sleep(0.0005)


# -- trouble -----------------------------------------------------------------------------------


class Unspeakable(Exception):
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def _deep(level: int) -> int:
    return _deep(level + 1) + 1


# Each with the kind of failure it is.
FAILURES: list[tuple[str, Callable[[], Any]]] = [
    ("user_error", lambda: murli.AgentError.user_error("bad", "Do better.")),
    ("not_found", lambda: murli.AgentError.not_found("no index", "Build it.")),
    ("conflict", lambda: murli.AgentError.conflict("taken")),
    ("permission_denied", lambda: murli.AgentError.permission_denied("no")),
    ("rate_limited", lambda: murli.AgentError.rate_limited("slow", retry_after_ms=10)),
    ("timeout", lambda: murli.AgentError.timeout("late")),
    ("unavailable", lambda: murli.AgentError.unavailable("down")),
    ("precondition", lambda: murli.AgentError.precondition("first this")),
    ("tool_error", lambda: ValueError("boom")),
    ("tool_error", lambda: KeyError("\x1b[31m\0\ud800")),
    ("tool_error", Unspeakable),
    ("tool_error", lambda: RecursionError("deep")),
    ("tool_error", MemoryError),
    ("not_found", lambda: FileNotFoundError(2, "No such file or directory", "/no/such")),
    ("permission_denied", lambda: PermissionError(13, "Permission denied", "/root")),
    ("timeout", lambda: TimeoutError("late")),
    ("unavailable", lambda: ConnectionRefusedError(111, "Connection refused")),
    ("cancelled", KeyboardInterrupt),
]


def fails(job: Job) -> None:
    """Print something, and raise one of the failures."""
    print(lines(job.seed, job.size), end="")
    raise FAILURES[job.seed % len(FAILURES)][1]()


def recurses(job: Job) -> None:
    """Run out of stack."""
    _deep(0)


STATUSES: list[Any] = [0, 1, 2, 3, 7, 130, 255, 256, -1, None, "no such host", True]


def exits(job: Job) -> None:
    """Print something, and exit in one of the ways there are."""
    print(lines(job.seed, job.size), end="")
    status = STATUSES[job.seed % len(STATUSES)]
    if job.seed // len(STATUSES) % 2:
        raise SystemExit(status)
    sys.exit(status)


def exits_hard(job: Job) -> None:
    """Print something, and exit behind Python's back."""
    print(lines(job.seed, job.size), end="", flush=True)
    mark("e")
    os._exit(job.seed % 3)


def closes_stdout(job: Job) -> None:
    """Close what is not its own."""
    if job.seed % 3 == 0:
        os.close(1)
    elif job.seed % 3 == 1:
        sys.stdout.close()
    else:
        sys.stdout = None
    writer().write_success("Closed", payload(job.seed, job.size))


def closes_all(job: Job) -> None:
    """Close what is not its own, and open something in its place."""
    os.closerange(3, 64)
    for _ in range(4):
        os.open(os.devnull, os.O_RDWR)


def is_noisy(job: Job) -> None:
    """Write to stderr in every way, and answer."""
    import logging
    import warnings

    logging.basicConfig(level=logging.DEBUG)
    with contextlib.suppress(OSError):  # full; and a closed one is none at all
        print(lines(job.seed, job.size), end="", file=sys.stderr or io.StringIO(), flush=True)
    logging.warning("said %s", letters(job.seed, 30))
    warnings.warn("old", stacklevel=1)
    for _ in range(3):
        writer().log("logged")
    with contextlib.suppress(OSError):  # closed, or full
        os.write(2, b"from below\n")
    writer().write_success("Done", payload(job.seed, job.size))


# -- questions ---------------------------------------------------------------------------------


def asks(job: Job) -> None:
    """Ask a person."""
    print("hello", input("Name? "))


def asks_for_password(job: Job) -> None:
    """Ask a person for a secret."""
    import getpass

    print("hello", getpass.getpass("Password: "))


def reads(job: Job) -> None:
    """Read all there is to read."""
    print("read", len(sys.stdin.read()))


DEEDS: dict[str, Callable[[Job], Any]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        answers,
        returns,
        prints,
        generates,
        says_hostile,
        prints_hostile,
        streams,
        progresses,
        is_partial,
        answers_twice,
        fails_late,
        cannot_be_encoded,
        has_child,
        waits_for_child,
        looks_at_descriptors,
        has_thread,
        has_daemon,
        prints_at_exit,
        truncates,
        opens_stdout,
        leaves_child,
        forks_and_answers,
        has_deaf_child,
        forks,
        becomes_another,
        sleeps,
        computes,
        blocks_at_end,
        swallows,
        blocks_signals,
        loops_on,
        is_stuck,
        is_stuck_at_exit,
        prints_endlessly,
        streams_endlessly,
        fails,
        recurses,
        exits,
        exits_hard,
        closes_stdout,
        closes_all,
        is_noisy,
        asks,
        asks_for_password,
        reads,
    )
}


def change(job: Job) -> None:
    """Change something, or tell what would be changed."""
    mark("h")
    if writer().is_dry_run():
        writer().write_plan("Would change", payload(job.seed, job.size))
    else:
        writer().write_success("Changed", payload(job.seed, job.size))
    mark("d")
