"""Handlers that do what real ones do when things go wrong; three front ends call them."""

from __future__ import annotations

import atexit
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


def do_crash(*_: Any) -> None:
    raise ValueError("no good")


def mutate() -> None:
    """Change something, and have a large answer."""
    print("x" * 300_000)
