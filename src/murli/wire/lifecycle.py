"""When a tool is signalled, and when it is no longer waited for: no clock, no process in here.

The phases of a process, as its watcher goes through them::

    running ── too long, too much, interrupted ──► asked (TERM) ──► killed (KILL) ──► over
       └───────────────┬──────────────────────────────┴─────────────────┘
                    exited
                       ▼
                   lingering ── output closed, or waited long enough ──► sweeping ──► over
"""

from __future__ import annotations

import signal

from ..platform import SIGKILL
from .limits import Limits

RUNNING, ASKED, KILLED, LINGERING, SWEEPING, OVER = range(6)
#: how often who is left of a group is looked for
_LOOK_SECONDS = 0.01
#: how many times its time limit a stream may go on without an item while it writes other things
_LIMITS_WITHOUT_ITEM = 10


class ProcessLifecycle:
    """Takes what happens, with the time it happened; returns what to do.

    With *silence* the time limit is for the next item, not for the whole: other output extends it,
    for a while. *interrupt_at* is when to send SIGINT, ``None`` for never.

    *reason* says why the client ended the tool: ``""`` when it ended by itself, ``time``, or words.
    """

    __slots__ = ("_at_most", "_interrupt_at", "_limits", "_silence", "_until", "phase", "reason")

    def __init__(
        self,
        limits: Limits,
        now: float,
        *,
        silence: bool = False,
        interrupt_at: float | None = None,
    ) -> None:
        self._limits = limits
        self._silence = silence
        self._interrupt_at = interrupt_at
        self._until = now + limits.seconds
        self._at_most = now + _LIMITS_WITHOUT_ITEM * limits.seconds
        self.phase = RUNNING
        self.reason = ""

    def saw_output(self, now: float, *, item: bool = False) -> None:
        """Note that the tool wrote something, or an *item* that was waited for."""
        if self._silence and self.phase == RUNNING:
            if item:
                self._at_most = now + _LIMITS_WITHOUT_ITEM * self._limits.seconds
            self._until = min(now + self._limits.seconds, self._at_most)

    def was_unattended(self, seconds: float) -> None:
        """Note that nobody was reading for so long: that was not the tool's time."""
        if self._silence and self.phase == RUNNING:
            self._until += seconds
            self._at_most += seconds

    def stop(self, now: float, reason: str) -> None:
        """Have the tool ended for *reason*."""
        if self.phase in (RUNNING, LINGERING):
            self.reason = self.reason or reason
            self._until = now

    def exited(self, now: float) -> None:
        """Note that the tool itself has ended; its output may still be open."""
        if self.phase in (RUNNING, ASKED, KILLED):
            self.phase = LINGERING
            self._until = now + self._limits.linger_seconds

    def closed(self, now: float) -> None:
        """Note that nobody holds the output open any more."""
        if self.phase == LINGERING:
            self._sweep(now)

    def swept(self) -> None:
        """Note that nothing of the group is left."""
        self.phase = OVER

    def due(self, now: float) -> int:
        """Return the signal to send to the group now, 0 for none."""
        if self._is_interrupt_due(now):
            self._interrupt_at = None
            return signal.SIGINT
        if now < self._until or self.phase == OVER:
            return 0
        grace = self._limits.grace_seconds
        if self.phase == RUNNING:
            self.reason = self.reason or "time"
            if grace > 0:
                self.phase, self._until = ASKED, now + grace
                return signal.SIGTERM
        if self.phase in (RUNNING, ASKED):
            # A process that cannot even be killed hangs in the system, and is given up.
            self.phase, self._until = KILLED, now + max(grace, 1.0)
            return SIGKILL
        if self.phase == LINGERING:
            self._sweep(now)
            return 0
        swept = self.phase == SWEEPING
        self.phase = OVER
        return SIGKILL if swept else 0

    def wait(self, now: float) -> float:
        """Return how many seconds from now something is due at the latest."""
        until = self._until
        if self.phase == RUNNING and self._interrupt_at is not None:
            until = min(until, self._interrupt_at)
        left = max(until - now, 0.0)
        return min(left, _LOOK_SECONDS) if self.phase == SWEEPING else left

    def _is_interrupt_due(self, now: float) -> bool:
        at = self._interrupt_at
        return self.phase == RUNNING and at is not None and at <= now < self._until

    def _sweep(self, now: float) -> None:
        self.phase = SWEEPING
        # Processes that are left are looked for once at least, also where there is no grace.
        self._until = now + max(self._limits.grace_seconds, _LOOK_SECONDS)
