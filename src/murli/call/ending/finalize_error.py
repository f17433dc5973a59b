"""The last word on a failure under the ResponseEnvelope contracts, before it is answered.

What its number promises must be true: that nothing was done, that trying again is safe, that the
command may end this way at all.
"""

from __future__ import annotations

from ...core import is_on
from ...declare.exit_codes import danger_of, entry_of, own_code, undeclared
from ...failures.repeating import PASSING, may_be_repeated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...errors import AgentError
    from .. import Invocation


def weigh(invocation: Invocation, error: AgentError) -> None:
    """Make *error* say what holds for the command that it ended."""
    metadata, writer = invocation.metadata, invocation.writer
    running = writer._reply.phase == "execution"
    if error.error_type in ("flag_error", "command_error"):
        # That nothing has happened can be promised only before the handler runs, or where none of
        # what it does changes anything.
        if running and danger_of(metadata) != "safe":
            error.kind = "tool_error"
        elif not running:
            from ..problems import add_others

            add_others(invocation, error)
    declares = metadata is not None and metadata.exit_codes
    if declares and own_code(metadata, error.code) is not None:
        error.number = error.code
    elif error.error_type == "execution_error" and error.code > 2:
        # A status of the tool's own making means nothing here; that it was one is worth knowing.
        error.context = {**error.context, "exit_status": error.code}
        error.error_type = "undeclared_exit_code"
    newest = not invocation.contract.retries_timed_out_reads
    late = error.kind == "timeout"
    entry = entry_of(metadata, error.kind, newest=newest) if declares or late else None
    error.promised = running and entry is not None and entry.retryable
    if running and error.kind in PASSING and error.explicit_recoverable is None:
        if declares and entry is not None and not entry.retryable:
            error.explicit_recoverable = False  # as the manifest has it
        if late and not error.promised and may_be_repeated(invocation):
            error.fix_required = error.fix_required or "Allow more time: pass a larger --timeout."
    message = undeclared(metadata, error.kind, error.code)
    if message and (invocation.settings.dev or is_on("MURLI_DEV")):
        writer.warn("UNDECLARED_EXIT_CODE", message)
