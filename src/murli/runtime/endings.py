"""What the less common ends of a program mean: an exit with a status, a reader that is gone."""

from __future__ import annotations

from .invocation import status_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..errors import AgentError


def exit_failure(code: object) -> AgentError | None:
    """Give the failure that an exit with *code* means; ``None`` when it means success."""
    status = status_of(code)
    if status == 0:
        return None
    said = "" if isinstance(code, int) else str(code)
    said = said or f"The command ended with exit status {status}."
    from ..errors import AgentError

    return AgentError(status, "execution_error", said, kind="tool_error")


def reader_is_gone() -> bool:
    """Tell whether stdout is a pipe that nobody reads any more."""
    import select

    try:
        poll = select.poll()
        poll.register(1, 0)
        return bool(poll.poll(0))
    except (OSError, AttributeError):
        return False
