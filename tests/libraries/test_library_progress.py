"""Progress that libraries draw is progress events for agents, and no part of a result."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from harness import environment, run, script, tool
from progress_samples import PRINTED, STATES, assert_reported

pytestmark = pytest.mark.warm

LIBRARIES = list(STATES)
BARS = tool("bars")
TYPER = f"""
import sys, typer, murli
sys.path.insert(0, {str(Path(BARS[1]).parent)!r})
from bars import show_click
app = typer.Typer()
@app.command()
def show(): show_click(0.0, typer.progressbar); typer.echo("done")
murli.enable(app)
app()
"""
ARGPARSE = f"""
import argparse, sys, murli
sys.path.insert(0, {str(Path(BARS[1]).parent)!r})
from bars import show_tqdm
parser = argparse.ArgumentParser()
murli.enable(parser)
parser.parse_args()
show_tqdm(0.0)
print("done")
"""


@pytest.mark.parametrize("library", LIBRARIES)
def test_bars_are_events_and_no_text(library: str) -> None:
    """Each bar reports its first and its last state; what else is printed is the result."""
    begun = time.monotonic()
    done = run(BARS, "show", library, "--pause", "0.02")
    seconds = time.monotonic() - begun
    events = _lines(done.err)
    assert done.document["result"] == PRINTED[library]
    assert_reported(events, library)
    load = [event for event in events if event["stage"] == "load"]
    assert 3 <= len(load) <= 2 + 4 * seconds


@pytest.mark.parametrize(("source", "library"), [(TYPER, "click"), (ARGPARSE, "tqdm")])
def test_every_framework_has_them(tmp_path: Path, source: str, library: str) -> None:
    """Bars of typer, and those of a program whose rest is the handler, are events as well."""
    done = run(script(tmp_path, source))
    assert done.document["result"] == PRINTED[library]
    assert_reported(_lines(done.err), library)


def test_they_leave_one_document_on_stdout() -> None:
    """Events that no author asked for are on stderr; in a stream they stand in it."""
    words = ("show", "click")
    for more in (["--output", "json"], ["--contract", "agent-spec-2"]):
        done = run(BARS, *words, *more)
        assert done.document.get("result", done.document.get("data")) in ("done", {"text": "done"})
        assert_reported(_lines(done.err), "click")
    done = run(BARS, *words, "--contract", "agent-spec-2", "--stream")
    *between, last = done.lines
    assert_reported([line for line in between if line["event"] == "progress"], "click")
    items = [line for line in between if line["event"] != "progress"]
    assert (items, last["_count"], done.err) == (
        [{"_seq": 1, "event": "line", "data": "done"}],
        1,
        "",
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_files_of_the_tool_are_its_own(tmp_path: Path, library: str) -> None:
    """A bar that is drawn in a file stays there, and is no event."""
    file = tmp_path / "drawn"
    done = run(BARS, "show", library, "--file", str(file))
    assert ("done" in json.dumps(done.document["result"]), done.err) == (True, "")
    assert "load" in file.read_text()


def test_people_see_the_bars_of_their_libraries() -> None:
    """Where people read, a pipe gets to the byte what it gets without murli."""
    for library, where in (("click", "agents"), ("tqdm", "agents"), ("rich", "agents")):
        plain = run(BARS, "show", library, env=environment(PLAIN="1"))
        flagged = environment(CHOICES=str({where: "flag"}))
        assert _drawn(run(BARS, "show", library, env=flagged).stdout) == _drawn(plain.stdout)
    shown = run(BARS, "show", "tqdm", "--output", "text")
    assert (shown.out, "load: 100%" in shown.err) == ("note done\n", True)


def _drawn(printed: bytes) -> bytes:
    """Return *printed* without the times in it, which are never the same."""
    return bytes(byte for byte in printed if byte not in b"0123456789")


def test_nothing_is_written_behind_an_answer() -> None:
    """Bars that go on when the answer is out, or the time is up, are silent."""
    answered = run(BARS, "answered")
    assert [event["stage"] for event in _lines(answered.err)] == ["early"]
    assert answered.document["result"] == "done"
    late = run(BARS, "slow", "--contract", "agent-spec-2", "--timeout", "0.8")
    assert (late.code, late.document["ok"]) == (10, False)
    first, *others = _lines(late.err)
    assert first == {"event": "progress", "stage": "load"}
    assert all(event["current"] < 20 for event in others)


def test_a_reader_who_leaves_does_not_end_the_work(tmp_path: Path) -> None:
    """Progress that nobody reads is dropped, and the tool comes to its end."""
    file = tmp_path / "file"
    process = subprocess.Popen(
        [*BARS, "unread", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None and process.stderr is not None
    assert b'"stage":"load"' in process.stderr.readline()
    process.stderr.close()
    process.wait(20)
    assert file.read_text() == "finished"
    process.stdout.close()


def test_very_many_bars_are_few_events() -> None:
    """Of thousands of short bars the first are reported, and then one now and then."""
    events = _lines(run(BARS, "many").err)
    assert events[0]["stage"] == "bar 0"
    assert 150 < len(events) < 1000


def test_totals_that_are_none_are_left_out(tmp_path: Path) -> None:
    """A total below zero, of zero or without an end is unknown; what was counted is reported."""
    source = """
import click, murli
from rich.progress import Progress
@click.command()
def show():
    with Progress() as bars:
        for total in (-5, 0, float("inf"), None):
            bars.update(bars.add_task(f"to {total}", total=total), advance=2)
murli.enable(show)
show()
"""
    events = _lines(run(script(tmp_path, source)).err)
    assert not any("total" in event or "percent" in event for event in events)
    assert [event["current"] for event in events[-4:]] == [2] * 4
    assert {event["stage"] for event in events} == {"to -5", "to 0", "to inf", "to None"}


def test_threads_and_forks(tmp_path: Path) -> None:
    """Events of several threads are whole lines; a fork of the tool reports nothing."""
    strict = environment(PYTHONWARNINGS="error")
    done = run(BARS, "threads", env=strict)
    events = _lines(done.err)
    assert done.document["result"] == "done"
    ended = {event["stage"] for event in events if event.get("percent") == 100}
    assert ended == {"watched", *(f"thread {number}" for number in range(4))}


def test_secrets_are_in_no_event() -> None:
    """A description is redacted like anything else that is written."""
    done = run(BARS, "secret", env=environment(SOME_TOKEN="hunter2-hunter2"))
    assert _lines(done.err)[0]["stage"].startswith("as ")
    assert "hunter2" not in done.out + done.err


CHANGED = {
    "tqdm/__init__.py": "from .std import tqdm",
    "tqdm/std.py": "import sys\nclass tqdm:\n"
    "    def __init__(self, items): self.items = items\n"
    "    def __iter__(self): print('\\r100%', file=sys.stderr); return iter(self.items)\n",
}


def test_a_library_that_has_changed_is_left_alone(tmp_path: Path) -> None:
    """Where a library is not as it was known, the tool works, and its bars are what they are."""
    for name, text in CHANGED.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    source = (
        "import click, murli\n@click.command()\ndef cli():\n    from tqdm import tqdm\n"
        "    print(len(list(tqdm([1, 2]))))\nmurli.enable(cli)\ncli()\n"
    )
    done = run(script(tmp_path, source))
    assert (done.document["result"], done.err) == ("2", "\r100%\n")


def test_hooks_are_taken_back(tmp_path: Path) -> None:
    """When a call is over, the libraries are what they were, also for what it has loaded."""
    source = """
import click, sys, murli, tqdm.std
def state():
    import rich.progress, alive_progress.core.progress as alive, click._termui_impl as bars
    return [tqdm.std.tqdm.display, rich.progress.Progress.start, bars.ProgressBar.__init__,
            getattr(alive, "__alive_bar")]
seen = []
@click.command()
def cli(): seen.extend(state())
plain = tqdm.std.tqdm.display
murli.enable(cli)
try: cli([])
except SystemExit: pass
after = state()
print([own.__module__ for own in after], [hooked is own for hooked, own in zip(seen, after)],
      plain is after[0], file=sys.stderr)
"""
    told = run(script(tmp_path, source)).err
    own = ["tqdm.std", "rich.progress", "click._termui_impl", "alive_progress.core.progress"]
    assert told == f"{own} {[False] * 4} True\n"


def _lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]
