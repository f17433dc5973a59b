"""Changes of the tool as a whole: name, versions, capabilities, variables, dependencies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...wire.listing import calls_in
from ...wire.values import list_in, object_in, text_in
from .changes import BREAKING, COMPATIBLE, NOTE, Change, printable, same, shown
from .surface import Surface, distinct_texts
from .traits import list_changes, other_changes

# Keys that only repeat others, or promise nothing.
_NO_CAPABILITY = {"schema_version", "tool_version", "protocol_version", "output_formats"}


def tool_changes(old: Surface, new: Surface) -> Iterator[Change]:
    """Yield the changes of the tool itself."""
    if old.name and new.name != old.name and not _still_called(old.name, new):
        text = f"The tool is called {printable(new.name)} now, not {printable(old.name)}."
        yield Change("tool_renamed", BREAKING, "", "name", text, old.name, new.name)
    if old.version != new.version:
        one, other = old.version.partition(".")[0], new.version.partition(".")[0]
        severity = NOTE if one == other else BREAKING
        text = f"schema_version is {shown(new.version)} now, not {shown(old.version)}."
        values = old.version, new.version
        yield Change("schema_version_changed", severity, "", "schema_version", text, *values)
    yield from _capabilities(old.document.get("capabilities"), new.document.get("capabilities"))
    yield from _profileable(old, new)
    yield from _variables(old, new)
    yield from _dependencies(old.document, new.document)
    yield from other_changes("", old.rest, new.rest, set())


def _still_called(name: str, new: Surface) -> bool:
    """Return whether a manifest, which mentions the name only in passing, still has *name*."""
    calls = calls_in(object_in(new.document.get("commands")))
    return any(name in call.split() for call in calls)


def _capabilities(old: Any, new: Any) -> Iterator[Change]:
    if (old is not None and new is not None) and isinstance(old, list) != isinstance(new, list):
        text = "The capabilities are told in another form now."
        yield Change("capabilities_changed", BREAKING, "", "capabilities", text, old, new)
        return
    before, after = _as_object(old), _as_object(new)
    formats = [sorted(distinct_texts(each.get("output_formats"))) for each in (before, after)]
    yield from list_changes("", "output_formats", "output format", formats[0], formats[1])
    was, now = (text_in(each.get("protocol_version")) for each in (before, after))
    if was != now:
        severity = BREAKING if was else COMPATIBLE
        text = f"The protocol version is {shown(now or None)} now, not {shown(was or None)}."
        values = was or None, now or None
        yield Change("protocol_version_changed", severity, "", "protocol_version", text, *values)
    for name in sorted({*before, *after} - _NO_CAPABILITY):
        one, other = before.get(name), after.get(name)
        if same(one, other) or not (one or other):
            continue
        text = f"The capability {printable(name)} is {shown(other)} now, not {shown(one)}."
        if one is True and not other:
            kind, severity = "capability_lost", BREAKING
        elif other is True and not one:
            kind, severity = "capability_gained", COMPATIBLE
        else:
            kind, severity = "capability_changed", NOTE
        yield Change(kind, severity, "", f"capability {name}", text, one, other)


def _as_object(capabilities: Any) -> Mapping[str, Any]:
    """Return *capabilities* as an object; some tools list the names of those they have."""
    if isinstance(capabilities, list):
        return dict.fromkeys(distinct_texts(capabilities), True)
    return object_in(capabilities)


def _profileable(old: Surface, new: Surface) -> Iterator[Change]:
    """Yield the flags, of those that no command lists, that profiles hold no longer."""
    before, after = (
        distinct_texts(object_in(each.document.get("profiles")).get("profileable_flags"))
        for each in (old, new)
    )
    listed = {name for entry in old.commands.values() for name in entry.flags}
    for name in before:
        if name not in after and name not in listed:
            text = f"--{printable(name)} can no longer be saved in a profile."
            yield Change("flag_profileable_lost", NOTE, "", f"--{name}", text, True, False)


def _variables(old: Surface, new: Surface) -> Iterator[Change]:
    before, after = (_by_name(each.document.get("env_vars")) for each in (old, new))
    yield from list_changes("", "env_vars", "variable", sorted(before), sorted(after))
    for name in sorted({*before} & {*after}):
        if after[name].get("deprecated") and not before[name].get("deprecated"):
            text = f"The variable {printable(name)} is deprecated now."
            yield Change("env_vars_deprecated", NOTE, "", f"variable {name}", text)
    # Most of these belong to commands, and are compared there.
    secret = [
        [
            name
            for name in distinct_texts(each.document.get("secret_env_vars"))
            if name not in _own(each)
        ]
        for each in (old, new)
    ]
    yield from list_changes("", "secret_env_vars", "variable", secret[0], secret[1])


def _own(surface: Surface) -> set[str]:
    """Return the variables that commands name themselves."""
    found: set[str] = set()
    for entry in surface.commands.values():
        found.update(distinct_texts(entry.rest.get("secret_env_vars")))
        found.update(name for flag in entry.flags.values() for name in flag.env)
    return found


def _dependencies(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the new dependencies; a call fails where one is not installed."""
    before, after = _by_name(old.get("dependencies")), _by_name(new.get("dependencies"))
    for name in sorted({*before, *after}):
        was, now = (each.get(name, {}).get("min_version") for each in (before, after))
        if name in before and name in after and same(was, now):
            continue
        severity = BREAKING if name in after else COMPATIBLE
        text = f"{printable(name)} is no longer needed."
        if name in after:
            text = f"{printable(name)} is needed now, in version {shown(now)}."
        subject = f"dependency {name}"
        yield Change("dependency_changed", severity, "", subject, text, was, now)


def _by_name(text: Any) -> dict[str, Mapping[str, Any]]:
    found = map(object_in, list_in(text))
    return {text_in(each["name"]): each for each in found if text_in(each.get("name"))}
