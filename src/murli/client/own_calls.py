"""Commands that a tool names, as calls of that tool and of nothing else.

The words are data: no shell sees them, and the first of them, the name, is never what is run; the
caller's own words for the tool take its place.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Container, Iterable, Mapping, Sequence

from ..line.flags import names_where
from ..wire.catalogue import Flag

#: what stands in place of a secret
MASK = "[REDACTED]"
#: flags that say yes for the caller, or make a preview the real thing, by their long names
CONFIRMING = frozenset(
    ("confirm", "no-dry-run", *(name[2:] for name in names_where(lambda f: f.effect == "confirms")))
)
#: flags with which a call only shows what it would do
PREVIEWS = names_where(lambda flag: flag.effect == "previews")
# Short names that confirm in most tools.
_USUAL_SHORTS = frozenset("fy")
_KEY = "--idempotency-key"


def same_tool(
    command: str, argv: Sequence[str], names: Iterable[str] = ()
) -> tuple[str, ...] | None:
    """Return *command* as an argv of the tool that *argv* calls; ``None`` when it is not one.

    *names* are what else the tool is called, one or more words each.
    """
    try:
        words = shlex.split(command)
    except ValueError:  # no closing quotation
        return None
    if not argv or not words or "\0" in command or needs_shell(command):
        return None
    named = [name_of(words[0]), *words[1:]]
    for name in (name_of(argv[0]), *names):
        known = name.split()
        if known and named[: len(known)] == known:
            return (argv[0], *words[len(known) :])
    return None


def needs_shell(command: str) -> bool:
    """Return whether *command*, with its quotes closed, says something only a shell would do.

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
    """Return what a program is called, without where it is."""
    name = program.replace("\\", "/").rpartition("/")[2]
    for suffix in (".exe", ".py"):
        name = name.removesuffix(suffix)
    return name


def with_secrets(argv: Sequence[str], before: Sequence[str]) -> tuple[str, ...] | None:
    """Return *argv* with the words of *before* where the tool has taken a secret out of them.

    The words of a caller keep their order, so words are the same counted from the end.
    ``None`` when one of them is not.
    """
    words = list(argv)
    remaining = list(before)
    for at in range(len(words) - 1, 0, -1):
        word = words[at]
        old = remaining.pop() if len(remaining) > 1 else None  # the first is the tool
        if MASK in word:
            head, _, tail = word.partition(MASK)
            if old is None or not (old.startswith(head) and old[len(head) :].endswith(tail)):
                return None
            words[at] = old
        elif word != old:
            remaining = []  # from here on words are no longer the caller's
    return tuple(words)


def options_in(argv: Sequence[str]) -> list[str]:
    """Return the words of *argv* that may be options: those before ``--``."""
    words = list(argv)
    return words[: words.index("--")] if "--" in words else words


def with_flag(argv: Sequence[str], flag: str) -> tuple[str, ...]:
    """Return *argv* with *flag* where it is still taken for an option."""
    options = options_in(argv)
    return (*options, flag, *argv[len(options) :])


def is_runnable(words: Iterable[str]) -> bool:
    """Return whether every word can be given to a process."""
    try:
        data = "".join(words)
        data.encode()  # refuses halves of characters, which only escapes in JSON can make
        os.fsencode(data)
    except UnicodeEncodeError:
        return False
    return "\0" not in data


def has_key(argv: Sequence[str]) -> bool:
    """Return whether *argv* has an idempotency key, so that running it twice is running it once."""
    options = options_in(argv)
    for place, word in enumerate(options):
        name, _, value = word.partition("=")
        if name == _KEY:
            return bool(value or "".join(options[place + 1 : place + 2]))
    return False


def option_names(argv: Sequence[str]) -> set[str]:
    """Return the options in *argv*, without the values that are part of their words."""
    return {word.partition("=")[0] for word in options_in(argv) if word.startswith("-")}


def adds_confirmation(
    argv: Sequence[str],
    before: Sequence[str],
    flags: Mapping[str, Flag] | None = None,
    also: Iterable[str] = (),
) -> bool:
    """Return whether *argv* may confirm something that *before* did not.

    *flags* are what the command called is known to have, *also* the tool's own confirming flags. A
    parser may take the beginning of a name for the whole, and a word for several short options, so
    what could be read as a confirmation is one. A short option nobody knows is one, too.
    """
    names = option_names(before)
    new = [word for word in options_in(argv)[1:] if word.partition("=")[0] not in names]
    return any(may_confirm(word, flags, also, shorts=None) for word in new)


def may_confirm(
    word: str,
    flags: Mapping[str, Flag] | None = None,
    also: Iterable[str] = (),
    *,
    shorts: Container[str] | None = _USUAL_SHORTS,
) -> bool:
    """Return whether a parser may take *word* for a flag that confirms; see `adds_confirmation`.

    *shorts* are the short options to be wary of where *flags* do not say, ``None`` for all.
    """
    confirming = CONFIRMING.union(also)
    name = word.partition("=")[0].lower().replace("_", "-")
    stem = name.lstrip("-+/")
    if not stem or stem == name:
        return False
    if not name.startswith("-"):  # some parsers have other marks for an option
        return stem in confirming
    if name.startswith("--"):
        is_another = flags is not None and stem in flags and stem not in confirming
        return not is_another and any(each.startswith(stem) for each in confirming)
    if stem.replace(".", "").isdecimal():
        return False  # a number below zero
    known = {letter: each for each in (flags or {}).values() for letter in (each.short, each.name)}
    for letter in word[1:].partition("=")[0]:
        flag = known.get(letter)
        if flag is None and (shorts is None or letter in shorts):
            return True
        if flag is not None and flag.name in confirming:
            return True
        if flag is not None and flag.kind != "boolean":
            return False  # the rest of the word is its value
    return stem in confirming


def previews(argv: Sequence[str]) -> bool:
    """Return whether *argv* asks for a preview."""
    return not PREVIEWS.isdisjoint(option_names(argv))


def drops_preview(argv: Sequence[str], before: Sequence[str]) -> bool:
    """Return whether *argv* would do what *before* only wanted to know about."""
    now = options_in(argv)
    # The beginning of a name may have been taken for the whole.
    wanted = [
        word
        for word in options_in(before)
        if len(word) > 2 and any(each.startswith(word.partition("=")[0]) for each in PREVIEWS)
    ]
    return bool(wanted) and PREVIEWS.isdisjoint(now) and not set(wanted) <= set(now)
