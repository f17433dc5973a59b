"""Calls that a caller can run as they stand: its own, with other values for flags of ours."""

from __future__ import annotations

from ..formats import cleaned
from . import MOUNTED, SEPARATOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from . import Call
    from .invocation import Invocation


# The flags that say how an answer is given and not what it is about.
ABOUT_THE_ANSWER = frozenset(
    (
        *("--limit", "--cursor", "--fields", "--etag", "--max-bytes", "--stream", "--no-stream"),
        *("--output", "--format", "--agent", "--contract", "--protocol-version"),
        *("--timeout", "--quiet", "--verbose", "--debug"),
    )
)


def scan_again(invocation: Invocation, words: Sequence[str], without: Collection[str] = ()) -> Call:
    """Give what *words* would have been understood as; flags named in *without* are not ours."""
    host, settings = invocation.host, invocation.settings
    if invocation.writer.contract != "murli":
        from .family import scan_in_family

        contract = invocation.writer.contract
        return scan_in_family(host, settings, words, contract, without)
    from .argv import mounted_on, scan

    root = host.level()
    mounted = mounted_on(root, host, MOUNTED if settings.mount else ())
    return scan(words, root, mounted, thorough=True, without=without)


def inherit(invocation: Invocation, above: Invocation) -> None:
    """Let flags of ours that were taken from the words of *above* count for *invocation* too."""
    from .argv import put, said

    call, known = invocation.call, above.call
    for flag, name in (*known.switches.items(), *known.valued.items()):
        value = said(known, name)
        if value and name not in ("schema", "output_schema") and not said(call, name):
            put(call, name, value)
            call.taken.append((flag, 0, 0))  # it stands among no words of this call
    invocation.scanned = invocation.scanned or above.scanned


def variable_of(invocation: Invocation, name: str) -> str:
    """Give the environment variable *name* of this tool: ``MY_TOOL_FORMAT``."""
    tool = invocation.host.name().upper()
    letters = [char if char.isascii() and char.isalnum() else "_" for char in tool]
    return f"{''.join(letters)}_{name}"


def mark_of_call(invocation: Invocation) -> str:
    """Give what tells this call, whatever part of its answer is wanted, from others."""
    from .cursors import mark_of

    return mark_of((invocation.host.name(), *_words_without(invocation, ABOUT_THE_ANSWER)))


def call_with(invocation: Invocation, flags: Mapping[str, str | None]) -> str:
    """Give the caller's own call with these *flags* of ours instead of its own.

    ``None`` is a flag that is left out, as a switch can only be. Where the call cannot be spelled
    so that it would be understood in the same way, what is given is ``""``.
    """
    words = _words_without(invocation, flags)
    added = [text for name, value in flags.items() if value is not None for text in (name, value)]
    for candidate in _arrangements(words, added):
        if _means(invocation, candidate, flags):
            return spelled(invocation, candidate)
    if {name: value for name, value in flags.items() if value is not None} == {"--max-bytes": "0"}:
        # The tool has an option of that name, or hands on what it does not know.
        uncapped = f"{variable_of(invocation, 'MAX_OUTPUT_BYTES')}=0"
        return spelled(invocation, words, "env", uncapped)
    return ""


def _words_without(invocation: Invocation, flags: Collection[str]) -> list[str]:
    """Give the words of the call but for these *flags* of ours and their values."""
    dropped = {
        position
        for name, start, count in invocation.call.taken
        if name in flags
        for position in range(start, start + count)
    }
    return [word for position, word in enumerate(invocation.argv) if position not in dropped]


def _arrangements(words: list[str], added: list[str]) -> Iterator[list[str]]:
    end = words.index("--") if "--" in words else len(words)
    yield [*words[:end], *added, *words[end:]]
    yield [*added, *words]
    if not added:
        return
    # Between the command and what it passes on to another program.
    yield from ([*words[:place], *added, *words[place:]] for place in range(1, min(end, 6)))


def _means(invocation: Invocation, words: list[str], flags: Mapping[str, str | None]) -> bool:
    """Tell whether *words* are the same call, apart from *flags*."""
    from .argv import said

    found = scan_again(invocation, words)
    named = {**found.switches, **found.valued}
    given = {name: said(found, named[name]) or None for name in flags}
    return (
        found.mistake is None
        and found.mounted == invocation.call.mounted
        and given == dict(flags)
        and _tools_words(found) == _tools_words(scan_again(invocation, invocation.argv))
    )


def _tools_words(call: Call) -> list[str]:
    return [word for word in call.rest if word != SEPARATOR]


def spelled(invocation: Invocation, words: list[str], *before: str) -> str:
    """Return the call of the tool with *words* as a shell takes it; ``""`` if it cannot be told."""
    from shlex import join

    words = [*before, invocation.host.name(), *words]
    if invocation.secrets is not None:
        # Before they are quoted: a quotation mark inside one would hide it.
        words = invocation.secrets.scrub_words(words)
    text = join(words)
    # What a document cannot hold as it is cannot be told to anybody.
    return text if cleaned(text) == text else ""
