"""Files that a handler writes: whole at every moment, or gone when the call ends."""

from __future__ import annotations

import errno
import os
import stat
from _thread import RLock

from ..core import current
from ..files import _write, chmod, replace_with
from .cleanup import on_cleanup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def write_file(path: str | os.PathLike[str], data: str | bytes, *, mode: int | None = None) -> Path:
    """Write *data* to *path* so that a reader finds the old file or the new one, never a part.

    Text is written as UTF-8, line ends as they are. *mode* is set exactly; without it a file that
    exists keeps its own, and a new one gets what ``open`` would give it. Where *path* is a link,
    the file it leads to is replaced; what is not a file (a pipe, a device) is written to as it is.
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
    """Return a directory of the running call's own, which nobody else may enter.

    It is made when first asked for, has the tool, the moment and the process in its name, and is
    removed with all it holds when the call ends; see `murli.on_cleanup` for what that means.
    """
    import pathlib

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
    """Return whether *path* is something to write to rather than to replace."""
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
    """Return what stdout and stderr are; what was stdin may well be written anew."""
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
