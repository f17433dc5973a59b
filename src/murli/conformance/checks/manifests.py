"""The manifest: every command in one call, and whether its entries are true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...wire.dialects import Dialect
from ...wire.listing import is_manifest
from ...wire.values import object_in, text_in, texts_in
from ..calls.making import Call, Target, unsuccessful
from ..judging import NotVerified, finding
from ..results import Finding
from ..shapes.kinds import first, is_text
from ..shapes.manifest import entry_troubles, manifest_troubles, shape_of

_LONGEST_DESCRIPTION = 120
_VAGUE = ("error", "failed", "failure", "fails", "an error", "an error occurred")
#: exit codes whose meaning the tool defines
_OWN = range(79, 126)
_SIGNALLED = ("130", "143")
_NO_SUCH_ETAG = "murli-check-no-such-etag"


def answers(target: Target) -> Iterator[Finding]:
    """``manifest`` exits with 0, and its data has the commands."""
    call = Call(target, "manifest", target.run("manifest"))
    shows = target.call_of(call.evidence) is not None
    trouble = unsuccessful(call, "manifest")
    if not trouble and not shows:
        trouble = f"manifest: {call.ended} instead of exit 0"
    elif not trouble and not (is_manifest(call.data) and call.data["commands"]):
        trouble = "the data has no commands"
    yield finding(trouble, "manifest", call.evidence)


def shape(target: Target) -> Iterator[Finding]:
    """The fields of the manifest, its commands and their flags are valid."""
    evidence = target.run("manifest")
    found = target.listed()
    shape = shape_of(target.description)
    wanted = target.dialect.manifest
    trouble = first(manifest_troubles(target.description, wanted))
    yield finding(trouble, "", evidence)
    for name, entry in found.items() if shape == wanted else ():
        yield finding(first(entry_troubles(entry, shape)), name, evidence)


def tree(target: Target) -> Iterator[Finding]:
    """Groups are entries and name their subcommands; built-in commands are listed too."""
    evidence = target.run("manifest")
    found = target.listed()
    below = {
        each.replace(".", " "): name
        for name, entry in found.items()
        for each in texts_in(entry.get("subcommands"))
    }
    yield finding("" if "manifest" in found else "it does not list itself", "", evidence)
    for name in found:
        above = name.rpartition(" ")[0]
        trouble = ""
        if above and above not in found:
            trouble = f"`{above}`, which is above it, is not listed"
        elif above and below.get(name) != above:
            trouble = f"`{above}` does not name it among its subcommands"
        yield finding(trouble, name, evidence)
    for name, above in below.items():
        if name not in found:
            yield finding(f"it names `{name}`, which is not listed", above, evidence)


def etag(target: Target) -> Iterator[Finding]:
    """With its etag the manifest is not sent again; with another etag it is."""
    known = text_in(target.description.get("etag"))
    if not known:
        raise NotVerified("the manifest has no etag")
    if hit := target.made("manifest", "--etag", known):
        trouble = ""
        if hit.exit_code != 0:
            trouble = f"--etag {known}: {hit.ended} instead of exit 0"
        elif hit.data is not None or hit.meta.get("not_modified") is not True:
            trouble = "data is not null, or meta.not_modified not true, though nothing changed"
        yield finding(trouble, "manifest", hit.evidence)
    if miss := target.made("manifest", "--etag", _NO_SUCH_ETAG):
        other = object_in(miss.data).get("etag")
        wrong = "another etag does not give the manifest, the same again"
        yield finding("" if other == known else wrong, "manifest", miss.evidence)


# -- exit codes ----------------------------------------------------------------------------------


def _codes(target: Target, entry: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the exit codes of a command: its own, and in later manifests the shared ones."""
    shared = target.description.get("exit_codes") if target.dialect.manifest == "3" else None
    both = {**object_in(shared), **object_in(entry.get("exit_codes"))}
    return {number: object_in(code) for number, code in both.items()}


def exit_codes(target: Target) -> Iterator[Finding]:
    """Every command declares its exit codes and what each leaves behind."""
    for name, entry in target.listed().items():
        yield finding(first(unsound(_codes(target, entry), target.dialect)), name)


def unsound(codes: Mapping[str, Mapping[str, Any]], dialect: Dialect) -> Iterator[str]:
    """Yield contradictions in the exit *codes* of a command."""
    if "0" not in codes:
        yield "it does not say how it succeeds"
    if dialect.manifest == "3":
        for number in _SIGNALLED:
            entry = codes.get(number, {})
            if entry.get("retryable") is not False or entry.get("side_effects") != "partial":
                yield f"exit {number} is not listed for a signal"
    for number, entry in codes.items():
        left, again = entry.get("side_effects"), entry.get("retryable")
        if number == str(dialect.wrong_call) and left != "none":
            yield f"exit {number} is for wrong calls, and has side effects"
        if number == str(dialect.partial) and again is True:
            yield f"exit {number} is for work that is half done, and is retryable"
        if left == "complete" and number != "0":
            yield f"exit {number} is a failure, and is complete"
        if again is True and left != "none":
            yield f"exit {number} is retryable, and has side effects"
        meaning = text_in(entry.get("description")).strip()
        if len(meaning) > _LONGEST_DESCRIPTION or meaning.rstrip(".!").lower() in ("", *_VAGUE):
            yield f"the description of exit {number} says nothing, or too much"
        is_own = number.isdecimal() and len(number) <= 3 and int(number) in _OWN
        if is_own and not is_text(entry.get("name")):
            yield f"exit {number} is the tool's own, and has no name"


def exit_codes_declared(target: Target) -> Iterator[Finding]:
    """No command exited with a code that its entry does not have."""
    found = target.listed()
    for call in target.all_calls():
        # A word that is not a command calls none.
        called = target.catalogue is not None and target.catalogue.find(call.words) is not None
        entry = found.get(call.command) if called else None
        if entry is None or not 0 <= call.exit_code <= 125:
            continue
        known = str(call.exit_code) in _codes(target, entry)
        trouble = "" if known else f"{call.ended} is not declared"
        yield finding(trouble, call.command, call.evidence)
