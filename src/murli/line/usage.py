"""Usage errors in one voice: the same words whichever framework noticed.

Only what went wrong is the adapter's business; its wording lives here.
"""

from __future__ import annotations

from ..core import FLAG_NAMES, current
from ..declare import flag_key
from ..declare.plain_values import MOST_ITEMS
from ..errors import AgentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..call import Invocation
    from .scanning import Level

UNKNOWN_OPTION = "Unknown option"
CHECK_USAGE = "Check command usage with --schema or --help."
_NOT_MEANT = ("--version", "--protocol-version")
# More names than this are no help to anybody; the nearest ones are.
_MANY = 40


def unknown_option(option: str, known: Sequence[str]) -> AgentError:
    """An option that no parser on the way knows, or only one for which it was not typed."""
    # The version of a tool is not that of a protocol.
    # One that is known all the same belongs to a command, behind a group that takes no more.
    near = [
        name
        for name in nearest(option, known)
        if name != option and (option, name) != _NOT_MEANT and not _confirms(name, option)
    ]
    place = place_of(option)
    if place:
        return wrong_call(f"{UNKNOWN_OPTION} {option}.", option, place)
    place = place_of(near[0], option) if near else ""
    advice = f"{_did_you_mean(near)} {place}".strip()
    return wrong_call(f"{UNKNOWN_OPTION} {option}.", option, advice, near)


def _confirms(name: str, option: str) -> bool:
    """Return whether *name* confirms a change, which *option* is too unlike to mean."""
    from .flags import OWN_FLAGS

    confirming = [each for flag in OWN_FLAGS if flag.effect == "confirms" for each in flag.names]
    return name in confirming and name[:4] != option[:4]


def unknown_command(word: str, known: Sequence[str]) -> AgentError:
    """A word where a command was expected."""
    near = nearest(word, known)
    listed = known if len(known) <= _MANY else near
    message = f"Unknown command {quoted(word)}."
    return _command_error(message, "command", _did_you_mean(near), listed)


def refused_command(message: str, known: Sequence[str]) -> AgentError:
    """A word where a command was expected, in the words of the tool that looked for it."""
    return _command_error(message, "command", "", known if len(known) <= _MANY else ())


def bad_value(name: str, value: str, reason: str) -> AgentError:
    """A value that the option's or argument's type does not take, for *reason*."""
    why = f": {reason.rstrip('.')}" if reason else ""
    return wrong_call(f"Invalid value {quoted(value)} for {name}{why}.", name)


def bad_choice(name: str, value: str, choices: Iterable[object]) -> AgentError:
    """A value outside a closed list, which is too long where it is empty."""
    accepted = [str(choice) for choice in choices]
    near = nearest(value, accepted)
    advice = _did_you_mean(near) or (f"Use one of: {_first(accepted)}." if accepted else "")
    listed = accepted if len(accepted) <= MOST_ITEMS else near
    return wrong_call(f"Invalid value {quoted(value)} for {name}.", name, advice, listed)


def out_of_range(name: str, value: str, low: object, high: object) -> AgentError:
    """A number outside its range; ``None`` is no bound."""
    if low is not None and high is not None:
        return bad_value(name, value, f"expected a number from {low} to {high}")
    bound = f"at least {low}" if low is not None else f"at most {high}"
    return bad_value(name, value, f"expected a number of {bound}")


def missing(options: Sequence[str], arguments: Sequence[str]) -> AgentError:
    """Options or arguments that are required and absent, all of them at once."""
    parts = [_counted("option", options), _counted("argument", arguments)]
    message = f"Missing required {' and '.join(part for part in parts if part)}."
    first = (*options, *arguments)[0]
    return (wrong_call if options else _command_error)(message, first)


def missing_command(known: Sequence[str]) -> AgentError:
    """A group called without one of its commands."""
    advice = f"Use one of: {_first(known)}."
    return _command_error("Missing command.", "command", advice, known[:_MANY])


def missing_value(name: str) -> AgentError:
    """An option without its value."""
    return wrong_call(f"Option {name} needs a value.", name)


def unexpected_value(name: str, value: str) -> AgentError:
    """A switch that was given a value."""
    return wrong_call(f"Option {name} takes no value, got {quoted(value)}.", name)


def repeated(name: str) -> AgentError:
    """An option that was given twice, with two values."""
    return wrong_call(f"Option {name} was given more than once, with different values.", name)


def extra_argument(words: Sequence[str]) -> AgentError:
    """Words that no argument takes."""
    shown = " ".join(quoted(word) for word in words)
    noun = "argument" if len(words) == 1 else "arguments"
    return _command_error(f"Unexpected {noun} {shown}.")


def unanswered(name: str, question: str) -> AgentError:
    """A prompt for an option's value that nobody answered."""
    return AgentError.precondition(
        f"The command asked {question!r}, and nobody is there to answer.",
        f"Pass {name}.",
        error_type="input_required",
        field=name.lstrip("-"),
    )


def exclusive(name: str, another: str) -> AgentError:
    """Two options that may not be combined."""
    return wrong_call(f"Options {name} and {another} cannot be combined.", name)


def invalid_setting(name: str, value: str, accepted: Sequence[str]) -> AgentError:
    """A value that a flag of ours does not take."""
    *most, last = accepted
    listed = f"{', '.join(most)}, or {last}" if most else last
    return AgentError.user_error(
        f'unknown --{name} value "{value}"' if name == "output" else f'unknown --{name} "{value}"',
        f"Use --{name} {listed}",
        error_type=f"invalid_{'output_format' if name == 'output' else name.replace('-', '_')}",
        field=name,
        valid_values=accepted,
    )


def missing_extra(flag: str, package: str, extra: str) -> AgentError:
    """A flag of ours that needs a package which is not installed."""
    return AgentError.precondition(
        f"{flag} needs the package {package}, which is not installed.",
        f"Install it: pip install 'murli[{extra}]'",
        error_type="extra_missing",
        field=flag.partition(" ")[0].lstrip("-"),
    )


def our_options() -> list[str]:
    """Return the names of our own flags, for somebody who mistyped one."""
    invocation = current()
    if invocation is not None and invocation.is_for_people:
        return []  # people have no use for most of them
    names = invocation.call.flags if invocation is not None else ()
    return [name for name in names or FLAG_NAMES if name != "--contract"]


def nearest(word: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Return the known names most like *word*, best first."""
    from difflib import get_close_matches

    names = {name.lower(): name for name in known}
    return [names[found] for found in get_close_matches(word.lower(), names, limit, 0.66)]


def quoted(value: str) -> str:
    """Return *value* in double quotes, shortened when a caller pasted a novel."""
    invocation = current()
    if invocation is not None and invocation.secrets is not None:
        value = invocation.secrets.scrub(value)  # while all of a secret is there to be known by
    return f'"{value if len(value) <= 200 else value[:199] + "…"}"'


def _did_you_mean(near: Sequence[str]) -> str:
    return f"Did you mean {' or '.join(near)}?" if near else ""


def _first(names: Sequence[str]) -> str:
    more = f", … ({len(names)} in all)" if len(names) > _MANY else ""
    return f"{', '.join(names[:_MANY])}{more}"


def _counted(noun: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    return f"{noun if len(names) == 1 else noun + 's'} {', '.join(names)}"


def _command_error(message: str, *details: Any) -> AgentError:
    return wrong_call(message, *details, error_type="command_error")


def wrong_call(
    message: str,
    name: str = "",
    advice: str = "",
    valid_values: Sequence[str] = (),
    *,
    error_type: str = "flag_error",
) -> AgentError:
    """A call that is wrong: in the framework's own words, or in ours."""
    return AgentError.user_error(
        message,
        f"{advice} {CHECK_USAGE}" if advice.startswith("Did") else advice or CHECK_USAGE,
        error_type=error_type,
        field=name.lstrip("-"),
        valid_values=valid_values,
    )


# -- an option that is unknown where it was typed, and known elsewhere or as an argument ----------


def place_of(option: str, typed: str = "") -> str:
    """Return how the running call has to pass *option*, ``""`` where nothing has its name.

    So it does where that is the right place already; *typed* is what was typed for it.
    """
    invocation = current()
    if invocation is None:
        return ""
    try:
        return _place_in(invocation, option, typed or option)
    except (Exception, SystemExit):  # code of the tool's own that looks for its commands
        return ""


def _place_in(invocation: Invocation, option: str, as_typed: str) -> str:
    words, root = invocation.call.rest, invocation.host.level()
    typed = next((at for at, word in enumerate(words) if word.partition("=")[0] == as_typed), None)
    if typed is None:
        return ""
    above: str = invocation.host.name()
    level: Level = root
    for at, child in _commands_in(words, root):
        if typed > at and level.owns(option):
            return f"{option} is an option of {above}: put it before {words[at]}."
        level, above = child, f"{above} {words[at]}"
        if typed < at and level.owns(option):
            return f"{option} is an option of {above}: put it behind {words[at]}."
    names = [each.name for each in invocation.host.command(level, deep=False).arguments]
    argument = next((name for name in names if flag_key(name) == flag_key(option)), "")
    return f"{argument} is an argument: pass its value without {option}." if argument else ""


def _commands_in(words: Sequence[str], root: Level) -> list[tuple[int, Level]]:
    """Return the commands that *words* name one below the other, with the places of their names.

    What stands between them may be the values of options that nobody knows.
    """
    found: list[tuple[int, Level]] = []
    level = root
    for at, word in enumerate(words):
        if word == "--" or not level.routes:
            break
        child = None if word.startswith("-") else level.child(word, level.words_first)
        if child is not None:
            found.append((at, child))
            level = child
    return found
