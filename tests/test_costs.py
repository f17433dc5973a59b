"""What an event costs: instructions where they can be counted, loaded modules everywhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import environment, script

EVENT = '{"id": n, "name": "item", "state": "ready", "done": False}'
OURS = f"""
import os, sys
sys.modules["orjson"] = None
from murli.answer import Writer
from murli.formats import DescriptorStream
writer = Writer(stdout=DescriptorStream(os.open(os.devnull, os.O_WRONLY)), agent_mode=True)
for n in range(int(sys.argv[1])):
    writer.write_event({EVENT})
"""
BARE = f"""
import json, os, sys
out = open(os.devnull, "w")
for n in range(int(sys.argv[1])):
    out.write(json.dumps({EVENT}) + "\\n")
    out.flush()
"""
FEW, MANY = 100, 700
# What `make bench` measures is a little less, for it counts the time of the system as well.
MOST = 1.7


def instructions(argv: list[str], log: Path) -> int:
    """Return the instructions of a program."""
    counting = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    subprocess.run(
        [*counting, f"--log-file={log}", *argv],
        env=environment(PYTHONHASHSEED="0"),
        check=True,
        capture_output=True,
    )
    found = re.search(r"Collected : (\d+)", log.read_text())
    assert found is not None, log.read_text()
    return int(found[1])


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind counts the instructions")
def test_an_event_costs_little_more_than_encoding_it(tmp_path: Path) -> None:
    """One more event takes at most so many times the instructions of json.dumps and a write."""
    costs = []
    for name, source in (("ours.py", OURS), ("bare.py", BARE)):
        argv = script(tmp_path, source, name)
        few, many = (instructions([*argv, str(count)], tmp_path / "log") for count in (FEW, MANY))
        costs.append((many - few) / (MANY - FEW))
    ours, bare = costs
    assert ours <= MOST * bare, f"{ours:,.0f} instructions for an event, {bare:,.0f} without murli"


def test_a_stream_loads_what_it_needs_and_nothing_else(tmp_path: Path) -> None:
    """The first event of a tool loads its line, its encoder and its pipe, and no further module."""
    source = (
        "import argparse, json, sys, murli\n"
        "sys.modules['orjson'] = None\n"
        "parser = argparse.ArgumentParser()\n"
        "murli.enable(parser)\n"
        "args, writer = murli.parse(parser)\n"
        "before = set(sys.modules)\n"
        "writer.write_event({'id': 1})\n"
        "loaded = sorted(set(sys.modules) - before)\n"
        "print(json.dumps(loaded), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, *script(tmp_path, source)[1:]],
        env=environment(),
        check=True,
        capture_output=True,
        text=True,
    )
    assert set(json.loads(done.stderr)) <= {
        "_json",
        "itertools",
        "murli.answer.event_lines",
        "murli.contracts.control_lines",
        "murli.formats.plainer",
        "murli.formats.quick",
    }
