"""What ``exec`` reads: a line is a request, and a request is the words of a call."""

from __future__ import annotations

import json

from ..declare import flag_key
from ..declare.tree import Command
from ..errors import AgentError
from ..line import usage
from ..line.flags import OWN_FLAGS
from ..line.payload import words_along
from ..line.scanning import flag_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..call import Invocation
    from ..declare import Metadata

_EXAMPLE = 'Write one JSON object a line, such as {"_cmd": "group.command", "_opts": {"yes": true}}'
LONGEST_LINE = 1 << 20


def parsed(line: bytes, number: int) -> dict[str, Any]:
    """Return the request that *line* is."""
    request: Any = None
    try:
        if len(line) > LONGEST_LINE:
            raise ValueError(f"it is longer than {LONGEST_LINE:,} bytes")
        request = json.loads(line.decode("utf-8-sig"), parse_constant=_refuse_constant)
        problem = _problem_with(request)
    except (ValueError, RecursionError) as error:
        problem = str(error)
    if problem:
        message = f"Line {number} is no request: {problem.rstrip('.')}."
        raise AgentError.user_error(message, f"{_EXAMPLE}.", error_type="dispatch_parse_error")
    return dict(request)


def _problem_with(request: Any) -> str:
    if not isinstance(request, dict):
        return "it is not a JSON object"
    command = request.get("_cmd")
    if not (isinstance(command, str) and command.strip(". ")):
        return '"_cmd" names no command'
    return "" if isinstance(request.get("_opts", {}), dict) else '"_opts" is not an object'


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class Requests:
    """The requests of one ``exec``, as words for its tool."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._known: dict[tuple[str, ...], list[Command]] = {}
        # What was declared about the command of the latest request, and its names.
        self.called: tuple[Metadata | None, tuple[str, ...]] = (None, ())

    def words(self, request: dict[str, Any]) -> list[str]:
        """Return the words of the call that *request* asks for."""
        call = self._invocation.call
        payload = {key: value for key, value in request.items() if key not in ("_cmd", "_opts")}
        options = dict(request.get("_opts", {}))
        names = self._names(request["_cmd"])
        if names == ["exec"]:
            raise usage.wrong_call("exec does not run exec.", "_cmd")
        if any(name[:1] in ("", "-") for name in names):
            raise usage.unknown_command(request["_cmd"], [])
        commands = self._commands(tuple(names))
        self.called = (commands[-1].metadata, tuple(names))
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
        """Return the commands on the way to the one of these *names*, as far as there are any."""
        if names not in self._known:
            host, before = self._invocation.host, self._invocation.call.before
            level: Any = host.level()
            mounted = self._invocation.request.contract.mounted
            if names[0] in mounted and not level.lists(names[0]):
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
        """Return the commands of murli's own on the way to the one of these *names*."""
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
        """Return the words of a flag of ours, which then is no longer among *options*."""
        call = self._invocation.call
        name = f"--{flag_key(key)}"
        flag = call.flags.get(name)
        if flag is None:
            return []
        if flag.is_early:
            raise usage.wrong_call(f"{name} is chosen once for all calls: pass it to exec.", name)
        value = options.pop(key)
        if not flag.takes_value:
            if not isinstance(value, bool):
                raise usage.wrong_call(f"{name} takes no value: give true or false.", name)
            return [name] if value else []
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise usage.missing_value(name)
        return [f"{name}={value}"]

    def _for_each(self, theirs: set[str], commands: list[Command]) -> Iterator[str]:
        """Return the flags of ours that exec was called with and that are meant for the call."""
        call = self._invocation.call
        for flag in (each for each in OWN_FLAGS if each.for_each_call):
            value = flag_value(call, flag.destination)
            if value and (flag.destination == "force" or flag.key not in theirs):
                yield f"--{flag.key}" if value is True else f"--{flag.key}={value}"
        if call.dry_run:
            metadata = commands[-1].metadata
            can = "dry-run" in theirs or (metadata is not None and metadata.dry_runnable)
            # Nothing may happen in a dry run, so what has none is only checked, or refused.
            checks = not can and "--validate-only" in call.flags
            yield "--validate-only" if checks else "--dry-run"
