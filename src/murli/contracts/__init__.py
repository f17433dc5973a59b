"""Contracts: pure functions from an outcome to a document and an exit code.

A contract is chosen by name. It never asks the runtime, reads no stream and no argv.
"""

from __future__ import annotations

from ..record import Record, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..asides import Notice
    from ..outcome import Outcome

    Respond = Callable[["Outcome", "Facts"], "Answer"]

CONTRACT_NAMES = ("murli", "response", "agent-spec-1.6", "agent-spec-2")


class Facts(Record):
    """What a document says about the invocation rather than about its outcome."""

    __slots__ = ("tool_version", "duration_ms", "notices", "meta")
    tool_version: str
    duration_ms: int
    notices: tuple[Notice, ...]
    meta: dict[str, Any]

    def __init__(
        self,
        tool_version: str = "",
        duration_ms: int = 0,
        notices: tuple[Notice, ...] = (),
        meta: dict[str, Any] | None = None,
    ) -> None:
        fill(
            self,
            tool_version=tool_version,
            duration_ms=duration_ms,
            notices=notices,
            meta=meta or {},
        )


class Answer(Record):
    """A document, the exit code that goes with it, and the stream it belongs on."""

    __slots__ = ("document", "exit_code", "stream")
    document: dict[str, Any]
    exit_code: int
    stream: str

    def __init__(
        self, document: dict[str, Any], exit_code: int = 0, stream: str = "stdout"
    ) -> None:
        fill(self, document=document, exit_code=exit_code, stream=stream)


def respond_in(contract: str) -> Respond:
    """Give the function that answers in *contract*; `ValueError` for a name that is none."""
    if contract == "murli":
        from .murli import respond

        return respond
    from .agent_spec import REVISIONS, respond_as

    if contract not in REVISIONS:
        raise ValueError(f"contract is one of {', '.join(CONTRACT_NAMES)}, not {contract!r}")
    return respond_as(REVISIONS[contract])
