"""Whether a file that was generated still says what the tool says now."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...call import Invocation
    from ...errors import AgentError

# How many lines of a difference are worth reading.
_MOST_LINES = 60


def content_of(invocation: Invocation, path: str, call: str) -> str:
    """Return the text of the file at *path*, which *call* writes."""
    from ...errors import AgentError

    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        advice = f"Write it with `{call}`."
        invocation.refuse(AgentError.not_found(f"There is no file {path}.", advice, field="check"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        invocation.refuse(AgentError.user_error(f"{path} cannot be read: {reason}.", field="check"))


def drifted(
    invocation: Invocation, error_type: str, lines: Sequence[str], advice: str
) -> AgentError:
    """Return the failure of a check: *lines* say what differs, *advice* what to do."""
    from ...errors import AgentError

    kind = invocation.contract.failed_checks or "user_error"
    more = len(lines) - _MOST_LINES
    rest = [f"… and {more} lines more"] if more > 0 else []
    message = "\n".join([*lines[:_MOST_LINES], *rest])
    return AgentError.of_kind(kind, message, advice, error_type=error_type, recoverable=False)


def difference(path: str, kept: Sequence[str], now: Sequence[str]) -> list[str]:
    """Return the lines in which the file at *path* differs from what the tool says *now*."""
    return [f"{path} differs from the tool (- file, + tool):", *_differing(kept, now)]


def _differing(kept: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    """Yield the lines that differ, below the heading that they stand under."""
    from difflib import SequenceMatcher

    heading = ""
    for kind, a, b, c, d in SequenceMatcher(None, kept, now, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        under = next((line for line in reversed(kept[:a]) if line.startswith("#")), "")
        if under != heading:
            heading = under
            yield heading
        yield from (f"- {line}" for line in kept[a:b] if line)
        yield from (f"+ {line}" for line in now[c:d] if line)
