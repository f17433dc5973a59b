"""``--idempotency-key``: a call that was made before is answered as it was, and not made again."""

from __future__ import annotations

from ..errors import AgentError
from ..handlers.idempotency import Replays, fingerprint_of, folder_of
from ..outcome import Success
from .fingerprint import Given
from .inputs import check_changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..handlers.idempotency import Claim
    from ..outcome import Outcome
    from . import Invocation


def claim(invocation: Invocation, key: str) -> None:
    """Answer a repeated call, and end; else keep what a first one answers, if it succeeds."""
    writer = invocation.writer
    check_changes(invocation, invocation.metadata, "--idempotency-key")
    if writer._reply.streams or (invocation.metadata is not None and invocation.metadata.streams):
        # Of a stream only the end could be kept, and given again.
        invocation.refuse(
            AgentError.user_error(
                "A command that streams its changes takes no --idempotency-key.",
                "Leave out --idempotency-key, and look at the effect of each item.",
                error_type="flag_error",
                field="idempotency-key",
            )
        )
    if writer._dry_run:
        return  # nothing is done that could be done twice
    given = Given(invocation)
    try:
        claimed = _claimed(invocation, key, given)
    except AgentError as error:
        invocation.refuse(error)
    except OSError as error:
        invocation.refuse(
            AgentError.precondition(
                f"What --idempotency-key is for cannot be kept: {error.strerror or error}.",
                "Make the directory for state writable (XDG_STATE_HOME), or leave the key out.",
                error_type="state_unavailable",
            )
        )
    if claimed.result is not None:
        claimed.__exit__(None, None, None)
        _replay(invocation, claimed.result)
    # Of a stream only the end would be kept.
    writer._reply.streams, invocation.call.no_stream = False, True

    def kept(outcome: Outcome) -> Outcome:
        if isinstance(outcome, Success):
            _keep(invocation, claimed, outcome, given)
        claimed.__exit__(None, None, None)
        return outcome

    writer._reply.replace_outcome = kept
    invocation.undo.append(lambda: claimed.__exit__(None, None, None))


def _claimed(invocation: Invocation, key: str, given: Given) -> Claim:
    tool = invocation.host.name()
    command = ".".join(getattr(invocation.call.level, "path", ()))
    replays = Replays(folder_of(tool))
    return replays.claim(tool, command, key, _fingerprint(invocation, given)).__enter__()


def _fingerprint(invocation: Invocation, given: Given) -> str:
    words = invocation.call.rest
    if invocation.secrets is not None:
        # A token that was renewed meanwhile does not make it another call.
        words = invocation.secrets.scrub_words(words)
    return fingerprint_of({"words": words, "values": given.values(), "stdin": given.stdin})


def _keep(invocation: Invocation, claimed: Claim, outcome: Success, given: Given) -> None:
    kept: Any = {"message": outcome.message, "result": outcome.result}
    if invocation.secrets is not None:
        kept = invocation.secrets.scrub_value(kept)
    try:
        if given.came_late:
            raise RuntimeError("its input came when it had begun.")
        claimed.keep(kept, after=_fingerprint(invocation, given))
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        invocation.writer.warn(
            "replay_not_kept",
            f"The answer could not be kept for its key, do not repeat the call: {reason}",
        )


def _replay(invocation: Invocation, kept: dict[str, Any]) -> None:
    writer = invocation.writer
    invocation.meta["replayed"] = True
    result = kept["result"]
    if result is None or isinstance(result, dict):
        result = {**(result or {}), "effect": "noop"}
    writer._exit(writer._answer(Success(kept["message"], result), ""))
