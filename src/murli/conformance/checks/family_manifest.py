"""The manifest: every command in one call, and everything it promises about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...client.catalogue import is_manifest
from ...client.envelopes import object_in, text_in, texts_in
from ..checking import NotApplicable, NotVerified, check, judged
from ..results import Finding
from ..target import FAMILY, NONE, Target
from .family_calls import (
    ARG_ERROR,
    NEWEST,
    PARTIAL_FAILURE,
    all_calls,
    entry_of,
    is_foreign,
    listed,
    made,
    readers,
)
from .family_danger import may_be_asked
from .family_entries import entry_troubles, manifest_troubles, shape_of
from .family_shapes import first, is_text

_LONGEST_DESCRIPTION = 120
_VAGUE = ("error", "failed", "failure", "fails", "an error", "an error occurred")
#: numbers that a tool gives a meaning of its own
_OWN = range(79, 126)
_SIGNALLED = ("130", "143")
_NO_SUCH_ETAG = "murli-check-no-such-etag"


@check(
    "family.manifest.answers",
    "The manifest lists every command in one call",
    level=3,
    contracts=(*FAMILY, NONE),
    requirements=("O-041",),
)
def manifest_answers(target: Target) -> Iterator[Finding]:
    """``manifest`` ends with 0, and its data has the commands."""
    evidence = target.run("manifest")
    call = made(target, "manifest")
    trouble = ""
    if call is None or call.exit_code != 0:
        trouble = f"manifest: {evidence.ended} instead of exit 0"
    elif not is_manifest(call.data) or not call.data["commands"]:
        trouble = "the data has no commands"
    yield judged(trouble, "manifest", evidence)


@check(
    "family.manifest.shape",
    "The manifest has its shape",
    level=3,
    contracts=FAMILY,
    requirements=("O-041", "F-073"),
)
def manifest_shape(target: Target) -> Iterator[Finding]:
    """Every field of the manifest, its commands and their flags is what it has to be."""
    evidence = target.run("manifest")
    found = listed(target)
    shape = shape_of(target.description)
    wanted = "3" if target.contract in NEWEST else "1"
    trouble = first(manifest_troubles(target.description, wanted))
    yield judged(trouble, "", evidence)
    for name, entry in found.items() if shape == wanted else ():
        yield judged(first(entry_troubles(entry, shape)), name, evidence)


@check(
    "family.manifest.tree",
    "The manifest is whole",
    level=3,
    contracts=FAMILY,
    requirements=("O-041",),
)
def manifest_is_whole(target: Target) -> Iterator[Finding]:
    """Groups are entries too and name what is below them; what is built in is listed as well."""
    evidence = target.run("manifest")
    found = listed(target)
    below = {
        each.replace(".", " "): name
        for name, entry in found.items()
        for each in texts_in(entry.get("subcommands"))
    }
    yield judged("" if "manifest" in found else "it does not list itself", "", evidence)
    for name in found:
        above = name.rpartition(" ")[0]
        trouble = ""
        if above and above not in found:
            trouble = f"`{above}`, which is above it, is not listed"
        elif above and below.get(name) != above:
            trouble = f"`{above}` does not name it among its subcommands"
        yield judged(trouble, name, evidence)
    for name, above in below.items():
        if name not in found:
            yield judged(f"it names `{name}`, which is not listed", above, evidence)


@check(
    "family.manifest.etag",
    "The manifest is not sent again while it holds",
    level=3,
    contracts=FAMILY,
    requirements=("O-041",),
)
def manifest_etag(target: Target) -> Iterator[Finding]:
    """Who has the manifest is told that it still holds; who has another gets it."""
    etag = text_in(target.description.get("etag"))
    if not etag:
        raise NotVerified("the manifest has no etag")
    hit = made(target, "manifest", "--etag", etag)
    if hit is not None:
        trouble = ""
        if hit.exit_code != 0:
            trouble = f"--etag {etag}: {hit.evidence.ended} instead of exit 0"
        elif hit.data is not None or hit.meta.get("not_modified") is not True:
            trouble = "data is not null, or meta.not_modified not true, though nothing changed"
        yield judged(trouble, "manifest", hit.evidence)
    miss = made(target, "manifest", "--etag", _NO_SUCH_ETAG)
    if miss is not None:
        told = object_in(miss.data).get("etag")
        trouble = "" if told == etag else "another etag does not give the manifest, the same again"
        yield judged(trouble, "manifest", miss.evidence)


# -- exit codes ----------------------------------------------------------------------------------


def _codes(target: Target, entry: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Give the exit codes of a command: its own, and in the newest revision everybody's."""
    shared = target.description.get("exit_codes") if target.contract in NEWEST else None
    both = {**object_in(shared), **object_in(entry.get("exit_codes"))}
    return {number: object_in(code) for number, code in both.items()}


@check(
    "family.manifest.exit-codes",
    "Exit codes promise nothing they cannot keep",
    level=2,
    contracts=FAMILY,
    requirements=("C-001",),
)
def exit_codes_are_sound(target: Target) -> Iterator[Finding]:
    """Every command tells how it can end, and what that leaves behind."""
    for name, entry in listed(target).items():
        yield judged(first(unsound(_codes(target, entry), target.contract)), name)


def unsound(codes: Mapping[str, Mapping[str, Any]], contract: str) -> Iterator[str]:
    """Tell what cannot be so about the exit *codes* of a command."""
    if "0" not in codes:
        yield "it does not tell how it succeeds"
    if contract in NEWEST:
        for number in _SIGNALLED:
            entry = codes.get(number, {})
            if entry.get("retryable") is not False or entry.get("side_effects") != "partial":
                yield f"exit {number} is not told as what a signal leaves behind"
    for number, entry in codes.items():
        left, again = entry.get("side_effects"), entry.get("retryable")
        if number == str(ARG_ERROR[contract]) and left != "none":
            yield f"exit {number} is for wrong calls, and has side effects"
        if number == str(PARTIAL_FAILURE[contract]) and again is True:
            yield f"exit {number} is for what is done by half, and is retryable"
        if left == "complete" and number != "0":
            yield f"exit {number} is a failure, and is complete"
        if again is True and left != "none":
            yield f"exit {number} is retryable, and has side effects"
        told = text_in(entry.get("description")).strip()
        if len(told) > _LONGEST_DESCRIPTION or told.rstrip(".!").lower() in ("", *_VAGUE):
            yield f"the description of exit {number} says nothing, or too much"
        is_own = number.isdecimal() and len(number) <= 3 and int(number) in _OWN
        if is_own and not is_text(entry.get("name")):
            yield f"exit {number} is the tool's own, and has no name"


@check(
    "family.exit-code.declared",
    "Every command ends as it declares",
    level=2,
    contracts=FAMILY,
    requirements=("F-001", "C-001"),
    in_hindsight=True,
)
def exit_codes_are_declared(target: Target) -> Iterator[Finding]:
    """No command was seen to end with a code that its entry does not have."""
    found = listed(target)
    for call in all_calls(target):
        # A word that is no command calls none, and its answer is nobody's.
        called = target.catalogue is not None and target.catalogue.find(call.words) is not None
        entry = found.get(call.command) if called else None
        if entry is None or not 0 <= call.exit_code <= 125:
            continue
        known = str(call.exit_code) in _codes(target, entry)
        trouble = "" if known else f"{call.evidence.ended} is not declared"
        yield judged(trouble, call.command, call.evidence)


# -- schemas -------------------------------------------------------------------------------------


@check(
    "family.schema.answers",
    "Every command describes itself",
    level=3,
    contracts=FAMILY,
    requirements=("C-015", "O-013"),
)
def schema_answers(target: Target) -> Iterator[Finding]:
    """``--schema`` needs no arguments, ends with 0 and gives the description."""
    if target.catalogue is None:
        raise NotVerified("there is no manifest")
    safe = [each.path for each in readers(target)]
    found = [*safe, *(each.path for each in target.groups)]
    answered = True
    for path in dict.fromkeys(found):
        finding = _described(target, path)
        answered &= finding is not None and finding.status == "pass"
        if finding is not None:
            yield finding
    if not (answered and safe):
        return
    # What is answered by all others is not taken for a call here either.
    for command in target.leaves:
        foreign = is_foreign(entry_of(target, " ".join(command.path)))
        if command.path not in found and not foreign and may_be_asked(target, command, "--schema"):
            finding = _described(target, command.path)
            if finding is not None:
                yield finding


def _described(target: Target, path: tuple[str, ...]) -> Finding | None:
    call = made(target, *path, "--schema")
    if call is None:
        return None
    trouble = ""
    if call.exit_code != 0:
        trouble = f"--schema: {call.evidence.ended} instead of exit 0"
    elif not object_in(call.data):
        trouble = "the data describes nothing"
    return judged(trouble, " ".join(path), call.evidence)


@check(
    "family.output.valid",
    "What is given fits its schema",
    level=3,
    contracts=FAMILY,
    requirements=("C-015",),
    in_hindsight=True,
)
def output_is_valid(target: Target) -> Iterator[Finding]:
    """The data of every success fits what the manifest says of it."""
    schemas = {
        name: schema
        for name, entry in listed(target).items()
        if (schema := object_in(entry.get("output_schema")))
    }
    if not schemas:
        raise NotApplicable("no command has an output schema")
    from .family_schemas import misfit  # brings in a lot

    for call in all_calls(target):
        asked = not {"--schema", "--output-schema", "--dry-run"}.isdisjoint(call.words)
        if call.kind != "answer" or call.exit_code != 0 or asked or call.data is None:
            continue
        if call.command in schemas:
            trouble = misfit(call.data, schemas[call.command])
            yield judged(trouble, call.command, call.evidence)
