"""Wrong calls: each is refused with its exit code before anything is done.

Other checks look at the documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...wire.dialects import PRECONDITION, REDIRECTED
from ...wire.values import list_in, object_in
from ..calls import mistaken
from ..calls.descriptions import described, formats
from ..calls.documents import code_in, documents
from ..calls.making import Call, Source, Target, named, over
from ..judging import Look, NotApplicable, NotVerified, finding
from ..results import Finding
from ..shapes.kinds import shown
from ..target import NO_SUCH_FLAG, NO_SUCH_FORMAT

_NOT_FOUND = 5
_NO_SUCH_PROFILE = "murli-check-no-such-profile"
_NO_SUCH_VERSION = "0.0"
#: the errors of a tool that would have asked a person
_WOULD_ASK = ("INPUT_REQUIRED", "INTERACTIVE_BLOCKED")
USAGE = ("flag_error", "command_error")


def _unrefused(call: Call, what: str, code: int = 0) -> str:
    """Return why *what* was not refused with *code* (else that of a wrong call), or ``""``."""
    code = code or call.dialect.wrong_call
    if call.target.is_enveloped:  # the document is checked elsewhere
        return "" if call.exit_code == code else f"{what}: {call.ended} instead of exit {code}"
    if not call.error:
        return f"{what}: {call.ended}, and no error document"
    found = code_in(call.error, call.evidence)
    return "" if found == code else f"{what}: code {shown(found)} instead of {code}"


def _refused(
    calls: Source,
    what: str,
    *,
    otherwise: str = "",
    is_fair: Callable[[Call], bool] = lambda call: False,
) -> Look:
    """Return the check that wrong *calls*, which pass *what*, are refused, or that *is_fair*.

    Without any the check is not applicable, for the reason *otherwise*.
    """

    @over(calls, otherwise=otherwise)
    def look(call: Call) -> str:
        return "" if is_fair(call) else _unrefused(call, what)

    return look


def _options_read(target: Target) -> Iterator[Call]:
    # A command that refuses to run unconfirmed has not looked at the options.
    calls = mistaken.unknown_flags(target)
    return (call for call in calls if call.error_name != call.dialect.confirmation)


def _commands_known(target: Target) -> Iterator[Call]:
    target.need_commands()
    return mistaken.unknown_commands(target)


def _bad_values(target: Target) -> Iterator[Call]:
    target.need_commands()
    yield from mistaken.bad_types(target)
    if target.is_enveloped:  # with murli another check looks at choices
        yield from _bad_choices(target)


def _bad_choices(target: Target) -> Iterator[Call]:
    return (call for _, _, call in mistaken.bad_choices(target))


#: an unknown option is refused, anywhere
unknown_flag = _refused(_options_read, "an unknown option")

#: an unknown command is refused by the tool and every group, or redirected
unknown_command = _refused(
    _commands_known,
    "an unknown command",
    otherwise="nothing is known to be a group, which does nothing alone",
    is_fair=lambda call: call.exit_code == REDIRECTED and "redirect" in call.error,
)

#: an unknown format is refused by every command that may be run
bad_format = _refused(mistaken.bad_formats, "an unknown output format")

#: an option for a number refuses a word, and under the envelopes one with choices any other value
bad_type = _refused(
    _bad_values,
    "a value of another type",
    otherwise="no option of a command that may be run is of a type",
)

#: a command without a required argument neither runs nor asks for it
missing_argument = _refused(
    mistaken.missing_arguments,
    "a missing argument",
    otherwise="no command that may be run is known to require anything",
    is_fair=lambda call: call.exit_code == PRECONDITION and call.error_name in _WOULD_ASK,
)


# -- of murli ------------------------------------------------------------------------------------


@over(_bad_choices, otherwise="no command that may be run lists the values of an option")
def bad_choice(call: Call) -> str:
    """An option with choices refuses other values."""
    return _unrefused(call, "a value that is not listed")


def valid_values(target: Target) -> Iterator[Finding]:
    """``valid_values`` lists the formats, or the choices of an option."""
    wanted = set(formats(target))
    commands = {named(each): each for each in target.safe}
    for call in mistaken.bad_formats(target):
        known = commands.get(call.command)  # absent for the tool itself
        if call.error and (known is None or mistaken.is_about(target, known, "output", call.error)):
            yield from _listed(call, wanted, f"--output {NO_SUCH_FORMAT}")
    for command, flag, call in mistaken.bad_choices(target):
        if call.error and mistaken.is_about(target, command, flag.name, call.error):
            yield from _listed(call, set(flag.values), f"--{flag.name}")


def _listed(call: Call, wanted: set[str], what: str) -> Iterator[Finding]:
    if wanted:
        listed = list_in(call.error.get("valid_values"))
        missing = ", ".join(map(shown, sorted(each for each in wanted if each not in listed)[:3]))
        trouble = f"{what}: valid_values lacks {missing}" if missing else ""
        yield finding(trouble, call.command, call.evidence)


def names(target: Target) -> Iterator[Finding]:
    """The error types of wrong calls are ``flag_error``, ``command_error`` and so on."""
    for calls, more in (
        (mistaken.unknown_flags, ("confirmation_required",)),
        (mistaken.unknown_commands, ()),
        (mistaken.bad_formats, ("invalid_output_format",)),
        (mistaken.bad_types, ()),
        (mistaken.missing_arguments, ()),
    ):
        known = (*USAGE, *more)
        for call in calls(target):
            name = call.error.get("error")
            if isinstance(name, str):
                trouble = "" if name in known else f"{shown(name)} instead of {' or '.join(known)}"
                yield finding(trouble, call.command, call.evidence, warn=True)


def protocol_version(target: Target) -> Iterator[Finding]:
    """An unknown protocol version is refused, not answered in another one."""
    command = target.working("protocol-version")[0]
    call = target.called(command, "--protocol-version", _NO_SUCH_VERSION)
    yield finding(_unrefused(call, "an unknown protocol"), call.command, call.evidence)


def profile(target: Target) -> Iterator[Finding]:
    """``--profile`` with an unknown name exits with 5."""
    if object_in(described(target)[0].get("capabilities")).get("profiles") is not True:
        raise NotApplicable("it has no profiles")
    call = target.called(target.working("profile")[0], "--profile", _NO_SUCH_PROFILE)
    trouble = _unrefused(call, "a profile that does not exist", _NOT_FOUND)
    yield finding(trouble, call.command, call.evidence)


def text(target: Target) -> Iterator[Finding]:
    """With ``--output text`` an error is a line, and the exit code is the same."""
    if "text" not in formats(target):
        raise NotApplicable("it has no text format")
    for command in target.safe:
        usual = target.called(command, NO_SUCH_FLAG)
        is_free = bool(usual.error) and "output" not in command.flags
        if is_free and mistaken.is_about(target, command, NO_SUCH_FLAG, usual.error):
            break
    else:
        raise NotVerified("no mistake is refused that may be made")
    evidence = target.called(command, "--output", "text", NO_SUCH_FLAG).evidence
    trouble = ""
    if evidence.exit_code != usual.evidence.exit_code:
        trouble = f"{evidence.ended} for people, {usual.ended} for agents"
    elif documents(evidence.stderr)[0] or documents(evidence.stdout)[0]:
        trouble = "it prints a document where text was asked for"
    elif not evidence.stderr.startswith(b"Error: "):
        trouble = "stderr does not begin with Error:"
    yield finding(trouble, named(command), evidence)


# -- of envelopes --------------------------------------------------------------------------------


@over(lambda target: (call for call in mistaken.wrong_calls(target) if call.error))
def phase(call: Call) -> str:
    """The error about a wrong call has the phase ``validation``, and is not retryable."""
    if call.error.get("phase") != "validation":
        return "the phase of the error is not validation"
    if not call.dialect.is_first_envelope and call.error.get("retryable") is True:
        return "the same call is called worth another try"
    return ""


@over(mistaken.wrong_calls)
def no_trace(call: Call) -> str:
    """A call that exits with the code for a wrong call changes no file."""
    return call.changed


def repeated_option(target: Target) -> Iterator[Finding]:
    """An option for the format that is passed twice with different values is refused."""
    if call := target.made("manifest", "--format", "json", "--format", "jsonl"):
        yield finding(_unrefused(call, "--format twice"), "manifest", call.evidence)
