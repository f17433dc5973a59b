"""What a reader of the answers of a contract has to know, derived from the contract itself.

A further revision of the envelope is known here as soon as it is an entry of the contracts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ..contracts import Contract, find_contract
from ..contracts.agent_spec import Revision
from ..errors import KINDS

#: the exit codes of a redirect, and of a call that only a person could answer, in every envelope
REDIRECTED, PRECONDITION = (Revision.codes[kind][0] for kind in ("redirected", "precondition"))


@dataclass(frozen=True, slots=True)
class Dialect:
    """The numbers and words of one contract, and what may be concluded from its answers."""

    #: the rules by which murli itself answers in it
    rules: Contract
    #: what each exit code means; the plainest kind where several share a number
    kinds: Mapping[int, str]
    #: the exit code that goes with each name of an error
    codes: Mapping[str, int]
    #: the exit codes of a wrong call, a partial success, a timeout and an interrupted call
    wrong_call: int
    partial: int
    timeout: int
    cancelled: int
    #: kinds of failures where the same call, unchanged, may work later
    retryable: frozenset[str]
    #: whether answers have a ResponseEnvelope, and whether that is the one first published: there
    #: the exit code outranks the document, and "retryable" includes what needs a correction
    is_enveloped: bool
    is_first_envelope: bool

    @property
    def format_flag(self) -> str:
        """The name of the option for the format."""
        return self.rules.format_flag.lstrip("-")

    @property
    def manifest(self) -> str:
        """The major version of the manifest, ``""`` for none."""
        return self.rules.manifest_version.partition(".")[0]

    @property
    def numbers_incomplete(self) -> bool:
        """Whether work that did not fit its budget has an exit code of its own."""
        return "incomplete" in self.kinds.values()

    @property
    def confirmation(self) -> str:
        """The error that asks for a confirmation."""
        return "CONFIRMATION_REQUIRED" if self.is_enveloped else "confirmation_required"

    @property
    def advice(self) -> str:
        """The field of an error that says what to do."""
        separate = self.is_enveloped and not self.is_first_envelope
        return "fix_required" if separate else "suggestion"


@cache
def dialect_named(name: str) -> Dialect | None:
    """Return the dialect of the contract called *name*, ``None`` where there is none."""
    rules = find_contract(name)
    return None if rules is None else _dialect(rules)


def is_envelope(name: str) -> bool:
    """Return whether *name* is that of a contract whose answers have a ResponseEnvelope."""
    dialect = dialect_named(name)
    return dialect is not None and dialect.is_enveloped


def dialect_of(name: str) -> Dialect:
    """Return the dialect of the contract called *name*, that of most revisions for no name."""
    return dialect_named(name) or _USUAL


def _dialect(rules: Contract) -> Dialect:
    is_enveloped = isinstance(rules, Revision)
    named = {kind: (number, kind) for kind, (number, _) in KINDS.items()}
    codes = rules.codes if isinstance(rules, Revision) else named
    numbers = {kind: number for kind, (number, _) in codes.items()}
    return Dialect(
        rules,
        {number: kind for kind, number in reversed(numbers.items())},
        {name: number for number, name in codes.values()},
        numbers["user_error"],
        numbers["partial"],
        numbers["timeout"],
        numbers["cancelled"],
        rules.retryable if isinstance(rules, Revision) else frozenset(("rate_limited",)),
        is_enveloped,
        is_enveloped and rules.error_is_closed,
    )


_USUAL = _dialect(Revision(""))
