"""Ordinary exceptions become failures with a kind, and advice that fits them.

Loaded only when something failed. What is known about exceptions is in `failures.table`; here is
how one is looked up: along its chain of causes, what an author declared before what we know.
"""

from __future__ import annotations

import copy
import errno
import sys

from ..errors import AgentError
from . import http, mapping_of, place_of
from .http import network_context, peek, without_credentials
from .table import CLASSES, ERRNOS, GROUPS, SLOW_NETWORK, SQLITE, UNREACHABLE, Meaning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

TRACEBACK_HINT = "Set MURLI_DEBUG=1 to see the traceback."

# What only its author knows may take more than a line to say; nothing takes more than this.
_LONGEST_TEXT = 2000
# What a line of a message, and a command in one, may take.
_LONGEST_LINE = 500
_LONGEST_COMMAND = 250
# Chains and groups may come from code that makes them without end.
_MOST = 100


def as_agent_error(error: BaseException) -> AgentError:
    """Return the failure that *error* means, following what it was raised from; never raises."""
    try:
        found = _meaning(error, True, set())
        if isinstance(found, AgentError):
            return found
        if found is not None:
            return _failure(found, error)
        message = shortened(_text(error), _LONGEST_TEXT)
    except BaseException:  # foreign code may raise anything, and there must be an answer
        message = shortened(shown(error), _LONGEST_TEXT) or type(error).__name__
    return AgentError.tool_error(message, TRACEBACK_HINT, error_type="execution_error")


def is_authored(error: BaseException) -> bool:
    """Return whether an author has declared what *error* means, by its class or its causes."""
    for deliberate, link in _chain(error, True):
        if isinstance(link, AgentError):
            return True
        if deliberate and _authored(link, type(link).__mro__) is not None:
            return True
    return False


def _failure(found: Meaning, error: BaseException) -> AgentError:
    details: dict[str, Any] = {"context": dict(found.context)}
    suggestion = found.suggestion
    if found.network:
        links = [link for _, link in _chain(error, True)]
        network = details["context"]["network_context"] = network_context(found, links)
        if network["proxy_used"]:
            suggestion = f"{suggestion} {network['proxy_source']} names a proxy; check that too."
    if found.recoverable is not None:
        details["recoverable"] = found.recoverable
    if found.kind == "auth_required":
        details["reason"] = found.reason or "missing"
    message = shortened(found.message, _LONGEST_TEXT) or _line(_text(error))
    if found.kind == "cancelled" and not shown(error):
        message = "The command was cancelled."
    make = getattr(AgentError, found.kind)
    failure: AgentError = make(
        message,
        suggestion,
        error_type=found.error_type,
        retry_after_ms=found.retry_after_ms,
        **details,
    )
    failure.is_translated = not found.explicit
    return failure


def of_cause(error: BaseException, message: str) -> AgentError | None:
    """Return the failure that what *error* was raised from means, with *message* as its message.

    ``None`` where there is no such cause, or nothing is known of it. Without a message the cause's
    own is used.
    """
    if error.__cause__ is not None:
        return _of_reason(error.__cause__, True, message)
    if error.__context__ is None or error.__suppress_context__:
        return None
    raised = [frame for frame in frames_of(error) if not _is_between(frame)]
    return of_handled(error.__context__, raised[-1] if raised else None, message)


def of_handled(handled: BaseException, frame: FrameType | None, message: str) -> AgentError | None:
    """Return the failure that *handled* means to a program that *frame* ends with *message*.

    It is the reason if that is the very code which handles it. What a function does that is called
    meanwhile may have another reason.
    """
    handling = handled.__traceback__
    return _of_reason(handled, handling is not None and handling.tb_frame is frame, message)


def _of_reason(reason: BaseException, deliberate: bool, message: str) -> AgentError | None:
    try:
        found = _meaning(reason, deliberate, set())
        if found is None:
            return None
        if isinstance(found, AgentError):
            failure = copy.copy(found)
        else:
            failure = _failure(found.replace(message=message or found.message), reason)
    except Exception:  # foreign code may raise anything, and there must be an answer
        return None
    failure.message = shortened(message, _LONGEST_TEXT) or failure.message
    return failure


def _is_between(frame: FrameType) -> bool:
    """Return whether a frame is of what ends a program on its author's behalf."""
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] in ("argparse", "click", "murli", "rich_click", "typer")


# -- what it means -----------------------------------------------------------------------------


def _meaning(
    error: BaseException, deliberate: bool, opened: set[int]
) -> Meaning | AgentError | None:
    """Return what *error* means; *opened* are the groups that were looked into already."""
    vague = None
    for meant, link in _chain(error, deliberate):
        found = _meaning_of(link, meant, opened)
        if isinstance(found, AgentError):
            return found
        if found is None:
            continue
        if link is not error:
            found = found.replace(message="")  # the outer text is the one that is shown
        if not found.vague:
            return found
        vague = vague or found
    return vague


def _chain(error: BaseException, deliberate: bool) -> Iterator[tuple[bool, BaseException]]:
    """Return *error* and what it came from, each with whether that was deliberate throughout.

    Raising from an exception is deliberate, and so is handing one on as an argument; what merely
    happened to be handled at the time (a cache that was not there) is not the reason.
    """
    seen: set[int] = set()
    ahead = [(deliberate, error)]
    while ahead and len(seen) < _MOST:
        deliberate, link = ahead.pop()
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield deliberate, link
        if link.__cause__ is not None:
            ahead.append((deliberate, link.__cause__))
            continue
        if link.__context__ is not None and not link.__suppress_context__:
            ahead.append((False, link.__context__))
        carried = [each for each in link.args if isinstance(each, BaseException)]
        ahead += [(deliberate, each) for each in reversed(carried)]


def _meaning_of(
    link: BaseException, deliberate: bool, opened: set[int]
) -> Meaning | AgentError | None:
    """Return what *link* means by itself."""
    if isinstance(link, AgentError):
        return link
    members = _members(link)
    # A member that is raised again while its group is handled has that group as its context.
    if members and id(link) not in opened:
        opened.add(id(link))
        agreed = _agreed([_meaning(member, deliberate, opened) for member in members])
        if agreed is not None:
            return agreed
    bases = type(link).__mro__
    authored = _authored(link, bases) if deliberate else None
    if authored is not None:
        return authored
    for place in map(place_of, bases):
        found = _read(place, link) or CLASSES.get(place)
        if found is not None:
            return found if deliberate or found.decisive else None
    return http.of_carried(link) if deliberate else None


def _authored(link: BaseException, bases: tuple[type, ...]) -> Meaning | AgentError | None:
    for base in bases:
        mapping = mapping_of(base)
        if isinstance(mapping, dict):
            explicit = mapping["recoverable"] is not None or bool(mapping["retry_after_ms"])
            return Meaning(**mapping, message=_text(link), explicit=explicit)
        found = _called(mapping, link)
        if found is not None:
            return found
    return None


def _called(translate: Any, link: BaseException) -> AgentError | None:
    """Return what an author's function makes of *link*; one that fails has nothing to say."""
    try:
        found = translate(link)
    except Exception:
        return None
    if not isinstance(found, AgentError):
        return None
    message: object = found.message
    if message is link:  # AgentError.not_found, say, taken as the function
        found.message = shortened(_text(link), _LONGEST_TEXT)
    return found


def _read(place: str, link: BaseException) -> Meaning | None:
    try:
        return READERS[place](link)
    except Exception:  # it is not what its name says, or has no reader
        return None


def _agreed(found: list[Meaning | AgentError | None]) -> Meaning | AgentError | None:
    """Return what the members of a group mean, where they agree; one that was cancelled decides."""
    for each in found:
        if len(found) == 1 or (each is not None and each.kind == "cancelled"):
            return each
    first = found[0]
    if first is None or any(each is None or each.kind != first.kind for each in found):
        return None
    if isinstance(first, AgentError):
        return first
    longest = max(each.retry_after_ms for each in found if each is not None)
    return first.replace(message="", retry_after_ms=longest)


def _members(error: BaseException) -> list[BaseException]:
    """Return the exceptions that *error* holds, where it is a group of them."""
    if GROUPS.isdisjoint(map(place_of, type(error).__mro__)):
        return []
    held = peek(error, "exceptions")
    return [each for each in held[:_MOST] if isinstance(each, BaseException)]


# -- what it says ------------------------------------------------------------------------------


def _text(error: BaseException) -> str:
    """Return what *error* says: its own text, or its name where that says nothing."""
    members = _members(error)
    if members:
        # The text of a group only counts them.
        return "; ".join(dict.fromkeys(_line(_text(member)) for member in members))
    if isinstance(error, OSError) and type(error).__str__ is OSError.__str__ and error.strerror:
        names = [repr(name) for name in (error.filename, error.filename2) if name is not None]
        strerror = shown(error.strerror)
        return f"{strerror}: {' -> '.join(names)}" if names else strerror
    text = shown(error)
    if isinstance(error, KeyError) or not text:
        name = type(error).__name__
        return f"{name}: {text}" if text else name
    return text


def _line(text: str) -> str:
    """Return the first line of *text*, with the one it announces."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [text]
    first = " ".join(lines[: 2 if lines[0].endswith(":") else 1])
    return shortened(first)


def shown(error: object) -> str:
    """Return ``str(error)`` without passwords in its URLs, or nothing where its own code fails."""
    try:
        return without_credentials(str(error))
    except BaseException:  # a foreign __str__ may raise anything, and the program ends anyway
        return ""


def shortened(text: str, limit: int = _LONGEST_LINE) -> str:
    """Return *text*, cut where it is longer than *limit*."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def frames_of(error: BaseException) -> Iterator[FrameType]:
    """Return the frames that *error* has passed, the innermost last."""
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


# -- what has to be looked into: by number, by text, by where it arose -----------------------------


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
    "urllib.error.HTTPError": http.of_response,
    "urllib3.exceptions.ResponseError": http.of_retries,
    "aiohttp.client_exceptions.ClientResponseError": http.of_response,
    "aiohttp.client_exceptions.ContentTypeError": http.of_response,
    "google.api_core.exceptions.GoogleAPICallError": http.of_response,
    "googleapiclient.errors.HttpError": http.of_response,
    "botocore.exceptions.ClientError": http.of_aws,
    "grpc.RpcError": http.of_grpc,
}
