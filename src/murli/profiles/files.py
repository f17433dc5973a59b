"""Files that are private, and whole at every moment; and the lock around changing them."""

from __future__ import annotations

import errno
import os
import stat

from .trouble import CorruptError, StoreError

LARGEST = 1 << 20  # bytes: what is larger was not written by us
LOCK_SECONDS = 30.0
_NO_FILE = "it is not a regular file"


def home_folder() -> str:
    """Give the home directory; `StoreError` when there is none."""
    # Nothing but HOME: who runs a tool with another one means it, and the current directory,
    # which is what a missing one would come to, may belong to somebody else.
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        raise StoreError(
            "Profiles are off: there is no home directory.",
            "Set HOME to an absolute path, or MURLI_PROFILE_PATH to a file.",
            reason="off",
        )
    return home


def absolute_path(path: str) -> str:
    """Give *path* from the root of the file system."""
    if path.startswith("~/"):
        return os.path.join(home_folder(), path[2:])
    try:
        return os.path.join(os.getcwd(), path)
    except OSError as error:  # the current directory was removed
        raise failure_of("load", error, path) from None


def contents(path: str, *, repair: bool) -> bytes | None:
    """Give what is in a file, ``None`` when there is none; *repair* makes it private."""
    data = b""
    try:
        # Not blocking, because it may turn out to be a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                raise OSError(errno.EINVAL, _NO_FILE)
            if repair and stat.S_IMODE(mode) & ~0o600:
                _chmod(descriptor, 0o600)
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


def open_lock(path: str) -> int:
    """Open the file that is locked, made if it is missing."""
    try:
        return _open_private(path, os.O_RDWR)
    except PermissionError:
        # Another process may have got no further than making it, under a umask that forbids all.
        _chmod(path, 0o600)
        return _open_private(path, os.O_RDWR)


def wait_for(descriptor: int, target: str) -> None:
    """Lock *descriptor*, waiting for who has it; `StoreError` when that takes too long."""
    import fcntl
    import time

    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
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


def replace(target: str, text: str) -> None:
    """Put *text* in the place of *target*, which is whole at every moment; hold the lock."""
    data = memoryview(text.encode())
    if len(data) > LARGEST:
        raise StoreError(
            f"failed to save profile store: it would be larger than {LARGEST >> 20} MiB.",
            "Delete profiles, or save shorter values.",
            reason="unwritable",
        )
    new = f"{target}.new"
    try:
        _remove(new)  # of a process that was killed
        descriptor = _open_private(new, os.O_WRONLY | os.O_EXCL)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(new, target)
        _sync_folder(os.path.dirname(target))  # if this fails the new store is there, for now
    except BaseException as error:
        _remove(new)
        if isinstance(error, OSError):
            raise failure_of("save", error, target) from None
        raise


def set_aside(target: str) -> str:
    """Rename a corrupt file to a name that nothing has, and give that; hold the lock."""
    import time

    name = kept = f"{target}.corrupt-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    number = 1
    while os.path.lexists(kept):
        number += 1
        kept = f"{name}-{number}"
    os.rename(target, kept)
    _chmod(kept, 0o600)
    return os.path.basename(kept)


def _open_private(path: str, flags: int) -> int:
    """Open a file of ours, made if it is missing: never laxer than 0600, nor stricter."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    _chmod(descriptor, 0o600)  # the umask may have taken from the owner too
    return descriptor


def _chmod(what: int | str, mode: int) -> None:
    """Set the mode of a descriptor or a path, where that is allowed."""
    try:
        os.fchmod(what, mode) if isinstance(what, int) else os.chmod(what, mode)
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
        _chmod(folder, private)


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
    _chmod(path, 0o700)  # the umask, as above
    _sync_folder(os.path.dirname(path))


def _sync_folder(path: str) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # one may write in a folder and not list it
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # not on this file system
            raise
    finally:
        os.close(descriptor)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:  # there is none
        pass


def failure_of(doing: str, error: OSError, path: str) -> StoreError:
    """Give the error that *error* means; raise it from nothing, or the kind of that would win."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
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
