"""One key, one effect: the answer of a call is kept, and given again to who repeats it.

``--idempotency-key KEY`` lets a caller who does not know whether a call got through make it again.
A command that changes something does so within a claim::

    replays = Replays(folder_of(tool))
    with replays.claim(tool, command, key, fingerprint_of(arguments)) as claim:
        if claim.result is not None:
            return claim.result         # done before: the same again, with effect "noop"
        result = handler(...)
        claim.keep(result)              # only what succeeded

Two calls with one key never run at the same time: the second waits for as long as it is allowed to,
and is then refused with ``lock_held``. A key that comes back with other arguments is refused with
``idempotency_key_reused``. A call that fails, or is killed, leaves nothing; the next one runs.

Entries are files of their own, 0600 in a 0700 folder, replaced as a whole, and forgotten after
`KEPT_SECONDS`. A key is text of the caller's: it is in the name of a file only as a hash.
"""

from __future__ import annotations

import json
import os
import time

from ..errors import AgentError
from ..files import make_folders, open_private, remove, replace_with, tighten, user_folder
from ..formats import dumps, plain
from ..platform import locked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

KEPT_SECONDS = 24 * 60 * 60
LONGEST_KEY = 1024
# When to try again while another call with the key runs.
RETRY_AFTER_MS = 1000
_POLL_SECONDS = 0.02


def folder_of(tool: str) -> str:
    """Return where the replays of *tool* are kept: below the user's directory for state.

    `AgentError` when there is none, because then the caller's key would be worth nothing.
    """
    state = user_folder("XDG_STATE_HOME")
    if not state:
        message = "There is no place to keep what --idempotency-key is for."
        advice = "Set HOME or XDG_STATE_HOME to an absolute path, or leave the key out."
        raise AgentError.precondition(message, advice, error_type="state_unavailable")
    safe = "".join(c if c in "-." or (c.isascii() and c.isalnum()) else "_" for c in tool)
    return os.path.join(state, safe.lstrip(".")[:64] or "tool", "replays")


def fingerprint_of(arguments: Mapping[str, Any]) -> str:
    """Return what identifies a call of a command: a hash of its arguments, secrets included."""
    spelled = dumps(plain(dict(sorted(arguments.items()))), pretty=False)
    return _hash(spelled)


class Replays:
    """The answers that are kept in *folder*, which is made when there is one to keep."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = os.path.abspath(folder)

    def lookup(self, tool: str, command: str, key: str, fingerprint: str) -> dict[str, Any] | None:
        """Return the result that was kept for *key*, or ``None``.

        `AgentError`: a conflict where it was kept for other arguments, a precondition where there
        is an entry that cannot be read: what it was for has been done once.
        """
        path = self._path(tool, command, key)
        try:
            if time.time() - os.stat(path).st_mtime > KEPT_SECONDS:
                remove(path)
                return None
            with open(path, encoding="utf-8") as file:
                entry = json.load(file)
            kept_for = (entry["fingerprint"], entry.get("fingerprint_after"))
            result = dict(entry["result"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise AgentError.precondition(
                "What was kept for this idempotency key cannot be read.",
                "Look at the state; use a new key for what is still to be done.",
                error_type="replay_unreadable",
                recoverable=False,
            ) from None
        if _hash(fingerprint) not in kept_for:
            message = "This idempotency key was used for a call with other arguments."
            advice = "Repeat the call as it was, or use a new key."
            raise AgentError.conflict(message, advice, error_type="idempotency_key_reused")
        return result

    def keep(
        self,
        tool: str,
        command: str,
        key: str,
        fingerprint: str,
        result: Mapping[str, Any],
        *,
        after: str = "",
    ) -> None:
        """Keep *result* for *key*; `OSError` when that fails, by which time the work is done.

        Pass it as the caller received it: without secrets, and in plain data. *after* is the
        fingerprint that the same call has now, if it changed a file that it was given.
        """
        path = self._path(tool, command, key)
        entry = {"fingerprint": _hash(fingerprint), "result": plain(dict(result))}
        if after and after != fingerprint:
            entry["fingerprint_after"] = _hash(after)
        self._prepare()
        new = f"{path.removesuffix(_ENTRY)}-{os.urandom(4).hex()}.new"
        replace_with(path, new, dumps(entry, pretty=False).encode("utf-8"))
        self._forget_old()

    def claim(
        self, tool: str, command: str, key: str, fingerprint: str, *, wait: float = 0.0
    ) -> Claim:
        """Return a context in which nobody else runs a call with *key*; see the module.

        Entering it waits up to *wait* seconds for who does, and is refused after that.
        """
        return Claim(self, (tool, command, key, fingerprint), self._path(tool, command, key), wait)

    def _path(self, tool: str, command: str, key: str) -> str:
        if not key or len(key) > LONGEST_KEY:
            message = f"An idempotency key has 1 to {LONGEST_KEY} characters."
            advice = "Use a random one, such as a UUID."
            raise AgentError.user_error(message, advice, field="idempotency-key")
        # Parted by what no word of a command line contains.
        return os.path.join(self._folder, _hash("\0".join((tool, command, key))) + _ENTRY)

    def _prepare(self) -> None:
        make_folders(self._folder)
        tighten(self._folder)

    def _forget_old(self) -> None:
        """Remove what nobody will ask for any more: most keys are used once."""
        oldest = time.time() - KEPT_SECONDS
        with os.scandir(self._folder) as entries:
            old = [each.path for each in entries if _modified(each) < oldest]
        for path in old:
            if path.endswith(_LOCK):
                _remove_lock(path)
            else:
                remove(path)


class Claim:
    """While it is entered, the only call with its key; ``result`` is what an earlier one kept."""

    def __init__(
        self, replays: Replays, call: tuple[str, str, str, str], path: str, wait: float
    ) -> None:
        self.result: dict[str, Any] | None = None
        self._replays = replays
        self._call = call
        self._lock_path = path[: -len(_ENTRY)] + _LOCK
        self._wait = wait
        self._lock: int | None = None

    def __enter__(self) -> Claim:
        self._replays._prepare()
        self._lock = self._acquire()
        try:
            self.result = self._replays.lookup(*self._call)
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self._release()

    def keep(self, result: Mapping[str, Any], *, after: str = "") -> None:
        """Keep *result* for a repeated call; see `Replays.keep`."""
        if self._lock is None:
            raise RuntimeError("a result is kept while the claim is entered")
        self._replays.keep(*self._call, result, after=after)

    def _acquire(self) -> int:
        until = time.monotonic() + self._wait
        while True:
            descriptor = _locked(self._lock_path)
            if descriptor is not None:
                return descriptor
            if time.monotonic() >= until:
                raise AgentError.precondition(
                    "Another call with this idempotency key is running.",
                    "Try again when it has ended; the answer is then that of the first call.",
                    error_type="lock_held",
                    recoverable=True,
                    retry_after_ms=RETRY_AFTER_MS,
                )
            time.sleep(_POLL_SECONDS)

    def _release(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            remove(self._lock_path)
            os.close(lock)


_ENTRY, _LOCK = ".json", ".lock"


def _locked(path: str) -> int | None:
    """Return the lock file *path*, locked, or ``None`` if another process holds it."""
    descriptor = open_private(path, os.O_RDWR)
    try:
        # Who had it removed the file; then this one is something that nobody else can see.
        if locked(descriptor) and os.path.samestat(os.fstat(descriptor), os.stat(path)):
            return descriptor
    except FileNotFoundError:
        pass
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _remove_lock(path: str) -> None:
    """Remove the lock of a call that was killed; a call may also just be taking that long."""
    try:
        descriptor = _locked(path)
    except OSError:  # it can stay
        return
    if descriptor is not None:
        remove(path)
        os.close(descriptor)


def _modified(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:  # another process was quicker
        return time.time()


def _hash(text: str) -> str:
    from hashlib import sha256

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
