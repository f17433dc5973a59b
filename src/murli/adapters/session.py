"""A block of the program as the handler: ``with session(parser)``, and ``with program(name)``."""

from __future__ import annotations

import os
import sys

from ..core import ENDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any

    from ..answer import Writer
    from ..call import Invocation
    from ..call.ending import ProgramAsHandler
    from .argparse import Enabled


class Session:
    """``with session(parser) as (args, writer):`` makes the block the handler.

    Its end is the end of the invocation. What the block raises is answered: at the end of the
    process, where the tool has not handled it by then.
    """

    def __init__(self, enabled: Enabled, args: Sequence[str] | None) -> None:
        self._enabled = enabled
        self._args = args
        self._block: Block | None = None

    def __enter__(self) -> tuple[Any, Writer]:
        enabled = self._enabled
        invocation = enabled.begin(self._args)
        block = self._block = Block(invocation, self._args)
        try:
            block.begin()
            given = () if self._args is None else (self._args,)
            return enabled.run(invocation, enabled.own["parse_args"], given), invocation.writer
        except BaseException as error:
            block.end(error)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._block is None:
            raise RuntimeError("a session must be entered before it is left")
        self._block.end(error)


class Block:
    """What runs between `begin` and `end` is the handler of *invocation*."""

    def __init__(self, invocation: Invocation, words: Sequence[str] | None) -> None:
        self._invocation = invocation
        # What it was called with, ``None`` for the program's own words.
        self._words = words
        # What answers at the end of the process, where that is the program's own.
        self._owner: ProgramAsHandler | None = None
        self._process = os.getpid()

    def begin(self) -> None:
        """Collect what is printed from now on."""
        from ..call import ending as process

        is_own = self._words is None or list(self._words) == sys.argv[1:]
        if is_own and process.can_adopt(self._words) and not self._invocation.writer.is_tty():
            process.adopt_program(self._invocation)
            self._owner = process._owner
            return
        self._invocation.process.begin_handler()

    def end(self, error: BaseException | None) -> None:
        """Answer, *error* being what ended the block; end the program where that failed."""
        invocation = self._invocation
        is_fork = os.getpid() != self._process  # of the program, which itself answers
        if self._owner is not None and not is_fork:
            if error is not None:
                from ..call.ending.for_people import is_for_the_tool

                if isinstance(error, SystemExit) or is_for_the_tool(error):
                    return  # what the tool makes of it is answered at the end of the process
            invocation.state = ENDED
            # Nothing is loaded here: the program may have no descriptor left to do so.
            self._owner.tear_down()
            self._owner.capture = None
        invocation.process.block_signals_after_interrupt(error)
        invocation.process.end_handler()
        if is_fork:
            return
        writer = invocation.writer
        if error is not None and invocation.is_for_people:
            from ..call.ending.for_people import is_for_the_tool, leave_to_the_tool

            if is_for_the_tool(error):
                leave_to_the_tool(invocation, error)
                return
        settled = isinstance(error, SystemExit) and (
            writer._reply.answered or writer.is_tty() or invocation.running.explained
        )
        code = invocation.finish(error, restore=True)
        if not settled and (error is not None or code != 0):
            if self._words is None and isinstance(error, KeyboardInterrupt):
                invocation.process.give_grace(error)  # threads may keep the program from ending
            if self._owner is not None:
                from ..call.ending import adopt_program

                adopt_program(invocation, answered=code)
            writer._exit(code)
