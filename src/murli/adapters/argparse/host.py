"""What a few calls of a parser need: answers to the runtime's questions, and the plan function."""

from __future__ import annotations

import sys

from ...core import metadata_of
from .levels import ParserLevel

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any, NoReturn

    from ...call import Invocation
    from ...call.misnamed import Parameters
    from ...declare import Metadata
    from ...declare.tree import Command
    from ...line.option_words import Options
    from . import Enabled


class ParserHost:
    """A `Host` for an enabled parser."""

    def __init__(self, enabled: Enabled) -> None:
        self._enabled = enabled
        self.app = enabled.parser
        self.name, self.version = enabled.name, enabled.version

    def level(self) -> ParserLevel:
        """Return the root as the scanner sees it."""
        return ParserLevel(self.app, forwards=self._enabled.forwards)

    def metadata(self) -> Metadata | None:
        """Return what was declared about the tool itself."""
        return metadata_of(self.app)

    def tree(self) -> Command:
        """Walk the whole parser."""
        from .tree import walk

        return walk(self.app, (self.name(),))

    def help(self) -> str:
        """Return the help text of the tool."""
        return self.app.format_help()

    def secret_options(self, level: Any) -> Options:
        """Return the options of a parser, and which of them have secrets for values."""
        from .values import secret_options

        return secret_options(level.parser)

    def parameters(self, level: Any) -> Parameters:
        """Return the options and arguments of a parser by their names."""
        from .values import parameters_of

        return parameters_of(level.parser)

    def options(self, command: argparse.ArgumentParser | None) -> list[str]:
        """Return the options of *command*, ``None`` for no command."""
        return list(command._option_string_actions) if command is not None else []

    def switches(self, command: argparse.ArgumentParser | None) -> list[str]:
        """Return those of its options that take no value."""
        actions = command._option_string_actions if command is not None else {}
        return [name for name, each in actions.items() if each.nargs == 0]

    def values(self, parsed: Any) -> dict[str, Any]:
        """Return the values of all parameters, wherever they come from, in a namespace."""
        if parsed is None:
            return {}
        return dict(parsed if isinstance(parsed, dict) else vars(parsed))

    def command(self, level: Any, *, deep: bool = True) -> Command:
        """Walk the parser that *level* stands for."""
        from .tree import summary_of, walk

        path = (self.name(), *level.path)
        summary = summary_of(level.origin, path[-1], level.parser)
        return walk(level.parser, path, summary, deep=deep)


def answer_plan(invocation: Invocation, metadata: Metadata, parsed: Any) -> NoReturn:
    """Answer with what the plan function makes of *parsed*, and end the program."""
    planned: Any = metadata.plan(parsed) if metadata.plan is not None else None
    if type(planned).__name__ == "coroutine":
        from ...process.event_loops import run

        planned = run(planned, invocation.writer)
    invocation.running.returned = planned
    if invocation.capture is None:  # a person reads it, or nobody would come back to it
        from ...call import succeed

        code = succeed(invocation, "")
        invocation.running.returned = None
        invocation.exit(code)
    sys.exit(invocation.running.refused_exit_code if invocation.writer._reply.answered else 0)
