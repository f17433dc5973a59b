"""Other programs, run as a handler should run them.

A program is a list of words, each handed over as it is: there is no shell that could take a space,
a ``*`` or a ``;`` in a caller's value for something to obey. Messages come in the C locale, so that
what is read from them means the same everywhere. A program has no terminal to ask at, inherits no
descriptor, and ends with the call that started it, with whatever it started itself: it leads a
process group (and session) of its own, which is ended as a whole.
"""

from __future__ import annotations

import os
import signal

from ..errors import AgentError
from ..outcome import Record, field
from ..platform import SIGPIPE
from .children import CallOver, Limit, TimeUp, Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..type_checking import Several

    Path = str | os.PathLike[str]

# How much of stderr a failure shows: the reason is at the end.
_MOST_SHOWN = 2000
_MARKS = ("fatal:", "error:")
# How a program ends whose output is no longer read: by the signal, or as a shell reports it.
_UNHEARD = (-SIGPIPE, 128 + SIGPIPE)


class ShellStringProhibited(TypeError):
    """A command line as one text, which only a shell could take apart."""


class Completed(Record):
    """A program that has ended, and what it wrote.

    *status* is its exit status, or minus the number of the signal that ended it. Of a pipeline
    *argv* and *status* are those of the first stage that failed, else of the last one; *stdout* is
    the last one's, *stderr* that of all of them, in their order.
    """

    argv: Several[str] = field(convert=tuple)
    status: int
    stdout: str = ""
    stderr: str = ""


def run(
    argv: Sequence[Path],
    *,
    input: str | bytes | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    check: bool = True,
    preserve_locale: bool = False,
    shell: bool = False,
) -> Completed:
    """Run a program to its end, and return what it wrote.

    *argv* is the program and its arguments, a list; *input* is what it reads, nothing unless
    given; *env* takes the place of the environment. Both outputs are UTF-8, what is not replaced.

    Raises `AgentError`: ``command_failed`` when it fails and *check* is on, ``tool_missing`` when
    there is no such program, ``timeout`` after *timeout* seconds, ``argument_unsafe`` for an
    argument with a line break or NUL. A string, or *shell*, is refused with a `TypeError`.
    """
    if shell:
        raise ShellStringProhibited(
            "murli.run() uses no shell; give the program and its arguments as a list, and "
            "murli.pipeline() the stages of a pipe"
        )
    return pipeline(
        argv,
        input=input,
        cwd=cwd,
        env=env,
        timeout=timeout,
        check=check,
        preserve_locale=preserve_locale,
    )


def pipeline(
    *argvs: Sequence[Path],
    input: str | bytes | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    check: bool = True,
    preserve_locale: bool = False,
) -> Completed:
    """Run programs, each reading what the one before it writes; otherwise like `run`.

    It fails with the first stage that failed. One that was ended because a later stage had read
    enough has not failed.
    """
    stages = [_words(argv) for argv in argvs]
    if not stages:
        raise TypeError("murli.pipeline() takes the argv of at least one program")
    _log(stages)
    given = input.encode("utf-8") if isinstance(input, str) else input
    folder = None if cwd is None else os.fspath(cwd)
    work = Work(stages, folder, _environment(env, preserve_locale))
    try:
        stdout, errors = work.done(given, Limit(timeout))
    except TimeUp:
        raise _late(stages, timeout or 0.0) from None
    except CallOver:
        raise AgentError.cancelled(f"{_names(stages)} ended with the call.") from None
    except FileNotFoundError as error:
        if error.filename == folder:
            raise
        raise _missing(str(error.filename)) from None
    statuses = work.statuses()
    failed = _first_failed(statuses)
    if failed is not None and check:
        raise _failure(stages[failed], statuses[failed], _text(errors[failed]))
    at = -1 if failed is None else failed
    return Completed(stages[at], statuses[at], _text(stdout), "".join(map(_text, errors)))


# -- what is run -------------------------------------------------------------------------------


def _words(argv: object) -> tuple[str, ...]:
    """Return *argv* as words that reach the program as they are."""
    if isinstance(argv, (str, bytes)):
        raise ShellStringProhibited(
            "a command is a list, such as ['git', 'log', '-1'], not one string: only a shell "
            "takes a string apart, and a caller's value in it could be obeyed"
        )
    if not isinstance(argv, (list, tuple)):
        raise TypeError(f"a command is a list of its words, not {type(argv).__name__}")
    words: list[str] = []
    for each in argv:
        if not isinstance(each, (str, os.PathLike)):
            raise TypeError(f"a word of a command is a str or a path, not {type(each).__name__}")
        word = os.fspath(each)
        if not isinstance(word, str):
            raise TypeError("a word of a command is a str, or a path that is one; decode bytes")
        words.append(word)
    if not words or not words[0]:
        raise ValueError("a command begins with the name of the program")
    for position, word in enumerate(words):
        if any(unsafe in word for unsafe in "\0\n\r"):
            message = f"Argument {position} of {_name(words)} holds a line break or a NUL."
            advice = "Give it in one line; longer text belongs in a file."
            raise AgentError.user_error(message, advice, error_type="argument_unsafe")
    return tuple(words)


def _environment(env: Mapping[str, str] | None, preserve_locale: bool) -> dict[str, str]:
    found = dict(os.environ if env is None else env)
    if not preserve_locale:
        found["LC_ALL"] = "C"
    return found


def _log(stages: list[tuple[str, ...]]) -> None:
    """Log what is run, for debugging."""
    from ..core import current, is_on

    invocation = current()
    if invocation is None or not (invocation.call.debug or is_on("MURLI_DEBUG")):
        return
    from ..formats import dumps, plain

    for words in stages:
        invocation.writer.log(f"run: {dumps(plain(_shown(words)), pretty=False)}")


# -- how it ended -----------------------------------------------------------------------------


def _first_failed(statuses: list[int]) -> int | None:
    """Return the position of the first stage that failed, other than for want of a reader."""
    last = len(statuses) - 1
    for position, status in enumerate(statuses):
        if status and (position == last or status not in _UNHEARD):
            return position
    return None


def _late(stages: list[tuple[str, ...]], seconds: float) -> AgentError:
    message = f"{_names(stages)} did not finish within {seconds:g} s."
    context = {"argv": _shown(stages[-1]), "timeout_ms": round(seconds * 1000)}
    error = AgentError.timeout(message, "Try again, or allow more time.", context=context)
    error.is_translated = True
    return error


def _missing(program: str) -> AgentError:
    name, context = _name([program]), {"tool": program}
    message = f"The program {name} is not there."
    advice = f"Install {name}, or put its directory on PATH."
    return AgentError.precondition(message, advice, error_type="tool_missing", context=context)


def _failure(words: tuple[str, ...], status: int, stderr: str) -> AgentError:
    """Return the failure of a program, in its own words where it wrote any."""
    from ..failures.http import without_credentials

    end = without_credentials(stderr.strip())[-_MOST_SHOWN:]
    how = f"{_name(words)} {_ending(status)}"
    context: dict[str, Any] = {"argv": _shown(words), "status": status}
    message, hint = f"{how}.", "Run it by itself to see what is wrong."
    if end:
        message, hint = f"{how}: {_complaint(end)}", "Correct what it complains of, then try again."
        # Its words are data to a reader, as any text from elsewhere.
        context |= {"stderr": end, "_source": "external", "_trusted": False}
    return AgentError.tool_error(message, hint, error_type="command_failed", context=context)


def _complaint(stderr: str) -> str:
    """Return the line that says what is wrong: the last one, unless an earlier one says so."""
    lines = [line.strip() for line in stderr.splitlines()]
    marked = [line for line in lines if any(mark in line.lower() for mark in _MARKS)]
    return (marked or lines)[-1][:500]


def _ending(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:  # a real-time signal
        return f"was ended by signal {-status}"


# -- how it is shown ---------------------------------------------------------------------------

# What else the name of an option or a header of another program contains, whose value is a secret.
_SECRET_WORDS = frozenset(("auth", "authorization", "cookie", "credential", "credentials", "key"))
_MASK = "[REDACTED]"


def _name(words: Sequence[str]) -> str:
    return os.path.basename(words[0]) or words[0]


def _names(stages: Sequence[Sequence[str]]) -> str:
    return " | ".join(map(_name, stages))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _shown(words: Sequence[str]) -> list[str]:
    """Return a command as it may be shown: without the values of options that hold secrets."""
    from ..failures.http import without_credentials

    shown: list[str] = []
    hide_next = False
    for position, word in enumerate(words):
        if hide_next:
            shown.append(_MASK)
            hide_next = False
            continue
        # --token=x, TOKEN=x, and the "Authorization: x" of a header.
        end = min((word.find(mark) for mark in "=:" if mark in word), default=len(word))
        mark = word[end : end + 1]
        secret = position > 0 and _is_secret(word[:end])
        hide_next = secret and not mark and word.startswith("-")
        shown.append(f"{word[:end]}{mark}{_MASK}" if secret and mark else without_credentials(word))
    return shown


def _is_secret(name: str) -> bool:
    from ..secrets.names import is_secret_name

    parts = name.lower().replace("_", "-").strip("-").split("-")
    return is_secret_name(name) or not _SECRET_WORDS.isdisjoint(parts)
