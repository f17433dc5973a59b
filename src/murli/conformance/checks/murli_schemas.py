"""``--schema``: what one command of a murli tool says about itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...client.documents import parsed
from ..checking import MURLI, NotApplicable, NotVerified, check, judged
from ..results import Evidence, Finding
from ..target import Target
from .murli_calls import may_be_asked, named
from .murli_shapes import objects, shown, walked


def _asked(target: Target) -> Iterator[tuple[str, Evidence]]:
    """Ask every command for its schema, where that can do no harm; the tool itself first."""
    if not target.commands:
        raise NotVerified("no command is known")
    if all(each.path for each in target.commands):
        yield "", target.run("--schema")
    for command in target.commands:
        if may_be_asked(target, command):
            yield named(command), target.run(*command.path, "--schema")


def _schemas(target: Target) -> Iterator[tuple[str, dict[str, Any], Evidence]]:
    for name, evidence in _asked(target):
        document = parsed(evidence.stdout)
        if isinstance(document, dict):
            yield name, document, evidence


@check(
    "murli.schema.answers",
    "Every command prints its schema, without its arguments",
    level=1,
    contracts=MURLI,
    requirements=("14", "5.2"),
)
def answers(target: Target) -> Iterator[Finding]:
    """``--schema`` ends with 0 and prints one object, behind every command."""
    for name, evidence in _asked(target):
        trouble = ""
        if evidence.exit_code != 0:
            trouble = f"--schema: {evidence.ended} instead of exit 0"
        elif not isinstance(parsed(evidence.stdout), dict):
            trouble = "--schema does not print one JSON object"
        yield judged(trouble, name, evidence)


@check(
    "murli.schema.agrees",
    "A schema says of a command what the description says",
    level=2,
    contracts=MURLI,
    requirements=("10.1", "10.5"),
)
def agrees(target: Target) -> Iterator[Finding]:
    """Name, flags, arguments and whether it changes something are the same in both."""
    entries = dict(walked(target.description))
    for name, schema, evidence in _schemas(target):
        entry = entries.get(name)
        if entry is not None:  # of the tool itself only a schema tells
            yield judged(_difference(entry, schema), name, evidence)
    if not entries:
        raise NotApplicable("it has no commands")


def _difference(entry: dict[str, Any], schema: dict[str, Any]) -> str:
    if entry.get("name") != schema.get("name"):
        return f"name is {shown(schema.get('name'))}, in the description {shown(entry.get('name'))}"
    for key in ("flags", "arguments"):
        ours = {str(each.get("name")) for each in objects(schema.get(key))}
        theirs = {str(each.get("name")) for each in objects(entry.get(key))}
        if ours != theirs:
            return f"{key} differ from the description: {shown(min(ours ^ theirs))}"
    if (entry.get("mutating") is True) is not (schema.get("mutating") is True):
        return "mutating differs from the description"
    return ""


@check(
    "murli.schema.brief",
    "The schema of a group is a short list of what is below",
    level=3,
    contracts=MURLI,
    requirements=("10.1", "10.5"),
)
def brief(target: Target) -> Iterator[Finding]:
    """Subcommands are pairs of name and summary, all that are described among them."""
    groups = {named(each): each.path for each in target.groups}
    if not groups:
        raise NotApplicable("no command has others below it")
    for name, schema, evidence in _schemas(target):
        if name not in groups:
            continue
        listed = objects(schema.get("subcommands"))
        names = {each.get("name") for each in listed if isinstance(each.get("name"), str)}
        missing = {
            each.path[-1]
            for each in target.commands
            if each.path and each.path[:-1] == groups[name] and each.path[-1] not in names
        }
        trouble = ""
        if missing:
            trouble = f"{min(missing)} is not among its subcommands"
        elif any("summary" not in each for each in listed):
            trouble = "a subcommand has no summary"
        elif any(not {"flags", "subcommands", "arguments"}.isdisjoint(each) for each in listed):
            trouble = "its subcommands are described in full"
        yield judged(trouble, name, evidence)
