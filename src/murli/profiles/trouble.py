"""What can be wrong with the file that profiles are saved in."""

from __future__ import annotations


class StoreError(Exception):
    """The store cannot be read or written.

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
