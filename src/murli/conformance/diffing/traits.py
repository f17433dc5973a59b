"""Compares the rarer facts about a command, as in the third version of a manifest, by table.

A key that no table has is a note: its meaning is unknown, but the change must be noticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...wire.values import list_in, object_in, text_in
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
from .schemas import output_changes, takes_as_before
from .surface import Entry, comparable, distinct_texts

Facts = Mapping[str, Any]
# key -> (severity if it becomes true, severity if it becomes false, and the sentences)
_SWITCHES = {
    "async": (BREAKING, "answers before its work is done now", BREAKING, "answers in the end now"),
    "deprecated": (NOTE, "is deprecated now", COMPATIBLE, "is no longer deprecated"),
    "has_network_io": (NOTE, "uses the network now", COMPATIBLE, "uses no network now"),
    "interactive": (BREAKING, "may ask questions now", COMPATIBLE, "asks no questions now"),
    "requires_editor": (BREAKING, "opens an editor now", COMPATIBLE, "opens no editor now"),
    "requires_person": (
        *(BREAKING, "can only be run by a person now"),
        *(COMPATIBLE, "need not be run by a person now"),
    ),
    "safe_default": (
        *(BREAKING, "only tells what it would do now, unless it is asked to do it"),
        *(BREAKING, "does at once now what it only told before"),
    ),
    "spawns_background_process": (
        *(NOTE, "leaves a process running now"),
        *(COMPATIBLE, "leaves no process running now"),
    ),
    "streaming_default": (
        *(BREAKING, "answers with one line an item now"),
        *(BREAKING, "answers with one document now"),
    ),
}
# The same for facts that hold unless they are denied.
_DENIALS = {
    "headless_supported": (
        *(BREAKING, "no longer works with nobody there"),
        *(COMPATIBLE, "works with nobody there now"),
    ),
    "mcp": (BREAKING, "is no longer served over MCP", COMPATIBLE, "is served over MCP now"),
}
# key -> (whether a removed or an added item is breaking, and the name of an item)
_LOSSES = {
    "non_interactive_alternatives": "way without questions",
    "output_formats": "output format",
    "secret_env_vars": "variable",
    "steps": "step",
    "token_env_vars": "variable",
}
_DEMANDS = {"required_scopes": "required scope"}
# key -> (the meaning of a missing value, the value that excludes nothing)
_WORDS = {
    "arguments": ("declared", ""),
    "config_write_scope": ("", ""),
    "option_placement": ("any", "any"),
    "output_file": ("", ""),
    "output_file_base": ("", ""),
    "protocol": ("", ""),
    "stdout": ("", ""),
}
_OWN = {"confirm_flag", "job_descriptor_schema", "output_media_types", "platform", "required_tools"}
_KNOWN = {*_SWITCHES, *_DENIALS, *_LOSSES, *_DEMANDS, *_WORDS, *_OWN, "stdin"}


def trait_changes(command: str, old: Entry, new: Entry) -> Iterator[Change]:
    """Yield the changes of the rarer facts about *command*."""
    before, after = old.rest, new.rest
    yield from _switches(command, before, after)
    set_by_flag = {name for flag in old.flags.values() for name in flag.env}
    for key, what in _LOSSES.items():
        known = set_by_flag if key == "secret_env_vars" else set()
        yield from list_changes(command, key, what, before.get(key), after.get(key), known)
    for key, what in _DEMANDS.items():
        yield from list_changes(command, key, what, before.get(key), after.get(key), demands=True)
    for key, (usual, harmless) in _WORDS.items():
        was, now = (text_in(each.get(key)) or usual for each in (before, after))
        if was != now:
            severity = COMPATIBLE if harmless and now == harmless else BREAKING
            text = f"{key} is {shown(now or None)} now, not {shown(was or None)}"
            yield _of(key, severity, command, text, was or None, now or None)
    yield from _platforms(command, before.get("platform"), after.get("platform"))
    yield from _pairs(command, "output_media_types", before, after, BREAKING, COMPATIBLE)
    yield from _pairs(command, "required_tools", before, after, COMPATIBLE, BREAKING)
    yield from _confirmation(command, old, new)
    yield from _input(command, before.get("stdin"), after.get("stdin"))
    jobs = [object_in(each.get("job_descriptor_schema")) or True for each in (before, after)]
    for each in output_changes(*jobs):
        text = each.detail.replace("result", "the job", 1)
        yield _of("job_descriptor_schema", each.severity, command, text.rstrip("."))
    yield from other_changes(command, before, after, _KNOWN)


def other_changes(command: str, before: Facts, after: Facts, known: set[str]) -> Iterator[Change]:
    """Yield a note for every changed key that is not *known*."""
    for key in sorted({*before, *after} - known):
        if key not in before or key not in after or not same(before[key], after[key]):
            was, now = before.get(key), after.get(key)
            text = f"{printable(key)} is {shown(now)} now, not {shown(was)}."
            yield Change("other_changed", NOTE, command, key, text, was, now)


def _switches(command: str, before: Facts, after: Facts) -> Iterator[Change]:
    for table, denies in ((_SWITCHES, False), (_DENIALS, True)):
        for key, (bad, beginning, better, ceasing) in table.items():
            was, now = (
                each.get(key) is False if denies else each.get(key) not in (None, False)
                for each in (before, after)
            )
            if was != now:
                severity, text = (bad, beginning) if now else (better, ceasing)
                values = before.get(key), after.get(key)
                yield _of(key, severity, command, f"The command {text}", *values)


def list_changes(
    command: str,
    key: str,
    what: str,
    old: Any,
    new: Any,
    known: set[str] | frozenset[str] = frozenset(),
    *,
    demands: bool = False,
) -> Iterator[Change]:
    """Yield the items that a list lost and gained; *demands* decides which of both is breaking.

    Items in *known* are compared elsewhere.
    """
    before, after = distinct_texts(old), distinct_texts(new)
    for each, is_gain in moved(before, after):
        if is_gain or each not in known:
            severity = BREAKING if is_gain == demands else COMPATIBLE
            subject = Subject(command, f"{what} {each}", f"The {what} {printable(each)}")
            verb, values = ("added", (None, each)) if is_gain else ("removed", (each, None))
            yield subject.change(f"{key}_{verb}", severity, f"was {verb}", *values)
    if before != after and {*before} == {*after}:
        text = f"The order of {key} is {listed(after)} now."
        yield Change(f"{key}_reordered", NOTE, command, key, text, list(before), list(after))


def _platforms(command: str, old: Any, new: Any) -> Iterator[Change]:
    """Yield the platforms a command runs on now; no list means all."""
    before, after = distinct_texts(old), distinct_texts(new)
    if {*before} == {*after}:
        return
    lost = bool(after) and (not before or not {*before} <= {*after})
    was, now = (listed(each) or "every system" for each in (before, after))
    text = f"It runs on {now} now, not on {was}"
    severity = BREAKING if lost else COMPATIBLE
    yield _of("platform", severity, command, text, list_in(old) or None, list_in(new) or None)


def _pairs(
    command: str, key: str, before: Facts, after: Facts, lost: str, gained: str
) -> Iterator[Change]:
    """Yield added and removed names of an object; a changed value counts as both."""
    old, new = object_in(before.get(key)), object_in(after.get(key))
    for name in sorted({*old, *new}):
        was, now = old.get(name), new.get(name)
        if name in old and name in new:
            if same(was, now):
                continue
            severity = BREAKING
        else:
            severity = lost if name in old else gained
        text = f"{key} has {shown(now)} for {printable(name)} now, not {shown(was)}"
        yield _of(key, severity, command, text, was, now)


def _confirmation(command: str, old: Entry, new: Entry) -> Iterator[Change]:
    was, now = text_in(old.rest.get("confirm_flag")), text_in(new.rest.get("confirm_flag"))
    if was != now:
        # A command that is safe now has nothing to confirm.
        severity = COMPATIBLE if new.danger == "safe" else BREAKING
        text = f"It is confirmed by {shown(now or None)} now, not by {shown(was or None)}"
        yield _of("confirm_flag", severity, command, text, was or None, now or None)


def _input(command: str, old: Any, new: Any) -> Iterator[Change]:
    before, after = object_in(old), object_in(new)
    was, now = text_in(before.get("mode")), text_in(after.get("mode"))
    if was != now:
        severity = BREAKING if was else COMPATIBLE
        text = f"It reads {shown(now or None)} from stdin now, not {shown(was or None)}"
        yield _of("stdin", severity, command, text, was or None, now or None)
        return
    for key in ("max_bytes", "max_line_bytes"):
        most, limit = comparable(before.get(key)), comparable(after.get(key))
        if most != limit:
            narrower = limit is not None and (most is None or limit < most)
            bounds = [shown(each) for each in (limit, most)]
            text = f"The most it reads from stdin ({key}) is {bounds[0]} now, not {bounds[1]}"
            yield _of("stdin", BREAKING if narrower else COMPATIBLE, command, text, most, limit)
    schemas = [object_in(each.get("record_schema")) or True for each in (before, after)]
    if not same(*schemas):
        severity = COMPATIBLE if takes_as_before(*schemas) else BREAKING
        yield _of("stdin", severity, command, "It takes other records on stdin now", *schemas)


def _of(
    key: str, severity: str, command: str, text: str, before: Any = None, after: Any = None
) -> Change:
    return Change(f"{key}_changed", severity, command, key, f"{text}.", before, after)
