"""One call of a tool, with all that follows from its answer: by the rules of the client.

A redirect is followed. Nothing is confirmed, repeated or mended here: the caller decides that,
by what the answer says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ..client.async_tool import driven
from ..client.decisions import Policy
from ..client.response import Response
from ..client.session import Session
from ..client.steps import Recall, Run, Step, Steps
from ..wire.catalogue import Catalogue
from ..wire.collecting import HeadAndTail, WholeOutput
from ..wire.documents import parsed
from ..wire.limits import Limits
from ..wire.listing import from_description, is_description
from ..wire.reading import read
from ..wire.response import Problem
from ..wire.running import ProcessResult
from .backends import Processes, WarmCalls
from .listening import Listener, Overheard

T = TypeVar("T")
_POLICY = Policy(max_retries=0, max_retries_in_all=0, run_fixes=False, max_continuations=0)
# How many calls may wait for one of those that run to end.
MOST_WAITING = 256


class Nothing(Exception):
    """The tool does not say what it can do."""


class Calls:
    """The calls of one tool, so many at once; *name* is what it is called, *limits* one call's."""

    def __init__(
        self, backend: Processes | WarmCalls, name: str, limits: Limits, concurrency: int
    ) -> None:
        self.backend = backend
        self.name = name
        self._limits = limits
        self._turns = asyncio.Semaphore(concurrency)
        self._waiting = 0
        self.contract = ""
        self.catalogue: Catalogue | None = None
        # What the tool has said of itself.
        self.description: dict[str, Any] = {}

    async def learn(self) -> Catalogue:
        """Ask the tool what it can do; `Nothing` where it does not say."""
        ran = await self.run(("describe",))
        document = parsed(ran.stdout)
        if not (ran.exit_code == 0 and is_description(document)):
            answer = read(ran.stdout, ran.stderr, ran.exit_code, "", ran.reason)
            if answer.ok and is_description(answer.data):
                self.contract, document = answer.contract, answer.data
        if is_description(document):
            self.description = document
            contract = self.contract = self.contract or "murli"
            root = await self._root() if document.get("commands") else None
            self.catalogue = from_description(document, contract, root)
        else:
            session = self._session(None)
            self.catalogue = await self._drive(session.discovery.wanted(), None)
            self.contract = session.contract
        if self.catalogue is None:
            raise Nothing
        self.name = self.catalogue.name or self.name
        return self.catalogue

    async def _root(self) -> dict[str, Any] | None:
        """Return the schema of the tool itself, which takes options and may be called."""
        ran = await self.run(("--schema",))
        document = parsed(ran.stdout)
        is_schema = ran.exit_code == 0 and isinstance(document, dict) and "safety" in document
        return document if is_schema else None

    async def text(self, *words: str) -> str:
        """Return the text that a call prints; ``""`` where it fails."""
        ran = await self.run(words)
        return ran.stdout.decode("utf-8", "replace") if ran.exit_code == 0 else ""

    async def call(self, words: tuple[str, ...], listener: Listener | None) -> Response[Any]:
        """Make a call of *words*, and return its last answer."""
        if self._turns.locked() and self._waiting >= MOST_WAITING:
            message = f"{self._waiting} calls are waiting already."
            problem = Problem("unavailable", "SERVER_BUSY", message, True, phase="validation")
            return Response(self.contract, "failed", None, problem=problem)
        session = self._session(self.catalogue)
        return await self._drive(session.call(words), listener)

    def _session(self, catalogue: Catalogue | None) -> Session:
        session = Session((self.name,), _POLICY, self.contract, check=False)
        session.discovery.catalogue = catalogue
        return session

    async def _drive(self, steps: Steps[T], listener: Listener | None) -> T:
        return await driven(steps, lambda step: self._do(step, listener))

    async def _do(self, step: Step, listener: Listener | None) -> Any:
        if not isinstance(step, Run):  # nothing is kept, waited for or renewed
            return {} if isinstance(step, Recall) else None
        catalogue = self.catalogue
        words = step.words if catalogue is None else catalogue.with_agent(step.words)
        return await self.run(words, listener)

    async def run(self, words: Sequence[str], listener: Listener | None = None) -> ProcessResult:
        """Run the tool once, when it is its turn.

        A caller that is cancelled in it has nothing left running when this is over.
        """
        limits = self._limits
        out = WholeOutput(limits)
        err = HeadAndTail(limits.stderr_head_bytes, limits.stderr_tail_bytes)
        listener = listener or Listener(lambda _: None, lambda _level, _text: None)
        self._waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        try:
            running = asyncio.ensure_future(
                self.backend.run(
                    words, limits, Overheard(out, listener), Overheard(err, listener, logs=True)
                )
            )
            try:
                ran = await asyncio.shield(running)
            except asyncio.CancelledError:
                await _ended(running)
                raise
        finally:
            self._turns.release()
        return replace(ran, stdout=out.data(), stderr=ran.stderr or err.data())


async def _ended(running: asyncio.Future[Any]) -> None:
    """Cancel *running*, once, and wait until it is over, whatever is cancelled meanwhile."""
    from anyio import CancelScope

    running.cancel()
    with CancelScope(shield=True):
        await asyncio.wait([running])
