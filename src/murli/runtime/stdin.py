"""Reading from a stdin that nobody feeds fails at once, instead of for ever."""

from __future__ import annotations

import os
import select
import sys

from ..errors import AgentError
from ..patience import seconds_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

# How long the first byte may take: from a caller who holds the other end himself, and may start a
# program before he has made up what to write; and from another program of a pipeline, which may
# have work to do first. Between two parts everybody has as long as that. An answer to a question
# comes with the call or not at all: the caller has not seen the question.
CALLER_SECONDS = 3.0
PIPELINE_SECONDS = 30.0
ANSWER_SECONDS = 0.5
STALLED = "the writer of stdin stopped"


# Whether what is read is the answer to a question; see `traps.ask`.
is_asking = False


class InputRequired(EOFError):
    """The program wants to read, and there is nobody to write.

    An `EOFError`, because that is what programs expect to happen at the end of their input.
    """


def guard(*, may_pause: bool = False) -> Callable[[], None]:
    """Make reads of ``sys.stdin`` fail where they would wait for ever; return what ends that.

    With *may_pause* only the first byte is expected in time: a dialogue has its pauses.
    """
    raw = getattr(getattr(sys.stdin, "buffer", None), "raw", None)
    if raw is None:
        return lambda: None
    gate = Gate(raw.fileno(), may_pause)
    own = {name: getattr(raw, name) for name in ("readinto", "readall", "read")}

    def readinto(buffer: Any) -> Any:
        gate.wait()
        return own["readinto"](buffer)

    def readall() -> bytes:
        parts = []
        while part := read(1 << 16):
            parts.append(part)
        return b"".join(parts)

    def read(size: int = -1) -> Any:
        if size < 0:
            return readall()
        gate.wait()
        return own["read"](size)

    # Beneath the buffers, where every way of reading passes.
    for name, ours in (("readinto", readinto), ("readall", readall), ("read", read)):
        setattr(raw, name, ours)

    def undo() -> None:
        for name in own:
            raw.__dict__.pop(name, None)

    return undo


class Gate:
    """Lets a read through when there is something to read."""

    def __init__(self, descriptor: int, may_pause: bool) -> None:
        self._descriptor = descriptor
        self._may_pause = may_pause
        self._is_fed = False

    def wait(self) -> None:
        """Return when a read would not wait; raise `InputRequired` when it would for ever."""
        if self._is_fed and (self._may_pause or _is_followed()):
            return
        if os.isatty(self._descriptor):
            # What the program asks cannot be seen: its output is being collected.
            raise InputRequired("nobody is there to type")
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        if not poll.poll(self._patience()):
            raise InputRequired(STALLED if self._is_fed else "nobody feeds stdin")
        self._is_fed = True

    def _patience(self) -> float | None:
        """Return how long to wait for the next part, in milliseconds; ``None`` for ever."""
        given = seconds_from("MURLI_STDIN_TIMEOUT")
        if given is not None:
            return given * 1000 or None
        if not self._is_fed and _caller_holds(self._descriptor):
            return (ANSWER_SECONDS if is_asking else CALLER_SECONDS) * 1000
        return PIPELINE_SECONDS * 1000


def _is_followed() -> bool:
    """Return whether the running command follows its input for as long as there is some."""
    from .invocation import current

    invocation = current()
    metadata = invocation.metadata if invocation is not None else None
    return metadata is not None and metadata.streams


def _caller_holds(descriptor: int) -> bool:
    """Tell whether the other end of stdin is our parent's, as far as that can be known."""
    try:
        ours = os.readlink(f"/proc/self/fd/{descriptor}")
        if not ours.startswith("pipe:"):
            return True
        folder = f"/proc/{os.getppid()}/fd"
        return any(_is_written(f"{folder}/{name}", ours) for name in os.listdir(folder))
    except OSError:  # another system, or another user's process
        return True


def _is_written(path: str, pipe: str) -> bool:
    """Tell whether a descriptor in ``/proc`` is the writing end of *pipe*."""
    try:
        return os.readlink(path) == pipe and bool(os.lstat(path).st_mode & 0o200)
    except OSError:  # closed meanwhile
        return False


def input_failure(
    printed: str,
    options: Sequence[str],
    asked: str = "",
    *,
    stalled: bool = False,
    waiting: str = "pass --output text",
) -> AgentError:
    """Give the failure of a program that asked for input and got none.

    *printed* is what it wrote until then: the question stands at the end. *options* are those of
    the running command; *stalled* tells that some of the input had come; *waiting* is what makes
    it wait for as long as it takes.
    """
    question = asked or ("" if printed.endswith("\n") else printed.rpartition("\n")[2])
    question = question.strip()
    if not question and stalled:
        return AgentError.precondition(
            "The command reads from stdin, whose writer stopped without closing it.",
            "Write all of the input and close stdin; MURLI_STDIN_TIMEOUT allows longer pauses. "
            f"To have it wait, {waiting}.",
            error_type="input_required",
        )
    if not question:
        return AgentError.precondition(
            "The command reads from stdin, and nobody feeds it.",
            f"Pipe the input in, or close stdin (</dev/null). To have it wait, {waiting}.",
            error_type="input_required",
        )
    return AgentError.precondition(
        f"The command asked {question!r}, and nobody is there to answer.",
        _instead(question, options, waiting),
        error_type="input_required",
    )


def unanswered_prompt(error: BaseException) -> EOFError | None:
    """Return the end of input that made click or typer abort a prompt, if that is what *error* is.

    What was asked is its ``asked``, where the prompt is known.
    """
    end = error.__context__
    if not isinstance(end, EOFError) or not is_abort(error):
        return None
    traceback = error.__traceback__
    while traceback is not None:
        code, seen = traceback.tb_frame.f_code, traceback.tb_frame.f_locals
        if code.co_name in ("prompt", "confirm") and _is_clicks(traceback.tb_frame.f_globals):
            choice = " [y/n]" if code.co_name == "confirm" else ""
            end.asked = f"{seen.get('text', '')}{choice}"  # type: ignore[attr-defined]
        traceback = traceback.tb_next
    return end


def is_abort(error: BaseException) -> bool:
    """Return whether *error* is click's ``Abort``, or that of a click which typer brings."""
    return any(
        base.__name__ == "Abort" and _is_clicks({"__name__": base.__module__})
        for base in type(error).__mro__
    )


def _is_clicks(names: dict[str, Any]) -> bool:
    return str(names.get("__name__", "")).partition(".")[0] in ("click", "typer", "rich_click")


# What an option is called with which a tool asks nothing.
_UNASKED = tuple(
    """
    --no-input --no-interactive --non-interactive --no-interaction --no-prompt --no-prompts --batch
    --defaults --use-defaults
    """.split()  # noqa: SIM905
)


def _instead(question: str, options: Sequence[str], waiting: str) -> str:
    words = "".join(letter if letter.isalnum() else " " for letter in question.lower()).split()
    confirmation = {"y", "n"} <= set(words) or {"yes", "no"} <= set(words)
    for option in ("--yes", "--force"):
        if confirmation and option in options:
            return f"Pass {option} to confirm."
    named = [
        option
        for option in options
        if option not in ("--yes", "--force")
        and all(part in words for part in option.lstrip("-").split("-"))
    ]
    if named and not confirmation:
        return f"Pass {max(named, key=len)}."
    for option in _UNASKED:
        if option in options:
            return (
                f"Give the answer as an option or argument, or pass {option} to be asked nothing."
            )
    told = "Give the answer as an option or argument; see --schema."
    return f"{told} To see the question and answer it, {waiting}."


def put_nothing() -> Callable[[], None]:
    """Put an empty stdin where there is none: the next file to be opened would be taken for it."""
    os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
    before = sys.stdin
    if before is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 -- for the handler

    def undo() -> None:
        sys.stdin = before
        os.close(0)

    return undo
