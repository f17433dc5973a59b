"""Paths at the engine's door: bytes inside, display form outside.

A POSIX file name is bytes and need not be UTF-8. Inside the engine and in the index a path is
therefore what ``os.fsencode`` makes of it; outside it is the *display form*, in which undecodable
bytes become U+FFFD, because a lone surrogate would break the first ``print`` or UTF-8 encoder it
met. `riffle.engine.show` finds a file by its display form too.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    AnyPath = str | os.PathLike[str]

# Reserved characters of a URI are escaped, and so is every byte that is not ASCII: what is left
# decodes to the same bytes whatever the locale.
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~")


def encoded(path: AnyPath) -> bytes:
    """The bytes of ``path``; a string no file system could have produced gets bytes too."""
    text = os.fspath(path)
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def shown(path: AnyPath | bytes) -> str:
    """The display form of ``path``."""
    raw = path if isinstance(path, bytes) else encoded(path)
    return raw.decode("utf-8", "replace")


def beneath(path: bytes, folder: bytes) -> bool:
    """Whether ``path`` lies strictly inside ``folder``."""
    separator = os.fsencode(os.sep)
    return path != folder and path.startswith(folder.rstrip(separator) + separator)


def uri(path: bytes, mode: str) -> str:
    """The SQLite URI that opens the absolute ``path`` in ``mode``."""
    if os.name == "nt":
        path = b"/" + path.replace(b"\\", b"/")
    quoted = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in path)
    return f"file://{quoted}?mode={mode}"


def iso_time(seconds: float) -> str:
    """``seconds`` since the epoch as ISO-8601 in UTC, or "" for a time no calendar holds."""
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    except (OverflowError, OSError, ValueError):
        return ""
