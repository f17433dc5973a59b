"""Calls of a tool: which may be made, what came back, and checks that look at every call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, wraps
from typing import Any

from ...wire.catalogue import Command, Flag
from ...wire.dialects import Dialect
from ...wire.envelopes import object_in, text_in
from ..confirming import CONFIRMING
from ..judging import Look, NotVerified, finding, or_not_applicable
from ..processes import EVENTS
from ..results import Evidence, Finding
from ..target import NO_SUCH_FLAG, Target
from .documents import answer_of, envelope_of, error_of

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
        by_default = entry_of(self.target, self.command).get("streaming_default") is True
        if streams or self.command == "exec" or (by_default and "--no-stream" not in self.words):
            return "stream"
        return "answer"


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


def unsuccessful(call: Call, what: str = "") -> str:
    """Return a sentence if a call did not exit with 0; *what* names what was called."""
    found = f"{call.ended} instead of exit 0" if call.evidence.exit_code != 0 else ""
    return f"{what}: {found}" if what and found else found


# -- calls -----------------------------------------------------------------------------------------


def call_of(target: Target, evidence: Evidence, command: str | None = None) -> Call | None:
    """Return the call of *evidence*; ``None`` if it cannot show anything about envelopes."""
    words = evidence.argv[len(target.prober.tool) :]
    name = target.command_of(words) if command is None else command
    if target.is_enveloped:
        if evidence.exit_code is None or any(each in evidence.event for each in _UNREAD):
            return None
        if is_foreign(entry_of(target, name)):
            return None
    return Call(target, name, evidence)


def made(target: Target, *words: str, command: Command | None = None, **how: Any) -> Call | None:
    """Call the tool, *command* if it is known; ``None`` if the call shows nothing."""
    name = None if command is None else named(command)
    return call_of(target, target.run(*words, **how), name)


def called(target: Target, command: Command, *more: str, **how: Any) -> Call:
    """Make a complete call of *command*, followed by *more*."""
    return Call(target, named(command), target.run(*target.words(command, *more), **how))


def seen(target: Target) -> list[Call]:
    """Return the calls made so far; for envelopes only those that ended and must have one."""
    found = (call_of(target, each) for each in target.prober.seen)
    return [each for each in found if each is not None]


def all_calls(target: Target) -> list[Call]:
    """Make the calls that show how a tool answers, and return all calls made so far."""
    for made_now in (target.answers(), target.mistakes()):
        for _ in made_now:
            pass
    for word in ("--help", "--version", "manifest"):
        target.run(word)
    return seen(target)


def answers(target: Target) -> Iterator[Call]:
    """Make one call of each command that may be run."""
    return (Call(target, name, evidence) for name, evidence in target.answers())


def is_half_done(call: Call) -> bool:
    """Return whether a murli answer reports that part of the work failed."""
    return call.evidence.exit_code == call.dialect.partial and call.status == "partial"


def answered(target: Target) -> Iterator[Call]:
    """Make one call of each command that may be run, and yield those that succeeded."""
    for call in answers(target):
        if call.evidence.exit_code == 0 or (not call.error and is_half_done(call)):
            yield call


def working(target: Target, taken: str = "") -> list[Command]:
    """Return the commands that may be run and succeed, but for those with a flag *taken*."""
    found = [
        each
        for each in target.safe
        if taken not in each.flags and target.run(*target.words(each)).exit_code == 0
    ]
    if not found:
        raise NotVerified(
            "no command that only reads works as called; name its words in [arguments]"
        )
    return found


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


# -- what a manifest says --------------------------------------------------------------------------


@lru_cache(maxsize=1)
def entries(target: Target) -> dict[str, Mapping[str, Any]]:
    """Return the entries of the manifest, by the name of the command."""
    listed = object_in(target.description.get("commands"))
    root = target.catalogue.name if target.catalogue is not None else ""
    return {
        "" if key == root else key.replace(".", " "): object_in(each)
        for key, each in listed.items()
        if key
    }


def entry_of(target: Target, name: str) -> Mapping[str, Any]:
    """Return the entry of the command *name*, empty if there is none."""
    return entries(target).get(name, {})


def is_foreign(entry: Mapping[str, Any]) -> bool:
    """Return whether stdout is written in another protocol, or by another program."""
    return entry.get("stdout") == "protocol" or entry.get("arguments") == "passthrough"


def listed(target: Target) -> dict[str, Mapping[str, Any]]:
    """Return the entries of the manifest; raises `NotVerified` if there are none."""
    found = entries(target)
    if not found:
        raise NotVerified("there is no manifest")
    return found


def need_commands(target: Target) -> None:
    """Raise `NotVerified` if no command is known."""
    if target.is_enveloped:
        listed(target)
    elif not target.commands:
        raise NotVerified("no command is known")


def readers(target: Target) -> Iterator[Command]:
    """Yield the commands that may be run and return an envelope."""
    return (each for each in target.safe if not is_foreign(entry_of(target, named(each))))


def flag_of(target: Target, command: Command, name: str) -> Flag | None:
    """Return the option *name* of *command*: its own, or one that all commands have."""
    shared = target.catalogue.shared if target.catalogue is not None else None
    return command.flags.get(name) or (shared or {}).get(name)


def is_complete(target: Target, command: Command) -> bool:
    """Return whether a call of *command* is sure to have all arguments it needs."""
    if named(command) in target.profile.arguments:
        return True
    above = target.catalogue.along(command)[:-1] if target.catalogue is not None else ()
    if any(flag.required for group in above for flag in group.flags.values()):
        return False
    if entry_of(target, named(command)).get("requires"):
        return False
    return command.positionals is not None and len(target.words(command)) == len(command.path)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal; values nested too deep to compare count as equal."""
    try:
        return bool(one == other) and repr(one) == repr(other)  # 1 is not True, nor 1.0
    except RecursionError:
        return True


def repeated(target: Target, words: tuple[str, ...]) -> list[Call | None]:
    """Make a call three times, each with another kind of stdin, which it does not read."""
    return [made(target, *words, stdin=each) for each in ("null", "closed", "silent")]


def is_steady(target: Target, words: tuple[str, ...]) -> bool:
    """Return whether repeated calls return the same data."""
    calls = repeated(target, words)
    first = calls[0]
    return first is not None and all(
        each is not None and each.exit_code == first.exit_code and same(each.data, first.data)
        for each in calls
    )


def is_understood(target: Target, flag: str) -> bool:
    """Return whether all commands that may be run, or else the tool, support *flag*.

    A tool that ignores it returns the usual data; only values around the data differ.
    """
    commands = list(readers(target))
    for command in commands:
        asked, plain = made(target, *command.path, flag), made(target, *target.words(command))
        if asked is None or plain is None or asked.exit_code != 0:
            return False
        if plain.exit_code == 0 and _alike(asked.data, plain.data):
            return False
    if commands:
        return True
    asked, wrong = made(target, flag), made(target, NO_SUCH_FLAG)
    if asked is None or wrong is None:
        return False
    return asked.exit_code == 0 and wrong.exit_code != 0


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys()
    return same(one, other)
