"""Whether a call that failed may be made again; loaded only when one has failed.

A handler that has begun may have changed something, whatever ended it. Only what was declared, or
what the author's own error says, allows advice to try again; see `murli.declare.safety`.
"""

from __future__ import annotations

from ..declare.safety import may_repeat, only_reads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..call import Invocation
    from ..declare import Metadata
    from ..errors import AgentError

LOOK_FIRST = "Something may have changed: look at the state before trying again."
# Kinds by which a contract says that the same call may work later.
PASSING = frozenset(("timeout", "rate_limited", "unavailable"))
# Kinds that say so only where ``recoverable`` was set: a lock, a full disk.
_DEPENDS = frozenset(("precondition", "tool_error"))


def may_be_repeated(invocation: Invocation) -> bool:
    """Return whether making the call again does no more than making it once."""
    return all(may_repeat(metadata, path) for metadata, path in _begun(invocation))


def effect_of(invocation: Invocation) -> str:
    """Return what the handlers that ran have done: ``""`` for nothing, ``changed``, ``unknown``."""
    found = ""
    for metadata, path in _begun(invocation):
        if metadata is not None and metadata.mutating:
            return "changed"
        if not only_reads(metadata, path):
            found = "unknown"
    return found


def is_passing(error: AgentError) -> bool:
    """Return whether *error* is of a kind that the same call may be over later."""
    return error.kind in PASSING or (error.kind in _DEPENDS and bool(error.explicit_recoverable))


def withhold_retry(invocation: Invocation, error: AgentError) -> None:
    """Change *error*, which murli made of an exception, so that it does not invite a repetition.

    Left as it is before a handler has begun, where repeating is harmless, and where the author
    declared for the exception or for the exit code that trying again is safe.
    """
    if not error.is_translated or not is_passing(error) or may_be_repeated(invocation):
        return
    if promises_retry(invocation.metadata, error.kind):
        return
    error.recoverable = error.explicit_recoverable = False
    error.retry_after_ms = 0
    # What else there is to do stays: free some space, check the proxy.
    hint = error.suggestion.replace(", then try again", "")
    invites = "try again" in hint.lower() or hint in ("", "Wait.")
    error.suggestion = LOOK_FIRST if invites else f"{hint} {LOOK_FIRST}"
    network = error.context.get("network_context")
    if isinstance(network, dict):
        error.context["network_context"] = {**network, "suggestion": error.suggestion}


def promises_retry(metadata: Metadata | None, kind: str) -> bool:
    """Return whether the command's author declared that an end of this *kind* changes nothing."""
    if metadata is None or not metadata.exit_codes:
        return False
    from ..declare.exit_codes import entry_of

    entry = entry_of(metadata, kind)
    return entry is not None and entry.retryable


def _begun(invocation: Invocation) -> Iterator[tuple[Metadata | None, tuple[str, ...]]]:
    """Return the commands of the call whose handlers may have done something."""
    writer = invocation.writer
    if writer._reply.phase != "execution" or (writer._dry_run and not writer._forgot_dry_run()):
        return
    yield from invocation.running.begun
