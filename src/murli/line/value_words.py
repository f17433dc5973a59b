"""The words of a call that are values of one parameter, and the call for each of them alone."""

from __future__ import annotations

from . import usage
from .payload import spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..declare.tree import Command, Flag
    from .command_line import CommandLine


def calls_for_each(line: CommandLine, command: Command) -> list[tuple[str, list[str]]]:
    """Return each value of the parameter of *command* that takes several, and the call for it.

    Empty where there are not several, and where only the framework knows which command they are
    for. Raises an `AgentError` for an option that cannot be distinguished from its value.
    """
    if _is_chained(line):
        return []
    places: list[tuple[str, Sequence[int]]] = []
    for flag in command.flags:
        if flag.batch:
            places = list(_given(line, flag))
    if any(argument.batch for argument in command.arguments):
        places = [(line.words[at].text, [at]) for at in _placed(line, command)]
    if len(places) < 2:
        return []
    given = {at for _, group in places for at in group}

    def words(own: Sequence[int]) -> list[str]:
        return [each.text for at, each in enumerate(line.words) if at in own or at not in given]

    return [(value, words(group)) for value, group in places]


def _is_chained(line: CommandLine) -> bool:
    """Return whether other commands than those above it run before the one that was called."""
    on_the_way = (*line.call.above, line.level)
    return any(
        word.child is not None and not any(word.child is each for each in on_the_way)
        for word in line.words
    )


def _placed(line: CommandLine, command: Command) -> list[int]:
    """Return where the words are that the argument takes, with those for which it has no room."""
    found: list[int] = []
    is_behind_end = False
    for at, word in enumerate(line.words):
        if word.is_end and not is_behind_end:
            is_behind_end = True
        elif word.is_plain and word.owner in ("tool", "passed") and word.level is line.level:
            if word.child is None:
                found.append(at)
            if word.text[:1] == "-" and len(word.text) > 1 and not is_behind_end:
                return []  # alone it would be an option
    before, several = 0, 0
    for argument in command.arguments:
        if argument.batch:
            several = len(found) - sum(each.values for each in command.arguments if not each.batch)
            break
        before += argument.values
    return found[before : before + several] if several > 1 else []


def _given(line: CommandLine, flag: Flag) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield each value that *flag* was given, and where its words are."""
    level = line.level
    name = level.named(spelled(flag)) or spelled(flag)
    for at, word in enumerate(line.words):
        if word.owner != "tool" or not word.option or word.is_value or word.level is not level:
            continue
        _, equals, value = word.text.partition("=")
        if _is_cluster(line, word.option):
            letters, attached = _short_in(line, word.text, flag.short)
            if letters == f"-{flag.short}" and attached:
                yield attached, [at]
            elif flag.short and letters.endswith(flag.short):  # with others that stay
                raise usage.wrong_call(
                    f"Write {spelled(flag)} and each of its values apart.", flag.name
                )
        elif level.named(word.option) == name:
            if equals:
                yield value, [at]
            elif at + 1 < len(line.words) and line.words[at + 1].is_value:
                yield line.words[at + 1].text, [at, at + 1]
            else:
                raise usage.missing_value(spelled(flag))


def _is_cluster(line: CommandLine, option: str) -> bool:
    """Return whether *option* is letters that are options, or one and its value."""
    return len(option) > 2 and option[1] != "-" and not line.level.owns(option)


def _short_in(line: CommandLine, word: str, short: str) -> tuple[str, str]:
    """Return *word*, letters that are options, up to *short* or the first that takes a value.

    And what is behind that.
    """
    for at in range(1, len(word)):
        if word[at] == short or line.level.width(f"-{word[at]}")[1]:
            return word[: at + 1], word[at + 1 :]
    return word, ""
