"""Calls of one tool, from their words to their last answer: says what to do, and does nothing.

Every method that acts is a generator of steps (`murli.client.steps`); `Tool` and `AsyncTool` carry
them out. So both follow the same rules, and this file can be read without thinking of either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..wire.catalogue import Catalogue
from ..wire.dialects import dialect_of
from ..wire.reading import read, read_stream
from ..wire.response import Part, Problem, WireResponse
from ..wire.running import ProcessResult
from ..wire.values import text_in
from .calling import build, with_option
from .decisions import (
    Decision,
    Escalate,
    FetchNextPage,
    Memory,
    Policy,
    RefreshCredentials,
    RetryAfter,
    RunInstead,
    Stop,
    decide,
    needs_catalogue,
)
from .discovery import Discovery
from .mistakes import ArgumentMistake
from .own_calls import name_of
from .redirect_memory import Words, applied, rule_of
from .response import Response
from .steps import Recall, Refresh, Remember, Report, Run, Steps, Wait

# Calls that are answered without an envelope, whatever contract a tool keeps.
_RAW = frozenset(("--help", "-h", "--version", "--schema"))


class Session:
    """What is known of a tool, and how it is called.

    *prefix* are the words that run it. *check* is whether arguments are checked before a process
    is started: ``None`` as soon as the tool is known to keep a contract, for asking a tool that
    does not what it can do may do anything.
    """

    def __init__(
        self,
        prefix: Sequence[str],
        policy: Policy,
        contract: str = "",
        env: Mapping[str, str] | None = None,
        check: bool | None = None,
    ) -> None:
        self.prefix = tuple(prefix)
        self.policy = policy
        self.contract = contract
        self._given = contract
        self.env = env or {}
        words = [word for word in self.prefix if not word.startswith("-")] or self.prefix[:1]
        self.name = name_of(words[-1])
        self._names = {" ".join((name_of(self.prefix[0]), *self.prefix[1:]))}
        self.discovery = Discovery(self, check)

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which the tool may refer to itself in a call that it advises."""
        return tuple(sorted(self._names))

    def know_name(self, name: str) -> None:
        """Take *name* for one of the tool's own. That is safe: it only ever runs the tool."""
        if name:
            self._names.add(name)

    # -- calls -----------------------------------------------------------------------------------

    def built(
        self, words: Sequence[Any], flags: Mapping[str, Any], *, streams: bool = False
    ) -> Steps[tuple[str, ...]]:
        """Return the words of a call; `ArgumentMistake` for one that the tool would refuse."""
        catalogue = yield from self.discovery.known()
        try:
            return self._words(words, flags, catalogue, streams)
        except ArgumentMistake:
            if catalogue is None or self.discovery.is_fresh:
                raise
        # What is kept of the tool may be older than the tool.
        catalogue = yield from self.discovery.anew()
        return self._words(words, flags, catalogue, streams)

    def _words(
        self,
        words: Sequence[Any],
        flags: Mapping[str, Any],
        catalogue: Catalogue | None,
        streams: bool,
    ) -> tuple[str, ...]:
        if streams and catalogue is not None and flags.keys().isdisjoint(("stream", "no_stream")):
            named = catalogue.find([str(word) for word in words])
            if named is not None and named[0].takes_stream:
                flags = {**flags, "stream": True}
        return build(words, flags, catalogue, self.env)

    def call(
        self,
        words: tuple[str, ...],
        stdin: bytes | None = None,
        *,
        streams: bool = False,
        follow: bool = True,
        waits: float = 0.0,
        most: float = float("inf"),
    ) -> Steps[Response[Any]]:
        """Make a call, with all that follows from its answers, and return the last one.

        Without *follow* nothing follows: the first answer is given, with what would be done. The
        call *waits* that many seconds itself, and no process may take more than *most*.
        """
        rules = yield Recall()
        words = applied(rules, words)
        memory, decisions = Memory(), []
        moved: tuple[Words, Words] | None = None
        while True:
            run = Run(words, stdin, streams, waits, most)
            response, committed = yield from self._answer(run)
            if moved is not None and not _never_ran(response):
                yield Remember(*moved)
            moved = None
            if needs_catalogue(self.policy, memory, response) and self.discovery.may_know_more:
                yield from self.discovery.wanted()
                response = replace(response, names=self.names)
            decision = decide(self.policy, memory, response, self.discovery.catalogue)
            decision = _kept_within(decision, committed)
            late = response.problem if waits else None
            if late is not None and late.kind == "timeout":
                decision = Stop(late.message, late.suggestion)
            while True:
                decisions.append(decision)
                yield Report(decision, response)
                memory = memory.after(response, decision)
                then = None
                if follow:
                    then = yield from self._follow(decision, response, words)
                if then is None:
                    return replace(response, decisions=tuple(decisions))
                if isinstance(then, tuple):
                    if isinstance(decision, RunInstead) and decision.remember:
                        moved = rule_of(words, then)
                    words = then
                    break
                decision = then

    def _follow(
        self, decision: Decision, response: Response[Any], words: tuple[str, ...]
    ) -> Steps[tuple[str, ...] | Decision | None]:
        """Do what was decided.

        Gives the words to call next, ``None`` when the answer stands, or what is decided instead.
        """
        if isinstance(decision, RetryAfter):
            yield Wait(decision.delay_ms, decision.spread_ms)
            return words
        if isinstance(decision, RefreshCredentials):
            renewed = yield Refresh(response)
            return words if renewed else Escalate("The credentials could not be renewed.")
        if not isinstance(decision, RunInstead):
            return None
        new = decision.argv[1:]
        if decision.why == "redirect":
            self.discovery.doubt(words)
        elif decision.why in ("fix", "cancel"):
            done, _ = yield from self._answer(Run(new))
            if decision.why == "cancel":
                return Escalate("The work does not get on.", "Somebody cancelled it.")
            if not done.ok:
                return Stop("The fix failed.", done.problem.message if done.problem else "")
            return words
        return new

    def _answer(self, run: Run) -> Steps[tuple[Response[Any], bool]]:
        """Run the tool once; return its answer, and whether a part of it is given out already.

        A command that a person has to run is refused instead.
        """
        words = run.words
        if (refusal := self._refusal_of(words)) is not None:
            return refusal, False
        if not run.streams:
            ran = yield run
            rest = (ran.stderr, ran.exit_code)
            found = self._read(lambda known: read(ran.stdout, *rest, known, _trouble(ran)), words)
            return self._understood(found, ran, words), False
        ran, items = yield run
        last = (items.terminal, items.count, ran.stderr, ran.exit_code)
        trouble = _trouble(ran) or items.fault
        found = self._read(lambda known: read_stream(*last, known, trouble), words)
        found = replace(found, oddities=(*found.oddities, *items.oddities))
        if items.missing and dialect_of(found.contract).is_enveloped:
            total = items.count + items.missing
            found = replace(found, part=Part(truncated=True, returned=items.count, total=total))
        return self._understood(found, ran, words), items.count > 0

    def _read(
        self, read_as: Callable[[str], WireResponse[Any]], words: tuple[str, ...]
    ) -> WireResponse[Any]:
        """Read an answer as what the caller says, else as what it looks like."""
        if _is_raw(words):
            return read_as("")
        found = read_as(self._given)
        # One that looks like nothing is no answer, of a tool that has given others.
        return read_as(self.contract) if found.state == "plain" and self.contract else found

    # -- answers ---------------------------------------------------------------------------------

    def _understood(
        self, found: WireResponse[Any], ran: ProcessResult, words: tuple[str, ...]
    ) -> Response[Any]:
        """Return the answer with what only who ran the tool knows, and learn from it."""
        if ran.reason == "start":
            message = ran.stderr.decode("utf-8", "replace")
            problem = Problem("never_ran", "NEVER_RAN", message, False, phase="validation")
            found = WireResponse(self.contract, "failed", ran.exit_code, problem=problem)
        elif ran.reason == "time" and (ran.exit_code != 0 or found.problem is not None):
            message = f"It did not end in time, and was ended after {ran.duration_ms} ms."
            problem = Problem("timeout", "CLIENT_TIMEOUT", message, False, phase="execution")
            found = replace(found, state="failed", problem=problem)
        self.know_name(text_in(found.meta.get("command")).partition(" ")[0])
        if not self._given and found.contract and found.state != "malformed":
            self.contract = found.contract
        if found.problem is not None and found.problem.kind == "user_error" and found.problem.field:
            self.discovery.doubt(words, found.problem.field)
        return Response.of(found.with_call((self.name, *words), ran.duration_ms, self.names))

    def _refusal_of(self, words: tuple[str, ...]) -> Response[Any] | None:
        """Return the refusal of a call that is not the client's to make."""
        catalogue = self.discovery.catalogue
        command = catalogue.called(words) if catalogue is not None else None
        if command is None or not command.requires_person:
            return None
        message = "The tool says that a person has to do this."
        problem = Problem("precondition", "PERSON_REQUIRED", message, False, phase="validation")
        argv = (self.name, *words)
        return Response(self.contract, "failed", None, problem=problem, argv=argv)


class PageTurner:
    """Which words to call with for the next page; *decision* is the last one taken."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._cursors: set[str] = set()
        self.decision: Decision | None = None
        self.count = 0

    def next(self, response: Response[Any]) -> tuple[str, ...] | None:
        """Return the words that ask for what follows *response*, ``None`` when nothing does."""
        self.count += 1
        decision = self.decision = response.decisions[-1]
        if not isinstance(decision, FetchNextPage):
            return None
        if decision.cursor in self._cursors:
            self.decision = Stop("The tool gave the same cursor twice.", decision.rest)
            return None
        if self.count >= self._most:
            self.decision = Stop(f"There are more than {self._most} pages.", decision.rest)
            return None
        self._cursors.add(decision.cursor)
        return with_option(response.argv[1:], "cursor", decision.cursor)


def _kept_within(decision: Decision, committed: bool) -> Decision:
    """Return *decision*, or that nothing is done again: what was given out cannot be taken back."""
    if committed and isinstance(decision, (RetryAfter, RefreshCredentials, RunInstead)):
        return Stop("The stream broke off; the items before that were returned.")
    return decision


def _never_ran(response: Response[Any]) -> bool:
    return response.problem is not None and response.problem.kind == "never_ran"


def _trouble(ran: ProcessResult) -> str:
    return "" if ran.reason in ("time", "start") else ran.reason


def _is_raw(words: tuple[str, ...]) -> bool:
    return words[:1] == ("describe",) or not _RAW.isdisjoint(words)
