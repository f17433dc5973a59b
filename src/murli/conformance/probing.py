"""Every process that is run to check a tool: each once, whoever asks for it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .processes import EVENTS, run
from .results import Evidence
from .scratch import Scratch


@dataclass(frozen=True, slots=True)
class _Call:
    words: tuple[str, ...]
    stdin: str
    text: bytes
    env: tuple[tuple[str, str], ...]
    event: str


class Prober:
    """Runs a tool where nothing can be harmed, and remembers how it went."""

    def __init__(
        self, tool: tuple[str, ...], scratch: Scratch, env: dict[str, str], seconds: float
    ) -> None:
        self.tool = tool
        self.scratch = scratch
        self.seconds = seconds
        self._env = env
        # Adds to the words of a call what the tool needs to know that an agent calls.
        self.asking: Callable[[tuple[str, ...]], tuple[str, ...]] = tuple
        self._known: dict[_Call, Evidence] = {}
        self._files = scratch.snapshot()

    @property
    def seen(self) -> list[Evidence]:
        """Everything that was run, in order."""
        return list(self._known.values())

    def run(
        self,
        *words: str,
        stdin: str = "null",
        text: bytes = b"",
        event: str = "",
        env: dict[str, str] | None = None,
    ) -> Evidence:
        """Run the tool with *words*, or give how that went before."""
        call = _Call(words, stdin, text, tuple(sorted((env or {}).items())), event)
        if call not in self._known:
            self._known[call] = self._run(call)
        return self._known[call]

    def _run(self, call: _Call) -> Evidence:
        argv = (*self.tool, *self.asking(call.words))
        ended = run(
            argv,
            env={**self._env, **dict(call.env)},
            cwd=self.scratch.work,
            seconds=self.seconds,
            stdin=call.stdin,
            text=call.text,
            event=call.event,
        )
        before, self._files = self._files, self.scratch.snapshot()
        # A file that is gone, is new, or is not what it was.
        changed = {name for name, _ in before.items() ^ self._files.items()}
        event = EVENTS[call.event]
        if self.scratch.take_sprung():
            event = f"{event}; " * bool(event) + TRAPPED
        return Evidence(
            argv,
            call.stdin,
            dict(call.env),
            event,
            ended.stdout,
            ended.stderr,
            ended.exit_code,
            ended.timed_out,
            ended.duration_ms,
            tuple(sorted(changed)),
            call.text.decode("utf-8", "replace"),
        )


#: how it is told that a tool started a program for a person
TRAPPED = "it started a pager, an editor or a browser"
