"""Our flags, read from argv before the framework parses it.

They may stand anywhere, so that even a parse error reaches the right audience in the right form.
What a command defines itself is always its own: an option of the same name on that command, the
values of its options, everything after ``--``, and the words a command passes on to another
program.
"""

from __future__ import annotations

import os

from ..contracts import MURLI, find_contract
from ..core import EVERYTHING, SEPARATOR, Call, end_of_own_flags
from .command_line import Word
from .flags import flags_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any, Protocol

    from ..call import Invocation
    from ..call.host import Host
    from ..core import Settings
    from ..declare import Metadata
    from .flags import OwnFlag

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
            """Return whether this command has a subcommand of that name."""

        def names(self) -> list[str]:
            """Return the names of the subcommands, none of which is loaded for it."""

        def named(self, option: str) -> str:
            """Return the long name of the option that *option* stands for, ``""`` for none."""

        @property
        def forwards(self) -> bool:
            """Whether the tool keeps options it does not know, for another program say."""

        def owns(self, option: str) -> bool:
            """Return whether *option* (``--name`` or ``-n``) is this command's own."""

        def abbreviates(self, option: str, with_value: bool) -> bool:
            """Return whether this command would take *option* for a longer one of its own."""

        def width(self, option: str) -> tuple[int, int]:
            """Return how many values the option of this command takes, at least and at most."""

        def negates(self, option: str) -> bool:
            """Return whether *option* is the spelling that turns a switch off."""

        def without_value(self, option: str) -> str | None:
            """Return the word that is *option* without a value whatever follows it.

            ``""`` when a `SEPARATOR` behind it does that, ``None`` when nothing does.
            """

        @property
        def words_first(self) -> int:
            """How many words are the command's own before one names a subcommand."""

        def child(self, word: str, words_before: int) -> Level | None:
            """Return the subcommand that *word* names after so many other words."""

        def beside(self) -> Sequence[Level]:
            """Return the other commands of the same group that are loaded already."""

        @property
        def is_lost(self) -> bool:
            """Whether the last word that named no subcommand may name one after a parse."""

        def hands_down(self, option: str, behind: Sequence[str]) -> bool:
            """Return whether *option* may be that of a subcommand that needs no name.

            *behind* are the words that follow.
            """

        def inform(self, before: Sequence[str]) -> None:
            """Let the command know *before*, the words that are its own, as a parse would."""

        def passes_on(self, words_before: int) -> bool:
            """Return whether a word here starts what is passed on to another program."""


def scan(
    argv: Sequence[str],
    root: Level,
    mounted: Collection[str] = (),
    flags: Mapping[str, OwnFlag] | None = None,
    *,
    repeats: bool = True,
    thorough: bool = False,
    without: Collection[str] = (),
    above: Sequence[Level] = (),
) -> Call:
    """Take our flags out of *argv*; *root* knows what is the tool's own.

    *flags* are those of the contract in force, murli's unless given. A *thorough* scan goes to the
    end, also where no word can be ours any more, so that ``level`` is the command that was called.
    Flags named in *without* are nobody's. *above* are the levels above *root*, where it is not the
    tool.
    """
    call = Call()
    call.level, call.above = root, above
    call.repeats, call.is_thorough = repeats, thorough
    call.flags = flags_in() if flags is None else flags
    tool = above[0] if above else root
    if "--profile" in "\0".join(argv) and tool.lists("profile"):
        without = (*without, "--profile")  # what the tool calls a profile is something else
    if without:
        call.flags = {name: flag for name, flag in call.flags.items() if name not in without}
    # Behind the last word that could be ours nothing has to be understood; most calls have none,
    # and what a tool loads to look a command up is not loaded for nothing.
    end = len(argv) if thorough else end_of_own_flags(argv, mounted, call.flags)
    position, words, start = 0, 0, 0
    while position < len(argv):
        token = argv[position]
        # Whose schema is wanted only the words behind the flag may show.
        understood = position >= end and not call.schema
        if understood or token == "--" or (words and call.level.passes_on(words)):
            _leave_rest(call, argv, position, words)
            break
        level = call.level
        dashed = len(token) > 1 and token[0] == "-"
        if dashed and level.has_options and not level.takes_any_word(words):
            undecided = level.routes and not words and not call.mounted
            if undecided and _is_handed_down(call, token, argv[position + 1 :]):
                call.is_undecided = True
                _leave_rest(call, argv, position, words)
                break
            position = consume_option(call, argv, position, words)
            continue
        position += 1
        word = Word(call, token, position - 1, words)
        call.words.append(word)
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
            call.mounted, word.owner = token, "mounted"
            call.before, call.rest = call.rest, []
            continue
        word.child = child = call.level.child(token, words)
        if child is None and call.level.is_lost and (call.schema or _asks(call, argv[position:])):
            # Nothing is to run, so that nobody else would find the command.
            call.level.inform(call.rest[start:])
            word.child = child = call.level.child(token, words)
        call.is_undecided = child is None and call.level.is_lost
        if call.is_undecided or (child is None and call.level.passes_on(words)):
            word.owner = "undecided" if call.is_undecided else "passed"
            call.rest.append(token)
            _leave_rest(call, argv, position, words + 1)
            break
        call.rest.append(token)
        words += 1
        if child is not None:
            call.above = _above(child, (*call.above, call.level))
            call.level, words, start = child, 0, len(call.rest)
    call.words_of_level = words
    return call


def _leave_rest(call: Call, argv: Sequence[str], position: int, words: int) -> None:
    """Leave what stands from *position* on to the tool, or to the program it is passed on to."""
    call.rest.extend(argv[position:])
    if call.is_undecided:
        made = trial(call)
        while position < len(argv) and argv[position] != "--":
            if len(argv[position]) > 1 and argv[position][0] == "-" and call.level.has_options:
                position = consume_option(made, argv, position, words)
                continue
            made.words.append(Word(made, argv[position], position, words))
            position, words = position + 1, words + 1
        for word in made.words:
            word.owner = "undecided"
        call.words += made.words
    for place in range(position, len(argv)):
        call.words.append(Word(call, argv[place], place, words, owner="passed"))


def scan_for_contract(
    host: Host, settings: Settings, argv: Sequence[str], chosen: str, without: Collection[str] = ()
) -> Call:
    """Take our flags out of *argv*, with those that only the contract it is read in has."""
    root = host.level()
    for name in dict.fromkeys((_named_in(argv) or chosen, chosen)):
        contract = find_contract(name) or MURLI
        mounted = mounted_on(root, host, contract.mounted if settings.mount else ())
        if contract.adds_flags:
            # To the end, so that an answer can name its command.
            flags = flags_in(contract)
            call = scan(argv, root, mounted, flags, repeats=False, thorough=True, without=without)
        else:
            call = scan(argv, root, mounted)
        if (call.contract or chosen) == name:  # else it was named to the tool, and not to us
            break
    return call


def _named_in(argv: Sequence[str]) -> str:
    """Return the contract that ``--contract`` asks for, before anything else is understood."""
    found = ""
    for position, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if name == "--":
            break
        if name == "--contract":
            found = value if equals else "".join(argv[position + 1 : position + 2])
    return found


def _is_argument(root: Level, behind: Sequence[str]) -> bool:
    """Return whether a word is an argument of *root*, since a command stands where one would.

    *behind* is what would come behind its arguments.
    """
    return root.routes and root.takes_words and bool(behind) and root.lists(behind[0])


def _is_handed_down(call: Call, token: str, behind: Sequence[str]) -> bool:
    """Return whether *token*, which looks like ours, may be for a command without a name."""
    name = token.partition("=")[0]
    return name in call.flags and not call.level.owns(name) and call.level.hands_down(name, behind)


def _asks(call: Call, words: Sequence[str]) -> bool:
    """Return whether *words* may ask for a description of the command they name."""
    return any(word in call.flags and call.flags[word].group == "describe" for word in words)


def _above(level: Level, passed: Sequence[Level]) -> list[Level]:
    """Return those of *passed* that are above *level*; in a chain others come before it."""
    path = level.path
    return [each for each in passed if each.path == path[: len(each.path)] and each.path != path]


def consume_option(call: Call, argv: Sequence[str], position: int, words: int = 0) -> int:
    """Deal with the option at *position*; return the position behind it and its values."""
    token = argv[position]
    name, equals, _ = token.partition("=")
    word = Word(call, token, position, words, option=name)
    call.words.append(word)
    taken = take(call, argv, position)
    if taken:
        word.owner = "ours"
        if taken > 1:
            call.words.append(word.value(argv[position + 1], position + 1))
        call.taken.append((name, position, taken))
        return position + taken
    call.rest.append(token)
    position += 1
    if call.mounted:
        return position
    least, most = (0, 0) if equals else call.level.width(name)
    if most == EVERYTHING:
        word.lacks = (0, most)
        _leave_rest(call, argv, position, words)
        return len(argv)
    count, any_value = 0, call.level.takes_any_value
    while (
        count < most
        and position < len(argv)
        and ((any_value and count < least) or not _looks_like_option(argv[position]))
    ):
        call.rest.append(argv[position])
        call.words.append(word.value(argv[position], position))
        position += 1
        count += 1
    call.words[-1].lacks = (least - count, most - count)
    ours_follows = position < len(argv) and take(trial(call), argv, position)
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


def trial(call: Call, word: Word | None = None) -> Call:
    """Return a call in which a flag can be tried where *call* stands, or before *word*."""
    made, at = Call(), word or call
    made.level, made.above, made.flags = at.level, at.above, call.flags
    return made


def take(call: Call, argv: Sequence[str], position: int) -> int:
    """Take a flag of ours at *position*; return how many words that were, 0 for none."""
    name, equals, value = argv[position].partition("=")
    flag = call.flags.get(name)
    if flag is None or (
        not call.mounted and any(level.owns(name) for level in (call.level, *call.above))
    ):
        return 0
    following = argv[position + 1] if position + 1 < len(argv) else "--"
    followed = not equals and not _looks_like_option(following)
    if followed and flag.takes_value:
        value = following
    if not call.mounted and _is_theirs(call.level, flag, name, value, bool(equals) or followed):
        if call.level.forwards and not flag.takes_value:
            set_flag(call, flag.destination, True)
        return 0
    if not flag.takes_value:
        set_flag(call, flag.destination, True)
        if equals:
            _note_mistake(call, "unexpected_value", name, value)
        return 1
    if not equals and not followed:
        _note_mistake(call, "missing_value", name)
        return 1
    if not call.repeats and flag_value(call, flag.destination) not in (None, value):
        _note_mistake(call, "repeated", name)
    set_flag(call, flag.destination, value)
    return 1 if equals else 2


def _is_theirs(level: Level, flag: OwnFlag, name: str, value: str, with_value: bool) -> bool:
    """Return whether the tool has a better claim to a flag that looks like ours."""
    if level.forwards and level.path and name == "--output":
        return True  # many programs have it, and before the command's name it is ours
    if value in flag.claimed_values or (name == "--contract" and find_contract(value)):
        return False
    if level.forwards and not flag.claimed:
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
    kept = (*kept, "exec", "mcp") if root.takes_words else (*kept, "exec")
    return tuple(name for name in mounted if name not in kept)


def offers_profiles(invocation: Invocation) -> bool:
    """Return whether the tool has murli's ``profile`` command, and not one of its own."""
    return offers(invocation, "profile")


def offers(invocation: Invocation, name: str) -> bool:
    """Return whether the tool has murli's command *name*, and not one of its own."""
    root = invocation.host.level()
    mounted = mounted_on(root, invocation.host, (name,)) if invocation.settings.mount else ()
    return bool(mounted) and not root.lists(name)


def set_flag(call: Call, name: str, value: Any) -> None:
    """Note in *call* the value of *name*, an attribute or one of the ``extra``."""
    if hasattr(call, name):
        setattr(call, name, value)
    else:
        call.extra[name] = value


def flag_value(call: Call, name: str) -> Any:
    """Return the value noted under *name*, ``None`` for none."""
    return getattr(call, name) if hasattr(call, name) else call.extra.get(name)


def has_profileable(metadata: Metadata | None) -> bool:
    """Return whether *metadata* speaks of a flag that a profile may hold."""
    notes = metadata.flag_annotations if metadata is not None else {}
    return any(note.profileable for note in notes.values())


def level_at(host: Host, path: Sequence[str]) -> Level | None:
    """Return the command at *path*, ``None`` where there is none; no other is looked up."""
    level: Level | None = host.level()
    for word in path:
        level = level.child(word, level.words_first) if level else None
    return level
