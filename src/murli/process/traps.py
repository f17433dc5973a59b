"""What waits for a person, by module: while an agent waits, it fails and says what to do.

And what handles Ctrl-C, or starts programs, in a way of its own.
"""

from __future__ import annotations

import sys

from ..core import ADMITTED, current
from ..formats import put_over
from . import watch_opening
from .process_guard import interruption_by, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, NoReturn

    from ..call import Invocation
    from . import DescriptorCapture
    from .process_guard import Undo


_EXPLAINING = ("--help", "--version")
_LONGEST_QUESTION = 4096
# What is done about a question that is asked again and again, and one in a dry run.
_AGAIN = "--yes answers a question once. Pipe the answers in, one a line."
_IN_DRY_RUN = "A dry run does not agree to what a handler asks. Pipe an answer in, such as n."


def disarm(module: Any) -> list[Undo]:
    """Keep *module* from waiting for a person; return what takes that back."""
    name = module.__name__
    if name == "getpass":
        return [replace(module, "getpass", _no_password)]
    if name == "webbrowser":
        return [replace(module, each, _browse) for each in ("open", "open_new", "open_new_tab")]
    if name == "_posixsubprocess":
        return [put_over(module, "fork_exec", watch_opening("fork_exec"))]
    if name == "asyncio.runners":
        runner = getattr(module, "Runner", None)  # since 3.11
        return [replace(runner, "_on_sigint", _cancelling(runner))] if runner else []
    if name == "code":
        return [replace(module.InteractiveConsole, "interact", _no_console)]
    if name.endswith("_termui_impl"):
        editor = getattr(module, "Editor", None)  # typer has left out what it does not need
        traps = (
            (editor, "edit_files", _no_editor),
            (editor, "edit_file", _no_editor),
            (module, "open_url", _launch),
            (module, "getchar", _no_key),
        )
        return [replace(*trap) for trap in traps if hasattr(*trap[:2])]
    return [replace(module.Application, each, _no_console) for each in ("run", "run_async")]


def _cancelling(runners: Any) -> Any:
    """Return what cancels the main task at Ctrl-C, within the time that any handler has for it."""
    own = runners._on_sigint

    def on_sigint(runner: Any, number: int, frame: Any, main_task: Any) -> None:
        invocation = current()
        if invocation is not None and runner._interrupt_count == 0:
            invocation.process.give_grace(interruption_by(number))
            own(runner, number, frame, main_task)
        # Once is enough: a second one would cut short what the first one has started.

    return on_sigint


def found_by_others(own: Any, undo: list[Undo], name: str, path: Any, target: Any) -> Any:
    """Return what the finders behind *own* find for *name*, disarmed once it is loaded.

    What takes that back is in *undo* then.
    """
    finders = list(sys.meta_path)  # which another thread may change
    for finder in finders[finders.index(own) + 1 :] if own in finders else finders:
        find = getattr(finder, "find_spec", None)
        spec = None if find is None else find(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Disarming(spec.loader, undo)
        if spec is not None:
            return spec
    return None


class _Disarming:
    """A loader that has the module disarmed when it is there."""

    def __init__(self, loader: Any, undo: list[Undo]) -> None:
        self._loader = loader
        self._undo = undo

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def exec_module(self, module: Any) -> None:
        """Load *module*."""
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._undo += disarm(module)


class _Hidden(str):
    """The prompt of a password."""

    __slots__ = ()


def ask(capture: Any, own: Any, prompt: object) -> str:
    """Stand in for ``input``, which is *own*: what is asked is not part of what was printed.

    Where nobody answers, the call does, as far as it is clear; see `_is_agreed`.
    """
    if capture is None or not (capture.is_process and capture.collects):
        return str(own(prompt))
    text = str(prompt)
    sys.stdout.write(text)
    question = _note_question(capture, text)
    from . import stdin

    stdin.is_asking = True
    try:
        return str(own())
    except EOFError as end:
        agreement = "" if isinstance(prompt, _Hidden) else stdin.yes_to(question)
        end.asked = question  # type: ignore[attr-defined]
        invocation = current()
        if not agreement or invocation is None:
            raise
        agreed = invocation.running.agreed
        if not _is_agreed(invocation):
            end.advice = _IN_DRY_RUN if invocation.call.dry_run else ""  # type: ignore[attr-defined]
            raise
        if question in agreed:  # it may be asked for ever
            end.advice = _AGAIN  # type: ignore[attr-defined]
            raise
        invocation.running.agreed = agreed | {question}
        return agreement
    finally:
        stdin.is_asking = False


def _is_agreed(invocation: Invocation) -> bool:
    """Return whether a question of yes or no is answered by the words of the call.

    Who typed murli's ``--yes`` has agreed. In a dry run the options of a command may ask, since no
    handler follows that does anything; what a handler itself asks, a group's too, stays open.
    """
    if invocation.call.dry_run:
        return invocation.state < ADMITTED and _asks_for_option(sys._getframe())
    return invocation.call.force


def _asks_for_option(frame: FrameType | None) -> bool:
    """Return whether click or typer asks, above *frame*, for the value of an option."""
    from .stdin import is_clicks

    while frame is not None:
        names = frame.f_globals
        if is_clicks(names) and frame.f_code.co_name == "prompt_for_value":
            return True
        if not is_clicks(names) and names.get("__package__") != __package__:
            return False
        frame = frame.f_back
    return False


def _note_question(capture: DescriptorCapture, prompt: str) -> str:
    """Leave *prompt*, which was just printed, out of what was collected; return the question.

    A blank one stands for its whole line: frameworks print their questions before they read.
    """
    if capture.lines is not None:
        return capture.lines.drop_question(prompt)
    size = capture.size()
    start = max(0, size - _LONGEST_QUESTION)
    from ..platform import read_at

    tail = read_at(capture.spool, _LONGEST_QUESTION, start) if size else b""
    question = prompt.encode() if prompt.strip() else tail.rpartition(b"\n")[2]
    if question and tail.endswith(question):
        capture.questions.append((size - len(question), size))
    return question.decode("utf-8", "replace")


def _no_password(prompt: str = "Password: ", stream: Any = None, **more: Any) -> str:
    # Who pipes a password in is heard; who has a terminal is not asked on it.
    return input(_Hidden(prompt))


def _browse(url: str, *more: Any, **named: Any) -> bool:
    _open(url)
    return True


def _launch(url: str, *more: Any, **named: Any) -> int:
    _open(url)
    return 0


def _open(url: str) -> None:
    from .headless import note

    if note(current(), url):
        return
    from ..errors import AgentError

    raise AgentError.precondition(
        f"The command wanted to open {url} for a person.",
        f"Ask a person to open {url}.",
        error_type="interactive_blocked",
    )


def _no_editor(*args: Any, **named: Any) -> NoReturn:
    invocation = current()
    options = invocation.host.options(invocation.running.command) if invocation is not None else []
    ways = [name for name in options if name.startswith("--") and name not in _EXPLAINING]
    advice = "Give the text as an option or argument; see --schema."
    _refuse("an editor", advice, alternatives=ways)


def _no_key(*args: Any, **named: Any) -> NoReturn:
    _refuse("a key to be pressed", "Look for an option that answers the question; see --schema.")


def _no_console(*args: Any, **named: Any) -> NoReturn:
    _refuse("a dialogue", "Look for an option that answers the questions; see --schema.")


def _refuse(wanted: str, advice: str, **context: Any) -> NoReturn:
    from ..errors import AgentError

    raise AgentError.precondition(
        f"The command wanted {wanted}, and nobody is there.",
        advice,
        error_type="interactive_blocked",
        context=context,
    )
