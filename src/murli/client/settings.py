"""What `Tool` and `AsyncTool` are made with, and what both do in the same way."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .decisions import Decision, Policy
from .limits import Limits
from .response import Response
from .session import Session
from .shelf import Shelf
from .steps import Load, Recall, Remember, Save, Step, Tell

Place = str | os.PathLike[str] | bool | None
Watcher = Callable[[Decision, Response[Any]], object]


class Settings:
    """A tool as its caller means it; the arguments are explained at `Tool`."""

    def __init__(
        self,
        tool: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        policy: Policy | None,
        limits: Limits | None,
        contract: str,
        env: Mapping[str, str] | None,
        cwd: str | os.PathLike[str] | None,
        refresh: Callable[[Response[Any]], Any] | None,
        on_decision: Watcher | None,
        memory: Place,
        cache: Place,
        check: bool | None,
    ) -> None:
        words = [tool] if isinstance(tool, (str, os.PathLike)) else list(tool)
        self.prefix = tuple(os.fspath(word) for word in words)
        if not self.prefix or not self.prefix[0]:
            raise ValueError("a tool is the name of a program, or a list that begins with one")
        policy = policy or Policy()
        if refresh is not None and not policy.can_refresh:
            policy = replace(policy, can_refresh=True)
        self.limits = limits or Limits()
        self.env = None if env is None else dict(env)
        self.cwd = None if cwd is None else os.fspath(cwd)
        self.refresh = refresh
        self._on_decision = on_decision
        seen: Mapping[str, str] = os.environ if env is None else env
        self.session = Session(self.prefix, policy, contract, seen, check)
        self._shelf = Shelf(self.prefix, seen, self.cwd, memory, cache, contract)

    def argv(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """Give everything that is run for a call of *words*."""
        return (*self.prefix, *words)

    def do(self, step: Step) -> Any:
        """Do a step that neither starts a process nor waits for anybody."""
        if isinstance(step, Recall):
            return self._shelf.recall()
        if isinstance(step, Tell):
            return self._on_decision and self._on_decision(step.decision, step.response)
        if isinstance(step, Remember):
            return self._shelf.remember(step.old, step.new)
        if isinstance(step, Load):
            return self._shelf.load()
        if isinstance(step, Save):
            return self._shelf.save(step.entry)
        raise TypeError(f"{type(step).__name__} is for who waits")


def seconds_of(delay_ms: int, spread_ms: int) -> float:
    """Give how long to wait, with a random part of the spread."""
    from random import random

    return (delay_ms + spread_ms * random()) / 1000


def is_renewed(answer: object) -> bool:
    """Tell what a refresh hook meant: only ``False`` says that it could not."""
    return answer is not False
