"""Runs tools as their callers do: real processes, on pipes and on pseudo-terminals."""

from __future__ import annotations

import atexit
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import warm
from documents import hold_to_schema
from murli.wire.values import printed_in

TESTS = Path(__file__).parent
TOOLS = TESTS / "tools"
GOLDEN = TESTS / "golden"
REPOSITORY = TESTS.parent
DEADLINE = 30.0
# Whether calls may be forked from an interpreter that has loaded their framework.
IS_WARM = False
ADAPTERS = ["argparse", "click", "typer"]

# A home that is nobody's: no test reads or writes the profiles of whoever runs it.
HOME = tempfile.mkdtemp(prefix="murli-home-")
atexit.register(shutil.rmtree, HOME, ignore_errors=True)

# Checks compile all that a tool loads, each for itself; with these variables it is done but once.
COMPILED = {"PYTHONPYCACHEPREFIX": tempfile.mkdtemp(prefix="murli-compiled-")}
atexit.register(shutil.rmtree, COMPILED["PYTHONPYCACHEPREFIX"], ignore_errors=True)


@dataclass(frozen=True)
class Run:
    """What a process wrote, and how it ended."""

    stdout: bytes
    stderr: bytes
    code: int

    @property
    def out(self) -> str:
        return self.stdout.decode()

    @property
    def err(self) -> str:
        return self.stderr.decode()

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.stdout)

    @property
    def text(self) -> str | None:
        """The printed text that is the result of the one document on stdout."""
        return printed_in(self.document["result"])

    @property
    def error(self) -> Any:
        """The error document that ends stderr, whatever was logged before it."""
        start = self.err.rfind('{\n  "status": "error"')
        text = self.err[start:] if start >= 0 else self.err.splitlines()[-1]
        return json.loads(text)

    @property
    def lines(self) -> list[Any]:
        """The JSON lines on stdout."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def logs(self) -> list[Any]:
        """The log entries on stderr."""
        return [json.loads(line) for line in self.err.splitlines() if line.startswith('{"ts"')]


def environment(**changes: str | None) -> dict[str, str]:
    """Give a neutral environment in which every document is checked before it is written."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MURLI_", "RIFFLE_", "PYTHON", "COV_"))
        and name not in ("COLUMNS", "NO_COLOR", "CI")
    }
    # From 3.13 on Python colours its own texts at a terminal.
    kept |= {"MURLI_TEST": "1", "LC_ALL": "C.UTF-8", "HOME": HOME, "PYTHON_COLORS": "0"}
    for name, value in changes.items():
        kept.pop(name, None)
        if value is not None:
            kept[name] = value
    return kept


def script(tmp_path: Path, source: str, name: str = "tool.py") -> list[str]:
    """Write *source* as a program; give the argv that runs it."""
    path = tmp_path / name
    path.write_text(source)
    return [sys.executable, str(path)]


def tool(name: str) -> list[str]:
    """Give the argv that runs one of the tools kept beside the tests."""
    return [sys.executable, str(TOOLS / f"{name}.py")]


def run(
    argv: list[str],
    *args: str,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    stdin: bytes | None = None,
    **options: Any,
) -> Run:
    """Run a program as an agent does: stdout and stderr are pipes, stdin is empty.

    Whatever envelope it writes must be valid.
    """
    words, env, usual = [*argv, *args], env or environment(), environment()
    framework = "" if options or not IS_WARM else warm.framework_for(words, env, usual)
    if framework:
        found = warm.run(framework, words[1:], env, usual, cwd, stdin, DEADLINE)
    else:
        done = subprocess.run(
            words,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            env=env,
            cwd=cwd,
            timeout=DEADLINE,
            check=False,
            **options,
        )
        found = (done.stdout, done.stderr, done.returncode)
    for written in found[:2]:
        hold_to_schema(written, words, env)
    return Run(*found)


def run_at_terminal(
    argv: list[str],
    *args: str,
    env: dict[str, str] | None = None,
    keys: bytes = b"",
    columns: int = 100,
) -> Run:
    """Run a program as a person does: stdin and stdout are one terminal, stderr another.

    Line ends are given as the program wrote them.
    """
    screen, out = pty.openpty()
    errors, err = pty.openpty()
    words, size = [*argv, *args], {"COLUMNS": str(columns), "TERM": "xterm-256color"}
    with_size, usual = {**(env or environment()), **size}, {**environment(), **size}
    process: subprocess.Popen[bytes] | warm.Forked
    if framework := IS_WARM and warm.framework_for(words, with_size, usual):
        streams = [out, out, err]
        process = warm.start(
            framework, words[1:], with_size, usual, None, streams, has_session=True
        )
    else:
        process = subprocess.Popen(
            words, stdin=out, stdout=out, stderr=err, env=with_size, start_new_session=True
        )
    os.close(out)
    os.close(err)
    if keys:
        os.write(screen, keys)
    texts = _drain(process, {screen: bytearray(), errors: bytearray()})
    code = process.wait(DEADLINE)
    shown, told = (bytes(text).replace(b"\r\n", b"\n") for text in texts.values())
    return Run(shown, told, code)


def _drain(
    process: subprocess.Popen[bytes] | warm.Forked, texts: dict[int, bytearray]
) -> dict[int, bytearray]:
    deadline = time.monotonic() + DEADLINE
    still_open = set(texts)
    while still_open:
        ready, _, _ = select.select(list(still_open), [], [], 0.1)
        for descriptor in ready:
            try:
                part = os.read(descriptor, 65536)
            except OSError:  # the other side of the terminal is closed
                part = b""
            texts[descriptor] += part
            if not part:
                still_open.discard(descriptor)
                os.close(descriptor)
        if time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"no end after {DEADLINE} s; so far: {texts}")
    return texts


def lay_out(folder: Path, files: dict[str, str]) -> Path:
    """Write *files*, by their names below *folder*."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def golden(name: str) -> str:
    """Give the golden file *name*."""
    return (GOLDEN / name).read_text()


# A keyring as others write them, that keeps its entries in a file beside it.
KEYRING = """
import json, logging, time
from pathlib import Path
from keyring.backend import KeyringBackend

class FileRing(KeyringBackend):
    priority = -1  # only when asked for by name
    path = Path(__file__).with_name("ring.json")

    def entries(self):
        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def get_password(self, service, username):
        return self.entries().get(f"{service} {username}")

    def set_password(self, service, username, password):
        self.path.write_text(json.dumps({**self.entries(), f"{service} {username}": password}))

    def delete_password(self, service, username):
        entries = self.entries()
        del entries[f"{service} {username}"]
        self.path.write_text(json.dumps(entries))
"""
