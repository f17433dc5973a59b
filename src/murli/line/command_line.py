"""A command line as it was understood: its words, each with its owner and what it belongs to.

`scan` makes the words. What edits a call (the call for the rest of an answer, a command that has
moved, a mistyped name) edits these words and scans nothing again.
"""

from __future__ import annotations

from ..core import EVERYTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Any

    from ..core import Call
    from .scanning import Level


class Word:
    """One word of a command line.

    ``owner`` is ``ours``, ``tool``, ``mounted`` (the name of a command that we mount), ``passed``
    (left as it is: ``--`` and what is behind it, and what is for another program) or ``undecided``
    (only the framework's own parse knows). ``option`` is the option that it is, or ``is_value``
    of. ``level`` is the command it was passed to, behind ``count`` other words, ``above`` those
    above that; ``child`` is the command that it names. ``lacks`` is how many more values its option
    needs, and how many it would take.
    """

    __slots__ = (
        *("text", "position", "owner", "option", "is_value", "level", "above", "count", "child"),
        *("in_mounted", "lacks"),
    )
    child: Level | None

    def __init__(
        self,
        call: Call,
        text: str,
        position: int,
        count: int,
        *,
        owner: str = "tool",
        option: str = "",
    ) -> None:
        self.text = text
        self.position = position
        self.owner = owner
        self.option = option
        self.is_value = False
        self.level: Any = call.level
        self.above = call.above
        self.count = count
        self.child = None
        self.in_mounted = bool(call.mounted)
        self.lacks = (0, 0)

    def value(self, text: str, position: int) -> Word:
        """Return *text*, which stands at *position*, as a value of this option."""
        made: Word = Word.__new__(Word)
        for name in self.__slots__:
            setattr(made, name, getattr(self, name))
        made.text, made.position, made.is_value = text, position, True
        return made

    @property
    def is_plain(self) -> bool:
        """Whether it is neither an option nor the value of one."""
        return not self.option

    @property
    def is_end(self) -> bool:
        """Whether it is the ``--`` behind which nothing is an option."""
        return self.owner == "passed" and self.text == "--"

    @property
    def may_name_command(self) -> bool:
        """Whether it stands where the name of a command would."""
        return self.is_plain and self.owner != "ours" and self.count >= self.level.words_first


class CommandLine:
    """The words of *call*, all of which was scanned."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.words = call.words

    @property
    def level(self) -> Any:
        """The command that was called."""
        return self.call.level

    def mark(self, taken: Sequence[tuple[str, int, int]]) -> None:
        """Mark the flags that were *taken*, those taken when the framework parsed included."""
        for name, start, count in taken:
            for word in self.words[start : start + count]:
                word.owner, word.option = "ours", name

    def command_words(self) -> Iterator[Word]:
        """Return the words that may name commands, in order."""
        for word in self.words:
            if word.owner == "passed":
                return
            if word.may_name_command:
                yield word

    def options(self) -> Iterator[tuple[Word, list[str]]]:
        """Return the options of the tool, each with the words that are its values."""
        for place, word in enumerate(self.words):
            if word.owner == "tool" and word.option and not word.is_value:
                values: list[str] = []
                for value in self.words[place + 1 :]:
                    if not value.is_value:
                        break
                    values.append(value.text)
                yield word, values

    def without(self, flags: Collection[str]) -> list[str]:
        """Return the words but for these *flags* of ours and their values."""
        return [word.text for word in self._kept(flags)]

    def with_flags(self, flags: Mapping[str, str | None]) -> list[str] | None:
        """Return the words with these *flags* of ours instead of its own, ``None`` if impossible.

        A flag whose value is ``None`` is left out. The tool gets the same words as before.
        """
        kept = self._kept(flags)
        gaps = self._gaps(flags)
        added = [
            text for name, value in flags.items() if value is not None for text in (name, value)
        ]
        known = self.call.flags
        for word in kept:  # a switch that is passed on counts for us as well
            if flags.get(word.option, "") is None and not known[word.option].takes_value:
                return None
        if not added:
            return None if gaps else [word.text for word in kept]
        texts, end = [word.text for word in kept], _end_of(kept)
        # Behind all words, before them, or between a command and what it passes on.
        for place in dict.fromkeys((end, 0, *range(1, min(end, 6)), *gaps)):
            if not gaps - {place} and self._takes(kept, place, added):
                return [*texts[:place], *added, *texts[place:]]
        return None

    def with_option(self, name: str, value: str) -> list[str]:
        """Return the words with *value* for an option of the tool's own, at the end of options."""
        kept = [word for word in self.words if word.option != name or word.owner == "passed"]
        texts, end = [word.text for word in kept], _end_of(kept)
        return [*texts[:end], name, value, *texts[end:]]

    def _kept(self, flags: Collection[str]) -> list[Word]:
        return [word for word in self.words if not (word.owner == "ours" and word.option in flags)]

    def _gaps(self, flags: Collection[str]) -> set[int]:
        """Return the places where without *flags* an option would take more values than now."""
        found: set[int] = set()
        kept, before = 0, None
        for word in self.words:
            dropped = word.owner == "ours" and word.option in flags
            if dropped and before is not None and before.owner == "tool" and before.lacks[1] > 0:
                found.add(kept)
            elif not dropped:
                if kept in found and (word.option and not word.is_value):
                    found.discard(kept)  # an option ends the values of another one
                kept, before = kept + 1, word
        found.discard(kept)
        return found

    def _takes(self, kept: Sequence[Word], place: int, added: Sequence[str]) -> bool:
        """Return whether flags of ours before the word at *place* are taken, and nothing else."""
        from .scanning import take, trial

        call = self.call
        word = kept[place] if place < len(kept) else None
        if word is None:
            level, count, in_mounted = call.level, call.words_of_level, bool(call.mounted)
        else:
            level, count, in_mounted = word.level, word.count, word.in_mounted
        if (
            (word is not None and word.is_value)
            or any(each.owner in ("passed", "undecided") for each in kept[:place])
            or not level.has_options
            or level.takes_any_word(count)
            or (count and level.passes_on(count))
        ):
            return False
        before = kept[place - 1] if place else None
        if before is not None and before.owner == "tool" and before.lacks[1] > 0:
            needs, more = before.lacks
            bare = before.level.without_value(before.option)
            # The option is written otherwise when one of ours follows it, unless one did before.
            followed = any(each.owner == "ours" for each in self.words[before.position + 1 :][:1])
            rewritten = bare and not before.is_value and not followed
            if needs > 0 or more == EVERYTHING or bare is None or rewritten:
                return False
        made = trial(call, word)
        made.mounted = call.mounted if in_mounted else ""
        return all(
            take(made, added, at) == 2 and made.mistake is None for at in range(0, len(added), 2)
        )


def _end_of(words: Sequence[Word]) -> int:
    """Return where the ``--`` is behind which no word is an option, else where *words* end."""
    return next((place for place, word in enumerate(words) if word.is_end), len(words))
