"""``--idempotency-key``: a call that was made before is answered as it was, and not made again."""

from __future__ import annotations

import os
import stat
import sys
from hashlib import sha256

from ..core import FLAG_NAMES, INTENT
from ..errors import AgentError
from ..formats import plain
from ..handlers.idempotency import Replays, fingerprint_of, folder_of
from ..line.usage import wrong_call
from ..outcome import Success
from ..platform import can_read, read_at
from ..process.stdin import ANSWER_SECONDS, Gate, InputRequired
from .inputs import check_changes, replace_stdin, too_large

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from ..handlers.idempotency import Claim
    from ..outcome import Outcome
    from . import Invocation

# How much of stdin is read before the handler may read it; files have no such bound.
MOST_STDIN = 1 << 26
_PART = 1 << 20
# How large a file may be whose path is a value, and its content be read for that.
_MOST_READ = 1 << 26
# Parameters that say who calls, or that it is meant; they may change between two tries.
_CREDENTIALS = ("token", "credential", "auth", "api_key", "apikey", "access_key")
_INTENT = frozenset(name[2:].replace("-", "_") for name in INTENT & FLAG_NAMES)


def claim(invocation: Invocation, key: str) -> None:
    """Answer a repeated call, and end; else keep what a first one answers, if it succeeds."""
    writer = invocation.writer
    check_changes(invocation, invocation.metadata, "--idempotency-key")
    if writer._reply.streams or (invocation.metadata is not None and invocation.metadata.streams):
        # Of a stream only the end could be kept, and given again.
        message = "A command that streams its changes takes no --idempotency-key."
        advice = "Leave out --idempotency-key, and look at the effect of each item."
        invocation.refuse(wrong_call(message, "idempotency-key", advice))
    if writer._dry_run:
        return  # nothing is done that could be done twice
    given = Given(invocation)
    try:
        claimed = _claimed(invocation, key, given)
    except AgentError as error:
        invocation.refuse(error)
    except OSError as error:
        invocation.refuse(
            AgentError.precondition(
                f"What --idempotency-key is for cannot be kept: {error.strerror or error}.",
                "Make the directory for state writable (XDG_STATE_HOME), or leave the key out.",
                error_type="state_unavailable",
            )
        )
    if claimed.result is not None:
        claimed.__exit__(None, None, None)
        _replay(invocation, claimed.result)
    # Of a stream only the end would be kept.
    writer._reply.streams, invocation.call.no_stream = False, True

    def kept(outcome: Outcome) -> Outcome:
        if isinstance(outcome, Success):
            _keep(invocation, claimed, outcome, given)
        claimed.__exit__(None, None, None)
        return outcome

    writer._reply.replace_outcome = kept
    invocation.undo.append(lambda: claimed.__exit__(None, None, None))


def _claimed(invocation: Invocation, key: str, given: Given) -> Claim:
    tool = invocation.host.name()
    command = ".".join(getattr(invocation.call.level, "path", ()))
    replays = Replays(folder_of(tool))
    return replays.claim(tool, command, key, _fingerprint(invocation, given)).__enter__()


def _fingerprint(invocation: Invocation, given: Given) -> str:
    words = invocation.call.rest
    if invocation.secrets is not None:
        # A token that was renewed meanwhile does not make it another call.
        words = invocation.secrets.scrub_words(words)
    return fingerprint_of({"words": words, "values": given.values(), "stdin": given.stdin})


def _keep(invocation: Invocation, claimed: Claim, outcome: Success, given: Given) -> None:
    kept: Any = {"message": outcome.message, "result": outcome.result}
    if invocation.secrets is not None:
        kept = invocation.secrets.scrub_value(kept)
    try:
        if given.came_late:
            raise RuntimeError("its input came when it had begun.")
        claimed.keep(kept, after=_fingerprint(invocation, given))
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        invocation.writer.warn(
            "replay_not_kept",
            f"The answer could not be kept for its key, do not repeat the call: {reason}",
        )


def _replay(invocation: Invocation, kept: dict[str, Any]) -> None:
    writer = invocation.writer
    invocation.meta["replayed"] = True
    result = kept["result"]
    if result is None or isinstance(result, dict):
        result = {**(result or {}), "effect": "noop"}
    writer._exit(writer._answer(Success(kept["message"], result), ""))


# -- what a call is given besides its words, as far as it distinguishes two calls with one key ---

# Values may come from variables, profiles and defaults, and a handler may read its stdin or a file.
# All of it is looked at before the handler runs, for a repeated call must not run at all. Nothing
# of it is kept but a hash.


class Given:
    """The values and the input of one call.

    ``came_late`` is whether the handler read input that had not begun when it was looked for.
    """

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self.came_late = False
        # A hash of what the handler can read from stdin, taken before it does; "" for nothing.
        self.stdin = self._hash_of_stdin()

    def values(self) -> dict[str, Any]:
        """Return the values of the parameters, in a form that is the same for equal ones."""
        return {
            name: _stable(value)
            for name, value in self._invocation.host.values(self._invocation.running.parsed).items()
            if not _is_left_out(name)
        }

    def _hash_of_stdin(self) -> str:
        if sys.stdin is None:
            return ""
        if sys.stdin is not sys.__stdin__:
            return _hash_of_stream(sys.stdin)
        try:
            kind = os.fstat(0).st_mode
        except OSError:  # closed
            return ""
        if stat.S_ISREG(kind):
            return _hash_of_descriptor(0)
        return "" if stat.S_ISCHR(kind) else self._spooled()

    def _spooled(self) -> str:
        """Put what comes through a pipe into a file, for the handler to read, and hash it."""
        from tempfile import TemporaryFile

        if not self._is_fed():
            self._watch()
            return ""
        with TemporaryFile() as spool:
            size = 0
            while part := os.read(0, _PART):
                size += spool.write(part)
                if size > MOST_STDIN:
                    limit = f"there may be at most {MOST_STDIN:,} bytes on stdin"
                    raise too_large(f"With --idempotency-key {limit}.", MOST_STDIN)
            spool.seek(0)
            replace_stdin(self._invocation, spool.fileno())
            return _hash_of_descriptor(0)

    def _is_fed(self) -> bool:
        """Return whether something comes through the pipe; many callers leave one open."""
        metadata = self._invocation.metadata
        if metadata is not None and metadata.traits is not None and metadata.traits.stdin:
            try:
                Gate(0, may_pause=True).wait()
            except InputRequired:
                return False
            return True
        return can_read(0, ANSWER_SECONDS)

    def _watch(self) -> None:
        """Notice when the handler reads from stdin all the same."""
        raw = getattr(getattr(sys.stdin, "buffer", None), "raw", None)
        if raw is None:
            return
        own = {name: getattr(raw, name) for name in ("readinto", "read", "readall")}

        def noticing(name: str) -> Any:
            def read(*args: Any) -> Any:
                found = own[name](*args)
                self.came_late = self.came_late or bool(found)
                return found

            return read

        before = dict(raw.__dict__)
        for name in own:
            setattr(raw, name, noticing(name))

        def undo() -> None:
            for name in own:
                raw.__dict__.pop(name, None)
            raw.__dict__.update(before)

        self._invocation.undo.append(undo)


def _is_left_out(name: str) -> bool:
    name = name.rpartition(" ")[2].lower().replace("-", "_")
    return name in _INTENT or any(word in name for word in _CREDENTIALS)


def _stable(value: Any) -> Any:
    """Return *value* as plain data; a file, open or by its path, is what is in it."""
    if isinstance(value, (list, tuple)):
        return [_stable(each) for each in value]
    if isinstance(value, os.PathLike):
        return _stable_path(os.fsdecode(value))
    if hasattr(value, "read"):
        return _stable_file(value)
    try:
        return plain(value)
    except ValueError:  # something only the tool understands
        shown = repr(value)
        # A place in memory is another one in every process.
        return type(value).__qualname__ if " at 0x" in shown else shown


def _stable_file(file: Any) -> str:
    name = getattr(file, "name", "")
    if not isinstance(name, str) or any(
        letter in str(getattr(file, "mode", "")) for letter in "wax+"
    ):
        return f"file {name}"
    try:
        with open(name, "rb") as content:
            if stat.S_ISREG(os.fstat(content.fileno()).st_mode):
                return f"file {name} {_hash_of_descriptor(content.fileno())}"
    except (OSError, ValueError):  # stdin, for one, which is looked at by itself
        pass
    return f"file {name}"


def _stable_path(path: str) -> str:
    try:
        # Anything but a regular file may wait for a writer when it is opened.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return path
        with open(path, "rb") as content:
            found = os.fstat(content.fileno())
            if found.st_size > _MOST_READ:
                return f"{path} {found.st_size} {found.st_mtime_ns}"
            return f"{path} {_hash_of_descriptor(content.fileno())}"
    except (OSError, ValueError):  # not there, or not ours to read
        return path


def _hash_of_descriptor(descriptor: int) -> str:
    """Return a hash of the rest of a file, whose position stays."""
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    found = sha256()
    while part := read_at(descriptor, _PART, position):
        found.update(part)
        position += len(part)
    return found.hexdigest()


def _hash_of_stream(stream: Any) -> str:
    """Return a hash of what is left in a stand-in for stdin, if it can be read twice."""
    source: BinaryIO = getattr(stream, "buffer", stream)
    try:
        position = source.tell()
        data: Any = source.read()
        source.seek(position)
    except (OSError, ValueError, AttributeError):
        return ""
    return (
        sha256(data if isinstance(data, bytes) else str(data).encode()).hexdigest() if data else ""
    )
