"""What a caller knows of a call that takes long or prints much, and why one has failed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import ADAPTERS, environment, run, script

pytestmark = pytest.mark.warm

CORE = """
import codecs, io, os, subprocess, sys, time
COMPLAINING = ["sh", "-c", "echo 'fatal: no such repository' >&2; exit 1"]
def work(what):
    if what == "prints":
        for number in range(13): print("line", number, flush=True); time.sleep(0.5)
    elif what == "runs": subprocess.run(["sleep", "6"])
    elif what == "complains":
        for number in range(13): print("at it", file=sys.stderr, flush=True); time.sleep(0.5)
    elif what == "stops":
        print("line", flush=True); time.sleep(30)
    elif what == "child": sys.exit(subprocess.run(COMPLAINING).returncode)
    elif what == "both":
        subprocess.run(COMPLAINING)
        print("error: could not clone", file=sys.stderr)
        sys.exit(1)
    elif what == "system": os.system("echo 'fatal: no such repository' >&2"); sys.exit(1)
    elif what == "checked": subprocess.run(COMPLAINING, check=True)
    else:
        if what == "reopened": sys.stderr = open(2, "w", closefd=False)
        elif what == "wrapped": sys.stderr = codecs.getwriter("utf-8")(sys.stderr.buffer)
        elif what == "detached": sys.stderr = io.TextIOWrapper(sys.stderr.detach(), "utf-8")
        print("fatal: no such repository", file=sys.stderr)
        sys.exit(1)
"""
TOOLS = {
    "click": "import click\n@click.command()\n@click.argument('what')\n"
    "def cli(what): work(what)\nmurli.enable(cli)\ncli()",
    "typer": "import typer\napp = typer.Typer()\n@app.command()\n"
    "def cli(what: str): work(what)\nmurli.enable(app)\napp()",
    "argparse": "import argparse\np = argparse.ArgumentParser()\np.add_argument('what')\n"
    "murli.enable(p)\nwork(p.parse_args().what)",
}


def program(folder: Path, adapter: str = "argparse") -> list[str]:
    return script(folder, "import murli\n" + CORE + TOOLS[adapter], f"{adapter}_tool.py")


def test_a_long_call_gives_a_sign_of_life(tmp_path: Path) -> None:
    """After five seconds a log line says that the call goes on, where the contract allows it.

    Not where the tool says so itself, and never among what is read from stdout.
    """
    argv = program(tmp_path)
    calls = [
        subprocess.Popen(
            [*argv, what, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if together else subprocess.PIPE,
            env=environment(MURLI_CONTRACT=contract),
        )
        for what, contract, words, together in (
            ("prints", "murli", [], False),
            ("runs", "murli", [], False),
            ("complains", "murli", [], False),
            ("prints", "murli", [], True),
            ("prints", "agent-spec-2", [], False),
            ("prints", "agent-spec-2", ["--verbose"], False),
        )
    ]
    outputs = [call.communicate(timeout=30) for call in calls]
    assert [call.returncode for call in calls] == [0] * len(calls)
    for out, _ in outputs:
        json.loads(out)
    signs = [json.loads(err) for _, err in (outputs[0], outputs[1], outputs[5])]
    assert [sign["level"] for sign in signs] == ["progress"] * 3
    assert signs[0]["msg"].startswith("running for 5 s, ")
    assert "--stream" in signs[0]["msg"]
    assert "--stream" not in signs[1]["msg"]
    assert outputs[2][1] == b"at it\n" * 13
    assert outputs[4][1] == b""


@pytest.mark.parametrize(
    ("contract", "way"), [("murli", "--output text"), ("agent-spec-2", "--format plain")]
)
def test_failures_tell_how_to_read_along(tmp_path: Path, contract: str, way: str) -> None:
    """Too much output, no time left and no input: each names the way to plain text."""
    argv = program(tmp_path)

    def failing(*words: str, **settings: str) -> Any:
        done = run(argv, *words, env=environment(MURLI_CONTRACT=contract, **settings))
        return done.error if contract == "murli" else done.document["error"]

    assert f"Pass {way}, or --stream," in failing("stops", "--timeout", "1")["suggestion"]
    many = script(
        tmp_path,
        "import argparse, murli, sys\np = argparse.ArgumentParser()\nmurli.enable(p)\n"
        "p.parse_args()\nfor _ in range(1000): print('x' * 1000)\nsys.stdin.read()\n",
        "many.py",
    )
    argv = many
    assert f"Pass {way}, or --stream," in failing(MURLI_MAX_PRINTED="500000")["suggestion"]
    process = subprocess.Popen(
        many,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(MURLI_CONTRACT=contract, MURLI_STDIN_TIMEOUT="0.2"),
    )
    process.wait(20)
    out, err = process.communicate()
    document = json.loads(err if contract == "murli" else out)
    assert f"pass {way}." in document.get("suggestion", str(document["error"]))


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_the_reason_is_quoted_wherever_it_was_written(tmp_path: Path, adapter: str) -> None:
    """The last words on stderr are the message: a child's too, and past a replaced sys.stderr."""
    argv = program(tmp_path, adapter)
    ways = ["child", "reopened", "system", "wrapped", "detached"]
    for what in ways if adapter == "argparse" else ways[:2]:
        done = run(argv, what)
        assert (done.code, done.error["message"]) == (1, "fatal: no such repository"), what
        assert done.err.startswith("fatal: no such repository\n"), what
    told = "fatal: no such repository\nerror: could not clone"
    done = run(argv, "both")
    assert (done.error["message"], done.err.startswith(f"{told}\n")) == (told, True)
    done = run(argv, "checked")
    assert done.error["error"] == "subprocess_failed"
    assert done.error["message"].endswith(" fatal: no such repository")


LARGE = """
import atexit, os, sys
def tell_peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"): os.write(2, line.split()[1].encode())
atexit.register(tell_peak)
import argparse, murli
p = argparse.ArgumentParser()
p.add_argument("token", nargs="?")
murli.enable(p)
p.parse_args()
row = "1234567,abc\\tdefg,é,%s\\n" % os.environ["API_KEY"]
for _ in range(30): sys.stdout.write(row * 10_000)
"""


def test_much_text_takes_little_memory(tmp_path: Path) -> None:
    """Text of 11 MB is answered whole, without its secrets, in little memory."""
    done = run(script(tmp_path, LARGE), env=environment(API_KEY="k3y-v4lue-9"))
    row = "1234567,abc\tdefg,é,[REDACTED]\n"
    assert done.text == row * 300_000
    assert int(done.err) < 48_000
