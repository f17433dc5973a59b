"""What a click-like framework raised, as failures in our words.

Exceptions are recognized by the names of their classes: a typer that brings its own click has
classes of the same names. What a check was looking at is read from the frame that raised.
"""

from __future__ import annotations

from ...call.ending.endings import caused_failure, exit_like
from ...core import is_group
from ...declare.plain_values import MOST_COMPARED
from ...errors import AgentError
from ...failures import mapping_of
from ...failures.exceptions import frames_of
from ...line import usage
from ...process.stdin import is_abort, unanswered_prompt
from .params import typed_name
from .tree import choices_of, command_names, explains, range_of, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

    from ...call import Invocation


_EXPECTED = {
    "integer": "expected an integer",
    "int": "expected an integer",
    "float": "expected a number",
}


# Where a group looks for the command that a word names.
_RESOLVING = ("resolve_command", "_click_resolve_command")


class Ended(BaseException):
    """Carries what a handler raised past the framework, which would deal with it in its way."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def ending_of(raised: BaseException, invocation: Invocation) -> BaseException:
    """Return what ended the handler, where *raised* came to us."""
    if isinstance(raised, Ended):
        raised = raised.error
        if isinstance(raised, SystemExit) and not raised.code:
            from .completion import is_printed

            if is_printed(raised):
                invocation.running.verbatim = True
                return raised
    from ...process.process_guard import ending_behind

    raised = ending_behind(raised) or raised
    return raised if invocation.is_for_people else translate(raised, invocation)


def note_usage_error(invocation: Invocation, error: BaseException, status: int = 0) -> None:
    """Remember a usage error that the program is about to handle itself.

    If it exits with a status, whatever it prints before, this is what was wrong. *status* is that
    with which the framework has ended already.
    """
    if "UsageError" in {base.__name__ for base in type(error).__mro__}:
        problem = translate(error, invocation)
        if isinstance(problem, AgentError):
            from ...outcome import Refusal

            raised = None if status else error
            invocation.running.refusal = Refusal(problem, status, raised)


def end_fork(ending: BaseException | None) -> None:
    """End a fork of the program that came out of the handler: the program itself answers."""
    if isinstance(ending, SystemExit) or ending is None:
        raise SystemExit(ending.code if ending is not None else 0)
    raise ending


def translate(error: BaseException, invocation: Invocation) -> BaseException:
    """Return what *error* means to us; anything not click's is given back as it is."""
    names = {base.__name__ for base in type(error).__mro__}
    if "Exit" in names and hasattr(error, "exit_code"):
        return _exit(error, invocation)
    if "Abort" in names and is_abort(error):
        end = None if invocation.writer.is_tty() else unanswered_prompt(error)
        if end is not None:
            return _missing_option(error) or end
        signal = getattr(error.__context__, "signal", "SIGINT")
        return AgentError.cancelled(signal=signal)
    if "UsageError" in names and hasattr(error, "format_message"):
        problem = _caused(error, invocation) or explain(error)
        exit_code = invocation.settings.usage_exit_code
        if exit_code:
            problem.code = exit_code
        return problem
    if "ClickException" in names and hasattr(error, "format_message"):
        if any(map(mapping_of, type(error).__mro__)):
            return error  # which its author has mapped
        status = error.exit_code or 1  # type: ignore[attr-defined]
        return caused_failure(error, error.format_message(), status)
    return error


def as_shown(end: SystemExit, error: Any, invocation: Invocation) -> SystemExit:
    """Return how the program ends for a person, to whom the framework has shown *error*.

    A usage error gets a hint where the framework has none. Ctrl-C ends the program by SIGINT.
    """
    from ...call.ending.for_people import (
        INTERRUPTED,
        Interrupted,
        hint,
        interrupt_behind,
        is_at_terminal,
    )

    names = {base.__name__ for base in type(error).__mro__}
    if "UsageError" in names and end.code == getattr(error, "exit_code", None):
        if "NoArgsIsHelpError" not in names:
            hint(invocation, explain(error), error.format_message())
        return exit_like(end, invocation.settings.usage_exit_code or end.code)
    # An author who handles it has another status, or another exception.
    is_interrupt = (
        isinstance(error, BaseException)
        and isinstance(interrupt_behind(error), KeyboardInterrupt)
        and end.code in (1, INTERRUPTED)
    )
    return Interrupted(end.code) if is_interrupt and is_at_terminal(invocation) else end


def _caused(error: Any, invocation: Invocation) -> AgentError | None:
    """Return what the cause of a usage error means that a handler raised, if it has one."""
    if invocation.writer._reply.phase != "execution":
        return None  # it is about a word of the call, whatever it was raised from
    from ...failures.exceptions import of_cause

    return of_cause(error, str(error.message))


def _exit(error: Any, invocation: Invocation) -> BaseException:
    bare = next((frame.f_locals for frame in frames_of(error)
                 if frame.f_code.co_name == "parse_args" and in_framework(frame)), {})  # fmt: skip
    command = bare.get("self")
    if (
        not invocation.writer.is_tty()
        and getattr(command, "no_args_is_help", False)
        and not bare.get("args", True)
        and not _explaining(error)
    ):
        return _called_bare(bare["ctx"])  # click 8.1 shows help and calls it success
    option, ctx = _explaining(error) or (None, None)
    invocation.running.explained = option is not None
    if option is not None and not invocation.running.explains_ours:
        from .help import add_to_own_help

        add_to_own_help(option, ctx, invocation)
    return exit_like(error, error.exit_code)


def _missing_option(error: BaseException) -> AgentError | None:
    """Return the failure of an option whose own prompt got no answer, if that is what ended."""
    for frame in frames_of(error):
        param = frame.f_locals.get("self")
        if frame.f_code.co_name == "prompt_for_value" and hasattr(param, "opts"):
            return usage.unanswered(typed_name(param), str(getattr(param, "prompt", "")))
    return None


def explain(error: Any) -> AgentError:
    """Return a usage error in our words where it is an ordinary one."""
    name, ctx = type(error).__name__, error.ctx
    frames = list(frames_of(error))
    if name == "NoSuchOption":
        known = [option for option in _options(ctx) if option.startswith("--")]
        return usage.unknown_option(error.option_name, [*known, *usage.our_options()])
    if name == "MissingParameter" and error.param is not None:
        return usage.missing(*_sorted_names(_absent(error, frames) or [error.param]))
    if name == "BadParameter" and error.param is not None:
        return _bad_value(error, frames)
    if name == "BadOptionUsage":
        return _bad_usage(error, ctx)
    if name == "NoArgsIsHelpError" and ctx is not None:
        return _called_bare(ctx)
    # Only what the framework itself noticed has words of ours; a tool's own check has its own.
    raised = [frame for frame in frames if frame.f_code.co_name != "fail"][-1:]
    for frame in raised if ctx is not None else ():
        place, seen = frame.f_code.co_name, frame.f_locals
        if not in_framework(frame):
            break
        if place in _RESOLVING:
            return usage.unknown_command(str(seen.get("cmd_name")), _visible(ctx))
        if place == "invoke" and is_group(ctx.command):
            return usage.missing_command(_visible(ctx))
        if place == "parse_args" and seen.get("args"):
            return usage.extra_argument([str(word) for word in seen["args"]])
    if ctx is not None and any(frame.f_code.co_name in _RESOLVING for frame in frames):
        # A group of the tool's own that looks for its commands in another way, or says more.
        cause = error.__context__
        if hasattr(cause, "format_message") and hasattr(cause, "ctx"):
            return explain(cause)
        return usage.refused_command(error.format_message(), _visible(ctx))
    param = getattr(error, "param", None)
    return usage.wrong_call(error.format_message(), "" if param is None else typed_name(param))


def _called_bare(ctx: Any) -> AgentError:
    if is_group(ctx.command):
        return usage.missing_command(_visible(ctx))
    required = [param for param in ctx.command.params if param.required]
    if not required:
        return usage.wrong_call("Nothing to do: no arguments were given.")
    return usage.missing(*_sorted_names(required))


def _sorted_names(params: list[Any]) -> tuple[list[str], list[str]]:
    """Return the names of the options among *params*, and those of the arguments."""
    options = [typed_name(param) for param in params if param.param_type_name == "option"]
    return options, [str(p.name) for p in params if p.param_type_name != "option"]


def _absent(error: Any, frames: list[FrameType]) -> list[Any]:
    """Return every parameter that is missing, not only the one click stopped at."""
    opts = next((f.f_locals["opts"] for f in frames if f.f_code.co_name == "parse_args"
                 and isinstance(f.f_locals.get("opts"), dict)), None)  # fmt: skip
    if opts is None or error.ctx is None:
        return []
    absent = []
    for param in error.ctx.command.params:
        if param.required and not getattr(param, "prompt", None):
            value, _ = param.consume_value(error.ctx, opts)
            if type(value).__name__ == "Sentinel" or param.value_is_missing(value):
                absent.append(param)
    return absent


def _bad_value(error: Any, frames: list[FrameType]) -> AgentError:
    param = error.param
    name = typed_name(param)
    values = [frame.f_locals["value"] for frame in reversed(frames)
              if "value" in frame.f_locals and in_framework(frame)]  # fmt: skip
    if not values:
        return usage.wrong_call(f"Invalid value for {name}: {error.message}", name)
    value = next((each for each in values if isinstance(each, str)), None)
    if value is None:
        many = values[0] if isinstance(values[0], (list, tuple)) else (values[0],)
        value = " ".join(map(str, many))
    if getattr(param, "hide_input", False):
        return usage.bad_value(name, "[REDACTED]", "")
    choices = choices_of(param, MOST_COMPARED)
    if choices:
        return usage.bad_choice(name, value, choices)
    low, high = range_of(param)
    if low is not None or high is not None:
        return usage.out_of_range(name, value, low, high)
    raised = [frame for frame in frames if frame.f_code.co_name != "fail"][-1:]
    # Where one value is converted; where they are counted no single parameter is at fault.
    converting = any("param" in f.f_locals and in_framework(f) for f in raised)
    expected = _EXPECTED.get(type_name(param)) if converting else None
    return usage.bad_value(name, value, expected or str(error.message))


def _bad_usage(error: Any, ctx: Any) -> AgentError:
    option = str(error.option_name)
    if ctx is None:
        holders = (frame.f_locals.get("self") for frame in frames_of(error))
        ctx = next((c for c in (getattr(h, "ctx", None) for h in holders) if c is not None), None)
    param = next((each for each in (ctx.command.params if ctx else ())
                  if option in (*each.opts, *each.secondary_opts)), None)  # fmt: skip
    if param is not None and not getattr(param, "is_flag", False):
        return usage.missing_value(typed_name(param))
    value = next((str(frame.f_locals["explicit_value"]) for frame in frames_of(error)
                  if frame.f_locals.get("explicit_value") is not None), "")  # fmt: skip
    return usage.unexpected_value(option, value)


def _explaining(error: BaseException) -> tuple[Any, Any] | None:
    """Return the option, --help or --version, that an exit came from, and its context."""
    found = (
        (frame.f_locals.get("self"), frame.f_locals.get("ctx"))
        for frame in frames_of(error)
        if in_framework(frame)
    )
    return next((each for each in found if explains(*each)), None)


def in_framework(frame: FrameType) -> bool:
    """Return whether *frame* is code of the framework."""
    module = frame.f_globals.get("__name__", "")
    return bool(module.partition(".")[0] in ("click", "typer", "rich_click", "asyncclick"))


def _options(ctx: Any) -> Iterator[str]:
    while ctx is not None:
        for param in ctx.command.params:
            if param.param_type_name == "option":
                yield from (*param.opts, *param.secondary_opts)
        ctx = ctx.parent


def _visible(ctx: Any) -> list[str]:
    """Return the names of a group's commands; hidden ones are known without loading lazy ones."""
    loaded = getattr(ctx.command, "commands", {})
    names = command_names(ctx.command, ctx)
    return [name for name in names if not getattr(loaded.get(name), "hidden", False)]
