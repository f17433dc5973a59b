"""An answer as the client returns it: what the tool wrote, and what was decided about it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from ..wire import reading
from ..wire.response import WireResponse

if TYPE_CHECKING:
    from .decisions import Decision

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Response(WireResponse[T]):
    """One answer of one process, understood.

    *data* is the result of a success, the plan of a dry run, or the payload of a failure (never to
    be taken for the result: look at *state*). *exit_code* is the process's own, ``None`` when it
    is not known; negative when a signal ended it. *argv* is the call, its first word the tool's
    name, whatever words run it; *names* are what else it goes by. *decisions* are what the client
    decided, about the answers before this one and last about this one.
    """

    decisions: tuple[Decision, ...] = ()

    @classmethod
    def of(cls, found: WireResponse[T]) -> Response[T]:
        """Return *found* as an answer about which nothing is decided yet."""
        return cls(**{each.name: getattr(found, each.name) for each in fields(found)})

    def for_model(self) -> str:
        """Return the answer for the model that asked for the call, as one JSON object."""
        from .dispatching import text_for_model

        return text_for_model(self)

    def raise_for_failure(self) -> Response[T]:
        """Raise `ToolFailed` when the call failed; return the answer itself otherwise."""
        if self.problem is None:
            return self
        from .decisions import Memory, Policy, decide
        from .mistakes import ToolFailed

        decision = self.decisions[-1] if self.decisions else decide(Policy(), Memory(), self)
        raise ToolFailed(self, decision)


def read(
    stdout: bytes, stderr: bytes, exit_code: int | None, contract: str = "", trouble: str = ""
) -> Response[Any]:
    """Return what a process wrote as an answer; see `murli.wire.reading.read`."""
    return Response.of(reading.read(stdout, stderr, exit_code, contract, trouble))
