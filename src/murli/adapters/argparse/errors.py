"""What argparse found wrong, in our words.

argparse reports text. What it was looking at is still in the frames of the exception it is
handling, and unlike the text those do not change with the language.
"""

from __future__ import annotations

import argparse
import sys

from ...core import current, subparsers_of
from ...declare.plain_values import MOST_COMPARED
from ...errors import AgentError
from ...line import usage
from ...outcome import Refusal
from .noted import reached
from .tree import choices_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Sequence
    from types import FrameType
    from typing import Any, NoReturn

    from ...call import Invocation


# The status with which argparse ends a program whose call is wrong.
_USAGE_STATUS = 2


def report(
    parser: argparse.ArgumentParser,
    own_error: Callable[..., Any],
    given: tuple[Any, ...],
    named: dict[str, Any],
    *,
    is_custom: bool,
) -> Any:
    """Report what ``parser.error`` was called for to the reader.

    *own_error* is the parser's own, *given* and *named* its arguments. Where it *is_custom*, it
    may raise, exit or return, as it does without us.
    """
    invocation = current()
    if invocation is None:
        raise RuntimeError("an error is reported outside of a call")
    texts = [text for text in (named.get("message"), *given) if isinstance(text, str)]
    message = texts[0] if texts else ""
    problem = _explained(invocation, parser, message, sys._getframe(2))

    def handle() -> Any:
        return own_error(*given, **named)

    if invocation.is_for_people:
        _show(invocation, handle, problem, message)
    status = _USAGE_STATUS
    if is_custom:
        status, returned = _handled_by_author(invocation, handle, problem)
        if not status:
            return returned
    _refuse(invocation, problem, status)


def _refuse(invocation: Invocation, error: AgentError, status: int) -> NoReturn:
    """Answer that the call is wrong, for which the parser exits with *status*.

    The parser ends the program, and a tool may catch that: to exit with another status, or to go
    on. What it does is the answer, where the end of the process answers.
    """
    if not invocation.process.is_owned or invocation.writer._reply.answered:
        invocation.refuse(error)
    usage_code = invocation.settings.usage_exit_code
    if usage_code and error.error_type in ("flag_error", "command_error"):
        error.code = usage_code
    invocation.running.refusal = Refusal(error, status)
    sys.exit(status)


def _explained(
    invocation: Invocation, parser: argparse.ArgumentParser, message: str, caller: FrameType
) -> AgentError:
    """Return the failure behind a call of ``parser.error(message)`` in the frame *caller*."""
    problem = sys.exc_info()[1]
    _hide_unknown(invocation, parser)
    if isinstance(problem, argparse.ArgumentError):
        return _argument_problem(invocation, problem, message)
    if caller.f_globals.get("__name__") != "argparse":
        # The tool's own check, in its own words.
        return _of_handled(invocation, caller, message) or usage.wrong_call(message)
    return _left_over_or_absent(parser, caller, message)


def _hide_unknown(invocation: Invocation, parser: argparse.ArgumentParser) -> None:
    """Learn the secrets that follow options of no parser, and that argparse quotes."""
    from ...line.option_words import hide_unknown
    from .values import secret_options

    words, subparsers = invocation.call.rest, subparsers_of(parser)
    known = {name for each in reached(parser) for name in each._option_string_actions}
    hide_unknown(words, known, invocation)
    choices = subparsers.choices if subparsers is not None else {}
    for command in (choices[word] for word in words if word in choices):
        # Its options may stand before its name, by mistake.
        secret_options(command).hide_in(words, invocation)


def _left_over_or_absent(
    parser: argparse.ArgumentParser, frame: FrameType, message: str
) -> AgentError:
    """Explain the two problems that argparse finds once it has looked at every word."""
    absent, extras = frame.f_locals.get("required_actions"), frame.f_locals.get("argv")
    if isinstance(absent, list) and absent:
        return _missing(parser, absent)
    if isinstance(extras, list) and extras:
        return _extras(parser, extras)
    return usage.wrong_call(message)


def _extras(parser: argparse.ArgumentParser, extras: list[str]) -> AgentError:
    """Return the failure of words that no argument takes."""
    for word in extras:
        if word == "--":
            break
        if word.startswith("-") and len(word) > 1:
            known = [name for each in reached(parser) for name in _long_options(each)]
            name = word.partition("=")[0]
            if name[1:2] not in ("", "-") and not any(map(_has_long_dashed_once, reached(parser))):
                name = name[:2]  # what follows the letter is its value, perhaps a secret
            return usage.unknown_option(name, [*known, *usage.our_options()])
    return usage.extra_argument([word for word in extras if word != "--"] or extras)


def _argument_problem(
    invocation: Invocation, problem: argparse.ArgumentError, message: str
) -> AgentError:
    frame = _innermost(problem)
    seen = frame.f_locals if frame else {}
    action, place = seen.get("action"), frame.f_code.co_name if frame else ""
    if problem.argument_name is None or not isinstance(action, argparse.Action):
        # About no argument in particular; an action in that frame is left from a loop.
        owner = seen.get("self")
        if frame is not None and isinstance(owner, argparse.ArgumentParser):
            return _left_over_or_absent(owner, frame, problem.message or message)
        return usage.wrong_call(message, problem.argument_name or "")
    name = _name(action)
    if place == "_check_value":
        value = str(seen.get("value"))
        if isinstance(action, argparse._SubParsersAction):
            option = _unknown_before(invocation.call.rest, value, seen.get("self"))
            if option:
                return usage.unknown_option(option, [])
            return usage.unknown_command(value, _command_names(action))
        return usage.bad_choice(name, value, choices_of(action, MOST_COMPARED))
    if place == "_get_value":
        value, choices = str(seen.get("arg_string")), choices_of(action, MOST_COMPARED)
        if choices:
            return usage.bad_choice(name, value, choices)
        if isinstance(problem.__context__, argparse.ArgumentTypeError):
            return usage.bad_value(name, value, str(problem.__context__))  # the author's words
        return usage.bad_value(name, value, _wanted(action))
    if place == "_match_argument" and action.option_strings:
        return usage.missing_value(name)
    explicit = seen.get("explicit_arg")
    if explicit is not None and action.nargs == 0:
        if str(seen.get("option_string")).startswith("--"):
            return usage.unexpected_value(name, str(explicit))
        return usage.unknown_option(f"-{str(explicit)[:1]}", ())
    text = f"{name}: {problem.message}" if problem.message else message
    return usage.wrong_call(text, name)


def _unknown_before(words: Sequence[str], word: str, parser: Any) -> str:
    """Return the option before *word* that *parser* does not know: that may be its value."""
    before = words[words.index(word) - 1] if word in words[1:] else ""
    if before[:2] != "--" or len(before) == 2 or "=" in before:
        return ""
    known = isinstance(parser, argparse.ArgumentParser) and any(
        name.startswith(before) for name in parser._option_string_actions
    )
    return "" if known else before


def _missing(parser: argparse.ArgumentParser, absent: Sequence[str]) -> AgentError:
    options: list[str] = []
    arguments: list[str] = []
    for action in parser._actions:
        if not action.required or argparse._get_action_name(action) not in absent:
            continue
        if isinstance(action, argparse._SubParsersAction):
            return usage.missing_command(_command_names(action))
        (options if action.option_strings else arguments).append(_name(action))
    if not options and not arguments:
        return usage.wrong_call(f"Missing required: {', '.join(absent)}.")
    return usage.missing(options, arguments)


def _innermost(problem: BaseException) -> FrameType | None:
    """Return the argparse frame that raised *problem*."""
    from ...failures.exceptions import frames_of

    passed = [each for each in frames_of(problem) if each.f_globals.get("__name__") == "argparse"]
    return passed[-1] if passed else None


def _handled_by_author(
    invocation: Invocation, own_error: Callable[[], Any], problem: AgentError
) -> tuple[int, Any]:
    """Call an ``error()`` of the author's own; return the status it exits with, or 0.

    In that case it has returned, with what is returned here too, and goes on. What it prints on its
    way to an exit is for people, who are not there.
    """
    import contextlib
    import io

    from ...outcome import status_of

    shown, errors = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(errors):
            returned = own_error()
    except SystemExit as end:
        return status_of(end.code) or _USAGE_STATUS, None
    except BaseException as raised:
        invocation.running.refusal = Refusal(problem, raised=raised)
        _print(shown, errors)
        raise
    _print(shown, errors)
    return 0, returned


def _print(shown: io.StringIO, errors: io.StringIO) -> None:
    sys.stdout.write(shown.getvalue())
    sys.stderr.write(errors.getvalue())


def _show(
    invocation: Invocation, own_error: Callable[[], Any], problem: AgentError, message: str
) -> NoReturn:
    """Let argparse show a person what is wrong and end the program; *problem* may hold a hint."""
    from ...call.ending.for_people import hint

    try:
        own_error()
    except SystemExit as end:
        hint(invocation, problem, message)
        if invocation.settings.usage_exit_code:
            end.code = invocation.settings.usage_exit_code
        raise
    raise RuntimeError("argparse goes on behind an error")


def report_exit(invocation: Invocation, status: int = 0, message: str | None = None) -> None:
    """Answer ``parser.exit(status, message)`` where that is a failure; else do nothing."""
    # Behind a wrong call it is how the tool shows that; what is wrong has been noted.
    if status and message and invocation.running.refusal is None:
        found = _of_handled(invocation, sys._getframe(2), message.strip())
        if found is None:
            found = AgentError(status, "execution_error", message.strip(), kind="tool_error")
        elif status != 1:
            found.code = status
        _refuse(invocation, found, status)


def _of_handled(invocation: Invocation, caller: FrameType, message: str) -> AgentError | None:
    """Return what the exception means that a handler handles while it ends the program."""
    handled = sys.exc_info()[1]
    if handled is None or invocation.writer._reply.phase != "execution":
        return None
    from ...failures.exceptions import of_handled

    return of_handled(handled, caller, message)


def _name(action: argparse.Action) -> str:
    """Return the name a caller uses: ``--top`` or ``text``."""
    longs = [name for name in action.option_strings if name.startswith("--")]
    return (longs or list(action.option_strings) or [str(action.dest)])[0]


def _wanted(action: argparse.Action) -> str:
    name = getattr(action.type, "__name__", "")
    known = {"int": "expected an integer", "float": "expected a number"}
    return known.get(name, f"expected {name}" if name.isidentifier() else "")


def _command_names(action: Any) -> list[str]:
    hidden = {entry.dest for entry in action._choices_actions if entry.help == argparse.SUPPRESS}
    names: dict[int, str] = {}
    for name, parser in action.choices.items():
        names.setdefault(id(parser), name)  # the names behind the first are aliases
    return [name for name in names.values() if name not in hidden]


def _has_long_dashed_once(parser: argparse.ArgumentParser) -> bool:
    """Return whether *parser* has options such as ``-verbose``."""
    return any(len(name) > 2 and name[1] != "-" for name in parser._option_string_actions)


def _long_options(parser: argparse.ArgumentParser) -> list[str]:
    return [name for name in parser._option_string_actions if name.startswith("--")]
