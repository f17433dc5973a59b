"""Wrong calls of a murli tool: each is refused with code 1, by a document that says why.

Whether the document is whole, stands where it belongs and agrees with the exit code, others check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..checking import MURLI, NotApplicable, NotVerified, check, judged
from ..results import Evidence, Finding
from ..target import NO_SUCH_FLAG, NO_SUCH_FORMAT, NONE, Target
from .murli_calls import (
    CONFIRMATION,
    bad_choices,
    bad_formats,
    bad_types,
    described,
    formats,
    is_about,
    missing_arguments,
    named,
    needed,
    unknown_commands,
    unknown_flags,
    working,
)
from .murli_shapes import code_in, documents, error_of, shown

USER_ERROR, NOT_FOUND = 1, 5
_NO_SUCH_PROFILE = "murli-check-no-such-profile"
_NO_SUCH_VERSION = "0.0"


def _refusal(evidence: Evidence, what: str, code: int = USER_ERROR) -> str:
    """Tell what is wrong about how a wrong call was answered, ``""`` for nothing."""
    error = error_of(evidence)
    if error is None:
        return f"{what}: {evidence.ended}, and no error document"
    said = code_in(error, evidence)
    return "" if said == code else f"{what}: code {shown(said)} instead of {code}"


def _refusals(calls: Iterable[tuple[str, Evidence]], what: str) -> list[Finding]:
    return [judged(_refusal(evidence, what), name, evidence) for name, evidence in calls]


@check(
    "murli.mistake.unknown-flag",
    "An unknown option is refused",
    level=1,
    contracts=(*MURLI, NONE),
    requirements=("14", "5.3"),
)
def unknown_flag(target: Target) -> Iterator[Finding]:
    """An option that does not exist gives code 1, anywhere."""
    for name, evidence in unknown_flags(target):
        error = error_of(evidence)
        # Who refuses to run at all has not come to look at the options.
        if error is None or error.get("error") != CONFIRMATION:
            yield judged(_refusal(evidence, "an unknown option"), name, evidence)


@check(
    "murli.mistake.unknown-command",
    "An unknown command is refused",
    level=1,
    contracts=MURLI,
    requirements=("14", "5.3"),
)
def unknown_command(target: Target) -> Iterator[Finding]:
    """A command that does not exist gives code 1, at the top and in every group."""
    if not target.commands:
        raise NotVerified("no command is known")
    found = _refusals(unknown_commands(target), "an unknown command")
    yield from needed(found, "it has no commands")


@check(
    "murli.mistake.output-format",
    "An unknown output format is refused",
    level=1,
    contracts=MURLI,
    requirements=("14", "5.3"),
)
def output_format(target: Target) -> Iterator[Finding]:
    """``--output`` with a value that does not exist gives code 1."""
    yield from _refusals(bad_formats(target), "an unknown output format")


@check(
    "murli.mistake.bad-type",
    "A word instead of a number is refused",
    level=2,
    contracts=MURLI,
    requirements=("5.3", "5.4"),
)
def bad_type(target: Target) -> Iterator[Finding]:
    """An option that takes a number refuses a word, with code 1."""
    found = _refusals(bad_types(target), "a word instead of a number")
    yield from needed(found, "no command that may be run takes numbers")


@check(
    "murli.mistake.missing-argument",
    "A call without what it needs is refused",
    level=2,
    contracts=MURLI,
    requirements=("5.3",),
)
def missing_argument(target: Target) -> Iterator[Finding]:
    """A command without its required arguments and options gives code 1."""
    found = _refusals(missing_arguments(target), "a missing argument")
    yield from needed(found, "no command that may be run requires anything")


@check(
    "murli.mistake.bad-choice",
    "A value that is not among those listed is refused",
    level=3,
    contracts=MURLI,
    requirements=("17.28", "5.4"),
)
def bad_choice(target: Target) -> Iterator[Finding]:
    """An option that lists its values takes no other one."""
    calls = ((named(command), evidence) for command, _, evidence in bad_choices(target))
    found = _refusals(calls, "a value that is not listed")
    yield from needed(found, "no command that may be run lists the values of an option")


@check(
    "murli.mistake.valid-values",
    "Who chose a wrong value is told the right ones",
    level=2,
    contracts=MURLI,
    requirements=("5.3", "5.4"),
)
def valid_values(target: Target) -> Iterator[Finding]:
    """``valid_values`` lists the formats, and the values of an option."""
    document, _ = described(target)
    wanted = set(formats(document))
    commands = {named(each): each for each in target.safe}
    for name, evidence in bad_formats(target):
        error = error_of(evidence)
        known = commands.get(name)  # the tool itself has been asked to describe itself
        if error and (known is None or is_about(target, known, "output", error)):
            yield from _told(name, evidence, error, wanted, f"--output {NO_SUCH_FORMAT}")
    for command, flag, evidence in bad_choices(target):
        error = error_of(evidence)
        if error and is_about(target, command, flag.name, error):
            what = f"--{flag.name}"
            yield from _told(named(command), evidence, error, set(flag.values), what)


def _told(
    name: str, evidence: Evidence, error: dict[str, Any], wanted: set[str], what: str
) -> Iterator[Finding]:
    if not wanted:
        return
    values = error.get("valid_values")
    listed = {each for each in values if isinstance(each, str)} if isinstance(values, list) else ()
    missing = sorted(wanted.difference(listed))
    trouble = f"{what}: valid_values lacks {', '.join(map(shown, missing[:3]))}" if missing else ""
    yield judged(trouble, name, evidence)


@check(
    "murli.mistake.names",
    "Wrong calls are called by the contract's names",
    level=3,
    contracts=MURLI,
    requirements=("5.3", "16.22"),
)
def names(target: Target) -> Iterator[Finding]:
    """``flag_error``, ``command_error`` and the like are what wrong calls are."""
    usage = ("flag_error", "command_error")
    for calls, known in (
        (unknown_flags, (*usage, CONFIRMATION)),
        (unknown_commands, usage),
        (bad_formats, (*usage, "invalid_output_format")),
        (bad_types, usage),
        (missing_arguments, usage),
    ):
        for name, evidence in calls(target):
            error = error_of(evidence)
            said = error.get("error") if error is not None else None
            if isinstance(said, str):
                trouble = "" if said in known else f"{shown(said)} instead of {' or '.join(known)}"
                yield judged(trouble, name, evidence, warn=True)


# -- values of the contract's own options ------------------------------------------------------


@check(
    "murli.mistake.protocol-version",
    "An unknown protocol version is refused",
    level=3,
    contracts=MURLI,
    requirements=("5.3", "1"),
)
def protocol_version(target: Target) -> Iterator[Finding]:
    """Who asks for a protocol that does not exist is not answered in another."""
    command = working(target, "protocol-version")[0]
    evidence = target.run(*target.words(command, "--protocol-version", _NO_SUCH_VERSION))
    yield judged(_refusal(evidence, "an unknown protocol"), named(command), evidence)


@check(
    "murli.mistake.profile",
    "A profile that does not exist is not found",
    level=3,
    contracts=MURLI,
    requirements=("5.3", "16.35"),
)
def profile(target: Target) -> Iterator[Finding]:
    """``--profile`` with a name nobody saved gives code 5."""
    document, _ = described(target)
    able = document.get("capabilities")
    if not isinstance(able, dict) or able.get("profiles") is not True:
        raise NotApplicable("it has no profiles")
    command = working(target, "profile")[0]
    evidence = target.run(*target.words(command, "--profile", _NO_SUCH_PROFILE))
    trouble = _refusal(evidence, "a profile that does not exist", NOT_FOUND)
    yield judged(trouble, named(command), evidence)


# -- people --------------------------------------------------------------------------------------


@check(
    "murli.mistake.text",
    "People are told of a mistake in words",
    level=3,
    contracts=MURLI,
    requirements=("3.3", "17.16"),
)
def text(target: Target) -> Iterator[Finding]:
    """With ``--output text`` an error is a line, and ends with the same code."""
    document, _ = described(target)
    if "text" not in formats(document):
        raise NotApplicable("it has no text format")
    for command in target.safe:
        usual = target.run(*target.words(command, NO_SUCH_FLAG))
        error = error_of(usual)
        is_free = "output" not in command.flags
        if error and is_free and is_about(target, command, NO_SUCH_FLAG, error):
            break
    else:
        raise NotVerified("no mistake is refused that may be made")
    evidence = target.run(*target.words(command, "--output", "text", NO_SUCH_FLAG))
    trouble = ""
    if evidence.exit_code != usual.exit_code:
        trouble = f"{evidence.ended} for people, {usual.ended} for agents"
    elif documents(evidence.stderr)[0] or documents(evidence.stdout)[0]:
        trouble = "it prints a document where text was asked for"
    elif not evidence.stderr.startswith(b"Error: "):
        trouble = "stderr does not begin with Error:"
    yield judged(trouble, named(command), evidence)
