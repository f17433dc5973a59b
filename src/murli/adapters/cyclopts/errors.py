"""What cyclopts finds wrong with a call, in our words."""

from __future__ import annotations

from ...errors import AgentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Those that are about the words of a command; the others are about its options.
_OF_COMMANDS = (
    *("UnknownCommandError", "InvalidCommandError", "MissingArgumentError"),
    "UnusedCliTokensError",
)


def refused(error: Any) -> AgentError:
    """Return what *error*, a ``CycloptsError``, means."""
    argument = getattr(error, "argument", None)
    name = str(getattr(argument, "name", "") or "").lstrip("-")
    kind = type(error).__name__
    return AgentError.user_error(
        " ".join(str(error).split()),
        "Check command usage with --schema or --help.",
        error_type="command_error" if kind in _OF_COMMANDS else "flag_error",
        field=name,
    )
