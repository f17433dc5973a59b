"""The conventional vocabulary: names an agent guesses right the first time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...formats import TextStream

_COMMANDS = {
    "get": ("fetch", "info", "retrieve"),
    "list": ("show-all", "ls", "enumerate"),
    "delete": ("remove", "rm"),
    "create": ("add", "new", "make"),
    "update": ("edit", "modify", "set"),
}
_FLAGS = {
    "force": ("skip-confirmations", "no-confirm"),
    "quiet": ("silent", "no-output"),
    "dry-run": ("preview", "what-if"),
    "output": ("format", "output-format"),
}


def check_conventions(
    command_names: Iterable[str], flag_names: Iterable[str], stream: TextStream
) -> int:
    """Write one advisory line per unconventional name and give their number; never raises."""
    count = 0
    for line in advisories(command_names, flag_names):
        count += 1
        try:
            stream.write(f"[murli advisory] {line}\n")
        except (OSError, ValueError):  # advice is not worth a failure
            pass
    return count


def advisories(command_names: Iterable[str], flag_names: Iterable[str]) -> Iterator[str]:
    """Return what is unconventional, one sentence each."""
    commands = {found: preferred for preferred, names in _COMMANDS.items() for found in names}
    flags = {found: preferred for preferred, names in _FLAGS.items() for found in names}
    for name in command_names:
        if name in commands:
            yield f'command "{name}": prefer "{commands[name]}" (conventional vocabulary)'
    for name in flag_names:
        if name in flags:
            yield f"flag --{name}: prefer --{flags[name]} (conventional vocabulary)"
