"""A first sidecar from the help of a tool, and what of an old one no longer fits it."""

from __future__ import annotations

from ..declare.safety import inferred_danger
from ..formats import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..declare.tree import Command
    from .sidecars import Sidecar

_HEAD = """\
# What murli is to know of {name} beyond its help; see `murli sidecar check {name}`.
summary = {summary}

# What a status means that is no failure, or of which kind the failure is.
# [exit_codes]
# 1 = "nothing was found"
# 2 = "user_error"
"""


def drafted(tool: Command) -> str:
    """Return a sidecar for a tool with what its help suggests, to be read by a person."""
    parts = [_HEAD.format(name=tool.name, summary=_text(tool.summary))]
    secret = sorted({flag.name for each in _all(tool) for flag in each.flags if flag.sensitive})
    if secret:
        parts.append(f"sensitive = [{', '.join(_text(f'--{name}') for name in secret)}]\n")
    for command in _all(tool):
        danger = inferred_danger(tuple(command.path[1:])) if command.path[1:] else ""
        if danger:
            key = _text(" ".join(command.path[1:]))
            parts.append(f"[commands.{key}]\ndanger = {_text(danger)}  # by its name alone\n")
    return "\n".join(parts)


def mismatches(sidecar: Sidecar, tool: Command) -> list[str]:
    """Return what *sidecar* says of commands and options that the help of the tool has not."""
    known = {tuple(each.path[1:]): each for each in _all(tool)}
    found = [
        f"The command {' '.join(path)!r} is not in the help."
        for path in sidecar.commands
        if path not in known
    ]
    spelled = {name for each in known.values() for flag in each.flags for name in _spelled(flag)}
    unknown = sorted(sidecar.sensitive() - spelled)
    found += [f"No command has the option {name}." for name in unknown]
    return found


def _spelled(flag: object) -> tuple[str, ...]:
    name, short, aliases = (getattr(flag, each) for each in ("name", "short", "aliases"))
    return (f"--{name}", f"-{name}", f"-{short}", *aliases)


def _all(command: Command) -> Iterator[Command]:
    yield command
    for each in command.commands:
        yield from _all(each)


def _text(text: str) -> str:
    """Return *text* as TOML writes it, which is how JSON does where nothing is above U+FFFF."""
    return dumps("".join(each for each in text if each.isprintable()), pretty=False)
