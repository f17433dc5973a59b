"""What `Tool` and `AsyncTool` are made with, and what both do in the same way."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..wire.limits import Limits
from .cache import ClientCache
from .decisions import Decision, Policy
from .response import Response
from .session import Session
from .steps import Load, Recall, Remember, Report, Run, Save, Step

Place = str | os.PathLike[str] | bool | None
Watcher = Callable[[Decision, Response[Any]], object]


@dataclass(frozen=True, slots=True)
class Settings:
    """A tool as its caller means it."""

    prefix: tuple[str, ...]
    limits: Limits
    env: Mapping[str, str] | None
    cwd: str | None
    refresh: Callable[[Response[Any]], Any] | None
    on_decision: Watcher | None
    session: Session
    cache: ClientCache

    @property
    def child_env(self) -> dict[str, str]:
        """The environment of the tool, which says that an agent calls while nothing else can.

        A tool that does not know the variable has no use for it, while a flag would be a mistake.
        Once it is known what the tool needs, the variable is left out: the programs that the tool
        runs would inherit it, and speak to an agent where the tool expects text.
        """
        if self.env is not None:
            return {**({} if self._is_described else {"MURLI_MODE": "agent"}), **self.env}
        env = {name: value for name, value in os.environ.items() if name != "MURLI_MODE"}
        return env if self._is_described else {**env, "MURLI_MODE": "agent"}

    def argv(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Return everything that is run for a call of *words*."""
        catalogue = self.session.discovery.catalogue
        return (*self.prefix, *(words if catalogue is None else catalogue.with_agent(words)))

    def limits_of(self, step: Run) -> Limits:
        """Return what the process of *step* is allowed."""
        limits = self.limits
        if not step.waits and step.most >= limits.seconds:
            return limits
        return replace(limits, seconds=min(limits.seconds + step.waits, step.most))

    @property
    def _is_described(self) -> bool:
        """Whether the tool has described, in this session, how it recognizes an agent."""
        discovery = self.session.discovery
        catalogue = discovery.catalogue
        if catalogue is None or catalogue.wants_agent is None or not discovery.is_confirmed:
            return False
        return not catalogue.wants_agent or bool(catalogue.with_agent(()))

    def do(self, step: Step) -> Any:
        """Do a step that neither starts a process nor waits for anybody."""
        if isinstance(step, Recall):
            return self.cache.recall()
        if isinstance(step, Report):
            return self.on_decision and self.on_decision(step.decision, step.response)
        if isinstance(step, Remember):
            return self.cache.remember(step.old, step.new)
        if isinstance(step, Load):
            return self.cache.load()
        if isinstance(step, Save):
            return self.cache.save(step.entry)
        raise TypeError(f"{type(step).__name__} is for who waits")


class ToolBase:
    """What `Tool` and `AsyncTool` have in common; the arguments are explained at `Tool`."""

    def __init__(
        self,
        tool: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        policy: Policy | None = None,
        limits: Limits | None = None,
        contract: str = "",
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        refresh: Callable[[Response[Any]], object] | None = None,
        on_decision: Watcher | None = None,
        memory: Place = None,
        cache: Place = None,
        check: bool | None = None,
    ) -> None:
        words = [tool] if isinstance(tool, (str, os.PathLike)) else list(tool)
        prefix = tuple(os.fspath(word) for word in words)
        if not prefix or not prefix[0]:
            raise ValueError("a tool is the name of a program, or a list that begins with one")
        policy = policy or Policy()
        if refresh is not None and not policy.can_refresh:
            policy = replace(policy, can_refresh=True)
        place = None if cwd is None else os.fspath(cwd)
        seen: Mapping[str, str] = os.environ if env is None else dict(env)
        self._session = Session(prefix, policy, contract, seen, check)
        self._settings = Settings(
            prefix,
            limits or Limits(),
            None if env is None else seen,
            place,
            refresh,
            on_decision,
            self._session,
            ClientCache(prefix, seen, place, memory, cache, contract),
        )

    @property
    def contract(self) -> str:
        """The contract the tool keeps: as given, or as its answers showed; ``""`` while unknown."""
        return self._session.contract


def seconds_of(delay_ms: int, spread_ms: int) -> float:
    """Return how long to wait, with a random part of the spread."""
    from random import random

    return (delay_ms + spread_ms * random()) / 1000


def is_renewed(answer: object) -> bool:
    """Return what a refresh hook meant: only ``False`` says that it could not."""
    return answer is not False
