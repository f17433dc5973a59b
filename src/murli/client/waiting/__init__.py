"""``call(…, until={"status": "done"})``: one answer for a command that is asked again and again.

A tool that has ``--until`` repeats the call itself, in one process; any other is called again from
here. What may change something is never repeated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ...line.conditions import Condition, condition_in, looked_at, text_of
from ...line.flags import flag_named
from ...wire.catalogue import Command
from ...wire.response import Problem
from ...wire.running import ProcessResult
from ..calling import with_option
from ..decisions import Decision, Done, Stop
from ..mistakes import ArgumentMistake
from ..steps import Report, Run, Steps, Wait

if TYPE_CHECKING:
    from ..response import Response
    from ..session import Session

T = TypeVar("T")
USUAL_SECONDS = 600.0
USUAL_PAUSE = 5.0
_LEAST_PAUSE = 0.1
# Kinds of failures that are waited for as well, and how many of them in a row.
_PASSING = frozenset(("timeout", "rate_limited", "unavailable"))
_MOST_FAILURES = 5
_GO_ON = "Make the same call again to go on waiting, with a longer timeout if need be."
# Codes of problems that are ours, and not the tool's: the kind of each, and what to do.
_ENDS = {
    "UNTIL_TIMEOUT": ("timeout", _GO_ON),
    "UNTIL_FIELD": ("user_error", "It has no fields."),
    "NOT_REPEATED": ("precondition", "Call it again yourself, if that does no harm."),
}
CODES = frozenset(_ENDS)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is waited for, the seconds from one call to the next, and those for all of it."""

    conditions: tuple[Condition, ...]
    every: float = USUAL_PAUSE
    seconds: float = USUAL_SECONDS

    def flags(self) -> dict[str, str]:
        """Return the flags of murli's that say the same; none where they cannot."""
        found: dict[str, str] = {}
        for each in self.conditions:
            name = "until-not" if each.negated else "until"
            spelled = all("," not in value and value == value.strip() for value in each.values)
            if name in found or not spelled:
                return {}
            found[name] = f"{each.field}={','.join(each.values)}"
        times = {"every": self.every, "timeout": self.seconds}
        return {**found, **{name: f"{round(each * 1000)}ms" for name, each in times.items()}}


def wanted_in(flags: dict[str, Any]) -> Wanted | None:
    """Return what is waited for, taken out of *flags*, ``None`` for nothing.

    Only an object with fields is a condition: any other ``until`` is a flag of the tool's own.
    """
    given = {
        name: value
        for name in ("until", "until_not")
        if isinstance(value := flags.get(name), Mapping)
    }
    if not given:
        return None
    conditions = [
        Condition(str(field), _texts(values), negated=name == "until_not")
        for name, fields in given.items()
        for field, values in fields.items()
    ]
    if not conditions:
        raise ArgumentMistake("until names no field.", "until")
    times = {
        name: _seconds(name, value)
        for name in ("every", "timeout")
        if (value := flags.pop(name, None)) is not None
    }
    for name in given:
        del flags[name]
    every = max(times.get("every", USUAL_PAUSE), _LEAST_PAUSE)
    return Wanted(tuple(conditions), every, times.get("timeout", USUAL_SECONDS))


def wanted_of(until: str, until_not: str, every: float | None, timeout: float | None) -> Wanted:
    """Return what is waited for in the words of a command line: ``status=done,failed``."""
    found: list[Condition] = []
    for text, negated in ((until, False), (until_not, True)):
        condition = condition_in(text, negated=negated) if text else None
        if text and condition is None:
            raise ArgumentMistake("until is FIELD=VALUE, such as status=done,failed.", "until")
        found += [condition] if condition is not None else []
    return Wanted(tuple(found), max(every or USUAL_PAUSE, _LEAST_PAUSE), timeout or USUAL_SECONDS)


def _texts(values: object) -> tuple[str, ...]:
    many = isinstance(values, Collection) and not isinstance(values, (str, bytes, Mapping))
    return tuple(text_of(each) for each in (values if many else (values,)))  # type: ignore[attr-defined]


def _seconds(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e9:
        raise ArgumentMistake(f"{name} is a number of seconds with until, more than 0.", name)
    return float(value)


def called(
    session: Session, words: Sequence[Any], flags: dict[str, Any], stdin: bytes | None
) -> Steps[Response[Any]]:
    """Return the last answer of a call, which is repeated where its flags say until when."""
    wanted = wanted_in(flags)
    argv = yield from session.built(words, flags)
    if wanted is not None:
        return (yield from waited(session, argv, stdin, wanted))
    return (yield from session.call(argv, stdin))


def waited(
    session: Session, argv: tuple[str, ...], stdin: bytes | None, wanted: Wanted
) -> Steps[Response[Any]]:
    """Return the first answer to *argv* that is what is *wanted*, or why there is none."""
    command = _command(session, argv)
    if command.changes and not _takes_flags(session, argv):
        raise ArgumentMistake(
            f"{' '.join((session.name, *command.path))} may change something; it is not repeated.",
            "until",
            "Call it once, and wait with a command that only reads.",
        )
    clock, failures, look = _Clock(), 0, None
    while True:
        flags = wanted.flags() if stdin is None and _takes_flags(session, argv) else {}
        left = wanted.seconds - clock.seconds
        if flags:
            flags["timeout"] = f"{max(round(left * 1000), 1)}ms"
            for name, value in flags.items():
                argv = with_option(argv, name, value)
            return (yield from session.call(argv, waits=left))
        response = yield from clock.over(session.call(argv, stdin, most=left))
        problem = response.problem
        failures = failures + 1 if problem is not None else 0
        left = wanted.seconds - clock.seconds
        is_late = left <= wanted.every
        if problem is None:
            look = looked_at(response.data, wanted.conditions)
            if look.missing:
                message = f"The result has no field {look.missing!r}."
                return (yield from _ended(response, "UNTIL_FIELD", message, look.known))
            if look.met:
                if clock.taken is not None:
                    yield clock.taken
                return response
        elif problem.kind not in _PASSING or failures >= _MOST_FAILURES:
            return response
        if is_late:
            last = f"; {look.text}." if look is not None else "."
            message = f"The time for waiting is up after {wanted.seconds:g} s{last}"
            return (yield from _ended(response, "UNTIL_TIMEOUT", message))
        if session.discovery.may_know_more:
            yield from session.discovery.wanted()
        if _command(session, argv).changes:
            message = "The command may change something; it was called once."
            return (yield from _ended(response, "NOT_REPEATED", message))
        delay = problem.retry_after_ms if problem is not None else None
        wait = max(round(wanted.every * 1000), delay or 0)
        clock.milliseconds += wait
        yield Wait(min(wait, round(left * 1000)))


class _Clock:
    """How long steps have taken, as far as is known."""

    def __init__(self) -> None:
        self.milliseconds = 0
        # That the latest answer was taken, which is noted for the last one only.
        self.taken: Report | None = None

    @property
    def seconds(self) -> float:
        """The time in seconds."""
        return self.milliseconds / 1000

    def over(self, steps: Steps[T]) -> Steps[T]:
        """Do *steps*, and take their time."""
        answer: Any = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                result: T = end.value
                return result
            self.taken = (
                step if isinstance(step, Report) and isinstance(step.decision, Done) else None
            )
            answer = None if self.taken is not None else (yield step)
            if isinstance(step, Wait):
                self.milliseconds += step.delay_ms + step.spread_ms
            elif isinstance(step, Run):
                ran = answer[0] if isinstance(answer, tuple) else answer
                self.milliseconds += ran.duration_ms if isinstance(ran, ProcessResult) else 0


def _command(session: Session, argv: tuple[str, ...]) -> Command:
    """Return the command of *argv* as far as it is known; nameless words may be arguments."""
    catalogue = session.discovery.catalogue
    found = catalogue.called(argv) if catalogue is not None else None
    words = tuple(word for word in argv[:1] if not word.startswith("-"))
    return found if found is not None else Command(words or (session.name,))


def _takes_flags(session: Session, argv: tuple[str, ...]) -> bool:
    """Return whether the tool repeats a call of *argv* itself."""
    catalogue = session.discovery.catalogue
    command = catalogue.called(argv) if catalogue is not None else None
    if catalogue is None or command is None or not catalogue.has_until:
        return False
    own = {name: flag for level in catalogue.along(command) for name, flag in level.flags.items()}
    ours = own.pop("until", None)
    if not own.keys().isdisjoint(("until-not", "every")):
        return False
    # A manifest lists it with each command that it is for, and calls what nobody declared mutating.
    return command.reads if ours is None else ours.description == flag_named("--until").help


def _ended(
    response: Response[Any], code: str, message: str, known: tuple[str, ...] = ()
) -> Steps[Response[Any]]:
    """Return *response* as the last one of a wait that came to nothing."""
    kind, advice = _ENDS[code]
    if known:
        advice = f"There are: {', '.join(known)}."
    problem = Problem(
        *(kind, code, message, False),
        phase="execution",
        suggestion=advice,
        field="until" if code == "UNTIL_FIELD" else "",
        valid_values=known,
    )
    decision: Decision = Stop(message, advice)
    decisions = (*response.decisions[:-1], decision)
    response = replace(response, state="failed", problem=problem, decisions=decisions)
    yield Report(decision, response)
    return response
