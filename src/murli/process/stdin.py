"""Reading from a stdin that nobody feeds fails at once, instead of for ever."""

from __future__ import annotations

import os
import re
import sys

from ..errors import AgentError
from ..formats.patience import seconds_from
from ..platform import can_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

# How long the first byte may take: from a caller that holds the other end itself, and may start a
# program before he has made up what to write; and from another program of a pipeline, which may
# have work to do first. Between two parts everybody has as long as that. An answer to a question
# comes with the call or not at all: the caller has not seen the question.
CALLER_SECONDS = 3.0
PIPELINE_SECONDS = 30.0
ANSWER_SECONDS = 0.5
STALLED = "the writer of stdin stopped"


# Whether what is read is the answer to a question; see `traps.ask`.
is_asking = False


# How many reads in a row fail before the program that goes on reading is ended.
MOST_REFUSED = 5


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
        self._refused = 0

    def wait(self) -> None:
        """Return when a read would not wait; raise `InputRequired` when it would for ever.

        A program that takes that for an end and reads on, as a dialogue does, is ended.
        """
        try:
            self._wait()
        except InputRequired as unfed:
            self._refused += 1
            if self._refused < MOST_REFUSED:
                raise
            _end(unfed)
        self._refused = 0

    def _wait(self) -> None:
        if self._is_fed and (self._may_pause or _is_followed()):
            return
        if os.isatty(self._descriptor):
            # What the program asks cannot be seen: its output is being collected.
            raise InputRequired("nobody is there to type")
        if not can_read(self._descriptor, self._patience()):
            raise InputRequired(STALLED if self._is_fed else "nobody feeds stdin")
        self._is_fed = True

    def _patience(self) -> float | None:
        """Return how many seconds to wait for the next part; ``None`` for ever."""
        given = seconds_from("MURLI_STDIN_TIMEOUT")
        if given is not None:
            return given or None
        if not self._is_fed and _caller_holds(self._descriptor):
            return ANSWER_SECONDS if is_asking else CALLER_SECONDS
        return PIPELINE_SECONDS


def _end(unfed: InputRequired) -> NoReturn:
    """End a program that goes on reading behind *unfed*, with that as the reason."""
    from ..core import current
    from ..outcome import Refusal
    from .printing import ways_to_text

    invocation = current()
    if invocation is not None and invocation.running.refusal is None:
        options = invocation.host.options(invocation.running.command)
        waiting = ways_to_text(invocation, streams=False)
        stalled = unfed.args == (STALLED,)
        failure = input_failure("", options, stalled=stalled, waiting=waiting)
        invocation.running.refusal = Refusal(failure)
    sys.exit(1)


def _is_followed() -> bool:
    """Return whether the running command follows its input for as long as there is some."""
    from ..core import current

    invocation = current()
    metadata = invocation.metadata if invocation is not None else None
    return metadata is not None and metadata.streams


def _caller_holds(descriptor: int) -> bool:
    """Return whether the other end of stdin is our parent's, as far as that can be known."""
    try:
        ours = os.readlink(f"/proc/self/fd/{descriptor}")
        if not ours.startswith("pipe:"):
            return True
        folder = f"/proc/{os.getppid()}/fd"
        return any(_is_written(f"{folder}/{name}", ours) for name in os.listdir(folder))
    except OSError:  # another system, or another user's process
        return True


def _is_written(path: str, pipe: str) -> bool:
    """Return whether a descriptor in ``/proc`` is the writing end of *pipe*."""
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
    advice: str = "",
    waiting: str = "pass --output text",
) -> AgentError:
    """Return the failure of a program that asked for input and got none.

    *printed* is what it wrote until then: the question stands at the end. *options* are those of
    the running command; *stalled* is whether some of the input had come; *advice*, where there is
    some, is what to do; *waiting* is what makes it wait for as long as it takes.
    """
    question = asked or ("" if printed.endswith("\n") else printed.rpartition("\n")[2])
    question = question.strip()
    if question:
        message = f"The command asked {question!r}, and nobody is there to answer."
        advice = advice or _instead(question, options, waiting)
    elif stalled:
        message = "The command reads from stdin, whose writer stopped without closing it."
        advice = "Write all of the input and close stdin; MURLI_STDIN_TIMEOUT allows longer pauses."
        advice = f"{advice} To have it wait, {waiting}."
    else:
        message = "The command reads from stdin, and nobody feeds it."
        advice = f"Pipe the input in, or close stdin (</dev/null). To have it wait, {waiting}."
    return AgentError.precondition(message, advice, error_type="input_required")


# A choice of just these two behind a question, with what is chosen by Return: "[y/N]: ".
_YES_OR_NO = re.compile(
    r"""(?<![\w/|,]) [\[(]? (y) [\])]? (es)? (?: \s*[/|]\s* | \s+or\s+ )
    [\[(]? (n) [\])]? (?:o)? [\])}>]*
    (?: \s* [\[(] (?:default\W*)? (?:y|n|yes|no) [\])] )? [\s?:.>]* $""",
    re.IGNORECASE | re.VERBOSE,
)


def yes_to(question: str) -> str:
    """Return the word that agrees to *question*, ``""`` where that asks for more than yes or no.

    It is in capitals where both are: of ``[y/N]`` one only is what holds without an answer.
    """
    found = _YES_OR_NO.search(question)
    if found is None or question[: found.start()].rstrip(" [({<")[-1:] in ("/", "|"):
        return ""
    yes, rest, no = found.groups()
    # Of "[y]es/[n]o" the letter is enough.
    word = "yes" if rest and f"{yes}{rest}" in found[0] else "y"
    return word.upper() if no.isupper() and yes.isupper() and rest in (None, "ES") else word


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()


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
        if code.co_name in ("prompt", "confirm") and is_clicks(traceback.tb_frame.f_globals):
            choice = " [y/n]" if code.co_name == "confirm" else ""
            end.asked = f"{seen.get('text', '')}{choice}"  # type: ignore[attr-defined]
        traceback = traceback.tb_next
    return end


def is_abort(error: BaseException) -> bool:
    """Return whether *error* is click's ``Abort``, or that of a click which typer brings."""
    return any(
        base.__name__ == "Abort" and is_clicks({"__name__": base.__module__})
        for base in type(error).__mro__
    )


def is_clicks(names: dict[str, Any]) -> bool:
    """Return whether *names* are those of a module of click or typer."""
    return str(names.get("__name__", "")).partition(".")[0] in ("click", "typer", "rich_click")


# What an option is called with which a tool asks nothing.
_UNASKED = tuple(
    """
    --no-input --no-interactive --non-interactive --no-interaction --no-prompt --no-prompts --batch
    --defaults --use-defaults
    """.split()  # noqa: SIM905
)


def _instead(question: str, options: Sequence[str], waiting: str) -> str:
    words = _words(question)
    confirmation = yes_to(question)
    if confirmation:
        own = [option for option in ("--yes", "--force") if option in options]
        return f"Pass {(own or ['--yes'])[0]} to confirm."
    named = [
        option
        for option in options
        if option not in ("--yes", "--force")
        and all(part in words for part in option.lstrip("-").split("-"))
    ]
    if named:
        return f"Pass {max(named, key=len)}."
    given = "Give the answer as an option or argument"
    for option in _UNASKED:
        if option in options:
            return f"{given}, or pass {option} to be asked nothing."
    return f"{given}; see --schema. To see the question and answer it, {waiting}."


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
