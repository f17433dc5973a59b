"""Options that nobody typed, acted on with what a variable or the saved profile has for them.

Through the parser's own conversion and actions, behind its own parse.
"""

from __future__ import annotations

import argparse

from ...call.saved_profile import excluded_by, saved_switch, switch, words_in
from ...core import metadata_of
from ...declare import flag_key
from .values import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...declare import FlagAnnotation
    from .values import Bindings

_APPENDING = (argparse._AppendAction, argparse._ExtendAction)


class Bound:
    """An option, and what it is to be given when the caller does not."""

    __slots__ = ("action", "key", "note", "parser", "profile", "rank", "text")

    def __init__(
        self,
        parser: argparse.ArgumentParser,
        action: argparse.Action,
        key: str,
        note: FlagAnnotation,
        text: str | None,
        profile: str,
        rank: int,
    ) -> None:
        self.parser = parser
        self.action = action
        self.key = key
        self.note = note
        # What the environment says; ``None`` means the profile is asked when it is needed.
        self.text = text
        self.profile = profile
        # How much its source counts: a profile that was named, the environment, the default.
        self.rank = rank


def complete(bindings: Bindings, parser: argparse.ArgumentParser, found: list[Bound]) -> None:
    """Have *found* acted on where *parser* has read its words and missed them."""
    for bound in found:
        _relax(bindings, parser, bound.action)
    # What counts more comes first, and may rule out what counts less.
    found.sort(key=lambda bound: bound.rank)
    own = parser._parse_known_args

    def parse_known_args(*args: Any, **named: Any) -> Any:
        result = own(*args, **named)
        waiting, found[:] = found[:], []  # intermixed parsing comes here twice
        _apply(bindings, waiting, result[0])
        return result

    bindings.stand_in(parser, "_parse_known_args", parse_known_args)


def _relax(bindings: Bindings, parser: argparse.ArgumentParser, action: argparse.Action) -> None:
    """Let *action*, and a group it is in, be left out."""
    groups = [g for g in parser._mutually_exclusive_groups if action in g._group_actions]
    holder: Any
    for holder in (action, *groups):
        if holder.required:
            bindings.stand_in(holder, "required", False)


def _apply(bindings: Bindings, waiting: list[Bound], namespace: Any) -> None:
    """Act on every option that was left out and has a value all the same.

    A parser below comes before the one above: it has the last word on a destination they
    share.
    """
    for bound in waiting:
        taken = {action.dest for action in bindings.seen.values()}
        if bound.action.dest in taken:
            continue
        rivals = _rivals(bindings, bound)
        for rival in (bindings.applied.get(id(action)) for action in rivals):
            if rival is not None and bound.profile and rival.profile == bound.profile:
                bindings.invocation.request.applied[bound.key] = bound.profile
                from ...line.usage import exclusive

                bindings.invocation.refuse(exclusive(f"--{rival.key}", f"--{bound.key}"))
        if rivals:
            continue
        bindings.seen[id(bound.action)] = bound.action
        bindings.applied[id(bound.action)] = bound
        text = bound.text
        if text is None:
            text = bindings.invocation.saved.value(bound.key, sensitive=bound.note.sensitive)
            bindings.invocation.request.applied[bound.key] = bound.profile
        _act(bindings, bound, namespace, text or "")


def _rivals(bindings: Bindings, bound: Bound) -> list[argparse.Action]:
    """Return the options that were given, by whomever, and cannot be combined with *bound*."""
    metadata = metadata_of(bound.parser)
    names = excluded_by(bound.key, metadata.flag_annotations if metadata else {})
    groups = [
        group._group_actions
        for group in bound.parser._mutually_exclusive_groups
        if bound.action in group._group_actions
    ]
    return [
        action
        for action in bindings.seen.values()
        if (action.option_strings and flag_key(names_of(action)[0]) in names)
        or any(action in group for group in groups)
    ]


def _act(bindings: Bindings, bound: Bound, namespace: Any, text: str) -> None:
    action, parser = bound.action, bound.parser
    option = f"--{bound.key}" if f"--{bound.key}" in action.option_strings else ""
    option = option or action.option_strings[0]
    if isinstance(action, argparse._CountAction):
        times = int(text) if text.isdecimal() else switch(text)
        if times is None:
            from ...line.usage import bad_value

            bindings.invocation.refuse(bad_value(option, text, "expected an integer"))
        for _ in range(times):
            action(parser, namespace, [], option)
        return
    if action.nargs == 0:
        # A variable that is set to anything turns a switch on, as everywhere.
        lenient = switch(text) is not False
        state = saved_switch(bindings.invocation, option, text) if bound.profile else lenient
        if not state and isinstance(action, argparse.BooleanOptionalAction):
            option = next(n for n in action.option_strings if n.startswith("--no-"))
        elif not state:
            return
        action(parser, namespace, parser._get_values(action, []), option)
        return
    for words in _occurrences(action, text):
        if not _fits(parser, action, len(words)):
            from ...line.usage import bad_value

            known = {"+": "at least 1 value", "None": "1 value", "?": "1 value"}
            wanted = known.get(str(action.nargs), f"{action.nargs} values")
            bindings.invocation.refuse(
                bad_value(option, text, f"expected {wanted}, got {len(words)}")
            )
        action(parser, namespace, parser._get_values(action, words), option)


def _fits(parser: argparse.ArgumentParser, action: argparse.Action, count: int) -> bool:
    """Return whether an option takes so many values."""
    try:
        return parser._match_argument(action, "A" * count) == count
    except argparse.ArgumentError:
        return False


def _occurrences(action: argparse.Action, text: str) -> list[list[str]]:
    """Return the words of each time the option is to be given."""
    if action.nargs in (None, "?"):
        if not isinstance(action, _APPENDING):
            return [[text]]
        return [[str(word)] for word in words_in(text)]
    words = words_in(text)
    if words and all(isinstance(word, list) for word in words):
        return words
    return [words]
