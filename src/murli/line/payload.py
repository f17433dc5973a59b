"""A call given as data: JSON values into the words a command line would have had.

Pure: nothing here knows the invocation or the framework. Options come before words, values that
start with a dash cannot be taken for options, and everything that is wrong is reported at once. No
message repeats a value, which may be a secret.
"""

from __future__ import annotations

from ..declare import flag_key
from ..errors import AgentError
from ..secrets.names import is_secret_name
from .usage import nearest, wrong_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ..declare.tree import Argument, Command, Flag

# Where the value of a secret may stand instead of on the command line.
SOURCES = ("-from-env", "-from-file")
_MOST_TIMES = 100


def words_for(command: Command, values: Mapping[str, Any]) -> list[str]:
    """Return the words behind the name of *command* that say *values*.

    Keys are the names of flags and arguments, ``snake_case`` or ``kebab-case``; an argument may
    also be called as its usage shows it. Raises an `AgentError` for a key the command does not
    have, and for a value that fits no word of it.
    """
    return words_along((command,), values)


def words_along(
    commands: Sequence[Command],
    values: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
    *,
    first: Sequence[str] = (),
) -> list[str]:
    """Return the words of a whole call, without the tool's own name.

    *commands* lead from the tool itself to the command that is called; each takes those of
    *values* that it knows, the innermost first. What is in *options* can only be a flag. The words
    of *first* come right behind the command's name.
    """
    levels = [_Level(command) for command in commands]
    problems: list[AgentError] = []
    for given, with_arguments in ((values, True), (options or {}, False)):
        for key, value in given.items():
            if value is None:
                continue  # nobody says nothing by a word
            if not any(level.take(key, value, with_arguments) for level in reversed(levels)):
                problems.append(_unknown(key, levels, with_arguments))
    words: list[str] = []
    for level in levels:
        if level is not levels[0]:
            words.append(level.command.name)
        if level is levels[-1]:
            words += first
        words += level.words(problems, last=level is levels[-1])
    if problems:
        raise together(problems)
    return words


def together(problems: Sequence[AgentError]) -> AgentError:
    """Return one error that lists all of *problems*."""
    first = problems[0]
    if len(problems) > 1:
        listed = [{"field": each.field, "message": each.message} for each in problems]
        first.context = {**first.context, "errors": listed}
    return first


def has_secret(command: Command, flag: Flag) -> bool:
    """Return whether *flag* holds a secret: it is declared as one, or named like one."""
    return flag.values == 1 and (command.is_secret(flag) or is_named_secret(command, flag))


def is_named_secret(command: Command, flag: Flag) -> bool:
    """Return whether a name of *flag*, or of the variable that sets it, is that of a secret."""
    note = command.note_on(flag)
    names = {flag.name, flag.dest, flag.env, *flag.aliases, note.env if note is not None else ""}
    return not flag.choices and any(map(is_secret_name, names))


def secret_named(command: Command, option: str) -> Flag | None:
    """Return the secret whose value *option*, such as ``token-from-env``, says where to find."""
    key = flag_key(option)
    for source in SOURCES:
        stem = key.removesuffix(source)
        if stem == key or any(flag_key(flag.name) == key for flag in command.flags):
            continue
        for flag in command.flags:
            if flag_key(flag.name) == stem and has_secret(command, flag):
                return flag
    return None


def spelled(flag: Flag) -> str:
    """Return *flag* as it is written on a command line."""
    return flag.spelling or f"--{flag.name}"


class _Level:
    """One command of a call, and what it was given."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.flags = {flag_key(flag.name): flag for flag in command.flags}
        # By their other spellings, which are another flag's name in no real tool.
        self.others = {
            flag_key(each.lstrip("+/")): flag
            for flag in command.flags
            for each in (flag.short, *flag.aliases)
            if each
        }
        self.places = {flag_key(each.name): each for each in command.arguments}
        self._shown = _names_shown(command.arguments)
        self._given: dict[str, Any] = {}
        self._placed: dict[str, Any] = {}
        self._elsewhere: list[str] = []

    def take(self, key: str, value: Any, with_arguments: bool) -> bool:
        """Take *value* if *key* is something of this command's; return whether it is."""
        name = flag_key(key)
        if with_arguments and name in self.places:
            self._placed[name] = value
        elif name in self.flags or name in self.others:
            flag = self.flags.get(name) or self.others[name]
            self._given[flag_key(flag.name)] = value
        elif with_arguments and _as_shown(key) in self._shown:
            self._placed[self._shown[_as_shown(key)]] = value
        elif isinstance(value, str) and secret_named(self.command, name) is not None:
            self._elsewhere.append(f"--{name}={value}")
        else:
            return False
        return True

    def words(self, problems: list[AgentError], *, last: bool) -> list[str]:
        """Return the words for what was taken, options first; others are problems."""
        words: list[str] = []
        # In the order of the command, so that equal calls have equal words; those that would take
        # the words behind them as well come first, where an option may stand behind them.
        greedy = [name for name, flag in self.flags.items() if flag.values < 0]
        open_ended = False
        for name in (*greedy, *(each for each in self.flags if each not in greedy)):
            if name in self._given:
                listed = self._words_of(_flag_words, self.flags[name], self._given[name], problems)
                open_ended = name in greedy if listed else open_ended
                words += listed
        if self._elsewhere:
            words += self._elsewhere
            open_ended = False
        placed: list[str] = []
        absent = ""
        for name, argument in self.places.items():
            if name not in self._placed:
                absent = absent or argument.name
                continue
            if absent:
                message = f"Argument {argument.name} cannot be given without {absent}."
                problems.append(wrong_call(message, absent))
            placed += self._words_of(_argument_words, argument, self._placed[name], problems)
        dashed = any(map(_is_dashed, placed))
        if not last and (dashed or open_ended):
            message = (
                f"The words of {self.command.name} cannot be distinguished from those behind them."
            )
            problems.append(wrong_call(message, self.command.name))
        elif (placed and open_ended) or (
            dashed and not (self.command.strict and not _is_dashed(placed[0]))
        ):
            words.append("--")
        return words + placed

    @staticmethod
    def _words_of(spell: Any, target: Any, value: Any, problems: list[AgentError]) -> list[str]:
        try:
            return list(spell(target, value))
        except AgentError as error:
            problems.append(error)
            return []


def _names_shown(arguments: Sequence[Argument]) -> dict[str, str]:
    """Return the keys of *arguments* by what usage lines call them, where that is one of them."""
    shown: dict[str, list[str]] = {}
    for each in arguments:
        for name in {_as_shown(each.name), _as_shown(each.metavar)} - {""}:
            shown.setdefault(name, []).append(flag_key(each.name))
    return {name: keys[0] for name, keys in shown.items() if len(keys) == 1}


def _as_shown(name: str) -> str:
    """Return *name* in one spelling: ``SKU``, ``<sku>`` and ``[SKU]...`` are the same."""
    return flag_key(name.strip("<>[]{}. ").replace(" ", "-")).lower()


def _flag_words(flag: Flag, value: Any) -> Iterator[str]:
    option = spelled(flag)
    if flag.values == 0 and flag.type == "int":
        if isinstance(value, str) or not isinstance(value, int) or not 0 <= value <= _MOST_TIMES:
            raise wrong_call(f"{option} is a number of times, or true.", flag.name)
        yield from [option] * int(value)
    elif flag.values == 0:
        if not isinstance(value, bool):
            raise wrong_call(f"{option} takes no value: give true or false.", flag.name)
        if value:
            yield option
        elif flag.negation:
            yield f"--{flag.negation}"
    elif not flag.type.startswith("[]"):
        yield from _with_value(option, _text(flag.name, option, value, flag.type))
    elif flag.values == 1:
        for each in value if isinstance(value, list) else [value]:
            yield from _with_value(option, _text(flag.name, option, each, flag.type))
    else:
        yield from _many(flag, option, value)


def _with_value(option: str, text: str) -> Iterator[str]:
    if option.startswith("--"):
        yield f"{option}={text}"
    elif not _is_dashed(text):
        yield option
        yield text
    elif len(option) == 2:
        yield option + text
    else:
        raise wrong_call(f"A value of {option} cannot start with a dash.", option.lstrip("-"))


def _many(flag: Flag, option: str, value: Any) -> Iterator[str]:
    """Return an option that several words follow; a list of lists gives it several times."""
    groups = value if isinstance(value, list) else [value]
    if not groups or not all(isinstance(each, list) for each in groups):
        groups = [groups]
    for group in groups:
        texts = [_text(flag.name, option, each, flag.type) for each in group]
        if flag.values > 0 and len(texts) != flag.values:
            raise wrong_call(f"{option} takes {flag.values} values, not {len(texts)}.", flag.name)
        if any(_is_dashed(text) and not _is_number(text) for text in texts):
            raise wrong_call(f"A value of {option} cannot start with a dash.", flag.name)
        yield option
        yield from texts


def _argument_words(argument: Argument, value: Any) -> Iterator[str]:
    name = argument.name
    if not argument.type.startswith("[]"):
        yield _text(name, name, value, argument.type)
        return
    given = value if isinstance(value, list) else [value]
    if argument.values > 1 and len(given) != argument.values:
        raise wrong_call(f"{name} takes {argument.values} values, not {len(given)}.", name)
    for each in given:
        yield _text(name, name, each, argument.type)


def _text(name: str, shown: str, value: Any, kind: str) -> str:
    """Return *value* as one word."""
    if isinstance(value, str):
        if value == "--":  # not every argparse gives it back, however it is said
            raise wrong_call(f"{shown} cannot be two dashes.", name)
        return value
    if isinstance(value, bool):
        if kind.endswith("bool"):
            return "true" if value else "false"
        raise wrong_call(f"{shown} needs a value, not {str(value).lower()}.", name)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, dict):
        from ..formats import dumps

        return dumps(value, pretty=False)
    raise wrong_call(f"{shown} takes one value, not {'a list' if value else 'none'}.", name)


def _unknown(key: str, levels: Sequence[_Level], with_arguments: bool) -> AgentError:
    leaf = levels[-1]
    known = [*(leaf.places if with_arguments else ()), *leaf.flags]
    near = nearest(flag_key(key), [name for level in levels for name in (*known, *level.flags)])
    called = " ".join(leaf.command.path)
    problem = wrong_call(f'"{key}" is no parameter of {called}.', key, valid_values=known)
    if near:
        problem.suggestion = f"Did you mean {' or '.join(near)}?"
    return problem


def _is_dashed(word: str) -> bool:
    return len(word) > 1 and word[0] == "-"


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
