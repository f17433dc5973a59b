"""Declarations that name what a command does not have: a misspelled secret is no secret.

For an agent, and in tests, every call of such a command is refused; ``doctor`` looks at all of
them. A person's call goes on as if nothing had been declared.
"""

from __future__ import annotations

from ..core import is_on
from ..declare import flag_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..declare import FlagAnnotation, Metadata
    from ..declare.redirects import Redirection, Rules
    from ..declare.tree import Argument, Command, Flag
    from ..errors import AgentError
    from ..line.scanning import Level
    from . import Invocation
    from .host import Host


class Parameters:
    """What one command has: its options and arguments by `flag_key`, as they are spelled.

    Declarations, which are ``metadata``, are found by the first long name of an option; ``others``
    leads there from each of its other spellings.
    """

    __slots__ = ("arguments", "metadata", "options", "others")

    def __init__(
        self, metadata: Metadata | None, options: Iterable[Sequence[str]], arguments: Iterable[str]
    ) -> None:
        self.metadata = metadata
        self.options: dict[str, str] = {}
        self.others: dict[str, str] = {}
        for first, *others in options:
            self.options[flag_key(first)] = first
            self.others.update((flag_key(name), flag_key(first)) for name in others)
        self.arguments = {flag_key(name): name for name in arguments}


def refuse_misnamed(invocation: Invocation, own: Parameters, above: Sequence[Parameters]) -> None:
    """Refuse a call of a command that declares what neither it nor a group *above* it has."""
    if is_enforced(invocation):
        for found in misnamed(own, above):
            invocation.refuse(invalid_declaration(found))
    batch = own.metadata is not None and own.metadata.batch
    if batch and not (invocation.running.notices_values or invocation.is_for_people):
        invocation.settings.commands().refuse_several_values(invocation)


def is_enforced(invocation: Invocation) -> bool:
    """Return whether a wrong declaration is a failure of the running call."""
    return not invocation.is_attended or is_on("MURLI_TEST")


def misnamed_along(host: Host, levels: Sequence[Level]) -> Iterator[str]:
    """Yield what the commands of one call, from the tool itself on, misname."""
    found = [host.parameters(level) for level in levels]
    for at, own in enumerate(found):
        yield from misnamed(own, found[:at])


def invalid_declaration(message: str) -> AgentError:
    """Return the failure of a tool whose author declared what cannot be."""
    from ..errors import AgentError

    return AgentError.tool_error(
        f"A declaration of this tool is wrong: {message}.",
        "Ask its author to correct the declaration; trying again does not help.",
        error_type="invalid_declaration",
        recoverable=False,
    )


def misnamed(own: Parameters, above: Sequence[Parameters]) -> Iterator[str]:
    """Yield, one sentence each, what the declarations of a command name that is not there."""
    metadata = own.metadata
    if metadata is None or not metadata.names_parameters:
        return
    options = {key: name for level in (*above, own) for key, name in level.options.items()}
    arguments = {key: name for level in (*above, own) for key, name in level.arguments.items()}
    known = {**arguments, **options}
    notes = metadata.flag_annotations
    for key, note in notes.items():
        first = own.others.get(key, "")
        if key in own.options or (first and notes.get(first) == note):
            pass
        elif first:
            yield f'flag_annotations names "{key}"; use {own.options[first]}'
        elif key not in options or (_needs_own(note) and not _repeats(key, note, above)):
            yield _sentence("flag_annotations", key, own.options, options)
        for other in note.mutually_exclusive_with:
            if flag_key(other) not in known and flag_key(other) not in _ours():
                yield _sentence("mutually_exclusive_with", other, options)
    for argument in metadata.arguments:
        if flag_key(argument.name) not in arguments:
            yield _sentence("arguments", argument.name, arguments)
    for rule in metadata.requires:
        names = (rule.if_flag, *rule.then_required, *rule.prohibited, *rule.default)
        for name in (*names, *rule.any_of, *rule.one_of):
            if name and name not in known and name not in _ours():
                yield _sentence("requires", name, known)
    traits = metadata.traits
    if traits is not None and traits.confirm_flag and traits.confirm_flag not in options:
        yield _sentence("confirm_flag", traits.confirm_flag, options)


def misnamed_in(host: Host) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is misnamed anywhere in the tool of *host*, with the path of the command."""
    waiting: list[tuple[Command, list[Level]]] = [(host.tree(), [host.level()])]
    while waiting:
        command, levels = waiting.pop()
        *above, own = map(host.parameters, levels)
        yield from ((command.path[1:], found) for found in misnamed(own, above))
        yield from ((command.path[1:], found) for found in _wrong_calls(host, own.metadata))
        wrong = unbatchable(command)
        if wrong:
            yield command.path[1:], wrong
        for child in reversed(command.commands):
            level = levels[-1]
            below = level.child(child.name, level.words_first)
            if below is not None:
                waiting.append((child, [*levels, below]))


def _wrong_calls(host: Host, metadata: Metadata | None) -> Iterator[str]:
    """Yield what the calls that a command declares name that is not there."""
    for field in ("next", "state"):
        calls = getattr(metadata, field, None)
        if calls:
            from functools import partial

            from ..declare.templates import words_of
            from ..line.next_calls import changes, levels_to, wrong_in

            calls = (calls,) if isinstance(calls, str) else calls
            yield from wrong_in(host, calls, partial(_unknown_in_call, field))
            if field == "state":
                levels, _ = levels_to(host, words_of(calls[0])[1:])
                if changes(host, levels[-1]):
                    yield f'state leads to "{levels[-1].path[-1]}", which changes something'


def _unknown_in_call(field: str, name: str, known: Sequence[str]) -> str:
    from ..line.usage import nearest

    near = nearest(name, known, 1)
    listed = f"did you mean {near[0]}" if near else f"there is {', '.join(known[:10]) or 'none'}"
    return f'{field} names "{name}"; {listed}'


def unbatchable(command: Command) -> str:
    """Return, in a sentence, why *command* cannot run for several values; ``""`` if it can."""
    name = command.metadata.batch if command.metadata is not None else ""
    if not name or any(flag.batch for flag in command.flags):
        return ""
    parameters: list[Argument | Flag] = [*command.arguments, *command.flags]
    named = [each for each in parameters if flag_key(each.name) == name]
    if not named:
        return _sentence("batch", name, {flag_key(each.name): each.name for each in parameters})
    if not named[0].batch:
        return f'batch names "{name}", which does not take exactly one value; leave batch out'
    several = [each.name for each in command.arguments if each.values < 0 and not each.batch]
    if several:
        return f'batch names "{name}", but "{several[0]}" takes any number of words'
    return ""


def misdirected(host: Host, used: Iterable[Redirection], rules: Rules) -> Iterator[str]:
    """Yield what redirects name that is not there: a command, or an option of it.

    Only the named commands are looked up, so that nothing else has to be loaded.
    """
    from ..contracts.agent_spec import Revision
    from ..declare.redirects import rule_for
    from ..line.next_calls import levels_to

    for rule in used:
        if rule_for(rule.new, rules) is not None:
            continue  # where that leads is checked with the other one
        levels, used_words = levels_to(host, rule.new)
        missing = rule.new[used_words:]
        if missing and levels[-1].routes and not levels[-1].words_first:
            # A group that lists nothing may find its commands in a way of its own.
            if levels[-1].names() and (len(levels) > 1 or missing[0] not in Revision.mounted):
                yield _no_command(rule, levels[-1], missing[0])
            continue
        wanted = [word.partition("=")[0] for word in rule.fixed if word.startswith("--")]
        wanted += [option.new for option in rule.options.values() if option.new]
        ours = _ours() if wanted else {}
        for name in wanted:
            taken = any(level.forwards or level.named(name) for level in levels)
            if not taken and flag_key(name) not in ours:
                options = host.parameters(levels[-1]).options
                yield _sentence(f'the redirect of "{" ".join(rule.old)}"', name, options)


def _no_command(rule: Redirection, level: Level, word: str) -> str:
    from ..line.usage import nearest

    near = nearest(word, level.names(), 1)
    text = f'redirect "{" ".join(rule.old)}" leads to "{" ".join(rule.new)}", which is no command'
    return f'{text}; did you mean "{near[0]}"' if near else text


def _needs_own(note: FlagAnnotation) -> bool:
    """Return whether *note* says what only the command that has the option can act on."""
    return bool(note.sensitive or note.env or note.profileable)


def _repeats(key: str, note: FlagAnnotation, above: Sequence[Parameters]) -> bool:
    """Return whether the command *above* that has the option declares the same of it."""
    return any(
        key in level.options
        and level.metadata is not None
        and level.metadata.flag_annotations.get(key) == note
        for level in above
    )


def _ours() -> dict[str, str]:
    from ..line.flags import OWN_FLAGS

    return {flag_key(name): name for flag in OWN_FLAGS for name in flag.names}


def _sentence(
    field: str, name: str, known: Mapping[str, str], elsewhere: Mapping[str, str] | None = None
) -> str:
    """Return that *field* names *name*, and what is there that may be meant."""
    from ..line.usage import nearest

    key = flag_key(name)
    if elsewhere is not None and key in elsewhere:
        there = f"{elsewhere[key]} is an option of a group above, declare it there"
        return f'{field} names "{name}"; {there}'
    bare = key.replace("-", "")
    near = [each for each in known if each.replace("-", "") == bare] or nearest(key, known, 1)
    if near:
        return f'{field} names "{name}"; the command has {known[near[0]]}'
    if not known:
        return f'{field} names "{name}"; the command has no arguments and no options'
    listed = ", ".join(list(known.values())[:10])
    return f'{field} names "{name}"; the command has no such name, but {listed}'
