"""Which files are worth indexing, and what they say. Reads the file system, never the index."""

from __future__ import annotations

import errno
import os
import stat

from .paths import beneath, encoded, iso_time, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from .paths import AnyPath

MAX_BYTES = 2 * 1024 * 1024
SNIFFED_BYTES = 8 * 1024
SKIPPED_FOLDERS = frozenset((b"__pycache__", b"node_modules", b"venv"))


class Entry:
    """A file as the walk met it; ``stamp`` changes whenever its size or its time does."""

    __slots__ = ("path", "size", "stamp")

    def __init__(self, path: bytes, status: os.stat_result) -> None:
        self.path = path
        self.size = status.st_size
        # Text, because nanoseconds past the year 2262 do not fit SQLite's integers.
        self.stamp = f"{status.st_size}:{status.st_mtime_ns}"


class Content:
    """What a file held when it was read."""

    __slots__ = ("modified", "size", "stamp", "text")

    def __init__(self, entry: Entry, modified: str, text: str) -> None:
        self.size = entry.size
        self.stamp = entry.stamp
        self.modified = modified
        self.text = text

    @property
    def lines(self) -> int:
        return self.text.count("\n") + (not self.text.endswith("\n") and self.text != "")


def resolve_root(root: AnyPath) -> bytes:
    """The one absolute name of the folder ``root``.

    Links on the way to it are resolved, so that no folder is indexed under two names. Raises
    ``FileNotFoundError``, ``NotADirectoryError`` or another ``OSError``.
    """
    raw = encoded(root)
    try:
        if b"\0" in raw or not raw:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        if not stat.S_ISDIR(os.stat(raw).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    except OSError as error:
        raise OSError(error.errno, error.strerror, shown(raw)) from None
    return os.path.realpath(raw)


def reaches(root: bytes, folder: bytes) -> bool:
    """Whether a walk from ``root`` comes by ``folder`` (both resolved)."""
    if root == folder:
        return True
    if not beneath(folder, root):
        return False
    names = os.path.relpath(folder, root).split(os.fsencode(os.sep))
    return not any(_skips_folder(name) for name in names)


def walk(root: bytes, avoid: Container[bytes] = ()) -> tuple[list[Entry], int]:
    """The candidate files below ``root`` in path order, and how many had to be skipped.

    Symbolic links, hidden names, the paths in ``avoid`` and whatever is not a regular file are
    left out silently; folders that cannot be listed and files that are too large are counted.
    """
    entries: list[Entry] = []
    skipped = 0
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as listing:
                children = list(listing)
        except OSError:
            if folder == root:
                raise
            skipped += 1
            continue
        for child in children:
            try:
                if child.is_dir(follow_symlinks=False):
                    if not _skips_folder(child.name):
                        waiting.append(child.path)
                elif child.is_file(follow_symlinks=False):
                    if child.name.startswith(b".") or child.path in avoid:
                        continue
                    entry = Entry(child.path, child.stat(follow_symlinks=False))
                    if entry.size > MAX_BYTES:
                        skipped += 1
                    else:
                        entries.append(entry)
            except OSError:
                skipped += 1
    entries.sort(key=lambda entry: entry.path)
    return entries, skipped


def looks_textual(path: bytes) -> bool:
    """Whether ``path`` can be read and starts like text."""
    try:
        with open(path, "rb", opener=_open_plainly) as file:
            return b"\0" not in file.read(SNIFFED_BYTES)
    except OSError:
        return False


def read(path: bytes) -> Content | None:
    """The content of ``path``, or None when it is binary, too large or unreadable by now."""
    try:
        with open(path, "rb", opener=_open_plainly) as file:
            # Taken before the bytes: a write in between shows as a change in the next build.
            status = os.fstat(file.fileno())
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return None
    if len(data) > MAX_BYTES or b"\0" in data[:SNIFFED_BYTES]:
        return None
    text = data.decode("utf-8-sig", "replace")
    return Content(Entry(path, status), iso_time(status.st_mtime), text)


def _skips_folder(name: bytes) -> bool:
    return name.startswith(b".") or name in SKIPPED_FOLDERS


def _open_plainly(path: str, flags: int) -> int:
    # A file may have become a link or a pipe since the walk: neither is followed, neither blocks.
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return descriptor
