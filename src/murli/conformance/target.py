"""A tool under examination: its description, and which calls may be made."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..declare.safety import suggests_change, suggests_reading
from ..wire.catalogue import Catalogue, Command
from ..wire.dialects import dialect_of
from ..wire.documents import parsed
from ..wire.values import list_in, object_in, text_in
from .confirming import CONFIRMING
from .probing import Prober
from .profile import Profile, ProfileProbe
from .results import CONTRACTS, Evidence

#: an option, a command and a format that do not exist
NO_SUCH_FLAG = "--murli-check-no-such-flag"
NO_SUCH_COMMAND = "murli-check-no-such-command"
NO_SUCH_FORMAT = "murli-check-no-such-format"
_FILLER = {"integer": "1", "number": "1", "object": "{}"}
_MOUNTED = (("describe",), ("doctor",), ("exec",), ("manifest",), ("mcp",), ("profile",))
#: the contracts with a ResponseEnvelope, oldest first
ENVELOPES = CONTRACTS[1:]
#: the contract of a tool that speaks none
NONE = "none"


class Subject:
    """A tool: what it says about itself, and which words call its commands."""

    def __init__(
        self,
        prober: Prober,
        profile: Profile,
        contract: str,
        speaks: str,
        wire: str = "",
        catalogue: Catalogue | None = None,
        description: dict[str, Any] | None = None,
    ) -> None:
        self.prober = prober
        self.profile = profile
        #: the contract that is checked, and the one it speaks
        self.contract = contract
        self.dialect = dialect_of(contract)
        self.speaks = speaks
        self.wire = wire
        self.catalogue = catalogue
        #: the ``describe`` document of a murli tool, the ``manifest`` of another
        self.description = description or {}
        self.run = prober.run
        # Asked for every command, with the same answer.
        self._understood: dict[str, bool] = {}

    @property
    def name(self) -> str:
        """The tool's own name for itself, or that of its program."""
        own = self.catalogue.name if self.catalogue is not None else ""
        return own or self.prober.tool[-1].rsplit("/", 1)[-1]

    @property
    def version(self) -> str:
        """The version in its description, ``""`` if there is none."""
        known = self.description
        return text_in(known.get("tool_version", known.get("framework_version")))

    @property
    def is_enveloped(self) -> bool:
        """Whether answers must have a ResponseEnvelope, of any revision."""
        return self.dialect.is_enveloped

    # -- commands --------------------------------------------------------------------------------

    @cached_property
    def commands(self) -> list[Command]:
        """All listed commands except those the profile excludes; the tool itself first."""
        listed = self.catalogue.commands.values() if self.catalogue is not None else ()
        found = [each for each in listed if " ".join(each.path) not in self.profile.exclude]
        return sorted(filter(_can_be_called, found), key=lambda each: each.path)

    @property
    def leaves(self) -> list[Command]:
        """The commands that do something themselves."""
        return [each for each in self.commands if not each.is_group]

    @property
    def groups(self) -> list[Command]:
        """The commands that have subcommands."""
        return [each for each in self.commands if each.is_group]

    @cached_property
    def _names(self) -> set[str]:
        return {each.path[0] for each in self.commands if each.path}

    def is_safe(self, command: Command) -> bool:
        """Return whether *command* may be run: declared to only read, and named accordingly."""
        if " ".join(command.path) in self.profile.safe:
            return True
        if command.mutating or command.destructive or command.requires_person:
            return False
        name = command.path or (self.name,)
        if command.mutating is None:
            # Undeclared: only a name such as ``list`` counts.
            return not self.is_enveloped and suggests_reading(name)
        # A murli tool that declares nothing about a command describes it as read-only.
        declared = self.is_enveloped or command.idempotent or suggests_reading(name)
        return bool(declared) and not suggests_change(name)

    @property
    def safe(self) -> list[Command]:
        """The commands that may be run."""
        return [each for each in self.leaves if self.is_safe(each)]

    @property
    def undeclared(self) -> list[Command]:
        """The commands whose danger is neither declared nor shown by a name that only reads."""
        return [each for each in self.leaves if each.mutating is None and not self.is_safe(each)]

    @property
    def was_run(self) -> bool:
        """Whether any command of the tool itself, not of its framework, could be run."""
        own = (each for each in self.safe if not self._is_mounted(each))
        return any(own) or bool(self.profile.probes)

    @property
    def is_group(self) -> bool:
        """Whether the tool does nothing without a subcommand, as far as is known."""
        root = next((each for each in self.commands if not each.path), None)
        if root is not None:
            return root.is_group
        described = object_in(parsed(self.run("describe").stdout))
        return bool(list_in(object_in(described.get("data", described)).get("commands")))

    @property
    def group_paths(self) -> list[tuple[str, ...]]:
        """The names of the groups that do nothing alone, the tool itself among them."""
        found = [each.path for each in self.groups if not each.positionals]
        return found if () in found or not self.is_group else [(), *found]

    def understands(self, flag: str) -> bool:
        """Return whether *flag* is supported: a tool that ignores it would run the command."""
        if flag in self._understood:
            return self._understood[flag]
        pairs = [
            (self.run(*self.path_to(each), flag), self.run(*self.words(each))) for each in self.safe
        ]
        pairs = pairs or [(self.run(flag), self.run(NO_SUCH_FLAG))]
        self._understood[flag] = all(
            asked.exit_code == 0 and _content(asked) != _content(plain) for asked, plain in pairs
        )
        return self._understood[flag]

    def may_be_asked(self, command: Command, flag: str) -> bool:
        """Return whether *command* may be called with *flag*, which must keep it from running."""
        return command.is_group or self.is_safe(command) or self.understands(flag)

    @property
    def guarded(self) -> list[Command]:
        """The commands that must refuse to run unconfirmed."""
        if not self.is_enveloped:
            return [each for each in self.leaves if each.mutating]
        return [
            each
            for each in self.leaves
            if each.destructive and not each.requires_person and not self._is_mounted(each)
        ]

    def _is_mounted(self, command: Command) -> bool:
        """Return whether a command is the framework's own; only later manifests declare that."""
        listed = object_in(self.description.get("commands"))
        entry = object_in(listed.get(".".join(command.path)))
        return entry.get("builtin") is True or (self.is_enveloped and command.path[:1] in _MOUNTED)

    # -- calls -----------------------------------------------------------------------------------

    def words(self, command: Command, *more: str) -> tuple[str, ...]:
        """Return the words of a complete call of *command*, from the profile or made up."""
        path = self.path_to(command)
        given = self.profile.arguments.get(" ".join(command.path))
        if given is not None:
            return (*path, *given, *more)
        places = [
            _value(each.kind, each.values) for each in command.positionals or () if each.required
        ]
        return (*path, *places, *self._required(command), *more)

    def path_to(self, command: Command) -> tuple[str, ...]:
        """Return the words that name *command*, with the required options of its groups."""
        found: list[str] = []
        before = 0
        for level in self.catalogue.along(command) if self.catalogue is not None else (command,):
            found += command.path[before : len(level.path)]
            before = len(level.path)
            if level is not command:
                found += self._required(level)
        return tuple(found)

    def _required(self, command: Command) -> list[str]:
        return [
            word
            for flag in command.flags.values()
            if flag.required and flag.name not in CONFIRMING
            # A switch might confirm a change.
            if flag.kind != "boolean" or self.is_safe(command)
            for word in _option(flag.name, flag.kind, flag.item, flag.values)
        ]

    def probes(self, kind: str) -> list[ProfileProbe]:
        """Return the calls of the profile of one kind."""
        return [each for each in self.profile.probes if each.kind == kind]

    def vouched(self, probe: ProfileProbe, **how: Any) -> Evidence:
        """Make a call of the profile."""
        if probe.stdin:
            how = {"stdin": "text", "text": probe.stdin.encode(), **how}
        return self.run(*probe.words, **how)

    def command_of(self, words: tuple[str, ...]) -> str:
        """Return the name of the command that *words* call."""
        start = next((at for at, word in enumerate(words) if word in self._names), 0)
        found = self.catalogue.find(words[start:]) if self.catalogue is not None else None
        return " ".join(found[0].path) if found is not None else ""


def _can_be_called(command: Command) -> bool:
    """Return whether the names of *command* are words, and not options."""
    return all(each.isprintable() and each.split() == [each] for each in command.path) and not any(
        each.startswith("-") for each in command.path
    )


def _content(evidence: Evidence) -> tuple[object, ...]:
    """Return the content of an answer, without what differs in every call."""
    document = parsed(evidence.stdout)
    if not isinstance(document, dict) or not isinstance(document.get("meta"), dict):
        return (evidence.exit_code, evidence.stdout)
    return (evidence.exit_code, document.get("data"), document["meta"].get("help"))


def _option(name: str, kind: str, item: str, values: tuple[str, ...]) -> tuple[str, ...]:
    if kind == "boolean":
        return (f"--{name}",)
    return (f"--{name}", _value(item if kind == "array" else kind, values))


def _value(kind: str, values: tuple[str, ...]) -> str:
    # A value that looks like an option might be one.
    usable = [each for each in values if not each.startswith("-")]
    return usable[0] if usable else _FILLER.get(kind, "murli-check")
