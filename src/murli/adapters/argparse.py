"""argparse: a parser that was enabled parses for both audiences.

Nothing in the ``argparse`` module is touched; a parser is hooked through attributes of its own
instance, its subparsers when they are reached.
"""

from __future__ import annotations

import argparse
import os
import sys

from ..metadata import metadata_of
from ..runtime.invocation import Invocation, current
from .argparse_levels import ParserLevel, Routes, subparsers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType
    from typing import Any, NoReturn

    from ..runtime.settings import Settings
    from ..tree import Command
    from ..writer import Writer

_ENABLED = "_murli_enabled"
_HOOKED = "_murli_hooked"
_INTENT = {"--force", "--yes", "--dry-run"}


def enable(parser: argparse.ArgumentParser, settings: Settings, caller: str) -> None:
    """Make *parser* agent-native; *caller* is the module that asked for it."""
    if enabled_of(parser) is None:
        setattr(parser, _ENABLED, Enabled(parser, settings, caller))


def enabled_of(parser: argparse.ArgumentParser) -> Enabled | None:
    """Give what `enable` made of *parser*, or ``None``."""
    found = getattr(parser, _ENABLED, None)
    return found if isinstance(found, Enabled) else None


class Enabled:
    """A parser and what was chosen for it; what the runtime knows of the tool."""

    def __init__(self, parser: argparse.ArgumentParser, settings: Settings, caller: str) -> None:
        self.parser = parser
        self.settings = settings
        self.caller = caller
        self._parsing = False
        self._parse_known = parser.parse_known_args
        self._parse_intermixed = parser.parse_known_intermixed_args
        setattr(parser, "parse_args", self.parse_args)
        setattr(parser, "parse_known_args", self.parse_known_args)
        setattr(parser, "parse_intermixed_args", self.parse_intermixed_args)
        setattr(parser, "parse_known_intermixed_args", self.parse_known_intermixed_args)
        _hook(parser)

    # -- in place of the parser's own methods ----------------------------------------------

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:
        """Parse; what the program does afterwards is the handler."""
        return self.parse(args, namespace)[0]

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:
        """Parse, and give what no argument takes beside the namespace."""
        if self._parsing:
            return self._parse_known(args, namespace)
        invocation, parsed, extras = self.begin(args, namespace, keep_extras=True)
        self._hand_over(invocation, args)
        return parsed, extras

    def parse_intermixed_args(
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse options between positionals."""
        invocation, parsed, _ = self.begin(args, namespace, self._parse_intermixed)
        self._hand_over(invocation, args)
        return parsed

    def parse_known_intermixed_args(
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse options between positionals, and give what no argument takes."""
        invocation, parsed, extras = self.begin(
            args, namespace, self._parse_intermixed, keep_extras=True
        )
        self._hand_over(invocation, args)
        return parsed, extras

    def parse(self, args: Sequence[str] | None, namespace: Any = None) -> tuple[Any, Writer]:
        """Parse, and give the writer beside the namespace."""
        invocation, parsed, _ = self.begin(args, namespace)
        self._hand_over(invocation, args)
        return parsed, invocation.writer

    # -- one invocation --------------------------------------------------------------------

    def begin(
        self,
        args: Sequence[str] | None,
        namespace: Any = None,
        parse: Callable[..., Any] | None = None,
        *,
        keep_extras: bool = False,
    ) -> tuple[Invocation, Any, list[str]]:
        """Take a command line to the point where the handler may run.

        Answers what murli answers itself, and what is wrong with the call, and then ends the
        program.
        """
        from ..runtime.process import answer_stream

        argv = sys.argv[1:] if args is None else list(args)
        invocation = Invocation(self, self.settings, argv, answer_stream())
        invocation.begin()
        chosen = [self.parser]
        Routes.watch(self.parser, chosen, _hook)
        self._parsing = True
        try:
            parsed, extras = (parse or self._parse_known)(invocation.call.rest, namespace)
        finally:
            self._parsing = False
        if extras and not keep_extras:
            from .argparse_errors import explain_extras

            invocation.refuse(explain_extras(chosen, extras))
        # A group only routes; what it does when called bare is not what was annotated.
        metadata = None if subparsers_of(chosen[-1]) else metadata_of(chosen[-1])
        given = {name for parser in chosen for name in _intent_given(parser, parsed)}
        invocation.admit(
            metadata,
            forced=bool(given & {"--force", "--yes"}),
            previews="--dry-run" in given,
        )
        return invocation, parsed, extras

    def _hand_over(self, invocation: Invocation, args: Sequence[str] | None) -> None:
        """Let the rest of the program be the handler, when the process is ours."""
        from ..runtime.process import may_own, own

        if may_own(args):
            own(invocation)

    # -- what the runtime asks -------------------------------------------------------------

    def name(self) -> str:
        """Give the name people type to call the tool."""
        prog = self.settings.name or self.parser.prog or ""
        if prog == os.path.basename(sys.argv[0]):
            # argparse made the name up from the file's; nobody calls a tool __main__.py.
            prog = prog.removesuffix(".py")
            spec = getattr(sys.modules.get("__main__"), "__spec__", None)
            if prog == "__main__" and spec is not None:
                prog = spec.parent or prog
        return prog.rpartition(" ")[2]

    def version(self) -> str:
        """Give the version that ``--version`` tells, else the one of the caller's package."""
        for action in self.parser._actions:
            if isinstance(action, argparse._VersionAction) and action.version:
                last = action.version.split()[-1].lstrip("v")
                if last[:1].isdigit():
                    return last
        package = sys.modules.get(self.caller.partition(".")[0])
        found = getattr(package, "__version__", "")
        return found if isinstance(found, str) else ""

    def level(self) -> ParserLevel:
        """Give the root as the scanner sees it."""
        return ParserLevel(self.parser)

    def tree(self) -> Command:
        """Walk the whole parser."""
        from .argparse_tree import walk

        return walk(self.parser, (self.name(),))

    def command(self, level: Any) -> Command:
        """Walk the parser that *level* stands for."""
        from .argparse_tree import walk

        return walk(level.parser, (self.name(), *level.path))


class Session:
    """``with session(parser) as (args, writer):`` makes the block the handler.

    Whatever the block raises is answered, and its end is the end of the invocation.
    """

    def __init__(self, enabled: Enabled, args: Sequence[str] | None) -> None:
        self._enabled = enabled
        self._args = args
        self._invocation: Invocation | None = None

    def __enter__(self) -> tuple[Any, Writer]:
        invocation, parsed, _ = self._enabled.begin(self._args)
        invocation.collect()
        self._invocation = invocation
        return parsed, invocation.writer

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        invocation = self._invocation
        if invocation is None:
            raise RuntimeError("a session must be entered before it is left")
        writer = invocation.writer
        left_alone = isinstance(error, SystemExit) and (writer.answered or writer.is_tty())
        code = invocation.finish(error, restore=True)
        if left_alone or (error is None and code == 0):
            return
        writer.exit(code)


def _hook(parser: argparse.ArgumentParser) -> None:
    """Make *parser* report its errors, and show its help, to the audience that is there."""
    if getattr(parser, _HOOKED, False):
        return
    setattr(parser, _HOOKED, True)
    own_error, own_help = parser.error, parser.format_help

    def error(message: str) -> NoReturn:
        invocation = current()
        if invocation is None:
            own_error(message)
        from .argparse_errors import explain

        invocation.refuse(explain(parser, message))

    def format_help() -> str:
        invocation = current()
        if invocation is None:
            return own_help()
        from .argparse_help import our_options

        return own_help() + our_options(parser, invocation)

    setattr(parser, "error", error)
    setattr(parser, "format_help", format_help)


def _intent_given(parser: argparse.ArgumentParser, parsed: Any) -> Iterator[str]:
    """Give the names of the parser's own switches for force and dry-run that are on."""
    for action in parser._actions:
        names = _INTENT.intersection(action.option_strings)
        if names and getattr(parsed, action.dest, False):
            yield from names
