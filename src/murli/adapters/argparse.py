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
from ..runtime.settings import version_of
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
_PARSE_METHODS = (
    "parse_args",
    "parse_known_args",
    "parse_intermixed_args",
    "parse_known_intermixed_args",
)
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
        self._own_parse_args = parser.parse_args
        for name in _PARSE_METHODS:
            setattr(parser, name, self._in_place_of(getattr(parser, name), "known" in name))
        _hook(parser)

    def parse(self, args: Sequence[str] | None) -> tuple[Any, Writer]:
        """Parse, and give the writer beside the namespace; the program goes on as the handler."""
        invocation, parsed = self.begin(args)
        self._hand_over(invocation, args)
        return parsed, invocation.writer

    def begin(
        self,
        args: Sequence[str] | None,
        namespace: Any = None,
        parse: Callable[..., Any] | None = None,
        *,
        gives_extras: bool = False,
    ) -> tuple[Invocation, Any]:
        """Take a command line to the point where the handler may run.

        What murli answers itself, or what is wrong with the call, is answered here, and ends
        the program. *parse* is the parser's own method, ``parse_args`` unless given.
        """
        from ..runtime.process import answer_stream

        argv = sys.argv[1:] if args is None else list(args)
        invocation = Invocation(self, self.settings, argv, answer_stream())
        invocation.begin()
        chosen = [self.parser]
        Routes.watch(self.parser, chosen, _hook)
        self._parsing = True
        try:
            result = (parse or self._own_parse_args)(invocation.call.rest, namespace)
        finally:
            self._parsing = False
        parsed = result[0] if gives_extras else result
        # A group only routes; what it does when called bare is not what was annotated.
        metadata = None if subparsers_of(chosen[-1]) else metadata_of(chosen[-1])
        given = {name for parser in chosen for name in _intent_given(parser, parsed)}
        invocation.admit(
            metadata,
            forced=bool(given & {"--force", "--yes"}),
            previews="--dry-run" in given,
        )
        return invocation, result

    def _in_place_of(self, own: Callable[..., Any], gives_extras: bool) -> Callable[..., Any]:
        """Give what stands in for *own*, one of the parser's methods that parse."""

        def parse(args: Sequence[str] | None = None, namespace: Any = None) -> Any:
            if self._parsing:  # the methods call one another
                return own(args, namespace)
            invocation, result = self.begin(args, namespace, own, gives_extras=gives_extras)
            self._hand_over(invocation, args)
            return result

        return parse

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
        """Give the version that ``--version`` tells, else that of the caller's package."""
        for action in self.parser._actions:
            if isinstance(action, argparse._VersionAction) and action.version:
                last = action.version.split()[-1].lstrip("v")
                if last[:1].isdigit():
                    return last
        return version_of(self.caller)

    def level(self) -> ParserLevel:
        """Give the root as the scanner sees it."""
        return ParserLevel(self.parser)

    def tree(self) -> Command:
        """Walk the whole parser."""
        from .argparse_tree import walk

        return walk(self.parser, (self.name(),))

    def command(self, level: Any) -> Command:
        """Walk the parser that *level* stands for."""
        from .argparse_tree import summary_of, walk

        path = (self.name(), *level.path)
        return walk(level.parser, path, summary_of(level.origin, path[-1], level.parser))


class Session:
    """``with session(parser) as (args, writer):`` makes the block the handler.

    Whatever the block raises is answered, and its end is the end of the invocation.
    """

    def __init__(self, enabled: Enabled, args: Sequence[str] | None) -> None:
        self._enabled = enabled
        self._args = args
        self._invocation: Invocation | None = None

    def __enter__(self) -> tuple[Any, Writer]:
        invocation, parsed = self._enabled.begin(self._args)
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
    # An author who wrote his own words for people keeps them there.
    is_custom = type(parser).error is not argparse.ArgumentParser.error

    def error(message: str) -> NoReturn:
        invocation = current()
        if invocation is None or (is_custom and invocation.writer.is_tty()):
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
