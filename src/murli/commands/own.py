"""What is ours on every tool, as a tree: our commands, and the flags that we add to the tool's."""

from __future__ import annotations

from ..exit_codes import ExitCode, ExitCodeEntry
from ..metadata import Metadata
from ..runtime.argv import mounted_on
from ..runtime.calls import variable_of
from ..runtime.family import DEFAULT_TIMEOUT, FORMATS, MOUNTED
from ..runtime.paging import FAMILY_LIMIT
from ..runtime.shaping import FAMILY_CAP
from ..traits import Traits
from ..tree import Argument, Command, Flag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..runtime.invocation import Invocation

_READS = Metadata(danger_level="safe", idempotent=True)


def _switch(name: str, description: str) -> Flag:
    return Flag(name, "bool", False, description, values=0)


DRY_RUN = _switch("dry-run", "tell what would be done, and do nothing")
CONFIRM = _switch("confirm-destructive", "do it, though it cannot be undone")
AGENT = _switch("agent", "answer an agent; without it a pipe gets text, as people do")
INPUT_FILE = Flag("input-file", description="read this file instead of stdin")

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
    """Give the commands that murli mounts on the running tool; the tool's own keep their names."""
    host = invocation.host
    root = host.level()
    names = mounted_on(root, host, MOUNTED) if invocation.settings.mount else ()
    contract = invocation.writer.contract
    return [_own_command(host.name(), name, contract) for name in names if not root.lists(name)]


def _own_command(tool: str, name: str, contract: str) -> Command:
    path = (tool, name)
    within = Argument(
        "command", "[]string", False, "only this command, and what is below it", (), -1
    )
    if name == "describe":
        flags = [
            Flag("depth", "int", None, "spell commands out down to this depth", minimum=1),
            _switch("agents-md", "give the text of an AGENTS.md instead"),
        ]
        return Command(path, "Describe the commands in full", [within], flags, metadata=_READS)
    if name == "manifest":
        etag = Flag("etag", description="the etag you have; data is null while it still holds")
        return Command(path, "List every command in one call", [within], [etag], metadata=_READS)
    if name == "doctor":
        strict = _switch("strict", "fail when a check fails")
        summary = "Check how well the tool is described"
        return Command(path, summary, [], [strict], metadata=_checks(contract))
    if name == "exec":
        flags = [
            _switch("ignore-errors", "go on after a call that fails"),
            _switch("dry-run", "check the calls, and make none"),
            INPUT_FILE,
        ]
        summary = "Make the calls that stdin names, one JSON object a line"
        return Command(path, summary, [], flags, metadata=_EXECUTES)
    return _profile(tool)


def _checks(contract: str) -> Metadata:
    # What a failed check is differs between the revisions.
    failed = ExitCode.PRECONDITION if contract == "agent-spec-2" else ExitCode.GENERAL_ERROR
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
            flags += [DRY_RUN, CONFIRM]
        arguments = [
            each.replace(values=-1) if each.type.startswith("[]") else each
            for each in verb.arguments
        ]
        verbs.append(
            verb.replace(metadata=metadata, flags=tuple(flags), arguments=tuple(arguments))
        )
    return group.replace(commands=tuple(verbs))


def global_flags(invocation: Invocation, root: Command) -> Iterator[Flag]:
    """Give the flags of ours that every command of *root* takes, anywhere on the line."""
    from .settable import settable_flags

    seconds = invocation.settings.timeout or DEFAULT_TIMEOUT
    told = "how to write the answer"
    yield Flag("format", default="json", description=told, choices=tuple(FORMATS))
    yield Flag("fields", description="only these fields of the data: a,b")
    yield from _paging(FAMILY_LIMIT)
    yield Flag("etag", description="the etag of the answer you have; data is null while it holds")
    yield Flag("max-bytes", "int", FAMILY_CAP, "leave out what makes an answer longer; 0 for none")
    yield _timeout(seconds)
    if invocation.settings.agents != "pipe":
        yield AGENT
    yield _switch("schema", "describe the command, and do nothing")
    yield _switch("output-schema", "give the JSON Schema of the data, and do nothing")
    yield _switch("validate-only", "check the arguments, and do nothing")
    yield _switch("non-interactive", "ask nothing")
    yield _switch("quiet", "write nothing on stderr")
    yield _switch("verbose", "write more on stderr")
    yield _switch("debug", "write all there is on stderr")
    yield _switch("no-update-check", "look for no newer version")
    if settable_flags(root):
        yield Flag("profile", description="use the flag values saved under this name")


def global_variables(invocation: Invocation) -> dict[str, str]:
    """Give the variables that say something for every call, and what that is."""
    own = {
        "FORMAT": "how to write answers",
        "TIMEOUT": "how long a call may take",
        "MAX_OUTPUT_BYTES": "how long an answer may be",
    }
    found = {variable_of(invocation, name): told for name, told in own.items()}
    if invocation.settings.agents != "pipe":
        found["MURLI_MODE"] = "agent for whom --agent is meant, human for whom it is not"
    return {**found, "MURLI_CONTRACT": "the contract that answers follow"}


def added_flags(command: Command, danger: str, *, lists: bool) -> Iterator[Flag]:
    """Give the flags of ours that mean something on *command*, which may answer with a list."""
    if command.visible and not command.runs:
        return
    metadata = command.metadata or Metadata()
    traits = metadata.traits
    if lists and not metadata.mutating:
        yield from _paging(FAMILY_LIMIT if metadata.lists is None else metadata.lists.limit)
    if metadata.streams:
        yield _switch("no-stream", "give all items in one answer")
    elif lists and danger != "destructive":
        yield _switch("stream", "give each item as a line of its own")
    if "timeout" in metadata.said:
        yield _timeout(metadata.timeout)
    if metadata.dry_runnable:
        yield DRY_RUN
    if danger == "destructive":
        yield CONFIRM
    elif metadata.mutating:
        yield _switch("yes", "confirm the change")
    if traits is not None and traits.safe_default:
        yield _switch("live", "do it; without this it is a dry run")
    if metadata.mutating and not metadata.streams:
        told = "the same key again does nothing, and answers the same"
        yield Flag("idempotency-key", description=told)
    if metadata.mutating:
        yield Flag("raw-payload", description="all arguments as one JSON object, instead of flags")
    if traits is not None and traits.stdin is not None:
        yield INPUT_FILE
    if traits is not None and traits.has_network_io:
        told = "how long to wait for a connection: 5, 500ms; 0 for as long as it takes"
        usual = f"{traits.connect_timeout:g}" if traits.connect_timeout else None
        yield Flag("connect-timeout", default=usual, description=told)
    if traits is not None and traits.token_env_vars:
        yield Flag("token-env-var", description="the variable that holds the credentials")
        yield _switch("headless", "do not log in interactively")


def secret_sources(flag: Flag) -> Iterator[Flag]:
    """Give the flags that say where the value of a secret is, instead of the value."""
    yield Flag(f"{flag.name}-from-env", description=f"the variable that holds --{flag.name}")
    yield Flag(f"{flag.name}-from-file", description=f"the file that holds --{flag.name}")


def _paging(limit: int) -> Iterator[Flag]:
    yield Flag("limit", "int", limit, "how many items of a list to give; 0 for all")
    yield Flag("cursor", description="go on from here: the cursor of the answer before")


def _timeout(seconds: float) -> Flag:
    told = "how long the call may take: 30, 500ms, 2m; 0 for as long as it likes"
    return Flag("timeout", default=f"{seconds:g}", description=told)
