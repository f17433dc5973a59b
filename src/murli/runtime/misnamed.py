"""Declarations that name what a command does not have: a misspelled secret is no secret.

For an agent, and in tests, every call of such a command is refused; ``doctor`` looks at all of
them. A person's call goes on as if nothing had been declared.
"""

from __future__ import annotations

from ..errors import AgentError
from ..metadata import flag_key
from . import SWITCHES, VALUED, is_on
from .usage import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..metadata import FlagAnnotation, Metadata
    from .argv import Level
    from .host import Host
    from .invocation import Invocation


class Parameters:
    """What one command has: its options and arguments by `flag_key`, as they are spelled.

    Declarations are found by the first long name of an option; ``others`` leads there from each of
    its other spellings.
    """

    __slots__ = ("arguments", "options", "others")

    def __init__(self, options: Iterable[Sequence[str]], arguments: Iterable[str]) -> None:
        self.options: dict[str, str] = {}
        self.others: dict[str, str] = {}
        for first, *others in options:
            self.options[flag_key(first)] = first
            self.others.update((flag_key(name), flag_key(first)) for name in others)
        self.arguments = {flag_key(name): name for name in arguments}


def names_something(metadata: Metadata | None) -> bool:
    """Return whether *metadata* speaks of flags or arguments by their names."""
    return metadata is not None and bool(metadata.has_checks or metadata.arguments)


def refuse_misnamed(
    invocation: Invocation, metadata: Metadata, own: Parameters, above: Sequence[Parameters]
) -> None:
    """Refuse a call of a command whose *metadata* names what neither it nor a group *above* has."""
    if invocation.writer.is_tty() and not is_on("MURLI_TEST"):
        return
    found = next(misnamed(metadata, own, above), "")
    if found:
        invocation.refuse(invalid_declaration(found))


def invalid_declaration(message: str) -> AgentError:
    """Return the failure of a tool whose author declared what cannot be."""
    return AgentError.tool_error(
        f"A declaration of this tool is wrong: {message}.",
        "Tell its author to correct the declaration; trying again does not help.",
        error_type="invalid_declaration",
        recoverable=False,
    )


def misnamed(metadata: Metadata, own: Parameters, above: Sequence[Parameters]) -> Iterator[str]:
    """Yield, one sentence each, what *metadata* names that is not there."""
    options = {key: name for level in (*above, own) for key, name in level.options.items()}
    arguments = {key: name for level in (*above, own) for key, name in level.arguments.items()}
    anything = {**_ours(), **arguments, **options}
    notes = metadata.flag_annotations
    for key, note in notes.items():
        first = own.others.get(key, "")
        if key in own.options or (first and notes.get(first) == note):
            pass
        elif first:
            yield f'flag_annotations names "{key}"; use {own.options[first]}'
        elif key not in options or _needs_own(note):
            yield _sentence("flag_annotations", key, own.options, options)
        for other in note.mutually_exclusive_with:
            if flag_key(other) not in anything:
                yield _sentence("mutually_exclusive_with", other, options)
    for argument in metadata.arguments:
        if flag_key(argument.name) not in arguments:
            yield _sentence("arguments", argument.name, arguments)
    for rule in metadata.requires:
        names = (rule.if_flag, *rule.then_required, *rule.prohibited, *rule.default)
        for name in (*names, *rule.any_of, *rule.one_of):
            if name and name not in anything:
                yield _sentence("requires", name, {**arguments, **options})
    traits = metadata.traits
    if traits is not None and traits.confirm_flag and traits.confirm_flag not in options:
        yield _sentence("confirm_flag", traits.confirm_flag, options)


def misnamed_in(host: Host) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is misnamed anywhere in the tool of *host*, with the path of the command."""
    from ..tree import Command

    def look(command: Command, level: Level, above: list[Parameters]) -> Iterator[str]:
        own = host.parameters(level)
        if command.metadata is not None and names_something(command.metadata):
            yield from misnamed(command.metadata, own, above)

    waiting: list[tuple[Command, Level, list[Parameters]]] = [(host.tree(), host.level(), [])]
    while waiting:
        command, level, above = waiting.pop()
        yield from ((command.path[1:], found) for found in look(command, level, above))
        for child in reversed(command.commands):
            below = level.child(child.name, getattr(level, "words_first", 0), ())
            if below is not None:
                waiting.append((child, below, [*above, host.parameters(level)]))


def _needs_own(note: FlagAnnotation) -> bool:
    """Return whether *note* says what only the command that has the option can act on."""
    return bool(note.sensitive or note.env or note.profileable)


def _ours() -> dict[str, str]:
    from .family import VOCABULARY

    ours = (*SWITCHES, *VALUED, *VOCABULARY.switches, *VOCABULARY.valued)
    return {flag_key(name): name for name in ours}


def _sentence(
    field: str, name: str, known: Mapping[str, str], elsewhere: Mapping[str, str] | None = None
) -> str:
    """Return that *field* names *name*, and what is there that may be meant."""
    key = flag_key(name)
    if elsewhere is not None and key in elsewhere:
        there = f"{elsewhere[key]} is an option of a group above, declare it there"
        return f'{field} names "{name}"; {there}'
    bare = key.replace("-", "")
    near = [each for each in known if each.replace("-", "") == bare] or nearest(key, known, 1)
    if near:
        return f'{field} names "{name}"; the command has {known[near[0]]}'
    listed = ", ".join(list(known.values())[:10]) or "none"
    return f'{field} names "{name}"; the command has no such name, but {listed}'
