"""Diagnostics: nothing lost, nothing said twice."""

from __future__ import annotations

import io
import json
import threading
import time
from datetime import datetime, timezone
from typing import Any

import murli
from murli.answer.logger import HOLD_SECONDS


def entries(stream: io.StringIO) -> list[Any]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def told(stream: io.StringIO) -> list[tuple[str, str, int | None]]:
    return [(e["level"], e["msg"], e.get("repeated")) for e in entries(stream)]


def test_repetition_is_counted() -> None:
    """Three equal progress calls and a flush are one entry with `repeated` 2."""
    stream = io.StringIO()
    logger = murli.Logger(stream, False)
    for _ in range(3):
        logger.progress("Scanning /docs")
    logger.flush()
    assert told(stream) == [("progress", "Scanning /docs", 2)]
    assert list(entries(stream)[0]) == ["ts", "level", "msg", "repeated"]


def test_a_different_line_ends_the_run() -> None:
    """A different line writes the one before, without `repeated` when it came once."""
    stream = io.StringIO()
    logger = murli.Logger(stream, False)
    logger.log("one")
    assert stream.getvalue() == ""
    logger.log("two")
    assert told(stream) == [("info", "one", None)]
    logger.flush()
    assert told(stream)[1:] == [("info", "two", None)]


def test_levels_are_kept_apart() -> None:
    """Log and progress with equal text are two entries."""
    stream = io.StringIO()
    logger = murli.Logger(stream, False)
    logger.log("x")
    logger.progress("x")
    logger.flush()
    assert told(stream) == [("info", "x", None), ("progress", "x", None)]


def test_an_empty_line_is_a_line() -> None:
    """An empty message is written like any other."""
    stream = io.StringIO()
    logger = murli.Logger(stream, False)
    logger.log("")
    logger.flush()
    assert told(stream) == [("info", "", None)]


def test_the_moment_is_rfc_3339_in_utc() -> None:
    """`ts` is the UTC moment of the first line of the run."""
    stream = io.StringIO()
    before = datetime.now(timezone.utc)
    logger = murli.Logger(stream, False)
    logger.log("x")
    logger.flush()
    text = entries(stream)[0]["ts"]
    assert text.endswith("Z")
    moment = datetime.fromisoformat(text.removesuffix("Z") + "+00:00")
    assert abs((moment - before).total_seconds()) < 5


def test_ansi_is_removed_before_lines_are_compared() -> None:
    """Colours and links (CSI and OSC) neither reach an agent nor keep equal lines apart."""
    stream = io.StringIO()
    logger = murli.Logger(stream, False)
    logger.log("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07\x1bM")
    logger.log("red link")
    logger.flush()
    assert told(stream) == [("info", "red link", 1)]


def test_a_held_line_is_shown_in_time() -> None:
    """A line is written after a moment although nothing follows; repetitions come at the end."""
    stream = io.StringIO()
    logger = murli.Logger(stream, False)
    logger.log("working")
    deadline = time.monotonic() + 20 * HOLD_SECONDS
    while not stream.getvalue() and time.monotonic() < deadline:
        time.sleep(HOLD_SECONDS / 10)
    assert told(stream) == [("info", "working", None)]
    logger.log("working")
    logger.log("working")
    logger.flush()
    assert told(stream) == [("info", "working", None), ("info", "working", 2)]


def test_flush_writes_once() -> None:
    """A second flush has nothing left to write, and a later equal line is a new run."""
    stream = io.StringIO()
    logger = murli.Logger(stream, False)
    logger.log("x")
    logger.flush()
    logger.flush()
    logger.log("x")
    logger.flush()
    assert told(stream) == [("info", "x", None)] * 2


def test_people_see_a_line_at_once_and_once() -> None:
    """For people a log line is written immediately, and its repetition is dropped."""
    stream = io.StringIO()
    logger = murli.Logger(stream, True)
    logger.log("connecting")
    logger.log("connecting")
    assert stream.getvalue() == "connecting\n"
    logger.log("done")
    assert stream.getvalue() == "connecting\ndone\n"


def test_a_progress_line_is_replaced_and_then_erased() -> None:
    """At a terminal progress overwrites itself and leaves no remains before other output."""
    stream = io.StringIO()
    logger = murli.Logger(stream, True)
    logger.progress("10%")
    logger.progress("20%")
    logger.log("done")
    assert stream.getvalue() == "\r\x1b[K10%\r\x1b[K20%\r\x1b[Kdone\n"
    logger.flush()
    assert stream.getvalue().endswith("done\n")


def test_threads_do_not_tear_lines() -> None:
    """Lines of many threads are whole, and none is lost."""
    stream = io.StringIO()
    logger = murli.Logger(stream, False)

    def work(number: int) -> None:
        for index in range(50):
            logger.log(f"{number}:{index}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    logger.flush()
    assert {message for _, message, _ in told(stream)} == {
        f"{number}:{index}" for number in range(8) for index in range(50)
    }


def test_many_lines_need_few_threads() -> None:
    """A tight loop of different lines does not start a thread for each."""
    logger = murli.Logger(io.StringIO(), False)
    before = threading.active_count()
    for index in range(1000):
        logger.log(str(index))
    assert threading.active_count() - before <= 1
    logger.flush()
