"""A tool as a process of its own: on pipes as an agent runs it, at a terminal as a person does."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..platform.terminal import open_terminal
from ..wire.collecting import WholeOutput
from ..wire.limits import MIB, Limits
from ..wire.running import Child, ProcessResult, wait_for_end
from ..wire.running import run as run_on_pipes

_ROWS, _COLUMNS = 24, 80
_MOST = 256 * MIB


class TimedOut(AssertionError):
    """A process that did not end in time, and was ended with all it had started."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What a run left: its bytes, and how it ended."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    exception: BaseException | None = None


def program(argv: Sequence[str], path: str | None = None) -> list[str]:
    """Return *argv* with its program looked up: beside the running Python, then in *path*.

    Without a *path*, where the environment says. A program that is named by its path is that.
    """
    if os.sep in argv[0]:
        return [os.path.abspath(argv[0]), *argv[1:]]
    place = os.path.dirname(sys.executable)
    path = os.environ.get("PATH", "") if path is None else path
    found = shutil.which(argv[0], path=os.pathsep.join(filter(None, (place, path))))
    if found is None:
        raise FileNotFoundError(f"there is no program {argv[0]!r} in {place} or in PATH")
    return [found, *argv[1:]]


def run_as_process(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None,
    stdin: bytes | None,
    seconds: float,
    person: bool,
) -> Ended:
    """Run *argv* to its end; `TimedOut` when that takes longer than *seconds*."""
    limits = Limits(seconds=seconds, stdout_bytes=_MOST, line_bytes=_MOST, stderr_head_bytes=_MOST)
    if person:
        ran = _at_terminal(argv, limits, env, cwd, stdin or b"")
    else:
        ran = run_on_pipes(argv, limits, stdin=stdin, env=env, cwd=cwd)
    if ran.reason == "time":
        raise _late(argv, seconds, ran.stdout)
    if ran.reason == "start":
        raise FileNotFoundError(ran.stderr.decode("utf-8", "replace"))
    if ran.reason or ran.exit_code is None:
        why = ran.reason or "another part of this process took its status away"
        raise RuntimeError(f"{argv[0]}: {why}")
    return Ended(ran.stdout, ran.stderr, ran.exit_code)


def _at_terminal(
    argv: Sequence[str], limits: Limits, env: Mapping[str, str], cwd: str | None, keys: bytes
) -> ProcessResult:
    """Run *argv* with stdin and stdout at one terminal, and stderr at another."""
    (screen, out), (errors, err) = open_terminal(_ROWS, _COLUMNS), open_terminal(_ROWS, _COLUMNS)
    ours = (os.dup(screen), screen, errors)
    # Closed by the child, once there is one.
    files = [open(each, "r+b", buffering=0) for each in ours]  # noqa: SIM115
    try:
        child = Child(
            argv,
            replace(limits, grace_seconds=0),
            WholeOutput(limits),
            WholeOutput(limits),
            # The key that ends the input.
            stdin=keys + b"\x04",
            env=env,
            cwd=cwd,
            terminal=(files[0], files[1], files[2]),
            popen={"stdin": out, "stdout": out, "stderr": err},
        )
    except BaseException:
        for file in files:
            file.close()
        raise
    finally:
        os.close(out)
        os.close(err)
    return wait_for_end(child)


def _late(argv: Sequence[str], seconds: float, stdout: bytes) -> TimedOut:
    shown = stdout[-2000:].decode("utf-8", "replace")
    return TimedOut(
        f"{shlex.join(argv)} did not end within {seconds:g} s; at the end stdout was:\n{shown}"
    )
