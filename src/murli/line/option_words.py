"""The secrets among the words of a call, learnt before something can go wrong with the others."""

from __future__ import annotations

from ..core import UNBOUNDED
from ..secrets.names import is_about_secret, is_secret_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..call import Invocation


# What people mean when they mistype an option.
_SHORTEST_NAME = len("--tok")
_USUAL_NAMES = ("--password", "--passphrase", "--token", "--secret", "--api-key", "--access-token")


class Options:
    """The options of one command, and which of them have secrets for values.

    *ends* is whether a word that is not an option is where the words of another command begin.
    """

    def __init__(self, ends: Callable[[str], bool]) -> None:
        self._ends = ends
        # How many values at most, and whether they are secret: ``None``, or whether it is declared.
        self._known: dict[str, tuple[int, bool | None]] = {}

    def add(self, names: Iterable[str], most: int, declared: bool | None) -> None:
        """Note an option: its spellings, how many values it takes, and what `_known` says."""
        self._known.update(dict.fromkeys(names, (most, declared)))

    @property
    def names(self) -> Iterable[str]:
        """Every spelling of every option."""
        return self._known.keys()

    def hide_in(self, words: Sequence[str], invocation: Invocation) -> None:
        """Learn the secrets among *words*."""
        for values, declared in self._secrets_in(words):
            invocation.hide(values, named=not declared)

    def _secrets_in(self, words: Sequence[str]) -> Iterator[tuple[list[str], bool]]:
        position, elsewhere = 0, False
        while position < len(words):
            word = words[position]
            position += 1
            if len(word) < 2 or word[0] != "-":
                elsewhere = elsewhere or self._ends(word)
                continue
            name, attached = self._parted(word)
            # What another command calls so may be something else, unless it is spelled out.
            if elsewhere and (not name.startswith("--") or name not in self._known):
                continue
            for most, declared in self._meant_by(name):
                # Of a fixed number the others follow (click); of any number the attached is all.
                rest = most - 1 if 1 < most < UNBOUNDED else 0
                following = list(_values(words[position:], rest if attached else most))
                if declared is not None:
                    yield [*attached, *following], declared
                position += 0 if elsewhere else len(following)
                break

    def _parted(self, word: str) -> tuple[str, list[str]]:
        """Return the option that *word* ends with, and the value in the same word, if any."""
        name, equals, value = word.partition("=")
        if word.startswith("--") or name in self._known:
            return name, [value] if equals else []
        for place in range(1, len(word)):  # -vtVALUE
            most, _ = self._known.get(f"-{word[place]}", (0, None))
            if most:
                value = word[place + 1 :]
                return f"-{word[place]}", [value, value.removeprefix("=")] if value else []
        return word, []

    def _meant_by(self, name: str) -> list[tuple[int, bool | None]]:
        """Return the options that *name* may stand for, those with secrets first."""
        if name in self._known:
            return [self._known[name]]
        folded = name.lower().replace("_", "-")
        found = [
            known
            for option, known in self._known.items()
            if len(name) > 2 and option.lower().replace("_", "-").startswith(folded)
        ]
        return sorted(found, key=lambda known: known[1] is None)


def hide_unknown(words: Sequence[str], known: Iterable[str], invocation: Invocation) -> None:
    """Learn what follows options that nobody knows, and whose names say that it is secret.

    A name that was mistyped is taken for the one that was meant.
    """
    for position, word in enumerate(words):
        name, equals, value = word.partition("=")
        if (
            name.startswith("--")
            and name not in known
            and (is_secret_name(name) or _is_like_secret(name, known))
        ):
            behind = list(_values(words[position + 1 :], 1))
            invocation.hide([value] if equals else behind, named=True)


def _is_like_secret(name: str, known: Iterable[str]) -> bool:
    if len(name) < _SHORTEST_NAME or is_about_secret(name):
        return False
    from difflib import get_close_matches

    names = (*_USUAL_NAMES, *(each for each in known if is_secret_name(each)))
    return bool(get_close_matches(name.lower(), names, 1, 0.8))


def _values(words: Sequence[str], most: int) -> Iterator[str]:
    """Yield up to *most* of *words*; the first whatever it is, others as long as they can be."""
    for number, word in enumerate(words[:most]):
        if number and word.startswith("-"):
            return
        yield word
