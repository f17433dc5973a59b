"""What ``exec`` reads: a line is a request, and a request is the words of a call."""

from __future__ import annotations

import json

from ..errors import AgentError
from ..metadata import flag_key
from ..runtime import usage
from ..runtime.argv import said
from ..runtime.family import MOUNTED
from ..runtime.payload import words_along
from ..tree import Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..runtime.invocation import Invocation

_EXAMPLE = 'Write one JSON object a line, such as {"_cmd": "group.command", "_opts": {"yes": true}}'
LONGEST_LINE = 1 << 20
# The form of the answers is chosen once for all of them.
_FOR_ALL = ("agent", "contract", "format", "output", "protocol-version")
# What is said to exec and means each of its calls; attribute or extra -> flag.
_FOR_EACH = {
    "force": "--yes",
    "confirmed": "--confirm-destructive",
    "profile": "--profile",
    "debug": "--debug",
    "quiet": "--quiet",
    "verbose": "--verbose",
    "live": "--live",
    "validate_only": "--validate-only",
    "non_interactive": "--non-interactive",
}


def parsed(line: bytes, number: int) -> dict[str, Any]:
    """Give the request that *line* is."""
    problem = ""
    request: Any = None
    if len(line) > LONGEST_LINE:
        problem = f"it is longer than {LONGEST_LINE:,} bytes"
    else:
        try:
            request = json.loads(line.decode("utf-8-sig"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            problem = str(error)
    if not problem and not isinstance(request, dict):
        problem = "it is no JSON object"
    elif not problem and not (isinstance(request.get("_cmd"), str) and request["_cmd"].strip(". ")):
        problem = '"_cmd" names no command'
    elif not problem and not isinstance(request.get("_opts", {}), dict):
        problem = '"_opts" is no object'
    if problem:
        message = f"Line {number} is no request: {problem.rstrip('.')}."
        raise AgentError.user_error(message, f"{_EXAMPLE}.", error_type="dispatch_parse_error")
    return dict(request)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class Requests:
    """The requests of one ``exec``, as words for its tool."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._known: dict[tuple[str, ...], list[Command]] = {}

    def words(self, request: dict[str, Any]) -> list[str]:
        """Give the words of the call that *request* asks for."""
        call = self._invocation.call
        payload = {key: value for key, value in request.items() if key not in ("_cmd", "_opts")}
        options = dict(request.get("_opts", {}))
        names = self._names(request["_cmd"])
        if names == ["exec"]:
            raise usage.other("exec does not run exec.", "_cmd")
        if any(name[:1] in ("", "-") for name in names):
            raise usage.unknown_command(request["_cmd"], [])
        commands = self._commands(tuple(names))
        theirs = {key for command in commands for flag in command.flags
                  for key in (flag_key(flag.name), flag.short)}  # fmt: skip
        ours: list[str] = []
        for key in [key for key in options if flag_key(key) not in theirs]:
            ours += self._ours(options, key)
        ours += self._for_each(theirs, commands)
        if len(commands) == len(names) + 1:
            return [*call.before, *words_along(commands, payload, options, first=ours)]
        if not commands[-1].commands:  # more words would be its arguments
            raise usage.unknown_command(" ".join(names), [])
        # The framework knows best what to say about a command that does not exist.
        return [*call.before, *names, *ours]

    def _names(self, command: str) -> list[str]:
        if " " in command:
            return command.split()
        # Some names have a dot in them.
        known = self._invocation.host.level().lists(command)
        return [command] if known else command.split(".")

    def _commands(self, names: tuple[str, ...]) -> list[Command]:
        """Give the commands on the way to the one of these *names*, as far as there are any."""
        if names not in self._known:
            host, before = self._invocation.host, self._invocation.call.before
            level: Any = host.level()
            if names[0] in MOUNTED and not level.lists(names[0]):
                return self._known.setdefault(names, list(self._ours_along(names)))
            found = [host.command(level)]
            for name in names:
                below = level.child(name, level.words_first)
                if below is None and level.is_lost:
                    level.inform(before)
                    below = level.child(name, level.words_first)
                level = below
                if level is None:
                    break
                found.append(host.command(level))
            self._known[names] = found
        return self._known[names]

    def _ours_along(self, names: tuple[str, ...]) -> Iterator[Command]:
        """Give the commands of murli's own on the way to the one of these *names*."""
        from .own import own_commands

        yield Command((self._invocation.host.name(),))
        commands = own_commands(self._invocation)
        for name in names:
            found = [each for each in commands if name in (each.name, *each.aliases)]
            if not found:
                return
            yield found[0]
            commands = list(found[0].commands)

    def _ours(self, options: dict[str, Any], key: str) -> list[str]:
        """Give the words of a flag of ours, which then is no longer among *options*."""
        call = self._invocation.call
        name = f"--{flag_key(key)}"
        if name not in call.switches and name not in call.valued:
            return []
        if flag_key(key) in _FOR_ALL:
            raise usage.other(f"{name} is chosen once for all calls: pass it to exec.", name)
        value = options.pop(key)
        if name in call.switches:
            if not isinstance(value, bool):
                raise usage.other(f"{name} takes no value: give true or false.", name)
            return [name] if value else []
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise usage.missing_value(name)
        return [f"{name}={value}"]

    def _for_each(self, theirs: set[str], commands: list[Command]) -> Iterator[str]:
        """Give the flags of ours that were said to exec and are meant for the call."""
        call = self._invocation.call
        for name, flag in _FOR_EACH.items():
            value = said(call, name)
            if value and (name == "force" or flag[2:] not in theirs):
                yield flag if value is True else f"{flag}={value}"
        if call.dry_run:
            metadata = commands[-1].metadata
            can = "dry-run" in theirs or (metadata is not None and metadata.dry_runnable)
            # Nothing may happen in a dry run, so what has none is only checked.
            yield "--dry-run" if can else "--validate-only"
