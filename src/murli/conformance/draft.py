"""The beginning of a profile, made of what a tool says about itself, for an author to fill in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from ..wire.catalogue import Command
from .calls.making import Target
from .confirming import CONFIRMING
from .examining import opened
from .profile import Profile
from .target import NONE

_HEAD = """\
# What `murli check --profile FILE {name}` should know about {name}.
# Everything is optional: uncomment and fill in what you know, and delete the rest.
"""
_TAIL = """
# Files that are put into the folder where the tool runs.
[files]
# "notes.txt" = "text"

[env]
# NAME = "value"

# Checks that are not made, and why; they stay not verified.
[skip]
# "process.version" = "there is none yet"

# Calls that you vouch for; exit_code is how each ends. The kind is "call", "stream" (it writes
# items line by line) or "slow" (it works for longer than a second, and is interrupted).
# [[probe]]
# words = ["COMMAND", "ARGUMENT"]
# kind = "call"
# exit_code = 0
"""


def draft(tool: Sequence[str], contract: str = "", env: Mapping[str, str] | None = None) -> str:
    """Return a TOML profile for *tool*, which is described and not run; see `check`."""
    with opened(tool, Profile(), contract, env or {}) as subject:
        return "\n".join(_lines(subject.target)) + "\n" + _TAIL


def _lines(target: Target) -> Iterator[str]:
    yield _HEAD.format(name=target.name)
    if target.speaks != NONE:
        yield f"contract = {_text(target.contract)}"
    yield "# Seconds for each process.\ntimeout = 10\n"
    yield "# Commands that only read, and so may be run, though that is not declared."
    yield from _choices("safe", (each for each in target.undeclared if not each.changes))
    yield "# Commands that are never run, nor asked to refuse."
    yield from _choices("exclude", ())
    yield '# Calls that are made first, changes and all, such as ["index", "build", "--yes"].'
    yield from _choices("setup", ())
    yield "# The words behind a command. Without them a text is murli-check, and a number 1."
    yield "[arguments]"
    for command in target.leaves:
        words = list(_needed(command))
        if command.path and words:
            yield f"# {_text(' '.join(command.path))} = [{', '.join(map(_text, words))}]"


def _choices(key: str, commands: Iterator[Command] | Sequence[Command]) -> Iterator[str]:
    yield f"{key} = ["
    for command in commands:
        yield f"  # {_text(' '.join(command.path))},"
    yield "]"
    yield ""


def _needed(command: Command) -> Iterator[str]:
    """Yield what a call of *command* needs, each with its name in the place of its value."""
    for place in command.positionals or ():
        if place.required:
            yield place.name.upper()
    for flag in command.flags.values():
        if flag.required and flag.name not in CONFIRMING:
            yield flag.option
            if flag.kind != "boolean":
                yield flag.name.upper()


def _text(text: str) -> str:
    """Return *text* as TOML, which writes it as JSON does."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
