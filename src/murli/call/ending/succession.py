"""What passes from one invocation of a process to the next, and what stays behind an answer.

A program may let several parsers parse, or one of them twice. The last invocation that saw the
program's own words is the one that is answered; there is one document whichever that is.
"""

from __future__ import annotations

import atexit
import os
import sys

from ...core import CONCLUDING
from ...errors import OutputFailed
from ...formats import flush, is_terminal
from ...outcome import status_of
from ...process import send_to_stderr, stdout_is_ours
from ...process.process_guard import real_hard_exit, replace
from . import adopt_program, can_adopt, returned
from .last_act import end_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from .. import Invocation
    from . import ProgramAsHandler


def _owner() -> ProgramAsHandler | None:
    found: ProgramAsHandler | None = sys.modules["murli.call.ending"]._owner
    return found


def running() -> Invocation | None:
    """Return the invocation that the end of this process would answer, if there is one.

    Ends a program for which murli has answered.
    """
    owner = _owner()
    if owner is None or not owner.is_this_process:
        return None
    if owner.own_exit_code is not None:
        sys.exit(owner.own_exit_code)
    return owner.invocation


def succeed(before: Invocation, invocation: Invocation) -> None:
    """Let *invocation* take the place of *before*, with its cleanups and its secrets."""
    if before.state >= CONCLUDING:
        return  # it is answered
    if before.deadline is not None:
        before.deadline.stop()
    if invocation.cleanups is None:
        invocation.cleanups = before.cleanups
    if invocation.secrets is None and before.secrets is not None:
        invocation.secrets = before.secrets
        invocation.writer._outlet.hide(before.secrets)


def end_early(
    invocation: Invocation, ending: BaseException, words: Sequence[str] | None
) -> NoReturn:
    """End the program that *invocation*, which has just begun with *words*, was called in.

    *ending* is the exit behind an answer, or what kept that from getting out.
    """
    if isinstance(ending, OutputFailed):
        from .failures import conclude

        invocation.exit(conclude(invocation, ending, ""))
    is_own = words is None or all(word in sys.argv for word in words)
    if isinstance(ending, SystemExit) and is_own and can_adopt(words):
        adopt_program(invocation, answered=status_of(ending.code))
        sys.exit(ending.code)
    raise ending


def stand_aside(answering: Invocation) -> None:
    """Let *answering*, which murli answers by itself, have stdout; what was printed goes aside."""
    if _is_at_terminal(answering) or not stdout_is_ours():
        return
    answering.writer._outlet.stdout = None
    owner = _owner()
    if owner is None or not owner.is_this_process or owner.capture is None:
        _empty_stdout()
        return
    owner.tear_down()
    owner.done = False
    capture, owner.capture = owner.capture, None
    invocation = owner.invocation
    printed = invocation.process.end_capture(capture, restore=True)
    invocation.pass_on(printed)
    invocation.process.drop(capture, restore=True)


def _is_at_terminal(invocation: Invocation) -> bool:
    """Return whether a person sees the answer, rather than a program that reads it from a pipe."""
    return invocation.writer.is_tty() and is_terminal(sys.stdout)


def _empty_stdout() -> None:
    """Let what is still in the buffers of stdout out on stderr."""
    try:
        real = os.dup(1)
    except OSError:  # closed, or no descriptor left
        return
    send_to_stderr()
    flush(sys.stdout)
    os.dup2(real, 1)
    os.close(real)


def settle(owner: ProgramAsHandler, invocation: Invocation, code: int) -> None:
    """Hold on to *code*, with which murli itself has answered *invocation*.

    The program may catch the exit that follows; what it prints then is not the answer.
    """
    if owner.capture is not None:
        stand_aside(invocation)
    owner.own_exit_code, owner.invocation, owner.done = code, invocation, False
    if not owner.undo:
        owner.watch_exits()

    def leave(status: int) -> NoReturn:
        real_hard_exit(code if owner.is_this_process else status)

    owner.undo.append(replace(os, "_exit", leave))
    if not _is_at_terminal(invocation):
        send_to_stderr()


def insist(owner: ProgramAsHandler, code: int) -> None:
    """Let the program, which is over, exit with *code*, unless it is known to."""
    if isinstance(owner.ending, SystemExit):
        return
    is_over = owner.ending is None and (owner.watched or returned(owner.outermost))
    if code or not is_over:
        end_with(code)


def release_program() -> None:
    """Leave the process to its program as if nobody had answered for it: an app of it will.

    What was printed by then goes to stderr, where it is not lost.
    """
    owner = _owner()
    if owner is None or not owner.is_this_process:
        return
    invocation, capture = owner.invocation, owner.capture
    owner.tear_down()
    atexit.unregister(owner.on_exit)
    if sys.excepthook == owner.on_uncaught:
        sys.excepthook = owner.previous_hook
    sys.modules["murli.call.ending"].__dict__["_owner"] = None
    if capture is not None:
        invocation.pass_on(invocation.process.end_capture(capture, restore=True))
        invocation.process.drop(capture, restore=True)
    invocation.stop_watching()
    invocation.deactivate()
