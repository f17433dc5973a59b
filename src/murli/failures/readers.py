"""What an exception means that has to be looked into: by number, by text, by where it arose."""

from __future__ import annotations

import errno
import sys

from .http import of_aws, of_grpc, of_response, of_retries, peek, without_credentials
from .table import CLASSES, ERRNOS, SLOW_NETWORK, SQLITE, UNREACHABLE, Meaning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

_LONGEST_LINE = 500
_LONGEST_COMMAND = 250


def shown(error: object) -> str:
    """Return ``str(error)`` without passwords in its URLs, or nothing where its own code fails."""
    try:
        return without_credentials(str(error))
    except BaseException:  # a foreign __str__ may raise anything, and the program ends anyway
        return ""


def shortened(text: str, limit: int = _LONGEST_LINE) -> str:
    """Return *text*, cut where it is longer than *limit*."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _of_program(error: Any) -> Meaning | None:
    """Distinguish a program that cannot be started from a file that cannot be opened."""
    # The frame that it was raised in.
    *_, frame = (None, *frames_of(error))
    if frame is None or frame.f_globals.get("__name__") != "subprocess":
        return None
    if error.filename is None or error.filename == frame.f_locals.get("cwd"):
        return None
    if isinstance(error, PermissionError):
        return Meaning("permission_denied", "Make the program executable.", "program_denied")
    return Meaning(
        "not_found", "Install the program, or put its directory on PATH.", "program_missing"
    )


def frames_of(error: BaseException) -> Iterator[FrameType]:
    """Return the frames that *error* has passed, the innermost last."""
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def _of_child(error: Any) -> Meaning:
    """Take the message of a child that failed from its own output, where that was captured."""
    captured = peek(error, "stderr") or ""
    text = shown(captured.decode("utf-8", "replace") if isinstance(captured, bytes) else captured)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        hint = "Run that command by itself to see what is wrong."
        return Meaning("tool_error", hint, "subprocess_failed")
    command = shortened(shown(error).removesuffix("."), _LONGEST_COMMAND)
    return Meaning(
        "tool_error",
        "Correct what that command complains of, then try again.",
        "subprocess_failed",
        message=shortened(f"{command}: {lines[-1]}"),
    )


def _of_sqlite(error: Any) -> Meaning | None:
    text = shown(error)
    return next((meaning for part, meaning in SQLITE.items() if part in text), None)


def _of_name_lookup(error: Any) -> Meaning | None:
    import socket

    return UNREACHABLE if error.errno == socket.EAI_AGAIN else None


def _of_time(error: Any) -> Meaning | None:
    """Distinguish a connection attempt from anything else: a socket has words of its own."""
    words = shown(error)
    slow = error.errno == errno.ETIMEDOUT or words == "timed out"
    return SLOW_NETWORK if slow or words.endswith("operation timed out") else None


def _of_json(error: Any) -> Meaning:
    place = f"line {error.lineno}, column {error.colno}"
    return Meaning("user_error", f"Correct the JSON at {place}.", "invalid_json")


def _of_yaml(error: Any) -> Meaning:
    mark = error.problem_mark
    place = f"line {mark.line + 1}, column {mark.column + 1}"
    return Meaning("user_error", f"Correct the YAML at {place}.", "invalid_yaml")


def _of_bytes(error: Any) -> Meaning:
    hint = f"Give text in {error.encoding}; byte {error.start} is not."
    return Meaning("user_error", hint, "invalid_encoding")


def _of_import(error: Any) -> Meaning:
    name = error.name if isinstance(error.name, str) else ""
    if name and any(_names_module(word, name) for word in sys.argv[1:]):
        return Meaning("not_found", f"Check what the call says about {name}: there is none.")
    hint = f"Install the Python package that provides {error.name or 'the module'}."
    return Meaning("tool_error", hint, "dependency_missing")


def _names_module(word: str, module: str) -> bool:
    """Return whether *word* of a call is the name of *module*, as ``pkg.mod:app`` or a file is."""
    named = word.partition("=")[2] or word
    named = named.partition(":")[0].removesuffix(".py").removeprefix("./").replace("/", ".")
    return module in (named, named.rpartition(".")[2]) or named.startswith(f"{module}.")


def _of_end(error: Any) -> Meaning | None:
    if shown(error) != "EOF when reading a line":  # what input() says
        return None
    return CLASSES["murli.process.stdin.InputRequired"]


# Class -> what it means, or None where its entry in the table, or its base, says it.
READERS: dict[str, Callable[[Any], Meaning | None]] = {
    "builtins.OSError": lambda error: ERRNOS.get(error.errno),
    "builtins.TimeoutError": _of_time,
    "builtins.FileNotFoundError": _of_program,
    "builtins.PermissionError": _of_program,
    "builtins.ModuleNotFoundError": _of_import,
    "builtins.EOFError": _of_end,
    "builtins.UnicodeDecodeError": _of_bytes,
    "json.decoder.JSONDecodeError": _of_json,
    "yaml.error.MarkedYAMLError": _of_yaml,
    "subprocess.CalledProcessError": _of_child,
    "sqlite3.Error": _of_sqlite,
    "socket.gaierror": _of_name_lookup,
    "urllib.error.HTTPError": of_response,
    "urllib3.exceptions.ResponseError": of_retries,
    "aiohttp.client_exceptions.ClientResponseError": of_response,
    "aiohttp.client_exceptions.ContentTypeError": of_response,
    "google.api_core.exceptions.GoogleAPICallError": of_response,
    "googleapiclient.errors.HttpError": of_response,
    "botocore.exceptions.ClientError": of_aws,
    "grpc.RpcError": of_grpc,
}
