"""Files that are private, and whole at every moment; and the lock around changing them."""

from __future__ import annotations

import errno
import os
import stat

from ..files import chmod, open_private, remove, replace_with
from ..files import make_folder as make_folder
from ..files import make_folders as make_folders
from ..files import tighten as tighten
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


def make_private(file: int | str) -> None:
    """Take the rights to a file, by its descriptor or path, from everybody but its owner."""
    try:
        mode = os.stat(file).st_mode
    except OSError:  # it is gone, or its folder cannot be entered any more
        return
    if stat.S_IMODE(mode) & ~0o600:
        chmod(file, 0o600)


def contents(path: str, *, repair: bool = False) -> bytes | None:
    """Give what is in a file, ``None`` when there is none; *repair* makes it private."""
    data = b""
    try:
        # Not blocking, because it may turn out to be a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
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


def open_lock(path: str) -> int:
    """Open the file that is locked, made if it is missing."""
    try:
        return open_private(path, os.O_RDWR)
    except PermissionError:
        # Another process may have got no further than making it, under a umask that forbids all.
        chmod(path, 0o600)
        return open_private(path, os.O_RDWR)


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
