"""What `murli run` adds to the start of a tool that nobody enabled."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import environment
from tests_real.environments import bare_environment
from tests_real.scene import lay_out, settings

Words = tuple[str, ...]

#: how often more instructions a call may take
OF_APPS, OF_PARSERS = 1.15, 1.3
#: seconds of processor time that another program may cost more
OF_PROGRAMS = 0.040
#: calls of that program: a single one says little
CALLS = 20
TOOLS: list[tuple[str, str, Words, float]] = [
    ("sqlite-utils", "sqlite-utils", ("tables", "data.db"), OF_APPS),
    ("cookiecutter", "cookiecutter", ("--list-installed",), OF_APPS),
    ("flask", "flask", ("routes",), OF_APPS),
    ("hf", "huggingface_hub", ("version",), OF_APPS),
    ("mcp", "mcp[cli]", ("version",), OF_APPS),
    ("csvcut", "csvkit", ("-c", "name", "data.csv"), OF_PARSERS),
    ("yamllint", "yamllint", ("--list-files", "good.yaml"), OF_PARSERS),
    ("pre-commit", "pre-commit", ("sample-config",), OF_PARSERS),
]
#: `murli run` up to where the tool takes its place, and what does
LAUNCHER = """
import os, sys
def execute(path, words):
    with open(place, "w") as file:
        file.write("\\0".join(words))
    os._exit(0)
place = sys.argv.pop(1)
os.execv = execute
import murli.__main__ as m
m.main()
"""


def counted(argv: list[str], folder: Path, env: dict[str, str]) -> int:
    """Return the instructions that a call takes, once its bytecode is cached."""
    for command in (
        argv,
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *argv],
    ):
        done = subprocess.run(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True
        )
    found = re.search(rb"Collected : (\d+)", done.stderr)
    assert found is not None
    return int(found[1])


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="callgrind counts")
@pytest.mark.parametrize(("name", "requirement", "words", "limit"), TOOLS, ids=lambda each: each)
def test_a_tool_of_python_starts_almost_as_fast(
    name: str, requirement: str, words: Words, limit: float, tmp_path: Path
) -> None:
    """Counted in instructions, in an environment without murli, the launcher included."""
    folder, place = lay_out(tmp_path / "scene"), tmp_path / "argv"
    tool = str(bare_environment(requirement.split()) / name)
    env = environment(**settings(tmp_path / "scene"))
    env["PYTHONHASHSEED"] = "0"
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    plain = counted([tool, *words], folder, env)
    launcher = [sys.executable, "-c", LAUNCHER, str(place), "run", tool, *words]
    before = counted(launcher, folder, env)
    behind = counted(place.read_text().split("\0"), folder, env)
    ratio = (before + behind) / plain
    print(f"{name}: {ratio:.3f} of {plain:,}")
    assert ratio <= limit


@pytest.mark.parametrize("program", ["git", "jq", "curl"])
def test_another_program_costs_little_more(program: str) -> None:
    """Counted in processor time of us and of the program, the calls with and without us in turn."""
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed here")
    added = 0.0
    behind = [sys.executable, "-m", "murli", "run", path]
    for _ in range(CALLS):
        for sign, argv in ((-1, [path]), (1, behind)):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [*argv, "--version"], capture_output=True, env={**os.environ}, check=True
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            added += sign * used
    print(f"{program}: {1000 * added / CALLS:.1f} ms")
    assert added / CALLS <= OF_PROGRAMS
