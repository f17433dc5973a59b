"""The last word on a failure under the ResponseEnvelope contracts, before it is answered.

What its number promises must be true: that nothing was done, that trying again is safe, that the
command may end this way at all.
"""

from __future__ import annotations

from ..exit_codes import danger_of, entry_of, own_code, undeclared
from . import is_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..errors import AgentError
    from .invocation import Invocation


def weigh(invocation: Invocation, error: AgentError) -> None:
    """Make *error* say what holds for the command that it ended."""
    metadata, writer = invocation.metadata, invocation.writer
    running = writer.phase == "execution"
    if error.error_type in ("flag_error", "command_error"):
        # That nothing has happened can be promised only before the handler runs, or where none of
        # what it does changes anything.
        if running and danger_of(metadata) != "safe":
            error.kind = "tool_error"
        elif not running:
            from .problems import add_others

            add_others(invocation, error)
    declares = metadata is not None and metadata.exit_codes
    if declares and own_code(metadata, error.code) is not None:
        error.number = error.code
    elif error.error_type == "execution_error" and error.code > 2:
        # A status of the tool's own making means nothing here; that it was one is worth knowing.
        error.context = {**error.context, "exit_status": error.code}
        error.error_type = "undeclared_exit_code"
    entry = entry_of(metadata, error.kind) if declares or error.kind == "timeout" else None
    error.promised = running and entry is not None and entry.retryable
    told = undeclared(metadata, error.kind, error.code)
    if told and (invocation.settings.dev or is_on("MURLI_DEV")):
        writer.warn("UNDECLARED_EXIT_CODE", told)
