"""Scripted tools for the client: real processes that answer what a test wrote down for them."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import warm
from murli.client import AsyncTool, Limits, Policy, Tool

#: waits as long as a test may
HASTY = Policy(first_delay_ms=10, rate_limit_delay_ms=10, jitter=0.5)
#: limits under which whatever goes wrong in a test does so at once
QUICK = Limits(seconds=10.0, grace_seconds=0.3, linger_seconds=0.2)

# Commands of the shell itself, where there are any: every process costs more than the shell.
_SCRIPT = """#!/bin/sh
cd "${0%/*}" || exit 99
n=0 code=99
[ -f count ] && read -r n <count
n=$((n + 1))
echo $n >count
for word in "$@"; do printf '%s\\0' "$word"; done > "$n.argv"
[ -f "$n.out" ] || n=last
[ -s "$n.err" ] && cat "$n.err" >&2
[ -s "$n.out" ] && cat "$n.out"
read -r code <"$n.code"
exit "$code"
"""


@dataclass
class Fake:
    """A tool that gives one answer after the other, the last one for ever."""

    path: Path

    @property
    def calls(self) -> list[list[str]]:
        """The words of every call, without the tool's name."""
        count = int((self.path.parent / "count").read_text()) if self.was_called else 0
        read = ((self.path.parent / f"{n}.argv").read_bytes() for n in range(1, count + 1))
        return [[word.decode() for word in words.split(b"\0")[:-1]] for words in read]

    @property
    def was_called(self) -> bool:
        return (self.path.parent / "count").exists()


def fake(folder: Path, *answers: Answer, name: str = "tool") -> Fake:
    """Write a program called *name*, in a folder of its own, that gives *answers*."""
    home = Path(tempfile.mkdtemp(dir=folder))
    for number, answer in enumerate(answers, 1):
        for label in (str(number), *(["last"] if number == len(answers) else [])):
            (home / f"{label}.out").write_bytes(answer.stdout)
            (home / f"{label}.err").write_bytes(answer.stderr)
            (home / f"{label}.code").write_text(f"{answer.code}\n")
    path = home / name
    path.write_text(_SCRIPT)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return Fake(path)


@dataclass(frozen=True)
class Answer:
    """What a process writes, and how it ends."""

    stdout: bytes = b""
    stderr: bytes = b""
    code: int = 0


def lines(*documents: Any) -> bytes:
    """Give *documents* as a line each."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in documents)


def murli_ok(result: Any, *items: Any, **more: Any) -> Answer:
    """Give a success of the murli contract, behind *items*."""
    envelope = {"status": "ok", "schema_version": "1.0", "message": "", "result": result, **more}
    return Answer(lines(*items, envelope))


def murli_error(code: int, error: str, **more: Any) -> Answer:
    """Give a failure of the murli contract."""
    facts = {"status": "error", "code": code, "error": error, "message": f"It is {error}."}
    return Answer(b"", lines({**facts, "schema_version": "1.0", "recoverable": True, **more}), code)


def spec_ok(data: Any, *items: Any, **meta: Any) -> Answer:
    """Give a success of agent-spec-2, behind *items*."""
    facts = {"exit_code": 0, "duration_ms": 1, **meta}
    envelope = {"ok": True, "data": data, "error": None, "warnings": [], "meta": facts}
    return Answer(lines(*items, envelope))


def spec_error(code: int, name: str, data: Any = None, **error: Any) -> Answer:
    """Give a failure of agent-spec-2."""
    told = {"code": name, "message": f"It is {name}.", **error}
    meta = {"exit_code": code, "duration_ms": 1}
    envelope = {"ok": False, "data": data, "error": told, "warnings": [], "meta": meta}
    return Answer(lines(envelope), b"", code)


@dataclass
class Client:
    """`Tool`, or `AsyncTool` with the awaiting done: what holds for one must hold for both."""

    is_async: bool
    state: Path
    made: list[Any] = field(default_factory=list)

    def __call__(self, tool: Any, **options: Any) -> Client:
        """Make the tool that the following calls are of; memory and cache are the test's own."""
        options = {
            "limits": QUICK,
            "memory": self.state / "redirects.json",
            "cache": self.state / "catalogues",
            **options,
        }
        words = [str(tool.path)] if isinstance(tool, Fake) else tool
        one = AsyncTool(words, **options) if self.is_async else Tool(words, **options)
        return Client(self.is_async, self.state, [one])

    def call(self, *words: Any, **flags: Any) -> Any:
        return self._get("call", *words, **flags)

    def run(self, *argv: str, **options: Any) -> Any:
        return self._get("run", *argv, **options)

    def stream(self, *words: Any, most: int = -1, **flags: Any) -> tuple[list[Any], Any]:
        """Give the items, *most* of them, and the stream itself, which raises only if asked to."""
        flags.setdefault("raises", False)

        async def gathered() -> tuple[list[Any], Any]:
            items: list[Any] = []
            async with self.made[0].stream(*words, **flags) as stream:
                async for item in stream:
                    items.append(item)
                    if len(items) == most:
                        break
            return items, stream

        if self.is_async:
            return asyncio.run(gathered())
        items: list[Any] = []
        with self.made[0].stream(*words, **flags) as stream:
            for item in stream:
                items.append(item)
                if len(items) == most:
                    break
        return items, stream

    def pages(self, *words: Any, **flags: Any) -> tuple[list[Any], Any]:
        """Give all pages, and the iteration itself."""

        async def gathered() -> tuple[list[Any], Any]:
            pages = self.made[0].pages(*words, **flags)
            return [page async for page in pages], pages

        if self.is_async:
            return asyncio.run(gathered())
        pages = self.made[0].pages(*words, **flags)
        return list(pages), pages

    @property
    def commands(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = (
            asyncio.run(self.made[0].commands()) if self.is_async else self.made[0].commands
        )
        return found

    @property
    def contract(self) -> str:
        return str(self.made[0].contract)

    def _get(self, verb: str, *words: Any, **flags: Any) -> Any:
        answer = getattr(self.made[0], verb)(*words, **flags)
        return asyncio.run(_awaited(answer)) if self.is_async else answer


async def _awaited(answer: Any) -> Any:
    return await answer


class Gauge:
    """Measures how much memory this process takes at most while something is done."""

    def __enter__(self) -> Gauge:
        Path("/proc/self/clear_refs").write_text("5")  # forget the most so far
        self._before = _memory("VmRSS")
        self._started = time.monotonic()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.monotonic() - self._started
        self.mib = (_memory("VmHWM") - self._before) / 1024


def _memory(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(name))


def descriptors() -> int:
    """Return how many descriptors this process has open."""
    return len(os.listdir("/proc/self/fd"))


def children() -> set[int]:
    """Return the child processes of this one, besides those that wait to fork calls of tests."""
    text = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    return {int(word) for word in text.split()} - warm.servers()
