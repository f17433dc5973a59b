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

from .limits import Limits

RUNNING, ASKED, KILLED, LINGERING, SWEEPING, OVER = range(6)
#: how often who is left of a group is looked for
_LOOK_SECONDS = 0.01
#: how many times its time limit a stream may go on without an item while it gives signs of life
_SIGNS_COUNT = 10


class Course:
    """Takes what happens, with the time it happened; tells what to do.

    With *silence* the time limit is for the next item, not for the whole: signs of life put it off,
    for a while.

    *reason* says why the client ended the tool: ``""`` when it ended by itself, ``time``, or words.
    """

    __slots__ = ("_at_most", "_limits", "_silence", "_until", "phase", "reason")

    def __init__(self, limits: Limits, now: float, *, silence: bool = False) -> None:
        self._limits = limits
        self._silence = silence
        self._until = now + limits.seconds
        self._at_most = now + _SIGNS_COUNT * limits.seconds
        self.phase = RUNNING
        self.reason = ""

    def heard(self, now: float, *, gift: bool = False) -> None:
        """Know that the tool gave a sign of life, or what was waited for."""
        if self._silence and self.phase == RUNNING:
            if gift:
                self._at_most = now + _SIGNS_COUNT * self._limits.seconds
            self._until = min(now + self._limits.seconds, self._at_most)

    def left_alone(self, seconds: float) -> None:
        """Know that nobody was listening for so long: that was not the tool's time."""
        if self._silence and self.phase == RUNNING:
            self._until += seconds
            self._at_most += seconds

    def stop(self, now: float, reason: str) -> None:
        """Want the tool ended."""
        if self.phase in (RUNNING, LINGERING):
            self.reason = self.reason or reason
            self._until = now

    def exited(self, now: float) -> None:
        """Know that the tool itself has ended; its output may still be open."""
        if self.phase in (RUNNING, ASKED, KILLED):
            self.phase = LINGERING
            self._until = now + self._limits.linger_seconds

    def closed(self, now: float) -> None:
        """Know that nobody holds the output open any more."""
        if self.phase == LINGERING:
            self._sweep(now)

    def swept(self) -> None:
        """Know that nothing of the group is left."""
        self.phase = OVER

    def due(self, now: float) -> int:
        """Give the signal to send to the group now, 0 for none."""
        if now < self._until or self.phase == OVER:
            return 0
        grace = self._limits.grace_seconds
        if self.phase == RUNNING:
            self.reason = self.reason or "time"
            self.phase, self._until = ASKED, now + grace
            return signal.SIGTERM
        if self.phase == ASKED:
            # Whoever cannot even be killed hangs in the system, and is given up.
            self.phase, self._until = KILLED, now + max(grace, 1.0)
            return signal.SIGKILL
        if self.phase == LINGERING:
            self._sweep(now)
            return 0
        swept = self.phase == SWEEPING
        self.phase = OVER
        return signal.SIGKILL if swept else 0

    def wait(self, now: float) -> float:
        """Give how many seconds from now something is due at the latest."""
        left = max(self._until - now, 0.0)
        return min(left, _LOOK_SECONDS) if self.phase == SWEEPING else left

    def _sweep(self, now: float) -> None:
        self.phase = SWEEPING
        self._until = now + self._limits.grace_seconds
