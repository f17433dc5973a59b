"""The steps of a command: what is done already when it fails half-way, and what is not."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any

    from .errors import AgentError
    from .runtime.invocation import Invocation


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
        elif not self._failed:  # of those around it, the innermost tells most
            self._failed = name

    def context(self) -> dict[str, Any]:
        """Give what a failure tells about the steps; one that is cut off has failed."""
        failed = self._failed or "".join(self._running[-1:])
        begun = {*self._completed, *self._running, failed}
        document: dict[str, Any] = {"completed_steps": list(self._completed)}
        if failed:
            document["failed_step"] = failed
        document["skipped_steps"] = [name for name in self._declared if name not in begun]
        return document


class Step:
    """A step of the running command, from entering to leaving it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._steps = Steps()

    def __enter__(self) -> None:
        from .runtime.invocation import current

        invocation = current()
        if invocation is not None:
            self._steps = invocation.steps = steps_of(invocation) or Steps()
        self._steps.begin(self._name)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._steps.end(self._name, failed=_is_failure(error))


def step(name: str) -> Step:
    """Mark a part of the handler as the step *name*.

    ::

        with murli.step("upload"):
            upload(...)

    A failure, a timeout or a signal then tells which steps were completed, which one failed, and
    which of those that `Metadata` declares were not begun.
    """
    return Step(name)


def steps_of(invocation: Invocation) -> Steps | None:
    """Give the steps of a call; ``None`` when there are none."""
    declared = invocation.metadata.steps if invocation.metadata is not None else ()
    if invocation.steps is None and declared:
        return Steps(declared)
    return invocation.steps


def tell(invocation: Invocation, error: AgentError) -> AgentError:
    """Give *error*, which ended a handler, with the steps it had taken."""
    steps = steps_of(invocation)
    if steps is not None and invocation.writer.phase != "validation":
        error.context = {**steps.context(), **error.context}
    return error


def _is_failure(error: BaseException | None) -> bool:
    # Who answers ends the program by an exit, which is no failure of the step.
    return error is not None and not (isinstance(error, SystemExit) and not error.code)
