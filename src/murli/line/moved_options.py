"""The options of a call whose command has moved: renamed, dropped, or with other values."""

from __future__ import annotations

from .flags import flags_in
from .scanning import level_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..call import Invocation
    from ..declare.redirects import MovedOption, Redirection
    from .scanning import Level


def with_moved_options(
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
