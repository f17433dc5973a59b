"""The call to make instead: of a command that has moved, or whose name was mistyped.

What a caller said beside the command's name is carried over word for word, and quoted, so that the
call can be run as it stands.
"""

from __future__ import annotations

from ..declare.redirects import destination
from ..errors import AgentError
from ..formats.text import clean
from ..line.command_line import CommandLine
from ..line.flags import flags_in
from ..line.scanning import level_at, scan
from .misnamed import invalid_declaration, is_enforced, misdirected, misnamed_along

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..declare.redirects import MovedOption, Redirection, Rules
    from ..declare.tree import Command
    from ..line.command_line import Word
    from ..line.scanning import Level
    from . import Invocation

_NOTED = {
    "renamed": ("was renamed to", "command_renamed"),
    "restructured": ("has moved to", "command_restructured"),
    "deprecated": ("is deprecated in favour of", "command_deprecated"),
    "typo_corrected": ("is mistyped; it is", "typo_corrected"),
}


def follow(invocation: Invocation, rules: Rules) -> None:
    """Refuse a call of a command that is called otherwise now; any other is left alone."""
    argv = list(invocation.request.argv)
    used: list[Redirection] = []
    while (found := _match(argv, invocation, rules)) is not None and found[0] not in used:
        rule, positions = found
        used.append(rule)
        if rule.options:
            argv = _with_moved_options(argv, positions, rule, invocation)
        argv = replaced(argv, positions, (*rule.new,), rule.fixed)
    if used:
        if is_enforced(invocation):
            for wrong in misdirected(invocation.host, used, rules):
                invocation.refuse(invalid_declaration(wrong))
            if wrong := _wrong_declaration(invocation, argv):
                invocation.refuse(invalid_declaration(wrong))
        invocation.refuse(_moved(invocation, argv, used, rules))


def replaced(
    argv: Sequence[str], positions: Sequence[int], path: Sequence[str], fixed: Sequence[str] = ()
) -> list[str]:
    """Return *argv* with *path* in place of the words at *positions*, and *fixed* behind it.

    Word by word where there are as many, so that options between them stay where they are.
    """
    new: dict[int, Sequence[str]] = {}
    if len(positions) == len(path):
        new = {place: [word] for place, word in zip(positions, path, strict=True)}
        new[positions[-1]] = [path[-1], *fixed]
    else:
        new = dict.fromkeys(positions, ())
        new[positions[0]] = [*path, *fixed]
    return [word for place, old in enumerate(argv) for word in new.get(place, [old])]


def call_of(invocation: Invocation, words: Sequence[str]) -> tuple[str, str]:
    """Return the call of the tool with *words* as one line, and what it lacks."""
    import shlex

    _hide_secrets(invocation, words)
    shown = list(words)
    if invocation.secrets is not None:
        # Before a quote can tear a secret apart.
        shown = invocation.secrets.scrub_words(words)
    line = shlex.join([invocation.host.name(), *shown])
    if shown != list(words):
        return line, "Put the secrets back into the command before you run it."
    return line, "" if clean(line) == line else "The command lacks characters that cannot be shown."


def corrected(invocation: Invocation, error: AgentError) -> AgentError:
    """Return *error* as a redirect when it is a mistyped command, and only one can be meant."""
    from ..line.usage import quoted

    argv = invocation.request.argv
    unknown = (
        word
        for word in _words(argv, invocation)
        if word.child is None and word.level.routes and quoted(word.text) in error.message
    )
    word = next(unknown, None)
    if word is None:
        return error
    first = not any(_words(argv[: word.position], invocation))
    ours = _own(invocation) if first else {}
    name = nearest_one(word.text, [*error.valid_values, *ours])
    if name is None:
        return error
    words = replaced(argv, [word.position], [name])
    if _wrong_declaration(invocation, words):
        return error
    line, lack = call_of(invocation, words)
    if lack or _destroys(invocation, words):
        return error
    return AgentError.redirected(
        error.message,
        line,
        permanent=False,
        reason="typo_corrected",
        error_type="typo_corrected",
        field=error.field,
        valid_values=error.valid_values,
    )


def nearest_one(word: str, known: Sequence[str]) -> str | None:
    """Return the one name that *word* must have been; ``None`` when there is none, or several."""
    typed = word.lower()
    found: dict[int, set[str]] = {}
    for name in known:
        allowed = 2 if len(name) >= 6 else 1 if len(name) >= 3 else 0
        distance = distance_of(typed, name.lower(), allowed)
        if distance <= allowed:
            found.setdefault(distance, set()).add(name)
    nearest = found[min(found)] if found else set()
    return nearest.pop() if len(nearest) == 1 else None


def distance_of(word: str, name: str, most: int = 2) -> int:
    """Return how many letters to change, add, drop or swap with the next make *word* *name*.

    Where that are more than *most*, any number above it.
    """
    if abs(len(word) - len(name)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(name) + 1))
    for at, letter in enumerate(word, 1):
        last, before, row = before, row, [at]
        for to, other in enumerate(name, 1):
            cost = min(row[to - 1] + 1, before[to] + 1, before[to - 1] + (letter != other))
            if at > 1 and to > 1 and letter == name[to - 2] and word[at - 2] == other:
                cost = min(cost, last[to - 2] + 1)
            row.append(cost)
    return row[-1]


# -- the words of a call ----------------------------------------------------------------------


def _words(argv: Sequence[str], invocation: Invocation) -> Iterator[Word]:
    """Return the words of *argv* that may name commands, in order."""
    flags = invocation.call.flags or flags_in()
    call = scan(argv, invocation.host.level(), (), flags, thorough=True)
    return CommandLine(call).command_words()


def _match(
    argv: Sequence[str], invocation: Invocation, rules: Rules
) -> tuple[Redirection, list[int]] | None:
    """Return the rule that a call falls under, and where the words stand that it speaks of."""
    command_words: list[Word] = []
    for word in _words(argv, invocation):
        command_words.append(word)
        path = tuple(each.text for each in command_words)
        if not any(old[: len(path)] == path for old in rules):
            break
    for length in range(len(command_words), 0, -1):
        rule = rules.get(tuple(word.text for word in command_words[:length]))
        if rule is None:
            continue
        below = command_words[length] if length < len(command_words) else None
        if rule.extends and below is not None and below.level.lists(below.text):
            continue  # it is called by its new name, or is one of the commands beside that
        return rule, [word.position for word in command_words[:length]]
    return None


# -- options that were renamed, were dropped, or have other values ------------------------------


def _with_moved_options(
    argv: Sequence[str], positions: Sequence[int], rule: Redirection, invocation: Invocation
) -> list[str]:
    """Return *argv* with the options behind the old command, at *positions*, as *rule* has them.

    What *rule* does not name stays as it is.
    """
    start = positions[-1] + 1
    behind = list(argv[start:])
    options = behind[: behind.index("--")] if "--" in behind else behind
    old, new = level_at(invocation.host, rule.old), level_at(invocation.host, rule.new)
    return [*argv[:start], *_Words(rule, old, new).moved(options), *behind[len(options) :]]


class _Words:
    """Takes the words behind a command apart; *old* and *new* are the commands, if they exist."""

    def __init__(self, rule: Redirection, old: Level | None, new: Level | None) -> None:
        self._options = rule.options
        self._old = old
        self._new = new

    def moved(self, words: Sequence[str]) -> list[str]:
        """Return *words* with every option that has moved in its new form."""
        found: list[str] = []
        waiting = list(words)
        while waiting:
            word = waiting.pop(0)
            name, equals, value = word.partition("=")
            option = self._options.get(name)
            if option is not None:
                values = [value] if equals else self._taken(name, option, waiting)
                found += self._written(option, values, joined=bool(equals))
            elif len(word) > 2 and word[0] == "-" != word[1]:
                found += self._cluster(word, waiting)
            else:
                found.append(word)
                # The value of an option that stays is not one of those that moved.
                count = self._old.width(name)[0] if self._old and word[:1] == "-" else 0
                found += [] if equals else [waiting.pop(0) for _ in waiting[:count]]
        return found

    def _taken(self, name: str, option: MovedOption, waiting: list[str]) -> list[str]:
        """Take the values of the option called *name* out of the words that are *waiting*."""
        least, most = self._width(name, option)
        taken: list[str] = []
        while waiting and len(taken) < most:
            if len(taken) >= least and waiting[0].startswith("-"):
                break
            taken.append(waiting.pop(0))
        return taken

    def _width(self, name: str, option: MovedOption) -> tuple[int, int]:
        """Return how many values the option takes, at least and at most."""
        if option.count is not None:
            return option.count, option.count
        if self._old is not None and self._old.owns(name):
            return self._old.width(name)
        if self._new is not None and option.new and self._new.owns(option.new):
            return self._new.width(option.new)
        ours = flags_in().get(option.new or "")
        one = int(ours is not None and ours.takes_value)
        return one, one

    def _cluster(self, word: str, waiting: list[str]) -> list[str]:
        """Return a word of short options with those apart that have moved: ``-vn``, ``-nTEXT``."""
        kept, moved = "-", []
        for at, letter in enumerate(word[1:], 1):
            name, rest = f"-{letter}", word[at + 1 :]
            option = self._options.get(name)
            if option is None:
                if self._old is None or not self._old.owns(name) or self._old.width(name)[1]:
                    kept += word[at:]  # the rest may be a value
                    break
                kept += letter
                continue
            takes_value = self._width(name, option)[1] > 0
            if takes_value:
                values = [rest] if rest else self._taken(name, option, waiting)
                moved += self._written(option, values, joined=False)
                break
            moved += self._written(option, [], joined=False)
        return [*([kept] if len(kept) > 1 else []), *moved]

    def _written(self, option: MovedOption, values: Sequence[str], *, joined: bool) -> list[str]:
        if not option.new:
            return []
        changed = [option.value(each) for each in values]
        return [f"{option.new}={changed[0]}"] if joined else [option.new, *changed]


# -- what is written --------------------------------------------------------------------------


def _moved(
    invocation: Invocation, argv: Sequence[str], used: Sequence[Redirection], rules: Rules
) -> AgentError:
    first = used[0]
    line, lack = call_of(invocation, argv)
    verb, error_type = _NOTED[first.reason]
    tool = invocation.host.name()
    old = " ".join((tool, *first.old))
    new = " ".join((tool, *destination(first.old, rules)))
    return AgentError.redirected(
        first.message or f'"{old}" {verb} "{new}".',
        line,
        permanent=all(rule.permanent for rule in used),
        reason=first.reason,
        error_type=error_type,
        detail=lack,
    )


def _own(invocation: Invocation) -> dict[str, Command]:
    """Return our own commands by their names."""
    commands = invocation.settings.commands().own_commands(invocation)
    return {command.name: command for command in commands}


def _destroys(invocation: Invocation, words: Sequence[str]) -> bool:
    """Return whether the call with *words* is declared to destroy something."""
    command_words = list(_words(words, invocation))
    if command_words[0].child is None and command_words[0].text in (ours := _own(invocation)):
        command = ours[command_words[0].text]
        for word in command_words[1:]:
            command = next((each for each in command.commands if each.name == word.text), command)
    else:
        command = invocation.host.command(_levels(invocation, words)[-1])
    return command.metadata is not None and command.metadata.destructive


def _levels(invocation: Invocation, words: Sequence[str]) -> list[Level]:
    """Return what a call with *words* goes through, the tool itself first."""
    below = (word.child for word in _words(words, invocation))
    return [invocation.host.level(), *(level for level in below if level is not None)]


def _hide_secrets(invocation: Invocation, words: Sequence[str]) -> None:
    """Learn the secrets among *words* before they are shown: nothing has been parsed yet."""
    # The command that was called may know what is secret, and so may the one to call.
    from ..line.option_words import hide_unknown

    known: set[str] = set()
    for level in (*_levels(invocation, invocation.request.argv), *_levels(invocation, words)):
        options = invocation.host.secret_options(level)
        options.hide_in(words, invocation)
        known.update(options.names)
    hide_unknown(words, known, invocation)


def _wrong_declaration(invocation: Invocation, words: Sequence[str]) -> str:
    """Return what the command called, or that of *words*, misnames: it may be a secret."""
    calls = (_levels(invocation, invocation.request.argv), _levels(invocation, words))
    found = (wrong for levels in calls for wrong in misnamed_along(invocation.host, levels))
    return next(found, "")
