"""The table of murli's own flags.

Every flag is one entry of the table below. Parsing, help, ``describe``, the manifest, what counts
as intent, the client, the conformance checks and the reference of flags are derived from it. To add
a flag, add an entry and the code that does the work. A flag that exists in every contract is also
named in `murli.core.FLAG_NAMES`, by which a call that has none of ours is known without this one.
"""

from __future__ import annotations

from ..contracts import MURLI, VALID_PROTOCOL_VERSIONS
from ..formats import OUTPUT_FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ..contracts import Contract
    from ..declare.traits import Traits
    from ..declare.tree import Flag


# Mounted commands whose answers have no parts to choose from.
UNPAGED_COMMANDS = ("describe", "profile", "doctor")
# The formats of the contracts with ResponseEnvelopes by our own names for them.
FORMATS = {
    "json": "json",
    "jsonl": "ndjson",
    "plain": "text",
    "table": "text",
    "tsv": "tsv",
    "toon": "toon",
}


class CommandFacts:
    """What decides which flags mean something on a command; see ``OwnFlag.applies``."""

    acts = True  # it is no group that only leads to others
    reads = True  # it only reads, as far as anybody has declared or its name shows
    mutating = destructive = dry_runnable = lists = streams = False
    confirmable = False  # a call must be confirmed before it changes something
    has_timeout = False
    has_profiles = False
    needs_agent_flag = False
    format_flag = ""
    traits: Traits | None = None

    def __init__(self, **known: Any) -> None:
        self.__dict__.update(known)


def _always(facts: CommandFacts) -> bool:
    return True


class OwnFlag:
    """One flag of murli's.

    - *names*: its spellings; the last is the one that documents have.
    - *group*: ``caller``, ``describe``, ``format``, ``part``, ``safety``, ``input``, ``time``,
      ``wait``, ``network``, ``messages`` or ``profile``.
    - *help*: what it does.
    - *metavar*: what stands for its value in help, ``N`` for a number; ``""`` for a switch.
    - *destination*: the attribute of `core.Call`, or the key of its ``extra``.
    - *views*: where it is listed: ``help``, ``describe``, ``manifest`` (its root) and ``command``
      (the entry of a command there).
    - *applies*: whether it means something on a command, as far as `CommandFacts` show.
    - *everywhere*: whether it exists in every contract, or only in those with ResponseEnvelopes.
    - *for_agents*: whether it means nothing to a person.
    - *intent*: whether it is meant for one call only: never saved, nor taken from a variable.
    - *claimed*: whether it is ours although the command forwards options it does not know.
    - *for_each_call*: whether ``exec`` passes it on to each of its calls.
    - *selects*: whether it decides what the parts of a result are, and not only which are wanted.
    - *effect*: ``confirms`` a change, ``previews`` it, or neither.
    - *choices*, *type*: the values it takes.
    - *claimed_values*: values with which it is ours although the command would abbreviate to it.
    """

    metavar = destination = effect = ""
    everywhere = for_agents = intent = claimed = for_each_call = selects = False
    choices: tuple[str, ...] = ()
    claimed_values: tuple[str, ...] = ()

    def __init__(
        self,
        names: str,
        group: str,
        help: str,
        *,
        views: str = "",
        applies: Callable[[CommandFacts], bool] = _always,
        **details: Any,
    ) -> None:
        self.__dict__.update(details)
        self.names, self.group, self.help = tuple(names.split()), group, help
        self.views, self.applies = tuple(views.split()), applies
        self.destination = self.destination or self.key.replace("-", "_")
        if self.choices:
            self.metavar = f"{{{','.join(self.choices)}}}"
        self.type = "int" if self.metavar == "N" else "string" if self.metavar else "bool"

    @property
    def key(self) -> str:
        """The name by which documents know it, without dashes."""
        return self.names[-1][2:]

    @property
    def takes_value(self) -> bool:
        """Whether it is written with a value."""
        return bool(self.metavar)

    @property
    def is_early(self) -> bool:
        """Whether it decides how everything is answered, before the framework parses."""
        return self.group in ("caller", "format")

    @property
    def is_about_the_answer(self) -> bool:
        """Whether calls that differ in it alone ask for the same result."""
        groups = ("caller", "format", "part", "time", "wait", "messages")
        return self.group in groups and not self.selects

    def documented(self, default: Any = None, *, standard: bool = False) -> Flag:
        """Return it as a flag of a command tree."""
        from ..declare.tree import Flag

        if not self.takes_value:
            return Flag(self.key, "bool", False, self.help, values=0, standard=standard)
        return Flag(
            self.key, self.type, default, self.help, choices=self.choices, standard=standard
        )


def _has(trait: str) -> Callable[[CommandFacts], bool]:
    return lambda facts: bool(getattr(facts.traits, trait, None))


# On which commands flags mean something: what a name in the table stands for.
_CONDITIONS: dict[str, Callable[[CommandFacts], bool]] = {
    "always": _always,
    "--output": lambda facts: facts.format_flag == "--output",
    "--format": lambda facts: facts.format_flag == "--format",
    "acts": lambda facts: facts.acts,
    "reads": lambda facts: facts.acts and facts.reads,
    "unchanging": lambda facts: facts.acts and not facts.mutating,
    "lists": lambda facts: facts.lists and not facts.mutating,
    "streams": lambda facts: facts.streams,
    "streamable": lambda facts: facts.lists and not facts.streams and not facts.destructive,
    "timed": lambda facts: facts.has_timeout,
    "silent": lambda facts: facts.needs_agent_flag,
    "confirmable": lambda facts: facts.confirmable,
    "previews": lambda facts: facts.dry_runnable,
    "destroys": lambda facts: facts.destructive,
    "changes": lambda facts: facts.mutating,
    "changes once": lambda facts: facts.mutating and not facts.streams,
    "stdin": lambda facts: getattr(facts.traits, "stdin", None) is not None,
    "safe": _has("safe_default"),
    "network": _has("has_network_io"),
    "login": _has("token_env_vars"),
    "profiles": lambda facts: facts.has_profiles,
}

# The flags, in the order in which they are listed. Of each, in two lines: names, metavar, group,
# views, the condition under which it applies, and which of its switches are on; then its help.
_TABLE = """
--output | | format | help | --output | everywhere
    Choose the format of the answer
--format | | format | help manifest | --format |
    Choose the format of the answer
--query | JMESPATH | part | help manifest | acts | everywhere selects
    Return what this JMESPath expression finds in the result
--fields | NAMES | part | help manifest | acts | everywhere
    Return only these fields: id,owner.name
--limit | N | part | help describe manifest command | lists | everywhere
    Return at most N items of a list; 0 for all
--cursor | CURSOR | part | help describe manifest command | lists | everywhere
    Continue where the previous answer ended
--etag | ETAG | part | help manifest | unchanging | everywhere
    Return not_modified if the result still has this etag
--max-bytes | N | part | help manifest | unchanging | everywhere
    Truncate the answer to N bytes; 0 for no limit
--max-tokens | N | part | help manifest | unchanging | everywhere
    Truncate the answer to N tokens; 0 for no limit
--no-stream | | part | command | streams | everywhere
    Write all items in one answer
--stream | | part | command | streamable | everywhere
    Write each item on a line of its own
--timeout | TIME | time | manifest command | timed | everywhere
    Stop the call after this time: 30, 500ms, 2m; 0 for no limit
--until | FIELD=VALUE | wait | help command | reads | everywhere
    Repeat the call until a field of its result has one of these values
--until-not | FIELD=VALUE | wait | help manifest | reads | everywhere
    Repeat the call until a field has none of these values any more
--every | TIME | wait | help manifest | reads | everywhere
    Time from one call to the next with --until: 5s, 500ms, 2m
--agent | | caller | help manifest | silent | everywhere claimed
    Answer as for an agent, at a terminal too
--contract | CONTRACT | caller | | always | everywhere
    Answer in this contract
--protocol-version | VERSION | caller | | always | everywhere
    Require this version of the protocol
--schema | | describe | help manifest | always | everywhere claimed
    Describe this command as JSON and exit
--print-schema | | describe | | always |
    Describe this command as JSON and exit
--output-schema | | describe | manifest | always |
    Print the JSON Schema of the data and exit
--force --yes | | safety | help describe command | confirmable | everywhere intent for_each_call
    Confirm the change
--dry-run | | safety | help describe command | previews | everywhere intent
    Show what would be done, and do nothing
--confirm-destructive | | safety | command | destroys | intent for_each_call
    Confirm a change that cannot be undone
--live | | safety | command | safe | intent for_each_call
    Make the change; without this flag the call is a dry run
--validate-only | | safety | manifest | always | for_agents for_each_call
    Check the arguments, and do nothing
--idempotency-key | KEY | safety | command | changes once | for_agents
    Return the answer of the first call with this key
--raw-payload | JSON | input | command | changes | for_agents
    Pass all parameters as one JSON object instead of flags
--input-file | PATH | input | command | stdin | for_agents
    Read this file instead of stdin
--non-interactive | | input | manifest | always | for_agents for_each_call
    Never ask for input
--connect-timeout | TIME | network | command | network |
    Wait this long to connect: 5, 500ms; 0 for no limit
--token-env-var | NAME | network | command | login |
    Read the credentials from this variable
--headless | | network | command | login |
    Do not log in interactively
--quiet | | messages | manifest | always | for_agents for_each_call
    Write nothing to stderr
--verbose | | messages | manifest | always | for_agents for_each_call
    Write more to stderr
--debug | | messages | manifest | always | everywhere for_each_call
    Write debug messages and tracebacks to stderr
--no-update-check | | network | manifest | always | for_agents
    Do not look for a newer version
--profile | NAME | profile | help manifest | profiles | everywhere for_each_call
    Use the flag values saved under this name
"""
# What is so of one flag only, by its names.
_DETAILS: dict[str, dict[str, Any]] = {
    "--output": {"choices": OUTPUT_FORMATS, "claimed_values": OUTPUT_FORMATS},
    "--format": {"choices": tuple(FORMATS)},
    "--protocol-version": {"claimed_values": VALID_PROTOCOL_VERSIONS},
    "--print-schema": {"destination": "schema"},
    "--force --yes": {"destination": "force", "effect": "confirms"},
    "--dry-run": {"effect": "previews"},
    "--confirm-destructive": {"destination": "confirmed", "effect": "confirms"},
    "--live": {"effect": "confirms"},
    "--validate-only": {"effect": "previews"},
}


def _entries() -> Iterator[OwnFlag]:
    lines = iter(_TABLE.strip().splitlines())
    for line, help in zip(lines, lines, strict=True):
        names, metavar, group, views, condition, marks = map(str.strip, line.split("|"))
        details = {**dict.fromkeys(marks.split(), True), **_DETAILS.get(names, {})}
        applies = _CONDITIONS[condition]
        yield OwnFlag(
            names, group, help.strip(), metavar=metavar, views=views, applies=applies, **details
        )


OWN_FLAGS = tuple(_entries())


def flags_in(contract: Contract = MURLI) -> dict[str, OwnFlag]:
    """Return the flags that exist in *contract*, by each of their names."""
    return {
        name: flag
        for flag in OWN_FLAGS
        if flag.everywhere or contract.adds_flags
        for name in flag.names
    }


def flag_named(name: str) -> OwnFlag:
    """Return the flag called *name*, dashes included."""
    return next(flag for flag in OWN_FLAGS if name in flag.names)


def names_where(condition: Callable[[OwnFlag], bool]) -> frozenset[str]:
    """Return the names of the flags for which *condition* holds."""
    return frozenset(name for flag in OWN_FLAGS if condition(flag) for name in flag.names)


def listed(view: str, facts: CommandFacts, groups: Sequence[str] = ()) -> Iterator[OwnFlag]:
    """Return the flags to list in *view*, in the order of the table, or of *groups*."""
    flags = [flag for flag in OWN_FLAGS if view in flag.views and flag.applies(facts)]
    if not groups:
        return iter(flags)
    return (flag for group in groups for flag in flags if flag.group == group)


def part_flags() -> frozenset[str]:
    """Return the names of the flags that choose a part of an answer."""
    return names_where(lambda flag: flag.group == "part")
