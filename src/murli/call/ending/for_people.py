"""How a call ends when a person reads: as the framework and the tool itself would have it.

An exception passes through us to whatever handler the tool has around its call. Only if nobody
handles it, and at a terminal, do we show it, from ``sys.excepthook``; there too Ctrl-C ends the
process by SIGINT, so that a shell loop around it ends as well. On a pipe that is a person's we add
nothing: what scripts and logs get is what they got before.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself loads enum first
import sys

from ...errors import AgentError, EncodingError, OutputFailed
from ...line.usage import CHECK_USAGE
from .last_act import end_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

    from .. import Invocation

    Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]

# The status of what was cancelled, as click has it.
ABORTED = 1
# The status a shell gives to what SIGINT ended.
INTERRUPTED = 130
# The modules whose frames lie between a tool and its handlers.
_BETWEEN = (
    *("murli.adapters.", "murli.answer.", "murli.call", "murli.line", "murli.process"),
    "murli.secrets",
)
# How frameworks begin a suggestion of their own.
_SUGGESTIONS = ("did you mean", "possible options", "maybe you meant")


def is_at_terminal(invocation: Invocation) -> bool:
    """Return whether a person reads at a terminal, where we add to what the framework shows."""
    return invocation.is_for_people and invocation.request.stdout_is_terminal


def is_left_alone(invocation: Invocation, error: BaseException) -> bool:
    """Return whether *error*, which nobody handled, is Python's to show: on a pipe of a person's.

    In a `murli.program` at a terminal too. What its author has said the meaning of is answered.
    """
    is_shown = invocation.request.stdout_is_terminal and not invocation.settings.is_program
    if not invocation.is_for_people or is_shown or not is_for_the_tool(error):
        return False
    from ...failures.exceptions import is_authored

    return not is_authored(error)


def leave_alone(hook: Hook, error: BaseException) -> None:
    """Let *hook* show *error* as Python does; Ctrl-C ends the process by SIGINT, as it does."""
    hook(type(error), without_our_frames(error), error.__traceback__)
    if type(error) is KeyboardInterrupt:
        # Python does so only if nothing has executed a string since.
        end_with(-_signal.SIGINT)


def interrupt_behind(error: BaseException) -> BaseException:
    """Return the Ctrl-C that click made *error* of, *error* itself where there is none."""
    if not is_aborted(error):
        return error
    cause = error.__cause__ or error.__context__
    return cause if isinstance(cause, KeyboardInterrupt) else error


def is_aborted(error: BaseException) -> bool:
    """Return whether *error* is what click raises for a question that nobody answers."""
    if not any(base.__name__ == "Abort" for base in type(error).__mro__):
        return False  # nothing more is loaded for what cannot be one
    from ...process.stdin import is_abort

    return is_abort(error)


def without_our_frames(error: BaseException) -> BaseException:
    """Return *error* with the traceback it had if the tool had not been enabled.

    So have those it was raised from, or while they were handled.
    """
    chain: list[BaseException | None] = [error]
    for each in chain:
        if each is not None:
            each.__traceback__ = _without_our_frames(each)
            more = (each.__cause__, each.__context__)
            chain += [other for other in more if not any(other is known for known in chain)]
    return error


def _without_our_frames(error: BaseException) -> TracebackType | None:
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    below = None
    for each in reversed(frames):
        ours = str(each.tb_frame.f_globals.get("__name__", "")).startswith(_BETWEEN)
        if not ours or below is None:  # where it was raised is worth knowing, also if it is here
            each.tb_next = below
            below = each
    return below


def is_for_the_tool(error: BaseException) -> bool:
    """Return whether *error* goes on to the handlers that the tool has around its call."""
    # What murli itself decided is answered by murli.
    ours = (SystemExit, AgentError, EncodingError, OutputFailed)
    return not isinstance(error, ours) and not is_expired(error)


def is_expired(error: BaseException) -> bool:
    """Return whether *error* is the end of the time the call had."""
    return type(error).__name__ == "Expired"


def let_tool_handle(invocation: Invocation, ending: BaseException) -> None:
    """Raise what goes on to the handlers that the tool has around its call."""
    if is_for_the_tool(ending):
        leave_to_the_tool(invocation, ending)
        raise ending


def leave_to_the_tool(invocation: Invocation, error: BaseException) -> None:
    """End the call without an answer, since *error* goes on; it is shown if nobody handles it."""
    if invocation.cleanups is not None:
        invocation.cleanups.run(error)
    invocation.abandon()
    previous = sys.excepthook
    while isinstance(previous, Uncaught):  # of a call whose error somebody has handled
        previous = previous.previous
    sys.excepthook = Uncaught(invocation, error, previous)


class Uncaught:
    """The ``sys.excepthook`` that shows the one exception that left a call."""

    def __init__(self, invocation: Invocation, error: BaseException, previous: Hook) -> None:
        self.invocation = invocation
        self.error = error
        self.previous = previous

    def __call__(
        self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        """Show the exception that left the call and end the program; pass on any other."""
        sys.excepthook = self.previous
        if error is not self.error:
            self.previous(kind, error, traceback)
        elif is_left_alone(self.invocation, error):
            leave_alone(self.previous, error)
        elif isinstance(interrupt_behind(error), KeyboardInterrupt):
            self.invocation.finish(error)
            end_with(-_signal.SIGINT)
        elif is_authors(self.previous):
            show_by_hook(self.invocation, self.previous, error)
        else:
            end_with(self.invocation.finish(error))


def is_authors(hook: Any) -> bool:
    """Return whether the author of the tool, or a library of theirs, wants to learn of a crash."""
    package = str(getattr(hook, "__module__", "")).partition(".")[0]
    return hook is not sys.__excepthook__ and package not in ("murli", "typer")


def show_by_hook(invocation: Invocation, hook: Hook, error: BaseException) -> None:
    """Let the author's own *hook* show *error*, and end with the code of the contract."""
    from ...answer.presentation import code_of
    from .failures import error_for

    hook(type(error), error, error.__traceback__)
    end_with(code_of(invocation.writer, error_for(invocation, error)))


# -- usage errors ------------------------------------------------------------------------------


def hint(invocation: Invocation, problem: AgentError, shown: str) -> None:
    """Add one line to a usage error as the framework has *shown* it, where we know a better word.

    *problem* is the same error in our words.
    """
    if not is_at_terminal(invocation):
        return
    advice = problem.advice.removesuffix(CHECK_USAGE).rstrip()
    if advice.startswith("Did you mean") and not any(s in shown.lower() for s in _SUGGESTIONS):
        invocation.writer._outlet.show(f"Hint:  {advice}", "stderr")


# -- Ctrl-C ------------------------------------------------------------------------------------


class Interrupted(SystemExit):
    """The exit a framework makes of Ctrl-C; once it ends the program, SIGINT does.

    Where it or its class is shown, it looks like what Python raises.
    """

    __module__, __qualname__ = "builtins", "SystemExit"

    @property
    def code(self) -> Any:
        """The status the framework chose; the interpreter asks for it from no frame."""
        if sys._getframe().f_back is None:
            end_with(-_signal.SIGINT)
        return self.args[0]

    @code.setter
    def code(self, status: object) -> None:
        self.args = (status,)

    def __reduce__(self) -> tuple[object, ...]:
        return SystemExit, self.args


Interrupted.__name__ = "SystemExit"
