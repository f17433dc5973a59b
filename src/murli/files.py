"""Files that are whole at every moment, and private where they should be.

`write_file` and `scratch_dir` are for handlers. The rest is how everything that murli keeps between
calls is written: a new file beside the old one, synced, then renamed over it.
"""

from __future__ import annotations

import errno
import os
import stat
from _thread import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

# -- for handlers ------------------------------------------------------------------------------


def write_file(path: str | os.PathLike[str], data: str | bytes, *, mode: int | None = None) -> Path:
    """Write *data* to *path* so that a reader finds the old file or the new one, never a part.

    Text is written as UTF-8, line ends as they are. *mode* is set exactly; without it a file that
    exists keeps its own, and a new one gets what ``open`` would give it. Where *path* is a link,
    the file it leads to is replaced; what is no file (a pipe, a device) is written to as it is.
    Gives the absolute path; raises what ``open`` would raise, and then nothing has changed.
    """
    import pathlib

    given = os.path.abspath(path)
    encoded = data.encode("utf-8") if isinstance(data, str) else bytes(data)
    try:
        if _is_stream(given):
            _append(given, encoded)
        else:
            target = os.path.realpath(given)
            # Its own name, because another process may be writing the same file.
            new = os.path.join(os.path.dirname(target), f".murli-{os.urandom(8).hex()}.new")
            replace_with(target, new, encoded, mode=mode, keep_mode=True)
    except OSError as error:
        # Not the name of the file beside it, which means nothing to the caller.
        error.filename, error.filename2 = given, None
        raise
    return pathlib.Path(given)


_scratch: dict[int, str] = {}
_one_at_a_time = RLock()


def scratch_dir() -> Path:
    """Give a directory of the running call's own, which nobody else may enter.

    It is made when first asked for, has the tool, the moment and the process in its name, and is
    removed with all it holds when the call ends; see `murli.on_cleanup` for what that means.
    """
    import pathlib

    from .cleanup import on_cleanup
    from .runtime.invocation import current

    invocation = current()
    with _one_at_a_time:
        made = _scratch.get(id(invocation))
        if made is None:
            made = _make_scratch(invocation.host.name() if invocation is not None else "murli")
            _scratch[id(invocation)] = made
            on_cleanup(_remove_scratch, id(invocation))
    return pathlib.Path(made)


def _make_scratch(tool: str) -> str:
    import tempfile
    import time

    safe = "".join(c if c in "-." or (c.isascii() and c.isalnum()) else "_" for c in tool)
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    made = tempfile.mkdtemp(prefix=f"{safe.lstrip('.')[:64]}-{moment}-{os.getpid()}-")
    chmod(made, 0o700)  # the umask may have taken from the owner too
    return made


def _remove_scratch(of: int) -> None:
    import shutil

    made = _scratch.pop(of, "")
    try:
        shutil.rmtree(made)
    except FileNotFoundError:  # the handler was quicker
        pass
    except PermissionError:
        # Some programs take away the right to write in what they made.
        for folder, below, _ in os.walk(made):
            for name in below:
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    chmod(path, 0o700)
        shutil.rmtree(made)


def _is_stream(path: str) -> bool:
    """Tell whether *path* is something to write to rather than to replace."""
    try:
        found = os.stat(path)
    except OSError:  # there is none, and whether one can be made will be seen
        return False
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        return True
    # /dev/stdout, say, may lead to a file: replaced, it would no longer be where stdout goes.
    return any(os.path.samestat(found, each) for each in _standard_files())


def _standard_files() -> list[os.stat_result]:
    """Give what stdout and stderr are; what was stdin may well be written anew."""
    found = []
    for descriptor in (1, 2):
        try:
            found.append(os.fstat(descriptor))
        except OSError:  # closed
            pass
    return found


def _append(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        _write(descriptor, data)
    finally:
        os.close(descriptor)


# -- for what murli keeps ----------------------------------------------------------------------


def replace_with(
    target: str, new: str, data: bytes, *, mode: int | None = 0o600, keep_mode: bool = False
) -> None:
    """Write *data* to *new*, which must not exist, and rename that to *target*.

    Synced before and after: whoever looks, or takes away the power, finds one or the other. With
    *keep_mode* a target that is there gives its mode and owner to the new one, unless *mode* says
    otherwise; ``None`` leaves the mode to the umask. After an exception *new* is gone.
    """
    before = _status_of(target) if keep_mode else None
    if mode is None and before is not None:
        mode = stat.S_IMODE(before.st_mode)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        descriptor = os.open(new, flags, 0o666 if mode is None else 0o600)
        try:
            if before is not None and before.st_uid != os.geteuid():
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
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    chmod(descriptor, 0o600)  # the umask may have taken from the owner too
    return descriptor


def chmod(what: int | str, mode: int) -> None:
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
        os.fchown(descriptor, like.st_uid, like.st_gid)
    except OSError:  # only root gives files away
        pass


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
