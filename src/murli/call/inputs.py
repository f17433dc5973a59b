"""What a call brings along besides its words: a payload, secrets kept elsewhere, a file to read.

All of it is in its place before the framework parses, which sees an ordinary command line.
"""

from __future__ import annotations

import os
import sys

from ..errors import AgentError
from ..line import usage
from ..line.calls import command_line, path_of, scan_again, variable_of
from ..line.payload import SOURCES, secret_named, spelled, words_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..declare import Metadata
    from ..declare.tree import Command, Flag
    from . import Invocation

# What a command that takes all of its stdin at once is given of it; files have no such bound.
MOST_STDIN = 65_536
_LARGEST_SECRET = 65_536


# -- a payload ---------------------------------------------------------------------------------


def unpack(invocation: Invocation) -> None:
    """Put the words that ``--raw-payload`` stands for behind the command's name."""
    call = invocation.call
    if call.level.routes:
        return  # no command was called; the framework has words for that
    command = invocation.host.command(call.level)
    check_changes(invocation, command.metadata, "--raw-payload")
    if _has_words(invocation):
        message = "--raw-payload stands for all parameters and is not combined with others."
        invocation.refuse(usage.wrong_call(message, "--raw-payload"))
    try:
        call.rest += words_for(command, _object_in(call.extra["raw_payload"]))
    except AgentError as error:
        invocation.refuse(error)


def check_changes(invocation: Invocation, metadata: Metadata | None, option: str) -> None:
    """Refuse *option* on a command that is declared to change nothing."""
    if metadata is not None and metadata.danger_level == "safe":
        message = f"{option} is for commands that change something; this one reads."
        invocation.refuse(usage.wrong_call(message, option))


def _has_words(invocation: Invocation) -> bool:
    """Return whether something stands behind the name of the command that was called."""
    words = [word for word in invocation.call.words if word.owner != "ours"]
    return bool(words) and words[-1].child is None


def _object_in(text: str) -> dict[str, Any]:
    """Return the object that *text* is in JSON, written strictly or not."""
    import json

    from ..handlers.lenient_json import corrected

    try:
        try:
            payload = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            better = corrected(text)
            if better is None:
                raise
            payload = json.loads(better, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise usage.wrong_call(f"--raw-payload is not JSON: {error}.", "--raw-payload") from None
    if not isinstance(payload, dict):
        raise usage.wrong_call("--raw-payload is not a JSON object.", "--raw-payload")
    return payload


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# -- secrets -----------------------------------------------------------------------------------


def fetch_secrets(invocation: Invocation) -> None:
    """Put the values of secrets in the place of the words that say where they are."""
    call = invocation.call
    command_line(invocation)  # of the words that the caller wrote
    words = list(invocation.request.argv)
    # A word before a command's name is understood only once it is an option the tool knows.
    for _ in range(4):
        found = _fetched(invocation, words)
        if found == words:
            return
        words = found
        again = scan_again(invocation, words)
        for name in ("rest", "before", "level", "mounted", "mistake", "separated", "words"):
            setattr(call, name, getattr(again, name))
        invocation.meta["command"] = " ".join((invocation.host.name(), *path_of(invocation)))


def _fetched(invocation: Invocation, words: Sequence[str]) -> list[str]:
    commands = list(commands_along(invocation))
    found: list[str] = []
    rest = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        flag = _secret(commands, option) if word != "--" else None
        if flag is None:
            found.append(word)
            if word == "--":
                break
            continue
        if not equals:
            value = next(rest, "")
        if not value or (value.startswith("-") and not equals):
            invocation.refuse(usage.missing_value(option))
        name = spelled(flag)
        if any(word == name or word.startswith(f"{name}=") for word in words):
            invocation.refuse(usage.exclusive(name, option))
        secret = _read_secret(invocation, option, value)
        invocation.hide(secret)
        found += [f"{name}={secret}"] if name.startswith("--") else [name, secret]
    return [*found, *rest]


def _secret(commands: Sequence[Command], option: str) -> Flag | None:
    if not option.startswith("--") or not option.endswith(SOURCES):
        return None
    found = (secret_named(command, option) for command in reversed(commands))
    return next((flag for flag in found if flag is not None), None)


def _read_secret(invocation: Invocation, option: str, place: str) -> str:
    if option.endswith("-from-env"):
        value = os.environ.get(place, "")
        if not value:
            if not place.isidentifier():  # the secret itself, most likely
                invocation.hide(place)
            invocation.refuse(_no_secret(option, f"The variable {place} is not set."))
        return value
    try:
        with open(place, encoding="utf-8", errors="surrogateescape") as file:
            value = file.read(_LARGEST_SECRET + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        invocation.refuse(_no_secret(option, f"The file {place} cannot be read: {reason}."))
    value = value.removesuffix("\n").removesuffix("\r")
    if not value or len(value) > _LARGEST_SECRET:
        problem = "is empty" if not value else "is too large for a secret"
        invocation.refuse(_no_secret(option, f"The file {place} {problem}."))
    return value


def _no_secret(option: str, message: str) -> AgentError:
    kind = "variable" if option.endswith("-env") else "file"
    return AgentError.user_error(
        message,
        f"Name a {kind} that holds the value.",
        error_type="secret_missing",
        field=option.lstrip("-"),
    )


def commands_along(invocation: Invocation) -> Iterator[Command]:
    """Return the commands on the way to the one that was called, the tool itself first."""
    host, level = invocation.host, invocation.call.level
    command = host.tree()
    yield command
    for name in getattr(level, "path", ())[:-1]:
        below = [each for each in command.commands if name in (each.name, *each.aliases)]
        if not below:
            break
        command = below[0]
        yield command
    if getattr(level, "path", ()):
        yield host.command(level)


# -- what it reads -----------------------------------------------------------------------------


def opened(invocation: Invocation, path: str) -> Any:
    """Return the file of ``--input-file``, unbuffered."""
    try:
        return open(path, "rb", buffering=0)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        invocation.refuse(
            AgentError.user_error(
                f"The input file {usage.quoted(path)} cannot be read: {reason}.",
                "Pass the path of a file that exists, or - for stdin.",
                error_type="input_file_missing",
                field="input-file",
            )
        )


def feed(invocation: Invocation) -> None:
    """Let the process read the file of ``--input-file`` where it reads its stdin."""
    path = invocation.call.extra["input_file"]
    if path == "-":
        return
    file = opened(invocation, path)
    if sys.stdin is sys.__stdin__:
        replace_stdin(invocation, file.fileno())
        file.close()
        return
    import io

    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BufferedReader(file), encoding="utf-8")

    def undo() -> None:
        sys.stdin.close()
        sys.stdin = before

    invocation.undo.append(undo)


def replace_stdin(invocation: Invocation, descriptor: int) -> None:
    """Make *descriptor* the process's stdin for as long as the invocation runs."""
    try:
        before = os.dup(0)
    except OSError:  # closed
        before = -1
    os.dup2(descriptor, 0)

    def undo() -> None:
        if before >= 0:
            os.dup2(before, 0)
            os.close(before)

    invocation.undo.append(undo)


def bound_stdin(invocation: Invocation, declared: dict[str, Any]) -> None:
    """Refuse more than a command takes that reads all of its stdin before it starts."""
    if declared["mode"] != "buffered" or sys.stdin is not sys.__stdin__ or sys.stdin is None:
        return
    from ..process.stdin import InputRequired, guard

    most = _most_stdin(invocation, declared)
    stop = guard()
    try:
        data = _read_stdin(most)
    except InputRequired:  # reading it fails
        return
    finally:
        stop()
    if data is None:
        invocation.refuse(too_large(f"There are more than {most:,} bytes on stdin.", most))
    if data:
        from tempfile import TemporaryFile

        with TemporaryFile() as spool:
            spool.write(data)
            spool.seek(0)
            replace_stdin(invocation, spool.fileno())


def too_large(message: str, most: int) -> AgentError:
    """Return the failure of a call with more than *most* bytes on stdin, as *message* says it."""
    return AgentError.user_error(
        message,
        "Put them into a file and pass --input-file.",
        error_type="stdin_too_large",
        field="input-file",
        context={"max_bytes": most},
    )


def _most_stdin(invocation: Invocation, declared: dict[str, Any]) -> int:
    for name in (variable_of(invocation, "MAX_STDIN_BYTES"), "TOOL_MAX_STDIN_BYTES"):
        text = os.environ.get(name, "")
        if text.isdecimal():
            return int(text)
    return int(declared.get("max_bytes") or MOST_STDIN)


def _read_stdin(most: int) -> bytes | None:
    """Return all of stdin; ``None`` if more than *most*, ``b""`` if it can stay there."""
    try:
        kind = os.fstat(0)
    except OSError:  # closed
        return b""
    if kind.st_mode & 0o170000 == 0o100000:  # the length of a file is known
        return None if kind.st_size - os.lseek(0, 0, os.SEEK_CUR) > most else b""
    if kind.st_mode & 0o170000 == 0o020000:  # nothing, or a person
        return b""
    raw: Any = getattr(sys.stdin.buffer, "raw")  # noqa: B009  # a BinaryIO need not have one
    parts: list[bytes] = []
    size = 0
    while part := raw.read(1 << 16):
        parts.append(part)
        size += len(part)
        if size > most:
            return None
    # An empty file is not the same as nothing to read from.
    return b"".join(parts)
