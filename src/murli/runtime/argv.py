"""Our flags, read from argv before the framework parses it.

They may stand anywhere, so that even a parse error reaches the right audience in the right form.
What a command defines itself is always its own: an option of the same name on that command, the
values of its options, everything after ``--``, and the words a command passes on to another
program.
"""

from __future__ import annotations

import os

from ..contracts import CONTRACT_NAMES
from ..writer import VALID_OUTPUT_FORMATS, VALID_PROTOCOL_VERSIONS
from . import EVERYTHING, SEPARATOR, Call, behind_the_last_of_ours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any, Protocol

    from ..metadata import Metadata
    from .family import Vocabulary
    from .host import Host
    from .invocation import Invocation

    class Level(Protocol):
        """What the scanner must know about one command of the host's parser."""

        @property
        def path(self) -> tuple[str, ...]:
            """The names by which the command is reached, below the tool's own."""

        @property
        def has_options(self) -> bool:
            """Whether words with dashes are options here."""

        @property
        def takes_any_value(self) -> bool:
            """Whether an option takes the word behind it as its value though it has dashes."""

        @property
        def takes_words(self) -> bool:
            """Whether a word may be an argument of the command itself."""

        def takes_any_word(self, words_before: int) -> bool:
            """Return whether the next word is an argument of the command though it has dashes."""

        @property
        def routes(self) -> bool:
            """Whether the first word names a subcommand."""

        def lists(self, word: str) -> bool:
            """Tell whether this command has a subcommand of that name."""

        def names(self) -> list[str]:
            """Return the names of the subcommands, none of which is loaded for it."""

        def named(self, option: str) -> str:
            """Give the long name of the option that *option* stands for, ``""`` for none."""

        @property
        def forwards(self) -> bool:
            """Whether the tool keeps options it does not know, for another program say."""

        def owns(self, option: str) -> bool:
            """Tell whether *option* (``--name`` or ``-n``) is this command's own."""

        def abbreviates(self, option: str, with_value: bool) -> bool:
            """Tell whether this command would take *option* for a longer one of its own."""

        def width(self, option: str) -> tuple[int, int]:
            """Give how many values the option of this command takes, at least and at most."""

        def negates(self, option: str) -> bool:
            """Tell whether *option* is the spelling that turns a switch off."""

        def without_value(self, option: str) -> str | None:
            """Give the word that is *option* without a value whatever follows it.

            ``""`` when a `SEPARATOR` behind it does that, ``None`` when nothing does.
            """

        @property
        def words_first(self) -> int:
            """How many words are the command's own before one names a subcommand."""

        def child(self, word: str, words_before: int) -> Level | None:
            """Return the subcommand that *word* names after so many other words."""

        @property
        def is_lost(self) -> bool:
            """Whether the last word that named no subcommand may name one after a parse."""

        def inform(self, before: Sequence[str]) -> None:
            """Let the command know *before*, the words that are its own, as a parse would."""

        def passes_on(self, words_before: int) -> bool:
            """Tell whether a word here starts what is passed on to another program."""


_ACCEPTED = {
    "--output": VALID_OUTPUT_FORMATS,
    "--protocol-version": VALID_PROTOCOL_VERSIONS,
    "--contract": CONTRACT_NAMES,
}
# What can only be for us, even where a program forwards unknown words to another one.
_NOT_FORWARDED = ("--agent", "--schema", "--contract", "--protocol-version", "--output")


def scan(
    argv: Sequence[str],
    root: Level,
    mounted: Collection[str] = (),
    vocabulary: Vocabulary | None = None,
    *,
    thorough: bool = False,
    without: Collection[str] = (),
    above: Sequence[Level] = (),
) -> Call:
    """Take our flags out of *argv*; *root* tells what is the tool's own.

    *vocabulary* are the flags the contract in force adds. A *thorough* scan goes to the end, also
    where no word can be ours any more, so that ``level`` is the command that was called. Flags
    named in *without* are nobody's. *above* are the levels above *root*, where it is not the tool.
    """
    call = Call()
    call.level, call.above = root, above
    more: Collection[str] = ()
    if vocabulary is not None:
        more = (*vocabulary.switches, *vocabulary.valued)
        call.switches = {**call.switches, **vocabulary.switches}
        call.valued = {**call.valued, **vocabulary.valued}
        call.repeats = False
    tool = above[0] if above else root
    if "--profile" in "\0".join(argv) and tool.lists("profile"):
        without = (*without, "--profile")  # what the tool calls a profile is something else
    if without:
        call.switches = {name: to for name, to in call.switches.items() if name not in without}
        call.valued = {name: to for name, to in call.valued.items() if name not in without}
    # Behind the last word that could be ours nothing has to be understood; most calls have none,
    # and what a tool loads to look a command up is not loaded for nothing.
    end = len(argv) if thorough else behind_the_last_of_ours(argv, mounted, more)
    position, words, start = 0, 0, 0
    while position < len(argv):
        token = argv[position]
        # Whose schema is wanted only the words behind the flag may tell.
        understood = position >= end and not call.schema
        if understood or token == "--" or (words and call.level.passes_on(words)):
            call.rest.extend(argv[position:])
            break
        level = call.level
        dashed = len(token) > 1 and token[0] == "-"
        if dashed and level.has_options and not level.takes_any_word(words):
            position = behind_option(call, argv, position)
            continue
        position += 1
        if call.mounted:
            call.rest.append(token)
            continue
        if (
            token in mounted
            and level is root
            and words in (0, root.words_first)
            and not root.lists(token)
            and not _is_argument(root, argv[position + root.words_first - words - 1 :])
        ):
            call.mounted = token
            call.before, call.rest = call.rest, []
            continue
        child = call.level.child(token, words)
        if child is None and call.level.is_lost and (call.schema or _asks(argv[position:])):
            # Nothing is to run, so that nobody else would find the command.
            call.level.inform(call.rest[start:])
            child = call.level.child(token, words)
        call.is_undecided = child is None and call.level.is_lost
        if call.is_undecided or (child is None and call.level.passes_on(words)):
            call.rest.extend(argv[position - 1 :])
            break
        call.rest.append(token)
        words += 1
        if child is not None:
            call.above = _above(child, (*call.above, call.level))
            call.level, words, start = child, 0, len(call.rest)
    return call


def _is_argument(root: Level, behind: Sequence[str]) -> bool:
    """Return whether a word is an argument of *root*, since a command stands where one would.

    *behind* is what would come behind its arguments.
    """
    return root.routes and root.takes_words and bool(behind) and root.lists(behind[0])


def _asks(words: Sequence[str]) -> bool:
    """Return whether *words* may ask for a description of the command they name."""
    return "--schema" in words or "--output-schema" in words


def _above(level: Level, passed: Sequence[Level]) -> list[Level]:
    """Return those of *passed* that are above *level*; in a chain others come before it."""
    path = level.path
    return [each for each in passed if each.path == path[: len(each.path)] and each.path != path]


def behind_option(call: Call, argv: Sequence[str], position: int) -> int:
    """Deal with the option at *position*; give the position behind it and its values."""
    taken = _take(call, argv, position)
    if taken:
        call.taken.append((argv[position].partition("=")[0], position, taken))
        return position + taken
    token = argv[position]
    call.rest.append(token)
    position += 1
    if call.mounted:
        return position
    name, equals, _ = token.partition("=")
    least, most = (0, 0) if equals else call.level.width(name)
    if most == EVERYTHING:
        call.rest.extend(argv[position:])
        return len(argv)
    count, any_value = 0, call.level.takes_any_value
    while (
        count < most
        and position < len(argv)
        and ((any_value and count < least) or not _looks_like_option(argv[position]))
    ):
        call.rest.append(argv[position])
        position += 1
        count += 1
    ours_follows = position < len(argv) and _take(_trial(call), argv, position)
    if count < most and ours_follows:
        # With our flag gone, the words behind it would become values of this option.
        bare = call.level.without_value(name)
        if count < least or bare is None:
            _note_mistake(call, "missing_value", name)
        elif bare and not count:
            call.rest[-1] = bare
        else:
            call.rest.append(SEPARATOR)
            call.separated.append(call.level)
    return position


def _trial(call: Call) -> Call:
    trial = Call()
    trial.level, trial.above = call.level, call.above
    trial.switches, trial.valued = call.switches, call.valued
    return trial


def _take(call: Call, argv: Sequence[str], position: int) -> int:
    """Take a flag of ours at *position*; give how many words that were, 0 for none."""
    name, equals, value = argv[position].partition("=")
    switches, valued = call.switches, call.valued
    if (name not in switches and name not in valued) or (
        not call.mounted and any(level.owns(name) for level in (call.level, *call.above))
    ):
        return 0
    following = argv[position + 1] if position + 1 < len(argv) else "--"
    followed = not equals and not _looks_like_option(following)
    if followed and name in valued:
        value = following
    if not call.mounted and _is_theirs(call.level, name, value, bool(equals) or followed):
        if call.level.forwards and name in switches:
            put(call, switches[name], True)
        return 0
    if name in switches:
        put(call, switches[name], True)
        if equals:
            _note_mistake(call, "unexpected_value", name, value)
        return 1
    if not equals and not followed:
        _note_mistake(call, "missing_value", name)
        return 1
    if not call.repeats and said(call, valued[name]) not in (None, value):
        _note_mistake(call, "repeated", name)
    put(call, valued[name], value)
    return 1 if equals else 2


def _is_theirs(level: Level, name: str, value: str, with_value: bool) -> bool:
    """Tell whether the tool has a better claim to a flag that looks like ours."""
    accepted = _ACCEPTED.get(name, ())
    if level.forwards and level.path and name == "--output":
        return True  # many programs have it, and before the command's name it is ours
    if value in accepted:
        return False
    if level.forwards and (name not in _NOT_FORWARDED or accepted):
        return True
    # `--output result.txt` was short for `--output-file` before murli came; it still is.
    return level.abbreviates(name, with_value)


def _note_mistake(call: Call, problem: str, *details: str) -> None:
    from . import usage

    call.mistake = call.mistake or getattr(usage, problem)(*details)


def _looks_like_option(token: str) -> bool:
    return len(token) > 1 and token[0] == "-" and not token[1:2].isdigit()


def mounted_on(root: Level, host: Host, mounted: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of *mounted* that are commands of this tool."""
    if root.takes_words:  # and one may be the name of a file
        mounted = tuple(name for name in mounted if not os.path.lexists(name))
    if root.routes:
        return mounted
    # A word of a tool without commands is its argument; there is nothing to save or to batch.
    kept = () if has_profileable(host.metadata()) else ("profile",)
    return tuple(name for name in mounted if name not in (*kept, "exec"))


def offers_profiles(invocation: Invocation) -> bool:
    """Return whether the tool has murli's ``profile`` command, and not one of its own."""
    root = invocation.host.level()
    mounted = mounted_on(root, invocation.host, ("profile",)) if invocation.settings.mount else ()
    return bool(mounted) and not root.lists("profile")


def put(call: Call, name: str, value: Any) -> None:
    """Note in *call* what was said under *name*, an attribute or one of the ``extra``."""
    if hasattr(call, name):
        setattr(call, name, value)
    else:
        call.extra[name] = value


def said(call: Call, name: str) -> Any:
    """Give what was said under *name*, ``None`` for nothing."""
    return getattr(call, name) if hasattr(call, name) else call.extra.get(name)


def has_profileable(metadata: Metadata | None) -> bool:
    """Tell whether *metadata* speaks of a flag that a profile may hold."""
    notes = metadata.flag_annotations if metadata is not None else {}
    return any(note.profileable for note in notes.values())
