"""Runs the processes of a tool under examination: each distinct call once.

Calls of one command run in one folder, one after the other, so that their answers can be
compared. Calls of other commands may run at the same time in other folders.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..wire.running import Child
from .processes import run
from .results import Evidence
from .scratch import Scratch

Words = tuple[str, ...]


class Disturbed(BaseException):
    """The calls may have to be made one after the other, in the order of the checks.

    Not an `Exception`, so that no check takes it for a failure of its own.
    """


@dataclass(frozen=True, slots=True)
class _Call:
    words: tuple[str, ...]
    stdin: str
    text: bytes
    env: tuple[tuple[str, str], ...]
    event: str


class Place:
    """A scratch folder, the environment of the tool in it, and a lock for running it there.

    *setup* are the calls to make first.
    """

    def __init__(self, scratch: Scratch, env: dict[str, str], setup: Iterable[Words] = ()) -> None:
        self.scratch = scratch
        self.env = env
        self.setup = list(setup)
        self.lock = threading.Lock()
        self.calls = 0
        self.files = scratch.snapshot()


class Prober:
    """Runs a tool where it can do no harm, and caches the results.

    `side_by_side` lets several threads make calls: those of one command in one place. A call that
    changes a file then raises `Disturbed`, for the order of the calls may matter.
    """

    def __init__(
        self,
        tool: Words,
        scratch: Scratch,
        env: dict[str, str],
        seconds: float,
        setup: Iterable[Words] = (),
    ) -> None:
        self.tool = tool
        self.scratch = scratch
        self.seconds = seconds
        # Adds to the words of a call the flag that says that an agent calls.
        self.asking: Callable[[Words], Words] = tuple
        #: returns the name of the command in the words of a call
        self.command_of: Callable[[Words], str] = lambda _: ""
        self._known: dict[_Call, Future[Evidence]] = {}
        # Which check made a call first, and the number of the call within that check.
        self._ranks: dict[_Call, tuple[int, int]] = {}
        self._asking = threading.local()
        self._lock = threading.Lock()
        self._places = [Place(scratch, env, setup)]
        self._place_by_command: dict[str, Place] = {}
        self._new_place: Callable[[], Place] | None = None
        self._most_places = 1
        self._turns = threading.Semaphore()
        self._running: set[Child] = set()
        self._needs_order = False
        self._is_over = False

    @property
    def seen(self) -> list[Evidence]:
        """All calls made so far, in the order of the checks, whenever they ran."""
        calls = sorted(self._ranks, key=self._ranks.__getitem__)
        return [self._known[each].result() for each in calls]

    def run(
        self,
        *words: str,
        stdin: str = "null",
        text: bytes = b"",
        event: str = "",
        env: dict[str, str] | None = None,
    ) -> Evidence:
        """Run the tool with *words*, or return the cached result."""
        call = _Call(words, stdin, text, tuple(sorted((env or {}).items())), event)
        with self._lock:
            is_known = call in self._known
            future = self._known.setdefault(call, Future())
            self._rank(call)
        if not is_known:
            try:
                future.set_result(self._run(call))
            except BaseException as error:
                future.set_exception(error)
                raise
        return future.result()

    def asked_by(self, number: int) -> None:
        """Note that this thread now runs the check with this *number*, counted from 1."""
        self._asking.rank = number, 0

    def _rank(self, call: _Call) -> None:
        rank: tuple[int, int] = getattr(self._asking, "rank", (0, 0))
        self._ranks[call] = min(rank, self._ranks.get(call, rank))
        self._asking.rank = rank[0], rank[1] + 1

    # -- side by side ----------------------------------------------------------------------------

    @contextmanager
    def side_by_side(self, jobs: int, new_place: Callable[[], Place]) -> Iterator[None]:
        """Let *jobs* calls run at once; *new_place* creates another place for them."""
        setup = self._places[0].setup
        if any(each.changed and each.argv[len(self.tool) :] not in setup for each in self.seen):
            raise Disturbed
        self._new_place, self._needs_order = new_place, True
        # Two places per job: a thread can continue where a command with many calls occupies one.
        self._most_places, self._turns = 2 * jobs, threading.Semaphore(jobs)
        for call in self._known:
            self._place_by_command[self.command_of(call.words)] = self._places[0]
        try:
            yield
        except BaseException:
            self._end()
            raise
        finally:
            self._new_place = None

    def _end(self) -> None:
        """Kill what is running, and start nothing more."""
        with self._lock:
            self._is_over = True
            for child in self._running:
                _kill(child)

    def _place_of(self, call: _Call) -> Place:
        command = self.command_of(call.words)
        with self._lock:
            place = self._place_by_command.get(command)
            if place is None and self._new_place and len(self._places) < self._most_places:
                place = self._new_place()
                self._places.append(place)
            place = place or min(self._places, key=lambda each: each.calls)
            self._place_by_command[command] = place
            place.calls += 1
        return place

    def _prepare(self, place: Place) -> None:
        """Make the calls of the setup; each must end as it did in the first place."""
        while place.setup and place is not self._places[0]:
            call = _Call(place.setup.pop(0), "null", b"", (), "")
            ended = self._ended(place, call, (*self.tool, *call.words))
            if ended.exit_code != self._known[call].result().exit_code:
                raise Disturbed
            place.files = place.scratch.snapshot()

    # -- one call --------------------------------------------------------------------------------

    def _run(self, call: _Call) -> Evidence:
        place = self._place_of(call)
        with place.lock, self._turns:
            if self._is_over:
                raise Disturbed
            self._prepare(place)
            evidence = self._run_in(place, call)
        # A call that took too long may have waited for others.
        is_late = evidence.timed_out and self._new_place is not None
        if self._is_over or is_late or (evidence.changed and self._needs_order):
            raise Disturbed
        return evidence

    def _run_in(self, place: Place, call: _Call) -> Evidence:
        argv = (*self.tool, *self.asking(call.words))
        ended = self._ended(place, call, argv)
        before, place.files = place.files, place.scratch.snapshot()
        # A file that is gone, new or changed.
        changed = {name for name, _ in before.items() ^ place.files.items()}
        event = ended.event
        if place.scratch.take_sprung():
            event = f"{event}; " * bool(event) + TRAPPED
        env, names = dict(call.env), tuple(sorted(changed))
        return replace(ended, env=env, event=event, changed=names)

    def _ended(self, place: Place, call: _Call, argv: Words) -> Evidence:
        children: list[Child] = []

        def note(child: Child) -> None:
            children.append(child)
            with self._lock:
                self._running.add(child)
                if self._is_over:
                    _kill(child)

        try:
            return run(
                argv,
                env={**place.env, **dict(call.env)},
                cwd=place.scratch.work,
                seconds=self.seconds,
                stdin=call.stdin,
                text=call.text,
                event=call.event,
                on_start=note,
            )
        finally:
            with self._lock:
                self._running.difference_update(children)


def _kill(child: Child) -> None:
    if not child.is_over:
        child.send(signal.SIGKILL)


#: the note about a tool that started a program for a person
TRAPPED = "it started a pager, an editor or a browser"
