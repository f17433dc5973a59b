"""Tracebacks are kept: callers are spared them, authors find them in a file.

Files go below ``$XDG_STATE_HOME/murli/<tool>/`` (``~/.local/state`` without it), or where that
cannot be written, below a directory of the user's own in the one for temporary files.

Directories are held open meanwhile, so that nobody can put others in their place. A system where
no path can begin at an open directory has their paths instead.
"""

from __future__ import annotations

import os
import stat

from ..files import user_folder
from ..platform import BINARY, DIRECTORY, NOFOLLOW, is_own, set_mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LARGEST = 256 * 1024
MOST_FILES = 20
_LONGEST_NAME = 64
_SUFFIX = ".txt"


def keep(error: BaseException, tool: str, scrub: Callable[[str], str] | None = None) -> str:
    """Write the traceback of *error*, and of what it came from, to a file only its user may read.

    *scrub* takes secrets out of the text first. Gives the file's path, ``""`` where nothing could
    be written; never raises. The oldest files of *tool* make room for new ones.
    """
    try:
        text = _formatted(error)
        data = _end_of((text if scrub is None else scrub(text)).encode("utf-8", "replace"))
        for place in _places():
            try:
                return _written(data, place, _harmless(tool))
            except OSError:  # not ours, not writable or full: the next one, then
                continue
    except BaseException:  # the program is ending; nothing here may keep it from answering
        pass
    return ""


def _formatted(error: BaseException) -> str:
    import traceback

    try:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except Exception:  # a chain that cannot be followed; its last link may be enough
        lines = traceback.format_tb(error.__traceback__)
        return "".join([*lines, f"{type(error).__name__}\n"])


def _end_of(data: bytes) -> bytes:
    """Return the end of *data*, where tracebacks say most, in whole lines."""
    if len(data) <= LARGEST:
        return data
    data = data[-LARGEST:]
    return data[data.find(b"\n") + 1 :] or data


def _places() -> Iterator[tuple[str, str]]:
    """Return where to write, best first: a directory, and the name of ours in it."""
    state = user_folder("XDG_STATE_HOME")
    if state and _is_ours(state):
        yield state, "murli"
    import tempfile

    # Where users have no numbers each has a directory for temporary files.
    ours = f"murli-{os.geteuid()}" if hasattr(os, "geteuid") else "murli"
    yield tempfile.gettempdir(), ours


def _is_ours(folder: str) -> bool:
    """Return whether *folder*, or the nearest above it that exists, is the user's own.

    Under sudo a home may be somebody else's, who could not clear away what root left there.
    """
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return is_own(os.stat(folder))


def _written(data: bytes, place: tuple[str, str], tool: str) -> str:
    above, ours = place
    os.makedirs(above, 0o700, exist_ok=True)
    if os.open not in os.supports_dir_fd:
        folder = os.path.join(above, ours, tool)
        os.makedirs(folder, 0o700, exist_ok=True)
        name = _write_new(data, folder)
        _remove_oldest(folder, name)
        return os.path.join(folder, name)
    opened = os.open(above, os.O_RDONLY | DIRECTORY)
    try:
        for each in (ours, tool):
            below = _opened_private(each, opened)
            os.close(opened)
            opened = below
        name = _write_new(data, opened)
        _remove_oldest(opened, name)
    finally:
        os.close(opened)
    return os.path.join(above, ours, tool, name)


def _opened_private(name: str, parent: int) -> int:
    """Open a directory of the user's own that nobody else may enter, made if it is missing."""
    try:
        os.mkdir(name, 0o700, dir_fd=parent)
        os.chmod(name, 0o700, dir_fd=parent)  # the umask may have taken from the owner too
    except FileExistsError:
        pass
    # By descriptor, and never through a link: others may write in a directory for temporary files.
    descriptor = os.open(name, os.O_RDONLY | DIRECTORY | NOFOLLOW, dir_fd=parent)
    try:
        status = os.fstat(descriptor)
        if not is_own(status):
            raise PermissionError(f"{name} belongs to somebody else")
        if stat.S_IMODE(status.st_mode) != 0o700:
            set_mode(descriptor, 0o700)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _in(folder: int | str, name: str) -> tuple[str, int | None]:
    """Return a path and where it begins: at the open directory *folder*, or below its path."""
    return (name, folder) if isinstance(folder, int) else (os.path.join(folder, name), None)


def _write_new(data: bytes, folder: int | str) -> str:
    """Write *data* to a new file named for the moment and the process; return its name."""
    import time

    now = time.time()
    moment = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(now))}.{int(now % 1 * 1e6):06}Z"
    name = f"{moment}-{os.getpid()}{_SUFFIX}"
    path, begin = _in(folder, name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY
    descriptor = os.open(path, flags, 0o600, dir_fd=begin)
    try:
        set_mode(descriptor, 0o600)  # the umask, as above
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BaseException:
        os.unlink(path, dir_fd=begin)
        raise
    finally:
        os.close(descriptor)
    return name


def _remove_oldest(folder: int | str, newest: str) -> None:
    # Their names sort by time; a clock that was set back does not cost the newest.
    others = sorted(
        name for name in os.listdir(folder) if name.endswith(_SUFFIX) and name != newest
    )
    for name in others[: -(MOST_FILES - 1)]:
        path, begin = _in(folder, name)
        try:
            os.unlink(path, dir_fd=begin)
        except OSError:  # another process was quicker
            pass


def _harmless(tool: str) -> str:
    """Return the name of *tool* as that of a directory, which leads nowhere else."""
    safe = [c if c in "-." or (c.isascii() and c.isalnum()) else "_" for c in tool]
    return "".join(safe).lstrip(".")[:_LONGEST_NAME] or "tool"
