"""How a command may end: what an author declares about its exit codes, and what holds otherwise."""

from __future__ import annotations

from enum import Enum

from ..outcome import Record, field
from .checks import names_in, require_one_of, require_screaming
from .safety import may_repeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..type_checking import Several, SideEffects
    from . import Metadata

SIDE_EFFECTS = ("none", "partial", "complete")
# Descriptions from which an agent learns nothing that the number does not mean already.
_VAGUE = frozenset(
    (
        *("an error occurred", "error occurred", "general error", "general failure", "it failed"),
        *("it worked", "operation failed", "something failed", "something went wrong"),
        *("the command failed", "unknown error"),
    )
)
# Meanings of a status that add nothing to its not being 0.
_NO_MEANING = _VAGUE | {"error", "failed", "failure", "fail", "ok"}


class ExitCode(Enum):
    """How a command may end, by name; the value is the kind of `AgentError` that ends it so.

    Numbers belong to contracts: NOT_FOUND is 5 in all of them, ARG_ERROR 1, 2 or 3.
    """

    SUCCESS = "success"
    GENERAL_ERROR = "tool_error"
    ARG_ERROR = "user_error"
    PARTIAL_FAILURE = "partial"
    PRECONDITION = "precondition"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    PERMISSION_DENIED = "permission_denied"
    AUTH_REQUIRED = "auth_required"
    PAYMENT_REQUIRED = "payment_required"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    REDIRECTED = "redirected"
    INCOMPLETE = "incomplete"
    CANCELLED = "cancelled"


class CommandCode(Record):
    """An exit code of a command's own, the same number in every contract.

    A failure ends with it when it is raised with that number:
    ``AgentError(81, "quota_spent", "…")``.
    """

    number: int
    name: str

    def _check(self, given: dict[str, Any]) -> None:
        number, name = self.number, self.name
        if isinstance(number, bool) or not isinstance(number, int) or not 79 <= number <= 125:
            raise ValueError(
                f"a command's own exit code is 79 to 125, not {number!r}; the others have "
                "meanings of their own"
            )
        require_screaming(name, "the name of an exit code")
        if name in ExitCode.__members__:
            raise ValueError(f"{name} is an ExitCode already; declare ExitCode.{name} instead")

    def __hash__(self) -> int:  # type: ignore[override]  # a key, unlike other records
        return hash((self.number, self.name))


class ExitCodeEntry(Record):
    """When a command ends with an exit code, and what it has done by then.

    *retryable* promises that the same call, unchanged, may work, and that nothing was written.
    *error_codes* are the finer codes that come with it.
    """

    description: str
    retryable: bool = field(default=False, convert=bool)
    side_effects: SideEffects = "none"
    error_codes: Several[str] = field(default=(), convert=names_in)

    def _check(self, given: dict[str, Any]) -> None:
        description, side_effects = self.description, self.side_effects
        text = " ".join(description.casefold().replace(".", " ").replace("!", " ").split())
        if not 1 <= len(description) <= 120:
            raise ValueError(f"a description has 1 to 120 characters, not {len(description)}")
        if " " not in text or text in _VAGUE:
            raise ValueError(
                f"{description!r} says nothing an agent could act on; say when the command ends "
                "like that, and what state things are in"
            )
        require_one_of("side_effects", side_effects, SIDE_EFFECTS)
        if self.retryable and side_effects != "none":
            raise ValueError(
                f'retryable=True promises that nothing was written, side_effects="{side_effects}" '
                "says otherwise; one of them is wrong"
            )
        for code in self.error_codes:
            require_screaming(code, "an error code")

    def document(self, name: str) -> dict[str, Any]:
        """Return the entry as a manifest has it, under the *name* of its exit code."""
        document: dict[str, Any] = {
            "name": name,
            "description": self.description,
            "retryable": self.retryable,
            "side_effects": self.side_effects,
        }
        if self.error_codes:
            document["error_codes"] = list(self.error_codes)
        return document


# -- what follows from a declaration -----------------------------------------------------------


def danger_of(metadata: Metadata | None) -> str:
    """Return the danger level where one has to be chosen: what nobody declared is not harmless."""
    return (metadata.danger_level if metadata is not None else "") or "mutating"


def default_exit_codes(
    metadata: Metadata | None, path: tuple[str, ...] = (), *, newest: bool = True
) -> dict[ExitCode, ExitCodeEntry]:
    """Return the exit codes of a command that declares none, on the careful side.

    *path* are its names below the tool's own. A timeout of what only reads may pass by itself
    before the *newest* revision of the envelope; since then only its author can declare that.
    """
    safe = danger_of(metadata) == "safe"
    traits = metadata.traits if metadata is not None else None
    done: SideEffects = "none" if safe else "complete"
    touched: SideEffects = "none" if safe else "partial"
    codes = {
        ExitCode.SUCCESS: ExitCodeEntry("The command did what it was asked to do.", False, done),
        ExitCode.GENERAL_ERROR: ExitCodeEntry(
            "The command failed for a reason without a code of its own.", side_effects=touched
        ),
        ExitCode.ARG_ERROR: ExitCodeEntry("A flag or argument is wrong; nothing was done."),
        ExitCode.PRECONDITION: ExitCodeEntry("Something must be true first; nothing was done."),
        ExitCode.NOT_FOUND: ExitCodeEntry("What the call names does not exist."),
        ExitCode.PERMISSION_DENIED: ExitCodeEntry("The caller is not allowed to do this."),
        ExitCode.TIMEOUT: ExitCodeEntry(
            "The command did not finish within its time limit.", safe and not newest, touched
        ),
        ExitCode.CANCELLED: ExitCodeEntry(
            "A signal stopped the command before it was done.", side_effects="partial"
        ),
    }
    if metadata is not None and metadata.batch:
        codes[ExitCode.PARTIAL_FAILURE] = ExitCodeEntry(
            "It worked for some of several values only.", side_effects="partial"
        )
    if traits is not None and traits.has_network_io:
        passes = may_repeat(metadata, path)
        for code, when in (
            (ExitCode.RATE_LIMITED, "A service was called too often."),
            (ExitCode.UNAVAILABLE, "A service cannot be reached for now."),
        ):
            codes[code] = ExitCodeEntry(when, passes, "none" if passes else "partial")
    return codes


def entry_of(metadata: Metadata | None, kind: str, *, newest: bool = True) -> ExitCodeEntry | None:
    """Return what is known of the exit code that *kind* means: declared, or by default."""
    declared: Mapping[Any, ExitCodeEntry] = metadata.exit_codes if metadata is not None else {}
    return (declared or default_exit_codes(metadata, newest=newest)).get(ExitCode(kind))


def own_code(metadata: Metadata | None, number: int) -> CommandCode | None:
    """Return the code of the command's own that has this *number*, or ``None``."""
    declared = metadata.exit_codes if metadata is not None else {}
    return next(
        (code for code in declared if isinstance(code, CommandCode) and code.number == number), None
    )


def undeclared(metadata: Metadata | None, kind: str, number: int = 0) -> str | None:
    """Return a warning about an exit that the command does not declare; ``None`` if it does.

    *kind* is that of the failure, or ``success``; *number* its code, which may be the command's
    own. Who declares no exit codes at all has promised nothing.
    """
    declared = metadata.exit_codes if metadata is not None else {}
    if not declared or own_code(metadata, number) is not None or ExitCode(kind) in declared:
        return None
    return f"The command ended with {ExitCode(kind).name}, which its exit_codes do not declare."


def exit_codes_in(declared: Mapping[Any, ExitCodeEntry]) -> dict[Any, ExitCodeEntry]:
    """Return a declared map of exit codes, or raise an error that says what is wrong."""
    numbers: dict[int, str] = {}
    for code, entry in declared.items():
        if not isinstance(code, (ExitCode, CommandCode)):
            raise TypeError(
                f"exit_codes has an ExitCode or a CommandCode for a key, not {code!r}; numbers "
                "belong to contracts, so write murli.ExitCode.NOT_FOUND rather than 5"
            )
        if not isinstance(entry, ExitCodeEntry):
            raise TypeError(f"exit_codes[{code.name}] is an ExitCodeEntry, not {entry!r}")
        if (
            isinstance(code, CommandCode)
            and numbers.setdefault(code.number, code.name) != code.name
        ):
            raise ValueError(f"{code.number} is both {numbers[code.number]} and {code.name}")
        _check_entry(code, entry)
    if ExitCode.SUCCESS not in declared:
        raise ValueError("exit_codes lacks ExitCode.SUCCESS; declare every way the command can end")
    return dict(declared)


def ok_codes_in(declared: Mapping[Any, Any]) -> dict[int, str]:
    """Return the exit statuses of a command that are no failures, or raise telling what is wrong.

    The value of each is what it means, in a few words: ``{1: "found something"}``.
    """
    for status, meaning in _statuses_in("ok_codes", declared).items():
        if not isinstance(meaning, str) or _kind_named(meaning) is not None:
            raise ValueError(
                f"ok_codes[{status}] says what a success means, not {meaning!r}; a status that is "
                "a failure is declared with enable(exit_codes=…)"
            )
    return dict(declared)


def statuses_in(declared: Mapping[Any, Any]) -> dict[int, str | ExitCode]:
    """Return what the exit statuses of a tool mean, or raise telling what is wrong.

    A text is the meaning of a success; an `ExitCode`, or its name, makes it a failure of that kind:
    ``{1: "found something", 2: ExitCode.ARG_ERROR, 75: "unavailable"}``.
    """
    found: dict[int, str | ExitCode] = {}
    for status, meaning in _statuses_in("exit_codes", declared).items():
        kind = meaning if isinstance(meaning, ExitCode) else _kind_named(meaning)
        if kind is ExitCode.SUCCESS:
            raise ValueError(
                f"exit_codes[{status}] is a success: say what it means, like "
                '"found something"; 0 is the one that needs no words'
            )
        found[status] = kind or meaning
    return found


def meaning_of(
    status: int, metadata: Metadata | None, declared: Mapping[int, str | ExitCode]
) -> str | ExitCode | None:
    """Return what an exit *status* means: for the command, else for the tool; ``None`` if unknown.

    *declared* holds for all commands of the tool. A text is a success.
    """
    return meanings_of(metadata).get(status) or declared.get(status)


def meanings_of(metadata: Metadata | None) -> Mapping[int, str | ExitCode]:
    """Return what statuses other than 0 mean for a command: an `ExitCode` is a failure.

    Its author declares successes alone; who declares about somebody else's command, failures too.
    """
    if metadata is None:
        return {}
    found: Mapping[int, str | ExitCode] = getattr(metadata, "meanings", metadata.ok_codes)
    return found


def _statuses_in(name: str, declared: Mapping[Any, Any]) -> dict[int, Any]:
    if not isinstance(declared, dict):
        raise TypeError(f"{name} is a dict of exit statuses, not {declared!r}")
    for status, meaning in declared.items():
        if isinstance(status, bool) or not isinstance(status, int) or not 1 <= status <= 125:
            raise ValueError(f"{name} has exit statuses from 1 to 125 for keys, not {status!r}")
        if isinstance(meaning, ExitCode):
            continue
        text = meaning.strip() if isinstance(meaning, str) else ""
        if not 1 <= len(text) <= 120 or text.casefold().rstrip(".!") in _NO_MEANING:
            raise ValueError(
                f"{name}[{status}] says in up to 120 characters what the status means, "
                f'like "found something", not {meaning!r}'
            )
    return dict(declared)


def _kind_named(text: str) -> ExitCode | None:
    """Return the exit code that *text* names: ``timeout``, ``TIMEOUT``, ``ARG_ERROR``."""
    name = text.strip().upper().replace(" ", "_").replace("-", "_")
    if name in ExitCode.__members__:
        return ExitCode[name]
    return next((code for code in ExitCode if code.value == name.lower()), None)


def _check_entry(code: ExitCode | CommandCode, entry: ExitCodeEntry) -> None:
    if code is ExitCode.ARG_ERROR and entry.side_effects != "none":
        raise ValueError(
            "ARG_ERROR promises that nothing was done: its side_effects are none; what fails "
            "later is PARTIAL_FAILURE or GENERAL_ERROR"
        )
    if code is ExitCode.PARTIAL_FAILURE and entry.retryable:
        raise ValueError("PARTIAL_FAILURE is never retryable: the half that worked would be redone")
    if entry.side_effects == "complete" and code is not ExitCode.SUCCESS:
        raise ValueError(
            f'side_effects="complete" is what SUCCESS says; {code.name} is a failure, so its are '
            '"partial" at most'
        )
