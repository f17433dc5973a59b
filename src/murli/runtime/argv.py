"""Our flags, read from argv before the framework parses it.

They may stand anywhere, so that even a parse error reaches the right audience in the right form.
What a command defines itself is always its own: an option of the same name on that command, the
values of its options, everything after ``--``, and the words a command passes on to another
program.
"""

from __future__ import annotations

from ..writer import VALID_OUTPUT_FORMATS, VALID_PROTOCOL_VERSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Protocol

    from ..errors import AgentError

    class Level(Protocol):
        """What the scanner must know about one command of the host's parser."""

        def owns(self, option: str) -> bool:
            """Tell whether *option* (``--name`` or ``-n``) is this command's own."""

        def abbreviates(self, option: str) -> bool:
            """Tell whether this command would take *option* for a longer one of its own."""

        def width(self, option: str) -> int:
            """Give how many values its option *option* takes; -1 for as many as come."""

        def child(self, word: str, words_before: int) -> Level | None:
            """Give the subcommand that *word* names after so many other words."""

        def passes_on(self, words_before: int) -> bool:
            """Tell whether a word here starts what is passed on to another program."""


SWITCHES = {
    "--agent": "agent",
    "--schema": "schema",
    "--force": "force",
    "--yes": "force",
    "--dry-run": "dry_run",
}
VALUED = {
    "--output": "output",
    "--protocol-version": "protocol_version",
    "--profile": "profile",
    "--contract": "contract",
}
_ACCEPTED = {"--output": VALID_OUTPUT_FORMATS, "--protocol-version": VALID_PROTOCOL_VERSIONS}


class Call:
    """What the command line says once our flags are out of it.

    ``rest`` is for the framework. ``mounted`` is the command of ours that was called, ``rest``
    then holds its arguments. ``mistake`` is what is wrong with the flags of ours.
    """

    __slots__ = (
        "agent",
        "schema",
        "force",
        "dry_run",
        "output",
        "protocol_version",
        "profile",
        "contract",
        "rest",
        "mounted",
        "level",
        "mistake",
    )

    def __init__(self, level: Level) -> None:
        self.agent = self.schema = self.force = self.dry_run = False
        self.output: str | None = None
        self.protocol_version: str | None = None
        self.profile: str | None = None
        self.contract: str | None = None
        self.rest: list[str] = []
        self.mounted = ""
        self.level = level
        self.mistake: AgentError | None = None


def scan(argv: Sequence[str], root: Level, mounted: Collection[str] = ()) -> Call:
    """Take our flags out of *argv*; *root* tells what is the tool's own."""
    call = Call(root)
    position, words = 0, 0
    while position < len(argv):
        token = argv[position]
        if token == "--":
            call.rest.extend(argv[position:])
            break
        if len(token) > 1 and token[0] == "-":
            position = _option(call, argv, position)
            continue
        position += 1
        if call.mounted:
            call.rest.append(token)
            continue
        child = call.level.child(token, words)
        if child is None and call.level.passes_on(words):
            call.rest.extend(argv[position - 1 :])
            break
        if child is None and words == 0 and call.level is root and token in mounted:
            call.mounted = token
            continue
        call.rest.append(token)
        words += 1
        if child is not None:
            call.level, words = child, 0
    return call


def _option(call: Call, argv: Sequence[str], position: int) -> int:
    """Deal with the option at *position*; give the position behind it and its values."""
    token = argv[position]
    name, equals, value = token.partition("=")
    following = argv[position + 1 : position + 2]
    own = not call.mounted and call.level.owns(name)
    if not own and name in SWITCHES:
        setattr(call, SWITCHES[name], True)
        if equals:
            _note_mistake(call, "unexpected_value", name, value)
        return position + 1
    if not own and name in VALUED:
        if not equals and following and not _looks_like_option(following[0]):
            value, taken = following[0], 2
        else:
            taken = 1
        if _is_theirs(call, name, value):
            own = True
        else:
            if not equals and taken == 1:
                _note_mistake(call, "missing_value", name)
            else:
                setattr(call, VALUED[name], value)
            return position + taken
    call.rest.append(token)
    position += 1
    width = 0 if equals or call.mounted else call.level.width(name)
    while width and position < len(argv) and not _looks_like_option(argv[position]):
        call.rest.append(argv[position])
        position += 1
        width -= 1
    return position


def _is_theirs(call: Call, name: str, value: str) -> bool:
    # `--output result.txt` was short for `--output-file` before murli came; it still is.
    accepted = _ACCEPTED.get(name)
    if accepted is None or call.mounted or value in accepted:
        return False
    return call.level.abbreviates(name)


def _note_mistake(call: Call, problem: str, *details: str) -> None:
    from . import usage

    call.mistake = call.mistake or getattr(usage, problem)(*details)


def _looks_like_option(token: str) -> bool:
    return len(token) > 1 and token[0] == "-" and not token[1:2].isdigit()
