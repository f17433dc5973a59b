"""What a murli tool says about itself: ``describe``, as a document and as AGENTS.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...client.documents import parsed
from ..checking import MURLI, NotApplicable, check, judged
from ..results import Finding
from ..target import NONE, Target
from .murli_calls import (
    described,
    each_described,
    each_with_flags,
    formats,
    is_wrapped,
    needed,
)
from .murli_shapes import (
    CAPABILITIES,
    command_misfits,
    documents,
    flags_in,
    misfits,
    objects,
    shown,
    summed_up,
    walked,
)

SCHEMA_VERSION = "1.0"
# Options and commands of the contract itself that nobody else has a use for.
_OWN_FLAGS = {
    "agent",
    "schema",
    "protocol-version",
    "help",
    "install-completion",
    "show-completion",
}
_OWN_COMMANDS = {"describe", "help"}
# A value that stands for none in some library, or an object nobody has written as text.
_NO_VALUE = re.compile(
    r"<.*\b(?:object|function|class|lambda|factory|built-in)\b.*>|\bsentinel\b|\bUNSET\b"
    r"|==SUPPRESS==|PydanticUndefined|\[object \w+\]|^undefined$|^NotGiven|0x[0-9a-f]{8,}",
    re.IGNORECASE | re.DOTALL,
)
_MASKED = re.compile(r"[*•x]*|.*(?:redacted|hidden|masked).*", re.IGNORECASE)
# How much of a default is looked at.
_MOST_READ = 200
_NUMBERS = re.compile(r"u?int(?:8|16|32|64)?|float(?:32|64)?|number|integer|count")


# -- the document ----------------------------------------------------------------------------------


@check(
    "murli.describe.answers",
    "describe prints one JSON object, as it is",
    level=1,
    contracts=(*MURLI, NONE),
    requirements=("14", "3.8", "11.1"),
)
def answers(target: Target) -> Iterator[Finding]:
    """``describe`` ends with 0, and its stdout is one object that is in no envelope."""
    evidence = target.run("describe")
    document = parsed(evidence.stdout)
    trouble = ""
    if evidence.exit_code != 0:
        trouble = f"describe: {evidence.ended} instead of exit 0"
    elif not isinstance(document, dict):
        trouble = "describe does not print one JSON object"
    elif is_wrapped(document):
        trouble = "the description is inside of an envelope"
    yield judged(trouble, "", evidence)


@check(
    "murli.describe.schema-version",
    "The description tells its schema version",
    level=1,
    contracts=MURLI,
    requirements=("14", "1"),
)
def schema_version(target: Target) -> Iterator[Finding]:
    """``schema_version`` is there, and is the one this contract has."""
    document, evidence = described(target)
    version = document.get("schema_version")
    trouble = "" if version == SCHEMA_VERSION else f"schema_version is {shown(version)}"
    yield judged(trouble, "", evidence)


@check(
    "murli.describe.name",
    "The description tells what the tool is called",
    level=1,
    contracts=MURLI,
    requirements=("14", "10.2"),
)
def has_name(target: Target) -> Iterator[Finding]:
    """``name`` is a text that is not empty."""
    document, evidence = described(target)
    name = document.get("name")
    is_there = isinstance(name, str) and bool(name.strip())
    yield judged("" if is_there else f"name is {shown(name)}", "", evidence)


@check(
    "murli.describe.capabilities",
    "The description tells what the tool is capable of",
    level=1,
    contracts=MURLI,
    requirements=("14", "10.1"),
)
def capabilities(target: Target) -> Iterator[Finding]:
    """``capabilities`` is an object with a list of formats, and no other schema version."""
    document, evidence = described(target)
    able = document.get("capabilities")
    if not isinstance(able, dict):
        yield judged(f"capabilities is {shown(able)} instead of an object", "", evidence)
        return
    trouble = summed_up(misfits(able, CAPABILITIES, "capabilities."))
    version = able.get("schema_version", SCHEMA_VERSION)
    if not trouble and not able["output_formats"]:
        trouble = "capabilities.output_formats is empty"
    if not trouble and version not in (SCHEMA_VERSION, document.get("schema_version")):
        trouble = f"capabilities.schema_version is {shown(version)}"
    yield judged(trouble, "", evidence)


@check(
    "murli.describe.commands",
    "Every command is described in full",
    level=1,
    contracts=MURLI,
    requirements=("14", "10.1"),
)
def commands(target: Target) -> Iterator[Finding]:
    """Commands, flags, arguments, returns, examples and safety have their keys, of their kinds."""
    document, evidence = described(target)
    listed = document.get("commands")
    trouble = ""
    if listed is not None and (not isinstance(listed, list) or objects(listed) != listed):
        trouble = "commands is no list of objects"
    yield judged(trouble, "", evidence)
    for name, command in walked(document):
        yield judged(summed_up(command_misfits(command)), name, evidence)


@check(
    "murli.describe.descriptions",
    "Every command says what it is for",
    level=2,
    contracts=MURLI,
    requirements=("11.5",),
)
def descriptions(target: Target) -> Iterator[Finding]:
    """A command has a summary or an agent description."""
    found = [
        judged(
            "" if command.get("summary") or command.get("agent_description") else "no description",
            name,
            evidence,
            warn=True,
        )
        for name, command, evidence in each_described(target)
    ]
    yield from needed(found, "no command is described")


@check(
    "murli.describe.secrets",
    "No secret is shown as a default",
    level=2,
    contracts=MURLI,
    requirements=("16.27", "17.3"),
)
def secrets(target: Target) -> Iterator[Finding]:
    """A flag that is declared sensitive shows no value."""
    found = []
    for name, command, evidence in each_with_flags(target):
        for flag, entry in flags_in(command):
            if entry.get("sensitive") is True:
                value = entry.get("default")
                is_hidden = not value or _is_masked(value)
                trouble = "" if is_hidden else f"--{flag} is sensitive and shows its default"
                found.append(judged(trouble, name, evidence))
    yield from needed(found, "no flag is declared sensitive")


def _is_masked(value: Any) -> bool:
    return isinstance(value, str) and _MASKED.fullmatch(value[:_MOST_READ]) is not None


@check(
    "murli.describe.defaults",
    "Defaults are values of their own type",
    level=3,
    contracts=MURLI,
    requirements=("10.3",),
)
def defaults(target: Target) -> Iterator[Finding]:
    """No default is the text of an object, and those of numbers and switches are no texts."""
    found = []
    for name, command, evidence in each_with_flags(target):
        for flag, entry in flags_in(command):
            value, kind = entry.get("default"), str(entry.get("type"))
            trouble = ""
            if isinstance(value, str) and _NO_VALUE.search(value[:_MOST_READ]):
                trouble = f"the default of --{flag} is {shown(value)}, which is no value"
            elif isinstance(value, str) and (_NUMBERS.fullmatch(kind) or kind.startswith("bool")):
                trouble = f"the default of --{flag} is the text {shown(value)}, of type {kind}"
            found.append(judged(trouble, name, evidence))
    yield from needed(found, "no command has flags")


@check(
    "murli.describe.own-flags",
    "What the contract itself brings is not listed",
    level=3,
    contracts=MURLI,
    requirements=("10.2", "8"),
)
def own_flags(target: Target) -> Iterator[Finding]:
    """Options for help, completion and the contract, and its commands, are not listed."""
    found = []
    for name, command, evidence in each_with_flags(target):
        listed = sorted(_OWN_FLAGS.intersection(flag for flag, _ in flags_in(command)))
        trouble = f"it lists --{', --'.join(listed)}" if listed else ""
        if name in _OWN_COMMANDS:
            trouble = f"{name} is listed like a command of the tool"
        found.append(judged(trouble, name, evidence, warn=True))
    yield from needed(found, "no command is described")


# -- other forms -----------------------------------------------------------------------------------


@check(
    "murli.describe.every-mode",
    "describe prints the same document whatever format is asked for",
    level=3,
    contracts=MURLI,
    requirements=("3.8",),
)
def every_mode(target: Target) -> Iterator[Finding]:
    """Also with ``--output text`` the description is JSON."""
    document, _ = described(target)
    if "text" not in formats(document):
        raise NotApplicable("it has no text format")
    evidence = target.run("describe", "--output", "text")
    other = parsed(evidence.stdout)
    same = isinstance(other, dict) and other.keys() == document.keys()
    yield judged("" if same else "with --output text it prints something else", "", evidence)


@check(
    "murli.describe.stable",
    "describe says the same twice",
    level=3,
    contracts=MURLI,
    requirements=("10.2",),
)
def stable(target: Target) -> Iterator[Finding]:
    """What is described does not change from call to call, nor its order; it can be kept."""
    _, usual = described(target)
    # The same call once more: it has another stdin, which is of no use to it.
    evidence = target.run("describe", stdin="silent")
    same = evidence.stdout == usual.stdout
    yield judged("" if same else "the second description is not the first", "", evidence)


@check(
    "murli.describe.agents-md",
    "AGENTS.md can be printed",
    level=2,
    contracts=MURLI,
    requirements=("14", "11.2"),
)
def agents_md(target: Target) -> Iterator[Finding]:
    """``describe --agents-md`` begins with a title, names the commands, and holds no JSON."""
    evidence = target.run("describe", "--agents-md")
    text = evidence.stdout.decode("utf-8", "replace")
    trouble = ""
    if evidence.exit_code != 0:
        trouble = f"describe --agents-md: {evidence.ended} instead of exit 0"
    elif not text.startswith("# "):
        trouble = "it does not begin with a title"
    elif documents(evidence.stdout)[0]:
        trouble = "it holds a JSON object"
    else:
        tops = {each.path[0] for each in target.commands if each.path}
        missing = sorted(each for each in tops if each not in text)
        trouble = f"it does not mention {shown(missing[0])}" if missing else ""
    yield judged(trouble, "", evidence)
