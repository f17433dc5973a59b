"""The commands murli mounts on every tool, written once over the command tree."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from ..runtime.invocation import Invocation
    from ..writer import Writer


def run_mounted(invocation: Invocation) -> None:
    """Run the mounted command that was called, and end the program.

    Comes back only from ``exec``, in the process of one of its calls.
    """
    if invocation.call.before:
        _hide_secrets(invocation)
    if invocation.call.mounted == "exec":
        from .dispatch import run as run_calls

        run_calls(invocation)
        return
    if invocation.call.mounted == "describe":
        from .describe import run
    elif invocation.call.mounted == "profile":
        from .profile import run
    elif invocation.call.mounted == "manifest":
        from .manifest import run
    else:
        from .doctor import run
    run(invocation)


def show_help(invocation: Invocation, text: str) -> NoReturn:
    """Show the help of a command of ours, and end the program."""
    if invocation.in_family:
        from ..runtime.family import explain

        invocation.end(explain(invocation, text))
    write_raw(invocation.writer, text)
    invocation.end(0)


def write_raw(writer: Writer, text: str) -> None:
    """Answer with a document without an envelope, such as a schema."""
    from ..asides import flush_notices

    with writer._lock:
        flush_notices(writer)
        writer.answered = True
        writer._put("stdout", writer.scrubbed(text))


def _hide_secrets(invocation: Invocation) -> None:
    """Learn the secrets that were given to the tool itself, before a command of ours."""
    host, call = invocation.host, invocation.call
    host.secret_options(host.level()).hide_in(call.before, invocation)
