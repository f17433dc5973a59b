"""Calls that a caller can run as they stand: its own, with other values for flags of ours."""

from __future__ import annotations

from ..core import MOUNTED
from ..formats import cleaned
from .command_line import CommandLine
from .flags import names_where

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ..call import Invocation, Request
    from ..core import Call


# The flags that limit answers, and the variables that do.
_CAPS = {"--max-bytes": "MAX_OUTPUT_BYTES", "--max-tokens": "MAX_OUTPUT_TOKENS"}


def scan_again(invocation: Invocation, words: Sequence[str], without: Collection[str] = ()) -> Call:
    """Return what *words* would have been understood as; flags named in *without* are not ours."""
    host, settings = invocation.host, invocation.settings
    contract = invocation.request.contract
    if contract.adds_flags:
        from .scanning import scan_for_contract

        return scan_for_contract(host, settings, words, contract.name, without)
    from .scanning import mounted_on, scan

    root = host.level()
    mounted = mounted_on(root, host, MOUNTED if settings.mount else ())
    return scan(words, root, mounted, thorough=True, without=without)


def inherit(request: Request, above: Request) -> None:
    """Let flags of ours that were taken from the words of *above* count for *request* too."""
    from .scanning import flag_value, set_flag

    call, known = request.call, above.call
    for name, flag in known.flags.items():
        value = flag_value(known, flag.destination)
        if value and flag.group != "describe" and not flag_value(call, flag.destination):
            set_flag(call, flag.destination, value)
            call.taken.append((name, 0, 0))  # it stands among no words of this call
    request.is_scanned = request.is_scanned or above.is_scanned


def variable_of(invocation: Invocation | Request, name: str) -> str:
    """Return the environment variable *name* of this tool: ``MY_TOOL_FORMAT``."""
    tool = invocation.host.name().upper()
    letters = [char if char.isascii() and char.isalnum() else "_" for char in tool]
    return f"{''.join(letters)}_{name}"


def command_line(invocation: Invocation) -> CommandLine:
    """Return the words of the running call, scanned to the end once."""
    call = invocation.call
    if call.line is None:
        again = None if call.is_thorough else scan_again(invocation, invocation.request.argv)
        call.line = CommandLine(again or call)
    call.line.mark(call.taken)
    return call.line


def mark_of_call(invocation: Invocation) -> str:
    """Return what distinguishes this call, whatever part of its answer is wanted."""
    words = command_line(invocation).without(names_where(lambda flag: flag.is_about_the_answer))
    return mark_of((invocation.host.name(), *words))


def call_with(invocation: Invocation, flags: Mapping[str, str | None]) -> str:
    """Return the caller's own call with these *flags* of ours instead of its own.

    ``None`` is a flag that is left out, as a switch can only be. ``""`` where the call cannot be
    spelled so that it would be understood in the same way.
    """
    line = command_line(invocation)
    words = line.with_flags(flags)
    if words is not None:
        return spelled(invocation, words)
    given = {name: value for name, value in flags.items() if value is not None}
    if given.keys() <= _CAPS.keys() and set(given.values()) == {"0"}:
        # The tool has an option of that name, or hands on what it does not know.
        uncapped = [f"{variable_of(invocation, _CAPS[name])}=0" for name in given]
        return spelled(invocation, line.without(flags), "env", *uncapped)
    return ""


def spelled(invocation: Invocation, words: list[str], *before: str) -> str:
    """Return the call with *words* as a shell takes it; ``""`` if it cannot be written."""
    from shlex import join

    program = invocation.settings.program or (invocation.host.name(),)
    words = [*before, *program, *words]
    if invocation.secrets is not None:
        # Before they are quoted: a quotation mark inside one would hide it.
        words = invocation.secrets.scrub_words(words)
    text = join(words)
    # What a document cannot hold as it is cannot be written for anybody.
    return text if cleaned(text) == text else ""


def mark_of(words: Iterable[str]) -> str:
    """Return what distinguishes the call of these *words*: eight letters."""
    from base64 import urlsafe_b64encode
    from hashlib import blake2b

    joined = "\0".join(words).encode("utf-8", "surrogatepass")
    return urlsafe_b64encode(blake2b(joined, digest_size=6).digest()).decode("ascii")


def path_of(invocation: Invocation) -> tuple[str, ...]:
    """Return the names of the command that was called, below the tool's own."""
    call = invocation.call
    if call.mounted:
        return (call.mounted,)
    return tuple(getattr(call.level, "path", ()))
