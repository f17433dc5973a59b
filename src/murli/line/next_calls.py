"""Calls that an answer advises: what their author declared, with the values of one call in it.

A value is one word of the call and never an option of it, wherever it comes from: it may be text
that somebody sent who would like more to be done.
"""

from __future__ import annotations

from ..declare import flag_key
from ..declare.plain_values import shown
from ..declare.templates import PLACE, words_of
from ..secrets.names import is_secret_name
from ..secrets.shapes import without_secrets
from .calls import command_line, spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from ..call import Invocation
    from ..call.host import Host
    from .scanning import Level

# A longer value does not name anything.
_LONGEST = 200


def calls_in(invocation: Invocation, templates: Sequence[str], result: Any) -> Iterator[str]:
    """Yield those of *templates* that the *result* and the arguments of the call can fill."""
    arguments: dict[str, Any] | None = None
    for template in templates:
        values: dict[str, str] = {}
        for place in {place for word in words_of(template) for place in PLACE.findall(word)}:
            found, value = at(result, place)
            if not found and "." not in place:
                arguments = arguments_of(invocation) if arguments is None else arguments
                value = arguments.get(flag_key(place))
            values[place] = text_of(value)
        call = call_of(invocation, template, values)
        if call:
            yield call


def state_call(invocation: Invocation, template: str) -> str:
    """Return the call that *template*, a declared ``state``, is here; ``""`` where there is none.

    It cannot lead to a command that changes something.
    """
    words = words_of(template, "state")
    places = [place for word in words for place in PLACE.findall(word)]
    arguments = arguments_of(invocation) if places else {}
    values = {place: text_of(arguments.get(flag_key(place))) for place in places}
    levels, _ = levels_to(invocation.host, words[1:])
    if any(changes(invocation.host, level) for level in levels):
        return ""
    return call_of(invocation, template, values)


def changes(host: Host, level: Level) -> bool:
    """Return whether the command of *level* is declared to change something."""
    metadata = host.parameters(level).metadata
    return metadata is not None and metadata.mutating


def call_of(invocation: Invocation, template: str, values: Mapping[str, str]) -> str:
    """Return the call of *template* with *values* in it, ``""`` where a part of it is missing."""
    words = filled(words_of(template)[1:], values)
    return "" if words is None else spelled_whole(invocation, words)


def spelled_whole(invocation: Invocation, words: Sequence[str]) -> str:
    """Return the call of the tool with *words* as a shell takes it; ``""`` if one is a secret."""
    words, secrets = list(words), invocation.secrets
    if secrets is not None and secrets.scrub_words(words) != words:
        return ""
    return (
        "" if any(without_secrets(word) != word for word in words) else spelled(invocation, words)
    )


def filled(words: Sequence[str], values: Mapping[str, str]) -> list[str] | None:
    """Return *words* with *values* in their places; ``None`` where one is missing, or is ``--``.

    A value that begins with a dash is attached to the option before it, else it stands behind
    ``--``.
    """
    found: list[str] = []
    arguments = False  # whether all that follows are arguments, as the template itself has it
    ends = False  # or as a value needs it
    option = ""  # the option that the next word may be the value of
    for word in words:
        if any(values.get(place) in (None, "", "--") for place in PLACE.findall(word)):
            return None
        new = PLACE.sub(lambda place: values[place[1]], word)
        is_option = not arguments and word[:1] == "-" and word != "-"
        if is_option and ends:
            return None
        arguments = arguments or word == "--"
        if new[:1] == "-" and word[:1] != "-" and not (arguments or ends):
            if option[:2] == "--":
                found[-1] = f"{option}={new}"
                option = ""
                continue
            if option:
                return None
            found.append("--")
            ends = True
        option = word if is_option and "=" not in word else ""
        found.append(new)
    return found


def at(value: Any, place: str) -> tuple[bool, Any]:
    """Return whether there is something at *place* in a result, and what."""
    for name in place.split("."):
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return False, None
    return True, value


def text_of(value: Any) -> str:
    """Return *value* as a word of a call; ``""`` where it cannot be."""
    value = shown(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    text = str(value)
    return text if text.isprintable() and len(text) <= _LONGEST else ""


def arguments_of(invocation: Invocation) -> dict[str, Any]:
    """Return the values that the running command got, by `flag_key`; no secrets.

    An option has the name by which it is called, and that of its parameter.
    """
    host = invocation.host
    found: dict[str, Any] = {}
    for name, value in host.values(invocation.running.parsed).items():
        found.setdefault(flag_key(name.rpartition(" ")[2]), value)
    secret = {key for key in found if is_secret_name(key)}
    level = command_line(invocation).level
    if tuple(level.path) == tuple(invocation.running.path[-len(level.path) or None :]):
        command = host.command(level, deep=False)
        for flag in command.flags:
            names = {flag_key(flag.name), flag_key(flag.dest)}
            if command.is_secret(flag) or any(map(is_secret_name, (flag.name, flag.env))):
                secret |= names
            elif flag_key(flag.dest) in found:
                found.setdefault(flag_key(flag.name), found[flag_key(flag.dest)])
    return {key: value for key, value in found.items() if key not in secret}


def levels_to(host: Host, words: Sequence[str]) -> tuple[list[Level], int]:
    """Return the tool and the commands that *words* call, and how many of those name them."""
    levels, used = [host.level()], 0
    for word in words:
        last = levels[-1]
        below = last.child(word, 0) if last.routes and not last.words_first else None
        if below is None:
            break
        levels.append(below)
        used += 1
    return levels, used


def wrong_in(host: Host, templates: Sequence[str], sentence: Callable[..., str]) -> Iterator[str]:
    """Yield what *templates* name that is not there: a command, or an option of it.

    *sentence* makes the words of it from the name and the names there are.
    """
    from .flags import OWN_FLAGS

    ours = {flag_key(name) for flag in OWN_FLAGS for name in flag.names}
    for template in templates:
        words = words_of(template)[1:]
        levels, used = levels_to(host, words)
        rest = words[used:]
        last = levels[-1]
        if rest and last.routes and not last.words_first and last.names():
            yield sentence(rest[0], last.names())
            continue
        ended = rest.index("--") if "--" in rest else len(rest)
        for word in rest[:ended]:
            name = word.partition("=")[0]
            known = any(level.forwards or level.named(name) for level in levels)
            if word[:1] == "-" and len(word) > 1 and not known and flag_key(name) not in ours:
                yield sentence(name, [*host.parameters(last).options.values()])
