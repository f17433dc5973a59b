"""``--schema``: the description of one command, and whether its answers are valid by it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...wire.documents import parsed
from ...wire.values import object_in, objects_in
from ..calls.guards import may_be_asked
from ..calls.making import Call, Target, is_foreign, named, over, unsuccessful
from ..judging import NotApplicable, NotVerified, finding
from ..results import Finding
from ..shapes.kinds import shown
from ..shapes.murli import walked

# -- of murli --------------------------------------------------------------------------------------


def _asked(target: Target) -> Iterator[Call]:
    """Ask every command for its schema where that can do no harm; the tool itself first."""
    if not target.commands:
        raise NotVerified("no command is known")
    if all(each.path for each in target.commands):
        yield Call(target, "", target.run("--schema"))
    for command in target.commands:
        if may_be_asked(target, command, "--schema"):
            yield Call(target, named(command), target.run(*command.path, "--schema"))


def _schemas(target: Target) -> Iterator[tuple[Call, dict[str, Any]]]:
    for call in _asked(target):
        document = parsed(call.evidence.stdout)
        if isinstance(document, dict):
            yield call, document


@over(_asked)
def answers(call: Call) -> str:
    """``--schema`` exits with 0 and prints one object, for every command."""
    is_one = isinstance(parsed(call.evidence.stdout), dict)
    trouble = "" if is_one else "--schema does not print one JSON object"
    return unsuccessful(call, "--schema") or trouble


def agrees(target: Target) -> Iterator[Finding]:
    """Name, flags, arguments and mutability are the same in both."""
    entries = dict(walked(target.description))
    for call, schema in _schemas(target):
        entry = entries.get(call.command)
        if entry is not None:  # the description has no entry for the tool itself
            yield finding(_difference(entry, schema), call.command, call.evidence)
    if not entries:
        raise NotApplicable("it has no commands")


def _difference(entry: dict[str, Any], schema: dict[str, Any]) -> str:
    if entry.get("name") != schema.get("name"):
        return f"name is {shown(schema.get('name'))}, in the description {shown(entry.get('name'))}"
    for key in ("flags", "arguments"):
        ours = {str(each.get("name")) for each in objects_in(schema.get(key))}
        theirs = {str(each.get("name")) for each in objects_in(entry.get(key))}
        if ours != theirs:
            return f"{key} differ from the description: {shown(min(ours ^ theirs))}"
    if (entry.get("mutating") is True) is not (schema.get("mutating") is True):
        return "mutating differs from the description"
    return ""


def brief(target: Target) -> Iterator[Finding]:
    """The subcommands are pairs of name and summary, the described ones among them."""
    groups = {named(each): each.path for each in target.groups}
    if not groups:
        raise NotApplicable("no command has others below it")
    for call, schema in _schemas(target):
        if call.command not in groups:
            continue
        listed = objects_in(schema.get("subcommands"))
        names = {each.get("name") for each in listed if isinstance(each.get("name"), str)}
        missing = {
            each.path[-1]
            for each in target.commands
            if each.path and each.path[:-1] == groups[call.command] and each.path[-1] not in names
        }
        trouble = ""
        if missing:
            trouble = f"{min(missing)} is not among its subcommands"
        elif any(not {"flags", "subcommands", "arguments"}.isdisjoint(each) for each in listed):
            trouble = "its subcommands are described in full"
        yield finding(trouble, call.command, call.evidence)


# -- of envelopes ----------------------------------------------------------------------------------


def every_command(target: Target) -> Iterator[Finding]:
    """``--schema`` needs no arguments, exits with 0 and returns the description."""
    if target.catalogue is None:
        raise NotVerified("there is no manifest")
    safe = [each.path for each in target.readers()]
    found = [*safe, *(each.path for each in target.groups)]
    results = [_described(target, path) for path in dict.fromkeys(found)]
    yield from filter(None, results)
    if not safe or not all(each is not None and each.status == "pass" for each in results):
        return
    # If all other commands support the flag, it does not run this one either.
    for command in target.leaves:
        if command.path in found or is_foreign(target.entry_of(named(command))):
            continue
        is_harmless = may_be_asked(target, command, "--schema")
        if is_harmless and (result := _described(target, command.path)):
            yield result


def _described(target: Target, path: tuple[str, ...]) -> Finding | None:
    call = target.call_of(target.run(*path, "--schema"), " ".join(path))
    if call is None:
        return None
    trouble = "" if object_in(call.data) else "the data describes nothing"
    return finding(unsuccessful(call, "--schema") or trouble, call.command, call.evidence)


def output_fits(target: Target) -> Iterator[Finding]:
    """The data of every success is valid by the output schema in the manifest."""
    schemas = {
        name: schema
        for name, entry in target.listed().items()
        if (schema := object_in(entry.get("output_schema")))
    }
    if not schemas:
        raise NotApplicable("no command has an output schema")
    from ..shapes.output_schema import misfit  # expensive to import

    for call in target.all_calls():
        asked = not {"--schema", "--output-schema", "--dry-run"}.isdisjoint(call.words)
        if call.kind != "answer" or call.exit_code != 0 or asked or call.data is None:
            continue
        if call.command in schemas:
            trouble = misfit(call.data, schemas[call.command])
            yield finding(trouble, call.command, call.evidence)
