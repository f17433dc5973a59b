"""The description of a murli tool: ``describe``, as a document and as AGENTS.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...wire.documents import parsed
from ...wire.values import object_in, objects_in
from ..calls.descriptions import (
    claiming,
    described,
    each_described,
    each_with_flags,
    formats,
    is_wrapped,
    over_described,
)
from ..calls.documents import documents
from ..calls.making import Call, Target, unsuccessful
from ..judging import NotApplicable, finding
from ..results import Finding
from ..shapes.kinds import is_text, misfits, shown, summed_up
from ..shapes.murli import CAPABILITIES, PROFILES, command_misfits, flags_in, is_undeclared, walked

SCHEMA_VERSION = "1.0"
# Options and commands of the contract that tools do not define themselves.
_OWN_FLAGS = {
    *("agent", "schema", "protocol-version", "help", "install-completion", "show-completion"),
}
_OWN_COMMANDS = {"describe", "help"}
# What some libraries print for "no value", or the repr of an object.
_NO_VALUE = re.compile(
    r"<.*\b(?:object|function|class|lambda|factory|built-in)\b.*>|\bsentinel\b|\bUNSET\b"
    r"|==SUPPRESS==|PydanticUndefined|\[object \w+\]|^undefined$|^NotGiven|0x[0-9a-f]{8,}",
    re.IGNORECASE | re.DOTALL,
)
_MASKED = re.compile(r"[*•x]*|.*(?:redacted|hidden|masked).*", re.IGNORECASE)
# How much of a default is read.
_MOST_READ = 200
_NUMBERS = re.compile(r"u?int(?:8|16|32|64)?|float(?:32|64)?|number|integer|count")


# -- the document ----------------------------------------------------------------------------------


def answers(target: Target) -> Iterator[Finding]:
    """``describe`` exits with 0 and prints one object without an envelope."""
    call = Call(target, "", target.run("describe"))
    document = parsed(call.evidence.stdout)
    trouble = unsuccessful(call, "describe")
    if not trouble and not isinstance(document, dict):
        trouble = "describe does not print one JSON object"
    elif not trouble and is_wrapped(document):
        trouble = "the description is inside of an envelope"
    yield finding(trouble, "", call.evidence)


def schema_version(target: Target) -> Iterator[Finding]:
    """``schema_version`` is that of the contract."""
    document, evidence = described(target)
    version = document.get("schema_version")
    trouble = "" if version == SCHEMA_VERSION else f"schema_version is {shown(version)}"
    yield finding(trouble, "", evidence)


def name(target: Target) -> Iterator[Finding]:
    """``name`` is a text that is not empty."""
    document, evidence = described(target)
    found = document.get("name")
    yield finding("" if is_text(found) else f"name is {shown(found)}", "", evidence)


def capabilities(target: Target) -> Iterator[Finding]:
    """``capabilities`` has a list of formats, and no other schema version."""
    document, evidence = described(target)
    able = document.get("capabilities")
    if not isinstance(able, dict):
        yield finding(f"capabilities is {shown(able)} instead of an object", "", evidence)
        return
    trouble = summed_up(misfits(able, CAPABILITIES, "capabilities."))
    version = able.get("schema_version", SCHEMA_VERSION)
    if not trouble and not able["output_formats"]:
        trouble = "capabilities.output_formats is empty"
    if not trouble and version not in (SCHEMA_VERSION, document.get("schema_version")):
        trouble = f"capabilities.schema_version is {shown(version)}"
    yield finding(trouble, "", evidence)


def commands(target: Target) -> Iterator[Finding]:
    """Commands, flags, arguments, returns, examples and safety have their keys and types."""
    document, evidence = described(target)
    listed = document.get("commands")
    trouble = ""
    if listed is not None and (not isinstance(listed, list) or objects_in(listed) != listed):
        trouble = "commands is not a list of objects"
    yield finding(trouble, "", evidence)
    for name, command in walked(document):
        yield finding(summed_up(command_misfits(command)), name, evidence)


@over_described(each_described, warn=True)
def descriptions(name: str, command: dict[str, Any]) -> Iterator[str]:
    """A command has a summary or an agent description."""
    has_one = command.get("summary") or command.get("agent_description")
    yield "" if has_one else "no description"


@over_described(each_with_flags, otherwise="no flag is declared sensitive")
def secrets(name: str, command: dict[str, Any]) -> Iterator[str]:
    """A sensitive flag has no default."""
    for flag, entry in flags_in(command):
        if entry.get("sensitive") is True:
            value = entry.get("default")
            is_hidden = not value or _is_masked(value)
            yield "" if is_hidden else f"--{flag} is sensitive and shows its default"


def _is_masked(value: Any) -> bool:
    return isinstance(value, str) and _MASKED.fullmatch(value[:_MOST_READ]) is not None


@over_described(each_with_flags, otherwise="no command has flags")
def defaults(name: str, command: dict[str, Any]) -> Iterator[str]:
    """No default is the repr of an object, and numbers and switches have no texts."""
    for flag, entry in flags_in(command):
        value, kind = entry.get("default"), str(entry.get("type"))
        if isinstance(value, str) and _NO_VALUE.search(value[:_MOST_READ]):
            yield f"the default of --{flag} is {shown(value)}, which is no value"
        elif isinstance(value, str) and (_NUMBERS.fullmatch(kind) or kind.startswith("bool")):
            yield f"the default of --{flag} is the text {shown(value)}, of type {kind}"
        else:
            yield ""


@over_described(each_with_flags, warn=True)
def own_flags(name: str, command: dict[str, Any]) -> Iterator[str]:
    """Options for help, completion and the contract, and its commands, are not listed."""
    listed = sorted(_OWN_FLAGS.intersection(flag for flag, _ in flags_in(command)))
    if name in _OWN_COMMANDS:
        yield f"{name} is listed like a command of the tool"
    else:
        yield f"it lists --{', --'.join(listed)}" if listed else ""


# -- other forms -----------------------------------------------------------------------------------


def every_mode(target: Target) -> Iterator[Finding]:
    """``describe --output text`` prints JSON too."""
    document, _ = described(target)
    if "text" not in formats(target):
        raise NotApplicable("it has no text format")
    evidence = target.run("describe", "--output", "text")
    other = parsed(evidence.stdout)
    same = isinstance(other, dict) and other.keys() == document.keys()
    yield finding("" if same else "with --output text it prints something else", "", evidence)


def stable(target: Target) -> Iterator[Finding]:
    """The description and its order are the same in every call, so it can be cached."""
    _, usual = described(target)
    # The same call once more: with another stdin, which it does not read.
    evidence = target.run("describe", stdin="silent")
    same = evidence.stdout == usual.stdout
    yield finding("" if same else "the second description is not the first", "", evidence)


def agents_md(target: Target) -> Iterator[Finding]:
    """``describe --agents-md`` starts with a title, names the commands, and has no JSON."""
    call = Call(target, "", target.run("describe", "--agents-md"))
    text = call.evidence.stdout.decode("utf-8", "replace")
    trouble = unsuccessful(call, "describe --agents-md")
    if not trouble and not text.startswith("# "):
        trouble = "it does not begin with a title"
    elif not trouble and documents(call.evidence.stdout)[0]:
        trouble = "it holds a JSON object"
    elif not trouble:
        tops = {each.path[0] for each in target.commands if each.path}
        missing = sorted(each for each in tops if each not in text)
        trouble = f"it does not mention {shown(missing[0])}" if missing else ""
    yield finding(trouble, "", call.evidence)


# -- claims ----------------------------------------------------------------------------------------


@over_described(each_described)
def safety(name: str, command: dict[str, Any]) -> Iterator[str]:
    """``read_only`` is the opposite of ``mutating``, and nothing destructive is read-only."""
    block = object_in(command.get("safety"))
    mutating, reads = command.get("mutating") is True, block.get("read_only")
    idempotent = command.get("idempotent")
    if mutating and is_undeclared(command) and not command.get("subcommands"):
        yield "mutating is true and safety.declared false"
    elif command.get("subcommands"):
        # ``mutating`` of a group is about itself, ``safety`` about its subcommands too.
        yield "mutating is true and safety.read_only true" if mutating and reads else ""
    elif reads is mutating and ("mutating" in command or name):
        yield f"mutating is {shown(mutating)} and safety.read_only {shown(reads)}"
    elif reads is True and block.get("destructive") is True:
        yield "it only reads and is destructive"
    elif isinstance(idempotent, bool) and block.get("idempotent") is (not idempotent):
        yield "idempotent and safety.idempotent differ"
    else:
        yield ""


def dry_run(target: Target) -> Iterator[Finding]:
    """``capabilities.dry_run`` is true exactly if a command has a dry run."""
    document, evidence = described(target)
    claim = object_in(document.get("capabilities")).get("dry_run")
    if not isinstance(claim, bool):
        raise NotApplicable("capabilities.dry_run is not there")
    is_so = claim is bool(claiming(target, "dry_run_supported"))
    trouble = "" if is_so else f"capabilities.dry_run is {shown(claim)}, which is not so"
    yield finding(trouble, "", evidence, warn=True)


def profiles(target: Target) -> Iterator[Finding]:
    """``profiles`` lists, in order, the profileable flags."""
    document, evidence = described(target)
    block = document.get("profiles")
    if block is None:
        raise NotApplicable("it has no profiles")
    if not isinstance(block, dict):
        yield finding(f"profiles is {shown(block)} instead of an object", "", evidence)
        return
    trouble = summed_up(misfits(block, PROFILES, "profiles."))
    names = block.get("profileable_flags")
    if not trouble and isinstance(names, list):
        declared = {
            flag
            for _, command, _ in each_with_flags(target)
            for flag, entry in flags_in(command)
            if entry.get("profileable") is True
        }
        missing = sorted(declared.difference(names))
        if names != sorted(names):
            trouble = "profiles.profileable_flags is not sorted"
        elif missing:
            trouble = f"profiles.profileable_flags lacks {', '.join(missing[:3])}"
    yield finding(trouble, "", evidence)
