"""What is worth a warning: Python's own warnings, deprecations, what a handler leaves.

All of it becomes a warning of the answer, where the contract has a place for one. Otherwise only
what authors declare in murli's words is shown, on stderr; the rest is shown as it would be without
murli.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..call import Invocation
    from ..declare.declarations import Deprecation
    from ..outcome import Notice

    Undo = Callable[[], None]

_DEPRECATING = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)


# -- Python's own ------------------------------------------------------------------------------


def listen() -> Undo:
    """From now on what `warnings` shows is put into the answer; return what ends that.

    What it raises, or keeps to itself, is its own business.
    """
    import warnings

    from ..core import current
    from ..process.process_guard import replace

    own = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: str | None = None,
    ) -> None:
        invocation = current()
        if (
            invocation is None
            or not invocation.contract.has_warnings
            or invocation.writer._reply.answered
            or file
        ):
            own(message, category, filename, lineno, file, line)
            return
        code, text = code_of(category), str(message)
        if code == "DEPRECATED" and "deprecated" not in text.lower():
            text = f"Deprecated: {text}"
        invocation.writer.warn(code, text, category=category.__name__)

    return replace(warnings, "showwarning", show)


def code_of(category: type[Warning]) -> str:
    """Return the code of a warning of *category*: its name in capitals, or "deprecated"."""
    if issubclass(category, _DEPRECATING):
        return "DEPRECATED"
    name = category.__name__
    letters = []
    for at, letter in enumerate(name):
        before, after = name[at - 1 : at], name[at + 1 : at + 2]
        if letter.isupper() and at and (before.islower() or after.islower()) and before != "_":
            letters.append("_")
        letters.append(letter.upper())
    return "".join(letters)


# -- deprecations ------------------------------------------------------------------------------


def note_command(
    invocation: Invocation,
    path: Sequence[str],
    declared: Deprecation | None,
    deprecated: bool | str = False,
) -> None:
    """Warn that the command at *path* should no longer be called.

    *declared* is what its author says in our words, *deprecated* what he says in his framework's.
    """
    name = " ".join(path) or invocation.host.name()
    _note(invocation, "DEPRECATED_COMMAND", f'The command "{name}"', name, declared, deprecated)


def note_parameter(
    invocation: Invocation,
    name: str,
    declared: Deprecation | None,
    deprecated: bool | str = False,
) -> None:
    """Warn that the option *name*, or an argument of that name, should no longer be given."""
    is_flag = name.startswith("-")
    code = "DEPRECATED_FLAG" if is_flag else "DEPRECATED_ARGUMENT"
    _note(invocation, code, name if is_flag else f"The argument {name}", name, declared, deprecated)


def _note(
    invocation: Invocation,
    code: str,
    subject: str,
    name: str,
    declared: Deprecation | None,
    deprecated: bool | str,
) -> None:
    from ..declare.declarations import Deprecation

    known = declared or Deprecation()
    text = known.sentence(subject)
    if "deprecated" not in text.lower():
        text = f"{subject} is deprecated: {text}"
    if known.replacement not in text:
        text = f"{text} Use {known.replacement} instead."
    if isinstance(deprecated, str) and declared is None:
        text = f"{text} {deprecated}"
    facts = {"name": name, "replacement": known.replacement, "since": known.since}
    invocation.writer.warn(code, text, **{key: fact for key, fact in facts.items() if fact})


# -- what a handler leaves ---------------------------------------------------------------------


def note_printed(invocation: Invocation, count: int) -> None:
    """Warn that *count* bytes were printed which are not the answer."""
    notice = _printed(count)
    invocation.writer.warn(notice.code, notice.message, **notice.context)


def _printed(count: int) -> Notice:
    noun = "byte" if count == 1 else "bytes"
    message = f"The command printed {count} {noun} to stdout that are not its answer."
    return _warning("THIRD_PARTY_STDOUT", message, {"bytes": count})


def _warning(code: str, message: str, context: dict[str, Any]) -> Notice:
    from .presentation import warning

    return warning(code, message, context)


def look_around(invocation: Invocation, folder: str) -> tuple[Notice, ...]:
    """Return warnings of what an answer would not say: stray text, another working folder."""
    capture = invocation.capture
    printed = capture.size() if capture is not None and not invocation.running.shows_printed else 0
    found = [_printed(printed)] if printed else []
    try:
        now = os.getcwd()
    except OSError:  # it was removed
        now = ""
    if folder and now != folder:
        message = f"The command left its working directory for {now or 'one that is gone'}."
        found.append(_warning("CWD_CHANGED", message, {"from": folder, "to": now}))
    return tuple(found)


# -- silence -----------------------------------------------------------------------------------


def be_quiet() -> Undo:
    """Let nothing reach stderr any more; return what ends that."""
    stream = sys.stderr
    try:
        stream.flush()
        descriptor = stream.fileno()
    except (AttributeError, OSError, ValueError):  # absent, closed, or nothing but memory
        return _replace_stderr()
    from ..process import away_from_standard

    real = away_from_standard(os.dup(descriptor))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)

    def undo() -> None:
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
        os.dup2(real, descriptor)
        os.close(real)

    return undo


def _replace_stderr() -> Undo:
    before, nowhere = sys.stderr, open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = nowhere

    def undo() -> None:
        if sys.stderr is nowhere:
            sys.stderr = before
        nowhere.close()

    return undo
