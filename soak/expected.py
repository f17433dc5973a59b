"""What an undisturbed call of the soak's tools answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from murli.formats import plain
from soak.cases import Case
from soak.documents import code_of
from soak.payloads import hostile, lines, payload
from soak.process import FED
from soak.tools.soak_core import FAILURES, STATUSES

ANYTHING = object()


@dataclass
class Expected:
    """How a call ends: with which code, what result, and which failure behind an answer."""

    code: int = 0
    result: Any = ANYTHING
    #: the code of a failure that comes after the answer
    second: int = 0
    #: what stands on stdout instead of a document
    text: str | None = None


def expected(case: Case) -> Expected | None:
    """Return what *case* answers when nothing goes wrong; ``None`` where nobody can tell."""
    if case.fault == "hostile words":
        return None
    maker = _MAKERS.get(case.deed)
    if maker is not None:
        found: Expected | None = maker(case)
        return found
    if case.deed in _ANY_RESULT:
        return Expected()
    return Expected(0, payload(case.seed, case.size))


_ANY_RESULT = ("prints-endlessly", "streams-endlessly", "computes", "prints-hostile", "forks")


def _text(printed: str) -> Any:
    """Return the result that a *printed* text is: its lines, each for itself, if there are many."""
    *whole, last = printed.rstrip("\n").split("\n")
    return {"lines": [*whole, last]} if len(whole) >= 10 else "\n".join((*whole, last))


def _printed(case: Case) -> Any:
    return _text(lines(case.seed, case.size))


def _thread(case: Case) -> Expected:
    # Elsewhere the call is over when its handler is; what comes later goes aside.
    waits = case.adapter == "argparse" and not case.session
    return Expected(0, _printed(case) if waits else ANYTHING)


def _failure(case: Case) -> Expected:
    return Expected(code_of(FAILURES[case.seed % len(FAILURES)][0], case.contract))


def _exit(case: Case) -> Expected:
    return _status(case, STATUSES[case.seed % len(STATUSES)])


def _status(case: Case, said: Any) -> Expected:
    status = 0 if said is None else said & 0xFF if isinstance(said, int) else 1
    if status == 0:
        return Expected(0, _printed(case))
    return Expected(status if case.contract == "murli" else code_of("tool_error", case.contract))


def _change(case: Case) -> Expected:
    if {"--force", "--yes", "--dry-run"} & set(case.words):
        return Expected(0, payload(case.seed, case.size))
    return Expected(code_of("user_error", case.contract))


def _asked(case: Case) -> Expected | None:
    if case.stdin != "fed":
        # Nobody is there: some failure, and at once.
        return Expected(code_of("precondition", case.contract))
    said = FED.decode()
    if case.deed == "reads":
        return Expected(0, f"read {len(said)}")
    question = "Name? " if case.deed == "asks" else "Password: "
    return Expected(0, f"{question}hello {said.split()[0]}")


def _reads(case: Case) -> Expected | None:
    if case.stdin in ("null", "closed"):
        return Expected(0, "read 0")
    return _asked(case)


def _anew(case: Case) -> Expected:
    return Expected(0, _text(f"before\nanew\n{lines(case.seed, case.size)}"))


_MAKERS: dict[str, Any] = {
    "prints": lambda case: Expected(0, _printed(case)),
    "slow": lambda case: Expected(0, _printed(case)),
    "has-thread": _thread,
    "generates": lambda case: Expected(0, list(range(case.size // 8))),
    "says-hostile": lambda case: Expected(0, plain(hostile(case.seed, case.size))),
    "streams": lambda case: Expected(0, {"count": min(case.size // 50, 2000)}),
    "is-partial": lambda case: Expected(code_of("partial", case.contract)),
    "answers-twice": lambda case: Expected(
        0, payload(case.seed, case.size), code_of("tool_error", case.contract)
    ),
    "fails-late": lambda case: Expected(
        0, payload(case.seed, case.size), code_of("tool_error", case.contract)
    ),
    "cannot-be-encoded": lambda case: Expected(code_of("tool_error", case.contract)),
    "has-child": lambda case: Expected(
        0, _text("\n".join(str(number) for number in range(1, case.size // 6 + 2)))
    ),
    "looks-at-descriptors": lambda case: Expected(0, "0\n1\n2\n3"),
    "waits-for-child": lambda case: Expected(0, case.seconds),
    "sleeps": lambda case: Expected(0, case.seconds),
    "truncates": _anew,
    "opens-stdout": _anew,
    "closes-all": lambda case: Expected(code_of("tool_error", case.contract)),
    "is-stuck-at-exit": lambda case: Expected(code_of("timeout", case.contract)),
    "is-stuck": lambda case: Expected(code_of("timeout", case.contract)),
    "times-out": lambda case: Expected(code_of("timeout", case.contract)),
    "becomes-another": lambda case: Expected(0, text="before\nanother\n"),
    "fails": _failure,
    "recurses": lambda case: Expected(code_of("tool_error", case.contract)),
    "exits": _exit,
    "exits-hard": lambda case: _status(case, case.seed % 3),
    "change": _change,
    "asks": _asked,
    "asks-for-password": _asked,
    "reads": _reads,
}
