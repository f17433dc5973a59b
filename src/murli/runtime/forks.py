"""Forks of the program: they are not the call, and must not keep anybody waiting for them."""

from __future__ import annotations

import os
from _thread import RLock

from ..formats import identity
from .custody import hold_back, let_come, resign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .capture import DescriptorCapture

_held: Any = None


def before() -> None:
    """Keep signals from a fork that cannot deal with them yet: Python would forget them there."""
    global _held
    _held = hold_back()


def behind(captures: list[DescriptorCapture]) -> None:
    """Go on in the program that was forked."""
    let_come(_held)
    for capture in captures:
        if capture.conduit is not None:
            capture.conduit.start()


def inside(captures: list[DescriptorCapture]) -> None:
    """Let go, in a fork of the program, of what belongs to the program itself.

    Who waits for the end of stdout must not wait for the fork. What the fork writes is collected
    with everything else; the answer is its parent's, and so is what was arranged for signals.
    """
    for capture in captures:
        if capture.stream.is_ours:
            os.close(capture.real)
        capture.real = -1
        capture.stream.descriptor, capture.stream.opened_on = 1, identity(1)
        if capture.conduit is not None:
            capture.conduit.abandon()
    captures.clear()
    from .invocation import current

    invocation = current()
    if invocation is not None:
        writer = invocation.writer
        writer._is_forked = True  # what it streams is collected as printed
        writer._lock = RLock()  # another thread of the program may hold the old one for ever
        if invocation.deadline is not None:
            invocation.deadline.abandon()
    resign()
    let_come(_held)
