"""Checks side by side: the same report, each call once, nothing left running."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness import TOOLS, environment, run_at_terminal, script
from murli.conformance import Profile, Report, check
from murli.conformance.probing import Disturbed, Place, Prober
from murli.conformance.profile import ProfileProbe
from murli.conformance.scratch import Scratch

FAKES = TOOLS / "conformance"
MURLI = ["sh", str(FAKES / "murli_fake.sh")]
FAMILY = ["sh", str(FAKES / "family_fake.sh")]
PROFILE = Profile(
    timeout=20.0,
    probes=(
        ProfileProbe(("find", "murli-check", "--stream"), "stream"),
        ProfileProbe(("find", "missing"), exit_code=5),
    ),
)
IN_ENVELOPES = Profile(
    timeout=20.0,
    files={"state.txt": "here"},
    setup=(("save",),),
    arguments={"remove": ("one",)},
)
#: what differs between two runs of the same tool
VARYING = re.compile(r"\d+ ms|lived \d+|/tmp/[^/']*murli-check-\w+|[0-9a-f-]{36}")


def facts(report: Report) -> list[str]:
    """Return everything in a report but times, places, and how far an interrupted call came."""
    results = [
        (
            each.id,
            each.status,
            each.reason,
            [
                (found.status, found.command, found.detail, seen and (seen.argv, seen.changed))
                for found in each.findings
                for seen in [found.evidence]
                if seen is None or "SIGINT" not in seen.event
            ],
        )
        for each in report.results
    ]
    whole = (*results, report.processes, report.notes, report.level, report.nodes)
    return [VARYING.sub("…", repr(each)) for each in whole]


@pytest.mark.parametrize(
    ("tool", "profile", "broken"),
    [
        (MURLI, PROFILE, ""),
        (MURLI, PROFILE, "murli.guard.refuses"),
        (MURLI, PROFILE, "murli.success.shape"),
        (MURLI, PROFILE, "process.reads-leave-no-trace"),
        (FAMILY, IN_ENVELOPES, ""),
        (FAMILY, IN_ENVELOPES, "family.danger.refused"),
        (FAMILY, IN_ENVELOPES, "family.mistake.no-trace"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_the_report_does_not_depend_on_the_jobs(
    tool: list[str], profile: Profile, broken: str
) -> None:
    """Good or broken, leaving traces or not: a tool has the same report with one job and three."""
    env = {"BREAK": broken}
    assert facts(check(tool, profile=profile, env=env)) == facts(
        check(tool, profile=profile, env=env, jobs=3)
    )


@contextmanager
def prober(setup: tuple[str, ...] = ()) -> Iterator[tuple[Prober, Any]]:
    """Yield a prober of ``sh -c``, the first word of whose calls names the command."""
    with ExitStack() as scratches:
        setups = [setup] if setup else []

        def place() -> Place:
            scratch = scratches.enter_context(Scratch())
            return Place(scratch, scratch.environment({}, ()), setups)

        first = place()
        made = Prober(("sh", "-c"), first.scratch, first.env, 10, setups)
        for each in setups:
            made.run(*each)
        made.command_of = lambda words: words[1] if len(words) > 1 else ""
        yield made, place


def test_calls_of_two_commands_are_made_at_once_and_each_but_once(tmp_path: Path) -> None:
    """Two calls that wait for each other both end; who asks for one of them again waits for it."""
    meet = ': > "$0"; until [ -e "$1" ]; do sleep 0.02; done; echo $$'
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    with prober() as (made, place), ThreadPoolExecutor(3) as pool, made.side_by_side(2, place):
        calls = [pool.submit(made.run, meet, *each) for each in ((one, two), (two, one))]
        again = pool.submit(made.run, meet, one, two)
        found = [each.result() for each in (*calls, again)]
    assert [each.exit_code for each in found] == [0, 0, 0]
    assert found[2] is found[0] and found[0].cwd != found[1].cwd


def test_a_command_stays_in_its_home_and_a_home_is_set_up() -> None:
    """All calls of one command run in one folder, in each of which the setup was made."""
    setup = ("echo made > made", "")
    with prober(setup) as (made, place), made.side_by_side(2, place):
        first, again, other = (
            made.run(f"{more}cat made; pwd", name)
            for name, more in (("one", ""), ("one", ": again; "), ("two", ""))
        )
    assert first.stdout == again.stdout == f"made\n{os.path.realpath(first.cwd)}\n".encode()
    assert other.stdout.startswith(b"made\n") and other.cwd != first.cwd


@pytest.mark.parametrize("does", ["echo x > here", "sleep 0.3"])
def test_a_call_that_others_may_have_disturbed_does_not_count(does: str) -> None:
    """What changes a file, or is late, while other calls may be made is not taken as evidence."""
    with prober() as (made, place), pytest.raises(Disturbed):
        made.seconds = 0.1 if "sleep" in does else 10
        with made.side_by_side(2, place):
            made.run(does, "one")


HANGING = """#!/bin/sh
case "$*" in
  describe) echo '{"name": "t", "schema_version": "1.0", "capabilities": {}, "commands": [
    {"name": "show", "idempotent": true, "safety": {"read_only": true}},
    {"name": "list", "idempotent": true, "safety": {"read_only": true}}]}' ;;
  --*) exit 1 ;;
  *) echo $$ >> "$LOG"; exec sleep 30 ;;
esac
"""


def is_running(pid: int) -> bool:
    """Return whether a process is there, and not only waits to be noticed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_interrupt_ends_all_that_runs(tmp_path: Path) -> None:
    """After Ctrl-C in the midst of the checks no process of the tool is left, and no folder."""
    tool, log, folder = tmp_path / "tool", tmp_path / "log", tmp_path / "tmp"
    tool.write_text(HANGING)
    tool.chmod(0o755)
    folder.mkdir()
    words = [sys.executable, "-m", "murli", "check", "--jobs", "2", str(tool)]
    env = environment(LOG=str(log), TMPDIR=str(folder))
    checking = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        until = time.monotonic() + 20
        while (not log.exists() or log.read_text().count("\n") < 2) and time.monotonic() < until:
            time.sleep(0.05)
        pids = [int(each) for each in log.read_text().split()]
        assert len(pids) == 2 and all(map(is_running, pids))
        checking.send_signal(signal.SIGINT)
        _, err = checking.communicate(timeout=20)
    finally:
        checking.kill()
        checking.wait()
    assert checking.returncode == 9, err
    assert not any(map(is_running, pids)) and list(folder.iterdir()) == []


# -- progress --------------------------------------------------------------------------------------

SLOW = ["--only", "process", "--", "sh", "-c", "sleep 0.3; echo tool 1.0"]


def test_progress_is_events_for_agents(tmp_path: Path) -> None:
    """A check that takes its time tells an agent on stderr how far it is, stdout is the report."""
    done = subprocess.run(
        [sys.executable, "-m", "murli", "check", *SLOW],
        env=environment(HOME=str(tmp_path)),
        capture_output=True,
        check=False,
    )
    assert json.loads(done.stdout)["result"]["contract"] == "none"
    lines = [json.loads(each) for each in done.stderr.splitlines()]
    assert {each["level"] for each in lines} == {"progress"}
    assert re.fullmatch(r"\d+ of \d+ checks, \w+: process\.\S+", lines[0]["msg"])


@pytest.mark.parametrize(("has_rich", "mark"), [(True, "━"), (False, "1 of 1 checks, pass")])
def test_progress_is_a_line_for_people(tmp_path: Path, has_rich: bool, mark: str) -> None:
    """At a terminal it is a bar where rich is there, a line otherwise; it is gone in the end."""
    if not has_rich:
        script(tmp_path, "raise ImportError", "rich.py")
    env = environment(HOME=str(tmp_path), PYTHONPATH=str(tmp_path))
    words = ["--only", "process.version", "--", "sh", "-c", "echo tool 1.0"]
    done = run_at_terminal([sys.executable, "-m", "murli", "check"], *words, env=env)
    assert done.code == 0 and mark in done.out + done.err
