"""Handlers that do what real ones do when things go wrong; three front ends call them."""

from __future__ import annotations

import atexit
import contextlib
import io
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import murli

MUTATE = murli.Metadata(mutating=True)
QUICK = murli.Metadata(timeout=0.3)
logging.basicConfig(level=logging.INFO, format="%(message)s")


def do(what: str, seconds: float, name: str | None, yes: bool) -> Any:
    """Do *what*; most of it is over in a moment, the rest waits to be stopped."""
    return globals()[f"do_{what}"](seconds, name, yes)


def ready() -> None:
    """Tell the test that the handler runs."""
    os.write(2, b"ready\n")


def do_nothing(*_: Any) -> None:
    print("done")


def do_sleep(seconds: float, *_: Any) -> None:
    try:
        ready()
        time.sleep(seconds)
    finally:
        os.write(2, b"cleaned\n")
    print("slept")


def do_stubborn(*_: Any) -> None:
    ready()
    while True:
        try:
            time.sleep(60)
        except BaseException:
            continue


def do_graceful(*_: Any) -> None:
    ready()
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        sys.exit(0)


def do_slow_cleanup(*_: Any) -> None:
    try:
        ready()
        time.sleep(60)
    finally:
        time.sleep(0.3)
        os.write(2, b"cleaned\n")


def do_own_handler(*_: Any) -> None:
    signal.signal(signal.SIGTERM, lambda *a: (print("mine"), sys.exit(0)))
    ready()
    time.sleep(60)


def do_loop(*_: Any) -> None:
    import asyncio

    async def wait() -> None:
        try:
            ready()
            await asyncio.sleep(60)
        finally:
            os.write(2, b"cleaned\n")

    asyncio.run(wait())


def do_child(*_: Any) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    os.write(2, f"child {child.pid}\n".encode())
    time.sleep(60)


def do_events(*_: Any) -> None:
    writer = murli.get_writer()
    writer.write_event({"index": 0})
    writer.write_event({"status": "ok", "schema_version": "1.0", "ok": True, "error": None})
    ready()
    time.sleep(60)


def do_ask(*_: Any) -> None:
    print("hello", input("Name? "))


def do_confirm(*_: Any) -> None:
    print(input("Really? [y/n] "))


def do_password(*_: Any) -> None:
    import getpass

    print(len(getpass.getpass("Password: ")))


def do_read(*_: Any) -> None:
    print(len(sys.stdin.read()))


def do_lines(*_: Any) -> None:
    print(sum(1 for _ in sys.stdin))


def do_browse(*_: Any) -> None:
    import webbrowser

    webbrowser.open("http://127.0.0.1/login")


def do_console(*_: Any) -> None:
    import code

    code.interact()


def do_forever(*_: Any) -> None:
    while True:
        print("y" * 200)


def do_big(*_: Any) -> None:
    print("x" * 3_000_000)


def do_big_child(*_: Any) -> None:
    subprocess.run([sys.executable, "-c", "print('x' * 3_000_000)"], check=True)


def do_noise(*_: Any) -> None:
    threads = [
        threading.Thread(target=lambda: [print("thread", file=sys.stdout) for _ in range(50)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.system("echo child; echo child >&2")
    logging.info("logged")
    murli.get_writer().write_success("Done", {"n": 1})


def do_late_thread(*_: Any) -> None:
    def late() -> None:
        time.sleep(0.3)
        print("late")
        os.write(1, b"later\n")

    threading.Thread(target=late).start()
    print("done")


def do_atexit(*_: Any) -> None:
    atexit.register(lambda: print("at exit"))
    print("done")


def do_logs(*_: Any) -> None:
    writer = murli.get_writer()

    def log(number: int) -> None:
        for index in range(50):
            writer.log(f"thread {number} line {index} " + "x" * 200)

    threads = [threading.Thread(target=log, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("done")


def do_environment(*_: Any) -> None:
    names = ("PAGER", "GIT_PAGER", "EDITOR", "VISUAL", "NO_COLOR", "GIT_TERMINAL_PROMPT")
    code = f"import os; print({{name: os.environ.get(name) for name in {names}}})"
    subprocess.run([sys.executable, "-c", code], check=True)


def do_text(*_: Any) -> dict[str, str]:
    nasty = "\x1b[31mred\x1b[0m \x1b]0;title\x07 a\rb \0 \u202egnp.exe\u202c \udcff ü"
    writer = murli.get_writer()
    writer.log(nasty)
    writer.write_success(nasty, {"text": nasty, nasty: 1})
    return {}


def do_main_thread(*_: Any) -> None:
    main = threading.current_thread() is threading.main_thread()
    signal.signal(signal.SIGUSR1, lambda *a: print("signalled"))
    os.kill(os.getpid(), signal.SIGUSR1)
    print(main)


def do_fork(*_: Any) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, b"x")
        time.sleep(60)
        os._exit(0)
    os.read(reader, 1)
    os.kill(child, signal.SIGTERM)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def do_truncate(seconds: float, name: str | None, yes: bool) -> None:
    print("record 1")
    print("record 2", flush=True)
    if name == "shell":
        command = "echo a; echo b > /dev/stdout; echo c > /proc/self/fd/1; echo d | tee /dev/fd/1"
        subprocess.run(command, shell=True, check=True)
    elif name == "system":
        os.system("echo a; echo b > /dev/stdout")
    elif name == "fork":
        child = os.fork()
        if child == 0:
            os.execv("/bin/sh", ["sh", "-c", "echo a; echo b > /dev/stdout"])
        os.waitpid(child, 0)
    elif name == "back again":
        before = os.dup(1)
        subprocess.run(["echo", "a"], check=True)
        os.dup2(before, 1)
        os.close(before)
        subprocess.run("echo b > /dev/stdout", shell=True, check=True)
    elif name == "truncated":
        changes: list[Any] = [os.truncate, os.ftruncate]
        for change in changes:
            with contextlib.suppress(OSError, TypeError):
                change(1, 0)
            with contextlib.suppress(OSError, TypeError):
                change("/dev/stdout", 0)
        os.close(os.open("/dev/stdout", os.O_RDONLY | os.O_TRUNC | os.O_NONBLOCK))
        print("a")
    else:
        with open("/dev/stdout", "w") as first:
            print("a", file=first)
        with open("/dev/fd/1", "w") as second:
            print("b", file=second, flush=True)
            print("c", flush=True)
            print("d", file=second)
    print("record 3")


def do_leave_child(*_: Any) -> None:
    words = "read x; echo late; echo 'still there' >&2"
    subprocess.Popen(["sh", "-c", words], stdin=sys.stdin, start_new_session=True)
    print("left")


def do_daemon(*_: Any) -> None:
    if os.fork() == 0:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        time.sleep(30)
        os._exit(0)
    print("in the background")


def do_close_all(seconds: float, name: str | None, yes: bool) -> None:
    print("printed", flush=True)
    if yes:
        subprocess.run(["echo", "child"], check=True)
    os.closerange(0 if yes else 3, 64)
    kept.extend(os.open(f"{name}.{number}", os.O_RDWR | os.O_CREAT) for number in range(4))


kept: list[int] = []


def do_close_stdout(seconds: float, name: str | None, yes: bool) -> None:
    print("printed", os.environ["A_TOKEN"])
    os.close(1)


def do_fork_away(seconds: float, name: str | None, yes: bool) -> Any:
    writer = murli.get_writer()
    if os.fork() == 0:
        if name == "answers":
            writer.write_success("", {"child": 1})
        elif name == "fails":
            writer.write_error(murli.AgentError.not_found("child"))
        elif name == "streams":
            writer.write_event({"child": 1})
        os._exit(0)
    os.wait()
    writer.write_success("", {"parent": 1})


def do_early_end(*_: Any) -> None:
    import multiprocessing

    fork = multiprocessing.get_context("fork")
    fork.Process(target=time.sleep, args=(60,), daemon=True).start()
    print("left")


def do_put_aside(*_: Any) -> None:
    print("printed")
    sys.stdout = io.StringIO()
    print("kept back")


def do_umlauts(*_: Any) -> None:
    print("é ü 漢", flush=True)
    subprocess.run([sys.executable, "-c", "print(chr(0x6F22) * 2)"], check=False)


def do_fails(*_: Any) -> None:
    raise murli.AgentError.not_found("nothing there")


def do_blocked_finally(*_: Any) -> None:
    try:
        ready()
        time.sleep(60)
    finally:
        time.sleep(60)


def do_sigwait(*_: Any) -> None:
    ready()
    signal.sigwait([signal.SIGUSR1])


def do_own_sigwait(*_: Any) -> None:
    ready()
    while True:
        signal.sigwait([signal.SIGTERM, signal.SIGINT])


def do_blocked_signals(*_: Any) -> None:
    print("so far")
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    ready()
    time.sleep(60)


def do_stubborn_loop(*_: Any) -> None:
    import asyncio

    async def go_on() -> None:
        print("so far")
        ready()
        while True:
            with contextlib.suppress(BaseException):
                await asyncio.sleep(60)

    asyncio.run(go_on())


def do_thread(*_: Any) -> None:
    threading.Thread(target=time.sleep, args=(60,)).start()
    ready()
    time.sleep(60)


def do_system(*_: Any) -> None:
    ready()
    os.system("trap '' TERM INT; sleep 61; :")


def do_deaf_child(*_: Any) -> None:
    ready()
    subprocess.run(["sh", "-c", "trap '' TERM INT; sleep 61; :"], check=False)


def do_join(*_: Any) -> None:
    import multiprocessing

    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    child.start()
    ready()
    while True:
        try:
            child.join()
        except BaseException:
            continue


def do_swallow(*_: Any) -> None:
    try:
        ready()
        time.sleep(60)
    except KeyboardInterrupt:
        print("stopped")


def do_cleanup_fails(*_: Any) -> None:
    try:
        ready()
        time.sleep(60)
    finally:
        raise ValueError("cannot clean up")


def do_other_failure(*_: Any) -> None:
    try:
        ready()
        time.sleep(60)
    except BaseException:
        raise FileNotFoundError(2, "no lock", "lock") from None


def do_own_end(*_: Any) -> None:
    try:
        ready()
        time.sleep(60)
    except BaseException as error:
        raise murli.AgentError.conflict("Half of it is done.") from error


def do_grandchild(*_: Any) -> None:
    child = "trap '' TERM INT; sleep 60 & echo child $! >&2; wait; sleep 60"
    subprocess.run(["sh", "-c", child], stdout=subprocess.PIPE, check=True)


def do_open_file(seconds: float, name: str | None, yes: bool) -> None:
    """Leave two files to Python: one of this frame, one of the module."""
    assert name is not None
    of_frame = open(name, "w")  # noqa: SIM115
    of_frame.write("of the frame")
    of_module = globals()["OPENED"] = open(f"{name}.module", "w")  # noqa: SIM115
    of_module.write("of the module")
    ready()
    if not yes:
        raise ValueError("in the middle")
    time.sleep(60)


def do_slow_exit(*_: Any) -> None:
    def flush() -> None:
        time.sleep(2.2)
        os.write(2, b"flushed\n")

    atexit.register(flush)
    murli.get_writer().write_success("", {"n": 1})


def do_slow_thread(*_: Any) -> None:
    threading.Thread(target=time.sleep, args=(2.2,)).start()
    murli.get_writer().write_success("", {"n": 1})


class Hanging(dict[str, int]):
    """A value whose own code does not return."""

    def items(self) -> Any:
        time.sleep(60)


def do_hanging_value(*_: Any) -> None:
    murli.get_writer().write_success("", Hanging(a=1))


def do_regex(*_: Any) -> None:
    import re

    ready()
    re.match("(a+)+$", "a" * 40 + "b")


def do_regex_at_exit(*_: Any) -> None:
    import re

    atexit.register(re.match, "(a+)+$", "a" * 40 + "b")
    time.sleep(60)


def do_hash(*_: Any) -> None:
    import hashlib

    hashlib.pbkdf2_hmac("sha256", b"a", b"b", 10**9)


def do_foreign_code(*_: Any) -> None:
    import ctypes

    ctypes.PyDLL(None).sleep(60)


def do_regex_in_stream(*_: Any) -> None:
    murli.get_writer().write_event({"index": 0})
    do_regex()


def do_click_prompt(seconds: float, name: str | None, yes: bool) -> None:
    import click
    import typer

    print((click if name == "click" else typer).prompt("Your name"))


def do_own_kind(seconds: float, name: str | None, yes: bool) -> None:
    error = murli.AgentError(8, "odd", "odd", kind="of my own")  # type: ignore[arg-type]
    error.valid_values = None  # type: ignore[assignment]
    raise error


class Interrupting:
    """A value whose own code stops everything."""

    def __getattr__(self, name: str) -> Any:
        raise KeyboardInterrupt


def do_interrupting_value(*_: Any) -> Any:
    return {"a": Interrupting()}


def do_crash(*_: Any) -> None:
    raise ValueError("no good")


def mutate() -> None:
    """Change something, and have a large answer."""
    print("x" * 300_000)
