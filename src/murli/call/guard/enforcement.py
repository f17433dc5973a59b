"""What authors say about flags and arguments is checked, not only shown.

Everything that is wrong with a call is found before the command runs, and reported at once.
"""

from __future__ import annotations

from ...declare import flag_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from ...declare import FlagAnnotation, Metadata
    from ...declare.declarations import Rule
    from ...declare.described import ArgumentMetadata
    from ...errors import AgentError
    from .. import Invocation

    Values = Mapping[str, tuple[Any, bool]]


def enforce(
    invocation: Invocation,
    metadata: Metadata,
    values: Values,
    arguments: Values,
    typed: Collection[str],
) -> dict[str, Any]:
    """Refuse a call that breaks what *metadata* says about its flags and arguments.

    A value comes with whether the caller gave it; defaults are the author's own business. *typed*
    are the flags that stand on the command line, rather than in a variable or a profile. What is
    given back are the values that a rule has for flags the caller left out, by their names.
    """
    flags = {flag_key(name): given for name, given in values.items()}
    places = {flag_key(name): given for name, given in arguments.items()}
    known = {**places, **flags}
    invocation.running.flags_given |= {
        f"--{name}": name in typed for name in flags if _is_given(flags[name])
    }
    problems = [
        *_broken_notes(metadata, flags),
        *_broken_arguments(metadata, places),
        *(problem for rule in metadata.requires for problem in _broken_rule(rule, known, flags)),
    ]
    if problems:
        from ...line.payload import together

        invocation.refuse(together(problems))
    for name, note in metadata.flag_annotations.items():
        if note.deprecated is not None and _is_given(flags.get(name)):
            from ...answer.python_warnings import note_parameter

            note_parameter(invocation, f"--{name}", note.deprecated)
    return {
        name: value
        for rule in metadata.requires
        if rule.default and _is_given(known.get(rule.if_flag))
        for name, value in rule.default.items()
        if name in known and not known[name][1]
    }


def problem_with(
    option: str, text: str, note: FlagAnnotation | ArgumentMetadata
) -> AgentError | None:
    """Return what *note* has against *text* as a value of *option*."""
    enum = getattr(note, "enum", ())
    if enum and text not in enum:
        from ...line.usage import bad_choice

        return bad_choice(option, text, enum)
    if note.pattern and not _matches(note.pattern, text):
        from ...line.usage import bad_value

        return bad_value(option, text, f"must match {note.pattern}")
    if note.kind or note.pattern_type or note.max_bytes or note.reaches_child:
        from .values import unfit

        return unfit(option, text, note)
    return None


def _broken_notes(metadata: Metadata, flags: Values) -> Iterator[AgentError]:
    reported: set[frozenset[str]] = set()
    for name, note in metadata.flag_annotations.items():
        value, given = flags.get(name, (None, False))
        if not given or value is None:
            continue
        yield from _broken_value(f"--{name}", value, note)
        for other in map(flag_key, note.mutually_exclusive_with):
            pair = frozenset((name, other))
            if flags.get(other, (None, False))[1] and pair not in reported:
                from ...line.usage import exclusive

                reported.add(pair)
                yield exclusive(f"--{name}", f"--{other}")


def _broken_arguments(metadata: Metadata, arguments: Values) -> Iterator[AgentError]:
    for note in metadata.arguments:
        value, given = arguments.get(flag_key(note.name), (None, False))
        if given and value is not None and note.has_checks:
            yield from _broken_value(note.name, value, note)


def _broken_value(
    name: str, value: Any, note: FlagAnnotation | ArgumentMetadata
) -> Iterator[AgentError]:
    if note.kind == "json" and not isinstance(value, (str, tuple)):
        return  # it was read by the option's own type
    many = value if isinstance(value, (list, tuple, set)) else (value,)
    for each in many:
        problem = problem_with(name, str(getattr(each, "value", each)), note)
        if problem is not None:
            yield problem
            return


def _broken_rule(rule: Rule, known: Values, flags: Values) -> Iterator[AgentError]:
    from ...line import usage  # rules are rare

    def shown(name: str) -> str:
        return f"--{name}" if name in flags or name not in known else name

    def listed(names: tuple[str, ...]) -> str:
        return ", ".join(map(shown, names))

    chosen = tuple(n for n in (*rule.any_of, *rule.one_of) if _is_given(known.get(n)))
    if rule.any_of and not chosen:
        yield usage.wrong_call(f"At least one of {listed(rule.any_of)} is needed.", rule.any_of[0])
    if rule.one_of and len(chosen) != 1:
        got = f", not {listed(chosen)}" if chosen else ""
        yield usage.wrong_call(
            f"Exactly one of {listed(rule.one_of)} is needed{got}.", rule.one_of[0]
        )
    if not rule.if_flag or not _holds(rule, known.get(rule.if_flag)):
        return
    condition = shown(rule.if_flag)
    if rule.value is not None and not isinstance(rule.value, bool):
        condition += f" {rule.value}"
    for name in rule.then_required:
        if not _is_given(known.get(name)):
            yield usage.wrong_call(f"{shown(name)} is needed with {condition}.", name)
    for name in rule.prohibited:
        if _is_given(known.get(name)):
            yield usage.exclusive(condition, shown(name))


def _holds(rule: Rule, found: tuple[Any, bool] | None) -> bool:
    if rule.value is None:
        return _is_given(found)
    value = found[0] if found is not None else None
    many = value if isinstance(value, (list, tuple, set)) else (value,)
    return any(
        each == rule.value or str(getattr(each, "value", each)) == str(rule.value) for each in many
    )


def _is_given(found: tuple[Any, bool] | None) -> bool:
    """Return whether the caller gave it; a switch that was turned off was not."""
    if found is None or not found[1]:
        return False
    value = found[0]
    return value is not None and value is not False and value not in ((), [])


def _matches(pattern: str, text: str) -> bool:
    import re

    return re.search(pattern, text) is not None
