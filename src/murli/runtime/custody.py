"""Endings that Python does not see: ``os._exit`` and ``os.exec*``.

While an invocation runs they are ours, so that a program which is cut off, or replaced by another
one, loses nothing that it has printed by then.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, Protocol

    from .invocation import Invocation

    class Custodian(Protocol):
        """Who answers when the program ends abruptly."""

        @property
        def concerned(self) -> bool:
            """Whether this process still has to be answered for."""

        def answer(self, error: BaseException | None) -> int:
            """Answer, and give the exit code."""

        def let_go(self) -> None:
            """Leave the process to another program."""


_custodian: Custodian | None = None

_real_hard_exit = os._exit
_real_execv = os.execv
_real_execve = os.execve


def _hard_exit(status: int) -> NoReturn:
    if _custodian is not None and _custodian.concerned:
        status = _custodian.answer(SystemExit(status))
    _real_hard_exit(status)


def _execv(path: Any, argv: Any, /) -> NoReturn:
    if _custodian is not None and _custodian.concerned:
        _custodian.let_go()
    _real_execv(path, argv)


def _execve(path: Any, argv: Any, env: Any) -> NoReturn:
    if _custodian is not None and _custodian.concerned:
        _custodian.let_go()
    _real_execve(path, argv, env)


def keep(custodian: Custodian) -> Callable[[], None]:
    """Let *custodian* answer for abrupt endings; give what ends that."""
    global _custodian
    before, _custodian = _custodian, custodian
    undo = [
        replace(os, "_exit", _hard_exit),
        replace(os, "execv", _execv),
        replace(os, "execve", _execve),
    ]

    def stop() -> None:
        global _custodian
        _custodian = before
        for each in undo:
            each()

    return stop


def replace(module: Any, name: str, ours: Any) -> Callable[[], None]:
    """Put *ours* in the place of a module's function; give what takes it back."""
    theirs = getattr(module, name)
    setattr(module, name, ours)

    def undo() -> None:
        if getattr(module, name) is ours:
            setattr(module, name, theirs)  # ours again when calls are nested

    return undo


class Custody:
    """While it is entered, ``os._exit`` and ``os.exec*`` do not lose what was printed by then."""

    def __init__(self, invocation: Invocation) -> None:
        self.pid = os.getpid()
        self.invocation = invocation
        self._undo: Callable[[], None] | None = None

    def __enter__(self) -> None:
        if self.invocation.capture is not None:
            self._undo = keep(self)

    def __exit__(self, *error: object) -> None:
        if self._undo is not None:
            self._undo()

    @property
    def concerned(self) -> bool:
        """Whether this process, and not a fork of it, still has to be answered for."""
        return os.getpid() == self.pid

    def answer(self, error: BaseException | None) -> int:
        """Finish the invocation and give the exit code."""
        return self.invocation.finish(error)

    def let_go(self) -> None:
        """Leave the process to another program: what was printed so far comes first."""
        self.invocation.release()
