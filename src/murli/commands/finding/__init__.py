"""Which commands some words name, behind ``describe`` and ``manifest``."""

from __future__ import annotations

import re

from ...line import usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ...call import Invocation
    from ...declare.tree import Command

    Chain = tuple[Command, ...]


def find_commands(
    invocation: Invocation,
    words: Sequence[str],
    top: Iterable[Command],
    below: Callable[[Command], Iterable[Command]],
) -> list[Chain]:
    """Return the commands that *words* name, each behind those above it.

    Words that are a path are one command; where a path ends, the next word begins another among
    *top*. ``orders.list`` and ``"orders list"`` are paths as well. Refuses the call when a word
    names nothing.
    """
    first = _by_name(top)
    found: list[Chain] = []
    chain: Chain = ()
    for word in words:
        here = _by_name(below(chain[-1])) if chain else first
        longer = _follow(here, word, below)
        if longer:
            chain = (*chain, *longer)
            found[-1:] = [chain]
            continue
        begun = _follow(first, word, below)
        if not begun:
            names = dict.fromkeys(each.name for each in (*here.values(), *first.values()))
            shown = [name for name in names if not (here.get(name) or first[name]).hidden]
            invocation.refuse(usage.unknown_command(word, shown))
        chain = begun
        found.append(chain)
    return list({each[-1].path: each for each in found}.values())


def _follow(
    names: dict[str, Command], word: str, below: Callable[[Command], Iterable[Command]]
) -> Chain:
    """Return the commands on the path that *word* is, from one of *names* on, or none."""
    if word in names:
        return (names[word],)
    chain: Chain = ()
    for part in re.split(r"[. ]+", word):
        if part not in names:
            return ()
        chain = (*chain, names[part])
        names = _by_name(below(chain[-1]))
    return chain


def _by_name(commands: Iterable[Command]) -> dict[str, Command]:
    """Return *commands* by every name they answer to."""
    return {name: each for each in commands for name in (each.name, *each.aliases)}
