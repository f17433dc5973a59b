"""What a handler that did not answer itself has said: by returning, printing or exiting."""

from __future__ import annotations

from ..errors import AgentError
from ..formats.encoder import plain
from ..formats.text import clean
from .invocation import status_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def exit_failure(code: object) -> AgentError | None:
    """Give the failure that an exit with *code* means; ``None`` when it means success."""
    status = status_of(code)
    if status == 0:
        return None
    said = "" if isinstance(code, int) else str(code)
    said = said or f"The command ended with exit status {status}."
    return AgentError(status, "execution_error", said, kind="tool_error")


def value_of(returned: Any, printed: str | bytes) -> Any:
    """Give what a handler returned, where that is a result."""
    if returned is None or (printed and isinstance(returned, int)):
        return None  # a handler that prints and returns a number means a status
    try:
        return plain(returned)
    except ValueError:  # something only the tool understands
        return None


def payload_of(printed: str | bytes) -> Any:
    """Give what a handler printed as a result: parsed when it is a JSON object or array."""
    if isinstance(printed, bytes):
        return plain(printed)
    text = printed.rstrip("\n")
    if not text:
        return None
    # Not numbers or words: "1.10" is a version, and must not come back as 1.1.
    if text.lstrip()[:1] in ("{", "["):
        import json

        try:
            return plain(json.loads(text, parse_constant=_refuse_constant))
        except (ValueError, RecursionError):  # not JSON, or nothing JSON readers agree on
            pass
    return clean(text)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def reader_is_gone() -> bool:
    """Tell whether stdout is a pipe that nobody reads any more."""
    import select

    try:
        poll = select.poll()
        poll.register(1, 0)
        return bool(poll.poll(0))
    except (OSError, AttributeError):
        return False
