"""What is declared about a command's results, or known of its run, put into the answer."""

from __future__ import annotations

from ..declarations import EFFECTS, as_external, count_effects, with_effect
from ..outcome import Partial, Plan, Success
from . import is_on
from .headless import as_object, marked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..outcome import Outcome
    from .invocation import Invocation

_KNOWN = {*EFFECTS, *EFFECTS.values()}


def marks_of(invocation: Invocation, outcome: Outcome) -> Callable[[Any], Any]:
    """Give what puts the marks of this call into its result."""
    metadata = invocation.metadata
    if isinstance(outcome, Partial) or (metadata is None and not invocation.marks):
        return lambda result: result
    dry_run = isinstance(outcome, Plan) or invocation.writer.is_dry_run()

    def finish(result: Any) -> Any:
        if metadata is not None and metadata.effect:
            result = with_effect(as_object(result), metadata.effect, dry_run)
            if metadata.streams and isinstance(result, list):
                # The items of a stream, in one answer: each tells what was done.
                result = [with_effect(as_object(each), metadata.effect, dry_run) for each in result]
                invocation.meta["effects"] = count_effects(result)
        if metadata is not None and metadata.external:
            result = as_external(result)
        return marked(result, invocation) if invocation.marks else result

    return finish


def look_at(invocation: Invocation, outcome: Outcome) -> None:
    """Tell the steps that were taken, and the author of an answer that lacks its effect."""
    metadata = invocation.metadata
    if metadata is None or not isinstance(outcome, Success) or outcome.attention:
        return
    if metadata.steps and invocation.writer.phase == "execution":
        from ..steps import steps_of

        steps = steps_of(invocation)
        if steps is not None:
            invocation.meta.update(steps.context())
    if not metadata.mutating or not (invocation.settings.dev or is_on("MURLI_DEV")):
        return
    effect = outcome.result.get("effect") if isinstance(outcome.result, dict) else None
    if effect not in _KNOWN:
        told = f"its effect is {effect!r}" if effect is not None else "it tells no effect"
        accepted = ", ".join(EFFECTS)
        invocation.writer.warn(
            "EFFECT_MISSING",
            f"The command changes something, and {told}; declare one of {accepted}.",
        )
