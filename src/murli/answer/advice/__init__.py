"""What an answer advises to call: what usually follows, what to look at, how it is called right.

Loaded when a command declares it, or a call has failed. Nothing here fails an answer.
"""

from __future__ import annotations

from ...core import Success
from ...declare import flag_key
from ...failures.repeating import effect_of
from ...line.calls import command_line
from ...outcome import Partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...call import Invocation
    from ...declare.tree import Command
    from ...errors import AgentError
    from ...outcome import Failure, Outcome
    from .. import Writer

# Kinds by which a failure may have left something behind.
_TRACES = frozenset(
    """
    tool_error partial incomplete timeout unavailable cancelled conflict rate_limited
    """.split()  # noqa: SIM905
)
_LISTS = ("list", "ls")
_LOOK = "look at the state"


class Following:
    """Adds to an outcome the calls that its command declares to follow.

    *earlier* replaces the outcome before that.
    """

    def __init__(
        self, invocation: Invocation, earlier: Callable[[Outcome], Outcome] | None
    ) -> None:
        self._invocation = invocation
        self._earlier = earlier

    def __call__(self, outcome: Outcome) -> Outcome:
        """Return *outcome* with what follows it."""
        if self._earlier is not None:
            outcome = self._earlier(outcome)
        metadata = self._invocation.metadata
        if not isinstance(outcome, Success) or outcome.attention or metadata is None:
            return outcome
        from ...line.next_calls import calls_in

        try:
            calls = tuple(calls_in(self._invocation, metadata.next, outcome.result))
        except (Exception, SystemExit):  # code of the tool's own, asked for its parameters
            return outcome
        return outcome.replace(next=calls)


def prepare(invocation: Invocation) -> None:
    """Have a success name what its command declares to follow."""
    reply = invocation.writer._reply
    if not isinstance(reply.replace_outcome, Following):
        reply.replace_outcome = Following(invocation, reply.replace_outcome)


def with_usage(writer: Writer, failure: Failure) -> Failure:
    """Return *failure* with how the command is called, if the call is what was wrong."""
    invocation = writer._invocation
    if (
        invocation is None
        or writer._outlet.for_people
        or invocation.call.mounted
        or failure.error.error_type not in ("flag_error", "command_error")
    ):
        return failure
    refusal = invocation.running.refusal
    if refusal is not None and refusal.usage is not None:
        return failure.replace(usage=refusal.usage)
    from ...line.usage_line import MOST_BYTES, usage_line

    try:
        level, command = _at_fault(invocation, flag_key(failure.error.field))
        if level.forwards and not (command.flags or command.arguments):
            return failure  # what it takes is unknown
        return failure.replace(usage=usage_line(command, MOST_BYTES))
    except (Exception, SystemExit):  # code of the tool's own, asked for its parameters
        return failure


def _at_fault(invocation: Invocation, name: str) -> tuple[Any, Command]:
    """Return the command whose parameter is called *name*, and its level.

    That is the one that was called, unless only a group above it has such a parameter.
    """
    line = command_line(invocation)
    levels = [line.level]
    levels += [each.level for each in reversed(line.words) if each.level not in levels]
    found = [(level, invocation.host.command(level, deep=False)) for level in levels]
    for level, command in found:
        names = [each.name for each in command.flags] + [each.name for each in command.arguments]
        if name in map(flag_key, names):
            return level, command
    return found[0]


def with_state(writer: Writer, failure: Failure, *, declared: bool = False) -> Failure:
    """Return *failure* with the call that looks at the state, where it may have left traces.

    *declared* says that only what the author declared is to be looked at: the call is not here
    to be examined. The suggestion of the error is changed where it has a place for that.
    """
    invocation, error = writer._invocation, failure.error
    if invocation is None or writer._outlet.for_people or failure.phase != "execution":
        return failure
    is_absent = error.kind == "not_found" and not error.is_translated
    if not is_absent and error.kind not in _TRACES and _LOOK not in error.suggestion:
        return failure
    try:
        call, is_declared = _look(invocation, is_absent=is_absent, declared=declared)
    except (Exception, SystemExit):  # as above
        return failure
    if not call:
        return failure
    _name(error, call, is_declared=is_declared, is_absent=is_absent)
    return failure.replace(next=(call,))


def partial_with_state(writer: Writer, outcome: Partial) -> Partial:
    """Return half a success with the call that looks at the state, where its author declared it."""
    invocation = writer._invocation
    if invocation is None or writer._outlet.for_people:
        return outcome
    try:
        call, _ = _look(invocation, is_absent=False, declared=False)
    except (Exception, SystemExit):  # as above
        return outcome
    return outcome.replace(next=(call,)) if call else outcome


def _look(invocation: Invocation, *, is_absent: bool, declared: bool) -> tuple[str, bool]:
    """Return the call that looks at the state, ``""`` for none, and whether it was declared."""
    metadata = invocation.metadata
    state = metadata.state if metadata is not None else ""
    # What is not there cannot be shown, but what is there can be listed.
    if state and not (is_absent and "{" in state):
        from ...line.next_calls import state_call

        return state_call(invocation, state), True
    if declared or not (is_absent or effect_of(invocation)):
        return "", False
    return _example(invocation, is_absent=is_absent), False


def _name(error: AgentError, call: str, *, is_declared: bool, is_absent: bool) -> None:
    """Put *call* into the words of *error*, unless its author has written other ones."""
    hint = error.suggestion
    if _LOOK in hint:
        advised = f"run `{call}`" if is_declared else f"{_LOOK}, for example with `{call}`,"
        error.suggestion = hint.replace(_LOOK, advised, 1)
    elif not hint:
        what = "what there is" if is_absent else "the state"
        error.suggestion = f"Look at {what}: `{call}`."


# -- where nobody declared it ------------------------------------------------------------------


def _example(invocation: Invocation, *, is_absent: bool) -> str:
    """Return the one call in the same group that shows what this one is about; ``""`` if none.

    Only what is declared to change nothing is named, and only where the arguments of this call
    are all that it needs; of what is not there, a list.
    """
    level = command_line(invocation).level
    # Right below the tool commands are about anything; in a group they are about what it is.
    if len(level.path) < 2 or tuple(level.path) != tuple(invocation.running.path):
        return ""
    host = invocation.host
    beside = [each for each in level.beside() if _is_safe(invocation, each)]
    if is_absent:
        beside = [each for each in beside if each.path[-1] in _LISTS]
    commands = [host.command(each, deep=False) for each in beside]
    found = [
        (command, words)
        for command in commands
        if not (command.hidden or command.deprecated or command.commands or command.one_of)
        and (words := _words(invocation, command)) is not None
    ]
    # What takes an argument of this call is about the same thing; a list is about all of them.
    same = [each for each in found if _needs(each[0])]
    found = same or found
    if is_absent:
        found = [each for each in found if not _needs(each[0])]
    if len(found) != 1:
        return ""
    from ...line.next_calls import spelled_whole

    command, words = found[0]
    return spelled_whole(invocation, [*command.path[1:], *words])


def _is_safe(invocation: Invocation, level: object) -> bool:
    metadata = invocation.host.parameters(level).metadata  # type: ignore[arg-type]
    return metadata is not None and metadata.danger_level == "safe"


def _needs(command: Command) -> bool:
    """Return whether *command* cannot be called without a value."""
    return any(each.required for each in command.arguments) or any(
        each.required for each in command.flags
    )


def _words(invocation: Invocation, command: Command) -> list[str] | None:
    """Return what *command* needs, from the arguments of the running call; ``None`` if it lacks."""
    from ...declare import flag_key
    from ...line.next_calls import arguments_of, filled, text_of

    values = {key: text_of(value) for key, value in arguments_of(invocation).items()}
    template: list[str] = []
    for flag in command.flags:
        if flag.required:
            name = flag_key(flag.name)
            if flag.values != 1 or command.is_secret(flag) or not values.get(name):
                return None
            template.append(f"{flag.spelling or f'--{flag.name}'}={{{name}}}")
    for argument in command.arguments:
        if argument.required:
            if argument.values not in (1, -1):
                return None
            template.append(f"{{{flag_key(argument.name)}}}")
    return filled(template, values)
