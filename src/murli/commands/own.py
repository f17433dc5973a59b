"""What is ours on every tool, as a tree: our commands, and the flags that we add to the tool's."""

from __future__ import annotations

from ..declare import Metadata
from ..declare.exit_codes import ExitCode, ExitCodeEntry
from ..declare.safety import only_reads
from ..declare.traits import Traits
from ..declare.tree import Argument, Command, Flag
from ..exports import FORMATS
from ..line.calls import variable_of
from ..line.flags import CommandFacts, flag_named, listed
from ..line.scanning import mounted_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..call import Invocation
    from ..contracts import Contract

_READS = Metadata(danger_level="safe", idempotent=True)


def _switch(name: str, description: str) -> Flag:
    return Flag(name, "bool", False, description, values=0)


AGENT = flag_named("--agent").documented()
_EXPORTS = f"print tool definitions instead, for one of {', '.join(FORMATS)}"
_CHECKED = "check that this AGENTS.md, or the --skill, is up to date"
# What `describe` takes besides the names of commands; it is parsed, and explained, by this.
DESCRIBE_FLAGS = (
    Flag("depth", "int", None, "spell out down to this depth only", minimum=1, metavar="N"),
    Flag("search", "[]string", None, "find commands by words", values=-1, metavar="WORDS"),
    _switch("card", "print every command on one line of text instead"),
    _switch("agents-md", "print an AGENTS.md to keep instead"),
    Flag("export", "string", None, _EXPORTS, choices=FORMATS, metavar="FORMAT"),
    Flag("skill", "string", None, "write a skill into this folder", metavar="DIR"),
    Flag("check", "string", None, _CHECKED, metavar="FILE"),
)

_REQUEST = {
    "type": "object",
    "required": ["_cmd"],
    "properties": {
        "_cmd": {"type": "string", "description": "a key of the manifest"},
        "_opts": {"type": "object", "description": "flags, by name"},
    },
}
_EXECUTES = Metadata(
    danger_level="mutating",
    traits=Traits(stdin={"mode": "records", "record_schema": _REQUEST}),
    exit_codes={
        ExitCode.SUCCESS: ExitCodeEntry("Every call worked.", side_effects="complete"),
        ExitCode.GENERAL_ERROR: ExitCodeEntry(
            "A call failed; what was called before it is done.", side_effects="partial"
        ),
    },
)


def own_commands(invocation: Invocation) -> list[Command]:
    """Return the commands murli mounts on the running tool; the tool's own keep their names."""
    host = invocation.host
    root = host.level()
    contract = invocation.request.contract
    names = mounted_on(root, host, contract.mounted) if invocation.settings.mount else ()
    # Who reads what a tool can do calls it, and needs no server.
    listed = [name for name in names if name != "mcp" and not root.lists(name)]
    return [_own_command(host.name(), name, contract) for name in listed]


def _own_command(tool: str, name: str, contract: Contract) -> Command:
    path = (tool, name)
    within = Argument(
        "command", "[]string", False, "only these commands, and what is below them", (), -1
    )
    if name == "describe":
        summary = "Describe the commands in full"
        return Command(path, summary, [within], DESCRIBE_FLAGS, metadata=_READS)
    if name == "manifest":
        etag = flag_named("--etag").documented()
        return Command(path, "List every command in one call", [within], [etag], metadata=_READS)
    if name == "doctor":
        strict = _switch("strict", "fail when a check fails")
        summary = "Check how well the tool is described"
        return Command(path, summary, [], [strict], metadata=_checks(contract))
    if name == "exec":
        flags = [
            _switch("ignore-errors", "go on after a call that fails"),
            _switch("dry-run", "check the calls, and make none"),
            flag_named("--input-file").documented(),
        ]
        summary = "Make the calls that stdin names, one JSON object a line"
        return Command(path, summary, [], flags, metadata=_EXECUTES)
    return _profile(tool)


def _checks(contract: Contract) -> Metadata:
    failed = ExitCode(contract.failed_checks or "tool_error")
    codes = {
        ExitCode.SUCCESS: ExitCodeEntry("Every check passed."),
        failed: ExitCodeEntry("A check failed.", error_codes=["DOCTOR_CHECKS_FAILED"]),
    }
    return _READS.merged_with(Metadata(exit_codes=codes))


def _profile(tool: str) -> Command:
    from .profile import command_tree

    group = command_tree(tool)
    verbs = []
    for verb in group.commands:
        metadata = verb.metadata or _READS
        if not metadata.mutating:
            metadata = metadata.merged_with(_READS)
        flags = [flag.replace(values=0) if flag.type == "bool" else flag for flag in verb.flags]
        if metadata.destructive:
            ours = ("--dry-run", "--confirm-destructive")
            flags += [flag_named(name).documented() for name in ours]
        arguments = [
            each.replace(values=-1) if each.type.startswith("[]") else each
            for each in verb.arguments
        ]
        verbs.append(
            verb.replace(metadata=metadata, flags=tuple(flags), arguments=tuple(arguments))
        )
    return group.replace(commands=tuple(verbs))


def global_flags(invocation: Invocation, root: Command) -> Iterator[Flag]:
    """Return the flags of ours that every command of *root* takes, anywhere on the line."""
    from ..call.settable import settable_flags

    facts = CommandFacts(
        lists=True,
        has_timeout=True,
        has_profiles=bool(settable_flags(root)),
        needs_agent_flag=invocation.settings.agents != "pipe",
        format_flag="--format",
    )
    contract = invocation.request.contract
    defaults = {
        "format": "json",
        "limit": contract.list_limit,
        "max-bytes": contract.size_limit,
        "timeout": f"{invocation.settings.timeout or contract.default_timeout:g}",
        "every": "5s",
    }
    for flag in listed("manifest", facts):
        yield flag.documented(defaults.get(flag.key))


def global_variables(invocation: Invocation) -> dict[str, str]:
    """Return the variables that say something for every call, and what that is."""
    own = {
        "FORMAT": "how to write answers",
        "TIMEOUT": "how long a call may take",
        "MAX_OUTPUT_BYTES": "how long an answer may be",
    }
    found = {variable_of(invocation, name): meaning for name, meaning in own.items()}
    if invocation.settings.agents != "pipe":
        found["MURLI_MODE"] = "agent for whom --agent is meant, human for whom it is not"
    return {**found, "MURLI_CONTRACT": "the contract that answers follow"}


def added_flags(
    command: Command, danger: str, contract: Contract, *, lists: bool
) -> Iterator[Flag]:
    """Return the flags of ours that mean something on *command*, which may answer with a list."""
    if command.visible and not command.runs:
        return
    metadata = command.metadata or Metadata()
    traits = metadata.traits
    facts = CommandFacts(
        lists=lists,
        mutating=metadata.mutating,
        destructive=danger == "destructive",
        confirmable=metadata.mutating and danger != "destructive",
        dry_runnable=metadata.dry_runnable,
        reads=only_reads(command.metadata, command.telling_path) and not metadata.streams,
        streams=metadata.streams,
        has_timeout="timeout" in metadata.explicit,
        traits=traits,
    )
    defaults: dict[str, Any] = {
        "limit": contract.list_limit if metadata.lists is None else metadata.lists.limit,
        "timeout": f"{metadata.timeout:g}",
    }
    if traits is not None and traits.connect_timeout:
        defaults["connect-timeout"] = f"{traits.connect_timeout:g}"
    for flag in listed("command", facts):
        yield flag.documented(defaults.get(flag.key))


def secret_sources(flag: Flag) -> Iterator[Flag]:
    """Return the flags that say where the value of a secret is, instead of the value."""
    yield Flag(f"{flag.name}-from-env", description=f"the variable that holds --{flag.name}")
    yield Flag(f"{flag.name}-from-file", description=f"the file that holds --{flag.name}")
