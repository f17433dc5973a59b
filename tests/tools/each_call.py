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


def loaded(function: Any) -> Any:
    """Give *function* once everything is loaded, and made, that every call would make again."""
    for package in ("murli.runtime", "murli.commands", "murli.contracts", "murli.formats"):
        for found in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
            with contextlib.suppress(ImportError):  # what only type checkers load
                importlib.import_module(found.name)
    if type(function).__name__ == "Typer":
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
