"""Answers that were longer than their readers take, kept whole in private files.

A *handle* is the hash of what the file holds, so that the same result has the same handle, and a
file that was changed is noticed. Files are 0600 in a 0700 folder and replaced as a whole. They
expire `KEPT_SECONDS` after the last answer that was the same, and the oldest go first when all of
them together are more than `MOST_BYTES`; variables say otherwise, and 0 keeps nothing. That
something cannot be kept never fails an answer.
"""

from __future__ import annotations

import json
import os
import stat
import time

from ..errors import AgentError
from ..files import make_folders, remove, replace_with, tighten, user_folder
from ..formats import dumps
from ..platform import BINARY, NOCTTY, NOFOLLOW, NONBLOCK, is_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEPT_SECONDS = 24 * 60 * 60
MOST_BYTES = 64 << 20
SECONDS_VARIABLE = "MURLI_KEEP_SECONDS"
BYTES_VARIABLE = "MURLI_KEEP_BYTES"
_DIGITS = frozenset("0123456789abcdef")
_HASH_BYTES = 16
_ENDING = ".json"
# Names that are shown of an object, and how deep.
_MOST_NAMES = 20
_DEPTH = 2


def is_handle(text: str) -> bool:
    """Return whether *text* has the form of a handle: it is then the name of a file, no path."""
    return len(text) == 2 * _HASH_BYTES and _DIGITS.issuperset(text)


def encoded(entry: dict[str, Any]) -> bytes:
    """Return what is kept of *entry*, which is plain data without secrets."""
    return dumps(entry, pretty=False).encode("utf-8", "replace")


def handle_of(data: bytes) -> str:
    """Return the handle of what is kept as *data*."""
    from hashlib import blake2b

    return blake2b(data, digest_size=_HASH_BYTES).hexdigest()


def seconds() -> int:
    """Return how long answers are kept; 0 for not at all."""
    return _setting(SECONDS_VARIABLE, KEPT_SECONDS)


def keep(data: bytes) -> bool:
    """Keep *data* in the file of its handle; return whether that is possible."""
    most, folder = _setting(BYTES_VARIABLE, MOST_BYTES), _folder()
    if not folder or not seconds() or len(data) > most:
        return False
    path = os.path.join(folder, handle_of(data) + _ENDING)
    try:
        make_folders(folder)
        if not _is_private(os.lstat(folder), stat.S_ISDIR):
            return False
        tighten(folder)
        _make_room(folder, path, most - len(data))
        replace_with(path, f"{path}-{os.urandom(4).hex()}.new", data)
    except OSError:
        return False
    return True


def load(handle: str) -> dict[str, Any]:
    """Return the entry of *handle*; `AgentError` where there is none that can be trusted."""
    if not is_handle(handle):
        raise AgentError.user_error(
            "A handle has 32 hexadecimal digits.",
            "Copy it from the answer that was kept.",
            error_type="invalid_handle",
            field="handle",
        )
    folder = _folder()
    path = os.path.join(folder, handle + _ENDING)
    try:
        data = _contents(folder, path) if folder else None
    except OSError as error:
        raise _foreign(handle, error.strerror or str(error)) from None
    if data is None:
        raise AgentError.not_found(
            f"There is no answer {handle}, or it has expired.",
            "Make the call again that returned the handle.",
            field="handle",
        )
    try:
        if handle_of(data) != handle:
            raise ValueError
        entry = json.loads(data)
        if not isinstance(entry, dict) or "result" not in entry:
            raise ValueError
    except (ValueError, RecursionError):
        raise _foreign(handle, "it is not what was kept") from None
    return entry


def shape_of(value: Any, depth: int = _DEPTH) -> Any:
    """Return what *value* is made of: the fields of objects, and how many items arrays have."""
    if isinstance(value, dict):
        if not depth:
            return f"object of {len(value)}"
        names = list(value)[:_MOST_NAMES]
        shape = {name: shape_of(value[name], depth - 1) for name in names}
        return {**shape, "…": len(value) - len(names)} if len(value) > len(names) else shape
    if isinstance(value, list):
        first = next((each for each in value if isinstance(each, dict)), None)
        if not depth or first is None:
            return f"array of {len(value)}"
        return {"items": len(value), "of": shape_of(first, depth - 1)}
    if isinstance(value, str):
        lines = value.count("\n") + 1
        return f"string of {len(value)}" if lines == 1 else f"string of {lines} lines"
    if value is None:
        return "null"
    return "boolean" if isinstance(value, bool) else "number"


def _folder() -> str:
    cache = user_folder("XDG_CACHE_HOME")
    return os.path.join(cache, "murli", "answers") if cache else ""


def _setting(name: str, usual: int) -> int:
    text = os.environ.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else usual


def _is_private(status: os.stat_result, is_kind: Any) -> bool:
    """Return whether it is a file or folder of the user's own, and no link."""
    return bool(is_kind(status.st_mode)) and is_own(status)


def _contents(folder: str, path: str) -> bytes | None:
    """Return what is in a file of ours; ``None`` where there is none any more.

    `OSError` where it is somebody else's, a link, or no file.
    """
    try:
        if not _is_private(os.lstat(folder), stat.S_ISDIR):
            raise OSError("its folder is not yours")
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise OSError("it is not a file")
        descriptor = os.open(path, os.O_RDONLY | NOFOLLOW | NONBLOCK | NOCTTY | BINARY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        status = os.fstat(descriptor)
        if not _is_private(status, stat.S_ISREG):
            raise OSError("it is not yours")
        if time.time() - status.st_mtime > seconds():
            remove(path)
            return None
        most, data = _setting(BYTES_VARIABLE, MOST_BYTES), b""
        while len(data) <= most and (part := os.read(descriptor, most + 1 - len(data))):
            data += part
    finally:
        os.close(descriptor)
    if len(data) > most:
        raise OSError("it is larger than what is kept")
    return data


def _make_room(folder: str, path: str, most: int) -> None:
    """Remove what has expired, and the oldest files until the others have *most* bytes."""
    oldest, found = time.time() - seconds(), []
    with os.scandir(folder) as entries:
        for each in entries:
            try:
                status = each.stat(follow_symlinks=False)
            except OSError:  # another process was quicker
                continue
            if each.path != path:
                found.append((status.st_mtime, status.st_size, each.path))
    held = 0
    for modified, size, name in sorted(found, reverse=True):
        held += size
        if modified < oldest or held > most:
            remove(name)


def _foreign(handle: str, why: str) -> AgentError:
    return AgentError.precondition(
        f"What is kept as {handle} cannot be used: {why}.",
        "Make the call again that returned the handle.",
        error_type="answer_unusable",
        field="handle",
        recoverable=False,
    )
