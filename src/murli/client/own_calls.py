"""Commands that a tool names, as calls of that tool and of nothing else.

The words are data: no shell sees them, and the first of them, the name, is never what is run; the
caller's own words for the tool take its place.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

#: what stands in place of a secret
MASK = "[REDACTED]"
#: flags that say yes for the caller, or make a preview the real thing
CONFIRMING = frozenset(
    ("--force", "--yes", "-y", "--confirm", "--confirm-destructive", "--live", "--no-dry-run")
)
#: flags with which a call only tells what it would do
PREVIEWS = frozenset(("--dry-run", "--validate-only"))


def same_tool(
    command: str, argv: Sequence[str], names: Iterable[str] = ()
) -> tuple[str, ...] | None:
    """Give *command* as an argv of the tool that *argv* calls; ``None`` when it is not one.

    *names* are what else the tool is called, one or more words each.
    """
    try:
        words = shlex.split(command)
    except ValueError:  # no closing quotation
        return None
    if not argv or not words or "\0" in command or needs_shell(command):
        return None
    said = [name_of(words[0]), *words[1:]]
    for name in (name_of(argv[0]), *names):
        known = name.split()
        if known and said[: len(known)] == known:
            return (argv[0], *words[len(known) :])
    return None


def needs_shell(command: str) -> bool:
    """Tell whether *command*, with its quotes closed, says something only a shell would do.

    Without one it would be another call than the tool means.
    """
    quote = before = ""
    letters = iter(command)
    for letter in letters:
        if quote == "'":
            quote = "" if letter == "'" else quote
        elif letter == "\\":
            next(letters, "")
        elif letter in "`$":  # obeyed between double quotes too
            return True
        elif quote:
            quote = "" if letter == '"' else quote
        elif letter in ";|&<>()\n" or (letter == "~" and before in ("", " ", "\t")):
            return True
        elif letter in "'\"":
            quote = letter
        before = letter
    return False


def name_of(program: str) -> str:
    """Give what a program is called, without where it is."""
    name = program.replace("\\", "/").rpartition("/")[2]
    for suffix in (".exe", ".py"):
        name = name.removesuffix(suffix)
    return name


def with_secrets(argv: Sequence[str], before: Sequence[str]) -> tuple[str, ...] | None:
    """Give *argv* with the words of *before* where the tool has taken a secret out of them.

    What a caller said is carried over in its order, so words are the same counted from the end.
    ``None`` when one of them is not.
    """
    words = list(argv)
    said = list(before)
    for at in range(len(words) - 1, 0, -1):
        word = words[at]
        old = said.pop() if len(said) > 1 else None  # the first is the tool
        if MASK in word:
            head, _, tail = word.partition(MASK)
            if old is None or not (old.startswith(head) and old[len(head) :].endswith(tail)):
                return None
            words[at] = old
        elif word != old:
            said = []  # from here on words are no longer the caller's
    return tuple(words)


def options_in(argv: Sequence[str]) -> list[str]:
    """Give the words of *argv* that may be options: those before ``--``."""
    words = list(argv)
    return words[: words.index("--")] if "--" in words else words


def with_flag(argv: Sequence[str], flag: str) -> tuple[str, ...]:
    """Give *argv* with *flag* where it is still taken for an option."""
    options = options_in(argv)
    return (*options, flag, *argv[len(options) :])


def adds_confirmation(argv: Sequence[str], before: Sequence[str]) -> bool:
    """Tell whether *argv* says yes to something that *before* did not."""
    said, now = ({word.partition("=")[0] for word in options_in(each)} for each in (before, argv))
    return not (now & CONFIRMING) <= said


def drops_preview(argv: Sequence[str], before: Sequence[str]) -> bool:
    """Tell whether *argv* would do what *before* only wanted to know about."""
    return not PREVIEWS.isdisjoint(options_in(before)) and PREVIEWS.isdisjoint(options_in(argv))
