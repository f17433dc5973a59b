"""What is known about the danger of a command: what was declared, else what its name suggests.

This is the one list of verbs. `describe`, `doctor`, the guard, retry advice and ``murli check`` all
decide with the functions here, so that they never disagree.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from . import Metadata

# Words in the name of a command that loses something which cannot be brought back.
DESTROYING = frozenset(
    """
    abandon annihilate burn cleanup clear decommission del delete deprovision destroy discard
    drop empty erase evict expunge flush forget kill nuke obliterate overwrite prune purge raze
    remove reset revoke rm rmdir scrap scrub shred teardown terminate trash truncate undeploy
    uninstall unlink unprovision unpublish vacuum wipe wreck zap
    """.split()  # noqa: SIM905 -- a list of strings would be four times as long
)

# Words for a change, in the tool's own state or in the world.
CHANGING = frozenset(
    """
    accept activate add adjust advance allow alter amend append apply approve archive assign
    attach backfill ban bind block book boot bootstrap bump buy cancel change charge
    checkout clean clone close commit compact configure copy cordon cp create deactivate
    decline decrement demote deny deploy detach disable dispatch downgrade drain edit eject
    email enable enqueue enroll ensure expire finish fix freeze gc grant halt heal import
    increment ingest init initialise initialize insert install invalidate invite join kick
    launch leave link lock login logout mail make mark materialize merge migrate mkdir
    modify mount move mute mv new notify optimize order patch pause pay pin populate post
    promote provision publish pull push put reassign rebalance rebase reboot rebuild
    recalculate reconcile recover recreate redeem redeploy refill refund regenerate register
    reindex reject rekey release relocate rename renew reopen reorder repair replace reply
    requeue reschedule reserve resize resolve restart restock restore resume retire retry
    revert rewrite rollback rotate save scaffold scale schedule seed send set settle setup
    ship shutdown sign snapshot spawn squash star start stash stop store submit subscribe
    suspend swap switch sync tag taint touch transfer trigger trim tweak unarchive unassign
    unban unblock uncordon undo unlock unmount unmute unpin unregister unset unstar unstash
    unsubscribe untag update upgrade upload upsert void withdraw write yank
    """.split()  # noqa: SIM905
)

# Words too vague to infer a change from, and too risky to try the command unasked.
UNCLEAR = frozenset(
    """
    build bulk complete connect convert disconnect download exec execute export fail force
    format generate invoke load open process reprocess rerun run serve transform use watch
    """.split()  # noqa: SIM905
)

# Verbs of commands that only read, by all that is usual.
_READING_VERBS = frozenset(
    """
    compare count describe diff explain find get grep inspect list look lookup ls peek query read
    search show stat tail validate view whoami
    """.split()  # noqa: SIM905
)

# Those, and what such commands show: ``status`` reads, ``cut-version`` may be anything.
READING = _READING_VERBS | frozenset(
    """
    doctor examples head health help history info manifest schema stats status summary tree
    version
    """.split()  # noqa: SIM905
)

# Reading words that make a verb in a group's name its subject: ``build status``, ``delete list``.
_ABOUT = frozenset(("describe", "get", "info", "inspect", "list", "ls", "show", "status", "view"))

# Verbs that are as often nouns: as the name of a group they are its subject.
_NOUNS = frozenset(
    """
    archive ban block book boot change charge checkout clone commit copy deploy email grant
    import init install invite launch link lock mail mark merge mount order patch pause post
    release repair reply restore run schedule seed send set setup ship sign stop store switch
    sync tag transfer trigger update upgrade upload
    """.split()  # noqa: SIM905
)


# ASCII with a space in the place of what stands between words.
_SEPARATED = "".join([chr(code) if chr(code).isalnum() else " " for code in range(128)])

# What was inferred before: a tool that describes itself asks several times about each command.
_inferred: dict[tuple[str, ...], str] = {}
_MOST_INFERRED = 100_000


def inferred_danger(path: tuple[str, ...]) -> str:
    """Return ``destructive``, ``mutating`` or ``""``: what the names in *path* suggest.

    *path* holds the command's name behind those of its groups, without the tool's own. A group's
    name counts as well (``purge logs``), unless the command only asks about it (``build status``).
    """
    found = _inferred.get(path)
    if found is None:
        words = _telling_words(path)
        found = "" if CHANGING.isdisjoint(words) else "mutating"
        if not DESTROYING.isdisjoint(words):
            found = "destructive"
        if len(_inferred) < _MOST_INFERRED:
            _inferred[path] = found
    return found


def suggests_change(path: tuple[str, ...]) -> bool:
    """Return whether a command is named as if it changed something, or might."""
    return bool(inferred_danger(path)) or not UNCLEAR.isdisjoint(_telling_words(path))


def suggests_reading(path: tuple[str, ...]) -> bool:
    """Return whether a command is named as if it only read.

    That is, its name begins with a verb that reads, or holds nothing but words for reading.
    """
    own = _split(path[-1:])
    reads = own[0] in _READING_VERBS or READING.issuperset(own)
    return reads and not suggests_change(path)


def declared_danger(metadata: Metadata | None, path: tuple[str, ...]) -> str:
    """Return ``safe``, ``mutating`` or ``destructive`` where the author declared it, else ``""``.

    ``idempotent=True`` alone counts as ``safe``, as in the first murli, unless the name of the
    command suggests a change: an idempotent ``delete`` is not thereby one that only reads.
    """
    if metadata is None:
        return ""
    if metadata.danger_level:
        return metadata.danger_level
    return "safe" if metadata.idempotent and not suggests_change(path) else ""


def only_reads(metadata: Metadata | None, path: tuple[str, ...]) -> bool:
    """Return whether a command is declared to change nothing, or, undeclared, named like that."""
    declared = declared_danger(metadata, path)
    return declared == "safe" if declared else suggests_reading(path)


def may_repeat(metadata: Metadata | None, path: tuple[str, ...]) -> bool:
    """Return whether running the command twice does no more than running it once.

    That is declared (read-only or idempotent), or suggested by the name of an undeclared command.
    """
    return bool(metadata is not None and metadata.idempotent) or only_reads(metadata, path)


def declaration_gaps(
    commands: Sequence[tuple[str, Mapping[str, Any]]],
) -> Iterator[tuple[str, str]]:
    """Yield the described *commands* that lack a declaration, each with what to declare.

    Those are commands that look like changes, and groups that are declared mutating, which
    declares nothing about the commands below them. Each comes with the words that call it.
    """
    undeclared = [
        path
        for path, each in commands
        if not _is_described_group(each) and _safety_in(each).get("declared") is False
    ]
    for path, command in commands:
        below = []
        if _is_described_group(command):
            prefix = f"{path} " if path else ""
            below = [name for name in undeclared if name.startswith(prefix)]
        if below and command.get("mutating") is True:
            group = f'group "{path}"' if path else "the tool itself"
            about = f"which says nothing about {', '.join(below)}: declare each of them"
            yield path, f"{group} is declared mutating, {about}"
        elif not below and (level := _undeclared_danger(path, command)):
            # A group too may be called by itself.
            how = f'Metadata(danger_level="{level}"), or "safe" if it changes nothing'
            yield path, f'"{path}" looks {level} and is not declared: annotate it with {how}'


def _undeclared_danger(path: str, command: Mapping[str, Any]) -> str:
    safety = _safety_in(command)
    if safety.get("declared") is not False:
        return ""
    inferred = safety.get("inferred")
    known = inferred in ("mutating", "destructive")
    return str(inferred) if known else inferred_danger(tuple(path.split()))


def _safety_in(command: Mapping[str, Any]) -> Mapping[str, Any]:
    found = command.get("safety")
    return found if isinstance(found, dict) else {}


def _is_described_group(command: Mapping[str, Any]) -> bool:
    return bool(command.get("subcommands") or command.get("commands"))


def _telling_words(path: tuple[str, ...]) -> set[str]:
    """Return the words of *path* that describe what the command does."""
    own = set(_split(path[-1:]))
    if len(path) == 1 or not _ABOUT.isdisjoint(own):
        return own
    above = set(_split(path[:-1])) - _NOUNS
    # A search below ``migrate`` only reads; one below ``purge`` may be a search for what to purge.
    return own | (above if READING.isdisjoint(own) else above & DESTROYING)


def _split(names: tuple[str, ...]) -> list[str]:
    """Return the words in *names*, in lower case; at least one, which may be empty.

    Without regular expressions, which no call of another program needs otherwise.
    """
    text = " ".join(names).strip(" _-.")
    if not text.isascii():
        text = text.encode("ascii", "replace").decode()
    if not text.islower():  # a capital letter begins a word, unless one stands before it
        pairs = zip(f" {text}", text)  # noqa: B905 -- each letter and the one before it
        text = "".join([
            f" {letter}" if letter.isupper() and (before.islower() or before.isdigit()) else letter
            for before, letter in pairs
        ]).lower()  # fmt: skip
    found = text.translate(_SEPARATED).split(" ")
    # Between separators that follow one another there is no word.
    return [each for at, each in enumerate(found) if each or at in (0, len(found) - 1)]
