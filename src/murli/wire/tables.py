"""The numbers of each contract, read backwards: from an exit code to what it means."""

from __future__ import annotations

from ..contracts.agent_spec import REVISIONS
from ..errors import KINDS
from .dialects import dialect_named

#: kinds where the same call, unchanged, may work later
TRANSIENT = frozenset(("rate_limited", "unavailable"))
#: codes of credentials that were good once, and can be renewed
EXPIRED = frozenset(("TOKEN_EXPIRED", "CREDENTIALS_EXPIRED"))

# Failures by the name of their code, where that says more than any number.
_NAMED = {
    **dict.fromkeys(
        (*EXPIRED, "TOKEN_INVALID", "TOKEN_MISSING", "UNAUTHENTICATED"), "auth_required"
    ),
    "INCOMPLETE": "incomplete",
    "PARTIAL_FAILURE": "partial",
    "CANCELLED": "cancelled",
    "DELEGATED_EXIT": "delegated",
}
# The same where there is no number to go by.
_BY_NAME = {
    **{kind.upper(): kind for kind in KINDS},
    **{name: kind for revision in REVISIONS.values() for kind, (_, name) in revision.codes.items()},
    **_NAMED,
}

_SYSEXITS = range(64, 79)
_SYSEXIT_KINDS = {
    64: "user_error",
    65: "user_error",
    66: "not_found",
    75: "unavailable",
    77: "permission_denied",
    78: "precondition",
}
# The only one of them that invites to try again: with 69, a service that is not there, anything may
# be meant.
_TEMPORARY = 75


def kind_of(contract: str, exit_code: int | None, code: str = "") -> str:
    """Return what a failure means; ``tool_error`` when that is unknown.

    The number counts. The name of the *code* does where a number is missing (a pipe may have eaten
    it), where it means more than any number, and in murli, whose numbers have several kinds each.
    """
    name = code.upper()
    if name in _NAMED:
        return _NAMED[name]
    if not exit_code:
        return _BY_NAME.get(name, "tool_error")
    dialect = dialect_named(contract)
    is_enveloped = dialect is not None and dialect.is_enveloped
    if dialect is not None and not is_enveloped and KINDS.get(code, (0,))[0] == exit_code:
        return code
    if dialect is not None and exit_code in dialect.kinds:
        return dialect.kinds[exit_code]
    if exit_code < 0 or 129 <= exit_code <= 159:
        return "cancelled"
    if exit_code in (126, 127):
        return "never_ran"
    # A number that no contract defines says that the call failed, and nothing else.
    return _SYSEXIT_KINDS.get(exit_code, "tool_error") if is_enveloped else "tool_error"


def retryable_by_default(contract: str, kind: str, exit_code: int | None = None) -> bool:
    """Return whether *kind* is worth the same call again when the tool does not say."""
    dialect = dialect_named(contract)
    if dialect is None:
        return False  # a tool without a contract says nothing about that
    if exit_code is not None and exit_code in _SYSEXITS:
        return exit_code == _TEMPORARY
    return kind in dialect.retryable
