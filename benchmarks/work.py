"""``make bench``: what murli costs while a tool works, as CPU time of whole processes.

Each row runs four programs in turns, so that load of the machine hits all of them: the baseline
and the tool with murli, and each of them when it makes the data and writes none of it. The value is
what writing takes with murli, divided by what it takes without; the least of some rounds. What
murli costs beside that is measured in `benchmarks.startup`. Ends with 1 when a limit is exceeded.
``--json PATH`` writes the figures, ``--only WORD`` measures rows with that word.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from .figures import Figure, report_figures, selected

ROUNDS = int(os.environ.get("ROUNDS", "5"))
EVENTS, ROWS, MEGABYTES = 100_000, 100_000, 100
SECRETS = {f"SERVICE_{number}_TOKEN": f"q7Zp{number}vT9xLw3KfR5mNb8" for number in range(10)}
THREE = dict(list(SECRETS.items())[:3])

_DATA = """
import json, sys, click, murli
from dataclasses import asdict, dataclass
def event(n):
    return {"id": n, "name": "item", "state": "ready", "done": False}
def row(n):
    return {"id": n, "name": f"item {n}", "state": "ready", "ratio": n / 7, "ok": True, "by": None}
def rows():
    return [row(n) for n in range(COUNT)]
@dataclass
class Row:
    id: int
    name: str
    state: str
    ratio: float
    ok: bool
    by: str | None
"""
_MODELS = """
import pydantic
class Row(pydantic.BaseModel):
    id: int
    name: str
    state: str
    ratio: float
    ok: bool
    by: str | None
"""
_BARE = """
@click.command()
def tool():
    {body}
tool()
"""
_OURS = """
@click.command()
{declared}def tool({argument}):
    {body}
murli.enable(tool{settings})
tool()
"""
_WITHOUT_FAST = "import sys; sys.modules['orjson'] = sys.modules['msgspec'] = None\n"
_TREE = """
@click.group()
def tool():
    pass
for number in range(COUNT):
    @tool.command(f"command-{number}", help="Do something.")
    @click.option("--name", default="world", help="Whom to greet.")
    @click.argument("what", required=False)
    def run(name, what):
        pass
"""


@dataclass(frozen=True)
class Run:
    """How a program is run, and what it took: seconds of the processor, and kilobytes."""

    source: str
    words: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    to: str = "pipe"

    def taken(self, folder: Path) -> tuple[float, int]:
        """Run it once."""
        script = folder / f"{abs(hash(self.source))}.py"
        if not script.exists():
            script.write_text(self.source)
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        with (
            open(os.devnull if self.to == "null" else folder / "out", "wb") as out,
            subprocess.Popen(
                [sys.executable, str(script), *self.words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if self.to == "pipe" else out,
                env={**kept, **self.env, "MURLI_MAX_PRINTED": "1000000000"},
            ) as process,
        ):
            while process.stdout is not None and process.stdout.read(1 << 20):
                pass
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{self.words} ended with {process.returncode}:\n{self.source}")
        return used.ru_utime + used.ru_stime, used.ru_maxrss


@dataclass(frozen=True)
class Work:
    """A row of the table: what is measured against what, and the most it may be.

    *runs* are the baseline and the tool with murli, both without their work and with it.
    """

    measure: str
    baseline: str
    runs: tuple[Run, Run, Run, Run]
    limit: float
    memory_limit: float = 0.0


def _bare(body: str, count: int, more: str = "") -> Run:
    data = f"COUNT = {count}\n{_DATA.replace(', murli', '')}{more}"
    return Run(data + _BARE.format(body=body))


def _ours(
    body: str,
    count: int,
    *words: str,
    env: dict[str, str] | None = None,
    to: str = "pipe",
    writer: bool = False,
    more: str = "",
    settings: str = "",
    fast: bool = False,
) -> Run:
    declared, argument = ("@murli.pass_writer\n", "writer") if writer else ("", "")
    source = _OURS.format(body=body, declared=declared, argument=argument, settings=settings)
    data = f"COUNT = {count}\n{_DATA}{more}{source}"
    return Run(data if fast else _WITHOUT_FAST + data, words, env or {}, to)


def _work(
    measure: str,
    baseline: str,
    idle: str,
    bare: Run,
    ours: Run,
    limit: float,
    memory_limit: float = 0.0,
) -> Work:
    """Return a row whose programs do no more than *idle* without their work."""
    body = re.compile(r"(def tool\(.*?\n).*?(?=\n(murli|tool))", re.DOTALL)
    bare_nothing, nothing = (
        replace(run, source=body.sub(lambda found: f"{found[1]}    {idle}", run.source))
        for run in (bare, ours)
    )
    return Work(measure, baseline, (bare_nothing, nothing, bare, ours), limit, memory_limit)


def _events() -> Iterator[Work]:
    loop = "for n in range(COUNT):\n        "
    dump = loop + r'sys.stdout.write(json.dumps(event(n)) + "\n"); sys.stdout.flush()'
    write, items = loop + "writer.write_event(event(n))", loop + "yield event(n)"
    idle, bare = "for n in range(COUNT): event(n)", _bare(dump, EVENTS)
    nowhere = Run(bare.source, to="null")
    name, dumped = f"write_event, {EVENTS:,} events", "json.dumps, write, flush"
    yield _work(f"{name}, a pipe", dumped, idle, bare, _ours(write, EVENTS, writer=True), 1.3)
    ours = _ours(write, EVENTS, writer=True, to="null")
    yield _work(f"{name}, /dev/null", dumped, idle, nowhere, ours, 1.3)
    ours = _ours(write, EVENTS, writer=True, env=THREE)
    yield _work(f"{name}, a pipe, 3 secrets", dumped, idle, bare, ours, 1.6)
    ours = _ours(write, EVENTS, writer=True, fast=True)
    yield _work(f"{name}, a pipe, with fast", dumped, idle, bare, ours, 0.7)
    for contract in ("murli", "response", "agent-spec-1.6", "agent-spec-2"):
        ours = _ours(items, EVENTS, "--stream", settings=f', contract="{contract}"')
        idle = "for n in range(COUNT): event(n)\n    yield from ()"
        yield _work(f"items of a generator, {contract}", dumped, idle, bare, ours, 1.4)


def _answers() -> Iterator[Work]:
    line = ', ensure_ascii=False, separators=(",", ":")'
    wide = ", ensure_ascii=False, indent=2"
    shapes = (
        ("pretty", wide, ("--output", "json"), 1.1),
        ("one line", line, ("--output", "ndjson"), 1.3),
    )
    for shape, how, words, limit in shapes:
        name, bare = f"{ROWS:,} rows, {shape}", _bare(f"print(json.dumps(rows(){how}))", ROWS)
        ours = _ours("return rows()", ROWS, *words)
        yield _work(name, "json.dumps", "rows()", bare, ours, limit, 1.3)
        ours = _ours("return rows()", ROWS, *words, fast=True)
        yield _work(f"{name}, with fast", "json.dumps", "rows()", bare, ours, 0.5)
    for shape, how, words, _ in shapes:
        kinds = (
            ("pydantic models", _MODELS, 'json.dumps([each.model_dump(mode="json") for each in'),
            ("dataclasses", "", "json.dumps([asdict(each) for each in"),
        )
        for kind, more, dumping in kinds:
            made = "[Row(**row(n)) for n in range(COUNT)]"
            yield _work(
                f"{ROWS:,} {kind}, {shape}",
                "their own way to a dict, json.dumps",
                made,
                _bare(f"print({dumping} {made}]{how}))", ROWS, more),
                _ours(f"return {made}", ROWS, *words, more=more),
                1.3,
            )
        printing = f"print(json.dumps(rows(){how}))"
        bare, ours = _bare(printing, ROWS), _ours(printing, ROWS, *words)
        yield _work(f"{ROWS:,} rows printed, {shape}", "the bare print", "rows()", bare, ours, 1.3)


def _printed() -> Iterator[Work]:
    printing = (
        'for n in range(COUNT * 10_000):\n        print("2026-01-01 INFO handled in 17 ms by'
        ' worker-3 path=/api/items/10003 status=200 bytes=51234 x=1")'
    )
    bare = Run(_bare(printing, MEGABYTES).source, to="file")
    ours = _ours(printing, MEGABYTES)
    name = f"{MEGABYTES} MB printed and collected"
    yield _work(name, "written to a file", "pass", bare, ours, 1.2, 1.2)


def _trees() -> Iterator[Work]:
    for count, shape, words in (
        (1_000, "pretty", ("--output", "json")),
        (1_000, "one line", ("--output", "ndjson")),
        (10_000, "pretty", ("--output", "json")),
        (10_000, "one line", ("--output", "ndjson")),
    ):
        tree = f"COUNT = {count}\n{_DATA}{_TREE}"
        bare_tree = tree.replace(", murli", "")
        how = "indent=2" if shape == "pretty" else 'separators=(",", ":")'
        info = "tool.to_info_dict(click.Context(tool))"
        enabled = f"{_WITHOUT_FAST}{tree}murli.enable(tool)\ntool()\n"
        runs = (
            Run(bare_tree),
            Run(enabled, ("command-0",)),
            Run(f"{bare_tree}print(json.dumps({info}, {how}))\n"),
            Run(enabled, ("describe", *words)),
        )
        limit = 0.6 if shape == "pretty" else 1.0
        name = f"describe of {count:,} commands, {shape}"
        yield Work(name, "to_info_dict, json.dumps", runs, limit)


def measured(work: Work, folder: Path) -> Iterator[Figure]:
    """Run the programs of *work* in turns, and yield its ratio, and that of the memory."""
    taken: list[list[tuple[float, int]]] = [[], [], [], []]
    for _ in range(ROUNDS):
        for times, run in zip(taken, work.runs, strict=True):
            times.append(run.taken(folder))
    idle, ours_idle, bare, ours = (min(seconds for seconds, _ in times) for times in taken)
    bare, ours = bare - idle, ours - ours_idle
    note = f"{bare:.3f}, {ours:.3f} s"
    yield Figure(work.measure, ours / bare, work.limit, work.baseline, note=note)
    if work.memory_limit:
        least, most = (max(size for _, size in times) for times in taken[2:])
        yield Figure(
            f"{work.measure}, peak memory",
            most / least,
            work.memory_limit,
            work.baseline,
            note=f"{least // 1024}, {most // 1024} MB",
        )


def main() -> int:
    """Print the table; return 1 when a limit is exceeded."""
    works = [*_events(), *_answers(), *_printed(), *_trees()]
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as place:
        for work in selected(works, lambda each: each.measure):
            found = list(measured(work, Path(place)))
            figures += found
            for each in found:  # the table comes when all is done, which takes a while
                print(f"{each.measure}: {each.value:.2f}", file=sys.stderr, flush=True)
    return report_figures(figures, ("click", "pydantic", "orjson", "msgspec"))


if __name__ == "__main__":
    sys.exit(main())
