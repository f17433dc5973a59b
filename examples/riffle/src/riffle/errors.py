"""What can go wrong in the engine.

    RiffleError
    ├── IndexMissing      no build has completed at this path
    ├── IndexUnreadable   foreign, corrupt, or of another schema
    ├── IndexUnwritable   read-only, or the disk is full
    ├── IndexBusy         another process kept it locked for longer than the timeout
    ├── NotIndexed        the path asked for is not in the index
    └── BadQuery          the query holds no searchable word

A folder that cannot be built over raises the ordinary ``OSError`` instead. Every path an error
carries is in its display form (see `riffle.paths`), so it can always be printed.
"""

from __future__ import annotations


class RiffleError(Exception):
    """Anything the engine reports of its own accord."""


class IndexMissing(RiffleError):
    """There is no index at ``path``, or no build has completed there yet."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"no index at {self.path}"


class _IndexTrouble(RiffleError):
    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason


class IndexUnreadable(_IndexTrouble):
    """The file at ``path`` cannot be used as an index; ``reason`` says why."""

    def __str__(self) -> str:
        return f"cannot read the index at {self.path}: {self.reason}"


class IndexUnwritable(_IndexTrouble):
    """The index at ``path`` cannot be changed; ``reason`` says why."""

    def __str__(self) -> str:
        return f"cannot write the index at {self.path}: {self.reason}"


class IndexBusy(RiffleError):
    """Another process is changing the index at ``path``; trying again later may succeed."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"another process is changing the index at {self.path}"


class NotIndexed(RiffleError):
    """``path`` names nothing, or more than one thing, in the index.

    ``near`` holds up to five indexed paths that resemble it, or that it could mean.
    """

    def __init__(self, path: str, near: list[str]) -> None:
        super().__init__(path, near)
        self.path = path
        self.near = near

    def __str__(self) -> str:
        return f"{self.path} is not in the index"


class BadQuery(RiffleError):
    """``text`` holds no letter and no digit to search for."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f"no searchable word in {self.text!r}"
