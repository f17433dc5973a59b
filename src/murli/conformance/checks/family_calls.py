"""What a tool of the ResponseEnvelope family answered: every call with its one document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ...client.catalogue import Command, Flag
from ...client.documents import documents_in, error_in, is_terminal, parsed
from ...client.envelopes import object_in, text_in
from ..checking import NotVerified
from ..processes import EVENTS
from ..results import Evidence
from ..target import FAMILY, NO_SUCH_FLAG, Target

#: the numbers of the two codes that were renumbered, by revision
ARG_ERROR = {"response": 3, "agent-spec-1.6": 2, "agent-spec-2": 2}
PARTIAL_FAILURE = {"response": 2, "agent-spec-1.6": 3, "agent-spec-2": 3}
REDIRECTED = 13
CANCELLED = 130
#: the revisions in which meta tells about the call
TELLING = FAMILY[1:]
NEWEST = FAMILY[2:]
#: the option that says how an answer is written, by revision
FORMAT_FLAG = {"response": "output", "agent-spec-1.6": "output", "agent-spec-2": "format"}
# Where nobody reads, nothing can be said about what was written.
_UNREAD = (EVENTS["reader-gone"], EVENTS["null-device"])
# How many documents are kept read, and how long such an answer may be.
_MOST_REMEMBERED = 1024
_SMALL = 1 << 16


@dataclass(frozen=True, slots=True)
class Call:
    """One call that has ended; *document* is its envelope as far as there is one.

    *kind* is ``answer``, ``stream``, or what was asked for instead: ``help``, ``version``,
    ``bare`` (nothing at all).
    """

    command: str
    words: tuple[str, ...]
    evidence: Evidence
    document: dict[str, Any] | None
    kind: str = "answer"

    @property
    def exit_code(self) -> int:
        """How the process ended; negative for a signal."""
        return self.evidence.exit_code or 0

    @property
    def data(self) -> Any:
        """What it gave."""
        return (self.document or {}).get("data")

    @property
    def meta(self) -> Mapping[str, Any]:
        """What it told about the call, empty when that is no object."""
        return object_in((self.document or {}).get("meta"))

    @property
    def error(self) -> Mapping[str, Any]:
        """Why it failed, empty when that is no object."""
        return object_in((self.document or {}).get("error"))

    @property
    def error_code(self) -> str:
        """The tool's own name for the failure, ``""`` for none."""
        return text_in(self.error.get("code"))


# -- calls ---------------------------------------------------------------------------------------


def all_calls(target: Target) -> list[Call]:
    """Make the calls that show how a tool answers, and give all that were made so far."""
    for made in (target.answers(), target.mistakes()):
        for _ in made:
            pass
    for word in ("--help", "--version", "manifest"):
        target.run(word)
    return seen(target)


def seen(target: Target) -> list[Call]:
    """Give the calls that were made so far and have ended, but those that promise no envelope."""
    found = (call_of(target, each) for each in target.prober.seen)
    return [each for each in found if each is not None]


def call_of(target: Target, evidence: Evidence) -> Call | None:
    """Give what *evidence* shows; ``None`` when it can show nothing about envelopes."""
    if evidence.exit_code is None or any(each in evidence.event for each in _UNREAD):
        return None
    words = evidence.argv[len(target.prober.tool) :]
    name = target.command_of(words)
    if is_foreign(entry_of(target, name)):
        return None
    kind = _kind(target, name, words)
    return Call(name, words, evidence, document_of(evidence), kind)


def made(target: Target, *words: str, **how: Any) -> Call | None:
    """Call the tool; ``None`` when the call did not end."""
    return call_of(target, target.run(*words, **how))


def _kind(target: Target, name: str, words: tuple[str, ...]) -> str:
    if not words:
        return "bare"
    if "--help" in words or "--version" in words:
        return "help" if "--help" in words else "version"
    streams = "--stream" in words or any(each.words == words for each in target.probes("stream"))
    by_default = entry_of(target, name).get("streaming_default") is True
    if streams or name == "exec" or (by_default and "--no-stream" not in words):
        return "stream"
    return "answer"


def document_of(evidence: Evidence) -> dict[str, Any] | None:
    """Give the envelope of an answer, on whichever stream it is; ``None`` for none."""
    is_small = len(evidence.stdout) + len(evidence.stderr) <= _SMALL
    return (_remembered if is_small else _document)(evidence.stdout, evidence.stderr)


def _document(stdout: bytes, stderr: bytes) -> dict[str, Any] | None:
    whole = parsed(stdout)
    found: dict[str, Any] | None = whole if isinstance(whole, dict) else None
    if found is None:
        found = _last_of(stdout)
    if found is None:
        found = error_in(stderr.decode("utf-8", "replace"))
    # The last line of a stream may be a mere summary.
    return None if found is not None and found.get("_summary") is True else found


def _last_of(stdout: bytes) -> dict[str, Any] | None:
    """Give the envelope at the end of *stdout*, or wherever it is."""
    last = parsed(stdout.rstrip().rpartition(b"\n")[2])
    if isinstance(last, dict) and is_terminal(last):  # so a stream is not read to its last line
        return last
    documents, _ = documents_in(stdout)
    return next((each for each in reversed(documents) if is_terminal(each)), None)


_remembered = lru_cache(maxsize=_MOST_REMEMBERED)(_document)


def is_envelope(document: Mapping[str, Any] | None) -> bool:
    """Tell whether *document* is meant as an envelope, whatever is wrong with it."""
    return document is not None and is_terminal(document)


# -- the manifest --------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def entries(target: Target) -> dict[str, Mapping[str, Any]]:
    """Give the entries of the manifest as they stand, by the name of the command."""
    listed = object_in(target.description.get("commands"))
    root = target.catalogue.name if target.catalogue is not None else ""
    return {
        "" if key == root else key.replace(".", " "): object_in(each)
        for key, each in listed.items()
        if key
    }


def entry_of(target: Target, name: str) -> Mapping[str, Any]:
    """Give the entry of the command called *name*, empty when there is none."""
    return entries(target).get(name, {})


def is_foreign(entry: Mapping[str, Any]) -> bool:
    """Tell whether stdout belongs to somebody else: another protocol, or another program."""
    return entry.get("stdout") == "protocol" or entry.get("arguments") == "passthrough"


def listed(target: Target) -> dict[str, Mapping[str, Any]]:
    """Give the entries of the manifest, or say that it cannot be verified."""
    found = entries(target)
    if not found:
        raise NotVerified("there is no manifest")
    return found


def readers(target: Target) -> Iterator[Command]:
    """Give the commands that may be run and answer with an envelope."""
    for command in target.safe:
        if not is_foreign(entry_of(target, " ".join(command.path))):
            yield command


def flag_of(target: Target, command: Command, name: str) -> Flag | None:
    """Give the option of *command* that is called so, be it its own or everybody's."""
    shared = target.catalogue.shared if target.catalogue is not None else None
    return command.flags.get(name) or (shared or {}).get(name)


def is_complete(target: Target, command: Command) -> bool:
    """Tell whether a call of *command* surely has all it needs: it needs nothing, or is told."""
    name = " ".join(command.path)
    if name in target.profile.arguments:
        return True
    above = target.catalogue.along(command)[:-1] if target.catalogue is not None else ()
    if any(flag.required for group in above for flag in group.flags.values()):
        return False
    if entry_of(target, name).get("requires"):
        return False
    return command.positionals is not None and len(target.words(command)) == len(command.path)


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same; what is nested too deep to tell passes."""
    try:
        return bool(one == other) and repr(one) == repr(other)  # 1 is not True, nor 1.0
    except RecursionError:
        return True


def heeded(target: Target, flag: str) -> bool:
    """Tell whether *flag* is seen to be understood by all that may be run, or else by the tool.

    Who ignores it gives the usual data: only what stands around that differs from call to call.
    """
    commands = list(readers(target))
    for command in commands:
        asked, plain = made(target, *command.path, flag), made(target, *target.words(command))
        if asked is None or plain is None or asked.exit_code != 0:
            return False
        if plain.exit_code == 0 and _alike(asked.data, plain.data):
            return False
    if commands:
        return True
    asked, wrong = made(target, flag), made(target, NO_SUCH_FLAG)
    if asked is None or wrong is None:
        return False
    return asked.exit_code == 0 and wrong.exit_code != 0


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys()
    return same(one, other)


def is_steady(target: Target, words: tuple[str, ...]) -> bool:
    """Tell whether a call gives the same data again, as far as it was made again."""
    calls = [made(target, *words, stdin=each) for each in ("null", "closed", "silent")]
    first = calls[0]
    return first is not None and all(
        each is not None and each.exit_code == first.exit_code and same(each.data, first.data)
        for each in calls
    )
