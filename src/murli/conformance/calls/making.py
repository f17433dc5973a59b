"""Calls of a tool: which may be made, what came back, and checks that look at every call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import chain
from typing import Any

from ...wire.catalogue import Command, Flag
from ...wire.dialects import Dialect
from ...wire.values import object_in, text_in
from ..confirming import CONFIRMING
from ..judging import Look, NotVerified, finding, or_not_applicable
from ..processes import EVENTS
from ..results import Evidence, Finding
from ..shapes.kinds import shown
from ..target import NO_SUCH_FLAG, Subject
from .documents import answer_of, code_in, envelope_of, error_of

_SHORT = ("y", "f")
# Output that nobody read proves nothing.
_UNREAD = (EVENTS["reader-gone"], EVENTS["null-device"])


def named(command: Command) -> str:
    """Return the words of *command* after the tool's name."""
    return " ".join(command.path)


@dataclass(frozen=True)
class Call:
    """One call; *command* is the name of its command."""

    target: Target
    command: str
    evidence: Evidence

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words after those that run the tool."""
        return self.evidence.argv[len(self.target.prober.tool) :]

    @property
    def dialect(self) -> Dialect:
        """The numbers and names of the contract."""
        return self.target.dialect

    @property
    def exit_code(self) -> int:
        """The exit code of the process; negative for a signal."""
        return self.evidence.exit_code or 0

    @property
    def ended(self) -> str:
        """How the process ended, in words."""
        return self.evidence.ended

    @property
    def changed(self) -> str:
        """A sentence about the files it changed, ``""`` if there are none."""
        files = ", ".join(self.evidence.changed[:3])
        return f"it changed {files}" if files else ""

    @cached_property
    def error(self) -> Mapping[str, Any]:
        """The error object, empty if there is none."""
        if self.target.is_enveloped:
            return object_in((self.document or {}).get("error"))
        return error_of(self.evidence) or {}

    @property
    def error_name(self) -> Any:
        """The name of the error that programs branch on, ``""`` if there is none."""
        if self.target.is_enveloped:
            return text_in(self.error.get("code"))
        return self.error.get("error", "")

    @property
    def status(self) -> Any:
        """The ``status`` of a murli answer."""
        return (answer_of(self.evidence) or {}).get("status")

    @cached_property
    def document(self) -> dict[str, Any] | None:
        """The envelope, if there is one."""
        return envelope_of(self.evidence)

    @property
    def data(self) -> Any:
        """The data of the envelope."""
        return (self.document or {}).get("data")

    @property
    def meta(self) -> Mapping[str, Any]:
        """The meta object of the envelope, empty if there is none."""
        return object_in((self.document or {}).get("meta"))

    @cached_property
    def kind(self) -> str:
        """``answer``, ``stream``, ``help``, ``version``, or ``bare`` for a call without words."""
        if not self.words:
            return "bare"
        if "--help" in self.words or "--version" in self.words:
            return "help" if "--help" in self.words else "version"
        probes = self.target.probes("stream")
        streams = "--stream" in self.words or any(each.words == self.words for each in probes)
        by_default = self.target.entry_of(self.command).get("streaming_default") is True
        if streams or self.command == "exec" or (by_default and "--no-stream" not in self.words):
            return "stream"
        return "answer"


def is_half_done(call: Call) -> bool:
    """Return whether a murli answer reports that part of the work failed."""
    return call.evidence.exit_code == call.dialect.partial and call.status == "partial"


class Target(Subject):
    """A tool that checks look at: the calls that may be made of it, and what they showed."""

    def call_of(self, evidence: Evidence, command: str | None = None) -> Call | None:
        """Return the call of *evidence*; ``None`` if it cannot show anything about envelopes."""
        words = evidence.argv[len(self.prober.tool) :]
        name = self.command_of(words) if command is None else command
        if self.is_enveloped:
            if evidence.exit_code is None or any(each in evidence.event for each in _UNREAD):
                return None
            if is_foreign(self.entry_of(name)):
                return None
        return Call(self, name, evidence)

    def made(self, *words: str, command: Command | None = None, **how: Any) -> Call | None:
        """Call the tool, *command* if it is known; ``None`` if the call shows nothing."""
        name = None if command is None else named(command)
        return self.call_of(self.run(*words, **how), name)

    def called(self, command: Command, *more: str, **how: Any) -> Call:
        """Make a complete call of *command*, followed by *more*."""
        return Call(self, named(command), self.run(*self.words(command, *more), **how))

    def seen(self, *making: Iterable[object]) -> list[Call]:
        """Return the calls made so far; for envelopes only those that ended and must have one.

        Those that *making* yields are made before.
        """
        for _ in chain(*making):
            pass
        found = (self.call_of(each) for each in self.prober.seen)
        return [each for each in found if each is not None]

    def all_calls(self) -> list[Call]:
        """Make the calls that show how a tool answers, and return all calls made so far."""
        words = ("--help", "--version", "manifest")
        return self.seen(self.answers(), self.mistakes(), map(self.run, words))

    def answers(self) -> Iterator[Call]:
        """Make one call of each command that may be run."""
        for command in self.safe:
            yield self.called(command)
        for probe in self.probes("call"):
            yield Call(self, self.command_of(probe.words), self.vouched(probe))

    def mistakes(self) -> Iterator[Call]:
        """Make wrong calls that can do no harm, and yield those that show something."""
        for name, words in self._mistaken():
            if call := self.call_of(self.run(*words, NO_SUCH_FLAG), name):
                yield call

    def _mistaken(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        for command in self.commands:
            if command.is_group or self.is_safe(command) or not command.path:
                # With its arguments, so that nothing else is wrong with it.
                words = self.path_to(command) if command.is_group else self.words(command)
                yield named(command), words
        if all(each.path for each in self.commands):
            yield "", ()

    def answered(self) -> Iterator[Call]:
        """Make one call of each command that may be run, and yield those that succeeded."""
        for call in self.answers():
            if call.evidence.exit_code == 0 or (not call.error and is_half_done(call)):
                yield call

    def working(self, taken: str = "") -> list[Command]:
        """Return the commands that may be run and succeed, but for those with a flag *taken*."""
        found = [
            each
            for each in self.safe
            if taken not in each.flags and self.run(*self.words(each)).exit_code == 0
        ]
        if not found:
            raise NotVerified(
                "no command that only reads works as called; name its words in [arguments]"
            )
        return found

    @cached_property
    def entries(self) -> dict[str, Mapping[str, Any]]:
        """Return the entries of the manifest, by the name of the command."""
        listed = object_in(self.description.get("commands"))
        root = self.catalogue.name if self.catalogue is not None else ""
        return {
            "" if key == root else key.replace(".", " "): object_in(each)
            for key, each in listed.items()
            if key
        }

    def entry_of(self, name: str) -> Mapping[str, Any]:
        """Return the entry of the command *name*, empty if there is none."""
        return self.entries.get(name, {})

    def listed(self) -> dict[str, Mapping[str, Any]]:
        """Return the entries of the manifest; raises `NotVerified` if there are none."""
        found = self.entries
        if not found:
            raise NotVerified("there is no manifest")
        return found

    def need_commands(self) -> None:
        """Raise `NotVerified` if no command is known."""
        if self.is_enveloped:
            self.listed()
        elif not self.commands:
            raise NotVerified("no command is known")

    def readers(self) -> Iterator[Command]:
        """Yield the commands that may be run and return an envelope."""
        return (each for each in self.safe if not is_foreign(self.entry_of(named(each))))

    def flag_of(self, command: Command, name: str) -> Flag | None:
        """Return the option *name* of *command*: its own, or one that all commands have."""
        shared = self.catalogue.shared if self.catalogue is not None else None
        return command.flags.get(name) or (shared or {}).get(name)

    def is_complete(self, command: Command) -> bool:
        """Return whether a call of *command* is sure to have all arguments it needs."""
        if named(command) in self.profile.arguments:
            return True
        above = self.catalogue.along(command)[:-1] if self.catalogue is not None else ()
        if any(flag.required for group in above for flag in group.flags.values()):
            return False
        if self.entry_of(named(command)).get("requires"):
            return False
        return command.positionals is not None and len(self.words(command)) == len(command.path)

    def repeated(self, words: tuple[str, ...]) -> list[Call | None]:
        """Make a call three times, each with another kind of stdin, which it does not read."""
        return [self.made(*words, stdin=each) for each in ("null", "closed", "silent")]

    def is_steady(self, words: tuple[str, ...]) -> bool:
        """Return whether repeated calls return the same data."""
        calls = self.repeated(words)
        first = calls[0]
        return first is not None and all(
            each is not None and each.exit_code == first.exit_code and same(each.data, first.data)
            for each in calls
        )

    def is_understood(self, flag: str) -> bool:
        """Return whether all commands that may be run, or else the tool, support *flag*.

        A tool that ignores it returns the usual data; only values around the data differ.
        """
        commands = list(self.readers())
        for command in commands:
            asked, plain = self.made(*command.path, flag), self.made(*self.words(command))
            if asked is None or plain is None or asked.exit_code != 0:
                return False
            if plain.exit_code == 0 and _alike(asked.data, plain.data):
                return False
        if commands:
            return True
        asked, wrong = self.made(flag), self.made(NO_SUCH_FLAG)
        if asked is None or wrong is None:
            return False
        return asked.exit_code == 0 and wrong.exit_code != 0


def confirms(command: Command, words: Sequence[str]) -> bool:
    """Return whether *words* might confirm a call of *command*."""
    names = {*CONFIRMING, command.confirm_flag} - {""}
    own = command.flags.keys() - names
    shorts = {*_SHORT, *(command.flags[each].short for each in names & command.flags.keys())}
    shorts -= {"", *(command.flags[each].short for each in own)}
    for word in words:
        name = word.partition("=")[0].removeprefix("--")
        if word.startswith("--"):
            # Some parsers accept unambiguous prefixes of options.
            if name and name not in own and any(each.startswith(name) for each in names):
                return True
        elif word.startswith("-") and not shorts.isdisjoint(word):
            return True
    return False


def is_foreign(entry: Mapping[str, Any]) -> bool:
    """Return whether stdout is written in another protocol, or by another program."""
    return entry.get("stdout") == "protocol" or entry.get("arguments") == "passthrough"


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal; values nested too deep to compare count as equal."""
    try:
        return bool(one == other) and repr(one) == repr(other)  # 1 is not True, nor 1.0
    except RecursionError:
        return True


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys()
    return same(one, other)


# -- checks that look at every call ----------------------------------------------------------------

Source = Callable[[Target], Iterable[Call]]


def over(
    source: Source, *, warn: bool = False, otherwise: str = ""
) -> Callable[[Callable[[Call], str | None]], Look]:
    """Return a decorator that turns a function from a call to its problem into a check.

    ``None`` is returned for a call that shows nothing. If no call shows anything, the check is not
    applicable, for the reason *otherwise*.
    """

    def decorated(trouble_in: Callable[[Call], str | None]) -> Look:
        @wraps(trouble_in)
        def look(target: Target) -> Iterator[Finding]:
            for call in source(target):
                trouble = trouble_in(call)
                if trouble is not None:
                    yield finding(trouble, call.command, call.evidence, warn=warn)

        if not otherwise:
            return look
        return wraps(trouble_in)(lambda target: or_not_applicable(look(target), otherwise))

    return decorated


def by_wire(murli: Source, envelope: Source) -> Source:
    """Return a source of calls that depends on the contract: *murli*'s, or the *envelope*'s."""
    return lambda target: (envelope if target.is_enveloped else murli)(target)


def unlike(call: Call, kind: str, code: int) -> str:
    """Return how a call differs from one that failed as *kind*, with *code*."""
    name = kind.upper() if call.target.is_enveloped else kind
    if not call.error:
        return f"{call.ended}, and no error document"
    if call.error_name != name:
        return f"{shown(call.error_name)} instead of {name}"
    found = call.exit_code if call.target.is_enveloped else code_in(call.error, call.evidence)
    return "" if found == code else f"code {shown(found)} instead of {code}"


def unsuccessful(call: Call, what: str = "") -> str:
    """Return a sentence if a call did not exit with 0; *what* names what was called."""
    found = f"{call.ended} instead of exit 0" if call.evidence.exit_code != 0 else ""
    return f"{what}: {found}" if what and found else found
