"""Calls inside one process, one after the other, as a test suite makes them.

After each, everything that a call may change about its process is as it was: the streams, the
signals, what ends a program, threads, descriptors, and which invocation is the current one. In the
long run the memory is, too.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import click
import click.testing
import typer
import typer.testing

import murli
from murli.contracts import CONTRACT_NAMES
from murli.core import current
from murli.formats import plain
from soak.cases import hostile_words
from soak.documents import Document, Unreadable, code_of, is_raw, read_stderr, read_stdout
from soak.payloads import HOSTILE, hostile, payload
from soak.tools.soak_core import CHANGE, FAILURES

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM, signal.SIGPIPE)
# What a call may leave for good: a cache that fills up, not one thing for every call.
BYTES_PER_CALL = 200.0
BYTES = 8_000_000
OBJECTS_PER_CALL = 0.2
SAMPLES = 20
# Fewer calls tell nothing about the long run.
ENOUGH = 5_000


class Said:
    """What the handler of the current call is to do, and whether it did.

    *kept* is whether the streams it was given were there when it was over.
    """

    deed = ""
    seed = 0
    ran = False
    kept = True


def handle(**given: Any) -> Any:
    """Do what `Said` says."""
    Said.ran = True
    writer, seed = murli.get_writer(), Said.seed
    if Said.deed == "answers":
        writer.write_success(HOSTILE[seed % len(HOSTILE)], hostile(seed, seed))
    elif Said.deed == "returns":
        return payload(seed, seed)
    elif Said.deed == "prints":
        print(HOSTILE[seed % len(HOSTILE)].encode("utf-8", "replace").decode())
    elif Said.deed == "streams":
        for index in range(seed % 5):
            writer.write_event({"index": index})
        writer.write_success("Done", seed)
    elif Said.deed == "fails":
        raise FAILURES[seed % len(FAILURES)][1]()
    elif Said.deed == "exits":
        raise SystemExit(seed % 4)
    elif Said.deed == "logs":
        writer.log("logged")
        print("to stderr", file=sys.stderr)
        writer.write_success("Done", seed)
    elif Said.deed == "refused":
        writer.write_success("Done", float("nan"))
    return None


DEEDS = ("answers", "returns", "prints", "streams", "fails", "exits", "logs", "refused")


# -- the tools ---------------------------------------------------------------------------------


def _click_tool() -> Any:
    tool = click.Group("soak", callback=lambda: None)
    options: list[Any] = [click.Option(["--size"], type=int, default=1)]
    tool.add_command(click.Command("do", callback=handle, params=options))
    change = click.Command("change", callback=handle)
    murli.annotate(change, CHANGE)
    tool.add_command(change)
    murli.enable(tool, name="soak", tool_version="1.0")
    return tool


def _typer_tool() -> Any:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    @app.command("do")
    def do(size: int = 1) -> Any:
        return handle(size=size)

    @app.command("change")
    def change() -> Any:
        return handle()

    murli.annotate(change, CHANGE)
    murli.enable(app, name="soak", tool_version="1.0")
    return app


def _parser() -> Any:
    import argparse

    parser = argparse.ArgumentParser(prog="soak")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("do").add_argument("--size", type=int, default=1)
    murli.annotate(commands.add_parser("change"), CHANGE)
    murli.enable(parser, tool_version="1.0")
    return parser


CLICK, TYPER, PARSER = _click_tool(), _typer_tool(), _parser()

Ended = tuple[bytes, bytes, int]


def by_click_runner(words: list[str]) -> Ended:
    """Call the click tool as click's own tests do."""
    result = click.testing.CliRunner().invoke(CLICK, words)
    return result.stdout_bytes, result.stderr_bytes, _code(result)


def by_typer_runner(words: list[str]) -> Ended:
    """Call the typer tool as typer's own tests do."""
    result = typer.testing.CliRunner().invoke(TYPER, words)
    return result.stdout_bytes, result.stderr_bytes or b"", _code(result)


def _code(result: Any) -> int:
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return int(result.exit_code)


def by_session(words: list[str]) -> Ended:
    """Call the argparse tool with its handler in a block."""

    def call() -> None:
        with murli.session(PARSER, words) as (args, writer):
            returned = handle(**vars(args))
            if returned is not None:
                writer.write_success("", returned)

    return _redirected(call)


def by_parse_args(words: list[str]) -> Ended:
    """Let the argparse tool parse; a test then looks at what it got."""
    return _redirected(lambda: PARSER.parse_args(words))


def without_standalone(words: list[str]) -> Ended:
    """Call the click tool for its value; what goes wrong is raised."""

    def call() -> None:
        try:
            CLICK.main(words, prog_name="soak", standalone_mode=False)
        except _RAISED:
            pass

    return _redirected(call)


def _redirected(call: Callable[[], Any]) -> Ended:
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            call()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(bool(end.code))
        # Seen from here: what redirects puts its own back whatever happened.
        Said.kept = sys.stdout is out and sys.stderr is err
    return out.getvalue().encode(), err.getvalue().encode(), code


_RAISED: tuple[type[BaseException], ...] = (
    click.ClickException,
    click.Abort,
    click.exceptions.Exit,
    murli.AgentError,
    murli.EncodingError,
    *(type(make()) for _, make in FAILURES),
)
WAYS: dict[str, Callable[[list[str]], Ended]] = {
    "click CliRunner": by_click_runner,
    "typer CliRunner": by_typer_runner,
    "argparse session": by_session,
    "argparse parse_args": by_parse_args,
    "click standalone_mode=False": without_standalone,
}


# -- judging -----------------------------------------------------------------------------------


def calls(seed: int, numbers: range, stop_at: float) -> None:
    """Make the calls of those *numbers*; return what was wrong, and how many there were."""
    from soak.worker import tell

    os.environ["MURLI_TEST"] = "1"
    told, samples = 0, []
    every = max(len(numbers) // SAMPLES, 1)
    counts: dict[str, int] = {}
    for done, number in enumerate(numbers, 1):
        if time.time() > stop_at:
            break
        way, words, contract, found = one(seed, number)
        counts[way] = counts.get(way, 0) + 1
        if found and told < 50:
            told += 1
            facts = {"deed": Said.deed, "seed": Said.seed, "contract": contract}
            tell({"call": number, "way": way, "words": words, "findings": found, "facts": facts})
        if done % every == 0:
            tell({"ways": counts})
            counts = {}
            samples.append((done, _memory(), _objects()))
    tell({"ways": counts})
    for failure in _growth(samples):
        tell({"failure": failure})


def one(seed: int, number: int) -> tuple[str, list[str], str, list[str]]:
    """Make one call; return how, with which words and contract, and what was wrong with it."""
    dice = random.Random(f"inside {seed}:{number}")
    way, contract = dice.choice(list(WAYS)), dice.choice(CONTRACT_NAMES)
    Said.deed, Said.seed, Said.ran = dice.choice(DEEDS), dice.randrange(1000), False
    Said.kept = True
    is_hostile = dice.random() < 0.3
    words = [*dice.choice((["do"], ["change"], ["do", "--size=2"]))]
    if is_hostile:
        words = _hostile(dice)
    elif dice.random() < 0.3:
        words.insert(dice.randrange(len(words) + 1), dice.choice(("--agent", "--yes", "--schema")))
    if not is_hostile and contract != "murli":
        words += ["--limit=0", "--max-bytes=0"]  # what is wanted is the whole
    os.environ["MURLI_CONTRACT"] = contract
    before = _state()
    try:
        out, err, code = WAYS[way](words)
    except BaseException as error:
        return way, words, contract, [f"{type(error).__name__} came out: {str(error)[:300]}"]
    after = _state()
    found = [f"{name} is not as before" for name in before if before[name] != after[name]]
    if not Said.kept:
        found.append("the streams are not as before")
    if way == "argparse parse_args" and not code:
        # The program goes on as the handler, so its invocation stays the current one.
        found = [each for each in found if not each.startswith("the current")]
        invocation = current()
        if invocation is not None:
            invocation.deactivate()
    if way != "click standalone_mode=False":
        found += _judge(way, words, contract, (out, err, code), is_hostile)
    return way, words, contract, found


def _hostile(dice: random.Random) -> list[str]:
    # A profile is kept on the disk, which is another program's business.
    return [word for word in hostile_words(dice) if not word.startswith(("profile", "--timeout"))]


def _state() -> dict[str, Any]:
    return {
        "sys.stdout": sys.stdout,
        "sys.stderr": sys.stderr,
        "sys.exit": sys.exit,
        "sys.excepthook": sys.excepthook,
        "os._exit": os._exit,
        "os.execv": os.execv,
        "the number of finders": len(sys.meta_path),
        "the number of threads": threading.active_count(),
        "the list of descriptors": os.listdir("/proc/self/fd"),
        "the current invocation": current(),
        **{f"the handler of {number.name}": signal.getsignal(number) for number in _SIGNALS},
    }


def _judge(way: str, words: list[str], contract: str, ended: Ended, is_hostile: bool) -> list[str]:
    out, err, code = ended
    if b"Traceback (most recent call last)" in out + err and "--debug" not in words:
        return ["there is a traceback"]
    if any("text" in word or "--output" in word for word in words):
        return []
    if code == 0 and (is_raw(out) or (way == "argparse parse_args" and not out)):
        return []
    chosen = any(word.startswith("--contract") for word in words)
    for each in CONTRACT_NAMES if chosen else (contract,):
        try:
            _, answer = read_stdout(out, each)
            return _compare(way, words, each, (answer, read_stderr(err, each), code), is_hostile)
        except Unreadable as error:
            trouble = str(error)
    return [trouble]


def _compare(
    way: str,
    words: list[str],
    contract: str,
    ended: tuple[Document | None, list[Document], int],
    is_hostile: bool,
) -> list[str]:
    answer, told, code = ended
    ends = [each for each in (answer, *told) if each is not None]
    if answer is not None and told and answer.content == told[-1].content:
        del ends[0]  # the end of a stream, for who reads it line by line
    if len(ends) != 1:
        return [f"{len(ends)} documents, exit {code}"]
    last = ends[0]
    if last.failed != bool(code) or last.code not in (None, code):
        return [f"the document says {last.code}, the exit code is {code}"]
    if is_hostile or "--schema" in words or not Said.ran:
        return []
    wanted = _code_wanted(contract)
    stopped = Said.deed == "fails" and wanted == code_of("cancelled", contract)
    if "change" in words and "--yes" not in words and contract != "murli" and not stopped:
        wanted = code_of("user_error", contract)  # it only told what it would change
    refused = wanted == code_of("user_error", contract)
    if code != wanted:
        return [f"exit {code} instead of {wanted} for {Said.deed}"]
    if (
        Said.deed == "answers"
        and not refused
        and last.result != plain(hostile(Said.seed, Said.seed))
    ):
        return ["the result is not what was answered"]
    return []


def _code_wanted(contract: str) -> int:
    if Said.deed == "fails":
        return code_of(FAILURES[Said.seed % len(FAILURES)][0], contract)
    if Said.deed == "refused":
        return code_of("tool_error", contract)
    if Said.deed == "exits" and Said.seed % 4:
        return Said.seed % 4 if contract == "murli" else code_of("tool_error", contract)
    return 0


# -- memory ------------------------------------------------------------------------------------


def _memory() -> int:
    with open("/proc/self/statm", encoding="ascii") as figures:
        return int(figures.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _objects() -> int:
    gc.collect()
    return len(gc.get_objects())


def _growth(samples: list[tuple[int, int, int]]) -> list[str]:
    """Return what is wrong with the memory, behind its first quarter: caches are full then."""
    if not samples or samples[-1][0] < ENOUGH:
        return []
    quarter = len(samples) // 4
    (first, memory, objects), (last, more_memory, more_objects) = samples[quarter], samples[-1]
    made = last - first
    found = []
    if more_memory - memory > max(made * BYTES_PER_CALL, BYTES):
        found.append(f"memory grows by {(more_memory - memory) / made:.0f} bytes a call")
    if (more_objects - objects) / made > OBJECTS_PER_CALL:
        found.append(f"objects grow by {(more_objects - objects) / made:.2f} a call")
    return found
