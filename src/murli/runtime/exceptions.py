"""Ordinary exceptions become failures with a kind.

Classes are matched by module and name, so that knowing an exception never imports its library.
"""

from __future__ import annotations

from ..errors import AgentError
from ..streams import OutputFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Found anywhere in the chain of causes, these say what really happened.
_DECISIVE = {
    "builtins.KeyboardInterrupt": "cancelled",
    "asyncio.exceptions.CancelledError": "cancelled",
    "concurrent.futures._base.CancelledError": "cancelled",
    "click.exceptions.Abort": "cancelled",
    "builtins.TimeoutError": "timeout",
    "asyncio.exceptions.TimeoutError": "timeout",
    "concurrent.futures._base.TimeoutError": "timeout",
    "subprocess.TimeoutExpired": "timeout",
}
# These only speak for an exception that was deliberately raised from them: what merely
# happened to be handled at the time (a cache that was not there) is not the reason.
_ORDINARY = {
    "builtins.FileNotFoundError": "not_found",
    "builtins.PermissionError": "permission_denied",
    "builtins.FileExistsError": "conflict",
    "builtins.ConnectionError": "unavailable",
    "argparse.ArgumentError": "user_error",
}
_ERROR_TYPES = {"argparse.ArgumentError": "flag_error"}
_TRACEBACK_HINT = "Set MURLI_DEBUG=1 to see the traceback."


def as_agent_error(error: BaseException) -> AgentError:
    """Give the failure that *error* means, following what it was raised from."""
    for deliberate, link in _chain(error):
        if isinstance(link, AgentError):
            return link
        for base in type(link).__mro__:
            place = f"{base.__module__}.{base.__qualname__}"
            kind = _DECISIVE.get(place) or (_ORDINARY.get(place) if deliberate else None)
            if kind is not None:
                details = {"error_type": _ERROR_TYPES[place]} if place in _ERROR_TYPES else {}
                return AgentError.of_kind(kind, _message(error, kind), **details)
    if isinstance(error, OutputFailed):
        return AgentError.tool_error(str(error), error_type="output_failed")
    message = _message(error, "tool_error")
    return AgentError.tool_error(message, _TRACEBACK_HINT, error_type="execution_error")


def _chain(error: BaseException) -> Iterator[tuple[bool, BaseException]]:
    """Give *error* and what it came from, each with whether that was deliberate throughout."""
    seen: set[int] = set()
    link: BaseException | None = error
    deliberate = True
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield deliberate, link
        if link.__cause__ is None:
            deliberate = False
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _message(error: BaseException, kind: str) -> str:
    if kind == "cancelled" and not str(error):
        return "The command was cancelled."
    if isinstance(error, OSError) and error.strerror:
        names = [repr(name) for name in (error.filename, error.filename2) if name is not None]
        return f"{error.strerror}: {' -> '.join(names)}" if names else str(error.strerror)
    try:
        text = str(error)
    except Exception:  # a foreign __str__ may raise anything
        text = ""
    if isinstance(error, KeyError) or not text:
        name = type(error).__name__
        return f"{name}: {text}" if text else name
    return text
