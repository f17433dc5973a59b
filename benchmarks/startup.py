"""``make bench``: what murli adds to the start of a tool, counted by callgrind.

Instructions are repeatable on any load; seconds are not. Ends with 1 when a limit is exceeded.
``--json PATH`` writes the figures, ``--only WORD`` measures rows with that word.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .figures import Figure, report_figures, selected

PROCESSES = 2
COMMANDS = 1_000


@dataclass(frozen=True)
class Case:
    """One tool with and without murli, how it is called, and how much murli may cost."""

    name: str
    without: str
    enabled: str
    limit: float
    words: tuple[str, ...] = ()
    profile: str = ""  # the file of profiles, where there is one
    at_terminal: bool = False


_PROFILES = '{"default": "p", "profiles": {"p": {"flags": {"name": "you"}}}}'

ARGPARSE = """
import argparse
parser = argparse.ArgumentParser(prog="hello")
parser.add_argument("--name", default="world")
parser.add_argument("--style", default="plain")
parser.add_argument("--count", default="1")
args = parser.parse_args()
print("hello", args.name)
"""

ARGPARSE_JSON = """
import argparse, json
parser = argparse.ArgumentParser(prog="hello")
parser.add_argument("--name", default="world")
args = parser.parse_args()
print(json.dumps({"hello": args.name}))
"""

ARGPARSE_WRITER = """
import argparse, murli
parser = argparse.ArgumentParser(prog="hello")
parser.add_argument("--name", default="world")
murli.enable(parser)
args, writer = murli.parse(parser)
writer.write_success("Hello", {"hello": args.name})
"""

CLICK = """
import click
@click.command()
@click.option("--name", default="world")
@click.option("--style", default="plain")
@click.option("--count", default="1")
def hello(name, style, count):
    click.echo(f"hello {name}")
hello()
"""

TYPER = """
import typer
app = typer.Typer()
@app.command()
def hello(name: str = "world", style: str = "plain", count: str = "1"):
    typer.echo(f"hello {name}")
app()
"""

ARGPARSE_TREE = f"""
import argparse
parser = argparse.ArgumentParser(prog="many")
commands = parser.add_subparsers(dest="command")
for number in range({COMMANDS}):
    command = commands.add_parser(f"command-{{number}}", help="do something")
    command.add_argument("--name", default="world")
args = parser.parse_args()
print("hello", args.name)
"""

CLICK_TREE = f"""
import click
@click.group()
def many():
    pass
for number in range({COMMANDS}):
    @many.command(f"command-{{number}}", help="do something")
    @click.option("--name", default="world")
    def run(name):
        click.echo(f"hello {{name}}")
many()
"""


# Against click's own decorator that passes something: any function around a handler costs.
CLICK_PASSING = CLICK_TREE.replace(
    "    def run(name):", "    @click.pass_context\n    def run(ctx, name):"
)
CLICK_WRITER = CLICK_PASSING.replace("@click.pass_context", "@murli.pass_writer").replace(
    "import click", "import click, murli"
)


def _enabled(source: str, app: str, before: str, declared: str = "") -> str:
    """Return *source* with murli enabled on *app* before the line *before*, after *declared*."""
    added = f"import murli; {declared}murli.enable({app})"
    return source.replace(f"\n{before}", f"\n{added}\n{before}")


def _annotated(app: str, flags: str = "", **declared: bool) -> str:
    said = "".join(f", {name}={value}" for name, value in declared.items())
    return f"murli.annotate({app}, murli.Metadata(flag_annotations={{{flags}}}{said})); "


_THREE = ", ".join(
    f"{name!r}: murli.FlagAnnotation({rest})"
    for name, rest in (
        ("name", "env='HELLO_NAME', profileable=True"),
        ("style", "enum=['plain', 'loud']"),
        ("count", "pattern='[0-9]+'"),
    )
)
# What one flag that may be set by a variable may cost.
_ONE_FLAG = {"argparse": 1.25, "click": 1.10}
_ONE = "'name': murli.FlagAnnotation(env='HELLO_NAME')"
_ANSWER_BY_VALUE = """
import typer
app = typer.Typer()
@app.command()
def hello(name: str = "world"):
    return {"hello": name}
app()
"""


def _kinds() -> Iterator[Case]:
    """Yield the same tool on each framework, used in the ways there are."""
    for kind, source, app, before, limits in (
        ("argparse", ARGPARSE, "parser", "args = ", (1.12, 1.15, 1.18, 1.20, 1.08)),
        ("click", CLICK, "hello", "hello()", (1.05, 1.08, 1.11, 1.10, 1.04)),
        ("typer", TYPER, "app", "app()", (1.02, 1.05, 1.08, 1.03, 1.015)),
    ):
        # A Typer has no flags before it is called: those are annotated on its function.
        target = "hello" if kind == "typer" else app
        notes = _annotated(target, _THREE)
        plain, annotated = _enabled(source, app, before), _enabled(source, app, before, notes)
        envelope = plain.replace(
            f"murli.enable({app})", f"murli.enable({app}, contract='response')"
        )
        with_flags, with_profile, in_envelope, for_people = limits[1:]
        yield Case(f"{kind}, unmodified", source, plain, limits[0])
        if kind in _ONE_FLAG:
            from_variable = _enabled(source, app, before, _annotated(target, _ONE))
            yield Case(f"{kind}, a flag with a variable", source, from_variable, _ONE_FLAG[kind])
        yield Case(f"{kind}, three annotated flags", source, annotated, with_flags)
        yield Case(
            f"{kind}, and a default profile", source, annotated, with_profile, profile=_PROFILES
        )
        yield Case(f"{kind}, an envelope contract", source, envelope, in_envelope)
        yield Case(f"{kind}, a person at a terminal", source, plain, for_people, at_terminal=True)
    returning = _enabled(_ANSWER_BY_VALUE, "app", "app()")
    yield Case(
        "typer, a person, a returned value", _ANSWER_BY_VALUE, returning, 1.03, at_terminal=True
    )


CALL = (f"command-{COMMANDS // 2}",)
CASES = [
    Case("argparse + json, write_success", ARGPARSE_JSON, ARGPARSE_WRITER, 1.25),
    *_kinds(),
    Case(
        "click, a list",
        CLICK,
        _enabled(CLICK, "hello", "hello()", _annotated("hello", lists=True)),
        1.25,
    ),
    Case(
        "click, a change",
        CLICK,
        _enabled(CLICK, "hello", "hello()", _annotated("hello", mutating=True)),
        1.18,
        ("--yes",),
    ),
    Case(
        f"click, {COMMANDS:,} with pass_writer",
        CLICK_PASSING,
        _enabled(CLICK_WRITER, "many", "many()"),
        1.05,
        CALL,
    ),
    Case(
        f"click, {COMMANDS:,} commands",
        CLICK_TREE,
        _enabled(CLICK_TREE, "many", "many()"),
        1.05,
        CALL,
    ),
    Case(
        f"argparse, {COMMANDS:,} commands",
        ARGPARSE_TREE,
        _enabled(ARGPARSE_TREE, "parser", "args = "),
        1.05,
        CALL,
    ),
]


def counted_run(
    source: str,
    words: Sequence[str],
    folder: Path,
    *,
    env: dict[str, str] | None = None,
    profile: str = "",
    at_terminal: bool = False,
) -> int:
    """Return the instructions that running *source* takes, once its bytecode is cached."""
    # A folder each: two programs of one name would find each other.
    program = Path(tempfile.mkdtemp(dir=folder)) / "hello.py"
    program.write_text(source)
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    env = {**kept, **(env or {}), "PYTHONHASHSEED": "0", "TERM": "xterm"}
    if profile:
        store = program.with_name("profiles.json")
        store.write_text(profile)
        store.chmod(0o600)
        env["MURLI_PROFILE_PATH"] = str(store)
    command = [sys.executable, str(program), *words]
    log = program.with_name("log")
    counting = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    counting += [f"--log-file={log}", *command]
    for argv in (command, counting):  # the first run compiles what the second one counts
        if at_terminal:
            screen, out = pty.openpty()
            subprocess.run(argv, env=env, check=True, stdin=out, stdout=out, stderr=out)
            os.close(out)
            os.close(screen)
        else:
            subprocess.run(argv, env=env, check=True, capture_output=True)
    found = re.search(r"Collected : (\d+)", log.read_text())
    if found is None:
        raise RuntimeError(f"callgrind told no count: {log.read_text()}")
    return int(found[1])


def count(case: Case, source: str, folder: Path) -> int:
    """Return the instructions that *source* takes in this *case*."""
    # A flag of ours is nothing that the tool alone would take.
    words = [each for each in case.words if "murli" in source or each != "--yes"]
    profile, at_terminal = case.profile, case.at_terminal
    return counted_run(source, words, folder, profile=profile, at_terminal=at_terminal)


def main() -> int:
    """Print the table; return 1 when murli costs more than a limit."""
    if shutil.which("valgrind") is None:
        print("make bench needs valgrind: install it and run again.", file=sys.stderr)
        return 2
    cases = selected(CASES, lambda each: each.name)
    # What differs in nothing but its limit is run once.
    runs: dict[tuple[object, ...], tuple[Case, str]] = {}
    for case in cases:
        for source in (case.without, case.enabled):
            runs[_key(case, source)] = (case, source)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(PROCESSES) as pool:
        counted = pool.map(lambda run: count(run[0], run[1], Path(folder)), runs.values())
        counts = dict(zip(runs, counted, strict=True))
    figures = []
    for case in cases:
        without, enabled = (counts[_key(case, each)] for each in (case.without, case.enabled))
        note = f"{without:,}, {enabled:,}"
        ratio = enabled / without
        measure = f"start-up: {case.name}"
        figures.append(Figure(measure, ratio, case.limit, "the tool without murli", note=note))
    return report_figures(figures, ("click", "typer"))


def _key(case: Case, source: str) -> tuple[object, ...]:
    profile = case.profile if "murli" in source else ""
    return source, case.words, profile, case.at_terminal


if __name__ == "__main__":
    sys.exit(main())
