"""The steps of a command: what is done already when it fails half-way, and what is not."""

from __future__ import annotations

from ..answer.declared_results import Steps, steps_of


class Step:
    """A step of the running command, from entering to leaving it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._steps = Steps()

    def __enter__(self) -> None:
        from ..core import current

        invocation = current()
        if invocation is not None:
            self._steps = invocation.running.steps = steps_of(invocation) or Steps()
        self._steps.begin(self._name)

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        # Who answers ends the program by an exit, which is no failure of the step.
        has_answered = isinstance(error, SystemExit) and not error.code
        self._steps.end(self._name, failed=error is not None and not has_answered)


def step(name: str) -> Step:
    """Mark a part of the handler as the step *name*.

    ::

        with murli.step("upload"):
            upload(...)

    A failure, a timeout or a signal then reports which steps were completed, which one failed, and
    which of those that `Metadata` declares were not begun.
    """
    return Step(name)
