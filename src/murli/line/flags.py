"""The table of murli's own flags.

Every flag is one entry of `OWN_FLAGS`. Parsing, help, ``describe``, the manifest, what counts as
intent, the client, the conformance checks and the reference of flags are derived from it. To add a
flag, add an entry and the code that does the work. A flag that exists in every contract is also
named in `murli.core.FLAG_NAMES`, by which a call that has none of ours is known without this one.
"""

from __future__ import annotations

from ..contracts import MURLI, VALID_PROTOCOL_VERSIONS
from ..core import Record, fill
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


class OwnFlag(Record):
    """One flag of murli's.

    - *names*: its spellings; the last is the one that documents have.
    - *destination*: the attribute of `core.Call`, or the key of its ``extra``.
    - *group*: ``caller``, ``describe``, ``format``, ``part``, ``safety``, ``input``, ``time``,
      ``wait``, ``network``, ``messages`` or ``profile``.
    - *metavar*: what stands for its value in help; ``""`` for a switch.
    - *help*: what it does.
    - *views*: where it is listed: ``help``, ``describe``, ``manifest`` (its root) and ``command``
      (the entry of a command there).
    - *applies*: whether it means something on a command, as far as `CommandFacts` show.
    - *everywhere*: whether it exists in every contract, or only in those with ResponseEnvelopes.
    - *for_agents*: whether it means nothing to a person.
    - *intent*: whether it is meant for one call only: never saved, nor taken from a variable.
    - *effect*: ``confirms`` a change, ``previews`` it, or neither.
    - *type*, *choices*: the values it takes.
    - *claimed*: whether it is ours although the command forwards options it does not know.
    - *claimed_values*: values with which it is ours although the command would abbreviate to it.
    - *for_each_call*: whether ``exec`` passes it on to each of its calls.
    - *selects*: whether it decides what the parts of a result are, and not only which are wanted.
    """

    names: tuple[str, ...]
    destination: str
    group: str
    metavar: str
    help: str
    views: tuple[str, ...]
    applies: Callable[[CommandFacts], bool]
    everywhere: bool
    for_agents: bool
    intent: bool
    effect: str
    type: str
    choices: tuple[str, ...]
    claimed: bool
    claimed_values: tuple[str, ...]
    for_each_call: bool
    selects: bool

    def __init__(
        self,
        names: str,
        group: str,
        help: str,
        *,
        metavar: str = "",
        destination: str = "",
        views: str = "",
        applies: Callable[[CommandFacts], bool] | None = None,
        everywhere: bool = False,
        for_agents: bool = False,
        intent: bool = False,
        effect: str = "",
        type: str = "",
        choices: tuple[str, ...] = (),
        claimed: bool = False,
        claimed_values: tuple[str, ...] = (),
        for_each_call: bool = False,
        selects: bool = False,
    ) -> None:
        spellings = tuple(names.split())
        fill(
            self,
            names=spellings,
            destination=destination or spellings[-1][2:].replace("-", "_"),
            group=group,
            metavar=metavar or (f"{{{','.join(choices)}}}" if choices else ""),
            help=help,
            views=tuple(views.split()),
            applies=applies or (lambda facts: True),
            everywhere=everywhere,
            for_agents=for_agents,
            intent=intent,
            effect=effect,
            type=type or ("string" if metavar or choices else "bool"),
            choices=choices,
            claimed=claimed,
            claimed_values=claimed_values,
            for_each_call=for_each_call,
            selects=selects,
        )

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


OWN_FLAGS = (
    OwnFlag(
        *("--output", "format", "Choose the format of the answer"),
        choices=OUTPUT_FORMATS,
        views="help",
        applies=lambda facts: facts.format_flag == "--output",
        everywhere=True,
        claimed_values=OUTPUT_FORMATS,
    ),
    OwnFlag(
        *("--format", "format", "Choose the format of the answer"),
        choices=tuple(FORMATS),
        views="help manifest",
        applies=lambda facts: facts.format_flag == "--format",
    ),
    OwnFlag(
        *("--query", "part", "Return what this JMESPath expression finds in the result"),
        metavar="JMESPATH",
        views="help manifest",
        applies=lambda facts: facts.acts,
        everywhere=True,
        selects=True,
    ),
    OwnFlag(
        *("--fields", "part", "Return only these fields: id,owner.name"),
        metavar="NAMES",
        views="help manifest",
        applies=lambda facts: facts.acts,
        everywhere=True,
    ),
    OwnFlag(
        *("--limit", "part", "Return at most N items of a list; 0 for all"),
        metavar="N",
        type="int",
        views="help describe manifest command",
        applies=lambda facts: facts.lists and not facts.mutating,
        everywhere=True,
    ),
    OwnFlag(
        *("--cursor", "part", "Continue where the previous answer ended"),
        metavar="CURSOR",
        views="help describe manifest command",
        applies=lambda facts: facts.lists and not facts.mutating,
        everywhere=True,
    ),
    OwnFlag(
        *("--etag", "part", "Return not_modified if the result still has this etag"),
        metavar="ETAG",
        views="help manifest",
        applies=lambda facts: facts.acts and not facts.mutating,
        everywhere=True,
    ),
    OwnFlag(
        *("--max-bytes", "part", "Truncate the answer to N bytes; 0 for no limit"),
        metavar="N",
        type="int",
        views="help manifest",
        applies=lambda facts: facts.acts and not facts.mutating,
        everywhere=True,
    ),
    OwnFlag(
        *("--max-tokens", "part", "Truncate the answer to N tokens; 0 for no limit"),
        metavar="N",
        type="int",
        views="help manifest",
        applies=lambda facts: facts.acts and not facts.mutating,
        everywhere=True,
    ),
    OwnFlag(
        *("--no-stream", "part", "Write all items in one answer"),
        views="command",
        applies=lambda facts: facts.streams,
        everywhere=True,
    ),
    OwnFlag(
        *("--stream", "part", "Write each item on a line of its own"),
        views="command",
        applies=lambda facts: facts.lists and not facts.streams and not facts.destructive,
        everywhere=True,
    ),
    OwnFlag(
        *("--timeout", "time", "Stop the call after this time: 30, 500ms, 2m; 0 for no limit"),
        metavar="TIME",
        views="manifest command",
        applies=lambda facts: facts.has_timeout,
        everywhere=True,
    ),
    OwnFlag(
        *("--until", "wait", "Repeat the call until a field of its result has one of these values"),
        metavar="FIELD=VALUE",
        views="help command",
        applies=lambda facts: facts.acts and facts.reads,
        everywhere=True,
    ),
    OwnFlag(
        *("--until-not", "wait", "Repeat the call until a field has none of these values any more"),
        metavar="FIELD=VALUE",
        views="help manifest",
        applies=lambda facts: facts.acts and facts.reads,
        everywhere=True,
    ),
    OwnFlag(
        *("--every", "wait", "Time from one call to the next with --until: 5s, 500ms, 2m"),
        metavar="TIME",
        views="help manifest",
        applies=lambda facts: facts.acts and facts.reads,
        everywhere=True,
    ),
    OwnFlag(
        *("--agent", "caller", "Answer as for an agent, at a terminal too"),
        views="help manifest",
        applies=lambda facts: facts.needs_agent_flag,
        everywhere=True,
        claimed=True,
    ),
    OwnFlag(
        *("--contract", "caller", "Answer in this contract"),
        metavar="CONTRACT",
        everywhere=True,
    ),
    OwnFlag(
        *("--protocol-version", "caller", "Require this version of the protocol"),
        metavar="VERSION",
        everywhere=True,
        claimed_values=VALID_PROTOCOL_VERSIONS,
    ),
    OwnFlag(
        *("--schema", "describe", "Describe this command as JSON and exit"),
        views="help manifest",
        everywhere=True,
        claimed=True,
    ),
    OwnFlag(
        *("--print-schema", "describe", "Describe this command as JSON and exit"),
        destination="schema",
    ),
    OwnFlag(
        *("--output-schema", "describe", "Print the JSON Schema of the data and exit"),
        views="manifest",
    ),
    OwnFlag(
        *("--force --yes", "safety", "Confirm the change"),
        destination="force",
        views="help describe command",
        applies=lambda facts: facts.confirmable,
        everywhere=True,
        intent=True,
        effect="confirms",
        for_each_call=True,
    ),
    OwnFlag(
        *("--dry-run", "safety", "Show what would be done, and do nothing"),
        views="help describe command",
        applies=lambda facts: facts.dry_runnable,
        everywhere=True,
        intent=True,
        effect="previews",
    ),
    OwnFlag(
        *("--confirm-destructive", "safety", "Confirm a change that cannot be undone"),
        destination="confirmed",
        views="command",
        applies=lambda facts: facts.destructive,
        intent=True,
        effect="confirms",
        for_each_call=True,
    ),
    OwnFlag(
        *("--live", "safety", "Make the change; without this flag the call is a dry run"),
        views="command",
        applies=_has("safe_default"),
        intent=True,
        effect="confirms",
        for_each_call=True,
    ),
    OwnFlag(
        *("--validate-only", "safety", "Check the arguments, and do nothing"),
        views="manifest",
        for_agents=True,
        effect="previews",
        for_each_call=True,
    ),
    OwnFlag(
        *("--idempotency-key", "safety", "Return the answer of the first call with this key"),
        metavar="KEY",
        views="command",
        applies=lambda facts: facts.mutating and not facts.streams,
        for_agents=True,
    ),
    OwnFlag(
        *("--raw-payload", "input", "Pass all parameters as one JSON object instead of flags"),
        metavar="JSON",
        views="command",
        applies=lambda facts: facts.mutating,
        for_agents=True,
    ),
    OwnFlag(
        *("--input-file", "input", "Read this file instead of stdin"),
        metavar="PATH",
        views="command",
        applies=lambda facts: getattr(facts.traits, "stdin", None) is not None,
        for_agents=True,
    ),
    OwnFlag(
        *("--non-interactive", "input", "Never ask for input"),
        views="manifest",
        for_agents=True,
        for_each_call=True,
    ),
    OwnFlag(
        *("--connect-timeout", "network", "Wait this long to connect: 5, 500ms; 0 for no limit"),
        metavar="TIME",
        views="command",
        applies=_has("has_network_io"),
    ),
    OwnFlag(
        *("--token-env-var", "network", "Read the credentials from this variable"),
        metavar="NAME",
        views="command",
        applies=_has("token_env_vars"),
    ),
    OwnFlag(
        *("--headless", "network", "Do not log in interactively"),
        views="command",
        applies=_has("token_env_vars"),
    ),
    OwnFlag(
        *("--quiet", "messages", "Write nothing to stderr"),
        views="manifest",
        for_agents=True,
        for_each_call=True,
    ),
    OwnFlag(
        *("--verbose", "messages", "Write more to stderr"),
        views="manifest",
        for_agents=True,
        for_each_call=True,
    ),
    OwnFlag(
        *("--debug", "messages", "Write debug messages and tracebacks to stderr"),
        views="manifest",
        everywhere=True,
        for_each_call=True,
    ),
    OwnFlag(
        *("--no-update-check", "network", "Do not look for a newer version"),
        views="manifest",
        for_agents=True,
    ),
    OwnFlag(
        *("--profile", "profile", "Use the flag values saved under this name"),
        metavar="NAME",
        views="help manifest",
        applies=lambda facts: facts.has_profiles,
        everywhere=True,
        for_each_call=True,
    ),
)


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
