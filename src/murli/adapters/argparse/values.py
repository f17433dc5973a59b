"""Values that nobody typed: from the environment, and from the saved profile.

They enter a parse as if they stood on the command line, through the parser's own conversion and
actions, where the caller left the option out.
"""

from __future__ import annotations

import argparse
import os

from ...core import INTENT, UNBOUNDED, Record, mentions_secret, metadata_of, subparsers_of, value_in
from ...declare import flag_key, names_nothing_but, restricts, spelled_name
from .. import stand_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from ...call import Invocation
    from ...call.misnamed import Parameters
    from ...declare import FlagAnnotation, Metadata
    from ...line.option_words import Options
    from .noted import TypedSwitches

_APPENDING = (argparse._AppendAction, argparse._ExtendAction)


def names_of(action: argparse.Action) -> tuple[str, str]:
    """Return the long name of an option without its dashes, and its short one or ``""``."""
    return spelled_name(action.option_strings, action.dest)


def argument_name(action: argparse.Action) -> str:
    """Return what a positional argument is called."""
    name = action.dest if action.dest != argparse.SUPPRESS else str(action.metavar or "")
    return name or "argument"


class Bound(Record):
    """An option, and what it is to be given when the caller does not.

    *text* is what the environment says; ``None`` means the profile is asked when it is needed.
    *rank* is how much its source counts: a profile that was named, the environment, the default.
    """

    parser: ArgumentParser
    action: argparse.Action
    key: str
    note: FlagAnnotation
    text: str | None
    profile: str
    rank: int


class Bindings:
    """What the options of one parse are given beside the command line."""

    def __init__(self, invocation: Invocation, typed: Sequence[TypedSwitches]) -> None:
        self.invocation = invocation
        self._typed = typed
        self._parsers: list[tuple[ArgumentParser, Metadata]] = []
        # The options that were given, by whomever.
        self.seen: dict[int, argparse.Action] = {}
        # Those among them that nobody typed.
        self.applied: dict[int, Bound] = {}
        # The options whose values are secrets, and whether somebody declared that.
        self._secret: list[tuple[argparse.Action, bool]] = []
        # The parsers that were watched, and what got a word there.
        self._watched: set[int] = set()
        self._worded: set[int] = set()
        self._undo: list[Callable[[], None]] = []

    def hide(
        self, parser: ArgumentParser, metadata: Metadata | None, above: ArgumentParser | None
    ) -> None:
        """Learn the secrets that *parser*, reached from the one *above*, is given."""
        notes = metadata.flag_annotations if metadata is not None else {}
        secret = {id(each): declared for each, declared in _secrets_of(parser, notes)}
        for action in parser._actions:
            declared = secret.get(id(action))
            if declared is not None:
                self._secret.append((action, declared))
                note = notes.get(_key(action))
                variable = os.environ.get(note.env) if note is not None and note.env else None
                self.invocation.hide([action.default, variable], named=not declared)
        if secret:
            words = _words_of(self.invocation.call.rest, parser, above)
            secret_options(parser).hide_in(words, self.invocation)
        self.watch(parser, secret)

    def bind(self, parser: ArgumentParser, metadata: Metadata) -> None:
        """Let the options of *parser* have what *metadata* gives them."""
        self._parsers.append((parser, metadata))
        found = []
        for action in parser._actions:
            key = _key(action)
            note = metadata.flag_annotations.get(key) if action.option_strings else None
            if note is None or not INTENT.isdisjoint(action.option_strings):
                continue
            bound = self._source(parser, action, key, note)
            if bound is not None:
                found.append(bound)
        if found:
            complete(self, parser, found)

    def enforce(self, parsed: Any, parsers: Sequence[ArgumentParser]) -> None:
        """Refuse what *parsed* holds against the annotations, wherever it is from.

        *parsers* are all that the parse went through; rules may speak of what is above them.
        """
        for action, declared in self._secret:  # as they were converted
            self.invocation.hide(value_in(parsed, action.dest), named=not declared)
        tables = [(parser, *self._values(parsed, parser)) for parser in parsers]
        unset = {bound.key for bound in self.applied.values()}
        # An abbreviation does not confirm: the name must be typed in full.
        for switches in self._typed:
            unset |= {_key(each) for each in self.seen.values() if switches.is_shortened(each)}
        for parser, metadata in self._parsers:
            # What a parser has itself counts more than what has the same name elsewhere.
            tables.sort(key=lambda table: table[0] is parser)
            options = {key: value for table in tables for key, value in table[1].items()}
            arguments = {key: value for table in tables for key, value in table[2].items()}
            if not restricts(metadata, options):
                continue
            from ...call.guard.enforcement import enforce

            defaults = enforce(
                self.invocation, metadata, options, arguments, options.keys() - unset
            )
            for action in parser._actions:
                if _key(action) in defaults and not isinstance(parsed, dict):
                    setattr(parsed, action.dest, defaults[_key(action)])

    def _values(
        self, parsed: Any, parser: ArgumentParser
    ) -> tuple[dict[str, tuple[Any, bool]], dict[str, tuple[Any, bool]]]:
        """Return the value of every option and of every argument, and whether it was given."""
        options: dict[str, tuple[Any, bool]] = {}
        arguments: dict[str, tuple[Any, bool]] = {}
        for action in parser._actions:
            value = value_in(parsed, action.dest)
            if id(parser) not in self._watched:  # read before anybody watched
                given = str(value) != str(action.default)
            elif action.option_strings:
                given = id(action) in self.seen
            else:  # one that was left out is looked at too
                given = id(action) in self._worded
            (options if action.option_strings else arguments)[_key(action)] = value, given
        return options, arguments

    def release(self) -> None:
        """Leave the parsers as they were."""
        while self._undo:
            self._undo.pop()()

    def _source(
        self, parser: ArgumentParser, action: argparse.Action, key: str, note: FlagAnnotation
    ) -> Bound | None:
        text = os.environ.get(note.env) or None if note.env else None
        if note.profileable:
            saved = self.invocation.saved
            if saved.applies(key, in_environment=text is not None):
                rank = 0 if saved.explicit else 2
                return Bound(parser, action, key, note, None, saved.name, rank)
        return None if text is None else Bound(parser, action, key, note, text, "", 1)

    def watch(self, parser: ArgumentParser, secret: Mapping[int, bool]) -> None:
        """Note which options the command line gives, and keep the secrets among them.

        *secret* maps their actions to whether they are declared.
        """
        own = parser._get_values
        self._watched.add(id(parser))

        def get_values(action: argparse.Action, words: Any) -> Any:
            if id(action) in secret:
                self.invocation.hide(list(words), named=not secret[id(action)])
            self.seen[id(action)] = action
            if words:
                self._worded.add(id(action))
            return own(action, words)

        self.stand_in(parser, "_get_values", get_values)

    def stand_in(self, holder: Any, name: str, ours: Any) -> None:
        """Put *ours* in the place of an attribute until `release`."""
        self._undo.append(stand_in(holder, name, ours))


def _key(action: argparse.Action) -> str:
    return flag_key(names_of(action)[0] if action.option_strings else action.dest)


def parameters_of(parser: ArgumentParser) -> Parameters:
    """Return the options and arguments of *parser* by their names."""
    from ...call.misnamed import Parameters

    options = [action for action in parser._actions if action.option_strings]
    arguments = [
        action
        for action in parser._actions
        if not action.option_strings and not isinstance(action, argparse._SubParsersAction)
    ]
    return Parameters(
        metadata_of(parser),
        [(f"--{names_of(action)[0]}", *action.option_strings) for action in options],
        [argument_name(action) for action in arguments],
    )


def check_names(
    parser: ArgumentParser, chosen: Sequence[ArgumentParser], invocation: Invocation
) -> None:
    """Refuse a call of *parser*, reached through *chosen*, that declares what is not there."""
    metadata = metadata_of(parser)
    options = [action for action in parser._actions if action.option_strings]
    if metadata is None or names_nothing_but(metadata, set(map(_key, options))):
        return
    from ...call.misnamed import refuse_misnamed

    above = [parameters_of(each) for each in chosen if each is not parser]
    refuse_misnamed(invocation, parameters_of(parser), above)


def secret_options(parser: ArgumentParser) -> Options:
    """Return the options of *parser*, and which of them have secrets for values."""
    from ...line.option_words import Options
    from .levels import ParserLevel

    metadata = metadata_of(parser)
    secret = _secrets_of(parser, metadata.flag_annotations if metadata is not None else {})
    declared = {id(action): is_declared for action, is_declared in secret}
    level, subparsers = ParserLevel(parser), subparsers_of(parser)
    options = Options(getattr(subparsers, "choices", {}).__contains__)
    for action in parser._actions:
        for name in action.option_strings:
            most = min(level.width(name)[1], UNBOUNDED)
            options.add((name,), most, declared.get(id(action)))
    return options


def _secrets_of(
    parser: ArgumentParser, notes: Mapping[str, FlagAnnotation]
) -> Iterator[tuple[argparse.Action, bool]]:
    """Yield the options of *parser* whose values are secrets, and whether that is declared."""
    for action in parser._actions:
        if not action.option_strings or action.nargs == 0:
            continue
        note = notes.get(_key(action))
        if note is not None and note.sensitive:
            yield action, True
            continue
        names = (action.dest, *action.option_strings, note.env if note else "")
        if action.choices is None and mentions_secret("\0".join((*names, ""))):
            from ...secrets.names import is_secret_name

            if any(map(is_secret_name, names)):
                yield action, False


def _words_of(
    words: Sequence[str], parser: ArgumentParser, above: ArgumentParser | None
) -> Sequence[str]:
    """Return those of *words* that are for *parser*, as far as that can be known."""
    subparsers = subparsers_of(above) if above is not None else None
    if subparsers is not None:
        names = {name for name, each in subparsers.choices.items() if each is parser}
        for position, word in enumerate(words):
            if word in names:
                return words[position + 1 :]
    return words


def complete(bindings: Bindings, parser: ArgumentParser, found: list[Bound]) -> None:
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


def _relax(bindings: Bindings, parser: ArgumentParser, action: argparse.Action) -> None:
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
    from ...call.saved_profile import excluded_by

    metadata = metadata_of(bound.parser)
    names = excluded_by(bound.key, metadata.flag_annotations if metadata else {})
    groups = [group._group_actions for group in bound.parser._mutually_exclusive_groups]
    return [
        action
        for action in bindings.seen.values()
        if (action.option_strings and flag_key(names_of(action)[0]) in names)
        or any(bound.action in group and action in group for group in groups)
    ]


def _act(bindings: Bindings, bound: Bound, namespace: Any, text: str) -> None:
    from ...call.saved_profile import saved_switch, switch

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
            reason = f"expected {wanted}, got {len(words)}"
            bindings.invocation.refuse(bad_value(option, text, reason))
        action(parser, namespace, parser._get_values(action, words), option)


def _fits(parser: ArgumentParser, action: argparse.Action, count: int) -> bool:
    """Return whether an option takes so many values."""
    try:
        return parser._match_argument(action, "A" * count) == count
    except argparse.ArgumentError:
        return False


def _occurrences(action: argparse.Action, text: str) -> list[list[str]]:
    """Return the words of each time the option is to be given."""
    from ...call.saved_profile import words_in

    if action.nargs in (None, "?"):
        if not isinstance(action, _APPENDING):
            return [[text]]
        return [[str(word)] for word in words_in(text)]
    words = words_in(text)
    if words and all(isinstance(word, list) for word in words):
        return words
    return [words]
