"""Calls a tool many times in one loaded program, in a process of its own for each call.

``each_call.py MODULE FUNCTION < calls`` reads a JSON list of command lines and writes a list of
``[exit status, stdout, stderr]``. Loading a framework takes longer than most calls.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import sys
import tempfile
from typing import Any


def call(function: Any, words: list[str]) -> tuple[int, str, str]:
    """Call *function* with *words* as its command line; give how that process ended."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            for number, file in ((0, open(os.devnull)), (1, out), (2, err)):  # noqa: SIM115
                os.dup2(file.fileno(), number)
            sys.argv = words
            sys.exit(function())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return status, texts[0], texts[1]


# The rooms that a call of a tool may load from.
_ROOMS = (
    *("adapters", "adapters.argparse", "adapters.click", "answer", "call", "call.ending"),
    *("call.guard", "commands", "commands.manifest", "contracts", "declare", "failures"),
    *("formats", "handlers", "line", "process", "profiles", "secrets"),
)


def loaded(function: Any) -> Any:
    """Give *function* once everything is loaded, and made, that every call would make again."""
    is_typer = type(function).__name__ == "Typer"
    names = ["typer._adapters"] if is_typer else []
    for package in _ROOMS:
        path = importlib.import_module(f"murli.{package}").__path__
        names += [found.name for found in pkgutil.iter_modules(path, f"murli.{package}.")]
    for name in names:
        with contextlib.suppress(ImportError):  # not installed, or for type checkers only
            importlib.import_module(name)
    if is_typer:
        import typer

        return typer.main.get_command(function)
    return function


def main() -> None:
    """Call what the command line names, for each of the calls on stdin."""
    module = importlib.import_module(sys.argv[1])
    function = getattr(module, sys.argv[2])
    calls = json.load(sys.stdin)
    function = loaded(function)
    found = [call(function, words) for words in calls]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
