"""A program without a parser of its own, or with a dispatch of its own before its parsers."""

from __future__ import annotations

import sys

from .. import core
from ..call import Invocation
from ..call.ending.succession import running
from ..core import (
    Settings,
    is_parser,
    kind_of,
    mentions_secret,
    metadata_of,
    program_name,
    version_of,
)
from ..declare.tree import Command, first_line
from ..formats import take_bursts_as_one
from ..line.calls import command_line
from . import enable as enable_app
from .program_levels import ProgramLevel, UnknownLevel, is_click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType
    from typing import Any

    from ..answer import Writer
    from ..call.misnamed import Parameters
    from ..declare import Metadata
    from ..line.option_words import Options
    from .argparse import Enabled
    from .session import Block


def program(
    name: str = "",
    *,
    parsers: Mapping[str, Any] | None = None,
    description: str = "",
    **options: Any,
) -> Program:
    """Make the program answer in the contract, whatever reads its words.

    ::

        with murli.program("spider", parsers={"crawl": crawl_parser, "shell": make_shell_parser}):
            main()

    What is printed from here to the end of the process is the result of its one document; an
    exception, an exit status or a signal that ends it is the failure. For a person at a terminal
    nothing changes.

    *parsers* are the commands, for ``describe`` and ``CMD --schema``: by their names, each an
    ``ArgumentParser``, a click command, a Typer, a function without arguments that makes one of
    them (called to describe it, and where a word may be the command's or ours), or one line of
    text. ``""`` stands for the options of the program itself. *options* are those of `enable`.
    """
    caller = sys._getframe(1).f_globals.get("__name__", "")
    made = Program(dict(parsers or {}), description, caller)
    enable_app(made, name=name, **options)
    return made


def enable(made: Program, settings: Settings, caller: str) -> None:
    """Let *settings* be those of a program; see `adapters.enable`."""
    made.murli_settings = Settings(**vars(settings), is_program=True)


class Program:
    """``with program(…) as writer:`` makes the rest of the process the handler.

    Also what the runtime asks about the tool; see `call.host`.
    """

    murli_settings: Settings | None = None

    def __init__(self, parsers: dict[str, Any], description: str, caller: str) -> None:
        for word, value in parsers.items():
            if not (isinstance(value, str) or callable(value) or is_app(value)):
                raise TypeError(
                    f"murli.program() takes parsers, functions that make one, and text; "
                    f"{word!r} is {kind_of(value)}"
                )
        self.parsers = parsers
        self.description = description
        self.caller = caller
        # What guards commands that are annotated, and not enabled, where they parse.
        self._guide: Enabled | None = None
        self._block: Block | None = None
        self._argv: list[str] | None = None

    def __enter__(self) -> Writer:
        from ..call.ending import adopt_program, begin, can_adopt

        outer = running()
        if outer is not None:
            return outer.writer  # the process has an owner already
        take_bursts_as_one(begin=True)
        try:
            invocation = Invocation(self, self._settings, self._words())
            invocation = begin(invocation, None)
        finally:
            take_bursts_as_one(begin=False)
        self._take_ours_away(invocation)
        if can_adopt(None):
            adopt_program(invocation)
        else:
            from .session import Block

            self._block = Block(invocation, sys.argv[1:])
            self._block.begin()
        metadata, path = self.called(invocation)
        forced, previews = self.intent()
        invocation.admit(metadata, path, forced=forced, previews=previews)
        return invocation.writer

    def called(self, invocation: Invocation) -> tuple[Metadata | None, tuple[str, ...]]:
        """Return what is declared of the command that is called, and its names below the tool's."""
        level: Any = invocation.call.level
        if core.declares_changes or self._settings.infers:
            level = command_line(invocation).level
        return self._declared(level), getattr(level, "path", ())

    def intent(self) -> tuple[bool, bool]:
        """Return whether words of the program's own confirm, and preview: not that we know of."""
        return False, False

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._block is None:
            return  # the end of the process answers
        if self._argv is not None:
            sys.argv[1:], self._argv = self._argv, None
        block, self._block = self._block, None
        block.end(error)

    def _words(self) -> list[str]:
        """Return the words among which ours may be."""
        return sys.argv[1:]

    def _take_ours_away(self, invocation: Invocation) -> None:
        """Leave the program, which reads ``sys.argv`` itself, the words that are not ours."""
        rest = invocation.call.rest
        if rest != sys.argv[1:]:
            self._argv, sys.argv[1:] = sys.argv[1:], rest
        if mentions_secret("\0".join((*rest, ""))):
            from ..line.option_words import hide_unknown

            hide_unknown(rest, set(), invocation)

    def _declared(self, level: Any) -> Metadata | None:
        """Return what was declared about the command at *level*, where it is known."""
        if isinstance(level, (ProgramLevel, UnknownLevel)) or level is None:
            return self.metadata()
        from .click import declared

        return metadata_of(level.parser) if hasattr(level, "parser") else declared(level.command)

    @property
    def note(self) -> Any:
        """What takes note of a parser that parses, while an annotated one does."""
        return self._guide.note if self._guide is not None else None

    def parse_later(self, invocation: Invocation, parser: Any, words: Any, *more: Any) -> Any:
        """Let *parser*, an annotated one that the program calls, parse *words*."""
        import argparse

        from .argparse import Enabled
        from .argparse.later import parse_later

        if self._guide is None:
            nobody = argparse.ArgumentParser(self.name(), add_help=False)
            self._guide = Enabled(nobody, self._settings, self.caller)
        return parse_later(self._guide, invocation, parser, words, *more)

    @property
    def _settings(self) -> Settings:
        if self.murli_settings is None:
            raise RuntimeError("a program is made by murli.program()")
        return self.murli_settings

    # -- what the runtime asks -------------------------------------------------------------

    def name(self) -> str:
        """Return the name people type to call the tool."""
        return self._settings.name or program_name()

    def version(self) -> str:
        """Return the version of the caller's package."""
        return version_of(self.caller)

    def translated(self, error: BaseException) -> BaseException:
        """Return *error*: no framework is known that it could be of."""
        return error

    def host(self) -> Program:
        """Return what answers whatever else the runtime asks about the tool."""
        return self

    @property
    def app(self) -> Program:
        """What the author made."""
        return self

    def level(self) -> ProgramLevel:
        """Return the program as the scanner sees it."""
        return ProgramLevel(self.parsers)

    def metadata(self) -> Metadata | None:
        """Return what was declared about the tool itself."""
        return metadata_of(self.parsers.get(""))

    def tree(self) -> Command:
        """Describe every command."""
        root = self._walked((self.name(),), self.parsers.get("", ""))
        return root.replace(
            summary=first_line(self.description) or root.summary,
            commands=(*root.commands, *self._commands()),
            runs=True,
        )

    def _commands(self) -> Iterator[Command]:
        for word, value in self.parsers.items():
            if word:
                try:
                    yield self._walked((self.name(), word), value)
                except Exception as error:  # one that cannot be loaded must not hide the others
                    yield Command((self.name(), word), f"Cannot be loaded: {error}")

    def _walked(self, path: tuple[str, ...], value: Any) -> Command:
        """Return what *value*, one of the parsers, says about the command at *path*."""
        if isinstance(value, str):
            return Command(path, first_line(value))
        if not is_app(value):
            return self._walked(path, value())
        if is_parser(value):
            from .argparse.tree import walk

            return walk(value, path)
        from .click import declared
        from .click.levels import CommandLevel
        from .click.tree import walk as walk_click

        return walk_click(CommandLevel(_command_of(value), path[-1]), path, declared)

    def command(self, level: Any, *, deep: bool = True) -> Command:
        """Describe the command at *level*."""
        if isinstance(level, ProgramLevel):
            named = (self.name(),)
            return self.tree() if deep else Command(named, commands=[Command((*named, ""))])
        path = (self.name(), *level.path)
        if isinstance(level, UnknownLevel):
            return self._walked(path, level.value)
        if hasattr(level, "parser"):
            from .argparse.tree import summary_of, walk

            summary = summary_of(level.origin, path[-1], level.parser)
            return walk(level.parser, path, summary, deep=deep)
        from .click import declared
        from .click.tree import walk as walk_click

        return walk_click(level, path, declared, deep=deep)

    def help(self) -> str:
        """Return a text about the program, which itself has none that we know."""
        lines = [f"usage: {self.name()} ...", ""]
        lines += [self.description, ""] if self.description else []
        lines += [f"  {each.name}  {each.summary}".rstrip() for each in self._commands()]
        return "\n".join(lines).rstrip() + "\n"

    def secret_options(self, level: Any) -> Options:
        """Return the options of a command, and which of them have secrets for values."""
        if hasattr(level, "parser"):
            from .argparse.values import secret_options

            return secret_options(level.parser)
        if hasattr(level, "command"):
            from .click.supplied import secret_options as of_click

            return of_click(level.command, {})
        from ..line.option_words import Options

        return Options(lambda word: False)

    def parameters(self, level: Any) -> Parameters:
        """Return the options and arguments of a command by their names."""
        if hasattr(level, "parser"):
            from .argparse.values import parameters_of

            return parameters_of(level.parser)
        if hasattr(level, "command"):
            from .click.levels import parameters_of as of_click

            return of_click(level.command, self._declared(level))
        from ..call.misnamed import Parameters

        return Parameters(None, (), ())

    def options(self, command: Any) -> list[str]:
        """Return what may be the program's own: which command runs is known to it alone."""
        return ["--debug"]

    def switches(self, command: Any) -> list[str]:
        """Return no options, as above."""
        return []

    def values(self, parsed: Any) -> dict[str, Any]:
        """Return no values, as above."""
        return {}


def is_app(value: Any) -> bool:
    """Return whether *value* is a parser, a click command or a Typer."""
    return is_parser(value) or is_click(value) or hasattr(value, "registered_commands")


def _command_of(app: Any) -> Any:
    """Return the click command that *app*, a command or a Typer, is."""
    if not hasattr(app, "registered_commands"):
        return app
    return __import__("typer.main", None, None, ["get_command"]).get_command(app)
