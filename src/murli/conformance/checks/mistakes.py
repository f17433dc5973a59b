"""Wrong calls: each is refused with its exit code before anything is done.

Other checks look at the documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ...wire.envelopes import object_in
from ..calls.descriptions import described, formats
from ..calls.documents import code_in, documents
from ..calls.making import Call, called, made, named, over, working
from ..calls.mistaken import (
    Wrong,
    bad_choices,
    bad_formats,
    bad_formats_of_readers,
    bad_types,
    bad_values,
    is_about,
    missing_arguments,
    missing_needs,
    unknown_commands,
    unknown_commands_of_groups,
    unknown_flags,
    unknown_flags_of_all,
    wrong_calls,
)
from ..judging import Look, NotApplicable, NotVerified, judged, or_not_applicable
from ..results import Finding
from ..shapes.kinds import shown
from ..target import NO_SUCH_FLAG, NO_SUCH_FORMAT, Target
from ..wires import PRECONDITION, REDIRECTED

_NOT_FOUND = 5
_NO_SUCH_PROFILE = "murli-check-no-such-profile"
_NO_SUCH_VERSION = "0.0"
#: the errors of a tool that would have asked a person
_WOULD_ASK = ("INPUT_REQUIRED", "INTERACTIVE_BLOCKED")
USAGE = ("flag_error", "command_error")


def _unrefused(call: Call, what: str, code: int = 0) -> str:
    """Return why *what* was not refused with *code* (else that of a wrong call), or ``""``."""
    code = code or call.wire.wrong_call
    if call.target.is_enveloped:  # the document is checked elsewhere
        return "" if call.exit_code == code else f"{what}: {call.ended} instead of exit {code}"
    if not call.error:
        return f"{what}: {call.ended}, and no error document"
    found = code_in(call.error, call.evidence)
    return "" if found == code else f"{what}: code {shown(found)} instead of {code}"


def _refused(
    murli: Callable[[Target], Iterable[Call]],
    what: str,
    envelope: Callable[[Target], Wrong],
    *,
    otherwise: str = "",
    is_fair: Callable[[Call], bool] = lambda call: False,
) -> Look:
    """Return the check that wrong calls are refused, except those that *is_fair* accepts.

    The calls of *murli* all pass *what*; without any the check is not applicable, for the reason
    *otherwise*. Those of *envelope* come with what is wrong about them.
    """

    def look(target: Target) -> Iterator[Finding]:
        in_envelope = target.is_enveloped
        wrong = envelope(target) if in_envelope else ((call, what) for call in murli(target))
        found = (
            judged("" if is_fair(call) else _unrefused(call, each), call.command, call.evidence)
            for call, each in wrong
        )
        return or_not_applicable(found, otherwise) if otherwise and not in_envelope else found

    return look


def _options_read(target: Target) -> Iterator[Call]:
    # A command that refuses to run unconfirmed has not looked at the options.
    return (call for call in unknown_flags(target) if call.error_name != call.wire.confirmation)


def _commands_known(target: Target) -> Iterator[Call]:
    if not target.commands:
        raise NotVerified("no command is known")
    return unknown_commands(target)


#: an unknown option is refused, anywhere
unknown_flag = _refused(_options_read, "an unknown option", unknown_flags_of_all)

#: an unknown command is refused by the tool and every group, or redirected
unknown_command = _refused(
    _commands_known,
    "an unknown command",
    unknown_commands_of_groups,
    otherwise="it has no commands",
    is_fair=lambda call: call.exit_code == REDIRECTED and "redirect" in call.error,
)

#: an unknown format is refused by every command that may be run
bad_format = _refused(bad_formats, "an unknown output format", bad_formats_of_readers)

#: an option for a number refuses a word
bad_type = _refused(
    bad_types,
    "a word instead of a number",
    bad_values,
    otherwise="no command that may be run takes numbers",
)

#: a command without a required argument neither runs nor asks for it
missing_argument = _refused(
    missing_arguments,
    "a missing argument",
    missing_needs,
    otherwise="no command that may be run requires anything",
    is_fair=lambda call: call.exit_code == PRECONDITION and call.error_name in _WOULD_ASK,
)


# -- of murli ------------------------------------------------------------------------------------


@over(
    lambda target: (call for _, _, call in bad_choices(target)),
    otherwise="no command that may be run lists the values of an option",
)
def bad_choice(call: Call) -> str:
    """An option with choices refuses other values."""
    return _unrefused(call, "a value that is not listed")


def valid_values(target: Target) -> Iterator[Finding]:
    """``valid_values`` lists the formats, or the choices of an option."""
    wanted = set(formats(target))
    commands = {named(each): each for each in target.safe}
    for call in bad_formats(target):
        known = commands.get(call.command)  # absent for the tool itself
        if call.error and (known is None or is_about(target, known, "output", call.error)):
            yield from _listed(call, wanted, f"--output {NO_SUCH_FORMAT}")
    for command, flag, call in bad_choices(target):
        if call.error and is_about(target, command, flag.name, call.error):
            yield from _listed(call, set(flag.values), f"--{flag.name}")


def _listed(call: Call, wanted: set[str], what: str) -> Iterator[Finding]:
    if wanted:
        values = call.error.get("valid_values")
        listed = values if isinstance(values, list) else []
        missing = ", ".join(map(shown, sorted(each for each in wanted if each not in listed)[:3]))
        trouble = f"{what}: valid_values lacks {missing}" if missing else ""
        yield judged(trouble, call.command, call.evidence)


def names(target: Target) -> Iterator[Finding]:
    """The error types of wrong calls are ``flag_error``, ``command_error`` and so on."""
    for calls, more in (
        (unknown_flags, ("confirmation_required",)),
        (unknown_commands, ()),
        (bad_formats, ("invalid_output_format",)),
        (bad_types, ()),
        (missing_arguments, ()),
    ):
        known = (*USAGE, *more)
        for call in calls(target):
            name = call.error.get("error")
            if isinstance(name, str):
                trouble = "" if name in known else f"{shown(name)} instead of {' or '.join(known)}"
                yield judged(trouble, call.command, call.evidence, warn=True)


def protocol_version(target: Target) -> Iterator[Finding]:
    """An unknown protocol version is refused, not answered in another one."""
    command = working(target, "protocol-version")[0]
    call = called(target, command, "--protocol-version", _NO_SUCH_VERSION)
    yield judged(_unrefused(call, "an unknown protocol"), call.command, call.evidence)


def profile(target: Target) -> Iterator[Finding]:
    """``--profile`` with an unknown name exits with 5."""
    if object_in(described(target)[0].get("capabilities")).get("profiles") is not True:
        raise NotApplicable("it has no profiles")
    call = called(target, working(target, "profile")[0], "--profile", _NO_SUCH_PROFILE)
    trouble = _unrefused(call, "a profile that does not exist", _NOT_FOUND)
    yield judged(trouble, call.command, call.evidence)


def text(target: Target) -> Iterator[Finding]:
    """With ``--output text`` an error is a line, and the exit code is the same."""
    if "text" not in formats(target):
        raise NotApplicable("it has no text format")
    for command in target.safe:
        usual = called(target, command, NO_SUCH_FLAG)
        is_free = "output" not in command.flags
        if usual.error and is_free and is_about(target, command, NO_SUCH_FLAG, usual.error):
            break
    else:
        raise NotVerified("no mistake is refused that may be made")
    evidence = called(target, command, "--output", "text", NO_SUCH_FLAG).evidence
    trouble = ""
    if evidence.exit_code != usual.evidence.exit_code:
        trouble = f"{evidence.ended} for people, {usual.ended} for agents"
    elif documents(evidence.stderr)[0] or documents(evidence.stdout)[0]:
        trouble = "it prints a document where text was asked for"
    elif not evidence.stderr.startswith(b"Error: "):
        trouble = "stderr does not begin with Error:"
    yield judged(trouble, named(command), evidence)


# -- of envelopes --------------------------------------------------------------------------------


@over(lambda target: (call for call in wrong_calls(target) if call.error))
def phase(call: Call) -> str:
    """The error about a wrong call has the phase ``validation``, and is not retryable."""
    if call.error.get("phase") != "validation":
        return "the phase of the error is not validation"
    if call.target.contract != "response" and call.error.get("retryable") is True:
        return "the same call is called worth another try"
    return ""


@over(wrong_calls)
def no_trace(call: Call) -> str:
    """A call that exits with the code for a wrong call changes no file."""
    return call.changed


def repeated_option(target: Target) -> Iterator[Finding]:
    """An option for the format that is passed twice with different values is refused."""
    if call := made(target, "manifest", "--format", "json", "--format", "jsonl"):
        yield judged(_unrefused(call, "--format twice"), "manifest", call.evidence)
