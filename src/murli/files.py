"""Files that are whole at every moment, and private where they should be.

How everything is written that murli keeps between calls: a new file beside the old one, synced,
then renamed over it. What several processes change (a store) is changed under a lock beside it.
"""

from __future__ import annotations

import errno
import os
import stat

from .platform import BINARY, DIRECTORY, NOCTTY, NOFOLLOW, NONBLOCK, locked, set_mode, set_owner


def replace_with(
    target: str, new: str, data: bytes, *, mode: int | None = 0o600, keep_mode: bool = False
) -> None:
    """Write *data* to *new*, which must not exist, and rename that to *target*.

    Synced before and after: a reader, or a loss of power, finds one or the other. With
    *keep_mode* a target that is there gives its mode and owner to the new one, unless *mode* says
    otherwise; ``None`` leaves the mode to the umask. After an exception *new* is gone.
    """
    before = _status_of(target) if keep_mode else None
    if mode is None and before is not None:
        mode = stat.S_IMODE(before.st_mode)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY
    try:
        descriptor = os.open(new, flags, 0o666 if mode is None else 0o600)
        try:
            if before is not None:
                _chown(descriptor, before)
            if mode is not None:
                chmod(descriptor, mode)
            _write(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(new, target)
        sync_folder(os.path.dirname(target))  # if this fails the new file is there, for now
    except BaseException:
        remove(new)
        raise


def open_private(path: str, flags: int) -> int:
    """Open a file of ours, made if it is missing: never laxer than 0600, nor stricter."""
    descriptor = os.open(path, flags | os.O_CREAT | NOFOLLOW | BINARY, 0o600)
    chmod(descriptor, 0o600)  # the umask may have taken from the owner too
    return descriptor


def chmod(what: int | str, mode: int) -> None:
    """Set the mode of a descriptor or a path, where that is allowed."""
    try:
        set_mode(what, mode) if isinstance(what, int) else os.chmod(what, mode)
    except OSError:  # somebody else's, or a file system without modes
        pass


def tighten(folder: str) -> None:
    """Take from a folder what others may do in it.

    What its owner took from themselves stays away, unless that is everything: this is how a umask
    that forbids all leaves a folder whose maker was killed before going on.
    """
    try:
        status = os.stat(folder)
    except OSError:  # there is none
        return
    mode = stat.S_IMODE(status.st_mode)
    private = mode & 0o7700 if mode & 0o700 else 0o700
    if private != mode and stat.S_ISDIR(status.st_mode):
        chmod(folder, private)


def make_folders(path: str) -> None:
    """Make a folder, private, and those above it that are missing."""
    if not os.path.isdir(path):
        make_folders(os.path.dirname(path))
        make_folder(path)


def make_folder(path: str) -> None:
    """Make a folder, private, unless it is there."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return
    chmod(path, 0o700)  # the umask, as above
    sync_folder(os.path.dirname(path))


def sync_folder(path: str) -> None:
    """Have the names in a folder outlast a loss of power, where its file system can do that."""
    if not DIRECTORY:  # a system that cannot open folders
        return
    try:
        descriptor = os.open(path, os.O_RDONLY | DIRECTORY)
    except PermissionError:  # one may write in a folder and not list it
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # not on this file system
            raise
    finally:
        os.close(descriptor)


def remove(path: str) -> None:
    """Remove a file, if it is there and that is allowed."""
    try:
        os.unlink(path)
    except OSError:  # there is none
        pass


def _status_of(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:  # there is none
        return None


def _chown(descriptor: int, like: os.stat_result) -> None:
    try:
        set_owner(descriptor, like)
    except OSError:  # only root gives files away
        pass


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


# -- stores: files that several processes change --------------------------------------------------

LARGEST = 1 << 20  # bytes: what is larger was not written by us
LOCK_SECONDS = 30.0
_NO_FILE = "it is not a regular file"


class StoreError(Exception):
    """A store cannot be read or written; the words are about profiles, the only one they show.

    *hint* says what to do, *retryable* whether the same call may work then; *reason* is ``off``,
    ``unreadable``, ``unwritable``, ``busy``, or ``foreign``: the file is no store.
    """

    def __init__(
        self, message: str, hint: str = "", *, retryable: bool = False, reason: str = "unreadable"
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retryable = retryable
        self.reason = reason


class CorruptError(Exception):
    """The file is no store; the words say why, and follow its name."""


def make_private(file: int | str) -> None:
    """Take the rights to a file, by its descriptor or path, from everybody but its owner."""
    try:
        mode = os.stat(file).st_mode
    except OSError:  # it is gone, or its folder cannot be entered any more
        return
    if stat.S_IMODE(mode) & ~0o600:
        chmod(file, 0o600)


def contents(path: str, *, repair: bool = False) -> bytes | None:
    """Return what is in a file, ``None`` when there is none; *repair* makes it private."""
    data = b""
    try:
        # Not blocking, because it may turn out to be a pipe.
        descriptor = os.open(path, os.O_RDONLY | NONBLOCK | NOCTTY | BINARY)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, _NO_FILE)
            if repair:
                make_private(descriptor)
            while len(data) <= LARGEST and (part := os.read(descriptor, LARGEST + 1)):
                data += part
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise failure_of("load", error, path) from None
    if len(data) > LARGEST:
        raise CorruptError(f"is larger than {LARGEST >> 20} MiB")
    return data


def is_other_than_file(path: str) -> bool:
    """Return whether *path* exists and is no regular file, also where it is a link."""
    try:
        # One look: what two looks find may have been replaced in between.
        return not stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def open_lock(path: str) -> int:
    """Open the file that is locked, made if it is missing."""
    try:
        return open_private(path, os.O_RDWR)
    except PermissionError:
        # Another process may have got no further than making it, under a umask that forbids all.
        chmod(path, 0o600)
        return open_private(path, os.O_RDWR)


def wait_for_lock(descriptor: int, target: str) -> None:
    """Lock *descriptor*, waiting for who has it; `StoreError` when that takes too long."""
    import time

    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            if locked(descriptor):
                return
        except OSError as error:
            words = f"its file system cannot lock files: {error.strerror}"
            raise failure_of("save", OSError(error.errno, words), target) from None
        if time.monotonic() > deadline:
            raise StoreError(
                "failed to save profile store: another process keeps it locked.",
                "Try again when that process has ended.",
                retryable=True,
                reason="busy",
            )
        time.sleep(0.005 + os.urandom(1)[0] / 51_200)  # 5 to 10 ms: never in step with others


def replace_text(target: str, text: str) -> None:
    """Put *text* in the place of *target*, which is whole at every moment; hold the lock."""
    data = text.encode()
    if len(data) > LARGEST:
        raise StoreError(
            f"failed to save profile store: it would be larger than {LARGEST >> 20} MiB.",
            "Delete profiles, or save shorter values.",
            reason="unwritable",
        )
    new = f"{target}.new"
    remove(new)  # of a process that was killed
    try:
        replace_with(target, new, data)
    except OSError as error:
        raise failure_of("save", error, target) from None


def set_aside(target: str) -> str:
    """Rename a corrupt file to a name that nothing has, and give that; hold the lock."""
    import time

    name = kept = f"{target}.corrupt-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    number = 1
    while os.path.lexists(kept):
        number += 1
        kept = f"{name}-{number}"
    os.rename(target, kept)
    chmod(kept, 0o600)
    return os.path.basename(kept)


def failure_of(doing: str, error: OSError, path: str) -> StoreError:
    """Return the error that *error* means; raise it from nothing, or the kind of that would win."""
    full = error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
    folder = os.path.dirname(path)
    while not os.path.exists(folder) and folder:
        folder = os.path.dirname(folder)
    if full:
        hint = f"Free some space for {folder} and try again."
    else:
        denied = error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
        to_do = f"Make {folder} writable" if doing == "save" else f"Make {path} readable"
        first = to_do if denied else f"Look at {path}"
        hint = f"{first}, or set MURLI_PROFILE_PATH to a file elsewhere."
    return StoreError(
        f"failed to {doing} profile store: {error.strerror or error}.",
        hint,
        retryable=full,
        reason="unreadable" if doing == "load" else "unwritable",
    )


_USUAL = {"XDG_STATE_HOME": (".local", "state"), "XDG_CACHE_HOME": (".cache",)}


def user_folder(variable: str) -> str:
    """Return the folder *variable* names, or the usual one; ``""`` when there is no home for it."""
    chosen = os.environ.get(variable, "")
    if os.path.isabs(chosen):  # as the standard has it, a relative one does not count
        return chosen
    home = os.environ.get("HOME", "")
    # A home that is named but not there is not ours to make.
    usable = os.path.isabs(home) and os.path.isdir(home)
    return os.path.join(home, *_USUAL[variable]) if usable else ""
