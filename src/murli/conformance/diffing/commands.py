"""Changes of commands: names, danger, exit codes, answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from .changes import BREAKING, COMPATIBLE, NOTE, Change, Subject, moved, printable, same, shown
from .parameters import argument_changes, flag_changes
from .schemas import output_changes
from .surface import Entry, Parameter, Surface, alias_path, distinct_texts
from .traits import trait_changes

#: exit codes by their numbers
Codes = Mapping[str, Mapping[str, Any]]
_MOVED = {True: "added", False: "removed"}
_DANGERS = {"safe": 0, "mutating": 1, "destructive": 2}
# JSON Schema names for the types of a declared shape.
_TYPES = {
    **dict.fromkeys(("bool", "boolean"), "boolean"),
    **dict.fromkeys(("float", "float32", "float64", "number"), "number"),
    **dict.fromkeys(("int", "int8", "int16", "int32", "int64", "integer"), "integer"),
    **dict.fromkeys(("uint", "uint8", "uint16", "uint32", "uint64"), "integer"),
    **dict.fromkeys(("str", "string"), "string"),
    "object": "object",
    "array": "array",
    "null": "null",
}


def command_changes(old: Surface, new: Surface) -> Iterator[Change]:
    """Yield the changes of every command, and the new commands."""
    reached = set()
    for path, entry in old.commands.items():
        target = new.resolve(path)
        other = new.commands.get(target) if target is not None else None
        words = " ".join(path)
        if target is None or other is None:
            # Some manifests list only the commands of a group, not the group.
            if target is None or not entry.is_group:
                yield _command(words).change("command_removed", BREAKING, "was removed", words)
            continue
        reached.add(target)
        above = new.resolve(path[:-1])
        if path and (above is None or target != (*above, path[-1])):
            now = " ".join(target)
            text = f"is called {printable(now)} now, and its old name still works"
            yield _command(words).change("command_renamed", COMPATIBLE, text, words, now)
        yield from _entry_changes(old, new, entry, other)
    for path in new.commands:
        if path not in reached:
            words = " ".join(path)
            yield _command(words).change("command_added", COMPATIBLE, "was added", None, words)


def _entry_changes(old: Surface, new: Surface, before: Entry, after: Entry) -> Iterator[Change]:
    command = " ".join(before.path)
    yield from _aliases(new, before, after)
    if after.is_group and not before.is_group:
        text = "has commands below it now, and may not run by itself"
        yield _command(command).change("command_became_group", BREAKING, text)
    above = old.inherited(before.path), new.inherited(after.path)
    yield from flag_changes(command, before.flags, after.flags, *above)
    yield from argument_changes(command, before, after)
    known = {*before.flags, *above[0]}
    yield from _exclusions(command, before, after, known, {*after.flags, *above[1]})
    yield from _rules(command, before, after, known)
    yield from _safety(command, before, after)
    own = {*before.exit_codes, *after.exit_codes}
    yield from code_changes(
        command,
        {number: each for number, each in _codes(old, before).items() if number in own},
        {number: each for number, each in _codes(new, after).items() if number in own},
    )
    yield from _answers(command, before, after)
    for call, code in before.examples.items():
        if call in after.examples and not same(code, after.examples[call]):
            text = f"The example {shown(call)} ends with {shown(after.examples[call])} now."
            values = code, after.examples[call]
            yield Change("example_changed", NOTE, command, "example", text, *values)
    yield from trait_changes(command, before, after)


def _aliases(new: Surface, before: Entry, after: Entry) -> Iterator[Change]:
    command = " ".join(before.path)
    for alias in before.aliases:
        target = new.resolve(alias_path(before.path, alias))
        if target != after.path:
            text = f"The alias {printable(alias)} was removed."
            if target is not None and target in new.commands:
                text = f"{printable(alias)} is {printable(' '.join(target))} now."
            subject = f"alias {alias}"
            yield Change("alias_removed", BREAKING, command, subject, text, alias)
    for alias in after.aliases:
        if alias not in before.aliases and before.path[-1:] != (alias,):
            text = f"The alias {printable(alias)} was added."
            subject = f"alias {alias}"
            yield Change("alias_added", COMPATIBLE, command, subject, text, None, alias)


def _exclusions(
    command: str, before: Entry, after: Entry, old_flags: set[str], new_flags: set[str]
) -> Iterator[Change]:
    """Yield the pairs of flags that exclude each other now, or no longer."""
    for pair, is_new in moved(before.exclusions, after.exclusions):
        names = [f"--{name}" for name in sorted(pair)]
        if pair <= (old_flags if is_new else new_flags):
            flags = Subject(command, " and ".join(names), " and ".join(map(printable, names)))
            text = f"{'cannot' if is_new else 'can'} be given together now"
            kind = f"flag_exclusion_{_MOVED[is_new]}"
            yield flags.change(kind, BREAKING if is_new else COMPATIBLE, text)


def _rules(command: str, before: Entry, after: Entry, known: set[str]) -> Iterator[Change]:
    """Yield added and removed conditions on flags; one on a new flag breaks no old call."""
    for rule, is_new in moved(before.rules, after.rules):
        name = rule.get("if_flag")
        if is_new and isinstance(name, str) and name.lstrip("-") not in known:
            continue
        severity = NOTE if "target_flag" in rule else BREAKING if is_new else COMPATIBLE
        condition = Subject(command, f"condition {shown(rule)}", f"The condition {shown(rule)}")
        values, text = ((None, rule), "holds now") if is_new else ((rule, None), "holds no longer")
        yield condition.change(f"rule_{_MOVED[is_new]}", severity, text, *values)


def _safety(command: str, before: Entry, after: Entry) -> Iterator[Change]:
    was, now = before.danger, after.danger
    if was != now:
        text = f"is {printable(now) or 'of unknown danger'} now"
        text += f", not {printable(was)}" if was else ""
        raised = _DANGERS.get(now, 2) > _DANGERS.get(was, 2)
        severity = NOTE if not was or not now else BREAKING if raised else COMPATIBLE
        kind = f"danger_{'raised' if raised else 'lowered'}" if was and now else "danger_changed"
        yield _command(command).change(kind, severity, text, was or None, now or None)
    if before.idempotent != after.idempotent:
        lost = before.idempotent
        text = "can no longer be repeated safely" if lost else "can be repeated safely now"
        kind = f"idempotence_{'lost' if lost else 'gained'}"
        severity = BREAKING if lost else COMPATIBLE
        yield _command(command).change(kind, severity, text, before.idempotent, after.idempotent)
    if before.reveals != after.reveals:
        text = "prints secrets now" if after.reveals else "prints no secrets now"
        values = before.reveals, after.reveals
        yield _command(command).change("secrets_changed", NOTE, text, *values)


# -- exit codes ----------------------------------------------------------------------------------


def _codes(surface: Surface, entry: Entry) -> Codes:
    return {**surface.exit_codes, **entry.exit_codes}


def code_changes(command: str, old: Codes, new: Codes) -> Iterator[Change]:
    """Yield the changes of the exit codes of *command*."""
    removed = [number for number in old if number not in new]
    added = [number for number in new if number not in old]
    for number in removed:
        name, code = old[number].get("name"), _code(command, number)
        places = [each for each in added if name and same(new[each].get("name"), name)]
        alike = [each for each in removed if name and same(old[each].get("name"), name)]
        if len(places) == 1 == len(alike):
            added.remove(places[0])
            detail = f"{_named(name)} is exit code {printable(places[0])} now, not"
            renumbered = Subject(command, code.name, detail)
            values = number, places[0]
            text = printable(number)
            yield renumbered.change("exit_code_renumbered", BREAKING, text, *values)
            yield from _meaning(code, old[number], new[places[0]])
        else:
            yield code.change("exit_code_removed", BREAKING, "was removed", number)
    for number in added:
        code = _code(command, number)
        yield code.change("exit_code_added", COMPATIBLE, "was added", None, number)
    for number in old:
        if number in new:
            yield from _meaning(_code(command, number), old[number], new[number])


def _meaning(code: Subject, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    was, now = old.get("name"), new.get("name")
    if was and now and not same(was, now):
        text = f"means {_named(now)} now, not {_named(was)}"
        yield code.change("exit_code_renamed", BREAKING, text, was, now)
    was, now = old.get("retryable"), new.get("retryable")
    if (was is True) != (now is True):
        text = "can be tried again now" if now is True else "must not be tried again now"
        severity = COMPATIBLE if now is True else BREAKING
        yield code.change("exit_code_retryable_changed", severity, text, was, now)
    was, now = old.get("side_effects"), new.get("side_effects")
    if not same(was, now):
        text = f"has side effects {shown(now)} now, not {shown(was)}"
        severity = COMPATIBLE if now == "none" else BREAKING
        yield code.change("exit_code_side_effects_changed", severity, text, was, now)
    finer = (distinct_texts(each.get("error_codes")) for each in (old, new))
    for each, is_new in moved(*finer):
        text = f"has the error code {printable(each)} {'too' if is_new else 'no more'}"
        values = (None, each) if is_new else (each, None)
        severity = COMPATIBLE if is_new else BREAKING
        yield code.change(f"exit_code_error_code_{_MOVED[is_new]}", severity, text, *values)


def _named(name: Any) -> str:
    return printable(name) if isinstance(name, str) else shown(name)


# -- what is common to all commands --------------------------------------------------------------


def shared_changes(old: Surface, new: Surface) -> Iterator[Change]:
    """Yield the changes of the flags and exit codes that every command has."""
    both = [
        (entry, new.commands[target])
        for path, entry in old.commands.items()
        if (target := new.resolve(path)) in new.commands and target is not None
    ]
    kept = _of_tool(old, new, [entry for _, entry in both])
    fresh = _of_tool(new, old, [entry for entry, _ in both])
    yield from flag_changes("", kept, fresh, {}, {})
    yield from _shared_codes(old, new, both)


def _of_tool(one: Surface, other: Surface, others: list[Entry]) -> Mapping[str, Parameter]:
    """Return the flags of every command of *one* that not all commands of the *other* list."""
    return {
        name: flag
        for name, flag in one.flags.items()
        if name in other.flags or not others or not all(name in each.flags for each in others)
    }


def _shared_codes(old: Surface, new: Surface, both: list[tuple[Entry, Entry]]) -> Iterator[Change]:
    """Yield the changes of the shared table of exit codes.

    The table holds what most commands have in common, so a code may come and go although no
    command changed. Only changes that are not compared with a command count.
    """
    before, after = dict(old.exit_codes), dict(new.exit_codes)
    for number in [each for each in before if each not in after]:
        owners = [number in entry.exit_codes for _, entry in both]
        if any(owners):
            if not all(owners):
                text = "is no longer said of every command"
                yield _code("", number).change("exit_code_removed", NOTE, text, number)
            del before[number]
    for number in [each for each in after if each not in before]:
        if number in old.exit_codes or any(number in entry.exit_codes for entry, _ in both):
            del after[number]
    for number in [each for each in before if each in after]:
        # A code that a command lists itself is compared there.
        heirs = [
            one
            for one, other in both
            if number not in one.exit_codes and number not in other.exit_codes
        ]
        if both and all(each.is_group or each.is_builtin for each in heirs):
            del before[number], after[number]
    yield from code_changes("", before, after)


# -- answers -------------------------------------------------------------------------------------


def _answers(command: str, old: Entry, new: Entry) -> Iterator[Change]:
    was, now = old.returns_type, new.returns_type
    if was and was != now:
        text = f"The result is {shown(now or None)} now, not {shown(was)}."
        severity = BREAKING if now else NOTE
        yield Change("output_kind_changed", severity, command, "result", text, was, now or None)
    before, after = _promised(old, new), _promised(new, old)
    if before is None or after is None:
        if before is not None:
            text = "The command no longer tells what its result is like."
            yield Change("output_schema_removed", BREAKING, command, "result", text)
        elif after is not None:
            text = "The command tells what its result is like now."
            yield Change("output_schema_added", COMPATIBLE, command, "result", text)
        return
    # A shape may be that of the result, or of each item of a list.
    if old.schema is None and new.schema is not None and "items" in after and "items" not in before:
        after = after["items"] if isinstance(after["items"], dict) else after
    if new.schema is None and old.schema is not None and "items" in before and "items" not in after:
        after = {"type": "array", "items": after}
    for each in output_changes(before, after):
        yield replace(each, command=command)


def _promised(entry: Entry, other: Entry) -> Mapping[str, Any] | None:
    """Return the schema of the answer; a shape only if *other* has no schema either."""
    if entry.schema is not None and not (
        entry.shape and other.shape and same(entry.schema, other.schema)
    ):
        return entry.schema
    return _shaped(entry.shape) if entry.shape else entry.schema


def _shaped(shape: Any) -> dict[str, Any]:
    """Return the schema that a declared shape means."""
    if isinstance(shape, dict):
        return {"properties": {name: _shaped(each) for name, each in shape.items()}}
    if isinstance(shape, list):
        return {"type": "array", "items": _shaped(shape[0])} if shape else {"type": "array"}
    if not isinstance(shape, str):
        return {"const": shape}
    if shape.startswith("[]"):
        return {"type": "array", "items": _shaped(shape[2:])}
    # The meaning of other words is unknown; a change can only be noticed.
    return {"type": _TYPES[shape]} if shape in _TYPES else {"format": shape}


def _command(command: str) -> Subject:
    start = f"The command {printable(command)}" if command else "The tool itself"
    return Subject(command, "command", start)


def _code(command: str, number: str) -> Subject:
    return Subject(command, f"exit code {number}", f"Exit code {printable(number)}")
