"""A block of the program as the handler: ``with session(parser)``, and ``with program(name)``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Any

    from ..runtime.invocation import Invocation
    from ..writer import Writer
    from .argparse import Enabled


class Session:
    """``with session(parser) as (args, writer):`` makes the block the handler.

    Whatever the block raises is answered, and its end is the end of the invocation.
    """

    def __init__(self, enabled: Enabled, args: Sequence[str] | None) -> None:
        self._enabled = enabled
        self._args = args
        self._block: Block | None = None

    def __enter__(self) -> tuple[Any, Writer]:
        enabled = self._enabled
        invocation = enabled.begin(self._args)
        block = self._block = Block(invocation, is_process=self._args is None)
        try:
            block.begin()
            given = () if self._args is None else (self._args,)
            return enabled.run(invocation, enabled.own_parse_args, given), invocation.writer
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

    def __init__(self, invocation: Invocation, *, is_process: bool) -> None:
        self._invocation = invocation
        # Whether the words are the program's own, which is over then.
        self._is_process = is_process
        self._undo: Callable[[], None] | None = None

    def begin(self) -> None:
        """Collect what is printed from now on."""
        self._invocation.collect()
        self._undo = self._invocation.put_in_custody()

    def end(self, error: BaseException | None) -> None:
        """Answer, *error* being what ended the block; end the program where that failed."""
        invocation = self._invocation
        invocation.brace(error)
        if self._undo is not None:
            self._undo()
        if not invocation.concerned:
            return  # a fork of the program, which itself answers
        writer = invocation.writer
        if error is not None and invocation.is_for_people:
            from ..runtime.for_people import is_for_the_tool, leave_to_the_tool

            if is_for_the_tool(error):
                leave_to_the_tool(invocation, error)
                return
        settled = isinstance(error, SystemExit) and (
            writer.answered or writer.is_tty() or invocation.explained
        )
        code = invocation.finish(error, restore=True)
        if not settled and (error is not None or code != 0):
            if self._is_process and isinstance(error, KeyboardInterrupt):
                invocation.give_grace(error)  # threads may keep the program from ending
            writer.exit(code)
