"""What can go wrong, by name.

::

    Exception
    ├── AgentError            a failure the caller can act on; raise it by kind
    │     user_error          bad flag, argument, format, unknown command, refused confirmation
    │     tool_error          the tool or its environment is at fault
    │     partial             some items worked, some did not
    │     incomplete          the work did not fit its budget
    │     precondition        something must be true first
    │     not_found           the resource does not exist
    │     conflict            it exists already, or somebody changed it
    │     permission_denied   known caller, not allowed
    │     auth_required       no credentials, bad ones, or expired ones
    │     payment_required    it costs money
    │     timeout             ran out of time
    │     rate_limited        too many calls
    │     unavailable         a service is down for now
    │     redirected          the command lives elsewhere
    │     cancelled           a signal or the caller stopped it
    ├── EncodingError         a value has no JSON form (also a ValueError)
    └── OutputFailed          the answer did not get through to stdout

A kind is a meaning, never a number. The numbers below are the murli contract's; every other
contract keeps its own table and looks the kind up when it renders.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any, Literal

    from typing_extensions import Unpack

    from .type_checking import AuthReason, CommonDetails, Details, Kind, Layout, RedirectReason

EXIT_OK = 0
EXIT_USER_ERROR = 1
EXIT_TOOL_ERROR = 2
EXIT_PARTIAL = 3
EXIT_TIMEOUT = 4
EXIT_NOT_FOUND = 5
EXIT_PERMISSION = 6
EXIT_CONFLICT = 7
EXIT_RATE_LIMITED = 8
EXIT_CANCELLED = 9

# kind -> (murli exit code, recoverable unless the author decides otherwise)
KINDS: dict[str, tuple[int, bool]] = {
    "user_error": (EXIT_USER_ERROR, True),
    "tool_error": (EXIT_TOOL_ERROR, False),
    "partial": (EXIT_PARTIAL, True),
    "incomplete": (EXIT_PARTIAL, True),
    "precondition": (EXIT_USER_ERROR, True),
    "not_found": (EXIT_NOT_FOUND, False),
    "conflict": (EXIT_CONFLICT, False),
    "permission_denied": (EXIT_PERMISSION, False),
    "auth_required": (EXIT_PERMISSION, False),
    "payment_required": (EXIT_PERMISSION, False),
    "timeout": (EXIT_TIMEOUT, True),
    "rate_limited": (EXIT_RATE_LIMITED, True),
    "unavailable": (EXIT_TOOL_ERROR, True),
    "redirected": (EXIT_USER_ERROR, True),
    "cancelled": (EXIT_CANCELLED, False),
}

# The kind meant by a bare murli number, as in AgentError(code=EXIT_NOT_FOUND, ...).
_KIND_OF_CODE = {
    EXIT_USER_ERROR: "user_error",
    EXIT_TOOL_ERROR: "tool_error",
    EXIT_PARTIAL: "partial",
    EXIT_TIMEOUT: "timeout",
    EXIT_NOT_FOUND: "not_found",
    EXIT_PERMISSION: "permission_denied",
    EXIT_CONFLICT: "conflict",
    EXIT_RATE_LIMITED: "rate_limited",
    EXIT_CANCELLED: "cancelled",
}

AUTH_REASONS = ("missing", "invalid", "expired")
# What a command that is run as it stands has no place for: something to fill in, or a shell's.
_VERBATIM = frozenset("<>$\n\r")
REDIRECT_REASONS = ("renamed", "restructured", "deprecated", "typo_corrected")


class EncodingError(ValueError):
    """A value that has no JSON form; the message names its place and what to return instead."""


class OutputFailed(Exception):
    """The answer did not get through to stdout; *reader_gone* when nobody is there to read it."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The answer could not be written to stdout: {error.strerror or error}.")
        self.reader_gone = isinstance(error, BrokenPipeError)


class AgentError(Exception):
    """A failure with everything a caller needs to act on it.

    Raise it by kind (``AgentError.not_found("no index", "Run `riffle index build`.")``), or build
    it with an explicit murli *code*. ``error_type`` is the category a caller may branch on; it is
    the kind's own name unless given. Every constructor takes the keywords of this one.
    """

    def __init__(
        self,
        code: int,
        error_type: str,
        message: str,
        suggestion: str = "",
        recoverable: bool | None = None,
        valid_values: Iterable[object] | None = None,
        retry_after_ms: int = 0,
        doc_url: str = "",
        field: str = "",
        *,
        kind: Kind | Literal[""] = "",
        detail: str = "",
        context: Mapping[str, Any] | None = None,
        fix_required: str = "",
        fix_command: str = "",
        reason: str = "",
        redirect_to: str = "",
        permanent: bool = False,
    ) -> None:
        super().__init__(message)
        if not 1 <= code <= 255:
            raise ValueError(f"an error's exit code is 1 to 255, not {code}; use EXIT_USER_ERROR…")
        if not _VERBATIM.isdisjoint(fix_command):
            raise ValueError(
                f"a fix_command is run as it stands, so it holds no <, >, $ or line break: "
                f"{fix_command!r}; what the caller must fill in belongs in the suggestion"
            )
        self.kind = kind or _KIND_OF_CODE.get(code, "tool_error")
        self.code = code
        self.error_type = error_type
        self.message = message
        self.suggestion = suggestion
        # The author's decision outranks every default, so None (undecided) is kept.
        self.explicit_recoverable = recoverable
        self.recoverable = bool(recoverable)
        self.valid_values, self.context = _read(valid_values, context)
        self.retry_after_ms = retry_after_ms
        self.doc_url = doc_url
        self.field = field
        self.detail = detail
        self.fix_required = fix_required
        self.fix_command = fix_command
        self.reason = reason
        self.redirect_to = redirect_to
        self.permanent = permanent
        # The exit code a command has declared as its own, where a contract has room for such.
        self.number = 0
        # Whether its author declares that the same call may work later, and that nothing was done.
        self.promised = False
        # Whether murli made it of an exception, so that its advice is not the author's.
        self.is_translated = False

    @property
    def advice(self) -> str:
        """What to do next, in words: for who has no other place for a redirect."""
        if self.redirect_to and not self.suggestion:
            return f"Run `{self.redirect_to}` instead."
        return self.suggestion

    def __str__(self) -> str:
        return str(self.message)

    def __repr__(self) -> str:
        return f"AgentError({self.error_type!r}, code={self.code}, message={self.message!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), dict(self.__dict__))

    @classmethod
    def of_kind(
        cls, kind: str, message: str, suggestion: str = "", **details: Unpack[Details]
    ) -> AgentError:
        """Return an error of *kind*, one of the names in the module's tree."""
        code, recoverable = KINDS[kind]
        given: dict[str, Any] = {**details}
        given["error_type"] = given.get("error_type") or kind
        if cls.__init__ is AgentError.__init__:
            for name in given:
                if name not in _KEYWORDS:
                    raise unexpected_keyword(cls.__name__, name, _KEYWORDS)
        given.update(code=code, kind=kind, message=message, suggestion=suggestion)
        error = cls(**given)
        if error.explicit_recoverable is None:
            error.recoverable = recoverable
        return error

    @classmethod
    def user_error(
        cls, message: str, suggestion: str = "", **details: Unpack[Details]
    ) -> AgentError:
        """The caller's input is wrong; corrected, the call may work."""
        return cls.of_kind("user_error", message, suggestion, **details)

    @classmethod
    def tool_error(
        cls, message: str, suggestion: str = "", **details: Unpack[Details]
    ) -> AgentError:
        """The tool or its environment failed; the caller cannot correct it."""
        return cls.of_kind("tool_error", message, suggestion, **details)

    @classmethod
    def not_found(
        cls, message: str, suggestion: str = "", **details: Unpack[Details]
    ) -> AgentError:
        """The resource does not exist; recoverable exactly when there is a suggestion."""
        details.setdefault("recoverable", bool(suggestion))
        return cls.of_kind("not_found", message, suggestion, **details)

    @classmethod
    def conflict(cls, message: str, suggestion: str = "", **details: Unpack[Details]) -> AgentError:
        """The resource exists already, or changed under the caller."""
        return cls.of_kind("conflict", message, suggestion, **details)

    conflict_error = conflict

    @classmethod
    def already_exists(
        cls, message: str, existing: Any = None, suggestion: str = "", **details: Unpack[Details]
    ) -> AgentError:
        """What was to be made is there; *existing* is it, for a caller who may do with that."""
        details.setdefault("error_type", "already_exists")
        if existing is not None:
            details["context"] = {**(details.get("context") or {}), "existing": existing}
        return cls.of_kind("conflict", message, suggestion, **details)

    @classmethod
    def permission_denied(
        cls, message: str, suggestion: str = "", **details: Unpack[Details]
    ) -> AgentError:
        """The caller is known and not allowed."""
        return cls.of_kind("permission_denied", message, suggestion, **details)

    @classmethod
    def rate_limited(
        cls,
        message: str,
        suggestion: str = "",
        *,
        retry_after_ms: int = 0,
        **details: Unpack[CommonDetails],
    ) -> AgentError:
        """Too many calls; try again after *retry_after_ms*."""
        return cls.of_kind(
            "rate_limited", message, suggestion, retry_after_ms=retry_after_ms, **details
        )

    @classmethod
    def timeout(cls, message: str, suggestion: str = "", **details: Unpack[Details]) -> AgentError:
        """The work ran out of time."""
        return cls.of_kind("timeout", message, suggestion, **details)

    @classmethod
    def cancelled(
        cls,
        message: str = "The command was cancelled.",
        suggestion: str = "",
        *,
        signal: str = "",
        **details: Unpack[Details],
    ) -> AgentError:
        """A signal or the caller stopped the work; *signal* is its name, such as ``SIGTERM``."""
        if signal:
            details["context"] = {**(details.get("context") or {}), "signal": signal}
        return cls.of_kind("cancelled", message, suggestion, **details)

    @classmethod
    def partial(cls, message: str, suggestion: str = "", **details: Unpack[Details]) -> AgentError:
        """Some items worked and some did not."""
        return cls.of_kind("partial", message, suggestion, **details)

    @classmethod
    def incomplete(
        cls, message: str, suggestion: str = "", **details: Unpack[Details]
    ) -> AgentError:
        """The work did not fit its time budget and can be continued."""
        return cls.of_kind("incomplete", message, suggestion, **details)

    @classmethod
    def precondition(
        cls, message: str, suggestion: str = "", **details: Unpack[Details]
    ) -> AgentError:
        """Something must be true before the call can work; nothing was changed."""
        return cls.of_kind("precondition", message, suggestion, **details)

    @classmethod
    def auth_required(
        cls,
        message: str = "",
        suggestion: str = "",
        *,
        reason: AuthReason = "missing",
        **details: Unpack[CommonDetails],
    ) -> AgentError:
        """Credentials are ``missing``, ``invalid`` or ``expired``."""
        if reason not in AUTH_REASONS:
            raise ValueError(f"reason is one of {', '.join(AUTH_REASONS)}, not {reason!r}")
        message = message or f"Credentials are {reason}."
        return cls.of_kind("auth_required", message, suggestion, reason=reason, **details)

    @classmethod
    def payment_required(
        cls, message: str = "Payment is required.", suggestion: str = "", **details: Unpack[Details]
    ) -> AgentError:
        """The call costs money that has not been paid."""
        return cls.of_kind("payment_required", message, suggestion, **details)

    @classmethod
    def unavailable(
        cls, message: str, suggestion: str = "", **details: Unpack[Details]
    ) -> AgentError:
        """A service is down for now; the same call may work later."""
        return cls.of_kind("unavailable", message, suggestion, **details)

    @classmethod
    def redirected(
        cls,
        message: str,
        command: str,
        *,
        suggestion: str = "",
        permanent: bool = False,
        reason: RedirectReason | Literal[""] = "",
        **details: Unpack[CommonDetails],
    ) -> AgentError:
        """The command lives elsewhere: run *command* instead, for ever when *permanent*."""
        if not command:
            raise ValueError("redirected() needs the exact command to run instead")
        if reason and reason not in REDIRECT_REASONS:
            raise ValueError(f"reason is one of {', '.join(REDIRECT_REASONS)}, not {reason!r}")
        return cls.of_kind(
            "redirected",
            message,
            suggestion,
            redirect_to=command,
            permanent=permanent,
            reason=reason,
            **details,
        )


_PARAMETERS = AgentError.__init__.__code__
# What a constructor by kind takes: the parameters of the plain one, the number and kind aside.
_KEYWORDS = [
    name
    for name in _PARAMETERS.co_varnames[1 : _PARAMETERS.co_argcount + _PARAMETERS.co_kwonlyargcount]
    if name not in ("code", "kind")
]


def correct(error: AgentError) -> None:
    """Replace the kind, the code and the context that *error* cannot have: its author may set any.

    Its kind is then that of its code, and its code that of its kind.
    """
    code = error.code if isinstance(error.code, int) and 1 <= error.code <= 255 else 0
    if type(error.kind) is not str or error.kind not in KINDS:
        error.kind = _KIND_OF_CODE.get(code, "tool_error")
    error.code = int(code) or KINDS[error.kind][0]
    context: Any = error.context
    if not isinstance(context, dict):
        error.context = {} if context is None else {"context": context}


def _read(
    values: Iterable[object] | None, context: Mapping[str, Any] | None
) -> tuple[list[str], dict[str, Any]]:
    try:
        return [str(value) for value in values or ()], dict(context or {})
    except SystemExit as ending:  # which would end a command that fails as a success
        raise ValueError("a value given to AgentError ends the program when it is read") from ending


def _restore(kind: type[AgentError], state: dict[str, Any]) -> AgentError:
    error = kind.__new__(kind, state["message"])
    error.__dict__.update(state)
    return error


# -- calls that cannot be ----------------------------------------------------------------------


def wrong_arguments(
    callee: str, layout: Layout, args: Sequence[object], named: Collection[str]
) -> TypeError:
    """Return what to raise when a record of this *layout* does not take *args* and *named*."""
    defaults, positional, required, *_ = layout
    if len(args) > len(positional):
        most = f"at most {len(positional)}" if positional else "no"
        return TypeError(f"{callee}() takes {most} positional arguments, got {len(args)}")
    by_position = positional[: len(args)]
    for name in named:
        if name in by_position:
            return TypeError(f"{callee}() got multiple values for argument {name!r}")
        if name not in defaults:
            return unexpected_keyword(callee, name, defaults)
    missing = [repr(name) for name in defaults if name in required.difference(by_position, named)]
    plural = "s" * (len(missing) != 1)
    return TypeError(f"{callee}() missing required argument{plural}: {', '.join(missing)}")


def unexpected_keyword(callee: str, name: str, known: Collection[str]) -> TypeError:
    """Return what Python raises for a keyword that *callee* does not take."""
    import difflib

    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return TypeError(f"{callee}() got an unexpected keyword argument {name!r}{hint}")
