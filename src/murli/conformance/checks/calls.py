"""What the checks of every contract have in common about the calls they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...client.catalogue import Command
from ...client.documents import parsed
from ...safety import declaration_gaps
from ..checking import NotVerified
from ..danger import CONFIRMING
from ..results import Evidence, Finding
from .murli_shapes import walked

_SHORT = ("y", "f")


def confirms(command: Command, words: Sequence[str]) -> bool:
    """Tell whether a call of *command* with *words* says what might confirm it."""
    names = {*CONFIRMING, command.confirm_flag} - {""}
    own = command.flags.keys() - names
    shorts = {*_SHORT, *(command.flags[each].short for each in names & command.flags.keys())}
    shorts -= {"", *(command.flags[each].short for each in own)}
    for word in words:
        name = word.partition("=")[0].removeprefix("--")
        if word.startswith("--"):
            # Some parsers take the beginning of a name for the whole.
            if name and name not in own and any(each.startswith(name) for each in names):
                return True
        elif word.startswith("-") and not shorts.isdisjoint(word):
            return True
    return False


def settled(found: list[Finding], unclear: Sequence[str]) -> list[Finding]:
    """Give what was found; `NotVerified` when nothing is wrong, and something stayed unclear."""
    if unclear and all(each.status == "pass" for each in found):
        raise NotVerified("; ".join(unclear[:3]))
    return found


def has_lines(evidence: Evidence) -> bool:
    """Tell whether stdout is more than one line, and not one document spread over lines."""
    lines = [each for each in evidence.stdout.splitlines() if each.strip()]
    return len(lines) > 1 and parsed(evidence.stdout) is None


def gaps_in(description: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the commands of a description that lack a declaration, with what to declare."""
    commands = list(walked(description))
    # A tool that is one command is called by its own name.
    own = "" if commands else str(description.get("name", ""))
    return declaration_gaps([(own, description), *commands])
