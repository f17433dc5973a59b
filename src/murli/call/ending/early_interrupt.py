"""An interrupt outside of what an invocation watches: the caller gets one answer all the same."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # signal itself loads enum first
import os
import sys

from ... import call as invocations
from ...answer import Writer
from ...contracts import MURLI, find_contract
from ...core import current
from ...errors import AgentError
from ...formats import is_terminal
from ...outcome import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...core import Settings


def answer_interrupt(settings: Settings, error: BaseException) -> None:
    """Answer *error* and end the program, unless a person is at the terminal."""
    invocation = current()
    if invocation is not None and not (
        invocation.writer.is_tty() or invocation.writer._reply.answered
    ):
        # A second signal, where the first one was about to be answered.
        raise SystemExit(invocation.finish(error))
    if settings.is_for_people(is_terminal(sys.stdout)) and "--agent" not in sys.argv:
        return
    code = invocations.last_exit_code
    if code is not None:  # one answer is all there may be, and this is its code
        raise SystemExit(code)
    for number in (1, 15):  # more of them mean the same, and change nothing
        if _signal.getsignal(number) == _signal.SIG_DFL:
            _signal.signal(number, _signal.SIG_IGN)
    contract = find_contract(os.environ.get("MURLI_CONTRACT") or settings.contract) or MURLI
    writer = Writer(
        agent_mode=True,
        output_format="ndjson" if "ndjson" in sys.argv else "",
        tool_version=settings.tool_version,
        contract=contract.name,
    )
    failure = AgentError.cancelled(signal=getattr(error, "signal", "SIGINT"))
    if type(error).__name__ == "Expired":
        late = "The time was over before the command began."
        failure = AgentError.timeout(late, "Allow more time.", recoverable=True)
    # The interpreter honours a SystemExit from its hook.
    raise SystemExit(writer._fail(Failure(failure, "validation")))
