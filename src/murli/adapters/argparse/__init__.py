"""argparse: a parser that was enabled parses for both audiences.

Nothing in the ``argparse`` module is touched; a parser is hooked through attributes of its own
instance, its subparsers when they are reached. What stands in for a method is a method too: a deep
copy of a parser then has its own, and a parser that is its own namespace has no values from us.
"""

from __future__ import annotations

import argparse
import os
import sys
from types import MethodType

from ...call import Invocation
from ...contracts import find_contract
from ...core import (
    INTENT,
    current,
    mentions_secret,
    metadata_of,
    program_name,
    subparsers_of,
    version_of,
)
from ...formats import take_bursts_as_one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ...answer import Writer
    from ...core import Settings
    from .host import ParserHost
    from .noted import TypedSwitches
    from .values import Bindings

_ENABLED = "_murli_enabled"
_HOOKED = "_murli_hooked"
_PARSE_METHODS = (
    "parse_args",
    "parse_known_args",
    "parse_intermixed_args",
    "parse_known_intermixed_args",
)
_VERSION_CODE = argparse._VersionAction.__call__.__code__


def enable(parser: argparse.ArgumentParser, settings: Settings, caller: str) -> None:
    """Make *parser* agent-native; *caller* is the module that asked for it."""
    if enabled_of(parser) is None:
        setattr(parser, _ENABLED, Enabled(parser, settings, caller))


def enabled_of(parser: argparse.ArgumentParser) -> Enabled | None:
    """Return what `enable` made of *parser*, or ``None``."""
    found = getattr(parser, _ENABLED, None)
    return found if isinstance(found, Enabled) else None


class Enabled:
    """A parser and what was chosen for it; what the runtime knows of the tool."""

    def __init__(self, parser: argparse.ArgumentParser, settings: Settings, caller: str) -> None:
        self.parser = parser
        self.settings = settings
        self.caller = caller
        self.parsing = False
        # Which switches of the parser's own for force and dry-run were typed.
        self.given: set[str] = set()
        # The parsers that were let parse in the same call.
        self.admitted: list[argparse.ArgumentParser] = []
        # Takes note of a parser that parses, while a call is parsed.
        self.note: Callable[[argparse.ArgumentParser], bool] | None = None
        # Whether what the parser does not know is kept, and whether it parses beside the call.
        self.forwards = self.joins = False
        # The call that was begun to show a help text, until it is parsed.
        self._shown: Invocation | None = None
        # The parser's own methods that others stand in for.
        self.own: dict[str, Callable[..., Any]] = {}
        for name in _PARSE_METHODS:
            self.own[name] = getattr(parser, name)
            setattr(parser, name, self._in_place_of(name))
        for name in ("print_help", "print_usage"):
            self.own[name] = getattr(parser, name)
            setattr(parser, name, self._showing(name))
        _hook(parser)
        if "_ARGCOMPLETE" in os.environ:
            from .completion import prepare

            prepare(self, self.own["parse_known_args"])

    def parse(self, args: Sequence[str] | None) -> tuple[Any, Writer]:
        """Parse, and return the writer beside the namespace; the program goes on as the handler."""
        invocation = self.begin(args)
        self._hand_over(invocation, args)
        given = () if args is None else (args,)
        return self.run(invocation, self.own["parse_args"], given), invocation.writer

    def begin(self, args: Sequence[str] | None, *, keep_extras: bool = False) -> Invocation:
        """Take a command line to the point where argparse sees it.

        What murli answers itself is answered here, and ends the program.
        """
        take_bursts_as_one(begin=True)
        try:
            from ...call import ending as process

            self.forwards = keep_extras
            argv = expand_files(self.parser, sys.argv[1:] if args is None else list(args))
            if hasattr(self.parser, "_preprocessing"):
                from .filled import fill

                fill(self.parser, argv)
            others = process._owner is not None or (keep_extras and not self.parser.add_help)
            others = others or current() is not None
            if others or not (args is None or argv == sys.argv[1:]):
                from .several import invocation_among

                invocation = invocation_among(self, argv)
            else:
                self.joins = False
                invocation = Invocation(self, self.settings, argv)
            return invocation if self.joins else process.begin(invocation, args)
        finally:
            take_bursts_as_one(begin=False)

    def run(
        self,
        invocation: Invocation,
        parse: Callable[..., Any],
        given: tuple[Any, ...] = (),
        named: dict[str, Any] | None = None,
    ) -> Any:
        """Let argparse parse, and the guard decide; return what *parse* gives.

        *parse* is the parser's own method; *given* and *named* are what the tool calls it with,
        which it gets as they are but for words of ours. What is wrong with the call is answered.
        """
        named = named or {}
        if self.joins:
            from .several import parse_within

            return parse_within(self, invocation, parse, given, named)
        self.parsing, self.given, self.admitted = True, set(), []
        if not is_own(parse):
            from .signatures import parse_by_signature

            return parse_by_signature(self, invocation, parse, given, named)
        rest, words = invocation.call.rest, given[0] if given else named.get("args")
        if rest != (sys.argv[1:] if words is None else list(words)):
            if "args" in named:
                named = {**named, "args": rest}
            else:
                given = (rest, *given[1:])

        def parse_words() -> Any:
            if not invocation.call.separated:
                return parse(*given, **named)
            from .levels import Separators

            with Separators(invocation.call.separated):
                return parse(*given, **named)

        return self.guide(invocation, self.parser, parse_words)

    def parse_later(
        self, invocation: Invocation, parser: argparse.ArgumentParser, words: Any, *more: Any
    ) -> Any:
        """Let *parser*, which the program calls behind the tool's own parse, parse *words*."""
        from .later import parse_later

        return parse_later(self, invocation, parser, words, *more)

    def guide(
        self,
        invocation: Invocation,
        root: argparse.ArgumentParser,
        parse: Callable[[], Any],
        above: tuple[str, ...] = (),
        *,
        admits: bool = True,
    ) -> Any:
        """Return what *parse* does, once the guard has admitted the commands it went through.

        *root* is the parser that begins; *above* are the names by which it is reached. Without
        *admits* the guard is not asked, and only secrets are kept.
        """
        chosen = [root]
        bindings: list[Bindings] = []
        # What notes which switches are typed, where that counts.
        switches: list[TypedSwitches] = []
        undo: list[Callable[[], None]] = []

        def prepare(parser: argparse.ArgumentParser) -> None:
            _hook(parser)
            facts = metadata_of(parser)
            # What stands in for a method is taken back in reverse: bindings, these, *switches*.
            leads = facts is not None and (facts.traits or subparsers_of(parser))
            if leads or not INTENT.isdisjoint(parser._option_string_actions):
                if not switches:
                    from .noted import TypedSwitches

                    switches.append(TypedSwitches())
                    undo.insert(0, switches[0].release)
                switches[0].watch(parser)
            if invocation.contract.refuses_repeats:
                from ..repeats import watch_argparse_parser

                undo.append(watch_argparse_parser(parser, invocation))
            has_checks = facts is not None and (facts.flag_annotations or facts.has_checks)
            if bindings or has_checks or mentions_secret(names_in(parser)):
                from .values import Bindings

                bindings[:] = bindings or [Bindings(invocation, switches)]
                bindings[0].hide(parser, facts, chosen[-1] if parser is not root else None)
            if facts is not None and facts.names_parameters:
                from .values import check_names

                check_names(parser, chosen, invocation)
            if facts is not None and has_checks:
                bindings[0].bind(parser, facts)
            if invocation.contract.has_warnings and hasattr(parser, "_warning"):
                from .deprecated import listen

                undo.append(listen(parser, chosen, invocation))

            if subparsers_of(parser) is not None:
                from .noted import Routes

                Routes.watch(parser, chosen, all_at_once=self.settings.infers)

        def note(parser: argparse.ArgumentParser) -> bool:
            if any(parser is each for each in chosen):
                return False
            prepare(parser)
            chosen.append(parser)
            return True

        self.note = note
        try:
            prepare(root)
            result = parse()
        finally:
            self.parsing, self.note = False, None
            for each in bindings:
                each.release()
            for take_back in reversed(undo):
                take_back()
        invocation.running.refusal = None
        if not admits:
            return result
        parsed = result[0] if isinstance(result, tuple) else result
        for each in bindings:
            each.enforce(parsed, chosen)
        if any(getattr(metadata_of(each), "deprecated", None) for each in chosen):
            from .deprecated import note_commands

            note_commands(chosen, invocation)
        invocation.running.parsed = parsed
        given = set(self.given)
        for typed in switches:
            given.update(*(typed.intents(parser, parsed) for parser in chosen))
        if root is self.parser:
            self.given, self.admitted = given, list(chosen)
        commands: list[tuple[tuple[str, ...], argparse.ArgumentParser]] = [((), root)]
        if len(chosen) > 1:
            from .noted import commands_in

            commands = commands_in(chosen)
        for path, leaf in commands:
            metadata = metadata_of(leaf)
            invocation.running.command = leaf
            invocation.admit(
                metadata,
                (*above, *path) or (self.name(),),
                forced=bool(given & {"--force", "--yes"}),
                previews="--dry-run" in given,
            )
            if invocation.running.plans and metadata is not None:
                from .host import answer_plan

                answer_plan(invocation, metadata, parsed)
        return result

    def _in_place_of(self, name: str) -> Callable[..., Any]:
        """Return what stands in for *name*, one of the parser's methods that parse."""

        def parse(self: Enabled, /, *given: Any, **named: Any) -> Any:
            own = self.own[name]
            if self.parsing or _is_parsing():  # the methods, and parsers, call one another
                return own(*given, **named)
            invocation, self._shown = self._shown, None
            if invocation is None:
                words = given[0] if given else named.get("args")
                if not is_own(own):
                    from .signatures import words_in

                    words = words_in(own, given, named)
                invocation = self.begin(words, keep_extras="known" in name)
                self._hand_over(invocation, words)
            return self.run(invocation, own, given, named)

        return MethodType(parse, self)

    def _showing(self, name: str) -> Callable[..., Any]:
        """Return what stands in for *name*, a method of the parser that prints a help text.

        A tool that prints its help when it is called with nothing, before it parses or behind that,
        is answered for under the contracts that answer such a call.
        """

        def show(self: Enabled, /, *given: Any, **named: Any) -> Any:
            invocation = current()
            if invocation is None and self._answers_bare_calls():
                invocation = self._shown = self.begin(None)
                self._hand_over(invocation, None)
            if invocation is not None and invocation.request.runner is self:
                call = invocation.call
                if not (call.rest or call.mounted):  # nothing but flags of ours
                    invocation.running.shows_help = invocation.contract.answers_help
            return self.own[name](*given, **named)

        return MethodType(show, self)

    def _answers_bare_calls(self) -> bool:
        """Return whether an agent has called the tool with nothing but what says how to answer."""
        contract = find_contract(os.environ.get("MURLI_CONTRACT") or self.settings.contract)
        if contract is not None and not contract.answers_help:
            return False
        from ...call.ending import can_adopt
        from ...formats import is_terminal

        is_agent = not self.settings.is_for_people(is_terminal(sys.stdout))
        return is_agent and len(sys.argv) == 1 and can_adopt(None)

    def _hand_over(self, invocation: Invocation, args: Sequence[str] | None) -> None:
        """Let the rest of the program be the handler, when the process is ours."""
        from ...call.ending import adopt_program, can_adopt

        if self.joins:
            return
        if can_adopt(args):
            adopt_program(invocation)
        else:
            invocation.undo_all()  # we are not notified when the handler ends

    # -- what the runtime asks -------------------------------------------------------------

    def name(self) -> str:
        """Return the name people type to call the tool."""
        prog = self.settings.name or self.parser.prog or ""
        if prog == os.path.basename(sys.argv[0]):
            # argparse made the name up from the file's; nobody calls a tool __main__.py.
            prog = program_name()
        return prog.rpartition(" ")[2]

    def version(self) -> str:
        """Return the version that ``--version`` prints, else that of the caller's package."""
        for action in self.parser._actions:
            if isinstance(action, argparse._VersionAction):
                found = _version_in(str(action.version or self.parser.prog))
                if found:
                    return found
        return version_of(self.caller)

    def translated(self, error: BaseException) -> BaseException:
        """Return *error*: what argparse raises is answered where it is raised."""
        return error

    def host(self) -> ParserHost:
        """Return what answers whatever else the runtime asks about the tool."""
        from .host import ParserHost

        return ParserHost(self)

    @property
    def app(self) -> argparse.ArgumentParser:
        """The parser that was enabled."""
        return self.parser


def names_in(parser: argparse.ArgumentParser) -> str:
    """Return the names of the options of *parser*, a NUL behind each."""
    names = [action.dest for action in parser._actions if action.option_strings]
    return "\0".join((*parser._option_string_actions, *names, ""))


def expand_files(parser: argparse.ArgumentParser, argv: list[str]) -> list[str]:
    """Return *argv* with the files read that ``fromfile_prefix_chars`` lets it name."""
    prefixes = parser.fromfile_prefix_chars
    if not prefixes:
        return argv
    names = [word[1:] for word in argv if word and word[0] in prefixes]
    if not all(os.access(name, os.R_OK) for name in names):
        return argv  # argparse will say what is wrong with them
    return list(parser._read_args_from_files(argv))


def _is_parsing() -> bool:
    """Return whether an enabled parser parses, of which others are a part then."""
    invocation = current()
    return invocation is not None and getattr(invocation.request.runner, "note", None) is not None


def is_own(method: Any) -> bool:
    """Return whether *method* of a parser is argparse's own, and not that of a subclass."""
    return getattr(method, "__module__", "") == "argparse"


def _hook(parser: argparse.ArgumentParser) -> None:
    """Make *parser* report its errors, and show its help, to the audience that is there.

    Subclasses have methods with other arguments: they get what they are called with.
    """
    if hasattr(parser, _HOOKED):
        return
    is_custom = not (is_own(parser.error) and is_own(parser.exit))
    # The parser's own methods, and whether an error() of the author's own is being called.
    hooked: Any = {name: getattr(parser, name) for name in ("error", "exit", "format_help")}
    setattr(parser, _HOOKED, hooked)

    def error(parser: Any, /, *given: Any, **named: Any) -> Any:
        own = getattr(parser, _HOOKED)
        own_error, invocation = own["error"], current()
        is_handled = own.get("is_handled", False)
        if invocation is None or (is_custom and invocation.is_for_people) or is_handled:
            return own_error(*given, **named)
        from .errors import report

        own["is_handled"] = is_custom
        try:
            return report(parser, own_error, given, named, is_custom=is_custom)
        finally:
            own["is_handled"] = False

    def exit(parser: Any, /, *given: Any, **named: Any) -> Any:
        own, invocation = getattr(parser, _HOOKED), current()
        if invocation is not None:
            if sys._getframe(1).f_code is _VERSION_CODE:
                invocation.running.explained = True
            elif is_own(own["exit"]) and not (invocation.writer.is_tty() or own.get("is_handled")):
                from .errors import report_exit

                report_exit(invocation, *given, **named)
        return own["exit"](*given, **named)

    def format_help(parser: Any, /, *given: Any, **named: Any) -> Any:
        text = getattr(parser, _HOOKED)["format_help"](*given, **named)
        invocation = current()
        if invocation is None:
            return text
        if invocation.writer._reply.phase == "validation":
            invocation.running.explained = True
        from .help import our_section

        section = our_section(parser, invocation)
        return text + section if section else text

    for function in (error, exit, format_help):
        setattr(parser, function.__name__, MethodType(function, parser))


def _version_in(text: str) -> str:
    """Return the word of *text* that looks like a version: ``riffle 1.0.2 (linux)``."""
    words = [word.strip("()[],;:").removeprefix("v") for word in text.split()]
    numbers = [word for word in words if word[:1].isdigit()]
    return next((word for word in numbers if "." in word), numbers[0] if numbers else "")
