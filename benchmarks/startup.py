"""``make bench``: what murli adds to a piped call, counted by callgrind.

Instructions are repeatable on any load; seconds are not. Ends with 1 when a limit is exceeded.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

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


_PROFILES = '{"default": "p", "profiles": {"p": {"flags": {"name": "you"}}}}'

ARGPARSE = """
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

ARGPARSE_ENABLED = """
import argparse, murli
parser = argparse.ArgumentParser(prog="hello")
parser.add_argument("--name", default="world")
murli.enable(parser)
args = parser.parse_args()
print("hello", args.name)
"""

CLICK = """
import click
@click.command()
@click.option("--name", default="world")
def hello(name):
    click.echo(f"hello {name}")
hello()
"""

TYPER = """
import typer
app = typer.Typer()
@app.command()
def hello(name: str = "world"):
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


_ENV = '"name": murli.FlagAnnotation(env="HELLO_NAME")'
_PROFILEABLE = '"name": murli.FlagAnnotation(profileable=True)'


CALL = (f"command-{COMMANDS // 2}",)
CASES = [
    Case("argparse + json, write_success", ARGPARSE, ARGPARSE_WRITER, 1.25),
    Case("argparse + json, enable alone", ARGPARSE, ARGPARSE_ENABLED, 1.25),
    Case("click, hello", CLICK, _enabled(CLICK, "hello", "hello()"), 1.10),
    Case("typer, hello", TYPER, _enabled(TYPER, "app", "app()"), 1.03),
    Case(
        "argparse, a flag with a variable",
        ARGPARSE,
        _enabled(ARGPARSE, "parser", "args = ", _annotated("parser", _ENV)),
        1.25,
    ),
    Case(
        "click, a flag with a variable",
        CLICK,
        _enabled(CLICK, "hello", "hello()", _annotated("hello", _ENV)),
        1.10,
    ),
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
        "click, a default profile",
        CLICK,
        _enabled(CLICK, "hello", "hello()", _annotated("hello", _PROFILEABLE)),
        1.25,
        profile=_PROFILES,
    ),
    Case(
        f"click, {COMMANDS:,} with pass_writer",
        CLICK_PASSING,
        _enabled(CLICK_WRITER, "many", "many()"),
        1.07,
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


def count(source: str, words: tuple[str, ...], profile: str, folder: Path) -> int:
    """Return the instructions that running *source* takes, once its bytecode is cached."""
    # A folder each: two programs of one name would find each other.
    program = Path(tempfile.mkdtemp(dir=folder)) / "hello.py"
    program.write_text(source)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MURLI_", "PYTHON"))
    }
    env = {**kept, "PYTHONHASHSEED": "0"}
    if profile:
        store = program.with_name("profiles.json")
        store.write_text(profile)
        store.chmod(0o600)
        env["MURLI_PROFILE_PATH"] = str(store)
    # A flag of ours is nothing that the tool alone would take.
    ours = "murli" in source
    command = [sys.executable, str(program), *(each for each in words if ours or each != "--yes")]
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    counted = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
        env=env,
        check=True,
        capture_output=True,
        text=True,
    )
    found = re.search(r"Collected : (\d+)", counted.stderr)
    if found is None:
        raise RuntimeError(f"callgrind told no count: {counted.stderr}")
    return int(found[1])


def measure(count_of: Callable[[str, tuple[str, ...], str], int]) -> list[tuple[Case, int, int]]:
    """Return each case with its counts, without murli and with it."""
    sources = {
        (source, case.words, case.profile)
        for case in CASES
        for source in (case.without, case.enabled)
    }
    ordered = sorted(sources)
    with ThreadPoolExecutor(PROCESSES) as pool:
        counts = dict(zip(ordered, pool.map(lambda each: count_of(*each), ordered), strict=True))
    return [
        (
            case,
            counts[case.without, case.words, case.profile],
            counts[case.enabled, case.words, case.profile],
        )
        for case in CASES
    ]


def main() -> int:
    """Print the table; return 1 when murli costs more than a limit."""
    if shutil.which("valgrind") is None:
        print("make bench needs valgrind: install it and run again.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(
            lambda source, words, profile: count(source, words, profile, Path(folder))
        )
    print(f"{'instructions of a piped call':<34}{'without':>15}{'with murli':>15}  ratio  limit")
    exceeded = False
    for case, without, enabled in measured:
        ratio = enabled / without
        exceeded |= ratio > case.limit
        mark = "  EXCEEDED" if ratio > case.limit else ""
        print(f"{case.name:<34}{without:>15,}{enabled:>15,}  {ratio:.3f}  {case.limit:.2f}{mark}")
    versions = (f"{name} {importlib.metadata.version(name)}" for name in ("click", "typer"))
    print(f"Python {sys.version.split()[0]}, {', '.join(versions)}")
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
