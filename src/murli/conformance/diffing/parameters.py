"""Changes of flags and arguments, as they affect callers.

A valid call must stay valid: a parameter may accept more, never less. Another default may change
what a call does, not whether it works, so it is a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .changes import (
    BREAKING,
    COMPATIBLE,
    NOTE,
    Change,
    Subject,
    listed,
    moved,
    printable,
    same,
    shown,
)
from .schemas import takes_as_before
from .surface import NOTHING, Entry, Parameter
from .types import type_change

Flags = Mapping[str, Parameter]
# attribute of a flag -> (severity if it is lost, and the sentences)
_SWITCHES = {
    "profileable": (NOTE, "can no longer be saved in a profile", "can be saved in a profile now"),
    "sensitive": (NOTE, "is no longer treated as a secret", "is treated as a secret now"),
    "persistent": (
        *(BREAKING, "is no longer taken by the commands below"),
        "is taken by the commands below now",
    ),
}


def flag_changes(
    command: str, old: Flags, new: Flags, old_above: Flags, new_above: Flags
) -> Iterator[Change]:
    """Yield the changes of the flags of *command*; inherited flags (*above*) need not be listed."""
    negations = {flag.negation for flag in new.values()}
    removed, added = [], {}
    for name, flag in old.items():
        other = new.get(name, new_above.get(name))
        if name not in new and other is not None:  # which has commands of its own
            other = replace(other, persistent=flag.persistent)
        if other is not None:
            yield from _flag(command, flag, other, new)
        elif name not in negations:
            removed.append(flag)
    for name, flag in new.items():
        if name not in old and name in old_above:
            other = replace(old_above[name], persistent=flag.persistent)
            yield from _flag(command, other, flag, new)
        elif name not in old:
            added[name] = flag
    for flag in removed:
        subject, name = _named(command, "flag", flag), f"--{flag.name}"
        twin = _twin(flag, list(added.values()))
        if twin is None:
            kind = "dry_run_lost" if flag.name == "dry-run" else "flag_removed"
            yield subject.change(kind, BREAKING, "was removed", name)
        else:
            del added[twin.name]
            text = f"seems to be called --{printable(twin.name)} now"
            yield subject.change("flag_renamed", BREAKING, text, name, f"--{twin.name}")
            yield from _flag(command, flag, twin, new)
    for flag in added.values():
        kind = "dry_run_gained" if flag.name == "dry-run" else "flag_added"
        severity, text = COMPATIBLE, "was added"
        if flag.required:
            kind, severity, text = "required_flag_added", BREAKING, f"{text}, and must be given"
        subject = _named(command, "flag", flag)
        yield subject.change(kind, severity, text, None, f"--{flag.name}")


def _twin(flag: Parameter, added: Sequence[Parameter]) -> Parameter | None:
    """Return the only new flag that *flag* may have been renamed to."""
    alike = [
        each
        for each in added
        if each.type == flag.type
        and (
            (each.short and each.short == flag.short)
            or (each.description and each.description == flag.description)
        )
    ]
    return alike[0] if len(alike) == 1 else None


def _flag(command: str, old: Parameter, new: Parameter, others: Flags) -> Iterator[Change]:
    subject = _named(command, "flag", old)
    yield from value_changes(subject, "flag", old, new)
    for what in ("short", "negation", "spelling"):
        before, after = getattr(old, what), getattr(new, what)
        if before == after or (what == "negation" and before in others):
            continue
        dash = {"short": "-", "negation": "--"}.get(what, "")
        was, now = f"{dash}{printable(before)}", f"{dash}{printable(after)}"
        if not before and what != "spelling":
            text = f"can be written {now} too"
            yield subject.change(f"flag_{what}_added", COMPATIBLE, text, None, after)
            continue
        if what == "spelling":
            text = f"is written {now or f'--{printable(new.name)}'} now"
        else:
            text = f"can no longer be written {was}"
            taken = [each.name for each in others.values() if each.short == before]
            if what == "short" and taken:
                text += f", which is --{printable(taken[0])} now"
            elif what == "negation":
                text = f"can no longer be turned off by {was}"
        yield subject.change(f"flag_{what}_removed", BREAKING, text, before, after or None)
    for name, is_new in moved(old.env, new.env):
        can, values = ("can be", (None, name)) if is_new else ("is no longer", (name, None))
        text = f"{can} set by the variable {printable(name)}{' now' * is_new}"
        kind, severity = ("added", COMPATIBLE) if is_new else ("removed", BREAKING)
        yield subject.change(f"flag_env_{kind}", severity, text, *values)
    for what, (cost, lost, gained) in _SWITCHES.items():
        before, after = getattr(old, what), getattr(new, what)
        if before != after:
            kind, severity, text = (
                ("lost", cost, lost) if before else ("gained", COMPATIBLE, gained)
            )
            yield subject.change(f"flag_{what}_{kind}", severity, text, before, after)
    for word in sorted({*old.media_types, *new.media_types}):
        before, after = old.media_types.get(word), new.media_types.get(word)
        if not same(before, after):
            severity = COMPATIBLE if word not in old.media_types else BREAKING
            text = f"says that {printable(word)} is {_or_none(after)}, not {_or_none(before)}"
            yield subject.change("flag_media_type_changed", severity, text, before, after)


# -- what flags and arguments share --------------------------------------------------------------


def value_changes(subject: Subject, what: str, old: Parameter, new: Parameter) -> Iterator[Change]:
    """Yield the changes of the values that *what*, a flag or an argument, accepts."""
    typed = type_change(old.type, new.type)
    if typed is not None:
        severity, why = typed
        kind = f"{what}_type_{'widened' if severity == COMPATIBLE else 'changed'}"
        text = f"takes other values: {printable(why)}"
        yield subject.change(kind, severity, text, old.type.word or None, new.type.word or None)
    if new.required and not old.required:
        yield subject.change(f"{what}_required", BREAKING, "must be given now", False, True)
    elif old.required and not new.required:
        text = "can be left out now"
        yield subject.change(f"{what}_optional", COMPATIBLE, text, True, False)
    yield from _values(subject, what, old, new)
    if old.pattern != new.pattern:
        severity = BREAKING if new.pattern else COMPATIBLE
        kind = f"{what}_pattern_{'changed' if new.pattern else 'removed'}"
        text = f"must match {shown(new.pattern)} now" if new.pattern else "need not match a pattern"
        yield subject.change(kind, severity, text, old.pattern or None, new.pattern or None)
    for bound, sign in (("minimum", 1), ("maximum", -1)):
        before, after = getattr(old, bound), getattr(new, bound)
        if before == after:
            continue
        narrower = after is not None and (before is None or sign * after > sign * before)
        severity = BREAKING if narrower else COMPATIBLE
        kind = f"{what}_range_{'narrowed' if narrower else 'widened'}"
        text = f"has the {bound} {_or_none(after)} now, not {_or_none(before)}"
        yield subject.change(kind, severity, text, before, after)
    if not same(_default(old), _default(new)):
        before, after = _default(old), _default(new)
        text = f"has the default {_or_none(after)} now, not {_or_none(before)}"
        yield subject.change(f"{what}_default_changed", NOTE, text, before, after)
    if old.type == new.type and not takes_as_before(old.schema or True, new.schema or True):
        text = "takes other values: not all that its old schema allows fits the new one"
        yield subject.change(f"{what}_schema_changed", BREAKING, text)
    if new.deprecated and not old.deprecated:
        yield subject.change(f"{what}_deprecated", NOTE, "is deprecated now", False, True)
    for key in sorted({*old.rest, *new.rest}):
        before, after = old.rest.get(key, NOTHING), new.rest.get(key, NOTHING)
        if before is NOTHING or after is NOTHING or not same(before, after):
            before, after = (None if each is NOTHING else each for each in (before, after))
            text = f"says {printable(key)} {_or_none(after)}, not {_or_none(before)}"
            yield subject.change(f"{what}_other_changed", NOTE, text, before, after)


def _values(subject: Subject, what: str, old: Parameter, new: Parameter) -> Iterator[Change]:
    removed = [each for each in old.values if each not in new.values]
    added = [each for each in new.values if each not in old.values]
    if not removed and not added:
        return
    severity, change = COMPATIBLE, "widened"
    if not new.values:
        text = f"takes more than {listed(old.values)} now"
    elif old.values and not removed:
        text = f"takes {listed(added)} too"
    else:
        severity, change = BREAKING, "narrowed"
        text = f"takes nothing but {listed(new.values)} now"
        if old.values:
            text = f"no longer takes {listed(removed)}"
    before, after = list(old.values) or None, list(new.values) or None
    yield subject.change(f"{what}_enum_{change}", severity, text, before, after)


def _default(parameter: Parameter) -> Any:
    """Return the default; a missing one equals the value of an option that is left out."""
    if parameter.default is NOTHING or parameter.default in ("", [], {}):
        return None
    if parameter.type.kind == "boolean" and parameter.default is False:
        return None
    return parameter.default


def _or_none(value: Any) -> str:
    return "none" if value is None else shown(value)


# -- arguments -----------------------------------------------------------------------------------


def argument_changes(command: str, old: Entry, new: Entry) -> Iterator[Change]:
    """Yield the changes of the arguments of *command*, compared by position."""
    if old.arguments is None or new.arguments is None:
        if old.usage != new.usage:
            text = f"It is called {shown(new.usage)} now, not {shown(old.usage)}."
            yield Change("usage_changed", NOTE, command, "usage", text, old.usage, new.usage)
        return
    before, after = _keyed(old.arguments), _keyed(new.arguments)
    kept = [name for name in before if name in after]
    if kept != [name for name in after if name in before]:
        was, now = ([each.name for each in some] for some in (old.arguments, new.arguments))
        text = f"The arguments are {listed(now)} now, in this order, not {listed(was)}."
        yield Change("arguments_reordered", BREAKING, command, "arguments", text, was, now)
    renamed = dict(_renamed(list(before), list(after)))
    for name, argument in before.items():
        other, subject = renamed.get(name, name), _named(command, "argument", argument)
        if other not in after:
            yield subject.change("argument_removed", BREAKING, "was removed", argument.name)
            continue
        if other != name:
            text = f"is called {printable(after[other].name)} now, in the same place"
            names = [argument.name, after[other].name]
            yield subject.change("argument_renamed", NOTE, text, *names)
        yield from value_changes(subject, "argument", argument, after[other])
    yield from _added_arguments(command, before, after, set(renamed.values()))


def _renamed(before: list[Any], after: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the arguments that were renamed while nothing else moved."""
    if len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            if one not in after and other not in before:
                yield one, other


def _added_arguments(
    command: str, before: Mapping[Any, Parameter], after: Mapping[Any, Parameter], known: set[Any]
) -> Iterator[Change]:
    places = [place for place, name in enumerate(after) if name in before or name in known]
    last = max(places, default=-1)
    greedy = any(each.type.many for each in before.values())
    for place, (name, argument) in enumerate(after.items()):
        if name in before or name in known:
            continue
        if argument.required:
            text, kind = "was added, and must be given", "required_argument_added"
        elif place < last or (greedy and place > last):
            text, kind = "was added among those there were", "argument_inserted"
        else:
            text, kind = "was added", "argument_added"
        severity = COMPATIBLE if kind == "argument_added" else BREAKING
        subject = _named(command, "argument", argument)
        yield subject.change(kind, severity, text, None, argument.name)


def _keyed(arguments: Sequence[Parameter]) -> dict[Any, Parameter]:
    """Return *arguments* by name, and by the number of earlier ones with that name."""
    found: dict[Any, Parameter] = {}
    met: Counter[str] = Counter()
    for each in arguments:
        found[each.name, met[each.name]] = each
        met[each.name] += 1
    return found


def _named(command: str, what: str, parameter: Parameter) -> Subject:
    if what == "argument":
        start = f"The argument {printable(parameter.name)}"
        return Subject(command, f"argument {parameter.name}", start)
    return Subject(command, f"--{parameter.name}", f"--{printable(parameter.name)}")
