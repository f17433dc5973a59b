"""A test kit for authors of tools: run an app, and look at what it wrote.

::

    from murli.testing import run


    def test_a_query_finds_the_folder(tmp_path):
        result = run(app, "query", "woodworking", cwd=tmp_path)
        assert result.data == [{"path": "/docs/woodworking", "score": 0.95}]

What is written must keep its contract: `run` raises `InvalidDocument` otherwise. The pytest plugin
(``murli_run``, ``@pytest.mark.murli``) is in `murli.pytest_plugin`; see docs/guides/testing.md.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from ..contracts import CONTRACT_NAMES
from ..contracts.checks import InvalidDocument
from .as_process import TimedOut, program, run_as_process
from .in_process import name_of, run_in_process
from .places import changed, environment, snapshot
from .results import Missing, Result
from .validity import Verdict
from .watching import watch

__all__ = [
    "CONTRACTS",
    "InvalidDocument",
    "Missing",
    "Result",
    "Runner",
    "TimedOut",
    "Verdict",
    "program",
    "run",
    "watch",
]

#: every contract a tool may speak
CONTRACTS = CONTRACT_NAMES


def run(
    app: Any,
    *args: str,
    contract: str = "",
    mode: str = "agent",
    input: str | bytes | None = None,
    env: Mapping[str, str | None] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
    name: str = "",
    timeout: float = 30.0,
    catch: bool = True,
    check: bool = True,
) -> Result:
    """Run *app* with *args*, and return what it wrote and how it ended.

    In this process: a ``click`` command, a ``typer.Typer``, or the function that is the program
    (``main``, called without arguments; its words are in ``sys.argv``). An ``argparse`` parser only
    parses. As a process: the words that start it, in a list, or the name of a console script.

    * *contract*: the one to ask for, with ``MURLI_CONTRACT``; ``""`` for the tool's own.
    * *mode*: ``agent``, or ``person`` for a run at a terminal.
    * *input*: what is on stdin; nothing unless given.
    * *env*: what to set in the environment, or with ``None`` to take out of it. It is the current
      one without what would change how a tool behaves: ``MURLI_*``, ``XDG_*``, ``NO_COLOR`` …
    * *cwd*: the folder to run in; *home*: the home directory, an empty one unless given.
    * *name*: what an app in this process is called.
    * *timeout*: the seconds a process may take; beyond them `TimedOut` is raised.
    * *catch*: with False, what the handler raised is raised here, once everything is taken back.
    * *check*: with False, an invalid document is not raised; look at ``result.faults``.
    """
    __tracebackhide__ = True  # a failed test shows its own lines
    if contract and contract not in CONTRACTS:
        raise ValueError(f"contract is one of {', '.join(CONTRACTS)}, not {contract!r}")
    if mode not in ("agent", "person"):
        raise ValueError(f"mode is agent or person, not {mode!r}")
    stdin = input.encode() if isinstance(input, str) else input
    folder = None if cwd is None else os.fspath(cwd)
    with ExitStack() as stack:
        if home is None:
            home = stack.enter_context(tempfile.TemporaryDirectory(prefix="murli-home-"))
        place, person = os.path.abspath(os.fspath(home)), mode == "person"
        variables = environment(place, contract, person=person, changes=env or {})
        how: Any = {"env": variables, "cwd": folder, "stdin": stdin, "person": person}
        before = snapshot(place, folder)
        seen = stack.enter_context(watch())
        in_process = not isinstance(app, (str, list, tuple))
        if in_process:
            argv = [name or name_of(app), *args]
            ended = run_in_process(app, args, name=argv[0], **how)
        else:
            argv = [*([app] if isinstance(app, str) else app), *args]
            ended = run_as_process(program(argv), seconds=timeout, **how)
        result = Result(
            tuple(argv),
            ended.exit_code,
            ended.stdout,
            ended.stderr,
            contract,
            mode,
            in_process,
            ended.exception,
            changed(before, snapshot(place, folder)),
            seen,
        )
    if ended.exception is not None and not catch:
        raise ended.exception
    return result.check() if check else result


class Runner:
    """`run` with a home of its own that stays from call to call, so that profiles do."""

    def __init__(self, home: str | os.PathLike[str], contract: str = "") -> None:
        self.home = os.fspath(home)
        self.contract = contract

    def __call__(self, app: Any, *args: str, **options: Any) -> Result:
        """Run *app* as `run` does; *options* are the same."""
        __tracebackhide__ = True  # a failed test shows its own lines
        return run(app, *args, **{"home": self.home, "contract": self.contract, **options})
