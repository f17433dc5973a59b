"""What is declared about a command's results, or known of its run, put into the answer."""

from __future__ import annotations

from ..core import is_on
from ..declare.declarations import EFFECTS, as_external, count_effects, with_effect
from ..outcome import Partial, Plan, Success
from ..process.headless import as_object
from . import with_notices
from .presentation import warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..call import Invocation
    from ..contracts import Facts
    from ..errors import AgentError
    from ..outcome import Outcome
    from .filters import Marks

_KNOWN = {*EFFECTS, *EFFECTS.values()}


def marks_of(invocation: Invocation, outcome: Outcome) -> Marks:
    """Return what puts the marks of this call into its result, and what is said beside it."""
    metadata = invocation.metadata
    if isinstance(outcome, Partial) or (metadata is None and not invocation.running.marks):
        return lambda result: (result, {})
    dry_run = isinstance(outcome, Plan) or invocation.writer._dry_run

    def finish(result: Any) -> tuple[Any, dict[str, Any]]:
        meta: dict[str, Any] = {}
        if metadata is not None and metadata.effect:
            result = with_effect(as_object(result), metadata.effect, dry_run)
            if metadata.streams and isinstance(result, list):
                # The items of a stream, in one answer: each says what was done.
                result = [with_effect(as_object(each), metadata.effect, dry_run) for each in result]
                meta["effects"] = count_effects(result)
        if metadata is not None and metadata.external:
            result = as_external(result)
        marks = invocation.running.marks
        if marks and isinstance(result, list):  # which has no place for a name
            meta.update(marks)
        elif marks:
            result = {**(as_object(result) or {}), **marks}
        return result, meta

    return finish


def look_at(invocation: Invocation, outcome: Outcome, facts: Facts) -> Facts:
    """Return *facts* with the steps that were taken, and a warning where no effect is reported."""
    metadata = invocation.metadata
    if metadata is None or not isinstance(outcome, Success) or outcome.attention:
        return facts
    if metadata.steps and invocation.writer._reply.phase == "execution":
        steps = steps_of(invocation)
        if steps is not None:
            facts = facts.replace(meta={**facts.meta, **steps.context()})
    if not metadata.mutating or not (invocation.settings.dev or is_on("MURLI_DEV")):
        return facts
    effect = outcome.result.get("effect") if isinstance(outcome.result, dict) else None
    if isinstance(effect, str) and effect in _KNOWN:
        return facts
    effects = f"its effect is {effect!r}" if effect is not None else "it has no effect"
    message = f"The command changes something, and {effects}; declare one of {', '.join(EFFECTS)}."
    return with_notices(facts, [warning("EFFECT_MISSING", message, {})])


class Steps:
    """How far a command has come, by the names of its steps."""

    def __init__(self, declared: Sequence[str] = ()) -> None:
        self._declared = tuple(declared)
        self._completed: list[str] = []
        self._running: list[str] = []
        self._failed = ""

    def begin(self, name: str) -> None:
        """Begin a step; a step may have steps of its own."""
        self._running.append(name)
        if self._failed == name:  # another attempt
            self._failed = ""

    def end(self, name: str, *, failed: bool) -> None:
        """End a step."""
        self._running.remove(name)
        if not failed:
            self._completed.append(name)
        elif not self._failed:  # of those around it, the innermost says most
            self._failed = name

    def context(self) -> dict[str, Any]:
        """Return what a failure says about the steps; one that is cut off has failed."""
        failed = self._failed or "".join(self._running[-1:])
        begun = {*self._completed, *self._running, failed}
        document: dict[str, Any] = {"completed_steps": list(self._completed)}
        if failed:
            document["failed_step"] = failed
        document["skipped_steps"] = [name for name in self._declared if name not in begun]
        return document


def steps_of(invocation: Invocation) -> Steps | None:
    """Return the steps of a call; ``None`` when there are none."""
    declared = invocation.metadata.steps if invocation.metadata is not None else ()
    if invocation.running.steps is None and declared:
        return Steps(declared)
    return invocation.running.steps


def with_steps(invocation: Invocation, error: AgentError) -> AgentError:
    """Return *error*, which ended a handler, with the steps it had taken."""
    steps = steps_of(invocation)
    if steps is not None and invocation.writer._reply.phase != "validation":
        error.context = {**steps.context(), **error.context}
    return error
